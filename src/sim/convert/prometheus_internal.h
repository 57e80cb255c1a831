/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "sim/trace/trace.h"

/* What kube-state-metrics told of one pod, in whatever order it came. Times are seconds since 1970, 0: not known. */
struct prometheus_pod {
    trace_name namespace;
    trace_name name;
    trace_name owner;  // the workload that it is one of several pods of, 0: it stands alone
    trace_name queue;
    bool is_of_node;  // of a DaemonSet, or static: it is no work that somebody submitted
    double created;
    double started;
    double completed;
    double last_seen;
    int64_t gpus;
    int64_t cpu_milli;
    int64_t memory_bytes;
};

struct prometheus {
    VEC(struct prometheus_pod) pods;
    struct map64 pod_by_key;  // "namespace/pod/uid" -> index
    struct map64 counted;     // requests of containers that were counted, since files may hold a series twice
    double last_seen;         // of anything
    double step;              // the shortest between two samples of a series, which is that of the query
};
