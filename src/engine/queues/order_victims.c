/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The order of victims. A leaf walks its kept list from the end, past gangs that are no candidates, and so costs
 * nothing for victims that are not reached. Rests of victims that were taken in part are few; they wait beside the list
 * and are compared with its front.
 *
 * The list says what is committed. Between two pops the state is as it was when the order was built, so that walking it
 * is what taking victims from a heap would be.
 */
#include <string.h>

#include "engine/context.h"
#include "engine/queues/kept_orders.h"
#include "engine/queues/order.h"
#include "engine/queues/order_tree.h"
#include "model/gang.h"
#include "model/queue.h"
#include "model/state.h"

struct victim_leaf {
    const struct kept_list *list;
    struct kept_place next;  // the place after the one to look at: the list is walked backwards
    gang_id gang;            // the candidate that was found, NO_ID when the list is done
    const struct gang_view **rests;
    uint32_t rest_count;
    uint32_t rest_cap;
};

static void find_candidate(struct order *order, struct victim_leaf *leaf)
{
    leaf->gang = NO_ID;
    for (;;) {
        if (leaf->next.index == 0) {
            if (leaf->next.block == 0)
                return;
            leaf->next.block--;
            leaf->next.index = leaf->list->blocks.items[leaf->next.block]->len;
        }
        leaf->next.index--;
        gang_id gang = kept_list_at(leaf->list, leaf->next);
        if (order->is_candidate(order->context, gang)) {
            leaf->gang = gang;
            return;
        }
    }
}

/* The rest that goes first: the one that all others precede. NO_ID when the list's gang does. */
static uint32_t worst_rest(struct order *order, const struct victim_leaf *leaf)
{
    const struct gang_view *worst = leaf->gang == NO_ID ? NULL : view_of(order->engine, leaf->gang);
    uint32_t at = NO_ID;

    for (uint32_t i = 0; i < leaf->rest_count; i++) {
        if (worst && !gang_precedes(order->engine, worst, leaf->rests[i]))
            continue;
        worst = leaf->rests[i];
        at = i;
    }
    return at;
}

static const struct gang_view *front(struct order *order, struct order_node *node)
{
    const struct victim_leaf *leaf = node->leaf;
    uint32_t rest = leaf->rest_count > 0 ? worst_rest(order, leaf) : NO_ID;

    if (rest != NO_ID)
        return leaf->rests[rest];
    return leaf->gang == NO_ID ? NULL : view_of(order->engine, leaf->gang);
}

static void take(struct order *order, struct order_node *node)
{
    struct victim_leaf *leaf = node->leaf;
    struct amounts held = amounts_of(front(order, node)->held);
    uint32_t rest = leaf->rest_count > 0 ? worst_rest(order, leaf) : NO_ID;

    /* KAI counts a victim in full, and then its rest again: a queue with elastic victims seems to hold less. */
    for (int r = 0; r < SHARE_COUNT; r++)
        node->taken.v[r] += held.v[r];
    if (rest == NO_ID)
        find_candidate(order, leaf);
    else
        leaf->rests[rest] = leaf->rests[--leaf->rest_count];
}

static void push(struct order *order, struct order_node *node, const struct gang_view *view)
{
    struct victim_leaf *leaf = node->leaf;

    if (leaf->rest_count == leaf->rest_cap) {
        uint32_t cap = MAX(2 * leaf->rest_cap, 4u);
        const struct gang_view **rests = arena_alloc(order->arena, cap * sizeof *rests);
        if (leaf->rest_count > 0)
            memcpy(rests, leaf->rests, leaf->rest_count * sizeof *rests);
        leaf->rests = rests;
        leaf->rest_cap = cap;
    }
    leaf->rests[leaf->rest_count++] = view;
}

static void *new_leaf(struct order *order)
{
    struct victim_leaf *leaf = ARENA_NEW(order->arena, struct victim_leaf);

    leaf->gang = NO_ID;
    return leaf;
}

static const struct leaf_kind victim_kind = {
    .front = front,
    .take = take,
    .push = push,
    .new_leaf = new_leaf,
    .is_of_victims = true,
};

struct order *order_of_victims(struct engine *engine, struct arena *arena, victim_queue_fn is_candidate_queue,
                               victim_fn is_candidate, void *context)
{
    const struct kept_orders *kept = engine->orders;

    kept_orders_settle(engine);
    struct order *order = order_new(engine, arena, &victim_kind);
    order->is_candidate = is_candidate;
    order->context = context;
    for (uint32_t i = 0; i < kept->deepest_first.len; i++) {
        queue_id queue = kept->deepest_first.items[i];
        const struct kept_list *list = &kept->queues.items[queue].victims;

        if (list->len == 0 || !queue_is_leaf(engine, queue))
            continue;
        if (is_candidate_queue && !is_candidate_queue(context, queue))
            continue;
        struct victim_leaf *leaf = order_leaf(order, queue)->leaf;
        leaf->list = list;
        leaf->next = (struct kept_place){list->blocks.len, 0};
        find_candidate(order, leaf);
    }
    order_link(order);
    return order;
}
