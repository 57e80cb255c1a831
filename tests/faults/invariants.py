"""What has to hold of a cluster whatever has happened to it, as the API server shows it."""

import collections

PODS = "/api/v1/pods"
REQUESTS = "/apis/scheduling.run.ai/v1alpha2/bindrequests"
CLAIMS = "/apis/resource.k8s.io/v1/resourceclaims"
GROUPS = "/apis/scheduling.run.ai/v2alpha2/podgroups"
RESERVED = "kai-resource-reservation"
GROUP_LABEL = "runai-gpu-group"
SLACK = 1e-9


def is_live(pod):
    return pod["status"].get("phase") not in ("Succeeded", "Failed")


def gpus_of(pod):
    """Whole GPUs that the pod holds, but for those that it holds by a claim."""
    if "extendedResourceClaimStatus" in pod["status"]:
        return 0
    return sum(int(one.get("resources", {}).get("limits", {}).get("nvidia.com/gpu", 0))
               for one in pod["spec"]["containers"])


def fraction_of(pod):
    notes = pod["metadata"].get("annotations", {})
    return float(notes.get("gpu-fraction", 0)), int(notes.get("gpu-fraction-num-devices", 1))


def groups_of(pod):
    """The shared GPUs of a pod, by either form of the label."""
    labels = pod["metadata"].get("labels", {})
    return [value for key, value in labels.items() if key == GROUP_LABEL or key.startswith(f"{GROUP_LABEL}/")]


def over_committed(nodes, pods):
    """Nodes with more GPUs given away than they have, and shared GPUs with more than one whole."""
    used, shared = collections.Counter(), collections.Counter()
    for pod in pods:
        node = pod["spec"].get("nodeName")
        if not node or not is_live(pod):
            continue
        used[node] += gpus_of(pod)
        if pod["metadata"]["namespace"] != RESERVED:
            for group in groups_of(pod):
                shared[(node, group)] += fraction_of(pod)[0]
    amounts = {node["metadata"]["name"]: int(node["status"]["allocatable"].get("nvidia.com/gpu", 0)) for node in nodes}
    found = [f"node {node}: {count} GPUs given away of {amounts[node]}" for node, count in used.items()
             if node in amounts and count > amounts[node]]
    return found + [f"GPU {group} of {node}: {part} given away" for (node, group), part in shared.items()
                    if part > 1 + SLACK]


def crowded(cluster):
    """The same as the API server shows it now."""
    return over_committed(cluster.api.items("/api/v1/nodes"), cluster.api.items(PODS))


def given_twice(claims):
    """Devices that two claims have, and not just a share of them or a look at them."""
    found = collections.Counter(
        f"{one['driver']}/{one['pool']}/{one['device']}" for claim in claims
        for one in claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
        if "shareID" not in one and not one.get("adminAccess"))
    return [f"device {name} is given to {count} claims" for name, count in found.items() if count > 1]


def gangs_in_part(groups, pods):
    """Gangs of which fewer pods have a node than they need, but some have."""
    members, bound = collections.Counter(), collections.Counter()
    for pod in pods:
        name = (pod["metadata"]["namespace"], pod["metadata"].get("annotations", {}).get("pod-group-name"))
        members[name] += 1
        bound[name] += bool(pod["spec"].get("nodeName"))
    found = []
    for group in groups:
        name = (group["metadata"]["namespace"], group["metadata"]["name"])
        need = group["spec"].get("minMember") or 0
        if 0 < bound[name] < need:
            found.append(f"gang {name[1]}: {bound[name]} of {members[name]} pods have a node, {need} are needed")
    return found


def leftovers(pods, requests):
    """Reservations that nobody uses, and requests that are not carried out."""
    names = {(pod["metadata"]["namespace"], pod["metadata"]["name"]): pod for pod in pods}
    in_use = {group for pod in pods if pod["metadata"]["namespace"] != RESERVED and is_live(pod)
              for group in groups_of(pod)}
    found = [f"reservation {pod['metadata']['name']}: nobody uses GPU {group}" for pod in pods
             if pod["metadata"]["namespace"] == RESERVED for group in groups_of(pod) if group not in in_use]
    for request in requests:
        meta = request["metadata"]
        pod = names.get((meta["namespace"], request["spec"]["podName"]))
        if not pod:
            found.append(f"request {meta['name']}: its pod is gone")
        elif request.get("status", {}).get("phase") != "Succeeded":
            found.append(f"request {meta['name']}: {request.get('status')}")
        elif pod["spec"].get("nodeName") != request["spec"]["selectedNode"]:
            found.append(f"request {meta['name']}: its pod is on {pod['spec'].get('nodeName')}")
    return found


def without_node(pods, names):
    return [f"pod {pod['metadata']['name']} has no node" for pod in pods
            if pod["metadata"]["name"] in names and not pod["spec"].get("nodeName")]


def broken(cluster, must_run=()):
    """All that does not hold, as text; pods in `must_run` have to have a node."""
    pods = cluster.api.items(PODS)
    missing = set(must_run) - {pod["metadata"]["name"] for pod in pods}
    return (over_committed(cluster.api.items("/api/v1/nodes"), pods) + gangs_in_part(cluster.api.items(GROUPS), pods) +
            leftovers(pods, cluster.api.items(REQUESTS)) + given_twice(cluster.api.items(CLAIMS)) +
            without_node(pods, set(must_run)) +
            [f"pod {name} is lost" for name in missing])
