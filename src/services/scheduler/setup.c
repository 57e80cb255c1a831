/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "cluster/cluster_config.h"
#include "objects/fields.h"
#include "objects/notes.h"
#include "services/scheduler/flags.h"
#include "text/file.h"
#include "text/yaml.h"

enum { CONFIG_BYTES_MAX = 16 << 20 };

/* Parts of plugins that KAI's file can switch off. KAI v0.17 reads them and does nothing else with them, as we do. */
static const char *const switches[] = {
    "disableJobOrder",   "disableTaskOrder", "disablePreemptable", "disableReclaimable",
    "disableQueueOrder", "disablePredicate", "disableNodeOrder",
};

static int read_switches(const struct json_at *plugin, struct log *log, struct err *err)
{
    const char *name = json_peek_str(plugin, "name");

    for (size_t i = 0; i < ARRAY_LEN(switches); i++) {
        bool is_off = false;
        int r = json_member_bool(plugin, switches[i], JSON_OPTIONAL, &is_off, err);

        if (r < 0)
            return r;
        if (is_off)
            log_warn(log, "configuration: the switch has no effect, as in KAI v0.17; leave the plugin out instead",
                     log_str("plugin", name ? name : ""), log_str("switch", switches[i]));
    }
    return 0;
}

static int read_all_switches(const struct json_at *root, struct log *log, struct err *err)
{
    struct json_at tiers = json_member(root, "tiers");
    int r = 0;

    for (struct json_at tier = {0}; r >= 0 && json_next(&tiers, &tier);) {
        struct json_at plugins = json_member(&tier, "plugins");

        for (struct json_at plugin = {0}; r >= 0 && json_next(&plugins, &plugin);)
            r = read_switches(&plugin, log, err);
    }
    return r;
}

/* KAI's file, in which `bindRequests` is ours. */
static int decode_file(struct setup *setup, const struct json_at *root, struct log *log, struct err *err)
{
    const struct json_at nothing = {0};
    const char *requests = NULL;
    int r = json_object(root, err);

    if (r >= 0)
        r = json_member_str(root, "bindRequests", JSON_OPTIONAL, &requests, err);
    if (r < 0)
        return r;
    if (requests && strcmp(requests, "always") != 0 && strcmp(requests, "auto") != 0)
        return err_set(err, -EINVAL, "bindRequests: expected auto or always, found '%s'", requests);
    setup->always_requests |= requests && strcmp(requests, "always") == 0;
    r = settings_decode_snapshot(&setup->settings, root, &nothing, err);
    return r < 0 ? r : read_all_switches(root, log, err);
}

/* `from` says in errors where the text is from. */
static int read_text(struct setup *setup, const char *text, size_t len, const char *from, struct log *log,
                     struct err *err)
{
    struct yaml_docs docs = {0};

    int r = yaml_parse(text, len, from, &docs, err);
    if (r >= 0 && docs.len > 1)
        r = err_set(err, -EINVAL, "%s: expected one document, found %u", from, docs.len);
    if (r >= 0 && docs.len == 1) {
        struct json_at root = json_root(docs.items[0].json);

        r = decode_file(setup, &root, log, err);
        if (r < 0)
            (void)err_wrap(err, r, "%s", from);
    }
    yaml_docs_done(&docs);
    return r;
}

static int read_file(struct setup *setup, const char *path, struct log *log, struct err *err)
{
    char *text = NULL;
    size_t len = 0;

    int r = file_read(path, CONFIG_BYTES_MAX, &text, &len, err);
    if (r < 0)
        return r;
    r = read_text(setup, text, len, path, log, err);
    free(text);
    return r;
}

static void take_flags(struct setup *setup)
{
    const struct scheduler_flags *flags = setup->flags;
    struct settings *settings = &setup->settings;

    settings->objects.scheduler_name = flags->scheduler_name;
    settings->objects.queue_label = flags->queue_label_key;
    settings->objects.node_pool_label = flags->nodepool_label_key;
    settings->objects.mig_label = flags->mig_worker_label_key;
    settings->objects.cpu_worker_label = flags->cpu_worker_label_key;
    settings->objects.gpu_worker_label = flags->gpu_worker_label_key;
    settings->objects.reservation_app = flags->reservation_app_label;
    settings->objects.has_partition = *flags->nodepool_label_key != '\0';
    settings->objects.partition = flags->partition_label_value;
    settings->has_full_hierarchy = flags->full_hierarchy_fairness;
    settings->objects.restricts_nodes = flags->restrict_node_scheduling;
    settings->uses_signatures = flags->use_scheduling_signatures;
    settings->allows_consolidating_reclaim = flags->allow_consolidating_reclaim;
    settings->max_consolidation_preemptees = flags->max_consolidation_preemptees;
    settings->staleness_grace = flags->staleness_grace;
    settings->objects.stuck_threshold = flags->stuck_threshold;
}

static int build(struct setup *setup, struct log *log, struct err *err)
{
    const struct scheduler_flags *flags = setup->flags;
    struct object_notes notes;
    int r = 0;

    take_flags(setup);
    if (*flags->scheduler_conf && *flags->scheduler_conf_text)
        r = err_set(err, -EINVAL, "--scheduler-conf and --scheduler-conf-text: only one of them can be given");
    else if (*flags->scheduler_conf)
        r = read_file(setup, flags->scheduler_conf, log, err);
    else if (*flags->scheduler_conf_text)
        r = read_text(setup, flags->scheduler_conf_text, strlen(flags->scheduler_conf_text), "--scheduler-conf-text",
                      log, err);
    if (r < 0)
        return r;
    settings_sort(&setup->settings);
    object_notes_init(&notes);
    r = cluster_config(&setup->settings, &setup->config, &notes, err);
    vec_foreach (&notes.warnings, warning)
        log_warn(log, "configuration", log_str("problem", *warning));
    object_notes_done(&notes);
    if (r < 0)
        return *flags->scheduler_conf ? err_wrap(err, r, "%s", flags->scheduler_conf) : r;
    settings_to_options(&setup->settings, &setup->options);
    setup->options.is_whole = true;
    setup->pool_name = setup->options.has_partition && *setup->options.partition ? setup->options.partition : "default";
    return 0;
}

int setup_init(struct setup *setup, const struct scheduler_flags *flags, struct log *log, struct err *err)
{
    if (strcmp(flags->bind_requests, "auto") != 0 && strcmp(flags->bind_requests, "always") != 0)
        return err_set(err, -EINVAL, "--bind-requests: '%s' is neither auto nor always", flags->bind_requests);
    *setup = (struct setup){.flags = flags, .always_requests = strcmp(flags->bind_requests, "always") == 0};
    settings_init(&setup->settings);
    int r = build(setup, log, err);
    if (r < 0)
        setup_done(setup);
    return r;
}

void setup_done(struct setup *setup)
{
    settings_done(&setup->settings);
}

const char *setup_pool_selector(const struct object_options *options, struct strbuf *text)
{
    strbuf_clear(text);
    if (!options->has_partition)
        return NULL;
    if (*options->partition)
        strbuf_addf(text, "%s=%s", options->node_pool_label, options->partition);
    else
        strbuf_addf(text, "!%s", options->node_pool_label);
    return text->text;
}
