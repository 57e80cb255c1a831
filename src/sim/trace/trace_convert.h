/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

struct err;
struct trace;

/*
 * Public traces of GPU clusters as ours. docs/traces.md says which files they are and what becomes of each field.
 *
 *   alibaba   cluster-trace-gpu-v2020: pai_task_table.csv, with pai_job_table.csv for the times of submission and the
 *             users; or cluster-trace-gpu-v2023: openb_pod_list_*.csv. With or without a line of titles.
 *   philly    cluster_job_log (JSON)
 */
struct trace_conversion {
    uint32_t queues;   // spread users over so many queues; 0: a queue each
    uint32_t skipped;  // out: jobs that never ran, or whose times are missing
};

enum { CONVERT_QUEUES_MAX = 10000 };

/* Adds what the files hold to `trace`, sorted, with its first week moved to that of TRACE_ORIGIN. */
MUST_CHECK int trace_convert(struct trace *trace, const char *format, const char *const *paths, size_t path_count,
                             struct trace_conversion *conversion, struct err *err);
