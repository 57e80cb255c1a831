/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "frame/flags.h"

/* What the scheduler is told on its command line: KAI's flags under KAI's names, and Muster's own at the end. Those that
 * every service has are the frame's, but for two that have another default here. */
struct scheduler_flags {
    const char *scheduler_name;
    const char *namespace;       // of the lease
    const char *scheduler_conf;  // path of the configuration; "": built in
    const char *scheduler_conf_text;
    nsec_t schedule_period;  // the longest time between two cycles while something waits
    const char *nodepool_label_key;
    const char *partition_label_value;
    const char *queue_label_key;
    const char *listen_address;
    int64_t plugin_server_port;
    const char *metrics_namespace;
    const char *reservation_app_label;
    bool restrict_node_scheduling;
    const char *cpu_worker_label_key;
    const char *gpu_worker_label_key;
    const char *mig_worker_label_key;
    int64_t max_consolidation_preemptees;
    bool detailed_fit_errors;
    bool update_pod_eviction_condition;
    bool use_scheduling_signatures;
    bool full_hierarchy_fairness;
    bool allow_consolidating_reclaim;
    int64_t status_workers;
    nsec_t staleness_grace;
    nsec_t stuck_threshold;
    nsec_t lease_retry_period;
    const char *health_address;

    struct flag_pairs pod_selector;  // pods that the grouper leaves alone are not placed before they have a PodGroup
    struct flag_pairs namespace_selector;  // likewise
    const char *bind_requests;             // "auto": only where a bind takes more than binding; "always": as KAI does
    bool cluster_autoscaling;              // nodes come and go as pods want them
    bool is_shadow;                        // decide, and execute nothing
    nsec_t shadow_patience;                // so much later the other may do the same
    const char *shadow_record;             // file for what the running scheduler does otherwise; "": none
    bool marks_bound_pods;                 // those that are bound directly, as the binder would
    int64_t names_max;                     // of objects that are gone; beyond, the state is made anew
    const char *journal;                   // folder that deltas and decisions are written to; "": none
    const char *journal_size;              // bytes that it may have

    char lease_name[512];  // follows from the others
};

enum { SCHEDULER_FLAGS = 46 };
extern const struct flag scheduler_flag_table[SCHEDULER_FLAGS];
