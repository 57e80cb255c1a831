"""ReplicaSets."""

import suite
import world
from suite import expect

SUITE = suite.Suite()


def replica_set(name, replicas, **spec):
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": world.template({"app": name}), **spec}}


def wait_status(cluster, name, **wanted):
    def is_so(found):
        status = found.get("status", {})
        return all(status.get(key, 0) == value for key, value in wanted.items()) and (
            status.get("observedGeneration") == found["metadata"]["generation"])
    return cluster.wait_for(f"{world.SETS}/{name}", is_so)


@SUITE.test("a ReplicaSet creates its pods and says how many are ready")
def test_create(cluster):
    cluster.api.create(world.SETS, replica_set("web", 3))
    found = wait_status(cluster, "web", replicas=3, readyReplicas=3, availableReplicas=3, fullyLabeledReplicas=3)
    pods = world.pods_of(cluster, "app=web")
    expect(len(pods), 3, "pods")
    for pod in pods:
        owner = pod["metadata"]["ownerReferences"][0]
        expect((owner["uid"], owner["kind"], owner["controller"], owner["blockOwnerDeletion"]),
               (found["metadata"]["uid"], "ReplicaSet", True, True), "owner")
        expect(pod["metadata"]["generateName"], "web-", "generateName")
    world.wait_reason(cluster, "web", "SuccessfulCreate")


@SUITE.test("a pod that is deleted or fails is replaced, and scaling down removes pods")
def test_replace(cluster):
    first = world.pods_of(cluster, "app=web")[0]["metadata"]["name"]
    world.delete(cluster, f"{world.PODS}/{first}")
    cluster.wait_until(lambda: len(world.pods_of(cluster, "app=web")) == 3, "a new pod")
    wait_status(cluster, "web", replicas=3, readyReplicas=3)
    second = world.pods_of(cluster, "app=web")[0]["metadata"]["name"]
    cluster.api.patch(f"{world.PODS}/{second}/status", {"status": {"phase": "Failed"}})
    cluster.wait_until(lambda: len(world.pods_of(cluster, "app=web")) == 4, "a new pod beside the failed one")
    cluster.api.patch(f"{world.SETS}/web", {"spec": {"replicas": 1}})
    wait_status(cluster, "web", replicas=1, readyReplicas=1)
    world.wait_reason(cluster, "web", "SuccessfulDelete")
    cluster.api.patch(f"{world.SETS}/web", {"spec": {"replicas": 0}})
    wait_status(cluster, "web", replicas=0, readyReplicas=0)


@SUITE.test("the pod with the lowest deletion cost goes first")
def test_cost(cluster):
    cluster.api.create(world.SETS, replica_set("cost", 3))
    wait_status(cluster, "cost", readyReplicas=3)
    cheap, *rest = sorted(pod["metadata"]["name"] for pod in world.pods_of(cluster, "app=cost"))
    cluster.api.patch(f"{world.PODS}/{cheap}",
                      {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-5"}}})
    cluster.api.patch(f"{world.SETS}/cost", {"spec": {"replicas": 2}})
    wait_status(cluster, "cost", replicas=2)
    expect(sorted(pod["metadata"]["name"] for pod in world.pods_of(cluster, "app=cost")), rest, "pods that stay")


@SUITE.test("pods are available when they have been ready for minReadySeconds")
def test_min_ready(cluster):
    cluster.api.create(world.SETS, replica_set("slow", 1, minReadySeconds=3))
    found = wait_status(cluster, "slow", readyReplicas=1)
    expect(found["status"].get("availableReplicas", 0), 0, "available at first")
    wait_status(cluster, "slow", availableReplicas=1)


@SUITE.test("controllers that are killed while they create pods create none twice")
def test_kill(cluster):
    for number in range(6):
        name = f"kill-{number}"
        cluster.api.create(world.SETS, replica_set(name, 20))
        cluster.wait_until(lambda name=name: world.pods_of(cluster, f"app={name}"), "the first pod")
        world.kill(cluster)
        world.start(cluster)
        wait_status(cluster, name, replicas=20, readyReplicas=20)
        expect(len(cluster.api.items(f"{world.PODS}?labelSelector=app={name}")), 20, "pods that were ever created")
    expect([name for name in world.reasons(cluster, "kill-0") if name.startswith("Failed")], [], "failures")


@SUITE.test("a ReplicationController keeps its pods like a ReplicaSet")
def test_replication_controller(cluster):
    path = "/api/v1/namespaces/default/replicationcontrollers"
    cluster.api.create(path, {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "old"}, "spec": {
        "replicas": 2, "selector": {"app": "old"}, "template": world.template({"app": "old"})}})
    found = cluster.wait_for(f"{path}/old", lambda one: one.get("status", {}).get("readyReplicas") == 2)
    expect({pod["metadata"]["ownerReferences"][0]["uid"] for pod in world.pods_of(cluster, "app=old")},
           {found["metadata"]["uid"]}, "owners")
    cluster.api.patch(f"{path}/old", {"spec": {"replicas": 1}})
    cluster.wait_for(f"{path}/old", lambda one: one["status"]["replicas"] == 1)
    world.delete(cluster, f"{path}/old")
    cluster.wait_gone(f"{path}/old")


def owners(cluster, name):
    """(kind, name) of whoever controls the pod; None for nobody."""
    found = cluster.api.get(f"{world.PODS}/{name}")["metadata"].get("ownerReferences", [])
    return next(((one["kind"], one["name"]) for one in found if one.get("controller")), None)


@SUITE.test("a ReplicaSet adopts pods that it selects, and releases those whose labels have changed")
def test_adopt(cluster):
    for number in (1, 2):
        cluster.api.create(world.PODS, {"apiVersion": "v1", "kind": "Pod", **world.template({"app": "kin"}),
                                        "metadata": {"name": f"kin-old-{number}", "labels": {"app": "kin"}}})
    found = cluster.api.create(world.SETS, replica_set("kin", 2))
    wait_status(cluster, "kin", replicas=2, readyReplicas=2)
    names = [pod["metadata"]["name"] for pod in world.pods_of(cluster, "app=kin")]
    expect(sorted(names), ["kin-old-1", "kin-old-2"], "pods: none was created")
    reference = cluster.api.get(f"{world.PODS}/kin-old-1")["metadata"]["ownerReferences"]
    expect(reference, [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "kin", "controller": True,
                        "blockOwnerDeletion": True, "uid": found["metadata"]["uid"]}], "owner")
    cluster.api.patch(f"{world.PODS}/kin-old-1", {"metadata": {"labels": {"app": "alone"}}})
    cluster.wait_until(lambda: owners(cluster, "kin-old-1") is None, "the pod has no owner")
    cluster.wait_until(lambda: len(world.pods_of(cluster, "app=kin")) == 2, "another pod in its place")
    wait_status(cluster, "kin", replicas=2, readyReplicas=2)
    cluster.api.patch(f"{world.PODS}/kin-old-1", {"metadata": {"labels": {"app": "kin"}}})
    cluster.wait_until(lambda: len(world.pods_of(cluster, "app=kin")) == 2, "one pod too many is removed")
    wait_status(cluster, "kin", replicas=2)


@SUITE.test("pods of a ReplicaSet that is deleted alone stay, and the next one of its name adopts them")
def test_orphans(cluster):
    cluster.api.create(world.SETS, replica_set("heir", 2))
    wait_status(cluster, "heir", readyReplicas=2)
    before = sorted(pod["metadata"]["name"] for pod in world.pods_of(cluster, "app=heir"))
    world.delete(cluster, f"{world.SETS}/heir", policy="Orphan")
    cluster.wait_gone(f"{world.SETS}/heir")
    cluster.wait_until(lambda: [owners(cluster, name) for name in before] == [None, None], "pods without an owner")
    cluster.api.create(world.SETS, replica_set("heir", 2))
    wait_status(cluster, "heir", readyReplicas=2)
    expect(sorted(pod["metadata"]["name"] for pod in world.pods_of(cluster, "app=heir")), before, "the same pods")


@SUITE.test("what happened while no controller ran is found when one starts")
def test_adopt_later(cluster):
    cluster.api.create(world.SETS, replica_set("late", 2))
    wait_status(cluster, "late", readyReplicas=2)
    name = world.pods_of(cluster, "app=late")[0]["metadata"]["name"]
    if cluster.is_local:
        raise suite.Skip("the server stops with the controllers")
    world.kill(cluster)
    cluster.api.patch(f"{world.PODS}/{name}", {"metadata": {"labels": {"app": "gone"}}})
    world.start(cluster)
    cluster.wait_until(lambda: owners(cluster, name) is None, "the pod has no owner")
    wait_status(cluster, "late", replicas=2, readyReplicas=2)
