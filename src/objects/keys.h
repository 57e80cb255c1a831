/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Labels, annotations and names that users, KAI and the controllers of workloads write, byte for byte. */

#define KEY_SCHEDULER_NAME "kai-scheduler"
#define KEY_KUBERNETES_SCHEDULER "default-scheduler"  // of pods that name none
#define KEY_QUEUE "kai.scheduler/queue"
#define KEY_NODE_POOL "kai.scheduler/node-pool"

#define KEY_POD_GROUP "pod-group-name"
#define KEY_SKIP_GROUPER "kai.scheduler/skip-podgrouper"
#define KEY_SUBGROUP "kai.scheduler/subgroup-name"
#define KEY_TASK_PRIORITY "kai.scheduler/task-priority"
#define KEY_PRIORITY_CLASS "priorityClassName"
#define KEY_PREEMPTIBILITY "kai.scheduler/preemptibility"
#define KEY_PREEMPTION_DELAY "kai.scheduler/preemption-delay"
#define KEY_STALENESS_GRACE "kai.scheduler/staleness-grace-period"
#define KEY_PROJECT "project"
#define KEY_USER "user"
#define KEY_APP "app"

#define KEY_GPU_FRACTION "gpu-fraction"
#define KEY_GPU_MEMORY "gpu-memory"
#define KEY_GPU_CONTAINER "gpu-fraction-container-name"
#define KEY_GPU_DEVICES "gpu-fraction-num-devices"
#define KEY_GPU_GROUP "runai-gpu-group"
#define KEY_GPU_GROUP_PREFIX "runai-gpu-group/"
#define KEY_RESERVED_GPU "run.ai/reserve_for_gpu_index"
#define KEY_SHARED_GPU_CONFIG "runai/shared-gpu-configmap"
#define KEY_MIG_PREFIX "nvidia.com/mig-"
#define KEY_NUMA_OBSERVED "kai.scheduler/numa-placement-observed"
#define KEY_NUMA_PREDICTED "kai.scheduler/numa-placement-predicted"

#define KEY_LAST_START "kai.scheduler/last-start-timestamp"
#define KEY_LAST_EVICTION "kai.scheduler/last-eviction-timestamp"
#define KEY_STALE_SINCE "kai.scheduler/stale-podgroup-timestamp"
#define KEY_TOP_OWNER "kai.scheduler/top-owner-metadata"

#define KEY_TOPOLOGY "kai.scheduler/topology"
/* Multi-node NVLink: who wants its pods in one domain, and the label of nodes that names theirs. */
#define KEY_MNNVL "run.ai/MNNVL"
#define KEY_GPU_CLIQUE "nvidia.com/gpu.clique"
#define KEY_TOPOLOGY_REQUIRED "kai.scheduler/topology-required-placement"
#define KEY_TOPOLOGY_PREFERRED "kai.scheduler/topology-preferred-placement"
#define KEY_SEGMENT_SIZE "kai.scheduler/segment-size"
#define KEY_SEGMENT_REQUIRED "kai.scheduler/segment-topology-required-placement"
#define KEY_SEGMENT_PREFERRED "kai.scheduler/segment-topology-preferred-placement"
#define KEY_MIN_MEMBER "kai.scheduler/batch-min-member"

#define KEY_NODE_GPU_MEMORY "nvidia.com/gpu.memory"
#define KEY_NODE_GPU_COUNT "nvidia.com/gpu.count"
#define KEY_NODE_MIG_STRATEGY "nvidia.com/mig.strategy"
#define KEY_NODE_CPU_WORKER "node-role.kubernetes.io/cpu-worker"
#define KEY_NODE_GPU_WORKER "node-role.kubernetes.io/gpu-worker"
#define KEY_NODE_MIG_ENABLED "node-role.kubernetes.io/mig-enabled"

#define KEY_APP_RESERVATION "kai-resource-reservation"
#define KEY_RESERVATION_NAMESPACE "kai-resource-reservation"
#define KEY_APP_SCALING "scaling-pod"
#define KEY_DEFAULT_QUEUE "default-queue"
#define KEY_DEFAULT_PARENT_QUEUE "default-parent-queue"

#define KEY_QUEUE_GROUPS "muster.scheduler/groups"  // annotation of a Queue: the Unix groups that may submit to it

/* Of Jobs that people submit: numbers, arrays and conditions of their start (services/jobs). */
#define KEY_JOB_ID "muster.scheduler/job-id"            // label; "": the service is to give it a number
#define KEY_ARRAY "muster.scheduler/array"              // label: the name that the Jobs of an array share
#define KEY_ARRAY_ID "muster.scheduler/array-job-id"    // label: the number of the array
#define KEY_ARRAY_INDEX "muster.scheduler/array-index"  // label
#define KEY_ARRAY_LIMIT "muster.scheduler/array-limit"  // annotation: so many of an array run at a time
#define KEY_START "muster.scheduler/start"              // annotation: one of the values below
#define KEY_START_WHEN_READY "when-ready"               // the service starts it
#define KEY_START_HELD "held"                           // until a user resumes it
#define KEY_CANCELLED "muster.scheduler/cancelled"      // annotation: when a user ended it
#define KEY_STARTED "muster.scheduler/started"          // annotation, with the one before: when it had started
#define KEY_DEPENDENCY "muster.scheduler/dependency"    // annotation: "afterok:12:13,afterany:14"
#define KEY_BEGIN "muster.scheduler/begin"              // annotation: not before this time
#define KEY_WAIT_REASON "muster.scheduler/wait-reason"  // annotation: why the service does not start it yet
#define KEY_SUBMIT_NAME "muster.scheduler/job-name"  // annotation: the name that the user gave, if the object's differs
#define KEY_SUBMIT_USER "muster.scheduler/user"      // label: who submitted it

#define KEY_JOB_ROLE "training.kubeflow.org/job-role"
#define KEY_JOB_NAME "training.kubeflow.org/job-name"
#define KEY_REPLICA_TYPE "training.kubeflow.org/replica-type"
#define KEY_REPLICA_INDEX "training.kubeflow.org/replica-index"
#define KEY_RAY_GROUP "ray.io/group"
#define KEY_RAY_NODE_TYPE "ray.io/node-type"
#define KEY_RAY_CLUSTER "ray.io/cluster"
#define KEY_RAY_PRIORITY_CLASS "ray.io/priority-class-name"
#define KEY_JOBSET_NAME "jobset.sigs.k8s.io/jobset-name"
#define KEY_JOBSET_REPLICATED_JOB "jobset.sigs.k8s.io/replicatedjob-name"
#define KEY_JOBSET_JOB_INDEX "jobset.sigs.k8s.io/job-index"
#define KEY_LWS_NAME "leaderworkerset.sigs.k8s.io/name"
#define KEY_LWS_SIZE "leaderworkerset.sigs.k8s.io/size"
#define KEY_LWS_GROUP_INDEX "leaderworkerset.sigs.k8s.io/group-index"
#define KEY_LWS_WORKER_INDEX "leaderworkerset.sigs.k8s.io/worker-index"
#define KEY_KARTA_GROUP "run.ai/karta-group"
#define KEY_KARTA_VERSION "run.ai/karta-version"
#define KEY_KARTA_KIND "run.ai/karta-kind"
#define KEY_KNATIVE_REVISION "serving.knative.dev/revision"
#define KEY_KNATIVE_SERVICE "serving.knative.dev/service"
#define KEY_KNATIVE_MIN_SCALE "autoscaling.knative.dev/min-scale"
#define KEY_KNATIVE_INITIAL_SCALE "autoscaling.knative.dev/initial-scale"
#define KEY_SPARK_APP_NAME "spark-app-name"
#define KEY_SPARK_APP_SELECTOR "spark-app-selector"
#define KEY_SPARK_ROLE "spark-role"
#define KEY_GROVE_POD_GANG "grove.io/podgang"
#define KEY_GROVE_TOPOLOGY "grove.io/topology-name"
