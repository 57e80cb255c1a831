"""One fault each: load before, during and after it, and then everything has to hold."""

import datetime
import json
import threading
import time

import clock
import invariants
import world as w
from suite import Skip, Suite, expect



class Cleaning(Suite):
    """A test that fails leaves nothing behind for the next one."""

    def test(self, title):
        def add(function):
            def run(world):
                try:
                    function(world)
                except BaseException:
                    world.clear()
                    raise
            return Suite.test(self, title)(run)
        return add


SUITE = Cleaning()
WHOLE_LOG = 1 << 30


@SUITE.test("without a fault all pods run")
def nothing(world):
    world.settle(world.load())
    world.clear()


@SUITE.test("the API server is killed and comes back")
def server_killed(world):
    names = world.load()
    time.sleep(0.3)
    world.cluster.kill("kube-apiserver")
    time.sleep(2)
    world.cluster.start("kube-apiserver")
    world.settle(names + world.load())
    expect(world.alive(), list(w.SERVICES), "services that live")
    world.clear()


@SUITE.test("after an outage the pod of a new queue is bound, though kinds that it does not need stay refused")
def back_at_once(world):
    world.settle([world.pod("before")])
    world.cluster.kill("kube-apiserver")
    # These cannot be followed any more.
    forbidden = world.proxy.counts["forbidden"]
    world.proxy.refuses = lambda method, path: path.split("?")[0].endswith(("/storageclasses", "/noderesourcetopologies"))
    time.sleep(3)
    world.cluster.start("kube-apiserver")
    ready = time.monotonic()
    world.queue("late", "all")
    name = world.pod("of-a-new-queue", labels={"kai.scheduler/queue": "late"})
    world.cluster.wait_until(lambda: world.places_of([name]), "a bind", 60)
    print(f"# bound {time.monotonic() - ready:.2f} s after the server was ready")
    expect(world.proxy.counts["forbidden"] > forbidden, True, "refusals")
    world.settle(["before", name])
    world.clear()
    world.api.delete(f"{w.QUEUES}/late")


@SUITE.test("watches are cut in the middle of an object")
def watches_cut(world):
    names = []
    for _ in range(3):
        world.proxy.cut_watches()
        names += world.load()
        time.sleep(0.5)
    world.settle(names)
    expect(world.proxy.counts["cut"] > 3, True, "watches that were cut")
    world.clear()


@SUITE.test("etcd forgets the past while the connection is gone")
def compacted(world):
    names = world.load()
    world.proxy.is_refusing = True
    world.proxy.cut_watches()
    names += [world.pod("late-0"), world.pod("late-1")]
    time.sleep(1)
    world.cluster.compact()
    world.proxy.is_refusing = False
    world.settle(names)
    world.clear()


@SUITE.test("every third write is refused with a conflict")
def conflicts(world):
    world.proxy.conflict_every = 3
    world.settle(world.load())
    expect(world.proxy.counts["conflicts"] > 5, True, "conflicts")
    world.clear()


@SUITE.test("answers are slow, and every fourth is lost after the write was done")
def lost_answers(world):
    world.proxy.delay, world.proxy.drop_every = 0.1, 4
    world.settle(world.load())
    expect(world.proxy.counts["dropped"] > 3, True, "lost answers")
    world.clear()


class Starting:
    """A server that dies after it has done a write, and knows no roles when it is back: the first request that `is_lost`
    picks at each path is done and its answer lost, and for `seconds` all requests to that path or below are refused. With
    the first of them the watches end, and pods can be neither listed nor watched for that time."""

    def __init__(self, world, is_lost, seconds=1.5):
        self.world = world
        self.since = None
        self.lost = {}
        self.is_lost, self.seconds = is_lost, seconds
        self.lock = threading.Lock()
        world.proxy.loses, world.proxy.refuses = self.loses, self.refuses

    def object_of(self, path):
        return path.split("?")[0].removesuffix("/binding")

    def loses(self, method, path):
        with self.lock:
            if not self.is_lost(method, path) or self.object_of(path) in self.lost:
                return False
            self.lost[self.object_of(path)] = time.monotonic()
            if self.since is None:
                self.since = time.monotonic()
                self.world.proxy.cut_watches()
            return True

    def refuses(self, method, path):
        now, path = time.monotonic(), self.object_of(path)
        with self.lock:
            if path == "/api/v1/pods" and self.since is not None and now - self.since < self.seconds:
                return True
            return any(now - since < self.seconds for lost, since in self.lost.items()
                       if path == lost or path.startswith(f"{lost}/"))


def crowd(world, count):
    """More lone pods than there is room for: what is taken for free is given away at once. 96 of them fit."""
    names = [world.pod(f"crowd-{number}") for number in range(count)]
    world.cluster.wait_until(lambda: len(world.places_of(names)) >= 96, "a full cluster", 60)
    return names


@SUITE.test("binds are done, their answers lost, and a starting server refuses what comes next")
def lost_then_forbidden(world):
    # Binds of the tests before may have failed, with every right.
    before = len(world.cluster.processes.log_of("scheduler", WHOLE_LOG))
    starting = Starting(world, lambda method, path: method == "POST" and path.split("?")[0].endswith("/binding"))
    names = crowd(world, 130)
    expect(len(starting.lost) > 50, True, "lost answers")
    expect(world.proxy.counts["forbidden"] > 50, True, "refusals")
    time.sleep(2 * starting.seconds)
    expect(len(world.places_of(names)), 96, "pods that have a place")
    expect(invariants.crowded(world.cluster), [], "GPUs that were given away twice")
    log = world.cluster.processes.log_of("scheduler", WHOLE_LOG)[before:]
    expect("the pod keeps its place until the API server shows its state" in log, True, "a word about it")
    failed = [line for line in log.split("the pod keeps its place", 1)[1].splitlines() if "bind failed" in line]
    expect(failed, [], "binds that were taken for failed")
    world.clear()


@SUITE.test("evictions are done, their answers lost, and a starting server refuses what comes next")
def lost_evictions(world):
    names = crowd(world, 96)
    starting = Starting(world, lambda method, path: method == "DELETE" and "/pods/" in path)
    high = [world.pod(f"high-{number}", labels={"priorityClassName": "build-preemptible"}) for number in range(4)]
    world.settle(high)
    expect(len(starting.lost), 4, "evictions")
    expect(len(world.places_of(names)), 92, "pods that were left alone")
    expect(invariants.crowded(world.cluster), [], "GPUs that were given away twice")
    world.clear()


@SUITE.test("BindRequests are made, their answers lost, and a starting server refuses what comes next")
def lost_requests(world):
    starting = Starting(world, lambda method, path: method == "POST" and path.split("?")[0].endswith("/bindrequests"))
    halves = [world.fraction(f"half-{number}") for number in range(4)]
    names = [world.pod(f"whole-{number}") for number in range(110)]
    world.settle(halves)
    expect(len(starting.lost), 1, "paths whose answers were lost")
    world.cluster.wait_until(lambda: len(world.places_of(names)) >= 94, "a full cluster", 60)
    expect(invariants.crowded(world.cluster), [], "GPUs that were given away twice")
    world.clear()


@SUITE.test("a reservation says its GPU before the answer to its making comes")
def late_answers(world):
    world.proxy.delay = 1
    world.settle([world.fraction(f"late-{number}") for number in range(3)])
    log = world.cluster.processes.log_of("binder", 100000)
    expect([line for line in log.splitlines() if "did not report" in line], [], "reservations that were given up")
    world.clear()


@SUITE.test("no answer to a BindRequest arrives, and others want the room")
def requests_without_answers(world):
    names = [world.pod(f"wide-{number}", gpus=8) for number in range(11)] + [world.pod("rest", gpus=7)]
    world.settle(names)
    dropped = world.proxy.counts["dropped"]
    world.proxy.loses = lambda method, path: method == "POST" and "bindrequests" in path
    names += [world.fraction(f"kept-{number}") for number in range(2)]
    # They come later than the others, and have room only where those are forgotten.
    world.cluster.wait_until(lambda: world.proxy.counts["dropped"] > dropped, "a lost answer", 30)
    late = [world.pod(f"greedy-{number}") for number in range(3)]
    world.settle(names)
    expect(world.places_of(late), {}, "pods in a full cluster")
    world.clear()


@SUITE.test("a leader that cannot renew its lease writes nothing any more")
def lease_lost(world):
    # Two writes a second: most of the binds wait in the leader when it loses its lease.
    world.restart("scheduler", *w.QUICK_LEASE, "--namespace=kai-scheduler", "--qps=2", "--burst=2")
    world.cluster.wait_until(lambda: "leading" in world.cluster.processes.log_of("scheduler", 100000), "a leader", 30)
    world.proxy.holds = lambda method, path: "/leases" in path
    names = [world.pod(f"many-{number}") for number in range(60)]
    world.cluster.wait_until(lambda: not world.cluster.processes.alive("scheduler"), "the end of the leader", 30)
    log = world.cluster.processes.log_of("scheduler", 100000).splitlines()
    lost, ended = (next(datetime.datetime.fromisoformat(line.split()[0]) for line in log if word in line)
                   for word in ("the service failed", " stopped "))
    expect((ended - lost).total_seconds() < 1, True, f"it ends at once, not from {lost} to {ended}")
    expect(len(world.places_of(names)) < len(names), True, "some pods are not bound")
    world.proxy.holds = None
    world.start("scheduler")
    world.settle(names)
    world.clear()


def is_bind(method, path):
    return method == "POST" and (path.split("?")[0].endswith("/binding") or "bindrequests" in path)


@SUITE.test("the leader is killed between its decision and the bind")
def leader_killed(world):
    # Two schedulers, one lease: the first holds its binds back and dies, the second takes over.
    world.restart("scheduler", *w.QUICK_LEASE, "--namespace=kai-scheduler")
    world.cluster.wait_until(lambda: "leading" in world.cluster.processes.log_of("scheduler", 100000), "a leader", 30)
    world.start("scheduler", *w.QUICK_LEASE, "--namespace=kai-scheduler", name="scheduler-2")
    world.proxy.holds = is_bind
    names = world.load()
    world.cluster.wait_until(lambda: world.proxy.counts["held"] > 0, "a bind is under way", 30)
    world.cluster.kill("scheduler")
    world.cluster.wait_until(lambda: "leading" in world.cluster.processes.log_of("scheduler-2", 100000), "another leader", 30)
    # The binds of the dead are carried out as well now, as a slow network would.
    world.proxy.holds = None
    world.settle(names)
    world.cluster.stop("scheduler-2")
    world.start("scheduler")
    world.clear()


@SUITE.test("the binder is killed between a reservation and the bind")
def binder_killed(world):
    world.proxy.holds = lambda method, path: method == "POST" and path.split("?")[0].endswith("/binding")
    names = [world.fraction(f"kept-{number}") for number in range(4)]
    world.cluster.wait_until(lambda: world.proxy.counts["held"] and world.api.items(w.RESERVED), "a reservation", 30)
    world.cluster.kill("binder")
    world.proxy.holds = None
    world.start("binder")
    world.settle(names)
    world.clear()


@SUITE.test("the scheduler and the grouper are killed at work")
def others_killed(world):
    names = world.load()
    time.sleep(0.2)
    for service in ("scheduler", "grouper"):
        world.cluster.kill(service)
        world.start(service)
    world.settle(names)
    world.clear()


@SUITE.test("a token is rotated, and the old one refused")
def token_rotated(world):
    cluster, space = world.cluster, "/api/v1/namespaces/kai-scheduler"
    world.api.create(f"{space}/serviceaccounts", {"metadata": {"name": "rotated"}})
    cluster.kubectl("create", "clusterrolebinding", "rotated", "--clusterrole=cluster-admin",
                    "--serviceaccount=kai-scheduler:rotated")

    def token_of(secret):
        made = world.api.create(f"{space}/secrets", {"metadata": {"name": secret}})
        return world.api.create(f"{space}/serviceaccounts/rotated/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"boundObjectRef": {
                "apiVersion": "v1", "kind": "Secret", "name": secret, "uid": made["metadata"]["uid"]}}})["status"]["token"]

    file = cluster.folder / "token"
    file.write_text(token_of("first"))
    config = cluster.folder / "rotated.json"
    config.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": cluster.server, "certificate-authority": str(
            cluster.credentials.path("ca.crt"))}}],
        "users": [{"name": "u", "user": {"tokenFile": str(file)}}]}))
    for service in w.SERVICES:
        world.restart(service, kubeconfig=str(config))
    names = world.settle(world.load())
    file.write_text(token_of("second"))
    world.api.delete(f"{space}/secrets/first")
    # The server believes a token that it knows for some seconds more.
    time.sleep(12)
    world.settle(names + world.load())
    expect(world.alive(), list(w.SERVICES), "services that live")
    for service in w.SERVICES:
        world.restart(service)
    world.clear()


@SUITE.test("the clocks of the services jump")
def clocks_jump(world):
    library = clock.library(world.cluster.folder)
    if not library:
        raise Skip("no compiler")
    offset = world.cluster.folder / "offset"
    offset.write_text("0")
    environment = clock.environment(library, offset)
    for service in w.SERVICES:
        world.restart(service, environment=environment)
    names = world.settle(world.load())
    for seconds in (3600, -7200):
        offset.write_text(str(seconds))
        names = world.settle(names + [world.pod(f"jump{seconds}-{number}".replace("--", "-back-"))
                                      for number in range(4)])
    world.settle(names + world.gang("jump-gang", 3))
    expect(world.alive(), list(w.SERVICES), "services that live")
    for service in w.SERVICES:
        world.restart(service)
    world.clear()


@SUITE.test("a node goes away with the pods on it")
def node_deleted(world):
    names = world.settle(world.load())
    places = world.places_of(names)
    node = max(set(places.values()), key=list(places.values()).count)
    world.api.delete(f"/api/v1/nodes/{node}")
    for name in [name for name, place in places.items() if place == node]:
        names.remove(name)
        world.api.delete(f"{w.PODS}/{name}?gracePeriodSeconds=0")
    more = world.load()
    world.settle(more)
    expect(node in world.places_of(more).values(), False, "pods on a node that is gone")
    world.cluster.add_nodes(1, first=int(node.split("-")[1]))
    world.clear()


@SUITE.test("another scheduler binds pods to the same nodes")
def two_schedulers(world):
    names = []
    for number in range(8):
        names.append(world.pod(f"ours-{number}"))
        names.append(world.pod(f"theirs-{number}", scheduler="default-scheduler"))
    names += world.gang("ours-gang", 6)
    world.settle(names)
    world.clear()


@SUITE.test("a full cluster stays whole while everything is broken at once")
def everything(world):
    world.proxy.conflict_every, world.proxy.drop_every, world.proxy.delay = 5, 7, 0.05
    names = world.load()
    world.proxy.cut_watches()
    names += world.load()
    world.cluster.kill("scheduler")
    world.start("scheduler")
    too_much = world.gang("too-much", 20, gpus=8)
    world.settle(names)
    expect(sorted(world.places_of(too_much).values()), [], "nodes of a gang that cannot fit")
    world.clear()
