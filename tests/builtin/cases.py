"""Objects to create, and changes to make to them: the cases that tests/builtin/record asks a real API server about.

A case is a name, a plural, an object and the members that differ from it, by path; DROP removes one. An update has a second
set of members, which are changed in the object that the first one created.
"""

import copy
import re

DROP = object()

CONTAINER = {"name": "main", "image": "busybox"}
POD_SPEC = {"containers": [CONTAINER]}
TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": POD_SPEC}
JOB_TEMPLATE = {"spec": {"containers": [CONTAINER], "restartPolicy": "Never"}}
SELECTOR = {"matchLabels": {"app": "a"}}
CLAIM_SPEC = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
WEBHOOK = {
    "name": "a.example.com", "clientConfig": {"url": "https://example.com"}, "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "rules": [{"operations": ["CREATE"], "apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["things"]}],
}

# plural: (group/version, kind, namespaced, the rest of a good object)
KINDS = {
    "pods": ("v1", "Pod", True, {"spec": POD_SPEC}),
    "configmaps": ("v1", "ConfigMap", True, {"data": {"a": "b"}}),
    "secrets": ("v1", "Secret", True, {"data": {"a": "Yg=="}}),
    "services": ("v1", "Service", True, {"spec": {"selector": {"app": "a"}, "ports": [{"port": 80}]}}),
    "serviceaccounts": ("v1", "ServiceAccount", True, {}),
    "namespaces": ("v1", "Namespace", False, {}),
    "nodes": ("v1", "Node", False, {"status": {"capacity": {"cpu": "2"}}}),
    "persistentvolumes": ("v1", "PersistentVolume", False, {
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/tmp/a"}}}),
    "persistentvolumeclaims": ("v1", "PersistentVolumeClaim", True, {"spec": CLAIM_SPEC}),
    "limitranges": ("v1", "LimitRange", True, {"spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}}]}}),
    "resourcequotas": ("v1", "ResourceQuota", True, {"spec": {"hard": {"pods": "3"}}}),
    "events": ("v1", "Event", True, {
        "involvedObject": {"kind": "Pod", "name": "a", "namespace": "default"}, "reason": "R", "message": "m",
        "type": "Normal"}),
    "endpoints": ("v1", "Endpoints", True, {
        "subsets": [{"addresses": [{"ip": "10.1.2.3"}], "ports": [{"port": 80}]}]}),
    "replicationcontrollers": ("v1", "ReplicationController", True, {"spec": {"template": TEMPLATE}}),
    "podtemplates": ("v1", "PodTemplate", True, {"template": TEMPLATE}),
    "deployments": ("apps/v1", "Deployment", True, {"spec": {"selector": SELECTOR, "template": TEMPLATE}}),
    "replicasets": ("apps/v1", "ReplicaSet", True, {"spec": {"selector": SELECTOR, "template": TEMPLATE}}),
    "statefulsets": ("apps/v1", "StatefulSet", True, {
        "spec": {"selector": SELECTOR, "template": TEMPLATE, "serviceName": "s"}}),
    "daemonsets": ("apps/v1", "DaemonSet", True, {"spec": {"selector": SELECTOR, "template": TEMPLATE}}),
    "controllerrevisions": ("apps/v1", "ControllerRevision", True, {"revision": 1, "data": {"a": 1}}),
    "jobs": ("batch/v1", "Job", True, {"spec": {"template": JOB_TEMPLATE}}),
    "cronjobs": ("batch/v1", "CronJob", True, {
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": JOB_TEMPLATE}}}}),
    "leases": ("coordination.k8s.io/v1", "Lease", True, {
        "spec": {"holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": "2026-01-02T03:04:05.000000Z"}}),
    "priorityclasses": ("scheduling.k8s.io/v1", "PriorityClass", False, {"value": 100}),
    "poddisruptionbudgets": ("policy/v1", "PodDisruptionBudget", True, {
        "spec": {"minAvailable": 1, "selector": SELECTOR}}),
    "storageclasses": ("storage.k8s.io/v1", "StorageClass", False, {"provisioner": "example.com/a"}),
    "csidrivers": ("storage.k8s.io/v1", "CSIDriver", False, {"spec": {}}),
    "roles": ("rbac.authorization.k8s.io/v1", "Role", True, {
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
    "clusterroles": ("rbac.authorization.k8s.io/v1", "ClusterRole", False, {
        "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]}),
    "rolebindings": ("rbac.authorization.k8s.io/v1", "RoleBinding", True, {
        "roleRef": {"kind": "Role", "name": "a"}, "subjects": [{"kind": "User", "name": "u"}]}),
    "clusterrolebindings": ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", False, {
        "roleRef": {"kind": "ClusterRole", "name": "a"},
        "subjects": [{"kind": "ServiceAccount", "name": "u", "namespace": "n"}]}),
    "networkpolicies": ("networking.k8s.io/v1", "NetworkPolicy", True, {
        "spec": {"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]}}),
    "ingresses": ("networking.k8s.io/v1", "Ingress", True, {
        "spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 80}}}}}),
    "endpointslices": ("discovery.k8s.io/v1", "EndpointSlice", True, {
        "addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}], "ports": [{"port": 80}]}),
    "mutatingwebhookconfigurations": ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", False, {
        "webhooks": [WEBHOOK]}),
    "validatingwebhookconfigurations": ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", False, {
        "webhooks": [WEBHOOK]}),
    "resourceclaims": ("resource.k8s.io/v1", "ResourceClaim", True, {
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.example.com"}}]}}}),
    "resourceclaimtemplates": ("resource.k8s.io/v1", "ResourceClaimTemplate", True, {
        "spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.example.com"}}]}}}}),
    "deviceclasses": ("resource.k8s.io/v1", "DeviceClass", False, {
        "spec": {"selectors": [{"cel": {"expression": "device.driver == 'a.example.com'"}}]}}),
    "resourceslices": ("resource.k8s.io/v1", "ResourceSlice", False, {
        "spec": {"driver": "a.example.com", "nodeName": "n", "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
                 "devices": [{"name": "d0"}]}}),
}

LONG = "a" * 64
C = "spec.containers[0]."

# (plural, members of the new object, members of the update)
CASES = [(plural, {}, None) for plural in KINDS] + [
    ("pods", {"spec.containers[0].resources": {"limits": {"cpu": "2000m", "memory": "1024Mi", "nvidia.com/gpu": 1}}}, None),
    ("pods", {"spec.volumes": [{"name": "a"}, {"name": "b", "configMap": {"name": "c"}}],
              C + "volumeMounts": [{"name": "a", "mountPath": "/a"}]}, None),
    ("pods", {C + "livenessProbe": {"httpGet": {"port": 80}}, C + "ports": [{"containerPort": 80}],
              C + "image": "busybox:1.36"}, None),
    ("pods", {"spec.tolerations": [{"operator": "Exists"}], "spec.hostNetwork": True,
              C + "ports": [{"containerPort": 80}]}, None),
    ("pods", {C + "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}, None),
    ("jobs", {"spec.template.metadata": {"labels": {"x": "y"}}}, None),
    ("jobs", {"spec.parallelism": 3}, None),
    ("jobs", {"spec.completionMode": "Indexed", "spec.completions": 3, "spec.backoffLimitPerIndex": 1}, None),
    ("statefulsets", {"spec.updateStrategy": {"type": "OnDelete"}}, None),
    ("deployments", {"spec.strategy": {"type": "Recreate"}}, None),
    ("services", {"spec.type": "NodePort", "spec.ports[0].nodePort": 30080}, None),
    ("services", {"spec.clusterIP": "None"}, None),
    ("services", {"spec": {"type": "ExternalName", "externalName": "a.example.com"}}, None),
    ("roles", {"rules": DROP}, None),
    ("configmaps", {"immutable": True, "binaryData": {"x": "AAE="}}, None),
    ("networkpolicies", {"spec.egress": [{}]}, None),

    # Names and metadata
    ("pods", {"metadata.name": "A_b"}, None),
    ("pods", {"metadata.name": "a" * 254}, None),
    ("services", {"metadata.name": "1a"}, None),
    ("namespaces", {"metadata.name": "a.b"}, None),
    ("roles", {"metadata.name": "a/b"}, None),
    ("pods", {"metadata.labels": {"a b": "c"}}, None),
    ("pods", {"metadata.labels": {"a": "c d"}}, None),
    ("pods", {"metadata.labels": {"a": LONG}}, None),
    ("pods", {"metadata.labels": {"A_/b": "c"}}, None),
    ("pods", {"metadata.labels": {"a/b/c": "c"}}, None),
    ("pods", {"metadata.labels": {LONG: "c"}}, None),
    ("pods", {"metadata.annotations": {"a b": "c"}}, None),
    ("pods", {"metadata.annotations": {"a": "x" * (256 << 10)}}, None),
    ("pods", {"metadata.finalizers": ["a b"]}, None),
    ("pods", {"metadata.finalizers": ["ab"]}, None),
    ("pods", {"metadata.ownerReferences": [{"apiVersion": "v1", "kind": "", "name": "", "uid": ""}]}, None),
    ("pods", {"metadata.ownerReferences": [
        {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "1", "controller": True},
        {"apiVersion": "v1", "kind": "Pod", "name": "b", "uid": "2", "controller": True}]}, None),

    # Pods
    ("pods", {"spec.containers": []}, None),
    ("pods", {"spec": DROP}, None),
    ("pods", {C + "name": ""}, None),
    ("pods", {C + "name": "A"}, None),
    ("pods", {C + "name": LONG}, None),
    ("pods", {C + "image": DROP}, None),
    ("pods", {C + "image": " a"}, None),
    ("pods", {"spec.containers": [CONTAINER, CONTAINER]}, None),
    ("pods", {"spec.initContainers": [CONTAINER]}, None),
    ("pods", {"spec.restartPolicy": "Sometimes"}, None),
    ("pods", {"spec.dnsPolicy": "Some"}, None),
    ("pods", {C + "imagePullPolicy": "Some"}, None),
    ("pods", {C + "terminationMessagePolicy": "Some"}, None),
    ("pods", {C + "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}}, None),
    ("pods", {C + "resources": {"limits": {"cpu": "-1"}}}, None),
    ("pods", {C + "resources": {"requests": {"cpu": "-1"}}}, None),
    ("pods", {C + "resources": {"requests": {"nvidia.com/gpu": "1"}}}, None),
    ("pods", {C + "resources": {"limits": {"nvidia.com/gpu": "2"}, "requests": {"nvidia.com/gpu": "1"}}}, None),
    ("pods", {C + "resources": {"limits": {"nvidia.com/gpu": "500m"}}}, None),
    ("pods", {C + "resources": {"limits": {"gpu": "1"}}}, None),
    ("pods", {C + "resources": {"limits": {"a b/c": "1"}}}, None),
    ("pods", {C + "ports": [{"containerPort": 0}]}, None),
    ("pods", {C + "ports": [{"containerPort": 70000}]}, None),
    ("pods", {C + "ports": [{"containerPort": 80, "protocol": "X"}]}, None),
    ("pods", {C + "ports": [{"containerPort": 80, "name": "A_"}]}, None),
    ("pods", {C + "ports": [{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "a"}]}, None),
    ("pods", {C + "env": [{"name": ""}]}, None),
    ("pods", {C + "env": [{"name": "a=b"}]}, None),
    ("pods", {C + "env": [{"name": "a", "value": "b", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}, None),
    ("pods", {C + "env": [{"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "metadata.nme"}}}]}, None),
    ("pods", {C + "env": [{"name": "a", "valueFrom": {}}]}, None),
    ("pods", {C + "env": [{"name": "a", "valueFrom": {"secretKeyRef": {"name": "", "key": ""}}}]}, None),
    ("pods", {C + "volumeMounts": [{"name": "a", "mountPath": "/a"}]}, None),
    ("pods", {"spec.volumes": [{"name": "a"}], C + "volumeMounts": [{"name": "a", "mountPath": ""}]}, None),
    ("pods", {"spec.volumes": [{"name": "a"}],
              C + "volumeMounts": [{"name": "a", "mountPath": "/x"}, {"name": "a", "mountPath": "/x"}]}, None),
    ("pods", {"spec.volumes": [{"name": "a"}],
              C + "volumeMounts": [{"name": "a", "mountPath": "/x", "subPath": "../b"}]}, None),
    ("pods", {"spec.volumes": [{"name": "a"}, {"name": "a"}]}, None),
    ("pods", {"spec.volumes": [{"name": "A"}]}, None),
    ("pods", {"spec.volumes": [{"name": "a", "emptyDir": {}, "hostPath": {"path": "/a"}}]}, None),
    ("pods", {"spec.volumes": [{"name": "a", "hostPath": {"path": ""}}]}, None),
    ("pods", {"spec.volumes": [{"name": "a", "hostPath": {"path": "/a/../b"}}]}, None),
    ("pods", {"spec.volumes": [{"name": "a", "hostPath": {"path": "/a", "type": "X"}}]}, None),
    ("pods", {"spec.volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": ""}}]}, None),
    ("pods", {"spec.volumes": [{"name": "a", "secret": {}}]}, None),
    ("pods", {"spec.volumes": [{"name": "a", "configMap": {}}]}, None),
    ("pods", {"spec.nodeName": "A_"}, None),
    ("pods", {"spec.nodeSelector": {"a b": "c"}}, None),
    ("pods", {"spec.schedulerName": "a b"}, None),
    ("pods", {"spec.priorityClassName": "missing"}, None),
    ("pods", {"spec.priority": 7}, None),
    ("pods", {"spec.serviceAccountName": "A b"}, None),
    ("pods", {"spec.hostname": "A_"}, None),
    ("pods", {"spec.activeDeadlineSeconds": 0}, None),
    ("pods", {"spec.terminationGracePeriodSeconds": -1}, None),
    ("pods", {"spec.tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]}, None),
    ("pods", {"spec.tolerations": [{"operator": "Equal"}]}, None),
    ("pods", {"spec.tolerations": [{"key": "a", "operator": "Some"}]}, None),
    ("pods", {"spec.tolerations": [{"key": "a", "effect": "Some"}]}, None),
    ("pods", {"spec.tolerations": [{"key": "a", "effect": "NoSchedule", "tolerationSeconds": 1}]}, None),
    ("pods", {C + "livenessProbe": {}}, None),
    ("pods", {C + "livenessProbe": {"exec": {"command": []}}}, None),
    ("pods", {C + "livenessProbe": {"tcpSocket": {"port": 0}}}, None),
    ("pods", {C + "livenessProbe": {"httpGet": {"port": "x_"}}}, None),
    ("pods", {C + "livenessProbe": {"httpGet": {"port": 1}, "periodSeconds": -1}}, None),
    ("pods", {C + "livenessProbe": {"httpGet": {"port": 1}, "successThreshold": 2}}, None),
    ("pods", {C + "lifecycle": {"preStop": {}}}, None),
    ("pods", {C + "restartPolicy": "Always"}, None),
    ("pods", {C + "securityContext": {"runAsUser": -1}}, None),
    ("pods", {"spec.affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": []}}}}, None),
    ("pods", {"spec.affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In"}]}]}}}}, None),
    ("pods", {"spec.affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "X"}]}]}}}}, None),
    ("pods", {"spec.affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": {"a": "b"}}}]}}}, None),
    ("pods", {"spec.affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 0, "podAffinityTerm": {"topologyKey": "a"}}]}}}, None),
    ("pods", {"spec.topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "X"}]}, None),
    ("pods", {"spec.imagePullSecrets": [{"name": ""}]}, None),
    ("pods", {"spec.schedulingGates": [{"name": "a"}, {"name": "a"}]}, None),
    ("pods", {"spec.resourceClaims": [{"name": "a"}]}, None),
    ("pods", {C + "resources": {"claims": [{"name": "x"}]}}, None),
    ("pods", {"spec.os": {"name": "x"}}, None),
    ("pods", {"spec.preemptionPolicy": "X"}, None),
    ("pods", {C + "workingDir": "a", C + "command": ["a"]}, None),

    # Wrong types and unknown members
    ("pods", {"spec.nodname": "x"}, None),
    ("pods", {"spec.containers[0].imag": "x", "metadata.label": {}}, None),
    ("pods", {C + "name": 5}, None),
    ("pods", {"spec.containers": {}}, None),
    ("pods", {"spec.priority": "x"}, None),
    ("pods", {C + "resources": {"limits": {"cpu": "1x"}}}, None),
    ("pods", {C + "resources": {"limits": {"cpu": "1KK"}}}, None),
    ("deployments", {"spec.replicas": 1.5}, None),
    ("deployments", {"spec.replicas": "1"}, None),
    ("secrets", {"data": {"a": "&"}}, None),
    ("secrets", {"data": {"a": "abc"}}, None),
    ("leases", {"spec.renewTime": "x"}, None),
    ("configmaps", {"data": []}, None),
    ("configmaps", {"data": {"a": 1}}, None),

    # Other kinds
    ("configmaps", {"data": {"a/b": "c"}}, None),
    ("configmaps", {"data": {"..": "c"}}, None),
    ("configmaps", {"binaryData": {"a": ""}}, None),
    ("configmaps", {"data": {"a": "x" * (1 << 20)}}, None),
    ("secrets", {"data": {"a b": ""}}, None),
    ("secrets", {"type": "kubernetes.io/tls"}, None),
    ("secrets", {"type": "kubernetes.io/dockerconfigjson"}, None),
    ("secrets", {"type": "kubernetes.io/basic-auth"}, None),
    ("secrets", {"type": "kubernetes.io/ssh-auth"}, None),
    ("services", {"spec.ports": []}, None),
    ("services", {"spec.ports": [{"port": 80}, {"port": 81}]}, None),
    ("services", {"spec.ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "a"}]}, None),
    ("services", {"spec.ports[0].port": 0}, None),
    ("services", {"spec.type": "X"}, None),
    ("services", {"spec.ports[0].protocol": "X"}, None),
    ("services", {"spec.sessionAffinity": "X"}, None),
    ("services", {"spec.selector": {"a b": "c"}}, None),
    ("services", {"spec": {"type": "ExternalName"}}, None),
    ("persistentvolumeclaims", {"spec.accessModes": []}, None),
    ("persistentvolumeclaims", {"spec.accessModes": ["X"]}, None),
    ("persistentvolumeclaims", {"spec.resources": {}}, None),
    ("persistentvolumeclaims", {"spec.resources.requests.storage": "0"}, None),
    ("persistentvolumes", {"spec.capacity": DROP}, None),
    ("persistentvolumes", {"spec.accessModes": []}, None),
    ("persistentvolumes", {"spec.hostPath": DROP}, None),
    ("persistentvolumes", {"spec.persistentVolumeReclaimPolicy": "X"}, None),
    ("deployments", {"spec.selector": DROP}, None),
    ("deployments", {"spec.selector": {}}, None),
    ("deployments", {"spec.selector.matchLabels.app": "b"}, None),
    ("deployments", {"spec.selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}, None),
    ("deployments", {"spec.selector": {"matchExpressions": [{"key": "a", "operator": "X"}]}}, None),
    ("deployments", {"spec.replicas": -1}, None),
    ("deployments", {"spec.template": {}}, None),
    ("deployments", {"spec.template.spec.restartPolicy": "Never"}, None),
    ("deployments", {"spec.template.spec.containers[0].image": ""}, None),
    ("deployments", {"spec.strategy": {"type": "X"}}, None),
    ("deployments", {"spec.strategy": {"type": "Recreate", "rollingUpdate": {}}}, None),
    ("deployments", {"spec.strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 0}}}, None),
    ("deployments", {"spec.strategy": {"rollingUpdate": {"maxUnavailable": "x"}}}, None),
    ("deployments", {"spec.minReadySeconds": -1}, None),
    ("deployments", {"spec.progressDeadlineSeconds": 0}, None),
    ("replicasets", {"spec.selector.matchLabels.app": "b"}, None),
    ("replicasets", {"spec.replicas": -1}, None),
    ("statefulsets", {"spec.podManagementPolicy": "X"}, None),
    ("statefulsets", {"spec.updateStrategy": {"type": "X"}}, None),
    ("statefulsets", {"spec.selector.matchLabels.app": "b"}, None),
    ("statefulsets", {"spec.replicas": -1}, None),
    ("daemonsets", {"spec.selector.matchLabels.app": "b"}, None),
    ("daemonsets", {"spec.updateStrategy": {"type": "X"}}, None),
    ("jobs", {"spec.template.spec.restartPolicy": DROP}, None),
    ("jobs", {"spec.template.spec.restartPolicy": "Always"}, None),
    ("jobs", {"spec.parallelism": -1}, None),
    ("jobs", {"spec.completions": -1}, None),
    ("jobs", {"spec.backoffLimit": -1}, None),
    ("jobs", {"spec.activeDeadlineSeconds": -1}, None),
    ("jobs", {"spec.ttlSecondsAfterFinished": -1}, None),
    ("jobs", {"spec.completionMode": "X"}, None),
    ("jobs", {"spec.completionMode": "Indexed", "spec.parallelism": 1}, None),
    ("jobs", {"spec.selector": SELECTOR}, None),
    ("jobs", {"spec.manualSelector": True}, None),
    ("jobs", {"spec.manualSelector": True, "spec.selector": SELECTOR}, None),
    ("jobs", {"spec.template.spec.containers": []}, None),
    ("jobs", {"metadata.name": LONG}, None),
    ("cronjobs", {"spec.schedule": "x"}, None),
    ("cronjobs", {"spec.schedule": ""}, None),
    ("cronjobs", {"spec.schedule": "TZ=UTC * * * * *"}, None),
    ("cronjobs", {"spec.timeZone": "X/Y"}, None),
    ("cronjobs", {"spec.concurrencyPolicy": "X"}, None),
    ("cronjobs", {"spec.successfulJobsHistoryLimit": -1}, None),
    ("cronjobs", {"spec.jobTemplate.spec.template.spec.restartPolicy": "Always"}, None),
    ("cronjobs", {"metadata.name": "a" * 53}, None),
    ("leases", {"spec.leaseDurationSeconds": 0}, None),
    ("leases", {"spec.leaseTransitions": -1}, None),
    ("priorityclasses", {"metadata.name": "system-a"}, None),
    ("priorityclasses", {"value": 2000000000}, None),
    ("priorityclasses", {"preemptionPolicy": "X"}, None),
    ("poddisruptionbudgets", {"spec.maxUnavailable": 1}, None),
    ("poddisruptionbudgets", {"spec.minAvailable": -1}, None),
    ("poddisruptionbudgets", {"spec.minAvailable": "x"}, None),
    ("storageclasses", {"provisioner": DROP}, None),
    ("storageclasses", {"reclaimPolicy": "X"}, None),
    ("storageclasses", {"volumeBindingMode": "X"}, None),
    ("roles", {"rules": [{"verbs": []}]}, None),
    ("roles", {"rules": [{"verbs": ["get"]}]}, None),
    ("roles", {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/a"]}]}, None),
    ("clusterroles", {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/a"], "resources": ["b"], "apiGroups": [""]}]}, None),
    ("rolebindings", {"roleRef": DROP}, None),
    ("rolebindings", {"roleRef.kind": "X"}, None),
    ("rolebindings", {"roleRef.name": ""}, None),
    ("rolebindings", {"subjects": [{"kind": "X", "name": "a"}]}, None),
    ("rolebindings", {"subjects": [{"kind": "User", "name": ""}]}, None),
    ("rolebindings", {"subjects": [{"kind": "ServiceAccount", "name": "a"}]}, None),
    ("clusterrolebindings", {"roleRef.kind": "Role"}, None),
    ("networkpolicies", {"spec.ingress": [{"ports": [{"port": 0}]}]}, None),
    ("networkpolicies", {"spec.ingress": [{"from": [{}]}]}, None),
    ("networkpolicies", {"spec.policyTypes": ["X"]}, None),
    ("mutatingwebhookconfigurations", {"webhooks[0].name": "a"}, None),
    ("mutatingwebhookconfigurations", {"webhooks[0].sideEffects": DROP}, None),
    ("mutatingwebhookconfigurations", {"webhooks[0].admissionReviewVersions": DROP}, None),
    ("mutatingwebhookconfigurations", {"webhooks[0].failurePolicy": "X"}, None),
    ("validatingwebhookconfigurations", {"webhooks[0].timeoutSeconds": 31}, None),
    ("validatingwebhookconfigurations", {"webhooks[0].clientConfig": {}}, None),
    ("validatingwebhookconfigurations", {"webhooks": [WEBHOOK, WEBHOOK]}, None),
    ("events", {"involvedObject.namespace": "other"}, None),
    ("endpointslices", {"addressType": "X"}, None),
    ("endpointslices", {"addressType": DROP}, None),
    ("resourceclaims", {"spec.devices.requests": [{"name": "r"}]}, None),
    ("resourceclaims", {"spec.devices.requests": [{"name": "r", "exactly": {"deviceClassName": ""}}]}, None),
    ("resourceclaims", {"spec.devices.requests[0].exactly.count": -1}, None),
    ("resourceclaims", {"spec.devices.requests[0].exactly.allocationMode": "X"}, None),
    ("resourceclaims", {"spec.devices.requests": [
        {"name": "r", "exactly": {"deviceClassName": "a"}}, {"name": "r", "exactly": {"deviceClassName": "a"}}]}, None),
    ("resourceslices", {"spec.driver": "A_"}, None),
    ("resourceslices", {"spec.nodeName": DROP}, None),
    ("resourceslices", {"spec.pool.resourceSliceCount": 0}, None),
    ("limitranges", {"spec.limits": [{"type": "Container", "max": {"cpu": "1"}, "min": {"cpu": "2"}}]}, None),
    ("resourcequotas", {"spec.hard": {"pods": "-1"}}, None),
    ("nodes", {"spec.taints": [{"key": "a", "effect": "X"}]}, None),
    ("nodes", {"spec.taints": [{"key": "", "effect": "NoSchedule"}]}, None),
    ("nodes", {"spec.taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}]}, None),

    # Updates
    ("pods", {}, {"spec.containers[0].image": "other"}),
    ("pods", {}, {"spec.containers[0].command": ["x"]}),
    ("pods", {}, {"spec.nodeName": "x"}),
    ("pods", {}, {"spec.activeDeadlineSeconds": 5}),
    ("pods", {}, {"spec.tolerations": []}),
    ("pods", {}, {"spec.containers": [CONTAINER, {"name": "b", "image": "c"}]}),
    ("pods", {"spec.schedulingGates": [{"name": "a"}]}, {"spec.schedulingGates": DROP, "spec.nodeSelector": {"a": "b"}}),
    ("pods", {}, {"spec.schedulingGates": [{"name": "a"}]}),
    ("configmaps", {"immutable": True}, {"data": {"a": "c"}}),
    ("configmaps", {"immutable": True}, {"immutable": False}),
    ("secrets", {"immutable": True}, {"data": {"a": "Yw=="}}),
    ("secrets", {}, {"type": "x"}),
    ("deployments", {}, {"spec.selector.matchLabels": {"app": "a", "b": "c"}, "spec.template.metadata.labels": {"app": "a", "b": "c"}}),
    ("deployments", {}, {"spec.replicas": 3}),
    ("replicasets", {}, {"spec.selector.matchLabels": {"b": "c"}, "spec.template.metadata.labels": {"app": "a", "b": "c"}}),
    ("statefulsets", {}, {"spec.serviceName": "x"}),
    ("statefulsets", {}, {"spec.replicas": 2}),
    ("jobs", {}, {"spec.template.spec.containers[0].image": "x"}),
    ("jobs", {}, {"spec.completions": 3}),
    ("jobs", {}, {"spec.parallelism": 3}),
    ("jobs", {"spec.suspend": True}, {"spec.template.spec.nodeSelector": {"a": "b"}}),
    ("persistentvolumeclaims", {}, {"spec.accessModes": ["ReadOnlyMany"]}),
    ("persistentvolumes", {}, {"spec.hostPath.path": "/tmp/b"}),
    ("services", {}, {"spec.clusterIP": "10.96.9.9"}),
    ("priorityclasses", {}, {"value": 5}),
    ("storageclasses", {}, {"provisioner": "x.y/z"}),
    ("rolebindings", {}, {"roleRef.name": "x"}),
    ("resourceclaims", {}, {"spec.devices.requests[0].name": "x"}),
    ("resourceslices", {}, {"spec.nodeName": "x"}),
    ("pods", {}, {"metadata.labels": {"a": "b"}}),
    ("namespaces", {}, {"metadata.labels": {"a b": "c"}}),
    ("nodes", {}, {"spec.podCIDR": "10.0.0.0/24"}),
    ("nodes", {}, {"spec.unschedulable": True}),
    ("events", {}, {"reason": "x"}),
    ("controllerrevisions", {}, {"data": {"a": 2}}),
    ("storageclasses", {"provisioner": "Bad_Value!"}, None),
    ("storageclasses", {"provisioner": "Example.com/A"}, None),
    ("storageclasses", {}, {"provisioner": "x.y/z", "parameters": {"a": "b"}}),
    ("csidrivers", {}, {"spec.attachRequired": False}),
    ("ingresses", {"spec": {}}, None),
    ("jobs", {"spec.podReplacementPolicy": "X"}, None),
    ("jobs", {"spec.podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}}]},
              "spec.podReplacementPolicy": "TerminatingOrFailed"}, None),
    ("nodes", {"spec.taints": [{"key": "a"}]}, None),
    ("pods", {}, {C + "name": "x"}),
]


def put(target, path, value):
    steps = [int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", path)]
    for step in steps[:-1]:
        target = target.setdefault(step, {}) if isinstance(target, dict) else target[step]
    if value is DROP:
        target.pop(steps[-1], None)
    else:
        target[steps[-1]] = copy.deepcopy(value)


def with_members(object_, members):
    changed = copy.deepcopy(object_)
    for path, value in members.items():
        put(changed, path, value)
    return changed


def all_cases():
    """(number, plural, new object, members of the update or None)"""
    for number, (plural, members, update) in enumerate(CASES):
        version, kind, is_namespaced, rest = KINDS[plural]
        meta = {"name": f"c{number}"}
        if is_namespaced:
            meta["namespace"] = "default"
        yield number, plural, with_members({"apiVersion": version, "kind": kind, "metadata": meta, **rest}, members), update
