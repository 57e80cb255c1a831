#!/usr/bin/env python3
"""A real Kubernetes on loopback, for tests: etcd, kube-apiserver and, as wanted, kube-controller-manager,
kube-scheduler and KWOK with nodes that are only pretended.

From Python:

    with bed.Bed(nodes=10) as cluster:
        cluster.kubectl("get", "nodes")

By hand, with KUBECONFIG, SERVER, TOKEN and a kubectl in PATH for the command, or for a shell if none is given:

    tests/cluster/bed.py [--nodes N] [--scheduler] [--no-controllers] [--no-kwok] [--no-crds] [COMMAND...]

When the bed ends, or whoever started it, nothing is left: not a process, not a file.
"""

import argparse
import base64
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import audit  # noqa: E402
import build  # noqa: E402
import client  # noqa: E402
import credentials  # noqa: E402
import flags  # noqa: E402
import network  # noqa: E402
import processes  # noqa: E402

CRDS = ROOT / "deploy" / "crds"
START_SECONDS = 120

# A node of 8 GPUs, each of 80 GB.
NODE_AMOUNTS = {"cpu": "128", "memory": "1000Gi", "pods": "110", "nvidia.com/gpu": "8"}
GPU_MEMORY_MIB = "81559"


class Bed:
    """One cluster. What is not asked for does not run: without controllers, nothing makes service accounts, collects
    garbage or runs Deployments and Jobs, but pods need no service account either. `more_flags`
    are further flags of a program, by its name. With `muster`, the path of the program, pods with its image run as
    processes, and so do those of `images`, programs by the names of images; see kubelet.py. For this,
    network.enter() must have been called first."""

    def __init__(self, nodes=0, controllers=True, scheduler=False, kwok=True, crds=True, more_flags=None, muster=None,
                 images=None):
        self.wanted = [name for name, is_wanted in (
            ("kube-controller-manager", controllers), ("kube-scheduler", scheduler), ("kwok", kwok)) if is_wanted]
        self.node_count = nodes
        self.crds = crds
        self.more_flags = more_flags or {}
        self.muster, self.images = muster, images or {}
        self.host = network.GATEWAY if muster else "127.0.0.1"
        self.processes = self.folder = self.credentials = self.server = self.etcd = self.api = None

    def __enter__(self):
        build.build(["etcd", "kube-apiserver", "kubectl", *self.wanted])
        self.processes = processes.Processes()
        self.folder = self.processes.folder
        try:
            self.begin()
        except BaseException:
            self.processes.close()
            raise
        return self

    def __exit__(self, *_):
        audit.collect(self.folder)
        self.processes.close()

    def begin(self):
        api_port, etcd_port, peer_port = free_ports(3)
        self.server = f"https://{self.host}:{api_port}"
        self.etcd = f"http://127.0.0.1:{etcd_port}"
        self.credentials = credentials.Credentials(self.folder / "credentials", self.server)
        self.link_tools()
        self.api = self.client()
        self.run_own("etcd", flags.etcd(self.folder, self.etcd, f"http://127.0.0.1:{peer_port}"))
        self.run_own("kube-apiserver", [*flags.kube_apiserver(
            self.host, api_port, self.etcd, self.credentials.path, "kube-controller-manager" in self.wanted),
            *audit.flags(self.folder)])
        self.wait_ready()
        for name in self.wanted:
            self.run_own(name, flags.OPTIONAL[name](self.folder, self.credentials))
        if self.crds:
            self.apply_crds()
        if "kube-controller-manager" in self.wanted:
            self.wait_for("/api/v1/namespaces/default/serviceaccounts/default")
        if self.muster:
            self.run_kubelet()
        self.add_nodes(self.node_count)

    def run_kubelet(self):
        self.spawn("kubelet", sys.executable, HERE / "kubelet.py", f"--server={self.server}",
                   f"--token={self.credentials.token}", f"--ca={self.credentials.path('ca.crt')}",
                   f"--program={self.muster}", f"--folder={self.folder / 'pods'}", f"--hosts={self.folder / 'hosts'}",
                   *(f"--image={name}={path}" for name, path in self.images.items()))

    def run_own(self, name, words):
        self.processes.spawn(name, [build.binary(name), *words, *self.more_flags.get(name, [])])

    # Using it.

    @property
    def kubeconfig(self):
        """An admin's."""
        return self.credentials.admin

    def client(self, token=None):
        return client.Client(self.server, token or self.credentials.token, self.credentials.path("ca.crt"))

    def link_tools(self):
        """kubectl and, where it has been built, helm under their plain names."""
        (self.folder / "bin").mkdir()
        for name in ("kubectl", "helm"):
            (self.folder / "bin" / name).symlink_to(build.path_of(build.programs()[name]))

    def environment(self, kubeconfig=None):
        inherited = self.processes.environment()
        return {
            **inherited, "KUBECONFIG": kubeconfig or self.kubeconfig,
            "SERVER": self.server, "TOKEN": self.credentials.token,
            "PATH": f"{self.folder / 'bin'}:{inherited['PATH']}",
        }

    def command(self, *words, kubeconfig=None, feed=None, check=True):
        """Runs kubectl, helm or another program on this cluster; returns what it printed."""
        done = subprocess.run(
            [str(word) for word in words], env=self.environment(kubeconfig), cwd=self.folder, input=feed, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stdout[-2000:]}")
        return done.stdout

    def spawn(self, name, *words, kubeconfig=None):
        """Starts a program that stays until it is stopped under this name, or with the bed."""
        self.processes.spawn(name, words, self.environment(kubeconfig))

    def log_of(self, name):
        return self.processes.log_of(name)

    def kubectl(self, *words, **options):
        return self.command("kubectl", *words, **options)

    def apply(self, *objects):
        """kubectl apply, for objects given as dicts."""
        return self.kubectl("apply", "-f", "-", feed=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def apply_crds(self, folder=CRDS):
        """Returns when their objects can be listed, which is later than what `kubectl wait` waits for."""
        for name in self.kubectl("apply", "-o", "name", "-f", folder).split():
            spec = self.api.get(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name.split('/')[1]}")["spec"]
            for version in spec["versions"]:
                self.wait_for(f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}")

    def add_nodes(self, count, first=0, labels=None, amounts=None):
        """Nodes node-00000 and so on; they are Ready when this returns, where KWOK runs."""
        amounts = {**NODE_AMOUNTS, **(amounts or {})}
        names = [f"node-{number:05d}" for number in range(first, first + count)]

        def add(api, name):
            own = {"kubernetes.io/hostname": name, "nvidia.com/gpu.count": amounts["nvidia.com/gpu"],
                   "nvidia.com/gpu.memory": GPU_MEMORY_MIB}
            api.create("/api/v1/nodes", {
                "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {**own, **(labels or {})}},
                "status": {"capacity": amounts, "allocatable": amounts},
            })
            if "kube-controller-manager" not in self.wanted:
                # Nobody else takes away the taint of a node that is not ready yet.
                api.patch(f"/api/v1/nodes/{name}", {"spec": {"taints": None}})

        client.in_parallel(self.client, names, add)
        if names and "kwok" in self.wanted:
            self.wait_until(lambda: set(names) <= self.ready_nodes(), f"{count} nodes ready")
        return names

    def ready_nodes(self):
        """Those that take pods."""
        return {node["metadata"]["name"] for node in self.api.items("/api/v1/nodes") if is_ready(node)}

    def wait_until(self, check, what, seconds=60):
        return self.processes.wait_until(check, seconds, what)

    def wait_for(self, path, check=lambda found: True, seconds=60):
        """Waits until the object is there and check holds; returns it."""
        def look():
            try:
                found = self.api.get(path)
            except client.ApiError as error:
                if error.status != 404:
                    raise
                return None
            return found if check(found) else None

        return self.wait_until(look, path, seconds)

    def wait_gone(self, path, seconds=60):
        def is_gone():
            try:
                self.api.get(path)
            except client.ApiError as error:
                return error.status == 404
            return False

        self.wait_until(is_gone, f"{path} gone", seconds)

    # Breaking it.

    def wait_ready(self):
        def look():
            try:
                return self.api.get("/readyz") == "ok"
            except (client.ApiError, http.client.HTTPException, OSError):
                return False

        self.processes.wait_until(look, START_SECONDS, "the API server is ready", "kube-apiserver")

    def stop(self, name, by=signal.SIGTERM):
        return self.processes.stop(name, by)

    def kill(self, name):
        return self.processes.kill(name)

    def pause(self, name, seconds):
        """The process and all it has started stand still for a while, as on a machine that is overloaded or suspended."""
        self.processes.pause(name)
        time.sleep(seconds)
        self.processes.resume(name)

    def start(self, name):
        """Starts again what was stopped or killed, with the same flags and ports."""
        self.processes.start(name)
        if name in ("etcd", "kube-apiserver"):
            self.wait_ready()

    def compact(self):
        """Makes etcd forget all but the present; a watch that asks for more is answered with 410."""
        self.ask_etcd("/v3/kv/compaction", {"revision": self.revision(), "physical": True})

    def revision(self):
        return self.ask_etcd("/v3/kv/range", {"key": base64.b64encode(b"none").decode()})["header"]["revision"]

    def ask_etcd(self, path, body):
        connection = http.client.HTTPConnection(self.etcd.removeprefix("http://"), timeout=30)
        try:
            connection.request("POST", path, json.dumps(body))
            response = connection.getresponse()
            data = response.read()
        finally:
            connection.close()
        if response.status != 200:
            raise client.ApiError(response.status, data)
        return json.loads(data)


def is_ready(node):
    conditions = node["status"].get("conditions") or []
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return ready and not node["spec"].get("taints")


def free_ports(count):
    """Ports that nobody uses now. They are taken together, so that they differ."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=0)
    parser.add_argument("--scheduler", action="store_true", help="run kube-scheduler, for pods that name no other")
    parser.add_argument("--no-controllers", action="store_true", help="do without kube-controller-manager")
    parser.add_argument("--no-kwok", action="store_true", help="do without KWOK: nodes do not get ready, pods not run")
    parser.add_argument("--no-crds", action="store_true", help="do not apply deploy/crds")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    chosen = parser.parse_args()
    command = chosen.command or [os.environ.get("SHELL", "sh")]

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with Bed(chosen.nodes, not chosen.no_controllers, chosen.scheduler, not chosen.no_kwok, not chosen.no_crds) as bed:
        if not chosen.command:
            print(f"KUBECONFIG={bed.kubeconfig}\nSERVER={bed.server} TOKEN={bed.credentials.token}", flush=True)
        environment = {**bed.environment(), "HOME": os.environ.get("HOME", "/")}
        # pylint: disable-next=subprocess-popen-preexec-fn
        return subprocess.run(command, env=environment, preexec_fn=processes.die_with_parent, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
