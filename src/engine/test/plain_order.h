/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Orders as they are defined: every gang in the heap of its leaf, every gang comes off one by one. Slow, and what the
 * real ones are compared with.
 */
#include <string.h>

#include "engine/queues/order_tree.h"
#include "engine/test/queues.h"

enum { PLAIN_QUEUES = 64, PLAIN_GANGS = 512 };

struct plain_item {
    gang_id gang;
    const struct gang_view *part;  // NULL: the gang as it is
};

struct plain_node {
    bool is_there;
    bool is_leaf;
    bool is_dirty;
    int heap[PLAIN_QUEUES];  // queue ids
    struct plain_item items[PLAIN_GANGS];
    int len;
    double taken[SHARE_COUNT];
};

struct plain_order {
    struct cluster *c;
    bool is_of_victims;
    struct plain_node nodes[PLAIN_QUEUES + 1];  // the last one holds the roots
};

enum { PLAIN_ROOTS = PLAIN_QUEUES };

static inline const struct gang_view *plain_view(const struct plain_order *o, struct plain_item item)
{
    return item.part ? item.part : view_of(o->c->engine, item.gang);
}

static inline int plain_parent(const struct plain_order *o, int queue)
{
    queue_id parent = o->c->state->queues.items[queue].parent;
    return parent == NO_ID ? PLAIN_ROOTS : (int)parent;
}

static inline const struct plain_node *plain_best(const struct plain_order *o, int queue)
{
    const struct plain_node *node = &o->nodes[queue];
    while (!node->is_leaf)
        node = &o->nodes[node->heap[0]];
    return node;
}

/* The queue's place: what it would hold with its best gang, or without the victims up to and with its next one. */
static inline struct queue_rank plain_rank(const struct plain_order *o, int queue)
{
    const struct plain_node *best = plain_best(o, queue);
    const struct gang_view *view = plain_view(o, best->items[0]);
    struct queue_rank rank;

    if (!o->is_of_victims) {
        queue_rank_of(o->c->engine, (queue_id)queue, view->asked, NULL, &rank);
        return rank;
    }
    double held[SHARE_COUNT];
    for (int r = 0; r < SHARE_COUNT; r++)
        held[r] = best->taken[r] + view->held[r];
    struct amounts taken = amounts_of(held);
    queue_rank_of(o->c->engine, (queue_id)queue, NULL, &taken, &rank);
    return rank;
}

static inline bool plain_queue_less(const struct plain_order *o, int l, int r)
{
    struct queue_rank left = plain_rank(o, l);
    struct queue_rank right = plain_rank(o, r);

    return queue_rank_precedes(&left, &right) != o->is_of_victims;
}

static inline bool plain_less(const struct plain_order *o, const struct plain_node *node, int l, int r)
{
    if (!node->is_leaf)
        return plain_queue_less(o, node->heap[l], node->heap[r]);
    const struct gang_view *left = plain_view(o, node->items[l]);
    const struct gang_view *right = plain_view(o, node->items[r]);
    return gang_precedes(o->c->engine, left, right) != o->is_of_victims;
}

static inline void plain_swap(struct plain_node *node, int a, int b)
{
    if (node->is_leaf) {
        struct plain_item item = node->items[a];
        node->items[a] = node->items[b];
        node->items[b] = item;
    } else {
        int queue = node->heap[a];
        node->heap[a] = node->heap[b];
        node->heap[b] = queue;
    }
}

static inline void plain_up(const struct plain_order *o, struct plain_node *node)
{
    for (int i = node->len - 1; i > 0 && plain_less(o, node, i, (i - 1) / 2); i = (i - 1) / 2)
        plain_swap(node, i, (i - 1) / 2);
}

static inline void plain_down(const struct plain_order *o, struct plain_node *node, int len)
{
    for (int i = 0, child; (child = 2 * i + 1) < len; i = child) {
        if (child + 1 < len && plain_less(o, node, child + 1, child))
            child++;
        if (!plain_less(o, node, child, i))
            return;
        plain_swap(node, i, child);
    }
}

static inline void plain_pop_top(struct plain_order *o, struct plain_node *node)
{
    plain_swap(node, 0, node->len - 1);
    plain_down(o, node, node->len - 1);
    node->len--;
}

static inline void plain_begin(struct plain_order *o, struct cluster *c, bool is_of_victims)
{
    memset(o, 0, sizeof *o);
    o->c = c;
    o->is_of_victims = is_of_victims;
    o->nodes[PLAIN_ROOTS].is_there = true;
}

static inline void plain_link(struct plain_order *o, int queue)
{
    struct plain_node *parent = &o->nodes[plain_parent(o, queue)];

    o->nodes[queue].is_there = true;
    o->nodes[queue].is_dirty = true;
    parent->heap[parent->len++] = queue;
    plain_up(o, parent);
}

static inline void plain_add(struct plain_order *o, struct plain_item item)
{
    struct plain_node *leaf = &o->nodes[o->c->state->gangs.items[item.gang].queue];

    leaf->is_leaf = true;
    leaf->items[leaf->len++] = item;
    plain_up(o, leaf);
}

static inline void plain_link_all(struct plain_order *o)
{
    const struct state *state = o->c->state;

    for (int depth = 8; depth >= 0; depth--) {
        for (queue_id q = 0; q < state->queues.len; q++) {
            if ((int)state->queues.items[q].depth == depth && o->nodes[q].len > 0)
                plain_link(o, (int)q);
        }
    }
}

static inline void plain_mark(struct plain_order *o, int queue)
{
    for (; queue != PLAIN_ROOTS; queue = plain_parent(o, queue))
        o->nodes[queue].is_dirty = true;
}

static inline bool plain_is_empty(const struct plain_order *o)
{
    return o->nodes[PLAIN_ROOTS].len == 0;
}

static inline struct plain_item plain_pop(struct plain_order *o)
{
    int queue = PLAIN_ROOTS;
    while (!o->nodes[queue].is_leaf) {
        struct plain_node *node = &o->nodes[queue];
        while (o->nodes[node->heap[0]].is_dirty) {
            o->nodes[node->heap[0]].is_dirty = false;
            plain_down(o, node, node->len);
        }
        queue = node->heap[0];
    }
    struct plain_node *leaf = &o->nodes[queue];
    struct plain_item item = leaf->items[0];
    for (int r = 0; r < SHARE_COUNT && o->is_of_victims; r++)
        leaf->taken[r] += plain_view(o, item)->held[r];
    plain_pop_top(o, leaf);
    plain_mark(o, queue);
    while (queue != PLAIN_ROOTS && o->nodes[queue].len == 0) {
        o->nodes[queue].is_there = false;
        queue = plain_parent(o, queue);
        plain_pop_top(o, &o->nodes[queue]);
    }
    return item;
}

static inline void plain_push(struct plain_order *o, struct plain_item item)
{
    int queue = (int)o->c->state->gangs.items[item.gang].queue;

    plain_add(o, item);
    for (int q = queue; !o->nodes[q].is_there; q = plain_parent(o, q))
        plain_link(o, q);
    plain_mark(o, queue);
}
