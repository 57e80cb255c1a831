"""Muster installed by its chart, in the split form: what a newcomer tries first, and what an operator relies on."""

import json

import stand as stands
from suite import Suite, expect

SUITE = Suite()
PODS = "/api/v1/namespaces/default/pods"
SYSTEM = f"/api/v1/namespaces/{stands.NAMESPACE}/pods"
COMPONENTS = ["admission", "binder", "job-starter", "kai-operator", "kai-scheduler-default", "pod-grouper",
              "podgroup-controller", "queue-controller"]
EXPORTER = "numa-placement-exporter"


def pod(name, gpus=0, annotations=None):
    """As in KAI's quickstart."""
    limits = {"limits": {"nvidia.com/gpu": str(gpus)}} if gpus else {"requests": {"cpu": "100m"}}
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"kai.scheduler/queue": "default-queue"}, "annotations": annotations or {}},
        "spec": {"schedulerName": "kai-scheduler", "terminationGracePeriodSeconds": 0,
                 "containers": [{"name": "main", "image": "ubuntu", "args": ["sleep", "infinity"], "resources": limits}]},
    }


def is_running(found):
    return found["status"].get("phase") == "Running"


def placement(found):
    """The zones of a pod, as its node's exporter wrote them."""
    return json.loads(found["metadata"].get("annotations", {}).get("kai.scheduler/numa-placement-observed", "[]"))


def run(cluster, *found):
    """Creates pods and waits until they run; returns their nodes."""
    for one in found:
        cluster.api.create(PODS, one)
    return [cluster.wait_for(f"{PODS}/{one['metadata']['name']}", is_running)["spec"]["nodeName"] for one in found]


def clear(cluster):
    cluster.api.call("DELETE", f"{PODS}?gracePeriodSeconds=0")
    cluster.wait_until(lambda: not cluster.api.items(PODS), "no pods")


def components(cluster):
    """The pods of Muster by their label app, those alone that are to stay."""
    found = {}
    for one in cluster.api.items(SYSTEM):
        if "deletionTimestamp" not in one["metadata"]:
            found.setdefault(one["metadata"]["labels"].get("app"), []).append(one)
    return found


def is_ready(found):
    return any(one["type"] == "Ready" and one["status"] == "True" for one in found["status"].get("conditions", []))


@SUITE.test("the chart brings up one ready pod of each service, and Config and shard say so")
def _(stand):
    stand.install()
    expect(sorted(components(stand.cluster)), COMPONENTS, "services")
    for name, found in components(stand.cluster).items():
        expect([is_ready(one) for one in found], [True], name)


@SUITE.test("the pods of KAI's quickstart run, in the queue that the chart made")
def _(stand):
    run(stand.cluster, pod("cpu-only-pod"), pod("gpu-pod", gpus=1))
    stand.cluster.wait_for(f"{PODS}/gpu-pod", lambda one: one["metadata"]["annotations"].get("pod-group-name"))
    clear(stand.cluster)


@SUITE.test("half a GPU in an annotation is all that a pod needs to share one")
def _(stand):
    cluster = stand.cluster
    nodes = run(cluster, pod("left", annotations={"gpu-fraction": "0.5"}), pod("right", annotations={"gpu-fraction": "0.5"}))
    expect(nodes[0], nodes[1], "node")
    groups = {cluster.api.get(f"{PODS}/{name}")["metadata"]["labels"]["runai-gpu-group"] for name in ("left", "right")}
    expect(len(groups), 1, "GPUs")
    variables = {one["name"] for one in cluster.api.get(f"{PODS}/left")["spec"]["containers"][0]["env"]}
    expect("NVIDIA_VISIBLE_DEVICES" in variables, True, "NVIDIA_VISIBLE_DEVICES in the environment")
    clear(cluster)
    cluster.wait_until(lambda: not cluster.api.items("/api/v1/namespaces/kai-resource-reservation/pods"),
                       "the GPU is given back")


@SUITE.test("pull secrets that come and go leave the accounts of the chart in place")
def _(stand):
    cluster = stand.cluster
    account = "/api/v1/namespaces/kai-resource-reservation/serviceaccounts/kai-resource-reservation"
    uid = cluster.api.get(account)["metadata"]["uid"]
    cluster.api.patch(stands.CONFIG, {"spec": {"global": {"additionalImagePullSecrets": ["registry-key"]}}})
    cluster.wait_for(account, lambda one: {"name": "registry-key"} in one.get("imagePullSecrets", []))
    cluster.wait_until(stand.is_up, "Muster is available with the secret")
    cluster.api.patch(stands.CONFIG, {"spec": {"global": {"additionalImagePullSecrets": None}}})
    cluster.wait_until(stand.is_up, "Muster is available without it", stands.READY_SECONDS)
    expect(cluster.api.get(account)["metadata"]["uid"], uid, "account")


@SUITE.test("a component whose pod is deleted comes back and goes on")
def _(stand):
    cluster = stand.cluster
    for name in ("binder", "kai-scheduler-default"):
        old = components(cluster)[name][0]["metadata"]["name"]
        cluster.api.delete(f"{SYSTEM}/{old}")
        cluster.wait_gone(f"{SYSTEM}/{old}")
        cluster.wait_until(lambda name=name: [is_ready(one) for one in components(cluster).get(name, [])] == [True],
                           f"{name} is ready again")
    run(cluster, pod("later", annotations={"gpu-fraction": "0.5"}))
    clear(cluster)


@SUITE.test("a change of the shard takes effect: pods are spread, then packed again")
def _(stand):
    cluster = stand.cluster
    for strategy, count in (("spread", 4), ("binpack", 1)):
        old = components(cluster)["kai-scheduler-default"][0]["metadata"]["uid"]
        cluster.api.patch(stands.SHARD, {"spec": {"placementStrategy": {"gpu": strategy, "cpu": strategy}}})

        def is_new(old=old):
            found = components(cluster).get("kai-scheduler-default", [])
            return len(found) == 1 and found[0]["metadata"]["uid"] != old and is_ready(found[0])

        cluster.wait_until(is_new, f"a scheduler with {strategy}")
        cluster.wait_until(stand.is_up, "the shard is available")
        nodes = []
        for number in range(4):
            nodes += run(cluster, pod(f"pod-{number}", gpus=1))
        expect(len(set(nodes)), count, f"nodes with {strategy}")
        clear(cluster)


@SUITE.test("with the plugin numa, pods say which zones the kubelet gave them, and the next pods go elsewhere")
def _(stand):
    cluster = stand.cluster
    clear(cluster)
    cluster.api.patch(stands.SHARD, {"spec": {"plugins": {"numa": {"enabled": True}}}})
    cluster.wait_until(lambda: [is_ready(one) for one in components(cluster).get(EXPORTER, [])] == [True] * 4,
                       "an exporter on each node with zones", stands.READY_SECONDS)
    cluster.wait_until(stand.is_up, "the scheduler has the plugin", stands.READY_SECONDS)
    amounts = {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "3"}
    wide = [pod(name) for name in ("first", "second")]
    for one in wide:
        one["spec"]["containers"][0]["resources"] = {"limits": amounts, "requests": amounts}
        one["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "worker1"}
        run(cluster, one)
        cluster.wait_for(f"{PODS}/{one['metadata']['name']}", placement)
    found = [placement(cluster.api.get(f"{PODS}/{one['metadata']['name']}")) for one in wide]
    expect(sorted(zone["zone"] for zones in found for zone in zones), ["node-0", "node-1"], "zones")
    expect(found[0][0]["amount"], {"cpu": "1", "memory": "1073741824", "nvidia.com/gpu": "3"}, "the first pod")
    cluster.api.patch(stands.SHARD, {"spec": {"plugins": None}})
    cluster.wait_until(lambda: EXPORTER not in components(cluster), "the exporters are gone", stands.READY_SECONDS)
    clear(cluster)
