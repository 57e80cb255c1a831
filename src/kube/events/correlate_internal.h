/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "kube/client/bucket.h"
#include "kube/events/events.h"
#include "kube/events/recent_internal.h"

/*
 * What becomes of an event: pure, with the time passed in. Three tables of what was recent, as in client-go: objects,
 * with what may still be said about them; groups of events that differ in their message alone; and events.
 */
/* The tenth different message of a group is put together with those that follow. */
enum { RECENT_MAX = 4096, SIMILAR_MAX = 10 };

#define SIMILAR_WINDOW (10 * NSEC_PER_MIN)

/* Of an object: 25 events, and then one in five minutes. */
#define QUIET_BURST 25.0
#define QUIET_PER_SECOND (1.0 / 300.0)

struct similar {
    uint64_t messages[SIMILAR_MAX - 1];  // hashes of different ones
    uint32_t count;
    nsec_t last;
};

struct correlate {
    struct recent objects;
    struct bucket *quotas;  // by slot
    struct recent groups;
    struct similar *similar;
};

enum correlate_result { CORRELATE_QUIET, CORRELATE_ALONE, CORRELATE_COMBINED };

void correlate_init(struct correlate *correlate);
void correlate_done(struct correlate *correlate);

/* Decides about an event; `*ret_key` is the same for those that are counted together. */
enum correlate_result correlate_event(struct correlate *correlate, const struct event *event, nsec_t now,
                                      uint64_t *ret_key);
