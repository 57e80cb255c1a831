"""The scheduler: gangs, queues and whose pods have to go."""

from stage import GROUPS, NODES, PODS, TOPOLOGIES
from suite import Suite, expect, expect_in

SUITE = Suite()


def names_of(gang, count):
    return [f"{gang}-{number}" for number in range(count)]


@SUITE.test("a gang waits until its pods are there, and starts whole")
def _(stage):
    stage.clear()
    stage.group("gang", 3)
    stage.pod("gang-0", 4, group="gang")
    stage.pod("gang-1", 4, group="gang")
    expect_in("Waiting for 3 pods, currently 2 exist", stage.event("gang", "NotReady")["message"])
    expect(stage.waits("gang-0", "gang-1", seconds=0.5), True)
    stage.pod("gang-2", 4, group="gang")
    stage.bound(*names_of("gang", 3))


@SUITE.test("a gang that does not fit as a whole stays out as a whole, and its PodGroup says why")
def _(stage):
    stage.clear()
    stage.gang("wide", 5, gpus=8)

    def look(found):
        return found.get("status", {}).get("schedulingConditions")

    entry = look(stage.cluster.wait_for(f"{GROUPS}/wide", look))[-1]
    expect({key: entry[key] for key in ("type", "nodePool", "reason", "status", "transitionID")},
           {"type": "UnschedulableOnNodePool", "nodePool": "default", "reason": "Unschedulable", "status": "True",
            "transitionID": "1"})
    expect_in("Resources were found for 4 pods while 5 are required for gang scheduling", entry["message"])
    expect(entry["reasons"][0]["reason"], "PodSchedulingErrors")
    expect(stage.waits(*names_of("wide", 5), seconds=0.5), True)
    stage.api.delete(f"{PODS}/wide-4")
    stage.api.patch(f"{GROUPS}/wide", {"spec": {"minMember": 4}})
    stage.bound(*names_of("wide", 4))
    stage.cluster.wait_for(f"{GROUPS}/wide", lambda found: not look(found))
    started = stage.cluster.wait_for(
        f"{GROUPS}/wide", lambda found: found["metadata"].get("annotations", {}).get("kai.scheduler/last-start-timestamp"))
    expect(started["spec"]["minMember"], 4)


@SUITE.test("a queue takes back what another has beyond its quota")
def _(stage):
    stage.clear()
    stage.queue("a", quota=16)
    stage.queue("b", quota=16)
    for number in range(4):
        stage.gang(f"greedy{number}", 1, gpus=8, queue="a")
    stage.bound(*(f"greedy{number}-0" for number in range(4)))
    stage.gang("due", 1, gpus=8, queue="b")
    stage.bound("due-0")
    evicted = [number for number in range(4) if not stage.find(f"greedy{number}-0")]
    expect(len(evicted), 1)
    told = stage.event(f"greedy{evicted[0]}", "Evict")
    expect_in("was preempted by workload default/due.", told["message"])
    expect(told["metadata"]["annotations"],
           {"num-evicted-pods": "1", "evictor-action-type": "reclaim", "evictor-pod-group-name": "due",
            "evictor-pod-group-namespace": "default"})
    # Written beside the event, in no order.
    stage.cluster.wait_for(
        f"{GROUPS}/greedy{evicted[0]}",
        lambda found: "kai.scheduler/last-eviction-timestamp" in found["metadata"].get("annotations", {}))


@SUITE.test("higher priority takes the place of lower in its queue")
def _(stage):
    stage.clear()
    for number in range(4):
        stage.gang(f"low{number}", 1, gpus=8)
    stage.bound(*(f"low{number}-0" for number in range(4)))
    stage.gang("high", 1, gpus=8, priorityClassName="build")
    stage.bound("high-0")
    evicted = [number for number in range(4) if not stage.find(f"low{number}-0")]
    expect(len(evicted), 1)
    expect(stage.event(f"low{evicted[0]}", "Evict")["message"],
           f"Pod default/low{evicted[0]}-0 was preempted by higher priority workload default/high")


@SUITE.test("work that may not be preempted keeps to its queue's quota")
def _(stage):
    stage.clear()
    stage.queue("small", quota=4)
    stage.gang("fixed", 1, gpus=8, queue="small", priorityClassName="inference")

    def look(found):
        return found.get("status", {}).get("schedulingConditions")

    reason = look(stage.cluster.wait_for(f"{GROUPS}/fixed", look))[-1]["reasons"][0]
    expect(reason["reason"], "NonPreemptibleOverQuota")
    expect_in("Workload requested 8 GPUs, but small quota is 4 GPUs", reason["message"])
    expect(reason["details"]["queueDetails"]["name"], "small")
    expect(reason["details"]["queueDetails"]["queueDeservedResources"]["nvidia.com/gpu"], "4")


@SUITE.test("a queue's minimum runtime protects what has just started")
def _(stage):
    stage.clear()
    stage.queue("calm", preemptMinRuntime="4s")
    for number in range(4):
        stage.gang(f"young{number}", 1, gpus=8, queue="calm")
    stage.bound(*(f"young{number}-0" for number in range(4)))
    stage.gang("pushy", 1, gpus=8, queue="calm", priorityClassName="build")
    expect(stage.waits("pushy-0", seconds=1.5), True)
    stage.bound("pushy-0")


@SUITE.test("what is left of a gang that lost too many pods is evicted after its grace")
def _(stage):
    stage.clear()
    stage.gang("stale", 3, gpus=1, stalenessGracePeriod="2s")
    stage.bound(*names_of("stale", 3))
    stage.api.delete(f"{PODS}/stale-1")
    marked = stage.cluster.wait_for(
        f"{GROUPS}/stale",
        lambda found: found["metadata"].get("annotations", {}).get("kai.scheduler/stale-podgroup-timestamp"))
    expect(marked["metadata"]["name"], "stale")
    stage.gone("stale-0", "stale-2")
    expect_in("Workload doesn't meet the minimum required number of pods (3), evicting remaining pod",
              stage.event("stale", "Evict")["message"])
    expect_in("minMember is 3", stage.event("stale", "StaleJob")["message"])


@SUITE.test("a gang is kept together in a domain of its topology")
def _(stage):
    stage.clear()
    names = sorted(one["metadata"]["name"] for one in stage.api.items(NODES))
    for number, name in enumerate(names):
        stage.api.patch(f"{NODES}/{name}", {"metadata": {"labels": {"rack": f"r{number // 2}"}}})
    stage.api.create(TOPOLOGIES, {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": "t"},
                                  "spec": {"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}})
    stage.pod("taken", 8, nodeName=names[0])
    stage.gang("near", 2, gpus=8, topologyConstraint={"topology": "t", "requiredTopologyLevel": "rack"})
    expect(sorted(stage.bound("near-0", "near-1")), names[2:4])


@SUITE.test("a pod is moved to another node so that a larger one fits")
def _(stage):
    stage.clear()
    names = sorted(one["metadata"]["name"] for one in stage.api.items(NODES))
    for number, name in enumerate(names):
        stage.group(f"part{number}", 1)
        stage.pod(f"part{number}-0", 4, group=f"part{number}", nodeName=name)
    stage.gang("whole", 1, gpus=8)
    stage.bound("whole-0")
    moved = [number for number in range(4) if not stage.find(f"part{number}-0")]
    expect(len(moved), 1)
    expect(stage.event(f"part{moved[0]}", "Evict")["message"],
           f"Pod default/part{moved[0]}-0 was preempted and rescheduled due to bin packing (resource consolidation) "
           "procedure")
    expect(stage.bound("whole-0"), [names[moved[0]]])
