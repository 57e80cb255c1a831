/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

/* What there is to be allowed, and the roles that come with the console. A permission is a type of resource and an action. */

enum action {
    ACTION_CREATE = 1,
    ACTION_READ = 2,
    ACTION_UPDATE = 4,
    ACTION_DELETE = 8,
    ACTION_SYNC = 16,
};

/* Type, group; named as in the REST. */
#define RESOURCE_TYPES(ROW)                                           \
    ROW(DEPARTMENT, "department", ORGANIZATION)                       \
    ROW(TENANT, "tenant", ORGANIZATION)                               \
    ROW(PROJECT, "project", ORGANIZATION)                             \
    ROW(CLUSTER, "cluster", PHYSICAL)                                 \
    ROW(CLUSTER_CONFIG, "cluster-config", PHYSICAL)                   \
    ROW(NODE_POOLS, "nodepools", PHYSICAL)                            \
    ROW(NODES, "nodes", PHYSICAL)                                     \
    ROW(SETTINGS, "settings", ORGANIZATION)                           \
    ROW(SECURITY_SETTINGS, "security-settings", ORGANIZATION)         \
    ROW(BRANDING_SETTINGS, "branding-settings", ORGANIZATION)         \
    ROW(USERS, "users", IAM)                                          \
    ROW(APPS, "apps", IAM)                                            \
    ROW(SERVICE_ACCOUNT, "service-account", IAM)                      \
    ROW(OVERVIEW, "dashboards-overview", DASHBOARD)                   \
    ROW(ANALYTICS, "dashboards-analytics", DASHBOARD)                 \
    ROW(CONSUMPTION, "dashboards-consumption", DASHBOARD)             \
    ROW(ROLES, "roles", IAM)                                          \
    ROW(ACCESS_RULES, "access_rules", IAM)                            \
    ROW(JOBS, "jobs", WORKLOAD)                                       \
    ROW(WORKLOADS, "workloads", WORKLOAD)                             \
    ROW(WORKSPACES, "workspaces", WORKLOAD)                           \
    ROW(TRAININGS, "trainings", WORKLOAD)                             \
    ROW(INFERENCES, "inferences", WORKLOAD)                           \
    ROW(ENVIRONMENTS, "environments", ASSET)                          \
    ROW(PVC_ASSETS, "pvc-assets", ASSET)                              \
    ROW(GIT_ASSETS, "git-assets", ASSET)                              \
    ROW(HOST_PATH_ASSETS, "host-path-assets", ASSET)                  \
    ROW(NFS_ASSETS, "nfs-assets", ASSET)                              \
    ROW(S3_ASSETS, "s3-assets", ASSET)                                \
    ROW(COMPUTE_RESOURCES, "compute-resources", ASSET)                \
    ROW(TEMPLATES, "templates", ASSET)                                \
    ROW(CREDENTIALS, "credentials", ASSET)                            \
    ROW(EVENTS_HISTORY, "events-history", ORGANIZATION)               \
    ROW(POLICIES, "policies", WORKLOAD)                               \
    ROW(CM_VOLUME_ASSETS, "cm-volume-assets", ASSET)                  \
    ROW(DATA_VOLUMES, "datavolumes", ASSET)                           \
    ROW(SECRET_VOLUME_ASSETS, "secret-volume-assets", ASSET)          \
    ROW(STORAGE_CLASSES, "storage-class-configuration", ORGANIZATION) \
    ROW(ACCESS_KEYS, "access-keys", IAM)                              \
    ROW(WORKLOAD_PROPERTIES, "workload-properties", WORKLOAD)         \
    ROW(NETWORK_TOPOLOGIES, "network-topologies", PHYSICAL)           \
    ROW(REGISTRIES, "registries", ASSET)                              \
    ROW(SCRAPEABLE_METRICS, "scrapeable-metrics", WORKLOAD)

#define RESOURCE_TYPE_ENUM(name, text, group) RESOURCE_##name,
enum resource_type { RESOURCE_TYPES(RESOURCE_TYPE_ENUM) _RESOURCE_TYPE_MAX };
#undef RESOURCE_TYPE_ENUM

enum resource_group {
    GROUP_ORGANIZATION,
    GROUP_PHYSICAL,
    GROUP_IAM,
    GROUP_DASHBOARD,
    GROUP_WORKLOAD,
    GROUP_ASSET,
    _GROUP_MAX
};

const char *resource_type_name(enum resource_type type);
enum resource_group resource_type_group(enum resource_type type);
const char *resource_group_name(enum resource_group group);
const char *permission_action_name(enum action action);

/* "project:read". Returns false for what is no permission. */
bool permission_parse(const char *text, enum resource_type *ret_type, enum action *ret_action);

struct role {
    int64_t id;
    const char *name;
    const char *description;
    uint8_t by_group[_GROUP_MAX];  // actions on all types of a group
    struct {
        enum resource_type type;
        uint8_t actions;
    } more[12];  // and on single types; up to the first without actions
};

extern const struct role built_in_roles[];
extern const size_t built_in_role_count;

/* NULL: there is no such role. */
const struct role *role_find(int64_t id);

/* The actions that a role allows on a type, as bits. */
uint8_t role_actions(const struct role *role, enum resource_type type);
