/* SPDX-License-Identifier: Apache-2.0 */

/* Settings, and who reads the arguments of plugins. */
#include "engine/config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

typedef int (*argument_fn)(struct config *config, const char *key, const char *value, struct err *err);

static int read_number(const char *key, const char *value, double *ret, struct err *err)
{
    char *end;
    double number = strtod(value, &end);

    if (end == value || *end != '\0' || !isfinite(number))
        return err_set(err, -EINVAL, "%s: '%s' is not a number", key, value);
    *ret = number;
    return 0;
}

static int proportion_argument(struct config *config, const char *key, const char *value, struct err *err)
{
    double number = 0;

    if (strcmp(key, "kValue") == 0) {
        int r = read_number(key, value, &number, err);
        if (r >= 0)
            config->k_value = number > 0 ? number : 0;
        return r;
    }
    /* KAI spells it so; its documentation does not. */
    if (strcmp(key, "relcaimerSaturationMultiplier") == 0 || strcmp(key, "reclaimerSaturationMultiplier") == 0) {
        int r = read_number(key, value, &number, err);
        if (r >= 0)
            config->saturation_multiplier = number > 1 ? number : 1;
        return r;
    }
    return 0;
}

static int placement_argument(struct config *config, const char *key, const char *value, struct err *err)
{
    enum placement_strategy strategy;

    if (strcmp(value, "binpack") == 0)
        strategy = PLACEMENT_BINPACK;
    else if (strcmp(value, "spread") == 0)
        strategy = PLACEMENT_SPREAD;
    else if (strcmp(value, "leaststranded") == 0)
        strategy = PLACEMENT_LEAST_STRANDED;
    else
        return err_set(err, -EINVAL, "%s: '%s' is not a strategy; expected binpack, spread or leaststranded", key,
                       value);

    if (strcmp(key, "gpu") == 0)
        config->gpu_placement = strategy;
    else if (strcmp(key, "cpu") == 0)
        config->cpu_placement = strategy;
    return 0;
}

/* As in KAI a runtime that cannot be read, or is negative, is no protection. */
static nsec_t read_runtime(const char *value)
{
    nsec_t duration;

    return duration_parse(value, &duration, NULL) >= 0 && duration > 0 ? duration : 0;
}

static int runtime_argument(struct config *config, const char *key, const char *value, struct err *err)
{
    if (strcmp(key, "defaultPreemptMinRuntime") == 0)
        config->default_preempt_min_runtime = read_runtime(value);
    else if (strcmp(key, "defaultReclaimMinRuntime") == 0)
        config->default_reclaim_min_runtime = read_runtime(value);
    else if (strcmp(key, "reclaimResolveMethod") == 0 && strcmp(value, "queue") == 0)
        config->reclaim_runtime_method = RECLAIM_RUNTIME_QUEUE;
    else if (strcmp(key, "reclaimResolveMethod") == 0 && strcmp(value, "lca") == 0)
        config->reclaim_runtime_method = RECLAIM_RUNTIME_LCA;
    else if (strcmp(key, "reclaimResolveMethod") == 0)
        return err_set(err, -EINVAL, "%s: '%s' is not a method; expected lca or queue", key, value);
    return 0;
}

static int devices_argument(struct config *config, const char *key, const char *value, struct err *err)
{
    if (strcmp(key, "quotaCharge") != 0)
        return 0;
    if (strcmp(value, "devices") != 0 && strcmp(value, "parts") != 0)
        return err_set(err, -EINVAL, "%s: '%s' is not a charge; expected devices or parts", key, value);
    config->charges_device_parts = strcmp(value, "parts") == 0;
    return 0;
}

static const struct plugin_row {
    const char *name;
    argument_fn argument;
    bool is_default;
} plugins[] = {
#define PLUGIN_ROW(id, name, argument, is_default) [PLUGIN_##id] = {name, argument, is_default},
    PLUGINS(PLUGIN_ROW)
#undef PLUGIN_ROW
};

static void add_generator(struct config *config, enum plugin plugin)
{
    for (uint32_t i = 0; i < config->generator_count; i++) {
        if (config->generators[i] == plugin)
            return;
    }
    config->generators[config->generator_count++] = plugin;
}

static void turn_on(struct config *config, enum plugin plugin)
{
    config->has[plugin] = true;
    if (plugin == PLUGIN_NODE_LOCAL_GREEDY || plugin == PLUGIN_MULTI_NODE_GANG)
        add_generator(config, plugin);
}

void config_clear_plugins(struct config *config)
{
    memset(config->has, 0, sizeof config->has);
    config->generator_count = 0;
    config->k_value = 1;
    config->saturation_multiplier = 1;
    config->gpu_placement = PLACEMENT_NONE;
    config->cpu_placement = PLACEMENT_NONE;
    config->default_preempt_min_runtime = 0;
    config->default_reclaim_min_runtime = 0;
    config->reclaim_runtime_method = RECLAIM_RUNTIME_LCA;
    config->charges_device_parts = false;
}

static void init_budgets(struct search_budgets *budgets)
{
    for (int i = 0; i < _ACTION_MAX; i++)
        budgets->action[i] = 5 * NSEC_PER_MIN;
    budgets->job = 4 * NSEC_PER_MIN;
    budgets->min_job = 0;
    budgets->generator[0] = 30 * NSEC_PER_SEC;
    budgets->generator[1] = 2 * NSEC_PER_MIN;
}

void config_init(struct config *config)
{
    memset(config, 0, sizeof *config);
    config_clear_plugins(config);
    for (int i = 0; i < _PLUGIN_MAX; i++) {
        if (plugins[i].is_default)
            turn_on(config, (enum plugin)i);
    }
    config->gpu_placement = PLACEMENT_BINPACK;
    config->cpu_placement = PLACEMENT_BINPACK;
    for (int i = 0; i < _ACTION_MAX; i++) {
        config->actions[config->action_count++] = (enum action)i;
        config->queue_depth[i] = -1;
    }
    config->max_consolidation_preemptees = -1;
    config->allows_consolidating_reclaim = true;
    init_budgets(&config->budgets);
}

int config_add_plugin(struct config *config, const char *name, const struct plugin_argument *arguments,
                      size_t argument_count, struct err *err)
{
    for (int i = 0; i < _PLUGIN_MAX; i++) {
        if (strcmp(name, plugins[i].name) != 0)
            continue;
        for (size_t a = 0; plugins[i].argument && a < argument_count; a++) {
            int r = plugins[i].argument(config, arguments[a].key, arguments[a].value, err);
            if (r < 0)
                return err_wrap(err, r, "plugin %s", name);
        }
        turn_on(config, (enum plugin)i);
        return 0;
    }
    return err_set(err, -ENOENT, "unknown plugin '%s'", name);
}
