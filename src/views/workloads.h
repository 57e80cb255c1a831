/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/arena.h"
#include "base/time.h"
#include "base/vec.h"
#include "views/asked.h"
#include "views/objects.h"

/*
 * One row for each workload: the object that the user wrote, which is a Job, the owner of a PodGroup, or the PodGroup itself
 * where nobody owns it. Pods that other schedulers place, and those that Muster creates for itself, are in no row.
 */
enum row_state {
    ROW_PENDING,
    ROW_RUNNING,
    ROW_PREEMPTING,  // it has a place as soon as the workloads there have left
    ROW_SUSPENDED,
    ROW_TERMINATING,
    ROW_COMPLETED,
    ROW_FAILED,
    ROW_CANCELLED,
    _ROW_STATE_MAX
};

struct workload_row {
    const char *kind;  // "Job", "Pod", "RayCluster"
    const char *api_version;
    const char *namespace;
    const char *name;
    const char *uid;   // of the object; "" when only its PodGroup is known
    yyjson_val *job;   // the Job; NULL for other kinds
    const char *user;  // who submitted it; ""
    const char *queue;
    const char *priority_class;  // ""
    const char *pod_group;       // ""

    const char *job_id;       // its number; ""
    const char *job_name;     // as the user named it, where the object's name is a generated one
    const char *array_id;     // number of the array that it belongs to; ""
    const char *array_index;  // ""

    enum row_state state;
    const char *reason;   // code, such as "PodSchedulingErrors"; "" for one that needs none
    const char *message;  // a sentence; ""

    struct asked asked;  // of all its pods
    int64_t pods;        // that it is made of
    int64_t pods_running, pods_succeeded, pods_failed;
    const char **nodes;  // of its running pods, each once, in order
    size_t node_count;

    nsec_t created, started, finished;  // 0: not known, or not yet
    int exit_code;                      // of the first pod that failed; 0 also while it runs
    int exit_signal;                    // 0: none
};

struct workload_rows VEC_OF(struct workload_row);

/* All workloads, the oldest first. The rows are in `ret`, their texts in `arena` and in the objects. */
void workload_rows_make(const struct view_objects *objects, struct arena *arena, struct workload_rows *ret);

/* "Pending", "Running", ... */
const char *row_state_name(enum row_state state);

/* Whether it has ended, in whichever way. */
static inline bool row_is_finished(const struct workload_row *row)
{
    return row->state == ROW_COMPLETED || row->state == ROW_FAILED || row->state == ROW_CANCELLED;
}

/* The code of a reason in words, for a column: "over queue limit". Codes that are not known are returned as they are. */
const char *row_reason_words(const char *reason);

/* How long it has run, or did: 0 before its start. */
nsec_t row_run_time(const struct workload_row *row, nsec_t now);

/* The row as JSON for REST and -o json, with the names of docs/cli.md. Everything is copied into `doc`. */
yyjson_mut_val *workload_row_encode(const struct workload_row *row, yyjson_mut_doc *doc);
