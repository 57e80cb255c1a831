/* SPDX-License-Identifier: Apache-2.0 */

/*
 * --shadow: decisions that are not executed, compared with what the scheduler that runs the cluster does.
 *
 * Every cycle decides anew on the cluster as it is, so that the two never drift apart. A pod that a cycle would start is
 * compared when the other scheduler binds it: to the same node, or one with the same resources free and in all, is the
 * same; anything else is a difference, and so is a start that the other makes much later, or one that we would not make.
 * What would be evicted and stays for a while is a difference, too, and so is what the other evicts and we would leave. An
 * eviction is known by the pod's condition DisruptionTarget: without it, it looks like any deletion.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "frame/service.h"
#include "kube/client/meta.h"
#include "model/books/books.h"
#include "model/state.h"
#include "objects/kinds.h"
#include "objects/object.h"
#include "services/scheduler/flags.h"
#include "services/scheduler/keys.h"
#include "services/scheduler/observe/observers.h"
#include "text/json.h"

enum shadow_result {
    SHADOW_SAME,
    SHADOW_NODE,
    SHADOW_EARLIER,
    SHADOW_WAITS,
    SHADOW_EVICTS,
    SHADOW_SPARES,
    _SHADOW_MAX
};

static const char *const result_names[] = {
    [SHADOW_SAME] = "same",   [SHADOW_NODE] = "other node", [SHADOW_EARLIER] = "starts earlier",
    [SHADOW_WAITS] = "waits", [SHADOW_EVICTS] = "evicts",   [SHADOW_SPARES] = "spares",
};
_Static_assert(ARRAY_LEN(result_names) == _SHADOW_MAX, "every result has a name");

/* A pod that a cycle has seen waiting, or would evict. */
struct shadow_pod {
    name_id uid;
    nsec_t since;        // it would have been started, or evicted, by the first of the cycles that all say so; 0: not
    uint64_t cycle;      // that said so last
    bool is_eviction;    // it runs, and would be evicted
    bool is_told;        // its eviction
    name_id node;        // it would go to
    uint64_t node_kind;  // what that had free, and in all
    double gpus;
    enum verdict_code code;  // why it waits
    enum action action;
    name_id on_behalf;  // gang that it would be evicted for
};

struct shadow {
    const struct scheduler_view *view;
    FILE *record;              // NULL: none
    struct map64 pods;         // struct shadow_pod by key
    VEC(uint64_t) node_kinds;  // by node id, as the last cycle began
    uint64_t cycle;
    bool has_unseen;  // a pod waits that no cycle has seen yet: nobody knows what it would have evicted
    uint64_t counts[_SHADOW_MAX];
    double gpu_seconds;  // by which pods would have been started earlier
    struct meter *results, *gain, *intended, *waiting, *evictions;
};

static struct shadow_pod *find(const struct shadow *shadow, object_key key)
{
    uint64_t value = 0;

    return map64_get(&shadow->pods, key, &value) ? (struct shadow_pod *)(uintptr_t)value : NULL;
}

static struct shadow_pod *put(struct shadow *shadow, pod_id id)
{
    const struct pod *pod = &shadow->view->state->pods.items[id];
    object_key key = key_of(pod->namespace, pod->name);
    struct shadow_pod *known = find(shadow, key);

    if (known && known->uid == pod->uid)
        return known;
    if (!known) {
        known = xcalloc(1, sizeof *known);
        map64_put(&shadow->pods, key, (uint64_t)(uintptr_t)known);
    }
    *known = (struct shadow_pod){
        .uid = pod->uid,
        .gpus = gpu_to_double(state_request(shadow->view->state, id)->quota_gpus),
    };
    return known;
}

static void forget(struct shadow *shadow, object_key key)
{
    free(find(shadow, key));
    (void)map64_remove(&shadow->pods, key);
}

/* The record: a line of JSON for each difference. */
static void write_record(struct shadow *shadow, enum shadow_result result, object_key key, const struct shadow_pod *pod,
                         const char *theirs, double seconds)
{
    const struct state *state = shadow->view->state;
    char time[TIME_TEXT_MAX];
    yyjson_mut_val *root;

    if (!shadow->record)
        return;
    yyjson_mut_doc *doc = json_new_object(&root);

    (void)yyjson_mut_obj_add_strcpy(doc, root, "time", time_format(nsec_now_wall(), time));
    (void)yyjson_mut_obj_add_str(doc, root, "result", result_names[result]);
    (void)yyjson_mut_obj_add_str(doc, root, "namespace", key_namespace(state, key));
    (void)yyjson_mut_obj_add_str(doc, root, "pod", key_name(state, key));
    if (pod->since && !pod->is_eviction)
        (void)yyjson_mut_obj_add_str(doc, root, "node", state_name(state, pod->node));
    if (*theirs)
        (void)yyjson_mut_obj_add_str(doc, root, "theirNode", theirs);
    if (result == SHADOW_EVICTS) {
        (void)yyjson_mut_obj_add_str(doc, root, "action", action_name(pod->action));
        (void)yyjson_mut_obj_add_str(doc, root, "evictedFor", state_name(state, pod->on_behalf));
    }
    if (result == SHADOW_WAITS)
        (void)yyjson_mut_obj_add_str(doc, root, "reason", verdict_code_name(pod->code));
    (void)yyjson_mut_obj_add_real(doc, root, "seconds", seconds);
    (void)yyjson_mut_obj_add_real(doc, root, "gpus", pod->gpus);
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);

    (void)fprintf(shadow->record, "%s\n", text ? text : "{}");
    (void)fflush(shadow->record);
    free(text);
    yyjson_mut_doc_free(doc);
}

static void count(struct shadow *shadow, enum shadow_result result, object_key key, const struct shadow_pod *pod,
                  const char *theirs, double seconds)
{
    shadow->counts[result]++;
    if (result == SHADOW_EARLIER)
        shadow->gpu_seconds += seconds * pod->gpus;
    if (result != SHADOW_SAME)
        write_record(shadow, result, key, pod, theirs, seconds);
}

static uint64_t kind_of(const struct shadow *shadow, name_id node)
{
    node_id id = state_find_node(shadow->view->state, state_name(shadow->view->state, node));

    return id < shadow->node_kinds.len ? shadow->node_kinds.items[id] : 0;
}

/* The other scheduler has bound it. */
static void compare_start(struct shadow *shadow, object_key key, const struct shadow_pod *pod, const char *node)
{
    name_id theirs = name_put(shadow->view->state, node);
    nsec_t late = nsec_now_wall() - pod->since;
    bool is_alike = theirs == pod->node || (pod->node_kind != 0 && kind_of(shadow, theirs) == pod->node_kind);
    enum shadow_result result = pod->since == 0                               ? SHADOW_WAITS
                                : late > shadow->view->flags->shadow_patience ? SHADOW_EARLIER
                                : is_alike                                    ? SHADOW_SAME
                                                                              : SHADOW_NODE;

    count(shadow, result, key, pod, node, pod->since ? (double)late / (double)NSEC_PER_SEC : 0);
}

/* A scheduler evicts it. */
static bool is_evicted(yyjson_val *pod)
{
    yyjson_val *conditions = yyjson_obj_get(yyjson_obj_get(pod, "status"), "conditions");
    size_t i, max;
    yyjson_val *condition;

    yyjson_arr_foreach(conditions, i, max, condition)
    {
        if (strcmp(kube_text(condition, "type"), "DisruptionTarget") == 0)
            return strcmp(kube_text(condition, "status"), "True") == 0 &&
                   strcmp(kube_text(condition, "reason"), "PreemptionByScheduler") == 0;
    }
    return false;
}

/* The other scheduler has evicted a pod that runs. It is told once; the entry stays until the pod is gone. */
static void compare_eviction(struct shadow *shadow, object_key key)
{
    pod_id id = key_pod(shadow->view->state, key);

    if (id == NO_ID)
        return;
    struct shadow_pod *pod = put(shadow, id);
    bool is_same = pod->is_eviction && pod->since;

    if (pod->is_told)
        return;
    pod->is_eviction = pod->is_told = true;
    if (is_same)
        shadow->counts[SHADOW_SAME]++;
    else if (!shadow->has_unseen)
        count(shadow, SHADOW_SPARES, key, pod, "", 0);
}

static void on_object(void *arg, const struct object *object)
{
    struct shadow *shadow = arg;

    if (strcmp(object->kind->kind, "Pod") != 0 || *object->kind->group)
        return;
    object_key key = key_put(shadow->view->state, object->namespace, object->name);
    struct shadow_pod *pod = find(shadow, key);
    const char *node = kube_text(object->root.val, "spec", "nodeName");

    if (pod && pod->uid != name_put(shadow->view->state, object->uid))
        pod = NULL;
    if (!*node) {
        shadow->has_unseen |= !pod;
        return;
    }
    if (pod && !pod->is_eviction) {
        compare_start(shadow, key, pod, node);
        forget(shadow, key);
    }
    if (!kube_text(object->root.val, "metadata", "deletionTimestamp")[0])
        return;
    if (is_evicted(object->root.val))
        compare_eviction(shadow, key);
    else if (pod && pod->is_eviction)
        forget(shadow, key);
}

static void on_dropped(void *arg, const struct object_kind *kind, const char *namespace, const char *name)
{
    struct shadow *shadow = arg;

    if (strcmp(kind->kind, "Pod") == 0 && !*kind->group)
        forget(shadow, key_put(shadow->view->state, namespace, name));
}

static void on_cycle_begin(void *arg, const struct scheduler_cycle *cycle)
{
    struct shadow *shadow = arg;
    const struct state *state = shadow->view->state;

    shadow->cycle = cycle->number;
    vec_clear(&shadow->node_kinds);
    for (node_id id = 0; id < state->nodes.len; id++) {
        struct books books = state_books(state, id);
        size_t size = state->res.count * sizeof *books.idle;
        uint64_t hash = state->nodes.items[id].is_present ? hash_bytes(books.idle, size, 1) : 0;

        vec_push(&shadow->node_kinds, hash ? hash_bytes(books.allocatable, size, hash) : 0);
    }
}

static void on_decision(void *arg, const struct scheduler_cycle *cycle, const struct decision *decision)
{
    struct shadow *shadow = arg;
    const struct state *state = shadow->view->state;

    if (decision->kind == DECISION_PIPELINE)
        return;
    struct shadow_pod *pod = put(shadow, decision->pod);
    bool is_eviction = decision->kind == DECISION_EVICT;

    if (pod->since == 0 || pod->is_eviction != is_eviction)
        pod->since = cycle->now;
    pod->is_eviction = is_eviction;
    pod->cycle = cycle->number;
    pod->action = decision->action;
    if (is_eviction) {
        pod->on_behalf = decision->on_behalf == NO_ID ? 0 : state->gangs.items[decision->on_behalf].name;
        return;
    }
    pod->node = state->nodes.items[decision->node].name;
    pod->node_kind = decision->node < shadow->node_kinds.len ? shadow->node_kinds.items[decision->node] : 0;
}

/* Pods that this cycle leaves waiting, and why. */
static void note_waiting(struct shadow *shadow)
{
    const struct state *state = shadow->view->state;

    vec_foreach (&state->pending_gangs.ids, id) {
        const struct gang *gang = &state->gangs.items[*id];
        enum verdict_code code = engine_verdict(shadow->view->engine, *id).code;

        for (uint32_t g = 0; g < gang->group_count; g++) {
            vec_foreach (&gang->groups[g].pods, pod) {
                if (state->pods.items[*pod].status == POD_PENDING)
                    put(shadow, *pod)->code = code;
            }
        }
    }
}

/* What this cycle does not say any more is no intention; evictions that stay one are told. */
static void on_cycle_end(void *arg, const struct scheduler_cycle *cycle)
{
    struct shadow *shadow = arg;
    uint64_t key, value;

    note_waiting(shadow);
    shadow->has_unseen = false;
    for (size_t cursor = 0; map64_next(&shadow->pods, &cursor, &key, &value);) {
        struct shadow_pod *pod = (struct shadow_pod *)(uintptr_t)value;

        if (pod->cycle != cycle->number)
            pod->since = 0;
        if (!pod->is_eviction || pod->since == 0 || pod->is_told ||
            cycle->now - pod->since < shadow->view->flags->shadow_patience)
            continue;
        pod->is_told = true;
        count(shadow, SHADOW_EVICTS, key, pod, "", (double)(cycle->now - pod->since) / (double)NSEC_PER_SEC);
    }
}

static void collect(void *arg, struct metrics *metrics)
{
    struct shadow *shadow = arg;

    uint64_t key, value;
    double intended = 0, waiting = 0, evictions = 0;

    (void)metrics;
    for (size_t cursor = 0; map64_next(&shadow->pods, &cursor, &key, &value);) {
        const struct shadow_pod *pod = (const struct shadow_pod *)(uintptr_t)value;

        intended += pod->since != 0 && !pod->is_eviction;
        waiting += !pod->is_eviction;
        evictions += pod->since != 0 && pod->is_eviction;
    }
    meter_set(meter_series(shadow->waiting, NULL), waiting);
    meter_set(meter_series(shadow->evictions, NULL), evictions);
    meter_set(meter_series(shadow->intended, NULL), intended);
    for (int result = 0; result < _SHADOW_MAX; result++)
        meter_set(meter_series(shadow->results, METER_LABELS(result_names[result])), (double)shadow->counts[result]);
    meter_set(meter_series(shadow->gain, NULL), shadow->gpu_seconds);
}

static void clear(struct shadow *shadow)
{
    uint64_t key, value;

    for (size_t cursor = 0; map64_next(&shadow->pods, &cursor, &key, &value);)
        free((struct shadow_pod *)(uintptr_t)value);
    map64_done(&shadow->pods);
    shadow->pods = (struct map64){0};
    vec_clear(&shadow->node_kinds);
}

static int on_renewed(void *arg, struct err *err)
{
    (void)err;
    clear(arg);
    return 0;
}

static void free_shadow(void *arg)
{
    struct shadow *shadow = arg;

    clear(shadow);
    vec_done(&shadow->node_kinds);
    if (shadow->record)
        (void)fclose(shadow->record);
    free(shadow);
}

int observe_for_shadow(const struct scheduler_view *view, struct scheduler_observer *ret, struct err *err)
{
    static const char *const labels[] = {"result", NULL};
    const char *path = view->flags->shadow_record;

    if (!view->flags->is_shadow)
        return 0;
    FILE *record = *path ? fopen(path, "ae") : NULL;
    if (*path && !record)
        return err_set(err, -errno, "--shadow-record %s: %s", path, strerror(errno));
    struct shadow *shadow = xcalloc(1, sizeof *shadow);

    shadow->view = view;
    shadow->record = record;
    shadow->results = metrics_gauge(view->service->metrics, "shadow_results",
                                    "Pods by how our decision compares with the running scheduler's.", labels);
    shadow->gain = metrics_gauge(view->service->metrics, "shadow_gpu_seconds_earlier",
                                 "GPU seconds by which pods would have been started earlier.", NULL);
    shadow->intended = metrics_gauge(view->service->metrics, "shadow_starts",
                                     "Pods that the last cycle would have started, and that are pending.", NULL);
    shadow->waiting =
        metrics_gauge(view->service->metrics, "shadow_pods",
                      "Pending pods that a cycle has seen, and that are compared once they are bound.", NULL);
    shadow->evictions = metrics_gauge(view->service->metrics, "shadow_evictions",
                                      "Pods that the last cycle would have evicted, and that run.", NULL);
    metrics_on_collect(view->service->metrics, collect, shadow);
    log_info(view->service->log, "shadow mode: decisions are compared and not executed", log_str("record", path));
    *ret = (struct scheduler_observer){
        .arg = shadow,
        .on_object = on_object,
        .on_dropped = on_dropped,
        .on_cycle_begin = on_cycle_begin,
        .on_decision = on_decision,
        .on_cycle_end = on_cycle_end,
        .on_renewed = on_renewed,
        .free = free_shadow,
    };
    return 1;
}
