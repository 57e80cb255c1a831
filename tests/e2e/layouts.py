"""The nodes that KAI Scheduler's own end-to-end suite expects, by the name of its layout: `default` has four nodes of eight GPUs
and one without; `dra-enabled` two more whose GPUs are devices; `numa-full` spreads the four over the policies of the
Topology Manager. `eight-nodes` is ours, for specs that none of these has the nodes for. NodeResourceTopology objects describe the
nodes with GPUs: two zones each."""

POOL_KEY = "run.ai/simulated-gpu-node-pool"
GPUS, GPU_MEMORY_MIB = 8, 11441
ZONES, ZONE_CPU, ZONE_MEMORY = 2, "1", "2Gi"
AMOUNTS = {"cpu": "8", "memory": "32Gi", "ephemeral-storage": "100Gi", "pods": "110"}
DRIVER = "gpu.nvidia.com"

POLICIES = {"default": "restricted", "numa-single": "single-numa-node", "numa-besteffort": "best-effort"}
POOLS = {
    "default": ["default"] * 4,
    "dra-enabled": ["default"] * 4,
    "numa-full": ["numa-single", "numa-single", "default", "numa-besteffort"],
    "eight-nodes": ["default"] * 8,
}
# By this name, a spec looks for nodes with GPUs.
MORE_AMOUNTS = {"eight-nodes": {"gpu": str(GPUS)}}
DEVICE_NODES = {"dra-enabled": 2}

DEVICE_CLASS = {
    "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": DRIVER},
    "spec": {"selectors": [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]},
}

# What the GPU operator makes; pods with a share of a GPU name it.
RUNTIME_CLASS = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "nvidia"}, "handler": "nvidia"}

NRT = "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies"
NRT_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "noderesourcetopologies.topology.node.k8s.io",
                 "annotations": {"api-approved.kubernetes.io": "https://github.com/kubernetes/enhancements/pull/1870"}},
    "spec": {
        "group": "topology.node.k8s.io", "scope": "Cluster",
        "names": {"kind": "NodeResourceTopology", "plural": "noderesourcetopologies", "singular": "noderesourcetopology",
                  "listKind": "NodeResourceTopologyList"},
        "versions": [{"name": "v1alpha2", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}],
    },
}


def node(name, labels, amounts, taints=None):
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", **labels}},
        "spec": {"taints": taints} if taints else {},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def nodes(layout):
    """The objects of a layout's nodes, the control plane's first."""
    yield node("control-plane", {"node-role.kubernetes.io/control-plane": ""}, AMOUNTS,
               [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}])
    number = 0
    for pool in POOLS[layout]:
        number += 1
        yield node(f"worker{number}", {
            POOL_KEY: pool, "nvidia.com/gpu.deploy.device-plugin": "true", "nvidia.com/gpu.deploy.dcgm-exporter": "true",
            "feature.node.kubernetes.io/memory-numa": "true",
            "nvidia.com/gpu.memory": str(GPU_MEMORY_MIB), "nvidia.com/gpu.count": str(GPUS),
        }, {**AMOUNTS, "nvidia.com/gpu": str(GPUS), **MORE_AMOUNTS.get(layout, {})})
    for _ in range(DEVICE_NODES.get(layout, 0)):
        number += 1
        yield node(f"worker{number}", {POOL_KEY: "default", "nvidia.com/gpu.deploy.dra-plugin-gpu": "true"}, AMOUNTS)
    yield node(f"worker{number + 1}", {}, AMOUNTS)


def topologies(layout):
    """A NodeResourceTopology for each node that has GPUs of the device plugin."""
    for one in nodes(layout):
        labels = one["metadata"]["labels"]
        if "nvidia.com/gpu.deploy.device-plugin" in labels:
            yield topology(one["metadata"]["name"], POLICIES[labels[POOL_KEY]])


def topology(name, policy):
    amounts = {"nvidia.com/gpu": str(GPUS // ZONES), "cpu": ZONE_CPU, "memory": ZONE_MEMORY}
    return {
        "apiVersion": "topology.node.k8s.io/v1alpha2", "kind": "NodeResourceTopology", "metadata": {"name": name},
        "attributes": [{"name": "topologyManagerPolicy", "value": policy},
                       {"name": "topologyManagerScope", "value": "container"}],
        "zones": [{
            "name": f"node-{zone}", "type": "Node",
            "costs": [{"name": f"node-{other}", "value": 10 if other == zone else 21} for other in range(ZONES)],
            "resources": [{"name": key, "capacity": value, "allocatable": value, "available": value}
                          for key, value in amounts.items()],
        } for zone in range(ZONES)],
    }


def device_slices(layout):
    """The ResourceSlices and the DeviceClass of the nodes whose GPUs are devices."""
    for one in nodes(layout):
        name = one["metadata"]["name"]
        if "nvidia.com/gpu.deploy.dra-plugin-gpu" in one["metadata"]["labels"]:
            yield {
                "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": f"{name}-{DRIVER}"},
                "spec": {"driver": DRIVER, "nodeName": name,
                         "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
                         "devices": [{"name": f"gpu-{number}", "attributes": {
                             "type": {"string": "gpu"}, "uuid": {"string": f"GPU-{name}-{number}"},
                         }, "capacity": {"memory": {"value": f"{GPU_MEMORY_MIB}Mi"}}} for number in range(GPUS)]},
            }
