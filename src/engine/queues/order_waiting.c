/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The order of waiting gangs. A leaf copies its kept list and takes gangs from its front; what is pushed back goes to a
 * heap beside it. That is what one heap would give, as long as no gang changes its rank while it waits there. When one
 * does (it lost pods to another gang's attempt), the leaf becomes one heap, in which that gang is compared anew but not
 * moved, as in KAI.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/context.h"
#include "engine/queues/kept_orders.h"
#include "engine/queues/order.h"
#include "engine/queues/order_tree.h"
#include "model/gang.h"
#include "model/queue.h"
#include "model/state.h"

struct gang_heap {
    gang_id *items;
    uint32_t len;
    uint32_t cap;
};

struct waiting_leaf {
    struct gang_heap gangs;   // in order, or a heap
    struct gang_heap pushed;  // a heap; empty when `gangs` is one
    bool is_sorted;
    uint32_t rekeyed;  // of its kept queue, when `gangs` was last known to be in order
};

static struct gang_key key_now(const struct engine *engine, gang_id gang)
{
    const struct gang *g = &engine->state->gangs.items[gang];

    return gang_key_of(engine, g, gang_elastic_state(g));
}

static bool precedes(const struct engine *engine, gang_id l, gang_id r)
{
    struct gang_key l_key = key_now(engine, l);
    struct gang_key r_key = key_now(engine, r);

    return gang_key_precedes(engine->state, &l_key, &r_key);
}

static void push_gang(struct order *order, struct gang_heap *heap, gang_id gang)
{
    if (heap->len == heap->cap) {
        uint32_t cap = MAX(2 * heap->cap, 4u);
        gang_id *items = arena_alloc(order->arena, cap * sizeof *items);
        if (heap->len > 0)
            memcpy(items, heap->items, heap->len * sizeof *items);
        heap->items = items;
        heap->cap = cap;
    }
    uint32_t i = heap->len++;
    while (i > 0 && precedes(order->engine, gang, heap->items[(i - 1) / 2])) {
        heap->items[i] = heap->items[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap->items[i] = gang;
}

static void pop_gang(const struct engine *engine, struct gang_heap *heap)
{
    gang_id last = heap->items[--heap->len];
    uint32_t i = 0;

    for (uint32_t child = 1; child < heap->len; child = 2 * i + 1) {
        if (child + 1 < heap->len && precedes(engine, heap->items[child + 1], heap->items[child]))
            child++;
        if (!precedes(engine, heap->items[child], last))
            break;
        heap->items[i] = heap->items[child];
        i = child;
    }
    heap->items[i] = last;
}

static struct kept_queue *kept_of(const struct order *order, const struct order_node *node)
{
    return &order->engine->orders->queues.items[node->queue];
}

/* A list that was in order is a heap already. */
static void make_heap(struct order *order, struct waiting_leaf *leaf)
{
    leaf->is_sorted = false;
    for (uint32_t i = 0; i < leaf->pushed.len; i++)
        push_gang(order, &leaf->gangs, leaf->pushed.items[i]);
    leaf->pushed.len = 0;
}

static struct gang_heap *front_heap(struct order *order, struct order_node *node)
{
    struct waiting_leaf *leaf = node->leaf;

    if (leaf->is_sorted && leaf->rekeyed != kept_of(order, node)->rekeyed)
        make_heap(order, leaf);
    if (leaf->pushed.len == 0)
        return &leaf->gangs;
    if (leaf->gangs.len == 0 || precedes(order->engine, leaf->pushed.items[0], leaf->gangs.items[0]))
        return &leaf->pushed;
    return &leaf->gangs;
}

static const struct gang_view *front(struct order *order, struct order_node *node)
{
    struct gang_heap *heap = front_heap(order, node);

    return heap->len > 0 ? view_of(order->engine, heap->items[0]) : NULL;
}

static void take(struct order *order, struct order_node *node)
{
    struct waiting_leaf *leaf = node->leaf;
    struct gang_heap *heap = front_heap(order, node);

    if (heap == &leaf->pushed || !leaf->is_sorted) {
        pop_gang(order->engine, heap);
        return;
    }
    heap->items++;
    heap->len--;
    heap->cap--;
}

static void push(struct order *order, struct order_node *node, const struct gang_view *view)
{
    struct waiting_leaf *leaf = node->leaf;
    const struct kept_queue *kept = kept_of(order, node);

    /* The one that is put back was not in the leaf while its rank changed. */
    if (leaf->rekeyed + 1 == kept->rekeyed && kept->last_rekeyed == view->gang)
        leaf->rekeyed++;
    push_gang(order, leaf->is_sorted ? &leaf->pushed : &leaf->gangs, view->gang);
}

static void *new_leaf(struct order *order)
{
    struct waiting_leaf *leaf = ARENA_NEW(order->arena, struct waiting_leaf);

    leaf->is_sorted = true;
    return leaf;
}

static const struct leaf_kind waiting_kind = {.front = front, .take = take, .push = push, .new_leaf = new_leaf};

static void set_verdict(struct engine *engine, gang_id gang, enum verdict_code code, enum action action)
{
    struct verdict *verdict = engine_verdict_slot(engine, gang);

    *verdict = (struct verdict){
        .code = code,
        .action = action,
        .pod = NO_ID,
        .group = NO_ID,
        .queue = engine->state->gangs.items[gang].queue,
    };
}

/* Whether the gang may not evict others yet; says so unless more is known about it. */
static bool is_delayed(struct engine *engine, gang_id gang, enum action action)
{
    const struct gang *g = &engine->state->gangs.items[gang];
    nsec_t base = g->last_eviction != 0 ? MAX(g->created, g->last_eviction) : g->created;

    if (g->preemption_delay <= 0 || engine->now - base >= g->preemption_delay)
        return false;
    enum verdict_code code = engine_verdict_slot(engine, gang)->code;
    if (code == VERDICT_NONE || code == VERDICT_NO_ROOM || code == VERDICT_PREEMPTION_DELAY) {
        set_verdict(engine, gang, VERDICT_PREEMPTION_DELAY, action);
        engine_verdict_slot(engine, gang)->until = base + g->preemption_delay;
    }
    return true;
}

static bool is_admitted(struct engine *engine, gang_id gang, enum action action)
{
    const struct gang *g = &engine->state->gangs.items[gang];

    if (!gang_is_ready(g)) {
        set_verdict(engine, gang, VERDICT_NOT_READY, action);
        return false;
    }
    if (action == ACTION_CONSOLIDATION && !g->is_preemptible)
        return false;
    return action == ACTION_ALLOCATE || !is_delayed(engine, gang, action);
}

struct by_uid {
    const char *uid;
    gang_id gang;
};

static int compare_uids(const void *a, const void *b)
{
    return strcmp(((const struct by_uid *)a)->uid, ((const struct by_uid *)b)->uid);
}

static void drop_beyond_cap(struct engine *engine, gang_id gang, enum action action)
{
    if (action == ACTION_ALLOCATE || engine_verdict_slot(engine, gang)->code == VERDICT_NONE)
        set_verdict(engine, gang, VERDICT_QUEUE_DEPTH, action);
}

/*
 * A leaf that offers only so many gangs. KAI pushes them in no particular order and each time drops the last of the
 * array, which need not be the worst; here they come in the order of their uids. Of two, the worse is the last: where
 * one is offered, it is the best.
 */
static void fill_capped(struct order *order, struct waiting_leaf *leaf, enum action action)
{
    struct engine *engine = order->engine;
    uint32_t count = leaf->gangs.len;
    int64_t cap = engine->config.queue_depth[action];

    leaf->is_sorted = false;
    if (cap == 1) {
        for (uint32_t i = 1; i < count; i++)
            drop_beyond_cap(engine, leaf->gangs.items[i], action);
        leaf->gangs.len = 1;
        return;
    }
    struct by_uid *all = arena_alloc(order->arena, count * sizeof *all);
    for (uint32_t i = 0; i < count; i++) {
        gang_id gang = leaf->gangs.items[i];
        all[i] = (struct by_uid){state_name(engine->state, engine->state->gangs.items[gang].uid), gang};
    }
    qsort(all, count, sizeof *all, compare_uids);
    leaf->gangs.len = 0;
    for (uint32_t i = 0; i < count; i++) {
        push_gang(order, &leaf->gangs, all[i].gang);
        if ((int64_t)leaf->gangs.len <= cap)
            continue;
        drop_beyond_cap(engine, leaf->gangs.items[--leaf->gangs.len], action);
    }
}

static void fill_leaf(struct order *order, queue_id queue, enum action action)
{
    struct engine *engine = order->engine;
    const struct kept_queue *kept = &engine->orders->queues.items[queue];
    gang_id *gangs = arena_alloc(order->arena, kept->waiting.len * sizeof *gangs);
    uint32_t count = 0;

    for (uint32_t b = 0; b < kept->waiting.blocks.len; b++) {
        const struct kept_block *block = kept->waiting.blocks.items[b];
        for (uint32_t i = 0; i < block->len; i++) {
            if (is_admitted(engine, block->ids[i], action))
                gangs[count++] = block->ids[i];
        }
    }
    if (count == 0)
        return;
    struct waiting_leaf *leaf = order_leaf(order, queue)->leaf;
    leaf->gangs = (struct gang_heap){gangs, count, kept->waiting.len};
    leaf->rekeyed = kept->rekeyed;
    int64_t cap = engine->config.queue_depth[action];
    if (cap >= 0 && count > cap)
        fill_capped(order, leaf, action);
}

static void refuse_all(struct engine *engine, const struct kept_list *list, enum verdict_code code)
{
    for (uint32_t b = 0; b < list->blocks.len; b++) {
        for (uint32_t i = 0; i < list->blocks.items[b]->len; i++)
            set_verdict(engine, list->blocks.items[b]->ids[i], code, ACTION_ALLOCATE);
    }
}

struct order *order_of_waiting(struct engine *engine, struct arena *arena, enum action action)
{
    struct kept_orders *kept = engine->orders;

    kept_orders_settle(engine);
    struct order *order = order_new(engine, arena, &waiting_kind);
    for (queue_id queue = 0; queue < kept->queues.len; queue++) {
        const struct queue *q = &engine->state->queues.items[queue];

        if (kept->queues.items[queue].waiting.len == 0)
            continue;
        if (queue_is_leaf(engine, queue))
            fill_leaf(order, queue, action);
        else if (action == ACTION_ALLOCATE)
            refuse_all(engine, &kept->queues.items[queue].waiting,
                       q->is_present && !q->is_orphan ? VERDICT_QUEUE_NOT_LEAF : VERDICT_NO_QUEUE);
    }
    if (action == ACTION_ALLOCATE)
        refuse_all(engine, &kept->homeless, VERDICT_NO_QUEUE);
    order_link(order);
    return order;
}
