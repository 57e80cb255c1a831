/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/client/resource.h"

#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"

#define CLUSTER false
#define NAMESPACED true

static const struct kube_resource known[] = {
    [KUBE_PODS] = {"", "v1", "pods", "Pod", NAMESPACED},
    [KUBE_NODES] = {"", "v1", "nodes", "Node", CLUSTER},
    [KUBE_NAMESPACES] = {"", "v1", "namespaces", "Namespace", CLUSTER},
    [KUBE_CONFIG_MAPS] = {"", "v1", "configmaps", "ConfigMap", NAMESPACED},
    [KUBE_SECRETS] = {"", "v1", "secrets", "Secret", NAMESPACED},
    [KUBE_SERVICES] = {"", "v1", "services", "Service", NAMESPACED},
    [KUBE_SERVICE_ACCOUNTS] = {"", "v1", "serviceaccounts", "ServiceAccount", NAMESPACED},
    [KUBE_EVENTS] = {"", "v1", "events", "Event", NAMESPACED},
    [KUBE_PERSISTENT_VOLUMES] = {"", "v1", "persistentvolumes", "PersistentVolume", CLUSTER},
    [KUBE_PERSISTENT_VOLUME_CLAIMS] = {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", NAMESPACED},
    [KUBE_REPLICATION_CONTROLLERS] = {"", "v1", "replicationcontrollers", "ReplicationController", NAMESPACED},
    [KUBE_PRIORITY_CLASSES] = {"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", CLUSTER},
    [KUBE_STORAGE_CLASSES] = {"storage.k8s.io", "v1", "storageclasses", "StorageClass", CLUSTER},
    [KUBE_CSI_DRIVERS] = {"storage.k8s.io", "v1", "csidrivers", "CSIDriver", CLUSTER},
    [KUBE_CSI_NODES] = {"storage.k8s.io", "v1", "csinodes", "CSINode", CLUSTER},
    [KUBE_CSI_STORAGE_CAPACITIES] = {"storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity", NAMESPACED},
    [KUBE_RESOURCE_CLAIMS] = {"resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", NAMESPACED},
    [KUBE_RESOURCE_SLICES] = {"resource.k8s.io", "v1", "resourceslices", "ResourceSlice", CLUSTER},
    [KUBE_DEVICE_CLASSES] = {"resource.k8s.io", "v1", "deviceclasses", "DeviceClass", CLUSTER},
    [KUBE_LEASES] = {"coordination.k8s.io", "v1", "leases", "Lease", NAMESPACED},
    [KUBE_DEPLOYMENTS] = {"apps", "v1", "deployments", "Deployment", NAMESPACED},
    [KUBE_DAEMON_SETS] = {"apps", "v1", "daemonsets", "DaemonSet", NAMESPACED},
    [KUBE_REPLICA_SETS] = {"apps", "v1", "replicasets", "ReplicaSet", NAMESPACED},
    [KUBE_STATEFUL_SETS] = {"apps", "v1", "statefulsets", "StatefulSet", NAMESPACED},
    [KUBE_CONTROLLER_REVISIONS] = {"apps", "v1", "controllerrevisions", "ControllerRevision", NAMESPACED},
    [KUBE_JOBS] = {"batch", "v1", "jobs", "Job", NAMESPACED},
    [KUBE_CRON_JOBS] = {"batch", "v1", "cronjobs", "CronJob", NAMESPACED},
    [KUBE_POD_DISRUPTION_BUDGETS] = {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", NAMESPACED},
    [KUBE_CUSTOM_RESOURCE_DEFINITIONS] = {"apiextensions.k8s.io", "v1", "customresourcedefinitions",
                                          "CustomResourceDefinition", CLUSTER},
    [KUBE_MUTATING_WEBHOOKS] = {"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
                                "MutatingWebhookConfiguration", CLUSTER},
    [KUBE_VALIDATING_WEBHOOKS] = {"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
                                  "ValidatingWebhookConfiguration", CLUSTER},
    [KUBE_QUEUES] = {"scheduling.run.ai", "v2", "queues", "Queue", CLUSTER},
    [KUBE_POD_GROUPS] = {"scheduling.run.ai", "v2alpha2", "podgroups", "PodGroup", NAMESPACED},
    [KUBE_BIND_REQUESTS] = {"scheduling.run.ai", "v1alpha2", "bindrequests", "BindRequest", NAMESPACED},
    [KUBE_TOPOLOGIES] = {"kai.scheduler", "v1alpha1", "topologies", "Topology", CLUSTER},
    [KUBE_CONFIGS] = {"kai.scheduler", "v1", "configs", "Config", CLUSTER},
    [KUBE_SCHEDULING_SHARDS] = {"kai.scheduler", "v1", "schedulingshards", "SchedulingShard", CLUSTER},
    [KUBE_NODE_RESOURCE_TOPOLOGIES] = {"topology.node.k8s.io", "v1alpha2", "noderesourcetopologies",
                                       "NodeResourceTopology", CLUSTER},
};
_Static_assert(ARRAY_LEN(known) == _KUBE_KNOWN_MAX, "every known resource has a row");

const struct kube_resource *kube_known(enum kube_known which)
{
    BUG_ON((unsigned)which >= ARRAY_LEN(known));
    return &known[which];
}

static const struct kube_resource older[KUBE_DEVICE_VERSIONS - 1][3] = {
    {
        {"resource.k8s.io", "v1beta2", "resourceclaims", "ResourceClaim", NAMESPACED},
        {"resource.k8s.io", "v1beta2", "resourceslices", "ResourceSlice", CLUSTER},
        {"resource.k8s.io", "v1beta2", "deviceclasses", "DeviceClass", CLUSTER},
    },
    {
        {"resource.k8s.io", "v1beta1", "resourceclaims", "ResourceClaim", NAMESPACED},
        {"resource.k8s.io", "v1beta1", "resourceslices", "ResourceSlice", CLUSTER},
        {"resource.k8s.io", "v1beta1", "deviceclasses", "DeviceClass", CLUSTER},
    },
};

const struct kube_resource *kube_known_of(enum kube_known which, uint32_t device_version)
{
    BUG_ON(device_version >= KUBE_DEVICE_VERSIONS);
    if (device_version == 0 || which < KUBE_RESOURCE_CLAIMS || which > KUBE_DEVICE_CLASSES)
        return kube_known(which);
    return &older[device_version - 1][which - KUBE_RESOURCE_CLAIMS];
}

/* Whatever the locale says. */
static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~", c);
}

static void add_encoded(struct strbuf *path, const char *text)
{
    for (; *text; text++) {
        if (is_plain(*text))
            strbuf_addch(path, *text);
        else
            strbuf_addf(path, "%%%02X", (unsigned char)*text);
    }
}

static void add_segment(struct strbuf *path, const char *text)
{
    strbuf_addch(path, '/');
    add_encoded(path, text);
}

void kube_path(struct strbuf *path, const struct kube_resource *resource, const char *namespace, const char *name,
               const char *subresource)
{
    strbuf_addstr(path, resource->group[0] ? "/apis" : "/api");
    if (resource->group[0])
        add_segment(path, resource->group);
    add_segment(path, resource->version);
    if (resource->is_namespaced && namespace && namespace[0]) {
        strbuf_addstr(path, "/namespaces");
        add_segment(path, namespace);
    }
    add_segment(path, resource->plural);
    if (name && name[0])
        add_segment(path, name);
    if (subresource && subresource[0])
        add_segment(path, subresource);
}

void kube_query(struct strbuf *path, const char *name, const char *value)
{
    if (!value || !value[0])
        return;
    strbuf_addch(path, memchr(path->text, '?', path->len) ? '&' : '?');
    strbuf_addstr(path, name);
    strbuf_addch(path, '=');
    add_encoded(path, value);
}
