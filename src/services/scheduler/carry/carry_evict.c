/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Evictions: the pod is deleted, with the grace that it asks for itself, as KAI does; disruption budgets have no say. Until
 * the cluster shows the pod leaving, or gone, it is kept as one that is.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "kube/client/condition.h"
#include "kube/client/verbs.h"
#include "model/delta.h"
#include "services/scheduler/carry/carry.h"
#include "services/scheduler/carry/carry_internal.h"
#include "services/scheduler/context.h"
#include "services/scheduler/report/report.h"

struct eviction *carry_eviction(const struct scheduler *s, object_key key)
{
    uint64_t value = 0;

    return map64_get(&s->evictions, key, &value) ? (struct eviction *)(uintptr_t)value : NULL;
}

static void eviction_free(struct eviction *eviction)
{
    (void)map64_remove(&eviction->s->evictions, eviction->key);
    free(eviction);
}

void carry_eviction_seen(struct scheduler *s, struct eviction *eviction)
{
    (void)s;
    eviction->is_seen = true;
    if (!eviction->call)
        eviction_free(eviction);
}

void carry_evictions_done(struct scheduler *s)
{
    uint64_t key, value;

    for (size_t cursor = 0; map64_next(&s->evictions, &cursor, &key, &value);) {
        struct eviction *eviction = (struct eviction *)(uintptr_t)value;

        kube_cancel(eviction->call);
        free(eviction);
    }
    map64_done(&s->evictions);
}

/* The pod stays after all. */
static void undo(struct eviction *eviction)
{
    struct scheduler *s = eviction->s;
    pod_id id = key_pod(s->state, eviction->key);

    if (id == NO_ID || s->state->pods.items[id].uid != eviction->uid ||
        s->state->pods.items[id].status != POD_RELEASING || s->state->pods.items[id].deleted != 0)
        return;
    const struct pod *pod = &s->state->pods.items[id];
    state_move_pod(s->state, id, eviction->status, pod->node, pod->groups);
    OBSERVE(s, on_moved, id);
    cycle_wake(s);
}

static void on_deleted(void *arg, const struct kube_answer *answer)
{
    struct eviction *eviction = arg;
    struct scheduler *s = eviction->s;
    bool is_gone = answer->status == 404 || answer->status == 409;
    const struct err *err = answer->err.code < 0 && !is_gone ? &answer->err : NULL;

    eviction->call = NULL;
    OBSERVE(s, on_carried_out, &eviction->decision, nsec_now_monotonic() - eviction->began, err);
    if (err) {
        pod_id id = key_pod(s->state, eviction->key);
        node_id node = id == NO_ID ? NO_ID : s->state->pods.items[id].node;
        nsec_t wait = node == NO_ID ? 0
                                    : setback_note(s, SETBACK_EVICT, eviction->key, s->state->nodes.items[node].name,
                                                   false, nsec_now_monotonic());
        log_warn(s->log, "eviction failed", log_str("namespace", key_namespace(s->state, eviction->key)),
                 log_str("pod", key_name(s->state, eviction->key)), log_duration("again_after", wait), log_error(err));
        undo(eviction);
    }
    if (err || eviction->is_seen)
        eviction_free(eviction);
}

static void send_delete(struct eviction *eviction)
{
    struct scheduler *s = eviction->s;

    eviction->call = kube_delete(s->client, &(struct kube_delete_request){
                                                .resource = kube_known(KUBE_PODS),
                                                .namespace = key_namespace(s->state, eviction->key),
                                                .name = key_name(s->state, eviction->key),
                                                .uid = state_name(s->state, eviction->uid),
                                                .grace_s = -1,
                                                .on_done = on_deleted,
                                                .arg = eviction,
                                            });
}

/* The condition is a courtesy: without it the pod is deleted all the same. */
static void on_marked(void *arg, const struct kube_answer *answer)
{
    (void)answer;
    send_delete(arg);
}

static void mark_disruption(struct eviction *eviction, const char *text)
{
    struct scheduler *s = eviction->s;
    yyjson_mut_doc *doc = kube_condition_patch(
        &(struct kube_condition){
            .type = "DisruptionTarget",
            .status = "True",
            .reason = "PreemptionByScheduler",
            .message = text,
        },
        nsec_now_wall());
    eviction->call = kube_send_doc(s->client,
                                   &(struct kube_request){
                                       .verb = KUBE_PATCH_STRATEGIC,
                                       .resource = kube_known(KUBE_PODS),
                                       .namespace = key_namespace(s->state, eviction->key),
                                       .name = key_name(s->state, eviction->key),
                                       .subresource = "status",
                                       .is_repeatable = true,
                                       .on_done = on_marked,
                                       .arg = eviction,
                                   },
                                   doc);
    yyjson_mut_doc_free(doc);
}

static void tell_gang(struct scheduler *s, const struct decision *decision, const char *text, size_t count)
{
    const struct pod *pod = &s->state->pods.items[decision->pod];
    char number[24];
    struct event_note notes[4] = {
        {"num-evicted-pods", number},
        {"evictor-action-type", action_name(decision->action)},
    };
    size_t note_count = 2;

    if (pod->gang == NO_ID)
        return;
    (void)snprintf(number, sizeof number, "%zu", count);
    if (decision->on_behalf != NO_ID) {
        const struct gang *evictor = &s->state->gangs.items[decision->on_behalf];

        notes[note_count++] = (struct event_note){"evictor-pod-group-name", state_name(s->state, evictor->name)};
        notes[note_count++] =
            (struct event_note){"evictor-pod-group-namespace", state_name(s->state, evictor->namespace)};
    }
    report_gang_event(s, pod->gang, "Evict", text, notes, note_count);
}

void carry_evict(struct scheduler *s, const struct decision *decision, const char *text, size_t count)
{
    const struct pod *pod = &s->state->pods.items[decision->pod];
    object_key key = key_of(pod->namespace, pod->name);
    struct eviction *eviction = carry_eviction(s, key);

    if (pod->deleted != 0 || eviction)
        return;
    eviction = xcalloc(1, sizeof *eviction);
    *eviction = (struct eviction){
        .s = s,
        .key = key,
        .uid = pod->uid,
        .status = POD_RUNNING,
        .decision = *decision,
        .began = nsec_now_monotonic(),
    };
    map64_put(&s->evictions, key, (uint64_t)(uintptr_t)eviction);
    tell_gang(s, decision, text, count);
    if (s->flags->update_pod_eviction_condition)
        mark_disruption(eviction, text);
    else
        send_delete(eviction);
}
