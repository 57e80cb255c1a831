"""kubectl rollout on Deployments and StatefulSets."""

from suite import Suite, expect, expect_in

SUITE = Suite()
IMAGE = ".spec.template.spec.containers[0].image"


@SUITE.test("a Deployment rolls out, shows its history and rolls back")
def _(here):
    with here.namespace("rollout-web") as place:
        place.kubectl("create", "deployment", "web", "--image=nginx:1", "--replicas=3")
        expect_in("successfully rolled out", place.roll_out("deployment/web"))
        place.kubectl("set", "image", "deployment/web", "nginx=nginx:2")
        place.kubectl("annotate", "deployment/web", "kubernetes.io/change-cause=the second")
        place.roll_out("deployment/web")
        place.wait_until(lambda: "the second" in place.kubectl("rollout", "history", "deployment/web"), "the cause in the history")
        lines = place.kubectl("rollout", "history", "deployment/web").splitlines()
        expect([line.split()[0] for line in lines[1:]], ["REVISION", "1", "2"])
        expect_in("nginx:1", place.kubectl("rollout", "history", "deployment/web", "--revision=1"))
        place.kubectl("rollout", "undo", "deployment/web")
        place.roll_out("deployment/web")
        expect(place.field("deployment", "web", IMAGE), "nginx:1")
        place.kubectl("rollout", "undo", "deployment/web", "--to-revision=2")
        place.roll_out("deployment/web")
        expect(place.field("deployment", "web", IMAGE), "nginx:2")
        expect({pod["spec"]["containers"][0]["image"] for pod in place.get("pods")["items"]
                if "deletionTimestamp" not in pod["metadata"]}, {"nginx:2"})
        expect(len(place.names("replicasets")), 2)


@SUITE.test("restart replaces all pods, and a paused Deployment waits")
def _(here):
    with here.namespace("rollout-restart") as place:
        place.kubectl("create", "deployment", "web", "--image=nginx", "--replicas=2")
        place.roll_out("deployment/web")
        before = place.names("pods")
        place.kubectl("rollout", "pause", "deployment/web")
        expect_in("paused", place.refused("rollout", "restart", "deployment/web"))
        place.kubectl("set", "image", "deployment/web", "nginx=nginx:2")
        place.kubectl("rollout", "resume", "deployment/web")
        place.kubectl("rollout", "restart", "deployment/web")
        place.roll_out("deployment/web")
        place.wait_until(lambda: not set(before) & set(place.names("pods")), "new pods")
        expect_in("restartedAt", place.kubectl("get", "deployment", "web", "-o", "yaml"))


@SUITE.test("a StatefulSet rolls out in order, has a history and rolls back")
def _(here):
    made = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {
        "serviceName": "db", "replicas": 2, "selector": {"matchLabels": {"app": "db"}}, "template": {
            "metadata": {"labels": {"app": "db"}},
            "spec": {"terminationGracePeriodSeconds": 1, "containers": [{"name": "main", "image": "db:1"}]}}}}
    with here.namespace("rollout-db") as place:
        place.apply(made)
        place.roll_out("statefulset/db")
        expect(place.names("pods"), ["db-0", "db-1"])
        place.kubectl("set", "image", "statefulset/db", "main=db:2")
        place.roll_out("statefulset/db")
        expect(place.field("pod", "db-0", ".spec.containers[0].image"), "db:2")
        lines = place.kubectl("rollout", "history", "statefulset/db").splitlines()
        expect([line.split()[0] for line in lines[1:]], ["REVISION", "1", "2"])
        place.kubectl("rollout", "undo", "statefulset/db")
        place.roll_out("statefulset/db")
        expect(place.field("pod", "db-1", ".spec.containers[0].image"), "db:1")
        place.kubectl("rollout", "restart", "statefulset/db")
        place.roll_out("statefulset/db")
        place.kubectl("scale", "statefulset", "db", "--replicas=1")
        place.wait_until(lambda: place.names("pods") == ["db-0"], "one pod")
