/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "console/assets/fields.h"
#include "console/identity/roles.h"

/* Kinds of workloads: one row each, which the handlers of this folder serve. */

#define WORKLOADS "/api/v1/workloads/"

struct workload_kind {
    const char *type;   // of items and policies: "training"
    const char *title;  // of lists: "Training"
    const char *path;   // of the REST
    enum resource_type resource;
    const char *priority;  // the class of those that ask for none
    const char *category;
    const struct field *more;  // members of specs that policies have no rules for
    const char *part;          // of its policies that is about the pods; NULL: they have no parts
    bool is_server;            // never ends by itself, and is not stopped
};

extern const struct workload_kind workload_kinds[];
extern const size_t workload_kind_count;

/* NULL: there is none. */
const struct workload_kind *workload_kind_at(const char *path);
const struct workload_kind *workload_kind_find(const char *type);

/*
 * The classes of priority that workloads may ask for, as PriorityClasses of the cluster. Whoever is in one of 100 or more
 * is not preempted, unless it says so.
 */
enum { PRIORITY_NON_PREEMPTIBLE = 100 };

struct workload_priority {
    const char *name;
    int32_t value;
};

extern const struct workload_priority workload_priorities[];
extern const size_t workload_priority_count;

/* NULL: there is none. */
const struct workload_priority *workload_priority_find(const char *name);
