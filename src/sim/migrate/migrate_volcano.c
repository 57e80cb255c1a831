/* SPDX-License-Identifier: Apache-2.0 */

/* Volcano's Queues and Jobs. */
#include <string.h>

#include "base/macros.h"
#include "model/resources.h"
#include "objects/kinds.h"
#include "sim/migrate/migrate_internal.h"

static bool is_of_volcano(const struct migration *migration, const struct object *pod)
{
    (void)migration;
    return strcmp(PATH_TEXT(pod->root.val, "spec", "schedulerName"), "volcano") == 0;
}

static bool is_closed(const struct migration *migration, const struct object *queue)
{
    const char *state = PATH_TEXT(queue->root.val, "status", "state");

    (void)migration;
    return *state && strcmp(state, "Open") != 0;
}

#define VOLCANO(class_, code_) .system = SYSTEM_VOLCANO, .class = (class_), .code = (code_)
#define QUEUE .group = "scheduling.volcano.sh", .kind = "Queue"
#define JOB .group = "batch.volcano.sh", .kind = "Job"

const struct check volcano_checks[] = {
    {VOLCANO(FINDING_CHANGES, "volcano-queues"), QUEUE,
     .text = "each Queue becomes one of scheduling.run.ai: deserved or guarantee is the quota, capability the limit, "
             "weight the overQuotaWeight",
     .action = "apply the Queues that --manifests writes"},
    {VOLCANO(FINDING_TODO, "volcano-jobs"), JOB,
     .text = "Volcano's controller creates the pods of its Jobs, and its scheduler groups them",
     .action =
         "keep the controller and set schedulerName to kai-scheduler with a PodGroup of scheduling.run.ai, or submit "
         "JobSets, PyTorchJobs or MPIJobs, which are gangs by themselves"},
    {VOLCANO(FINDING_UNSUPPORTED, "volcano-policies"), JOB, .path = {"spec", "policies"},
     .text = "lifecycle policies of Jobs are the work of Volcano's controller",
     .action = "JobSet has failurePolicy and successPolicy"},
    {VOLCANO(FINDING_UNSUPPORTED, "volcano-plugins"), JOB, .path = {"spec", "plugins"},
     .text = "plugins of Jobs (ssh, svc, env) are the work of Volcano's controller",
     .action = "MPIJob and JobSet create the same services and variables"},
    {VOLCANO(FINDING_TODO, "volcano-pod-groups"), .group = "scheduling.volcano.sh", .kind = "PodGroup",
     .text = "PodGroups of scheduling.volcano.sh are not read",
     .action =
         "Muster's grouper creates them for known kinds; others need a PodGroup of scheduling.run.ai with minMember, "
         "named by the annotation pod-group-name on the pods"},
    {VOLCANO(FINDING_TODO, "volcano-pods"), .group = "", .kind = "Pod", .is_so = is_of_volcano,
     .text = "pods name the scheduler volcano",
     .action = "set schedulerName to kai-scheduler in the templates, and the label kai.scheduler/queue"},
    {VOLCANO(FINDING_UNSUPPORTED, "volcano-not-reclaimable"), QUEUE, .path = {"spec", "reclaimable"}, .value = "false",
     .text = "reclaimable: false has no counterpart",
     .action = "raise its quota, or label its workloads kai.scheduler/preemptibility: non-preemptible"},
    {VOLCANO(FINDING_TODO, "volcano-closed"), QUEUE, .is_so = is_closed,
     .text = "closed queues accept no Jobs; a Queue cannot be closed",
     .action = "set their limits to 0 in the manifests"},
    {VOLCANO(FINDING_UNSUPPORTED, "volcano-affinity"), QUEUE, .path = {"spec", "affinity"},
     .text = "queues are not tied to groups of nodes", .action = "use SchedulingShards, or node affinity in the pods"},
};
const size_t volcano_check_count = ARRAY_LEN(volcano_checks);

static void add_amounts(struct queue_plan *plan, yyjson_val *amounts, double to[SHARE_COUNT])
{
    size_t i, count;
    yyjson_val *key, *value;

    yyjson_obj_foreach(amounts, i, count, key, value)
    {
        double amount;
        int share;

        if (!queue_amount(yyjson_get_str(key), value, &share, &amount))
            continue;
        plan->has[share] = true;
        to[share] = amount;
    }
}

static void plan_volcano_queue(struct migration *migration, const struct object *object)
{
    yyjson_val *spec = yyjson_obj_get(object->root.val, "spec");
    yyjson_val *deserved = yyjson_obj_get(spec, "deserved");
    yyjson_val *weight = yyjson_obj_get(spec, "weight");
    const char *parent = PATH_TEXT(spec, "parent");
    struct queue_plan plan = {.name = object->name, .display_name = ""};

    for (int share = 0; share < SHARE_COUNT; share++) {
        plan.limit[share] = -1;
        plan.weight[share] = yyjson_is_num(weight) ? yyjson_get_num(weight) : 1;
        /* Nothing is deserved unless it says so: the weights divide. */
        plan.has[share] = true;
    }
    plan.parent = strcmp(parent, "root") == 0 ? "" : parent;
    add_amounts(&plan, deserved ? deserved : PATH_GET(spec, "guarantee", "resource"), plan.quota);
    add_amounts(&plan, yyjson_obj_get(spec, "capability"), plan.limit);
    plan_queue(migration, &plan);
}

void volcano_survey(struct migration *migration)
{
    const struct object *queue = object_set_first(migration->set, object_kind_of("scheduling.volcano.sh", "Queue"));

    for (; queue; queue = queue->next) {
        if (strcmp(queue->name, "root") != 0)
            plan_volcano_queue(migration, queue);
    }
}
