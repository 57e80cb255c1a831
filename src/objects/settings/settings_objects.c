/* SPDX-License-Identifier: Apache-2.0 */

/* Settings from a SchedulingShard, from the Config and from a snapshot. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "objects/fields.h"
#include "objects/object.h"
#include "objects/settings/settings.h"
#include "objects/settings/settings_internal.h"

static void keep(struct settings *settings, const char **to, const char *text)
{
    if (text && *text)
        *to = arena_strdup(&settings->texts, text);
}

int settings_decode_config(struct settings *settings, const struct object *object, struct err *err)
{
    struct json_at spec;
    struct json_at global;

    TRY(json_member_object(&object->root, "spec", JSON_OPTIONAL, &spec, err));
    TRY(json_member_object(&spec, "global", JSON_OPTIONAL, &global, err));
    keep(settings, &settings->objects.scheduler_name, json_peek_str(&global, "schedulerName"));
    keep(settings, &settings->objects.queue_label, json_peek_str(&global, "queueLabelKey"));
    keep(settings, &settings->objects.node_pool_label, json_peek_str(&global, "nodePoolLabelKey"));

    struct json_at binder = json_member(&spec, "binder");
    struct json_at reservation = json_member(&binder, "resourceReservation");
    keep(settings, &settings->objects.reservation_app, json_peek_str(&reservation, "appLabel"));
    return 0;
}

/* The scheduler's flags that matter here; others are for its process and are passed over. */
enum flag_type { FLAG_BOOL, FLAG_INT, FLAG_DURATION, FLAG_TEXT };

static const struct flag {
    const char *name;
    enum flag_type type;
    size_t offset;
} flags[] = {
    {"scheduler-name", FLAG_TEXT, offsetof(struct settings, objects.scheduler_name)},
    {"queue-label-key", FLAG_TEXT, offsetof(struct settings, objects.queue_label)},
    {"nodepool-label-key", FLAG_TEXT, offsetof(struct settings, objects.node_pool_label)},
    {"partition-label-value", FLAG_TEXT, offsetof(struct settings, objects.partition)},
    {"cpu-worker-node-label-key", FLAG_TEXT, offsetof(struct settings, objects.cpu_worker_label)},
    {"gpu-worker-node-label-key", FLAG_TEXT, offsetof(struct settings, objects.gpu_worker_label)},
    {"mig-worker-node-label-key", FLAG_TEXT, offsetof(struct settings, objects.mig_label)},
    {"resource-reservation-app-label", FLAG_TEXT, offsetof(struct settings, objects.reservation_app)},
    {"full-hierarchy-fairness", FLAG_BOOL, offsetof(struct settings, has_full_hierarchy)},
    {"restrict-node-scheduling", FLAG_BOOL, offsetof(struct settings, objects.restricts_nodes)},
    {"use-scheduling-signatures", FLAG_BOOL, offsetof(struct settings, uses_signatures)},
    {"allow-consolidating-reclaim", FLAG_BOOL, offsetof(struct settings, allows_consolidating_reclaim)},
    {"max-consolidation-preemptees", FLAG_INT, offsetof(struct settings, max_consolidation_preemptees)},
    {"default-staleness-grace-period", FLAG_DURATION, offsetof(struct settings, staleness_grace)},
    {"stuck-in-releasing-threshold", FLAG_DURATION, offsetof(struct settings, objects.stuck_threshold)},
};

static int flag_decode(struct settings *settings, const struct flag *flag, const struct json_at *at, const char *text,
                       struct err *err)
{
    void *to = (char *)settings + flag->offset;
    struct err problem = {0};

    switch (flag->type) {
    case FLAG_TEXT:
        *(const char **)to = arena_strdup(&settings->texts, text);
        return 0;
    case FLAG_BOOL:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return json_fail(at, err, -EINVAL, "expected true or false, found '%s'", text);
        *(bool *)to = strcmp(text, "true") == 0;
        return 0;
    case FLAG_INT:
        if (!int_parse(text, -1, INT32_MAX, to))
            return json_fail(at, err, -EINVAL, "expected a whole number >= -1, found '%s'", text);
        return 0;
    case FLAG_DURATION:
        if (duration_parse(text, to, &problem) < 0)
            return json_fail(at, err, -EINVAL, "%s", problem.text);
        return 0;
    }
    return 0;
}

static int flags_decode(struct settings *settings, const struct json_at *at, struct err *err)
{
    for (struct json_at item = {0}; json_next(at, &item);) {
        const char *text = yyjson_is_bool(item.val) ? (yyjson_get_bool(item.val) ? "true" : "false") : NULL;
        char number[NUMBER_TEXT_MAX];

        if (yyjson_is_num(item.val))
            text = number_format(item.val, number);
        else if (!text)
            TRY(json_str(&item, &text, err));
        for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
            if (strcmp(flags[i].name, item.key) == 0)
                TRY(flag_decode(settings, &flags[i], &item, text, err));
        }
    }
    return 0;
}

/* Strategies switch plugins: spreading does not go with packing shared GPUs, nor with consolidation. */
static int placement_decode(struct settings *settings, const struct json_at *at, struct err *err)
{
    struct plugin_setting *placement = settings_plugin(settings, "nodeplacement");
    const char *gpu = "binpack";
    const char *cpu = "binpack";

    TRY(json_member_str(at, "gpu", JSON_OPTIONAL, &gpu, err));
    TRY(json_member_str(at, "cpu", JSON_OPTIONAL, &cpu, err));
    settings_argument(settings, placement, "gpu", gpu);
    settings_argument(settings, placement, "cpu", cpu);
    bool spreads_gpu = strcmp(gpu, "spread") == 0;
    bool spreads_any = spreads_gpu || strcmp(cpu, "spread") == 0;
    settings_plugin(settings, "gpupack")->is_enabled = !spreads_gpu;
    settings_plugin(settings, "gpusharingorder")->is_enabled = !spreads_gpu;
    settings_plugin(settings, "gpuspread")->is_enabled = spreads_gpu;
    settings_action(settings, "consolidation")->is_enabled = !spreads_any;
    return 0;
}

static int min_runtime_decode(struct settings *settings, const struct json_at *at, struct err *err)
{
    static const struct {
        const char *key;
        const char *argument;
    } rows[] = {
        {"preemptMinRuntime", "defaultPreemptMinRuntime"},
        {"reclaimMinRuntime", "defaultReclaimMinRuntime"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *text = NULL;

        TRY(json_member_str(at, rows[i].key, JSON_OPTIONAL, &text, err));
        if (text)
            settings_argument(settings, settings_plugin(settings, "minruntime"), rows[i].argument, text);
    }
    return 0;
}

struct override {
    bool is_enabled;
    int32_t priority;
    struct json_at arguments;
};

static int plugins_decode(struct settings *settings, const struct json_at *at, struct err *err)
{
    static const struct field fields[] = {
        FIELD(override, is_enabled, "enabled", FIELD_BOOL),
        FIELD(override, priority, "priority", FIELD_INT32),
        FIELD(override, arguments, "arguments", FIELD_OBJECT),
    };

    for (struct json_at item = {0}; json_next(at, &item);) {
        struct plugin_setting *plugin = settings_plugin(settings, item.key);
        struct override override = {.is_enabled = plugin->is_enabled, .priority = plugin->priority};

        TRY(FIELDS_DECODE(&item, fields, &override, err));
        plugin->is_enabled = override.is_enabled;
        plugin->priority = override.priority;
        if (override.arguments.val)
            TRY(settings_arguments_decode(settings, plugin, &override.arguments, err));
    }
    return 0;
}

static int actions_decode(struct settings *settings, const struct json_at *at, struct err *err)
{
    static const struct field fields[] = {
        FIELD(override, is_enabled, "enabled", FIELD_BOOL),
        FIELD(override, priority, "priority", FIELD_INT32),
    };

    for (struct json_at item = {0}; json_next(at, &item);) {
        struct action_setting *action = settings_action(settings, item.key);
        struct override override = {.is_enabled = action->is_enabled, .priority = action->priority};

        TRY(FIELDS_DECODE(&item, fields, &override, err));
        action->is_enabled = override.is_enabled;
        action->priority = override.priority;
    }
    return 0;
}

struct shard_json {
    struct json_at args;
    struct json_at placement;
    const char *partition;
    struct json_at depths;
    struct json_at min_runtime;
    double k_value;
    struct json_at budgets;
    struct json_at plugins;
    struct json_at actions;
    struct json_at usage;
};

int settings_decode_shard(struct settings *settings, const struct object *object, struct err *err)
{
    static const struct field fields[] = {
        FIELD(shard_json, args, "args", FIELD_OBJECT),
        FIELD(shard_json, placement, "placementStrategy", FIELD_OBJECT),
        FIELD(shard_json, partition, "partitionLabelValue", FIELD_STR),
        FIELD(shard_json, depths, "queueDepthPerAction", FIELD_OBJECT),
        FIELD(shard_json, min_runtime, "minRuntime", FIELD_OBJECT),
        FIELD(shard_json, k_value, "kValue", FIELD_DOUBLE),
        FIELD(shard_json, budgets, "scenarioSearchBudgets", FIELD_OBJECT),
        FIELD(shard_json, plugins, "plugins", FIELD_OBJECT),
        FIELD(shard_json, actions, "actions", FIELD_OBJECT),
        FIELD(shard_json, usage, "usageDBConfig", FIELD_OBJECT),
    };
    struct shard_json json = {.partition = "", .k_value = NAN};
    struct json_at spec;
    char text[NUMBER_TEXT_MAX];

    TRY(json_member_object(&object->root, "spec", JSON_OPTIONAL, &spec, err));
    TRY(FIELDS_DECODE(&spec, fields, &json, err));
    settings->objects.has_partition = true;
    settings->objects.partition = arena_strdup(&settings->texts, json.partition);
    TRY(placement_decode(settings, &json.placement, err));
    TRY(min_runtime_decode(settings, &json.min_runtime, err));
    if (!isnan(json.k_value)) {
        (void)snprintf(text, sizeof text, "%.17g", json.k_value);
        settings_argument(settings, settings_plugin(settings, "proportion"), "kValue", text);
    }
    TRY(settings_depths_decode(settings, &json.depths, err));
    TRY(settings_budgets_decode(settings, &json.budgets, err));
    TRY(plugins_decode(settings, &json.plugins, err));
    TRY(actions_decode(settings, &json.actions, err));
    TRY(settings_usage_decode(settings, &json.usage, err));
    return flags_decode(settings, &json.args, err);
}

/* "allocate, reclaim": the list is the order. */
static void action_list_decode(struct settings *settings, const char *list)
{
    char *copy = arena_strdup(&settings->texts, list);
    char *rest = copy;
    int32_t priority = 0;

    vec_clear(&settings->actions);
    for (char *name; (name = strsep(&rest, ","));) {
        name += strspn(name, " \t\n");
        name[strcspn(name, " \t\n")] = '\0';
        if (*name)
            settings_action(settings, name)->priority = --priority;
    }
}

static int tiers_decode(struct settings *settings, const struct json_at *tiers, struct err *err)
{
    int32_t priority = 0;

    vec_foreach (&settings->plugins, plugin)
        vec_done(&plugin->arguments);
    vec_clear(&settings->plugins);
    for (struct json_at tier = {0}; json_next(tiers, &tier);) {
        struct json_at plugins;

        TRY(json_member_array(&tier, "plugins", JSON_OPTIONAL, &plugins, err));
        for (struct json_at item = {0}; json_next(&plugins, &item);) {
            struct json_at arguments;
            const char *name = NULL;

            TRY(json_member_str(&item, "name", JSON_REQUIRED, &name, err));
            TRY(json_member_object(&item, "arguments", JSON_OPTIONAL, &arguments, err));
            struct plugin_setting *plugin = settings_plugin(settings, name);
            plugin->priority = --priority;
            TRY(settings_arguments_decode(settings, plugin, &arguments, err));
        }
    }
    return 0;
}

static int scheduler_config_decode(struct settings *settings, const struct json_at *config, struct err *err)
{
    struct json_at tiers;
    struct json_at depths;
    struct json_at budgets;
    const char *actions = NULL;

    TRY(json_member_str(config, "actions", JSON_OPTIONAL, &actions, err));
    TRY(json_member_array(config, "tiers", JSON_OPTIONAL, &tiers, err));
    TRY(json_member_object(config, "queueDepthPerAction", JSON_OPTIONAL, &depths, err));
    TRY(json_member_object(config, "scenarioSearchBudgets", JSON_OPTIONAL, &budgets, err));
    if (actions && *actions)
        action_list_decode(settings, actions);
    if (json_len(&tiers) > 0)
        TRY(tiers_decode(settings, &tiers, err));
    TRY(settings_depths_decode(settings, &depths, err));
    struct json_at usage = json_member(config, "usageDBConfig");
    TRY(settings_usage_decode(settings, &usage, err));

    /* A scheduler without budgets has no limits, whatever the operator would have set. */
    vec_clear(&settings->action_budgets);
    vec_clear(&settings->generator_budgets);
    settings->job_budget = 0;
    return settings_budgets_decode(settings, &budgets, err);
}

struct params_json {
    const char *scheduler_name;
    const char *queue_label;
    bool restricts_nodes;
    bool uses_signatures;
    bool has_full_hierarchy;
    bool allows_consolidating_reclaim;
    int64_t max_consolidation_preemptees;
    int64_t staleness_grace;
    int64_t stuck_threshold;
    struct json_at partition;
};

/* Zeros are left out of the parameters, so that what is missing is 0 and not the default. */
static int params_decode(struct settings *settings, const struct json_at *params, struct err *err)
{
    static const struct field fields[] = {
        FIELD(params_json, scheduler_name, "schedulerName", FIELD_STR),
        FIELD(params_json, queue_label, "queueLabelKey", FIELD_STR),
        FIELD(params_json, restricts_nodes, "restrictSchedulingNodes", FIELD_BOOL),
        FIELD(params_json, uses_signatures, "useSchedulingSignatures", FIELD_BOOL),
        FIELD(params_json, has_full_hierarchy, "fullHierarchyFairness", FIELD_BOOL),
        FIELD(params_json, allows_consolidating_reclaim, "allowConsolidatingReclaim", FIELD_BOOL),
        FIELD(params_json, max_consolidation_preemptees, "maxNumberConsolidationPreemptees", FIELD_INT64),
        FIELD(params_json, staleness_grace, "globalDefaultStalenessGracePeriod", FIELD_INT64),
        FIELD(params_json, stuck_threshold, "stuckInReleasingThreshold", FIELD_INT64),
        FIELD(params_json, partition, "partitionParams", FIELD_OBJECT),
    };
    struct params_json json = {0};

    TRY(FIELDS_DECODE(params, fields, &json, err));
    keep(settings, &settings->objects.scheduler_name, json.scheduler_name);
    keep(settings, &settings->objects.queue_label, json.queue_label);
    keep(settings, &settings->objects.node_pool_label, json_peek_str(&json.partition, "NodePoolLabelKey"));
    settings->objects.restricts_nodes = json.restricts_nodes;
    settings->uses_signatures = json.uses_signatures;
    settings->has_full_hierarchy = json.has_full_hierarchy;
    settings->allows_consolidating_reclaim = json.allows_consolidating_reclaim;
    settings->max_consolidation_preemptees = json.max_consolidation_preemptees;
    settings->staleness_grace = json.staleness_grace;
    settings->objects.stuck_threshold = json.stuck_threshold;
    return 0;
}

int settings_decode_snapshot(struct settings *settings, const struct json_at *config, const struct json_at *params,
                             struct err *err)
{
    if (config->val)
        TRY(scheduler_config_decode(settings, config, err));
    return params->val ? params_decode(settings, params, err) : 0;
}
