"""Muster installed by its chart as one process: the Config and the shards act inside it, and so does admission."""

import operands
import stand as stands
from suite import Suite, expect
from test_install import PODS, SYSTEM, clear, components, is_ready, pod, run

SUITE = Suite()
NAME = "muster-controller"
SHARDS = "/apis/kai.scheduler/v1/schedulingshards"
QUEUES = "/apis/scheduling.run.ai/v2/queues"
POOL = "kai.scheduler/node-pool"
HOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
SLICES = (f"/apis/discovery.k8s.io/v1/namespaces/{stands.NAMESPACE}/endpointslices"
          "?labelSelector=kubernetes.io/service-name=admission")
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{stands.NAMESPACE}/leases/muster-controller"
TOPOLOGIES = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/topologies.kai.scheduler"
EXPORTER = f"/apis/apps/v1/namespaces/{stands.NAMESPACE}/daemonsets/numa-placement-exporter"
EXPORTER_SCALER = f"{operands.AUTOSCALERS}/numa-placement-exporter"
APPS = {"admission", "binder", "job-starter", "kai-scheduler-default", "pod-grouper", "podgroup-controller",
        "queue-controller"}


def controller(cluster):
    found = components(cluster).get(NAME, [])
    expect(len(found), 1, "pods of the controller")
    return found[0]


def figures(cluster, name):
    """The series of a metric, as (labels, value) in text."""
    address = controller(cluster)["status"]["podIP"]
    text = cluster.command("curl", "-s", "-m", "10", f"http://{address}:8080/metrics")
    return [line.rsplit(" ", 1) for line in text.splitlines() if line.startswith((f"{name}{{", f"{name} "))]


def apps(cluster):
    """The services that run, by the label of their figures."""
    return {labels.split('app="')[1].split('"')[0] for name in ("kai_leader", "muster_leader")
            for labels, value in figures(cluster, name) if 'app="' in labels and value == "1"}


def nodes_of(cluster, count, **more):
    return [node for number in range(count) for node in run(cluster, pod(f"pod-{number}", gpus=1, **more))]


@SUITE.test("the chart in mode controller brings up one pod with all services, after the split form was uninstalled")
def _(stand):
    cluster = stand.cluster
    cluster.command("helm", "uninstall", "kai-scheduler", "--namespace", stands.NAMESPACE)
    cluster.wait_gone(stands.CONFIG, stands.READY_SECONDS)
    cluster.wait_until(lambda: not components(cluster), "the services are gone", stands.READY_SECONDS)
    cluster.wait_until(lambda: not cluster.api.items(HOOKS), "the webhooks are gone", stands.READY_SECONDS)
    stand.install("mode=controller")
    expect(sorted(components(cluster)), [NAME], "services")
    cluster.wait_until(lambda: is_ready(controller(cluster)), "the controller is ready")
    expect(apps(cluster), APPS, "services that run")


@SUITE.test("a pod with half a GPU is admitted and bound by it")
def _(stand):
    cluster = stand.cluster
    cluster.wait_for(f"{HOOKS}/mutating-kai-admission", lambda one: one["webhooks"][0]["clientConfig"].get("caBundle"))
    run(cluster, pod("half", annotations={"gpu-fraction": "0.5"}))
    found = cluster.api.get(f"{PODS}/half")
    expect(found["spec"].get("runtimeClassName"), "nvidia", "runtime class")
    expect("NVIDIA_VISIBLE_DEVICES" in {one["name"] for one in found["spec"]["containers"][0]["env"]}, True,
           "NVIDIA_VISIBLE_DEVICES in the environment")
    cluster.wait_for(f"{PODS}/half", lambda one: one["metadata"]["annotations"].get("pod-group-name"))
    clear(cluster)
    cluster.wait_until(lambda: not cluster.api.items("/api/v1/namespaces/kai-resource-reservation/pods"),
                       "the GPU is given back")


@SUITE.test("a change of the shard acts in the running process: pods are spread, then packed again")
def _(stand):
    cluster = stand.cluster
    uid = controller(cluster)["metadata"]["uid"]
    for strategy, count in (("spread", 4), ("binpack", 1)):
        cluster.api.patch(stands.SHARD, {"spec": {"placementStrategy": {"gpu": strategy, "cpu": strategy}}})
        cluster.wait_until(stand.is_up, f"the shard is available with {strategy}", stands.READY_SECONDS)
        expect(len(set(nodes_of(cluster, 4))), count, f"nodes with {strategy}")
        clear(cluster)
    found = controller(cluster)
    expect((found["metadata"]["uid"], found["status"]["containerStatuses"][0]["restartCount"]), (uid, 0),
           "the pod and its restarts")


@SUITE.test("settings that make no sense are reported by the shard, and the scheduler goes on as it was")
def _(stand):
    cluster = stand.cluster
    cluster.api.patch(stands.SHARD, {"spec": {"queueDepthPerAction": {"sing": 1}}})
    cluster.wait_for(stands.SHARD, lambda one: any(
        "'sing' is not an enabled action" in each["message"] for each in one["status"]["conditions"]))
    run(cluster, pod("meanwhile", gpus=1))
    clear(cluster)
    cluster.api.patch(stands.SHARD, {"spec": {"queueDepthPerAction": None}})
    cluster.wait_until(stand.is_up, "the shard is available", stands.READY_SECONDS)


@SUITE.test("a second shard has a scheduler in the same process, with figures of its own, until it is deleted")
def _(stand):
    cluster = stand.cluster
    cluster.api.patch("/api/v1/nodes/worker4", {"metadata": {"labels": {POOL: "red"}}})
    cluster.api.create(SHARDS, {"apiVersion": "kai.scheduler/v1", "kind": "SchedulingShard", "metadata": {"name": "red"},
                                "spec": {"partitionLabelValue": "red"}})
    cluster.wait_until(lambda: stand.conditions(f"{SHARDS}/red") >= {"Deployed", "Available"}, "the shard is available")
    expect(apps(cluster), APPS | {"kai-scheduler-red"}, "services that run")
    for name, parent in (("red-parent", None), ("red-queue", "red-parent")):
        amounts = {key: {"quota": 0, "limit": -1, "overQuotaWeight": 1} for key in ("gpu", "cpu", "memory")}
        cluster.api.create(QUEUES, {
            "apiVersion": "scheduling.run.ai/v2", "kind": "Queue",
            "metadata": {"name": name, "labels": {POOL: "red"}},
            "spec": {"resources": amounts, **({"parentQueue": parent} if parent else {})}})
    red = pod("red", gpus=1)
    red["metadata"]["labels"] = {"kai.scheduler/queue": "red-queue", POOL: "red"}
    expect(run(cluster, red), ["worker4"], "node")
    cluster.api.delete(f"{SHARDS}/red")
    cluster.wait_until(lambda: apps(cluster) == APPS, "its scheduler has ended")
    cluster.api.patch("/api/v1/nodes/worker4", {"metadata": {"labels": {POOL: None}}})
    clear(cluster)


@SUITE.test("the Config pauses services and changes their settings while the others go on")
def _(stand):
    cluster = stand.cluster
    cluster.api.patch(stands.CONFIG, {"spec": {"scheduler": {"service": {"enabled": False}},
                                               "admission": {"service": {"enabled": False}}}})
    cluster.wait_until(lambda: apps(cluster) == APPS - {"kai-scheduler-default", "admission"}, "two services are paused")
    cluster.wait_gone(f"{HOOKS}/mutating-kai-admission")
    cluster.api.create(PODS, pod("patient", gpus=1))
    cluster.wait_for(f"{PODS}/patient", lambda one: one["metadata"].get("annotations", {}).get("pod-group-name"))
    expect(cluster.api.get(f"{PODS}/patient")["spec"].get("nodeName"), None, "node of a pod without a scheduler")
    cluster.api.patch(stands.CONFIG, {"spec": {
        "scheduler": {"service": {"enabled": True}},
        "admission": {"service": {"enabled": True}, "gpuFractionRuntimeClassName": "", "gpuSharing": True}}})
    cluster.wait_until(stand.is_up, "all services run", stands.READY_SECONDS)
    expect(apps(cluster), APPS, "services that run")
    cluster.wait_for(f"{PODS}/patient", lambda one: one["spec"].get("nodeName"))
    cluster.wait_for(f"{HOOKS}/mutating-kai-admission", lambda one: one["webhooks"][0]["clientConfig"].get("caBundle"))
    run(cluster, pod("half", annotations={"gpu-fraction": "0.5"}))
    expect(cluster.api.get(f"{PODS}/half")["spec"].get("runtimeClassName"), None, "runtime class")
    clear(cluster)


@SUITE.test("what has pods of its own is made beside the process, and goes when it is switched off: exporter, Prometheus")
def _(stand):
    cluster = stand.cluster
    operands.apply_crds(cluster)
    cluster.api.patch(stands.CONFIG, {"spec": {
        "numaPlacementExporter": {"service": {"enabled": True}}, "global": {"vpa": {"enabled": True}},
        "prometheus": {"enabled": True, "retentionPeriod": "1s"}}})
    for path in (EXPORTER, EXPORTER_SCALER, operands.PROMETHEUS, operands.ACCOUNT, operands.USAGE):
        cluster.wait_for(path)
    operands.say_available(cluster)
    cluster.wait_until(stand.is_up, "the Config is available with them", stands.READY_SECONDS)
    monitor = cluster.api.get(f"{operands.MONITORS}/queue-controller")["spec"]
    service = cluster.api.get(f"/api/v1/namespaces/{stands.NAMESPACE}/services/{NAME}")
    expect((monitor["selector"]["matchLabels"], [one["port"] for one in monitor["endpoints"]]),
           ({"app": service["metadata"]["labels"]["app"]}, [service["spec"]["ports"][0]["name"]]), "what is scraped")
    for path in (operands.ACCOUNT, operands.USAGE):
        cluster.api.patch(path, {"metadata": {"labels": {"app": "changed"}}})
        cluster.wait_for(path, lambda one: one["metadata"]["labels"]["app"] != "changed")
    cluster.api.patch(stands.CONFIG, {"spec": {
        "numaPlacementExporter": {"service": {"enabled": True}, "pollInterval": "7s"},
        "prometheus": {"storageSize": "1Gi", "serviceMonitor": {"interval": "45s"}},
        "global": {"vpa": {"updatePolicy": {"updateMode": "Off"}}}}})
    cluster.wait_for(EXPORTER, lambda one: "--poll-interval=7s" in one["spec"]["template"]["spec"]["containers"][0]["args"])
    cluster.wait_for(operands.PROMETHEUS, lambda one: "1Gi" in str(one["spec"]["storage"]))
    cluster.wait_for(f"{operands.MONITORS}/queue-controller", lambda one: one["spec"]["endpoints"][0]["interval"] == "45s")
    cluster.wait_for(EXPORTER_SCALER, lambda one: one["spec"]["updatePolicy"]["updateMode"] == "Off")
    cluster.api.patch(stands.CONFIG, {"spec": {"numaPlacementExporter": {"service": {"enabled": False}},
                                               "prometheus": {"enabled": False}, "global": {"vpa": None}}})
    cluster.wait_until(lambda: operands.are_gone(cluster, EXPORTER, EXPORTER_SCALER, operands.PROMETHEUS, operands.ACCOUNT,
                                                 operands.USAGE), "all of it is gone", stands.READY_SECONDS)
    cluster.wait_until(stand.is_up, "the Config is available without them", stands.READY_SECONDS)


def scale(stand, replicas):
    cluster = stand.cluster
    cluster.command("helm", "upgrade", "kai-scheduler", stand.chart, "--namespace", stands.NAMESPACE, "--reuse-values", "--set",
                    f"controller.replicaCount={replicas}")

    def are_ready():
        found = components(cluster).get(NAME, [])
        ends = sum(map(ready_endpoints, cluster.api.items(SLICES)))
        return len(found) == replicas and all(is_ready(one) for one in found) and ends == replicas

    cluster.wait_until(are_ready, f"{replicas} replicas are ready, and webhooks reach each of them", stands.READY_SECONDS)


def ready_endpoints(found):
    """How many of an EndpointSlice of the webhooks take requests."""
    return sum(bool(one["conditions"].get("ready")) for one in found.get("endpoints") or [])


def fewest_endpoints(cluster, version):
    """Of the webhooks, at any time since a resourceVersion."""
    return min((ready_endpoints(event["object"]) for event in cluster.api.watch(f"{SLICES}&resourceVersion={version}", 2)
                if event["type"] == "MODIFIED"), default=None)


@SUITE.test("of two replicas one leads; the other takes over, and webhooks keep an endpoint; a missing CRD is created at the start")
def _(stand):
    cluster = stand.cluster
    cluster.api.delete(TOPOLOGIES)
    cluster.wait_gone(TOPOLOGIES)
    scale(stand, 2)
    cluster.wait_for(TOPOLOGIES)
    first = cluster.wait_for(LEASE, lambda one: one["spec"].get("holderIdentity"))["spec"]["holderIdentity"]
    version = cluster.api.get(SLICES)["metadata"]["resourceVersion"]
    cluster.api.delete(f"{SYSTEM}/{first.split('_')[0]}")
    cluster.wait_for(LEASE, lambda one: one["spec"].get("holderIdentity") not in ("", None, first))
    run(cluster, pod("after", gpus=1))
    clear(cluster)
    expect(fewest_endpoints(cluster, version), 1, "endpoints of the webhooks while the other takes over")
    scale(stand, 1)


@SUITE.test("the process was refused nothing, and stops when it is told to")
def _(stand):
    cluster = stand.cluster
    name = controller(cluster)["metadata"]["name"]
    log = cluster.folder / "pods" / f"{stands.NAMESPACE}_{name}_{NAME}.log"
    cluster.api.delete(f"{SYSTEM}/{name}")
    cluster.wait_gone(f"{SYSTEM}/{name}", stands.READY_SECONDS)
    lines = log.read_text(errors="replace").splitlines()
    expect([line for line in lines if any(word in line for word in ("orbidden", "runtime error", "Sanitizer", "BUG:"))], [],
           "bad lines of the log")
    expect(" stopped " in f"{lines[-1]} ", True, f"the last line is of the stop: {lines[-1]}")
    cluster.command("helm", "uninstall", "kai-scheduler", "--namespace", stands.NAMESPACE)
    cluster.wait_until(lambda: not cluster.api.items(HOOKS), "the webhooks are gone", stands.READY_SECONDS)
