/* SPDX-License-Identifier: Apache-2.0 */

/* Settings: their defaults, and the changes that every source makes to them. */
#include "objects/settings/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "objects/fields.h"
#include "objects/keys.h"
#include "objects/kinds.h"
#include "objects/object.h"
#include "objects/reader.h"
#include "objects/settings/settings_internal.h"

static const struct default_plugin {
    const char *name;
    int32_t priority;
    bool is_enabled;
} default_plugins[] = {
    {"predicates", 1900, true},       {"proportion", 1800, true},        {"priority", 1700, true},
    {"nodeavailability", 1600, true}, {"resourcetype", 1500, true},      {"podaffinity", 1400, true},
    {"elastic", 1300, true},          {"kubeflow", 1200, true},          {"ray", 1100, true},
    {"subgrouporder", 1000, true},    {"taskorder", 900, true},          {"nominatednode", 800, true},
    {"dynamicresources", 700, true},  {"minruntime", 600, true},         {"topology", 500, true},
    {"snapshot", 400, true},          {"sg-nodelocalgreedy", 360, true}, {"sg-multinodegang", 350, true},
    {"gpupack", 300, true},           {"gpuspread", 300, false},         {"nodeplacement", 200, true},
    {"gpusharingorder", 100, true},
};

static const struct action_setting default_actions[] = {
    {"allocate", true, 500}, {"consolidation", true, 400},     {"reclaim", true, 300},
    {"preempt", true, 200},  {"stalegangeviction", true, 100},
};

/* Sets the number called `name`. */
static void set_number(struct settings *settings, struct named_numbers *numbers, const char *name, int64_t value)
{
    vec_foreach (numbers, number) {
        if (strcmp(number->name, name) == 0) {
            number->value = value;
            return;
        }
    }
    vec_push(numbers, (struct named_number){arena_strdup(&settings->texts, name), value});
}

static void set_default_budgets(struct settings *settings)
{
    set_number(settings, &settings->action_budgets, "default", 5 * NSEC_PER_MIN);
    set_number(settings, &settings->generator_budgets, "default", 2 * NSEC_PER_MIN);
    set_number(settings, &settings->generator_budgets, "NodeLocalGreedy", 30 * NSEC_PER_SEC);
    set_number(settings, &settings->generator_budgets, "MultiNodeGang", 2 * NSEC_PER_MIN);
    settings->job_budget = 4 * NSEC_PER_MIN;
}

void settings_init(struct settings *settings)
{
    *settings = (struct settings){
        .has_full_hierarchy = true,
        .uses_signatures = true,
        .allows_consolidating_reclaim = true,
        .max_consolidation_preemptees = 16,
        .staleness_grace = NSEC_PER_MIN,
    };
    object_options_init(&settings->objects);
    settings_usage_init(&settings->usage);
    arena_init(&settings->texts);
    for (size_t i = 0; i < ARRAY_LEN(default_plugins); i++) {
        struct plugin_setting *plugin = settings_plugin(settings, default_plugins[i].name);

        plugin->priority = default_plugins[i].priority;
        plugin->is_enabled = default_plugins[i].is_enabled;
    }
    struct plugin_setting *placement = settings_plugin(settings, "nodeplacement");
    settings_argument(settings, placement, "gpu", "binpack");
    settings_argument(settings, placement, "cpu", "binpack");
    for (size_t i = 0; i < ARRAY_LEN(default_actions); i++)
        vec_push(&settings->actions, default_actions[i]);
    set_default_budgets(settings);
}

void settings_done(struct settings *settings)
{
    vec_foreach (&settings->plugins, plugin)
        vec_done(&plugin->arguments);
    vec_done(&settings->plugins);
    vec_done(&settings->actions);
    vec_done(&settings->queue_depths);
    vec_done(&settings->action_budgets);
    vec_done(&settings->generator_budgets);
    vec_done(&settings->past_use);
    arena_done(&settings->texts);
}

struct plugin_setting *settings_plugin(struct settings *settings, const char *name)
{
    vec_foreach (&settings->plugins, plugin) {
        if (strcmp(plugin->name, name) == 0)
            return plugin;
    }
    vec_push(&settings->plugins,
             (struct plugin_setting){.name = arena_strdup(&settings->texts, name), .is_enabled = true});
    return &vec_last(&settings->plugins);
}

struct action_setting *settings_action(struct settings *settings, const char *name)
{
    vec_foreach (&settings->actions, action) {
        if (strcmp(action->name, name) == 0)
            return action;
    }
    vec_push(&settings->actions,
             (struct action_setting){.name = arena_strdup(&settings->texts, name), .is_enabled = true});
    return &vec_last(&settings->actions);
}

void settings_argument(struct settings *settings, struct plugin_setting *plugin, const char *key, const char *value)
{
    vec_foreach (&plugin->arguments, argument) {
        if (strcmp(argument->key, key) == 0) {
            argument->value = arena_strdup(&settings->texts, value);
            return;
        }
    }
    vec_push(&plugin->arguments,
             (struct str_pair){arena_strdup(&settings->texts, key), arena_strdup(&settings->texts, value)});
}

int settings_arguments_decode(struct settings *settings, struct plugin_setting *plugin, const struct json_at *at,
                              struct err *err)
{
    char number[NUMBER_TEXT_MAX];

    vec_clear(&plugin->arguments);
    for (struct json_at item = {0}; json_next(at, &item);) {
        const char *text = NULL;

        if (yyjson_is_num(item.val))
            text = number_format(item.val, number);
        else if (yyjson_is_bool(item.val))
            text = yyjson_get_bool(item.val) ? "true" : "false";
        else
            TRY(json_str(&item, &text, err));
        settings_argument(settings, plugin, item.key, text);
    }
    return 0;
}

int settings_depths_decode(struct settings *settings, const struct json_at *at, struct err *err)
{
    for (struct json_at item = {0}; json_next(at, &item);) {
        int64_t depth = 0;

        TRY(json_int64(&item, -1, INT32_MAX, &depth, err));
        set_number(settings, &settings->queue_depths, item.key, depth);
    }
    return 0;
}

static int budget_map_decode(struct settings *settings, const struct json_at *at, struct named_numbers *budgets,
                             struct err *err)
{
    for (struct json_at item = {0}; json_next(at, &item);) {
        const struct field field = {.key = item.key, .type = FIELD_DURATION};
        nsec_t budget = 0;

        TRY(fields_decode(at, &field, 1, &budget, err));
        if (budget < 0)
            return json_fail(&item, err, -EINVAL, "expected a duration of 0 or more");
        set_number(settings, budgets, item.key, budget);
    }
    return 0;
}

int settings_budgets_decode(struct settings *settings, const struct json_at *at, struct err *err)
{
    static const struct field fields[] = {
        FIELD(settings, job_budget, "maxJobSearchDuration", FIELD_DURATION),
        FIELD(settings, min_job_budget, "minJobSearchDuration", FIELD_DURATION),
    };
    struct json_at actions;
    struct json_at generators;

    TRY(FIELDS_DECODE(at, fields, settings, err));
    TRY(json_member_object(at, "maxActionSearchDuration", JSON_OPTIONAL, &actions, err));
    TRY(json_member_object(at, "maxGeneratorSearchDuration", JSON_OPTIONAL, &generators, err));
    TRY(budget_map_decode(settings, &actions, &settings->action_budgets, err));
    TRY(budget_map_decode(settings, &generators, &settings->generator_budgets, err));
    if (settings->job_budget > 0 && settings->min_job_budget >= settings->job_budget)
        return json_fail(at, err, -EINVAL, "expected minJobSearchDuration below maxJobSearchDuration");
    return 0;
}

static int compare_plugins(const void *left, const void *right)
{
    const struct plugin_setting *a = left;
    const struct plugin_setting *b = right;

    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int compare_actions(const void *left, const void *right)
{
    const struct action_setting *a = left;
    const struct action_setting *b = right;

    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    return strcmp(a->name, b->name);
}

void settings_sort(struct settings *settings)
{
    if (settings->plugins.len)
        qsort(settings->plugins.items, settings->plugins.len, sizeof *settings->plugins.items, compare_plugins);
    if (settings->actions.len)
        qsort(settings->actions.items, settings->actions.len, sizeof *settings->actions.items, compare_actions);
}

/* The shard that is asked for; without a name the default one, else the first. */
static const struct object *find_shard(const struct object_set *set, const char *name)
{
    const struct object_kind *kind = object_kind_of("kai.scheduler", "SchedulingShard");
    const struct object *shard = object_set_find(set, kind, "", name ? name : "default");

    return shard || name ? shard : object_set_first(set, kind);
}

int settings_decode_set(struct settings *settings, const struct object_set *set, const char *shard_name,
                        struct err *err)
{
    const struct object_kind *kind = object_kind_of("kai.scheduler", "Config");
    const struct object *shard = find_shard(set, shard_name);
    const struct object *config = object_set_find(set, kind, "", "kai-config");

    if (!shard && shard_name)
        return err_set(err, -ENOENT, "there is no SchedulingShard called %s", shard_name);
    config = config ? config : object_set_first(set, kind);
    int r = config ? settings_decode_config(settings, config, err) : 0;
    if (r < 0)
        return object_wrap(config, r, err);
    r = shard ? settings_decode_shard(settings, shard, err) : 0;
    return r < 0 ? object_wrap(shard, r, err) : 0;
}

void settings_to_options(const struct settings *settings, struct object_options *options)
{
    *options = settings->objects;
    options->flattens_queues = !settings->has_full_hierarchy;
    for (uint32_t i = 0; i < settings->plugins.len; i++) {
        const struct plugin_setting *plugin = &settings->plugins.items[i];

        for (uint32_t j = 0; strcmp(plugin->name, "numa") == 0 && j < plugin->arguments.len; j++) {
            const struct str_pair *argument = &plugin->arguments.items[j];
            if (strcmp(argument->key, "reconstructAvailable") == 0)
                options->trusts_numa_available = strcmp(argument->value, "false") == 0;
            else if (strcmp(argument->key, "ignoreList") == 0)
                options->numa_ignored = argument->value;
        }
    }
}
