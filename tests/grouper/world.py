"""The cluster of these tests, and the grouper in it."""

import json
import os
import pathlib
import urllib.request

import bed
import roles
import workloads

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MUSTER = os.environ.get("MUSTER", str(ROOT / "build" / "asan" / "muster"))
CLASSES = {"train": 50, "build-preemptible": 75, "build": 100, "inference": 125, "odd": 7}
DEFAULTS = [{"typeName": "TaskRun", "group": "tekton.dev", "priorityName": "build", "preemptibility": "Preemptible"},
            {"typeName": "PipelineRun", "priorityName": "no-such-class"}]


def set_up(cluster):
    cluster.apply_crds(ROOT / "tests" / "cluster" / "crds_foreign.yaml")
    cluster.own_kubeconfig = roles.give(cluster, "grouper")
    # A kind of somebody's own: the grouper is let in by whoever brings it.
    cluster.kubectl("create", "clusterrole", "widgets", "--verb=get,list,watch", "--resource=widgets.example.com")
    cluster.kubectl("create", "clusterrolebinding", "widgets", "--clusterrole=widgets", f"--user={roles.user_of('grouper')}")
    maker = workloads.Maker(cluster)
    for name, value in CLASSES.items():
        maker.make("scheduling.k8s.io/v1", "PriorityClass", name, cluster_wide=True, value=value)
    maker.make("v1", "ConfigMap", "defaults", data={"types": json.dumps(DEFAULTS)})
    start(cluster)


def start(cluster, *more, name="grouper"):
    cluster.ports = bed.free_ports(2)
    cluster.spawn(name, MUSTER, "grouper", f"--kubeconfig={cluster.own_kubeconfig}",
                  f"--metrics-bind-address=127.0.0.1:{cluster.ports[0]}",
                  f"--health-probe-bind-address=127.0.0.1:{cluster.ports[1]}", "--qps=500",
                  "--default-priorities-configmap-name=defaults", "--default-priorities-configmap-namespace=default",
                  "--v=4", *more)
    cluster.wait_until(lambda: ask(cluster.ports[1], "/readyz") == "ok", "the grouper is ready")


def ask(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.read().decode()
    except OSError:
        return None


def figure(cluster, name):
    for line in (ask(cluster.ports[0], "/metrics") or "").splitlines():
        if line.split(" ")[0] == name:
            return float(line.split(" ")[1])
    return None


def ends_well(cluster):
    """The last test: it stops when it is told to, and the sanitizers have nothing to say."""
    status = cluster.stop("grouper")
    log = cluster.processes.log_of("grouper", 100000)
    is_fine = status == 0 and "ERROR: AddressSanitizer" not in log and "runtime error" not in log
    if not is_fine:
        print("\n".join(f"# {line}" for line in log.splitlines()[-40:]))
    print(f"{'ok' if is_fine else 'not ok'} - the grouper stops when it is told to")
    return (1, 0, 0) if is_fine else (0, 1, 0)
