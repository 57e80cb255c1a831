"""Nodes that are lost, and the pods on them."""

import suite
import world
from suite import expect

SUITE = suite.Suite()
NODES = "/api/v1/nodes"
READY = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}


def pod_on(cluster, node, name, tolerations=()):
    return cluster.api.create(world.PODS, {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {**world.template({}, node=node)["spec"], "tolerations": list(tolerations)}})


def taints(node):
    return sorted((one["key"].split("/")[1], one["effect"]) for one in node["spec"].get("taints", []))


def set_ready(cluster, name, status):
    cluster.api.patch(f"{NODES}/{name}/status", {"status": {"conditions": [{**READY, "status": status}]}}, "strategic")


@SUITE.test("a node that is not ready is tainted, and no longer when it is ready again")
def test_taints(cluster):
    if cluster.is_kubernetes:
        raise suite.Skip("KWOK's nodes have no heartbeat, so that Kubernetes is told to be patient for a day")
    (name,) = cluster.add_nodes(1, first=50)

    def expect_taints(status, wanted):
        # KWOK may still write the status of the new node, and make it ready once more.
        def are_there():
            set_ready(cluster, name, status)
            return taints(cluster.api.get(f"{NODES}/{name}")) == wanted
        cluster.wait_until(are_there, f"{status}: {wanted}")

    expect_taints("False", [("not-ready", "NoExecute"), ("not-ready", "NoSchedule")])
    expect_taints("Unknown", [("unreachable", "NoExecute"), ("unreachable", "NoSchedule")])
    expect_taints("True", [])


@SUITE.test("pods of a lost node are deleted when they do not tolerate it any longer")
def test_evict(cluster):
    if cluster.is_kubernetes:
        raise suite.Skip("as above")
    (name,) = cluster.add_nodes(1, first=51)
    unreachable = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}
    not_ready = {**unreachable, "key": "node.kubernetes.io/not-ready"}
    pod_on(cluster, name, "patient", [unreachable, not_ready])
    pod_on(cluster, name, "hasty", [{**unreachable, "tolerationSeconds": 1}, {**not_ready, "tolerationSeconds": 1}])
    set_ready(cluster, name, "Unknown")
    cluster.wait_for(f"{world.PODS}/hasty", lambda pod: "deletionTimestamp" in pod["metadata"]
                     ) if cluster.is_local else cluster.wait_gone(f"{world.PODS}/hasty")
    expect("deletionTimestamp" in cluster.api.get(f"{world.PODS}/patient")["metadata"], False, "the patient one")
    set_ready(cluster, name, "True")


@SUITE.test("pods of a node that is gone are removed")
def test_gone(cluster):
    (name,) = ["fake-00003"] if cluster.is_local else cluster.add_nodes(1, first=52)
    pod_on(cluster, name, "stranded")
    cluster.wait_for(f"{world.PODS}/stranded", lambda pod: pod["status"]["phase"] == "Running")
    world.delete(cluster, f"{NODES}/{name}")
    cluster.wait_gone(f"{world.PODS}/stranded", 90)


@SUITE.test("a node that does not renew its lease becomes unreachable")
def test_lease(cluster):
    if cluster.is_kubernetes:
        raise suite.Skip("as above")
    (name,) = cluster.add_nodes(1, first=53)
    cluster.kubectl("create", "namespace", "kube-node-lease", check=False)
    cluster.api.create("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name},
        "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": "2026-01-01T00:00:00.000000Z"}})
    found = cluster.wait_for(f"{NODES}/{name}", lambda node: ("unreachable", "NoExecute") in taints(node), 90)
    expect(world.condition(found, "Ready"), ("Unknown", "NodeStatusUnknown"), "Ready")
