/* SPDX-License-Identifier: Apache-2.0 */

/* The scheduler's settings as a snapshot has them: KAI's configuration file and KAI's parameters. */
#include <stdlib.h>
#include <yyjson.h>

#include "base/strbuf.h"
#include "base/time.h"
#include "model/state.h"
#include "objects/settings/settings.h"
#include "services/scheduler/flags.h"
#include "services/scheduler/observe/observer.h"
#include "services/scheduler/observe/snapshot.h"

enum { ACTIONS_MAX = 4096 };

static void add_actions(yyjson_mut_doc *doc, yyjson_mut_val *config, const struct settings *settings)
{
    struct strbuf names;

    strbuf_init(&names, ACTIONS_MAX);
    vec_foreach (&settings->actions, action)
        if (action->is_enabled)
            strbuf_addf(&names, "%s%s", names.len ? ", " : "", action->name);
    (void)yyjson_mut_obj_add_strcpy(doc, config, "actions", names.text);
    strbuf_done(&names);
}

static void add_plugins(yyjson_mut_doc *doc, yyjson_mut_val *config, const struct settings *settings)
{
    yyjson_mut_val *tiers = yyjson_mut_obj_add_arr(doc, config, "tiers");
    yyjson_mut_val *plugins = yyjson_mut_obj_add_arr(doc, yyjson_mut_arr_add_obj(doc, tiers), "plugins");

    vec_foreach (&settings->plugins, plugin) {
        if (!plugin->is_enabled)
            continue;
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, plugins);

        (void)yyjson_mut_obj_add_strcpy(doc, item, "name", plugin->name);
        if (plugin->arguments.len == 0)
            continue;
        yyjson_mut_val *arguments = yyjson_mut_obj_add_obj(doc, item, "arguments");

        vec_foreach (&plugin->arguments, argument)
            (void)yyjson_mut_obj_add(arguments, yyjson_mut_strcpy(doc, argument->key),
                                     yyjson_mut_strcpy(doc, argument->value));
    }
}

static void add_duration(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, nsec_t duration)
{
    char text[DURATION_TEXT_MAX];

    (void)yyjson_mut_obj_add(object, yyjson_mut_strcpy(doc, key),
                             yyjson_mut_strcpy(doc, duration_format(duration, text)));
}

static void add_durations(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                          const struct named_numbers *durations)
{
    if (durations->len == 0)
        return;
    yyjson_mut_val *map = yyjson_mut_obj_add_obj(doc, object, key);

    vec_foreach (durations, duration)
        add_duration(doc, map, duration->name, duration->value);
}

static void add_budgets(yyjson_mut_doc *doc, yyjson_mut_val *config, const struct settings *settings)
{
    yyjson_mut_val *budgets = yyjson_mut_obj_add_obj(doc, config, "scenarioSearchBudgets");

    add_durations(doc, budgets, "maxActionSearchDuration", &settings->action_budgets);
    add_durations(doc, budgets, "maxGeneratorSearchDuration", &settings->generator_budgets);
    if (settings->job_budget > 0)
        add_duration(doc, budgets, "maxJobSearchDuration", settings->job_budget);
    if (settings->min_job_budget > 0)
        add_duration(doc, budgets, "minJobSearchDuration", settings->min_job_budget);
}

/* Where past use is kept is left out: such an address may hold a password. */
static void add_usage(yyjson_mut_doc *doc, yyjson_mut_val *config, const struct usage_setting *usage)
{
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, config, "usageDBConfig");
    char text[TIME_TEXT_MAX];

    (void)yyjson_mut_obj_add_strcpy(doc, object, "clientType", usage->source.client);
    yyjson_mut_val *params = yyjson_mut_obj_add_obj(doc, object, "usageParams");
    add_duration(doc, params, "windowSize", usage->window);
    add_duration(doc, params, "fetchInterval", usage->interval);
    if (usage->half_life > 0)
        add_duration(doc, params, "halfLifePeriod", usage->half_life);
    (void)yyjson_mut_obj_add_strcpy(doc, params, "windowType", usage_window_name(usage->window_type));
    if (usage->source.has_tumbling_start)
        (void)yyjson_mut_obj_add_strcpy(doc, params, "tumblingWindowStartTime",
                                        time_format(usage->source.tumbling_start, text));
    if (usage->source.cron)
        (void)yyjson_mut_obj_add_strcpy(doc, params, "cronString", usage->source.cron);
}

static yyjson_mut_val *config_of(yyjson_mut_doc *doc, const struct settings *settings)
{
    yyjson_mut_val *config = yyjson_mut_obj(doc);

    add_actions(doc, config, settings);
    add_plugins(doc, config, settings);
    if (settings->queue_depths.len > 0) {
        yyjson_mut_val *depths = yyjson_mut_obj_add_obj(doc, config, "queueDepthPerAction");

        vec_foreach (&settings->queue_depths, depth)
            (void)yyjson_mut_obj_add(depths, yyjson_mut_strcpy(doc, depth->name), yyjson_mut_sint(doc, depth->value));
    }
    add_budgets(doc, config, settings);
    if (settings->usage.is_on)
        add_usage(doc, config, &settings->usage);
    return config;
}

/* As in KAI zeros are left out, and durations are nanoseconds. */
static void add_number(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, int64_t number)
{
    if (number != 0)
        (void)yyjson_mut_obj_add_int(doc, object, key, number);
}

static void add_flag(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, bool is_set)
{
    if (is_set)
        (void)yyjson_mut_obj_add_bool(doc, object, key, true);
}

static yyjson_mut_val *params_of(yyjson_mut_doc *doc, const struct settings *settings,
                                 const struct scheduler_flags *flags)
{
    yyjson_mut_val *params = yyjson_mut_obj(doc);

    (void)yyjson_mut_obj_add_strcpy(doc, params, "schedulerName", settings->objects.scheduler_name);
    add_flag(doc, params, "restrictSchedulingNodes", settings->objects.restricts_nodes);
    yyjson_mut_val *partition = yyjson_mut_obj_add_obj(doc, params, "partitionParams");
    (void)yyjson_mut_obj_add_strcpy(doc, partition, "NodePoolLabelKey", settings->objects.node_pool_label);
    (void)yyjson_mut_obj_add_strcpy(doc, partition, "NodePoolLabelValue", settings->objects.partition);
    add_number(doc, params, "maxNumberConsolidationPreemptees", settings->max_consolidation_preemptees);
    add_flag(doc, params, "useSchedulingSignatures", settings->uses_signatures);
    add_flag(doc, params, "fullHierarchyFairness", settings->has_full_hierarchy);
    add_flag(doc, params, "allowConsolidatingReclaim", settings->allows_consolidating_reclaim);
    add_number(doc, params, "numOfStatusRecordingWorkers", flags->status_workers);
    add_number(doc, params, "globalDefaultStalenessGracePeriod", settings->staleness_grace);
    add_number(doc, params, "schedulePeriod", flags->schedule_period);
    add_number(doc, params, "stuckInReleasingThreshold", settings->objects.stuck_threshold);
    add_flag(doc, params, "detailedFitErrors", flags->detailed_fit_errors);
    add_flag(doc, params, "updatePodEvictionCondition", flags->update_pod_eviction_condition);
    (void)yyjson_mut_obj_add_strcpy(doc, params, "queueLabelKey", settings->objects.queue_label);
    return params;
}

static yyjson_mut_val *past_use_of(yyjson_mut_doc *doc, const struct state *state)
{
    yyjson_mut_val *list = yyjson_mut_arr(doc);

    vec_foreach (&state->queues, queue) {
        if (!queue->is_present ||
            (queue->usage[SHARE_CPU] == 0 && queue->usage[SHARE_MEMORY] == 0 && queue->usage[SHARE_GPU] == 0))
            continue;
        yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);

        (void)yyjson_mut_obj_add_strcpy(doc, item, "queue", state_name(state, queue->name));
        for (int r = 0; r < SHARE_COUNT; r++)
            (void)yyjson_mut_obj_add_real(doc, item, past_use_keys[r], queue->usage[r]);
    }
    return list;
}

static void write_member(yyjson_mut_val *value, const char *key, struct strbuf *out)
{
    char *text = yyjson_mut_val_write(value, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);

    strbuf_addf(out, "\"%s\":", key);
    strbuf_addstr(out, text);
    free(text);
}

void snapshot_settings(const struct scheduler_view *view, struct strbuf *out)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

    write_member(config_of(doc, view->settings), "config", out);
    strbuf_addch(out, ',');
    write_member(params_of(doc, view->settings, view->flags), "schedulerParams", out);
    if (view->settings->usage.is_on) {
        strbuf_addch(out, ',');
        write_member(past_use_of(doc, view->state), "pastUse", out);
    }
    yyjson_mut_doc_free(doc);
}
