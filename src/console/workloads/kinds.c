/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/kinds.h"

#include <string.h>

#include "console/assets/kinds.h"
#include "console/assets/rows.h"
#include "console/workloads/distributed.h"

static const struct field pod_rows[] = {OBJECT("nodeAffinityRequired", affinity_fields), END};
static const struct field distributed_rows[] = {
    OBJECT("nodeAffinityRequired", affinity_fields),
    OPTION("distributedFramework", "MPI", "PyTorch", "TF", "XGBoost", "JAX"),
    WHOLE("numWorkers", 1, DISTRIBUTED_WORKERS_MAX),
    OPTION("cleanPodPolicy", "None", "Running", "All"),
    WHOLE("slotsPerWorker", 1, COUNT_MAX),  // these two are of MPI; clients send their defaults for all frameworks
    TEXT("sshAuthMountPath"),
    END,
};

const struct workload_kind workload_kinds[] = {
    {"workspace", "Workspace", WORKLOADS "workspaces", RESOURCE_WORKSPACES, "high", "Build", pod_rows, NULL},
    {"training", "Training", WORKLOADS "trainings", RESOURCE_TRAININGS, "low", "Train", pod_rows, NULL},
    {WORKLOAD_DISTRIBUTED, "Distributed", WORKLOADS "distributed", RESOURCE_TRAININGS, "low", "Train", distributed_rows,
     "worker"},
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
