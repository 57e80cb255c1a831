/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"
#include "model/delta.h"
#include "objects/reader.h"
#include "text/json.h"

struct err;
struct object;
struct object_set;

/*
 * How a cluster's scheduler is set, in KAI's words: what a SchedulingShard, the Config and a snapshot say. Plain names
 * and numbers, since the engine's configuration lies above this folder.
 */
struct plugin_setting {
    const char *name;
    bool is_enabled;
    int32_t priority;  // higher ones come first, then by name
    VEC(struct str_pair) arguments;
};

struct action_setting {
    const char *name;
    bool is_enabled;
    int32_t priority;
};

struct named_number {
    const char *name;
    int64_t value;
};

struct named_numbers VEC_OF(struct named_number);

/* The last so much time; from one of times that are evenly apart on; from a time of cron on. */
enum usage_window { USAGE_SLIDING, USAGE_TUMBLING, USAGE_CRON, _USAGE_WINDOW_MAX };
const char *usage_window_name(enum usage_window window);  // "sliding"

/* Where past use is kept, and how it is asked for. */
struct usage_source {
    const char *client;        // "prometheus"; NULL: none
    const char *url;           // NULL: not given
    const char *url_variable;  // of the environment, that has it instead
    nsec_t staleness;          // what is older is stale
    nsec_t wait;               // so long the first answer is waited for
    bool has_tumbling_start;
    nsec_t tumbling_start;
    const char *cron;
    nsec_t query_timeout;
    nsec_t resolution;                    // of the sums
    const char *allocation[SHARE_COUNT];  // metrics of what queues have
    const char *capacity[SHARE_COUNT];    // expressions of what the cluster has
};

/* What past use of queues counts for: time-based fair share. */
struct usage_setting {
    bool is_on;
    nsec_t window;
    nsec_t half_life;  // 0: all of the window counts the same
    nsec_t interval;   // how often it is asked for
    enum usage_window window_type;
    struct usage_source source;  // for a running scheduler
};

/* What a queue had over the window, as a part of what there was: 1 is all of it. */
struct past_use {
    const char *queue;
    double part[SHARE_COUNT];
};
extern const char *const past_use_keys[SHARE_COUNT];  // "cpu", "memory", "nvidia.com/gpu"

struct settings {
    struct arena texts;  // holds every string below
    VEC(struct plugin_setting) plugins;
    VEC(struct action_setting) actions;
    struct named_numbers queue_depths;       // by action
    struct named_numbers action_budgets;     // nanoseconds, 0 for no limit; "default" for those not named
    struct named_numbers generator_budgets;  // likewise, by KAI's names of the generators
    nsec_t job_budget;
    nsec_t min_job_budget;

    struct object_options objects;  // names of labels, the node pool; settings_to_options() makes it complete
    bool has_full_hierarchy;
    bool uses_signatures;
    bool allows_consolidating_reclaim;
    int64_t max_consolidation_preemptees;
    nsec_t staleness_grace;
    struct usage_setting usage;
    VEC(struct past_use) past_use;  // when the snapshot was made; queues that are not here had nothing
};

/* What KAI's operator gives a scheduler whose SchedulingShard says nothing. */
void settings_init(struct settings *settings);
void settings_done(struct settings *settings);

/* Lays over the settings what a Config or a SchedulingShard says. Returns 0, or what makes no sense in it. */
MUST_CHECK int settings_decode_config(struct settings *settings, const struct object *object, struct err *err);
MUST_CHECK int settings_decode_shard(struct settings *settings, const struct object *object, struct err *err);

/* The scheduler's own configuration and parameters, as a snapshot has them; either place may be without a value. */
MUST_CHECK int settings_decode_snapshot(struct settings *settings, const struct json_at *config,
                                        const struct json_at *params, struct err *err);

/* The list of past use in a snapshot of ours; the place may be without a value. */
MUST_CHECK int settings_decode_past_use(struct settings *settings, const struct json_at *list, struct err *err);

/*
 * The Config of the set, if it has one, and the SchedulingShard called `shard`; NULL: "default", else the first.
 * -ENOENT when a shard is named that is not there.
 */
MUST_CHECK int settings_decode_set(struct settings *settings, const struct object_set *set, const char *shard,
                                   struct err *err);

/* Puts plugins and actions into the order in which they run. */
void settings_sort(struct settings *settings);

/* What of it is about reading objects; the strings stay the settings'. */
void settings_to_options(const struct settings *settings, struct object_options *options);
