"""What breaks on a node, and is whole again afterwards."""

import signal
import time

from gpu_operator import RESERVED
from node import fence
from stage import PODS
from suite import Suite, expect, expect_in

SUITE = Suite()


def fault(title):
    def add(function):
        def whole(here):
            here.clear()
            function(here)
        return SUITE.test(title)(whole)
    return add


def stays_fenced(here, pod, seconds=1.5):
    if not here.stays(lambda: here.groups(pod) and here.file(pod).exists(), seconds):
        raise AssertionError("the fence went away")


@fault("a fencer that is killed finds what it has left behind, and takes down what nobody wants")
def _(here):
    stay, leave = here.seated("stay", {"gpu-fraction": "0.5"}, gpu=0), here.seated("leave", {"gpu-fraction": "0.5"}, gpu=1)
    here.fenced(stay)
    here.fenced(leave)
    here.cluster.kill("fencer")
    here.remove(leave)
    half_written = here.cdi / f"muster-{fence(stay)}.json.next"
    half_written.write_text("{")
    foreign = here.cdi / "vendor-gpu.json"
    foreign.write_text("{}")
    late = here.seated("late", {"gpu-fraction": "0.25"}, gpu=2)
    written = here.file(stay).stat().st_ino
    here.start_fencer()
    here.fenced(late)
    here.open(leave)
    here.fenced(stay)
    expect(here.file(stay).stat().st_ino, written, "a file that was right is not written again")
    here.cluster.wait_until(lambda: not half_written.exists(), "what was half written is gone")
    expect(foreign.exists(), True, "others' files")
    foreign.unlink()
    expect("of-the-owner" in [one["group"] for one in here.status()["groups"]], True, "others' groups")


@fault("a daemon that is killed comes back with its groups, and one that has lost them gets them again")
def _(here):
    pod = here.seated("pod", {"gpu-fraction": "0.5"})
    here.fenced(pod)
    here.cluster.kill("gpud")
    new = here.seated("new", {"gpu-fraction": "0.25"}, gpu=1)
    time.sleep(1)
    expect(here.file(new).exists(), False, "a file for a fence that is not there")
    expect(here.file(pod).exists(), True, "the file of a fence that will be there again")
    here.start_gpud()
    here.fenced(new)
    here.fenced(pod)

    here.cluster.kill("gpud")
    (here.folder / "groups.json").unlink()
    here.start_gpud()
    group, = here.fenced(pod)
    expect(group["requestBytes"], here.capacity() // 2)
    here.fenced(new)

    expect(here.ask("DELETE", f"/v1/groups/{fence(pod)}")[0], 200)
    here.file(new).unlink()
    here.fenced(pod)
    here.fenced(new)


@fault("while the API server is away fences stay and are put back, and then everything is caught up with")
def _(here):
    stay, leave = here.seated("stay", {"gpu-fraction": "0.5"}, gpu=0), here.seated("leave", {"gpu-fraction": "0.5"}, gpu=1)
    here.fenced(stay)
    here.fenced(leave)
    here.cluster.stop("kube-apiserver", signal.SIGKILL)
    expect(here.ask("DELETE", f"/v1/groups/{fence(stay)}")[0], 200)
    here.fenced(stay)
    stays_fenced(here, leave)
    here.cluster.start("kube-apiserver")
    here.remove(leave)
    here.open(leave)
    stays_fenced(here, stay, 0.5)


@fault("a driver that is updated or away is noticed: the file follows it, or is told to be impossible")
def _(here):
    pod = here.seated("pod", {"gpu-fraction": "0.5"})
    here.fenced(pod)
    folder = here.driver_root / "usr/lib/x86_64-linux-gnu"
    link = folder / "libnvidia-ml.so.1"
    before = link.readlink()
    (folder / before).rename(folder / "libnvidia-ml.so.590.2")
    link.unlink()
    link.symlink_to("libnvidia-ml.so.590.2")
    here.cluster.wait_until(lambda: "libnvidia-ml.so.590.2" in here.file(pod).read_text(), "the new version")

    link.unlink()
    late = here.seated("late", {"gpu-fraction": "0.25"}, gpu=1)
    expect_in("libnvidia-ml.so.1 was not found in the library folders", here.complaint(late, "the driver's")["message"])
    expect(here.file(late).exists(), False)
    (folder / "libnvidia-ml.so.590.2").rename(folder / before)
    link.symlink_to(before)
    here.fenced(late)


@fault("a reservation that is lost takes no fence down: that is for the pod's end to do")
def _(here):
    here.cluster.stop("binder")
    pod = here.seated("pod", {"gpu-fraction": "0.5"}, scheduler="kai-scheduler")
    here.fenced(pod)
    here.api.delete(f"{RESERVED}/keeps-of-pod?gracePeriodSeconds=0")
    stays_fenced(here, pod)
    here.cluster.start("binder")
    here.cluster.wait_gone(f"{PODS}/pod")
    here.open(pod)
