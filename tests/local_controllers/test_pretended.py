"""Pretended nodes and all services in one process: only with --local. The manifests are those of docs/pretended-nodes.md."""

import pathlib
import re

import suite
import world
from suite import expect

SUITE = suite.Suite()
PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "pretended-nodes.md"


def gpu_pod(name, gpus=1, annotations=None, **metadata):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {
        "name": name, "labels": {"kai.scheduler/queue": "default-queue"}, "annotations": annotations or {}, **metadata},
        "spec": {"schedulerName": "kai-scheduler", "restartPolicy": "Never", "containers": [
            {"name": "main", "image": "x", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}]}}


def wait_phase(cluster, name, phase):
    return cluster.wait_for(f"{world.PODS}/{name}", lambda pod: pod.get("status", {}).get("phase") == phase)


@SUITE.test("the manifests of the documentation are placed on pretended nodes and run")
def test_quickstart(cluster):
    manifests = "---\n".join(re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL))
    cluster.wait_for("/apis/scheduling.run.ai/v2/queues/default-queue")
    cluster.kubectl("apply", "--validate=false", "-f", "-", feed=manifests)
    for name in ("cpu-only-pod", "gpu-pod"):
        pod = wait_phase(cluster, name, "Running")
        status = pod["status"]
        expect(pod["spec"]["nodeName"].startswith("fake-"), True, "node")
        expect({one["type"]: one["status"] for one in status["conditions"]}, {
            "PodScheduled": "True", "PodReadyToStartContainers": "True", "Initialized": "True", "ContainersReady": "True",
            "Ready": "True"}, "conditions")
        (container,) = status["containerStatuses"]
        expect((container["name"], container["ready"], container["restartCount"], "running" in container["state"]),
               ("main", True, 0, True), "container")
        expect(all(status.get(key) for key in ("podIP", "podIPs", "hostIP", "hostIPs", "startTime")), True, "addresses")
    cluster.kubectl("delete", "pod", "gpu-pod", "cpu-only-pod", "--timeout=60s")


@SUITE.test("pretended pods end after their time, with their exit code, and those that run survive a restart")
def test_ends(cluster):
    run_time, code = "muster.scheduler/pretend-run-time", "muster.scheduler/pretend-exit-code"
    cluster.api.create(world.PODS, gpu_pod("good", annotations={run_time: "1s"}))
    cluster.api.create(world.PODS, gpu_pod("bad", annotations={run_time: "1s", code: "3"}))
    cluster.api.create(world.PODS, gpu_pod("long", annotations={run_time: "15s"}))
    cluster.api.create(world.PODS, gpu_pod("ever"))
    wait_phase(cluster, "good", "Succeeded")
    failed = wait_phase(cluster, "bad", "Failed")
    expect(failed["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], 3, "exit code")
    before = {name: wait_phase(cluster, name, "Running")["status"]["startTime"] for name in ("long", "ever")}
    world.kill(cluster)
    world.start(cluster)
    ended = wait_phase(cluster, "long", "Succeeded")
    expect(ended["status"]["startTime"], before["long"], "start of the one that ended")
    running = cluster.api.get(f"{world.PODS}/ever")
    expect((running["status"]["phase"], running["status"]["startTime"]), ("Running", before["ever"]), "the other one")
    cluster.kubectl("delete", "pod", "good", "bad", "long", "ever", "--timeout=60s")


@SUITE.test("a pod that fits nowhere waits, and starts when another one goes")
def test_full(cluster):
    for number in range(4):
        cluster.api.create(world.PODS, gpu_pod(f"big-{number}", 8))
    for number in range(4):
        wait_phase(cluster, f"big-{number}", "Running")
    cluster.api.create(world.PODS, gpu_pod("late", 4))
    cluster.wait_for(f"{world.PODS}/late", lambda pod: world.condition(pod, "PodScheduled") == ("False", "Unschedulable"))
    cluster.kubectl("delete", "pod", "big-0", "--timeout=60s")
    wait_phase(cluster, "late", "Running")
    cluster.kubectl("delete", "pod", "late", "big-1", "big-2", "big-3", "--timeout=60s")


@SUITE.test("a node that is lost on request is not ready until it is back")
def test_lost(cluster):
    path = "/api/v1/nodes/fake-00002"
    cluster.kubectl("annotate", "node", "fake-00002", "muster.scheduler/pretend-lost=true")
    cluster.wait_for(path, lambda node: world.condition(node, "Ready") == ("Unknown", "NodeStatusUnknown") and
                     len(node["spec"].get("taints", [])) == 2)
    cluster.kubectl("annotate", "node", "fake-00002", "muster.scheduler/pretend-lost-")
    cluster.wait_for(path, lambda node: world.condition(node, "Ready") == ("True", "KubeletReady") and
                     not node["spec"].get("taints"))
