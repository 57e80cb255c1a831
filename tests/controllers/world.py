"""The cluster of these tests, the services in it, and objects for them."""

import os
import pathlib
import re
import urllib.request

import bed
import roles

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MUSTER = os.environ.get("MUSTER", str(ROOT / "build" / "asan" / "muster"))
CLASSES = {"train": 50, "build": 100}
SERVICES = ("podgroups", "queues", "scaler", "numa-exporter", "scheduler")
COUNTING = ("podgroups", "queues")
NODE_MIB = 81559
# Of several replicas, one takes over from the other within seconds.
QUICK_LEASE = ("--leader-elect", "--leader-election-namespace=kai-scheduler", "--lease-duration=3s",
               "--lease-renew-deadline=2s", "--lease-retry-period=300ms")

GROUPS = "/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups"
QUEUES = "/apis/scheduling.run.ai/v2/queues"
PODS = "/api/v1/namespaces/default/pods"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"


def set_up(cluster):
    cluster.ports = {}
    cluster.add_nodes(2)
    for name, value in CLASSES.items():
        cluster.api.create("/apis/scheduling.k8s.io/v1/priorityclasses", {
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value})
    cluster.kubeconfigs = {name: roles.give(cluster, name) for name in SERVICES}
    for name in COUNTING:
        start(cluster, name)


def start(cluster, service, *more, name=None):
    name = name or service
    cluster.ports[name] = bed.free_ports(2)
    cluster.spawn(name, MUSTER, service, f"--kubeconfig={cluster.kubeconfigs[service]}",
                  f"--metrics-bind-address=127.0.0.1:{cluster.ports[name][0]}",
                  f"--health-probe-bind-address=127.0.0.1:{cluster.ports[name][1]}", "--v=4", *more)
    cluster.wait_until(lambda: ask(cluster.ports[name][1], "/readyz") == "ok", f"{name} is ready")


def leads(cluster, name):
    """Whether a replica says of itself that it is the leader."""
    return any(value == 1 for _, value in series(metrics(cluster, name), "muster_leader"))


def ask(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.read().decode()
    except OSError:
        return None


def metrics(cluster, name):
    return ask(cluster.ports[name][0], "/metrics") or ""


def series(text, name):
    """[(labels, value)] of a metric."""
    found = re.findall(rf"^{name}(?:\{{(.*)\}})? (\S+)$", text, re.MULTILINE)
    return [(dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(value)) for labels, value in found]


def queue(name, parent="", labels=None, display="", quota=None):
    resources = {kind: {"quota": -1, "limit": -1, "overQuotaWeight": 1} for kind in ("cpu", "gpu", "memory")}
    for kind, value in (quota or {}).items():
        resources[kind]["quota"] = value
    spec = {"resources": resources}
    spec.update({key: value for key, value in (("parentQueue", parent), ("displayName", display)) if value})
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name, "labels": labels or {}},
            "spec": spec}


def group(name, in_queue, **spec):
    return {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": name},
            "spec": {"queue": in_queue, "minMember": 1, **spec}}


def pod(name, in_group, requests=None, annotations=None, claims=(), node=None, scheduler="kai-scheduler"):
    containers = [{"name": f"c{number}", "image": "x", "resources": {"requests": one, "limits": limits_of(one)}}
                  for number, one in enumerate(requests or [{"cpu": "100m"}])]
    own = {"pod-group-name": in_group} if in_group else {}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": {**own, **(annotations or {})}},
            "spec": {"schedulerName": scheduler, "containers": containers, "nodeName": node,
                     "resourceClaims": [{"name": f"r{number}", "resourceClaimName": claim}
                                        for number, claim in enumerate(claims)]}}


def limits_of(requests):
    return {key: value for key, value in requests.items() if "/" in key}


def set_phase(cluster, name, phase, scheduled=None):
    status = {"phase": phase}
    if scheduled is not None:
        status["conditions"] = [{"type": "PodScheduled", "status": "True" if scheduled else "False"}]
    return cluster.api.patch(f"{PODS}/{name}/status", {"status": status})


def condition(cluster, name, status, reason):
    return cluster.api.patch(f"{PODS}/{name}/status", {"status": {"conditions": [
        {"type": "PodScheduled", "status": status, "reason": reason}]}})


def status_of(cluster, name):
    return cluster.api.get(f"{GROUPS}/{name}").get("status", {}).get("resourcesStatus", {})


def clear(cluster):
    for path in (GROUPS, PODS, CLAIMS, QUEUES):
        for one in cluster.api.items(path):
            remove(cluster, f"{path}/{one['metadata']['name']}")


def remove(cluster, path):
    """Pods would wait for a kubelet."""
    cluster.api.call("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0})


def ends_well(cluster):
    """The last test: they stop when they are told to, and the sanitizers have nothing to say."""
    counts = [0, 0, 0]
    for name in [one for one in cluster.ports if cluster.processes.alive(one)]:
        status = cluster.stop(name)
        log = cluster.processes.log_of(name, 100000)
        is_fine = status == 0 and not any(word in log for word in
                                          ("AddressSanitizer", "runtime error", "forbidden", "BUG:"))
        if not is_fine:
            print("\n".join(f"# {line}" for line in log.splitlines()[-40:]))
        print(f"{'ok' if is_fine else 'not ok'} - {name} stops when it is told to, and was refused nothing")
        counts[0 if is_fine else 1] += 1
    return tuple(counts)
