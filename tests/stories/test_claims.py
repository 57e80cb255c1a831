"""Devices by claims: what a pod is told while it cannot have them, and that it gets them when it can."""

import contextlib

from place import PODS, Stories
from stage import GROUPS, NODES, REQUESTS, node_of
from suite import expect

SUITE = Stories()
DRA = "/apis/resource.k8s.io/v1"
CLAIMS = f"{DRA}/namespaces/default/resourceclaims"
CLASS = "gpu.example.com"
QUEUE = {"kai.scheduler/queue": "default-queue"}


@contextlib.contextmanager
def devices(here, count=2, node=1):
    """A class of devices, and a node that has some of them; claims and pods go with them."""
    name = sorted(one["metadata"]["name"] for one in here.api.items(NODES))[node]
    here.api.create(f"{DRA}/deviceclasses", {"metadata": {"name": CLASS}, "spec": {}})
    here.api.create(f"{DRA}/resourceslices", {"metadata": {"name": "slice"}, "spec": {
        "driver": CLASS, "nodeName": name, "pool": {"name": "pool", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"gpu-{number}"} for number in range(count)]}})
    try:
        yield name
    finally:
        for path in (PODS, CLAIMS):
            here.api.call("DELETE", f"{path}?gracePeriodSeconds=0")
        here.cluster.wait_until(lambda: not here.api.items(CLAIMS), "the claims are gone", 30)
        here.api.delete(f"{DRA}/resourceslices/slice")
        here.api.delete(f"{DRA}/deviceclasses/{CLASS}")


def claim(here, name, count=1, kind=CLASS, labels=None):
    return here.api.create(CLAIMS, {"metadata": {"name": name, "labels": QUEUE if labels is None else labels}, "spec": {
        "devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": kind, "count": count}}]}}})


def claimer(here, name, *claims):
    return here.pod(name, 0, resourceClaims=[{"name": f"c{number}", "resourceClaimName": one}
                                             for number, one in enumerate(claims)])


def is_told(here, name, text):
    """The pod and its group say so, by condition and by event."""
    here.condition(name, status="False", reason="Unschedulable", message=text)
    here.cluster.wait_until(lambda: text in [one["message"] for one in here.events(name, "Unschedulable")],
                            f"an event of {name}: {text}", 20)
    group = here.group_of(name)["metadata"]["name"]
    whole = f"PodSchedulingErrors: Resources were not found for pod default/{name} due to: {text}."
    here.cluster.wait_until(lambda: whole in [one["message"] for one in here.events(group, "Unschedulable")],
                            f"an event of {group}: {whole}", 20)
    here.cluster.wait_for(f"{GROUPS}/{group}", lambda one: [
        (entry["type"], entry["status"], entry["reason"], entry["nodePool"], entry["message"])
        for entry in one.get("status", {}).get("schedulingConditions", [])] == [
            ("UnschedulableOnNodePool", "True", "Unschedulable", "default", whole)], 20)


@SUITE.test("devices that are claimed are allocated and reserved for the pod, and free again after it")
def _(here):
    with devices(here, 3) as node:
        for name in ("pair", "next"):
            claim(here, name, count=2)
        made = claimer(here, "claimer", "pair")
        pod, _ = here.carried_out("claimer")
        expect(pod["spec"]["nodeName"], node)
        status = here.api.get(f"{CLAIMS}/pair")["status"]
        expect(status["reservedFor"], [{"resource": "pods", "name": "claimer", "uid": made["metadata"]["uid"]}])
        expect(len({one["device"] for one in status["allocation"]["devices"]["results"]}), 2)
        claimer(here, "second", "next")
        here.condition("second", status="False", reason="Unschedulable")
        here.delete("claimer")
        here.cluster.wait_for(f"{CLAIMS}/pair", lambda one: not one.get("status", {}).get("allocation"), 20)
        here.carried_out("second")


@SUITE.test("a pod is evicted from a device with a NoExecute taint, and the next one gets another device")
def _(here):
    with devices(here):
        claim(here, "one")
        claimer(here, "first", "one")
        here.carried_out("first")
        result, = here.api.get(f"{CLAIMS}/one")["status"]["allocation"]["devices"]["results"]
        taints = {result["device"]: [{"key": "broken", "effect": "NoExecute"}]}
        here.api.patch(f"{DRA}/resourceslices/slice", {"spec": {"devices": [
            {"name": name, "taints": taints.get(name, [])} for name in ("gpu-0", "gpu-1")]}})
        # This is the work of kube-controller-manager.
        here.cluster.wait_gone(f"{PODS}/first", 60)
        claimer(here, "second", "one")
        here.carried_out("second")
        other, = here.api.get(f"{CLAIMS}/one")["status"]["allocation"]["devices"]["results"]
        expect(other["device"] != result["device"], True)


@SUITE.test("a claim is made from a template for each pod, allocated, and gone with it")
def _(here):
    templates = f"{DRA}/namespaces/default/resourceclaimtemplates"
    with devices(here):
        here.api.create(templates, {"metadata": {"name": "one"}, "spec": {
            "metadata": {"labels": QUEUE},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": CLASS}}]}}}})
        names = [f"drawer-{number}" for number in range(3)]
        for name in names:
            here.pod(name, 0, resourceClaims=[{"name": "mine", "resourceClaimTemplateName": "one"}])
        here.cluster.wait_until(lambda: sum(bool(node_of(one)) for one in here.api.items(PODS)) == 2, "two run", 20)
        late, = [one["metadata"]["name"] for one in here.api.items(PODS) if not node_of(one)]
        here.condition(late, status="False", reason="Unschedulable")
        given = [result["device"] for one in here.api.items(CLAIMS)
                 for result in one.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])]
        expect(sorted(given), ["gpu-0", "gpu-1"])
        here.delete(next(name for name in names if name != late))
        here.carried_out(late)
        for name in names:
            here.delete(name)
        here.cluster.wait_until(lambda: not here.api.items(CLAIMS), "the claims are gone", 30)
        here.api.delete(f"{templates}/one")


@SUITE.test("a pod whose claim does not exist is told its name, and runs when it is made")
def _(here):
    with devices(here) as node:
        claimer(here, "early", "later")
        is_told(here, "early", 'resourceclaim "later" not found')
        claim(here, "later")
        pod, _ = here.carried_out("early")
        expect(pod["spec"]["nodeName"], node)


@SUITE.test("a pod whose claim names a class that does not exist is told its name, and runs when it is made")
def _(here):
    with devices(here):
        claim(here, "strange", kind="fpga.example.com")
        claimer(here, "asks", "strange")
        is_told(here, "asks", "device class fpga.example.com does not exist for claim default/strange")
        here.api.create(f"{DRA}/deviceclasses", {"metadata": {"name": "fpga.example.com"}, "spec": {}})
        try:
            here.carried_out("asks")
        finally:
            here.api.delete(f"{DRA}/deviceclasses/fpga.example.com")


@SUITE.test("GPUs that pods share by a claim belong to the queue on its label; without it they wait and are told so")
def _(here):
    with devices(here):
        here.queue("other")
        claim(here, "bare", labels={})
        claim(here, "foreign", labels={"kai.scheduler/queue": "other"})
        claimer(here, "one", "bare")
        claimer(here, "two", "foreign")
        is_told(here, "one", "pod default/one cannot be scheduled: DRA claim bare is a shared GPU claim but does not "
                             "have a queue label (kai.scheduler/queue)")
        is_told(here, "two", "pod default/two cannot be scheduled: DRA claim foreign is a shared GPU claim with wrong "
                             "queue label (expected queue: default-queue, claim queue label: other)")
        for name in ("bare", "foreign"):
            here.api.patch(f"{CLAIMS}/{name}", {"metadata": {"labels": QUEUE}})
        here.carried_out("one")
        here.carried_out("two")


@SUITE.test("a claim that no node can serve now waits, is told of every node, and is served when others have left")
def _(here):
    with devices(here) as node:
        for name in ("most", "rest"):
            claim(here, name, count=2 if name == "most" else 1)
        claimer(here, "first", "most")
        here.carried_out("first")
        claimer(here, "second", "rest")
        is_told(here, "second", "no nodes with enough resources were found: " + ". \n".join(
            f"1 cannot allocate all DRA claims on node {one['metadata']['name']}" for one in sorted(
                here.api.items(NODES), key=lambda one: one["metadata"]["name"])) + ".")
        here.delete("first")
        pod, _ = here.carried_out("second")
        expect(pod["spec"]["nodeName"], node)


@contextlib.contextmanager
def devices_as_resource(here, count=3):
    """A node whose GPUs come as devices alone, of a class that serves nvidia.com/gpu, beside devices of another kind."""
    node, = here.cluster.add_nodes(1, first=4, labels={"devices": "only"}, amounts={"nvidia.com/gpu": "0"})
    here.api.create(f"{DRA}/deviceclasses", {"metadata": {"name": CLASS}, "spec": {
        "extendedResourceName": "nvidia.com/gpu",
        "selectors": [{"cel": {"expression": f"device.driver == '{CLASS}' && 'x' != 'y || z'"}}]}})
    for name, driver, number in (("a-channels", "channel.example.com", 8), ("gpus", CLASS, count)):
        here.api.create(f"{DRA}/resourceslices", {"metadata": {"name": name}, "spec": {
            "driver": driver, "nodeName": node, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": f"{name}-{index}"} for index in range(number)]}})
    try:
        yield node
    finally:
        here.api.call("DELETE", f"{PODS}?gracePeriodSeconds=0")
        here.cluster.wait_until(lambda: not here.api.items(CLAIMS), "the claims are gone", 30)
        for path in (f"{DRA}/resourceslices/gpus", f"{DRA}/resourceslices/a-channels",
                     f"{DRA}/deviceclasses/{CLASS}", f"{NODES}/{node}"):
            here.api.delete(path)


def container(name, gpus, **more):
    amounts = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    return {"name": name, "image": "none", "resources": {"limits": amounts, "requests": {"cpu": "1", **amounts}}, **more}


def claim_of(here, name):
    """The claim that was made for the pod: its own, named in its status."""
    pod = here.get(name)
    status = pod["status"]["extendedResourceClaimStatus"]
    found = here.api.get(f"{CLAIMS}/{status['resourceClaimName']}")
    expect(found["metadata"]["annotations"], {"resource.kubernetes.io/extended-resource-claim": "true"})
    expect([one["uid"] for one in found["status"]["reservedFor"]], [pod["metadata"]["uid"]])
    return found, status["requestMappings"]


def devices_of(found):
    return [one["device"] for one in found["status"]["allocation"]["devices"]["results"]]


@SUITE.test("GPUs that are asked for as a resource come as devices where no plugin has them, by a claim of the pod's own")
def _(here):
    with devices_as_resource(here) as node:
        here.pod("two", 2, nodeSelector={"devices": "only"})
        pod, request = here.carried_out("two")
        expect(pod["spec"]["nodeName"], node)
        plan = request["spec"]["extendedResourceClaimAllocation"]
        expect(plan["deviceRequests"], [{"name": "container-0-request-2", "exactly": {
            "deviceClassName": CLASS, "allocationMode": "ExactCount", "count": 2}}])
        mappings = [{"containerName": "main", "resourceName": "nvidia.com/gpu", "requestName": "container-0-request-2"}]
        expect(plan["containerMappings"], mappings)
        found, written = claim_of(here, "two")
        expect(written, mappings)
        expect(found["status"]["allocation"], plan["allocation"])
        expect(found["spec"]["devices"]["requests"], plan["deviceRequests"])
        expect(sorted(devices_of(found)), ["gpus-0", "gpus-1"])
        here.pod("one", 1, nodeSelector={"devices": "only"})
        here.carried_out("one")
        expect(devices_of(claim_of(here, "one")[0]), ["gpus-2"])
        here.pod("late", 1, nodeSelector={"devices": "only"})
        here.condition("late", status="False", reason="Unschedulable")
        here.delete("two")
        here.carried_out("late")
        expect(devices_of(claim_of(here, "late")[0])[0] in ("gpus-0", "gpus-1"), True)


@SUITE.test("GPUs that are asked for as a resource come without a claim where a device plugin has them")
def _(here):
    with devices_as_resource(here):
        node = sorted(one["metadata"]["name"] for one in here.api.items(NODES))[0]
        here.pod("plain", 2, nodeSelector={"kubernetes.io/hostname": node})
        expect(here.bound("plain"), [node])
        expect("extendedResourceClaimStatus" in here.get("plain")["status"], False)
        expect(here.api.items(CLAIMS), [])


@SUITE.test("init containers use the devices of those that come after them, and one request more for what they lack")
def _(here):
    with devices_as_resource(here):
        here.pod("steps", 0, nodeSelector={"devices": "only"}, initContainers=[
            container("fetch", 1), container("side", 1, restartPolicy="Always"), container("warm", 2)],
            containers=[container("main", 1), container("idle", 0)])
        here.carried_out("steps")
        found, mappings = claim_of(here, "steps")
        # Beside the sidecar and the main container, "warm" needs one more than "main" has.
        expect({one["name"]: one["exactly"]["count"] for one in found["spec"]["devices"]["requests"]},
               {"container-1-request-1": 1, "container-2-request-1": 1, "container-3-request-1": 1})
        expect(sorted((one["containerName"], one["requestName"]) for one in mappings), [
            ("fetch", "container-1-request-1"), ("main", "container-3-request-1"), ("side", "container-1-request-1"),
            ("warm", "container-2-request-1"), ("warm", "container-3-request-1")])
        expect(sorted(devices_of(found)), ["gpus-0", "gpus-1", "gpus-2"])


@SUITE.test("a gang of pods that share no device waits for devices as a whole, and evicts for them")
def _(here):
    with devices_as_resource(here):
        only = {"nodeSelector": {"devices": "only"}}
        here.job("small", 2, spec=only)
        here.running("small")
        here.job("gang", 1, count=3, priority="build", annotations={"kai.scheduler/batch-min-member": "3"}, spec=only)
        pods = here.running("gang", 3)
        given = [device for pod in pods for device in devices_of(claim_of(here, pod["metadata"]["name"])[0])]
        expect(sorted(given), ["gpus-0", "gpus-1", "gpus-2"])
        here.cluster.wait_until(lambda: here.waiting("small"), "the other is evicted", 20)


@SUITE.test("devices that a scheduler has chosen are not chosen again by the next one")
def _(here):
    with devices_as_resource(here, 2):
        expect(here.stop("binder"), 0)
        try:
            here.pod("first", 1, nodeSelector={"devices": "only"})
            request = here.cluster.wait_for(f"{REQUESTS}/first")
            here.restart()
            here.pod("second", 1, nodeSelector={"devices": "only"})
            other = here.cluster.wait_for(f"{REQUESTS}/second")
        finally:
            here.serve("binder")
        expect(sorted(one["spec"]["extendedResourceClaimAllocation"]["allocation"]["devices"]["results"][0]["device"]
                      for one in (request, other)), ["gpus-0", "gpus-1"])
        here.carried_out("first")
        here.carried_out("second")


@SUITE.test("devices that a scheduler has chosen for claims are not chosen again by the next one")
def _(here):
    with devices(here):
        claim(here, "c-first")
        claim(here, "c-second")
        expect(here.stop("binder"), 0)
        try:
            claimer(here, "first", "c-first")
            request = here.cluster.wait_for(f"{REQUESTS}/first")
            here.restart()
            claimer(here, "second", "c-second")
            other = here.cluster.wait_for(f"{REQUESTS}/second")
        finally:
            here.serve("binder")
        expect(sorted(one["spec"]["resourceClaimAllocations"][0]["allocation"]["devices"]["results"][0]["device"]
                      for one in (request, other)), ["gpu-0", "gpu-1"])
        here.carried_out("first")
        here.carried_out("second")


@SUITE.test("a class that begins to serve a resource serves pods that wait for it")
def _(here):
    with devices_as_resource(here) as node:
        here.api.patch(f"{DRA}/deviceclasses/{CLASS}", {"spec": {"extendedResourceName": None}})
        claim(here, "all", count=3)
        claimer(here, "holder", "all")
        here.carried_out("holder")
        here.pod("waits", 1, nodeSelector={"devices": "only"})
        here.condition("waits", status="False", reason="Unschedulable")
        here.api.patch(f"{DRA}/deviceclasses/{CLASS}", {"spec": {"extendedResourceName": "nvidia.com/gpu"}})
        here.delete("holder")
        here.api.delete(f"{CLAIMS}/all")
        pod, _ = here.carried_out("waits")
        expect(pod["spec"]["nodeName"], node)
        expect(len(devices_of(claim_of(here, "waits")[0])), 1)
