"""The checkers of a soak see what they are for: each is given something broken."""

import collections

import invariants
import judge
import logs
import stored
import trend
from ledger import QUEUE_LABEL, RESERVED, WHOLE
from stage import GROUPS, NAMESPACE, PODS, QUEUES
from suite import Suite, expect

SUITE = Suite()


class Shown:
    """A cluster that shows the lists that it was given, by path."""

    def __init__(self, lists):
        self.api, self.lists = self, lists

    def items(self, path):
        return self.lists.get(path, [])


class Books(judge.Judge):
    """A judge that is told of changes by the test instead of etcd."""

    def __init__(self, quotas=None, absences=None):
        super().__init__(collections.namedtuple("Cluster", "etcd")(""), 1, 8, 4, {"red": 2}, quotas or judge.Quotas(),
                         absences or judge.Absences())

    def run(self):
        pass

    def tell(self, name, node="node-1", gpus=1, queue="free", labels=None, annotations=None, **more):
        """A pod is now so."""
        pod = stored.Pod("default", name, name, {QUEUE_LABEL: queue, **(labels or {})}, annotations or {}, node, gpus, 100,
                         "Running", False)
        self.change(self.changes, name, pod._replace(**more))

    def says(self, *words):
        expect(len(self.wrong), 1, f"complaints: {self.wrong}")
        for word in words:
            expect(word in self.wrong[0], True, f"{word!r} in {self.wrong[0]!r}")


@SUITE.test("a pod that changes its node is seen as bound twice")
def _(_):
    books = Books()
    books.tell("a")
    books.tell("a", node="node-2")
    books.says("pod a is bound twice, to node-1 and to node-2")


@SUITE.test("more GPUs or cores than a node has are seen, and those that were given back are not counted")
def _(_):
    books = Books()
    for number in range(8):
        books.tell(f"p{number}")
    books.tell("p0", phase="Succeeded")
    books.tell("next")
    expect(books.wrong, [])
    books.tell("ninth")
    books.says("node node-1 has given away 9 of 8")
    books = Books()
    books.tell("wide", gpus=0, milli_cpu=3000)
    books.tell("more", gpus=0, milli_cpu=1500)
    books.says("cores of node node-1 has given away 4.5 of 4")


@SUITE.test("more than a whole of a shared GPU is seen, by shares and by memory")
def _(_):
    books, group = Books(), {"runai-gpu-group": "g"}
    books.tell("keeper", namespace=RESERVED, labels=group)
    books.tell("half", gpus=0, labels=group, annotations={"gpu-fraction": "0.5"})
    books.tell("memory", gpus=0, labels=group, annotations={"gpu-memory": "50000"})
    books.says("GPU node-1/g has given away 1.1131 of 1")


@SUITE.test("more than a queue's limit is seen, and more than its quota of what cannot be preempted")
def _(_):
    books = Books()
    books.tell("a", gpus=3, queue="red")
    books.says("queue red has given away 3 of 2")
    now, fixed = [0], {judge.PRIORITY_LABEL: judge.FIXED}
    quotas = judge.Quotas(lambda: now[0])
    books = Books(quotas)
    quotas.set("blue", 4)
    books.tell("b", gpus=3, queue="blue", labels=fixed)
    now[0] = 100
    quotas.set("blue", 1)
    books.tell("b", gpus=3, queue="blue", labels={**fixed, "changed": "yes"})
    books.tell("c", gpus=1, queue="blue", labels=fixed)
    expect(books.wrong, [], "a quota that was lowered just now, and a pod that was there before")
    now[0] += judge.LATE_SECONDS + 1
    books.tell("free", gpus=1, queue="blue")
    expect(books.wrong, [], "a pod that can be preempted")
    books.tell("d", gpus=1, queue="blue", labels=fixed)
    books.says("quota of queue blue has given away 5 of 1")
    expect(books.used["quota of queue", "blue"], 5 * WHOLE)


@SUITE.test("pods of a lost node cost their queue nothing, and those of one that is back cost as before")
def _(_):
    now = [0]
    absences = judge.Absences(lambda: now[0])
    books = Books(absences=absences)
    books.tell("a", gpus=2, queue="red")
    absences.lose("node-1")
    books.tell("b", node="node-2", gpus=2, queue="red")
    absences.find("node-1")
    now[0] += judge.LATE_SECONDS + 1
    expect(books.wrong, [])
    books.tell("a", gpus=2, queue="red", is_ending=True)
    books.tell("b", node="node-2", gpus=2, queue="red", is_ending=True)
    books.tell("scaling", gpus=8, namespace=judge.SCALING_NAMESPACE)
    books.tell("c", node="node-2", gpus=2, queue="red")
    expect(books.wrong, [], "pods that end, or are not ours")
    books.tell("d", node="node-2", gpus=1, queue="red")
    books.says("queue red has given away 3 of 2")


def member(name, node=None, phase="Running", requests=None, **annotations):
    return {"metadata": {"name": name, "namespace": NAMESPACE, "annotations": annotations},
            "spec": {"schedulerName": "kai-scheduler", "nodeName": node,
                     "containers": [{"resources": {"requests": requests or {}}}]},
            "status": {"phase": phase}}


@SUITE.test("a gang in part, a status that differs and what is left over are seen")
def _(_):
    group = {"metadata": {"name": "g", "namespace": NAMESPACE}, "spec": {"minMember": 2, "queue": "q"},
             "status": {"resourcesStatus": {"requested": {"cpu": "2"}, "allocated": {"cpu": "1"}}}}
    queue = {"metadata": {"name": "q"}, "spec": {}, "status": {"requested": {"cpu": "2"}, "allocated": {"cpu": "2"}}}
    pods = [member(f"p{number}", node, phase, {"cpu": "1"}, **{"pod-group-name": "g"})
            for number, (node, phase) in enumerate((("n", "Running"), (None, "Pending")))]
    cluster = Shown({PODS: pods, GROUPS: [group], QUEUES: [queue], invariants.PODS: pods, invariants.GROUPS: [group]})
    found = judge.unsettled(cluster)
    expect([line.split(":")[0] for line in found], ["gang g", "queue q"], str(found))
    request = {"metadata": {"name": "p9", "namespace": NAMESPACE}, "spec": {"podName": "p9", "selectedNode": "n"}}
    expect(judge.unsettled(Shown({invariants.REQUESTS: [request]})), ["request p9: its pod is gone"])
    maps = [{"metadata": {"name": name}} for name in ("kube-root-ca.crt", "p9-shared-0")]
    expect(judge.orphans(Shown({judge.MAPS: maps})), [f"{judge.MAPS}/p9-shared-0"])


@SUITE.test("memory that grows is seen, and a process that was only warming up or had one burst is not")
def _(_):
    memory = trend.Memory()
    for number in range(20):
        memory.add(60 * number, {"leaks": (1, 20 + 0.1 * number), "flat": (2, 20 + 0.1 * (number % 2)),
                                 "warms": (3, 15 if number == 0 else 20), "bursts": (4, 20 if number < 8 else 23)})
    expect([line.split(":")[0] for line in trend.growing(memory.lines())], ["leaks"])
    expect(round(memory.lines()["leaks"].per_hour, 2), 6.0)


@SUITE.test("a warning that nothing explains is seen, and so is a line that is no log line")
def _(_):
    stamp = "2026-11-15T10:52:03.218Z"
    wrong, needed = logs.read([
        ("binder", f"{stamp} INFO  bound pod=a"),
        ("binder", f"{stamp} WARN  list and watch failed kind=Pod error=\"watch pods: Connection reset by peer\""),
        ("binder", f"{stamp} ERROR bind failed pod=a error=\"no such node\""),
        ("queues", "==1==ERROR: AddressSanitizer: heap-use-after-free")])
    expect(sorted(wrong), ["binder: ERROR bind failed pod=a error=\"no such node\"",
                           "queues: ==1==ERROR: AddressSanitizer: heap-use-after-free"])
    expect(sum(needed.values()), 1)
