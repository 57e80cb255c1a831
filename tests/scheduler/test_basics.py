"""The scheduler: single pods."""

import time

from stage import NODES, PODS, REQUESTS, node_of, pod
from suite import Suite, expect, expect_in

SUITE = Suite()


@SUITE.test("a pod without GPUs and a pod with one are bound, and told so")
def _(stage):
    stage.clear()
    stage.pod("cpu", 0)
    stage.pod("gpu", 1)
    for name, node in zip(("cpu", "gpu"), stage.bound("cpu", "gpu")):
        expect(stage.event(name, "Scheduled")["message"],
               f"Successfully assigned pod default/{name} to node {node} at node-pool default")
    expect(stage.event("gpu", "Scheduled")["source"]["component"], "kai-scheduler")
    expect(stage.get("gpu")["metadata"]["annotations"]["received-resource-type"], "Regular")


@SUITE.test("a pod is bound within a moment of its creation")
def _(stage):
    stage.clear()
    taken = []
    for number in range(5):
        start = time.monotonic()
        stage.pod(f"one-{number}", 0)
        while not node_of(stage.get(f"one-{number}")):
            time.sleep(0.002)
        taken.append(time.monotonic() - start)
    expect(min(taken) < 0.5, True, f"seconds {taken}")


@SUITE.test("a pod that no node can take says so in its condition and in an event")
def _(stage):
    stage.clear()
    stage.pod("large", 9)
    text = stage.condition("large", status="False", reason="Unschedulable")["message"]
    expect_in("Max GPU resources available in a single node in the default node-pool is topped at 8", text)
    expect(stage.event("large", "Unschedulable")["message"], text)


@SUITE.test("a pod whose queue is not there waits for it")
def _(stage):
    stage.clear()
    stage.pod("early", 1, queue="later")
    expect_in("Queue 'later' does not exist", stage.condition("early", reason="Unschedulable")["message"])
    stage.queue("later")
    stage.bound("early")


@SUITE.test("pods of other schedulers take room")
def _(stage):
    stage.clear()
    names = [one["metadata"]["name"] for one in stage.api.items(NODES)]
    for number, name in enumerate(names[:-1]):
        stage.api.create(PODS, pod(f"other-{number}", 8, schedulerName="other", nodeName=name))
    stage.pod("mine", 8)
    expect(stage.bound("mine"), [names[-1]])


@SUITE.test("what was bound before a restart is neither bound again nor given away")
def _(stage):
    stage.clear()
    for number in range(3):
        stage.pod(f"old-{number}", 8)
    before = stage.bound("old-0", "old-1", "old-2")
    stage.restart()
    stage.pod("new", 8)
    after = stage.bound("new")
    expect(len(set(before + after)), 4)
    expect([node_of(stage.get(f"old-{number}")) for number in range(3)], before)


@SUITE.test("a part of a GPU is asked for by a BindRequest")
def _(stage):
    stage.clear()
    stage.pod("half", 0, annotations={"gpu-fraction": "0.5"})
    stage.pod("other-half", 0, annotations={"gpu-fraction": "0.5"})
    first = stage.cluster.wait_for(f"{REQUESTS}/half")
    second = stage.cluster.wait_for(f"{REQUESTS}/other-half")
    spec = first["spec"]
    expect({key: spec[key] for key in ("podName", "receivedResourceType", "receivedGPU")},
           {"podName": "half", "receivedResourceType": "Fraction", "receivedGPU": {"count": 1, "portion": "0.50"}})
    expect(first["metadata"]["labels"], {"selected-node": spec["selectedNode"]})
    owner = first["metadata"]["ownerReferences"][0]
    expect((owner["kind"], owner["name"], owner["uid"]), ("Pod", "half", stage.get("half")["metadata"]["uid"]))
    expect(second["spec"]["selectedGPUGroups"], spec["selectedGPUGroups"], "the GPU they share")
    expect(second["spec"]["selectedNode"], spec["selectedNode"])


@SUITE.test("with bindRequests always, every bind is left to the binder, and comes after the PodGroup")
def _(stage):
    stage.restart("--bind-requests=always")
    try:
        stage.clear()
        stage.pod("asked", 2)
        stage.gang("others", 1)
        stage.cluster.wait_for(f"{REQUESTS}/others-0")
        expect([one["metadata"]["name"] for one in stage.api.items(REQUESTS)], ["others-0"])
        stage.group("late")
        stage.api.patch(f"{PODS}/asked", {"metadata": {"annotations": {"pod-group-name": "late"}}})
        request = stage.cluster.wait_for(f"{REQUESTS}/asked")
        expect(request["spec"]["receivedGPU"], {"count": 2, "portion": "1.00"})
        expect(request["spec"]["receivedResourceType"], "Regular")
        expect(stage.waits("asked"), True)
    finally:
        stage.restart()


@SUITE.test("a BindRequest that failed is deleted, and the pod decided on again")
def _(stage):
    stage.clear()
    stage.pod("unlucky", 0, annotations={"gpu-fraction": "0.5"})
    first = stage.cluster.wait_for(f"{REQUESTS}/unlucky")
    stage.api.patch(f"{REQUESTS}/unlucky/status", {"status": {"phase": "Failed", "reason": "no luck"}})
    stage.cluster.wait_for(f"{REQUESTS}/unlucky",
                           lambda found: found["metadata"]["uid"] != first["metadata"]["uid"])


@SUITE.test("a BindRequest whose node is gone is deleted, and the pod goes elsewhere")
def _(stage):
    stage.clear()
    stage.pod("moved", 0, annotations={"gpu-fraction": "0.5"})
    first = stage.cluster.wait_for(f"{REQUESTS}/moved")
    node = first["spec"]["selectedNode"]
    saved = stage.api.get(f"{NODES}/{node}")
    stage.api.delete(f"{NODES}/{node}")
    try:
        second = stage.cluster.wait_for(f"{REQUESTS}/moved", lambda found: found["spec"]["selectedNode"] != node)
        expect(second["metadata"]["uid"] != first["metadata"]["uid"], True)
    finally:
        stage.cluster.add_nodes(1, first=int(node.split("-")[1]))
        expect(saved["metadata"]["name"], node)


@SUITE.test("room that a deleted pod leaves is given to the next at once")
def _(stage):
    stage.clear()
    for number in range(4):
        stage.pod(f"full-{number}", 8)
    stage.bound(*(f"full-{number}" for number in range(4)))
    stage.pod("next", 8)
    stage.condition("next", status="False")
    stage.api.delete(f"{PODS}/full-2")
    stage.bound("next")


@SUITE.test("devices that a pod claims are chosen, and named in its BindRequest")
def _(stage):
    stage.clear()
    node = sorted(one["metadata"]["name"] for one in stage.api.items(NODES))[2]
    dra = "/apis/resource.k8s.io/v1"
    claims = f"{dra}/namespaces/default/resourceclaims"
    stage.api.create(f"{dra}/deviceclasses", {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
                                              "metadata": {"name": "gpu.example.com"}, "spec": {
                                                  "config": [{"opaque": {"driver": "gpu.example.com",
                                                                         "parameters": {"kind": "OfClass"}}}]}})
    stage.api.create(f"{dra}/resourceslices", {
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "slice"},
        "spec": {"driver": "gpu.example.com", "nodeName": node,
                 "pool": {"name": "pool", "generation": 1, "resourceSliceCount": 1},
                 "devices": [{"name": f"gpu-{number}", "attributes": {"model": {"string": model}}}
                             for number, model in enumerate(["A100", "H200", "A100", "H200"])]}})
    stage.api.create(claims, {
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": "two", "labels": {"kai.scheduler/queue": "q"}},
        "spec": {"devices": {
            "requests": [{"name": "pair", "firstAvailable": [
                {"name": "many", "deviceClassName": "gpu.example.com", "count": 9},
                {"name": "two", "deviceClassName": "gpu.example.com", "count": 2, "selectors": [
                    {"cel": {"expression": "device.attributes['gpu.example.com'].model == 'H200'"}}]}]}],
            "config": [{"requests": ["pair"], "opaque": {"driver": "gpu.example.com",
                                                         "parameters": {"kind": "OfClaim"}}}]}}})
    try:
        stage.pod("claimer", 0, resourceClaims=[{"name": "mine", "resourceClaimName": "two"}])
        spec = stage.cluster.wait_for(f"{REQUESTS}/claimer")["spec"]
        expect(spec["selectedNode"], node)
        allocation = spec["resourceClaimAllocations"][0]
        expect(allocation["name"], "mine")
        results = allocation["allocation"]["devices"]["results"]
        expect([one["device"] for one in results], ["gpu-1", "gpu-3"])
        expect({(one["request"], one["driver"], one["pool"]) for one in results},
               {("pair/two", "gpu.example.com", "pool")})
        config = allocation["allocation"]["devices"]["config"]
        expect([(one["source"], one["requests"], one["opaque"]["parameters"]["kind"]) for one in config],
               [("FromClass", ["pair/two"], "OfClass"), ("FromClaim", ["pair"], "OfClaim")])
        fields = allocation["allocation"]["nodeSelector"]["nodeSelectorTerms"][0]["matchFields"]
        expect(fields, [{"key": "metadata.name", "operator": "In", "values": [node]}])
    finally:
        stage.api.delete(f"{PODS}/claimer")
        for path in (f"{claims}/two", f"{dra}/resourceslices/slice", f"{dra}/deviceclasses/gpu.example.com"):
            stage.api.delete(path)


@SUITE.test("claims share a device, each with a part of its capacity")
def _(stage):
    stage.clear()
    node = sorted(one["metadata"]["name"] for one in stage.api.items(NODES))[1]
    dra = "/apis/resource.k8s.io/v1"
    claims = f"{dra}/namespaces/default/resourceclaims"
    stage.api.create(f"{dra}/deviceclasses", {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
                                              "metadata": {"name": "share.example.com"}, "spec": {}})
    policy = {"default": "10Gi", "validRange": {"min": "10Gi", "step": "10Gi"}}
    stage.api.create(f"{dra}/resourceslices", {
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "shared"},
        "spec": {"driver": "share.example.com", "nodeName": node,
                 "pool": {"name": "pool", "generation": 1, "resourceSliceCount": 1},
                 "devices": [{"name": "gpu-0", "allowMultipleAllocations": True,
                              "capacity": {"memory": {"value": "80Gi", "requestPolicy": policy}}}]}})
    names = ["small", "large", "rest"]
    try:
        shares = {}
        for name, wanted in zip(names, ["15Gi", "60Gi", None], strict=True):
            ask = {"deviceClassName": "share.example.com"} | ({"capacity": {"requests": {"memory": wanted}}} if wanted else {})
            stage.api.create(claims, {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name},
                                      "spec": {"devices": {"requests": [{"name": "r", "exactly": ask}]}}})
            stage.pod(name, 0, resourceClaims=[{"name": "mine", "resourceClaimName": name}])
            if name == "rest":
                stage.condition(name, status="False")
                break
            spec = stage.cluster.wait_for(f"{REQUESTS}/{name}")["spec"]
            expect(spec["selectedNode"], node)
            shares[name] = spec["resourceClaimAllocations"][0]["allocation"]["devices"]["results"][0]
        expect({name: (one["device"], one["consumedCapacity"]) for name, one in shares.items()},
               {"small": ("gpu-0", {"memory": "20Gi"}), "large": ("gpu-0", {"memory": "60Gi"})})
        expect(len({one["shareID"] for one in shares.values()}), 2)
    finally:
        for name in names:
            stage.api.delete(f"{PODS}/{name}")
            stage.api.delete(f"{claims}/{name}")
        for path in (f"{dra}/resourceslices/shared", f"{dra}/deviceclasses/share.example.com"):
            stage.api.delete(path)


@SUITE.test("a volume that waits for its pod is left to the binder, one that is bound is not")
def _(stage):
    stage.clear()
    volumes = "/api/v1/namespaces/default/persistentvolumeclaims"
    classes = "/apis/storage.k8s.io/v1/storageclasses"
    stage.api.create(classes, {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "late"},
                               "provisioner": "example.com/none", "volumeBindingMode": "WaitForFirstConsumer"})
    stage.api.create(volumes, {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
                               "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "late",
                                        "resources": {"requests": {"storage": "1Gi"}}}})
    try:
        stage.pod("keeper", 0, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])
        stage.cluster.wait_for(f"{REQUESTS}/keeper")
        stage.pod("missing", 0, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "nothing"}}])
        expect_in("VolumeBinding", stage.condition("missing", status="False")["message"])
    finally:
        stage.api.delete(f"{PODS}/keeper")
        stage.api.delete(f"{volumes}/data")
        stage.api.delete(f"{classes}/late")
