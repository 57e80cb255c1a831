"""The cluster of a soak: nodes of GPUs, Muster installed by its chart in the split form, and all that is done to both."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

import bed
import client
import gpu_operator
import judge
import layouts
import network
import stand

NODES, NODE_GPUS, NODE_CORES = 6, 8, 24
SYSTEM_NODE = "system-0"
SYSTEM_PODS = f"/api/v1/namespaces/{stand.NAMESPACE}/pods"
SERVICES = ("admission", "binder", "grouper", "operator", "podgroups", "queues", "scaler", "scheduler", "starter")
# Few names of objects that are gone are kept, so that the scheduler makes its state anew now and then.
VALUES = ("global.clusterAutoscaling=true", "global.nodeSelector.role=system", "scheduler.args.names-max=2000",
          "global.leaderElection=true")
UP_SECONDS = 240


class Installed(stand.Stand):
    """Where Muster's own pods run is no room for others, so that one scheduler alone gives away what is measured."""

    def __init__(self, muster):
        super().__init__("soak", muster)
        self.nodes, self.lost = [], []
        self.absences = judge.Absences()

    def __exit__(self, *_):
        self.operator.is_over = True
        self.cluster.__exit__()

    def furnish(self):
        cluster = self.cluster
        cluster.api.create("/api/v1/nodes", {
            **layouts.node(SYSTEM_NODE, {"role": "system"}, {"cpu": "64", "memory": "64Gi", "pods": "110"})})
        self.nodes = cluster.add_nodes(NODES, amounts={"cpu": str(NODE_CORES), "nvidia.com/gpu": str(NODE_GPUS)})
        cluster.api.create("/apis/node.k8s.io/v1/runtimeclasses", layouts.RUNTIME_CLASS)
        cluster.apply_crds(bed.ROOT / "tests" / "cluster" / "crds_foreign.yaml")
        self.operator = gpu_operator.GpuOperator(cluster, seconds=0.2)

    def prepare(self):
        self.install(*VALUES)
        self.cluster.wait_until(self.all_run, "every service runs", UP_SECONDS)

    # The services.

    def processes(self):
        """{service: process number} of those that run: children of what stands in for the kubelet."""
        found = {}
        for task in pathlib.Path(f"/proc/{self.cluster.processes.pid('kubelet')}/task").iterdir():
            for child in read(task / "children").split():
                words = read(pathlib.Path(f"/proc/{child}/cmdline")).split("\0")
                if words[0].endswith("muster") and words[1] in SERVICES:
                    found[words[1]] = int(child)
        return found

    def all_run(self):
        return set(self.processes()) == set(SERVICES) and self.is_up()

    def memory(self):
        """{service: (process number, MiB)}: the part of the memory that is its own, pages shared with others divided."""
        found = {}
        for name, number in self.processes().items():
            lines = read(pathlib.Path(f"/proc/{number}/smaps_rollup")).splitlines()
            sizes = [int(line.split()[1]) for line in lines if line.startswith("Pss:")]
            if sizes:
                found[name] = (number, sizes[0] / 1024)
        return found

    def logs(self):
        """[(service's container, line)] of all that services have logged."""
        for path in sorted((self.cluster.folder / "pods").glob(f"{stand.NAMESPACE}_*.log")):
            name = path.stem.rpartition("_")[2]
            with open(path, errors="replace") as lines:
                yield from ((name, line.rstrip("\n")) for line in lines)

    def keep_logs(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for path in [*self.cluster.folder.glob("*.log"), *(self.cluster.folder / "pods").glob("*.log")]:
            shutil.copy(path, folder)

    # Faults. Each returns its description.

    def kill(self, chance):
        return self.hit(chance, signal.SIGKILL)

    def freeze(self, chance):
        name, number = chance.choice(sorted(self.processes().items()))
        seconds = chance.uniform(0.5, 4)
        send(number, signal.SIGSTOP)
        time.sleep(seconds)
        send(number, signal.SIGCONT)
        return f"{name} stands still for {seconds:.1f} s"

    def hit(self, chance, number):
        name, process = chance.choice(sorted(self.processes().items()))
        send(process, number)
        return f"{name} gets {signal.Signals(number).name}"

    def delete_pod(self, chance):
        """As an upgrade or a drained node would."""
        pods = [one["metadata"]["name"] for one in self.cluster.api.items(SYSTEM_PODS)
                if "deletionTimestamp" not in one["metadata"]]
        name = chance.choice(sorted(pods, key=lambda one: one.rsplit("-", 2)[0]))
        self.cluster.api.delete(f"{SYSTEM_PODS}/{name}")
        return f"pod {name.rsplit('-', 2)[0]} is deleted"

    def cut(self, chance):
        """All connections of a service end, its watches with them."""
        name, number = chance.choice(sorted(self.processes().items()))
        subprocess.run(["nsenter", f"--net=/proc/{number}/ns/net", "ss", "-K", "dst", network.GATEWAY],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return f"the connections of {name} are cut"

    def kill_server(self, chance):
        seconds = chance.uniform(0, 3)
        self.cluster.kill("kube-apiserver")
        time.sleep(seconds)
        self.cluster.start("kube-apiserver")
        return f"the API server is killed and down for {seconds:.1f} s"

    def lose_node(self, chance):
        """A node that is gone comes back at the next such fault, or when all is healed."""
        if self.lost:
            return self.return_node()
        name = chance.choice(self.nodes)
        self.absences.lose(name)
        self.cluster.api.delete(f"/api/v1/nodes/{name}")
        self.lost.append(name)
        return f"{name} is lost"

    def return_node(self):
        name = self.lost.pop()
        self.cluster.add_nodes(1, first=int(name.rpartition("-")[2]),
                               amounts={"cpu": str(NODE_CORES), "nvidia.com/gpu": str(NODE_GPUS)})
        self.absences.find(name)
        return f"{name} is back"

    def revive(self):
        """Starts programs of the cluster that ended by themselves, as a kubelet would; returns their names. kube-scheduler ends
        when a pod was replaced by one of the same name while it could not watch."""
        dead = [name for name in self.cluster.wanted if not self.cluster.processes.alive(name)]
        for name in dead:
            self.cluster.start(name)
        return dead

    def heal(self):
        """Everything is there again."""
        while self.lost:
            self.return_node()
        self.cluster.wait_until(lambda: not self.revive() and self.all_run(), "every service runs again", UP_SECONDS)

    def uninstall(self):
        """Every service is told to stop, and has done so."""
        self.cluster.command("helm", "uninstall", "kai-scheduler", "--namespace", stand.NAMESPACE)
        self.cluster.wait_until(lambda: not self.processes(), "all services have stopped", UP_SECONDS)


def read(path):
    """"" for what is gone meanwhile."""
    try:
        return path.read_text()
    except OSError:
        return ""


def send(process, number):
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass


TROUBLE = (client.ApiError, OSError)
