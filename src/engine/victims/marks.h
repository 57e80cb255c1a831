/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "model/ids.h"

struct search;

/*
 * What a search notes about pods, nodes and gangs. A note is about the probe or plan whose number stands beside it, so
 * that all notes become stale at once when the next one begins.
 */

/* Slots (see refute.h) are counted for the victims of a plan, and for all victims of a probe so far. */
enum slot_count { OF_PLAN, OF_STATE, _SLOT_COUNT_MAX };

struct pod_mark {
    uint32_t recorded;  // the probe for which it is a recorded victim
    uint32_t listed;    // the plan that it is in
};

struct node_tally {
    uint32_t probe;       // the probe that the following is about
    uint32_t first_seat;  // gangs with potential victims here, in the order in which they came; NO_ID: none
    uint32_t last_seat;
    uint32_t appearance;                 // among nodes with potential victims
    double capacity;                     // free GPUs and those of victims, added in the order of victims
    double recorded;                     // GPUs of recorded victims
    double potential;                    // GPUs of potential victims
    uint32_t summed_in;                  // the sum that the node is in
    uint32_t chosen_in;                  // the plan that chose the node
    uint32_t recorded_in;                // the generator's round in which a recorded victim was really moved from here
    uint32_t bound_in[_SLOT_COUNT_MAX];  // the plan or probe that `bound` is about
    int64_t bound[_SLOT_COUNT_MAX];      // whole GPUs that its victims free at most; billionths
};

struct gang_tally {
    uint32_t probe;
    uint32_t first_group;
    uint32_t last_group;
    uint32_t listed;   // the plan that it is in
    uint32_t evicted;  // its pods that are victims of that plan
    uint32_t place;    // and where, while a plan is validated
    uint32_t turn;     // among the gangs of its leaf, for rehearsals; NO_ID: cannot be rehearsed
    uint32_t turn_solve;
};

struct marks {
    struct pod_mark *pods;     // by id
    struct node_tally *nodes;  // by id
    struct gang_tally *gangs;  // by id
};

/* Zeros, which cost nothing until they are touched. */
struct marks *marks_new(const struct search *search);
void marks_free(struct marks *marks);

/* The node's tally for the probe under way. */
struct node_tally *node_tally(struct search *search, node_id node);
