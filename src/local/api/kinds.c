/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/kinds.h"

#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/text_is.h"

#define NS KIND_NAMESPACED
#define WITH_STATUS (KIND_STATUS | KIND_GENERATION)

#define POD_FIELDS                                                                                  \
    "spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName spec.hostNetwork " \
    "status.phase status.podIP status.nominatedNodeName"
#define EVENT_FIELDS                                                                            \
    "involvedObject.kind involvedObject.namespace involvedObject.name involvedObject.uid "      \
    "involvedObject.apiVersion involvedObject.resourceVersion involvedObject.fieldPath reason " \
    "reportingComponent source type"

#define OTHER_EVENT_FIELDS                                                                  \
    "regarding.kind regarding.namespace regarding.name regarding.uid regarding.apiVersion " \
    "regarding.resourceVersion regarding.fieldPath reason reportingController type"

static const struct api_kind builtin[] = {
    {"", "v1", "namespaces", "namespace", "Namespace", "ns", NULL, "status.phase", KIND_STATUS | KIND_SHOWS_DELETED},
    {"", "v1", "nodes", "node", "Node", "no", NULL, "spec.unschedulable", KIND_STATUS},
    {"", "v1", "pods", "pod", "Pod", "po", "all", POD_FIELDS, NS | WITH_STATUS | KIND_SHOWS_DELETED | KIND_GRACE},
    {"", "v1", "configmaps", "configmap", "ConfigMap", "cm", NULL, NULL, NS},
    {"", "v1", "secrets", "secret", "Secret", NULL, NULL, "type", NS},
    {"", "v1", "serviceaccounts", "serviceaccount", "ServiceAccount", "sa", NULL, NULL, NS | KIND_SHOWS_DELETED},
    {"", "v1", "services", "service", "Service", "svc", "all", "spec.clusterIP spec.type",
     NS | KIND_STATUS | KIND_PUT_CREATES | KIND_SHOWS_DELETED},
    {"", "v1", "endpoints", "endpoints", "Endpoints", "ep", NULL, NULL, NS | KIND_PUT_CREATES},
    {"", "v1", "events", "event", "Event", "ev", NULL, EVENT_FIELDS, NS | KIND_PUT_CREATES},
    {"", "v1", "persistentvolumes", "persistentvolume", "PersistentVolume", "pv", NULL, NULL,
     KIND_STATUS | KIND_SHOWS_DELETED},
    {"", "v1", "persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim", "pvc", NULL, NULL,
     NS | KIND_STATUS | KIND_SHOWS_DELETED},
    {"", "v1", "resourcequotas", "resourcequota", "ResourceQuota", "quota", NULL, NULL,
     NS | KIND_STATUS | KIND_SHOWS_DELETED},
    {"", "v1", "limitranges", "limitrange", "LimitRange", "limits", NULL, NULL, NS | KIND_PUT_CREATES},
    {"", "v1", "podtemplates", "podtemplate", "PodTemplate", NULL, NULL, NULL,
     NS | KIND_GENERATION | KIND_SHOWS_DELETED},
    {"", "v1", "replicationcontrollers", "replicationcontroller", "ReplicationController", "rc", "all",
     "status.replicas", NS | WITH_STATUS | KIND_ORPHANS},
    {"apps", "v1", "deployments", "deployment", "Deployment", "deploy", "all", NULL, NS | WITH_STATUS},
    {"apps", "v1", "replicasets", "replicaset", "ReplicaSet", "rs", "all", "status.replicas", NS | WITH_STATUS},
    {"apps", "v1", "statefulsets", "statefulset", "StatefulSet", "sts", "all", NULL, NS | WITH_STATUS},
    {"apps", "v1", "daemonsets", "daemonset", "DaemonSet", "ds", "all", NULL, NS | WITH_STATUS},
    {"apps", "v1", "controllerrevisions", "controllerrevision", "ControllerRevision", NULL, NULL, NULL, NS},
    {"events.k8s.io", "v1", "events", "event", "Event", "ev", NULL, OTHER_EVENT_FIELDS,
     NS | KIND_PUT_CREATES | KIND_OTHER_FORM},
    {"batch", "v1", "jobs", "job", "Job", NULL, "all", "status.successful", NS | WITH_STATUS | KIND_ORPHANS},
    {"batch", "v1", "cronjobs", "cronjob", "CronJob", "cj", "all", NULL, NS | WITH_STATUS},
    {"autoscaling", "v2", "horizontalpodautoscalers", "horizontalpodautoscaler", "HorizontalPodAutoscaler", "hpa",
     "all", NULL, NS | KIND_STATUS},
    {"coordination.k8s.io", "v1", "leases", "lease", "Lease", NULL, NULL, NULL,
     NS | KIND_PUT_CREATES | KIND_NEEDS_VERSION},
    {"scheduling.k8s.io", "v1", "priorityclasses", "priorityclass", "PriorityClass", "pc", NULL, NULL, KIND_GENERATION},
    {"policy", "v1", "poddisruptionbudgets", "poddisruptionbudget", "PodDisruptionBudget", "pdb", NULL, NULL,
     NS | WITH_STATUS | KIND_NEEDS_VERSION},
    {"storage.k8s.io", "v1", "storageclasses", "storageclass", "StorageClass", "sc", NULL, NULL, KIND_SHOWS_DELETED},
    {"storage.k8s.io", "v1", "csidrivers", "csidriver", "CSIDriver", NULL, NULL, NULL,
     KIND_NEEDS_VERSION | KIND_SHOWS_DELETED},
    {"storage.k8s.io", "v1", "csinodes", "csinode", "CSINode", NULL, NULL, NULL,
     KIND_NEEDS_VERSION | KIND_SHOWS_DELETED},
    {"storage.k8s.io", "v1", "csistoragecapacities", "csistoragecapacity", "CSIStorageCapacity", NULL, NULL, NULL,
     NS | KIND_NEEDS_VERSION},
    {"storage.k8s.io", "v1", "volumeattachments", "volumeattachment", "VolumeAttachment", NULL, NULL, NULL,
     KIND_STATUS | KIND_STATUS_ALONE | KIND_SHOWS_DELETED},
    {"resource.k8s.io", "v1", "deviceclasses", "deviceclass", "DeviceClass", NULL, NULL, NULL,
     KIND_GENERATION | KIND_SHOWS_DELETED},
    {"resource.k8s.io", "v1", "resourceclaims", "resourceclaim", "ResourceClaim", NULL, NULL, NULL,
     NS | KIND_STATUS | KIND_STATUS_ALONE | KIND_SHOWS_DELETED},
    {"resource.k8s.io", "v1", "resourceclaimtemplates", "resourceclaimtemplate", "ResourceClaimTemplate", NULL, NULL,
     NULL, NS | KIND_SHOWS_DELETED},
    {"resource.k8s.io", "v1", "resourceslices", "resourceslice", "ResourceSlice", NULL, NULL,
     "spec.nodeName spec.driver", KIND_GENERATION | KIND_SHOWS_DELETED},
    {"rbac.authorization.k8s.io", "v1", "roles", "role", "Role", NULL, NULL, NULL, NS | KIND_PUT_CREATES},
    {"rbac.authorization.k8s.io", "v1", "rolebindings", "rolebinding", "RoleBinding", NULL, NULL, NULL,
     NS | KIND_PUT_CREATES},
    {"rbac.authorization.k8s.io", "v1", "clusterroles", "clusterrole", "ClusterRole", NULL, NULL, NULL,
     KIND_PUT_CREATES},
    {"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "clusterrolebinding", "ClusterRoleBinding", NULL, NULL,
     NULL, KIND_PUT_CREATES},
    {"networking.k8s.io", "v1", "networkpolicies", "networkpolicy", "NetworkPolicy", "netpol", NULL, NULL,
     NS | KIND_GENERATION},
    {"networking.k8s.io", "v1", "ingresses", "ingress", "Ingress", "ing", NULL, NULL, NS | WITH_STATUS},
    {"node.k8s.io", "v1", "runtimeclasses", "runtimeclass", "RuntimeClass", NULL, NULL, NULL,
     KIND_PUT_CREATES | KIND_NEEDS_VERSION},
    {"discovery.k8s.io", "v1", "endpointslices", "endpointslice", "EndpointSlice", NULL, NULL, NULL,
     NS | KIND_GENERATION},
    {"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "mutatingwebhookconfiguration",
     "MutatingWebhookConfiguration", NULL, NULL, NULL, KIND_GENERATION | KIND_NEEDS_VERSION},
    {"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "validatingwebhookconfiguration",
     "ValidatingWebhookConfiguration", NULL, NULL, NULL, KIND_GENERATION | KIND_NEEDS_VERSION},
    {"apiextensions.k8s.io", "v1", "customresourcedefinitions", "customresourcedefinition", "CustomResourceDefinition",
     "crd crds", "api-extensions", NULL, WITH_STATUS | KIND_STATUS_ALONE | KIND_SHOWS_DELETED},
};

const char *api_kind_version(const struct api_kind *kind, char text[static API_VERSION_MAX])
{
    (void)snprintf(text, API_VERSION_MAX, "%s%s%s", kind->group, *kind->group ? "/" : "", kind->version);
    return text;
}

const struct api_kind *builtin_kind_at(size_t index)
{
    return index < ARRAY_LEN(builtin) ? &builtin[index] : NULL;
}

const struct api_kind *builtin_kind_find(const char *group, const char *version, const char *plural)
{
    for (size_t i = 0; i < ARRAY_LEN(builtin); i++)
        if (text_is(builtin[i].plural, plural) && text_is(builtin[i].group, group) &&
            text_is(builtin[i].version, version))
            return &builtin[i];
    return NULL;
}

const struct api_kind *api_kind_stored(const struct api_kind *kind)
{
    return kind->flags & KIND_OTHER_FORM ? builtin_kind_find("", kind->version, kind->plural) : kind;
}

bool kind_list_has(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = list; at && *at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, word, len) == 0 && (at[len] == ' ' || at[len] == '\0'))
            return true;
    }
    return false;
}
