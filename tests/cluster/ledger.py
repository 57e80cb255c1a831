"""Judges every moment of a cluster: what its pods hold after each single change that etcd has stored."""

import collections
import http.client
import threading
import time

import bed
import stored

RESERVED = "kai-resource-reservation"
GROUP_LABEL = "runai-gpu-group"
QUEUE_LABEL = "kai.scheduler/queue"
WHOLE = 10000  # parts of a GPU
READ_SECONDS = 0.1


def groups_of(pod):
    """The shared GPUs of a pod, by either form of the label."""
    return [value for key, value in pod.labels.items() if key == GROUP_LABEL or key.startswith(f"{GROUP_LABEL}/")]


def part_of(pod):
    """The parts of each shared GPU that a pod asks for, by share or by memory."""
    if "gpu-memory" in pod.annotations:
        return round(int(pod.annotations["gpu-memory"]) / int(bed.GPU_MEMORY_MIB) * WHOLE)
    return round(float(pod.annotations.get("gpu-fraction", 0)) * WHOLE)


def held_by(pod):
    """What a pod with a node holds: (kind, name) and parts of a GPU. A reservation holds its GPU for those who share it."""
    if not pod or not pod.node or pod.phase in ("Succeeded", "Failed"):
        return []
    part = part_of(pod)
    held = [(("node", pod.node), pod.gpus * WHOLE)] if pod.gpus else []
    if pod.namespace != RESERVED:
        held += [(("GPU", f"{pod.node}/{group}"), part) for group in groups_of(pod)]
        held.append((("queue", pod.labels.get(QUEUE_LABEL, "")), pod.gpus * WHOLE + part))
    return held


class Ledger(threading.Thread):
    """Follows all pods from a revision on. `node_gpus` is what each node has, `queue_gpus` what queues may have by name.
    `wrong` has what must not be, in words, and `most` the most that a node, a GPU and a queue ever had, in GPUs."""

    def __init__(self, cluster, revision, node_gpus, queue_gpus=None):
        super().__init__(daemon=True)
        self.url = cluster.etcd
        self.next = revision
        self.node_gpus, self.queue_gpus = node_gpus, queue_gpus or {}
        self.pods = {}
        self.used = collections.Counter()
        self.most = collections.Counter()
        self.over, self.wrong = set(), []
        self.bound = self.changes = self.cuts = 0
        self.changed = threading.Condition()
        self.is_over = False
        self.start()

    def run(self):
        while not self.is_over:
            try:
                for change in stored.changes(self.url, stored.PODS, self.next):
                    with self.changed:
                        self.next = change[0] + 1
                        self.take(*change)
                        self.changed.notify_all()
                        if self.is_over:
                            return
            except (http.client.HTTPException, OSError):
                self.cuts += 1
                time.sleep(READ_SECONDS)

    def take(self, revision, key, value):
        self.change(revision, key, stored.pod_of(value) if value is not None else None)

    def change(self, revision, key, new):
        """A pod is now so; None: it is gone."""
        old = self.pods.get(key)
        self.changes += 1
        if old and new and old.uid == new.uid and old.node and old.node != new.node:
            self.wrong.append(f"revision {revision}: pod {new.name} is bound twice, to {old.node} and to {new.node or 'none'}")
        before, after = self.held_by(old), self.held_by(new)
        for held, parts in before:
            self.used[held] -= parts
        for held, parts in after:
            self.add(revision, held, parts, (held, parts) not in before)
        self.bound += is_ours_and_bound(new) - is_ours_and_bound(old)
        if new:
            self.pods[key] = new
        else:
            self.pods.pop(key, None)

    def held_by(self, pod):
        return held_by(pod)

    def limit_of(self, kind, name):
        return {"node": self.node_gpus, "GPU": 1, "queue": self.queue_gpus.get(name)}[kind]

    def add(self, revision, held, parts, is_new):
        """A limit may be lowered under what is held already: only that which is added is judged."""
        self.used[held] += parts
        kind, name = held
        limit = self.limit_of(kind, name)
        self.most[kind] = max(self.most[kind], self.used[held] / WHOLE)
        if is_new and limit is not None and self.used[held] > limit * WHOLE and held not in self.over:
            self.over.add(held)
            self.wrong.append(f"revision {revision}: {kind} {name} has given away {self.used[held] / WHOLE:g} of {limit:g}")

    def wait_bound(self, count, seconds):
        """Until so many pods have a node; false when the time is over first."""
        with self.changed:
            return self.changed.wait_for(lambda: self.bound >= count, seconds)

    def reservations(self):
        """The reservations that are there, and those of them whose GPU nobody uses."""
        with self.changed:
            pods = list(self.pods.values())
        used = {group for pod in pods if pod.namespace != RESERVED for group in groups_of(pod)}
        found = [pod for pod in pods if pod.namespace == RESERVED]
        return found, [pod for pod in found if not used & set(groups_of(pod))]

    def close(self):
        self.is_over = True


def is_ours_and_bound(pod):
    return bool(pod and pod.node and pod.namespace != RESERVED)
