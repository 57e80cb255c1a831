/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "engine/engine.h"
#include "engine/reasons/explain.h"
#include "kube/client/condition.h"
#include "kube/client/meta.h"
#include "services/scheduler/carry/writes.h"
#include "services/scheduler/flags.h"
#include "services/scheduler/pod_notes.h"
#include "services/scheduler/report/gang_notes.h"
#include "services/scheduler/report/report_internal.h"
#include "services/scheduler/setup.h"
#include "words/verdict_text.h"

/* A verdict is told again after so long; a new one of the same gang not before. */
#define TOLD_AGAIN (5 * NSEC_PER_MIN)
#define TOLD_SOONEST NSEC_PER_SEC
#define MISSING_FOR (500 * NSEC_PER_MSEC)

/* For explaining in one cycle: it is for people, and they can wait for a few more cycles. */
#define EXPLAIN_TIME (5 * NSEC_PER_MSEC)

#define NOT_READY "NotReady"

enum { TEXT_MAX = 16 * 1024, NODE_NAME_MAX = 253 };

struct report *report_new(const struct report_options *options)
{
    struct report *report = xcalloc(1, sizeof *report);

    *report = (struct report){
        .state = options->state,
        .engine = options->engine,
        .setup = options->setup,
        .recorder = options->recorder,
        .writes = options->writes,
        .pod_notes = options->pod_notes,
        .gang_notes = options->gang_notes,
        .pace = options->pace,
        .traffic = options->traffic,
    };
    report_events_init(report, options->loop);
    return report;
}

void report_free(struct report *report)
{
    uint64_t key, value;

    if (!report)
        return;
    report_events_done(report);
    for (size_t cursor = 0; map64_next(&report->told, &cursor, &key, &value);)
        free((struct told *)(uintptr_t)value);
    map64_done(&report->told);
    free(report);
}

static uint64_t hash_number(uint64_t hash, double number)
{
    return hash_bytes(&number, sizeof number, hash);
}

/* What of a verdict makes another text. */
static uint64_t verdict_hash(const struct gang *gang, const struct verdict *verdict)
{
    uint64_t hash = 0;

    hash = hash_number(hash, verdict->code);
    hash = hash_number(hash, verdict->pod);
    hash = hash_number(hash, verdict->placed);
    hash = hash_number(hash, verdict->queue);
    hash = hash_number(hash, verdict->resource);
    hash = hash_number(hash, verdict->bound);
    hash = hash_number(hash, (double)verdict->until);
    return hash_number(hash, gang->pending);
}

static struct told *told_put(struct report *report, object_key key)
{
    uint64_t value = 0;

    if (map64_get(&report->told, key, &value))
        return (struct told *)(uintptr_t)value;
    struct told *told = xcalloc(1, sizeof *told);
    map64_put(&report->told, key, (uint64_t)(uintptr_t)told);
    return told;
}

void report_forget(struct report *report, object_key gang)
{
    uint64_t value = 0;

    if (!map64_get(&report->told, gang, &value))
        return;
    free((struct told *)(uintptr_t)value);
    (void)map64_remove(&report->told, gang);
}

/* Autoscalers add nodes for pods that are Unschedulable; where a queue stands in the way, that does not help. */
static const char *pod_reason(const struct report *report, const struct explanation *explanation)
{
    enum verdict_code code = explanation->tried.code;

    if (!report->setup->flags->cluster_autoscaling)
        return "Unschedulable";
    if (explanation->verdict.code == VERDICT_NO_QUEUE || explanation->verdict.code == VERDICT_QUEUE_NOT_LEAF)
        code = explanation->verdict.code;
    return code == VERDICT_OVER_LIMIT || code == VERDICT_OVER_QUOTA || code == VERDICT_NO_QUEUE ||
                   code == VERDICT_QUEUE_NOT_LEAF
               ? report_reason_of(code)
               : "Unschedulable";
}

/* Every waiting pod hears why. */
static void tell_pods(struct report *report, const struct gang *gang, const struct verdict_text *text, bool marks_pods)
{
    const char *reason = pod_reason(report, text->explanation);
    struct strbuf message;

    strbuf_init(&message, TEXT_MAX);
    for (uint32_t g = 0; g < gang->group_count; g++) {
        vec_foreach (&gang->groups[g].pods, id) {
            const struct pod *pod = &report->state->pods.items[*id];
            object_key key = key_of(pod->namespace, pod->name);

            if (pod->status != POD_PENDING)
                continue;
            strbuf_clear(&message);
            verdict_text_pod(text, *id, &message);
            report_pod_event(report, key, pod->uid, "Warning", "Unschedulable", message.text);
            if (marks_pods)
                report_condition(report, key, reason, message.text);
        }
    }
    strbuf_done(&message);
}

static void tell_unschedulable(struct report *report, gang_id id)
{
    const struct gang *gang = &report->state->gangs.items[id];
    const struct gang_note *note = gang_note_find(report->gang_notes, key_of(gang->namespace, gang->name));
    struct explanation explanation;
    struct strbuf message;
    struct verdict_text text = {
        .engine = report->engine,
        .explanation = &explanation,
        .node_pool = report->setup->pool_name,
        .names_pool = note && note->names_pool,
        .is_detailed = report->setup->flags->detailed_fit_errors,
    };

    explain(report->engine, id, &explanation);
    strbuf_init(&message, TEXT_MAX);
    tell_pods(report, gang, &text, !note || note->marks_pods);
    verdict_text_gang(&text, &message);
    report_gang_event(report, id, "Unschedulable", message.text, NULL, 0);
    if (note && gang->active_allocated == 0)
        report_gang_condition(report, id, &explanation, message.text);
    strbuf_done(&message);
    explanation_done(&explanation);
}

/* Nodes would not help pods whose gang is not complete: their reason is not one that autoscalers act on. */
static void tell_pods_not_ready(struct report *report, const struct gang *gang, const char *message)
{
    const struct gang_note *note = gang_note_find(report->gang_notes, key_of(gang->namespace, gang->name));

    for (uint32_t g = 0; g < gang->group_count; g++) {
        vec_foreach (&gang->groups[g].pods, id) {
            const struct pod *pod = &report->state->pods.items[*id];
            object_key key = key_of(pod->namespace, pod->name);

            if (pod->status != POD_PENDING)
                continue;
            report_pod_event(report, key, pod->uid, "Normal", NOT_READY, message);
            if (!note || note->marks_pods)
                report_condition(report, key, NOT_READY, message);
        }
    }
}

static void tell_not_ready(struct report *report, gang_id id)
{
    struct strbuf message;

    strbuf_init(&message, TEXT_MAX);
    verdict_text_not_ready(report->engine, id, &message);
    report_gang_event(report, id, NOT_READY, message.text, NULL, 0);
    tell_pods_not_ready(report, &report->state->gangs.items[id], message.text);
    strbuf_done(&message);
}

/* Objects that are made together come one after the other: that some are missing is news only if it stays so. */
static bool is_about_missing(enum verdict_code code)
{
    return code == VERDICT_NOT_READY || code == VERDICT_NO_QUEUE || code == VERDICT_NO_TOPOLOGY ||
           code == VERDICT_MISSING_VOLUME || code == VERDICT_MISSING_CONFIG_MAP || code == VERDICT_MISSING_CLAIM;
}

/* Whether something is due to be told about the gang. */
static bool is_due(struct report *report, const struct gang *gang, const struct verdict *verdict, nsec_t now,
                   struct told **ret_told, uint64_t *ret_hash)
{
    struct told *told = told_put(report, key_of(gang->namespace, gang->name));

    *ret_told = told;
    *ret_hash = verdict_hash(gang, verdict);
    if (told->since == 0)
        told->since = now;
    if (is_about_missing(verdict->code) && now - told->since < MISSING_FOR)
        return false;
    if (told->at == 0)
        return true;
    return now - told->at >= (told->hash == *ret_hash ? TOLD_AGAIN : TOLD_SOONEST);
}

bool report_waiting(struct report *report, nsec_t now)
{
    nsec_t began = nsec_now_monotonic();
    bool has_explained = false;

    vec_foreach (&report->state->pending_gangs.ids, id) {
        const struct gang *gang = &report->state->gangs.items[*id];
        struct verdict verdict = engine_verdict(report->engine, *id);
        struct told *told;
        uint64_t hash;

        if (gang->pending == 0 || verdict.code == VERDICT_NONE || verdict.code == VERDICT_PROMISED ||
            !is_due(report, gang, &verdict, now, &told, &hash))
            continue;
        if (has_explained && nsec_now_monotonic() - began > EXPLAIN_TIME)
            return true;
        has_explained = true;
        told->hash = hash;
        told->at = now;
        if (verdict.code == VERDICT_NOT_READY)
            tell_not_ready(report, *id);
        else
            tell_unschedulable(report, *id);
    }
    return false;
}

void report_forget_pod(struct report *report, object_key pod)
{
    struct pod_note *note = pod_note_find(report->pod_notes, pod);

    writes_cancel(report->writes, WRITE_POD_CONDITION, pod);
    if (!note)
        return;
    note->condition = 0;
    note->promised = 0;
    pod_note_settle(report->pod_notes, note);
}

void report_promise(struct report *report, const struct decision *decision, const char *text)
{
    const struct pod *pod = &report->state->pods.items[decision->pod];
    object_key key = key_of(pod->namespace, pod->name);
    name_id node = report->state->nodes.items[decision->node].name;
    struct pod_note *note = pod_note_put(report->pod_notes, key);

    if (note->promised == node)
        return;
    note->promised = node;
    report_pod_event(report, key, pod->uid, "Normal", "Pipelined", text);
}

static void set_condition(struct report *report, object_key pod, uint64_t hash)
{
    struct pod_note *note = hash != 0 ? pod_note_put(report->pod_notes, pod) : pod_note_find(report->pod_notes, pod);

    if (!note)
        return;
    note->condition = hash;
    pod_note_settle(report->pod_notes, note);
}

void report_note_condition(struct report *report, object_key pod, yyjson_val *object)
{
    yyjson_val *conditions = yyjson_obj_get(yyjson_obj_get(object, "status"), "conditions");
    uint64_t hash = 0;
    size_t i, count;
    yyjson_val *condition;

    if (writes_has(report->writes, WRITE_POD_CONDITION, pod))
        return;
    yyjson_arr_foreach(conditions, i, count, condition)
    {
        if (strcmp(kube_text(condition, "type"), "PodScheduled") == 0 &&
            strcmp(kube_text(condition, "status"), "False") == 0)
            hash = scheduling_condition_hash(kube_text(condition, "reason"), kube_text(condition, "message"));
    }
    set_condition(report, pod, hash);
}

/* Writes a condition of the pod. `write` says which write it is and what follows a failure. */
static void write_condition(struct report *report, object_key pod, const struct kube_condition *condition,
                            struct write write)
{
    yyjson_mut_doc *doc = kube_condition_patch(condition, nsec_now_wall());

    write.key = pod;
    write.verb = KUBE_PATCH_STRATEGIC;
    write.resource = kube_known(KUBE_PODS);
    write.subresource = "status";
    write.doc = doc;
    writes_put(report->writes, &write);
    yyjson_mut_doc_free(doc);
}

/* What the binder writes about pods that it binds; tools wait for it. */
static void mark_bound(struct report *report, object_key pod, name_id uid, const char *node)
{
    char message[NODE_NAME_MAX + 64];

    (void)snprintf(message, sizeof message, "Pod bound successfully to node %s", node);
    report_pod_event(report, pod, uid, "Normal", "Bound", message);
    write_condition(report, pod,
                    &(struct kube_condition){
                        .uid = state_name(report->state, uid),
                        .type = "PodBound",
                        .status = "True",
                        .reason = "Bound",
                        .message = message,
                    },
                    (struct write){.kind = WRITE_POD_BOUND});
}

void report_bound(struct report *report, object_key pod, name_id uid, const char *text, const char *node)
{
    report_pod_event(report, pod, uid, "Normal", "Scheduled", text);
    if (report->setup->flags->marks_bound_pods)
        mark_bound(report, pod, uid, node);
}

/* It is to be written again when it comes up. */
static void on_condition_failed(void *arg, object_key pod)
{
    set_condition(arg, pod, 0);
}

void report_condition(struct report *report, object_key pod, const char *reason, const char *message)
{
    uint64_t hash = scheduling_condition_hash(reason, message);
    const struct pod_note *note = pod_note_find(report->pod_notes, pod);

    if (note && note->condition == hash)
        return;
    set_condition(report, pod, hash);
    write_condition(report, pod,
                    &(struct kube_condition){
                        .type = "PodScheduled",
                        .status = "False",
                        .reason = reason,
                        .message = message,
                    },
                    (struct write){.kind = WRITE_POD_CONDITION, .on_failed = on_condition_failed, .arg = report});
}
