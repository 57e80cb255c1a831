"""The scheduler: flags, plugins that have to be asked for, and objects of an unusual size."""

import contextlib
import json

import proxy
from stage import GROUPS, NODES, REQUESTS, node_of
from suite import Suite, expect, expect_in

SUITE = Suite()

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ZONES = "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
ZONES_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "noderesourcetopologies.topology.node.k8s.io",
                 "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"}},
    "spec": {"group": "topology.node.k8s.io", "scope": "Cluster",
             "names": {"kind": "NodeResourceTopology", "plural": "noderesourcetopologies"},
             "versions": [{"name": "v1alpha2", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                 "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


def node_names(stage):
    return sorted(one["metadata"]["name"] for one in stage.api.items(NODES))


@contextlib.contextmanager
def labelled(stage, labels):
    """While it lasts, nodes have these labels: {node: key}."""
    try:
        for name, key in labels.items():
            stage.api.patch(f"{NODES}/{name}", {"metadata": {"labels": {key: ""}}})
        yield
    finally:
        for name, key in labels.items():
            stage.api.patch(f"{NODES}/{name}", {"metadata": {"labels": {key: None}}})


@SUITE.test("where nodes are restricted to workers, the labels that the flags name decide")
def _(stage):
    stage.clear()
    names = node_names(stage)
    with labelled(stage, {names[0]: "for/cpus", names[1]: "for/gpus", names[2]: "node-role.kubernetes.io/gpu-worker"}):
        stage.restart("--restrict-node-scheduling", "--cpu-worker-node-label-key=for/cpus",
                      "--gpu-worker-node-label-key=for/gpus")
        try:
            stage.pod("cpu", 0)
            stage.pod("gpu", 8)
            expect(stage.bound("cpu", "gpu"), names[:2])
            stage.pod("more", 1)
            stage.condition("more", status="False")
            stage.api.patch(f"{NODES}/{names[3]}", {"metadata": {"labels": {"for/gpus": ""}}})
            expect(stage.bound("more"), [names[3]])
        finally:
            stage.api.patch(f"{NODES}/{names[3]}", {"metadata": {"labels": {"for/gpus": None}}})
            stage.restart()


def zones_of(node):
    def zone(number):
        return {"name": f"node-{number}", "type": "Node", "resources": [
            {"name": name, "capacity": amount, "allocatable": amount, "available": amount}
            for name, amount in (("cpu", "64"), ("nvidia.com/gpu", "4"))]}

    return {"apiVersion": "topology.node.k8s.io/v1alpha2", "kind": "NodeResourceTopology", "metadata": {"name": node},
            "attributes": [{"name": "topologyManagerPolicy", "value": "single-numa-node"}],
            "zones": [zone(0), zone(1)]}


@SUITE.test("NUMA zones that were chosen for a pod are named in its BindRequest")
def _(stage):
    stage.clear()
    config = stage.cluster.folder / "numa.yaml"
    plugins = ["predicates", "proportion", "priority", "elastic", "nodeavailability", "resourcetype", "nodeplacement",
               "gpupack", "numa"]
    config.write_text(json.dumps({"actions": "allocate", "tiers": [{"plugins": [{"name": one} for one in plugins]}]}))
    stage.api.create(CRDS, ZONES_CRD)
    try:
        stage.cluster.wait_for(ZONES)
        for name in node_names(stage):
            stage.api.create(ZONES, zones_of(name))
        stage.restart(f"--scheduler-conf={config}")
        stage.pod("wide", 4, cpu="10500m")
        zones = stage.cluster.wait_for(f"{REQUESTS}/wide")["spec"]["predictedNUMAZones"]
        expect([one["zone"] for one in zones], ["node-0"])
        expect(zones[0]["amount"]["nvidia.com/gpu"], "4")
        stage.pod("broad", 5)
        expect_in("NUMA-align", stage.condition("broad", status="False")["message"])
        stage.pod("next", 3)
        found = stage.cluster.wait_for(f"{REQUESTS}/next")["spec"]
        expect([one["zone"] for one in found["predictedNUMAZones"]], ["node-1"])
    finally:
        stage.api.delete(f"{CRDS}/{ZONES_CRD['metadata']['name']}")
        stage.restart()


def device_claim(version):
    request = {"deviceClassName": "gpu.example.com", "count": 2}
    request = {"name": "pair", **request} if version == "v1beta1" else {"name": "pair", "exactly": request}
    return {"apiVersion": f"resource.k8s.io/{version}", "kind": "ResourceClaim",
            "metadata": {"name": "two", "labels": {"kai.scheduler/queue": "q"}},
            "spec": {"devices": {"requests": [request]}}}


def claim_devices(stage, version):
    """A pod gets devices from a server that has no other version of their API."""
    dra = f"/apis/resource.k8s.io/{version}"
    claims = f"{dra}/namespaces/default/resourceclaims"
    node = node_names(stage)[1]
    devices = [{"name": f"gpu-{number}", **({"basic": {}} if version == "v1beta1" else {})} for number in range(4)]
    stage.api.create(f"{dra}/deviceclasses", {"apiVersion": f"resource.k8s.io/{version}", "kind": "DeviceClass",
                                              "metadata": {"name": "gpu.example.com"}, "spec": {}})
    stage.api.create(f"{dra}/resourceslices", {
        "apiVersion": f"resource.k8s.io/{version}", "kind": "ResourceSlice", "metadata": {"name": "slice"},
        "spec": {"driver": "gpu.example.com", "nodeName": node, "devices": devices,
                 "pool": {"name": "pool", "generation": 1, "resourceSliceCount": 1}}})
    stage.api.create(claims, device_claim(version))
    try:
        stage.pod("claimer", 0, resourceClaims=[{"name": "mine", "resourceClaimName": "two"}])
        spec = stage.cluster.wait_for(f"{REQUESTS}/claimer")["spec"]
        expect(spec["selectedNode"], node)
        results = spec["resourceClaimAllocations"][0]["allocation"]["devices"]["results"]
        expect({one["request"] for one in results}, {"pair"})
        expect(len({one["device"] for one in results}), 2)
    finally:
        stage.delete("claimer")
        for path in (f"{claims}/two", f"{dra}/resourceslices/slice", f"{dra}/deviceclasses/gpu.example.com"):
            stage.api.delete(path)


@SUITE.test("devices are claimed from servers that have only an older version of their API")
def _(stage):
    stage.stop()
    try:
        with proxy.Proxy(stage.cluster) as between:
            for version in ("v1beta2", "v1beta1"):
                stage.clear()
                between.hides = lambda path: "/apis/resource.k8s.io/" in path and version not in path  # noqa: B023
                stage.start(name="older", kubeconfig=between.kubeconfig())
                claim_devices(stage, version)
                expect(stage.stop("older"), 0)
    finally:
        stage.start()


@SUITE.test("objects as large as the API server takes them harm nothing")
def _(stage):
    stage.clear()
    name = node_names(stage)[0]
    big = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "big"}, "data": {"all": "z" * 1_000_000}}
    stage.api.create(CONFIG_MAPS, big)
    images = [{"names": [f"registry/{number}:{'i' * 200}"], "sizeBytes": 1} for number in range(2500)]
    stage.api.patch(f"{NODES}/{name}/status", {"status": {"images": images}})
    stage.api.create(REQUESTS, {"apiVersion": "scheduling.run.ai/v1alpha2", "kind": "BindRequest",
                                "metadata": {"name": "stray"}, "spec": {
                                    "podName": "stray", "selectedNode": name, "receivedResourceType": "Fraction",
                                    "selectedGPUGroups": ["g" * 1000 + str(number) for number in range(1000)]}})
    stage.group("large", 1, subGroups=[{"name": f"{'s' * 50}-{number}", "minMember": 0} for number in range(5000)])
    try:
        stage.pod("mounts", 1, volumes=[{"name": "big", "configMap": {"name": "big"}}])
        stage.bound("mounts")
        stage.restart()
        stage.pod("again", 8)
        stage.bound("again")
        expect(node_of(stage.get("mounts")) is not None, True)
    finally:
        stage.api.delete(f"{CONFIG_MAPS}/big")
        stage.api.delete(f"{GROUPS}/large")
        stage.api.patch(f"{NODES}/{name}/status", {"status": {"images": None}})
