"""What a program in a container meets: the fence, whatever it does."""

import re

from image import Image
from suite import Skip, Suite, expect, expect_in

SUITE = Suite()
MIB = 1 << 20
LIMIT = 1000 * MIB
CONTEXT = 64 * MIB
GREED = {"TEST_PIECE": str(16 * MIB), "TEST_PIECES": "200", "TEST_SECONDS": "0"}


def taken(done):
    found = re.search(r"held (\d+)", done.stdout)
    if done.returncode != 0 or not found:
        raise AssertionError(f"status {done.returncode}: {done.stdout[-500:]} {done.stderr[-1500:]}")
    return int(found[1])


def story(title):
    """A test that is given a pod behind its fence, and what its containers are made of."""
    def add(function):
        def whole(here):
            here.clear()
            here.image = here.image or Image(here)
            pod = here.seated("tenant", {"gpu-memory": "1000"})
            here.fenced(pod)
            function(here, pod)
        return SUITE.test(title)(whole)
    return add


@story("a program in a container of the pod is refused at the pod's limit, and without the fence it is not")
def _(here, pod):
    expect(taken(here.image.start(None, "/bin/gpu-tenant", "greedy", **GREED)), 200 * 16 * MIB, "without a fence")
    held = taken(here.image.start(pod, "/bin/gpu-tenant", "greedy", **GREED))
    if not LIMIT - CONTEXT - 16 * MIB < held <= LIMIT - CONTEXT:
        raise AssertionError(f"{held >> 20} MiB of 1000 were given, with a context of {CONTEXT >> 20}")
    group, = here.groups(pod)
    if group["denied"] == 0:
        raise AssertionError(f"the daemon has refused nothing: {group}")


@story("nothing in its environment opens the fence")
def _(here, pod):
    for env in ({"MUSTER_GPU_SOCKET": "/nowhere"}, {"LD_LIBRARY_PATH": "/usr/lib/muster"}, {"LD_PRELOAD": ""},
                {"CUDA_DEVICE_MEMORY_LIMIT": "8g", "GPU_PORTION": "1"},
                {"LD_LIBRARY_PATH": "/usr/local/cuda/compat"}):
        held = taken(here.image.start(pod, "/bin/gpu-tenant", "greedy", **GREED, **env))
        if held > LIMIT - CONTEXT:
            raise AssertionError(f"{env}: {held >> 20} MiB")


@story("the container can neither remove the socket nor replace the libraries")
def _(here, pod):
    for path in ("/run/muster/gpu/tenant.sock", "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                 "/usr/lib/muster/libmuster-gpu-core.so"):
        done = here.image.start(pod, "/bin/sh", "-c", f"true > {path}; rm -f {path}; test -e {path} && echo there")
        expect_in("there", done.stdout, f"{path}: {done.stderr}")
        expect_in("rm:", done.stderr)
    expect(len(here.fenced(pod)), 1)


@story("until the fencer has written its device a container does not start, and not after the pod is gone")
def _(here, pod):
    refused = here.seated("refused", {"gpu-fraction": "all"}, gpu=1)
    here.complaint(refused, "'all' is not")
    here.remove(pod)
    here.open(pod)
    for one in (refused, pod):
        done = here.image.start(one, "/bin/sh", "-c", "echo started")
        expect((done.returncode != 0, done.stdout), (True, ""), done.stderr)
        expect_in("device", done.stderr)


@SUITE.test("NVIDIA's own runtime puts a pod behind its fence by what the binder wrote, and refuses one without")
def _(here):
    here.clear()
    here.image = here.image or Image(here)
    if not here.image.has_podman:
        raise Skip("there is no podman that works")
    pod = here.fraction("half", gpu_fraction="0.1")
    group, = here.fenced(pod)
    expect(group["gpu"], here.operator.gpus[0], "the GPU that the program uses")
    devices = here.api.get("/api/v1/namespaces/default/configmaps/half-shared-0-evar")["data"]["NVIDIA_VISIBLE_DEVICES"]
    alone = devices.split(",")[0]

    def greed(variable, annotation=None):
        return taken(here.image.nvidia(variable, annotation, "/bin/gpu-tenant", "greedy", **GREED))

    def is_fenced(held):
        return group["limitBytes"] - CONTEXT - 16 * MIB < held <= group["limitBytes"] - CONTEXT

    expect(greed(alone), 200 * 16 * MIB, "with the GPU alone")
    expect(is_fenced(greed(devices)), True, "by the variable")
    # Where pods' annotations reach the runtime, a variable that says something else does not count.
    expect(is_fenced(greed(alone, pod["metadata"]["annotations"]["cdi.k8s.io/muster"])), True, "by the annotation")
    here.remove(pod)
    here.open(pod)
    done = here.image.nvidia(devices, None, "/bin/sh", "-c", "echo started")
    expect((done.returncode != 0, done.stdout), (True, ""), done.stderr)
    expect_in("unresolvable CDI devices", done.stderr)
