/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "engine/victims/victim.h"
#include "model/ids.h"

struct search;

/* What a generator's round has found out: the victims of the last plan that worked, which later probes start from. */
struct record {
    uint32_t round;  // its number
    struct victim_groups groups;
    VEC(node_id) nodes;  // that its really moved victims were on

    /* The same of a plan that has just worked, until it is adopted. */
    struct victim_groups outcome;
    VEC(node_id) outcome_nodes;
    bool is_repeatable;  // recording left the list of victims as it was
};

struct record *record_new(void);
void record_free(struct record *record);

/* A generator begins, with nothing recorded. */
void record_begin(struct search *search);

/* The plan has worked and the statement holds it: its outcome is what would be recorded. */
void record_outcome(struct search *search);
void record_adopt(struct search *search);
