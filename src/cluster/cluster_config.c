/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/cluster_config.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "engine/config.h"
#include "objects/notes.h"
#include "objects/settings/settings.h"

/* Plugins that decide nothing: whoever serves something for them looks for their names. */
static bool is_beside_engine(const char *name)
{
    return strcmp(name, "reflectjoborder") == 0;
}

static int add_plugin(struct config *config, const struct plugin_setting *plugin, struct object_notes *notes,
                      struct err *err)
{
    VEC(struct plugin_argument) arguments = {0};
    struct err problem = {0};

    for (uint32_t i = 0; i < plugin->arguments.len; i++)
        vec_push(&arguments,
                 (struct plugin_argument){plugin->arguments.items[i].key, plugin->arguments.items[i].value});
    int r = config_add_plugin(config, plugin->name, arguments.items, arguments.len, &problem);
    vec_done(&arguments);
    if (r == -ENOENT && is_beside_engine(plugin->name))
        return 0;
    if (r == -ENOENT) {
        object_notes_warn(notes, "unknown plugin %s is ignored", plugin->name);
        return 0;
    }
    return r < 0 ? err_set(err, r, "plugin %s: %s", plugin->name, problem.text) : 0;
}

static int set_actions(const struct settings *settings, struct config *config, struct err *err)
{
    config->action_count = 0;
    for (uint32_t i = 0; i < settings->actions.len; i++) {
        const struct action_setting *setting = &settings->actions.items[i];
        enum action action;

        if (!setting->is_enabled)
            continue;
        if (!action_find(setting->name, &action))
            return err_set(err, -EINVAL, "unknown action %s", setting->name);
        if (config->action_count < _ACTION_MAX)
            config->actions[config->action_count++] = action;
    }
    return 0;
}

static int64_t number_of(const struct named_numbers *numbers, const char *name, int64_t fallback)
{
    for (uint32_t i = 0; i < numbers->len; i++) {
        if (strcmp(numbers->items[i].name, name) == 0)
            return numbers->items[i].value;
    }
    return fallback;
}

static const struct generator_name {
    enum plugin plugin;
    const char *name;
} generator_names[] = {
    {PLUGIN_NODE_LOCAL_GREEDY, "NodeLocalGreedy"},
    {PLUGIN_MULTI_NODE_GANG, "MultiNodeGang"},
};

static void set_budgets(const struct settings *settings, struct search_budgets *budgets, const struct config *config)
{
    int64_t for_actions = number_of(&settings->action_budgets, "default", 0);
    int64_t for_generators = number_of(&settings->generator_budgets, "default", 0);

    for (int action = 0; action < _ACTION_MAX; action++)
        budgets->action[action] = number_of(&settings->action_budgets, action_name((enum action)action), for_actions);
    for (uint32_t i = 0; i < config->generator_count; i++) {
        for (size_t j = 0; j < ARRAY_LEN(generator_names); j++) {
            if (generator_names[j].plugin == config->generators[i])
                budgets->generator[i] =
                    number_of(&settings->generator_budgets, generator_names[j].name, for_generators);
        }
    }
    budgets->job = settings->job_budget;
    budgets->min_job = settings->min_job_budget;
}

int cluster_config(const struct settings *settings, struct config *config, struct object_notes *notes, struct err *err)
{
    config_init(config);
    config_clear_plugins(config);
    for (uint32_t i = 0; i < settings->plugins.len; i++) {
        const struct plugin_setting *plugin = &settings->plugins.items[i];

        int r = plugin->is_enabled ? add_plugin(config, plugin, notes, err) : 0;
        if (r < 0)
            return r;
    }
    int r = set_actions(settings, config, err);
    if (r < 0)
        return r;
    for (int action = 0; action < _ACTION_MAX; action++)
        config->queue_depth[action] = number_of(&settings->queue_depths, action_name((enum action)action), -1);
    set_budgets(settings, &config->budgets, config);
    config->max_consolidation_preemptees = settings->max_consolidation_preemptees;
    config->allows_consolidating_reclaim = settings->allows_consolidating_reclaim;
    config->uses_signatures = settings->uses_signatures;
    config->restricts_nodes = settings->objects.restricts_nodes;
    config->staleness_grace = settings->staleness_grace;
    return 0;
}
