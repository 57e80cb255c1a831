"""Workloads of other projects, whose pods are made here as their controllers would."""

from place import Stories
from stage import node_of
from suite import expect, expect_in

SUITE = Stories()


def template():
    return {"spec": {"containers": [{"name": "main", "image": "none"}]}}


def torch_labels(role, index):
    return {"training.kubeflow.org/replica-type": role, "training.kubeflow.org/replica-index": str(index)}


@SUITE.test("an elastic PyTorchJob starts with its minimum, grows, and gives back first what is beyond it")
def _(here):
    job = here.workload("PyTorchJob", "elastic", {
        "elasticPolicy": {"minReplicas": 2, "maxReplicas": 4},
        "pytorchReplicaSpecs": {"Worker": {"replicas": 4, "template": template()}}})
    for number in range(2):
        here.pod(f"blocker-{number}", 8)
    here.bound("blocker-0", "blocker-1")
    names = [f"elastic-worker-{number}" for number in range(4)]
    here.pod(names[0], 8, job, torch_labels("worker", 0))
    group = here.group_of(names[0])
    expect((group["spec"]["minMember"], [one["name"] for one in group["spec"]["subGroups"]]), (2, ["worker"]))
    expect(here.waits(names[0], seconds=1), True)
    for number in range(1, 4):
        here.pod(names[number], 8, job, torch_labels("worker", number))
    here.cluster.wait_until(lambda: sum(bool(node_of(here.get(name))) for name in names) == 2, "two of four run", 20)
    expect(here.stays(lambda: sum(bool(node_of(here.get(name))) for name in names) == 2, 1), True)
    here.delete("blocker-0")
    here.delete("blocker-1")
    here.bound(*names)
    for number in range(2):
        here.job(f"urgent-{number}", priority="build")
        here.running(f"urgent-{number}")
        here.cluster.wait_until(lambda left=3 - number: sum(bool(here.find(name)) for name in names) == left,
                                "one worker less", 20)
        expect_in("was preempted by higher priority workload",
                  here.told(group["metadata"]["name"], "Evict", "kai-scheduler"))
    expect(here.stays(lambda: sum(bool(here.find(name)) for name in names) == 2, 1), True, "the minimum stays")


@SUITE.test("a JobSet's jobs start together, driver and workers")
def _(here):
    def labels(job, index):
        return {"jobset.sigs.k8s.io/replicatedjob-name": job, "jobset.sigs.k8s.io/job-index": str(index)}

    owner = here.workload("JobSet", "set", {"replicatedJobs": [
        {"name": "driver", "replicas": 1, "template": {"spec": {"parallelism": 1}}},
        {"name": "workers", "replicas": 2, "template": {"spec": {"parallelism": 2}}}]})
    names = ["set-driver-0-0"]
    here.pod(names[0], 0, owner, labels("driver", 0))
    for index in range(2):
        for number in range(2):
            names.append(f"set-workers-{index}-{number}")
            if (index, number) != (1, 1):
                here.pod(names[-1], 8, owner, labels("workers", index))
    expect_in("Job is not ready for scheduling", here.told(
        here.group_of(names[0])["metadata"]["name"], "NotReady", "kai-scheduler"))
    expect(here.waits(*names[:-1], seconds=1), True)
    here.pod(names[-1], 8, owner, labels("workers", 1))
    here.bound(*names)
    group = here.group_of(names[-1])
    expect(group["spec"]["minSubGroup"], 2)
    expect(here.get(names[-1])["metadata"]["labels"]["kai.scheduler/subgroup-name"], "workers-replica-1")


@SUITE.test("a RayCluster starts with its head and the least of each group of workers, and grows")
def _(here):
    owner = here.workload("RayCluster", "ray", {
        "headGroupSpec": {"template": template()}, "workerGroupSpecs": [
            {"groupName": "gpu", "replicas": 3, "minReplicas": 2, "maxReplicas": 4, "template": template()}]})
    here.pod("ray-gpu-0", 8, owner, {"ray.io/group": "gpu", "ray.io/node-type": "worker"})
    here.pod("ray-gpu-1", 8, owner, {"ray.io/group": "gpu", "ray.io/node-type": "worker"})
    group = here.group_of("ray-gpu-0")
    expect({one["name"]: one["minMember"] for one in group["spec"]["subGroups"]}, {"headgroup": 1, "gpu": 2})
    expect(here.waits("ray-gpu-0", "ray-gpu-1", seconds=1), True)
    here.pod("ray-head", 0, owner, {"ray.io/group": "headgroup", "ray.io/node-type": "head"})
    here.bound("ray-head", "ray-gpu-0", "ray-gpu-1")
    here.pod("ray-gpu-2", 8, owner, {"ray.io/group": "gpu", "ray.io/node-type": "worker"})
    here.bound("ray-gpu-2")


@SUITE.test("each replica of a LeaderWorkerSet starts as a whole, one without the other")
def _(here):
    owner = here.workload("LeaderWorkerSet", "lws", {
        "replicas": 2, "leaderWorkerTemplate": {"size": 3, "workerTemplate": template()}})

    def make(group, worker):
        name = f"lws-{group}" + (f"-{worker}" if worker else "")
        here.pod(name, 8, owner, {"leaderworkerset.sigs.k8s.io/group-index": str(group),
                                  "leaderworkerset.sigs.k8s.io/worker-index": str(worker)})
        return name

    first = [make(0, worker) for worker in range(3)]
    here.bound(*first)
    second = [make(1, worker) for worker in range(3)]
    for name in second:
        here.condition(name, status="False", reason="Unschedulable")
    expect(here.group_of(first[0])["metadata"]["name"], f"pg-lws-{owner['metadata']['uid']}-group-0")
    expect(here.group_of(second[2])["metadata"]["name"], f"pg-lws-{owner['metadata']['uid']}-group-1")
    for name in first:
        here.delete(name)
    here.bound(*second)
