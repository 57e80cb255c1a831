"""A node with pretended GPUs: the GPU daemon, the fencer, the driver's files, and somebody who tells reservation pods
their GPU. The API server and the services beside them are real."""

import http.client
import json
import os
import pathlib
import shutil
import socket

from gpu_operator import GPU_KEY, GROUP_KEY, RESERVED, GpuOperator
from stage import CLASSES, EVENTS, PODS, QUEUES, Stage, queue_object
from suite import expect

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build" / "asan")).resolve()
MUSTER = os.environ.get("MUSTER", str(BUILD / "muster"))
NODE = "node-00000"
GPUS = 8
GIB = 1 << 30
QUIET = ["--metrics-bind-address=0", "--health-probe-bind-address=0"]
FENCED = ["--gpu-fence", '--plugins={"gpusharing": {"arguments": {"cdiEnabled": "true"}}}']
SERVICES = {
    "scheduler": (["--listen-address=0", "--plugin-server-port=0", "--health-probe-bind-address=0"], "scheduler"),
    "binder": (QUIET + FENCED, "binder"),
    "grouper": (QUIET, "pod-grouper"),
}
VERSION = "580.1"
LIBRARIES = "/usr/lib/x86_64-linux-gnu"


class Operator(GpuOperator):
    """Gives each group a GPU of the node that no other has."""

    gpus = []

    def tell_all(self, api):
        pods = [pod for pod in api.items(RESERVED) if "deletionTimestamp" not in pod["metadata"]]
        taken = {pod["metadata"].get("annotations", {}).get(GPU_KEY) for pod in pods}
        for pod in pods:
            meta = pod["metadata"]
            free = [gpu for gpu in self.gpus if gpu not in taken]
            if GPU_KEY in meta.get("annotations", {}) or "test/silent" in meta["labels"] or not free:
                continue
            taken.add(free[0])
            api.patch(f"{RESERVED}/{meta['name']}", {"metadata": {"annotations": {GPU_KEY: free[0]}}})


def spec_of(gpus):
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    return {"schedulerName": "kai-scheduler", "terminationGracePeriodSeconds": 0, "containers": [
        {"name": "main", "image": "none", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": limits}}]}


class Node(Stage):
    """The node and its cluster."""

    def __init__(self, cluster, binder=()):
        """`binder`: more of its flags."""
        super().__init__(cluster, MUSTER)
        self.image = None
        self.folder = cluster.folder / "g"
        self.cdi = cluster.folder / "cdi"
        self.cdi.mkdir()
        self.lay_out_files(cluster.folder)
        cluster.kubectl("apply", "-f", ROOT / "deploy" / "namespaces.yaml", "-f", ROOT / "deploy" / "rbac")
        for name, value in {"train": 50, "inference": 125}.items():
            self.api.create(CLASSES, {"metadata": {"name": name}, "value": value})
        for name in ("default-parent-queue", "default-queue"):
            self.api.create(QUEUES, queue_object(name, None if "parent" in name else "default-parent-queue"))
        for name, (flags, account) in SERVICES.items():
            more = binder if name == "binder" else ()
            cluster.spawn(name, MUSTER, name, *flags, *more, kubeconfig=self.account(account))
        self.start_gpud()
        self.operator = Operator(cluster)
        self.operator.gpus = [gpu["uuid"] for gpu in self.status()["gpus"]]
        expect(len(self.operator.gpus), GPUS, "pretended GPUs")
        self.start_fencer()

    def account(self, name):
        return self.cluster.credentials.user(f"system:serviceaccount:kai-scheduler:{name}")

    def lay_out_files(self, top):
        """The driver as a package installs it, below a root of its own, and Muster's libraries."""
        self.driver_root = top / "driver"
        self.library_dir = top / "muster"
        folder = self.driver_root / LIBRARIES.lstrip("/")
        folder.mkdir(parents=True)
        for fake, name in (("cuda", "libcuda"), ("nvml", "libnvidia-ml")):
            shutil.copy(BUILD / f"tests/gpu/libfake-{fake}.so", folder / f"{name}.so.{VERSION}")
            (folder / f"{name}.so.1").symlink_to(f"{name}.so.{VERSION}")
        (self.library_dir / "proxy").mkdir(parents=True)
        built = BUILD / "src/gpu/tenant"
        shutil.copy(built / "libmuster-gpu-core.so", self.library_dir)
        for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
            shutil.copy(built / name, self.library_dir / "proxy")
        self.gpu_state = top / "gpus"

    # Its daemons.

    def start_gpud(self):
        config = self.cluster.folder / "gpud.yaml"
        config.write_text(json.dumps({
            "folder": str(self.folder), "memory": {"reserve": "64Mi", "context": "64Mi"}, "watch": {"interval": "200ms"},
            "groups": [{"name": "of-the-owner", "gpus": [GPUS - 1], "memory": {"request": "1Gi"}}]}))
        driver = self.driver_root / LIBRARIES.lstrip("/")
        self.cluster.processes.spawn("gpud", [MUSTER, "gpud", "-c", config], {
            "LD_LIBRARY_PATH": str(driver), "FAKE_GPU_STATE": str(self.gpu_state), "FAKE_GPU_COUNT": str(GPUS)})
        self.cluster.wait_until(self.answers, "gpud answers", 20)

    def answers(self):
        try:
            return self.ask("GET", "/healthz")[0] == 200
        except OSError:
            return False

    def start_fencer(self, *flags):
        self.cluster.spawn(
            "fencer", MUSTER, "fencer", "--node-name", NODE, "--gpud-folder", self.folder, "--cdi-dir", self.cdi,
            "--library-dir", self.library_dir, "--driver-root", self.driver_root, *QUIET, *flags,
            kubeconfig=self.account("fencer"))

    def ask(self, method, path):
        connection = http.client.HTTPConnection("gpud", timeout=10)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(self.folder / "api.sock"))
        connection.request(method, path)
        response = connection.getresponse()
        body = response.read()
        return response.status, body

    def status(self):
        return json.loads(self.ask("GET", "/v1/status")[1])

    def capacity(self):
        return self.status()["gpus"][0]["capacityBytes"]

    # What it has for a pod.

    def groups(self, pod):
        """Its group, once for each GPU."""
        return [one for one in self.status()["groups"] if one["group"] == fence(pod)]

    def file(self, pod):
        return self.cdi / f"muster-{fence(pod)}.json"

    def fenced(self, pod, check=lambda groups: True, seconds=20):
        """Waits until it is; returns its group for each GPU."""
        def look():
            found = self.groups(pod)
            return found if found and self.file(pod).exists() and check(found) else None

        return self.cluster.wait_until(look, f"a fence for {pod['metadata']['name']}", seconds)

    def open(self, pod, seconds=20):
        """Waits until nothing is left of its fence."""
        self.cluster.wait_until(lambda: not self.groups(pod) and not self.file(pod).exists(),
                                f"nothing for {pod['metadata']['name']}", seconds)

    def complaint(self, pod, part, seconds=20):
        """Waits for the event; returns it."""
        return self.cluster.wait_until(
            lambda: next((one for one in self.events(pod["metadata"]["name"], "NotFenced") if part in one["message"]),
                         None), f"an event about {part}", seconds)

    # Pods.

    def fraction(self, name, **annotations):
        """As its owner writes it; it goes through the scheduler and the binder."""
        notes = {key.replace("_", "-"): value for key, value in annotations.items()}
        made = self.api.create(PODS, {
            "apiVersion": "v1", "kind": "Pod", "spec": spec_of(0), "metadata": {
                "name": name, "annotations": {**notes, "runai/shared-gpu-configmap": f"{name}-shared"}}})
        self.bound(name, seconds=30)
        return self.get(made["metadata"]["name"])

    def seated(self, name, annotations=None, container=None, group=None, gpu=0, keeper=True, scheduler="nobody",
               held=True):
        """As the binder leaves it, but without asking the scheduler, which would refuse some. The binder does not end
        pods of other schedulers, nor keep reservations that no pod is in."""
        group = group or f"of-{name}"
        spec = {**spec_of(0), "nodeName": NODE, "schedulerName": scheduler, "tolerations": [{"operator": "Exists"}]}
        spec["containers"] = [{**spec["containers"][0], **(container or {})}]
        made = self.api.create(PODS, {"apiVersion": "v1", "kind": "Pod", "spec": spec, "metadata": {
            "name": name, "labels": {GROUP_KEY: group},
            "annotations": {**(annotations or {}), **({"cdi.k8s.io/muster": "named by the binder"} if held else {})}}})
        if keeper:
            self.keep(group, gpu)
        return made

    def keep(self, group, gpu, **labels):
        meta = {"name": f"keeps-{group}", "labels": {GROUP_KEY: group, "app": "kai-resource-reservation", **labels},
                "annotations": {} if gpu is None else {GPU_KEY: self.operator.gpus[gpu] if isinstance(gpu, int) else gpu}}
        return self.api.create(RESERVED, {"apiVersion": "v1", "kind": "Pod", "metadata": meta,
                                          "spec": {**spec_of(1), "nodeName": NODE}})

    def remove(self, pod):
        self.api.delete(f"{PODS}/{pod['metadata']['name']}?gracePeriodSeconds=0")

    def clear(self):
        for path in (PODS, RESERVED):
            self.api.call("DELETE", f"{path}?gracePeriodSeconds=0")
        self.cluster.wait_until(lambda: not self.api.items(PODS) and not self.api.items(RESERVED), "no pod is left", 30)
        self.api.call("DELETE", EVENTS)
        self.cluster.wait_until(lambda: not self.ours(), "no fence is left", 20)

    def forbidden(self):
        """What the services asked for and may not do. An API server that has just started forbids more."""
        return [line for name in (*SERVICES, "fencer") for line in self.cluster.processes.log_of(name, 1000000).splitlines()
                if "orbidden" in line]

    def ours(self):
        """All that the fencer has made."""
        return [one["group"] for one in self.status()["groups"] if one["group"].startswith("pod-")] + [
            one.name for one in self.cdi.iterdir() if one.name.startswith("muster-pod-")]

    def ends_well(self):
        """The last test: the services stop when they are told to."""
        failed = 0
        names = [*SERVICES, "fencer", "gpud"]
        for name in names:
            status = self.stop(name) if self.cluster.processes.alive(name) else "gone"
            log = self.cluster.processes.log_of(name, 1000000)
            bad = [line for line in log.splitlines() if any(word in line for word in ("Sanitizer", "runtime error", "BUG"))]
            failed += status != 0 or bool(bad)
            if status != 0 or bad:
                print("".join(f"# {line}\n" for line in [str(status), *bad[:10], *log.splitlines()[-30:]]), end="")
            print(f"{'not ok' if status != 0 or bad else 'ok'} - {name} stops when told to, with no complaint")
        return (len(names) - failed, failed, 0)


def fence(pod):
    return f"pod-{pod['metadata']['uid']}"
