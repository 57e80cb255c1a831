"""Room that is not there yet: pods that take their time to leave, and GPUs that are shared."""

import time

from gpu_operator import RESERVED
from place import JOBS, Stories
from stage import NODES, PODS, node_of
from suite import expect, expect_in

SUITE = Stories()
# What a kubelet would need to end a pod.
SLOW = {"test/end-after": "2s"}
GRACE = {"terminationGracePeriodSeconds": 30}
HALF = {"gpu-fraction": "0.5"}


def all_but_one(here):
    """One GPU of the cluster is left, whatever the priority; returns its node."""
    nodes = sorted(one["metadata"]["name"] for one in here.api.items(NODES))
    for number, name in enumerate(nodes):
        here.pod(f"wall-{number}", 7 if number == 3 else 8, labels={"priorityClassName": "build"},
                 nodeSelector={"kubernetes.io/hostname": name})
    here.bound(*(f"wall-{number}" for number in range(4)))
    return nodes[3]


@SUITE.test("a preemptor waits for pods that take time to leave, and nobody else is evicted for it")
def _(here):
    names = [f"old-{number}" for number in range(4)]
    for name in names:
        here.job(name, notes=SLOW, spec=GRACE)
    for name in names:
        here.running(name)
    here.job("urgent", priority="build")
    pod = here.cluster.wait_until(lambda: here.pods_of("urgent"), "the pod", 20)[0]["metadata"]["name"]
    promise = here.told(pod, "Pipelined", "kai-scheduler")
    leaving = [one for name in names for one in here.pods_of(name) if "deletionTimestamp" in one["metadata"]]
    expect(len(leaving), 1, "pods that leave")
    expect(promise, f"Pod default/{pod} was pipelined to node {node_of(leaving[0])}")
    expect(node_of(here.get(pod)), None)
    here.running("urgent")
    expect(node_of(here.get(pod)), node_of(leaving[0]))
    expect(sum(len(here.pods_of(name, lambda one: one["status"]["phase"] == "Running")) for name in names), 3)


@SUITE.test("a gang is reclaimed as a whole for another, whose pods start when the last has left")
def _(here):
    here.queue("a", quota=16)
    here.queue("b", quota=16)
    for name in ("greedy-0", "greedy-1"):
        here.job(name, count=2, queue="a", annotations={"kai.scheduler/batch-min-member": "2"}, notes=SLOW, spec=GRACE)
        here.running(name, 2)
    here.job("due", count=2, queue="b", annotations={"kai.scheduler/batch-min-member": "2"})
    here.running("due", 2)
    alive = {name: len(here.pods_of(name, lambda one: one["status"]["phase"] == "Running"))
             for name in ("greedy-0", "greedy-1")}
    expect(sorted(alive.values()), [0, 2])


@SUITE.test("a half of higher priority takes the place of another on the same GPU")
def _(here):
    node = all_but_one(here)
    for number in range(2):
        here.job(f"half-{number}", 0, notes={**HALF, "runai/shared-gpu-configmap": f"half-{number}-shared"})
        here.running(f"half-{number}")
    keeper, = here.api.items(RESERVED)
    expect(keeper["spec"]["nodeName"], node)
    here.job("urgent", 0, priority="build", notes={**HALF, "runai/shared-gpu-configmap": "urgent-shared"})
    pod = here.running("urgent")[0]
    expect(pod["metadata"]["labels"]["runai-gpu-group"], keeper["metadata"]["labels"]["runai-gpu-group"])
    expect([one["metadata"]["uid"] for one in here.api.items(RESERVED)], [keeper["metadata"]["uid"]])
    here.cluster.wait_until(lambda: len(here.waiting("half-0", "half-1")) == 1, "one half is left", 20)


@SUITE.test("a whole GPU is taken back from two halves, and not used before their reservation has gone")
def _(here):
    node = all_but_one(here)
    for number in range(2):
        here.job(f"half-{number}", 0, spec=GRACE,
                 notes={**HALF, **SLOW, "runai/shared-gpu-configmap": f"half-{number}-shared"})
        here.running(f"half-{number}")
    here.job("urgent", 1, priority="build")
    pod = here.running("urgent")[0]
    expect(node_of(pod), node)
    expect(here.api.items(RESERVED), [])
    expect(here.waiting("half-0", "half-1"), ["half-0", "half-1"])
    here.api.call("DELETE", f"{JOBS}/urgent?propagationPolicy=Background")
    here.running("half-0")
    here.running("half-1")
    expect(len(here.api.items(RESERVED)), 1)


@SUITE.test("a GPU that was shared goes to a whole GPU's pod as soon as it is free, and back")
def _(here):
    all_but_one(here)
    for turn in range(3):
        for number in range(2):
            here.fraction(f"half-{turn}-{number}", gpu_fraction="0.5")
        here.bound(*(f"half-{turn}-{number}" for number in range(2)))
        here.pod(f"whole-{turn}", 1)
        expect(here.waits(f"whole-{turn}", seconds=0.5), True)
        for number in range(2):
            here.delete(f"half-{turn}-{number}")
        here.bound(f"whole-{turn}")
        here.fraction(f"late-{turn}", gpu_fraction="0.5")
        expect(here.waits(f"late-{turn}", seconds=0.5), True)
        here.delete(f"whole-{turn}")
        here.bound(f"late-{turn}")
        here.delete(f"late-{turn}")
        here.cluster.wait_until(lambda: not here.api.items(RESERVED), "the GPU is free", 20)


@SUITE.test("a gang of halves starts as a whole, and its GPUs are free when it has ended")
def _(here):
    notes = {**HALF, "test/finish-after": "4s"}
    here.job("halves", 0, count=6, annotations={"kai.scheduler/batch-min-member": "6"}, notes={
        **notes, "runai/shared-gpu-configmap": "halves-shared"})
    pods = here.running("halves", 6)
    expect(len({one["metadata"]["labels"]["runai-gpu-group"] for one in pods}), 3)
    here.cluster.wait_for(f"{JOBS}/halves", lambda one: one["status"].get("succeeded") == 6, 30)
    here.cluster.wait_until(lambda: not here.api.items(RESERVED), "the GPUs are free", 20)


@SUITE.test("a workload with a delay evicts nobody before it is over")
def _(here):
    for number in range(4):
        here.job(f"old-{number}")
        here.running(f"old-{number}")
    start = time.monotonic()
    here.job("patient", priority="build", annotations={"kai.scheduler/preemption-delay": "3s"})
    here.running("patient")
    expect(time.monotonic() - start > 2, True, "seconds that it waited")


@SUITE.test("a queue's limit holds a Job back until another of the queue has ended")
def _(here):
    here.queue("tight", limit=8)
    here.job("one", queue="tight", notes={"test/finish-after": "3s"})
    here.running("one")
    here.job("two", queue="tight")
    pod = here.cluster.wait_until(lambda: here.pods_of("two"), "the pod", 20)[0]["metadata"]["name"]
    expect_in("tight quota has reached the allowable limit of GPUs. Limit is 8 GPUs",
              here.condition(pod, status="False", reason="Unschedulable")["message"])
    expect(here.waiting("two"), ["two"])
    here.running("two")
    expect(here.get(pod)["metadata"]["name"], pod)


@SUITE.test("a node that is cordoned takes nothing new, and takes again when it is not")
def _(here):
    nodes = sorted(one["metadata"]["name"] for one in here.api.items(NODES))
    for name in nodes[1:]:
        here.cluster.kubectl("cordon", name)
    try:
        here.pod("one", 8)
        expect(here.bound("one"), nodes[:1])
        here.pod("two", 8)
        expect_in("unschedulable", here.condition("two", status="False", reason="Unschedulable")["message"])
        here.cluster.kubectl("uncordon", nodes[2])
        expect(here.bound("two"), nodes[2:3])
    finally:
        here.cluster.kubectl("uncordon", *nodes)
    expect(len(here.api.items(PODS)), 2)
