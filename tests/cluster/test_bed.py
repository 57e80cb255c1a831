"""The test bed itself: that it is a Kubernetes, and that it goes away."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import build
import client
import ledger
from suite import Skip, Suite, expect, expect_in

SUITE = Suite()
HERE = pathlib.Path(__file__).resolve().parent
PODS = "/api/v1/namespaces/default/pods"


def pod(name, gpus=1, annotations=None, scheduler=None):
    spec = {
        "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "main", "image": "none", "resources": {
            "requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"nvidia.com/gpu": str(gpus)} if gpus else {}}}],
    }
    if scheduler:
        spec["schedulerName"] = scheduler
    metadata = {"name": name, "annotations": annotations or {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def phase_is(phase):
    return lambda found: found["status"].get("phase") == phase


def condition(found, kind):
    return next((one for one in found["status"].get("conditions", []) if one["type"] == kind), {})


@SUITE.test("the servers and kubectl are of the pinned versions")
def _(cluster):
    version = build.programs()["kube-apiserver"].version
    expect(cluster.api.get("/version")["gitVersion"], version, "API server")
    expect_in(f"Client Version: {version}", cluster.kubectl("version"))
    etcd = cluster.command(build.binary("etcd"), "--version")
    expect_in(build.programs()["etcd"].version.removeprefix("v"), etcd)


@SUITE.test("an admin gets in by certificate and by token")
def _(cluster):
    for kubeconfig in (cluster.kubeconfig, cluster.credentials.token_user("by-token", cluster.credentials.token)):
        expect_in("admin", cluster.kubectl("auth", "whoami", kubeconfig=kubeconfig))
        expect(cluster.kubectl("auth", "can-i", "*", "*", kubeconfig=kubeconfig).strip(), "yes")


@SUITE.test("a wrong token and a foreign certificate authority are refused")
def _(cluster):
    try:
        cluster.client(token="wrong").get("/api/v1/nodes")
    except client.ApiError as error:
        expect(error.status, 401)
    else:
        raise AssertionError("the wrong token was taken")
    said = cluster.kubectl("get", "nodes", "--server", cluster.server, "--token", cluster.credentials.token,
                           kubeconfig="/dev/null", check=False)
    expect_in("certificate", said)


@SUITE.test("a user may do only what RBAC grants")
def _(cluster):
    mine = cluster.credentials.user("reader", ["readers"])
    expect_in("forbidden", cluster.kubectl("get", "nodes", kubeconfig=mine, check=False))
    cluster.kubectl("create", "clusterrole", "node-reader", "--verb=get,list", "--resource=nodes")
    cluster.kubectl("create", "clusterrolebinding", "node-readers", "--clusterrole=node-reader", "--group=readers")

    def is_granted():
        return "forbidden" not in cluster.kubectl("get", "nodes", kubeconfig=mine, check=False)
    cluster.wait_until(is_granted, "the grant")
    expect_in("forbidden", cluster.kubectl("delete", "node", "node-00000", kubeconfig=mine, check=False))


@SUITE.test("a service account gets a token that ends and is known by its name")
def _(cluster):
    cluster.kubectl("create", "serviceaccount", "worker")
    token = cluster.kubectl("create", "token", "worker", "--duration=10m").strip()
    said = cluster.kubectl("auth", "whoami", kubeconfig=cluster.credentials.token_user("worker", token))
    expect_in("system:serviceaccount:default:worker", said)


@SUITE.test("the nodes of KWOK get ready, with GPUs and their labels")
def _(cluster):
    names = cluster.add_nodes(3, first=90000, labels={"zone": "a"})
    for name in names:
        node = cluster.api.get(f"/api/v1/nodes/{name}")
        expect(node["status"]["allocatable"]["nvidia.com/gpu"], "8")
        labels = node["metadata"]["labels"]
        expect((labels["nvidia.com/gpu.count"], labels["nvidia.com/gpu.memory"], labels["zone"]), ("8", "81559", "a"))
    cluster.kubectl("delete", "node", *names)
    for name in names:
        cluster.wait_gone(f"/api/v1/nodes/{name}")


@SUITE.test("pods of kube-scheduler run, on as many GPUs as there are")
def _(cluster):
    room = 8 * len(cluster.ready_nodes())
    for number in range(room + 1):
        cluster.api.create(PODS, pod(f"fill-{number}"))

    def settled():
        pods = cluster.api.items(PODS)
        running = [one for one in pods if one["status"]["phase"] == "Running"]
        waiting = [one for one in pods if condition(one, "PodScheduled").get("reason") == "Unschedulable"]
        return len(running) == room and len(waiting) == 1 and waiting[0]
    waiting = cluster.wait_until(settled, f"{room} pods run and one waits")
    expect_in("Insufficient nvidia.com/gpu", condition(waiting, "PodScheduled")["message"])

    cluster.kubectl("delete", "pods", "--all", "--wait=false")
    cluster.wait_until(lambda: not cluster.api.items(PODS), "all pods gone")


@SUITE.test("the ledger finds GPUs, nodes and queues that gave away too much, and reads on after etcd was killed")
def _(cluster):
    book = ledger.Ledger(cluster, cluster.revision(), 8, {"small": 10})
    node = sorted(cluster.ready_nodes())[0]

    def put(name, gpus=0, queue="q", annotations=None, labels=None):
        made = pod(name, gpus, annotations)
        made["metadata"]["labels"] = {"kai.scheduler/queue": queue, **(labels or {})}
        made["spec"]["nodeName"] = node
        cluster.api.create(PODS, made)

    put("eight", 8, "small")
    for number in range(5):
        put(f"fifth-{number}", annotations={"gpu-fraction": "0.2"}, labels={"runai-gpu-group": "g"})
    cluster.wait_until(lambda: book.bound == 6, "six pods in the ledger")
    expect((book.wrong, book.most["node"], book.most["GPU"]), ([], 8, 1), "what is fine")
    cluster.kill("etcd")
    cluster.start("etcd")
    put("more", 3, "small")
    put("sixth", annotations={"gpu-fraction": "0.2"}, labels={"runai-gpu-group": "g"})
    cluster.wait_until(lambda: book.bound == 8, "eight pods in the ledger")
    expect(book.over, {("node", node), ("queue", "small"), ("GPU", f"{node}/g")}, "what is not")
    expect((book.most["node"], book.most["queue"]), (11, 11), "the most")
    expect(book.cuts > 0, True, "its watch was cut")
    cluster.kubectl("delete", "pods", "--all", "--wait=false")
    cluster.wait_until(lambda: not any(book.used.values()), "nothing in use")
    book.close()


@SUITE.test("annotations tell a pod to start late, to finish, to fail and to end slowly")
def _(cluster):
    for name, annotations in {
        "late": {"test/start-after": "2s"}, "finishes": {"test/finish-after": "1s"}, "fails": {"test/fail-after": "1s"},
        "slow": {"test/end-after": "3s"},
    }.items():
        cluster.api.create(PODS, pod(name, annotations=annotations))
    cluster.wait_for(f"{PODS}/slow", phase_is("Running"))
    expect(cluster.api.get(f"{PODS}/late")["status"]["phase"], "Pending")
    start = time.monotonic()
    cluster.api.delete(f"{PODS}/slow?gracePeriodSeconds=30")
    cluster.wait_for(f"{PODS}/late", phase_is("Running"))
    cluster.wait_for(f"{PODS}/finishes", phase_is("Succeeded"))
    cluster.wait_for(f"{PODS}/fails", phase_is("Failed"))
    cluster.wait_gone(f"{PODS}/slow")
    if time.monotonic() - start < 2.5:
        raise AssertionError("the slow pod was gone at once")
    cluster.kubectl("delete", "pods", "--all", "--wait=false")
    cluster.wait_until(lambda: not cluster.api.items(PODS), "all pods gone")


@SUITE.test("the controllers run a Job and a Deployment, collect garbage and end a namespace")
def _(cluster):
    template = {"metadata": {"labels": {"app": "web"}, "annotations": {}}, "spec": pod("none", gpus=0)["spec"]}
    job_template = {"metadata": {"annotations": {"test/finish-after": "1s"}},
                    "spec": {**template["spec"], "restartPolicy": "Never"}}
    cluster.kubectl("create", "namespace", "work")
    cluster.apply(
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "work"},
         "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}},
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "batch", "namespace": "work"},
         "spec": {"completions": 2, "parallelism": 2, "template": job_template}},
    )
    web, batch = "/apis/apps/v1/namespaces/work/deployments/web", "/apis/batch/v1/namespaces/work/jobs/batch"
    cluster.wait_for(web, lambda found: found["status"].get("readyReplicas") == 2)
    cluster.wait_for(batch, lambda found: found["status"].get("succeeded") == 2)
    cluster.kubectl("delete", "--namespace=work", "--wait=false", "deployment/web")
    pods = "/api/v1/namespaces/work/pods?labelSelector=app%3Dweb"
    cluster.wait_until(lambda: not cluster.api.items(pods), "the pods of the Deployment gone")
    cluster.kubectl("delete", "namespace", "work", "--wait=false")
    cluster.wait_gone("/api/v1/namespaces/work")


@SUITE.test("dynamic resources are served")
def _(cluster):
    served = {one["name"] for one in cluster.api.get("/apis/resource.k8s.io/v1")["resources"]}
    expect(served >= {"resourceclaims", "resourceclaimtemplates", "resourceslices", "deviceclasses"}, True, str(served))


@SUITE.test("Helm installs a chart and takes it away")
def _(cluster):
    chart = cluster.folder / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: small\nversion: 1.0.0\nkubeVersion: '>=1.30.0-0'\n")
    (chart / "templates" / "map.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata: {word: {{ .Values.word }}}\n")
    cluster.command("helm", "install", "hello", chart, "--set", "word=good")
    expect(cluster.api.get("/api/v1/namespaces/default/configmaps/hello")["data"], {"word": "good"})
    cluster.command("helm", "uninstall", "hello")
    cluster.wait_gone("/api/v1/namespaces/default/configmaps/hello")


@SUITE.test("the Python client lists queues and watches pods")
def _(cluster):
    python = build.ROOT / ".cache" / "venv" / "bin" / "python"
    program = """
import kubernetes
kubernetes.config.load_kube_config()
assert kubernetes.client.CustomObjectsApi().list_cluster_custom_object("scheduling.run.ai", "v2", "queues")["items"] == []
api = kubernetes.client.CoreV1Api()
version = api.list_namespaced_pod("default").metadata.resource_version
list(kubernetes.watch.Watch().stream(api.list_namespaced_pod, "default", resource_version=version, timeout_seconds=1))
print("listed and watched")
"""
    if not python.exists() or subprocess.run([python, "-c", "import kubernetes"], stderr=subprocess.DEVNULL,
                                             check=False).returncode:
        raise Skip("no Python package kubernetes: scripts/install-deps cluster")
    expect_in("listed and watched", cluster.command(python, "-c", program))


@SUITE.test("a watch goes on from where it was, and gets 410 after a compaction")
def _(cluster):
    maps = "/api/v1/namespaces/default/configmaps"
    old = cluster.api.get(maps)["metadata"]["resourceVersion"]
    cluster.api.create(maps, {"metadata": {"name": "seen"}})
    event = next(cluster.api.watch(f"{maps}?resourceVersion={old}"))
    expect((event["type"], event["object"]["metadata"]["name"]), ("ADDED", "seen"))

    cluster.compact()
    # The API server answers from its memory; it has to ask etcd again to find out.
    cluster.kill("kube-apiserver")
    cluster.start("kube-apiserver")
    event = next(cluster.api.watch(f"{maps}?resourceVersion={old}"))
    expect((event["type"], event["object"]["code"]), ("ERROR", 410))


@SUITE.test("an API server that is killed comes back with everything it knew")
def _(cluster):
    cluster.api.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "kept"}, "data": {"a": "1"}})
    cluster.kill("kube-apiserver")
    try:
        cluster.api.get("/api/v1/nodes")
    except OSError:
        pass
    else:
        raise AssertionError("a killed API server answered")
    cluster.start("kube-apiserver")
    expect(cluster.api.get("/api/v1/namespaces/default/configmaps/kept")["data"], {"a": "1"})
    cluster.api.create(PODS, pod("after"))
    cluster.wait_for(f"{PODS}/after", phase_is("Running"))
    cluster.api.delete(f"{PODS}/after")
    cluster.wait_gone(f"{PODS}/after")


@SUITE.test("whoever is killed with processes and a folder leaves neither")
def _(_):
    program = """
import sys, time
import processes
owner = processes.Processes()
owner.spawn("child", ["sh", "-c", "sleep 1000 & wait"])
time.sleep(0.2)
print(owner.folder, owner.pid("child"), flush=True)
time.sleep(1000)
"""
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        with subprocess.Popen([sys.executable, "-B", "-c", program], cwd=HERE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as owner:
            folder, child = owner.stdout.readline().split()
            expect((pathlib.Path(folder).is_dir(), members(int(child))), (True, 2), "before")
            owner.send_signal(number)
        end = time.monotonic() + 10
        while (pathlib.Path(folder).exists() or members(int(child))) and time.monotonic() < end:
            time.sleep(0.05)
        expect((pathlib.Path(folder).exists(), members(int(child))), (False, 0), f"left after {number.name}")


def members(group):
    """How many processes of a group are alive."""
    count = 0
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = entry.read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()[:3]
        except OSError:
            continue
        count += state != "Z" and int(its_group) == group
    return count


def leftovers(folder):
    """Processes that still name the folder."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes()
        except OSError:
            continue
        if os.fsencode(str(folder)) in words:
            found.append(words.replace(b"\0", b" ").decode(errors="replace"))
    return found
