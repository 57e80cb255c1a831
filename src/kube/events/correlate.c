/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/events/correlate_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

void correlate_init(struct correlate *correlate)
{
    *correlate = (struct correlate){
        .quotas = xcalloc(RECENT_MAX, sizeof *correlate->quotas),
        .similar = xcalloc(RECENT_MAX, sizeof *correlate->similar),
    };
    recent_init(&correlate->objects, RECENT_MAX);
    recent_init(&correlate->groups, RECENT_MAX);
}

void correlate_done(struct correlate *correlate)
{
    recent_done(&correlate->objects);
    recent_done(&correlate->groups);
    free(correlate->quotas);
    free(correlate->similar);
}

/* Each text with its NUL, so that where one ends matters. */
static uint64_t hash_texts(uint64_t seed, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        seed = hash_bytes(texts[i], strlen(texts[i]) + 1, seed);
    return seed;
}

static bool may_speak(struct correlate *correlate, uint64_t object, nsec_t now)
{
    bool is_new = false;
    uint32_t slot = recent_use(&correlate->objects, object, &is_new);
    struct bucket *quota = &correlate->quotas[slot];

    if (is_new)
        bucket_init(quota, QUIET_PER_SECOND, QUIET_BURST, now);
    return bucket_take(quota, now) == 0;
}

/* Whether there have been too many different messages of this group lately; counts this one. */
static bool is_one_of_many(struct correlate *correlate, uint64_t group, uint64_t message, nsec_t now)
{
    bool is_new = false;
    uint32_t slot = recent_use(&correlate->groups, group, &is_new);
    struct similar *similar = &correlate->similar[slot];

    if (is_new || now - similar->last > SIMILAR_WINDOW)
        *similar = (struct similar){0};
    similar->last = now;
    for (uint32_t i = 0; i < similar->count; i++) {
        if (similar->messages[i] == message)
            return false;
    }
    if (similar->count == SIMILAR_MAX - 1)
        return true;
    similar->messages[similar->count++] = message;
    return false;
}

enum correlate_result correlate_event(struct correlate *correlate, const struct event *event, nsec_t now,
                                      uint64_t *ret_key)
{
    const char *object_texts[] = {event->api_version, event->kind, event->namespace, event->name, event->uid};
    const char *group_texts[] = {event->type, event->reason};
    uint64_t object = hash_texts(0, object_texts, ARRAY_LEN(object_texts));
    uint64_t group = hash_texts(object, group_texts, ARRAY_LEN(group_texts));
    uint64_t message = hash_texts(group, &event->message, 1);

    bool is_many = is_one_of_many(correlate, group, message, now);

    *ret_key = is_many ? group : message;
    if (!may_speak(correlate, object, now))
        return CORRELATE_QUIET;
    return is_many ? CORRELATE_COMBINED : CORRELATE_ALONE;
}
