/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The tree of queues. As in KAI, a queue is compared again only when it is at the top of its heap and something came
 * off below it: those further down stay where they are, though their shares may have changed. Which queue is next
 * therefore depends on the layout of the heaps, and these do exactly what KAI's do: every queue starts out dirty,
 * children are pushed in the order of their age, the deepest queues first.
 */
#include "engine/queues/order.h"

#include "engine/context.h"
#include "engine/queues/kept_orders.h"
#include "engine/queues/order_simulation_internal.h"
#include "engine/queues/order_tree.h"
#include "model/queue.h"
#include "model/state.h"

struct order *order_new(struct engine *engine, struct arena *arena, const struct leaf_kind *kind)
{
    struct order *order = ARENA_NEW(arena, struct order);

    order->engine = engine;
    order->arena = arena;
    order->kind = kind;
    order->nodes = arena_calloc(arena, engine->state->queues.len, sizeof *order->nodes);
    order->roots.cap = engine->orders->root_count;
    order->roots.items = arena_alloc(arena, order->roots.cap * sizeof *order->roots.items);
    return order;
}

bool queue_is_leaf(const struct engine *engine, queue_id queue)
{
    const struct queue *q = &engine->state->queues.items[queue];

    return q->is_present && !q->is_orphan && q->children.len == 0;
}

static struct order_node *add_node(struct order *order, queue_id queue, bool is_leaf)
{
    struct order_node *node = ARENA_NEW(order->arena, struct order_node);

    node->queue = queue;
    node->is_leaf = is_leaf;
    if (is_leaf) {
        node->leaf = order->kind->new_leaf(order);
    } else {
        node->children.cap = order->engine->state->queues.items[queue].children.len;
        node->children.items = arena_alloc(order->arena, node->children.cap * sizeof *node->children.items);
    }
    order->nodes[queue] = node;
    return node;
}

struct order_node *order_leaf(struct order *order, queue_id queue)
{
    struct order_node *node = order->nodes[queue];

    return node ? node : add_node(order, queue, true);
}

static struct order_node *parent_of(const struct order *order, const struct order_node *node)
{
    queue_id parent = order->engine->state->queues.items[node->queue].parent;

    return parent == NO_ID ? NULL : order->nodes[parent];
}

/* The leaf below that would be served next. */
static struct order_node *best_leaf(struct order_node *node)
{
    while (!node->is_leaf)
        node = node->children.items[0];
    return node;
}

/*
 * Stands still while nothing changes that comparisons depend on. Victims are taken off a state that is always the same
 * when it comes to that, though simulations change it in between.
 */
static uint64_t clock_of(const struct order *order)
{
    return order->kind->is_of_victims ? 1 : UINT64_C(1) + order->engine->state->change_clock;
}

static void rank_node(struct order *order, struct order_node *node, struct order_node *leaf)
{
    const struct gang_view *front = order->kind->front(order, leaf);

    if (!order->kind->is_of_victims) {
        queue_rank_of(order->engine, node->queue, front->asked, NULL, &node->rank);
        return;
    }
    struct amounts taken = amounts_of(front->held);
    for (int r = 0; r < SHARE_COUNT; r++)
        taken.v[r] += leaf->taken.v[r];
    queue_rank_of(order->engine, node->queue, NULL, &taken, &node->rank);
}

static const struct queue_rank *rank_of(struct order *order, struct order_node *node, uint64_t clock)
{
    struct order_node *leaf = best_leaf(node);

    if (node->rank_clock != clock || node->rank_leaf != leaf || node->rank_round != leaf->round) {
        rank_node(order, node, leaf);
        node->rank_clock = clock;
        node->rank_leaf = leaf;
        node->rank_round = leaf->round;
    }
    return &node->rank;
}

static bool node_precedes(struct order *order, struct order_node *l, struct order_node *r)
{
    uint64_t clock = clock_of(order);

    return queue_rank_precedes(rank_of(order, l, clock), rank_of(order, r, clock)) != order->kind->is_of_victims;
}

static void swap(struct node_heap *heap, uint32_t a, uint32_t b)
{
    struct order_node *node = heap->items[a];

    heap->items[a] = heap->items[b];
    heap->items[b] = node;
}

static void sift_up(struct order *order, struct node_heap *heap, uint32_t i)
{
    while (i > 0 && node_precedes(order, heap->items[i], heap->items[(i - 1) / 2])) {
        swap(heap, i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
}

static void sift_down(struct order *order, struct node_heap *heap, uint32_t len)
{
    uint32_t i = 0;

    for (uint32_t child = 1; child < len; child = 2 * i + 1) {
        if (child + 1 < len && node_precedes(order, heap->items[child + 1], heap->items[child]))
            child++;
        if (!node_precedes(order, heap->items[child], heap->items[i]))
            return;
        swap(heap, i, child);
        i = child;
    }
}

static void heap_push(struct order *order, struct node_heap *heap, struct order_node *node)
{
    BUG_ON(heap->len == heap->cap);
    heap->items[heap->len++] = node;
    sift_up(order, heap, heap->len - 1);
}

static void heap_drop_top(struct order *order, struct node_heap *heap)
{
    swap(heap, 0, heap->len - 1);
    sift_down(order, heap, heap->len - 1);
    heap->len--;
}

/* Puts the node in its parent's heap, and the parent in the tree. */
static void link_node(struct order *order, struct order_node *node)
{
    queue_id parent = order->engine->state->queues.items[node->queue].parent;

    node->is_linked = true;
    node->is_dirty = true;
    if (parent == NO_ID) {
        heap_push(order, &order->roots, node);
        return;
    }
    struct order_node *above = order->nodes[parent] ? order->nodes[parent] : add_node(order, parent, false);
    heap_push(order, &above->children, node);
}

void order_link(struct order *order)
{
    const struct kept_orders *kept = order->engine->orders;

    for (uint32_t i = 0; i < kept->deepest_first.len; i++) {
        struct order_node *node = order->nodes[kept->deepest_first.items[i]];
        if (node && (!node->is_leaf || order->kind->front(order, node)))
            link_node(order, node);
    }
}

static void mark_dirty(struct order *order, struct order_node *node)
{
    for (; node; node = parent_of(order, node))
        node->is_dirty = true;
}

struct order_node *order_next_leaf(struct order *order, bool *ret_is_settled)
{
    struct node_heap *heap = &order->roots;
    bool is_settled = true;

    for (;;) {
        struct order_node *sifted = NULL;
        struct order_node *first = heap->items[0];
        struct order_node *top = first;
        while (top->is_dirty) {
            top->is_dirty = false;
            sift_down(order, heap, heap->len);
            sifted = top;
            top = heap->items[0];
        }
        /* What is above was compared by the gang of the first one. */
        is_settled = is_settled && sifted == top && (top == first || heap == &order->roots);
        if (top->is_leaf) {
            *ret_is_settled = is_settled;
            return top;
        }
        heap = &top->children;
    }
}

void order_leaf_taken(struct order *order, struct order_node *leaf)
{
    struct order_node *node = leaf;

    leaf->round++;
    mark_dirty(order, leaf);
    bool is_empty = !order->kind->front(order, leaf);
    while (node && is_empty) {
        struct order_node *above = parent_of(order, node);
        struct node_heap *heap = above ? &above->children : &order->roots;

        BUG_ON(heap->items[0] != node);
        node->is_linked = false;
        heap_drop_top(order, heap);
        is_empty = heap->len == 0;
        node = above;
    }
}

void order_push(struct order *order, const struct gang_view *view)
{
    queue_id queue = order->engine->state->gangs.items[view->gang].queue;
    struct order_node *node = order_leaf(order, queue);

    order->kind->push(order, node, view);
    node->round++;
    struct order_node *linked = node;
    while (linked && !linked->is_linked) {
        struct order_node *above = parent_of(order, linked);
        bool is_above_linked = above && above->is_linked;

        link_node(order, linked);
        linked = is_above_linked ? NULL : parent_of(order, linked);
    }
    mark_dirty(order, node);
}

bool order_is_empty(const struct order *order)
{
    return order->simulation ? simulation_is_empty(order) : order->roots.len == 0;
}

const struct gang_view *order_pop(struct order *order)
{
    bool is_settled;

    if (order->simulation)
        return simulation_pop(order);
    struct order_node *leaf = order_next_leaf(order, &is_settled);
    const struct gang_view *view = order->kind->front(order, leaf);
    order->kind->take(order, leaf);
    order_leaf_taken(order, leaf);
    return view;
}
