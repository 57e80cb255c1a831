"""kubectl commands that change an object: replace, edit, label, annotate, patch, set, scale."""

import json

import desk
from suite import Suite, expect, expect_in

SUITE = Suite()


@SUITE.test("replace writes the whole object, and refuses an old version")
def _(here):
    with here.namespace("change-replace") as place:
        place.apply(desk.config("a", k="1"))
        old = place.get("configmap", "a")
        place.kubectl("replace", "-f", "-", feed=json.dumps({**old, "data": {"n": "2"}}))
        expect(place.get("configmap", "a")["data"], {"n": "2"})
        expect_in("has been modified", place.refused("replace", "-f", "-", feed=json.dumps({**old, "data": {"n": "3"}})))
        place.kubectl("replace", "-f", "-", feed=json.dumps(desk.config("a", n="4")))
        place.kubectl("replace", "--force", "-f", "-", feed=json.dumps(desk.config("a", n="5")))
        found = place.get("configmap", "a")
        expect(found["data"], {"n": "5"})
        expect(found["metadata"]["uid"] != old["metadata"]["uid"], True, "a new object")


@SUITE.test("edit opens the object in an editor and sends what has changed")
def _(here):
    editor = here.folder / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/k: one/k: two/' \"$1\"\n")
    editor.chmod(0o755)
    with here.namespace("change-edit") as place:
        place.apply(desk.config("a", k="one"))
        done = here.call("env", f"EDITOR={editor}", "kubectl", "-n", place.name, "edit", "configmap", "a")
        expect_in("configmap/a edited", done.stdout + done.stderr)
        expect(place.field("configmap", "a", ".data.k"), "two")
        done = here.call("env", f"EDITOR={editor}", "kubectl", "-n", place.name, "edit", "configmap", "a")
        expect_in("no changes", done.stdout + done.stderr)


@SUITE.test("edit works on custom objects and on a subresource")
def _(here):
    editor = here.folder / "editor-queue"
    editor.write_text("#!/bin/sh\nsed -i 's/displayName: one/displayName: two/' \"$1\"\n")
    editor.chmod(0o755)
    here.apply(desk.queue("clients-edit", displayName="one"))
    done = here.call("env", f"EDITOR={editor}", "kubectl", "edit", "queue", "clients-edit")
    expect(done.returncode, 0, done.stderr)
    expect(here.kubectl("get", "queue", "clients-edit", "-o", "jsonpath={.spec.displayName}"), "two")
    here.kubectl("patch", "queue", "clients-edit", "--subresource=status", "--type=merge", "-p",
                 '{"status":{"childQueues":["x"]}}')
    here.kubectl("get", "queue", "clients-edit", "--subresource=status", "-o", "name")
    here.kubectl("delete", "queue", "clients-edit")


@SUITE.test("labels and annotations are set, overwritten on demand and removed")
def _(here):
    with here.namespace("change-label") as place:
        place.apply(desk.config("a", {"x": "1"}), desk.config("b"))
        expect_in("overwrite", place.refused("label", "configmap", "a", "x=2"))
        place.kubectl("label", "configmap", "a", "x=2", "--overwrite")
        place.kubectl("label", "configmap", "a", "b", "team=t")
        expect(place.names("configmap", "-l", "team=t"), ["a", "b"])
        place.kubectl("label", "configmap", "--all", "team-")
        expect(place.names("configmap", "-l", "team"), [])
        place.kubectl("annotate", "configmap", "a", "note=text with spaces")
        expect(place.field("configmap", "a", ".metadata.annotations.note"), "text with spaces")
        place.kubectl("annotate", "configmap", "a", "note-")
        expect(place.field("configmap", "a", ".metadata.annotations.note"), "")
        wrong = json.dumps({"metadata": {"labels": {"x": 64 * "y"}}})
        expect_in("must be no more than 63 bytes", place.refused("patch", "configmap", "a", "-p", wrong))


@SUITE.test("each type of patch does what its rules say")
def _(here):
    with here.namespace("change-patch") as place:
        place.kubectl("create", "deployment", "d", "--image=x", "--replicas=0")
        patch = json.dumps({"spec": {"template": {"spec": {"containers": [{"name": "more", "image": "y"}]}}}})
        place.kubectl("patch", "deployment", "d", "-p", patch)
        names = ".spec.template.spec.containers[*].name"
        expect(sorted(place.field("deployment", "d", names).split()), ["more", "x"])
        place.kubectl("patch", "deployment", "d", "--type=merge", "-p", patch)
        expect(place.field("deployment", "d", names), "more")
        place.kubectl("patch", "deployment", "d", "--type=json", "-p",
                      '[{"op":"test","path":"/spec/replicas","value":0},{"op":"add","path":"/spec/paused","value":true}]')
        expect(place.field("deployment", "d", ".spec.paused"), "true")
        expect_in("422", place.refused("patch", "deployment", "d", "--type=json", "-v6", "-p",
                                       '[{"op":"test","path":"/spec/replicas","value":7}]'))
        expect_in("immutable", place.refused("patch", "deployment", "d", "-p", '{"spec":{"selector":{"matchLabels":{"z":"1"}}}}'))
        expect_in("no change", place.kubectl("patch", "deployment", "d", "-p", '{"spec":{"paused":true}}'))


@SUITE.test("set changes images, variables, resources, accounts, selectors and subjects")
def _(here):
    with here.namespace("change-set") as place:
        place.kubectl("create", "deployment", "d", "--image=nginx:1", "--replicas=0")
        place.kubectl("set", "image", "deployment/d", "nginx=nginx:2")
        place.kubectl("set", "env", "deployment/d", "A=1", "B=2")
        place.kubectl("set", "env", "deployment/d", "A-")
        place.kubectl("set", "resources", "deployment", "d", "--limits=cpu=2,memory=1Gi", "--requests=cpu=1500m")
        place.kubectl("create", "serviceaccount", "robot")
        place.kubectl("set", "serviceaccount", "deployment", "d", "robot")
        spec = place.get("deployment", "d")["spec"]["template"]["spec"]
        expect(spec["serviceAccountName"], "robot")
        main = spec["containers"][0]
        expect(main["image"], "nginx:2")
        expect(main["env"], [{"name": "B", "value": "2"}])
        expect(main["resources"], {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1500m"}})
        place.kubectl("create", "service", "clusterip", "s", "--tcp=80")
        place.kubectl("set", "selector", "service", "s", "app=other")
        expect(place.field("service", "s", ".spec.selector.app"), "other")
        place.kubectl("create", "rolebinding", "r", "--clusterrole=view", "--user=a")
        place.kubectl("set", "subject", "rolebinding", "r", "--user=b")
        expect(place.field("rolebinding", "r", ".subjects[*].name"), "a b")


@SUITE.test("scale changes the replicas, and only from the number that it was told")
def _(here):
    with here.namespace("change-scale") as place:
        place.kubectl("create", "deployment", "d", "--image=x", "--replicas=1")
        place.kubectl("scale", "deployment", "d", "--replicas=2")
        expect_in("Expected replicas", place.refused("scale", "deployment", "d", "--replicas=5", "--current-replicas=1"))
        place.kubectl("scale", "deployment", "d", "--replicas=3", "--current-replicas=2")
        place.roll_out("deployment/d")
        expect(len(place.names("pods")), 3)
        name = place.names("replicasets")[0]
        expect(place.field("replicaset", name, ".spec.replicas"), "3")
        found = json.loads(place.kubectl("get", "deployment", "d", "--subresource=scale", "-o", "json"))
        expect((found["kind"], found["apiVersion"], found["spec"]), ("Scale", "autoscaling/v1", {"replicas": 3}))


@SUITE.test("autoscale keeps its object, which nothing acts upon")
def _(here):
    with here.namespace("change-auto") as place:
        place.kubectl("create", "deployment", "d", "--image=x", "--replicas=1")
        place.kubectl("autoscale", "deployment", "d", "--min=1", "--max=3", "--cpu=50%")
        found = place.get("hpa", "d")
        expect(found["spec"]["maxReplicas"], 3)
        expect_in("REFERENCE", place.kubectl("get", "hpa"))
        expect_in("Deployment/d", place.kubectl("get", "hpa"))
        expect_in("Deployment/d", place.kubectl("describe", "hpa", "d"))
        place.kubectl("delete", "hpa", "d")
