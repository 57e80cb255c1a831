/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "services/scheduler/intake/watching.h"

struct complaints;
struct engine;
struct evictions;
struct gang_notes;
struct observers;
struct pace;
struct placements;
struct pod_notes;
struct report;
struct setbacks;
struct setup;
struct state;
struct traffic;
struct usage;

/*
 * An object was added, changed or deleted: brings the state up to date, and whatever else depends on it. An object that
 * makes no sense is left out, or counts for what of it does; an event on it says what is wrong.
 */
struct intake;

/* What objects are read with, and those whom they concern; all borrowed. */
struct intake_options {
    struct state *state;
    struct engine *engine;
    const struct setup *setup;
    struct pod_notes *pod_notes;
    struct gang_notes *gang_notes;
    struct placements *placements;
    struct evictions *evictions;
    struct setbacks *setbacks;
    struct report *report;
    struct complaints *complaints;
    struct usage *usage;  // NULL: the past does not count
    struct observers *observers;
    struct pace *pace;
    struct traffic *traffic;
};

struct intake *intake_new(const struct intake_options *options);
void intake_free(struct intake *intake);

/* Objects that have to be read anew are read by `watching`; before this is set none are. */
void intake_set_watching(struct intake *intake, struct watching *watching);

/* How many objects became deltas since the last call. */
size_t intake_take_deltas(struct intake *intake);

/* One event. */
void intake_event(struct intake *intake, enum watch_kind kind, const struct follow_event *event);
