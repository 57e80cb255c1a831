"""What users create: pods that are completed, and objects that are refused with a reason."""

import json

from suite import Suite, expect, expect_in
from webhooks import refusal

SUITE = Suite()
PODS = "/api/v1/namespaces/default/pods"
GROUPS = "/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups"
QUEUES = "/apis/scheduling.run.ai/v2/queues"
TOPOLOGIES = "/apis/kai.scheduler/v1alpha1/topologies"


def pod(name, annotations=None, scheduler="kai-scheduler", **container):
    return {"metadata": {"name": name, "annotations": annotations or {}}, "spec": {
        "schedulerName": scheduler, "containers": [{"name": "main", "image": "none", **container}]}}


def restart(hooks, *flags):
    expect(hooks.stop(), 0, "status")
    hooks.start(*flags)
    # The API server learns of the new endpoint a moment later.
    hooks.cluster.wait_until(lambda: "failed calling webhook" not in (refusal(
        hooks.api, f"{PODS}?dryRun=All", pod("probe")) or ""), "the webhook is reached")


@SUITE.test("a pod with gpu-fraction and nothing else gets its environment, volume and runtime class")
def fraction(hooks):
    made = hooks.api.create(PODS, pod("half", {"gpu-fraction": "0.5"}))
    prefix = made["metadata"]["annotations"]["runai/shared-gpu-configmap"]
    spec, main = made["spec"], made["spec"]["containers"][0]
    expect(prefix.startswith("half-") and prefix.endswith("-shared-gpu"), True, prefix)
    expect([one["name"] for one in main["env"]],
           ["NVIDIA_VISIBLE_DEVICES", "RUNAI_NUM_OF_GPUS", "GPU_PORTION", "CUDA_DEVICE_MEMORY_LIMIT"])
    expect({one["valueFrom"]["configMapKeyRef"]["name"] for one in main["env"]}, {f"{prefix}-0"})
    expect(main["envFrom"], [{"configMapRef": {"name": f"{prefix}-0-evar", "optional": True}}])
    expect([one["configMap"]["name"] for one in spec["volumes"] if "configMap" in one], [f"{prefix}-0"])
    expect(spec["runtimeClassName"], "nvidia")


@SUITE.test("requests that make no sense are refused: what is wrong, where, and what to write instead")
def refused_pods(hooks):
    for number, (annotations, words) in enumerate((
            ({"gpu-fraction": "1.5"}, ["gpu-fraction annotation value must be a positive number smaller than 1.0",
                                       'metadata.annotations["gpu-fraction"] is "1.5"', 'Write for example "0.5"']),
            ({"gpu-memory": "4Gi"}, ["gpu-memory annotation value must be a positive integer greater than 0",
                                     'metadata.annotations["gpu-memory"] is "4Gi"', '"4096"']),
            ({"mps": "true"}, ["MPS is only supported with GPU fraction request", "remove mps"]),
            ({"gpu-fraction": "0.5", "gpu-fraction-container-name": "other"},
             ["container with name other not found for fraction request", "Write the name of a container"]))):
        said = refusal(hooks.api, PODS, pod(f"wrong-{number}", annotations))
        for word in [*words, "admission webhook", "denied the request"]:
            expect_in(word, said or "", "refusal")


@SUITE.test("an update is checked as well, but for what was there before")
def updates(hooks):
    hooks.api.create(PODS, pod("changes", {"gpu-fraction": "0.5"}))
    said = ""
    try:
        hooks.api.patch(f"{PODS}/changes", {"metadata": {"annotations": {"gpu-fraction": "5"}}})
    except Exception as error:  # pylint: disable=broad-except
        said = str(error)
    expect_in("must be a positive number smaller than 1.0", said)
    restart(hooks)
    expect_in("while GPU sharing is disabled", refusal(hooks.api, PODS, pod("no", {"gpu-fraction": "0.5"})) or "")
    hooks.api.patch(f"{PODS}/changes", {"metadata": {"labels": {"still": "works"}}})


@SUITE.test("with blockNvidiaVisibleDevices pods cannot choose GPUs, and containers without a GPU see none")
def devices(hooks):
    restart(hooks, "--gpu-sharing-enabled", "--block-nvidia-visible-devices", "--gpu-fraction-runtime-class-name=")
    gpu = {"limits": {"nvidia.com/gpu": "1"}}
    for value in ("1", "1,2", "all"):
        said = refusal(hooks.api, PODS, pod("chooses", env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": value}], resources=gpu))
        expect_in(f"defined with a value of {value}. This is forbidden", said or "")
    for value in ("void", "none"):
        hooks.api.create(PODS, pod(f"takes-{value}", env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": value}], resources=gpu))
    made = hooks.api.create(PODS, pod("plain"))
    expect(made["spec"]["containers"][0]["env"], [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}])
    made = hooks.api.create(PODS, pod("half-too", {"gpu-fraction": "0.5"}))
    expect(made["spec"].get("runtimeClassName"), None, "runtime class")


@SUITE.test("pods of other schedulers are created as they are written")
def others(hooks):
    made = hooks.api.create(PODS, pod("not-ours", {"gpu-fraction": "7"}, scheduler="default-scheduler"))
    expect("env" in made["spec"]["containers"][0], False, "env")


@SUITE.test("PodGroups, Queues and Topologies that make no sense are refused")
def kinds(hooks):
    group = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "g"}, "spec": {
        "subGroups": [{"name": "a", "minMember": 1}, {"name": "b", "parent": "z", "minMember": 1}]}}
    expect_in("parent z of b was not found", refusal(hooks.api, GROUPS, group) or "")
    group["spec"]["subGroups"][1]["parent"] = "b"
    expect_in("cycle detected in subgroups", refusal(hooks.api, GROUPS, group) or "")
    queue = {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "q"}, "spec": {}}
    expect_in("resources must be specified", refusal(hooks.api, QUEUES, queue) or "")
    free = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    queue["spec"]["resources"] = {"cpu": free, "gpu": free, "memory": free}
    hooks.api.create(QUEUES, queue)
    topology = {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": "t"}, "spec": {
        "levels": [{"nodeLabel": "zone", "alias": "z"}, {"nodeLabel": "rack", "alias": "z"}]}}
    expect_in("invalid topology aliases: aliases must be unique within the topology; duplicated: [z]",
              refusal(hooks.api, TOPOLOGIES, topology) or "")
    topology["spec"]["levels"][1]["alias"] = "r"
    hooks.api.create(TOPOLOGIES, topology)


@SUITE.test("whoever writes something doubtful is warned")
def warnings(hooks):
    group = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
             "metadata": {"name": "doubtful", "namespace": "default"},
             "spec": {"minSubGroup": 5, "subGroups": [{"name": name, "minMember": 1} for name in "abcd"]}}
    said = hooks.cluster.kubectl("apply", "-f", "-", feed=json.dumps(group))
    expect_in("Warning: minSubGroup (5) exceeds the number of direct child SubGroups (4)", said)
    expect_in("created", said)


@SUITE.test("answers are counted by webhook and outcome")
def figures(hooks):
    for labels in ('webhook="default-pod",outcome="allowed"', 'webhook="check-podgroup",outcome="denied"'):
        count = hooks.figure(f"muster_admission_reviews_total{{{labels}}}")
        expect(count is not None and count >= 1, True, labels)
