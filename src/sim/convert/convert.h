/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "sim/trace/trace_cluster.h"

struct err;
struct trace;

/*
 * Records of real clusters as traces: what Slurm's accounting and Prometheus know of the last month, and the public traces
 * of large clusters. docs/traces.md says which files they are and what becomes of each field. A file is recognized by its
 * columns, with or without a line of titles where the public one comes without.
 */
struct conversion {
    uint32_t queues;         // spread owners over so many queues; 0: a queue each
    bool keeps_pending;      // keep workloads that never started
    uint32_t gpus_per_node;  // of nodes that are made up, where no file lists the nodes

    uint32_t skipped;              // out: workloads that never started, or whose times are missing
    uint32_t pending;              // out: that never started and were kept
    uint32_t timeless;             // out: that have no times, and so come at the start and never end
    uint32_t nodes_made_up;        // out
    struct trace_cluster cluster;  // out: nodes of node lists, queues
};

enum { CONVERT_QUEUES_MAX = 10000 };

/* All zeros but 8 GPUs of a node. */
void conversion_init(struct conversion *conversion);
void conversion_done(struct conversion *conversion);

/* "alibaba", "philly", "prometheus", "slurm", ended by NULL: where files can be from. */
extern const char *const convert_sources[];

/*
 * Adds what the files hold to `trace`, sorted. Public traces have their first week moved to that of TRACE_ORIGIN; those
 * of Slurm and Prometheus keep their dates. `source` is one of the above, or NULL for any. -EINVAL when a file is none of
 * those; the message names the nearest format and the columns that are missing.
 */
MUST_CHECK int convert_files(struct trace *trace, const char *source, const char *const *paths, size_t path_count,
                             struct conversion *conversion, struct err *err);

/* The same for one file in memory, which it writes into; text[len] is a NUL. */
MUST_CHECK int convert_text(struct trace *trace, const char *source, const char *name, char *text, size_t len,
                            struct conversion *conversion, struct err *err);

/*
 * Completes `conversion->cluster` once all files are read: a queue for each that the trace names, and nodes where no file
 * listed any: enough for all that was recorded as running at one time.
 */
void convert_cluster(struct trace *trace, struct conversion *conversion);
