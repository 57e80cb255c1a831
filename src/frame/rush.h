/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/time.h"

/*
 * Pods on their way to a node come before everything that is written about pods that are there: events, statuses, the
 * PodGroup of a pod that needed none. The server has to do it all, and every service has a part of both. So each notes
 * when it last heard of a pod on its way, and writes the rest when that is some time ago. Where pods never stop coming
 * the rest goes in between, little at first, and without regard to them when it has waited for long.
 */
struct rush {
    nsec_t last;   // heard of a pod on its way
    nsec_t start;  // of the last write in between
};

/* What may be under way at a time of that which can wait. */
enum { RUSH_AT_ONCE = 16 };

/* A busy server pauses: what passes for the end lets writes go, which make it busier. */
#define RUSH_OVER (100 * NSEC_PER_MSEC)     // after the last pod on its way
#define RUSH_PATIENCE (5 * NSEC_PER_SEC)    // then a write now and then, in between
#define RUSH_BETWEEN (250 * NSEC_PER_MSEC)  // those
#define RUSH_LONGEST (60 * NSEC_PER_SEC)    // then all

/* A pod was heard of that is on its way, or has just come there. */
void rush_note(struct rush *rush, nsec_t now);

/*
 * May something start that waits since `since`, when `under_way` of its like are? 0: yes, and it counts as started.
 * Otherwise after how long to ask again; NSEC_MAX: when one of those under way is over.
 */
nsec_t rush_wait(struct rush *rush, nsec_t now, nsec_t since, uint32_t under_way);
