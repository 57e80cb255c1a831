"""The scheduler: flags, plugins that have to be asked for, and objects of an unusual size."""

import contextlib
import json

from scheduler_stage import GROUPS, NODES, REQUESTS, node_of
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
