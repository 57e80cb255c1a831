"""The checker. It knows the objects of the server and nothing of the services, and says what of it must never be."""

import collections

from controllers import GROUP, RESERVED

SLACK = 1e-9
FIRM = 100  # from this priority on pods may not be preempted


def is_live(pod):
    return pod["status"].get("phase") not in ("Succeeded", "Failed")


def node_of(pod):
    return pod["spec"].get("nodeName")


def gpus_of(pod):
    return sum(int(one.get("resources", {}).get("limits", {}).get("nvidia.com/gpu", 0))
               for one in pod["spec"]["containers"])


def fraction_of(pod):
    return float(pod["metadata"].get("annotations", {}).get("gpu-fraction", 0))


def claims_of(pod):
    return [one["resourceClaimName"] for one in pod["spec"].get("resourceClaims", [])]


def queue_of(pod):
    return pod["metadata"].get("labels", {}).get("kai.scheduler/queue")


def is_firm(pod):
    return pod["spec"].get("priority", 0) >= FIRM


def name_of(found):
    return found["metadata"]["name"]


def devices_of(claim):
    return [(one["driver"], one["pool"], one["device"]) for one in
            claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])]


class Ledger:
    """What is given away now, counted anew from the objects after each write."""

    def __init__(self, store):
        self.store = store
        self.nodes = {}
        self.broken = []
        store.listeners.append(self.look)

    def begin(self):
        self.nodes, self.broken = {}, []

    def forget(self):
        """The store was put back: binds that came later have not happened."""
        self.nodes = {pod["metadata"]["uid"]: node_of(pod) for pod in self.store.all("pods") if node_of(pod)}

    def look(self, change, who):
        if change.plural in ("pods", "resourceclaims"):
            self.note_bind(change, who)
            for one in self.faults():
                if one not in self.broken:
                    self.broken.append(f"{one} (after {change.type} {change.plural} of {who})")

    def note_bind(self, change, who):
        pod = change.new
        if change.plural != "pods" or pod is None or not node_of(pod):
            return
        before = self.nodes.setdefault(pod["metadata"]["uid"], node_of(pod))
        if before != node_of(pod):
            self.broken.append(f"pod {name_of(pod)} was on {before} and is on {node_of(pod)} (by {who})")

    def pods(self):
        return [pod for pod in self.store.all("pods") if is_live(pod)]

    def placed(self):
        return [pod for pod in self.pods() if node_of(pod)]

    # Room.

    def room(self):
        """Free GPUs of each node; GPUs that are shared are taken by their reservations. A bind may cross the deletion of its
        node: a pod on a node that is gone takes nothing from anybody."""
        free = {name_of(node): int(node["status"]["allocatable"].get("nvidia.com/gpu", 0))
                for node in self.store.all("nodes")}
        for pod in self.placed():
            if node_of(pod) in free:
                free[node_of(pod)] -= gpus_of(pod)
        return free

    def shares(self):
        """What is given away of each shared GPU."""
        given = collections.Counter()
        for pod in self.placed():
            if pod["metadata"]["namespace"] != RESERVED and fraction_of(pod):
                given[node_of(pod), pod["metadata"]["labels"].get(GROUP)] += fraction_of(pod)
        return given

    def devices(self):
        return collections.Counter(one for claim in self.store.all("resourceclaims") for one in devices_of(claim))

    def firm(self):
        """GPUs of each queue that nobody can take back. Pods that are ending have left their queue."""
        used = collections.Counter()
        for pod in self.placed():
            if is_firm(pod) and "deletionTimestamp" not in pod["metadata"]:
                used[queue_of(pod)] += gpus_of(pod) + fraction_of(pod)
        return used

    def quotas(self):
        return {name_of(queue): queue["spec"]["resources"]["gpu"]["quota"] for queue in self.store.all("queues")}

    # What must never be.

    def faults(self):
        return [*self.faults_of_nodes(), *self.faults_of_shares(), *self.faults_of_claims(), *self.faults_of_queues()]

    def faults_of_nodes(self):
        for node, free in self.room().items():
            if free < 0:
                who = sorted(name_of(pod) for pod in self.placed() if node_of(pod) == node and gpus_of(pod))
                yield f"node {node} lacks {-free} GPUs for {', '.join(who)}"

    def faults_of_shares(self):
        kept = {(node_of(pod), pod["metadata"]["labels"].get(GROUP)) for pod in self.placed()
                if pod["metadata"]["namespace"] == RESERVED}
        for (node, group), given in self.shares().items():
            if given > 1 + SLACK:
                yield f"a shared GPU of {node} is given away {given:.2f} times"
            if group is None:
                yield f"a pod on {node} has a part of a GPU, but none is named"
            elif (node, group) not in kept:
                yield f"pods on {node} share a GPU that is not reserved"

    def faults_of_claims(self):
        for (_, _, device), count in self.devices().items():
            if count > 1:
                yield f"device {device} is given to {count} claims"
        claims = {name_of(claim): claim for claim in self.store.all("resourceclaims")}
        for pod in self.placed():
            for name in claims_of(pod):
                reserved = claims.get(name, {}).get("status", {}).get("reservedFor", [])
                if pod["metadata"]["uid"] not in [one["uid"] for one in reserved]:
                    yield f"pod {name_of(pod)} runs without its claim {name}"

    def faults_of_queues(self):
        quotas = self.quotas()
        for queue, used in self.firm().items():
            if 0 <= quotas.get(queue, -1) < used - SLACK:
                yield f"queue {queue} has {used} GPUs that nobody can take back, and a quota of {quotas[queue]}"

    # What must not stay.

    def fits(self, pod):
        """A node that has room for the pod now."""
        quota = self.quotas().get(queue_of(pod), -1)
        if is_firm(pod) and 0 <= quota < self.firm()[queue_of(pod)] + gpus_of(pod) + fraction_of(pod) - SLACK:
            return None
        if claims_of(pod):
            all_devices = {(one["spec"]["driver"], one["spec"]["pool"]["name"], device["name"]): one["spec"]["nodeName"]
                           for one in self.store.all("resourceslices") for device in one["spec"]["devices"]}
            own = [device for claim in self.store.all("resourceclaims") if name_of(claim) in claims_of(pod)
                   for device in devices_of(claim)]
            taken = self.devices() - collections.Counter(own)
            return next((node for device, node in all_devices.items() if not taken[device]), None)
        fraction = fraction_of(pod)
        if fraction:
            for (node, _), given in self.shares().items():
                if given + fraction <= 1 + SLACK:
                    return node
        need = gpus_of(pod) or (1 if fraction else 0)
        return next((node for node, free in self.room().items() if free >= need), None)

    def unfinished(self):
        """What has to change yet before all is well."""
        pods = [pod for pod in self.pods() if pod["metadata"]["namespace"] != RESERVED]
        by_name = {name_of(pod): pod for pod in pods}
        waiting = [pod for pod in pods if not node_of(pod) and "deletionTimestamp" not in pod["metadata"]]
        found = [f"pod {name_of(pod)} is still ending" for pod in pods if "deletionTimestamp" in pod["metadata"]]
        found += self.unfinished_gangs(pods, waiting)
        for request in self.store.all("bindrequests"):
            pod = by_name.get(request["spec"]["podName"])
            if not pod:
                found.append(f"BindRequest {name_of(request)} is left of a pod that is gone")
            elif node_of(pod) != request["spec"]["selectedNode"] or request.get("status", {}).get("phase") != "Succeeded":
                found.append(f"BindRequest {name_of(request)} for {request['spec']['selectedNode']} is "
                             f"{request.get('status', {})}, and its pod on {node_of(pod)}")
        groups = {pod["metadata"]["labels"].get(GROUP) for pod in pods}
        found += [f"reservation {name_of(pod)} is left" for pod in self.pods()
                  if pod["metadata"]["namespace"] == RESERVED and pod["metadata"]["labels"].get(GROUP) not in groups]
        found += [f"pod {name_of(pod)} waits with a label of a GPU" for pod in waiting
                  if GROUP in pod["metadata"]["labels"]]
        uids = {pod["metadata"]["uid"] for pod in pods}
        found += [f"claim {name_of(claim)} is left allocated" for claim in self.store.all("resourceclaims")
                  if devices_of(claim) and not any(one["uid"] in uids for one in
                                                   claim["status"].get("reservedFor", []))]
        return found

    def unfinished_gangs(self, pods, waiting):
        """Pods that could run and do not, gangs in part, and pods without a group."""
        minimum = {name_of(job): int(job["metadata"]["annotations"]["kai.scheduler/batch-min-member"])
                   for job in self.store.all("jobs")}
        gangs = collections.defaultdict(list)
        for pod in pods:
            gangs[pod["metadata"].get("ownerReferences", [{}])[0].get("name")].append(pod)
        for pod in waiting:
            owner = pod["metadata"].get("ownerReferences", [{}])[0].get("name")
            if owner not in minimum and (node := self.fits(pod)):
                yield f"pod {name_of(pod)} waits, though {node} has room"
        for owner, need in minimum.items():
            running = [pod for pod in gangs[owner] if node_of(pod)]
            if 0 < len(running) < need:
                yield f"gang {owner} runs with {len(running)} pods of {need}"
            free = sum(self.room().values())
            if not running and len(gangs[owner]) >= need and free >= sum(gpus_of(pod) for pod in gangs[owner]):
                yield f"gang {owner} waits, though there is room"
