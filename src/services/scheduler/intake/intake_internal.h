/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/vec.h"
#include "objects/notes.h"
#include "objects/object.h"
#include "objects/reader.h"
#include "services/scheduler/intake/beside.h"
#include "services/scheduler/intake/intake.h"
#include "services/scheduler/setup.h"

struct intake {
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
    struct usage *usage;
    struct observers *observers;
    struct pace *pace;
    struct traffic *traffic;
    struct watching *watching;
    struct object_options options;  // the setup's, with what changes from one object to the next
    struct object_notes notes;      // what reading the last object had to say
    struct object_reader reader;
    struct beside *beside;
    size_t deltas;  // since somebody asked
};

/* One event: the object in the middle, and what its decoder looks up. */
struct reading {
    struct intake *intake;
    struct object_set set;
    VEC(yyjson_doc *) docs;
};

void reading_begin(struct reading *in, struct intake *intake);
void reading_end(struct reading *in);

/* Adds an object of the kind; NULL when it has not even a name. */
struct object *reading_add(struct reading *in, enum watch_kind kind, yyjson_val *val, struct err *err);

/* The same for one that was kept or made; takes ownership. Nothing for NULL. */
void reading_add_doc(struct reading *in, enum watch_kind kind, yyjson_doc *doc);

/* Makes it a delta, and tells the observers. */
int reading_decode(struct reading *in, const struct object *object, struct err *err);

/* The object is gone, or of no use. */
void intake_drop(struct intake *intake, enum watch_kind kind, const char *namespace, const char *name);

/* An object that is decoded as it is, with what `beside` adds for it; NULL: nothing. */
typedef void (*beside_fn)(struct reading *in, const struct follow_event *event);
void intake_put_plain(struct intake *intake, enum watch_kind kind, const struct follow_event *event, beside_fn beside);

/* The handlers of the table of kinds. Most kinds are decoded as they are; those kept beside the state are read again. */
void intake_plain(struct intake *intake, enum watch_kind kind, const struct follow_event *event);
void intake_beside(struct intake *intake, enum watch_kind kind, const struct follow_event *event);
void intake_bind_request(struct intake *intake, enum watch_kind kind, const struct follow_event *event);
void intake_claim(struct intake *intake, enum watch_kind kind, const struct follow_event *event);
void intake_node(struct intake *intake, enum watch_kind kind, const struct follow_event *event);
void intake_pod_group(struct intake *intake, enum watch_kind kind, const struct follow_event *event);
void intake_priority_class(struct intake *intake, enum watch_kind kind, const struct follow_event *event);
void intake_queue(struct intake *intake, enum watch_kind kind, const struct follow_event *event);
void intake_volume_claim(struct intake *intake, enum watch_kind kind, const struct follow_event *event);
void intake_pod(struct intake *intake, enum watch_kind kind, const struct follow_event *event);

/* Claims that the volume concerns are decoded again, all of them for NULL: intake_volumes.c. */
void intake_volume_claims_again(struct intake *intake, const char *volume);
