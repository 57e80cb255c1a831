/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Division of the cluster among queues, one resource at a time: first what each queue deserves, then what is left by
 * priority and weight, level by level from the roots down.
 *
 * The steps and the order of the arithmetic are KAI's, since its rounding is visible: a share is a whole number of
 * devices more or less. Siblings are always summed up in one order, so that equal inputs give equal shares.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "engine/context.h"
#include "engine/queues/share.h"
#include "model/queue.h"
#include "model/state.h"

/* A queue among its siblings, while one resource is divided. */
struct contender {
    queue_id queue;
    uint32_t place;  // among its siblings
    int32_t priority;
    bool has_remainder;  // a part of a unit that rounding down kept from it
    double remainder;
    double request;
    double requestable;  // within its limit
    double limit;
    double weight;
    double usage;
    double part;  // of what is left in this round, before it is divided by the sum
    double *fair;
    nsec_t created;
    const char *uid;
};

struct contenders VEC_OF(struct contender);

struct division {
    struct engine *engine;
    int resource;
    struct contenders contenders;  // of the group at hand; used anew for each
};

static int compare_priority(const void *a, const void *b)
{
    const struct contender *l = a;
    const struct contender *r = b;

    if (l->priority != r->priority)
        return l->priority > r->priority ? -1 : 1;
    return l->place < r->place ? -1 : l->place > r->place;
}

static int compare_remainder(const void *a, const void *b)
{
    const struct contender *l = a;
    const struct contender *r = b;

    if (l->has_remainder != r->has_remainder)
        return l->has_remainder ? -1 : 1;
    if (l->remainder != r->remainder)
        return l->remainder > r->remainder ? -1 : 1;
    if (l->created != r->created)
        return l->created < r->created ? -1 : 1;
    return strcmp(l->uid, r->uid);
}

static double requestable(const struct queue *queue, double request, int resource)
{
    double limit = queue->limit[resource];
    return limit == UNLIMITED ? request : MIN(limit, request);
}

static void add_contender(struct division *d, queue_id id)
{
    const struct queue *queue = &d->engine->state->queues.items[id];
    struct queue_share *share = &d->engine->shares.items[id];
    int r = d->resource;

    vec_push(&d->contenders, (struct contender){
                                 .queue = id,
                                 .place = d->contenders.len,
                                 .priority = queue->priority,
                                 .request = share->requested[r],
                                 .requestable = requestable(queue, share->requested[r], r),
                                 .limit = queue->limit[r],
                                 .weight = queue->weight[r],
                                 .usage = queue->usage[r],
                                 .fair = &share->fair[r],
                                 .created = queue->created,
                                 .uid = state_name(d->engine->state, queue->uid),
                             });
}

static bool is_satisfied(const struct contender *c)
{
    return c->request <= *c->fair || (c->limit != UNLIMITED && c->limit <= *c->fair);
}

/* Parts of what is left, by weight and past use; returns their sum, 0 when nobody takes any. */
static double weigh(struct contender *first, uint32_t count, double k_value)
{
    double weights = 0;
    double sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (first[i].requestable - *first[i].fair > 0)
            weights += first[i].weight;
    }
    if (weights == 0)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (is_satisfied(&first[i]))
            continue;
        double weight = first[i].weight / weights;
        first[i].part = MAX(0.0, weight + k_value * (weight - first[i].usage));
        sum += first[i].part;
    }
    return sum;
}

/* One round among queues of equal priority. True when another one is due: some queue took less than its part. */
static bool divide_round(struct contender *first, uint32_t count, double sum, double *left)
{
    const double amount = *left;
    bool again = false;

    for (uint32_t i = 0; i < count; i++) {
        struct contender *c = &first[i];

        if (is_satisfied(c) || c->weight == 0)
            continue;
        /* Divided first and multiplied then: the other order rounds to other whole devices. */
        double quotient = c->part / sum;
        double offer = amount * quotient;
        double want = c->requestable - *c->fair;
        double given = want;
        if (want <= offer) {
            c->has_remainder = false;
        } else {
            given = floor(offer);
            if (offer - given > 0) {
                c->has_remainder = true;
                c->remainder = offer - given;
            }
        }
        if (given == 0)
            continue;
        again = again || want < offer;
        *c->fair += given;
        *left -= given;
        if (*left == 0)
            return false;
    }
    return again;
}

static uint32_t bucket_end(const struct contenders *all, uint32_t start)
{
    uint32_t end = start;

    while (end < all->len && all->items[end].priority == all->items[start].priority)
        end++;
    return end;
}

/* What the queues do not deserve but may use: priority by priority, then what rounding left over one unit at a time. */
static void divide_surplus(struct division *d, double left)
{
    struct contenders *all = &d->contenders;

    if (all->len == 0)
        return;
    qsort(all->items, all->len, sizeof *all->items, compare_priority);
    for (uint32_t start = 0; start < all->len; start = bucket_end(all, start)) {
        struct contender *first = all->items + start;
        uint32_t count = bucket_end(all, start) - start;

        while (left > 0) {
            double sum = weigh(first, count, d->engine->config.k_value);
            if (sum == 0 || !divide_round(first, count, sum, &left))
                break;
        }
    }
    for (uint32_t start = 0; start < all->len && left > 0; start = bucket_end(all, start)) {
        struct contender *first = all->items + start;
        uint32_t count = bucket_end(all, start) - start;

        qsort(first, count, sizeof *first, compare_remainder);
        for (uint32_t i = 0; i < count && first[i].has_remainder && left > 0; i++) {
            double given = MIN(1.0, left);
            *first[i].fair += given;
            left -= given;
        }
    }
}

/* Recurses once a level of queues, of which there are at most 64. */
static void divide_group(struct division *d, const queue_id *ids, uint32_t count, double total)
{
    const struct state *state = d->engine->state;
    double left = total;

    vec_clear(&d->contenders);
    for (uint32_t i = 0; i < count; i++) {
        const struct queue *queue = &state->queues.items[ids[i]];
        if (!queue->is_present || queue->is_orphan)
            continue;
        add_contender(d, ids[i]);
        double deserved = queue->deserved[d->resource];
        struct contender *c = &vec_last(&d->contenders);
        *c->fair = MIN(deserved == UNLIMITED ? total : deserved, c->requestable);
        left -= *c->fair;
    }
    if (left > 0)
        divide_surplus(d, left);

    for (uint32_t i = 0; i < count; i++) {
        const struct queue *queue = &state->queues.items[ids[i]];
        if (queue->is_present && !queue->is_orphan && queue->children.len > 0)
            divide_group(d, queue->children.items, queue->children.len,
                         d->engine->shares.items[ids[i]].fair[d->resource]);
    }
}

static void read_books(struct engine *engine, queue_id id)
{
    const struct state *state = engine->state;
    const struct queue *queue = &state->queues.items[id];
    struct queue_share *share = &engine->shares.items[id];

    *share = (struct queue_share){.fair = {UNLIMITED, UNLIMITED, UNLIMITED}};
    share_allocated(engine, id, share->allocated);
    share_allocated_fixed(engine, id, share->allocated_fixed);
    for (int r = 0; r < SHARE_COUNT; r++)
        share->requested[r] = share_to_double(r, queue->allocated.v[r] + queue->requested.v[r]);
    share->requested[SHARE_GPU] += (double)queue->requested_memory_mib / (double)state->min_gpu_memory_mib;
}

struct root {
    queue_id id;
    nsec_t created;
    const char *uid;
};

static int compare_roots(const void *a, const void *b)
{
    const struct root *l = a;
    const struct root *r = b;

    if (l->created != r->created)
        return l->created < r->created ? -1 : 1;
    return strcmp(l->uid, r->uid);
}

/* The roots, oldest first; to be freed by the caller. */
static queue_id *find_roots(const struct state *state, uint32_t *ret_count)
{
    VEC(struct root) roots = {0};
    for (queue_id id = 0; id < state->queues.len; id++) {
        const struct queue *queue = &state->queues.items[id];
        if (queue->is_present && !queue->is_orphan && queue->parent == NO_ID)
            vec_push(&roots, (struct root){id, queue->created, state_name(state, queue->uid)});
    }
    if (roots.len > 0)
        qsort(roots.items, roots.len, sizeof *roots.items, compare_roots);

    queue_id *ids = xmalloc(roots.len * sizeof *ids);
    for (uint32_t i = 0; i < roots.len; i++)
        ids[i] = roots.items[i].id;
    *ret_count = roots.len;
    vec_done(&roots);
    return ids;
}

void shares_divide(struct engine *engine)
{
    const struct state *state = engine->state;

    vec_resize(&engine->shares, state->queues.len);
    for (queue_id id = 0; id < state->queues.len; id++)
        read_books(engine, id);
    if (!engine_has(engine, PLUGIN_PROPORTION))
        return;

    uint32_t root_count;
    _cleanup_(freep) queue_id *roots = find_roots(state, &root_count);
    struct division d = {.engine = engine};
    for (d.resource = 0; d.resource < SHARE_COUNT; d.resource++)
        divide_group(&d, roots, root_count, share_to_double(d.resource, state->total.v[d.resource]));
    vec_done(&d.contenders);
}
