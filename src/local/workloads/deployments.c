/* SPDX-License-Identifier: Apache-2.0 */

/* Deployments: ReplicaSets, one for each template there was, and the way from the old ones to the new one. */
#include <stdio.h>
#include <string.h>

#include "kube/client/meta.h"
#include "local/controllers/actions.h"
#include "local/controllers/adoption.h"
#include "local/controllers/status.h"
#include "local/controllers/values.h"
#include "local/workloads/deployment_sets.h"
#include "local/workloads/workloads.h"
#include "text/json.h"

enum { DEADLINE_DEFAULT = 600, MESSAGE_MAX = 512 };

struct rollout {
    struct deployment_sets sets;
    int64_t wanted;
    int64_t surge;        // pods above `wanted` that may be there
    int64_t unavailable;  // pods below it that may be missing
    bool is_recreating;
    bool is_paused;
};

static void rollout_init(struct rollout *rollout, struct owner *deployment)
{
    yyjson_val *spec = yyjson_obj_get(deployment->object, "spec");

    deployment_sets_init(&rollout->sets, deployment);
    rollout->wanted = number_at(spec, 1, "replicas");
    rollout->is_paused = bool_at(spec, "paused");
    rollout->is_recreating = strcmp(kube_text(spec, "strategy", "type"), "Recreate") == 0;
    if (rollout->is_recreating)
        return;
    rollout->surge = scaled_of(value_at(spec, "strategy", "rollingUpdate", "maxSurge"), 25, rollout->wanted, true);
    rollout->unavailable =
        scaled_of(value_at(spec, "strategy", "rollingUpdate", "maxUnavailable"), 25, rollout->wanted, false);
    /* Otherwise nothing could ever change. */
    if (rollout->surge == 0 && rollout->unavailable == 0)
        rollout->unavailable = 1;
    rollout->unavailable = MIN(rollout->unavailable, rollout->wanted);
}

static int64_t sum(const struct rollout *rollout, const char *member)
{
    int64_t total = set_count(rollout->sets.current, member);

    vec_foreach (&rollout->sets.old, set)
        total += set_count(*set, member);
    return total;
}

static int64_t old_wanted(const struct rollout *rollout)
{
    int64_t total = 0;

    vec_foreach (&rollout->sets.old, set)
        total += set_wanted(*set);
    return total;
}

static int64_t old_sum(const struct rollout *rollout, const char *member)
{
    return sum(rollout, member) - set_count(rollout->sets.current, member);
}

static void scale(struct owner *deployment, const struct rollout *rollout, struct child *set, int64_t replicas)
{
    deployment_scale_set(deployment, &rollout->sets, set, replicas, rollout->surge);
}

/* Rolling update. */

static void grow_current(struct owner *deployment, const struct rollout *rollout)
{
    int64_t have = set_wanted(rollout->sets.current);
    int64_t room = rollout->wanted + rollout->surge - have - old_wanted(rollout);

    if (have > rollout->wanted)
        scale(deployment, rollout, rollout->sets.current, rollout->wanted);
    else
        scale(deployment, rollout, rollout->sets.current, MIN(have + MAX(room, 0), rollout->wanted));
}

/* Old pods go as new ones become available; first of all those that serve nobody. */
static void shrink_old(struct owner *deployment, const struct rollout *rollout)
{
    int64_t minimum = rollout->wanted - rollout->unavailable;
    int64_t current_missing =
        MAX(set_wanted(rollout->sets.current) - set_count(rollout->sets.current, "availableReplicas"), 0);
    int64_t budget = old_wanted(rollout) + set_wanted(rollout->sets.current) - minimum - current_missing;
    int64_t available = sum(rollout, "availableReplicas") - minimum;

    vec_foreach (&rollout->sets.old, set) {
        int64_t have = set_wanted(*set);

        if (have == 0)
            continue;
        int64_t broken = MAX(have - set_count(*set, "availableReplicas"), 0);
        int64_t cut = MIN(broken, MAX(budget, 0));

        int64_t working = MIN(have - broken, MAX(MIN(available, budget - cut), 0));
        available -= working;
        budget -= cut + working;
        /* Also for its annotations. */
        scale(deployment, rollout, *set, have - cut - working);
    }
}

/* Recreate: everything old goes, then the new one comes. */
static void recreate(struct owner *deployment, const struct rollout *rollout)
{
    vec_foreach (&rollout->sets.old, set)
        scale(deployment, rollout, *set, 0);
    if (old_sum(rollout, "replicas") + old_sum(rollout, "terminatingReplicas") > 0)
        return;
    if (rollout->sets.current)
        scale(deployment, rollout, rollout->sets.current, rollout->wanted);
    else
        deployment_create_set(deployment, &rollout->sets, rollout->wanted, 0);
}

static void roll(struct owner *deployment, const struct rollout *rollout)
{
    if (!rollout->sets.current) {
        int64_t room = rollout->wanted + rollout->surge - old_wanted(rollout);

        deployment_create_set(deployment, &rollout->sets, CLAMP(room, 0, rollout->wanted), rollout->surge);
        return;
    }
    grow_current(deployment, rollout);
    shrink_old(deployment, rollout);
}

/* Paused: the size follows, and nothing else. The ReplicaSet that has the pods takes the difference. */
static void scale_paused(struct owner *deployment, const struct rollout *rollout)
{
    struct child *last = rollout->sets.current;

    for (uint32_t i = rollout->sets.old.len; i > 0 && (!last || set_wanted(last) == 0); i--)
        last = rollout->sets.old.items[i - 1];
    if (last && old_wanted(rollout) + set_wanted(rollout->sets.current) == set_wanted(last))
        scale(deployment, rollout, last, rollout->wanted);
}

/* The status. */

static bool is_complete(const struct rollout *rollout)
{
    return set_count(rollout->sets.current, "replicas") == rollout->wanted &&
           sum(rollout, "replicas") == rollout->wanted && sum(rollout, "availableReplicas") == rollout->wanted &&
           rollout->sets.current;
}

static bool has_progressed(struct owner *deployment, const struct rollout *rollout)
{
    yyjson_val *status = yyjson_obj_get(deployment->object, "status");

    return set_count(rollout->sets.current, "replicas") > number_at(status, 0, "updatedReplicas") ||
           sum(rollout, "readyReplicas") > number_at(status, 0, "readyReplicas") ||
           sum(rollout, "availableReplicas") > number_at(status, 0, "availableReplicas") ||
           old_sum(rollout, "replicas") < number_at(status, 0, "replicas") - number_at(status, 0, "updatedReplicas");
}

static void set_condition(yyjson_mut_doc *doc, yyjson_mut_val *conditions, const char *type, const char *status,
                          const char *reason, const char *message)
{
    status_set_condition(doc, conditions,
                         &(struct status_condition){type, status, reason, message, .has_update_time = true},
                         nsec_now_wall());
}

/* Whether the rollout stands still for too long. */
static bool is_late(struct owner *deployment)
{
    int64_t seconds = number_at(deployment->object, DEADLINE_DEFAULT, "spec", "progressDeadlineSeconds");
    yyjson_val *condition = condition_of(deployment->object, "Progressing");
    const char *reason = kube_text(condition, "reason");

    if (!condition || seconds >= INT32_MAX || strcmp(reason, "NewReplicaSetAvailable") == 0)
        return false;
    if (strcmp(reason, "ProgressDeadlineExceeded") == 0)
        return true;
    nsec_t due = time_at(condition, "lastUpdateTime") + seconds * NSEC_PER_SEC;
    if (due > nsec_now_wall())
        owner_look_again(deployment, due);
    return due <= nsec_now_wall();
}

/* Whether the condition tells how the ReplicaSet `name` gets on. One of an older template says nothing of the new
 * one: left standing beside the new generation, its deadline would end `kubectl rollout status` at once. */
static bool is_about(yyjson_val *condition, const char *name)
{
    char quoted[MESSAGE_MAX];

    (void)snprintf(quoted, sizeof quoted, "\"%s\"", name);
    return strstr(kube_text(condition, "message"), quoted);
}

static void add_progress(struct owner *deployment, const struct rollout *rollout, yyjson_mut_doc *doc,
                         yyjson_mut_val *conditions)
{
    const char *name = rollout->sets.current ? rollout->sets.current->name : "";
    bool has_condition = is_about(condition_of(deployment->object, "Progressing"), name);
    char message[MESSAGE_MAX];

    if (is_complete(rollout)) {
        (void)snprintf(message, sizeof message, "ReplicaSet \"%s\" has successfully progressed.", name);
        set_condition(doc, conditions, "Progressing", "True", "NewReplicaSetAvailable", message);
    } else if (!has_condition || has_progressed(deployment, rollout) ||
               strcmp(kube_text(condition_of(deployment->object, "Progressing"), "reason"), "NewReplicaSetAvailable") ==
                   0) {
        bool is_new = rollout->sets.current && set_count(rollout->sets.current, "replicas") == 0 && !has_condition;

        (void)snprintf(message, sizeof message,
                       is_new ? "Created new replica set \"%s\"" : "ReplicaSet \"%s\" is progressing.", name);
        set_condition(doc, conditions, "Progressing", "True", is_new ? "NewReplicaSetCreated" : "ReplicaSetUpdated",
                      message);
    } else if (is_late(deployment)) {
        (void)snprintf(message, sizeof message, "ReplicaSet \"%s\" has timed out progressing.", name);
        set_condition(doc, conditions, "Progressing", "False", "ProgressDeadlineExceeded", message);
    }
}

static void add_conditions(struct owner *deployment, const struct rollout *rollout, yyjson_mut_doc *doc,
                           yyjson_mut_val *conditions)
{
    bool is_available = sum(rollout, "availableReplicas") >= rollout->wanted - rollout->unavailable;

    set_condition(doc, conditions, "Available", is_available ? "True" : "False",
                  is_available ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                  is_available ? "Deployment has minimum availability."
                               : "Deployment does not have minimum availability.");
    if (!rollout->is_paused)
        add_progress(deployment, rollout, doc, conditions);
    else if (strcmp(kube_text(condition_of(deployment->object, "Progressing"), "reason"), "DeploymentPaused") != 0)
        set_condition(doc, conditions, "Progressing", "Unknown", "DeploymentPaused", "Deployment is paused");
}

static void set_status(struct owner *deployment, const struct rollout *rollout)
{
    yyjson_mut_val *status = NULL;
    yyjson_mut_doc *doc = json_new_object(&status);
    yyjson_mut_val *conditions = status_conditions(doc, deployment->object);
    int64_t available = sum(rollout, "availableReplicas"), ready = sum(rollout, "readyReplicas");

    status_add_count(doc, status, "observedGeneration", number_at(deployment->object, 0, "metadata", "generation"));
    status_add_count(doc, status, "replicas", sum(rollout, "replicas"));
    status_add_count(doc, status, "updatedReplicas", set_count(rollout->sets.current, "replicas"));
    status_add_count(doc, status, "readyReplicas", ready);
    status_add_count(doc, status, "availableReplicas", available);
    status_add_count(doc, status, "unavailableReplicas",
                     MAX(old_wanted(rollout) + set_wanted(rollout->sets.current) - available, 0));
    (void)yyjson_mut_obj_add_int(doc, status, "terminatingReplicas", sum(rollout, "terminatingReplicas"));
    status_keep(doc, status, deployment->object, "collisionCount");
    add_conditions(deployment, rollout, doc, conditions);
    status_add_conditions(doc, status, conditions);
    (void)owner_set_status(deployment, doc, status);
}

/* The revision of a Deployment is that of its newest ReplicaSet: `kubectl rollout history` starts from it. */
static void set_revision_of(struct owner *deployment, const struct rollout *rollout)
{
    yyjson_mut_val *root = NULL;
    char text[32];

    if (!rollout->sets.current || set_revision(rollout->sets.current) != rollout->sets.revision)
        return;
    (void)snprintf(text, sizeof text, "%lld", (long long)rollout->sets.revision);
    if (strcmp(kube_text(deployment->object, "metadata", "annotations", DEPLOYMENT_REVISION), text) == 0)
        return;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, root, "metadata");
    (void)yyjson_mut_obj_add_strcpy(doc, metadata, "uid", deployment->uid);
    (void)yyjson_mut_obj_add_strcpy(doc, yyjson_mut_obj_add_obj(doc, metadata, "annotations"), DEPLOYMENT_REVISION,
                                    text);
    /* A write to the object would count as a change of its specification. */
    owner_patch(deployment, doc, "status");
}

static void sync_deployment(struct owner *deployment)
{
    struct rollout rollout = {0};

    if (adoption_start(deployment))
        return;
    rollout_init(&rollout, deployment);
    if (!value_at(deployment->object, "metadata", "deletionTimestamp")) {
        if (rollout.is_paused)
            scale_paused(deployment, &rollout);
        else if (rollout.is_recreating)
            recreate(deployment, &rollout);
        else
            roll(deployment, &rollout);
        if (!owner_has_acted(deployment) && is_complete(&rollout))
            deployment_clean_sets(deployment, &rollout.sets);
        if (!owner_has_acted(deployment))
            set_revision_of(deployment, &rollout);
    }
    if (!owner_has_acted(deployment))
        set_status(deployment, &rollout);
    deployment_sets_done(&rollout.sets);
}

static void tell(const struct owner *deployment, uint32_t kind, const char *name, bool is_created)
{
    struct child *set = NULL;

    (void)kind;
    owner_foreach(deployment, one)
    {
        if (strcmp(one->name, name) == 0)
            set = one;
    }
    if (is_created)
        owner_event(deployment, "Normal", "ScalingReplicaSet", "Scaled up replica set %s from 0 to %lld", name,
                    (long long)set_wanted(set));
}

const struct controller_kind deployments_controller = {
    .service = CONTROLLER_SERVICE("deployments"),
    .component = "deployment-controller",
    .owner = KUBE_DEPLOYMENTS,
    .children = {KUBE_REPLICA_SETS},
    .child_kinds = 1,
    .mark = DEPLOYMENT_HASH,
    .sync = sync_deployment,
    .adoption = ADOPTION_ALL,
    .tell = tell,
};
