"""Pods that somebody writes by hand."""

from gpu_operator import RESERVED, gpu_of
from place import MAPS, PODS, Stories
from suite import expect, expect_in

SUITE = Stories()


@SUITE.test("with the default queues, the first pod runs and is told where")
def _(here):
    made = here.pod("first", 0)
    node, = here.bound("first")
    here.cluster.wait_for(f"{PODS}/first", lambda pod: pod["status"]["phase"] == "Running")
    expect(here.told("first", "Scheduled", "kai-scheduler"),
           f"Successfully assigned pod default/first to node {node} at node-pool default")
    expect(here.is_scheduled("first"), True)
    group = here.group_of("first")
    expect(group["metadata"]["name"], f"pg-first-{made['metadata']['uid']}")
    expect([group["spec"][key] for key in ("queue", "minMember", "priorityClassName")], ["default-queue", 1, "train"])
    expect("received-resource-type" in group["metadata"]["annotations"], False, "what the bind wrote is in the group")
    expect(group.get("status", {}).get("schedulingConditions", []), [])


@SUITE.test("a pod gets whole GPUs, and one that no node has enough for is told so")
def _(here):
    here.pod("two", 2, labels={"kai.scheduler/queue": "default-queue"})
    here.bound("two")
    expect(here.get("two")["metadata"]["annotations"]["received-resource-type"], "Regular")
    here.pod("nine", 9)
    text = here.condition("nine", status="False", reason="Unschedulable")["message"]
    expect_in("Max GPU resources available in a single node in the default node-pool is topped at 8", text)
    expect(here.told("nine", "Unschedulable", "kai-scheduler"), text)
    group = here.group_of("nine")
    here.event(group["metadata"]["name"], "Unschedulable")


@SUITE.test("two halves share one GPU, which is kept for them until both are gone")
def _(here):
    groups = set()
    for name in ("half-a", "half-b"):
        here.fraction(name, gpu_fraction="0.5")
    for name in ("half-a", "half-b"):
        pod, request = here.carried_out(name)
        group = pod["metadata"]["labels"]["runai-gpu-group"]
        groups.add(group)
        expect(request["spec"]["selectedGPUGroups"], [group])
        expect(request["spec"]["receivedGPU"], {"count": 1, "portion": "0.50"})
        expect(pod["metadata"]["annotations"]["received-resource-type"], "Fraction")
        expect(here.api.get(f"{MAPS}/{name}-shared-0")["data"], {"GPU_PORTION": "0.50", "RUNAI_NUM_OF_GPUS": "0.50"})
        direct = here.api.get(f"{MAPS}/{name}-shared-0-evar")
        expect(direct["data"], {"NVIDIA_VISIBLE_DEVICES": gpu_of(group)})
        expect(direct["metadata"]["ownerReferences"][0]["uid"], pod["metadata"]["uid"])
        expect(here.group_of(name)["spec"]["minMember"], 1)
    expect(len(groups), 1, "GPUs that they share")
    keeper, = here.api.items(RESERVED)
    expect(keeper["spec"]["nodeName"], here.get("half-a")["spec"]["nodeName"])
    here.fraction("more", gpu_fraction="0.6")
    other, _ = here.carried_out("more")
    expect(other["metadata"]["labels"]["runai-gpu-group"] in groups, False, "a full GPU is given away")
    here.delete("more")
    here.cluster.wait_until(lambda: len(here.api.items(RESERVED)) == 1, "the second GPU is free", 20)
    here.delete("half-a")
    expect(here.stays(lambda: len(here.api.items(RESERVED)) == 1, 1), True, "the GPU is kept for the other")
    here.delete("half-b")
    here.cluster.wait_until(lambda: not here.api.items(RESERVED), "the GPU is free", 20)
    # All 32 whole GPUs are there again.
    for number in range(4):
        here.pod(f"all-{number}", 8)
    here.bound(*(f"all-{number}" for number in range(4)))


@SUITE.test("a pod that asks for GPU memory gets the part of a GPU that has it")
def _(here):
    here.fraction("memory", gpu_memory="2000")
    pod, request = here.carried_out("memory")
    portion = request["spec"]["receivedGPU"]["portion"]
    expect(0.02 <= float(portion) <= 0.03, True, f"2000 MiB of 81559 are {portion}")
    expect(here.api.get(f"{MAPS}/memory-shared-0")["data"]["GPU_PORTION"], portion)
    expect(len(here.api.items(RESERVED)), 1)
    here.fraction("half", gpu_fraction="0.5")
    other, _ = here.carried_out("half")
    expect(other["metadata"]["labels"]["runai-gpu-group"], pod["metadata"]["labels"]["runai-gpu-group"])


@SUITE.test("a pod that asks for more memory than any GPU has waits, and its condition says so")
def _(here):
    here.fraction("huge", gpu_memory="500000000")
    found = here.condition("huge", status="False", reason="Unschedulable")
    expect("GPU memory" in found["message"], True, found["message"])


@SUITE.test("a part of several GPUs")
def _(here):
    here.fraction("wide", gpu_fraction="0.5", gpu_fraction_num_devices="2")
    pod, request = here.carried_out("wide")
    groups = request["spec"]["selectedGPUGroups"]
    expect(len(set(groups)), 2)
    expect({key: value for key, value in pod["metadata"]["labels"].items() if key.startswith("runai-gpu-group")},
           {f"runai-gpu-group/{group}": group for group in groups})
    expect(sorted(here.api.get(f"{MAPS}/wide-shared-0-evar")["data"]["NVIDIA_VISIBLE_DEVICES"].split(",")),
           sorted(map(gpu_of, groups)))
    expect(len(here.api.items(RESERVED)), 2)
    here.delete("wide")
    here.cluster.wait_until(lambda: not here.api.items(RESERVED), "the GPUs are free", 20)
