"""Small worlds in which everything that is given away twice shows at once: there is always somebody who would take it."""

import faults
import ledger

QUEUE = "kai.scheduler/queue"
PRIORITIES = {"train": 50, "build": 100}
NAMESPACES = ("default", "kai-resource-reservation", "kai-scale-adjust", "kai-scheduler")
DEVICE_CLASS = "gpu.example.com"
WITH_BINDER = {"scheduler": "scheduler", "grouper": "grouper", "binder": "binder"}
# Until another node comes: when the tries of a lost write have been refused, and the watches are still silent.
GROWTH = 0.15


def node(name, gpus):
    room = {"nvidia.com/gpu": str(gpus), "cpu": "16", "memory": "64Gi", "pods": "110"}
    return "nodes", {"metadata": {"name": name, "labels": {"nvidia.com/gpu.count": str(gpus),
                                                           "nvidia.com/gpu.memory": "40000"}},
                     "spec": {}, "status": {"capacity": room, "allocatable": room,
                                            "conditions": [{"type": "Ready", "status": "True"}]}}


def queue(name, parent=None, quota=-1):
    free = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    return "queues", {"metadata": {"name": name}, "spec": {
        **({"parentQueue": parent} if parent else {}),
        "resources": {"gpu": {**free, "quota": quota}, "cpu": free, "memory": free}}}


def pod(name, gpus=1, queue_name="q", priority="train", owner=None, fraction=None, claim=None):
    meta = {"name": name, "labels": {QUEUE: queue_name}, "annotations": {}}
    if fraction:
        meta["annotations"].update({"gpu-fraction": fraction, "runai/shared-gpu-configmap": f"{name}-shared"})
    if owner:
        meta["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "name": owner["metadata"]["name"],
                                    "uid": owner["metadata"]["uid"], "controller": True}]
    spec = {"schedulerName": "kai-scheduler", "priorityClassName": priority, "priority": PRIORITIES[priority],
            "terminationGracePeriodSeconds": 1, "containers": [{"name": "main", "image": "none", "resources": {
                "requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"nvidia.com/gpu": str(gpus)} if gpus else {}}}]}
    if claim:
        spec["resourceClaims"] = [{"name": "device", "resourceClaimName": claim}]
    return {"metadata": meta, "spec": spec}


class World:
    """Objects that stay, and the load of one run. Only services that have something to do take part, with these flags."""

    name = ""
    clients = {"scheduler": "scheduler", "grouper": "grouper"}  # names of processes, and what they are
    starts = ()  # services that are started in runs of their own, with all load there
    flags = {}
    fixed = ()
    has_leader = False  # of several schedulers one leads
    table = faults.TABLE  # what can go wrong

    def __init__(self, store, later):
        self.store, self.later = store, later

    def build(self):
        for plural, content in self.common() + list(self.fixed):
            self.store.create(plural, "", content)

    def common(self):
        return ([("priorityclasses", {"metadata": {"name": name}, "value": value}) for name, value in PRIORITIES.items()] +
                [("namespaces", {"metadata": {"name": name}}) for name in NAMESPACES] + [queue("all"), queue("q", "all")])

    def add(self, *arguments, **more):
        return self.store.create("pods", "default", pod(*arguments, **more))

    def load(self):
        """Creates the pods."""

    def react(self, change):
        """Something was written."""

    def restored(self):
        """The store was put back: users bring again what it has lost."""

    def unload(self):
        """Takes away what the load has brought, but for pods and what belongs to them."""

    def faults(self, _ledger):
        """What is wrong when all is quiet."""
        return []

    def next_ends(self):
        """Pods to end next, so that others have their turn: all that run."""
        return [one for one in self.store.all("pods") if one["metadata"]["namespace"] == "default" and
                ledger.node_of(one)]


class Room(World):
    """Two GPUs and three pods. Soon after the first GPU has been given away a better node comes: a scheduler that takes that
    bind for failed decides anew, and differently."""

    name = "room"
    starts = ("scheduler", "grouper")
    fixed = (node("n1", 1), node("n2", 1))

    def load(self):
        self.is_grown = False
        for name in ("a", "b", "c"):
            self.add(name)

    def react(self, change):
        if not self.is_grown and change.plural == "pods" and change.new and ledger.node_of(change.new):
            self.is_grown = True
            self.later(GROWTH, self.grow)

    def grow(self):
        if not self.store.find("nodes", "", "n0"):
            plural, content = node("n0", 1)
            self.store.create(plural, "", content)

    def restored(self):
        if self.is_grown:
            self.later(GROWTH, self.grow)

    def faults(self, _ledger):
        if not self.store.find("nodes", "", "n0"):
            yield "the third node has not come yet"

    def unload(self):
        if found := self.store.find("nodes", "", "n0"):
            self.store.commit("nodes", found, None, "test")


class Requests(Room):
    """The same by way of the binder."""

    name = "requests"
    clients = WITH_BINDER
    starts = ()
    flags = {"scheduler": ["--bind-requests=always"], "grouper": ["--bind-requests=always"]}


class Gangs(World):
    """Room for one gang of two."""

    name = "gangs"
    fixed = (node("n1", 1), node("n2", 1))

    def load(self):
        for name in ("g", "h"):
            job = self.store.create("jobs", "default", {"metadata": {"name": name, "labels": {QUEUE: "q"}, "annotations": {
                "kai.scheduler/batch-min-member": "2"}}, "spec": {"parallelism": 2}})
            for number in range(2):
                self.add(f"{name}-{number}", owner=job)

    def next_ends(self):
        return [*super().next_ends(), *[job for job in self.store.all("jobs") if any(
            one["metadata"].get("ownerReferences", [{}])[0].get("name") == job["metadata"]["name"]
            for one in super(Gangs, self).next_ends())]]


class Shares(World):
    """One GPU: halves, and a pod that wants all of it."""

    name = "shares"
    clients = WITH_BINDER
    starts = ("binder",)
    fixed = (node("n1", 1),)

    def load(self):
        for name in ("h1", "h2"):
            self.add(name, 0, fraction="0.5")
        self.add("whole", 1)


class Claims(World):
    """One device, and two claims for it."""

    name = "claims"
    clients = WITH_BINDER
    fixed = (node("n1", 0), ("deviceclasses", {"metadata": {"name": DEVICE_CLASS}, "spec": {}}),
             ("resourceslices", {"metadata": {"name": "slice"}, "spec": {
                 "driver": DEVICE_CLASS, "nodeName": "n1",
                 "pool": {"name": "pool", "generation": 1, "resourceSliceCount": 1},
                 "devices": [{"name": "gpu-0"}]}}))

    def load(self):
        for name in ("x", "y"):
            self.store.create("resourceclaims", "default", {
                "metadata": {"name": f"claim-{name}", "labels": {QUEUE: "q"}}, "spec": {"devices": {"requests": [
                    {"name": "r", "exactly": {"deviceClassName": DEVICE_CLASS, "allocationMode": "ExactCount",
                                              "count": 1}}]}}})
            self.add(name, 0, claim=f"claim-{name}")


class Victims(World):
    """A queue takes back the GPU that another has beyond its quota, and no more."""

    name = "victims"
    fixed = (node("n1", 2), queue("lender", "all", 1), queue("borrower", "all", 1))

    def load(self):
        self.is_claimed = self.is_over = False
        for name in ("v1", "v2"):
            self.add(name, queue_name="borrower")

    def react(self, change):
        running = [one for one in self.store.all("pods") if one["status"].get("phase") == "Running"]
        if not self.is_claimed and len(running) == 2:
            self.is_claimed = True
            self.add("o", queue_name="lender")

    def restored(self):
        self.is_claimed = self.store.find("pods", "default", "o") is not None

    def faults(self, _ledger):
        """Before the first pods are ended."""
        names = {one["metadata"]["name"]: ledger.node_of(one) for one in self.store.all("pods")}
        if self.is_claimed and not self.is_over and not names.get("o"):
            yield "the pod that is due does not run"
        if self.is_claimed and not self.is_over and not any(name.startswith("v") for name in names):
            yield "all pods of the borrower were evicted, though one is within its quota"

    def next_ends(self):
        self.is_over = True
        return super().next_ends()


class Quota(World):
    """Room for two, and a quota of one for work that cannot be preempted."""

    name = "quota"
    fixed = (node("n1", 1), node("n2", 1), queue("small", "all", 1))

    def load(self):
        for name in ("k1", "k2"):
            self.add(name, queue_name="small", priority="build")


class Leases(World):
    """One GPU, two pods and two schedulers. Whoever takes over finds a pod that goes first: what the old leader still does
    with its own decisions then shows."""

    name = "leases"
    clients = {"one": "scheduler", "two": "scheduler", "grouper": "grouper"}
    flags = {"scheduler": ["--leader-elect", "--leader-election-namespace=kai-scheduler", "--lease-duration=4s",
                           "--lease-renew-deadline=3s", "--lease-retry-period=200ms"]}
    fixed = (node("n1", 1),)
    has_leader = True
    table = faults.TAKEOVERS

    def load(self):
        for name in ("a", "b"):
            self.add(name)

    def taken_over(self):
        """The leader has just been cut off."""
        if not self.store.find("pods", "default", "first"):
            self.add("first", priority="build")


WORLDS = {world.name: world for world in (Shares, Requests, Claims, Room, Gangs, Victims, Quota, Leases)}
