/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "engine/engine.h"
#include "engine/node_set.h"
#include "engine/victims/search.h"
#include "model/ids.h"

struct accumulation;
struct eviction_plan;
struct gang_view;
struct marks;
struct prefilters;
struct record;
struct refutation;
struct search_rehearsal;
struct sources;
struct validation;

/* The search under way, and one pointer for each concern; each concern has a header of its own. */
struct search {
    struct engine *engine;
    enum action action;
    uint32_t number;  // gives marks their numbers

    /* The gang. */
    uint32_t solve;  // the number of its search
    gang_id gang;
    queue_id queue;
    const pod_id *chunk;
    uint32_t chunk_count;
    uint64_t placements_before;
    bool is_over;  // a limit ended it
    bool ends_action;
    struct node_set feasible;     // nodes that may have room before anything is evicted
    int64_t feasible_hundredths;  // their GPUs, -1 while not summed up
    struct search_report report;

    /* A generator's round, and a probe of it. */
    uint32_t generator;  // index in the settings
    bool generator_is_over;
    uint32_t probe;  // its number
    const struct gang_view *view;

    /* Emptied when a gang's search, a probe, a plan begins. */
    struct arena solving;
    struct arena probing;
    struct arena simulating;

    struct marks *marks;  // NULL until a first gang needs them
    struct sources *sources;
    struct record *record;
    struct prefilters *prefilters;
    struct accumulation *accumulation;
    struct eviction_plan *plan;
    struct refutation *refutation;
    struct search_rehearsal *rehearsal;
    struct validation *validation;
};

/* Asked between two plans: has a limit been reached? */
bool search_must_stop(struct search *search);
