"""The kinds that random requests are about."""

import dataclasses

import objects
import objects_more as more


@dataclasses.dataclass
class Kind:
    """A kind, and how random objects of it are made."""

    group: str
    version: str
    plural: str
    kind: str
    make: callable
    is_namespaced: bool = True
    parts: tuple = ()  # subresources
    fields: tuple = ()  # that can be selected
    weight: int = 2
    is_custom: bool = False

    @property
    def api_version(self):
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def path(self):
        """Of the collection; @run@ is the name of the run."""
        root = f"/apis/{self.api_version}" if self.group else "/api/v1"
        return f"{root}/namespaces/t@run@/{self.plural}" if self.is_namespaced else f"{root}/{self.plural}"


STATUS, SCALE = ("status",), ("status", "scale")
POD_FIELDS = ("spec.nodeName", "status.phase", "spec.schedulerName", "spec.restartPolicy")

BUILT_IN = [
    Kind("", "v1", "pods", "Pod", objects.pod, parts=("status", "binding", "eviction"), fields=POD_FIELDS, weight=12),
    Kind("", "v1", "configmaps", "ConfigMap", more.config_map, weight=10),
    Kind("", "v1", "secrets", "Secret", more.secret, fields=("type",), weight=6),
    Kind("", "v1", "services", "Service", more.service, parts=STATUS, fields=("spec.type",), weight=4),
    Kind("", "v1", "serviceaccounts", "ServiceAccount", more.service_account),
    Kind("", "v1", "events", "Event", more.event, fields=("reason", "involvedObject.name", "type"), weight=3),
    Kind("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", objects.claim, parts=STATUS, weight=3),
    Kind("", "v1", "persistentvolumes", "PersistentVolume", more.volume, False, STATUS),
    Kind("", "v1", "nodes", "Node", more.node, False, STATUS, ("spec.unschedulable",), 4),
    Kind("", "v1", "limitranges", "LimitRange", more.limit_range, weight=1),
    Kind("", "v1", "endpoints", "Endpoints", more.endpoints, weight=1),
    Kind("", "v1", "podtemplates", "PodTemplate", objects.pod_template, weight=1),
    Kind("", "v1", "replicationcontrollers", "ReplicationController", objects.replication_controller, parts=SCALE),
    Kind("apps", "v1", "deployments", "Deployment", objects.deployment, parts=SCALE, weight=8),
    Kind("apps", "v1", "replicasets", "ReplicaSet", objects.replica_set, parts=SCALE, weight=4),
    Kind("apps", "v1", "statefulsets", "StatefulSet", objects.stateful_set, parts=SCALE, weight=4),
    Kind("apps", "v1", "daemonsets", "DaemonSet", objects.daemon_set, parts=STATUS),
    Kind("apps", "v1", "controllerrevisions", "ControllerRevision", more.controller_revision, weight=1),
    Kind("batch", "v1", "jobs", "Job", objects.job, parts=STATUS, weight=8),
    Kind("batch", "v1", "cronjobs", "CronJob", objects.cron_job, parts=STATUS, weight=4),
    Kind("coordination.k8s.io", "v1", "leases", "Lease", more.lease, weight=4),
    Kind("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", more.priority_class, False),
    Kind("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", more.budget, parts=STATUS),
    Kind("storage.k8s.io", "v1", "storageclasses", "StorageClass", more.storage_class, False),
    Kind("storage.k8s.io", "v1", "csidrivers", "CSIDriver", more.csi_driver, False, weight=1),
    Kind("storage.k8s.io", "v1", "csinodes", "CSINode", more.csi_node, False, weight=1),
    Kind("storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity", more.storage_capacity, weight=1),
    Kind("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", more.attachment, False, STATUS, weight=1),
    Kind("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", more.resource_claim, parts=STATUS, weight=3),
    Kind("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", more.claim_template),
    Kind("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", more.device_class, False),
    Kind("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", more.resource_slice, False,
         fields=("spec.driver", "spec.nodeName")),
    Kind("rbac.authorization.k8s.io", "v1", "roles", "Role", more.role),
    Kind("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", more.role_binding),
    Kind("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", more.cluster_role, False),
    Kind("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", more.cluster_role_binding,
         False),
    Kind("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", more.network_policy),
    Kind("networking.k8s.io", "v1", "ingresses", "Ingress", more.ingress, parts=STATUS),
    Kind("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", more.endpoint_slice, weight=1),
    Kind("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration",
         more.webhooks, False, weight=1),
]
