/* SPDX-License-Identifier: Apache-2.0 */
#include "console/identity/roles.h"

#include <string.h>

enum {
    R = ACTION_READ,
    CRUD = ACTION_CREATE | ACTION_READ | ACTION_UPDATE | ACTION_DELETE,
    RU = ACTION_READ | ACTION_UPDATE,
    ALL = CRUD | ACTION_SYNC
};

#define TYPE_ROW(name, text, group) {text, GROUP_##group},
static const struct {
    const char *name;
    enum resource_group group;
} types[] = {RESOURCE_TYPES(TYPE_ROW)};
#undef TYPE_ROW

static const char *const groups[] = {
    [GROUP_ORGANIZATION] = "organization", [GROUP_PHYSICAL] = "physical-resource", [GROUP_IAM] = "iam",
    [GROUP_DASHBOARD] = "dashboard",       [GROUP_WORKLOAD] = "workload",          [GROUP_ASSET] = "workload-asset",
};
_Static_assert(ARRAY_LEN(groups) == _GROUP_MAX, "a name for each group");

static const struct {
    enum action action;
    const char *name;
} actions[] = {
    {ACTION_CREATE, "create"}, {ACTION_READ, "read"}, {ACTION_UPDATE, "update"},
    {ACTION_DELETE, "delete"}, {ACTION_SYNC, "sync"},
};

/* Everyone who works in a scope sees the scope and the hardware below it. */
#define SEES_SCOPE [GROUP_PHYSICAL] = R, [GROUP_DASHBOARD] = R
#define OWN_KEYS                                         \
    {RESOURCE_ACCESS_KEYS, CRUD}, {RESOURCE_PROJECT, R}, \
    {                                                    \
        RESOURCE_DEPARTMENT, R                           \
    }

const struct role built_in_roles[] = {
    {1, "System administrator", "Everything, in its whole scope", {ALL, ALL, ALL, ALL, ALL, ALL}, {{0}}},
    {2,
     "Department administrator",
     "Projects, people, policies and workloads of a department",
     {SEES_SCOPE, [GROUP_WORKLOAD] = CRUD, [GROUP_ASSET] = CRUD},
     {{RESOURCE_DEPARTMENT, RU},
      {RESOURCE_PROJECT, CRUD},
      {RESOURCE_ACCESS_RULES, CRUD},
      {RESOURCE_ROLES, R},
      {RESOURCE_USERS, R},
      {RESOURCE_SERVICE_ACCOUNT, R},
      {RESOURCE_EVENTS_HISTORY, R},
      {RESOURCE_ACCESS_KEYS, CRUD}}},
    {3, "Department viewer", "Reads a department", {SEES_SCOPE, [GROUP_WORKLOAD] = R, [GROUP_ASSET] = R}, {OWN_KEYS}},
    {4,
     "Editor",
     "Changes projects, workloads and assets, but not access rules",
     {SEES_SCOPE, [GROUP_WORKLOAD] = CRUD, [GROUP_ASSET] = CRUD},
     {{RESOURCE_PROJECT, CRUD}, {RESOURCE_DEPARTMENT, R}, {RESOURCE_ACCESS_KEYS, CRUD}}},
    {5,
     "Viewer",
     "Reads projects, workloads and assets",
     {SEES_SCOPE, [GROUP_WORKLOAD] = R, [GROUP_ASSET] = R},
     {OWN_KEYS}},
    {6,
     "Research manager",
     "Projects and their members; reads workloads",
     {SEES_SCOPE, [GROUP_WORKLOAD] = R, [GROUP_ASSET] = CRUD},
     {{RESOURCE_PROJECT, CRUD},
      {RESOURCE_DEPARTMENT, R},
      {RESOURCE_ACCESS_RULES, CRUD},
      {RESOURCE_ROLES, R},
      {RESOURCE_USERS, R},
      {RESOURCE_ACCESS_KEYS, CRUD}}},
    {7,
     "L1 researcher",
     "Submits workloads and creates assets",
     {SEES_SCOPE, [GROUP_WORKLOAD] = CRUD, [GROUP_ASSET] = CRUD},
     {OWN_KEYS, {RESOURCE_POLICIES, R}}},
    {8,
     "L2 researcher",
     "Submits workloads with existing assets",
     {SEES_SCOPE, [GROUP_WORKLOAD] = CRUD, [GROUP_ASSET] = R},
     {OWN_KEYS}},
    {9,
     "ML engineer",
     "Deploys inference workloads",
     {SEES_SCOPE, [GROUP_WORKLOAD] = R, [GROUP_ASSET] = R},
     {OWN_KEYS, {RESOURCE_INFERENCES, CRUD}}},
    {10,
     "Environment administrator",
     "Environments",
     {SEES_SCOPE, [GROUP_ASSET] = R},
     {OWN_KEYS, {RESOURCE_ENVIRONMENTS, CRUD}}},
    {11,
     "Data source administrator",
     "Data sources",
     {SEES_SCOPE, [GROUP_ASSET] = R},
     {OWN_KEYS,
      {RESOURCE_PVC_ASSETS, CRUD},
      {RESOURCE_GIT_ASSETS, CRUD},
      {RESOURCE_HOST_PATH_ASSETS, CRUD},
      {RESOURCE_NFS_ASSETS, CRUD},
      {RESOURCE_S3_ASSETS, CRUD},
      {RESOURCE_CM_VOLUME_ASSETS, CRUD},
      {RESOURCE_SECRET_VOLUME_ASSETS, CRUD}}},
    {12,
     "Data volume administrator",
     "Data volumes",
     {SEES_SCOPE, [GROUP_ASSET] = R},
     {OWN_KEYS, {RESOURCE_DATA_VOLUMES, CRUD}}},
    {13,
     "Compute resource administrator",
     "Compute resources",
     {SEES_SCOPE, [GROUP_ASSET] = R},
     {OWN_KEYS, {RESOURCE_COMPUTE_RESOURCES, CRUD}}},
    {14,
     "Template administrator",
     "Templates",
     {SEES_SCOPE, [GROUP_ASSET] = R},
     {OWN_KEYS, {RESOURCE_TEMPLATES, CRUD}}},
};
const size_t built_in_role_count = ARRAY_LEN(built_in_roles);

const char *resource_type_name(enum resource_type type)
{
    return types[type].name;
}

enum resource_group resource_type_group(enum resource_type type)
{
    return types[type].group;
}

const char *resource_group_name(enum resource_group group)
{
    return groups[group];
}

const char *permission_action_name(enum action action)
{
    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        if (actions[i].action == action)
            return actions[i].name;
    }
    return "";
}

bool permission_parse(const char *text, enum resource_type *ret_type, enum action *ret_action)
{
    const char *colon = strchr(text, ':');

    for (size_t t = 0; colon && t < ARRAY_LEN(types); t++) {
        if (strlen(types[t].name) != (size_t)(colon - text) ||
            strncmp(types[t].name, text, (size_t)(colon - text)) != 0)
            continue;
        for (size_t a = 0; a < ARRAY_LEN(actions); a++) {
            if (strcmp(actions[a].name, colon + 1) == 0) {
                *ret_type = (enum resource_type)t;
                *ret_action = actions[a].action;
                return true;
            }
        }
    }
    return false;
}

const struct role *role_find(int64_t id)
{
    for (size_t i = 0; i < ARRAY_LEN(built_in_roles); i++) {
        if (built_in_roles[i].id == id)
            return &built_in_roles[i];
    }
    return NULL;
}

/* A row of its own for a type takes the place of the group's. */
uint8_t role_actions(const struct role *role, enum resource_type type)
{
    for (size_t i = 0; i < ARRAY_LEN(role->more) && role->more[i].actions; i++) {
        if (role->more[i].type == type)
            return role->more[i].actions;
    }
    return role->by_group[types[type].group];
}
