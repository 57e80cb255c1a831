/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "engine/victims/victim.h"
#include "model/ids.h"

struct order;
struct search;

/* A gang with potential victims on a node; a list for each node. */
struct seat {
    gang_id gang;
    uint32_t next;
};

/* The victims of a probe, as they come off their order. */
struct accumulation {
    struct order *order;  // made when first needed
    bool has_offered;
    bool is_exhausted;
    bool has_passed;  // the pre-filters let some state through
    uint32_t grown;   // batches taken
    uint32_t candidate_gangs;
    struct victim_groups groups;  // recorded ones, then potential ones as they came
    VEC(uint32_t) next_group;     // of the same gang
    VEC(struct seat) seats;
    VEC(node_id) nodes;        // of potential victims, by appearance
    VEC(node_id) by_capacity;  // the same in the order in which the gang generator takes them
};

struct accumulation *accumulation_new(void);
void accumulation_free(struct accumulation *accumulation);

/* A probe of `count` pods begins, with the recorded victims. */
void accumulate_begin(struct search *search, uint32_t count);

/* Goes on to the next state that passes the pre-filters; false when there is none. */
bool accumulate_next(struct search *search);

/* There are victims beside the recorded ones. */
bool has_potential(const struct search *search);
