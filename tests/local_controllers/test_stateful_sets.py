"""StatefulSets."""

import suite
import world
from suite import expect

SUITE = suite.Suite()


def stateful_set(name, replicas, image="x:1", **spec):
    template = world.template({"app": name})
    template["spec"]["containers"][0]["image"] = image
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name},
            "spec": {"replicas": replicas, "serviceName": name, "selector": {"matchLabels": {"app": name}},
                     "template": template, **spec}}


def rollout(cluster, name):
    return cluster.kubectl("rollout", "status", f"statefulset/{name}", "--timeout=60s")


def names(cluster, name):
    return sorted(pod["metadata"]["name"] for pod in world.pods_of(cluster, f"app={name}"))


def images(cluster, name):
    return [pod["spec"]["containers"][0]["image"] for pod in
            sorted(world.pods_of(cluster, f"app={name}"), key=lambda pod: pod["metadata"]["name"])]


def wait_status(cluster, name, **wanted):
    return cluster.wait_for(f"{world.STATEFUL_SETS}/{name}", lambda found: all(
        found.get("status", {}).get(key, 0) == value for key, value in wanted.items()) and (
            found.get("status", {}).get("observedGeneration") == found["metadata"]["generation"]))


@SUITE.test("a StatefulSet creates numbered pods, one after the other")
def test_create(cluster):
    cluster.api.create(world.STATEFUL_SETS, stateful_set("db", 3))
    found = wait_status(cluster, "db", replicas=3, readyReplicas=3, availableReplicas=3, currentReplicas=3,
                        updatedReplicas=3)
    status = found["status"]
    expect(status["currentRevision"] == status["updateRevision"], True, "one revision")
    pods = sorted(world.pods_of(cluster, "app=db"), key=lambda pod: pod["metadata"]["name"])
    expect([pod["metadata"]["name"] for pod in pods], ["db-0", "db-1", "db-2"], "names")
    for number, pod in enumerate(pods):
        labels = pod["metadata"]["labels"]
        expect((labels["statefulset.kubernetes.io/pod-name"], labels["apps.kubernetes.io/pod-index"],
                labels["controller-revision-hash"], pod["spec"]["hostname"], pod["spec"]["subdomain"]),
               (f"db-{number}", str(number), status["updateRevision"], f"db-{number}", "db"), "identity")
    times = [pod["status"]["startTime"] for pod in pods]
    expect(times, sorted(times), "order")
    world.wait_reason(cluster, "db", "SuccessfulCreate")


@SUITE.test("a pod that is deleted or fails comes back under its name")
def test_replace(cluster):
    uid = cluster.api.get(f"{world.PODS}/db-1")["metadata"]["uid"]
    world.delete(cluster, f"{world.PODS}/db-1")
    cluster.wait_for(f"{world.PODS}/db-1", lambda pod: pod["metadata"]["uid"] != uid)
    wait_status(cluster, "db", readyReplicas=3)
    uid = cluster.api.get(f"{world.PODS}/db-0")["metadata"]["uid"]
    cluster.api.patch(f"{world.PODS}/db-0/status", {"status": {"phase": "Failed"}})
    cluster.wait_for(f"{world.PODS}/db-0", lambda pod: pod["metadata"]["uid"] != uid)
    wait_status(cluster, "db", readyReplicas=3)


@SUITE.test("an update replaces pods from the top, down to the partition")
def test_partition(cluster):
    cluster.api.patch(f"{world.STATEFUL_SETS}/db", {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 2}}}})
    cluster.kubectl("set", "image", "statefulset/db", "main=x:2")
    wait_status(cluster, "db", updatedReplicas=1, currentReplicas=2, readyReplicas=3)
    expect(images(cluster, "db"), ["x:1", "x:1", "x:2"], "images")
    cluster.api.patch(f"{world.STATEFUL_SETS}/db", {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}})
    found = wait_status(cluster, "db", updatedReplicas=3, currentReplicas=3, readyReplicas=3)
    expect(images(cluster, "db"), ["x:2"] * 3, "images")
    expect(found["status"]["currentRevision"], found["status"]["updateRevision"], "revisions")
    rollout(cluster, "db")
    expect(len(cluster.api.items(f"{world.REVISIONS}?labelSelector=app=db")), 2, "ControllerRevisions")


@SUITE.test("kubectl rollout undo and restart work")
def test_undo(cluster):
    cluster.kubectl("rollout", "undo", "statefulset/db")
    cluster.wait_until(lambda: images(cluster, "db") == ["x:1"] * 3, "pods with the old image")
    rollout(cluster, "db")
    found = sorted(cluster.api.items(f"{world.REVISIONS}?labelSelector=app=db"), key=lambda one: one["revision"])
    expect([one["revision"] for one in found], [2, 3], "numbers of the revisions")
    before = {pod["metadata"]["uid"] for pod in world.pods_of(cluster, "app=db")}
    cluster.kubectl("rollout", "restart", "statefulset/db")
    rollout(cluster, "db")
    cluster.wait_until(lambda: len(world.pods_of(cluster, "app=db")) == 3 and not before & {
        pod["metadata"]["uid"] for pod in world.pods_of(cluster, "app=db")}, "new pods")


@SUITE.test("scaling down removes the highest pods first")
def test_scale(cluster):
    cluster.kubectl("scale", "statefulset/db", "--replicas=1")
    wait_status(cluster, "db", replicas=1, readyReplicas=1)
    expect(names(cluster, "db"), ["db-0"], "pods")


@SUITE.test("with Parallel a pod that does not start holds up no other, and ordinals start where they are told to")
def test_parallel(cluster):
    template = stateful_set("pool", 3, podManagementPolicy="Parallel", ordinals={"start": 5})
    template["spec"]["template"]["spec"]["nodeName"] = "nowhere"
    cluster.api.create(world.STATEFUL_SETS, template)
    cluster.wait_until(lambda: names(cluster, "pool") == ["pool-5", "pool-6", "pool-7"], "all pods")
    ordered = stateful_set("line", 3)
    ordered["spec"]["template"]["spec"]["nodeName"] = "nowhere"
    cluster.api.create(world.STATEFUL_SETS, ordered)
    wait_status(cluster, "line", replicas=1)
    expect(names(cluster, "line"), ["line-0"], "pods")


@SUITE.test("pods have claims of their own for volumeClaimTemplates")
def test_claims(cluster):
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
                                                    "resources": {"requests": {"storage": "1Gi"}}}}
    cluster.api.create(world.STATEFUL_SETS, stateful_set("disk", 2, volumeClaimTemplates=[claim]))
    wait_status(cluster, "disk", readyReplicas=2)
    found = cluster.api.items("/api/v1/namespaces/default/persistentvolumeclaims?labelSelector=app=disk")
    expect(sorted(one["metadata"]["name"] for one in found), ["data-disk-0", "data-disk-1"], "claims")
    pod = cluster.api.get(f"{world.PODS}/disk-1")
    expect([one["persistentVolumeClaim"]["claimName"] for one in pod["spec"]["volumes"] if one["name"] == "data"],
           ["data-disk-1"], "volume")


@SUITE.test("an update ends well while the controllers are killed again and again")
def test_kill(cluster):
    cluster.api.create(world.STATEFUL_SETS, stateful_set("firm", 4))
    for number in range(2, 5):
        cluster.kubectl("set", "image", "statefulset/firm", f"main=x:{number}")
        world.kill(cluster)
        world.start(cluster)
    rollout(cluster, "firm")
    expect(images(cluster, "firm"), ["x:4"] * 4, "images")


@SUITE.test("a StatefulSet adopts the pods and the revisions of one that was deleted alone")
def test_adopt(cluster):
    cluster.api.create(world.STATEFUL_SETS, stateful_set("next", 2))
    wait_status(cluster, "next", readyReplicas=2)
    before = {pod["metadata"]["uid"] for pod in world.pods_of(cluster, "app=next")}
    world.delete(cluster, f"{world.STATEFUL_SETS}/next", policy="Orphan")
    cluster.wait_gone(f"{world.STATEFUL_SETS}/next")
    cluster.api.create(world.STATEFUL_SETS, stateful_set("next", 3))
    found = wait_status(cluster, "next", readyReplicas=3, updatedReplicas=3)
    after = world.pods_of(cluster, "app=next")
    expect(before <= {pod["metadata"]["uid"] for pod in after}, True, "the same pods, and one more")
    expect({pod["metadata"]["ownerReferences"][0]["uid"] for pod in after}, {found["metadata"]["uid"]}, "owners")
    expect(len(cluster.api.items(f"{world.REVISIONS}?labelSelector=app=next")), 1, "ControllerRevisions")
    cluster.api.patch(f"{world.PODS}/next-2", {"metadata": {"labels": {"app": "alone"}}})
    cluster.wait_until(lambda: not cluster.api.get(f"{world.PODS}/next-2")["metadata"].get("ownerReferences"),
                       "a pod that is released")
    world.delete(cluster, f"{world.PODS}/next-2")
    wait_status(cluster, "next", readyReplicas=3)


@SUITE.test("maxUnavailable pods are replaced at a time, and no more when others are not available")
def test_max_unavailable(cluster):
    def change(revision, most, starts=True):
        template = stateful_set("wide", 4, image=f"x:{revision}", podManagementPolicy="Parallel", updateStrategy={
            "type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": most}})
        if not starts:
            template["spec"]["template"]["spec"].update(nodeName=None, nodeSelector={"no": "such"})
        else:
            template["spec"]["template"]["spec"].update(nodeSelector=None)
        return template
    cluster.api.create(world.STATEFUL_SETS, change(1, 2))
    wait_status(cluster, "wide", readyReplicas=4, updatedReplicas=4)
    # The new pods do not start, so that the update stands still with what may be unavailable.
    cluster.api.patch(f"{world.STATEFUL_SETS}/wide", {"spec": change(2, 2, starts=False)["spec"]})
    wait_status(cluster, "wide", updatedReplicas=2, readyReplicas=2)
    expect(images(cluster, "wide"), ["x:1", "x:1", "x:2", "x:2"], "images")
    cluster.api.patch(f"{world.STATEFUL_SETS}/wide", {"spec": change(2, "75%", starts=False)["spec"]})
    wait_status(cluster, "wide", updatedReplicas=3, readyReplicas=1)
    cluster.api.patch(f"{world.STATEFUL_SETS}/wide", {"spec": change(3, "75%")["spec"]})
    wait_status(cluster, "wide", updatedReplicas=4, readyReplicas=4)
    expect(images(cluster, "wide"), ["x:3"] * 4, "images")
