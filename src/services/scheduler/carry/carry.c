/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Binds. All of a cycle are sent at once; the client has its own limit on how many the server sees. A placement holds the
 * pod's place from the decision on until the cluster shows it there.
 */
#include "services/scheduler/carry/carry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "kube/autoscalers.h"
#include "kube/client/certain.h"
#include "kube/client/meta.h"
#include "kube/client/verbs.h"
#include "model/delta.h"
#include "model/retell/retell.h"
#include "services/scheduler/carry/carry_internal.h"
#include "services/scheduler/carry/request.h"
#include "services/scheduler/carry/setbacks.h"
#include "services/scheduler/carry/traffic.h"
#include "services/scheduler/carry/writes.h"
#include "services/scheduler/flags.h"
#include "services/scheduler/observe/observer.h"
#include "services/scheduler/pace.h"
#include "services/scheduler/report/report.h"
#include "text/json.h"

/* After so long without the right to bind we try again: somebody may have granted it. */
#define REQUESTS_FOR (5 * NSEC_PER_MIN)

/* What the binder would write on the pod: controllers read it. */
#define KEY_RECEIVED "received-resource-type"

struct carry *carry_new(const struct carry_options *options)
{
    struct carry *carry = xcalloc(1, sizeof *carry);

    *carry = (struct carry){
        .state = options->state,
        .setup = options->setup,
        .loop = options->loop,
        .log = options->log,
        .client = options->client,
        .device_version = options->device_version,
        .placements = options->placements,
        .setbacks = options->setbacks,
        .writes = options->writes,
        .report = options->report,
        .observers = options->observers,
        .traffic = options->traffic,
        .pace = options->pace,
    };
    return carry;
}

static struct carrying *carrying_new(struct carry *carry, const struct decision *decision, const char *text)
{
    struct carrying *carrying = xcalloc(1, sizeof *carrying);
    const struct pod *pod = &carry->state->pods.items[decision->pod];

    *carrying = (struct carrying){
        .carry = carry,
        .key = key_of(pod->namespace, pod->name),
        .uid = pod->uid,
        .node = carry->state->nodes.items[pod->node].name,
        .decision = *decision,
        .began = nsec_now_monotonic(),
        .text = xstrdup(text),
    };
    list_push(&carry->all, &carrying->in_all);
    carry->traffic->binds++;
    return carrying;
}

static void carrying_free(struct carrying *carrying)
{
    struct carry *carry = carrying->carry;

    list_remove(&carry->all, &carrying->in_all);
    carry->traffic->binds--;
    loop_timer_done(&carrying->look);
    free(carrying->text);
    yyjson_mut_doc_free(carrying->doc);
    vec_foreach (&carrying->claims, claim) {
        free(claim->name);
        free(claim->claim);
    }
    vec_done(&carrying->claims);
    free(carrying);
}

static void cancel(struct carrying *carrying)
{
    kube_bind_cancel(TAKE_PTR(carrying->bind));
    kube_certain_cancel(TAKE_PTR(carrying->request));
    kube_removal_cancel(TAKE_PTR(carrying->removal));
    kube_cancel(TAKE_PTR(carrying->call));
}

void carry_free(struct carry *carry)
{
    struct carrying *carrying;

    if (!carry)
        return;
    while ((carrying = list_first(&carry->all, struct carrying, in_all))) {
        cancel(carrying);
        carrying_free(carrying);
    }
    free(carry);
}

bool carry_is_idle(const struct carry *carry)
{
    return carry->all.len == 0;
}

/* The binder may have given up the request already, or somebody has deleted it: the pod is scheduled again. */
static void catch_up(struct carry *carry, struct placement *placement)
{
    object_key key = placement->key;
    bool had_failed = placement->has_failed;

    if (!placement_catch_up(carry->placements, placement))
        placement_drop(carry->placements, placement);
    else if (placement->has_failed && !had_failed) {
        pod_id pod = key_pod(carry->state, key);

        (void)setback_note(carry->setbacks, SETBACK_BIND, key, placement->node, false, nsec_now_monotonic());
        if (pod != NO_ID)
            state_fail_volumes(carry->state, pod, placement->node);
    }
    placement_apply(carry->placements, key);
}

/* The pod is where it should be: the placement may go, unless the watch is late or it is a BindRequest's. */
static void settle_placement(struct carry *carry, struct placement *placement)
{
    pod_id id = key_pod(carry->state, placement->key);

    placement->carrying = NULL;
    placement->is_unknown = false;
    if (!placement->is_direct) {
        catch_up(carry, placement);
        return;
    }
    if (id == NO_ID || carry->state->pods.items[id].uid != placement->pod_uid ||
        carry->state->pods.items[id].status != POD_BINDING)
        placement_drop(carry->placements, placement);
}

/* The label of our node pool, for pods that came without it. */
static void label_pool(struct carry *carry, const struct carrying *carrying)
{
    pod_id id = key_pod(carry->state, carrying->key);

    if (!carry->setup->options.has_partition || !*carry->setup->options.partition || id == NO_ID)
        return;
    struct labels labels = state_labels(carry->state, carry->state->pods.items[id].labels);
    for (uint32_t i = 0; i < labels.count; i++) {
        if (strcmp(state_name(carry->state, labels.pairs[i].key), carry->setup->options.node_pool_label) == 0 &&
            strcmp(state_name(carry->state, labels.pairs[i].value), carry->setup->options.partition) == 0)
            return;
    }
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");
    yyjson_mut_val *to = yyjson_mut_obj_add_obj(doc, meta, "labels");
    (void)yyjson_mut_obj_add_str(doc, to, carry->setup->options.node_pool_label, carry->setup->options.partition);
    writes_put(carry->writes, &(struct write){
                                  .kind = WRITE_POD_POOL,
                                  .key = carrying->key,
                                  .verb = KUBE_PATCH_STRATEGIC,
                                  .resource = kube_known(KUBE_PODS),
                                  .doc = doc,
                              });
    yyjson_mut_doc_free(doc);
}

void carry_succeed(struct carrying *carrying)
{
    struct carry *carry = carrying->carry;
    struct placement *placement = placement_find(carry->placements, carrying->key);

    OBSERVE(carry->observers, on_carried_out, &carrying->decision, nsec_now_monotonic() - carrying->began, NULL);
    if (!placement || placement->is_direct)
        report_bound(carry->report, carrying->key, carrying->uid, carrying->text,
                     state_name(carry->state, carrying->node));
    label_pool(carry, carrying);
    if (placement && placement->carrying == carrying)
        settle_placement(carry, placement);
    carrying_free(carrying);
    writes_pump(carry->writes);
}

/* The placement is none any more, unless a BindRequest says so. */
static void undo_placement(struct carrying *carrying)
{
    struct carry *carry = carrying->carry;
    struct placement *placement = placement_find(carry->placements, carrying->key);

    if (placement && placement->carrying == carrying) {
        placement->carrying = NULL;
        placement->is_unknown = false;
        placement->has_failed = true;
        if (!placement->has_request)
            placement_drop(carry->placements, placement);
    }
    placement_apply(carry->placements, carrying->key);
}

void carry_take_back(struct carrying *carrying, const struct err *err)
{
    struct carry *carry = carrying->carry;

    OBSERVE(carry->observers, on_carried_out, &carrying->decision, nsec_now_monotonic() - carrying->began, err);
    undo_placement(carrying);
    cancel(carrying);
    carrying_free(carrying);
}

/* Nothing of it can have reached the server. */
static bool is_unsent(const struct carrying *carrying)
{
    if (carrying->bind)
        return kube_bind_is_unsent(carrying->bind);
    if (carrying->request)
        return kube_certain_is_unsent(carrying->request);
    return !carrying->removal;
}

void carry_take_back_unsent(struct carry *carry)
{
    size_t count = 0;
    struct list_link *next;
    struct err err = {0};

    (void)err_set(&err, -ESTALE, "the bind was withdrawn before it was sent, because a watch was interrupted");
    for (struct list_link *link = carry->all.first; link; link = next) {
        struct carrying *carrying = list_item(link, struct carrying, in_all);

        next = link->next;
        if (!is_unsent(carrying))
            continue;
        carry_take_back(carrying, &err);
        count++;
    }
    if (count > 0)
        log_info(carry->log, "binds that had not been sent are withdrawn; their pods are scheduled again",
                 log_int("binds", (int64_t)count));
}

void carry_fail(struct carrying *carrying, const struct err *err)
{
    struct carry *carry = carrying->carry;
    pod_id id = key_pod(carry->state, carrying->key);
    char text[sizeof err->text + 1024];

    OBSERVE(carry->observers, on_carried_out, &carrying->decision, nsec_now_monotonic() - carrying->began, err);
    bool is_known = id != NO_ID && carry->state->pods.items[id].uid == carrying->uid;
    /* One that is gone stays known until the watch shows it; to try again at once would not end before. */
    nsec_t wait = is_known ? setback_note(carry->setbacks, SETBACK_BIND, carrying->key, carrying->node,
                                          err->code == -EAGAIN || err->code == -ENOENT, nsec_now_monotonic())
                           : 0;
    log_warn(carry->log, "bind failed; the pod is scheduled again",
             log_str("namespace", key_namespace(carry->state, carrying->key)),
             log_str("pod", key_name(carry->state, carrying->key)),
             log_str("node", state_name(carry->state, carrying->node)), log_duration("again_after", wait),
             log_error(err));
    if (is_known && err->code != -ENOENT) {
        (void)snprintf(text, sizeof text, "Failed to bind pod %s/%s to node %s. %s",
                       key_namespace(carry->state, carrying->key), key_name(carry->state, carrying->key),
                       state_name(carry->state, carrying->node), err->text);
        report_pod_event(carry->report, carrying->key, carrying->uid, "Warning", "FailedBinding", text);
        report_condition(carry->report, carrying->key, "BindingError", text);
    }
    undo_placement(carrying);
    carrying_free(carrying);
    writes_pump(carry->writes);
}

void carry_unknown(struct carrying *carrying, const struct err *err)
{
    struct carry *carry = carrying->carry;
    struct placement *placement = placement_find(carry->placements, carrying->key);

    if (placement && placement->carrying == carrying)
        placement->is_unknown = true;
    log_warn(carry->log, "the answer to a bind was lost; the pod keeps its place until the API server shows its state",
             log_str("namespace", key_namespace(carry->state, carrying->key)),
             log_str("pod", key_name(carry->state, carrying->key)),
             log_str("node", state_name(carry->state, carrying->node)), log_error(err));
}

/* Somebody has bound it to another node, or a scheduler before us has: that is where it is. */
static void take_elsewhere(struct carrying *carrying, yyjson_val *pod, const struct err *err)
{
    struct carry *carry = carrying->carry;
    struct placement *placement = placement_find(carry->placements, carrying->key);
    const char *node = kube_text(pod, "spec", "nodeName");

    OBSERVE(carry->observers, on_carried_out, &carrying->decision, nsec_now_monotonic() - carrying->began, err);
    log_warn(carry->log, "the pod is already bound to another node; keeping that node",
             log_str("namespace", key_namespace(carry->state, carrying->key)),
             log_str("pod", key_name(carry->state, carrying->key)), log_str("node", node),
             log_str("decided", state_name(carry->state, carrying->node)));
    /* Should the node not be ours, the next attempt waits for the watch. */
    (void)setback_note(carry->setbacks, SETBACK_BIND, carrying->key, carrying->node, true, nsec_now_monotonic());
    if (placement && placement->carrying == carrying) {
        placement_move(carry->placements, placement, node);
        placement_apply(carry->placements, carrying->key);
        settle_placement(carry, placement);
    }
    carrying_free(carrying);
    writes_pump(carry->writes);
}

/* KAI's roles let the binder bind, and not the scheduler. A refusal for another reason names another. */
static bool may_not_bind(const struct kube_answer *answer)
{
    return answer->status == 403 && strstr(answer->err.text, "cannot create resource \"pods/binding\"");
}

/* What we may not do the binder does. */
static void leave_to_binder(struct carrying *carrying, const struct err *err)
{
    struct carry *carry = carrying->carry;
    struct placement *placement = placement_find(carry->placements, carrying->key);
    pod_id id = key_pod(carry->state, carrying->key);

    carry->traffic->requests_until = nsec_now_monotonic() + REQUESTS_FOR;
    if (!carry->traffic->has_told_of_requests)
        log_warn(carry->log,
                 "the scheduler may not create pods/binding: pods are bound by BindRequests, which need the binder; "
                 "grant it, or set --bind-requests=always",
                 log_error(err));
    carry->traffic->has_told_of_requests = true;
    if (!placement || placement->carrying != carrying || id == NO_ID ||
        carry->state->pods.items[id].uid != carrying->uid || carry->state->pods.items[id].node == NO_ID) {
        carry_fail(carrying, err);
        return;
    }
    placement->is_direct = false;
    carry_request(carrying, placement, id);
}

static void on_bound(void *arg, const struct kube_answer *answer)
{
    struct carrying *carrying = arg;
    yyjson_val *pod = NULL;

    carrying->bind = NULL;
    if (answer->err.code == 0)
        carry_succeed(carrying);
    else if (answer->err.code == -EEXIST && kube_answer_object(answer, &pod, NULL) == 0)
        take_elsewhere(carrying, pod, &answer->err);
    else if (answer->is_unsent || answer->err.code == -ESTALE)
        carry_take_back(carrying, &answer->err);
    else if (may_not_bind(answer))
        leave_to_binder(carrying, &answer->err);
    else
        carry_fail(carrying, &answer->err);
}

static void on_unknown(void *arg, const struct err *err)
{
    carry_unknown(arg, err);
}

enum kube_repeat carry_may_repeat(void *arg)
{
    const struct carrying *carrying = arg;

    return pace_may_repeat(carrying->carry->pace);
}

/* A volume that nobody has bound yet is the binder's to bind. */
static bool has_open_volume(const struct state *state, pod_id id)
{
    const struct constraints *constraints = state_constraints(state, id);
    name_id namespace = state->pods.items[id].namespace;

    for (uint32_t i = 0; i < constraints->volume_claim_count; i++) {
        uint64_t volume = 0;

        if (!map64_get(&state->volume_by_name, key_of(namespace, constraints->volume_claims[i]), &volume) ||
            !state->volumes.items[volume].is_bound)
            return true;
    }
    return false;
}

bool carry_has_claims(const struct state *state, const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->claim_count; i++) {
        if (!pod->claims[i].is_extended || state->claims.items[pod->claims[i].slot].is_allocated)
            return true;
    }
    return false;
}

bool carry_is_lasting(const struct carry *carry, pod_id pod)
{
    gang_id gang = carry->state->pods.items[pod].gang;

    return carry->setup->flags->cluster_autoscaling && gang != NO_ID && !carry->state->gangs.items[gang].is_preemptible;
}

static bool needs_request(const struct carry *carry, pod_id id)
{
    const struct pod *pod = &carry->state->pods.items[id];

    return carry->setup->always_requests || nsec_now_monotonic() < carry->traffic->requests_until ||
           request_is_shared(state_request(carry->state, id)) || carry_has_claims(carry->state, pod) || pod->numa ||
           has_open_volume(carry->state, id);
}

static void bind_directly(struct carrying *carrying, pod_id pod)
{
    struct carry *carry = carrying->carry;
    const char *annotations[] = {
        KEY_RECEIVED, request_resource_type(carry->state, pod), KEY_DO_NOT_DISRUPT, "true", KEY_SAFE_TO_EVICT, "false",
        NULL};

    if (!carry_is_lasting(carry, pod))
        annotations[2] = NULL;

    carrying->bind = kube_bind_start(carry->client, &(struct kube_bind_request){
                                                        .annotations = annotations,
                                                        .namespace = key_namespace(carry->state, carrying->key),
                                                        .pod = key_name(carry->state, carrying->key),
                                                        .uid = state_name(carry->state, carrying->uid),
                                                        .node = state_name(carry->state, carrying->node),
                                                        .may_repeat = carry_may_repeat,
                                                        .on_unknown = on_unknown,
                                                        .on_done = on_bound,
                                                        .arg = carrying,
                                                    });
}

static void on_room(struct carrying *carrying, pod_id pod)
{
    const struct placement *placement = placement_find(carrying->carry->placements, carrying->key);
    struct err err = {0};

    if (pod == NO_ID || !placement || placement->carrying != carrying) {
        (void)err_set(&err, -ENOENT, "the pod or its node no longer exists");
        carry_fail(carrying, &err);
    } else if (placement->is_direct) {
        bind_directly(carrying, pod);
    } else {
        carry_request(carrying, placement, pod);
    }
}

void carry_bind(struct carry *carry, const struct decision *decision, const char *text)
{
    struct carrying *carrying = carrying_new(carry, decision, text);
    struct placement *placement = placement_put(carry->placements, carrying->key);

    rush_note(&carry->traffic->rush, carrying->began);
    placement_take(carry->placements, placement, decision->pod);
    placement->carrying = carrying;
    placement->is_direct = !needs_request(carry, decision->pod);
    report_forget_pod(carry->report, carrying->key);
    carrying->on_room = on_room;
    carry_when_free(carrying, decision->pod);
}
