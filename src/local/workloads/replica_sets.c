/* SPDX-License-Identifier: Apache-2.0 */

/* ReplicaSets, and ReplicationControllers, which came before them: as many pods of one template as are wanted. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "local/controllers/actions.h"
#include "local/controllers/adoption.h"
#include "local/controllers/status.h"
#include "local/controllers/template.h"
#include "local/controllers/values.h"
#include "local/workloads/workloads.h"
#include "text/json.h"

enum { PREFIX_MAX = 300 };

struct pods {
    VEC(struct child *) active;
    int64_t ready, available, ending;
};

static void count_pods(struct owner *owner, struct pods *pods)
{
    nsec_t now = nsec_now_wall();
    nsec_t min_ready = number_at(owner->object, 0, "spec", "minReadySeconds") * NSEC_PER_SEC;

    owner_foreach(owner, child)
    {
        nsec_t due = 0;

        if (pod_is_finished(&child->pod))
            continue;
        if (child->is_ending) {
            pods->ending++;
            continue;
        }
        vec_push(&pods->active, child);
        pods->ready += child->pod.is_ready;
        if (pod_is_available(&child->pod, min_ready, now, &due))
            pods->available++;
        else if (due > 0)
            owner_look_again(owner, due);
    }
}

/* Those that are worth the least come first: without a node, not running, not ready, cheap to delete, young. */
static int compare_worth(const void *left, const void *right)
{
    const struct child *a = *(struct child *const *)left, *b = *(struct child *const *)right;

    if (a->pod.has_node != b->pod.has_node)
        return a->pod.has_node ? 1 : -1;
    if (a->pod.is_pending != b->pod.is_pending)
        return a->pod.is_pending ? -1 : 1;
    if (a->pod.is_ready != b->pod.is_ready)
        return a->pod.is_ready ? 1 : -1;
    if (a->pod.deletion_cost != b->pod.deletion_cost)
        return a->pod.deletion_cost < b->pod.deletion_cost ? -1 : 1;
    if (a->pod.is_ready && a->pod.ready_since != b->pod.ready_since)
        return a->pod.ready_since > b->pod.ready_since ? -1 : 1;
    if (a->pod.restarts != b->pod.restarts)
        return a->pod.restarts > b->pod.restarts ? -1 : 1;
    if (a->created != b->created)
        return a->created > b->created ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void create_pods(struct owner *owner, int64_t count)
{
    struct child_names names;
    yyjson_mut_val *pod = NULL;
    char name[CHILD_NAME_MAX], prefix[PREFIX_MAX];

    (void)snprintf(prefix, sizeof prefix, "%s-", owner->name);
    child_names_init(&names, owner);
    for (int64_t i = 0; i < count; i++)
        owner_create(owner, 0,
                     template_pod(owner, value_at(owner->object, "spec", "template"),
                                  child_names_next(&names, prefix, name), prefix, &pod));
    child_names_done(&names);
}

static void scale(struct owner *owner, struct pods *pods)
{
    int64_t wanted = MAX(number_at(owner->object, 1, "spec", "replicas"), 0), have = pods->active.len;

    if (pods->active.items && have > wanted) {
        qsort(pods->active.items, pods->active.len, sizeof *pods->active.items, compare_worth);
        for (int64_t i = 0; i < have - wanted; i++)
            owner_delete(owner, pods->active.items[i]);
    }
    if (have < wanted)
        create_pods(owner, MIN(wanted - have, owner_create_max(owner)));
}

static void set_status(struct owner *owner, const struct pods *pods)
{
    yyjson_mut_val *status = NULL;
    yyjson_mut_doc *doc = json_new_object(&status);

    (void)yyjson_mut_obj_add_int(doc, status, "replicas", pods->active.len);
    status_add_count(doc, status, "fullyLabeledReplicas", pods->active.len);
    status_add_count(doc, status, "readyReplicas", pods->ready);
    status_add_count(doc, status, "availableReplicas", pods->available);
    /* Written also when it is 0: rollouts that recreate pods wait for it. ReplicationControllers do not have it. */
    if (owner->controller->kind == &replica_sets_controller)
        (void)yyjson_mut_obj_add_int(doc, status, "terminatingReplicas", pods->ending);
    status_add_count(doc, status, "observedGeneration", number_at(owner->object, 0, "metadata", "generation"));
    status_keep(doc, status, owner->object, "conditions");
    (void)owner_set_status(owner, doc, status);
}

static void sync_replica_set(struct owner *owner)
{
    struct pods pods = {0};

    if (adoption_start(owner))
        return;
    count_pods(owner, &pods);
    if (!value_at(owner->object, "metadata", "deletionTimestamp"))
        scale(owner, &pods);
    if (!owner_has_acted(owner))
        set_status(owner, &pods);
    vec_done(&pods.active);
}

const struct controller_kind replica_sets_controller = {
    .service = CONTROLLER_SERVICE("replicasets"),
    .component = "replicaset-controller",
    .owner = KUBE_REPLICA_SETS,
    .children = {KUBE_PODS},
    .child_kinds = 1,
    .sync = sync_replica_set,
    .adoption = ADOPTION_UNFINISHED,
};

const struct controller_kind replication_controllers_controller = {
    .service = CONTROLLER_SERVICE("replicationcontrollers"),
    .component = "replication-controller",
    .owner = KUBE_REPLICATION_CONTROLLERS,
    .children = {KUBE_PODS},
    .child_kinds = 1,
    .sync = sync_replica_set,
    .adoption = ADOPTION_UNFINISHED,
};
