/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/time.h"
#include "kube/client/certain.h"

struct loop;

/*
 * When the engine runs. A change is followed by a cycle, at once when the last one is some time ago; changes that come in
 * a burst are decided together, and cycles that take long are spaced, so that most of the time is left to the network.
 *
 * No cycle starts while the pace is held. Each reason to hold is set and released on its own; a new pace is held by
 * HOLD_LISTING and HOLD_STANDBY.
 */
struct pace;

enum pace_hold {
    HOLD_LISTING,   // not everything has been listed yet
    HOLD_STANDBY,   // another replica leads
    HOLD_BEHIND,    // a watch is cut of a kind that holds room: what happens meanwhile is not known
    HOLD_USAGE,     // the first answer about past use is awaited
    HOLD_STOPPING,  // the service is ending
    _HOLD_MAX
};

/* Runs one cycle. Returns after how long the next one is due even if nothing changes; 0: not before a change. */
typedef nsec_t (*pace_run_fn)(void *arg);

/* `longest` is the most that slow cycles are spaced by. */
struct pace *pace_new(struct loop *loop, nsec_t longest);
void pace_free(struct pace *pace);

/* Has cycles run by `run`; NULL: nobody runs them. */
void pace_set_run(struct pace *pace, pace_run_fn run, void *arg);

void pace_hold(struct pace *pace, enum pace_hold hold);

/* A cycle follows at once when nothing else holds. */
void pace_release(struct pace *pace, enum pace_hold hold);

bool pace_is_held(const struct pace *pace, enum pace_hold hold);

/* Whether a write that a cycle has decided on may be made again: not while a watch is cut, and not at all once the server
 * has shown an older state, in which the decision may be wrong. */
enum kube_repeat pace_may_repeat(const struct pace *pace);

/* Something changed: a cycle follows soon. */
void pace_wake(struct pace *pace);
