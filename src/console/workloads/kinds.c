/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/kinds.h"

#include <stddef.h>
#include <string.h>

static const struct workload_kind kinds[] = {
    {"workspace", "Workspace", WORKLOADS "workspaces", RESOURCE_WORKSPACES, "high", "Build"},
    {"training", "Training", WORKLOADS "trainings", RESOURCE_TRAININGS, "low", "Train"},
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
