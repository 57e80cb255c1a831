"""Processes that stand still, streams that stall, clocks that jump: nobody gets an error, but what is known is old."""

import os
import threading
import time

import clock
import invariants
import proxy
import world as w
from suite import Skip, expect
from test_faults import Cleaning, is_bind

SUITE = Cleaning()

# How long everybody stands still; a campaign tries more: PAUSE_SECONDS=1,10,60.
PAUSE_SECONDS = [float(one) for one in os.environ.get("PAUSE_SECONDS", "2").split(",")]


def paused(world, name):
    """Load before, during and after the process stands still."""
    for seconds in PAUSE_SECONDS:
        names = world.load()
        time.sleep(0.2)
        during = threading.Timer(seconds / 2, lambda: names.extend(world.load()))
        # Nobody else can load while the API server does not answer.
        if name in w.SERVICES:
            during.start()
        world.cluster.pause(name, seconds)
        if name in w.SERVICES:
            during.join()
        world.settle(names + world.load(), 120 + seconds)
        expect(world.alive(), list(w.SERVICES), "services that live")
        world.clear()


@SUITE.test("the API server stands still and goes on")
def server_paused(world):
    paused(world, "kube-apiserver")


@SUITE.test("etcd stands still and goes on")
def etcd_paused(world):
    paused(world, "etcd")


@SUITE.test("the scheduler stands still and goes on")
def scheduler_paused(world):
    paused(world, "scheduler")


@SUITE.test("the binder stands still and goes on")
def binder_paused(world):
    paused(world, "binder")


@SUITE.test("watches stall without an end, and go on")
def watches_stall(world):
    for seconds in PAUSE_SECONDS:
        before = world.load()
        world.proxy.stalls = lambda path: "watch=" in path
        names = before + world.load()
        time.sleep(seconds)
        expect(world.proxy.counts["stalled"] > 0, True, "watches that stall")
        world.proxy.stalls = None
        world.settle(names + world.load())
        world.clear()


@SUITE.test("answers to binds stall, and the room of the pods is not given away")
def binds_stall(world):
    stalled = world.proxy.counts["stalled"]
    world.proxy.stalls = lambda path: path.split("?")[0].endswith(("/binding", "/bindrequests"))
    names = [world.pod(f"stalled-{number}") for number in range(130)]
    world.cluster.wait_until(lambda: world.proxy.counts["stalled"] > stalled + 3, "binds without answers", 60)
    time.sleep(PAUSE_SECONDS[0])
    world.proxy.stalls = None
    world.cluster.wait_until(lambda: len(world.places_of(names)) >= 96, "a full cluster", 60)
    expect(invariants.crowded(world.cluster), [], "GPUs that were given away twice")
    world.clear()


class Scheduler:
    """One of several with the same lease, which a busy machine can renew in time."""

    LEASE = ["--leader-elect", "--lease-duration=12s", "--lease-renew-deadline=10s", "--lease-retry-period=500ms",
             "--namespace=kai-scheduler"]

    def __init__(self, world, name, *flags, **more):
        self.log = world.cluster.processes.log_path(name)
        self.world, self.name = world, name
        self.before = self.log.stat().st_size if self.log.exists() else 0
        if world.cluster.processes.alive(name):
            world.cluster.stop(name)
        world.start("scheduler", *self.LEASE, *flags, name=name, **more)

    def has_led(self):
        return b" leading " in self.log.read_bytes()[self.before:]

    def wait_to_lead(self):
        self.world.cluster.wait_until(self.has_led, f"{self.name} leads", 60)


@SUITE.test("a leader that stood still past its lease binds nothing any more")
def leader_paused(world):
    between = proxy.Proxy(world.cluster)
    # Most binds wait in the leader when it stands still: it may send two a second.
    Scheduler(world, "scheduler", "--qps=2", "--burst=2", kubeconfig=between.kubeconfig()).wait_to_lead()
    second = Scheduler(world, "scheduler-2")
    names = [world.pod(f"many-{number}") for number in range(60)]
    world.cluster.wait_until(lambda: len(world.places_of(names)) > 1, "binds of the first leader", 30)
    world.cluster.processes.pause("scheduler")
    # Whatever is on its way arrives.
    time.sleep(1)
    second.wait_to_lead()
    late = []
    between.holds = lambda method, path: is_bind(method, path) and late.append(path)
    world.settle(names)
    world.cluster.processes.resume("scheduler")
    world.cluster.wait_until(lambda: not world.cluster.processes.alive("scheduler"), "the end of the first leader", 60)
    expect(late, [], "binds of a scheduler that has lost its lease")
    world.settle(names)
    world.cluster.stop("scheduler-2")
    world.start("scheduler")
    world.clear()


class Clock:
    """Of one process: files that say by how many seconds it is off, and the environment that makes it so."""

    def __init__(self, world):
        library = clock.library(world.cluster.folder)
        if not library:
            raise Skip("no compiler")
        self.wall, self.boot = (world.cluster.folder / f"{name}-offset" for name in ("wall", "boot"))
        self.environment = {**clock.environment(library, self.wall), "BOOT_OFFSET_FILE": str(self.boot)}
        for file in (self.wall, self.boot):
            file.write_text("0")


@SUITE.test("the clock of a leader jumps, and it stays the leader")
def leader_clock(world):
    off = Clock(world)
    Scheduler(world, "scheduler", environment=off.environment).wait_to_lead()
    second = Scheduler(world, "scheduler-2")
    names = world.settle(world.load())
    for seconds in (86400, -86400):
        off.wall.write_text(str(seconds))
        # Each of them looks at the lease several times.
        time.sleep(3)
        names = world.settle(names + [world.pod(f"at{seconds}".replace("-", "-minus-"))])
    expect(world.alive(), list(w.SERVICES), "services that live")
    expect(second.has_led(), False, "another leader")
    world.cluster.stop("scheduler-2")
    world.restart("scheduler")
    world.clear()


@SUITE.test("a leader whose machine was suspended past its lease binds nothing before it has renewed it")
def leader_suspended(world):
    off = Clock(world)
    Scheduler(world, "scheduler", environment=off.environment).wait_to_lead()
    world.settle(world.load())
    # Timers do not know of it, and the lease cannot be renewed.
    world.proxy.holds = lambda method, path: "/leases" in path
    off.boot.write_text("60")
    names = [world.pod(f"too-late-{number}") for number in range(4)]
    world.cluster.wait_until(lambda: not world.cluster.processes.alive("scheduler"), "the end of the leader", 60)
    expect(world.places_of(names), {}, "binds of a scheduler that has lost its lease")
    world.proxy.holds = None
    world.start("scheduler")
    world.settle(names)
    world.clear()
