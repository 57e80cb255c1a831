/* SPDX-License-Identifier: Apache-2.0 */

/* What the grouper follows: the pods of its scheduler, pod groups, priority classes, and what its flags name. */
#include <string.h>

#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "kube/follow/follow.h"
#include "services/grouper/grouper_internal.h"

bool follow_is_synced(const struct grouper *grouper)
{
    return follower_is_synced(grouper->pods) && follower_is_synced(grouper->pod_groups) &&
           follower_is_synced(grouper->priority_classes) &&
           (!grouper->namespaces || follower_is_synced(grouper->namespaces)) &&
           (!grouper->defaults || follower_is_synced(grouper->defaults));
}

static void on_synced(void *arg, bool is_first)
{
    struct grouper *grouper = arg;

    if (!is_first || !follow_is_synced(grouper))
        return;
    log_info(grouper->service->log, "synced", log_int("pods", (int64_t)follower_len(grouper->pods)),
             log_int("pod_groups", (int64_t)follower_len(grouper->pod_groups)));
    service_set_ready(grouper->service, true);
    loop_task_queue(&grouper->pump);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    struct grouper *grouper = arg;

    service_follow_problem(grouper->service, "objects", err, wait);
}

static void on_pod(void *arg, const struct follow_event *event)
{
    struct grouper *grouper = arg;

    if (event->change == FOLLOW_DELETED)
        queue_drop(grouper, event->uid);
    else if (!grouper->namespaces || map64_get(&grouper->known.namespaces, known_key("", event->namespace), NULL))
        queue_add(grouper, event->uid, event->object);
}

static void on_pod_group(void *arg, const struct follow_event *event)
{
    struct grouper *grouper = arg;

    if (event->change == FOLLOW_DELETED)
        known_drop_group(&grouper->known, event->namespace, event->name);
    else
        known_add_group(&grouper->known, event->namespace, event->name, event->object);
}

static void note_name(struct map64 *names, const struct follow_event *event)
{
    uint64_t key = known_key("", event->name);

    if (event->change == FOLLOW_DELETED)
        (void)map64_remove(names, key);
    else
        map64_put(names, key, 1);
}

static void on_priority_class(void *arg, const struct follow_event *event)
{
    note_name(&((struct grouper *)arg)->known.priority_classes, event);
}

static void on_namespace(void *arg, const struct follow_event *event)
{
    note_name(&((struct grouper *)arg)->known.namespaces, event);
}

static void on_defaults(void *arg, const struct follow_event *event)
{
    struct grouper *grouper = arg;
    const char *text = event->object ? kube_text(event->object, "data", "types") : "";
    struct err err;

    if (event->change == FOLLOW_DELETED)
        text = "";
    if (known_set_defaults(&grouper->known, *text ? text : NULL, &err) < 0)
        log_warn(grouper->service->log, "default priorities could not be read; keeping the last ones",
                 log_str("config_map", event->name), log_error(&err));
}

/* "a=b,c=d", as a label selector is written. */
static void add_selector(struct strbuf *text, const struct flag_pairs *pairs)
{
    vec_foreach (pairs, pair)
        strbuf_addf(text, "%s%s=%s", text->len ? "," : "", pair->key, pair->value);
}

static struct follower *follow(struct grouper *grouper, struct follow_options options)
{
    options.on_synced = on_synced;
    options.on_problem = on_problem;
    options.arg = grouper;
    return follower_new(grouper->service->client, &options);
}

void follow_all(struct grouper *grouper)
{
    const struct grouper_flags *flags = grouper->flags;
    struct strbuf fields, labels;

    strbuf_init(&fields, 4096);
    strbuf_init(&labels, 64 << 10);
    if (flags->namespace_selector.len) {
        add_selector(&labels, &flags->namespace_selector);
        grouper->namespaces = follow(grouper, (struct follow_options){.resource = kube_known(KUBE_NAMESPACES),
                                                                      .label_selector = labels.text,
                                                                      .is_metadata_only = true,
                                                                      .on_event = on_namespace});
        strbuf_clear(&labels);
    }
    if (*flags->defaults_name) {
        strbuf_addf(&fields, "metadata.name=%s", flags->defaults_name);
        grouper->defaults = follow(grouper, (struct follow_options){.resource = kube_known(KUBE_CONFIG_MAPS),
                                                                    .namespace = flags->defaults_namespace,
                                                                    .field_selector = fields.text,
                                                                    .on_event = on_defaults});
        strbuf_clear(&fields);
    }
    grouper->priority_classes = follow(grouper, (struct follow_options){.resource = kube_known(KUBE_PRIORITY_CLASSES),
                                                                        .is_metadata_only = true,
                                                                        .on_event = on_priority_class});
    grouper->pod_groups =
        follow(grouper, (struct follow_options){.resource = kube_known(KUBE_POD_GROUPS), .on_event = on_pod_group});
    strbuf_addf(&fields, "spec.schedulerName=%s", flags->scheduler_name);
    add_selector(&labels, &flags->pod_selector);
    grouper->pods = follow(grouper, (struct follow_options){.resource = kube_known(KUBE_PODS),
                                                            .field_selector = fields.text,
                                                            .label_selector = labels.len ? labels.text : NULL,
                                                            .on_event = on_pod});
    strbuf_done(&fields);
    strbuf_done(&labels);
}

void follow_none(struct grouper *grouper)
{
    follower_free(grouper->pods);
    follower_free(grouper->pod_groups);
    follower_free(grouper->priority_classes);
    follower_free(grouper->namespaces);
    follower_free(grouper->defaults);
}
