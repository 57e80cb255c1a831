"""Deletion of what owners leave behind, and of namespaces."""

import suite
import world
from suite import expect

SUITE = suite.Suite()
MAPS = "/api/v1/namespaces/default/configmaps"
SPACES = "/api/v1/namespaces"


def config_map(name, owners=(), space="default", **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": name, "namespace": space, "ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"],
             "uid": owner["metadata"]["uid"], "blockOwnerDeletion": True} for owner in owners], **metadata}}


def make(cluster, name, *owners, **metadata):
    return cluster.api.create(MAPS, config_map(name, owners, **metadata))


def names(cluster, *wanted):
    return sorted(one["metadata"]["name"] for one in cluster.api.items(MAPS) if one["metadata"]["name"] in wanted)


@SUITE.test("dependents go when their last owner is gone, and lose references to those that are gone before")
def test_background(cluster):
    first, second = make(cluster, "first"), make(cluster, "second")
    make(cluster, "child", first, second)
    make(cluster, "grandchild", cluster.api.get(f"{MAPS}/child"))
    world.delete(cluster, f"{MAPS}/first")
    cluster.wait_for(f"{MAPS}/child", lambda found: [one["name"] for one in found["metadata"]["ownerReferences"]] == [
        "second"])
    world.delete(cluster, f"{MAPS}/second")
    cluster.wait_gone(f"{MAPS}/child")
    cluster.wait_gone(f"{MAPS}/grandchild")


@SUITE.test("an owner that is deleted in the foreground goes after its dependents")
def test_foreground(cluster):
    top = make(cluster, "top")
    middle = make(cluster, "middle", top)
    make(cluster, "bottom", middle, finalizers=["test/hold"])
    world.delete(cluster, f"{MAPS}/top", "Foreground")
    cluster.wait_for(f"{MAPS}/bottom", lambda found: "deletionTimestamp" in found["metadata"])
    expect(names(cluster, "top", "middle", "bottom"), ["bottom", "middle", "top"], "while one is held")
    cluster.api.patch(f"{MAPS}/bottom", {"metadata": {"finalizers": None}})
    cluster.wait_gone(f"{MAPS}/top")
    expect(names(cluster, "top", "middle", "bottom"), [], "after it")


@SUITE.test("things that own each other do not wait for each other in the foreground")
def test_circle(cluster):
    ring = [make(cluster, f"ring-{number}") for number in range(3)]
    for number, one in enumerate(ring):
        owner = config_map("", [ring[number - 1]])["metadata"]["ownerReferences"]
        cluster.api.patch(f"{MAPS}/{one['metadata']['name']}", {"metadata": {"ownerReferences": owner}})
    world.delete(cluster, f"{MAPS}/ring-0", "Foreground")
    for number in range(3):
        cluster.wait_gone(f"{MAPS}/ring-{number}")


@SUITE.test("with the policy Orphan dependents stay, without the reference")
def test_orphan(cluster):
    parent = make(cluster, "parent")
    for number in range(3):
        make(cluster, f"orphan-{number}", parent)
    world.delete(cluster, f"{MAPS}/parent", "Orphan")
    cluster.wait_gone(f"{MAPS}/parent")
    for number in range(3):
        expect(cluster.api.get(f"{MAPS}/orphan-{number}")["metadata"].get("ownerReferences"), None, "owners")


@SUITE.test("an owner that never was, or is in another namespace, counts as gone")
def test_absent(cluster):
    cluster.api.create(SPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "elsewhere"}})
    far = cluster.api.create(f"{SPACES}/elsewhere/configmaps", config_map("far", space="elsewhere"))
    make(cluster, "lost", {"metadata": {"name": "nobody", "uid": "00000000-0000-0000-0000-000000000000"}})
    make(cluster, "stray", far)
    cluster.wait_gone(f"{MAPS}/lost")
    cluster.wait_gone(f"{MAPS}/stray")
    expect(cluster.api.get(f"{SPACES}/elsewhere/configmaps/far")["metadata"]["name"], "far", "the owner")


@SUITE.test("the pods of a Deployment and of a Job go with them")
def test_workloads(cluster):
    template = world.template({"app": "tree"})
    cluster.api.create(world.DEPLOYMENTS, {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "tree"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "tree"}}, "template": template}})
    cluster.api.create(world.JOBS, {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "leaf"},
        "spec": {"parallelism": 2, "template": world.template({}, restartPolicy="Never")}})
    cluster.wait_until(lambda: len(world.pods_of(cluster, "app=tree")) == 2 and
                       len(world.pods_of(cluster, "job-name=leaf")) == 2, "all pods")
    world.delete(cluster, f"{world.DEPLOYMENTS}/tree", "Foreground")
    world.delete(cluster, f"{world.JOBS}/leaf", "Background")
    cluster.wait_gone(f"{world.DEPLOYMENTS}/tree")
    cluster.wait_until(lambda: not cluster.api.items(f"{world.PODS}?labelSelector=app=tree") and
                       not cluster.api.items(f"{world.PODS}?labelSelector=job-name=leaf"), "no pods")
    expect(cluster.api.items(f"{world.SETS}?labelSelector=app=tree"), [], "ReplicaSets")


@SUITE.test("objects of a new custom kind are collected as well")
def test_custom(cluster):
    group = "test.muster.scheduler"
    cluster.api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"knobs.{group}"},
        "spec": {"group": group, "scope": "Namespaced",
                 "names": {"plural": "knobs", "singular": "knob", "kind": "Knob", "listKind": "KnobList"},
                 "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                     "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}})
    path = f"/apis/{group}/v1/namespaces/default/knobs"
    cluster.wait_for(path)
    owner = make(cluster, "owner-of-knob")
    cluster.api.create(path, {"apiVersion": f"{group}/v1", "kind": "Knob", "metadata": {
        "name": "one", "ownerReferences": config_map("x", [owner])["metadata"]["ownerReferences"]}})
    world.delete(cluster, f"{MAPS}/owner-of-knob")
    cluster.wait_gone(f"{path}/one", 90)


@SUITE.test("a namespace has its ServiceAccount and its ConfigMap, again when they are deleted or changed")
def test_namespace(cluster):
    cluster.api.create(SPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    account = cluster.wait_for(f"{SPACES}/team/serviceaccounts/default")
    found = cluster.wait_for(f"{SPACES}/team/configmaps/kube-root-ca.crt")
    expect(found["data"]["ca.crt"].startswith("-----BEGIN CERTIFICATE"), True, "the authority")
    world.delete(cluster, f"{SPACES}/team/serviceaccounts/default")
    cluster.wait_for(f"{SPACES}/team/serviceaccounts/default",
                     lambda one: one["metadata"]["uid"] != account["metadata"]["uid"])
    path = f"{SPACES}/team/configmaps/kube-root-ca.crt"
    cluster.api.patch(path, {"metadata": {"labels": {"test/own": "yes"}}, "data": {"ca.crt": "nobody", "more": "x"}})
    restored = cluster.wait_for(path, lambda one: one["data"] == found["data"])
    expect(restored["metadata"]["labels"], {"test/own": "yes"}, "labels")
    world.delete(cluster, path)
    cluster.wait_for(path, lambda one: one["metadata"]["uid"] != found["metadata"]["uid"] and one["data"] == found["data"])


@SUITE.test("a namespace that is deleted is emptied first, and says what is left")
def test_empty(cluster):
    path = f"{SPACES}/team/configmaps"
    cluster.api.create(path, config_map("held", space="team", finalizers=["test/hold"]))
    cluster.api.create(f"{SPACES}/team/pods", {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}, "spec": world.template({})["spec"]})
    world.delete(cluster, f"{SPACES}/team")
    found = cluster.wait_for(f"{SPACES}/team", lambda one: world.condition(one, "NamespaceContentRemaining") == (
        "True", "SomeResourcesRemain") and world.condition(one, "NamespaceFinalizersRemaining") == (
            "True", "SomeFinalizersRemain"))
    expect(found["status"]["phase"], "Terminating", "phase")
    cluster.api.patch(f"{path}/held", {"metadata": {"finalizers": None}})
    cluster.wait_gone(f"{SPACES}/team")


@SUITE.test("controllers that are killed finish what they began")
def test_kill(cluster):
    for number in range(3):
        space = f"storm-{number}"
        cluster.api.create(SPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}})
        top = cluster.api.create(f"{SPACES}/{space}/configmaps", config_map("top", space=space))
        for child in range(10):
            cluster.api.create(f"{SPACES}/{space}/configmaps", config_map(f"child-{child}", [top], space=space))
        world.delete(cluster, f"{SPACES}/{space}/configmaps/top", "Foreground")
        world.kill(cluster)
        world.start(cluster)
        cluster.wait_gone(f"{SPACES}/{space}/configmaps/top")
        world.delete(cluster, f"{SPACES}/{space}")
        world.kill(cluster)
        world.start(cluster)
        cluster.wait_gone(f"{SPACES}/{space}")
