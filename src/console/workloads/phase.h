/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What somebody wants of a workload. */
#define DESIRED_RUNNING "Running"
#define DESIRED_STOPPED "Stopped"
#define DESIRED_DELETED "Deleted"

#define PHASE_CREATING "Creating"
#define PHASE_COMPLETED "Completed"
#define PHASE_FAILED "Failed"

/* What the cluster has of a workload. Pods that have ended do not count. */
struct workload_facts {
    bool has_object;
    bool has_head;  // an object that speaks for all
    bool is_suspended;
    bool is_updating;  // pods of an older spec are there
    bool is_degraded;  // it does not get on
    bool has_completed;
    bool has_failed;
    uint32_t pods;
    uint32_t scheduled;  // of them, those that have a node
    uint32_t running;
    double gpus;  // of those that have a node
};

/* The phase as Run:ai names it. */
const char *workload_phase(const char *desired, const struct workload_facts *facts);

/* Whether nothing follows the phase but the deletion. */
bool phase_is_end(const char *phase);
