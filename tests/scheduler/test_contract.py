"""The scheduler: what users and tools of KAI see of it - rights, events, conditions, reasons."""

import contextlib
import io
import json
import urllib.request
import zipfile

import bed
from stage import GROUPS, PODS, QUEUES, REQUESTS, condition, node_of, queue_object
from suite import Suite, expect, expect_in

SUITE = Suite()

RBAC = "rbac.authorization.k8s.io"
READ = ["get", "list", "watch"]
# What of KAI's own ClusterRole for the scheduler counts here: pods/binding is not in it.
KAI_RULES = [
    {"apiGroups": [""], "resources": ["pods"], "verbs": [*READ, "delete", "patch", "update"]},
    {"apiGroups": [""], "resources": ["pods/status", "events"], "verbs": [*READ, "create", "patch", "update"]},
    {"apiGroups": [""], "resources": ["nodes", "namespaces", "configmaps", "persistentvolumes",
                                      "persistentvolumeclaims"], "verbs": READ},
    {"apiGroups": ["scheduling.k8s.io", "storage.k8s.io", "resource.k8s.io", "kai.scheduler",
                   "topology.node.k8s.io"], "resources": ["*"], "verbs": READ},
    {"apiGroups": ["scheduling.run.ai"], "resources": ["queues"], "verbs": READ},
    {"apiGroups": ["scheduling.run.ai"], "resources": ["podgroups", "podgroups/status", "bindrequests"],
     "verbs": ["*"]},
]


def user_with(stage, name, rules):
    stage.cluster.apply(
        {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules},
        {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
         "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
         "subjects": [{"apiGroup": RBAC, "kind": "Group", "name": name}]})
    return stage.cluster.credentials.user(f"one-of-{name}", [name])


@contextlib.contextmanager
def scheduler(stage, *flags, **options):
    """While it lasts, it runs so."""
    stage.stop()
    stage.start(*flags, **options)
    try:
        yield
    finally:
        stage.restart()


@SUITE.test("under KAI's role, which may not bind, pods are left to the binder, and the log says so once")
def _(stage):
    stage.clear()
    kubeconfig = user_with(stage, "kai-role", KAI_RULES)
    before = stage.log().count("may not create pods/binding")
    with scheduler(stage, kubeconfig=kubeconfig):
        stage.pod("first", 1)
        found = stage.cluster.wait_for(f"{REQUESTS}/first")["spec"]
        expect((found["podName"], found["receivedResourceType"]), ("first", "Regular"))
        stage.pod("second", 1)
        stage.cluster.wait_for(f"{REQUESTS}/second")
        expect(stage.log().count("may not create pods/binding") - before, 1)
        expect(stage.waits("first", "second", seconds=0.5), True)
        expect(stage.events("first", "FailedBinding"), [])


@SUITE.test("a pod is said to be scheduled when it is bound, not when that was decided")
def _(stage):
    stage.clear()
    stage.pod("shared", 0, annotations={"gpu-fraction": "0.5"})
    first = stage.cluster.wait_for(f"{REQUESTS}/shared")
    stage.api.patch(f"{REQUESTS}/shared/status", {"status": {"phase": "Failed", "reason": "no luck"}})
    again = stage.cluster.wait_for(f"{REQUESTS}/shared",
                                   lambda found: found["metadata"]["uid"] != first["metadata"]["uid"])
    expect(stage.stays(lambda: not stage.events("shared", "Scheduled")), True)
    node = again["spec"]["selectedNode"]
    stage.api.create(f"{PODS}/shared/binding", {
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "shared"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node}})
    event = stage.event("shared", "Scheduled")
    expect((event["message"], event.get("count", 1)),
           (f"Successfully assigned pod default/shared to node {node} at node-pool default", 1))


@SUITE.test("tools that wait for PodBound see it on pods that are bound directly, if that is asked for")
def _(stage):
    stage.clear()
    stage.pod("plain", 1)
    stage.bound("plain")
    with scheduler(stage, "--mark-bound-pods"):
        stage.pod("marked", 1)
        node = stage.bound("marked")[0]
        text = f"Pod bound successfully to node {node}"
        expect(stage.condition("marked", "PodBound", status="True", reason="Bound")["message"], text)
        expect(stage.event("marked", "Bound")["message"], text)
    expect(condition(stage.get("plain"), "PodBound"), {})


@SUITE.test("pods that the grouper passes over wait for a PodGroup, as in KAI")
def _(stage):
    stage.clear()
    with scheduler(stage, "--pod-label-selector=team=red", "--namespace-label-selector=gpus=yes"):
        try:
            stage.pod("skipped", 1, labels={"team": "red"}, annotations={"kai.scheduler/skip-podgrouper": "true"})
            stage.pod("other", 1, labels={"team": "blue"})
            stage.pod("far", 1, labels={"team": "red"})
            expect(stage.waits("skipped", "other", "far"), True)
            stage.api.patch("/api/v1/namespaces/default", {"metadata": {"labels": {"gpus": "yes"}}})
            stage.bound("far")
            expect(stage.waits("skipped", "other", seconds=0.5), True)
            stage.group("own")
            stage.api.patch(f"{PODS}/skipped", {"metadata": {"annotations": {"pod-group-name": "own"}}})
            stage.bound("skipped")
        finally:
            stage.api.patch("/api/v1/namespaces/default", {"metadata": {"labels": {"gpus": None}}})


@SUITE.test("a queue with children, and one whose parent is missing, are named as the reason")
def _(stage):
    stage.clear()
    stage.api.create(QUEUES, queue_object("orphan", "nobody"))
    stage.pod("inner", 1, queue="parent")
    stage.pod("lost", 1, queue="orphan")
    expect_in("Queue 'parent' has child queues and takes no workloads itself; use one of its children: q",
              stage.condition("inner", reason="Unschedulable")["message"])
    expect_in("Queue 'orphan' cannot be used: the parent of queue 'orphan', 'nobody', does not exist",
              stage.condition("lost", reason="Unschedulable")["message"])


@SUITE.test("a gang that is not complete says so on its pods")
def _(stage):
    stage.clear()
    stage.group("half", 3)
    stage.pod("half-0", 1, group="half")
    text = "Job is not ready for scheduling. Waiting for 3 pods, currently 1 exist, 0 are gated"
    expect(stage.condition("half-0", status="False", reason="NotReady")["message"], text)
    expect(stage.event("half-0", "NotReady")["message"], text)
    for number in (1, 2):
        stage.pod(f"half-{number}", 1, group="half")
    stage.bound("half-0", "half-1", "half-2")


@SUITE.test("memory of GPUs that are full is named as the reason")
def _(stage):
    stage.clear()
    for number in range(4):
        stage.pod(f"full-{number}", 8)
    stage.bound(*(f"full-{number}" for number in range(4)))
    stage.pod("memory", 0, annotations={"gpu-memory": "1024"})
    expect_in("4 node(s) didn't have enough resources: GPU memory",
              stage.condition("memory", reason="Unschedulable")["message"])


@SUITE.test("a claim that waits for a pod, and finds no volume, is not called immediate")
def _(stage):
    stage.clear()
    claims = "/api/v1/namespaces/default/persistentvolumeclaims"
    classes = "/apis/storage.k8s.io/v1/storageclasses"
    stage.api.create(classes, {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
                               "metadata": {"name": "local"}, "provisioner": "kubernetes.io/no-provisioner",
                               "volumeBindingMode": "WaitForFirstConsumer"})
    try:
        stage.api.create(claims, {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "disk"},
                                  "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "local",
                                           "resources": {"requests": {"storage": "1Gi"}}}})
        stage.pod("writer", 1, volumes=[{"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}])
        text = stage.condition("writer", reason="Unschedulable")["message"]
        expect_in("didn't find available persistent volumes to bind: persistentvolumeclaim \"disk\"", text)
        expect("immediate" in text, False, text)
    finally:
        stage.delete("writer")
        stage.api.delete(f"{claims}/disk")
        stage.api.delete(f"{classes}/local")


@SUITE.test("an autoscaler is not asked for nodes that a quota, a limit or a gang's missing pods would leave empty")
def _(stage):
    stage.clear()
    stage.queue("small", quota=1, limit=1)
    with scheduler(stage, "--cluster-autoscaling"):
        stage.pod("over-limit", 2, queue="small")
        expect_in("quota has reached the allowable limit", stage.condition("over-limit", reason="OverLimit")["message"])
        stage.group("fixed", queue="small", preemptibility="non-preemptible")
        stage.pod("over-quota", 2, queue="small", group="fixed")
        found = stage.condition("over-quota", status="False")
        expect(found["reason"] in ("NonPreemptibleOverQuota", "OverLimit"), True, found)
        stage.pod("homeless", 1, queue="none")
        stage.condition("homeless", reason="QueueDoesNotExist")
        for number in range(4):
            stage.pod(f"full-{number}", 8)
        stage.bound(*(f"full-{number}" for number in range(4)))
        stage.pod("no-room", 8)
        stage.condition("no-room", reason="Unschedulable")


@SUITE.test("pods that may not be preempted are marked for autoscalers to leave them alone")
def _(stage):
    stage.clear()
    keys = {"karpenter.sh/do-not-disrupt": "true", "cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}

    def marks(name):
        return {key: value for key, value in stage.get(name)["metadata"]["annotations"].items() if key in keys}

    with scheduler(stage, "--cluster-autoscaling"):
        stage.group("fixed", preemptibility="non-preemptible")
        stage.pod("stays", 1, group="fixed")
        stage.pod("goes", 1)
        stage.bound("stays", "goes")
        expect((marks("stays"), marks("goes")), (keys, {}))
        stage.group("shared", preemptibility="non-preemptible")
        stage.pod("part", 0, group="shared", annotations={"gpu-fraction": "0.5"})
        request = stage.cluster.wait_for(f"{REQUESTS}/part")
        expect(request["metadata"]["annotations"], {"karpenter.sh/do-not-disrupt": "true"})


@SUITE.test("a pod that is ending costs its queue nothing any more: another one may take what the limit allows, and no third")
def _(stage):
    stage.clear()
    stage.queue("capped", limit=1)
    stage.pod("ends", 0, queue="capped", annotations={"gpu-memory": "40000"})
    stage.cluster.wait_for(f"{REQUESTS}/ends")
    stage.pod("whole", 1, queue="capped")
    stage.condition("whole", reason="Unschedulable")
    stage.delete("ends")
    stage.cluster.wait_gone(f"{PODS}/ends")
    stage.bound("whole")
    stage.api.patch(f"{PODS}/whole", {"metadata": {"finalizers": ["test.example.com/held"]}})
    stage.delete("whole")
    stage.cluster.wait_for(f"{PODS}/whole", lambda one: "deletionTimestamp" in one["metadata"])
    stage.pod("next", 1, queue="capped")
    stage.bound("next")
    expect("deletionTimestamp" in stage.get("whole")["metadata"], True, "the first pod is still there")
    stage.pod("third", 0, queue="capped", annotations={"gpu-memory": "40000"})
    stage.condition("third", reason="Unschedulable")
    stage.api.patch(f"{PODS}/whole", {"metadata": {"finalizers": None}})


@SUITE.test("a snapshot has every kind that it is to have, and the scheduler may read all of them")
def _(stage):
    stage.clear()
    port, = bed.free_ports(1)
    storage = "/apis/storage.k8s.io/v1"
    stage.api.create(f"{storage}/csidrivers", {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver",
                                               "metadata": {"name": "disks.example.com"}, "spec": {}})
    with scheduler(stage, f"--plugin-server-port={port}"):
        stage.pod("inside", 1)
        stage.bound("inside")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/get-snapshot", timeout=60) as answer:
            with zipfile.ZipFile(io.BytesIO(answer.read())) as archive:
                found = json.loads(archive.read("snapshot.json"))["rawObjects"]
    stage.api.delete(f"{storage}/csidrivers/disks.example.com")
    expect([one["metadata"]["name"] for one in found["pods"]], ["inside"])
    expect([one["metadata"]["name"] for one in found["csiDrivers"]], ["disks.example.com"])
    expect({"bindRequests", "configMaps", "csiStorageCapacities", "deviceClasses", "resourceSlices", "topologies"} - set(found),
           set(), "lists that are missing")


@SUITE.test("switches of plugins in KAI's file do nothing, as in KAI, and are named in the log")
def _(stage):
    stage.clear()
    config = stage.cluster.folder / "switches.yaml"
    plugins = [{"name": "predicates", "disablePredicate": True}, {"name": "proportion"}, {"name": "priority"},
               {"name": "nodeplacement", "disableNodeOrder": False}, {"name": "reflectjoborder"}]
    config.write_text(json.dumps({"actions": "allocate", "tiers": [{"plugins": plugins}]}))
    before = stage.log().count("disable")
    with scheduler(stage, f"--scheduler-conf={config}"):
        log = stage.log()
        expect_in("disablePredicate", log)
        expect(log.count("disable") - before, 1)
        expect("unknown plugin" in log, False)
        stage.pod("tied", 1, nodeSelector={"none": "such"})
        stage.condition("tied", reason="Unschedulable")
        expect(node_of(stage.get("tied")), None)
    expect(stage.api.items(GROUPS), [])
