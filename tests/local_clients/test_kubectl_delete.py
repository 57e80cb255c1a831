"""kubectl delete, with all its cascades, and the end of namespaces."""

import json

import desk
from suite import Suite, expect, expect_in

SUITE = Suite()


def start_web(place):
    place.kubectl("create", "deployment", "web", "--image=x", "--replicas=2")
    place.roll_out("deployment/web")


@SUITE.test("deleting a Deployment in the background takes its sets and pods")
def _(here):
    with here.namespace("delete-back") as place:
        start_web(place)
        place.kubectl("delete", "deployment", "web")
        place.wait_until(lambda: not place.names("replicasets,pods"), "the end of sets and pods")


@SUITE.test("deleting in the foreground returns when the pods are gone")
def _(here):
    with here.namespace("delete-fore") as place:
        start_web(place)
        place.kubectl("delete", "deployment", "web", "--cascade=foreground")
        expect(place.names("replicasets"), [])
        expect([name for name in place.names("pods") if not place.field("pod", name, ".metadata.deletionTimestamp")], [])


@SUITE.test("deleting with orphans leaves the pods, without an owner")
def _(here):
    with here.namespace("delete-orphan") as place:
        start_web(place)
        place.kubectl("delete", "deployment", "web", "--cascade=orphan")
        sets = place.names("replicasets")
        expect(len(sets), 1)
        expect(place.field("replicaset", sets[0], ".metadata.ownerReferences"), "")
        place.kubectl("delete", "replicaset", sets[0], "--cascade=orphan")
        pods = place.names("pods")
        expect(len(pods), 2)
        expect(place.field("pod", pods[0], ".metadata.ownerReferences"), "")


@SUITE.test("deleting a Job with kubectl takes its pods, and the plain API leaves them")
def _(here):
    with here.namespace("delete-job") as place:
        place.kubectl("create", "job", "j", "--image=x")
        place.wait_until(lambda: place.names("pods"), "the pod of the Job")
        place.kubectl("delete", "job", "j")
        place.wait_until(lambda: not place.names("pods"), "the end of the pod")
        place.kubectl("create", "job", "k", "--image=x")
        place.wait_until(lambda: place.names("pods"), "the pod of the Job")
        here.api.delete(f"/apis/batch/v1/namespaces/{place.name}/jobs/k")
        here.wait_gone(f"/apis/batch/v1/namespaces/{place.name}/jobs/k")
        expect(place.get("pods")["items"][0]["metadata"].get("ownerReferences"), None)


@SUITE.test("delete takes names, labels, fields, files and all")
def _(here):
    with here.namespace("delete-many") as place:
        objects = [desk.config(name, {"x": name}, k="v") for name in "abcdef"]
        place.apply(*objects)
        place.kubectl("delete", "configmap", "a", "b")
        place.kubectl("delete", "configmap", "-l", "x in (c)")
        place.kubectl("delete", "configmap", "--field-selector=metadata.name=d")
        place.kubectl("delete", "-f", "-", feed=json.dumps(objects[4]))
        expect(place.names("configmap"), ["f", "kube-root-ca.crt"])
        expect_in("NotFound", place.refused("delete", "configmap", "a"))
        place.kubectl("delete", "configmap", "a", "--ignore-not-found")
        place.kubectl("delete", "configmap", "f", "--dry-run=server")
        place.kubectl("delete", "configmap", "--all")
        place.wait_until(lambda: place.names("configmap") == ["kube-root-ca.crt"], "the certificate comes back")


@SUITE.test("pods end by their grace, at once with --force, and soon with --now")
def _(here):
    with here.namespace("delete-grace") as place:
        place.apply(*(desk.pod(name) for name in ("a", "b", "c")))
        place.kubectl("wait", "--for=condition=Ready", "pod", "--all", "--timeout=60s")
        place.kubectl("delete", "pod", "a")
        place.kubectl("delete", "pod", "b", "--force")
        place.kubectl("delete", "pod", "c", "--now")
        expect(place.names("pods"), [])


@SUITE.test("an object with a finalizer stays until the finalizer is taken off")
def _(here):
    with here.namespace("delete-final") as place:
        held = desk.config("a", k="v")
        held["metadata"]["finalizers"] = ["example.com/hold"]
        place.apply(held)
        place.kubectl("delete", "configmap", "a", "--wait=false")
        expect(bool(place.field("configmap", "a", ".metadata.deletionTimestamp")), True, "a time of deletion")
        expect_in("Forbidden", place.refused("patch", "configmap", "a", "--type=merge", "-p",
                                             '{"metadata":{"finalizers":["example.com/hold","example.com/more"]}}'))
        place.kubectl("patch", "configmap", "a", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        expect_in("NotFound", place.refused("get", "configmap", "a"))


@SUITE.test("deleting a namespace waits for what is in it")
def _(here):
    here.kubectl("create", "namespace", "delete-space")
    place = desk.Place(here, "delete-space")
    here.wait_for("/api/v1/namespaces/delete-space/serviceaccounts/default")
    start_web(place)
    here.kubectl("delete", "namespace", "delete-space", f"--timeout={desk.SECONDS}s")
    expect_in("NotFound", here.refused("kubectl", "get", "namespace", "delete-space"))
    expect(here.api.items("/api/v1/namespaces/delete-space/pods"), [])
