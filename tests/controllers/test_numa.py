"""Placements of pods in NUMA zones: from the socket of a kubelet to annotations."""

import json

import pod_resources
import suite
import world
from suite import expect, expect_in

SUITE = suite.Suite()
KEY = "kai.scheduler/numa-placement-observed"
NODE = "node-00000"
ZONES = {0: "0-1,4", 1: "2-3,5"}


def folder(cluster):
    return cluster.folder / "numa"


def write_sysfs(cluster):
    for zone, cpus in ZONES.items():
        path = folder(cluster) / "sys" / "devices" / "system" / "node" / f"node{zone}"
        path.mkdir(parents=True)
        (path / "cpulist").write_text(f"{cpus}\n")


def gpus(count, zone):
    return {"resource": "nvidia.com/gpu", "ids": [f"GPU-{zone}-{number}" for number in range(count)], "zones": [zone]}


def holds(name, **container):
    return {"namespace": "default", "name": name, "containers": [container]}


def say(cluster, what):
    pod_resources.write(folder(cluster) / "pods.json", what)


def serve(cluster):
    cluster.spawn("pod-resources", *pod_resources.command(folder(cluster) / "kubelet.sock", folder(cluster) / "pods.json"))
    cluster.wait_until((folder(cluster) / "kubelet.sock").exists, "the socket is served")


def start(cluster, *more):
    world.start(cluster, "numa-exporter", f"--node-name={NODE}", f"--podresources-socket={folder(cluster) / 'kubelet.sock'}",
                f"--sysfs-root={folder(cluster) / 'sys'}", "--poll-interval=100ms", *more)


def create(cluster, name):
    cluster.api.create(world.PODS, world.pod(name, None, node=NODE))


def placement(cluster, name):
    text = cluster.api.get(f"{world.PODS}/{name}")["metadata"].get("annotations", {}).get(KEY)
    return text and {one["zone"]: one["amount"] for one in json.loads(text)}


def wait_for(cluster, name, wanted):
    try:
        cluster.wait_until(lambda: placement(cluster, name) == wanted, f"the placement of {name}", 30)
    except TimeoutError:
        expect(placement(cluster, name), wanted, f"the placement of {name}")


def figure(cluster, name):
    return world.series(world.metrics(cluster, "numa-exporter"), f"muster_numa_exporter_{name}")[0][1]


@SUITE.test("the exporter writes on each pod which zones its CPUs, memory and devices are in")
def test_written(cluster):
    world.clear(cluster)
    write_sysfs(cluster)
    for name in ("one-zone", "two-zones", "nowhere"):
        create(cluster, name)
    say(cluster, [
        holds("one-zone", cpus=[2, 5], devices=[gpus(2, 1)], memory=[{"type": "memory", "size": 2 << 30, "zones": [1]}]),
        holds("two-zones", cpus=[0, 2, 3], devices=[gpus(1, 0), gpus(3, 1)]),
        holds("nowhere", cpus=[77], memory=[{"type": "memory", "size": 1000, "zones": [0, 1]}]),
        holds("gone", cpus=[0]),
    ])
    serve(cluster)
    start(cluster)
    wait_for(cluster, "one-zone", {"node-1": {"cpu": "2", "memory": "2147483648", "nvidia.com/gpu": "2"}})
    wait_for(cluster, "two-zones", {"node-0": {"cpu": "1", "nvidia.com/gpu": "1"}, "node-1": {"cpu": "2", "nvidia.com/gpu": "3"}})
    expect(placement(cluster, "nowhere"), None)
    expect((figure(cluster, "pods"), figure(cluster, "kubelet_up")), (3, 1))


@SUITE.test("a placement that has changed is written, one that has not is not")
def test_changed(cluster):
    before = figure(cluster, "written_total")
    say(cluster, [holds("one-zone", cpus=[0]), holds("two-zones", cpus=[0, 2, 3], devices=[gpus(1, 0), gpus(3, 1)])])
    wait_for(cluster, "one-zone", {"node-0": {"cpu": "1"}})
    cluster.wait_until(lambda: figure(cluster, "written_total") > before, "the answer is counted")
    cluster.wait_until(lambda: figure(cluster, "pods") == 2, "pods that the kubelet does not name are forgotten")
    expect(figure(cluster, "written_total") - before, 1)


@SUITE.test("what the API server has is compared: a start writes nothing again, and a lost annotation comes back")
def test_drift(cluster):
    cluster.stop("numa-exporter")
    start(cluster, "--drift-resync-interval=200ms")
    cluster.wait_until(lambda: figure(cluster, "pods") == 2, "the pods are known")
    expect(figure(cluster, "written_total"), 0)
    cluster.api.patch(f"{world.PODS}/one-zone", {"metadata": {"annotations": {KEY: None}}})
    wait_for(cluster, "one-zone", {"node-0": {"cpu": "1"}})
    cluster.api.patch(f"{world.PODS}/one-zone", {"metadata": {"annotations": {KEY: "[]"}}})
    wait_for(cluster, "one-zone", {"node-0": {"cpu": "1"}})


@SUITE.test("a kubelet that refuses, sends nonsense or is gone is asked again")
def test_trouble(cluster):
    for said, reason in (({"status": 12, "message": "not here"}, "gRPC status 12: not here"),
                         ({"bytes": "0a7f"}, "not a list of pods")):
        say(cluster, said)
        cluster.wait_until(lambda: figure(cluster, "kubelet_up") == 0, "the kubelet fails")
        expect_in(reason, cluster.log_of("numa-exporter"))
        say(cluster, [holds("one-zone", cpus=[0])])
        cluster.wait_until(lambda: figure(cluster, "kubelet_up") == 1, "the kubelet answers again")
    cluster.kill("pod-resources")
    cluster.wait_until(lambda: figure(cluster, "kubelet_up") == 0, "the kubelet is gone")
    (folder(cluster) / "kubelet.sock").unlink(missing_ok=True)
    say(cluster, [holds("one-zone", cpus=[3])])
    serve(cluster)
    wait_for(cluster, "one-zone", {"node-1": {"cpu": "1"}})
