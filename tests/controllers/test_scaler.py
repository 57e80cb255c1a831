"""Scaling pods for pods that wait for a part of a GPU."""

import suite
import world
from suite import expect

SUITE = suite.Suite()
SCALING = "/api/v1/namespaces/kai-scale-adjust/pods"


def wait_for_pods(cluster, wanted):
    """{(namespace, name) of the waiting pod: GPUs}"""
    def found():
        return {(one["metadata"]["annotations"]["shared-gpu-pod-namespace"],
                 one["metadata"]["annotations"]["shared-gpu-pod-name"]):
                one["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"]
                for one in cluster.api.items(SCALING)}
    try:
        cluster.wait_until(lambda: found() == wanted, "scaling pods", 30)
    except TimeoutError:
        expect(found(), wanted, "scaling pods")


def unschedulable(cluster, name, **notes):
    body = world.pod(name, None, [{"cpu": "500m", "memory": "1Gi"}, {"cpu": "1"}],
                     {key.replace("_", "-"): value for key, value in notes.items()})
    body["spec"].update(tolerations=[{"key": "gpu", "operator": "Exists"}], nodeSelector={"pool": "a"})
    cluster.api.create(world.PODS, body)
    world.condition(cluster, name, "False", "Unschedulable")


@SUITE.test("one scaling pod stands for pods that fit on its GPUs, and has their constraints")
def test_create(cluster):
    world.clear(cluster)
    world.start(cluster, "scaler", "--scaling-pod-image=example/muster", "--scaling-pod-service-account=kai-scale-adjust")
    cluster.api.create(world.PODS, world.pod("whole", None, [{"nvidia.com/gpu": "1"}]))
    world.condition(cluster, "whole", "False", "Unschedulable")
    cluster.api.create(world.PODS, world.pod("young", None, annotations={"gpu-fraction": "0.5"}))
    unschedulable(cluster, "a-half", gpu_fraction="0.5")
    wait_for_pods(cluster, {("default", "a-half"): "1"})
    unschedulable(cluster, "b-half", gpu_fraction="0.5")
    unschedulable(cluster, "c-some", gpu_memory="1000")
    wait_for_pods(cluster, {("default", "a-half"): "1", ("default", "b-half"): "1"})
    pod = cluster.api.items(SCALING)[0]
    expect(pod["spec"]["containers"][0]["resources"]["requests"],
           {"cpu": "1500m", "memory": "1Gi", "nvidia.com/gpu": "1"}, "requests")
    expect((pod["spec"]["nodeSelector"], pod["spec"]["schedulerName"], pod["metadata"]["labels"]["app"]),
           ({"pool": "a"}, "default-scheduler", "scaling-pod"), "the scaling pod")
    expect("gpu" in [one.get("key") for one in pod["spec"]["tolerations"]], True, "its toleration")
    cluster.wait_until(lambda: all(
        [(one["type"], one["status"], one["reason"]) for one in pod["status"].get("conditions", [])] ==
        [("PodScheduled", "False", "Unschedulable")] for pod in cluster.api.items(SCALING)), "they are marked")


@SUITE.test("a pod that needs several GPUs of one node has a scaling pod with as many")
def test_devices(cluster):
    unschedulable(cluster, "d-" + "x" * 80, gpu_fraction="0.1", gpu_fraction_num_devices="4")
    wait_for_pods(cluster, {("default", "a-half"): "1", ("default", "b-half"): "1", ("default", "d-" + "x" * 80): "4"})


@SUITE.test("scaling pods go when their pods have a place or are gone, and others wait for the cool-down")
def test_delete(cluster):
    world.remove(cluster, f"{world.PODS}/a-half")
    world.condition(cluster, "b-half", "True", "")
    # Deleted with a grace period that no kubelet ends: what counts is that deletion was asked for.
    cluster.wait_until(lambda: {one["metadata"]["annotations"]["shared-gpu-pod-name"][:1]
                                for one in cluster.api.items(SCALING)
                                if "deletionTimestamp" not in one["metadata"]} == {"d"}, "two are deleted")
    unschedulable(cluster, "e-more", gpu_fraction="1", gpu_fraction_num_devices="8")
    cluster.stop("scaler")
    expect([one["metadata"]["name"] for one in cluster.api.items(SCALING)
            if "e-more" in one["metadata"]["name"]], [], "scaling pods that were made in the cool-down")
    world.start(cluster, "scaler")
    cluster.wait_until(lambda: any("e-more" in one["metadata"]["name"] for one in cluster.api.items(SCALING)),
                       "a new scaler makes it")
    for one in cluster.api.items(SCALING):
        world.remove(cluster, f"{SCALING}/{one['metadata']['name']}")
    world.clear(cluster)
