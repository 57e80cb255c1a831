"""The cluster of these tests: nodes of eight GPUs, and the scheduler, the binder and the grouper behind a proxy."""

import os
import pathlib
import time

import client
import invariants
import proxy
from gpu_operator import RESERVED, GpuOperator

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MUSTER = os.environ.get("MUSTER", str(ROOT / "build" / "asan" / "muster"))
PODS = "/api/v1/namespaces/default/pods"
REQUESTS = "/apis/scheduling.run.ai/v1alpha2/namespaces/default/bindrequests"
JOBS = "/apis/kubeflow.org/v1/namespaces/default/tfjobs"
QUEUES = "/apis/scheduling.run.ai/v2/queues"
CLASSES = {"train": 50, "build-preemptible": 75, "build": 100, "inference": 125}
QUIET = ["--metrics-bind-address=0", "--health-probe-bind-address=0", "--qps=0"]
# A lease that changes hands within seconds.
QUICK_LEASE = ["--leader-elect", "--lease-duration=4s", "--lease-renew-deadline=3s", "--lease-retry-period=500ms"]
SERVICES = {
    "scheduler": ["--listen-address=0", "--plugin-server-port=0", "--health-probe-bind-address=0", "--qps=0"],
    "binder": QUIET,
    "grouper": QUIET,
}


class World:
    """A cluster under load, and what is done to it."""

    def __init__(self, cluster):
        self.cluster, self.api = cluster, cluster.api
        self.proxy = proxy.Proxy(cluster)
        self.round = 0
        cluster.apply_crds(ROOT / "tests" / "cluster" / "crds_foreign.yaml")
        for name, value in CLASSES.items():
            self.api.create("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": value})
        self.queue("all")
        self.queue("q", "all")
        for name in ("kai-resource-reservation", "kai-scale-adjust", "kai-scheduler"):
            self.api.create("/api/v1/namespaces", {"metadata": {"name": name}})
        self.api.create("/api/v1/namespaces/kai-resource-reservation/serviceaccounts",
                        {"metadata": {"name": "kai-resource-reservation"}})
        self.operator = GpuOperator(cluster)
        self.kubeconfig = self.proxy.kubeconfig()
        for name in SERVICES:
            self.start(name)

    # The services.

    def start(self, service, *flags, name=None, kubeconfig=None, environment=None):
        words = ["env", *(f"{key}={value}" for key, value in (environment or {}).items()), MUSTER, service,
                 *SERVICES[service], *flags]
        self.cluster.spawn(name or service, *words, kubeconfig=kubeconfig or self.kubeconfig)

    def restart(self, service, *flags, **more):
        self.cluster.stop(service)
        self.start(service, *flags, **more)

    def alive(self):
        return [name for name in SERVICES if self.cluster.processes.alive(name)]

    # The load.

    def queue(self, name, parent=None):
        amount = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
        self.api.create(QUEUES, {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name},
                                 "spec": {**({"parentQueue": parent} if parent else {}), "resources": {
                                     "gpu": amount, "cpu": amount, "memory": amount}}})

    def pod(self, name, gpus=1, owner=None, labels=None, annotations=None, scheduler="kai-scheduler"):
        meta = {"name": name, "labels": {"kai.scheduler/queue": "q", **(labels or {})},
                "annotations": annotations or {}}
        if owner:
            meta["ownerReferences"] = [{"apiVersion": owner["apiVersion"], "kind": owner["kind"],
                                        "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}]
        limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
        self.api.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {
            "schedulerName": scheduler, "terminationGracePeriodSeconds": 0, "containers": [{
                "name": "main", "image": "none", "resources": {"requests": {"cpu": "1"}, "limits": limits}}]}})
        return name

    def gang(self, name, size, gpus=1):
        """A training job, whose controller is not there: its pods are ours to make."""
        job = self.api.create(JOBS, {
            "apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {
                "name": name, "labels": {"kai.scheduler/queue": "q"}},
            "spec": {"tfReplicaSpecs": {"Worker": {"replicas": size, "template": {}}}}})
        return [self.pod(f"{name}-{number}", gpus, job) for number in range(size)]

    def fraction(self, name, portion="0.5"):
        return self.pod(name, 0, annotations={"gpu-fraction": portion, "runai/shared-gpu-configmap": f"{name}-shared"})

    def load(self):
        """Lone pods, gangs and fractions that fit together; their names."""
        self.round += 1
        tag = f"r{self.round}"
        names = [self.pod(f"{tag}-lone-{number}") for number in range(6)]
        for number in range(2):
            names += self.gang(f"{tag}-gang-{number}", 3)
        return names + [self.fraction(f"{tag}-half-{number}") for number in range(3)]

    def settle(self, names, seconds=120):
        """Waits until all holds; what does not after that time is the failure."""
        end = time.monotonic() + seconds
        while found := invariants.broken(self.cluster, names):
            if time.monotonic() > end:
                logs = "\n".join(f"--- {name}\n{self.cluster.processes.log_of(name, 1500)}" for name in SERVICES)
                raise AssertionError("\n".join(found[:10]) + "\n" + logs)
            time.sleep(0.3)
        return names

    def places_of(self, names):
        """The nodes of those that have one."""
        return {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in self.api.items(PODS)
                if pod["metadata"]["name"] in names and pod["spec"].get("nodeName")}

    def clear(self):
        """Ends all faults and pods; what was kept for them has to go as well."""
        self.proxy.heal()
        for name in SERVICES:
            if not self.cluster.processes.alive(name):
                self.start(name)
        for path in (JOBS, PODS):
            for one in self.api.items(path):
                try:
                    self.api.delete(f"{path}/{one['metadata']['name']}?gracePeriodSeconds=0&propagationPolicy=Background")
                except client.ApiError as error:
                    if error.status != 404:
                        raise
        self.cluster.wait_until(lambda: not self.api.items(PODS), "no pod is left", 90)
        self.cluster.wait_until(lambda: not self.api.items(REQUESTS), "no request is left", 90)
        self.cluster.wait_until(lambda: not self.api.items(RESERVED), "no reservation is left", 90)
