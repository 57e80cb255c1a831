"""Where the stories play: four nodes of eight GPUs, the three services, and short words for what users do."""

import functools
import os
import pathlib

import invariants
from gpu_operator import RESERVED, GpuOperator
from stage import CLASSES, EVENTS, GROUPS, PODS, QUEUES, REQUESTS, Stage, condition, queue_object
from suite import Suite, expect

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MUSTER = os.environ.get("MUSTER", str(ROOT / "build" / "asan" / "muster"))
MAPS = "/api/v1/namespaces/default/configmaps"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
PRIORITIES = {"train": 50, "build-preemptible": 75, "build": 100, "inference": 125}
QUIET = ["--metrics-bind-address=0", "--health-probe-bind-address=0"]
# Their flags, and the account that deploy/rbac gives rights to.
SERVICES = {
    "scheduler": (["--listen-address=0", "--plugin-server-port=0", "--health-probe-bind-address=0"], "scheduler"),
    "binder": (QUIET, "binder"),
    "grouper": (QUIET, "pod-grouper"),
}
# Workloads whose controllers are not there; their pods are made by hand.
FOREIGN = {
    "TFJob": "kubeflow.org/v1", "PyTorchJob": "kubeflow.org/v1", "JobSet": "jobset.x-k8s.io/v1alpha2",
    "RayCluster": "ray.io/v1", "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
}
SECONDS = 30


def foreign_path(kind):
    return f"/apis/{FOREIGN[kind]}/namespaces/default/{kind.lower()}s"


class Stories(Suite):
    """Each begins with an empty cluster, and ends with nothing wrong in it."""

    def test(self, title):
        def add(function):
            @functools.wraps(function)
            def whole(here):
                here.clear()
                function(here)
                here.all_is_well()
            return super(Stories, self).test(title)(whole)
        return add


LAST = Suite()


@LAST.test("when the workloads are deleted, nothing that was made for them stays")
def _(here):
    here.clear()
    for path in (REQUESTS, GROUPS, MAPS, RESERVED):
        here.cluster.wait_until(lambda where=path: not [
            one for one in here.api.items(where) if one["metadata"]["name"] != "kube-root-ca.crt"], f"{path} empty")


class Place(Stage):
    """A cluster as `deploy` makes it, with its services."""

    def __init__(self, cluster):
        super().__init__(cluster, MUSTER)
        cluster.apply_crds(ROOT / "tests" / "cluster" / "crds_foreign.yaml")
        cluster.kubectl("apply", "-f", ROOT / "deploy" / "namespaces.yaml", "-f", ROOT / "deploy" / "rbac")
        for name, value in PRIORITIES.items():
            self.api.create(CLASSES, {"metadata": {"name": name}, "value": value})
        self.kubeconfigs = {name: cluster.credentials.user(f"system:serviceaccount:kai-scheduler:{account}")
                            for name, (_, account) in SERVICES.items()}
        self.operator = GpuOperator(cluster)
        for name in SERVICES:
            self.serve(name)

    def serve(self, name, *flags):
        """Starts it, and waits until it can be told to stop: before that, the signal would end it as any program."""
        log = self.cluster.processes.log_path(name)
        before = log.stat().st_size if log.exists() else 0
        self.cluster.spawn(name, MUSTER, name, *SERVICES[name][0], *flags, kubeconfig=self.kubeconfigs[name])
        self.cluster.wait_until(lambda: b" starting " in log.read_bytes()[before:], f"the {name} has started")

    def restart(self, *flags, name="scheduler"):
        expect(self.stop(name), 0, f"the status of the {name}")
        self.serve(name, *flags)

    def ends_well(self):
        """The last test: the services stop when they are told to, and were refused nothing."""
        failed = 0
        for name in SERVICES:
            status = self.stop(name) if self.cluster.processes.alive(name) else "gone"
            log = self.cluster.processes.log_of(name, 1000000)
            bad = [line for line in log.splitlines() if any(word in line for word in (
                "Sanitizer", "runtime error", "BUG", "orbidden"))]
            failed += status != 0 or bool(bad)
            if status != 0 or bad:
                print("".join(f"# {line}\n" for line in [str(status), *bad[:10], *log.splitlines()[-30:]]), end="")
            print(f"{'not ok' if status != 0 or bad else 'ok'} - the {name} stops when told to, with no complaint")
        return (len(SERVICES) - failed, failed, 0)

    def all_is_well(self):
        """No GPU is given away twice, no gang runs in part, no request is open, no reservation idle."""
        self.cluster.wait_until(lambda: not invariants.broken(self.cluster), "a cluster in order: " + str(
            invariants.broken(self.cluster)), 20)

    def clear(self):
        """Deletes what users write; what the services made of it has to go by itself."""
        for path in (JOBS, DEPLOYMENTS, *map(foreign_path, FOREIGN), PODS):
            self.api.call("DELETE", f"{path}?gracePeriodSeconds=0&propagationPolicy=Background")
        self.cluster.wait_until(lambda: not self.api.items(PODS), "no pod is left", SECONDS)
        self.cluster.wait_until(lambda: not self.api.items(RESERVED), "no reservation is left", SECONDS)
        for path in (QUEUES, EVENTS):
            self.api.call("DELETE", path)
        self.cluster.wait_until(lambda: not self.api.items(QUEUES), "no queue is left", SECONDS)
        self.api.create(QUEUES, queue_object("default-parent-queue"))
        self.api.create(QUEUES, queue_object("default-queue", "default-parent-queue"))

    # What users write.

    def queue(self, name, parent="default-parent-queue", **options):
        return super().queue(name, parent, **options)

    def job(self, name, gpus=8, count=1, queue=None, priority=None, annotations=None, notes=None, spec=None):
        """A batch Job of `count` pods at once; `notes` are annotations of its pods, `spec` more of theirs."""
        known = {"kai.scheduler/queue": queue, "priorityClassName": priority}
        labels = {key: value for key, value in known.items() if value}
        return self.api.create(JOBS, {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": labels,
                                                                  "annotations": annotations or {}},
            "spec": {"parallelism": count, "completions": count, "template": {
                "metadata": {"annotations": notes or {}},
                "spec": {**pod_spec(gpus), "restartPolicy": "Never", **(spec or {})}}}})

    def workload(self, kind, name, spec, labels=None, annotations=None):
        return self.api.create(foreign_path(kind), {
            "apiVersion": FOREIGN[kind], "kind": kind, "spec": spec,
            "metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}}})

    def pod(self, name, gpus=1, owner=None, labels=None, annotations=None, **spec):
        """A pod of a user, or of a workload as its controller would make it."""
        meta = {"name": name, "labels": labels or {}, "annotations": annotations or {}}
        if owner:
            meta["ownerReferences"] = [{
                "apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": True,
                **{key: owner["metadata"][key] for key in ("name", "uid")}}]
        return self.api.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": meta,
                                      "spec": {**pod_spec(gpus), **spec}})

    def fraction(self, name, **annotations):
        """The names of its ConfigMaps are given as the admission webhook would."""
        notes = {key.replace("_", "-"): value for key, value in annotations.items()}
        return self.pod(name, 0, annotations={**notes, "runai/shared-gpu-configmap": f"{name}-shared"})

    # What they see.

    def group_of(self, name):
        """The PodGroup of a pod."""
        found = self.cluster.wait_for(
            f"{PODS}/{name}", lambda pod: "pod-group-name" in pod["metadata"].get("annotations", {}), SECONDS)
        return self.api.get(f"{GROUPS}/{found['metadata']['annotations']['pod-group-name']}")

    def pods_of(self, job, check=lambda pod: True):
        return [one for one in self.api.items(PODS) if check(one) and
                one["metadata"].get("labels", {}).get("batch.kubernetes.io/job-name") == job]

    def running(self, job, count=1, seconds=SECONDS):
        """Waits until so many pods of a Job run; returns them."""
        def look():
            found = self.pods_of(job, lambda pod: pod["status"]["phase"] == "Running")
            return found if len(found) >= count else None

        return self.cluster.wait_until(look, f"{count} pods of {job} run", seconds)

    def waiting(self, *jobs):
        """The Jobs of which no pod runs."""
        return [job for job in jobs if not self.pods_of(job, lambda pod: pod["status"]["phase"] == "Running")]

    def told(self, name, reason, component):
        """Waits for the event; returns its message."""
        event = self.event(name, reason)
        expect(event["source"]["component"], component, f"who says {reason}")
        return event["message"]

    def carried_out(self, name):
        """A bind that went through the binder, with all that it says; returns the pod and the request."""
        node, = self.bound(name)
        request = self.cluster.wait_for(
            f"{REQUESTS}/{name}", lambda one: one.get("status", {}).get("phase") == "Succeeded", SECONDS)
        expect(request["spec"]["selectedNode"], node)
        text = f"Pod bound successfully to node {node}"
        self.condition(name, "PodBound", status="True", reason="Bound", message=text)
        expect(self.told(name, "Bound", "binder"), text)
        expect(self.told(name, "Scheduled", "kai-scheduler"),
               f"Successfully assigned pod default/{name} to node {node} at node-pool default")
        return self.get(name), request

    def is_scheduled(self, name):
        return condition(self.get(name), "PodScheduled").get("status") == "True"


def pod_spec(gpus):
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    return {"schedulerName": "kai-scheduler", "terminationGracePeriodSeconds": 0, "containers": [
        {"name": "main", "image": "none", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": limits}}]}
