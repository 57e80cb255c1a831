"""Volumes that a CSI driver makes: where pods go for their sake, and what they are told while they cannot."""

import contextlib

from place import PODS, Stories
from provisioner import CLAIMS, DRIVER, HOST, STORAGE, Provisioner
from stage import NODES, node_of
from suite import expect, expect_in

SUITE = Stories()
CLASSES = f"{STORAGE}/storageclasses"


def hosts(here):
    return sorted(one["metadata"]["name"] for one in here.api.items(NODES))


@contextlib.contextmanager
def disks(here, rooms=None, **of_class):
    """A storage class, and its driver with so much room by node."""
    here.api.create(CLASSES, {"metadata": {"name": "disks"}, "provisioner": DRIVER,
                              "volumeBindingMode": "WaitForFirstConsumer", **of_class})
    try:
        with Provisioner(here.cluster, rooms) as driver:
            try:
                yield driver
            finally:
                here.api.call("DELETE", f"{PODS}?gracePeriodSeconds=0")
    finally:
        here.api.delete(f"{CLASSES}/disks")


def claim_spec(size="8Gi", mode="ReadWriteOnce"):
    return {"accessModes": [mode], "storageClassName": "disks", "resources": {"requests": {"storage": size}}}


def claim(here, name, **how):
    here.api.create(CLAIMS, {"metadata": {"name": name}, "spec": claim_spec(**how)})


def writer(here, name, *claims, **spec):
    return here.pod(name, 0, volumes=[{"name": one, "persistentVolumeClaim": {"claimName": one}} for one in claims],
                    **spec)


def on(node):
    return {"nodeSelector": {HOST: node}}


def is_told(here, name, text):
    here.cluster.wait_until(lambda: any(text in one["message"] for one in here.events(name, "Unschedulable")),
                            f"an event of {name}: {text}", 30)


@SUITE.test("pods go where the driver of their storage class has room, and are told how much is lacking")
def _(here):
    first, second, *others = hosts(here)
    with disks(here, {first: 10, second: 10, **dict.fromkeys(others, 0)}) as driver:
        nodes = []
        for name in ("a", "b"):
            claim(here, f"of-{name}")
            writer(here, name, f"of-{name}")
            nodes += here.bound(name, seconds=60)
        expect(sorted(nodes), [first, second])
        expect(driver.rooms, {first: 2, second: 2, **dict.fromkeys(others, 0)})
        claim(here, "of-c")
        writer(here, "c", "of-c")
        is_told(here, "c", "claim of-c: 8Gi needed, storage class disks has room for at most 2Gi")
        driver.rooms[others[0]] = 8
        here.api.patch(f"{STORAGE}/namespaces/default/csistoragecapacities/{others[0]}", {"capacity": "8Gi"})
        expect(here.bound("c", seconds=60), [others[0]])


@SUITE.test("volumes that run out between the choice and the making are made elsewhere")
def _(here):
    first, second, *others = hosts(here)
    with disks(here, {first: 10, second: 10, **dict.fromkeys(others, 0)}) as driver:
        driver.delay = 0.5
        for name in ("a", "b"):
            claim(here, f"of-{name}")
        # Both are placed before the driver has made anything.
        for name in ("a", "b"):
            writer(here, name, f"of-{name}")
        expect(sorted(here.bound("a", "b", seconds=60)), [first, second])


@SUITE.test("a storage class makes volumes for its topologies alone, all claims of a pod on one node")
def _(here):
    node = hosts(here)[2]
    with disks(here, allowedTopologies=[{"matchLabelExpressions": [{"key": HOST, "values": [node]}]}]) as driver:
        for name in ("one", "two"):
            claim(here, name)
        pod = writer(here, "both", "one", "two")
        expect(here.bound("both", seconds=60), [node])
        for name in ("one", "two"):
            bound = here.api.get(f"{CLAIMS}/{name}")
            expect(bound["metadata"]["annotations"]["volume.kubernetes.io/selected-node"], node)
        claim(here, "three")
        writer(here, "elsewhere", "three", **on(hosts(here)[0]))
        is_told(here, "elsewhere", "claim three: storage class disks does not provision volumes there")
        expect((driver.refused, pod["metadata"]["name"]), ([], "both"))


@SUITE.test("a pod waits while its node takes no more volumes, and starts when one is detached")
def _(here):
    node = hosts(here)[1]
    nodes = f"{STORAGE}/csinodes"
    here.api.create(nodes, {"metadata": {"name": node}, "spec": {"drivers": [
        {"name": DRIVER, "nodeID": node, "topologyKeys": [HOST], "allocatable": {"count": 1}}]}})
    try:
        with disks(here):
            for name in ("one", "two"):
                claim(here, name)
            writer(here, "first", "one", **on(node))
            here.bound("first", seconds=60)
            writer(here, "second", "two", **on(node))
            is_told(here, "second", f"node(s) exceed max volume count: driver {DRIVER}: 1 more needed, 1 of 1 attached")
            expect(node_of(here.get("second")), None)
            here.delete("first")
            here.bound("second", seconds=60)
    finally:
        here.api.delete(f"{nodes}/{node}")


@SUITE.test("a claim for one pod alone is used by one pod alone")
def _(here):
    with disks(here):
        claim(here, "own", mode="ReadWriteOncePod")
        writer(here, "first", "own")
        here.bound("first", seconds=60)
        writer(here, "second", "own")
        is_told(here, "second", "ReadWriteOncePod access mode: claim own is used by pod default/first")
        here.delete("first")
        here.bound("second", seconds=60)


@SUITE.test("a volume that lives as long as its pod is made for it, beside a claim that stays")
def _(here):
    node = hosts(here)[3]
    with disks(here) as driver:
        driver.delay = 0.3
        claim(here, "lasting")
        here.pod("scratch", 0, volumes=[
            {"name": "lasting", "persistentVolumeClaim": {"claimName": "lasting"}},
            {"name": "own", "ephemeral": {"volumeClaimTemplate": {"spec": claim_spec("1Gi")}}}], **on(node))
        expect(here.bound("scratch", seconds=60), [node])
        expect({one["metadata"]["name"] for one in here.api.items(CLAIMS)}, {"lasting", "scratch-own"})


@SUITE.test("a volume that cannot be made on one node is made on another one, though its driver tells of no lack of room")
def _(here):
    with disks(here) as driver:
        claim(here, "movable")
        driver.failing.update(hosts(here)[:3])
        writer(here, "moves", "movable")
        expect(here.bound("moves", seconds=60), [hosts(here)[3]])
        refused = [node for name, node in driver.refused if name == "movable"]
        expect(len(refused), len(set(refused)))


@SUITE.test("a pod whose volume cannot be made says so, and starts when it can")
def _(here):
    node = hosts(here)[0]
    with disks(here) as driver:
        driver.failing.add(node)
        claim(here, "unlucky")
        writer(here, "held", "unlucky", **on(node))
        here.condition("held", "PodBound", status="False", reason="BindingError", seconds=30)
        expect_in(("unlucky", node), driver.refused)
        driver.failing.clear()
        here.bound("held", seconds=60)
