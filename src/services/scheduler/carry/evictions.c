/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Evictions: the pod is deleted, with the grace that it asks for itself, as KAI does; disruption budgets have no say. Until
 * the cluster shows the pod leaving, or gone, it is kept as one that is.
 */
#include "services/scheduler/carry/evictions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "kube/client/condition.h"
#include "kube/client/verbs.h"
#include "kube/events/events.h"
#include "model/delta.h"
#include "services/scheduler/carry/setbacks.h"
#include "services/scheduler/flags.h"
#include "services/scheduler/observe/observer.h"
#include "services/scheduler/pace.h"
#include "services/scheduler/pod_notes.h"
#include "services/scheduler/report/report.h"
#include "services/scheduler/setup.h"

/* A pod that was asked to leave. */
struct eviction {
    struct evictions *evictions;
    struct list_link in_all;
    object_key key;
    name_id uid;
    enum pod_status status;  // that it comes back to, should the eviction fail
    struct decision decision;
    nsec_t began;
    struct kube_call *mark;        // its condition is being written
    struct kube_removal *removal;  // it is being deleted
    bool is_seen;                  // the cluster shows it
};

struct evictions {
    struct state *state;
    const struct setup *setup;
    struct kube_client *client;
    struct pod_notes *notes;
    struct setbacks *setbacks;
    struct report *report;
    struct observers *observers;
    struct pace *pace;
    struct log *log;
    struct list all;
};

struct evictions *evictions_new(const struct evictions_options *options)
{
    struct evictions *evictions = xcalloc(1, sizeof *evictions);

    *evictions = (struct evictions){
        .state = options->state,
        .setup = options->setup,
        .client = options->client,
        .notes = options->notes,
        .setbacks = options->setbacks,
        .report = options->report,
        .observers = options->observers,
        .pace = options->pace,
        .log = options->log,
    };
    return evictions;
}

static void eviction_free(struct evictions *evictions, struct eviction *eviction)
{
    struct pod_note *note = pod_note_find(evictions->notes, eviction->key);

    list_remove(&evictions->all, &eviction->in_all);
    note->eviction = NULL;
    pod_note_settle(evictions->notes, note);
    free(eviction);
}

void evictions_free(struct evictions *evictions)
{
    struct eviction *eviction;

    if (!evictions)
        return;
    while ((eviction = list_first(&evictions->all, struct eviction, in_all))) {
        kube_cancel(eviction->mark);
        kube_removal_cancel(eviction->removal);
        eviction_free(evictions, eviction);
    }
    free(evictions);
}

size_t evictions_len(const struct evictions *evictions)
{
    return evictions->all.len;
}

void evictions_lay_over(struct evictions *evictions, object_key key)
{
    const struct pod_note *note = pod_note_find(evictions->notes, key);
    struct eviction *eviction = note ? note->eviction : NULL;
    pod_id id = key_pod(evictions->state, key);

    if (!eviction)
        return;
    const struct pod *pod = id == NO_ID ? NULL : &evictions->state->pods.items[id];
    if (!pod || pod->uid != eviction->uid || pod->deleted != 0 || !status_in(pod->status, ACTIVE_ALLOCATED)) {
        eviction->is_seen = true;
        if (!eviction->mark && !eviction->removal)
            eviction_free(evictions, eviction);
        return;
    }
    eviction->status = (enum pod_status)pod->status;
    state_move_pod(evictions->state, id, POD_RELEASING, pod->node, pod->groups);
    OBSERVE(evictions->observers, on_moved, id);
}

/* The pod stays after all. */
static void undo(struct eviction *eviction)
{
    struct evictions *evictions = eviction->evictions;
    pod_id id = key_pod(evictions->state, eviction->key);

    if (id == NO_ID || evictions->state->pods.items[id].uid != eviction->uid ||
        evictions->state->pods.items[id].status != POD_RELEASING || evictions->state->pods.items[id].deleted != 0)
        return;
    const struct pod *pod = &evictions->state->pods.items[id];
    state_move_pod(evictions->state, id, eviction->status, pod->node, pod->groups);
    OBSERVE(evictions->observers, on_moved, id);
    pace_wake(evictions->pace);
}

void evictions_take_back_unsent(struct evictions *evictions)
{
    struct list_link *next;

    for (struct list_link *link = evictions->all.first; link; link = next) {
        struct eviction *eviction = list_item(link, struct eviction, in_all);

        next = link->next;
        if (!eviction->mark && (!eviction->removal || !kube_removal_is_unsent(eviction->removal)))
            continue;
        kube_cancel(TAKE_PTR(eviction->mark));
        kube_removal_cancel(TAKE_PTR(eviction->removal));
        undo(eviction);
        eviction_free(evictions, eviction);
    }
}

bool evictions_are_idle(const struct evictions *evictions)
{
    for (struct list_link *link = evictions->all.first; link; link = link->next) {
        const struct eviction *eviction = list_item(link, struct eviction, in_all);

        if (eviction->mark || eviction->removal)
            return false;
    }
    return true;
}

static void on_deleted(void *arg, const struct kube_answer *answer)
{
    struct eviction *eviction = arg;
    struct evictions *evictions = eviction->evictions;
    const struct err *err = answer->err.code < 0 ? &answer->err : NULL;

    eviction->removal = NULL;
    OBSERVE(evictions->observers, on_carried_out, &eviction->decision, nsec_now_monotonic() - eviction->began, err);
    if (err) {
        pod_id id = key_pod(evictions->state, eviction->key);
        node_id node = id == NO_ID ? NO_ID : evictions->state->pods.items[id].node;
        nsec_t wait = node == NO_ID
                          ? 0
                          : setback_note(evictions->setbacks, SETBACK_EVICT, eviction->key,
                                         evictions->state->nodes.items[node].name, false, nsec_now_monotonic());
        log_warn(evictions->log, "eviction failed",
                 log_str("namespace", key_namespace(evictions->state, eviction->key)),
                 log_str("pod", key_name(evictions->state, eviction->key)), log_duration("again_after", wait),
                 log_error(err));
        undo(eviction);
    }
    if (err || eviction->is_seen)
        eviction_free(evictions, eviction);
}

/* Until the pod has been read it is taken to be leaving. */
static void on_unknown(void *arg, const struct err *err)
{
    struct eviction *eviction = arg;
    struct evictions *evictions = eviction->evictions;

    log_warn(evictions->log,
             "the answer to an eviction was lost; the pod counts as terminating until the API server shows its state",
             log_str("namespace", key_namespace(evictions->state, eviction->key)),
             log_str("pod", key_name(evictions->state, eviction->key)), log_error(err));
}

static enum kube_repeat may_repeat(void *arg)
{
    const struct eviction *eviction = arg;

    return pace_may_repeat(eviction->evictions->pace);
}

static void send_delete(struct eviction *eviction)
{
    struct evictions *evictions = eviction->evictions;

    eviction->removal = kube_removal_start(evictions->client,
                                           &(struct kube_delete_request){
                                               .resource = kube_known(KUBE_PODS),
                                               .namespace = key_namespace(evictions->state, eviction->key),
                                               .name = key_name(evictions->state, eviction->key),
                                               .uid = state_name(evictions->state, eviction->uid),
                                               .grace_s = -1,
                                               .may_repeat = may_repeat,
                                               .on_done = on_deleted,
                                               .arg = eviction,
                                           },
                                           on_unknown);
}

/* The condition is a courtesy: without it the pod is deleted all the same. */
static void on_marked(void *arg, const struct kube_answer *answer)
{
    struct eviction *eviction = arg;

    (void)answer;
    eviction->mark = NULL;
    send_delete(eviction);
}

static void mark_disruption(struct eviction *eviction, const char *text)
{
    struct evictions *evictions = eviction->evictions;
    yyjson_mut_doc *doc = kube_condition_patch(
        &(struct kube_condition){
            .type = "DisruptionTarget",
            .status = "True",
            .reason = "PreemptionByScheduler",
            .message = text,
        },
        nsec_now_wall());
    eviction->mark = kube_send_doc(evictions->client,
                                   &(struct kube_request){
                                       .verb = KUBE_PATCH_STRATEGIC,
                                       .resource = kube_known(KUBE_PODS),
                                       .namespace = key_namespace(evictions->state, eviction->key),
                                       .name = key_name(evictions->state, eviction->key),
                                       .subresource = "status",
                                       .is_repeatable = true,
                                       .on_done = on_marked,
                                       .arg = eviction,
                                   },
                                   doc);
    yyjson_mut_doc_free(doc);
}

static void tell_gang(struct evictions *evictions, const struct decision *decision, const char *text, size_t count)
{
    const struct pod *pod = &evictions->state->pods.items[decision->pod];
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
        const struct gang *evictor = &evictions->state->gangs.items[decision->on_behalf];

        notes[note_count++] =
            (struct event_note){"evictor-pod-group-name", state_name(evictions->state, evictor->name)};
        notes[note_count++] =
            (struct event_note){"evictor-pod-group-namespace", state_name(evictions->state, evictor->namespace)};
    }
    report_gang_event(evictions->report, pod->gang, "Evict", text, notes, note_count);
}

void evictions_start(struct evictions *evictions, const struct decision *decision, const char *text, size_t count)
{
    const struct pod *pod = &evictions->state->pods.items[decision->pod];
    object_key key = key_of(pod->namespace, pod->name);
    const struct pod_note *note = pod_note_find(evictions->notes, key);

    if (pod->deleted != 0 || (note && note->eviction))
        return;
    struct eviction *eviction = xcalloc(1, sizeof *eviction);
    *eviction = (struct eviction){
        .evictions = evictions,
        .key = key,
        .uid = pod->uid,
        .status = POD_RUNNING,
        .decision = *decision,
        .began = nsec_now_monotonic(),
    };
    pod_note_put(evictions->notes, key)->eviction = eviction;
    list_push(&evictions->all, &eviction->in_all);
    tell_gang(evictions, decision, text, count);
    if (evictions->setup->flags->update_pod_eviction_condition)
        mark_disruption(eviction, text);
    else
        send_delete(eviction);
}
