/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Nodes and the pods on them. A node that has a lease and does not renew it is not ready. A node that is not ready is
 * tainted, and its pods are deleted when they do not tolerate that any longer. Pods of a node that is gone are removed.
 * Nodes without a lease, such as pretended ones, say themselves whether they are ready.
 *
 * A machine that has joined ends its pods before its lease is over (local/machines/joined.h). So its pods are deleted at once
 * when the lease is over, whatever they tolerate, and its Node object stays until then when somebody deletes it. Watches may
 * be late, and the machine may return at that very moment: what was decided from them is confirmed by reading the lease or
 * the node, and holds only for the version that was seen.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strmap.h"
#include "frame/service.h"
#include "frame/work.h"
#include "kube/client/condition.h"
#include "kube/client/meta.h"
#include "kube/client/modify.h"
#include "kube/client/verbs.h"
#include "kube/follow/follow.h"
#include "local/cleaning/cleaning.h"
#include "local/controllers/values.h"
#include "local/machines/joined.h"
#include "net/loop.h"

enum { WORKERS = 16, LEASE_SECONDS_MAX = 3600 };

#define NEW_NODE_PATIENCE (40 * NSEC_PER_SEC)
#define TAINT_NOT_READY "node.kubernetes.io/not-ready"
#define TAINT_UNREACHABLE "node.kubernetes.io/unreachable"

struct nodes_flags {
    nsec_t lease_patience;
};

static const struct flag flags[] = {
    {"node-monitor-grace-period", FLAG_DURATION, FLAG_AT(struct nodes_flags, lease_patience), "40s",
     "time after which a node that has not renewed its Lease is unreachable", 0, 0},
};

struct nodes {
    const struct nodes_flags *flags;
    struct service *service;
    struct follower *nodes, *leases, *pods;
    struct work *node_work, *pod_work;
    struct strmap by_name, by_uid;
    bool is_synced;
};

enum readiness { NODE_READY, NODE_NOT_READY, NODE_UNREACHABLE };

struct node {
    struct nodes *nodes;
    struct work_item work;
    char *name;
    struct kube_call *call;
    struct kube_modify *modify;
    struct loop_timer lease_timer;
    struct list pods;
    bool is_there, was_there, is_lease_old;
    bool is_right;  // whether its taints are
    bool is_joined, is_ending;
    char *version;    // as it was seen last
    char *renewed;    // its lease, as it was seen last; NULL: never
    nsec_t patience;  // with the lease
    enum readiness readiness;
    nsec_t since;  // of the readiness; of a node that is not there, when its first pod was seen
};

struct pod {
    struct node *node;
    struct list_link in_node;
    struct work_item work;
    char *namespace, *name, *uid;
    char *version;  // as it was seen last
    struct kube_call *call;
    struct loop_timer due;
    nsec_t patience;  // with a node that is not ready; negative: for ever
    bool is_ending, is_removed;
};

static const char *taint_of(enum readiness readiness)
{
    return readiness == NODE_NOT_READY ? TAINT_NOT_READY : readiness == NODE_UNREACHABLE ? TAINT_UNREACHABLE : NULL;
}

/* Pods. */

static void on_pod_due(void *arg)
{
    struct pod *pod = arg;

    work_add(pod->node->nodes->pod_work, &pod->work);
}

static nsec_t patience_of(yyjson_val *pod)
{
    nsec_t patience = 0;
    size_t i, max;
    yyjson_val *toleration;

    yyjson_arr_foreach(value_at(pod, "spec", "tolerations"), i, max, toleration)
    {
        const char *key = kube_text(toleration, "key"), *effect = kube_text(toleration, "effect");
        yyjson_val *seconds = yyjson_obj_get(toleration, "tolerationSeconds");

        if ((key[0] && strcmp(key, TAINT_UNREACHABLE) != 0 && strcmp(key, TAINT_NOT_READY) != 0) ||
            (effect[0] && strcmp(effect, "NoExecute") != 0))
            continue;
        if (!seconds)
            return -1;
        patience = MAX(patience, MAX(yyjson_get_sint(seconds), 0) * NSEC_PER_SEC);
    }
    return patience;
}

static bool is_lost(const struct node *node)
{
    return !node->is_there || node->readiness != NODE_READY;
}

static void look_at_pod(struct pod *pod)
{
    if (is_lost(pod->node))
        work_add(pod->node->nodes->pod_work, &pod->work);
}

static void on_pod_deleted(void *arg, const struct kube_answer *answer)
{
    struct pod *pod = arg;
    struct err err = answer->err;

    pod->call = NULL;
    if (answer->status == 404 || answer->status == 409)
        err.code = 0;
    pod->is_removed = err.code == 0;
    if (err.code < 0)
        log_warn(pod->node->nodes->service->log,
                 "a pod on an unreachable node could not be deleted; trying again later",
                 log_str("namespace", pod->namespace), log_str("pod", pod->name), log_error(&err));
    work_done(pod->node->nodes->pod_work, &pod->work, &err);
}

static void delete_pod(struct pod *pod, int64_t grace_s)
{
    pod->call =
        kube_delete(pod->node->nodes->service->client, &(struct kube_delete_request){
                                                           .resource = kube_known(KUBE_PODS),
                                                           .namespace = pod->namespace,
                                                           .name = pod->name,
                                                           .uid = pod->uid,
                                                           .version = pod->node->is_joined ? pod->version : NULL,
                                                           .grace_s = grace_s,
                                                           .on_done = on_pod_deleted,
                                                           .arg = pod,
                                                       });
}

/* The node as it is now decides: if it is back, it may have begun the pod, which has another version then. */
static void on_node_read(void *arg, const struct kube_answer *answer)
{
    struct pod *pod = arg;
    yyjson_val *object = NULL;
    struct err err = answer->err;

    pod->call = NULL;
    if (err.code == 0 && kube_answer_object(answer, &object, &err) < 0)
        object = NULL;
    bool is_back = object && strcmp(kube_text(condition_of(object, "Ready"), "status"), "Unknown") != 0;

    if (answer->status != 404 && (err.code < 0 || is_back))
        work_done(pod->node->nodes->pod_work, &pod->work, &err);
    else
        delete_pod(pod, 0);
}

static void confirm_and_delete(struct pod *pod)
{
    pod->call = kube_send(pod->node->nodes->service->client, &(struct kube_request){.verb = KUBE_GET,
                                                                                    .resource = kube_known(KUBE_NODES),
                                                                                    .name = pod->node->name,
                                                                                    .on_done = on_node_read,
                                                                                    .arg = pod});
}

static void work_on_pod(void *arg, struct work_item *item)
{
    struct nodes *nodes = arg;
    struct pod *pod = list_item(&item->in_work, struct pod, work.in_work);
    const struct node *node = pod->node;
    /* A node that was never seen may be about to be created. */
    nsec_t patience = node->is_there ? pod->patience : node->was_there ? 0 : NEW_NODE_PATIENCE;
    nsec_t left = node->since + patience - nsec_now_wall();

    if (!pod->is_removed && node->is_there && node->is_joined && node->readiness == NODE_UNREACHABLE)
        confirm_and_delete(pod);
    else if (pod->is_removed || !is_lost(node) || (node->is_there && (pod->is_ending || pod->patience < 0))) {
        work_done(nodes->pod_work, item, NULL);
    } else if (patience > 0 && left > 0) {
        if (!pod->due.handle)
            loop_timer_init(&pod->due, nodes->service->loop, on_pod_due, pod);
        loop_timer_start(&pod->due, left);
        work_done(nodes->pod_work, item, NULL);
    } else {
        /* Where there is no node, nobody ends the pod. */
        delete_pod(pod, node->is_there ? -1 : 0);
    }
}

static void look_at_pods(const struct node *node)
{
    for (struct list_link *link = node->pods.first; link; link = link->next)
        look_at_pod(list_item(link, struct pod, in_node));
}

/* Nodes. */

static void on_lease_old(void *arg)
{
    struct node *node = arg;

    node->is_lease_old = true;
    work_add(node->nodes->node_work, &node->work);
}

static struct node *get_node(struct nodes *nodes, const char *name)
{
    struct node *node = strmap_get(&nodes->by_name, "", name);

    if (node)
        return node;
    node = xcalloc(1, sizeof *node);
    node->nodes = nodes;
    node->name = xstrdup(name);
    node->since = nsec_now_wall();
    (void)strmap_put(&nodes->by_name, "", node->name, node);
    return node;
}

static void node_stop(struct node *node)
{
    if (node->call)
        kube_cancel(TAKE_PTR(node->call));
    if (node->modify)
        kube_modify_cancel(TAKE_PTR(node->modify));
    work_drop(node->nodes->node_work, &node->work);
    loop_timer_done(&node->lease_timer);
    node->lease_timer = (struct loop_timer){0};
}

static void node_free(struct node *node)
{
    node_stop(node);
    free(node->version);
    free(node->renewed);
    free(node->name);
    free(node);
}

static void release_node(struct node *node)
{
    if (node->is_there || node->pods.len > 0)
        return;
    (void)strmap_remove(&node->nodes->by_name, "", node->name);
    node_free(node);
}

static void finish(struct node *node, const struct kube_answer *answer)
{
    struct err err = answer->err;

    if (answer->status == 404 || answer->status == 409)
        err.code = 0;
    if (err.code < 0)
        log_warn(node->nodes->service->log,
                 "the condition of an unreachable node could not be written; trying again later",
                 log_str("node", node->name), log_error(&err));
    work_done(node->nodes->node_work, &node->work, &err);
}

static void on_marked(void *arg, const struct kube_answer *answer)
{
    struct node *node = arg;

    node->call = NULL;
    finish(node, answer);
}

static void on_tainted(void *arg, const struct kube_answer *answer)
{
    struct node *node = arg;

    node->modify = NULL;
    finish(node, answer);
}

/* Only as it was seen: a machine that is back has written it since. */
static void add_version(yyjson_mut_doc *doc, const char *version)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *meta = yyjson_mut_obj_get(root, "metadata");

    if (!meta)
        meta = yyjson_mut_obj_add_obj(doc, root, "metadata");
    (void)yyjson_mut_obj_add_str(doc, meta, "resourceVersion", version);
}

static void mark_unknown(struct node *node)
{
    yyjson_mut_doc *doc =
        kube_condition_patch(&(struct kube_condition){.type = "Ready",
                                                      .status = "Unknown",
                                                      .reason = "NodeStatusUnknown",
                                                      .message = "Kubelet stopped posting node status."},
                             nsec_now_wall());

    if (node->is_joined)
        add_version(doc, node->version);
    node->call = kube_send_doc(node->nodes->service->client,
                               &(struct kube_request){
                                   .verb = KUBE_PATCH_STRATEGIC,
                                   .resource = kube_known(KUBE_NODES),
                                   .name = node->name,
                                   .subresource = "status",
                                   .is_repeatable = true,
                                   .on_done = on_marked,
                                   .arg = node,
                               },
                               doc);
    yyjson_mut_doc_free(doc);
}

/* --- machines that have joined --- */

static int drop_finalizer(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    yyjson_mut_val *list = yyjson_mut_obj_get(yyjson_mut_obj_get(object, "metadata"), "finalizers");
    bool has_changed = false;

    (void)arg;
    (void)doc;
    (void)err;
    for (size_t i = yyjson_mut_arr_size(list); i > 0; i--) {
        if (yyjson_mut_equals_str(yyjson_mut_arr_get(list, i - 1), LEASE_FINALIZER)) {
            (void)yyjson_mut_arr_remove(list, i - 1);
            has_changed = true;
        }
    }
    return has_changed;
}

static void release(struct node *node)
{
    node->modify = kube_modify_start(node->nodes->service->client, &(struct kube_modify_request){
                                                                       .resource = kube_known(KUBE_NODES),
                                                                       .name = node->name,
                                                                       .change = drop_finalizer,
                                                                       .on_done = on_tainted,
                                                                       .arg = node,
                                                                   });
}

/* The lease is over if it is still the one that was seen last, its whole time ago. */
static void on_lease_read(void *arg, const struct kube_answer *answer)
{
    struct node *node = arg;
    yyjson_val *object = NULL;
    struct err err = answer->err;

    node->call = NULL;
    if (err.code == 0 && kube_answer_object(answer, &object, &err) < 0)
        object = NULL;
    const char *renewed = kube_text(object, "spec", "renewTime");
    bool is_same = answer->status == 404 || (object && node->renewed && strcmp(renewed, node->renewed) == 0);

    if (answer->status != 404 && (err.code < 0 || !is_same)) {
        if (err.code == 0)
            loop_timer_start(&node->lease_timer, node->patience);
        node->is_lease_old = err.code < 0;
        finish(node, answer);
    } else if (node->is_ending) {
        release(node);
    } else {
        mark_unknown(node);
    }
}

static void confirm_lease(struct node *node)
{
    node->call = kube_send(node->nodes->service->client, &(struct kube_request){.verb = KUBE_GET,
                                                                                .resource = kube_known(KUBE_LEASES),
                                                                                .namespace = LEASE_NAMESPACE,
                                                                                .name = node->name,
                                                                                .on_done = on_lease_read,
                                                                                .arg = node});
}

static bool is_own_taint(yyjson_mut_val *taint)
{
    yyjson_mut_val *key = yyjson_mut_obj_get(taint, "key");

    return yyjson_mut_equals_str(key, TAINT_NOT_READY) || yyjson_mut_equals_str(key, TAINT_UNREACHABLE);
}

static void add_taint(yyjson_mut_doc *doc, yyjson_mut_val *taints, const char *key, const char *effect)
{
    yyjson_mut_val *taint = yyjson_mut_arr_add_obj(doc, taints);
    nsec_t now = nsec_now_wall();
    char when[TIME_TEXT_MAX];

    (void)yyjson_mut_obj_add_str(doc, taint, "key", key);
    (void)yyjson_mut_obj_add_str(doc, taint, "effect", effect);
    (void)yyjson_mut_obj_add_strcpy(doc, taint, "timeAdded", time_format(now - now % NSEC_PER_SEC, when));
}

/* Whether the taints are those of the readiness: both effects of its taint, and nothing of the other. */
static bool has_right_taints(yyjson_val *taints, enum readiness readiness)
{
    const char *wanted = taint_of(readiness);
    int right = 0, wrong = 0;
    size_t i, max;
    yyjson_val *taint;

    yyjson_arr_foreach(taints, i, max, taint)
    {
        const char *key = kube_text(taint, "key");

        if (strcmp(key, TAINT_NOT_READY) == 0 || strcmp(key, TAINT_UNREACHABLE) == 0)
            *(wanted && strcmp(key, wanted) == 0 ? &right : &wrong) += 1;
    }
    return wrong == 0 && right == (wanted ? 2 : 0);
}

static int set_taints(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    const struct node *node = arg;
    const char *key = taint_of(node->readiness);
    yyjson_mut_val *spec = yyjson_mut_obj_get(object, "spec");
    yyjson_mut_val *taints = yyjson_mut_obj_get(spec, "taints");

    (void)err;
    if (!spec)
        spec = yyjson_mut_obj_add_obj(doc, object, "spec");
    if (!taints)
        taints = yyjson_mut_obj_add_arr(doc, spec, "taints");
    for (size_t i = yyjson_mut_arr_size(taints); i > 0; i--) {
        if (is_own_taint(yyjson_mut_arr_get(taints, i - 1)))
            (void)yyjson_mut_arr_remove(taints, i - 1);
    }
    if (key) {
        add_taint(doc, taints, key, "NoSchedule");
        add_taint(doc, taints, key, "NoExecute");
    }
    return 1;
}

static void work_on_node(void *arg, struct work_item *item)
{
    struct nodes *nodes = arg;
    struct node *node = list_item(&item->in_work, struct node, work.in_work);

    if (node->is_there && node->is_joined && node->is_lease_old &&
        (node->is_ending || node->readiness != NODE_UNREACHABLE))
        confirm_lease(node);
    else if (node->is_there && node->is_lease_old && node->readiness == NODE_READY)
        mark_unknown(node);
    else if (node->is_there && !node->is_right)
        node->modify = kube_modify_start(nodes->service->client, &(struct kube_modify_request){
                                                                     .resource = kube_known(KUBE_NODES),
                                                                     .name = node->name,
                                                                     .change = set_taints,
                                                                     .on_done = on_tainted,
                                                                     .arg = node,
                                                                 });
    else
        work_done(nodes->node_work, item, NULL);
}

/* Following. */

static void keep_text(char **text, const char *value)
{
    free(*text);
    *text = xstrdup(value);
}

static void await_lease(struct node *node)
{
    if (!node->lease_timer.handle)
        loop_timer_init(&node->lease_timer, node->nodes->service->loop, on_lease_old, node);
    loop_timer_start(&node->lease_timer, node->patience);
}

static void put_node(struct nodes *nodes, yyjson_val *object)
{
    struct node *node = get_node(nodes, kube_text(object, "metadata", "name"));
    yyjson_val *ready = condition_of(object, "Ready");
    const char *status = kube_text(ready, "status");

    node->is_there = node->was_there = true;
    node->is_joined = *kube_text(object, "metadata", "annotations", KEY_JOINED);
    node->is_ending = value_at(object, "metadata", "deletionTimestamp") != NULL;
    keep_text(&node->version, kube_text(object, "metadata", "resourceVersion"));
    if (node->patience == 0)
        node->patience = nodes->flags->lease_patience;
    if (node->is_joined && !node->lease_timer.handle)
        await_lease(node);
    /* A node that has not said anything yet is being set up. */
    node->readiness = !ready || strcmp(status, "True") == 0 ? NODE_READY
                      : strcmp(status, "False") == 0        ? NODE_NOT_READY
                                                            : NODE_UNREACHABLE;
    node->since = time_at(ready, "lastTransitionTime");
    node->is_right = !ready || has_right_taints(value_at(object, "spec", "taints"), node->readiness);
    if (!node->is_right || node->is_lease_old)
        work_add(nodes->node_work, &node->work);
    if (node->readiness != NODE_READY)
        look_at_pods(node);
}

static void on_node(void *arg, const struct follow_event *event)
{
    struct nodes *nodes = arg;

    if (event->change != FOLLOW_DELETED) {
        put_node(nodes, event->object);
        return;
    }
    struct node *node = strmap_get(&nodes->by_name, "", event->name);
    if (!node)
        return;
    node_stop(node);
    node->is_there = node->is_lease_old = false;
    look_at_pods(node);
    release_node(node);
}

static void on_lease(void *arg, const struct follow_event *event)
{
    struct nodes *nodes = arg;
    struct node *node = strmap_get(&nodes->by_name, "", event->name);

    if (!node || !node->is_there)
        return;
    node->is_lease_old = false;
    if (event->change == FOLLOW_DELETED) {
        loop_timer_done(&node->lease_timer);
        node->lease_timer = (struct loop_timer){0};
        return;
    }
    int64_t seconds = number_at(event->object, 0, "spec", "leaseDurationSeconds");

    /* A machine that has joined says itself how long its pods may be without news. */
    node->patience =
        node->is_joined && seconds > 0 ? MIN(seconds, LEASE_SECONDS_MAX) * NSEC_PER_SEC : nodes->flags->lease_patience;
    keep_text(&node->renewed, kube_text(event->object, "spec", "renewTime"));
    await_lease(node);
}

static void pod_free(struct pod *pod)
{
    struct node *node = pod->node;

    if (pod->call)
        kube_cancel(TAKE_PTR(pod->call));
    work_drop(node->nodes->pod_work, &pod->work);
    loop_timer_done(&pod->due);
    list_remove(&node->pods, &pod->in_node);
    free(pod->namespace);
    free(pod->name);
    free(pod->uid);
    free(pod->version);
    free(pod);
}

static void on_pod(void *arg, const struct follow_event *event)
{
    struct nodes *nodes = arg;
    struct pod *pod = strmap_get(&nodes->by_uid, "", event->uid);

    if (event->change == FOLLOW_DELETED) {
        if (pod) {
            struct node *node = pod->node;

            (void)strmap_remove(&nodes->by_uid, "", event->uid);
            pod_free(pod);
            release_node(node);
        }
        return;
    }
    if (!pod) {
        pod = xcalloc(1, sizeof *pod);
        pod->node = get_node(nodes, kube_text(event->object, "spec", "nodeName"));
        pod->namespace = xstrdup(event->namespace);
        pod->name = xstrdup(event->name);
        pod->uid = xstrdup(event->uid);
        pod->patience = patience_of(event->object);
        list_push(&pod->node->pods, &pod->in_node);
        (void)strmap_put(&nodes->by_uid, "", pod->uid, pod);
    }
    pod->is_ending = value_at(event->object, "metadata", "deletionTimestamp") != NULL;
    keep_text(&pod->version, kube_text(event->object, "metadata", "resourceVersion"));
    look_at_pod(pod);
}

static void on_synced(void *arg, bool is_first)
{
    struct nodes *nodes = arg;

    (void)is_first;
    if (nodes->is_synced || !follower_is_synced(nodes->nodes) || !follower_is_synced(nodes->pods))
        return;
    nodes->is_synced = true;
    /* Leases are about nodes that are known. */
    service_set_ready(nodes->service, true);
    work_pump(nodes->node_work);
    work_pump(nodes->pod_work);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    service_follow_problem(((const struct nodes *)arg)->service, "objects", err, wait);
}

static struct follower *follow(struct nodes *nodes, struct follow_options options)
{
    options.on_synced = on_synced;
    options.on_problem = on_problem;
    options.arg = nodes;
    return follower_new(nodes->service->client, &options);
}

static bool may_start(void *arg)
{
    return ((const struct nodes *)arg)->is_synced;
}

/* The service. */

static struct work *new_work(struct nodes *nodes, const char *name, void (*start)(void *arg, struct work_item *item))
{
    return work_new(&(struct work_options){
        .service = nodes->service,
        .controller = name,
        .workers = WORKERS,
        .may_start = may_start,
        .start = start,
        .arg = nodes,
    });
}

static int configure(struct service *service, struct err *err)
{
    (void)err;
    service->settings.component = "node-controller";
    return 0;
}

static int open_nodes(struct service *service, struct err *err)
{
    struct nodes *nodes = xcalloc(1, sizeof *nodes);

    (void)err;
    service->state = nodes;
    nodes->service = service;
    nodes->flags = service->values;
    nodes->node_work = new_work(nodes, "node", work_on_node);
    nodes->pod_work = new_work(nodes, "node-pod", work_on_pod);
    nodes->nodes = follow(nodes, (struct follow_options){.resource = kube_known(KUBE_NODES), .on_event = on_node});
    nodes->pods =
        follow(nodes, (struct follow_options){
                          .resource = kube_known(KUBE_PODS), .field_selector = "spec.nodeName!=", .on_event = on_pod});
    nodes->leases =
        follow(nodes, (struct follow_options){
                          .resource = kube_known(KUBE_LEASES), .namespace = LEASE_NAMESPACE, .on_event = on_lease});
    return 0;
}

static void lead(struct service *service)
{
    struct nodes *nodes = service->state;

    work_pump(nodes->node_work);
    work_pump(nodes->pod_work);
}

static void stop(struct service *service)
{
    struct nodes *nodes = service->state;

    work_stop(nodes->node_work);
    work_stop(nodes->pod_work);
}

static void close_nodes(struct service *service)
{
    struct nodes *nodes = service->state;
    struct node *node;
    struct pod *pod;

    follower_free(nodes->nodes);
    follower_free(nodes->pods);
    follower_free(nodes->leases);
    for (size_t cursor = 0; (pod = strmap_next(&nodes->by_uid, &cursor));)
        pod_free(pod);
    for (size_t cursor = 0; (node = strmap_next(&nodes->by_name, &cursor));)
        node_free(node);
    strmap_done(&nodes->by_uid);
    strmap_done(&nodes->by_name);
    work_free(nodes->node_work);
    work_free(nodes->pod_work);
    free(nodes);
}

const struct service_kind nodes_service = {
    .name = "nodes",
    .flags = flags,
    .flag_count = ARRAY_LEN(flags),
    .values_size = sizeof(struct nodes_flags),
    .has_api = true,
    .can_elect = true,
    .configure = configure,
    .open = open_nodes,
    .lead = lead,
    .stop = stop,
    .close = close_nodes,
};
