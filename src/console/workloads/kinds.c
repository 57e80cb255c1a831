/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/kinds.h"

#include <stddef.h>
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

static const struct workload_kind kinds[] = {
    {"workspace", "Workspace", WORKLOADS "workspaces", RESOURCE_WORKSPACES, "high", "Build", pod_rows, NULL},
    {"training", "Training", WORKLOADS "trainings", RESOURCE_TRAININGS, "low", "Train", pod_rows, NULL},
    {WORKLOAD_DISTRIBUTED, "Distributed", WORKLOADS "distributed", RESOURCE_TRAININGS, "low", "Train", distributed_rows,
     "worker"},
};

static const struct workload_priority priorities[] = {
    {"very-low", 25},    {"low", 40},   {"medium-low", 65}, {"medium", 80},
    {"medium-high", 90}, {"high", 125}, {"very-high", 150},
};

const struct workload_kind *workload_kind_at(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        size_t len = strlen(kinds[i].path);

        if (strncmp(path, kinds[i].path, len) == 0 && (!path[len] || path[len] == '/' || path[len] == '?'))
            return &kinds[i];
    }
    return NULL;
}

const struct workload_kind *workload_kind_find(const char *type)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strcmp(kinds[i].type, type) == 0)
            return &kinds[i];
    }
    return NULL;
}

const struct workload_priority *workload_priority_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(priorities); i++) {
        if (strcmp(priorities[i].name, name) == 0)
            return &priorities[i];
    }
    return NULL;
}
