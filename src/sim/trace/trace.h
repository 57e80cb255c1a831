/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/intern.h"
#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"
#include "model/shapes/shape.h"

struct err;

/*
 * A trace: which work came when, how large it was and how long it ran, and which nodes failed meanwhile. docs/traces.md
 * describes the CSV form. Strings are interned in the trace; id 0 is the empty one and stands for "not given".
 */
typedef uint32_t trace_name;

enum trace_event_kind { TRACE_SUBMIT, TRACE_CANCEL, TRACE_NODE_DOWN, TRACE_NODE_UP, _TRACE_EVENT_MAX };

#define TRACE_RUNS_ON (-NSEC_PER_SEC)  // ends only when it is cancelled
enum { TRACE_PODS_MAX = 16384, TRACE_GPUS_MAX = 1024 };

/* Pods of a workload that ask for the same. */
struct trace_part {
    uint32_t pods;
    uint32_t gpus;  // whole devices, each pod
    int64_t cpu_milli;
    int64_t memory_bytes;
};

enum { TRACE_PARTS_MAX = 256 };  // of one workload

/* A workload: a gang of equal pods, or of parts that differ in what their pods ask for. */
struct trace_job {
    trace_name name;
    trace_name namespace;
    trace_name queue;
    trace_name priority_class;  // 0: `priority`
    trace_name topology;
    trace_name required;  // level at which all pods must be together
    trace_name preferred;
    trace_name node_selector;  // "key=value;key=one|other"
    trace_name resources;      // of each pod, beyond CPU, memory and GPUs: "name=amount;name=amount"
    trace_name anti_affinity;  // "label" or "label=group"
    trace_name user;           // who submitted it, 0: the namespace stands for that
    trace_name image;          // of its containers
    uint32_t line;             // of the file
    uint32_t pods;
    uint32_t min_available;
    uint32_t first_part;  // in trace.parts
    uint32_t part_count;  // 0: all pods are alike, and ask for `gpus`, `cpu_milli` and `memory_bytes`
    uint32_t gpus;        // whole devices, each pod
    uint32_t devices;     // that a fraction or an amount of GPU memory is taken of
    bool is_preemptible;
    bool has_preemptible;  // else it follows from the priority
    int32_t priority;
    enum request_kind kind;
    double fraction;
    int64_t gpu_memory_mib;
    int64_t cpu_milli;
    int64_t memory_bytes;
    nsec_t run;             // with all of its pods, or TRACE_RUNS_ON
    nsec_t limit;           // that was declared for the run time; 0: none. Nothing is ended by it
    nsec_t checkpoint;      // work up to the last multiple of it survives an eviction; 0: none does
    nsec_t recorded_start;  // when it started in the cluster that was recorded; 0: not known
};

/* A job of one pod without GPUs, as a row that gives nothing but what it must. */
#define TRACE_JOB_INIT                                                                                           \
    (struct trace_job)                                                                                           \
    {                                                                                                            \
        .pods = 1, .min_available = 0, .devices = 1, .priority = 50, .kind = REQUEST_REGULAR, .cpu_milli = 1000, \
        .memory_bytes = INT64_C(1) << 30, .run = TRACE_RUNS_ON,                                                  \
    }

struct trace_event {
    nsec_t time;
    enum trace_event_kind kind;
    uint32_t job;     // SUBMIT and CANCEL: index in `jobs`
    trace_name node;  // NODE_*
    uint32_t line;    // NODE_*: that it was read from, 0: none
};

struct trace {
    struct intern names;
    VEC(struct trace_job) jobs;
    VEC(struct trace_part) parts;
    bool has_dates;                  // times are dates of a real cluster, and written as such
    VEC(struct trace_event) events;  // by time; those of one time in the order in which they were added
};

/* Seconds in a trace count from here, which is a Monday: 2024-01-01T00:00:00Z. */
#define TRACE_ORIGIN (INT64_C(1704067200) * NSEC_PER_SEC)

/* Seconds from there that a column may hold; later times are dates. */
enum { TRACE_SECONDS_MAX = 1000000000 };

void trace_init(struct trace *trace);
void trace_done(struct trace *trace);

/* Reads a file, "-" or a gzip file. Fails with "file:line: column: what was expected, found '...'". */
MUST_CHECK int trace_read(struct trace *trace, const char *path, struct err *err);

/* The same for text in memory, which it writes into; text[len] is a NUL. */
MUST_CHECK int trace_parse(struct trace *trace, const char *name, char *text, size_t len, struct err *err);

/* Writes it as CSV, with the columns that some row needs. */
void trace_write(const struct trace *trace, FILE *out);

static inline trace_name trace_intern(struct trace *trace, const char *text)
{
    return intern_id(&trace->names, text, strlen(text));
}

static inline const char *trace_str(const struct trace *trace, trace_name name)
{
    return intern_str(&trace->names, name);
}

/*
 * Has the job's pods ask for what `parts` say, which are copied. Neighbours that ask for the same are put together; when that
 * leaves one, the job's pods are alike and it has no parts. `count` is at least 1, and so are the pods of each part.
 */
void trace_set_parts(struct trace *trace, struct trace_job *job, const struct trace_part *parts, uint32_t count);

/* Part `i` of the job, which has one even when all pods are alike. */
struct trace_part trace_part(const struct trace *trace, const struct trace_job *job, uint32_t i);

/* Appends a job that comes at `time`. */
void trace_submit(struct trace *trace, nsec_t time, const struct trace_job *job);

/* Puts events in the order of time. To be called once all are there. */
void trace_sort(struct trace *trace);

/* "submit", "cancel", "node_down", "node_up". */
const char *trace_event_name(enum trace_event_kind kind);

/* GPUs that the job asks for in all, in billionths. Amounts of GPU memory count as whole devices. */
int64_t trace_job_gpus(const struct trace *trace, const struct trace_job *job);
