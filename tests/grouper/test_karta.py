"""Kinds that nobody has rules for, grouped by what a Karta says of them."""

import world
from suite import Suite, expect, expect_in
from workloads import Maker, tree_of

SUITE = Suite()
KIND = {"group": "example.com", "version": "v1", "kind": "Widget"}
ROLE = '.metadata.labels["example.com/role"]'
KARTAS = "/apis/run.ai/v1alpha1/kartas"


def component(name, owner="widget", role=None, replicas=None, **more):
    found = {"name": name, "ownerRef": owner, **more}
    if replicas:
        found["scaleDefinition"] = {"replicasPath": replicas}
    if role:
        found["podSelector"] = {"componentTypeSelector": {"keyPath": ROLE, "value": role}}
        found["specDefinition"] = {"podTemplateSpecPath": f".spec.{name}.template"}
    return found


def karta(children, gang, kind=KIND, root=None):
    return {"structureDefinition": {
        "rootComponent": {"name": "widget", "kind": kind, "statusDefinition": {"statusMappings": {}}, **(root or {})},
        "childComponents": children}, "optimizationInstructions": {"gangScheduling": gang}}


COORDINATED = karta([component("coordinator", role="coordinator", replicas=".spec.coordinator.replicas"),
                     component("worker", role="worker", replicas=".spec.worker.replicas // 1")],
                    {"podGroup": {"name": "widget", "subGroups": [{"componentName": "coordinator"},
                                                                  {"componentName": "worker"}]}})


class Kartas:
    """Kartas that are there for the length of a test."""

    def __init__(self, maker, **specs):
        self.maker, self.specs = maker, specs

    def __enter__(self):
        for name, spec in self.specs.items():
            kind = spec["structureDefinition"]["rootComponent"]["kind"]
            self.maker.make("run.ai/v1alpha1", "Karta", name, spec, cluster_wide=True, labels={
                f"run.ai/karta-{key}": value for key, value in kind.items()})

    def __exit__(self, *_):
        for name in self.specs:
            self.maker.cluster.api.delete(f"{KARTAS}/{name}")


def widget(maker, name, spec=None, **more):
    return maker.make("example.com/v1", "Widget", name, spec or {}, **more)


def role(name):
    return {"example.com/role": name}


def complaint(cluster, pod, text):
    """An event on the pod that says so."""
    def events():
        return [event["message"] for event in cluster.api.items("/api/v1/namespaces/default/events")
                if event["reason"] == "PodGrouperWarning" and event["involvedObject"]["name"] == pod]

    cluster.wait_until(lambda: any(text in message for message in events()), f"an event on {pod} with '{text}'")


@SUITE.test("a kind without rules is grouped by default, unless a Karta says what it is made of")
def by_components(cluster):
    maker = Maker(cluster)
    maker.pod("k0", widget(maker, "k0", {"worker": {"replicas": 3}}), role("worker"))
    expect(maker.grouped("k0")[1]["spec"]["minMember"], 1)
    with Kartas(maker, coordinated=COORDINATED):
        owner = widget(maker, "k1", {"coordinator": {"replicas": 1}, "worker": {"replicas": 3}},
                       labels={"kai.scheduler/queue": "team-a"})
        maker.pod("k1-c", owner, role("coordinator"))
        maker.pod("k1-w", owner, role("worker"))
        maker.pod("k1-x", owner)
        pod, group = maker.grouped("k1-w")
        expect(group["metadata"]["name"], f"pg-{owner['metadata']['uid']}-widget")
        expect(tree_of(group), "coordinator:1 worker:3")
        expect((group["spec"]["minSubGroup"], group["spec"]["queue"]), (2, "team-a"))
        expect("minMember" in group["spec"], False)
        expect(pod["metadata"]["labels"]["kai.scheduler/subgroup-name"], "worker")
        pod, other = maker.grouped("k1-c")
        expect(other["metadata"]["uid"], group["metadata"]["uid"])
        expect(pod["metadata"]["labels"]["kai.scheduler/subgroup-name"], "coordinator")
        pod, _ = maker.grouped("k1-x")
        expect("kai.scheduler/subgroup-name" in pod["metadata"].get("labels", {}), False)


@SUITE.test("components repeat what is below them, and carry a topology")
def nested(cluster):
    maker = Maker(cluster)
    level = {"topologyName": "t", "preferredTopologyLevel": "", "requiredTopologyLevel": "rack"}
    spec = karta([component("replica", replicas=".spec.replicas"),
                  component("leader", "replica", "leader", replicas="1"),
                  component("follower", "replica", "follower", replicas=".spec.size - 1")],
                 {"podGroup": {"name": "all", "topology": {**level, "requiredTopologyLevel": "zone"},
                               "subGroups": [{"componentName": "replica", "topology": level}]}})
    with Kartas(maker, nested=spec):
        maker.pod("nest1", widget(maker, "nest1", {"replicas": 2, "size": 4}), role("follower"))
        pod, group = maker.grouped("nest1")
        expect(tree_of(group), "replica:8")
        expect(pod["metadata"]["labels"]["kai.scheduler/subgroup-name"], "replica")
        expect(group["spec"]["topologyConstraint"], {"topology": "t", "requiredTopologyLevel": "zone"})
        expect(group["spec"]["subGroups"][0]["topologyConstraint"], {"topology": "t", "requiredTopologyLevel": "rack"})
    spec["optimizationInstructions"]["gangScheduling"]["podGroup"] = {"name": "all"}
    with Kartas(maker, whole=spec):
        maker.pod("nest2", widget(maker, "nest2", {"replicas": 3, "size": 2}), role("leader"))
        group = maker.grouped("nest2")[1]
        expect((group["spec"]["minMember"], group["spec"]["subGroups"]), (6, []))


@SUITE.test("the older form of a Karta groups by keys and filters, also of single instances")
def by_members(cluster):
    maker = Maker(cluster)
    instances = component("service", role=None, instanceIdPath=".spec.services | keys[]", podSelector={
        "componentTypeSelector": {"keyPath": ROLE}, "componentInstanceSelector": {"idPath": ROLE}},
        specDefinition={"podTemplateSpecPath": ".spec.services[].template"},
        scaleDefinition={"replicasPath": ".spec.services[].replicas", "minReplicasPath": ".spec.services[].min"})
    wants = '(.spec.containers[0].resources.limits["nvidia.com/gpu"] // "0" | tonumber) > 0'
    spec = karta([instances], {"podGroups": [
        {"name": "gpu", "members": [{"componentName": "service", "groupByKeyPaths": [ROLE], "filters": [wants]}]},
        {"name": "rest", "members": [{"componentName": "widget"}]}]})
    with Kartas(maker, services=spec):
        owner = widget(maker, "m1", {"services": {"back": {"replicas": 5, "min": 2}, "front": {"replicas": 3}}})
        uid = owner["metadata"]["uid"]
        gpus = {"limits": {"nvidia.com/gpu": "1"}}
        for name in ("back", "front"):
            maker.pod(f"m1-{name}", owner, role(name), containers=[{"name": "c", "image": "i", "resources": gpus}])
        maker.pod("m1-plain", owner, role("back"))
        group = maker.grouped("m1-back")[1]
        expect((group["metadata"]["name"], group["spec"]["minMember"]), (f"pg-{uid}-back", 2))
        group = maker.grouped("m1-front")[1]
        expect((group["metadata"]["name"], group["spec"]["minMember"]), (f"pg-{uid}-front", 3))
        group = maker.grouped("m1-plain")[1]
        expect((group["metadata"]["name"], group["spec"]["minMember"]), (f"pg-{uid}", 5))
        maker.pod("m1-odd", owner, role("Odd"), containers=[{"name": "c", "image": "i", "resources": gpus}])
        complaint(cluster, "m1-odd", "has no instance 'Odd'")


@SUITE.test("a Karta that makes no sense, is for another kind or is not alone is passed over")
def passed_over(cluster):
    maker = Maker(cluster)

    def is_default(name, why=None):
        maker.pod(name, widget(maker, name, {"worker": {"replicas": 3}}), role("worker"))
        group = maker.grouped(name)[1]
        expect((group["metadata"]["name"].startswith(f"pg-{name}-"), group["spec"]["minMember"]), (True, 1), name)
        if why:
            expect_in(why, cluster.processes.log_of("grouper", 20000))

    gang = COORDINATED["optimizationInstructions"]["gangScheduling"]
    children = COORDINATED["structureDefinition"]["childComponents"]
    with Kartas(maker, syntax=karta([*children, component("c", replicas=".spec[")], gang)):
        is_default("o1", "Karta syntax is not used: '.spec['")
    with Kartas(maker, writes=karta([*children, component("c", replicas="del(.spec)")], gang)):
        is_default("o2", "Karta writes is not used: 'del(.spec)': del is not allowed")
    with Kartas(maker, loop=karta([component("a", "b"), component("b", "a")], gang)):
        is_default("o3", "its ownerRefs form a cycle")
    with Kartas(maker, idle=karta(children, {})):
        is_default("o4")
    with Kartas(maker, other=karta(children, gang, {**KIND, "version": "v2"})):
        is_default("o5")
    with Kartas(maker, one=COORDINATED, two=COORDINATED):
        is_default("o6", "keep one of them")
    # One of two that makes no sense leaves the other.
    with Kartas(maker, one=COORDINATED, two=karta([*children, component("c", replicas=".spec[")], gang)):
        maker.pod("o7", widget(maker, "o7", {"coordinator": {"replicas": 1}, "worker": {"replicas": 3}}))
        expect(tree_of(maker.grouped("o7")[1]), "coordinator:1 worker:3")


@SUITE.test("what a Karta cannot answer for a workload is told on the pod")
def complaints(cluster):
    maker = Maker(cluster)
    with Kartas(maker, coordinated=COORDINATED):
        maker.pod("c1", widget(maker, "c1", {"worker": {"replicas": 3}}))
        complaint(cluster, "c1", "component coordinator has no pods: give it a scaleDefinition")
        maker.pod("c2", widget(maker, "c2", {"coordinator": {"replicas": "many"}}))
        complaint(cluster, "c2", "'.spec.coordinator.replicas' returns a value that is not a whole number")
        maker.pod("c3", widget(maker, "c3", {"coordinator": 3}))
        complaint(cluster, "c3", "'.spec.coordinator.replicas' fails on the workload")


@SUITE.test("an expression without end, or one that takes all memory, harms nothing else")
def bounded(cluster):
    maker = Maker(cluster)
    for name, expression in (("endless", "[.spec | while(true; .)] | length"),
                             ("greedy", '[limit(60; "xx" | while(true; . + .))] | length'),
                             ("deep", "def f: [f]; f | length")):
        gang = {"podGroup": {"name": "g"}}
        with Kartas(maker, **{name: karta([component("c", replicas=expression)], gang)}):
            maker.pod(f"b-{name}", widget(maker, f"b-{name}"))
            maker.pod(f"b-{name}-alone")
            maker.grouped(f"b-{name}-alone")
            complaint(cluster, f"b-{name}", "took too much time or memory")
    # The environment and files of the grouper are none of a Karta's business.
    maker.pod("b-plain")
    maker.grouped("b-plain")
    spec = karta([component("c", replicas='if env == {} then 2 else 3 end')], {"podGroup": {"name": "g"}})
    with Kartas(maker, nosy=spec):
        maker.pod("b-nosy", widget(maker, "b-nosy"))
        expect(maker.grouped("b-nosy")[1]["spec"]["minMember"], 2)


@SUITE.test("pods of one workload that come together are asked about together")
def together(cluster):
    maker = Maker(cluster)
    with Kartas(maker, coordinated=COORDINATED):
        owner = widget(maker, "t", {"coordinator": {"replicas": 1}, "worker": {"replicas": 30}})
        for number in range(30):
            maker.pod(f"t-{number}", owner, role("worker"))
        for number in range(30):
            expect(maker.grouped(f"t-{number}", 60)[0]["metadata"]["labels"]["kai.scheduler/subgroup-name"], "worker")


@SUITE.test("without the fallback a Karta is not looked at")
def switched_off(cluster):
    maker = Maker(cluster)
    cluster.stop("grouper")
    try:
        world.start(cluster, "--generic-karta-fallback=false")
        with Kartas(maker, coordinated=COORDINATED):
            maker.pod("off", widget(maker, "off", {"coordinator": {"replicas": 1}, "worker": {"replicas": 3}}))
            expect(maker.grouped("off")[1]["spec"]["minMember"], 1)
    finally:
        cluster.stop("grouper")
        world.start(cluster)
