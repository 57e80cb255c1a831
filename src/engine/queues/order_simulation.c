/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The order of a simulation. KAI puts every waiting gang into it, though only the victims and the gang that they make
 * room for are placed; the others come off without effect. They cannot be left out, since the best gang of a queue
 * weighs in its place among queues. But they can be walked quickly: they are kept lists of leaves, read and not copied,
 * and a run of them goes in one step where taking them one by one cannot change which queue is next.
 *
 * A run: when the way to a leaf is settled (order_next_leaf), taking a gang that is not placed only changes what the
 * leaf asks for next. As long as that is something for which the way was found settled already (`known`, as bits of
 * classes), the next call would come back to the same leaf.
 */
#include <string.h>

#include "engine/context.h"
#include "engine/queues/kept_orders.h"
#include "engine/queues/order.h"
#include "engine/queues/order_simulation_internal.h"
#include "engine/queues/order_tree.h"
#include "model/gang.h"
#include "model/state.h"

/* A gang that is placed. */
struct player {
    const struct gang_view *probe;  // NULL: the gang as it is
    gang_id gang;
    struct gang_key key;
    struct kept_place place;  // in the list of those that only wait: those before it come first
};

struct simulation_leaf {
    struct kept_list *list;  // those that wait, players among them
    struct kept_place next;  // never at a player
    struct player *players;  // in order; `first` is next
    uint32_t first;
    uint32_t count;
    uint32_t cap;
};

struct simulation {
    uint32_t mark;  // of its players, in kept_gang
    uint32_t players_left;
    uint32_t leaves_left;          // with players
    struct simulation_leaf *last;  // the only one of them
    struct order_node *run;        // the leaf that `known` is about
    uint64_t known;
};

static bool is_player(const struct order *order, gang_id gang)
{
    return order->engine->orders->gangs.items[gang].mark == order->simulation->mark;
}

static void skip_players(const struct order *order, struct simulation_leaf *leaf)
{
    while (!kept_list_is_end(leaf->list, leaf->next) && is_player(order, kept_list_at(leaf->list, leaf->next)))
        leaf->next = kept_list_next(leaf->list, leaf->next);
}

/* Where the walk over those that only wait has to stop for a player, or the end. */
static struct kept_place stop_of(const struct simulation_leaf *leaf)
{
    if (leaf->first < leaf->count)
        return leaf->players[leaf->first].place;
    return (struct kept_place){leaf->list->blocks.len, 0};
}

static bool is_player_next(const struct simulation_leaf *leaf)
{
    return leaf->first < leaf->count && !kept_place_is_before(leaf->next, stop_of(leaf));
}

static const struct gang_view *player_view(const struct order *order, const struct player *player)
{
    return player->probe ? player->probe : view_of(order->engine, player->gang);
}

static const struct gang_view *front(struct order *order, struct order_node *node)
{
    const struct simulation_leaf *leaf = node->leaf;

    if (is_player_next(leaf))
        return player_view(order, &leaf->players[leaf->first]);
    if (kept_list_is_end(leaf->list, leaf->next))
        return NULL;
    return view_of(order->engine, kept_list_at(leaf->list, leaf->next));
}

/* Passes over those that only wait and are of known classes. */
static void skip_known(struct order *order, struct simulation_leaf *leaf)
{
    struct engine *engine = order->engine;
    uint64_t known = order->simulation->known;
    struct kept_place stop = stop_of(leaf);

    while (kept_place_is_before(leaf->next, stop)) {
        struct kept_block *block = leaf->list->blocks.items[leaf->next.block];

        if (leaf->next.index == 0 && leaf->next.block < stop.block && !(kept_block_classes(engine, block) & ~known)) {
            leaf->next.block++;
            continue;
        }
        gang_id gang = kept_list_at(leaf->list, leaf->next);
        if (!is_player(order, gang) && !(UINT64_C(1) << kept_class(engine, gang) & known))
            return;
        leaf->next = kept_list_next(leaf->list, leaf->next);
    }
    skip_players(order, leaf);
}

static void take_bystander(struct order *order, struct order_node *node, bool is_settled)
{
    struct simulation_leaf *leaf = node->leaf;
    struct simulation *simulation = order->simulation;
    uint8_t class = kept_class(order->engine, kept_list_at(leaf->list, leaf->next));

    if (!is_settled || simulation->run != node)
        simulation->known = 0;
    simulation->run = node;
    if (is_settled && class != CLASS_OTHER)
        simulation->known |= UINT64_C(1) << class;
    leaf->next = kept_list_next(leaf->list, leaf->next);
    skip_players(order, leaf);
    skip_known(order, leaf);
    order_leaf_taken(order, node);
}

static const struct gang_view *take_player(struct order *order, struct simulation_leaf *leaf)
{
    struct simulation *simulation = order->simulation;
    const struct gang_view *view = player_view(order, &leaf->players[leaf->first++]);

    simulation->players_left--;
    simulation->leaves_left -= leaf->first == leaf->count;
    simulation->run = NULL;
    return view;
}

static struct simulation_leaf *only_leaf(const struct order *order)
{
    struct simulation_leaf *last = order->simulation->last;

    for (uint32_t i = 0; i < order->engine->state->queues.len && !last; i++) {
        struct order_node *node = order->nodes[i];
        struct simulation_leaf *leaf = node && node->is_leaf ? node->leaf : NULL;
        if (leaf && leaf->first < leaf->count)
            last = leaf;
    }
    order->simulation->last = last;
    return last;
}

const struct gang_view *simulation_pop(struct order *order)
{
    /* Players of one queue alone come off in its own order, whatever comes between them. */
    if (order->simulation->leaves_left == 1)
        return take_player(order, only_leaf(order));
    for (;;) {
        bool is_settled;
        struct order_node *node = order_next_leaf(order, &is_settled);
        struct simulation_leaf *leaf = node->leaf;

        if (!is_player_next(leaf)) {
            take_bystander(order, node, is_settled);
            continue;
        }
        const struct gang_view *view = take_player(order, leaf);
        order_leaf_taken(order, node);
        return view;
    }
}

bool simulation_is_empty(const struct order *order)
{
    return order->simulation->players_left == 0;
}

static void *new_leaf(struct order *order)
{
    return ARENA_NEW(order->arena, struct simulation_leaf);
}

static const struct leaf_kind simulation_kind = {.front = front, .new_leaf = new_leaf};

static struct player *add_player(struct order *order, struct simulation_leaf *leaf)
{
    if (leaf->count == leaf->cap) {
        uint32_t cap = MAX(2 * leaf->cap, 4u);
        struct player *players = arena_alloc(order->arena, cap * sizeof *players);
        if (leaf->count > 0)
            memcpy(players, leaf->players, leaf->count * sizeof *players);
        leaf->players = players;
        leaf->cap = cap;
    }
    return &leaf->players[leaf->count++];
}

static void add(struct order *order, gang_id gang, const struct gang_view *probe)
{
    struct engine *engine = order->engine;
    const struct gang *g = &engine->state->gangs.items[gang];
    struct simulation *simulation = order->simulation;
    struct kept_gang *filed = &engine->orders->gangs.items[gang];

    if (filed->mark == simulation->mark || g->queue == NO_ID || !queue_is_leaf(engine, g->queue))
        return;
    filed->mark = simulation->mark;
    struct simulation_leaf *leaf = order_leaf(order, g->queue)->leaf;
    simulation->leaves_left += leaf->count == 0;
    simulation->players_left++;

    struct player player = {
        .probe = probe,
        .gang = gang,
        .key = gang_key_of(engine, g, probe ? probe->elastic : gang_elastic_state(g)),
    };
    struct player *at = add_player(order, leaf);
    while (at > leaf->players && gang_key_precedes(engine->state, &player.key, &at[-1].key)) {
        *at = at[-1];
        at--;
    }
    *at = player;
}

/* Adds those that only wait, and finds each player's place among them. */
static void add_bystanders(struct order *order)
{
    struct kept_orders *kept = order->engine->orders;

    for (uint32_t i = 0; i < kept->deepest_first.len; i++) {
        queue_id queue = kept->deepest_first.items[i];
        struct kept_list *list = &kept->queues.items[queue].waiting;

        if (!order->nodes[queue] && (list->len == 0 || !queue_is_leaf(order->engine, queue)))
            continue;
        struct simulation_leaf *leaf = order_leaf(order, queue)->leaf;
        leaf->list = list;
        skip_players(order, leaf);
        for (uint32_t p = 0; p < leaf->count; p++)
            leaf->players[p].place = kept_list_find(list, kept, order->engine->state, &leaf->players[p].key);
    }
}

/* Files what was committed before the simulation began. Victims, which it has changed, are filed again after it. */
static void settle(struct engine *engine, const gang_id *victims, uint32_t victim_count)
{
    struct id_set *dirty = &engine->orders->dirty;

    if (dirty->ids.len == 0)
        return;
    kept_orders_settle(engine);
    for (uint32_t i = 0; i < victim_count; i++)
        id_set_add(dirty, victims[i]);
}

struct order *order_of_simulation(struct engine *engine, struct arena *arena, const struct gang_view *probe,
                                  const gang_id *victims, uint32_t victim_count)
{
    settle(engine, victims, victim_count);
    struct order *order = order_new(engine, arena, &simulation_kind);
    order->simulation = ARENA_NEW(arena, struct simulation);
    order->simulation->mark = ++engine->orders->simulations;
    add(order, probe->gang, probe);
    for (uint32_t i = 0; i < victim_count; i++)
        add(order, victims[i], NULL);
    if (order->simulation->leaves_left > 1) {
        add_bystanders(order);
        order_link(order);
    }
    return order;
}
