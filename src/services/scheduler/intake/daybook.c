/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/intake/daybook.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "services/scheduler/intake/daybook_internal.h"
#include "services/scheduler/intake/usage_internal.h"

struct daybook *daybook_new(void)
{
    return xcalloc(1, sizeof(struct daybook));
}

void daybook_free(struct daybook *daybook)
{
    if (!daybook)
        return;
    vec_foreach (&daybook->buckets, bucket)
        vec_done(&bucket->entries);
    vec_done(&daybook->buckets);
    vec_foreach (&daybook->queues, name)
        free(*name);
    vec_done(&daybook->queues);
    strmap_done(&daybook->numbers);
    free(daybook);
}

void daybook_freep(struct daybook **daybook)
{
    daybook_free(*daybook);
}

/* A map has no NULL as a value. */
static void *number_value(uint32_t number)
{
    return (void *)((uintptr_t)number + 1);
}

uint32_t daybook_queue(struct daybook *daybook, const char *name)
{
    uintptr_t number = (uintptr_t)strmap_get(&daybook->numbers, "", name);

    if (number)
        return (uint32_t)number - 1;
    char *copy = xstrdup(name);
    vec_push(&daybook->queues, copy);
    (void)strmap_put(&daybook->numbers, "", copy, number_value(daybook->queues.len - 1));
    return daybook->queues.len - 1;
}

static size_t entry_count(const struct daybook *daybook)
{
    size_t count = 0;

    vec_foreach (&daybook->buckets, bucket)
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

static void add_to(struct daybook *daybook, struct bucket *bucket, uint32_t queue, const double sums[SHARE_COUNT])
{
    uint32_t at = find_entry(bucket, queue, daybook->hint);

    if (at == bucket->entries.len)
        vec_push(&bucket->entries, (struct bucket_entry){.queue = queue});
    for (int r = 0; r < SHARE_COUNT; r++)
        bucket->entries.items[at].sums[r] += sums[r];
    daybook->hint = at + 1;
}

static void join(struct daybook *daybook, struct bucket *into, struct bucket *later)
{
    into->last = later->last;
    into->count += later->count;
    for (int r = 0; r < SHARE_COUNT; r++)
        into->capacity[r] += later->capacity[r];
    vec_foreach (&later->entries, entry)
        add_to(daybook, into, entry->queue, entry->sums);
    vec_done(&later->entries);
}

/* Buckets twice as long: those that fall into the same one are put together. */
static void coarsen(struct daybook *daybook)
{
    uint32_t kept = 0;

    daybook->length *= 2;
    for (uint32_t i = 1; i < daybook->buckets.len; i++) {
        struct bucket *last = &daybook->buckets.items[kept];
        struct bucket *bucket = &daybook->buckets.items[i];

        if (last->first / daybook->length == bucket->first / daybook->length)
            join(daybook, last, bucket);
        else
            daybook->buckets.items[++kept] = *bucket;
    }
    daybook->buckets.len = kept + 1;
}

static bool is_too_large(const struct daybook *daybook)
{
    return daybook->buckets.len > 1 &&
           (daybook->buckets.len > DAYBOOK_BUCKETS_MAX || entry_count(daybook) > DAYBOOK_ENTRIES_MAX);
}

bool daybook_begin(struct daybook *daybook, nsec_t at, nsec_t step, const double capacity[SHARE_COUNT])
{
    if (daybook->buckets.len > 0 && at <= vec_last(&daybook->buckets).last)
        return false;
    /* The last one is complete: what came with it is in the count. */
    while (is_too_large(daybook))
        coarsen(daybook);
    daybook->length = MAX(daybook->length, step);
    daybook->step_s = (double)step / (double)NSEC_PER_SEC;
    if (daybook->buckets.len == 0 || vec_last(&daybook->buckets).first / daybook->length != at / daybook->length)
        vec_push(&daybook->buckets, (struct bucket){.first = at});
    struct bucket *last = &vec_last(&daybook->buckets);

    last->last = at;
    last->count++;
    for (int r = 0; r < SHARE_COUNT; r++)
        last->capacity[r] += capacity[r] * daybook->step_s;
    return true;
}

void daybook_add(struct daybook *daybook, const char *queue, const double allocated[SHARE_COUNT])
{
    double sums[SHARE_COUNT];

    for (int r = 0; r < SHARE_COUNT; r++)
        sums[r] = allocated[r] * daybook->step_s;
    add_to(daybook, &daybook->buckets.items[daybook->buckets.len - 1], daybook_queue(daybook, queue), sums);
}

/* Numbers of queues that nothing refers to would be kept for ever. */
static void forget_queues(struct daybook *daybook)
{
    uint32_t *numbers = xcalloc(MAX(daybook->queues.len, 1U), sizeof *numbers);
    uint32_t kept = 0;

    vec_foreach (&daybook->buckets, bucket)
        vec_foreach (&bucket->entries, entry)
            numbers[entry->queue] = 1;
    for (uint32_t i = 0; i < daybook->queues.len; i++) {
        char *name = daybook->queues.items[i];

        (void)strmap_remove(&daybook->numbers, "", name);
        if (!numbers[i]) {
            free(name);
            continue;
        }
        numbers[i] = kept;
        (void)strmap_put(&daybook->numbers, "", name, number_value(kept));
        daybook->queues.items[kept++] = name;
    }
    daybook->queues.len = kept;
    vec_foreach (&daybook->buckets, bucket)
        vec_foreach (&bucket->entries, entry)
            entry->queue = numbers[entry->queue];
    free(numbers);
}

void daybook_drop(struct daybook *daybook, nsec_t time)
{
    uint32_t gone = 0;

    while (gone < daybook->buckets.len && daybook->buckets.items[gone].last <= time)
        vec_done(&daybook->buckets.items[gone++].entries);
    if (gone == 0)
        return;
    daybook->buckets.len -= gone;
    memmove(daybook->buckets.items, daybook->buckets.items + gone,
            daybook->buckets.len * sizeof *daybook->buckets.items);
    forget_queues(daybook);
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

void daybook_sum(const struct daybook *daybook, nsec_t now, nsec_t range, nsec_t half_life, int resource,
                 struct usage_samples *ret_queues, double *ret_whole)
{
    double *sums = xcalloc(MAX(daybook->queues.len, 1U), sizeof *sums);
    double whole = 0;

    vec_foreach (&daybook->buckets, bucket) {
        double part = weight(bucket, now, range, half_life);

        whole += bucket->capacity[resource] * part;
        vec_foreach (&bucket->entries, entry)
            sums[entry->queue] += entry->sums[resource] * part;
    }
    for (uint32_t i = 0; i < daybook->queues.len; i++)
        vec_push(ret_queues, (struct usage_sample){xstrdup(daybook->queues.items[i]), sums[i]});
    *ret_whole = whole;
    free(sums);
}
