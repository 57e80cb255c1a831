"""Workloads that Kubernetes' own controllers run."""

from place import DEPLOYMENTS, JOBS, Stories, pod_spec
from stage import GROUPS, PODS, REQUESTS, node_of
from suite import expect, expect_in

SUITE = Stories()
GANG = {"kai.scheduler/batch-min-member": "3"}


def is_complete(job):
    return any(one["type"] == "Complete" and one["status"] == "True" for one in job["status"].get("conditions", []))


@SUITE.test("a Job runs to its end, and its GPUs are given to the next")
def _(here):
    for number in range(6):
        here.job(f"short-{number}", notes={"test/finish-after": "500ms"})
    for number in range(6):
        here.cluster.wait_for(f"{JOBS}/short-{number}", is_complete, 30)
    pod = here.pods_of("short-0")[0]
    job = here.api.get(f"{JOBS}/short-0")
    group = here.group_of(pod["metadata"]["name"])
    expect(group["metadata"]["name"], f"pg-short-0-{job['metadata']['uid']}")
    expect(group["metadata"]["ownerReferences"][0]["kind"], "Job")


@SUITE.test("a gang waits until there is room for all of it, then starts as a whole and ends")
def _(here):
    for number in range(2):
        here.pod(f"blocker-{number}", 8)
    here.bound("blocker-0", "blocker-1")
    job = here.job("gang", count=3, annotations=GANG, notes={"test/finish-after": "1s"})
    name = f"pg-gang-{job['metadata']['uid']}"

    def conditions(found):
        return found.get("status", {}).get("schedulingConditions")

    found = here.cluster.wait_for(f"{GROUPS}/{name}", conditions)
    expect(found["spec"]["minMember"], 3)
    entry = conditions(found)[-1]
    expect((entry["type"], entry["reason"], entry["status"]), ("UnschedulableOnNodePool", "Unschedulable", "True"))
    expect_in("Resources were found for 2 pods while 3 are required for gang scheduling", entry["message"])
    here.event(name, "Unschedulable")
    pods = [one["metadata"]["name"] for one in here.pods_of("gang")]
    expect(len(pods), 3)
    expect(here.waits(*pods, seconds=1), True)
    for one in pods:
        here.condition(one, status="False", reason="Unschedulable")
    here.delete("blocker-0")
    here.bound(*pods)
    started = here.cluster.wait_for(f"{GROUPS}/{name}", lambda group: not conditions(group) and group["metadata"].get(
        "annotations", {}).get("kai.scheduler/last-start-timestamp"), 20)
    expect(started["metadata"]["annotations"]["kai.scheduler/batch-min-member"], "3")
    here.cluster.wait_for(f"{JOBS}/gang", is_complete, 30)


@SUITE.test("a gang of which not all pods exist is not ready")
def _(here):
    job = here.job("lacking", count=2, gpus=1, annotations=GANG)
    name = f"pg-lacking-{job['metadata']['uid']}"
    expect_in("Job is not ready for scheduling. Waiting for 3 pods, currently 2 exist",
              here.told(name, "NotReady", "kai-scheduler"))
    expect(here.stays(lambda: here.waiting("lacking"), 1), True)
    here.api.patch(f"{JOBS}/lacking", {"metadata": {"annotations": {"kai.scheduler/batch-min-member": "2"}}})
    # The annotation is read when a pod of the Job is looked at the next time.
    pod = here.pods_of("lacking")[0]["metadata"]["name"]
    here.api.patch(f"{PODS}/{pod}", {"metadata": {"labels": {"look": "again"}}})
    here.running("lacking", 2)


@SUITE.test("a Deployment's pods run each for itself, more when it grows, and anew when one is deleted")
def _(here):
    labels = {"app": "web"}
    here.api.create(DEPLOYMENTS, {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "replicas": 3, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod_spec(1)}}})

    def ready(count):
        here.cluster.wait_for(f"{DEPLOYMENTS}/web", lambda one: one["status"].get("readyReplicas") == count, 30)

    ready(3)
    pods = here.api.items(PODS)
    groups = [here.group_of(one["metadata"]["name"]) for one in pods]
    expect(len({one["metadata"]["name"] for one in groups}), 3)
    expect({one["spec"]["priorityClassName"] for one in groups}, {"inference"})
    expect({one["metadata"]["ownerReferences"][0]["kind"] for one in groups}, {"Pod"})
    here.api.patch(f"{DEPLOYMENTS}/web", {"spec": {"replicas": 5}})
    ready(5)
    here.delete(pods[0]["metadata"]["name"])
    here.gone(pods[0]["metadata"]["name"])
    ready(5)


@SUITE.test("where every bind is left to the binder, a gang starts as a whole as well")
def _(here):
    here.restart("--bind-requests=always")
    try:
        here.pod("blocker", 8)
        here.carried_out("blocker")
        here.job("whole", count=4, annotations={"kai.scheduler/batch-min-member": "4"})
        here.cluster.wait_until(lambda: len(here.pods_of("whole")) == 4, "four pods", 20)
        pods = [one["metadata"]["name"] for one in here.pods_of("whole")]
        for name in pods:
            here.condition(name, status="False", reason="Unschedulable")
        expect([one["metadata"]["name"] for one in here.api.items(REQUESTS) if one["spec"]["podName"] in pods], [])
        here.delete("blocker")
        nodes = [node_of(here.carried_out(name)[0]) for name in pods]
        expect(len(set(nodes)), 4)
        here.running("whole", 4)
    finally:
        here.restart()
