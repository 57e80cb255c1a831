"""The scheduler beside another one: --shadow, with the role of deploy/shadow.yaml and no other rights."""

import json
import pathlib
import subprocess
import urllib.request

import bed
from stage import GROUPS, PODS, READY, REQUESTS, node_of
from suite import Suite, expect, expect_in

SUITE = Suite()

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GROUP = "rbac.authorization.k8s.io"


class Shadow:
    """One beside the scheduler of the stage, with another configuration: it spreads where that packs. Without actions it has
    the same."""

    def __init__(self, stage, *flags, actions="allocate, preempt"):
        self.stage, self.flags, self.actions = stage, flags, actions
        self.port = bed.free_ports(1)[0]
        self.name = f"shadow-{self.port}"
        self.record = stage.cluster.folder / f"differences-{self.port}.jsonl"

    def __enter__(self):
        cluster = self.stage.cluster
        role = (ROOT / "deploy" / "shadow.yaml").read_text().split("---\n")[1]
        cluster.kubectl("apply", "-f", "-", feed=role)
        cluster.apply({"apiVersion": f"{GROUP}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "shadows"},
                       "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": "muster-shadow"},
                       "subjects": [{"apiGroup": GROUP, "kind": "Group", "name": "shadows"}]})
        config = cluster.folder / f"{self.name}.json"
        plugins = [{"name": one} for one in ("predicates", "proportion", "priority", "nodeavailability", "resourcetype",
                                             "gpuspread")]
        plugins.append({"name": "nodeplacement", "arguments": {"gpu": "spread", "cpu": "spread"}})
        config.write_text(json.dumps({"actions": self.actions, "tiers": [{"plugins": plugins}]}))
        cluster.spawn(self.name, self.stage.muster, "scheduler", "--shadow", f"--shadow-record={self.record}",
                      f"--listen-address=127.0.0.1:{self.port}", "--plugin-server-port=0",
                      *([f"--scheduler-conf={config}"] if self.actions else []), *self.flags,
                      kubeconfig=cluster.credentials.user("one-shadow", ["shadows"]))
        cluster.wait_until(lambda: READY.decode() in cluster.log_of(self.name), "the shadow knows the cluster")
        return self

    def __exit__(self, *_):
        expect(self.stage.stop(self.name), 0)

    def metric(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as answer:
            for line in answer.read().decode().splitlines():
                if line.startswith(f"kai_{name} "):
                    return float(line.rsplit(" ", 1)[1])
        return None

    def wait_intended(self, count):
        self.stage.cluster.wait_until(lambda: self.metric("shadow_starts") == count, f"{count} pods would be started")

    def differences(self):
        return [json.loads(line) for line in self.record.read_text().splitlines()]

    def wait_difference(self, pod):
        return self.stage.cluster.wait_until(
            lambda: next((one for one in self.differences() if one["pod"] == pod), None), f"a difference about {pod}")


@SUITE.test("a shadow writes nothing, and tells where another configuration decides otherwise")
def _(stage):
    stage.clear()
    stage.stop()
    try:
        with Shadow(stage, "--shadow-patience=1h") as shadow:
            stage.pod("wide", 4)
            shadow.wait_intended(1)
            expect(stage.waits("wide", seconds=1), True)
            stage.start()
            first = stage.bound("wide")[0]
            stage.cluster.wait_until(lambda: shadow.metric("shadow_starts") == 0, "the bind was seen")
            expect(shadow.differences(), [], "nodes that are alike are the same")
            stage.stop()
            stage.pod("small", 2)
            shadow.wait_intended(1)
            stage.start()
            expect(stage.bound("small"), [first])
            found = shadow.wait_difference("small")
            expect((found["result"], found["theirNode"], found["node"] != first), ("other node", first, True))
            expect((stage.api.items(REQUESTS), stage.api.items(GROUPS)), ([], []))
            stage.stop()
            table = subprocess.run([stage.muster, "shadow", shadow.record], text=True, stdout=subprocess.PIPE,
                                   check=True).stdout
            expect_in("default/small", table)
            expect_in("0 starts earlier, 0 waits, 1 other node, 0 evicts, 0 spares", table)
        log = stage.cluster.log_of(shadow.name)
        expect("orbidden" in log, False, "a request of the shadow was refused")
    finally:
        stage.start()


@SUITE.test("a shadow counts by how much earlier it would have started a pod")
def _(stage):
    stage.clear()
    stage.stop()
    try:
        with Shadow(stage, "--shadow-patience=1ms") as shadow:
            stage.pod("late", 3)
            shadow.wait_intended(1)
            stage.start()
            stage.bound("late")
            found = shadow.wait_difference("late")
            expect((found["result"], found["gpus"], found["seconds"] > 0), ("starts earlier", 3.0, True))
            said = json.loads(subprocess.run([stage.muster, "shadow", "-o", "json", shadow.record], text=True,
                                             stdout=subprocess.PIPE, check=True).stdout)
            expect((said["counts"]["starts earlier"], said["gpuSecondsEarlier"] > 0), (1, True))
            stage.stop()
            expect(node_of(stage.api.get(f"{PODS}/late")) is not None, True)
    finally:
        stage.start()


@SUITE.test("evictions of the other scheduler that the shadow would not make are differences, those of both are not")
def _(stage):
    stage.clear()
    stage.restart("--update-pod-eviction-condition")
    try:
        for number in range(4):
            stage.gang(f"low{number}", 1, gpus=8)
        stage.bound(*(f"low{number}-0" for number in range(4)))
        stage.stop()
        with Shadow(stage, "--shadow-patience=1h", actions="allocate") as calm, \
                Shadow(stage, "--shadow-patience=1h", actions=None) as alike:
            stage.gang("high", 1, gpus=8, priorityClassName="build")
            # Both have seen the new pod, and one of them would make room for it.
            stage.cluster.wait_until(lambda: calm.metric("shadow_pods") == 1, "the pod has been seen")
            stage.cluster.wait_until(lambda: alike.metric("shadow_evictions") == 1, "a pod would be evicted")
            stage.start("--update-pod-eviction-condition")
            stage.bound("high-0")
            evicted = next(f"low{number}-0" for number in range(4) if not stage.find(f"low{number}-0"))
            found = calm.wait_difference(evicted)
            expect((found["result"], found["gpus"], "evictedFor" in found), ("spares", 8.0, False))
            expect([one for one in alike.differences() if one["result"] in ("spares", "evicts")], [])
            page = calm.record.with_suffix(".html")
            table = subprocess.run([stage.muster, "shadow", "--report", page, calm.record], text=True, stdout=subprocess.PIPE,
                                   check=True).stdout
            expect_in("keeps running", table)
            expect_in("1 spares", table)
            expect_in(f'"pod": "{evicted}"', page.read_text())
            stage.stop()
    finally:
        stage.start()
