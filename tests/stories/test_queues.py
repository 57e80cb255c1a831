"""Queues and priorities: who has to go, and what becomes of it."""

import datetime

from place import Stories
from stage import GROUPS, NODES, TOPOLOGIES, node_of
from suite import expect, expect_in

SUITE = Stories()


def group_name(job):
    return f"pg-{job['metadata']['name']}-{job['metadata']['uid']}"


def moment(text):
    return datetime.datetime.fromisoformat(text)


def fill(here, count=4, gpus=8, **options):
    """Jobs that take the whole cluster, running."""
    jobs = {f"old-{number}": here.job(f"old-{number}", gpus, **options) for number in range(count)}
    for name in jobs:
        here.running(name)
    return jobs


def evicted_one(here, jobs, seconds=20):
    """Waits until one of the Jobs has no running pod; returns it."""
    name, = here.cluster.wait_until(lambda: here.waiting(*jobs), "a Job is evicted", seconds)
    return jobs[name]


@SUITE.test("build goes before train: a Job of lower priority is preempted, comes back and waits")
def _(here):
    jobs = fill(here)
    here.job("urgent", priority="build")
    here.running("urgent")
    victim = evicted_one(here, jobs)
    name = group_name(victim)
    urgent = here.group_of(here.pods_of("urgent")[0]["metadata"]["name"])["metadata"]["name"]
    event = here.event(name, "Evict")
    expect_in(f"was preempted by higher priority workload default/{urgent}", event["message"])
    expect(event["metadata"]["annotations"],
           {"num-evicted-pods": "1", "evictor-action-type": "preempt", "evictor-pod-group-name": urgent,
            "evictor-pod-group-namespace": "default"})
    here.cluster.wait_for(f"{GROUPS}/{name}", lambda group: "kai.scheduler/last-eviction-timestamp" in
                          group["metadata"].get("annotations", {}), 20)
    again = here.cluster.wait_until(lambda: here.pods_of(
        victim["metadata"]["name"], lambda pod: "deletionTimestamp" not in pod["metadata"]), "the pod is back", 20)
    here.condition(again[0]["metadata"]["name"], status="False", reason="Unschedulable")
    here.api.call("DELETE", "/apis/batch/v1/namespaces/default/jobs/urgent?propagationPolicy=Background")
    here.running(victim["metadata"]["name"])


@SUITE.test("a queue takes back its quota from another, and no more than that")
def _(here):
    here.queue("a", quota=16)
    here.queue("b", quota=16)
    jobs = fill(here, queue="a")
    here.job("due-0", queue="b")
    here.running("due-0")
    victim = evicted_one(here, jobs)
    event = here.event(group_name(victim), "Evict")
    expect(event["metadata"]["annotations"]["evictor-action-type"], "reclaim")
    name = here.group_of(here.pods_of("due-0")[0]["metadata"]["name"])["metadata"]["name"]
    first, mine, others = event["message"].split("\n")
    expect_in("Pod default/old-", first)
    expect_in(f" was preempted by workload default/{name}.", first)
    for line, queue, used in ((mine, "a", 32), (others, "b", 0)):
        expect_in(f"{queue} uses <GPU: {used}, CPU: ", line)
        expect_in("with a quota of <GPU: 16, CPU: ", line)
        expect_in("fair-share of <GPU: ", line)
        expect_in("and queue priority of <", line)
    expect({key: event["metadata"]["annotations"][key] for key in ("evictor-pod-group-name", "num-evicted-pods")},
           {"evictor-pod-group-name": name, "num-evicted-pods": "1"})
    here.job("due-1", queue="b")
    here.running("due-1")
    here.cluster.wait_until(lambda: len(here.waiting(*jobs)) == 2, "two Jobs of a run", 20)
    here.job("more", queue="b")
    expect(here.stays(lambda: here.waiting("more") and len(here.waiting(*jobs)) == 2, 2), True)


@SUITE.test("a Job is moved so that a larger one fits, and runs on elsewhere")
def _(here):
    jobs = fill(here, count=8, gpus=4)
    nodes = {}
    for name in jobs:
        nodes.setdefault(node_of(here.running(name)[0]), []).append(name)
    expect(sorted(map(len, nodes.values())), [2, 2, 2, 2])
    for _, gone in nodes.values():
        here.api.call("DELETE", f"/apis/batch/v1/namespaces/default/jobs/{gone}?propagationPolicy=Background")
        here.cluster.wait_until(lambda job=gone: not here.pods_of(job), f"{gone} is gone", 20)
    left = {name: jobs[name] for name, _ in nodes.values()}
    # One of the four has to go elsewhere; two others have room for it.
    here.job("large", 8)
    node = node_of(here.running("large")[0])
    moved = jobs[nodes[node][0]]
    event = here.event(group_name(moved), "Evict")
    expect_in("Pod default/old-", event["message"])
    expect_in("was preempted and rescheduled due to bin packing (resource consolidation) procedure", event["message"])
    expect(event["metadata"]["annotations"]["evictor-action-type"], "consolidation")
    for name in left:
        expect(node_of(here.running(name)[0]) != node, True, f"{name} is on another node")


def waits_for_protected(here, jobs, name, seconds, **options):
    """A Job waits for what a minimum runtime protects. It says so in the words of any that finds no room, and nobody is
    evicted for it before the time is over; returns the Evict event of the one that is then."""
    job = here.job(name, **options)
    pod = here.cluster.wait_until(lambda: here.pods_of(name), "the pod", 20)[0]["metadata"]["name"]
    text = "no nodes with enough resources were found: 4 node(s) didn't have enough resources: GPUs."
    here.condition(pod, status="False", reason="Unschedulable", message=text)
    expect(here.told(pod, "Unschedulable", "kai-scheduler"), text)
    whole = f"PodSchedulingErrors: Resources were not found for pod default/{pod} due to: {text}."
    expect(here.told(group_name(job), "Unschedulable", "kai-scheduler"), whole)
    entry = here.cluster.wait_for(f"{GROUPS}/{group_name(job)}", lambda group: group.get("status", {}).get(
        "schedulingConditions"))["status"]["schedulingConditions"][-1]
    expect([entry[key] for key in ("type", "status", "reason", "nodePool", "message")],
           ["UnschedulableOnNodePool", "True", "Unschedulable", "default", whole])
    expect(here.waiting(name, *jobs), [name])
    here.running(name)
    victim = evicted_one(here, jobs)
    started = here.api.get(f"{GROUPS}/{group_name(victim)}")["metadata"]["annotations"][
        "kai.scheduler/last-start-timestamp"]
    event = here.event(group_name(victim), "Evict")
    ran = moment(event["firstTimestamp"]) - moment(started)
    expect(ran >= datetime.timedelta(seconds=seconds), True, f"it was evicted after {ran}, not within {seconds} s")
    here.cluster.wait_for(f"{GROUPS}/{group_name(job)}", lambda group: not group.get("status", {}).get(
        "schedulingConditions"))
    return event


@SUITE.test("a queue's minimum runtime protects what has just started from its own queue, and no longer")
def _(here):
    here.queue("calm", preemptMinRuntime="5s")
    event = waits_for_protected(here, fill(here, queue="calm"), "pushy", 5, queue="calm", priority="build")
    expect(event["metadata"]["annotations"]["evictor-action-type"], "preempt")
    expect_in(" was preempted by higher priority workload default/pg-pushy-", event["message"])


@SUITE.test("a queue's minimum runtime protects what has just started from other queues, and no longer")
def _(here):
    here.queue("a", quota=16, reclaimMinRuntime="5s")
    here.queue("b", quota=16)
    event = waits_for_protected(here, fill(here, queue="a"), "due", 5, queue="b")
    expect(event["metadata"]["annotations"]["evictor-action-type"], "reclaim")
    expect_in(" was preempted by workload default/pg-due-", event["message"])


@SUITE.test("what is left of a gang that lost a pod is evicted after its grace")
def _(here):
    job = here.workload("TFJob", "stale", {"tfReplicaSpecs": {"Worker": {"replicas": 3, "template": {}}}},
                        annotations={"kai.scheduler/staleness-grace-period": "2s"})
    names = [f"stale-worker-{number}" for number in range(3)]
    for name in names:
        here.pod(name, 1, job)
    here.bound(*names)
    expect(here.group_of(names[0])["spec"]["stalenessGracePeriod"], "2s")
    here.delete(names[1])
    here.cluster.wait_for(f"{GROUPS}/{group_name(job)}", lambda group: "kai.scheduler/stale-podgroup-timestamp" in
                          group["metadata"].get("annotations", {}), 20)
    here.gone(names[0], names[2])
    expect_in("Workload doesn't meet the minimum required number of pods (3), evicting remaining pod",
              here.told(group_name(job), "Evict", "kai-scheduler"))
    expect_in("Job is stale. 2 pods are active, minMember is 3",
              here.told(group_name(job), "StaleJob", "kai-scheduler"))
    for name in names:
        here.pod(f"{name}-again", 1, job)
    here.bound(*(f"{name}-again" for name in names))


@SUITE.test("a gang that has to be in one rack is, and waits where no rack has room")
def _(here):
    nodes = sorted(one["metadata"]["name"] for one in here.api.items(NODES))
    for number, name in enumerate(nodes):
        here.api.patch(f"{NODES}/{name}", {"metadata": {"labels": {"rack": f"r{number // 2}"}}})
    here.api.create(TOPOLOGIES, {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": "t"},
                                 "spec": {"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}})
    try:
        near = {"kai.scheduler/batch-min-member": "2", "kai.scheduler/topology": "t",
                "kai.scheduler/topology-required-placement": "rack"}
        here.pod("taken", 8, nodeSelector={"kubernetes.io/hostname": nodes[0]})
        here.bound("taken")
        job = here.job("near", count=2, annotations=near)
        expect(sorted(map(node_of, here.running("near", 2))), nodes[2:4])
        expect(here.api.get(f"{GROUPS}/{group_name(job)}")["spec"]["topologyConstraint"],
               {"topology": "t", "requiredTopologyLevel": "rack"})
        late = here.job("late", count=2, annotations=near)
        text = here.told(group_name(late), "Unschedulable", "kai-scheduler")
        expect_in("topology t, requirement rack couldn't be satisfied for job", text)
        here.delete("taken")
        here.running("late", 2)
    finally:
        here.api.delete(f"{TOPOLOGIES}/t")
