"""What the benchmarks on Kubernetes compare, and the objects that they are given: kube-scheduler, and Muster with its own
accounts and roles, as where it is installed."""

import os
import pathlib

import flags
import roles
import webhooks

ROOT = pathlib.Path(__file__).resolve().parent.parent
MUSTER = os.environ.get("MUSTER") or str(ROOT / "build" / "muster")
PODS = "/api/v1/namespaces/default/pods"
GROUPS = "/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups"
REQUESTS = "/apis/scheduling.run.ai/v1alpha2/namespaces/default/bindrequests"
QUEUES = "/apis/scheduling.run.ai/v2/queues"

# Nobody asks for their figures, and their ports may be taken.
UNASKED = ["--metrics-bind-address=0", "--health-probe-bind-address=0"]
SCHEDULER = ["--listen-address=0", "--plugin-server-port=0"]
ALWAYS = "--bind-requests=always"
PLACING = {"scheduler": SCHEDULER, "grouper": UNASKED, "binder": UNASKED}
ALL = "Muster, all services"

# Who schedules: the name in the pods, and the services with their own flags. The webhooks of the last one stay.
SIDES = {
    "kube-scheduler": ("default-scheduler", {}),
    "Muster": ("kai-scheduler", PLACING),
    "Muster, bindRequests: always": (
        "kai-scheduler", {"scheduler": [*SCHEDULER, ALWAYS], "grouper": [*UNASKED, ALWAYS], "binder": UNASKED}),
    ALL: ("kai-scheduler", {**PLACING, **{name: UNASKED for name in ("podgroups", "queues", "scaler", "operator")},
                            "admission": ["--gpu-sharing-enabled"]}),
}


def install(cluster):
    for file in (ROOT / "deploy" / "namespaces.yaml", *(ROOT / "deploy" / "rbac").glob("*.yaml")):
        cluster.kubectl("apply", "-f", str(file))


def start(cluster, side):
    """Starts all processes of a side; returns their names. Admission needs a network of its own, see network.enter()."""
    services = SIDES[side][1]
    for name, own in services.items():
        if name == "admission":
            webhooks.Webhooks(cluster, MUSTER).start(*own)
            continue
        cluster.spawn(name, MUSTER, name, "--kubeconfig", roles.kubeconfig(cluster, name), *own)
    if not services and not cluster.processes.alive("kube-scheduler"):
        cluster.run_own("kube-scheduler", flags.kube_scheduler(cluster.folder, cluster.credentials))
    return list(services) or ["kube-scheduler"]


def make_queue(cluster, name, parent=None, gpus=-1):
    any_amount = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    cluster.api.create(QUEUES, {
        "apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name},
        "spec": {"resources": {"cpu": any_amount, "gpu": {**any_amount, "quota": gpus}, "memory": any_amount},
                 **({"parentQueue": parent} if parent else {})}})


def ready_nodes(cluster, count, in_parallel):
    """Nodes of 8 GPUs that are Ready without anyone who keeps them so: nothing else runs beside the schedulers."""
    names = cluster.add_nodes(count)
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}}
    in_parallel(cluster.client, names, lambda api, name: api.patch(f"/api/v1/nodes/{name}/status", ready))
    return names


def pod_of(name, scheduler, queue="team", fraction=None, labels=None, is_bare=False):
    """A pod of one GPU, or of a fraction of one, as admission leaves it or as a user writes it (`is_bare`)."""
    notes = {"gpu-fraction": fraction} if fraction else {}
    if fraction and not is_bare:
        notes["runai/shared-gpu-configmap"] = f"{name}-shared"
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "annotations": notes,
                     "labels": {"kai.scheduler/queue": queue, **(labels or {})}},
        "spec": {"schedulerName": scheduler, "terminationGracePeriodSeconds": 0, "containers": [{
            "name": "main", "image": "none",
            "resources": {"requests": {"cpu": "1", "memory": "1Gi"},
                          "limits": {} if fraction else {"nvidia.com/gpu": "1"}},
        }]},
    }
