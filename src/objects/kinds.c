/* SPDX-License-Identifier: Apache-2.0 */

/* The table of kinds, and how their objects leave the state. */
#include "objects/kinds.h"

#include <string.h>

#include "objects/decode/decode.h"
#include "objects/foreign.h"
#include "objects/group/rules.h"
#include "objects/make/maker.h"

static void drop_node(struct state *state, const struct object *object)
{
    state_drop_node(state, object->name);
}

static void drop_queue(struct state *state, const struct object *object)
{
    state_drop_queue(state, object->name);
}

static void drop_pod_group(struct state *state, const struct object *object)
{
    state_drop_gang(state, object->namespace, object->name);
}

static void drop_pod(struct state *state, const struct object *object)
{
    state_drop_pod(state, object->namespace, object->name);
}

static void drop_priority_class(struct state *state, const struct object *object)
{
    state_drop_priority_class(state, object->name);
}

static void drop_topology(struct state *state, const struct object *object)
{
    state_drop_topology(state, object->name);
}

static void drop_device_class(struct state *state, const struct object *object)
{
    state_drop_device_class(state, object->name);
}

static void drop_slice(struct state *state, const struct object *object)
{
    state_drop_slice(state, object->name);
}

static void drop_claim(struct state *state, const struct object *object)
{
    state_drop_claim(state, object->namespace, object->name);
}

static void drop_volume(struct state *state, const struct object *object)
{
    state_drop_volume(state, object->namespace, object->name);
}

static void drop_storage(struct state *state, const struct object *object)
{
    state_drop_storage(state, object->namespace, object->name);
}

static void drop_config_map(struct state *state, const struct object *object)
{
    state_drop_config_map(state, object->namespace, object->name);
}

enum { FOREIGN_KINDS = 13 };

/* clang-format off */
#define CLUSTER .is_cluster_wide = true
#define DECODES(phase_, decode_, drop_) .phase = (phase_), .decode = (decode_), .drop = (drop_)

static const struct object_kind kinds[] = {
    /* How the cluster is run: see settings.h. */
    {.group = "kai.scheduler", .kind = "Config", .versions = "v1", CLUSTER},
    {.group = "kai.scheduler", .kind = "SchedulingShard", .versions = "v1", CLUSTER},

    /* The cluster. */
    {.group = "scheduling.k8s.io", .kind = "PriorityClass", .versions = "v1", CLUSTER,
     DECODES(PHASE_CLASSES, priority_class_decode, drop_priority_class)},
    {.group = "kai.scheduler", .kind = "Topology", .versions = "v1alpha1", CLUSTER,
     DECODES(PHASE_CLASSES, topology_decode, drop_topology)},
    {.group = "kueue.x-k8s.io", .kind = "Topology", CLUSTER, DECODES(PHASE_CLASSES, topology_decode, drop_topology)},
    {.group = "resource.k8s.io", .kind = "DeviceClass", CLUSTER,
     DECODES(PHASE_CLASSES, device_class_decode, drop_device_class)},
    {.group = "scheduling.run.ai", .kind = "Queue", .versions = "v2", CLUSTER,
     DECODES(PHASE_QUEUES, queue_decode, drop_queue)},
    {.group = "", .kind = "Node", .versions = "v1", CLUSTER, DECODES(PHASE_NODES, node_decode, drop_node)},
    {.group = "resource.k8s.io", .kind = "ResourceSlice", CLUSTER,
     DECODES(PHASE_DEVICES, resource_slice_decode, drop_slice)},
    {.group = "resource.k8s.io", .kind = "ResourceClaim", DECODES(PHASE_DEVICES, resource_claim_decode, drop_claim)},
    {.group = "", .kind = "PersistentVolumeClaim", .versions = "v1",
     DECODES(PHASE_DEVICES, volume_claim_decode, drop_volume)},
    {.group = "storage.k8s.io", .kind = "CSIStorageCapacity", .versions = "v1",
     DECODES(PHASE_DEVICES, storage_capacity_decode, drop_storage)},
    {.group = "", .kind = "ConfigMap", .versions = "v1", DECODES(PHASE_DEVICES, config_map_decode, drop_config_map)},
    {.group = "scheduling.run.ai", .kind = "PodGroup", .versions = "v2alpha2",
     DECODES(PHASE_GANGS, pod_group_decode, drop_pod_group)},
    {.group = "", .kind = "Pod", .versions = "v1",
     DECODES(PHASE_PODS, pod_decode, drop_pod), .group_pods = group_plain_pod},

    /* Read for the sake of others. */
    {.group = "", .kind = "Namespace", .versions = "v1", CLUSTER},
    {.group = "", .kind = "PersistentVolume", .versions = "v1", CLUSTER},
    {.group = "storage.k8s.io", .kind = "StorageClass", .versions = "v1", CLUSTER},
    {.group = "storage.k8s.io", .kind = "CSIDriver", .versions = "v1", CLUSTER},
    {.group = "storage.k8s.io", .kind = "CSINode", .versions = "v1", CLUSTER},
    {.group = "resource.k8s.io", .kind = "ResourceClaimTemplate"},
    {.group = "topology.node.k8s.io", .kind = "NodeResourceTopology", CLUSTER},
    {.group = "scheduling.run.ai", .kind = "BindRequest", .versions = "v1alpha2"},
    {.group = "trainer.kubeflow.org", .kind = "TrainingRuntime"},
    {.group = "trainer.kubeflow.org", .kind = "ClusterTrainingRuntime", CLUSTER},
    {.group = "serving.knative.dev", .kind = "Revision"},
    {.group = "scheduler.grove.io", .kind = "PodGang"},
    {.group = "argoproj.io", .kind = "WorkflowTemplate"},
    {.group = "argoproj.io", .kind = "ClusterWorkflowTemplate", CLUSTER},
    {.group = "tekton.dev", .kind = "Pipeline"},
    {.group = "tekton.dev", .kind = "Task"},
    {.group = "tekton.dev", .kind = "ClusterTask", CLUSTER},

    /* What becomes pods. */
    {.group = "batch", .kind = "Job", .versions = "v1", .make = make_job, .group_pods = group_job},
    {.group = "batch", .kind = "CronJob", .versions = "v1 v1beta1", .make = make_nothing, .group_pods = group_cron_job},
    {.group = "apps", .kind = "Deployment", .versions = "v1", .make = make_replicas, .group_pods = group_deployment},
    {.group = "apps", .kind = "ReplicaSet", .versions = "v1", .make = make_replicas, .group_pods = group_default},
    {.group = "apps", .kind = "StatefulSet", .versions = "v1", .make = make_stateful_set,
     .group_pods = group_default},
    {.group = "", .kind = "ReplicationController", .versions = "v1", .make = make_replicas},
    {.group = "apps", .kind = "DaemonSet", .versions = "v1", .make = make_daemon_set},
    {.group = "kubeflow.org", .kind = "TFJob", .make = make_kubeflow, .group_pods = group_kubeflow},
    {.group = "kubeflow.org", .kind = "XGBoostJob", .make = make_kubeflow, .group_pods = group_kubeflow},
    {.group = "kubeflow.org", .kind = "JAXJob", .make = make_kubeflow, .group_pods = group_kubeflow},
    {.group = "kubeflow.org", .kind = "MPIJob", .make = make_kubeflow, .group_pods = group_kubeflow},
    {.group = "kubeflow.org", .kind = "PyTorchJob", .make = make_kubeflow, .group_pods = group_pytorch},
    {.group = "kubeflow.org", .kind = "Notebook", .make = make_notebook, .group_pods = group_notebook},
    {.group = "ray.io", .kind = "RayCluster", .make = make_ray_cluster, .group_pods = group_ray},
    {.group = "ray.io", .kind = "RayJob", .make = make_ray_wrapper, .group_pods = group_ray},
    {.group = "ray.io", .kind = "RayService", .make = make_ray_wrapper, .group_pods = group_ray},
    {.group = "jobset.x-k8s.io", .kind = "JobSet", .make = make_job_set, .group_pods = group_job_set},
    {.group = "leaderworkerset.x-k8s.io", .kind = "LeaderWorkerSet", .make = make_leader_worker_set,
     .group_pods = group_leader_worker_set},
    {.group = "serving.knative.dev", .kind = "Service", .make = make_knative, .group_pods = group_knative},
    {.group = "trainer.kubeflow.org", .kind = "TrainJob", .make = make_train_job, .group_pods = group_below_top},
    {.group = "grove.io", .kind = "PodCliqueSet", .make = make_grove, .group_pods = group_grove},
    {.group = "grove.io", .kind = "PodGangSet", .make = make_grove, .group_pods = group_grove},
    {.group = "resource.nvidia.com", .kind = "ComputeDomain", .make = make_compute_domain},
    {.group = "sparkoperator.k8s.io", .kind = "SparkApplication", .make = make_spark},

    {.group = "grove.io", .kind = "PodClique", .make = make_pod_clique},
    {.group = "nvidia.com", .kind = "DynamoGraphDeployment", .make = make_dynamo, .group_pods = group_below_top},
    {.group = "argoproj.io", .kind = "Workflow", .make = make_workflow, .group_pods = group_below_top},
    {.group = "argoproj.io", .kind = "CronWorkflow", .make = make_nothing},
    {.group = "kubeflow.org", .kind = "ScheduledWorkflow", .make = make_nothing, .group_pods = group_default},
    {.group = "tekton.dev", .kind = "PipelineRun", .make = make_pipeline_run, .group_pods = group_default},
    {.group = "tekton.dev", .kind = "TaskRun", .make = make_task_run, .group_pods = group_default},
    {.group = "run.ai", .kind = "RunaiJob", .make = make_runai_job, .group_pods = group_runai_job},
    {.group = "run.ai", .kind = "TrainingWorkload", .make = make_runai_workload, .group_pods = group_below_top},
    {.group = "run.ai", .kind = "InteractiveWorkload", .make = make_runai_workload, .group_pods = group_below_top},
    {.group = "run.ai", .kind = "DistributedWorkload", .make = make_runai_distributed,
     .group_pods = group_below_top},
    {.group = "run.ai", .kind = "InferenceWorkload", .make = make_runai_inference, .group_pods = group_below_top},
    {.group = "machinelearning.seldon.io", .kind = "SeldonDeployment", .make = make_seldon,
     .group_pods = group_default},
    {.group = "workspace.devfile.io", .kind = "DevWorkspace", .make = make_dev_workspace,
     .group_pods = group_default},
    {.group = "kubevirt.io", .kind = "VirtualMachine", .make = make_virtual_machine},
    {.group = "kubevirt.io", .kind = "VirtualMachineInstance", .make = make_virtual_machine_instance,
     .group_pods = group_default},

    /* Owners whose pods have to be in the input: what their controllers make of them is not published. */
    {.group = "run.ai", .kind = "DistributedInferenceWorkload", .group_pods = group_below_top},
    {.group = "egx.nvidia.io", .kind = "SPOTRequest", .group_pods = group_inference},
    {.group = "amlarc.azureml.com", .kind = "AmlJob", .group_pods = group_aml_job},

    /* What other schedulers are run by; see foreign.h. */
    {.group = "kueue.x-k8s.io", .kind = "ClusterQueue", CLUSTER},
    {.group = "kueue.x-k8s.io", .kind = "Cohort", CLUSTER},
    {.group = "kueue.x-k8s.io", .kind = "LocalQueue"},
    {.group = "kueue.x-k8s.io", .kind = "ResourceFlavor", CLUSTER},
    {.group = "kueue.x-k8s.io", .kind = "AdmissionCheck", CLUSTER},
    {.group = "kueue.x-k8s.io", .kind = "WorkloadPriorityClass", CLUSTER},
    {.group = "scheduling.volcano.sh", .kind = "Queue", CLUSTER},
    {.group = "scheduling.volcano.sh", .kind = "PodGroup"},
    {.group = "batch.volcano.sh", .kind = "Job"},
    {.group = "run.ai", .kind = "Project", CLUSTER},
    {.group = "run.ai", .kind = "NodePool", CLUSTER},
    {.group = "run.ai", .kind = "RunaiConfig"},
    {.group = "scheduling.run.ai", .kind = "Department", CLUSTER},
};
/* clang-format on */
_Static_assert(ARRAY_LEN(kinds) <= OBJECT_KINDS_MAX, "sets have a list for every kind");

const char *api_group(const char *api_version, char group[static API_GROUP_MAX])
{
    const char *slash = strchr(api_version, '/');
    size_t len = slash ? (size_t)(slash - api_version) : 0;

    len = MIN(len, (size_t)API_GROUP_MAX - 1);
    memcpy(group, api_version, len);
    group[len] = '\0';
    return group;
}

const struct object_kind *object_kind_of(const char *group, const char *kind)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strcmp(kinds[i].kind, kind) == 0 && strcmp(kinds[i].group, group) == 0)
            return &kinds[i];
    }
    return NULL;
}

const struct object_kind *object_kind_find(const char *api_version, const char *kind)
{
    char group[API_GROUP_MAX];

    return object_kind_of(api_group(api_version, group), kind);
}

bool object_kind_is_foreign(const struct object_kind *kind)
{
    return object_kind_index(kind) >= ARRAY_LEN(kinds) - FOREIGN_KINDS;
}

const struct object_kind *object_kind_at(size_t index)
{
    return index < ARRAY_LEN(kinds) ? &kinds[index] : NULL;
}

size_t object_kind_index(const struct object_kind *kind)
{
    return (size_t)(kind - kinds);
}
