"""Random objects of the other built-in kinds."""

import base64


def texts(dice):
    return {name: dice.pick("", "1", "a\nb", "ü", "x" * 30) for name in dice.some(["k", "l.m", "n_o", "p-q"])}


def encoded(dice):
    return {name: base64.b64encode(dice.randbytes(dice.randint(0, 9))).decode() for name in dice.some(["k", "b.c"])}


def config_map(dice):
    return {**dice.maybe(80, data=lambda: texts(dice)),
            **dice.maybe(10, binaryData=lambda: {"bin": base64.b64encode(dice.randbytes(5)).decode()}),
            **dice.maybe(10, immutable=lambda: dice.chance(50))}


def secret(dice):
    return {**dice.maybe(60, data=lambda: encoded(dice)), **dice.maybe(30, stringData=lambda: texts(dice)),
            **dice.maybe(30, type=lambda: dice.pick("Opaque", "twin.io/x")), **dice.maybe(5, immutable=True)}


def service(dice):
    ports = [{"port": port, **dice.pick({"name": f"p{port}"}, {"name": f"p{port}", "targetPort": "http"}),
              **dice.maybe(20, protocol="UDP")} for port in dice.some([80, 81, 443])] or [{"port": 8080}]
    spec = {"ports": ports, **dice.maybe(70, selector=lambda: dice.labels(1))}
    spec |= dice.pick({}, {"clusterIP": "None"}, {"type": "ClusterIP"}, {"sessionAffinity": "ClientIP"},
                      {"type": "ExternalName", "externalName": "a.example.com"})
    return {"spec": spec}


def service_account(dice):
    return {**dice.maybe(30, imagePullSecrets=lambda: [{"name": "a"}]), **dice.maybe(30, secrets=lambda: [{"name": "b"}]),
            **dice.maybe(30, automountServiceAccountToken=lambda: dice.chance(50))}


def lease(dice):
    spec = dice.maybe(70, holderIdentity="me", leaseDurationSeconds=lambda: dice.randint(1, 60))
    spec |= dice.maybe(40, renewTime=lambda: dice.pick("2024-01-02T03:04:05.000006Z", "2024-01-02T03:04:05.120000Z"))
    spec |= dice.maybe(20, leaseTransitions=2)
    return {"spec": spec} if dice.chance(90) else {}


def priority_class(dice):
    return {"value": dice.randint(-5, 1000), **dice.maybe(30, description="d"),
            **dice.maybe(30, preemptionPolicy=lambda: dice.pick("Never", "PreemptLowerPriority"))}


def volume(dice):
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            **dice.pick({"hostPath": {"path": "/x"}}, {"nfs": {"server": "s", "path": "/p"}},
                        {"csi": {"driver": "d.io", "volumeHandle": "h"}})}
    spec |= dice.maybe(30, persistentVolumeReclaimPolicy=lambda: dice.pick("Retain", "Delete"))
    spec |= dice.maybe(30, storageClassName="fast")
    return {"spec": spec}


def storage_class(dice):
    return {"provisioner": dice.pick("a.io/b", "kubernetes.io/no-provisioner"), **dice.maybe(30, parameters={"a": "b"}),
            **dice.maybe(30, volumeBindingMode="WaitForFirstConsumer"), **dice.maybe(30, reclaimPolicy="Retain"),
            **dice.maybe(20, allowVolumeExpansion=True)}


def rules(dice):
    return [{"apiGroups": [dice.pick("", "apps")], "resources": dice.some(["pods", "jobs"]) or ["nodes"],
             "verbs": dice.some(["get", "list", "*"]) or ["watch"], **dice.maybe(10, resourceNames=["a"])}
            for _ in range(dice.randint(0, 2))]


def role(dice):
    return {"rules": rules(dice)}


def cluster_role(dice):
    made = {"rules": rules(dice)}
    made["rules"] += dice.some([{"nonResourceURLs": ["/healthz"], "verbs": ["get"]}])
    return made


def role_binding(dice, kind="Role"):
    subjects = dice.some([
        {"kind": "User", "name": "u", **dice.maybe(50, apiGroup="rbac.authorization.k8s.io")},
        {"kind": "Group", "name": "g"}, {"kind": "ServiceAccount", "name": "default", "namespace": "n"}])
    return {"roleRef": {"kind": kind, "name": dice.pick("r", "s"), **dice.maybe(60, apiGroup="rbac.authorization.k8s.io")},
            **({"subjects": subjects} if subjects else {})}


def cluster_role_binding(dice):
    return role_binding(dice, "ClusterRole")


def event(dice):
    return {"involvedObject": {"kind": "Pod", "name": dice.pick("a", "b"), "namespace": "t@run@", "uid": dice.pick("u", "")},
            "reason": dice.pick("Started", "Killed"), "message": "m", "type": dice.pick("Normal", "Warning"),
            **dice.maybe(50, count=2), **dice.maybe(50, firstTimestamp="2024-01-02T03:04:05Z"),
            **dice.maybe(40, source={"component": "c", "host": "h"})}


def node(dice):
    return {**dice.maybe(50, status=lambda: {"capacity": {"cpu": dice.quantity("cpu")}, "allocatable": {"pods": "110"}}),
            "spec": {**dice.maybe(40, unschedulable=lambda: dice.chance(50)),
                     "taints": [{"key": "a", "effect": "NoSchedule", **dice.maybe(50, value="b")}]}}


def limit_range(dice):
    return {"spec": {"limits": [{"type": "Container", "default": {"cpu": "1"},
                                 **dice.maybe(50, max={"cpu": dice.quantity("cpu"), "memory": "1Gi"})}]}}


def budget(dice):
    return {"spec": {**dice.pick({"minAvailable": 1}, {"maxUnavailable": "50%"}, {"minAvailable": "10%"}),
                     **dice.maybe(80, selector={"matchLabels": {"a": "b"}})}}


def network_policy(dice):
    return {"spec": {"podSelector": dice.pick({}, {"matchLabels": {"a": "b"}}), **dice.maybe(50, policyTypes=["Ingress"]),
                     **dice.maybe(50, ingress=lambda: [{"ports": [{"port": 80}], "from": [{"podSelector": {}}]}])}}


def ingress(dice):
    backend = {"service": {"name": "s", "port": {"number": 80}}}
    return {"spec": dice.pick({"defaultBackend": backend}, {"rules": [{"host": "a.example.com", "http": {"paths": [
        {"path": "/x", "pathType": "Prefix", "backend": backend}]}}]})}


def endpoints(dice):
    return {"subsets": [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]} if dice.chance(70) else {}


def endpoint_slice(dice):
    return {"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"], **dice.maybe(50, conditions={"ready": True})}],
            "ports": [{"port": 80, **dice.maybe(50, name="http")}]}


def controller_revision(dice):
    return {"revision": dice.randint(0, 3), "data": {"a": {"b": [1, "c", None, 1.5]}}}


def devices(dice):
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com", **dice.maybe(30, count=2),
                                          **dice.maybe(30, allocationMode="ExactCount")}}
    return {"devices": {"requests": [request]}} if dice.chance(80) else {}


def resource_claim(dice):
    return {"spec": devices(dice)}


def claim_template(dice):
    return {"spec": {**dice.maybe(50, metadata={"labels": {"a": "b"}}), "spec": devices(dice)}}


def device_class(dice):
    return {"spec": dice.pick({}, {"selectors": [{"cel": {"expression": 'device.driver == "a.io"'}}]})}


def resource_slice(dice):
    return {"spec": {"driver": "gpu.example.com", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
                     **dice.pick({"nodeName": "n"}, {"allNodes": True}),
                     "devices": [{"name": f"gpu-{i}", **dice.maybe(50, attributes={"model": {"string": "x"}})}
                                 for i in range(dice.randint(0, 2))]}}


def csi_driver(dice):
    return {"spec": dice.maybe(60, attachRequired=lambda: dice.chance(50), podInfoOnMount=True)}


def csi_node(dice):
    return {"spec": {"drivers": [{"name": "d.io", "nodeID": "n", "topologyKeys": ["zone"],
                                  **dice.maybe(30, allocatable={"count": 5})}] if dice.chance(70) else []}}


def storage_capacity(dice):
    return {"storageClassName": "fast", **dice.maybe(50, capacity="1Gi"),
            **dice.maybe(50, nodeTopology={"matchLabels": {"a": "b"}})}


def attachment(dice):
    return {"spec": {"attacher": "a.io", "nodeName": "n", "source": {"persistentVolumeName": dice.pick("v", "w")}}}


def webhooks(dice):
    return {"webhooks": [{
        "name": "a.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://127.0.0.1:1/x"}, "failurePolicy": "Ignore",
        "rules": [{"apiGroups": ["never.example.com"], "apiVersions": ["v1"], "operations": ["CREATE"],
                   "resources": ["nothing"]}], **dice.maybe(30, timeoutSeconds=5)}]}
