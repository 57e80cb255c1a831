"""What statuses should be, computed from all objects of the cluster, slowly and plainly."""

import fractions
import math

import bed
from quantity import amount
from stage import CLAIMS, GROUPS, PODS, QUEUES

# Priority classes as the chart makes them; that of a PodGroup without one is "train".
CLASSES = {"train": 50, "build-preemptible": 75, "build": 100, "inference": 125}
LISTS = ("requested", "allocated", "allocatedNonPreemptible")


def read(resources):
    return {name: amount(value) for name, value in (resources or {}).items()}


def add(into, more):
    for name, value in more.items():
        into[name] = into.get(name, 0) + value
    return into


def of_pod(pod, claims):
    """What the pod requests and has been allocated."""
    phase, notes = pod["status"].get("phase"), pod["metadata"].get("annotations", {})
    scheduled = any(one["type"] == "PodScheduled" and one["status"] == "True"
                    for one in pod["status"].get("conditions") or [])
    if phase not in ("Pending", "Running"):
        return {}, {}
    base = {}
    for container in pod["spec"]["containers"]:
        add(base, read(container.get("resources", {}).get("requests")))
    for one in pod["spec"].get("resourceClaims", []):
        add(base, claims.get(one["resourceClaimName"], {}))
    requested, allocated = dict(base), dict(base)
    devices = int(notes.get("gpu-fraction-num-devices", 1))
    is_given = notes.get("received-resource-type") == "Fraction"
    if "gpu-fraction" in notes:
        add(requested, {"nvidia.com/gpu": amount(notes["gpu-fraction"]) * devices})
        if is_given:
            add(allocated, {"nvidia.com/gpu": amount(notes["gpu-fraction"]) * devices})
    if "gpu-memory" in notes:
        memory = amount(notes["gpu-memory"]) * devices
        add(requested, {"run.ai/gpu.memory": memory})
        if is_given:
            add(allocated, {"nvidia.com/gpu": fractions.Fraction(math.ceil(memory * 10**9 / int(bed.GPU_MEMORY_MIB)), 10**9)})
    return requested, allocated if phase == "Running" or scheduled else {}


def of_claim(claim):
    return {request["exactly"]["deviceClassName"]: fractions.Fraction(request["exactly"].get("count", 1))
            for request in claim["spec"]["devices"]["requests"] if "gpu" in request["exactly"]["deviceClassName"]}


def is_fixed(group):
    """Not preemptible."""
    spec = group["spec"]
    wish = spec.get("preemptibility")
    return wish == "non-preemptible" if wish else CLASSES.get(spec.get("priorityClassName"), CLASSES["train"]) >= 100


def groups(found, pods, claims):
    """{name: {list: {resource: amount}}} of PodGroups."""
    claims = {one["metadata"]["name"]: of_claim(one) for one in claims}
    members = {}
    for pod in pods:
        if pod["spec"].get("schedulerName") == "kai-scheduler":
            members.setdefault(pod["metadata"].get("annotations", {}).get("pod-group-name"), []).append(pod)
    accounts = {}
    for group in found:
        requested, allocated = {}, {}
        for pod in members.get(group["metadata"]["name"], []):
            more = of_pod(pod, claims)
            add(requested, more[0])
            add(allocated, more[1])
        accounts[group["metadata"]["name"]] = {"requested": requested, "allocated": allocated,
                                               "allocatedNonPreemptible": allocated if is_fixed(group) else {}}
    return accounts


def queues(found, of_groups):
    """{name: ({list: {resource: amount}}, [child])} of Queues, by PodGroups and their accounts."""
    parents = {one["metadata"]["name"]: one["spec"].get("parentQueue", "") for one in found}
    accounts = {name: ({one: {} for one in LISTS}, sorted(child for child, parent in parents.items() if parent == name))
                for name in parents}
    for group, lists in of_groups:
        at = group["spec"].get("queue", "")
        while at in accounts:
            for one in LISTS:
                add(accounts[at][0][one], lists[one])
            at = parents[at]
    return accounts


class Shown:
    """All objects that count, as the API server shows them; what it shows of them may be of different moments."""

    def __init__(self, cluster):
        self.groups, self.queues, self.pods, self.claims = (
            cluster.api.items(path) for path in (GROUPS, QUEUES, PODS, CLAIMS))
        self.of_groups = groups(self.groups, self.pods, self.claims)
        self.of_queues = queues(self.queues, [(one, self.of_groups[one["metadata"]["name"]]) for one in self.groups])


def differences(cluster):
    """[(what, found, expected)] of all PodGroups and Queues."""
    shown, wrong = Shown(cluster), []
    for group in shown.groups:
        name, status = group["metadata"]["name"], group.get("status", {}).get("resourcesStatus", {})
        found = {one: read(status.get(one)) for one in LISTS}
        if found != shown.of_groups[name]:
            wrong.append((f"podgroup {name}", found, shown.of_groups[name]))
    for queue in shown.queues:
        name, status = queue["metadata"]["name"], queue.get("status", {})
        found = {one: read(status.get(one)) for one in LISTS}
        expected, children = shown.of_queues[name]
        if found != expected or status.get("childQueues", []) != children:
            wrong.append((f"queue {name}", (found, status.get("childQueues")), (expected, children)))
    return wrong


def wait_equal(cluster, seconds=60):
    """Until all statuses are as they should be; says which are not otherwise."""
    try:
        cluster.wait_until(lambda: not differences(cluster), "all statuses are as the ledger has them", seconds)
    except TimeoutError:
        text = "\n".join(f"{what}: {found}\n  expected {expected}" for what, found, expected in differences(cluster)[:5])
        raise AssertionError(f"statuses differ from the ledger:\n{text}") from None
