/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/intake/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "services/scheduler/intake/history_internal.h"
#include "services/scheduler/intake/usage_internal.h"

struct history *history_new(void)
{
    return xcalloc(1, sizeof(struct history));
}

void history_free(struct history *history)
{
    if (!history)
        return;
    vec_foreach (&history->buckets, bucket)
        vec_done(&bucket->entries);
    vec_done(&history->buckets);
    vec_foreach (&history->queues, name)
        free(*name);
    vec_done(&history->queues);
    strmap_done(&history->numbers);
    free(history);
}

void history_freep(struct history **history)
{
    history_free(*history);
}

/* A map has no NULL as a value. */
static void *number_value(uint32_t number)
{
    return (void *)((uintptr_t)number + 1);
}

uint32_t history_queue(struct history *history, const char *name)
{
    uintptr_t number = (uintptr_t)strmap_get(&history->numbers, "", name);

    if (number)
        return (uint32_t)number - 1;
    char *copy = xstrdup(name);
    vec_push(&history->queues, copy);
    (void)strmap_put(&history->numbers, "", copy, number_value(history->queues.len - 1));
    return history->queues.len - 1;
}

static size_t entry_count(const struct history *history)
{
    size_t count = 0;

    vec_foreach (&history->buckets, bucket)
        count += bucket->entries.len;
    return count;
}

static uint32_t find_entry(const struct bucket *bucket, uint32_t queue, uint32_t hint)
{
    for (uint32_t i = 0; i < bucket->entries.len; i++) {
        uint32_t at = (hint + i) % bucket->entries.len;

        if (bucket->entries.items[at].queue == queue)
            return at;
    }
    return bucket->entries.len;
}

static void add_to(struct history *history, struct bucket *bucket, uint32_t queue, const double sums[SHARE_COUNT])
{
    uint32_t at = find_entry(bucket, queue, history->hint);

    if (at == bucket->entries.len)
        vec_push(&bucket->entries, (struct bucket_entry){.queue = queue});
    for (int r = 0; r < SHARE_COUNT; r++)
        bucket->entries.items[at].sums[r] += sums[r];
    history->hint = at + 1;
}

static void join(struct history *history, struct bucket *into, struct bucket *later)
{
    into->last = later->last;
    into->count += later->count;
    for (int r = 0; r < SHARE_COUNT; r++)
        into->capacity[r] += later->capacity[r];
    vec_foreach (&later->entries, entry)
        add_to(history, into, entry->queue, entry->sums);
    vec_done(&later->entries);
}

/* Buckets twice as long: those that fall into the same one are put together. */
static void coarsen(struct history *history)
{
    uint32_t kept = 0;

    history->length *= 2;
    for (uint32_t i = 1; i < history->buckets.len; i++) {
        struct bucket *last = &history->buckets.items[kept];
        struct bucket *bucket = &history->buckets.items[i];

        if (last->first / history->length == bucket->first / history->length)
            join(history, last, bucket);
        else
            history->buckets.items[++kept] = *bucket;
    }
    history->buckets.len = kept + 1;
}

static bool is_too_large(const struct history *history)
{
    return history->buckets.len > 1 &&
           (history->buckets.len > HISTORY_BUCKETS_MAX || entry_count(history) > HISTORY_ENTRIES_MAX);
}

bool history_begin(struct history *history, nsec_t at, nsec_t step, const double capacity[SHARE_COUNT])
{
    struct bucket *last = history->buckets.len ? &history->buckets.items[history->buckets.len - 1] : NULL;

    if (last && at <= last->last)
        return false;
    /* The last one is complete: what came with it is in the count. */
    while (is_too_large(history)) {
        coarsen(history);
        last = &history->buckets.items[history->buckets.len - 1];
    }
    history->length = MAX(history->length, step);
    history->step_s = (double)step / (double)NSEC_PER_SEC;
    if (!last || last->first / history->length != at / history->length) {
        vec_push(&history->buckets, (struct bucket){.first = at});
        last = &history->buckets.items[history->buckets.len - 1];
    }
    last->last = at;
    last->count++;
    for (int r = 0; r < SHARE_COUNT; r++)
        last->capacity[r] += capacity[r] * history->step_s;
    return true;
}

void history_add(struct history *history, const char *queue, const double allocated[SHARE_COUNT])
{
    double sums[SHARE_COUNT];

    for (int r = 0; r < SHARE_COUNT; r++)
        sums[r] = allocated[r] * history->step_s;
    add_to(history, &history->buckets.items[history->buckets.len - 1], history_queue(history, queue), sums);
}

/* Numbers of queues that nothing refers to would be kept for ever. */
static void forget_queues(struct history *history)
{
    uint32_t *numbers = xcalloc(MAX(history->queues.len, 1U), sizeof *numbers);
    uint32_t kept = 0;

    vec_foreach (&history->buckets, bucket)
        vec_foreach (&bucket->entries, entry)
            numbers[entry->queue] = 1;
    for (uint32_t i = 0; i < history->queues.len; i++) {
        char *name = history->queues.items[i];

        (void)strmap_remove(&history->numbers, "", name);
        if (!numbers[i]) {
            free(name);
            continue;
        }
        numbers[i] = kept;
        (void)strmap_put(&history->numbers, "", name, number_value(kept));
        history->queues.items[kept++] = name;
    }
    history->queues.len = kept;
    vec_foreach (&history->buckets, bucket)
        vec_foreach (&bucket->entries, entry)
            entry->queue = numbers[entry->queue];
    free(numbers);
}

void history_drop(struct history *history, nsec_t time)
{
    uint32_t gone = 0;

    while (gone < history->buckets.len && history->buckets.items[gone].last <= time)
        vec_done(&history->buckets.items[gone++].entries);
    if (gone == 0)
        return;
    history->buckets.len -= gone;
    memmove(history->buckets.items, history->buckets.items + gone,
            history->buckets.len * sizeof *history->buckets.items);
    forget_queues(history);
}

/* What the samples of a bucket count on average: 1 when all of them count, and in full. */
static double weight(const struct bucket *bucket, nsec_t now, nsec_t range, nsec_t half_life)
{
    double gap = bucket->count > 1 ? (double)(bucket->last - bucket->first) / (bucket->count - 1) : 0;
    double sum = 0;

    for (uint32_t i = 0; i < bucket->count; i++) {
        double age = (double)(now - bucket->first) - gap * i;

        if (age < (double)range)
            sum += half_life > 0 ? exp2(-age / (double)half_life) : 1;
    }
    return sum / bucket->count;
}

void history_sum(const struct history *history, nsec_t now, nsec_t range, nsec_t half_life, int resource,
                 struct usage_samples *ret_queues, double *ret_whole)
{
    double *sums = xcalloc(MAX(history->queues.len, 1U), sizeof *sums);
    double whole = 0;

    vec_foreach (&history->buckets, bucket) {
        double part = weight(bucket, now, range, half_life);

        whole += bucket->capacity[resource] * part;
        vec_foreach (&bucket->entries, entry)
            sums[entry->queue] += entry->sums[resource] * part;
    }
    for (uint32_t i = 0; i < history->queues.len; i++)
        vec_push(ret_queues, (struct usage_sample){xstrdup(history->queues.items[i]), sums[i]});
    *ret_whole = whole;
    free(sums);
}
