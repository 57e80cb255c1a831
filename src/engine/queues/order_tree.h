/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/time.h"
#include "engine/gangs/view.h"
#include "engine/queues/order.h"
#include "engine/queues/order_rows.h"
#include "model/ids.h"
#include "model/resources.h"

struct engine;

/*
 * The tree of queues that all orders are. They differ in what a leaf holds: waiting gangs (order_waiting.c), victims
 * (order_victims.c), or gangs of a simulation (order_simulation.c).
 */
struct order_node;

/* What queues are compared by, first things first. */
struct queue_rank {
    uint64_t whole;                         // values of the rows of orders, side by side; the smaller is first
    double fractions[QUEUE_FRACTIONS_MAX];  // likewise, one by one
    uint32_t fraction_count;
    double allocatable[SHARE_COUNT];
    nsec_t created;
    const char *uid;
    queue_id queue;
};

/* `asked` by its best gang, NULL: nothing; `taken` is what victims held, NULL: nothing. */
void queue_rank_of(const struct engine *engine, queue_id queue, const double *asked, const struct amounts *taken,
                   struct queue_rank *ret);

/* -1, 0 or 1 by what puts all queues in one order; of those that are equal, what is allocatable and age decide. */
int queue_rank_compare_shares(const struct queue_rank *l, const struct queue_rank *r);

bool queue_rank_precedes(const struct queue_rank *l, const struct queue_rank *r);

/* A binary heap; its layout follows from the operations alone and decides between queues whose order is stale. */
struct node_heap {
    struct order_node **items;
    uint32_t len;
    uint32_t cap;
};

struct order_node {
    queue_id queue;
    bool is_leaf;
    bool is_linked;  // in its parent's heap; a leaf without gangs is not, nor is what has no such leaf below
    bool is_dirty;   // to be sifted again when it comes to the top
    struct node_heap children;
    void *leaf;            // what the kind of the order keeps for a leaf
    struct amounts taken;  // victims: what those that came off held

    /* Kept from one comparison to the next, as long as the clock stands still and the best leaf below is the same. */
    struct queue_rank rank;
    uint64_t rank_clock;
    const struct order_node *rank_leaf;
    uint32_t rank_round;  // of that leaf
    uint32_t round;       // leaves: grows when their front changes
};

struct leaf_kind {
    /* The gang that is next, NULL when there is none. */
    const struct gang_view *(*front)(struct order *order, struct order_node *node);
    void (*take)(struct order *order, struct order_node *node);
    void (*push)(struct order *order, struct order_node *node, const struct gang_view *view);
    void *(*new_leaf)(struct order *order);
    bool is_of_victims;
};

struct order {
    struct engine *engine;
    struct arena *arena;
    const struct leaf_kind *kind;
    struct order_node **nodes;  // by queue id, NULL where there was none yet
    struct node_heap roots;
    struct simulation *simulation;  // order_simulation.c
    void *context;                  // of victim filters
    victim_fn is_candidate;
};

struct order *order_new(struct engine *engine, struct arena *arena, const struct leaf_kind *kind);

/* The leaf of a queue that takes part, added when it is not there. */
struct order_node *order_leaf(struct order *order, queue_id queue);
bool queue_is_leaf(const struct engine *engine, queue_id queue);

/* Links the leaves that have gangs, and what is above them, in the order in which building by pushing would. */
void order_link(struct order *order);

/*
 * The leaf that is next. `ret_is_settled`: every queue on the way was compared with those next to it in this call, so
 * that the next call ends in the same leaf if neither books nor what its gang asks for change.
 */
struct order_node *order_next_leaf(struct order *order, bool *ret_is_settled);

/* Gangs came off the leaf: it and those above are dirty, and those that are empty leave the tree. */
void order_leaf_taken(struct order *order, struct order_node *leaf);

/* Amounts as integers again. */
struct amounts amounts_of(const double doubles[SHARE_COUNT]);
