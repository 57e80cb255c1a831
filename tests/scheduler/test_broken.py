"""The scheduler: objects that make no sense, and a cluster that breaks."""

import contextlib
import json
import random
import signal
import time

from client import ApiError
from stage import GROUPS, NODES, PODS, QUEUES, REQUESTS, TOPOLOGIES, condition, node_of, queue_object
from suite import Suite, expect, expect_in

SUITE = Suite()


def is_served(stage):
    """Others are scheduled all the same."""
    stage.pod("fine", 1)
    stage.bound("fine")


@SUITE.test("parts of GPUs that make no sense are named, and not placed")
def _(stage):
    stage.clear()
    wrong = {
        "more": ({"gpu-fraction": "1.5"}, 0, "expected a number above 0 and below 1, found '1.5'"),
        "nan": ({"gpu-fraction": "NaN"}, 0, "expected a number above 0 and below 1, found 'NaN'"),
        "both": ({"gpu-fraction": "0.5", "gpu-memory": "1000"}, 0, "expected one of gpu-fraction and gpu-memory"),
        "whole": ({"gpu-fraction": "0.5"}, 1, "a part of a GPU or a limit of whole GPUs, found both"),
        "memory": ({"gpu-memory": "-3"}, 0, "expected a whole number of MiB above 0, found '-3'"),
    }
    for name, (annotations, gpus, _) in wrong.items():
        stage.pod(name, gpus, annotations=annotations)
    for name, (_, _, text) in wrong.items():
        expect_in(text, stage.event(name, "Invalid")["message"])
    is_served(stage)
    expect(stage.waits(*wrong, seconds=0.5), True)


@SUITE.test("a pod that is put right is placed")
def _(stage):
    stage.clear()
    stage.pod("slip", 0, annotations={"gpu-fraction": "5"})
    stage.event("slip", "Invalid")
    stage.api.patch(f"{PODS}/slip", {"metadata": {"annotations": {"gpu-fraction": "0.5"}}})
    stage.cluster.wait_for(f"{REQUESTS}/slip")


@SUITE.test("a queue that is its own parent is named, and others go on")
def _(stage):
    stage.clear()
    stage.api.create(QUEUES, queue_object("loop", "loop"))
    expect_in("parents must form a tree", stage.event("loop", "Invalid")["message"])
    stage.pod("lost", 1, queue="loop")
    stage.condition("lost", status="False")
    is_served(stage)


@SUITE.test("a queue below one that is not there takes no part")
def _(stage):
    stage.clear()
    stage.queue("orphan", "nobody")
    stage.pod("waif", 1, queue="orphan")
    stage.condition("waif", status="False")
    is_served(stage)


@SUITE.test("a PodGroup that needs more pods than there are says what it waits for")
def _(stage):
    stage.clear()
    stage.gang("short", 2, minimum=5)
    expect_in("Waiting for 5 pods, currently 2 exist", stage.event("short", "NotReady")["message"])
    is_served(stage)


@SUITE.test("a PodGroup whose subgroups make no tree is named, and harms nobody")
def _(stage):
    stage.clear()
    stage.group("knot", 1, subGroups=[{"name": "a", "parent": "b"}, {"name": "b", "parent": "a"}])
    expect_in("expected a tree", stage.event("knot", "Invalid")["message"])
    is_served(stage)


@SUITE.test("a pod that names a subgroup which is not there is told so")
def _(stage):
    stage.clear()
    stage.group("sets", 1)
    stage.pod("stray", 1, group="sets", labels={"kai.scheduler/subgroup-name": "nowhere"})
    expect(stage.condition("stray", status="False")["message"],
           'Pod references subgroup "nowhere", which does not exist in PodGroup default/sets')
    is_served(stage)


@SUITE.test("a gang whose topology is not there, or is full, says so")
def _(stage):
    stage.clear()
    stage.gang("nowhere", 2, topologyConstraint={"topology": "none", "requiredTopologyLevel": "rack"})
    expect_in("Requested topology none does not exist", stage.condition("nowhere-0", status="False")["message"])
    is_served(stage)


@SUITE.test("annotations as long as the API server takes them are survived")
def _(stage):
    stage.clear()
    stage.pod("wordy", 1, annotations={"note": "x" * 250_000})
    stage.group("long", 1)
    for number in range(3):
        stage.api.patch(f"{GROUPS}/long", {"metadata": {"annotations": {f"n{number}": "y" * 80_000}}})
    stage.bound("wordy")
    is_served(stage)


@SUITE.test("a Topology without levels is refused or named")
def _(stage):
    stage.clear()
    try:
        stage.api.create(TOPOLOGIES, {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology",
                                      "metadata": {"name": "flat"}, "spec": {"levels": []}})
    except ApiError as error:
        expect(error.status, 422)
    else:
        stage.event("flat", "Invalid")
    is_served(stage)


POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
POLICY_BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"


@contextlib.contextmanager
def refused(stage, resource, operation, expression):
    """While it lasts, the API server refuses that operation on objects of which the expression is false."""
    stage.api.create(POLICIES, {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "no"}, "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": [operation],
                                                    "resources": [resource]}]},
            "validations": [{"expression": expression, "message": "not this one"}]}})
    stage.api.create(POLICY_BINDINGS, {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "no"}, "spec": {"policyName": "no", "validationActions": ["Deny"]}})
    try:
        yield
    finally:
        stage.api.delete(f"{POLICY_BINDINGS}/no")
        stage.api.delete(f"{POLICIES}/no")


def count_said(stage, text, name):
    return sum(text in line and f"pod={name} " in line for line in stage.log().splitlines())


@SUITE.test("a bind that keeps failing is tried less and less often, and others are bound at once")
def _(stage):
    stage.clear()
    with refused(stage, "pods/binding", "CREATE", "!object.metadata.name.startsWith('doomed')"):
        for attempt in range(50):  # until the policy is in force
            name = f"doomed-{attempt}"
            stage.pod(name, 1)
            stage.cluster.wait_until(lambda: condition(stage.get(name), "PodScheduled"), "an answer")  # noqa: B023
            if not node_of(stage.get(name)):
                break
            stage.delete(name)
        expect_in("not this one", stage.condition(name, reason="BindingError")["message"])
        began = time.monotonic()
        for number in range(10):
            stage.pod(f"other-{number}", 1)
            stage.bound(f"other-{number}", seconds=5)
        time.sleep(max(0, 9 - (time.monotonic() - began)))
        tries = count_said(stage, "bind failed", name)
        expect(3 <= tries <= 5, True, f"tried {tries} times in 9 s")
        expect(node_of(stage.get(name)), None)
    stage.bound(name, seconds=30)


@SUITE.test("an eviction that keeps failing is tried less and less often")
def _(stage):
    stage.clear()
    stage.queue("greedy", quota=0)
    stage.queue("owner", quota=32)
    for number in range(4):
        stage.pod(f"kept-{number}", 8, queue="greedy")
    stage.bound(*(f"kept-{number}" for number in range(4)))
    with refused(stage, "pods", "DELETE", "!oldObject.metadata.name.startsWith('kept')"):
        stage.cluster.wait_until(lambda: is_refused(stage, "kept-0"), "the policy is in force")
        stage.pod("heir", 8, queue="owner")
        stage.cluster.wait_until(lambda: "eviction failed" in stage.log(), "a first attempt")
        time.sleep(8)
        tries = stage.log().count("eviction failed")
        expect(2 <= tries <= 12, True, f"tried {tries} times in 8 s")
    stage.bound("heir", seconds=60)


def is_refused(stage, name):
    """Would the server refuse to delete it?"""
    try:
        stage.api.call("DELETE", f"{PODS}/{name}?dryRun=All")
    except ApiError as error:
        return "not this one" in str(error)
    return False


@SUITE.test("the API server goes away and comes back, and pods are bound again")
def _(stage):
    stage.clear()
    stage.pod("before", 1)
    stage.bound("before")
    stage.cluster.kill("kube-apiserver")
    time.sleep(1)
    stage.cluster.start("kube-apiserver")
    stage.pod("after", 1)
    stage.bound("after", seconds=60)


@SUITE.test("history that is gone costs a new list, and nothing else")
def _(stage):
    stage.clear()
    stage.pod("kept", 8)
    node = stage.bound("kept")[0]
    stage.cluster.compact()
    stage.cluster.kill("kube-apiserver")
    stage.cluster.start("kube-apiserver")
    for number in range(3):
        stage.pod(f"more-{number}", 8)
    taken = stage.bound("more-0", "more-1", "more-2", seconds=60)
    expect(node in taken, False)


@SUITE.test("killed while it binds many pods, it goes on with the rest and binds none twice")
def _(stage):
    stage.clear()
    for number in range(60):
        stage.pod(f"many-{number}", 0, cpu="100m")
    stage.cluster.wait_until(lambda: any(node_of(one) for one in stage.api.items(PODS)), "the first bind")
    stage.cluster.stop("scheduler", by=signal.SIGKILL)
    before = {one["metadata"]["name"]: node_of(one) for one in stage.api.items(PODS) if node_of(one)}
    stage.start()
    stage.bound(*(f"many-{number}" for number in range(60)), seconds=60)
    for name, node in before.items():
        expect(node_of(stage.get(name)), node)


@SUITE.test("a node that goes while pods are on it takes no more, and others do")
def _(stage):
    stage.clear()
    stage.pod("on-it", 1)
    node = stage.bound("on-it")[0]
    stage.api.delete(f"{NODES}/{node}")
    try:
        for number in range(3):
            stage.pod(f"rest-{number}", 8)
        expect(node in stage.bound(*(f"rest-{number}" for number in range(3))), False)
        stage.pod("late", 7)
        stage.condition("late", status="False")
    finally:
        stage.cluster.add_nodes(1, first=int(node.split("-")[1]))
    stage.bound("late")


@SUITE.test("of two with a lease one acts, and the other takes over at once when it stops")
def _(stage):
    stage.stop()
    lease = ["--leader-elect", "--namespace=kai-scheduler"]
    try:
        stage.clear()
        stage.start(*lease, name="first")
        stage.cluster.wait_until(lambda: "leading" in stage.log("first"), "the first one leads")
        stage.start(*lease, "--lease-retry-period=1s", name="second")
        stage.cluster.wait_until(lambda: "all objects have been listed" in stage.log("second"), "the second one is ready")
        stage.pod("one", 1)
        stage.bound("one")
        expect("leading" in stage.log("second"), False)
        found = stage.api.get("/apis/coordination.k8s.io/v1/namespaces/kai-scheduler/leases/kai-scheduler")
        expect_in("_", found["spec"]["holderIdentity"])
        expect(stage.stop("first"), 0)
        stage.cluster.wait_until(lambda: "leading" in stage.log("second"), "the second one leads")
        stage.pod("two", 1)
        stage.bound("two")
        expect(stage.stop("second"), 0)
    finally:
        stage.start()


@SUITE.test("a node pool's scheduler sees its own nodes, queues and pods alone")
def _(stage):
    stage.clear()
    names = sorted(one["metadata"]["name"] for one in stage.api.items(NODES))
    label = {"metadata": {"labels": {"kai.scheduler/node-pool": "fast"}}}
    stage.api.patch(f"{NODES}/{names[0]}", label)
    stage.queue("fast")
    stage.queue("fast-parent", parent=None)
    for name in ("fast", "fast-parent"):
        stage.api.patch(f"{QUEUES}/{name}", label)
    stage.api.patch(f"{QUEUES}/fast", {"spec": {"parentQueue": "fast-parent"}})
    try:
        stage.start("--partition-label-value=fast", name="fast")
        stage.pod("in-pool", 8, queue="fast", labels={"kai.scheduler/node-pool": "fast"})
        expect(stage.bound("in-pool"), [names[0]])
        expect_in("at node-pool fast", stage.event("in-pool", "Scheduled")["message"])
        for number in range(4):
            stage.pod(f"rest-{number}", 8)
        stage.cluster.wait_until(
            lambda: sum(bool(node_of(stage.get(f"rest-{number}"))) for number in range(4)) == 3, "three of four")
        expect(json.dumps([node_of(one) for one in stage.api.items(PODS)]).count(names[0]), 1)
        # A pod that its PodGroup alone puts into the pool is labelled with it.
        stage.group("by-group", queue="fast")
        stage.api.patch(f"{GROUPS}/by-group", label)
        stage.pod("grouped", 0, queue="fast", group="by-group")
        expect(stage.bound("grouped"), [names[0]])
        stage.cluster.wait_for(f"{PODS}/grouped",
                               lambda one: one["metadata"]["labels"].get("kai.scheduler/node-pool") == "fast")
        expect(stage.stop("fast"), 0)
    finally:
        stage.api.patch(f"{NODES}/{names[0]}", {"metadata": {"labels": {"kai.scheduler/node-pool": None}}})


@SUITE.test("when too many names are of things long gone, everything is listed anew")
def _(stage):
    stage.restart("--names-max=10", f"--journal={stage.cluster.folder}/journal")
    try:
        stage.clear()
        stage.pod("stays", 8)
        node = stage.bound("stays")[0]
        for turn in range(40):
            for number in range(10):
                stage.pod(f"passing-{turn}-{number}", 0, cpu="10m")
            stage.bound(*(f"passing-{turn}-{number}" for number in range(10)))
            for number in range(10):
                stage.delete(f"passing-{turn}-{number}")
            if "listing all objects again" in stage.log():
                break
        expect_in("listing all objects again", stage.log())
        for number in range(3):
            stage.pod(f"whole-{number}", 8)
        expect(node in stage.bound("whole-0", "whole-1", "whole-2"), False)
    finally:
        stage.restart()


@SUITE.test("whatever comes and goes, and however it is killed, no node holds more than it has")
def _(stage):
    stage.clear()
    chance = random.Random(7)
    made = iter(range(10_000))
    end = time.monotonic() + 12
    kills = 3
    while time.monotonic() < end:
        for _ in range(chance.randrange(1, 12)):
            stage.pod(f"churn-{next(made)}", chance.choice((0, 1, 2, 4, 8)), cpu=chance.choice(("1", "20", "60")))
        pods = stage.api.items(PODS)
        expect_room(stage, pods)
        for one in chance.sample(pods, len(pods) // 2):
            stage.delete(one["metadata"]["name"])
        if kills and time.monotonic() > end - 3 * kills:
            kills -= 1
            stage.cluster.stop("scheduler", by=signal.SIGKILL)
            stage.start()
    expect_room(stage, stage.api.items(PODS))


def expect_room(stage, pods):
    """GPUs and cores that pods on each node ask for."""
    for node in stage.api.items(NODES):
        mine = [one["spec"]["containers"][0]["resources"] for one in pods if node_of(one) == node["metadata"]["name"]]
        gpus = sum(int(one.get("limits", {}).get("nvidia.com/gpu", 0)) for one in mine)
        cores = sum(int(one["requests"]["cpu"]) for one in mine)
        expect(gpus <= 8 and cores <= 128, True, f"{node['metadata']['name']}: {gpus} GPUs, {cores} cores")
