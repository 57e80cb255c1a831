/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"
#include "engine/action.h"
#include "engine/plugins.h"

struct err;

/*
 * How the engine decides: KAI's plugins by name, their arguments, and the scheduler's settings. A plugin that is not
 * listed is off.
 */
enum plugin {
#define PLUGIN_ID(id, name, argument, is_default) PLUGIN_##id,
    PLUGINS(PLUGIN_ID)
#undef PLUGIN_ID
        _PLUGIN_MAX
};

/* Which node of several that take a pod: the fullest, the emptiest, or the one where it wastes least (nodes/stranding.h). */
enum placement_strategy { PLACEMENT_NONE, PLACEMENT_BINPACK, PLACEMENT_SPREAD, PLACEMENT_LEAST_STRANDED };
enum reclaim_runtime_method { RECLAIM_RUNTIME_LCA, RECLAIM_RUNTIME_QUEUE };
enum { GENERATORS_MAX = 2 };

/* KAI's wall-clock budgets; 0 is unlimited. The engine has no clock: its caller answers `should_stop`. */
struct search_budgets {
    nsec_t action[_ACTION_MAX];
    nsec_t job;
    nsec_t min_job;
    nsec_t generator[GENERATORS_MAX];  // by generators[] below
};

struct config {
    bool has[_PLUGIN_MAX];
    enum plugin generators[GENERATORS_MAX];  // in the order in which they are listed
    uint32_t generator_count;
    enum action actions[_ACTION_MAX];
    uint32_t action_count;

    double k_value;  // how much past use weighs
    double saturation_multiplier;
    enum placement_strategy gpu_placement;
    enum placement_strategy cpu_placement;
    nsec_t default_preempt_min_runtime;
    nsec_t default_reclaim_min_runtime;
    enum reclaim_runtime_method reclaim_runtime_method;
    bool charges_device_parts;  // quotas: claims by the parts of GPUs that they take, not by devices

    int64_t max_consolidation_preemptees;  // -1: no limit, 0: no consolidation
    bool allows_consolidating_reclaim;
    bool uses_signatures;
    bool restricts_nodes;              // GPU pods to gpu-worker nodes, the others to cpu-worker nodes
    nsec_t staleness_grace;            // negative: stale gangs are never evicted
    int64_t queue_depth[_ACTION_MAX];  // jobs a queue offers to an action; -1: all
    uint64_t max_placements;           // simulated placements in one search; 0: no limit
    struct search_budgets budgets;
};

/* KAI's built-in defaults: its list of plugins, its settings as its own tests use them (no signatures, no limits). */
void config_init(struct config *config);

/* Turns every plugin off, for a list of plugins to follow. */
void config_clear_plugins(struct config *config);

struct plugin_argument {
    const char *key;
    const char *value;
};

/*
 * Turns the plugin called `name` on with its arguments. A name that is not known is -ENOENT (KAI skips such plugins, and
 * the caller says so); an argument that makes no sense is -EINVAL.
 */
MUST_CHECK int config_add_plugin(struct config *config, const char *name, const struct plugin_argument *arguments,
                                 size_t argument_count, struct err *err);
