"""Where the scheduler's stories play: a cluster with the scheduler, and short words for what is in it."""

import json
import time

import roles
from client import ApiError

NAMESPACE = "default"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
GROUPS = f"/apis/scheduling.run.ai/v2alpha2/namespaces/{NAMESPACE}/podgroups"
REQUESTS = f"/apis/scheduling.run.ai/v1alpha2/namespaces/{NAMESPACE}/bindrequests"
QUEUES = "/apis/scheduling.run.ai/v2/queues"
CLAIMS = f"/apis/resource.k8s.io/v1/namespaces/{NAMESPACE}/resourceclaims"
TOPOLOGIES = "/apis/kai.scheduler/v1alpha1/topologies"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
EVENTS = f"/api/v1/namespaces/{NAMESPACE}/events"
NODES = "/api/v1/nodes"
FLAGS = ["--listen-address=0", "--plugin-server-port=0"]
READY = b"all objects have been listed"
PRIORITIES = {"train": 50, "build": 100, "inference": 125}


def pod(name, gpus=1, queue="q", group=None, cpu="1", labels=None, annotations=None, **spec):
    """A pod of ours; more of its spec by name."""
    notes = dict(annotations or {})
    if group:
        notes["pod-group-name"] = group
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "annotations": notes,
                     "labels": {"kai.scheduler/queue": queue, **(labels or {})}},
        "spec": {
            "schedulerName": "kai-scheduler", "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "main", "image": "none",
                            "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}, "limits": limits}}],
            **spec,
        },
    }


def pod_group(name, minimum=1, queue="q", **spec):
    return {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": name},
            "spec": {"minMember": minimum, "queue": queue, "priorityClassName": "train", **spec}}


def queue_object(name, parent=None, quota=-1, limit=-1, weight=1, **spec):
    amount = {"quota": quota, "limit": limit, "overQuotaWeight": weight}
    free = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    if parent:
        spec["parentQueue"] = parent
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name},
            "spec": {"resources": {"gpu": amount, "cpu": free, "memory": free}, **spec}}


def node_of(found):
    return found["spec"].get("nodeName")


def condition(found, kind):
    return next((one for one in found["status"].get("conditions", []) if one["type"] == kind), {})


class Stage:
    """A cluster of four nodes of eight GPUs, with one scheduler."""

    def __init__(self, cluster, muster):
        self.cluster, self.muster, self.api = cluster, muster, cluster.api
        self.kubeconfig = None

    def __enter__(self):
        self.kubeconfig = roles.give(self.cluster, "scheduler")
        for name, value in PRIORITIES.items():
            self.api.create(CLASSES, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                      "metadata": {"name": name}, "value": value})
        self.start()
        return self

    def __exit__(self, *_):
        return False

    def end(self):
        """The last test: it ends in order, without a complaint of the sanitizers."""
        status = self.stop()
        is_fine = status == 0
        if not is_fine:
            print("".join(f"# {line}\n" for line in self.log().splitlines()[-40:]), end="")
        print(f"{'ok' if is_fine else 'not ok'} - the scheduler ends when it is told to")
        return (1, 0, 0) if is_fine else (0, 1, 0)

    # The scheduler.

    def start(self, *flags, name="scheduler", kubeconfig=None):
        """Starts it, and waits until it knows the cluster."""
        log = self.cluster.processes.log_path(name)
        before = log.stat().st_size if log.exists() else 0
        self.cluster.spawn(name, self.muster, "scheduler", *FLAGS, *flags, kubeconfig=kubeconfig or self.kubeconfig)
        self.cluster.wait_until(lambda: READY in log.read_bytes()[before:], f"{name} is ready")

    def stop(self, name="scheduler"):
        return self.cluster.stop(name)

    def restart(self, *flags):
        self.stop()
        self.start(*flags)

    def log(self, name="scheduler"):
        return self.cluster.log_of(name)

    # Objects.

    def clear(self):
        """Nothing is left of the story before."""
        for path in (PODS, GROUPS, REQUESTS, QUEUES, TOPOLOGIES, EVENTS):
            self.api.call("DELETE", f"{path}?gracePeriodSeconds=0")
        self.cluster.wait_until(lambda: not self.api.items(PODS) and not self.api.items(GROUPS), "an empty cluster")
        self.api.create(QUEUES, queue_object("parent"))
        self.api.create(QUEUES, queue_object("q", "parent"))

    def queue(self, name, parent="parent", **options):
        return self.api.create(QUEUES, queue_object(name, parent, **options))

    def pod(self, name, gpus=1, **options):
        return self.api.create(PODS, pod(name, gpus, **options))

    def group(self, name, minimum=1, **options):
        return self.api.create(GROUPS, pod_group(name, minimum, **options))

    def gang(self, name, count, gpus=1, minimum=None, queue="q", pods=None, **options):
        """A PodGroup and its pods, <name>-0 and so on."""
        self.group(name, count if minimum is None else minimum, queue=queue, **options)
        for number in range(count):
            self.pod(f"{name}-{number}", gpus, queue=queue, group=name, **(pods or {}))

    def get(self, name):
        return self.api.get(f"{PODS}/{name}")

    def find(self, name):
        try:
            return self.get(name)
        except ApiError as error:
            if error.status != 404:
                raise
            return None

    def delete(self, name):
        """The pod goes, unless the scheduler has evicted it already."""
        try:
            self.api.delete(f"{PODS}/{name}")
        except ApiError as error:
            if error.status != 404:
                raise

    def bound(self, *names, seconds=20):
        """Waits until they are; returns their nodes."""
        return [node_of(self.cluster.wait_for(f"{PODS}/{name}", node_of, seconds)) for name in names]

    def gone(self, *names, seconds=20):
        for name in names:
            self.cluster.wait_gone(f"{PODS}/{name}", seconds)

    def stays(self, check, seconds=1.5):
        """Holds now and for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not check():
                return False
            time.sleep(0.1)
        return True

    def waits(self, *names, seconds=1.5):
        """None of them gets a node for a while."""
        return self.stays(lambda: all(not node_of(self.get(name)) for name in names), seconds)

    def events(self, name, reason=None):
        found = [one for one in self.api.items(EVENTS) if one["involvedObject"]["name"] == name]
        return [one for one in found if reason in (None, one["reason"])]

    def event(self, name, reason, seconds=20):
        """Waits for one; returns it."""
        return self.cluster.wait_until(lambda: (self.events(name, reason) or [None])[-1], f"{reason} of {name}", seconds)

    def condition(self, name, kind="PodScheduled", seconds=20, **wanted):
        """Waits until the pod has the condition, with these values; returns it."""
        def look():
            found = condition(self.get(name), kind)
            return found if found and all(found.get(key) == value for key, value in wanted.items()) else None

        return self.cluster.wait_until(look, f"condition {kind} of {name}: {json.dumps(wanted)}", seconds)
