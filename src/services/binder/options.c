/* SPDX-License-Identifier: Apache-2.0 */
#include "services/binder/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "text/json.h"

/* A plugin, and the argument that it cannot do without. */
static const struct {
    const char *name;
    int64_t priority;
    bool is_enabled;
    const char *argument;  // NULL: none
} plugins[] = {
    [BINDER_PLUGIN_VOLUMES] = {"volumebinding", 300, true, "bindTimeoutSeconds"},
    [BINDER_PLUGIN_CLAIMS] = {"dynamicresources", 200, true, "bindTimeoutSeconds"},
    [BINDER_PLUGIN_SHARING] = {"gpusharing", 100, true, "cdiEnabled"},
    [BINDER_PLUGIN_HAMI] = {"hamicore", 50, false, NULL},
};
_Static_assert(ARRAY_LEN(plugins) == _BINDER_PLUGIN_MAX, "every plugin has a row");

enum { SECONDS_DEFAULT = 120, SECONDS_MAX = 86400 };

const char *binder_plugin_name(enum binder_plugin plugin)
{
    return plugins[plugin].name;
}

static int argument_parse(struct plugin_options *options, enum binder_plugin plugin, const struct json_at *arguments,
                          struct err *err)
{
    const char *text = NULL;
    char *end;

    if (!plugins[plugin].argument)
        return 0;
    int r = json_member_str(arguments, plugins[plugin].argument, JSON_REQUIRED, &text, err);
    if (r < 0)
        return r;
    if (plugin == BINDER_PLUGIN_SHARING) {
        options->is_cdi = strcmp(text, "true") == 0;
        if (options->is_cdi || strcmp(text, "false") == 0)
            return 0;
        return json_fail(arguments, err, -EINVAL, "%s: expected 'true' or 'false', found '%s'",
                         plugins[plugin].argument, text);
    }
    long seconds = strtol(text, &end, 10);
    if (end == text || *end || seconds < 1 || seconds > SECONDS_MAX)
        return json_fail(arguments, err, -EINVAL, "%s: expected seconds from 1 to %d, found '%s'",
                         plugins[plugin].argument, SECONDS_MAX, text);
    *(plugin == BINDER_PLUGIN_VOLUMES ? &options->volume_timeout : &options->claim_timeout) = seconds * NSEC_PER_SEC;
    return 0;
}

static int row_parse(struct plugin_options *options, const struct json_at *row, struct err *err)
{
    struct json_at arguments = {0};
    bool is_enabled = true;
    size_t plugin = 0;

    if (json_object(row, err) < 0 || json_member_bool(row, "enabled", JSON_OPTIONAL, &is_enabled, err) < 0)
        return -EINVAL;
    while (plugin < _BINDER_PLUGIN_MAX && strcmp(plugins[plugin].name, row->key) != 0)
        plugin++;
    if (plugin == _BINDER_PLUGIN_MAX) {
        if (!is_enabled)
            return 0;
        return json_fail(row, err, -EINVAL, "unknown plugin; disable or remove it");
    }
    options->is_enabled[plugin] = is_enabled;
    if (json_member_int64(row, "priority", JSON_OPTIONAL, INT32_MIN, INT32_MAX, &options->priority[plugin], err) < 0 ||
        json_member_object(row, "arguments", JSON_OPTIONAL, &arguments, err) < 0)
        return -EINVAL;
    if (!is_enabled || !plugins[plugin].argument)
        return 0;
    if (!arguments.val)
        return json_fail(row, err, -EINVAL, "arguments.%s is missing", plugins[plugin].argument);
    return argument_parse(options, (enum binder_plugin)plugin, &arguments, err);
}

static bool goes_before(const struct plugin_options *options, enum binder_plugin a, enum binder_plugin b)
{
    if (options->priority[a] != options->priority[b])
        return options->priority[a] > options->priority[b];
    return strcmp(plugins[a].name, plugins[b].name) < 0;
}

static void sort_plugins(struct plugin_options *options)
{
    for (size_t plugin = 0; plugin < _BINDER_PLUGIN_MAX; plugin++) {
        size_t at = options->count;

        if (!options->is_enabled[plugin])
            continue;
        for (; at > 0 && goes_before(options, (enum binder_plugin)plugin, options->order[at - 1]); at--)
            options->order[at] = options->order[at - 1];
        options->order[at] = (enum binder_plugin)plugin;
        options->count++;
    }
}

int plugin_options_parse(const char *json, struct plugin_options *ret_options, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct plugin_options options = {.volume_timeout = SECONDS_DEFAULT * NSEC_PER_SEC,
                                     .claim_timeout = SECONDS_DEFAULT * NSEC_PER_SEC};

    if (json[0] && json_parse(json, strlen(json), "plugins", &doc, err) < 0)
        return -EINVAL;
    for (size_t i = 0; i < _BINDER_PLUGIN_MAX; i++) {
        options.is_enabled[i] = plugins[i].is_enabled;
        options.priority[i] = plugins[i].priority;
    }
    struct json_at root = doc ? json_root(doc) : (struct json_at){0};

    if (doc && json_object(&root, err) < 0)
        return err_wrap(err, -EINVAL, "plugins");
    for (struct json_at row = {0}; json_next(&root, &row);)
        if (row_parse(&options, &row, err) < 0)
            return err_wrap(err, -EINVAL, "plugins");
    if (options.is_enabled[BINDER_PLUGIN_HAMI] &&
        (!options.is_enabled[BINDER_PLUGIN_SHARING] ||
         options.priority[BINDER_PLUGIN_SHARING] <= options.priority[BINDER_PLUGIN_HAMI]))
        return err_set(err, -EINVAL, "plugins: hamicore needs gpusharing, enabled and with a higher priority");
    sort_plugins(&options);
    *ret_options = options;
    return 0;
}
