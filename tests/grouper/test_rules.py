"""What holds for every kind: queues, priorities, what is never overwritten, who is left alone, and what goes wrong."""

import re
import time

import roles
import world
from suite import Suite, expect, expect_in
from workloads import Maker, path_of

SUITE = Suite()
GROUPS = "/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups"
PODS = "/api/v1/namespaces/default/pods"
QUEUE = {"kai.scheduler/queue": "team-a"}


def widget(maker, name, **more):
    """A workload of a kind without rules of its own."""
    return maker.make("tekton.dev/v1", "TaskRun", name, {}, **more)


@SUITE.test("the queue comes from the owner, the pod, the project, or is the default one")
def queues(cluster):
    maker = Maker(cluster)
    owner = widget(maker, "q1", labels=QUEUE)
    maker.pod("q1", owner, {"kai.scheduler/queue": "other"})
    expect(maker.grouped("q1")[1]["spec"]["queue"], "team-a")
    maker.pod("q2", widget(maker, "q2"), {"kai.scheduler/queue": "other"})
    expect(maker.grouped("q2")[1]["spec"]["queue"], "other")
    maker.pod("q3", widget(maker, "q3", labels={"project": "p"}))
    expect(maker.grouped("q3")[1]["spec"]["queue"], "p")
    maker.pod("q4", labels={"project": "p", "kai.scheduler/node-pool": "a"})
    expect(maker.grouped("q4")[1]["spec"]["queue"], "p-a")
    maker.pod("q5")
    expect(maker.grouped("q5")[1]["spec"]["queue"], "default-queue")


@SUITE.test("the priority is that of a class that exists, then the administrator's, then the kind's")
def priorities(cluster):
    maker = Maker(cluster)
    maker.pod("p1", widget(maker, "p1", labels={"priorityClassName": "odd"}))
    expect(maker.grouped("p1")[1]["spec"]["priorityClassName"], "odd")
    maker.pod("p2", widget(maker, "p2"), priorityClassName="inference")
    expect(maker.grouped("p2")[1]["spec"]["priorityClassName"], "inference")
    maker.pod("p3", widget(maker, "p3", labels={"priorityClassName": "no-such"}))
    group = maker.grouped("p3")[1]
    expect(group["spec"]["priorityClassName"], "build", "the administrator's")
    expect(group["spec"]["preemptibility"], "preemptible")
    pipeline = maker.make("tekton.dev/v1", "PipelineRun", "p4", {})
    maker.pod("p4", pipeline)
    expect(maker.grouped("p4")[1]["spec"]["priorityClassName"], "train", "the kind's")
    # The nearest owner that says something wins.
    near = widget(maker, "p5", owner=maker.make("tekton.dev/v1", "PipelineRun", "p5", {},
                                               labels={"priorityClassName": "build"}),
                  labels={"priorityClassName": "inference"})
    maker.pod("p5", near)
    expect(maker.grouped("p5")[1]["spec"]["priorityClassName"], "inference")


@SUITE.test("annotations of owners and pods become durations, preemptibility and topology")
def notes(cluster):
    maker = Maker(cluster)
    owner = widget(maker, "n1", labels={"kai.scheduler/preemptibility": "non-preemptible"}, annotations={
        "kai.scheduler/preemption-delay": "90s", "kai.scheduler/staleness-grace-period": "-1s",
        "kai.scheduler/topology": "t", "kai.scheduler/topology-preferred-placement": "rack"})
    maker.pod("n1", owner, annotations={"kai.scheduler/preemption-delay": "1s"})
    spec = maker.grouped("n1")[1]["spec"]
    expect(spec["preemptibility"], "non-preemptible")
    expect(spec["preemptionDelay"], "90s")
    expect(spec["stalenessGracePeriod"], "-1s")
    expect(spec["topologyConstraint"], {"topology": "t", "preferredTopologyLevel": "rack"})
    maker.pod("n2", annotations={"kai.scheduler/preemption-delay": "-5s"})
    expect("preemptionDelay" in maker.grouped("n2")[1]["spec"], False, "a negative delay")


def with_next_pod(maker, owner, name, check):
    """The group once check holds. Groups are looked at when a pod comes, as far as the grouper has seen them by then."""
    for number in range(30):
        pod = maker.pod(f"{owner['metadata']['name']}-{number}-{time.monotonic_ns()}", owner)["metadata"]["name"]
        maker.grouped(pod)
        group = maker.group(name)
        if check(group):
            return group
        time.sleep(0.5)
    raise AssertionError(f"the group stays as it is: {group}")


@SUITE.test("what belongs to others is never overwritten, the rest is put right")
def updates(cluster):
    maker = Maker(cluster)
    owner = widget(maker, "u1", labels={**QUEUE, "kai.scheduler/node-pool": "a", "x": "1"})
    maker.pod("u1", owner)
    name = maker.grouped("u1")[1]["metadata"]["name"]
    cluster.api.patch(f"{GROUPS}/{name}", {
        "metadata": {"labels": {"kai.scheduler/queue": "moved", "kai.scheduler/node-pool": None, "x": "2", "mine": "1"},
                     "annotations": {"kai.scheduler/last-start-timestamp": "2026-01-01T00:00:00Z"}},
        "spec": {"queue": "moved", "markUnschedulable": False, "schedulingBackoff": 1, "minMember": 7,
                 "topologyConstraint": {"topology": "hand-made"}}})
    group = with_next_pod(maker, owner, name, lambda found: found["spec"]["minMember"] == 1)
    expect(group["metadata"]["labels"], {"kai.scheduler/queue": "moved", "x": "1", "mine": "1"})
    expect(group["metadata"]["annotations"]["kai.scheduler/last-start-timestamp"], "2026-01-01T00:00:00Z")
    spec = group["spec"]
    expect((spec["queue"], spec["markUnschedulable"], spec["schedulingBackoff"]), ("moved", False, 1))
    expect(spec["topologyConstraint"], {"topology": "hand-made"})
    # The workload's own changes arrive with the next pod.
    cluster.api.patch(path_of("tekton.dev/v1", "TaskRun", "default", "u1"), {
        "metadata": {"labels": {"priorityClassName": "odd", "kai.scheduler/queue": "third"}}})
    group = with_next_pod(maker, owner, name, lambda found: found["spec"]["priorityClassName"] == "odd")
    expect(group["spec"]["queue"], "moved")


@SUITE.test("pods that have a group, want none or belong to others are left alone")
def left_alone(cluster):
    maker = Maker(cluster)
    maker.make("scheduling.run.ai/v2alpha2", "PodGroup", "external", {"queue": "q", "minMember": 1})
    maker.pod("a1", annotations={"pod-group-name": "external"})
    maker.pod("a2", annotations={"kai.scheduler/skip-podgrouper": "true"})
    maker.pod("a3", widget(maker, "a3", annotations={"kai.scheduler/skip-podgrouper": "true"}))
    maker.pod("a4", scheduler="default-scheduler")
    maker.pod("a5")
    maker.grouped("a5")
    names = [group["metadata"]["name"] for group in maker.groups()]
    for pod in ("a1", "a2", "a3", "a4"):
        expect([name for name in names if name.startswith(f"pg-{pod}-")], [], pod)
        expect(maker.pod_of(pod)["metadata"].get("annotations", {}).get("pod-group-name"),
               "external" if pod == "a1" else None, pod)


@SUITE.test("groups under the names of older releases are kept")
def legacy(cluster):
    maker = Maker(cluster)
    job = maker.make("batch/v1", "Job", "old", {"template": {"spec": {
        "containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}}},
        annotations={"kai.scheduler/batch-min-member": "2"})
    name = f"pg-old-a-{job['metadata']['uid']}"
    maker.make("scheduling.run.ai/v2alpha2", "PodGroup", name, {"queue": "q", "minMember": 1})
    cluster.wait_until(lambda: world.figure(cluster, "muster_grouper_waiting") == 0, "nothing waits")
    time.sleep(0.3)
    maker.pod("old-a", job)
    expect(maker.grouped("old-a")[1]["metadata"]["name"], name)
    ray = maker.make("ray.io/v1", "RayCluster", "old", {"headGroupSpec": {}, "workerGroupSpecs": [
        {"groupName": "w", "replicas": 1, "template": {}}]})
    name = f"pg-old-{ray['metadata']['uid']}"
    maker.make("scheduling.run.ai/v2alpha2", "PodGroup", name, {"queue": "q", "minMember": 2})
    time.sleep(0.3)
    pod = maker.pod("old-ray", ray, {"ray.io/group": "w"})
    pod, group = maker.grouped("old-ray")
    expect((group["spec"]["minMember"], group["spec"].get("subGroups", [])), (2, []))
    expect("kai.scheduler/subgroup-name" in pod["metadata"]["labels"], False)


def warning_of(cluster, pod, part):
    def look():
        found = cluster.api.items(f"/api/v1/namespaces/default/events?fieldSelector=involvedObject.name={pod}")
        return [one for one in found if one["reason"] == "PodGrouperWarning" and part in one["message"]]

    event, = cluster.wait_until(look, f"a warning about {pod}", 20)[:1]
    expect((event["type"], event["source"]["component"]), ("Warning", "pod-grouper"))
    return event


@SUITE.test("what is wrong is an event at the pod, and is tried again")
def failures(cluster):
    maker = Maker(cluster)
    first, second = widget(maker, "f1"), widget(maker, "f2")
    both = widget(maker, "f3", owner=[first, second])
    maker.pod("f3", both)
    warning_of(cluster, "f3", "more than one owner")
    gone = {**first, "metadata": {**first["metadata"], "uid": "11111111-2222-3333-4444-555555555555"}}
    maker.pod("f4", gone)
    warning_of(cluster, "f4", "was replaced by another object of the same name")
    maker.pod("f5", maker.make("jobset.x-k8s.io/v1alpha2", "JobSet", "f5", {"replicatedJobs": [{"name": "a"}]}))
    warning_of(cluster, "f5", "job-index")
    late = maker.make("ray.io/v1", "RayJob", "f6", {})
    maker.pod("f6", late, {"ray.io/group": "headgroup"})
    warning_of(cluster, "f6", "RayCluster")
    maker.make("ray.io/v1", "RayCluster", "f6-c", {"headGroupSpec": {}})
    cluster.api.patch(path_of("ray.io/v1", "RayJob", "default", "f6"), {"status": {"rayClusterName": "f6-c"}})
    expect(maker.grouped("f6", 30)[1]["spec"]["minMember"], 1)


@SUITE.test("a group is made once for all its pods, and a lone pod costs two writes")
def writes(cluster):
    maker = Maker(cluster)
    owner = widget(maker, "big", labels=QUEUE)
    before = world.figure(cluster, "muster_grouper_groups_created_total")
    for number in range(60):
        maker.pod(f"big-{number}", owner)
    for number in range(60):
        maker.grouped(f"big-{number}")
    expect(world.figure(cluster, "muster_grouper_groups_created_total") - before, 1, "groups made")
    count = writes_of(cluster)
    maker.pod("two")
    maker.grouped("two")
    time.sleep(0.5)
    expect(writes_of(cluster) - count, 2, "writes for a lone pod")


def writes_of(cluster):
    return sum(world.figure(cluster, f"muster_grouper_{what}_total") or 0
               for what in ("groups_created", "groups_updated", "pods_patched"))


@SUITE.test("a grouper that starts anew changes nothing that is as it should be")
def restart(cluster):
    maker = Maker(cluster)
    maker.pod("r1", widget(maker, "r1", labels=QUEUE))
    group = maker.grouped("r1")[1]
    expect(cluster.stop("grouper"), 0)
    maker.pod("r2")
    world.start(cluster)
    maker.grouped("r2")
    cluster.wait_until(lambda: world.figure(cluster, "muster_grouper_waiting") <= 5, "all is dealt with")
    expect(maker.group(group["metadata"]["name"])["metadata"]["resourceVersion"],
           group["metadata"]["resourceVersion"])
    text = world.ask(cluster.ports[0], "/metrics")
    expect_in('muster_leader{service="grouper"} 1\n', text)
    for name in ("workqueue_adds_total", "workqueue_queue_duration_seconds_count", "workqueue_work_duration_seconds_count"):
        count = re.search(rf'^{name}{{name="pod",controller="pod"}} (\d+)$', text, re.MULTILINE)
        expect(bool(count) and int(count[1]) > 0, True, name)
    expect_in('workqueue_depth{name="pod",controller="pod"} ', text)
    expect_in('controller_runtime_reconcile_total{controller="pod",result="success"} ', text)


@SUITE.test("with a selector of namespaces, pods of others are left alone")
def selected(cluster):
    cluster.api.create("/api/v1/namespaces", {"metadata": {"name": "chosen", "labels": {"grouped": "yes"}}})
    expect(cluster.stop("grouper"), 0)
    world.start(cluster, "--namespace-label-selector=grouped=yes")
    outside, inside = Maker(cluster), Maker(cluster, "chosen")
    outside.pod("left-alone")
    inside.pod("chosen")
    inside.grouped("chosen")
    expect("pod-group-name" in outside.pod_of("left-alone")["metadata"].get("annotations", {}), False, "a group of others")
    expect(cluster.stop("grouper"), 0)
    world.start(cluster)


@SUITE.test("of two replicas one groups pods; the other takes over")
def replicas(cluster):
    maker, leader = Maker(cluster), 'muster_leader{service="grouper"}'
    quick = ("--leader-elect", "--leader-election-namespace=kai-scheduler", "--lease-duration=3s",
             "--lease-renew-deadline=2s", "--lease-retry-period=300ms")
    expect(cluster.stop("grouper"), 0)
    world.start(cluster, *quick)
    cluster.wait_until(lambda: world.figure(cluster, leader) == 1, "the first replica leads")
    world.start(cluster, *quick, name="grouper-2")
    expect(world.figure(cluster, leader), 0.0, "the second replica leads")
    cluster.kill("grouper")
    maker.pod("over")
    maker.grouped("over")
    expect(cluster.stop("grouper-2"), 0)
    world.start(cluster)


@SUITE.test("the manifests are taken by the server, and the rights in them are enough to get ready")
def manifests(cluster):
    deploy = world.ROOT / "deploy"
    cluster.kubectl("apply", "-f", deploy / "namespaces.yaml")
    cluster.kubectl("apply", "-f", deploy / "rbac")
    for name, flag in (("scheduler", "--listen-address"), ("binder", "--metrics-bind-address")):
        port, = world.bed.free_ports(1)
        cluster.spawn(name, world.MUSTER, name, f"--kubeconfig={roles.give(cluster, name)}", f"{flag}=0",
                      f"--health-probe-bind-address=127.0.0.1:{port}",
                      *(["--plugin-server-port=0"] if name == "scheduler" else []))
        cluster.wait_until(lambda asked=port: world.ask(asked, "/readyz") == "ok", f"the {name} is ready", 60)
        expect(cluster.stop(name), 0, name)
        log = cluster.processes.log_of(name, 100000)
        expect([line for line in log.splitlines() if "forbidden" in line.lower() or "status 403" in line], [], name)
