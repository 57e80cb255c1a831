"""What statuses should be, computed from all objects of the cluster, slowly and plainly."""

import fractions
import math
import re

import world

SUFFIXES = {"": 1, "n": fractions.Fraction(1, 10**9), "u": fractions.Fraction(1, 10**6), "m": fractions.Fraction(1, 1000),
            "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18,
            **{f"{letter}i": 1024**power for power, letter in enumerate("KMGTPE", 1)}}
LISTS = ("requested", "allocated", "allocatedNonPreemptible")


def amount(text):
    number, suffix = re.fullmatch(r"([0-9.]+(?:e[0-9]+)?)([a-zA-Z]*)", str(text)).groups()
    return fractions.Fraction(number) * SUFFIXES[suffix]


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
            add(allocated, {"nvidia.com/gpu": fractions.Fraction(math.ceil(memory * 10**9 / world.NODE_MIB), 10**9)})
    return requested, allocated if phase == "Running" or scheduled else {}


def of_claim(claim):
    return {request["exactly"]["deviceClassName"]: fractions.Fraction(request["exactly"].get("count", 1))
            for request in claim["spec"]["devices"]["requests"] if "gpu" in request["exactly"]["deviceClassName"]}


def is_fixed(group):
    """Not preemptible."""
    spec = group["spec"]
    wish = spec.get("preemptibility")
    return wish == "non-preemptible" if wish else world.CLASSES.get(spec.get("priorityClassName"), 50) >= 100


def groups(cluster):
    """{name: {list: {resource: amount}}}"""
    claims = {one["metadata"]["name"]: of_claim(one) for one in cluster.api.items(world.CLAIMS)}
    pods = [one for one in cluster.api.items(world.PODS) if one["spec"].get("schedulerName") == "kai-scheduler"]
    found = {}
    for group in cluster.api.items(world.GROUPS):
        requested, allocated = {}, {}
        for pod in pods:
            if pod["metadata"].get("annotations", {}).get("pod-group-name") == group["metadata"]["name"]:
                more = of_pod(pod, claims)
                add(requested, more[0])
                add(allocated, more[1])
        found[group["metadata"]["name"]] = {"requested": requested, "allocated": allocated,
                                            "allocatedNonPreemptible": allocated if is_fixed(group) else {}}
    return found


def queues(cluster):
    """{name: ({list: {resource: amount}}, [child])}"""
    of_group, found = groups(cluster), {}
    parents = {one["metadata"]["name"]: one["spec"].get("parentQueue", "") for one in cluster.api.items(world.QUEUES)}
    for name in parents:
        found[name] = ({one: {} for one in LISTS}, sorted(child for child, parent in parents.items() if parent == name))
    for group in cluster.api.items(world.GROUPS):
        at = group["spec"].get("queue", "")
        while at in found:
            for one in LISTS:
                # One that has come meanwhile is looked at the next time.
                add(found[at][0][one], of_group.get(group["metadata"]["name"], {}).get(one, {}))
            at = parents[at]
    return found


def differences(cluster):
    """[(what, found, expected)] of all PodGroups and Queues."""
    wrong = []
    for name, expected in groups(cluster).items():
        status = world.status_of(cluster, name)
        found = {one: read(status.get(one)) for one in LISTS}
        if found != expected:
            wrong.append((f"podgroup {name}", found, expected))
    for name, (expected, children) in queues(cluster).items():
        status = cluster.api.get(f"{world.QUEUES}/{name}").get("status", {})
        found = {one: read(status.get(one)) for one in LISTS}
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
