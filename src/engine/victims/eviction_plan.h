/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "engine/victims/victim.h"
#include "model/ids.h"

struct search;

/* Victims to be evicted together so that the probe finds room, and whether that works. */
struct eviction_plan {
    uint32_t number;
    struct victim_groups chosen;  // groups, recorded ones first
    VEC(struct victim) victims;   // of all of them, each once
    VEC(gang_id) gangs;           // theirs
    struct map64 failed;          // fingerprints of plans of the search that failed
};

struct eviction_plan *plan_new(void);
void plan_free(struct eviction_plan *plan);

/* A plan begins with the recorded victims, is filled with groups, and is tried. */
void plan_begin(struct search *search);
void plan_add(struct search *search, const struct victim_group *group);

/* True: it works, the statement holds it, and its outcome is noted (record.h). */
bool plan_try(struct search *search);
