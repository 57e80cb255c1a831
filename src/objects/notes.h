/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/strmap.h"
#include "base/vec.h"

/* What reading a cluster has to tell besides the cluster: kinds that were left out, and what was done about doubts. */
struct skipped_kind {
    const char *kind;  // "Service", "Foo.example.com"
    uint32_t count;
};

/* Work that another scheduler has to place: a pod that has no node yet, or a workload whose pods were not made. */
struct left_out {
    const char *kind;  // "Pod", "Deployment"
    const char *namespace;
    const char *name;
    const char *scheduler;  // that its schedulerName stands for
    const char *ours;       // the schedulerName that would have it scheduled here
};

/* A pod that is a PodGroup of its own, and the workload that it is one of several pods of: a Deployment. */
struct replica {
    const char *namespace;
    const char *pod_group;
    const char *kind;  // of the workload
    const char *owner;
};

struct object_notes {
    struct arena texts;
    VEC(struct skipped_kind) skipped;  // in the order in which they came
    VEC(const char *) warnings;        // one line each, at most NOTES_WARNINGS_MAX
    uint32_t more_warnings;            // that were not kept
    VEC(struct left_out) left_out;     // at most NOTES_LEFT_OUT_MAX
    struct strmap replicas;            // struct replica, by its PodGroup
};

enum { NOTES_WARNINGS_MAX = 200, NOTES_LEFT_OUT_MAX = 10000 };

void object_notes_init(struct object_notes *notes);
void object_notes_done(struct object_notes *notes);

/* Counts an object that is left out. `notes` may be NULL; so below. */
void object_notes_skip(struct object_notes *notes, const char *group, const char *kind);

/* Adds a warning, unless the same one is there. */
void object_notes_warn(struct object_notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Remembers work of another scheduler. Its texts are copied. */
void object_notes_leave_out(struct object_notes *notes, const struct left_out *left_out);

/* Remembers whose replica a PodGroup is. Its texts are copied. */
void object_notes_add_replica(struct object_notes *notes, const struct replica *replica);
