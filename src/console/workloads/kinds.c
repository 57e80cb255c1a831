/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/kinds.h"

#include <string.h>

#include "console/assets/kinds.h"
#include "console/assets/rows.h"
#include "console/workloads/make/distributed.h"
#include "console/workloads/make/inference.h"

enum { THRESHOLD_MAX = 1000000000, RETENTION_MAX = 3600 };

static const struct field pod_rows[] = {OBJECT("nodeAffinityRequired", affinity_fields), END};
static const struct field distributed_rows[] = {
    OBJECT("nodeAffinityRequired", affinity_fields),
    OPTION("distributedFramework", "MPI", "PyTorch", "TF", "XGBoost", "JAX"),
    WHOLE("numWorkers", 1, DISTRIBUTED_WORKERS_MAX),
    OPTION("cleanPodPolicy", "None", "Running", "All"),
    WHOLE("slotsPerWorker", 1, COUNT_MAX),  // these three are of MPI; clients send their defaults for all frameworks
    PATH("sshAuthMountPath"),
    OPTION("mpiLauncherCreationPolicy", "AtStartup", "WaitForWorkersReady"),
    END,
};

static const struct field port_rows[] = {
    WHOLE("container", 1, PORT_MAX),
    OPTION("protocol", "http", "grpc"),
    OPTION("authorizationType", "public", "authenticatedUsers", "authorizedUsers", "authorizedGroups",
           "authorizedUsersOrGroups"),
    TEXTS("authorizedUsers"),
    TEXTS("authorizedGroups"),
    BOOL("clusterLocalAccessOnly"),
    END,
};
static const struct field autoscaling_rows[] = {
    WHOLE("minReplicas", 0, INFERENCE_REPLICAS_MAX),
    WHOLE("maxReplicas", 1, INFERENCE_REPLICAS_MAX),
    WHOLE("initialReplicas", 0, INFERENCE_REPLICAS_MAX),
    WHOLE("activationReplicas", 1, INFERENCE_REPLICAS_MAX),
    TEXT_MAX("metric", 63),
    WHOLE("metricThreshold", 0, THRESHOLD_MAX),
    {"metricThresholdPercentage", FIELD_NUMBER, 0, 1, 100, NULL, NULL},
    WHOLE("concurrencyHardLimit", 0, THRESHOLD_MAX),
    WHOLE("scaleToZeroRetentionSeconds", 0, RETENTION_MAX),
    WHOLE("scaleDownDelaySeconds", 0, RETENTION_MAX),
    WHOLE("initializationTimeoutSeconds", 1, SECONDS_MAX),
    END,
};
static const struct field serving_rows[] = {
    WHOLE("initializationTimeoutSeconds", 1, SECONDS_MAX),
    WHOLE("requestTimeoutSeconds", 1, SECONDS_MAX),
    END,
};
static const struct field inference_rows[] = {
    OBJECT("nodeAffinityRequired", affinity_fields),
    OBJECT("servingPort", port_rows),
    OBJECT("autoscaling", autoscaling_rows),
    OBJECT("servingConfiguration", serving_rows),
    END,
};

const struct workload_kind workload_kinds[] = {
    {"workspace", "Workspace", WORKLOADS "workspaces", RESOURCE_WORKSPACES, "high", "Build", pod_rows, NULL, false},
    {"training", "Training", WORKLOADS "trainings", RESOURCE_TRAININGS, "low", "Train", pod_rows, NULL, false},
    {WORKLOAD_DISTRIBUTED, "Distributed", WORKLOADS "distributed", RESOURCE_TRAININGS, "low", "Train", distributed_rows,
     "worker", false},
    {WORKLOAD_INFERENCE, "Inference", WORKLOADS "inferences", RESOURCE_INFERENCES, "very-high", "Deploy",
     inference_rows, NULL, true},
};

const size_t workload_kind_count = ARRAY_LEN(workload_kinds);

const struct workload_priority workload_priorities[] = {
    {"very-low", 25},    {"low", 40},   {"medium-low", 65}, {"medium", 80},
    {"medium-high", 90}, {"high", 125}, {"very-high", 150},
};
const size_t workload_priority_count = ARRAY_LEN(workload_priorities);

const struct workload_kind *workload_kind_at(const char *path)
{
    for (size_t i = 0; i < workload_kind_count; i++) {
        size_t len = strlen(workload_kinds[i].path);

        if (strncmp(path, workload_kinds[i].path, len) == 0 && (!path[len] || path[len] == '/' || path[len] == '?'))
            return &workload_kinds[i];
    }
    return NULL;
}

const struct workload_kind *workload_kind_find(const char *type)
{
    for (size_t i = 0; i < workload_kind_count; i++) {
        if (strcmp(workload_kinds[i].type, type) == 0)
            return &workload_kinds[i];
    }
    return NULL;
}

const struct workload_priority *workload_priority_find(const char *name)
{
    for (size_t i = 0; i < workload_priority_count; i++) {
        if (strcmp(workload_priorities[i].name, name) == 0)
            return &workload_priorities[i];
    }
    return NULL;
}
