"""All services in one process."""

import os
import shutil
import signal
import subprocess
import time

import accounts
import bed
import proxy
import suite
import world
from suite import expect

SUITE = suite.Suite()
SHARDS = "/apis/kai.scheduler/v1/schedulingshards"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kai-scheduler/leases/muster-controller"
WATCHED = ("pods", "nodes", "podgroups", "queues", "priorityclasses", "resourceclaims")


def start(cluster):
    ports = bed.free_ports(1)
    cluster.ports["controller"] = [ports[0], ports[0]]
    cluster.spawn("controller", world.MUSTER, "controller",
                  "--services=scheduler,binder,grouper,podgroups,queues,scaler", f"--kubeconfig={cluster.kubeconfig}",
                  f"--metrics-bind-address=127.0.0.1:{ports[0]}", "--plugin-server-port=0", "--v=4")
    cluster.wait_until(lambda: world.ask(ports[0], "/readyz") == "ok", "the controller is ready")


def bound(cluster, name):
    return cluster.wait_for(f"{world.PODS}/{name}", lambda pod: pod["spec"].get("nodeName"))


def grouped(cluster, name):
    """A pod that is bound gets its PodGroup after that, and counts from then on."""
    bound(cluster, name)
    cluster.wait_for(f"{world.PODS}/{name}", lambda pod: "pod-group-name" in pod["metadata"].get("annotations", {}))


@SUITE.test("one process groups, places, binds and counts a pod")
def test_one_process(cluster):
    for name in ("podgroups", "queues", "queues-2", "scaler", "numa-exporter"):
        if cluster.processes.alive(name):
            cluster.stop(name)
    world.clear(cluster)
    cluster.api.create(world.QUEUES, world.queue("all"))
    cluster.api.create(world.QUEUES, world.queue("team", "all"))
    for name in ("node-00000", "node-00001"):
        cluster.api.patch(f"/api/v1/nodes/{name}/status", {"status": {"conditions": [
            {"type": "Ready", "status": "True"}]}})
    start(cluster)
    make(cluster, "first")
    grouped(cluster, "first")
    accounts.wait_equal(cluster)
    status = cluster.api.get(f"{world.QUEUES}/all")["status"]
    expect((status["requested"], status["allocated"]),
           ({"cpu": "100m", "nvidia.com/gpu": "1"}, {"cpu": "100m", "nvidia.com/gpu": "1"}), "status of the root")


def make(cluster, name):
    body = world.pod(name, None, [{"cpu": "100m", "nvidia.com/gpu": "1"}])
    body["metadata"]["labels"] = {"kai.scheduler/queue": "team"}
    cluster.api.create(world.PODS, body)


@SUITE.test("each kind of object is watched once for all services that want it whole, and once for all others")
def test_watches(cluster):
    text = cluster.api.get("/metrics")
    for plural in WATCHED:
        # Scaling pods are watched in their namespace, which is a watch of its own.
        open_now = sum(value for labels, value in world.series(text, "apiserver_longrunning_requests")
                       if labels.get("resource") == plural and labels.get("verb") == "WATCH"
                       and labels.get("scope") == "cluster")
        # The API server watches for itself.
        expect(open_now <= 3, True, f"{open_now} watches of {plural}")
    log = cluster.processes.log_of("controller", 100000)
    expect("error" in log.lower().replace("log_error", ""), False, "errors in the log")


@SUITE.test("a cut connection and a compaction are survived by all services together")
def test_cut(cluster):
    cluster.kill("kube-apiserver")
    cluster.start("kube-apiserver")
    cluster.compact()
    make(cluster, "second")
    grouped(cluster, "second")
    accounts.wait_equal(cluster)
    world.remove(cluster, f"{world.PODS}/first")
    accounts.wait_equal(cluster)


@SUITE.test("metrics of all services are served together")
def test_metrics(cluster):
    text = world.metrics(cluster, "controller")
    for name in ("kai_e2e_scheduling_latency_milliseconds", "kai_queue_info", "workqueue_depth",
                 "muster_grouper_pods_total", "muster_scaler_pods_created_total"):
        expect(bool(world.series(text, name)), True, name)
    leading = {labels["service"] for name in ("kai_leader", "muster_leader") for labels, value in world.series(text, name)
               if value == 1}
    expect(leading, {"scheduler", "binder", "grouper", "podgroups", "queues", "scaler"}, "services that lead")


@SUITE.test("promtool takes the metrics, and complains of no names but KAI's")
def test_promtool(cluster):
    if not shutil.which("promtool"):
        raise suite.Skip("promtool is not installed")
    done = subprocess.run(["promtool", "check", "metrics"], input=world.metrics(cluster, "controller"), capture_output=True,
                          text=True, check=False)
    # 3: it can be read, and a name is not as it should be.
    expect(done.returncode in (0, 3), True, f"{done.returncode}: {done.stderr}")
    expect([line for line in done.stderr.splitlines() if line and not line.startswith("kai_")], [], "complaints")


def start_replica(cluster, between):
    """One that runs the services while it holds the lease, all its requests by way of the proxy."""
    port, = bed.free_ports(1)
    cluster.ports["replica"] = [port, port]
    cluster.spawn("replica", world.MUSTER, "controller", "--namespace=kai-scheduler", "--apply-crds=false", "--leader-elect",
                  "--stop-timeout=60s", f"--kubeconfig={between.kubeconfig()}", f"--metrics-bind-address=127.0.0.1:{port}",
                  "--health-probe-bind-address=0")
    cluster.wait_until(lambda: world.leads(cluster, "replica"), "the replica leads")


def is_ready(cluster):
    return world.ask(cluster.ports["replica"][0], "/readyz") == "ok"


def holder(cluster):
    return cluster.api.get(LEASE)["spec"].get("holderIdentity")


@SUITE.test("a replica that leads is ready before its services are: webhooks do not wait for them")
def test_ready(cluster):
    cluster.stop("controller")
    # The port of snapshots may be another's on this machine.
    cluster.api.create(SHARDS, {"apiVersion": "kai.scheduler/v1", "kind": "SchedulingShard", "metadata": {"name": "default"},
                                "spec": {"args": {"plugin-server-port": "0"}}})
    with proxy.Proxy(cluster) as between:
        between.holds = lambda method, path: "/queues" in path
        start_replica(cluster, between)
        cluster.wait_until(lambda: between.counts["held"] > 0, "services wait for their queues")
        cluster.wait_until(lambda: is_ready(cluster), "the replica is ready")
        between.holds = None
        expect(cluster.stop("replica"), 0, "status of the replica")


@SUITE.test("a replica that is told to stop keeps its lease until its binds are done")
def test_lease(cluster):
    with proxy.Proxy(cluster) as between:
        start_replica(cluster, between)
        make(cluster, "third")
        bound(cluster, "third")
        before = between.counts["held"]
        between.holds = lambda method, path: path.split("?")[0].endswith("/binding")
        make(cluster, "fourth")
        cluster.wait_until(lambda: between.counts["held"] > before, "the bind is under way")
        os.kill(cluster.processes.pid("replica"), signal.SIGTERM)
        # Time enough for one that does not wait.
        time.sleep(1)
        expect(holder(cluster) not in ("", None), True, "somebody holds the lease")
        between.holds = None
        cluster.wait_until(lambda: holder(cluster) in ("", None), "the lease is given back")
        bound(cluster, "fourth")
        cluster.wait_until(lambda: not cluster.processes.alive("replica"), "the replica has stopped")
        expect(cluster.stop("replica"), 0, "status of the replica")
