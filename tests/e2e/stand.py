"""Muster as its users run it: installed into a cluster whose nodes are those of a layout, its pods real processes."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "cluster")]

import bed  # noqa: E402
import client  # noqa: E402
import gpu_operator  # noqa: E402
import layouts  # noqa: E402
import parties  # noqa: E402
import zones  # noqa: E402

NAMESPACE = "kai-scheduler"
CHART = ROOT / "deploy" / "chart" / "muster"
CONFIG = "/apis/kai.scheduler/v1/configs/kai-config"
SHARD = "/apis/kai.scheduler/v1/schedulingshards/default"
READY_SECONDS = 180
# The gate is on in the layout with devices alone.
GATES = {"dra-enabled": ["--feature-gates=DRAExtendedResource=true"]}


class Stand:
    """A cluster of one layout; `install()` puts Muster into it."""

    def __init__(self, layout, muster, images=None):
        gates = GATES.get(layout, [])
        self.layout = layout
        self.cluster = bed.Bed(scheduler=True, crds=False, muster=muster, images=images, more_flags={
            "kube-apiserver": gates, "kube-controller-manager": gates, "kube-scheduler": gates})
        self.chart = CHART
        self.operator = self.kubelets = None
        self.has_parties = False

    def __enter__(self):
        self.cluster.__enter__()
        try:
            self.furnish()
        except BaseException:
            self.cluster.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.operator.is_over = self.kubelets.is_over = True
        self.cluster.__exit__()

    def furnish(self):
        api = self.cluster.api
        found = list(layouts.nodes(self.layout))
        for one in found:
            api.create("/api/v1/nodes", one)
        workers = {one["metadata"]["name"] for one in found if not one["spec"].get("taints")}
        self.cluster.wait_until(lambda: workers <= self.cluster.ready_nodes(), "the nodes are ready")
        api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", layouts.NRT_CRD)
        self.cluster.wait_for(layouts.NRT)
        for one in layouts.topologies(self.layout):
            api.create(layouts.NRT, one)
        api.create("/apis/node.k8s.io/v1/runtimeclasses", layouts.RUNTIME_CLASS)
        for one in layouts.device_slices(self.layout):
            api.create("/apis/resource.k8s.io/v1/resourceslices", one)
        if layouts.DEVICE_NODES.get(self.layout):
            api.create("/apis/resource.k8s.io/v1/deviceclasses", layouts.DEVICE_CLASS)
        self.operator = gpu_operator.GpuOperator(self.cluster)
        self.kubelets = zones.Kubelets(self.cluster, self.layout)

    def install(self, *values):
        """By the chart, in the split form with one replica each, as KAI's own suites install KAI. `values` are further
        ones, NAME=VALUE."""
        settings = ["global.registry=muster.test", "image.tag=test", "global.gpuSharing=true", *values]
        self.cluster.command("helm", "install", "kai-scheduler", self.chart, "--namespace", NAMESPACE, "--create-namespace",
                             *(word for one in settings for word in ("--set", one)))
        self.cluster.wait_until(self.is_up, "Muster is available", READY_SECONDS)

    def is_up(self):
        """The Config and the shard say so."""
        return all(self.conditions(path) >= {"Deployed", "Available", "DependenciesFulfilled"} for path in (CONFIG, SHARD))

    def conditions(self, path):
        """The conditions that hold for what the object says now."""
        try:
            found = self.cluster.api.get(path)
        except client.ApiError:
            return set()
        now = found["metadata"]["generation"]
        return {one["type"] for one in found.get("status", {}).get("conditions", [])
                if one["status"] == "True" and one.get("observedGeneration") == now}

    def install_parties(self, kai):
        """Other projects' operators, once."""
        if not self.has_parties:
            parties.install_all(self.cluster, kai)
        self.has_parties = True
