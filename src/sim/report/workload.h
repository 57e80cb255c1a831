/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/pod.h"
#include "sim/run/run.h"

struct strbuf;

/*
 * Where a workload stands at the end of a simulation. Tables, JSON and pages show it. The replicas of a Deployment, which
 * are gangs of their own, are one workload.
 */
struct workload {
    const struct sim_run_job *job;      // the first of its replicas
    const struct sim_run_job *waiting;  // the replica that the reason is about: the first that waits, else the first
    enum workload_state state;
    uint32_t pods;
    uint32_t running;          // pods with a place
    uint32_t pending;          // pods without one
    double gpus;               // that its pods hold, or ask for where they have no place
    enum verdict_code reason;  // why it waits
};

/* False when it is not there any more, or belongs to the workload of an earlier job. */
bool workload_read(struct workload *ret, const struct sim_run *run, const struct sim_run_job *job);

/* Appends "gpu-1 x3, gpu-2": the nodes of its pods. After `max` nodes: " and 5 pods elsewhere". */
void workload_add_nodes(struct strbuf *text, const struct sim_run *run, const struct workload *workload, uint32_t max);

/* The status of a pod as Kubernetes writes phases: "Running". Returns `text`. */
enum { PHASE_TEXT_MAX = 32 };
const char *pod_status_phase(enum pod_status status, char text[static PHASE_TEXT_MAX]);

/* Appends why it waits, in a sentence with numbers. */
void workload_add_message(struct strbuf *text, const struct sim_run *run, const struct workload *workload);
