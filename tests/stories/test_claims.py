"""Devices by claims: what a pod is told while it cannot have them, and that it gets them when it can."""

import contextlib

from place import PODS, Stories
from scheduler_stage import GROUPS, NODES, node_of
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
        is_told(here, "asks", "device class fpga.example.com does not exist")
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
