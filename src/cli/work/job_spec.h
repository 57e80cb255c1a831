/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/vec.h"

struct err;

/*
 * A workload that a person submits, and the batch/v1 Job that it becomes. One pod, or one for each task: then the tasks are
 * a gang, which starts as a whole. All texts are borrowed; NULL is not given.
 */
struct job_variable {
    const char *name;
    const char *value;
    const char *field;  // instead of a value: a field of the pod, such as "metadata.name"
};

struct job_spec {
    const char *name;       // of the Job; NULL: one that begins with `base_name`
    const char *base_name;  // a DNS label, or at least the beginning of one
    const char *job_name;   // as the user calls it, where the Job is called otherwise
    const char *namespace;
    const char *user;
    const char *queue;
    const char *priority_class;
    const char *node_pool;
    const char *comment;

    const char *image;  // NULL: a process of the node
    struct job_words VEC_OF(const char *) command;
    struct job_variables VEC_OF(struct job_variable) env;
    struct job_variables annotations;  // of the pods
    const char *workdir;
    bool has_stdin;     // that attach writes to
    bool has_terminal;  // runs on one

    int64_t gpus;             // whole ones
    const char *gpu_part;     // "0.5"
    int64_t gpu_memory_mib;   // of one GPU
    const char *gpu_product;  // of the nodes
    const char *cpus;         // quantities
    const char *memory;
    int64_t tasks;  // 0 or 1: no gang
    struct job_words node_names, excluded_nodes;

    int64_t time_limit_s;  // 0: none
    int64_t retries;       // of pods that fail
    int64_t keep_s;        // after its end; 0: a week

    const char *dependency;  // "afterok:12,afterany:13"
    const char *begin;       // RFC 3339
    bool is_held;            // starts when a user resumes it
    bool needs_number;       // does not start before it has a number, since it wants to know it
    const char *array;       // the name that the Jobs of an array share
    int64_t array_index;     // of this one
    int64_t array_limit;     // so many at a time; 0: all
};

void job_spec_done(struct job_spec *spec);

/* The Job; to be freed with yyjson_mut_doc_free(). */
yyjson_mut_doc *job_spec_encode(const struct job_spec *spec);

/* Whether jobs with these wishes need the service that numbers and starts them (`muster controller`). */
bool job_spec_needs_service(const struct job_spec *spec);

/* A name for objects from any text: lower case, digits and dashes, at most `max` bytes, "job" when nothing is left. Returns
 * `text`. */
enum { JOB_NAME_BYTES = 54 };
const char *job_base_name(const char *from, char text[static JOB_NAME_BYTES]);

/* The image of containers that are processes of the node. */
#define PROCESS_IMAGE "process"
