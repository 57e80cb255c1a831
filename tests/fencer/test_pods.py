"""Pods that are put behind fences, and those that cannot be."""

import json
import subprocess

from client import ApiError
from node import GIB, LIBRARIES, MUSTER, NODE, ROOT, VERSION, fence
from stage import PODS
from suite import Suite, expect, expect_in

SUITE = Suite()
MAPS = "/api/v1/namespaces/default/configmaps"
KEY = "cdi.k8s.io/muster"


def story(title):
    """A test that begins with an empty node."""
    def add(function):
        def whole(here):
            here.clear()
            function(here)
        return SUITE.test(title)(whole)
    return add


@story("a pod that asks for half a GPU gets half of it, from the scheduler to the file for the container runtime")
def _(here):
    half = here.fraction("half", gpu_fraction="0.5")
    group, = here.fenced(half)
    expect((group["requestBytes"], group["limitBytes"], group["share"], group["mode"]),
           (here.capacity() // 2, here.capacity() // 2, 0.5, "fair"))
    devices = f"k8s.device-plugin.nvidia.com/gpu={group['gpu']},muster.scheduler/gpu={fence(half)}"
    expect(half["metadata"]["annotations"][KEY], devices)
    expect(here.api.get(f"{MAPS}/half-shared-0-evar")["data"], {"NVIDIA_VISIBLE_DEVICES": devices})

    spec = json.loads(here.file(half).read_text())
    expect((spec["cdiVersion"], spec["kind"]), ("0.3.0", "muster.scheduler/gpu"))
    device, = spec["devices"]
    expect((device["name"], list(device["containerEdits"])), (fence(half), ["mounts"]))
    proxy, driver = here.library_dir / "proxy", f"{here.driver_root}{LIBRARIES}"
    expect([(one["hostPath"], one["containerPath"]) for one in device["containerEdits"]["mounts"]], [
        (f"{here.library_dir}/libmuster-gpu-core.so", "/usr/lib/muster/libmuster-gpu-core.so"),
        (f"{driver}/libcuda.so.{VERSION}", "/usr/lib/muster/libmuster-driver-cuda.so.1"),
        (f"{proxy}/libcuda.so.1", f"{LIBRARIES}/libcuda.so.1"),
        (f"{proxy}/libcuda.so.1", f"{LIBRARIES}/libcuda.so.{VERSION}"),
        (f"{driver}/libnvidia-ml.so.{VERSION}", "/usr/lib/muster/libmuster-driver-nvml.so.1"),
        (f"{proxy}/libnvidia-ml.so.1", f"{LIBRARIES}/libnvidia-ml.so.1"),
        (f"{proxy}/libnvidia-ml.so.1", f"{LIBRARIES}/libnvidia-ml.so.{VERSION}"),
        (f"{proxy}/libcuda.so.1", "/usr/local/cuda/compat/libcuda.so.1"),
        (f"{here.folder}/groups/{fence(half)}", "/run/muster/gpu")])
    expect({"ro", "nosuid", "nodev", "bind"} - set.intersection(*(
        set(one["options"]) for one in device["containerEdits"]["mounts"])), set())

    here.remove(half)
    here.open(half)


@story("two pods share a GPU, others have memory by the amount and parts of two GPUs")
def _(here):
    pods = [here.fraction("left", gpu_fraction="0.5"), here.fraction("right", gpu_fraction="0.5")]
    (left,), (right,) = map(here.fenced, pods)
    expect(left["gpu"], right["gpu"], "the GPU that both share")
    amount, = here.fenced(here.fraction("amount", gpu_memory="2000"))
    expect((amount["requestBytes"], amount["limitBytes"]), (2000 << 20, 2000 << 20))
    two = here.fenced(here.fraction("two", gpu_fraction="0.25", gpu_fraction_num_devices="2"), lambda all: len(all) == 2)
    expect(len({one["gpu"] for one in two}), 2)
    expect({one["requestBytes"] for one in two}, {here.capacity() // 4})
    here.remove(pods[0])
    here.open(pods[0])
    expect(len(here.groups(pods[1])), 1)


@story("a pod may say more: limits, shares and modes, in the words of others")
def _(here):
    rows = [
        ({"gpu-memory-request": "1Gi", "gpu-memory-limit": "3Gi", "gpu-compute-share": "0.3"}, {},
         (GIB, 3 * GIB, 0.3, "fair")),
        ({"nvidia.com/container.main.gpu-memory.limit": "2Gi", "nvidia.com/container.other.gpu-memory.limit": "9Gi",
          "kai.scheduler/gpu-compute-sharing-mode": "time-slicing"}, {}, (2 * GIB, 2 * GIB, None, "time")),
        # The API server keeps 3000 as "3k".
        ({"nvidia.com/vgpu-mode": "hami-core", "team": "x" * 70000},
         {"resources": {"limits": {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 3000, "nvidia.com/gpucores": 30}}},
         (3000 << 20, 3000 << 20, 0.3, "strict")),
        ({}, {"env": [{"name": "CUDA_DEVICE_MEMORY_LIMIT", "value": "4096m"}, {"name": "HOME", "value": "/"}]},
         (4 * GIB, 4 * GIB, None, "fair")),
    ]
    for number, (annotations, container, wanted) in enumerate(rows):
        group, = here.fenced(here.seated(f"words-{number}", annotations, container, gpu=number))
        found = (group["requestBytes"], group["limitBytes"], wanted[2] and group["share"], group["mode"])
        expect(found, wanted, f"row {number}")


@story("when its words change its fence moves, and stays where it is when they make no sense")
def _(here):
    pod = here.seated("moves", {"gpu-memory": "1000"})
    here.fenced(pod)

    def say(value):
        here.api.patch(f"{PODS}/moves", {"metadata": {"annotations": {"gpu-memory": value}}})

    say("2000")
    here.fenced(pod, lambda groups: groups[0]["limitBytes"] == 2000 << 20)
    say("a lot")
    event = here.complaint(pod, "'a lot' is not a")
    expect((event["type"], event["source"]["component"]), ("Warning", "fencer"))
    expect_in("GPU isolation is not changed", event["message"])
    say("a few")
    here.complaint(pod, "'a few' is not a")
    say("a lot")
    here.cluster.wait_until(lambda: here.complaint(pod, "'a lot' is not a")["count"] == 2, "the same complaint a second time")
    group, = here.fenced(pod)
    expect(group["limitBytes"], 2000 << 20)
    say("3000")
    here.fenced(pod, lambda groups: groups[0]["limitBytes"] == 3000 << 20)


@story("what the daemon refuses is told to the pod's owner with its reason, and harms nobody else")
def _(here):
    good = here.seated("good", {"gpu-fraction": "0.5"}, gpu=0)
    rows = [
        ("mps", {"gpu-fraction": "0.1", "gpu-compute-mode": "sm-sharing"}, 1, "needs MPS"),
        ("both", {"gpu-fraction": "0.1", "gpu-memory": "100"}, 1, "not both"),
        ("nothing", {}, 1, "requests a part of a GPU"),
        ("much", {"gpu-memory": "99999999"}, 1, "gpu-memory"),
        ("long", {"gpu-fraction": "0." + "1" * 100000}, 1, "too long"),
        ("more", {"gpu-fraction": "0.1", "gpu-fraction-num-devices": "2"}, 1, "requests 2 GPUs"),
        ("nowhere", {"gpu-fraction": "0.1"}, "GPU-of-another-node", "no GPU 'GPU-of-another-node'"),
        ("odd", {"gpu-fraction": "0.1"}, '"},{' + "x" * 100, "neither the UUID"),
        ("nobody", {"gpu-fraction": "0.1", "gpu-fraction-container-name": "ghost"}, 1, "no container 'ghost'"),
        ("full", {"gpu-fraction": "0.9"}, 0, "do not fit"),
    ]
    refused = [here.seated(name, notes, gpu=gpu) for name, notes, gpu, _ in rows]
    for pod, (name, _, _, reason) in zip(refused, rows):
        event = here.complaint(pod, reason)
        expect_in("cannot start", event["message"], name)
    loose = here.seated("loose", {"gpu-fraction": "2"}, gpu=1, held=False)
    expect_in("without isolation", here.complaint(loose, "gpu-fraction")["message"])
    group, = here.fenced(good)
    expect(group["requestBytes"], here.capacity() // 2)
    expect(sorted(here.ours()), sorted([fence(good), here.file(good).name]))

    # Room comes free, and what waited for it is fenced.
    here.remove(good)
    here.fenced(refused[-1], seconds=40)


@story("a pod waits for its reservation to say the GPU; pods without a part of a GPU are left alone")
def _(here):
    here.api.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "plain"}, "spec": {
        "nodeName": NODE, "containers": [{"name": "main", "image": "none"}]}})
    pod = here.seated("waits", {"gpu-fraction": "0.5"}, group="late", keeper=False)
    here.keep("late", None, **{"test/silent": "yes"})
    if not here.stays(lambda: not here.ours()):
        raise AssertionError(f"made for nobody: {here.ours()}")
    here.api.patch("/api/v1/namespaces/kai-resource-reservation/pods/keeps-late", {"metadata": {"annotations": {
        "run.ai/reserve_for_gpu_index": "3"}}})
    group, = here.fenced(pod)
    expect(group["gpu"], here.operator.gpus[3])
    expect(here.events("waits", "NotFenced"), [])


@story("the fence goes when the pod has ended, though the pod is still there")
def _(here):
    pod = here.seated("short", {"gpu-fraction": "0.5", "test/finish-after": "1s"})
    here.fenced(pod)
    here.open(pod)
    expect(here.get("short")["status"]["phase"], "Succeeded")


@SUITE.test("a fence without CDI, a node without a name and a lease for all nodes are refused at the start")
def _(here):
    for words, reason in ((["binder", "--gpu-fence"], "cdiEnabled"), (["fencer"], "NODE_NAME"),
                          (["fencer", "--node-name=a", "--leader-elect"], "unknown flag --leader-elect"),
                          (["fencer", "--node-name=a", "--cdi-dir=cdi"], "'cdi' is not a path")):
        done = subprocess.run([MUSTER, *words], env=here.cluster.environment(), capture_output=True, text=True)
        expect(done.returncode, 2, " ".join(words))
        expect_in(reason, done.stderr)


@SUITE.test("with the policy of deploy, nobody but the binder names devices for a pod, and what it binds still gets its fence")
def _(here):
    here.clear()
    here.cluster.kubectl("apply", "-f", ROOT / "deploy" / "fence-policy.yaml")

    def refusal(name, **more):
        spec = {"containers": [{"name": "main", "image": "none", **more.pop("container", {})}], "schedulerName": "nobody"}
        try:
            here.api.create(PODS, {"apiVersion": "v1", "kind": "Pod", "spec": spec, "metadata": {"name": name, **more}})
        except ApiError as error:
            return str(error)
        here.api.delete(f"{PODS}/{name}?gracePeriodSeconds=0")
        return ""

    def variable(value):
        return {"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": value}]}

    here.cluster.wait_until(lambda: refusal("early", annotations={KEY: "nvidia.com/gpu=all"}), "the policy is at work", 30)
    expect_in("for the binder to write", refusal("devices", annotations={"cdi.k8s.io/x": "nvidia.com/gpu=all"}))
    expect_in("'none' or 'void'", refusal("variable", container=variable("all")))
    expect(refusal("none", container=variable("void")), "")
    expect(refusal("plain", annotations={"team": "a"}), "")
    pod = here.fraction("bound", gpu_fraction="0.5")
    here.fenced(pod)
    here.api.patch(f"{PODS}/bound", {"metadata": {"annotations": {"team": "a"}}})
    try:
        here.api.patch(f"{PODS}/bound", {"metadata": {"annotations": {KEY: "nvidia.com/gpu=all"}}})
        raise AssertionError("its devices could be changed")
    except ApiError as error:
        expect_in("for the binder to write", str(error))
    here.cluster.kubectl("delete", "-f", ROOT / "deploy" / "fence-policy.yaml")
    here.cluster.wait_until(lambda: not refusal("late", annotations={KEY: "x"}), "the policy is at work no more", 30)


@SUITE.test("the manifests of deploy are as the API server wants them")
def _(here):
    here.cluster.kubectl("apply", "--dry-run=server", "-f", ROOT / "deploy" / "fence.yaml")


@SUITE.test("the rights in deploy/rbac were enough for all of this")
def _(here):
    expect(here.forbidden(), [])
