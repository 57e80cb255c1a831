/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The scheduler's settings in a scenario. Budgets of wall-clock time are read into the settings but nobody answers for
 * the clock: what a scenario decides must not depend on the machine.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/scenario/scenario_internal.h"

enum { NUMBER_TEXT = 40 };

/* Arguments are strings in KAI's configuration; numbers and booleans are taken as people write them. */
static int read_argument(struct scenario_reader *r, const struct json_at *at, const char **ret, struct err *err)
{
    char *text;

    if (yyjson_is_bool(at->val)) {
        *ret = yyjson_get_bool(at->val) ? "true" : "false";
        return 0;
    }
    if (!yyjson_is_num(at->val))
        return json_str(at, ret, err);
    text = arena_alloc(&r->scratch, NUMBER_TEXT);
    (void)snprintf(text, NUMBER_TEXT, "%.17g", yyjson_get_num(at->val));
    *ret = text;
    return 0;
}

static int add_plugin(struct scenario_reader *r, const struct json_at *item, struct err *err)
{
    const char *name;
    struct json_at object;
    struct plugin_argument *arguments;
    size_t count = 0;
    int rc;

    if ((rc = json_object(item, err)) < 0 || (rc = scenario_name(item, "name", &name, err)) < 0 ||
        (rc = json_member_object(item, "arguments", JSON_OPTIONAL, &object, err)) < 0)
        return rc;
    arguments = arena_calloc(&r->scratch, yyjson_obj_size(object.val), sizeof *arguments);
    for (struct json_at argument = {0}; json_next(&object, &argument);) {
        arguments[count].key = argument.key;
        if ((rc = read_argument(r, &argument, &arguments[count++].value, err)) < 0)
            return rc;
    }
    rc = config_add_plugin(&r->s->config, name, arguments, count, err);
    if (rc != -ENOENT)
        return scenario_wrap(item, rc, err);
    strbuf_addf(&r->s->warnings, "unknown plugin '%s' is ignored\n", name);
    return 0;
}

static int read_plugins(struct scenario_reader *r, const struct json_at *config, struct err *err)
{
    struct json_at plugins;
    bool predicates = true;
    int rc = json_member_array(config, "plugins", JSON_OPTIONAL, &plugins, err);

    if (rc > 0 && yyjson_arr_size(plugins.val) > 0)
        config_clear_plugins(&r->s->config);
    for (struct json_at item = {0}; rc >= 0 && json_next(&plugins, &item);) {
        rc = add_plugin(r, &item, err);
        arena_clear(&r->scratch);
    }
    if (rc < 0 || (rc = json_member_bool(config, "predicates_enabled", JSON_OPTIONAL, &predicates, err)) < 0)
        return rc;
    if (!predicates)
        r->s->config.has[PLUGIN_PREDICATES] = false;
    return 0;
}

static int read_depths(struct config *config, const struct json_at *at, struct err *err)
{
    struct json_at depths;
    int rc = json_member_object(at, "queue_depth_per_action", JSON_OPTIONAL, &depths, err);

    for (struct json_at item = {0}; rc >= 0 && json_next(&depths, &item);) {
        enum action action;

        if (!action_find(item.key, &action))
            return json_fail(&item, err, -EINVAL, "there is no action '%s'", item.key);
        rc = json_int64(&item, -1, INT32_MAX, &config->queue_depth[action], err);
    }
    return rc;
}

/* A budget for each of a list of things, where "default" stands for those that are not named. */
static int read_budget(const struct json_at *at, const char *name, nsec_t *budget, struct err *err)
{
    int rc;

    if (!at->val)
        return 0;
    if ((rc = scenario_seconds(at, "default", 0, SCENARIO_SECONDS_MAX, budget, err)) < 0)
        return rc;
    return scenario_seconds(at, name, 0, SCENARIO_SECONDS_MAX, budget, err);
}

/* All of them are looked at, also of what is not there. */
static int check_budgets(const struct json_at *at, struct err *err)
{
    double seconds;
    int rc = 0;

    for (struct json_at item = {0}; rc >= 0 && json_next(at, &item);) {
        if (!yyjson_is_null(item.val))
            rc = json_double(&item, 0, SCENARIO_SECONDS_MAX, &seconds, err);
    }
    return rc;
}

static int read_budgets(struct config *config, const struct json_at *at, struct err *err)
{
    struct search_budgets *budgets = &config->budgets;
    struct json_at object;
    struct json_at actions;
    struct json_at generators;
    int rc = json_member_object(at, "search_budgets", JSON_OPTIONAL, &object, err);

    if (rc <= 0 || (rc = json_member_object(&object, "action_seconds", JSON_OPTIONAL, &actions, err)) < 0 ||
        (rc = json_member_object(&object, "generator_seconds", JSON_OPTIONAL, &generators, err)) < 0 ||
        (rc = check_budgets(&actions, err)) < 0 || (rc = check_budgets(&generators, err)) < 0 ||
        (rc = scenario_seconds(&object, "job_seconds", 0, SCENARIO_SECONDS_MAX, &budgets->job, err)) < 0 ||
        (rc = scenario_seconds(&object, "min_job_seconds", 0, SCENARIO_SECONDS_MAX, &budgets->min_job, err)) < 0)
        return rc;
    for (int i = 0; rc >= 0 && i < _ACTION_MAX; i++)
        rc = read_budget(&actions, action_name((enum action)i), &budgets->action[i], err);
    for (uint32_t i = 0; rc >= 0 && i < config->generator_count; i++) {
        bool is_local = config->generators[i] == PLUGIN_NODE_LOCAL_GREEDY;

        rc = read_budget(&generators, is_local ? "NodeLocalGreedy" : "MultiNodeGang", &budgets->generator[i], err);
    }
    return rc;
}

int scenario_read_config(struct scenario_reader *r, const struct json_at *scenario, struct err *err)
{
    struct config *config = &r->s->config;
    struct json_at at;
    int rc = json_member_object(scenario, "config", JSON_OPTIONAL, &at, err);

    if (rc <= 0 || (rc = read_plugins(r, &at, err)) < 0 ||
        (rc = scenario_seconds(&at, "staleness_grace_period_seconds", -SCENARIO_SECONDS_MAX, SCENARIO_SECONDS_MAX,
                               &config->staleness_grace, err)) < 0 ||
        (rc = json_member_int64(&at, "max_consolidation_preemptees", JSON_OPTIONAL, -1, INT32_MAX,
                                &config->max_consolidation_preemptees, err)) < 0 ||
        (rc = json_member_bool(&at, "allow_consolidating_reclaim", JSON_OPTIONAL, &config->allows_consolidating_reclaim,
                               err)) < 0 ||
        (rc = json_member_bool(&at, "use_scheduling_signatures", JSON_OPTIONAL, &config->uses_signatures, err)) < 0 ||
        (rc = read_depths(config, &at, err)) < 0)
        return rc;
    return read_budgets(config, &at, err);
}
