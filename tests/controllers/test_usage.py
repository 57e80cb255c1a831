"""A real Prometheus scrapes the metrics of queues and answers what time-based fair share and dashboards ask."""

import json
import urllib.parse
import urllib.request

import accounts
import bed
import prometheus
import suite
import world
from suite import expect

SUITE = suite.Suite()
CONF = {"usageDBConfig": {"clientType": "prometheus", "usageParams": {
    "windowSize": "1h", "fetchInterval": "1s", "extraParams": {"queryResolution": "1s"}}}}


def query(port, expression):
    address = f"http://127.0.0.1:{port}/api/v1/query?query={urllib.parse.quote(expression)}"
    with urllib.request.urlopen(address, timeout=10) as answer:
        return {one["metric"].get("queue_name", ""): float(one["value"][1])
                for one in json.load(answer)["data"]["result"]}


@SUITE.test("Prometheus scrapes queues, answers the dashboards, and the scheduler reads past use from it")
def test_prometheus(cluster):
    if not prometheus.program():
        raise suite.Skip("prometheus is not installed")
    if cluster.processes.alive("queues"):
        cluster.stop("queues")
    world.clear(cluster)
    if not cluster.processes.alive("podgroups"):
        world.start(cluster, "podgroups")
    world.start(cluster, "queues")
    cluster.api.create(world.QUEUES, world.queue("all", quota={"gpu": 8}))
    for number, name in enumerate(("much", "little")):
        cluster.api.create(world.QUEUES, world.queue(name, "all"))
        cluster.api.create(world.GROUPS, world.group(name, name))
        cluster.api.create(world.PODS, world.pod(name, name, [{"nvidia.com/gpu": ("6", "2")[number]}]))
        world.set_phase(cluster, name, "Running")
    accounts.wait_equal(cluster)
    with prometheus.Figures({"gpu": 16, "cpu": 256, "memory": 2 * 1000 * 2**30}) as figures:
        prometheus_port, listen = bed.free_ports(2)
        prometheus.start(cluster, figures, prometheus_port, [cluster.ports["queues"][0]])
        ask = "max by (queue_name) (kai_queue_allocated_gpus) / clamp_min(max by (queue_name) (kai_queue_deserved_gpus), 1)"
        cluster.wait_until(lambda: query_or_none(prometheus_port, ask) == {"all": 1.0, "much": 6.0, "little": 2.0},
                           "the query of a dashboard is answered")
        conf = cluster.folder / "usage.json"
        url = f"http://127.0.0.1:{prometheus_port}"
        conf.write_text(json.dumps({"usageDBConfig": {**CONF["usageDBConfig"], "connectionString": url}}))
        cluster.ports["scheduler"] = [listen, listen]
        cluster.spawn("scheduler", world.MUSTER, "scheduler", f"--kubeconfig={cluster.kubeconfig}",
                      f"--scheduler-conf={conf}", f"--listen-address=127.0.0.1:{listen}", "--plugin-server-port=0")

        def usage():
            found = {labels["queue_metadata_name"]: value
                     for labels, value in world.series(world.metrics(cluster, "scheduler"), "kai_queue_gpu_usage")}
            return found if found.get("much") and found.get("little") else None

        found = cluster.wait_until(usage, "the scheduler knows past use")
        expect(abs(found["much"] / found["little"] - 3) < 0.5, True, f"past use {found}")
        cluster.stop("scheduler")
        cluster.stop("prometheus")


def begin(cluster, name, settings):
    """A scheduler that reads or records past use, with the rights of its account; `settings` are those of usageDBConfig."""
    listen = bed.free_ports(1)[0]
    conf = cluster.folder / f"{name}.json"
    conf.write_text(json.dumps({"usageDBConfig": settings}))
    cluster.ports[name] = [listen, listen]
    cluster.spawn(name, world.MUSTER, "scheduler", f"--kubeconfig={cluster.kubeconfigs['scheduler']}",
                  f"--scheduler-conf={conf}", f"--listen-address=127.0.0.1:{listen}", "--plugin-server-port=0")


def shares(cluster, name):
    """Past use of GPUs by queue, as a scheduler has it; None before it is known."""
    try:
        text = world.metrics(cluster, name)
    except OSError:
        return None
    found = {labels["queue_metadata_name"]: value for labels, value in world.series(text, "kai_queue_gpu_usage")}
    return found if found.keys() >= {"much", "little"} else None


@SUITE.test("the scheduler's own record gives the shares that Prometheus gives, and outlives the scheduler")
def test_history(cluster):
    if not prometheus.program():
        raise suite.Skip("prometheus is not installed")
    for name, count in (("much", "6"), ("little", "2")):
        world.remove(cluster, f"{world.PODS}/{name}")
        cluster.api.create(world.PODS, world.pod(name, name, [{"nvidia.com/gpu": count}], node="node-00000"))
        world.set_phase(cluster, name, "Running")
    accounts.wait_equal(cluster)
    params = {"usageParams": {"windowSize": "10s", "fetchInterval": "1s", "extraParams": {"queryResolution": "1s"}}}
    with prometheus.Figures({"gpu": 16, "cpu": 256, "memory": 2 * 1000 * 2**30}) as figures:
        port = bed.free_ports(1)[0]
        prometheus.start(cluster, figures, port, [cluster.ports["queues"][0]])
        begin(cluster, "scheduler", {"clientType": "prometheus", "connectionString": f"http://127.0.0.1:{port}", **params})
        begin(cluster, "recorder", {"clientType": "history", **params})

        def agree(much, little):
            """Both say the same, up to a sample at each end of the window."""
            found = [shares(cluster, name) for name in ("scheduler", "recorder")]
            return all(found) and all(abs(one["much"] - much) < 0.04 and abs(one["little"] - little) < 0.04 for one in found)

        cluster.wait_until(lambda: agree(6 / 16, 2 / 16), "both know the use of the last seconds", 90)
        world.remove(cluster, f"{world.PODS}/much")
        cluster.wait_until(lambda: agree(0, 2 / 16), "what was given back leaves the window of both", 90)
        cluster.stop("scheduler")
        cluster.stop("prometheus")
    expect(cluster.stop("recorder"), 0, "the status of the scheduler")
    kept = json.loads(cluster.api.get("/api/v1/namespaces/kai-scheduler/configmaps/usage-kai-scheduler")["data"][
        "history.json"])
    expect({"all", "little"} <= set(kept["queues"]), True, f"queues of the record {kept['queues']}")
    world.remove(cluster, f"{world.PODS}/little")
    begin(cluster, "recorder", {"clientType": "history", "usageParams": {"windowSize": "1h", "fetchInterval": "1s"}})
    found = cluster.wait_until(lambda: shares(cluster, "recorder"), "the new scheduler knows past use")
    expect(abs(found["little"] - 2 / 16) < 0.04, True, f"past use of little, which has nothing now: {found}")
    expect(cluster.stop("recorder"), 0, "the status of the new scheduler")


def query_or_none(port, expression):
    try:
        return query(port, expression)
    except OSError:
        return None
