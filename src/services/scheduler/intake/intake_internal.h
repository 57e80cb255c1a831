/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/vec.h"
#include "objects/object.h"
#include "services/scheduler/intake/watching.h"

/* One event: the object in the middle, and what its decoder looks up. */
struct intake {
    struct scheduler *s;
    struct object_set set;
    VEC(yyjson_doc *) docs;
};

void intake_begin(struct intake *in, struct scheduler *s);
void intake_end(struct intake *in);

/* Adds an object of the kind; NULL when it has not even a name. */
struct object *intake_add(struct intake *in, enum watch_kind kind, yyjson_val *val, struct err *err);

/* The same for one that was kept or made; takes ownership. Nothing for NULL. */
void intake_add_doc(struct intake *in, enum watch_kind kind, yyjson_doc *doc);

/* Makes it a delta, and tells the observers. */
int intake_decode(struct intake *in, const struct object *object, struct err *err);

/* The object is gone, or of no use. */
void intake_drop(struct scheduler *s, enum watch_kind kind, const char *namespace, const char *name);

/* Pods, which are most of it: intake_pod.c. */
void intake_pod(struct scheduler *s, const struct follow_event *event);
