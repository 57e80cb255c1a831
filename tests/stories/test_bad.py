"""Objects that make no sense: each is named where its owner looks, and harms nobody else."""

from client import ApiError
from place import GROUPS, Stories
from stage import PODS, QUEUES, REQUESTS, TOPOLOGIES, queue_object
from gpu_operator import RESERVED
from suite import expect, expect_in

SUITE = Stories()
# All annotations of an object together may have so many bytes.
ANNOTATIONS_MAX = 256 * 1024


def others_run(here):
    """Plain pods, parts of GPUs and gangs are served as ever."""
    here.pod("fine", 1)
    here.fraction("fine-half", gpu_fraction="0.5")
    here.job("fine-gang", gpus=1, count=2, annotations={"kai.scheduler/batch-min-member": "2"})
    here.bound("fine")
    here.carried_out("fine-half")
    here.running("fine-gang", 2)


@SUITE.test("a queue that is its own parent, or one of a circle, is named")
def _(here):
    here.api.create(QUEUES, queue_object("loop", "loop"))
    here.api.create(QUEUES, queue_object("ring-a", "ring-b"))
    here.api.create(QUEUES, queue_object("ring-b", "ring-a"))
    # Of a circle the one that closes it is named.
    for name in ("loop", "ring-b"):
        expect_in("parents must form a tree: name another one, or none", here.told(name, "Invalid", "kai-scheduler"))
    here.job("lost", queue="loop")
    others_run(here)
    expect(here.waiting("lost"), ["lost"])
    # Put right, it serves.
    here.api.patch(f"{QUEUES}/loop", {"spec": {"parentQueue": "default-parent-queue"}})
    here.running("lost")


@SUITE.test("a queue that is not there is named by what waits for it")
def _(here):
    here.pod("asks", 1, labels={"kai.scheduler/queue": "nowhere"})
    text = here.condition("asks", status="False", reason="Unschedulable")["message"]
    expect_in("Queue 'nowhere' does not exist", text)
    expect(here.told("asks", "Unschedulable", "kai-scheduler"), text)
    name = here.group_of("asks")["metadata"]["name"]
    expect_in("Queue 'nowhere' does not exist", here.told(name, "Unschedulable", "kai-scheduler"))
    entry = here.cluster.wait_for(f"{GROUPS}/{name}", lambda group: group.get("status", {}).get(
        "schedulingConditions"))["status"]["schedulingConditions"][-1]
    expect(entry["reasons"][0]["reason"], "QueueDoesNotExist")
    others_run(here)
    here.queue("nowhere")
    here.bound("asks")


@SUITE.test("parts of GPUs that make no sense are named, take nothing, and are served when put right")
def _(here):
    wrong = {
        "more": ({"gpu-fraction": "1.5"}, 0, "gpu-fraction", "expected a number above 0 and below 1, found '1.5'"),
        "nan": ({"gpu-fraction": "NaN"}, 0, "gpu-fraction", "expected a number above 0 and below 1, found 'NaN'"),
        "both": ({"gpu-fraction": "0.5", "gpu-memory": "1000"}, 0, "gpu-memory",
                 "expected one of gpu-fraction and gpu-memory"),
        "whole": ({"gpu-fraction": "0.5"}, 1, "metadata.annotations",
                  "expected a part of a GPU or a limit of whole GPUs, found both: leave one out"),
    }
    for name, (annotations, gpus, _, _) in wrong.items():
        here.pod(name, gpus, annotations={**annotations, "runai/shared-gpu-configmap": f"{name}-shared"})
    for name, (_, _, key, text) in wrong.items():
        found = here.told(name, "Invalid", "kai-scheduler")
        expect_in(key, found)
        expect_in(text, found)
    others_run(here)
    expect(here.waits(*wrong, seconds=0.5), True)
    expect(len(here.api.items(RESERVED)), 1, "GPUs that are kept")
    expect([one["metadata"]["name"] for one in here.api.items(REQUESTS)], ["fine-half"])
    here.api.patch(f"{PODS}/more", {"metadata": {"annotations": {"gpu-fraction": "0.5"}}})
    here.carried_out("more")


@SUITE.test("a PodGroup that needs more pods than there are says how many are missing")
def _(here):
    here.job("few", gpus=1, count=2, annotations={"kai.scheduler/batch-min-member": "5"})
    pod = here.cluster.wait_until(lambda: here.pods_of("few"), "its pods", 20)[0]["metadata"]["name"]
    expect_in("Waiting for 5 pods, currently 2 exist",
              here.told(here.group_of(pod)["metadata"]["name"], "NotReady", "kai-scheduler"))
    others_run(here)
    expect(here.waiting("few"), ["few"])


@SUITE.test("a Topology without levels is refused, and a gang that names one that is not there says so")
def _(here):
    for spec in ({}, {"levels": []}):
        try:
            here.api.create(TOPOLOGIES, {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology",
                                         "metadata": {"name": "flat"}, "spec": spec})
        except ApiError as error:
            expect(error.status, 422)
            expect_in("spec.levels", str(error))
        else:
            raise AssertionError("it was taken")
    here.job("astray", gpus=1, annotations={"kai.scheduler/topology": "flat",
                                            "kai.scheduler/topology-required-placement": "rack"})
    pod = here.cluster.wait_until(lambda: here.pods_of("astray"), "its pod", 20)[0]["metadata"]["name"]
    expect_in("Requested topology flat does not exist", here.condition(pod, status="False")["message"])
    others_run(here)


@SUITE.test("annotations that fill an object are refused or named, and what can run does")
def _(here):
    try:
        here.pod("huge", 1, annotations={"note": "x" * (1 << 20)})
    except ApiError as error:
        expect(error.status, 422)
    else:
        raise AssertionError("the API server took a MiB of annotations")
    # There is no room left in the pod for the name of its group; it needs none.
    here.pod("full", 1, annotations={"note": "x" * (ANNOTATIONS_MAX - 10)})
    here.bound("full")
    # Nor in the group for the annotations of its workload, together with its own.
    here.job("wordy", gpus=1, annotations={"note": "x" * (ANNOTATIONS_MAX - 10)})
    pod = here.cluster.wait_until(lambda: here.pods_of("wordy"), "its pod", 20)[0]["metadata"]["name"]
    text = here.told(pod, "PodGrouperWarning", "pod-grouper")
    expect_in("the PodGroup of Job wordy was rejected", text)
    expect_in("metadata.annotations: Too long: may not be more than 262144 bytes", text)
    others_run(here)
    # As long as it can be, with what is added to it.
    here.job("long", gpus=1, annotations={"note": "x" * (ANNOTATIONS_MAX - 4096)})
    here.running("long")
    here.pod("lengthy", 1, annotations={"note": "x" * (ANNOTATIONS_MAX - 4096)})
    here.bound("lengthy")
    here.group_of("lengthy")
