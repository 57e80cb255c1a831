"""The program in a reservation pod, with a stand-in for NVIDIA's library."""

import os
import pathlib
import shlex
import signal
import subprocess

from gpu_operator import GPU_KEY, RESERVED
from suite import Suite, expect, expect_in
from world import pod

SUITE = Suite()
SOURCE = pathlib.Path(__file__).resolve().parent / "fake_nvml.c"
UUID = "GPU-11111111-2222-3333-4444-555555555555"


def library(here):
    path = here.cluster.folder / "libnvidia-ml.so.1"
    if not path.exists():
        subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-shared", "-fPIC", "-o", path, SOURCE], check=True)
    return path


def run_once(here, *flags, **variables):
    """For those that end by themselves: status and what was said."""
    env = {**here.cluster.environment(), "POD_NAME": "keeper", "POD_NAMESPACE": "kai-resource-reservation", **variables}
    done = subprocess.run([here.program, "reservation", *flags], env=env, text=True, timeout=30, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


@SUITE.test("the pod is told which GPU it has, once")
def _(here):
    here.operator.is_paused = True
    here.api.create(RESERVED, pod("keeper", nodeName="node-00002", serviceAccountName="kai-resource-reservation"))
    words = [here.program, "reservation", f"--nvml-library={library(here)}", "--pod-name=keeper",
             "--pod-namespace=kai-resource-reservation"]
    here.cluster.spawn("keeper", *words, kubeconfig=here.keeper_kubeconfig)
    told = here.cluster.wait_for(f"{RESERVED}/keeper", lambda one: GPU_KEY in one["metadata"].get(
        "annotations", {}))
    expect(told["metadata"]["annotations"][GPU_KEY], UUID)
    here.cluster.wait_until(lambda: "GPU reserved" in here.cluster.log_of("keeper"), "the log")
    expect(here.cluster.stop("keeper"), 0)

    here.cluster.start("keeper")
    here.cluster.wait_until(lambda: "the annotation exists already" in here.cluster.log_of("keeper"), "the log")
    expect(here.cluster.stop("keeper", signal.SIGINT), 0)
    expect(here.api.get(f"{RESERVED}/keeper")["metadata"]["resourceVersion"], told["metadata"]["resourceVersion"])
    here.api.delete(f"{RESERVED}/keeper?gracePeriodSeconds=0")


@SUITE.test("what is wrong with the GPU or the call is said")
def _(here):
    flag = f"--nvml-library={library(here)}"
    for part, flags, variables in [
        ("no GPU is visible", [flag], {"FAKE_GPUS": "0"}),
        ("2 GPUs are visible", [flag], {"FAKE_GPUS": "2"}),
        ("cannot be initialised: Insufficient Permissions", [flag], {"FAKE_FAILS": "init"}),
        ("cannot be counted: Insufficient Permissions", [flag], {"FAKE_FAILS": "count"}),
        ("GPU 0: Insufficient Permissions", [flag], {"FAKE_FAILS": "handle"}),
        ("the UUID is unknown", [flag], {"FAKE_FAILS": "uuid"}),
        ("no NVIDIA driver found", ["--nvml-library=/no/such/library"], {}),
        ("has no function nvmlInit_v2", ["--nvml-library=libm.so.6"], {}),
    ]:
        status, said = run_once(here, *flags, **variables)
        expect(status, 1, said)
        expect_in(part, said)
    status, said = run_once(here, flag, POD_NAME="")
    expect(status, 2, said)
    expect_in("set POD_NAME and POD_NAMESPACE", said)
