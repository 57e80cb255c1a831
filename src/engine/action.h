/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* The parts of a cycle, in the order in which they run by default. */
enum action {
    ACTION_ALLOCATE,       // place what fits
    ACTION_CONSOLIDATION,  // move pods so that something fits
    ACTION_RECLAIM,        // take back what other queues have beyond their share
    ACTION_PREEMPT,        // take from lower priority in the same queue
    ACTION_STALE_GANG,     // evict what is left of gangs that lost too many pods
    _ACTION_MAX
};

/* "allocate", "consolidation", "reclaim", "preempt", "stalegangeviction". */
const char *action_name(enum action action);
bool action_find(const char *name, enum action *ret_action);
