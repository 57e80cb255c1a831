"""What must hold at every moment of a soak, by each change that etcd has stored, and what must hold when all is quiet."""

import collections
import time

import accounts
import invariants
import ledger
from stage import GROUPS, NAMESPACE, PODS, REQUESTS
from gpu_operator import RESERVED

FIXED = "build"  # the priority class of pods that cannot be preempted
PRIORITY_LABEL = "priorityClassName"
MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
SCALING_NAMESPACE = "kai-scale-adjust"
SCALING = f"/api/v1/namespaces/{SCALING_NAMESPACE}/pods"
# A scheduler whose watches were cut may not know of a change for so long.
LATE_SECONDS = 60


class Quotas:
    """The quotas that queues have had. One that was lowered lets pods through until the scheduler can be expected to know."""

    def __init__(self, clock=time.monotonic):
        self.clock = clock
        self.history = collections.defaultdict(list)

    def set(self, queue, gpus):
        self.history[queue].append((self.clock(), gpus))

    def now(self, queue):
        return self.history[queue][-1][1]

    def most(self, queue):
        """The most that may hold now; None for a queue without a quota of its own."""
        values, start = [], self.clock() - LATE_SECONDS
        for when, gpus in reversed(self.history[queue]):
            values.append(gpus)
            if when < start:
                break
        return max(values, default=None)


class Absences:
    """The nodes that are lost. Pods on them cost their queue nothing, until the scheduler can be expected to know that a node is
    back."""

    def __init__(self, clock=time.monotonic):
        self.clock = clock
        self.until = {}

    def lose(self, node):
        self.until[node] = float("inf")

    def find(self, node):
        self.until[node] = self.clock() + LATE_SECONDS

    def has(self, node):
        return self.until.get(node, 0) > self.clock()


class Judge(ledger.Ledger):
    """Also follows the cores of nodes, and what pods that cannot be preempted have of their queue's quota."""

    def __init__(self, cluster, revision, node_gpus, node_cores, queue_gpus, quotas, absences):
        self.node_cores, self.quotas, self.absences = node_cores, quotas, absences
        self.bound_ever = 0
        super().__init__(cluster, revision, node_gpus, queue_gpus)

    def change(self, revision, key, new):
        before, known = self.bound, len(self.wrong)
        super().change(revision, key, new)
        if len(self.wrong) > known:
            self.wrong[-1] += f"; by {new.name}, {self.beside(new)}"
        self.bound_ever += max(0, self.bound - before)

    def beside(self, pod):
        """The pods on the same node and those of the same queue, to tell how it came to this."""
        held = [one for one in self.pods.values() if self.held_by(one)]
        queue = pod.labels.get(ledger.QUEUE_LABEL)
        of_node = " ".join(sorted(one.name for one in held if one.node == pod.node))
        of_queue = " ".join(sorted(f"{one.name}@{one.node}" for one in held if one.labels.get(ledger.QUEUE_LABEL) == queue))
        return f"on {pod.node} with {of_node}; in {queue} with {of_queue}"

    def held_by(self, pod):
        """Pods that stand for nodes to come are kube-scheduler's: it and Muster do not know of each other's binds under way, and a
        kubelet refuses the second. A pod that ends has its place until it is gone, but costs its queue nothing any more."""
        if not pod or not pod.node or pod.phase in ("Succeeded", "Failed") or pod.namespace == SCALING_NAMESPACE:
            return []
        held = [one for one in super().held_by(pod) if one[0][0] != "queue" or not pod.is_ending]
        if pod.node.startswith("node-"):
            held.append((("cores of node", pod.node), pod.milli_cpu * ledger.WHOLE // 1000))
        if pod.labels.get(PRIORITY_LABEL) == FIXED and not pod.is_ending:
            parts = next((parts for (kind, _), parts in held if kind == "queue"), 0)
            held.append((("quota of queue", pod.labels.get(ledger.QUEUE_LABEL, "")), parts))
        return held

    def limit_of(self, kind, name):
        if kind == "cores of node":
            return self.node_cores
        limit = self.quotas.most(name) if kind == "quota of queue" else super().limit_of(kind, name)
        if limit is None or "queue" not in kind:
            return limit
        return limit + sum(parts for pod in self.pods.values() if self.absences.has(pod.node)
                           for held, parts in self.held_by(pod) if held == (kind, name)) / ledger.WHOLE


def unsettled(cluster):
    """What is not as it has to be once nothing happens any more, as text."""
    return invariants.broken(cluster) + [
        f"{what}: {found}, expected {expected}" for what, found, expected in accounts.differences(cluster)]


def orphans(cluster):
    """What is left of workloads that are all deleted, as text."""
    found = []
    for path in (PODS, GROUPS, REQUESTS, RESERVED, SCALING, MAPS):
        found += [f"{path}/{one['metadata']['name']}" for one in cluster.api.items(path)
                  if one["metadata"]["name"] != "kube-root-ca.crt"]
    return found
