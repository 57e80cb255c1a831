"""Muster as its users run it: installed into a cluster whose nodes are those of a layout, its pods real processes."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "cluster")]

import bed  # noqa: E402
import gpu_operator  # noqa: E402
import layouts  # noqa: E402
import stage  # noqa: E402

NAMESPACE = "kai-scheduler"
# The gate is on in the layout with devices alone.
GATES = {"dra-enabled": ["--feature-gates=DRAExtendedResource=true"]}


class Stand:
    """A cluster of one layout; `install()` puts Muster into it."""

    def __init__(self, layout, muster):
        gates = GATES.get(layout, [])
        self.layout = layout
        self.cluster = bed.Bed(scheduler=True, crds=False, muster=muster, more_flags={
            "kube-apiserver": gates, "kube-controller-manager": gates, "kube-scheduler": gates})
        self.operator = None

    def __enter__(self):
        self.cluster.__enter__()
        try:
            self.furnish()
        except BaseException:
            self.cluster.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.operator.is_over = True
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
        for one in layouts.device_slices(self.layout):
            api.create("/apis/resource.k8s.io/v1/resourceslices", one)
        if layouts.DEVICE_NODES.get(self.layout):
            api.create("/apis/resource.k8s.io/v1/deviceclasses", layouts.DEVICE_CLASS)
        self.operator = gpu_operator.GpuOperator(self.cluster)

    def install(self):
        """By the manifests in deploy, with one replica each and the queues that KAI's chart makes."""
        self.cluster.apply_crds()
        self.cluster.kubectl("apply", "-f", ROOT / "deploy/namespaces.yaml", "-f", ROOT / "deploy/rbac")
        text = (ROOT / "deploy/services.yaml").read_text()
        text = text.replace("muster:latest", "muster.test/muster:latest").replace("replicas: 2", "replicas: 1")
        self.cluster.kubectl("apply", "-f", "-", feed=text)
        for name, parent in (("default-parent-queue", None), ("default-queue", "default-parent-queue")):
            self.cluster.api.create(stage.QUEUES, stage.queue_object(name, parent))
        self.cluster.wait_until(self.is_up, "all pods of Muster are ready", 120)

    def is_up(self):
        found = self.cluster.api.items(f"/api/v1/namespaces/{NAMESPACE}/pods")
        return len(found) >= 3 and all(
            any(c["type"] == "Ready" and c["status"] == "True" for c in one["status"].get("conditions", [])) for one in found)
