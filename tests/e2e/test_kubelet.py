"""Tests of the program in place of the kubelets: what a pod finds, and what becomes of it."""

import json
import urllib.request

from suite import Suite, expect, expect_in

SUITE = Suite()
NAMESPACE = "kubelet-tests"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
IMAGE = "muster.test/muster:test"

# Answers every request with what it sees; /end ends it, /sick makes its readiness fail.
ECHO = """
import http.server, json, os, pathlib, sys
sick = False
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global sick
        if self.path == "/end": os._exit(3)
        if self.path == "/sick": sick = True
        files = {str(p): p.read_text() for d in ("/config", "/secret", "/var/run/secrets/kubernetes.io/serviceaccount")
                 for p in pathlib.Path(d).glob("[!.]*") if p.is_file()}
        text = json.dumps({"arguments": sys.argv[1:], "environment": dict(os.environ), "files": files, "user": os.getuid(),
                           "host": os.uname().nodename})
        self.send_response(503 if sick and self.path == "/readyz" else 200)
        self.end_headers()
        self.wfile.write(text.encode())
    def log_message(self, *_): print("asked for", self.path, flush=True)
http.server.HTTPServer(("", 8080), Handler).serve_forever()
"""


def echo(name, **more):
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "securityContext": {"runAsUser": 4242}, "terminationGracePeriodSeconds": 1,
            "containers": [{
                "name": "main", "image": IMAGE, "command": ["/usr/bin/python3", "/config/echo.py"],
                "args": ["$(NAME)", "$$(NAME)", "two words"],
                "env": [{"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                        {"name": "ADDRESS", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                        {"name": "WORD", "valueFrom": {"secretKeyRef": {"name": "words", "key": "word"}}}],
                "ports": [{"name": "http", "containerPort": 8080}],
                "readinessProbe": {"httpGet": {"path": "/readyz", "port": "http"}, "periodSeconds": 1, "failureThreshold": 1},
                "volumeMounts": [{"name": "config", "mountPath": "/config"}, {"name": "secret", "mountPath": "/secret"}],
            }],
            "volumes": [{"name": "config", "configMap": {"name": "script"}},
                        {"name": "secret", "secret": {"secretName": "words"}}],
            **more,
        },
    }


def is_ready(pod, wanted="True"):
    return any(one["type"] == "Ready" and one["status"] == wanted for one in pod["status"].get("conditions", []))


def ask(pod, path="/"):
    with urllib.request.urlopen(f"http://{pod['status']['podIP']}:8080{path}", timeout=20) as answer:
        return json.loads(answer.read())


def start(cluster, pod):
    cluster.api.create(PODS, pod)
    return cluster.wait_for(f"{PODS}/{pod['metadata']['name']}", is_ready)


def prepare(cluster):
    api = cluster.api
    api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    cluster.wait_for(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default")
    api.create(f"/api/v1/namespaces/{NAMESPACE}/configmaps", {"metadata": {"name": "script"}, "data": {"echo.py": ECHO}})
    api.create(f"/api/v1/namespaces/{NAMESPACE}/secrets", {"metadata": {"name": "words"}, "stringData": {"word": "open"}})


@SUITE.test("a pod of ours is a process with its arguments, environment, volumes, user, token and address")
def _(stand):
    cluster = stand.cluster
    prepare(cluster)
    pod = start(cluster, echo("echo"))
    seen = ask(pod)
    expect(seen["arguments"], ["echo", "$(NAME)", "two words"])
    expect(seen["environment"]["ADDRESS"], pod["status"]["podIP"])
    expect(seen["environment"]["WORD"], "open")
    expect(seen["user"], 4242)
    expect(seen["host"], "echo")
    expect(seen["files"]["/secret/word"], "open")
    account = "/var/run/secrets/kubernetes.io/serviceaccount"
    expect(seen["files"][f"{account}/namespace"], NAMESPACE)
    who = cluster.client(seen["files"][f"{account}/token"]).create(
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
    expect(who["status"]["userInfo"]["username"], f"system:serviceaccount:{NAMESPACE}:default")


@SUITE.test("a changed ConfigMap reaches the pod")
def _(stand):
    cluster = stand.cluster
    cluster.api.patch(f"/api/v1/namespaces/{NAMESPACE}/configmaps/script", {"data": {"more": "news"}})
    pod = cluster.api.get(f"{PODS}/echo")
    cluster.wait_until(lambda: ask(pod)["files"].get("/config/more") == "news", "the file is there")


@SUITE.test("a Service has the pod as endpoint while its probe succeeds")
def _(stand):
    cluster = stand.cluster
    cluster.api.create(f"/api/v1/namespaces/{NAMESPACE}/services", {
        "metadata": {"name": "echo"}, "spec": {"selector": {"app": "echo"}, "ports": [{"port": 80, "targetPort": "http"}]}})
    pod = cluster.api.get(f"{PODS}/echo")

    def ready_addresses():
        slices = cluster.api.items(f"/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices")
        return [address for one in slices for end in one.get("endpoints") or [] if end["conditions"].get("ready")
                for address in end["addresses"]]

    cluster.wait_until(lambda: ready_addresses() == [pod["status"]["podIP"]], "one endpoint")
    ask(pod, "/sick")
    cluster.wait_until(lambda: ready_addresses() == [], "no endpoint")


@SUITE.test("a container that ends is restarted, and its log is kept")
def _(stand):
    cluster = stand.cluster
    pod = start(cluster, echo("ends"))
    try:
        ask(pod, "/end")
    except OSError:
        pass
    again = cluster.wait_for(f"{PODS}/ends", lambda one: one["status"]["containerStatuses"][0]["restartCount"] == 1
                             and is_ready(one))
    status = again["status"]["containerStatuses"][0]
    expect(status["lastState"]["terminated"]["exitCode"], 3)
    expect(again["status"]["podIP"], pod["status"]["podIP"], "address")
    expect_in("asked for /readyz", (cluster.folder / "pods" / f"{NAMESPACE}_ends_main.log").read_text())


@SUITE.test("a Job's pod ends with the status of its program")
def _(stand):
    cluster = stand.cluster
    for name, words, phase in (("good", ["--version"], "Succeeded"), ("bad", ["no-such-command"], "Failed")):
        cluster.api.create(PODS, {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": IMAGE, "args": words}]}})
        cluster.wait_for(f"{PODS}/{name}", lambda one, phase=phase: one["status"]["phase"] == phase)


@SUITE.test("a deleted pod ends, at once where it is deleted without grace")
def _(stand):
    cluster = stand.cluster
    address = cluster.api.get(f"{PODS}/ends")["status"]["podIP"]
    cluster.api.delete(f"{PODS}/ends")
    cluster.wait_gone(f"{PODS}/ends")
    cluster.api.call("DELETE", f"{PODS}/echo?gracePeriodSeconds=0")
    cluster.wait_gone(f"{PODS}/echo")

    def is_silent():
        try:
            ask({"status": {"podIP": address}})
        except OSError:
            return True
        return False

    cluster.wait_until(is_silent, "nothing answers at the address any more")
    cluster.api.delete(f"/api/v1/namespaces/{NAMESPACE}")
