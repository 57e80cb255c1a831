"""The cluster of these tests, the controllers in it, and objects for them."""

import os
import pathlib
import urllib.request

import bed
import machine
import suite

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = str(pathlib.Path(os.environ.get("MUSTER", ROOT / "build" / "asan" / "muster")).parent / "local-controllers")
NAME = "local-controllers"
# Where pods run, and the process with the controllers.
PLACE = {"node": "node-00000", "name": NAME}

PODS = "/api/v1/namespaces/default/pods"
EVENTS = "/api/v1/namespaces/default/events"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
CRON_JOBS = "/apis/batch/v1/namespaces/default/cronjobs"
SETS = "/apis/apps/v1/namespaces/default/replicasets"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
STATEFUL_SETS = "/apis/apps/v1/namespaces/default/statefulsets"
REVISIONS = "/apis/apps/v1/namespaces/default/controllerrevisions"


def set_up(cluster, kind):
    cluster.is_kubernetes, cluster.is_local = kind == "kubernetes", kind == "local"
    cluster.port = bed.free_ports(1)[0]
    if cluster.is_local:
        PLACE.update(node="fake-00000", name=machine.NAME)
        cluster.wait_for("/api/v1/nodes/fake-00000")
        cluster.wait_for("/api/v1/namespaces/default/serviceaccounts/default")
    elif not cluster.is_kubernetes:
        cluster.spawn(NAME, PROGRAM, f"--kubeconfig={cluster.kubeconfig}",
                      f"--health-probe-bind-address=127.0.0.1:{cluster.port}", "--metrics-bind-address=0", "--v=4",
                      "--node-monitor-grace-period=3s")
        wait_ready(cluster)


def wait_ready(cluster):
    cluster.wait_until(lambda: ask(cluster.port, "/readyz") == "ok", "the controllers are ready")


def ask(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.read().decode()
    except OSError:
        return None


def kill(cluster):
    """At once, without a word."""
    if cluster.is_kubernetes:
        raise suite.Skip("the controllers of Kubernetes are not to be killed here")
    cluster.kill(PLACE["name"])


def start(cluster):
    cluster.start(PLACE["name"])
    if not cluster.is_local:
        wait_ready(cluster)


def pretend(annotations):
    """What KWOK understands, for pretended nodes."""
    times = [annotations.get(f"test/{how}-after") for how in ("finish", "fail")]
    if not any(times):
        return annotations
    return {**annotations, "muster.scheduler/pretend-run-time": times[0] or times[1],
            "muster.scheduler/pretend-exit-code": "0" if times[0] else "1"}


def template(labels, annotations=None, node=None, **spec):
    return {"metadata": {"labels": labels, "annotations": pretend(annotations or {})},
            "spec": {"nodeName": node or PLACE["node"], "terminationGracePeriodSeconds": 1,
                     "containers": [{"name": "main", "image": "x"}], **spec}}


def pods_of(cluster, selector):
    """Those that are not being deleted."""
    return [pod for pod in cluster.api.items(f"{PODS}?labelSelector={selector}")
            if "deletionTimestamp" not in pod["metadata"]]


def reasons(cluster, name):
    return {event["reason"] for event in cluster.api.items(f"{EVENTS}?fieldSelector=involvedObject.name={name}")}


def wait_reason(cluster, name, reason):
    cluster.wait_until(lambda: reason in reasons(cluster, name), f"event {reason} about {name}")


def condition(found, kind):
    """(status, reason) of a condition; None when there is none."""
    return next(((one["status"], one.get("reason")) for one in found.get("status", {}).get("conditions", [])
                 if one["type"] == kind), None)


def delete(cluster, path, policy="Background", grace=0):
    cluster.api.call("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy,
                                      "gracePeriodSeconds": grace})


def ends_well(cluster):
    """The last test: they stop when they are told to, and the sanitizers have nothing to say."""
    if cluster.is_kubernetes:
        return (0, 0, 0)
    status = cluster.stop(PLACE["name"])
    log = cluster.processes.log_of(PLACE["name"], 1000000)
    is_fine = status == 0 and not any(word in log for word in ("AddressSanitizer", "runtime error", "BUG:", "LeakSan"))
    if not is_fine:
        print("\n".join(f"# {line}" for line in log.splitlines()[-40:]))
    print(f"{'ok' if is_fine else 'not ok'} - the controllers stop when they are told to")
    return (1, 0, 0) if is_fine else (0, 1, 0)
