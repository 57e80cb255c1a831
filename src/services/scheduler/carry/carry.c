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
#include "kube/client/meta.h"
#include "kube/client/verbs.h"
#include "model/delta.h"
#include "services/scheduler/carry/carry_internal.h"
#include "services/scheduler/carry/request.h"
#include "services/scheduler/carry/writes.h"
#include "services/scheduler/context.h"
#include "services/scheduler/report/report.h"
#include "text/json.h"

/* What the binder would write on the pod: controllers read it. */
#define KEY_RECEIVED "received-resource-type"

static struct carrying *carrying_new(struct scheduler *s, const struct decision *decision, const char *text)
{
    struct carrying *carrying = xcalloc(1, sizeof *carrying);
    const struct pod *pod = &s->state->pods.items[decision->pod];

    *carrying = (struct carrying){
        .s = s,
        .key = key_of(pod->namespace, pod->name),
        .uid = pod->uid,
        .node = s->state->nodes.items[pod->node].name,
        .decision = *decision,
        .began = nsec_now_monotonic(),
        .text = xstrdup(text),
        .next = s->carrying,
    };
    if (s->carrying)
        s->carrying->prev = carrying;
    s->carrying = carrying;
    s->binds_under_way++;
    return carrying;
}

static void carrying_free(struct carrying *carrying)
{
    struct scheduler *s = carrying->s;

    if (carrying->prev)
        carrying->prev->next = carrying->next;
    else
        s->carrying = carrying->next;
    if (carrying->next)
        carrying->next->prev = carrying->prev;
    s->binds_under_way--;
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

bool carry_is_idle(const struct scheduler *s)
{
    return !s->carrying && map64_len(&s->evictions) == 0;
}

/* The pod is where it should be: the placement may go, unless the watch is late or it is a BindRequest's. */
static void settle_placement(struct scheduler *s, struct placement *placement)
{
    pod_id id = key_pod(s->state, placement->key);

    placement->carrying = NULL;
    if (!placement->is_direct)
        return;
    if (id == NO_ID || s->state->pods.items[id].uid != placement->pod_uid ||
        s->state->pods.items[id].status != POD_BINDING)
        placement_drop(s, placement);
}

/* The label of our node pool, for pods that came without it. */
static void label_pool(struct scheduler *s, const struct carrying *carrying)
{
    pod_id id = key_pod(s->state, carrying->key);

    if (!s->options.has_partition || !*s->options.partition || id == NO_ID)
        return;
    struct labels labels = state_labels(s->state, s->state->pods.items[id].labels);
    for (uint32_t i = 0; i < labels.count; i++) {
        if (strcmp(state_name(s->state, labels.pairs[i].key), s->options.node_pool_label) == 0 &&
            strcmp(state_name(s->state, labels.pairs[i].value), s->options.partition) == 0)
            return;
    }
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");
    yyjson_mut_val *to = yyjson_mut_obj_add_obj(doc, meta, "labels");
    (void)yyjson_mut_obj_add_str(doc, to, s->options.node_pool_label, s->options.partition);
    writes_put(s->writes, &(struct write){
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
    struct scheduler *s = carrying->s;
    struct placement *placement = placement_find(s, carrying->key);

    OBSERVE(s, on_carried_out, &carrying->decision, nsec_now_monotonic() - carrying->began, NULL);
    report_pod_event(s, carrying->key, carrying->uid, "Normal", "Scheduled", carrying->text);
    label_pool(s, carrying);
    if (placement && placement->carrying == carrying)
        settle_placement(s, placement);
    carrying_free(carrying);
    writes_pump(s->writes);
}

void carry_fail(struct carrying *carrying, const struct err *err)
{
    struct scheduler *s = carrying->s;
    struct placement *placement = placement_find(s, carrying->key);
    pod_id id = key_pod(s->state, carrying->key);
    char text[sizeof err->text + 1024];

    OBSERVE(s, on_carried_out, &carrying->decision, nsec_now_monotonic() - carrying->began, err);
    bool is_there = id != NO_ID && s->state->pods.items[id].uid == carrying->uid && err->code != -ENOENT;
    nsec_t wait = is_there ? setback_note(s, SETBACK_BIND, carrying->key, carrying->node, err->code == -EAGAIN,
                                          nsec_now_monotonic())
                           : 0;
    log_warn(s->log, "bind failed; the pod is decided on again",
             log_str("namespace", key_namespace(s->state, carrying->key)),
             log_str("pod", key_name(s->state, carrying->key)), log_str("node", state_name(s->state, carrying->node)),
             log_duration("again_after", wait), log_error(err));
    if (is_there) {
        (void)snprintf(text, sizeof text, "Failed to bind pod %s/%s to node %s. %s",
                       key_namespace(s->state, carrying->key), key_name(s->state, carrying->key),
                       state_name(s->state, carrying->node), err->text);
        report_pod_event(s, carrying->key, carrying->uid, "Warning", "FailedBinding", text);
        report_condition(s, carrying->key, "BindingError", text);
    }
    if (placement && placement->carrying == carrying) {
        placement->carrying = NULL;
        placement->has_failed = true;
        if (!placement->has_request)
            placement_drop(s, placement);
    }
    placement_apply(s, carrying->key);
    carrying_free(carrying);
    writes_pump(s->writes);
}

static void on_bound(void *arg, const struct kube_answer *answer)
{
    struct carrying *carrying = arg;

    carrying->bind = NULL;
    if (answer->err.code < 0)
        carry_fail(carrying, &answer->err);
    else
        carry_succeed(carrying);
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

static bool needs_request(const struct scheduler *s, pod_id id)
{
    const struct pod *pod = &s->state->pods.items[id];

    return s->always_requests || request_is_shared(state_request(s->state, id)) || carry_has_claims(s->state, pod) ||
           pod->numa || has_open_volume(s->state, id);
}

static void bind_directly(struct carrying *carrying, pod_id pod)
{
    struct scheduler *s = carrying->s;
    const char *const annotations[] = {KEY_RECEIVED, request_resource_type(s, pod), NULL};

    carrying->bind = kube_bind_start(s->client, &(struct kube_bind_request){
                                                    .annotations = annotations,
                                                    .namespace = key_namespace(s->state, carrying->key),
                                                    .pod = key_name(s->state, carrying->key),
                                                    .uid = state_name(s->state, carrying->uid),
                                                    .node = state_name(s->state, carrying->node),
                                                    .on_done = on_bound,
                                                    .arg = carrying,
                                                });
}

static void on_room(struct carrying *carrying, pod_id pod)
{
    const struct placement *placement = placement_find(carrying->s, carrying->key);
    struct err err = {0};

    if (pod == NO_ID || !placement || placement->carrying != carrying) {
        (void)err_set(&err, -ENOENT, "the pod or its node has gone");
        carry_fail(carrying, &err);
    } else if (placement->is_direct) {
        bind_directly(carrying, pod);
    } else {
        carry_request(carrying, placement, pod);
    }
}

void carry_bind(struct scheduler *s, const struct decision *decision, const char *text)
{
    struct carrying *carrying = carrying_new(s, decision, text);
    struct placement *placement = placement_put(s, carrying->key);

    rush_note(&s->rush, carrying->began);
    placement_take(s, placement, decision->pod);
    placement->carrying = carrying;
    placement->is_direct = !needs_request(s, decision->pod);
    writes_cancel(s->writes, WRITE_POD_CONDITION, carrying->key);
    (void)map64_remove(&s->pod_conditions, carrying->key);
    (void)map64_remove(&s->promised, carrying->key);
    carrying->on_room = on_room;
    carry_when_free(carrying, decision->pod);
}

void carry_done(struct scheduler *s)
{
    struct carrying *next = NULL;

    for (struct carrying *carrying = s->carrying; carrying; carrying = next) {
        next = carrying->next;
        kube_bind_cancel(carrying->bind);
        kube_cancel(carrying->call);
        carrying_free(carrying);
    }
    carry_evictions_done(s);
}
