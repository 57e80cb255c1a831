/* SPDX-License-Identifier: Apache-2.0 */

/* StatefulSets: pods with numbers, created, replaced and removed in the order of these. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "local/controllers/actions.h"
#include "local/controllers/adoption.h"
#include "local/controllers/status.h"
#include "local/controllers/values.h"
#include "local/workloads/revisions.h"
#include "local/workloads/stateful_pods.h"
#include "local/workloads/workloads.h"
#include "text/json.h"

/* More pods than any set has. */
enum { PODS_MAX = 1 << 20 };

struct plan {
    struct revisions revisions;
    struct child *current;  // the revision that pods below the partition have
    int64_t first, end;     // ordinals that are wanted: [first, end)
    int64_t partition;
    bool is_parallel, is_rolling;
    struct child **pods;          // by ordinal - first; NULL where there is none
    VEC(struct child *) surplus;  // pods of other ordinals, the highest last
    int64_t replicas, ready, available, on_current, on_update;
};

static bool is_available(struct owner *set, const struct child *pod)
{
    nsec_t min_ready = number_at(set->object, 0, "spec", "minReadySeconds") * NSEC_PER_SEC, due = 0;
    bool is_so = pod_is_available(&pod->pod, min_ready, nsec_now_wall(), &due);

    if (!is_so && due > 0)
        owner_look_again(set, due);
    return is_so;
}

static int64_t ordinal_of(const struct child *pod)
{
    const char *dash = strrchr(pod->name, '-');

    return dash ? strtol(dash + 1, NULL, 10) : 0;
}

static int compare_ordinals(const void *left, const void *right)
{
    int64_t a = ordinal_of(*(struct child *const *)left), b = ordinal_of(*(struct child *const *)right);

    return a < b ? -1 : a > b;
}

static void count_pod(struct owner *set, struct plan *plan, const struct child *pod)
{
    plan->replicas++;
    if (pod->pod.is_ready) {
        plan->ready++;
        plan->available += is_available(set, pod);
    }
    if (pod->is_ending)
        return;
    plan->on_update += strcmp(pod->mark, plan->revisions.update->name) == 0;
    plan->on_current += strcmp(pod->mark, plan->current->name) == 0;
}

static void plan_init(struct plan *plan, struct owner *set)
{
    yyjson_val *spec = yyjson_obj_get(set->object, "spec");
    struct child *current = revisions_find(&plan->revisions, kube_text(set->object, "status", "currentRevision"));

    plan->current = current ? current : plan->revisions.update;
    plan->first = CLAMP(number_at(spec, 0, "ordinals", "start"), 0, INT32_MAX);
    plan->end = plan->first + CLAMP(number_at(spec, 1, "replicas"), 0, PODS_MAX);
    plan->is_parallel = strcmp(kube_text(spec, "podManagementPolicy"), "Parallel") == 0;
    plan->is_rolling = strcmp(kube_text(spec, "updateStrategy", "type"), "OnDelete") != 0;
    plan->partition = number_at(spec, 0, "updateStrategy", "rollingUpdate", "partition");
    plan->pods = xcalloc((size_t)(plan->end - plan->first) + 1, sizeof *plan->pods);
    owner_foreach(set, pod)
    {
        int64_t ordinal = stateful_ordinal(set, pod->name);

        if (pod->kind == REVISION_CHILD_KIND || ordinal < 0)
            continue;
        count_pod(set, plan, pod);
        if (ordinal >= plan->first && ordinal < plan->end)
            plan->pods[ordinal - plan->first] = pod;
        else
            vec_push(&plan->surplus, pod);
    }
    if (plan->surplus.len > 1)
        qsort(plan->surplus.items, plan->surplus.len, sizeof *plan->surplus.items, compare_ordinals);
}

/* The revision that a new pod of the ordinal gets. */
static const struct child *revision_for(const struct plan *plan, int64_t ordinal)
{
    if (!plan->is_rolling || ordinal < plan->first + plan->partition)
        return plan->current;
    return plan->revisions.update;
}

/* Brings one pod to life. Whether the next one may be looked at. */
static bool tend(struct owner *set, const struct plan *plan, int64_t ordinal)
{
    struct child *pod = plan->pods[ordinal - plan->first];

    if (!pod) {
        stateful_create(set, revision_for(plan, ordinal), ordinal);
        return plan->is_parallel;
    }
    if (pod->is_ending)
        return plan->is_parallel;
    if (pod_is_finished(&pod->pod)) {
        owner_delete(set, pod);
        return plan->is_parallel;
    }
    return plan->is_parallel || is_available(set, pod);
}

/* Removes pods that are too many, from the highest ordinal on. Whether there are none. */
static bool cut(struct owner *set, const struct plan *plan)
{
    for (uint32_t i = plan->surplus.len; i > 0; i--) {
        struct child *pod = plan->surplus.items[i - 1];

        if (!pod->is_ending)
            owner_delete(set, pod);
        if (!plan->is_parallel)
            return false;
    }
    return plan->surplus.len == 0;
}

/* How many pods may be unavailable while others are replaced: one at least. */
static int64_t max_unavailable(const struct owner *set, int64_t replicas)
{
    yyjson_val *value = value_at(set->object, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable");

    return value ? MAX(scaled_of(value, 0, replicas, false), 1) : 1;
}

static bool is_serving(struct owner *set, const struct child *pod)
{
    return pod && !pod->is_ending && is_available(set, pod);
}

/* Replaces pods with an old template, from the highest ordinal on, as long as enough others are available. One that is not
 * available itself costs nothing. */
static void update(struct owner *set, const struct plan *plan)
{
    int64_t room = max_unavailable(set, plan->end - plan->first);

    for (int64_t ordinal = plan->first; ordinal < plan->end; ordinal++)
        room -= !is_serving(set, plan->pods[ordinal - plan->first]);
    for (int64_t ordinal = plan->end - 1; plan->is_rolling && ordinal >= plan->first + plan->partition; ordinal--) {
        struct child *pod = plan->pods[ordinal - plan->first];

        if (!pod || pod->is_ending || strcmp(pod->mark, plan->revisions.update->name) == 0)
            continue;
        if (is_serving(set, pod) && room-- <= 0)
            return;
        owner_delete(set, pod);
    }
}

static void act(struct owner *set, const struct plan *plan)
{
    for (int64_t ordinal = plan->first; ordinal < plan->end; ordinal++) {
        if (!tend(set, plan, ordinal))
            return;
    }
    if (cut(set, plan) && !owner_has_acted(set))
        update(set, plan);
}

static void set_status(struct owner *set, const struct plan *plan)
{
    int64_t wanted = plan->end - plan->first;
    bool is_updated = plan->on_update == wanted && plan->ready == wanted && plan->replicas == wanted;
    const struct child *current = is_updated && plan->is_rolling ? plan->revisions.update : plan->current;
    yyjson_mut_val *status = NULL;
    yyjson_mut_doc *doc = json_new_object(&status);

    status_add_count(doc, status, "observedGeneration", number_at(set->object, 0, "metadata", "generation"));
    (void)yyjson_mut_obj_add_int(doc, status, "replicas", plan->replicas);
    status_add_count(doc, status, "readyReplicas", plan->ready);
    (void)yyjson_mut_obj_add_int(doc, status, "availableReplicas", plan->available);
    status_add_count(doc, status, "currentReplicas",
                     current == plan->revisions.update ? plan->on_update : plan->on_current);
    status_add_count(doc, status, "updatedReplicas", plan->on_update);
    (void)yyjson_mut_obj_add_strcpy(doc, status, "currentRevision", current->name);
    (void)yyjson_mut_obj_add_strcpy(doc, status, "updateRevision", plan->revisions.update->name);
    (void)yyjson_mut_obj_add_int(doc, status, "collisionCount", 0);
    status_keep(doc, status, set->object, "conditions");
    (void)owner_set_status(set, doc, status);
}

static void work_on(struct owner *set, struct plan *plan)
{
    plan_init(plan, set);
    act(set, plan);
    if (!owner_has_acted(set))
        revisions_clean(set, &plan->revisions, plan->current->name);
    if (!owner_has_acted(set))
        set_status(set, plan);
    free(plan->pods);
    vec_done(&plan->surplus);
}

static void sync_stateful_set(struct owner *set)
{
    struct plan plan = {0};

    /* What a set that is deleted alone has given up is not made again. */
    if (value_at(set->object, "metadata", "deletionTimestamp") || adoption_start(set))
        return;
    revisions_init(&plan.revisions, set);
    if (revisions_settle(set, &plan.revisions))
        work_on(set, &plan);
    revisions_done(&plan.revisions);
}

static void tell(const struct owner *set, uint32_t kind, const char *name, bool is_created)
{
    if (kind != REVISION_CHILD_KIND)
        owner_event(set, "Normal", is_created ? "SuccessfulCreate" : "SuccessfulDelete",
                    "%s Pod %s in StatefulSet %s successful", is_created ? "create" : "delete", name, set->name);
}

static bool may_adopt(const struct owner *set, const char *name)
{
    return stateful_ordinal(set, name) >= 0;
}

const struct controller_kind stateful_sets_controller = {
    .service = CONTROLLER_SERVICE("statefulsets"),
    .component = "statefulset-controller",
    .owner = KUBE_STATEFUL_SETS,
    .children = {KUBE_PODS, KUBE_CONTROLLER_REVISIONS},
    .child_kinds = 2,
    .mark = "controller-revision-hash",
    .sync = sync_stateful_set,
    .adoption = ADOPTION_ALL,
    .may_adopt = may_adopt,
    .tell = tell,
};
