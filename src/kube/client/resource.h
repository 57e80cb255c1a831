/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct strbuf;

/* A kind of object as the API serves it. */
struct kube_resource {
    const char *group;  // "" for the core
    const char *version;
    const char *plural;  // as in paths
    const char *kind;
    bool is_namespaced;
};

/* Those that Muster knows by name. */
enum kube_known {
    KUBE_PODS,
    KUBE_NODES,
    KUBE_NAMESPACES,
    KUBE_CONFIG_MAPS,
    KUBE_SECRETS,
    KUBE_SERVICES,
    KUBE_SERVICE_ACCOUNTS,
    KUBE_EVENTS,
    KUBE_PERSISTENT_VOLUMES,
    KUBE_PERSISTENT_VOLUME_CLAIMS,
    KUBE_REPLICATION_CONTROLLERS,
    KUBE_PRIORITY_CLASSES,
    KUBE_STORAGE_CLASSES,
    KUBE_CSI_DRIVERS,
    KUBE_CSI_NODES,
    KUBE_CSI_STORAGE_CAPACITIES,
    KUBE_RESOURCE_CLAIMS,
    KUBE_RESOURCE_SLICES,
    KUBE_DEVICE_CLASSES,
    KUBE_LEASES,
    KUBE_DEPLOYMENTS,
    KUBE_DAEMON_SETS,
    KUBE_REPLICA_SETS,
    KUBE_STATEFUL_SETS,
    KUBE_CONTROLLER_REVISIONS,
    KUBE_JOBS,
    KUBE_CRON_JOBS,
    KUBE_POD_DISRUPTION_BUDGETS,
    KUBE_CUSTOM_RESOURCE_DEFINITIONS,
    KUBE_MUTATING_WEBHOOKS,
    KUBE_VALIDATING_WEBHOOKS,
    KUBE_QUEUES,
    KUBE_POD_GROUPS,
    KUBE_BIND_REQUESTS,
    KUBE_TOPOLOGIES,
    KUBE_CONFIGS,
    KUBE_SCHEDULING_SHARDS,
    KUBE_NODE_RESOURCE_TOPOLOGIES,
    _KUBE_KNOWN_MAX
};

const struct kube_resource *kube_known(enum kube_known which);

/*
 * Devices had two versions before v1, and servers that do not have it yet: 0 is v1, 1 is v1beta2, 2 is v1beta1. What
 * belongs to another group than resource.k8s.io has one version.
 */
enum { KUBE_DEVICE_VERSIONS = 3 };
const struct kube_resource *kube_known_of(enum kube_known which, uint32_t device_version);

/* Appends the path of the whole kind, of a namespace's part of it, or of one object and its subresource; all but the
 * resource may be NULL. Names are percent-encoded. */
void kube_path(struct strbuf *path, const struct kube_resource *resource, const char *namespace, const char *name,
               const char *subresource);

/* Appends "&name=value", or "?name=value" to a path that has no query yet, percent-encoded; nothing when `value` is
 * NULL or empty. */
void kube_query(struct strbuf *path, const char *name, const char *value);
