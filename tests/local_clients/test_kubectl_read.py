"""kubectl commands that only read."""

import subprocess

import desk
from suite import Suite, expect, expect_in

SUITE = Suite()


@SUITE.test("get prints the columns of a kind, and more of them with -o wide")
def _(here):
    with here.namespace("read-table") as place:
        place.apply(desk.pod("a"), desk.pod("b"))
        place.kubectl("wait", "--for=condition=Ready", "pod", "--all", "--timeout=60s")
        lines = place.kubectl("get", "pods").splitlines()
        expect(lines[0].split(), ["NAME", "READY", "STATUS", "RESTARTS", "AGE"])
        expect([line.split()[:4] for line in lines[1:]], [["a", "1/1", "Running", "0"], ["b", "1/1", "Running", "0"]])
        wide = place.kubectl("get", "pods", "-o", "wide").splitlines()
        expect_in("NOMINATED NODE", wide[0])
        expect_in("fake-0000", wide[1])


@SUITE.test("get sorts, selects, and prints YAML, names, columns and templates")
def _(here):
    with here.namespace("read-forms") as place:
        place.apply(desk.config("b", {"x": "1"}, k="1"), desk.config("a", {"x": "2"}, k="2"), desk.config("c", k="0"))
        names = place.kubectl("get", "configmaps", "-l", "x", "--sort-by=.metadata.name", "-o", "name").split()
        expect(names, ["configmap/a", "configmap/b"])
        table = place.kubectl("get", "configmaps", "-l", "x", "--sort-by=.data.k", "--no-headers")
        expect([line.split()[0] for line in table.splitlines()], ["b", "a"])
        expect(place.kubectl("get", "configmaps", "-l", "x in (1,3)", "-o", "jsonpath={.items[*].metadata.name}"), "b")
        expect(place.kubectl("get", "configmaps", "-l", "x,x!=1", "-o", "name"), "configmap/a")
        expect(place.kubectl("get", "configmaps", "--field-selector=metadata.name=c", "-o", "name"), "configmap/c")
        expect_in("k: \"1\"", place.kubectl("get", "configmap", "b", "-o", "yaml"))
        columns = place.kubectl("get", "configmap", "a", "-o", "custom-columns=N:.metadata.name,K:.data.k")
        expect(columns.split(), ["N", "K", "a", "2"])
        expect(place.kubectl("get", "configmap", "a", "-o", "go-template={{.data.k}}"), "2")
        expect_in("x=1", place.kubectl("get", "configmaps", "--show-labels"))
        expect(place.kubectl("get", "configmaps", "-L", "x").split()[:5], ["NAME", "DATA", "AGE", "X", "a"])
        expect(len(place.kubectl("get", "configmaps", "--chunk-size=1", "-o", "name").split()), 4)
        expect_in("NotFound", place.refused("get", "configmap", "none"))
        expect(place.kubectl("get", "configmap", "none", "--ignore-not-found"), "")


@SUITE.test("get --watch prints a line for each change")
def _(here):
    with here.namespace("read-watch") as place:
        place.apply(desk.config("w", k="1"))
        watch = subprocess.Popen(["kubectl", "-n", place.name, "get", "configmap", "w", "--watch", "--output-watch-events"],
                                 env=here.environment(), cwd=here.folder, stdout=subprocess.PIPE, text=True)
        try:
            lines = [watch.stdout.readline().split(), watch.stdout.readline().split()]
            place.kubectl("label", "configmap", "w", "a=b")
            lines.append(watch.stdout.readline().split())
            place.kubectl("delete", "configmap", "w")
            lines.append(watch.stdout.readline().split())
        finally:
            watch.terminate()
            watch.wait(desk.SECONDS)
            watch.stdout.close()
        expect(lines[0], ["EVENT", "NAME", "DATA", "AGE"])
        expect([line[:3] for line in lines[1:]], [["ADDED", "w", "1"], ["MODIFIED", "w", "1"], ["DELETED", "w", "1"]])


@SUITE.test("describe shows pods, workloads, nodes and namespaces, with their events")
def _(here):
    with here.namespace("read-describe") as place:
        place.kubectl("create", "deployment", "web", "--image=nginx", "--replicas=1")
        place.roll_out("deployment/web")
        expect_in("ScalingReplicaSet", place.kubectl("describe", "deployment", "web"))
        name = place.names("pods")[0]
        place.wait_until(lambda: "Scheduled" in place.kubectl("describe", "pod", name), "the event about the pod")
        said = place.kubectl("describe", "pod", name)
        for text in ("Controlled By:  ReplicaSet/web-", "Node:             fake-0000", "QoS Class:", "Ready:          True"):
            expect_in(text, said)
        said = place.kubectl("describe", "node", place.field("pod", name, ".spec.nodeName"))
        for text in ("nvidia.com/gpu:     8", name, "KubeletReady", "System UUID"):
            expect_in(text, said)
        expect_in("Active", place.kubectl("describe", "namespace", place.name))
        expect_in("ScalingReplicaSet", place.kubectl("describe", "deployment", "web"))
        expect_in("Pod Template", place.kubectl("describe", "replicaset"))
        expect_in("quota", place.kubectl("describe", "queue", "default-queue").lower())


@SUITE.test("events lists what happened, of one object or of all")
def _(here):
    with here.namespace("read-events") as place:
        place.apply(desk.pod("a"))
        place.kubectl("wait", "--for=condition=Ready", "pod/a", "--timeout=60s")
        place.wait_until(lambda: "Scheduled" in place.kubectl("events", "--for", "pod/a"), "the event")
        expect_in("Pod/a", place.kubectl("events"))
        expect_in("pod/a", place.kubectl("get", "events"))
        only = place.kubectl("get", "events", "--field-selector", "involvedObject.name=a,reason=Scheduled", "-o", "name")
        expect(len(only.split()), 1)
        expect(place.kubectl("get", "events", "--field-selector", "type=Warning", "-o", "name"), "")


@SUITE.test("explain knows the members of built-in kinds and of custom ones")
def _(here):
    expect_in("containers\t<[]Container>", here.kubectl("explain", "pod.spec"))
    expect_in("-required-", here.kubectl("explain", "pod.spec.containers"))
    expect_in("image\t<string>", here.kubectl("explain", "deployment.spec.template.spec.containers"))
    expect_in("overQuotaWeight", here.kubectl("explain", "queue", "--recursive"))
    expect_in("GROUP:      batch", here.kubectl("explain", "job"))
    expect_in("does not exist", here.refused("kubectl", "explain", "pod.spec.none"))


@SUITE.test("api-resources and api-versions list the kinds with their short names and verbs")
def _(here):
    said = here.kubectl("api-resources", "-o", "wide")
    expect_in("po ", said)
    expect_in("create,delete,deletecollection,get,list,patch,update,watch", said)
    names = here.kubectl("api-resources", "--namespaced=false", "-o", "name").split()
    for name in ("nodes", "namespaces", "queues.scheduling.run.ai", "customresourcedefinitions.apiextensions.k8s.io"):
        expect_in(name, names)
    expect("pods" in names, False, "pods are in namespaces")
    expect_in("deployments.apps", here.kubectl("api-resources", "--categories=all", "-o", "name").split())
    expect_in("scheduling.run.ai/v2\n", here.kubectl("api-versions"))


@SUITE.test("version, cluster-info and the health pages answer")
def _(here):
    expect_in("+muster", here.kubectl("version"))
    expect_in("is running at", here.kubectl("cluster-info"))
    for page in ("/healthz", "/livez", "/readyz"):
        expect(here.kubectl("get", "--raw", page), "ok", page)
    expect_in("check passed", here.kubectl("get", "--raw", "/readyz?verbose"))


@SUITE.test("auth says who the user is and what the user may do")
def _(here):
    expect(here.kubectl("auth", "can-i", "create", "pods").strip(), "yes")
    expect(here.kubectl("auth", "can-i", "get", "/healthz").strip(), "yes")
    expect_in("Username", here.kubectl("auth", "whoami"))
    expect_in("Verbs", here.kubectl("auth", "can-i", "--list"))


@SUITE.test("wait sees conditions, JSON paths, creations and deletions")
def _(here):
    with here.namespace("read-wait") as place:
        waiting = [subprocess.Popen(["kubectl", "-n", place.name, "wait", *words, f"--timeout={desk.SECONDS}s"],
                                    env=here.environment(), cwd=here.folder, stdout=subprocess.DEVNULL)
                   for words in (("--for=create", "pod/a"), ("--for=create", "configmap/later"))]
        place.apply(desk.pod("a"), desk.config("later", k="v"))
        expect([one.wait(desk.SECONDS) for one in waiting], [0, 0], "the waits for creations")
        place.kubectl("wait", "--for=condition=Ready", "pod/a", "--timeout=60s")
        place.kubectl("wait", "--for=condition=ready=true", "pod/a", "--timeout=60s")
        place.kubectl("wait", "--for=jsonpath={.status.phase}=Running", "pod/a", "--timeout=60s")
        place.kubectl("delete", "pod", "a", "--wait=false")
        place.kubectl("wait", "--for=delete", "pod/a", "--timeout=60s")
        expect_in("timed out", place.refused("wait", "--for=jsonpath={.data.k}=other", "configmap/later", "--timeout=1s"))
