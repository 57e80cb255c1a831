/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Kueue admits workloads and leaves placement to others; Muster does both. A ClusterQueue becomes a Queue with the sum of
 * its flavors, its cohort the parent.
 */
#include <string.h>

#include "base/macros.h"
#include "model/resources.h"
#include "objects/kinds.h"
#include "sim/migrate/migrate_internal.h"

#define QUEUE_NAME "kueue.x-k8s.io/queue-name"

static bool has_flavors(const struct migration *migration, const struct object *queue)
{
    size_t i, count;
    yyjson_val *group;

    (void)migration;
    yyjson_arr_foreach(PATH_GET(queue->root.val, "spec", "resourceGroups"), i, count, group)
    {
        if (yyjson_arr_size(yyjson_obj_get(group, "flavors")) > 1)
            return true;
    }
    return false;
}

static bool is_stopped(const struct migration *migration, const struct object *queue)
{
    const char *policy = PATH_TEXT(queue->root.val, "spec", "stopPolicy");

    (void)migration;
    return *policy && strcmp(policy, "None") != 0;
}

#define KUEUE(class_, code_) .system = SYSTEM_KUEUE, .class = (class_), .code = (code_)
#define CLUSTER_QUEUE .group = "kueue.x-k8s.io", .kind = "ClusterQueue"
#define NAMED(group_, kind_) .group = (group_), .kind = (kind_), .path = {"metadata", "labels", QUEUE_NAME}
#define ADD_LABEL                                                                                    \
    "add the label kai.scheduler/queue with the name of the ClusterQueue, and set schedulerName to " \
    "kai-scheduler in the pod template"

const struct check kueue_checks[] = {
    {KUEUE(FINDING_CHANGES, "kueue-cluster-queues"), CLUSTER_QUEUE,
     .text =
         "each ClusterQueue becomes a Queue: nominalQuota is the quota, with borrowingLimit the limit, the cohort the "
         "parent",
     .action = "apply the Queues that --manifests writes"},
    {KUEUE(FINDING_CHANGES, "kueue-local-queues"), .group = "kueue.x-k8s.io", .kind = "LocalQueue",
     .text = "there are no LocalQueues: workloads name the Queue directly"},
    {KUEUE(FINDING_TODO, "kueue-jobs"), NAMED("batch", "Job"), .text = "Jobs name a LocalQueue", .action = ADD_LABEL},
    {KUEUE(FINDING_TODO, "kueue-job-sets"), NAMED("jobset.x-k8s.io", "JobSet"), .text = "JobSets name a LocalQueue",
     .action = ADD_LABEL},
    {KUEUE(FINDING_TODO, "kueue-pytorch-jobs"), NAMED("kubeflow.org", "PyTorchJob"),
     .text = "PyTorchJobs name a LocalQueue", .action = ADD_LABEL},
    {KUEUE(FINDING_TODO, "kueue-ray"), NAMED("ray.io", "RayCluster"), .text = "RayClusters name a LocalQueue",
     .action = ADD_LABEL},
    {KUEUE(FINDING_TODO, "kueue-deployments"), NAMED("apps", "Deployment"), .text = "Deployments name a LocalQueue",
     .action = ADD_LABEL},
    {KUEUE(FINDING_TODO, "kueue-suspended"), .group = "batch", .kind = "Job", .path = {"spec", "suspend"},
     .text = "Jobs that Kueue has not admitted are suspended, and nothing resumes them once Kueue is removed",
     .action = "set spec.suspend to false once Muster runs: it lets them wait as pods"},
    {KUEUE(FINDING_TODO, "kueue-flavors"), CLUSTER_QUEUE, .is_so = has_flavors,
     .text = "quotas of several ResourceFlavors are added up: a Queue has one quota for all nodes",
     .action = "for separate quotas create a SchedulingShard for each kind of node, or use node affinity"},
    {KUEUE(FINDING_UNSUPPORTED, "kueue-lending-limit"), CLUSTER_QUEUE,
     .path = {"spec", "resourceGroups", "*", "flavors", "*", "resources", "*", "lendingLimit"},
     .text = "lendingLimit has no counterpart: unused quota is lent until its queue asks for it",
     .action = "its own workloads reclaim it; reclaimMinRuntime bounds how long borrowers are safe"},
    {KUEUE(FINDING_UNSUPPORTED, "kueue-admission-checks"), .group = "kueue.x-k8s.io", .kind = "AdmissionCheck",
     .text = "admission checks (ProvisioningRequest, MultiKueue) are not evaluated",
     .action = "use a cluster autoscaler, which sees pending pods; workloads stay in this cluster"},
    {KUEUE(FINDING_CHANGES, "kueue-preemption"), CLUSTER_QUEUE, .path = {"spec", "preemption"},
     .text =
         "Muster preempts lower priorities in the same queue, and reclaims what queues have beyond their fair share; "
         "other policies are not kept",
     .action =
         "make workloads non-preemptible by the label kai.scheduler/preemptibility where they must not be evicted"},
    {KUEUE(FINDING_TODO, "kueue-stopped"), CLUSTER_QUEUE, .is_so = is_stopped,
     .text = "stopped queues admit nothing; a Queue cannot be stopped",
     .action = "set their limits to 0 in the manifests"},
    {KUEUE(FINDING_CHANGES, "kueue-priorities"), .group = "kueue.x-k8s.io", .kind = "WorkloadPriorityClass",
     .text = "WorkloadPriorityClasses become PriorityClasses; 100 and above is not preemptible unless a label says so",
     .action = "name them by the label priorityClassName on the workload"},
    {KUEUE(FINDING_SAME, "kueue-topologies"), .group = "kueue.x-k8s.io", .kind = "Topology",
     .text = "Topologies have the same levels; create a Topology of kai.scheduler/v1alpha1 for each"},
    {KUEUE(FINDING_TODO, "kueue-topology-requests"), .group = "batch", .kind = "Job",
     .path = {"spec", "template", "metadata", "annotations", "kueue.x-k8s.io/podset-required-topology"},
     .text = "topology requests have other names",
     .action = "annotate the Job with kai.scheduler/topology and kai.scheduler/topology-required-placement"},
};
const size_t kueue_check_count = ARRAY_LEN(kueue_checks);

/* Adds up what the flavors have of a resource. */
static void add_resource(struct queue_plan *plan, bool has_no_limit[SHARE_COUNT], yyjson_val *resource)
{
    const char *name = PATH_TEXT(resource, "name");
    double quota = 0;
    double more = 0;
    int share;

    if (!queue_amount(name, yyjson_obj_get(resource, "nominalQuota"), &share, &quota))
        return;
    plan->has[share] = true;
    plan->quota[share] += quota;
    if (queue_amount(name, yyjson_obj_get(resource, "borrowingLimit"), &share, &more))
        plan->limit[share] += quota + more;
    else
        has_no_limit[share] = true;
}

static double weight_of(yyjson_val *spec)
{
    yyjson_val *weight = PATH_GET(spec, "fairSharing", "weight");
    const char *text = yyjson_get_str(weight);
    int share;
    double amount = 1;

    if (yyjson_is_num(weight))
        return yyjson_get_num(weight);
    return text && queue_amount("nvidia.com/gpu", weight, &share, &amount) ? amount : 1;
}

static void plan_cluster_queue(struct migration *migration, const struct object *object)
{
    yyjson_val *spec = yyjson_obj_get(object->root.val, "spec");
    const char *cohort = PATH_TEXT(spec, "cohortName");
    struct queue_plan plan = {.name = object->name, .display_name = ""};
    bool has_no_limit[SHARE_COUNT] = {0};
    size_t g, group_count, f, flavor_count, r, resource_count;
    yyjson_val *group, *flavor, *resource;

    plan.parent = *cohort ? cohort : PATH_TEXT(spec, "cohort");
    yyjson_arr_foreach(yyjson_obj_get(spec, "resourceGroups"), g, group_count, group)
    {
        yyjson_arr_foreach(yyjson_obj_get(group, "flavors"), f, flavor_count, flavor)
        {
            yyjson_arr_foreach(yyjson_obj_get(flavor, "resources"), r, resource_count, resource)
            {
                add_resource(&plan, has_no_limit, resource);
            }
        }
    }
    for (int share = 0; share < SHARE_COUNT; share++) {
        plan.weight[share] = weight_of(spec);
        /* Without a cohort there is nobody to borrow from. */
        if (has_no_limit[share])
            plan.limit[share] = *plan.parent ? -1 : plan.quota[share];
    }
    if (*plan.parent && !plan_has_queue(migration, plan.parent))
        plan_queue(migration, &(struct queue_plan){.name = plan.parent, .parent = "", .display_name = ""});
    plan_queue(migration, &plan);
}

void kueue_survey(struct migration *migration)
{
    const struct object *queue = object_set_first(migration->set, object_kind_of("kueue.x-k8s.io", "ClusterQueue"));
    const struct object *class =
        object_set_first(migration->set, object_kind_of("kueue.x-k8s.io", "WorkloadPriorityClass"));

    for (; queue; queue = queue->next)
        plan_cluster_queue(migration, queue);
    for (; class; class = class->next)
        plan_priority_class(migration, class->name, yyjson_get_sint(yyjson_obj_get(class->root.val, "value")));
}
