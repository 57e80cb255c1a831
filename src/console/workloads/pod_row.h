/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

/* What is kept of a pod of a workload. All zeros: nothing yet. */
struct pod_state {
    bool has_ended;
    bool is_scheduled;
    bool is_running;
    double gpus;
    char *reason;     // why it has no node; NULL: it has one, or nobody has said
    yyjson_doc *row;  // as the REST shows it, without the names of its project and workload
};

/* Reads a pod of the cluster, and notes when its phase has changed since it was read last. */
void pod_state_read(struct pod_state *state, const char *cluster, const char *workload, yyjson_val *pod);
void pod_state_done(struct pod_state *state);

/* A document with a copy of a value alone. */
yyjson_doc *json_copy(yyjson_val *value);
