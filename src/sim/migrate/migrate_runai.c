/* SPDX-License-Identifier: Apache-2.0 */

/* A cluster that Run:ai's scheduler runs: the same Queues and PodGroups, under other names and keys. */
#include <string.h>

#include "base/macros.h"
#include "objects/kinds.h"
#include "sim/migrate/migrate_internal.h"

static bool is_of_runai(const struct migration *migration, const struct object *pod)
{
    (void)migration;
    return strcmp(PATH_TEXT(pod->root.val, "spec", "schedulerName"), "runai-scheduler") == 0;
}

/* A project without a Queue of its name, or of its name and a node pool. */
static bool has_no_queue(const struct migration *migration, const struct object *project)
{
    const struct object *queue = object_set_first(migration->set, object_kind_of("scheduling.run.ai", "Queue"));
    size_t len = strlen(project->name);

    for (; queue; queue = queue->next) {
        if (strncmp(queue->name, project->name, len) == 0 && (queue->name[len] == '\0' || queue->name[len] == '-'))
            return false;
    }
    return true;
}

#define RUNAI(class_, code_) .system = SYSTEM_RUNAI, .class = (class_), .code = (code_)
#define POD .group = "", .kind = "Pod"
#define ANNOTATION(key) .path = {"metadata", "annotations", key}
#define WORKLOAD_ACTION "submit it as a Job, PyTorchJob, Deployment or the like: Run:ai's controllers create its pods"

const struct check runai_checks[] = {
    {RUNAI(FINDING_SAME, "runai-queues"), .group = "scheduling.run.ai", .kind = "Queue",
     .text = "Queues that Run:ai created for projects and departments are used as they are"},
    {RUNAI(FINDING_SAME, "runai-pod-groups"), .group = "scheduling.run.ai", .kind = "PodGroup",
     .text = "PodGroups are used as they are"},
    {RUNAI(FINDING_CHANGES, "runai-scheduler-name"), POD, .is_so = is_of_runai,
     .text = "pods name the scheduler runai-scheduler: the values let Muster schedule them"},
    {RUNAI(FINDING_CHANGES, "runai-queue-label"), POD, .path = {"metadata", "labels", "runai/queue"},
     .text = "pods name their queue by the label runai/queue: the values make Muster read that"},
    {RUNAI(FINDING_TODO, "runai-projects"), .group = "run.ai", .kind = "Project", .is_so = has_no_queue,
     .text = "projects without a Queue", .action = "apply the Queues that --manifests writes"},
    {RUNAI(FINDING_CHANGES, "runai-departments"), .group = "scheduling.run.ai", .kind = "Department",
     .text = "departments are parent queues: their Queues stay, their objects are no longer read"},
    {RUNAI(FINDING_TODO, "runai-node-pools"), .group = "run.ai", .kind = "NodePool",
     .text = "node pools are SchedulingShards with the value of a node label",
     .action = "create a SchedulingShard for each, with spec.partitionLabelValue; queues carry the same label"},
    {RUNAI(FINDING_UNSUPPORTED, "runai-training-workloads"), .group = "run.ai", .kind = "TrainingWorkload",
     .text = "existing pods keep running, but nothing creates new ones without Run:ai", .action = WORKLOAD_ACTION},
    {RUNAI(FINDING_UNSUPPORTED, "runai-interactive-workloads"), .group = "run.ai", .kind = "InteractiveWorkload",
     .text = "existing pods keep running, but nothing creates new ones without Run:ai", .action = WORKLOAD_ACTION},
    {RUNAI(FINDING_UNSUPPORTED, "runai-distributed-workloads"), .group = "run.ai", .kind = "DistributedWorkload",
     .text = "existing pods keep running, but nothing creates new ones without Run:ai", .action = WORKLOAD_ACTION},
    {RUNAI(FINDING_UNSUPPORTED, "runai-inference-workloads"), .group = "run.ai", .kind = "InferenceWorkload",
     .text = "existing pods keep running, but nothing creates new ones without Run:ai", .action = WORKLOAD_ACTION},
    {RUNAI(FINDING_SAME, "runai-fractions"), POD, ANNOTATION("gpu-fraction"),
     .text = "gpu-fraction means the same; with GPU isolation switched on the limit is enforced"},
    {RUNAI(FINDING_SAME, "runai-gpu-memory"), POD, ANNOTATION("gpu-memory"), .text = "gpu-memory means the same"},
    {RUNAI(FINDING_UNSUPPORTED, "runai-swap"), .group = "", .kind = "Node",
     .path = {"metadata", "labels", "run.ai/swap-enabled"}, .value = "true",
     .text = "GPU memory is not swapped to the host",
     .action = "give pods on these nodes the memory that they need at once"},
    {RUNAI(FINDING_UNSUPPORTED, "runai-dynamic-fractions"), POD, ANNOTATION("gpu-fraction-limit"),
     .text = "a limit above the request is read by GPU isolation alone: the scheduler books the request",
     .action = "see docs/gpu-sharing.md"},
};
const size_t runai_check_count = ARRAY_LEN(runai_checks);

static const char *quota_of(yyjson_val *spec, const char *const *keys, yyjson_val **ret)
{
    for (; *keys; keys++) {
        *ret = yyjson_obj_get(spec, *keys);
        if (*ret)
            return *keys;
    }
    return NULL;
}

static void plan_project(struct migration *migration, const struct object *project)
{
    yyjson_val *spec = yyjson_obj_get(project->root.val, "spec");
    const char *parent = PATH_TEXT(spec, "department");
    yyjson_val *gpus = NULL;
    struct queue_plan plan = {.name = project->name, .parent = parent, .display_name = ""};

    if (quota_of(spec, (const char *const[]){"deservedGpus", "gpuQuota", NULL}, &gpus) && yyjson_is_num(gpus)) {
        plan.has[2] = true;
        plan.quota[2] = yyjson_get_num(gpus);
        plan.limit[2] = -1;
        plan.weight[2] = 1;
    }
    if (*parent && !plan_has_queue(migration, parent) &&
        !object_set_find(migration->set, object_kind_of("scheduling.run.ai", "Queue"), "", parent))
        plan_queue(migration, &(struct queue_plan){.name = parent, .parent = "", .display_name = ""});
    plan_queue(migration, &plan);
}

void runai_survey(struct migration *migration)
{
    const struct object *project = object_set_first(migration->set, object_kind_of("run.ai", "Project"));
    const struct object *pod = object_set_first(migration->set, object_kind_of("", "Pod"));
    bool has_label = false;

    for (; project; project = project->next) {
        if (has_no_queue(migration, project))
            plan_project(migration, project);
    }
    for (; pod; pod = pod->next)
        has_label |= object_label(pod, "runai/queue") != NULL;
    values_set_text(migration, VALUES_PATH("global", "schedulerName"), "runai-scheduler");
    values_set_text(migration, VALUES_PATH("global", "nodePoolLabelKey"), "runai/node-pool");
    if (has_label)
        values_set_text(migration, VALUES_PATH("podgrouper", "queueLabelKey"), "runai/queue");
    migration_add(migration,
                  &(struct finding){
                      .system = SYSTEM_RUNAI,
                      .class = FINDING_UNSUPPORTED,
                      .code = "runai-control-plane",
                      .count = 1,
                      .objects = "",
                      .text = "users, access rules, policies and assets of Run:ai's control plane are not read",
                      .action = "create them in Muster's console, which serves a part of Run:ai's REST API: see "
                                "docs/runai-compatibility.md",
                  });
}
