"""What the tests of the binder stand on: pods, requests, somebody who plays the GPU operator, and the binder itself."""

import hashlib

import roles
from gpu_operator import RESERVED, GpuOperator

PODS = "/api/v1/namespaces/default/pods"
REQUESTS = "/apis/scheduling.run.ai/v1alpha2/namespaces/default/bindrequests"
MAPS = "/api/v1/namespaces/default/configmaps"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def pod(name, annotations=None, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": annotations or {}}, "spec": {
        "schedulerName": "kai-scheduler", "containers": [{"name": "main", "image": "none"}], **spec}}


def fraction_pod(name, portion="0.5", **annotations):
    return pod(name, {"gpu-fraction": portion, "runai/shared-gpu-configmap": f"{name}-shared", **annotations})


def request(made, node, kind="Regular", portion="1.00", count=1, groups=None, **spec):
    """A BindRequest for a pod that the server has made."""
    meta = made["metadata"]
    return {
        "apiVersion": "scheduling.run.ai/v1alpha2", "kind": "BindRequest",
        "metadata": {"name": meta["name"], "ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]}]},
        "spec": {"podName": meta["name"], "selectedNode": node, "receivedResourceType": kind,
                 "receivedGPU": {"count": count, "portion": portion},
                 **({"selectedGPUGroups": groups} if groups else {}), **spec},
    }


class World:
    """A cluster with a binder."""

    def __init__(self, cluster, program):
        self.cluster = cluster
        self.api = cluster.api
        self.program = program
        self.flags = ["--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=0", "--qps=0", "--v=4"]
        self.kubeconfig = roles.give(cluster, "binder")
        self.keeper_kubeconfig = roles.give(cluster, "reservation")
        self.operator = GpuOperator(cluster)

    def start(self, *flags, kubeconfig=None, name="binder"):
        self.cluster.spawn(name, self.program, "binder", *self.flags, *flags, kubeconfig=kubeconfig or self.kubeconfig)

    def stop(self, name="binder"):
        status = self.cluster.stop(name)
        if status != 0:
            raise AssertionError(f"the binder ended with status {status}\n{self.cluster.log_of(name)}")

    def bind(self, manifest, node, kind="Regular", **more):
        """Makes a pod and a request for it."""
        made = self.api.create(PODS, manifest)
        self.api.create(REQUESTS, request(made, node, kind, **more))
        return made

    def wait_bound(self, name, node=None, seconds=20):
        return self.cluster.wait_for(f"{PODS}/{name}", lambda one: one["spec"].get("nodeName") and (
            node is None or one["spec"]["nodeName"] == node) and condition(one, "PodBound") is not None and
            condition(one, "PodBound")["status"] == "True", seconds)

    def wait_phase(self, name, phase, seconds=20):
        return self.cluster.wait_for(
            f"{REQUESTS}/{name}", lambda one: one.get("status", {}).get("phase") == phase, seconds)

    def reservations(self):
        return self.api.items(RESERVED)

    def events(self, name, reason):
        return [one for one in self.api.items("/api/v1/namespaces/default/events")
                if one["involvedObject"]["name"] == name and one["reason"] == reason]

    def clear(self):
        """Ends all pods; with them go their requests, and the binder gives back the GPUs."""
        for path in (PODS, REQUESTS):
            self.api.call("DELETE", f"{path}?gracePeriodSeconds=0")
        self.cluster.wait_until(lambda: not self.reservations(), "no reservation pod is left", 20)
        self.cluster.wait_until(lambda: not self.api.items(REQUESTS), "no request is left", 20)


def condition(one, kind):
    found = [entry for entry in one.get("status", {}).get("conditions", []) if entry["type"] == kind]
    return found[0] if found else None
