/* SPDX-License-Identifier: Apache-2.0 */

/* What the grouper follows: the pods of its scheduler, pod groups, priority classes, and what its flags name. */
#include <string.h>

#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "kube/follow/follow.h"
#include "services/grouper/getter.h"
#include "services/grouper/grouper_internal.h"

static bool is_synced(const struct grouper *grouper)
{
    return grouper->pods && follower_is_synced(grouper->pods) && follower_is_synced(grouper->pod_groups) &&
           follower_is_synced(grouper->priority_classes) &&
           (!grouper->namespaces || follower_is_synced(grouper->namespaces)) &&
           (!grouper->defaults || follower_is_synced(grouper->defaults));
}

bool follow_is_current(const struct grouper *grouper)
{
    return is_synced(grouper) && !grouper->pause.is_paused;
}

static bool is_cut(const struct follower *follower)
{
    return follower && follower_standing(follower) != FOLLOW_CURRENT;
}

static bool is_behind(void *arg)
{
    const struct grouper *grouper = arg;

    return is_synced(grouper) &&
           (is_cut(grouper->pods) || is_cut(grouper->pod_groups) || is_cut(grouper->priority_classes) ||
            is_cut(grouper->namespaces) || is_cut(grouper->defaults));
}

static void on_pause(void *arg, bool is_paused)
{
    struct grouper *grouper = arg;

    if (is_paused)
        return;
    /* A server that was starting may have refused what it grants now. */
    getter_forget_failures(grouper->getter);
    loop_task_queue(&grouper->pump);
}

static void on_standing(void *arg, enum follow_standing standing)
{
    struct grouper *grouper = arg;

    if (standing == FOLLOW_CUT && is_synced(grouper) && !grouper->pause.is_paused)
        log_info(grouper->service->log, "a watch is interrupted; grouping pauses until it resumes");
    follow_pause_look(&grouper->pause);
}

static void follow_none(struct grouper *grouper)
{
    follower_free(TAKE_PTR(grouper->pods));
    follower_free(TAKE_PTR(grouper->pod_groups));
    follower_free(TAKE_PTR(grouper->priority_classes));
    follower_free(TAKE_PTR(grouper->namespaces));
    follower_free(TAKE_PTR(grouper->defaults));
}

/* As after a start: nothing that was known counts any more, not even what the server has confirmed. */
static void renew(void *arg)
{
    struct grouper *grouper = arg;

    service_set_ready(grouper->service, false);
    follow_none(grouper);
    queue_done(grouper);
    known_done(&grouper->known);
    known_init(&grouper->known);
    queue_init(grouper);
    follow_pause_clear(&grouper->pause);
    follow_all(grouper);
}

static void on_older(void *arg, const char *seen, const char *now)
{
    struct grouper *grouper = arg;

    log_fail(grouper->service->log,
             "the API server shows an older state than before: it was restored from a backup, or a cache is stale; "
             "all objects are listed again",
             log_str("seen", seen), log_str("now", now));
    if (!loop_timer_is_running(&grouper->renewal))
        loop_timer_start(&grouper->renewal, 0);
}

void follow_init(struct grouper *grouper)
{
    grouper->pause = (struct follow_pause){.is_behind = is_behind, .on_change = on_pause, .arg = grouper};
    follow_pause_init(&grouper->pause, grouper->service->loop);
    loop_timer_init(&grouper->renewal, grouper->service->loop, renew, grouper);
}

void follow_done(struct grouper *grouper)
{
    follow_none(grouper);
    follow_pause_done(&grouper->pause);
    loop_timer_done(&grouper->renewal);
}

static void follow_pods(struct grouper *grouper);

static void on_synced(void *arg, bool is_first)
{
    struct grouper *grouper = arg;

    if (!grouper->pods && follower_is_synced(grouper->pod_groups))
        follow_pods(grouper);
    if (!is_first || !is_synced(grouper))
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
    options.on_standing = on_standing;
    options.on_older = on_older;
    options.arg = grouper;
    return follower_new(grouper->service->client, &options);
}

/* After the groups, so that pods whose group has got lost are known at once. */
static void follow_pods(struct grouper *grouper)
{
    const struct grouper_flags *flags = grouper->flags;
    struct strbuf fields, labels;

    strbuf_init(&fields, 4096);
    strbuf_init(&labels, 64 << 10);
    strbuf_addf(&fields, "spec.schedulerName=%s", flags->scheduler_name);
    add_selector(&labels, &flags->pod_selector);
    grouper->pods = follow(grouper, (struct follow_options){.resource = kube_known(KUBE_PODS),
                                                            .field_selector = fields.text,
                                                            .label_selector = labels.len ? labels.text : NULL,
                                                            .on_event = on_pod});
    strbuf_done(&fields);
    strbuf_done(&labels);
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
    strbuf_done(&fields);
    strbuf_done(&labels);
}
