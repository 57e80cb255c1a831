"""Devices that are shared, watched, attached first or asked for as resources, and crashes while a claim gets some."""

import contextlib

from client import ApiError
from place import PODS, Stories
from stage import NODES, REQUESTS, node_of
from suite import expect
from test_claims import CLAIMS, DRA, QUEUE, claim_of, claimer, container

SUITE = Stories()
CLASS = "gpu.example.com"
CARD = "card.example.com"
NAMESPACE = "/api/v1/namespaces/default"
ADMIN = "resource.kubernetes.io/admin-access"


@contextlib.contextmanager
def offered(here, devices, driver=CLASS, resource=None, node=None, counters=None):
    """A class, and devices for it on a node; claims and pods go with them."""
    node = node or sorted(one["metadata"]["name"] for one in here.api.items(NODES))[1]
    here.api.create(f"{DRA}/deviceclasses", {"metadata": {"name": driver}, "spec": {
        "selectors": [{"cel": {"expression": f"device.driver == '{driver}'"}}],
        **({"extendedResourceName": resource} if resource else {})}})
    pool = {"name": driver, "generation": 1, "resourceSliceCount": 2 if counters else 1}
    names = [driver]
    here.api.create(f"{DRA}/resourceslices", {"metadata": {"name": driver}, "spec": {
        "driver": driver, "nodeName": node, "pool": pool, "devices": devices}})
    if counters:
        names.append(f"{driver}-counters")
        here.api.create(f"{DRA}/resourceslices", {"metadata": {"name": names[1]}, "spec": {
            "driver": driver, "nodeName": node, "pool": pool, "sharedCounters": counters}})
    try:
        yield node
    finally:
        for path in (PODS, CLAIMS):
            here.api.call("DELETE", f"{path}?gracePeriodSeconds=0")
        here.cluster.wait_until(lambda: not here.api.items(CLAIMS), "the claims are gone", 30)
        for name in names:
            here.api.delete(f"{DRA}/resourceslices/{name}")
        here.api.delete(f"{DRA}/deviceclasses/{driver}")


def claim(here, name, devices=None, **exactly):
    return here.api.create(CLAIMS, {"metadata": {"name": name, "labels": QUEUE}, "spec": {"devices": {
        "requests": [{"name": "r", "exactly": {"deviceClassName": CLASS, **exactly}}], **(devices or {})}}})


def results_of(here, name):
    return here.api.get(f"{CLAIMS}/{name}").get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])


def is_free(here, name):
    """Nobody has the claim, and it has nothing."""
    def look(one):
        status = one.get("status", {})
        return not status.get("allocation") and not status.get("reservedFor")

    here.cluster.wait_for(f"{CLAIMS}/{name}", look, 30)


@SUITE.test("several resources of a pod come from devices by one claim, each container has its own, and all are free again")
def _(here):
    node, = here.cluster.add_nodes(1, first=6, labels={"devices": "both"}, amounts={"nvidia.com/gpu": "0"})
    gpus, cards = ([{"name": f"{kind}-{number}"} for number in range(2)] for kind in ("gpu", "card"))
    try:
        with (offered(here, gpus, resource="nvidia.com/gpu", node=node),
              offered(here, cards, CARD, resource="example.com/card", node=node)):
            first, second = container("main", 1), container("side", 1)
            for kind in ("limits", "requests"):
                second["resources"][kind]["example.com/card"] = "2"
            here.pod("both", 0, nodeSelector={"devices": "both"}, containers=[first, second])
            pod, request = here.carried_out("both")
            expect(pod["spec"]["nodeName"], node)
            found, mappings = claim_of(here, "both")
            expect([(one["name"], one["exactly"]["deviceClassName"], one["exactly"]["count"])
                    for one in found["spec"]["devices"]["requests"]],
                   [("container-0-request-1", CLASS, 1), ("container-1-request-1", CARD, 2), ("container-1-request-2", CLASS, 1)])
            expect(sorted((one["containerName"], one["resourceName"], one["requestName"]) for one in mappings), [
                ("main", "nvidia.com/gpu", "container-0-request-1"), ("side", "example.com/card", "container-1-request-1"),
                ("side", "nvidia.com/gpu", "container-1-request-2")])
            expect(sorted((one["request"], one["device"]) for one in found["status"]["allocation"]["devices"]["results"]), [
                ("container-0-request-1", "gpu-0"), ("container-1-request-1", "card-0"),
                ("container-1-request-1", "card-1"), ("container-1-request-2", "gpu-1")])
            expect(found["status"]["allocation"], request["spec"]["extendedResourceClaimAllocation"]["allocation"])
            late = container("main", 0)
            for kind in ("limits", "requests"):
                late["resources"][kind]["example.com/card"] = "1"
            here.pod("late", 0, nodeSelector={"devices": "both"}, containers=[late])
            here.condition("late", status="False", reason="Unschedulable")
            here.delete("both")
            here.carried_out("late")
    finally:
        here.api.delete(f"{NODES}/{node}")


@SUITE.test("claims share a device as its policies say, and what one has given back is the next one's")
def _(here):
    policy = {"default": "10Gi", "validRange": {"min": "10Gi", "step": "10Gi", "max": "40Gi"}}
    device = {"name": "gpu-0", "allowMultipleAllocations": True,
              "capacity": {"memory": {"value": "80Gi", "requestPolicy": policy}}}
    with offered(here, [device]):
        for name, wanted in (("one", "25Gi"), ("two", None), ("three", "31Gi"), ("four", "5Gi")):
            claim(here, name, **({"capacity": {"requests": {"memory": wanted}}} if wanted else {}))
        for name in ("one", "two", "three"):
            claimer(here, f"p-{name}", name)
            here.carried_out(f"p-{name}")
        shares = [results_of(here, name)[0] for name in ("one", "two", "three")]
        expect([one["consumedCapacity"] for one in shares], [{"memory": size} for size in ("30Gi", "10Gi", "40Gi")])
        expect(len({one["shareID"] for one in shares}), 3)
        claimer(here, "p-four", "four")
        here.condition("p-four", status="False", reason="Unschedulable")
        here.delete("p-two")
        is_free(here, "two")
        here.carried_out("p-four")
        expect(results_of(here, "four")[0]["consumedCapacity"], {"memory": "10Gi"})


@SUITE.test("parts of a GPU that draw on its counters are given out while those last")
def _(here):
    def part(name, slices):
        return {"name": name, "consumesCounters": [{"counterSet": "gpu", "counters": {"slices": {"value": str(slices)}}}]}

    parts = [part("whole", 7), part("half-0", 3), part("half-1", 3), part("small", 2)]
    with offered(here, parts, counters=[{"name": "gpu", "counters": {"slices": {"value": "7"}}}]):
        for name, count in (("pair", 2), ("more", 1)):
            claim(here, name, count=count, selectors=[{"cel": {"expression": "true"}}])
        claimer(here, "first", "pair")
        here.carried_out("first")
        expect(sorted(one["device"] for one in results_of(here, "pair")), ["half-0", "half-1"])
        claimer(here, "second", "more")
        here.condition("second", status="False", reason="Unschedulable")
        here.delete("first")
        here.carried_out("second")
        expect([one["device"] for one in results_of(here, "more")], ["whole"])


@SUITE.test("admin access is for namespaces that are labelled for it, takes nothing from others and leaves nothing behind")
def _(here):
    with offered(here, [{"name": "gpu-0"}]):
        try:
            claim(here, "looks", adminAccess=True)
            expect(True, False, "the API server refuses it")
        except ApiError as error:
            expect(error.status in (403, 422), True)
        here.api.patch(NAMESPACE, {"metadata": {"labels": {ADMIN: "true"}}})
        try:
            claim(here, "owns")
            claim(here, "looks", adminAccess=True)
            claimer(here, "owner", "owns")
            here.carried_out("owner")
            claimer(here, "watcher", "looks")
            here.carried_out("watcher")
            looked, = results_of(here, "looks")
            expect((looked["device"], looked["adminAccess"]), ("gpu-0", True))
            expect("adminAccess" in results_of(here, "owns")[0], False)
            here.delete("owner")
            is_free(here, "owns")
            claim(here, "next")
            claimer(here, "later", "next")
            here.carried_out("later")
            here.delete("watcher")
            is_free(here, "looks")
        finally:
            here.api.call("DELETE", f"{PODS}?gracePeriodSeconds=0")
            here.api.call("DELETE", CLAIMS)
            here.cluster.wait_until(lambda: not here.api.items(CLAIMS), "the claims are gone", 30)
            here.api.patch(NAMESPACE, {"metadata": {"labels": {ADMIN: None}}})


def attached_devices(count=2):
    return [{"name": f"gpu-{number}", "bindsToNode": True, "bindingConditions": ["ready"],
             "bindingFailureConditions": ["broken"]} for number in range(count)]


def tell(here, name, kind):
    """The driver says how far it is with the claim's device."""
    result, = results_of(here, name)
    here.api.patch(f"{CLAIMS}/{name}/status", {"status": {"devices": [{
        **{key: result[key] for key in ("driver", "pool", "device")},
        "conditions": [{"type": kind, "status": "True", "reason": "Told", "message": "",
                        "lastTransitionTime": "2026-01-01T00:00:00Z"}]}]}})


def is_held(here, name):
    here.cluster.wait_for(f"{CLAIMS}/{name}", lambda one: one.get("status", {}).get("reservedFor") and
                          one["status"].get("allocation"), 30)


@SUITE.test("a pod is bound when its device has been attached, and a device that cannot be is given back")
def _(here):
    with offered(here, attached_devices()) as node:
        claim(here, "slow")
        claimer(here, "waits", "slow")
        is_held(here, "slow")
        result, = results_of(here, "slow")
        expect((result["bindingConditions"], result["bindingFailureConditions"]), (["ready"], ["broken"]))
        here.stays(lambda: not node_of(here.get("waits")))
        tell(here, "slow", "ready")
        pod, _ = here.carried_out("waits")
        expect(pod["spec"]["nodeName"], node)
        expect(here.api.get(f"{CLAIMS}/slow")["status"]["allocation"]["nodeSelector"]["nodeSelectorTerms"][0]["matchFields"],
               [{"key": "metadata.name", "operator": "In", "values": [node]}])
        claim(here, "bad")
        claimer(here, "fails", "bad")
        is_held(here, "bad")
        tell(here, "bad", "broken")
        # It is chosen again, and its driver is asked anew.
        here.cluster.wait_for(f"{CLAIMS}/bad", lambda one: not one.get("status", {}).get("devices"), 30)
        is_held(here, "bad")
        tell(here, "bad", "ready")
        here.bound("fails", seconds=60)


@SUITE.test("a binder that dies while a device is attached leaves nothing behind, whatever becomes of the pod")
def _(here):
    with offered(here, attached_devices()):
        for name in ("stays", "goes"):
            claim(here, name)
            claimer(here, f"p-{name}", name)
            is_held(here, name)
        here.cluster.kill("binder")
        here.api.delete(f"{PODS}/p-goes?gracePeriodSeconds=0")
        here.serve("binder")
        is_free(here, "goes")
        tell(here, "stays", "ready")
        here.carried_out("p-stays")
        here.delete("p-stays")
        is_free(here, "stays")
        here.cluster.wait_until(lambda: not here.api.items(REQUESTS), "no request is left", 30)


@SUITE.test("a scheduler that dies behind its decision gives the device to nobody else")
def _(here):
    with offered(here, attached_devices(1)):
        claim(here, "first")
        claim(here, "second")
        claimer(here, "p-first", "first")
        is_held(here, "first")
        here.cluster.kill("scheduler")
        here.serve("scheduler")
        claimer(here, "p-second", "second")
        here.condition("p-second", status="False", reason="Unschedulable")
        expect(results_of(here, "second"), [])
        here.api.delete(f"{PODS}/p-first?gracePeriodSeconds=0")
        is_free(here, "first")
        is_held(here, "second")
        tell(here, "second", "ready")
        here.carried_out("p-second")
