"""Requests that can be carried out."""

import json
import time
import urllib.request

import bed
import proxy
import world
from gpu_operator import gpu_of
from suite import Suite, expect, expect_in
from world import CLAIMS, MAPS, PODS, REQUESTS, fraction_pod, pod

SUITE = Suite()
NODE = "node-00000"


@SUITE.test("the binder starts, and a pod without GPUs is bound")
def _(here):
    here.start()
    here.bind(pod("cpu"), NODE, portion="0.00", count=0)
    bound = here.wait_bound("cpu", NODE)
    expect(bound["metadata"]["annotations"]["received-resource-type"], "Regular")
    found = world.condition(bound, "PodBound")
    expect((found["reason"], found["message"]), ("Bound", f"Pod bound successfully to node {NODE}"))
    expect("reason" in here.wait_phase("cpu", "Succeeded")["status"], False)
    here.cluster.wait_until(lambda: here.events("cpu", "Bound"), "the event")
    event = here.events("cpu", "Bound")[0]
    expect((event["type"], event["message"], event["source"]["component"]),
           ("Normal", f"Pod bound successfully to node {NODE}", "binder"))
    here.clear()


@SUITE.test("the metrics of a controller count the requests")
def _(here):
    port, = bed.free_ports(1)
    here.stop()
    here.start(f"--metrics-bind-address=127.0.0.1:{port}")
    here.bind(pod("counted"), NODE, portion="0.00", count=0)
    here.wait_phase("counted", "Succeeded")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        text = answer.read().decode()
    queue = 'name="bindrequest",controller="bindrequest"'
    for line in (f"workqueue_adds_total{{{queue}}} 1", f"workqueue_queue_duration_seconds_count{{{queue}}} 1",
                 f"workqueue_work_duration_seconds_count{{{queue}}} 1", f"workqueue_depth{{{queue}}} 0",
                 'controller_runtime_reconcile_total{controller="bindrequest",result="success"} 1',
                 'controller_runtime_active_workers{controller="bindrequest"} 0'):
        expect_in(line + "\n", text)
    here.stop()
    here.start()
    here.clear()


@SUITE.test("a pod with whole GPUs is bound, with its predicted zones")
def _(here):
    zones = [{"zone": "node-0", "amount": {"cpu": "2", "nvidia.com/gpu": 2}}]
    here.bind(pod("whole"), NODE, count=2, predictedNUMAZones=zones)
    bound = here.wait_bound("whole", NODE)
    text = bound["metadata"]["annotations"]["kai.scheduler/numa-placement-predicted"]
    expect(json.loads(text), zones)
    expect(here.reservations(), [])
    here.clear()


@SUITE.test("two pods share a GPU that one reservation pod keeps")
def _(here):
    for name in ("half-a", "half-b"):
        here.bind(fraction_pod(name), NODE, "Fraction", portion="0.50", groups=["group-1"])
    for name in ("half-a", "half-b"):
        bound = here.wait_bound(name, NODE)
        expect(bound["metadata"]["labels"], {"runai-gpu-group": "group-1"})
        expect(bound["metadata"]["annotations"]["received-resource-type"], "Fraction")
        direct = here.api.get(f"{MAPS}/{name}-shared-0-evar")
        expect(direct["data"], {"NVIDIA_VISIBLE_DEVICES": gpu_of("group-1")})
        expect(direct["metadata"]["ownerReferences"][0]["uid"], bound["metadata"]["uid"])
        expect(here.api.get(f"{MAPS}/{name}-shared-0")["data"], {"GPU_PORTION": "0.50", "RUNAI_NUM_OF_GPUS": "0.50"})
    keeper, = here.reservations()
    spec = keeper["spec"]
    expect(keeper["metadata"]["labels"], {"app": "kai-resource-reservation", "runai-gpu-group": "group-1"})
    expect(keeper["metadata"]["name"], "gpu-reservation-" + world.digest(f"{NODE}/group-1"))
    expect((spec["nodeName"], spec["containers"][0]["resources"]["limits"]), (NODE, {"nvidia.com/gpu": "1"}))

    here.api.delete(f"{PODS}/half-a?gracePeriodSeconds=0")
    here.cluster.wait_gone(f"{REQUESTS}/half-a")
    expect(len(here.reservations()), 1)
    here.api.delete(f"{PODS}/half-b?gracePeriodSeconds=0")
    here.cluster.wait_until(lambda: not here.reservations(), "the GPU is given back")
    here.clear()


@SUITE.test("the GPU is given back when the last pod on it has ended")
def _(here):
    manifest = fraction_pod("short", **{"test/finish-after": "500ms"})
    here.bind(manifest, NODE, "Fraction", portion="0.50", groups=["group-short"])
    here.wait_bound("short", NODE)
    here.cluster.wait_until(lambda: not here.reservations(), "the GPU is given back")
    here.clear()


@SUITE.test("a pod gets parts of several GPUs")
def _(here):
    groups = ["multi-1", "multi-2", "multi-3"]
    manifest = fraction_pod("multi", **{"gpu-fraction-num-devices": "3"})
    manifest["spec"]["containers"][0]["env"] = [{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {
        "configMapKeyRef": {"name": "multi-shared-0", "key": "NVIDIA_VISIBLE_DEVICES"}}}]
    here.bind(manifest, NODE, "Fraction", portion="0.50", count=3, groups=groups)
    bound = here.wait_bound("multi", NODE)
    expect(bound["metadata"]["labels"], {f"runai-gpu-group/{group}": group for group in groups})
    data = here.api.get(f"{MAPS}/multi-shared-0")["data"]
    expect(data["NVIDIA_VISIBLE_DEVICES"], ",".join(map(gpu_of, groups)))
    expect(here.api.get(f"{MAPS}/multi-shared-0-evar").get("data"), None)
    expect(len(here.reservations()), 3)
    here.clear()


@SUITE.test("a pod that asks for GPU memory is bound like a fraction")
def _(here):
    manifest = pod("memory", {"gpu-memory": "20000", "runai/shared-gpu-configmap": "memory-shared"})
    here.bind(manifest, NODE, "Fraction", portion="0.25", groups=["group-memory"])
    here.wait_bound("memory", NODE)
    expect(here.api.get(f"{MAPS}/memory-shared-0")["data"]["GPU_PORTION"], "0.25")
    here.clear()


@SUITE.test("ConfigMaps that are there are taken over or completed")
def _(here):
    here.api.create(MAPS, {"metadata": {"name": "taken-shared-0"}, "data": {"old": "1"}})
    here.api.create(MAPS, {"metadata": {"name": "taken-shared-0-evar"}, "data": {"RUNAI-VISIBLE-DEVICES": "x"}})
    here.bind(fraction_pod("taken"), NODE, "Fraction", portion="0.50", groups=["group-taken"])
    here.wait_bound("taken", NODE)
    expect(here.api.get(f"{MAPS}/taken-shared-0")["data"], {"GPU_PORTION": "0.50", "RUNAI_NUM_OF_GPUS": "0.50"})
    expect(here.api.get(f"{MAPS}/taken-shared-0-evar")["data"], {"NVIDIA_VISIBLE_DEVICES": gpu_of("group-taken")})
    here.clear()


def make_class(here, name, provisioner):
    here.api.create("/apis/storage.k8s.io/v1/storageclasses", {
        "metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"})


def make_claim(here, name, storage_class, size="10Gi"):
    here.api.create("/api/v1/namespaces/default/persistentvolumeclaims", {
        "metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": storage_class,
                                             "resources": {"requests": {"storage": size}}}})


def make_volume(here, name, storage_class, size, node=None):
    affinity = {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]}}} if node else {}
    here.api.create("/api/v1/persistentvolumes", {"metadata": {"name": name}, "spec": {
        "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": storage_class,
        "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": "/data"}, **affinity}})
    here.cluster.wait_for(f"/api/v1/persistentvolumes/{name}", lambda one: one["status"].get("phase") == "Available")


def volume_pod(name, claim):
    return pod(name, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": claim}}])


@SUITE.test("a claim gets the smallest volume that its node can reach")
def _(here):
    make_class(here, "static", "kubernetes.io/no-provisioner")
    make_volume(here, "elsewhere", "static", "10Gi", "node-00001")
    make_volume(here, "large", "static", "40Gi", NODE)
    make_volume(here, "right", "static", "20Gi", NODE)
    make_claim(here, "static-claim", "static")
    here.bind(volume_pod("static-pod", "static-claim"), NODE)
    here.wait_bound("static-pod", NODE, 30)
    volume = here.api.get("/api/v1/persistentvolumes/right")
    expect((volume["spec"]["claimRef"]["name"], volume["status"]["phase"]), ("static-claim", "Bound"))
    here.clear()


@SUITE.test("a provisioner is told the node, and its volume is waited for")
def _(here):
    make_class(here, "dynamic", "example.com/made-up")
    make_claim(here, "dynamic-claim", "dynamic")
    path = "/api/v1/namespaces/default/persistentvolumeclaims/dynamic-claim"
    here.bind(volume_pod("dynamic-pod", "dynamic-claim"), NODE)
    told = here.cluster.wait_for(path, lambda one: one["metadata"].get("annotations", {}).get(
        "volume.kubernetes.io/selected-node") == NODE)
    expect(here.api.get(f"{PODS}/dynamic-pod")["spec"].get("nodeName"), None)
    here.api.create("/api/v1/persistentvolumes", {"metadata": {"name": "made"}, "spec": {
        "capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "dynamic",
        "hostPath": {"path": "/data"}, "persistentVolumeReclaimPolicy": "Retain",
        "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default",
                     "name": "dynamic-claim", "uid": told["metadata"]["uid"]}}})
    here.wait_bound("dynamic-pod", NODE, 30)
    here.clear()


def claim_spec():
    return {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}}


def allocation(device="gpu-0"):
    return {"devices": {"results": [
        {"request": "gpu", "driver": "gpu.example.com", "pool": NODE, "device": device}]}}


@SUITE.test("a resource claim gets its devices, and loses them when the pod is gone")
def _(here):
    here.api.create(CLAIMS, {"metadata": {"name": "devices"}, "spec": claim_spec()})
    manifest = pod("claimer", resourceClaims=[{"name": "mine", "resourceClaimName": "devices"}])
    made = here.bind(manifest, NODE, resourceClaimAllocations=[{"name": "mine", "allocation": allocation()}])
    here.wait_bound("claimer", NODE)
    status = here.api.get(f"{CLAIMS}/devices")["status"]
    expect(status["reservedFor"], [{"resource": "pods", "name": "claimer", "uid": made["metadata"]["uid"]}])
    expect(status["allocation"]["devices"]["results"][0]["device"], "gpu-0")
    here.clear()
    here.cluster.wait_for(f"{CLAIMS}/devices", lambda one: not one.get("status", {}).get("allocation"))
    here.api.delete(f"{CLAIMS}/devices")
    here.cluster.wait_gone(f"{CLAIMS}/devices")


@SUITE.test("two claims have shares of one device, with tolerations that end")
def _(here):
    tolerations = [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}]
    for number in range(2):
        share = {"shareID": f"6ba7b810-9dad-41d1-80b4-00c04fd430c{number}", "consumedCapacity": {"memory": "20Gi"},
                 "tolerations": tolerations}
        wanted = {"devices": {"results": [allocation()["devices"]["results"][0] | share]}}
        here.api.create(CLAIMS, {"metadata": {"name": f"share-{number}"}, "spec": claim_spec()})
        here.bind(pod(f"sharer-{number}", resourceClaims=[{"name": "mine", "resourceClaimName": f"share-{number}"}]), NODE,
                  resourceClaimAllocations=[{"name": "mine", "allocation": wanted}])
        here.wait_bound(f"sharer-{number}", NODE)
        written = here.api.get(f"{CLAIMS}/share-{number}")["status"]["allocation"]["devices"]["results"][0]
        expect({key: written[key] for key in share}, share)
    here.clear()
    for number in range(2):
        here.api.delete(f"{CLAIMS}/share-{number}")
        here.cluster.wait_gone(f"{CLAIMS}/share-{number}")


@SUITE.test("extended resources that are devices get a claim of their own")
def _(here):
    plan = {"allocation": allocation("gpu-1"), "deviceRequests": claim_spec()["devices"]["requests"],
            "containerMappings": [{"containerName": "main", "resourceName": "example.com/gpu", "requestName": "gpu"}]}
    amounts = {"example.com/gpu": "1"}
    manifest = pod("extended", containers=[
        {"name": "main", "image": "none", "resources": {"requests": amounts, "limits": amounts}}])
    made = here.bind(manifest, NODE, extendedResourceClaimAllocation=plan)
    here.wait_bound("extended", NODE)
    claim, = here.api.items(CLAIMS)
    meta = claim["metadata"]
    expect_in("extended-extended-resources-", meta["name"])
    expect(meta["annotations"], {"resource.kubernetes.io/extended-resource-claim": "true"})
    expect(meta["ownerReferences"][0]["uid"], made["metadata"]["uid"])
    expect(claim["status"]["reservedFor"][0]["uid"], made["metadata"]["uid"])
    here.clear()
    here.cluster.wait_until(lambda: not here.api.items(CLAIMS), "the claim goes with the pod")


@SUITE.test("devices are claimed on servers that have only an older version of their API")
def _(here):
    here.stop()
    try:
        with proxy.Proxy(here.cluster) as between:
            for version in ("v1beta2", "v1beta1"):
                between.hides = lambda path: "/apis/resource.k8s.io/" in path and version not in path  # noqa: B023
                here.start(name="older", kubeconfig=between.kubeconfig())
                here.api.create(CLAIMS, {"metadata": {"name": "devices"}, "spec": claim_spec()})
                plan = {"allocation": allocation("gpu-1"), "deviceRequests": claim_spec()["devices"]["requests"],
                        "containerMappings": [{"containerName": "main", "resourceName": "example.com/gpu",
                                               "requestName": "gpu"}]}
                amounts = {"example.com/gpu": "1"}
                manifest = pod("claimer", resourceClaims=[{"name": "mine", "resourceClaimName": "devices"}], containers=[
                    {"name": "main", "image": "none", "resources": {"requests": amounts, "limits": amounts}}])
                made = here.bind(manifest, NODE,
                                 resourceClaimAllocations=[{"name": "mine", "allocation": allocation()}],
                                 extendedResourceClaimAllocation=plan)
                here.wait_bound("claimer", NODE)
                claims = here.api.items(CLAIMS)
                expect(len(claims), 2)
                for claim in claims:
                    expect(claim["status"]["reservedFor"][0]["uid"], made["metadata"]["uid"], version)
                    expect(claim["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"], "gpu.example.com")
                    expect(claim["status"]["allocation"]["devices"]["results"][0]["driver"], "gpu.example.com")
                here.clear()
                # What fails on the way is taken back there too.
                here.bind(pod("failing", resourceClaims=[{"name": "mine", "resourceClaimName": "devices"},
                                                         {"name": "none", "resourceClaimName": "no-such"}]), NODE,
                          resourceClaimAllocations=[{"name": "mine", "allocation": allocation()}])
                here.wait_phase("failing", "Failed")
                here.cluster.wait_for(f"{CLAIMS}/devices", lambda one: not one.get("status", {}).get("allocation"))
                here.clear()
                here.api.delete(f"{CLAIMS}/devices")
                here.cluster.wait_until(lambda: not here.api.items(CLAIMS), "the claims are gone")
                here.stop("older")
    finally:
        here.start()
        here.bind(pod("awake"), NODE)
        here.wait_bound("awake", NODE)
        here.clear()


@SUITE.test("binds that the watch shows late bring the label of the GPU group all the same: it is not written again")
def _(here):
    patches, short = [], [f"short-{number}" for number in range(3)]

    def look(method, path):
        place = path.split("?")[0]
        if method == "POST" and place.endswith(("/pods/late/binding", "/pods/short-0/binding")):
            between.stalls = lambda watched: "/pods?" in watched and "watch=" in watched
        if method == "PATCH" and place.rpartition("/")[0] == PODS:
            patches.append(place)
        return False

    def bind(*names):
        for name in names:
            here.bind(fraction_pod(name, "0.25"), NODE, "Fraction", portion="0.25", groups=["group-late"])
        for name in names:
            here.cluster.wait_for(f"{PODS}/{name}", lambda one: one["spec"].get("nodeName"))

    here.stop()
    with proxy.Proxy(here.cluster) as between:
        between.refuses = look
        here.start(kubeconfig=between.kubeconfig())
        bind("late")
        # Time enough for a binder that does not wait.
        time.sleep(1)
        expect(between.stalls is not None, True, "the watch stands still")
        between.stalls = None
        here.wait_phase("late", "Succeeded", 60)
        # Pods that are gone by then say nothing of the server.
        bind(*short)
        for name in short:
            here.api.call("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")
        between.stalls = None
        here.cluster.wait_until(lambda: all(one.get("status", {}).get("phase") == "Succeeded"
                                            for one in here.api.items(REQUESTS)), "their requests are done, or gone as well")
        bind("last")
        here.wait_phase("last", "Succeeded", 60)
        for name in ("late", "last"):
            expect(here.api.get(f"{PODS}/{name}")["metadata"]["labels"]["runai-gpu-group"], "group-late")
        expect(patches, [], "patches of pods")
        here.clear()
        here.stop()
    here.start()
    here.bind(pod("awake"), NODE)
    here.wait_bound("awake", NODE)
    here.clear()


@SUITE.test("HAMi-core's limit follows from the node and the portion")
def _(here):
    here.stop()
    here.start('--plugins={"hamicore":{"enabled":true},'
               '"gpusharing":{"enabled":true,"priority":100,"arguments":{"cdiEnabled":"true"}}}')
    here.bind(fraction_pod("hami"), NODE, "Fraction", portion="0.50", groups=["group-hami"])
    here.wait_bound("hami", NODE)
    expect(here.api.get(f"{MAPS}/hami-shared-0")["data"]["CUDA_DEVICE_MEMORY_LIMIT"], "40779m")
    expect(here.api.get(f"{MAPS}/hami-shared-0-evar")["data"]["NVIDIA_VISIBLE_DEVICES"],
           f"k8s.device-plugin.nvidia.com/gpu={gpu_of('group-hami')}")
    here.clear()
    here.stop()


@SUITE.test("on a server that takes no labels with a bind, pods on shared GPUs are labelled all the same")
def _(here):
    gate = "--feature-gates=PodTopologyLabelsAdmission=false"
    with bed.Bed(nodes=1, controllers=False, kwok=False, more_flags={"kube-apiserver": [gate]}) as cluster:
        other = world.World(cluster, here.program)
        other.start()
        for number in range(8):
            other.bind(fraction_pod(f"quarter-{number}", "0.25"), NODE, "Fraction", portion="0.25",
                       groups=[f"group-{number // 4}"])
        for number in range(8):
            other.wait_phase(f"quarter-{number}", "Succeeded", 60)
        expect([one["metadata"]["labels"]["runai-gpu-group"] for one in other.api.items(PODS)],
               ["group-0"] * 4 + ["group-1"] * 4)
        expect(len(other.reservations()), 2, "GPUs that are kept")
        other.stop()
        other.operator.is_over = True
