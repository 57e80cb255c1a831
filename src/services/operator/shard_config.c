/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A shard's settings as the scheduler's configuration file. The rules that turn a SchedulingShard into plugins and
 * actions are those of objects/settings, which `muster simulate` follows too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "objects/object.h"
#include "objects/settings/settings.h"
#include "services/operator/draft_internal.h"
#include "text/json.h"

/* A ConfigMap holds no more. */
enum { FILE_MAX = 1 << 20 };

static void add_actions(struct strbuf *text, const struct settings *settings)
{
    const char *separator = "";

    strbuf_addstr(text, "actions: \"");
    vec_foreach (&settings->actions, action) {
        if (action->is_enabled) {
            strbuf_addf(text, "%s%s", separator, action->name);
            separator = ", ";
        }
    }
    strbuf_addstr(text, "\"\n");
}

static void add_plugins(struct strbuf *text, const struct settings *settings)
{
    strbuf_addstr(text, "tiers:\n- plugins:\n");
    vec_foreach (&settings->plugins, plugin) {
        if (!plugin->is_enabled)
            continue;
        strbuf_addstr(text, "  - name: ");
        json_add_string(text, plugin->name);
        strbuf_addstr(text, plugin->arguments.len ? "\n    arguments:\n" : "\n");
        vec_foreach (&plugin->arguments, argument) {
            strbuf_addstr(text, "      ");
            json_add_string(text, argument->key);
            strbuf_addstr(text, ": ");
            json_add_string(text, argument->value);
            strbuf_addch(text, '\n');
        }
    }
}

static bool has_action(const struct settings *settings, const char *name)
{
    vec_foreach (&settings->actions, action)
        if (action->is_enabled && strcmp(action->name, name) == 0)
            return true;
    return false;
}

static int add_depths(struct strbuf *text, const struct settings *settings, struct err *err)
{
    if (settings->queue_depths.len)
        strbuf_addstr(text, "queueDepthPerAction:\n");
    vec_foreach (&settings->queue_depths, depth) {
        if (!has_action(settings, depth->name))
            return err_set(err, -EINVAL, "spec.queueDepthPerAction: '%s' is not an enabled action", depth->name);
        strbuf_addf(text, "  %s: %lld\n", depth->name, (long long)depth->value);
    }
    return 0;
}

static void add_durations(struct strbuf *text, const char *key, const struct named_numbers *durations)
{
    char duration[DURATION_TEXT_MAX];

    strbuf_addf(text, "  %s:\n", key);
    vec_foreach (durations, number) {
        strbuf_addstr(text, "    ");
        json_add_string(text, number->name);
        strbuf_addf(text, ": %s\n", duration_format(number->value, duration));
    }
}

static int add_budgets(struct strbuf *text, const struct settings *settings, struct err *err)
{
    static const char *const actions[] = {"default", "reclaim", "preempt", "consolidation"};
    char duration[DURATION_TEXT_MAX];

    vec_foreach (&settings->action_budgets, budget) {
        bool is_known = false;

        for (size_t i = 0; i < ARRAY_LEN(actions); i++)
            is_known = is_known || strcmp(budget->name, actions[i]) == 0;
        if (!is_known)
            return err_set(err, -EINVAL,
                           "spec.scenarioSearchBudgets.maxActionSearchDuration: '%s' is none of default, reclaim, "
                           "preempt and consolidation",
                           budget->name);
    }
    strbuf_addstr(text, "scenarioSearchBudgets:\n");
    add_durations(text, "maxActionSearchDuration", &settings->action_budgets);
    add_durations(text, "maxGeneratorSearchDuration", &settings->generator_budgets);
    strbuf_addf(text, "  maxJobSearchDuration: %s\n", duration_format(settings->job_budget, duration));
    strbuf_addf(text, "  minJobSearchDuration: %s\n", duration_format(settings->min_job_budget, duration));
    return 0;
}

/* A shard that names no database uses the one that the Config has. */
static const char *usage_address(struct draft *draft)
{
    yyjson_val *section = conf_at(draft->config, "prometheus");
    const char *external = conf_text(section, "externalPrometheusUrl", "");

    if (*external)
        return external;
    if (conf_bool(section, "enabled", false))
        return draft_text(draft, "http://usage-prometheus.%s.svc.cluster.local:9090", draft->around->namespace);
    return NULL;
}

static int add_usage(struct draft *draft, struct strbuf *text, yyjson_val *usage, struct err *err)
{
    yyjson_mut_val *copy = pack_copy(draft->doc, usage);

    if (!usage)
        return 0;
    if (strcmp(conf_text(usage, "clientType", ""), "prometheus") == 0 && !*conf_text(usage, "connectionString", "") &&
        !*conf_text(usage, "connectionStringEnvVar", "")) {
        const char *address = usage_address(draft);

        if (!address)
            return err_set(err, -EINVAL,
                           "spec.usageDBConfig has no connectionString: set it, or enable prometheus in the Config, or "
                           "set its externalPrometheusUrl");
        (void)yyjson_mut_obj_remove_key(copy, "connectionString");
        (void)yyjson_mut_obj_add_strcpy(draft->doc, copy, "connectionString", address);
    }
    char *json = yyjson_mut_val_write(copy, 0, NULL);
    if (json)
        strbuf_addf(text, "usageDBConfig: %s\n", json);
    free(json);
    return 0;
}

static int write_file(struct draft *draft, struct strbuf *text, struct settings *settings, yyjson_val *shard,
                      struct err *err)
{
    const struct object object = {.root = {.val = shard}};
    int r = settings_decode_shard(settings, &object, err);

    if (r < 0)
        return r;
    settings_sort(settings);
    add_actions(text, settings);
    add_plugins(text, settings);
    r = add_depths(text, settings, err);
    if (r >= 0)
        r = add_budgets(text, settings, err);
    if (r >= 0)
        r = add_usage(draft, text, conf_at(shard, "spec.usageDBConfig"), err);
    if (r >= 0 && text->is_cut)
        r = err_set(err, -EINVAL, "the settings take more than %d bytes", FILE_MAX);
    return r;
}

int draft_scheduler_config(struct draft *draft, yyjson_val *shard, const char **ret_text, struct err *err)
{
    struct settings settings;
    struct strbuf text;

    settings_init(&settings);
    strbuf_init(&text, FILE_MAX);
    int r = write_file(draft, &text, &settings, shard, err);
    if (r >= 0)
        *ret_text = yyjson_mut_get_str(yyjson_mut_strcpy(draft->doc, text.text));
    strbuf_done(&text);
    settings_done(&settings);
    return r;
}
