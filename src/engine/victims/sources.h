/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "engine/action.h"
#include "model/ids.h"

struct engine;
struct gang_view;
struct sources;

/* Where victims may come from: whose gangs an action may look at for the gang under way. */
struct sources *sources_new(struct engine *engine, enum action action);
void sources_free(struct sources *sources);

/* From now on it is about the gang of this view. */
void sources_begin(struct sources *sources, const struct gang_view *view);

/* A leaf queue as a source of victims. */
struct leaf_case {
    uint32_t round;  // of sources_begin that this is about
    bool is_source;  // the queues' books allow taking from it
    bool gives_up;   // a first victim from it would be allowed to be evicted
    double surplus;  // GPUs that its side may give, but for the last item; may be infinite
    nsec_t min_runtime;
    queue_id mine;  // the two queues below the deepest common ancestor
    queue_id theirs;
};

const struct leaf_case *leaf_case(struct sources *sources, queue_id leaf);

/* Filters of victim orders; `sources` is a struct sources. */
bool sources_take_queue(void *sources, queue_id leaf);
bool sources_take_gang(void *sources, gang_id gang);

/* It started too short a time ago for this action. */
bool gang_is_protected(struct sources *sources, gang_id gang);

/* May the gang take from others at all (KAI's canReclaim)? */
bool reclaim_is_due(const struct engine *engine, const struct gang_view *view);

/* Could the gang be placed if free GPUs lay well? */
bool consolidation_may_help(struct engine *engine, const struct gang_view *view);
