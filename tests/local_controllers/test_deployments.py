"""Deployments."""

import suite
import world
from suite import expect, expect_in

SUITE = suite.Suite()
REVISION = "deployment.kubernetes.io/revision"


def deployment(name, replicas, image="x:1", **spec):
    template = world.template({"app": name})
    template["spec"]["containers"][0]["image"] = image
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template, **spec}}


def rollout(cluster, name):
    return cluster.kubectl("rollout", "status", f"deployment/{name}", "--timeout=60s")


def set_image(cluster, name, image):
    cluster.kubectl("set", "image", f"deployment/{name}", f"main={image}")


def sets_of(cluster, name):
    """By revision."""
    return sorted(cluster.api.items(f"{world.SETS}?labelSelector=app={name}"),
                  key=lambda one: int(one["metadata"]["annotations"][REVISION]))


def get(cluster, name):
    return cluster.api.get(f"{world.DEPLOYMENTS}/{name}")


def images(cluster, name):
    return sorted(pod["spec"]["containers"][0]["image"] for pod in world.pods_of(cluster, f"app={name}"))


@SUITE.test("a Deployment creates a ReplicaSet and reports its rollout")
def test_create(cluster):
    cluster.api.create(world.DEPLOYMENTS, deployment("site", 3))
    expect_in("successfully rolled out", rollout(cluster, "site"))
    found = cluster.wait_for(f"{world.DEPLOYMENTS}/site", lambda one: one.get("status", {}).get("availableReplicas") == 3)
    expect((world.condition(found, "Available"), world.condition(found, "Progressing")),
           (("True", "MinimumReplicasAvailable"), ("True", "NewReplicaSetAvailable")), "conditions")
    status = {key: value for key, value in found["status"].items() if key != "conditions"}
    expect(status, {"observedGeneration": found["metadata"]["generation"], "replicas": 3, "updatedReplicas": 3,
                    "readyReplicas": 3, "availableReplicas": 3, "terminatingReplicas": 0}, "status")
    found = cluster.wait_for(f"{world.DEPLOYMENTS}/site", lambda one: REVISION in one["metadata"].get("annotations", {}))
    expect(found["metadata"]["annotations"][REVISION], "1", "revision")
    (only,) = sets_of(cluster, "site")
    hash_ = only["metadata"]["labels"]["pod-template-hash"]
    expect((only["metadata"]["name"], only["spec"]["selector"]["matchLabels"]["pod-template-hash"],
            only["spec"]["template"]["metadata"]["labels"]["pod-template-hash"]), (f"site-{hash_}", hash_, hash_), "hash")
    expect({key: only["metadata"]["annotations"].get(f"deployment.kubernetes.io/{key}")
            for key in ("desired-replicas", "max-replicas")}, {"desired-replicas": "3", "max-replicas": "4"})
    world.wait_reason(cluster, "site", "ScalingReplicaSet")


@SUITE.test("a new template rolls out, and pods stay available meanwhile")
def test_rolling(cluster):
    set_image(cluster, "site", "x:2")
    least = [9]

    def is_done():
        ready = [pod for pod in world.pods_of(cluster, "app=site") if pod["status"]["phase"] == "Running"]
        least[0] = min(least[0], len(ready))
        return images(cluster, "site") == ["x:2"] * 3
    cluster.wait_until(is_done, "pods with the new image")
    expect_in("successfully rolled out", rollout(cluster, "site"))
    expect(least[0] >= 2, True, f"at least 2 pods at any time, {least[0]} seen")
    expect([one["spec"]["replicas"] for one in sets_of(cluster, "site")], [0, 3], "replicas by revision")
    cluster.wait_for(f"{world.DEPLOYMENTS}/site", lambda one: one["metadata"]["annotations"][REVISION] == "2")


@SUITE.test("kubectl rollout undo, history, pause, resume and restart work")
def test_kubectl(cluster):
    cluster.kubectl("rollout", "undo", "deployment/site")
    cluster.wait_until(lambda: images(cluster, "site") == ["x:1"] * 3, "pods with the old image")
    rollout(cluster, "site")
    cluster.wait_for(f"{world.DEPLOYMENTS}/site", lambda one: one["metadata"]["annotations"][REVISION] == "3")
    expect([one["metadata"]["annotations"][REVISION] for one in sets_of(cluster, "site")], ["2", "3"], "revisions")
    expect_in("3", cluster.kubectl("rollout", "history", "deployment/site"))
    cluster.kubectl("rollout", "pause", "deployment/site")
    set_image(cluster, "site", "x:4")
    cluster.wait_for(f"{world.DEPLOYMENTS}/site", lambda one: world.condition(one, "Progressing") == (
        "Unknown", "DeploymentPaused") and one["status"]["observedGeneration"] == one["metadata"]["generation"])
    cluster.kubectl("scale", "deployment/site", "--replicas=4")
    cluster.wait_until(lambda: images(cluster, "site") == ["x:1"] * 4, "the size alone changes")
    cluster.kubectl("rollout", "resume", "deployment/site")
    rollout(cluster, "site")
    cluster.wait_until(lambda: images(cluster, "site") == ["x:4"] * 4, "pods with the new image")
    before = {pod["metadata"]["uid"] for pod in world.pods_of(cluster, "app=site")}
    cluster.kubectl("rollout", "restart", "deployment/site")
    rollout(cluster, "site")
    cluster.wait_until(lambda: len(world.pods_of(cluster, "app=site")) == 4 and not before & {
        pod["metadata"]["uid"] for pod in world.pods_of(cluster, "app=site")}, "new pods")


@SUITE.test("Recreate removes all old pods before it creates new ones")
def test_recreate(cluster):
    cluster.api.create(world.DEPLOYMENTS, deployment("box", 2, strategy={"type": "Recreate"}))
    rollout(cluster, "box")
    seen = set()

    def is_done():
        now = tuple(sorted({pod["spec"]["containers"][0]["image"]
                            for pod in cluster.api.items(f"{world.PODS}?labelSelector=app=box")}))
        seen.add(now)
        return now == ("x:2",) and len(images(cluster, "box")) == 2
    set_image(cluster, "box", "x:2")
    cluster.wait_until(is_done, "new pods")
    expect(("x:1", "x:2") in seen, False, "both at a time")
    rollout(cluster, "box")


@SUITE.test("old ReplicaSets beyond revisionHistoryLimit are removed")
def test_history(cluster):
    cluster.api.create(world.DEPLOYMENTS, deployment("past", 1, revisionHistoryLimit=1))
    rollout(cluster, "past")
    for number in range(2, 6):
        set_image(cluster, "past", f"x:{number}")
        rollout(cluster, "past")
    cluster.wait_until(lambda: len(sets_of(cluster, "past")) == 2, "two ReplicaSets")
    expect([one["spec"]["template"]["spec"]["containers"][0]["image"] for one in sets_of(cluster, "past")],
           ["x:4", "x:5"], "images")


@SUITE.test("a rollout that stands still exceeds its deadline, and a better template heals it")
def test_deadline(cluster):
    bad = deployment("stuck", 1, progressDeadlineSeconds=2)
    bad["spec"]["template"]["spec"]["nodeName"] = "nowhere"
    cluster.api.create(world.DEPLOYMENTS, bad)
    found = cluster.wait_for(f"{world.DEPLOYMENTS}/stuck",
                             lambda one: world.condition(one, "Progressing") == ("False", "ProgressDeadlineExceeded"))
    expect((world.condition(found, "Available"), found["status"]["unavailableReplicas"]),
           (("False", "MinimumReplicasUnavailable"), 1), "availability")
    # On a busy machine a good rollout may take longer than the deadline that the bad one had.
    since = cluster.api.patch(f"{world.DEPLOYMENTS}/stuck", {"spec": {
        "progressDeadlineSeconds": 600, "template": {"spec": {"nodeName": world.PLACE["node"]}}}})["metadata"]
    expect_in("successfully rolled out", rollout(cluster, "stuck"))
    # kubectl gives up when it meets the old condition beside the new generation: no version may have had both.
    versions = [event["object"] for event in cluster.api.watch(
        f"{world.DEPLOYMENTS}?fieldSelector=metadata.name=stuck&resourceVersion={since['resourceVersion']}", seconds=1)]
    observed = [world.condition(one, "Progressing")[0] for one in versions
                if one["status"].get("observedGeneration") == since["generation"]]
    expect((len(observed) > 0, "False" in observed), (True, False), "the condition of the new generation")


@SUITE.test("rollouts end well while the controllers are killed again and again")
def test_kill(cluster):
    cluster.api.create(world.DEPLOYMENTS, deployment("hard", 10))
    for number in range(2, 6):
        set_image(cluster, "hard", f"x:{number}")
        world.kill(cluster)
        world.start(cluster)
    rollout(cluster, "hard")
    cluster.wait_until(lambda: images(cluster, "hard") == ["x:5"] * 10, "ten pods with the last image")
    sets = sets_of(cluster, "hard")
    expect(len({one["spec"]["template"]["spec"]["containers"][0]["image"] for one in sets}), len(sets), "sets by image")
