"""The cluster of these tests, the controllers in it, and objects for them."""

import os
import pathlib
import urllib.request

import bed
import suite

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = str(pathlib.Path(os.environ.get("MUSTER", ROOT / "build" / "asan" / "muster")).parent / "local-controllers")
NAME = "local-controllers"
NODE = "node-00000"

PODS = "/api/v1/namespaces/default/pods"
EVENTS = "/api/v1/namespaces/default/events"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
CRON_JOBS = "/apis/batch/v1/namespaces/default/cronjobs"
SETS = "/apis/apps/v1/namespaces/default/replicasets"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
STATEFUL_SETS = "/apis/apps/v1/namespaces/default/statefulsets"
REVISIONS = "/apis/apps/v1/namespaces/default/controllerrevisions"


def set_up(cluster, is_kubernetes):
    cluster.is_kubernetes = is_kubernetes
    cluster.port = bed.free_ports(1)[0]
    if not is_kubernetes:
        cluster.spawn(NAME, PROGRAM, f"--kubeconfig={cluster.kubeconfig}",
                      f"--health-probe-bind-address=127.0.0.1:{cluster.port}", "--metrics-bind-address=0", "--v=4")
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
    cluster.kill(NAME)


def start(cluster):
    cluster.start(NAME)
    wait_ready(cluster)


def template(labels, annotations=None, node=NODE, **spec):
    return {"metadata": {"labels": labels, "annotations": annotations or {}},
            "spec": {"nodeName": node, "terminationGracePeriodSeconds": 1,
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
    status = cluster.stop(NAME)
    log = cluster.processes.log_of(NAME, 1000000)
    is_fine = status == 0 and not any(word in log for word in ("AddressSanitizer", "runtime error", "BUG:", "LeakSan"))
    if not is_fine:
        print("\n".join(f"# {line}" for line in log.splitlines()[-40:]))
    print(f"{'ok' if is_fine else 'not ok'} - the controllers stop when they are told to")
    return (1, 0, 0) if is_fine else (0, 1, 0)
