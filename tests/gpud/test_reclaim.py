"""Memory beyond requests comes back to its owners, with the tenants' library on the pretended driver."""

import pathlib
import random
import select
import signal
import subprocess
import sys
import time

from daemon import BUILD, Daemon, MUSTER, kill_daemon, restart_on_pretended_driver
from test_park import Tenant, restart

MIB = 1 << 20
LIBRARY = str(BUILD / "src/gpu/tenant/libmuster-gpu.so")
TRIALS = 200
LONG = 10


class Setting:
    """A daemon on the pretended driver, with one GPU of so many MiB."""

    def __init__(self, mib, deadline="2s", action="kill", park=None, interval="50ms"):
        self.daemon = Daemon()
        try:
            self.env = restart_on_pretended_driver(
                self.daemon, interval, memory={"reclaim": {"deadline": deadline, "action": action}},
                park={"host": "4Gi", **(park or {})}, FAKE_GPU_BYTES=str(mib * MIB))
        except (AssertionError, OSError):
            self.daemon.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.daemon.stop()

    def group(self, name, request, limit, **more):
        status, said = self.daemon.group(name, f"{request}Mi", f"{limit}Mi", share=0.05, **more)
        assert status in (200, 201), said

    def capacity(self):
        return self.daemon.status()["gpus"][0]["capacityBytes"] // MIB

    def of_tenant(self, group, **more):
        """The environment of a program in the group."""
        return {**self.env, "LD_PRELOAD": LIBRARY, "MUSTER_GPU_SOCKET": self.daemon.socket(group), **more}


class Elastic:
    """A process that takes and gives back memory as it is told."""

    def __init__(self, setting, group):
        self.group = group
        self.process = subprocess.Popen([BUILD / "tests/gpu/gpu-tenant", "elastic"], env=setting.of_tenant(group),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        setting.daemon.children.append(self.process)
        said = self.hear()
        assert said == "ready", (group, said)

    def say(self, order):
        self.process.stdin.write(order + "\n")
        self.process.stdin.flush()

    def hear(self):
        return self.process.stdout.readline().strip()

    def take(self, mib):
        self.say(f"take {mib}")
        return self.hear().startswith("held")

    def give(self):
        self.say("give")
        said = self.hear()
        assert said == "held 0", (self.group, said, self.process.poll())

    def has_ended(self):
        return self.process.poll() is not None


class Model:
    """What should happen: who has how much, in MiB, the context included."""

    CONTEXT = 64

    def __init__(self, capacity, requests, limits):
        self.capacity, self.requests, self.limits = capacity, requests, limits
        self.held = {}  # by tenant, in the order of their beginning

    def used(self, group):
        return sum(held for tenant, held in self.held.items() if tenant.group == group)

    def free(self):
        return self.capacity - sum(self.held.values())

    def excess(self, group):
        return (self.used(group) - self.requests[group]) / (self.requests[group] * MIB + 1)

    def take(self, tenant, mib):
        """Whether it gets it, and who has to end for that, in this order."""
        group, victims = tenant.group, []
        if self.used(group) + mib > self.limits[group]:
            return False, victims
        if self.free() < mib and self.used(group) + mib > self.requests[group]:
            return False, victims
        while self.free() < mib:
            worst = max((other for other in self.requests if other != group and self.used(other) > 0), key=self.excess)
            assert self.excess(worst) > 0, "requests are not more than there is"
            victims.append([one for one in self.held if one.group == worst][-1])
            del self.held[victims[-1]]
        self.held[tenant] += mib
        return True, victims


def divide(chance, capacity, names):
    """Requests that fit together, and limits above them. One group in five has nothing reserved."""
    weights = {name: 0 if chance.random() < 0.2 else chance.random() for name in names}
    whole = max(sum(weights.values()), 0.001)
    requests = {name: int(capacity * chance.uniform(0.7, 1) * weight / whole) for name, weight in weights.items()}
    return requests, {name: chance.randint(max(request, 128), capacity) for name, request in requests.items()}


def whoever_keeps_to_its_request_is_never_chosen():
    """Tenants take memory at random until an owner has had to take its own back so many times: each time exactly those end
    whom the rules name, and nobody at or below its request."""
    chance = random.Random(31)
    names = ["a", "b", "c", "d"]
    reclaims = ended = claims = 0
    with Setting(4096, deadline="40ms", interval="1h") as s:
        for name in names:
            s.group(name, 0, 4000)
        tenants = [Elastic(s, name) for name in names + ["a"]]
        capacity = s.capacity()
        while reclaims < TRIALS:
            for name in names:
                s.group(name, 0, capacity)
            for tenant in tenants:
                tenant.give()
            while len(tenants) < len(names) + 1:
                alive = [tenant.group for tenant in tenants]
                tenants.append(Elastic(s, next((name for name in names if name not in alive), "a")))
            requests, limits = divide(chance, capacity, names)
            for name in names:
                s.group(name, requests[name], limits[name])
            model = Model(capacity, requests, limits)
            model.held = {tenant: Model.CONTEXT for tenant in tenants}
            for _ in range(12):
                tenant = chance.choice(tenants)
                mib = 2 * chance.randint(1, capacity // 6)
                if chance.random() < 0.4:
                    mib = max(requests[tenant.group] - model.used(tenant.group), 2) // 2 * 2
                safe = {one for one in tenants if model.used(one.group) <= requests[one.group]}
                before = {one: model.held[one] for one in tenants}
                expected, victims = model.take(tenant, mib)
                found = tenant.take(mib)
                claims += 1
                story = (requests, limits, [(one.group, held) for one, held in before.items()], tenant.group, mib)
                assert found == expected, (found, expected, story, [
                    (group["group"], [(one["pid"], one["usedBytes"] / MIB, one["contextBytes"] / MIB) for one in
                                      group["processes"]]) for group in s.daemon.status()["groups"]],
                    s.daemon.status()["endings"][:3], [(one.group, one.process.pid) for one in tenants])
                wait_for_ends(victims, story, s)
                assert [one for one in tenants if one.has_ended()] == [one for one in tenants if one in victims], story
                assert not safe & set(victims), story
                reclaims += bool(victims)
                ended += len(victims)
                for victim in victims:
                    tenants.remove(victim)
                    if s.daemon.of_group(victim.group)["reclaim"]["kill"] == 0:
                        raise AssertionError("the end is not counted")
                if victims:
                    break
        endings = s.daemon.status()["endings"]
        assert len(endings) == 32 and all(one["reason"] == "reclaimed" for one in endings), endings
        figures = s.daemon.ask("GET", "/metrics")[1]
        assert f'step="kill"}} {reclaims}\n' in figures and 'step="refuse"} 0\n' in figures, figures
        print(f"# {claims} allocations, {reclaims} of them took borrowed memory back, {ended} processes ended for that")


def wait_for_ends(victims, story, setting):
    end = time.monotonic() + LONG
    while not all(victim.has_ended() for victim in victims):
        assert time.monotonic() < end, (story, [one.group for one in victims], setting.daemon.status()["endings"][:3])
        time.sleep(0.002)
    assert all(victim.process.returncode == -signal.SIGKILL for victim in victims), story


def caches_of_frameworks_are_emptied_first():
    with Setting(2048) as s:
        s.group("borrower", 128, 1800)
        s.group("owner", 1024, 1024)
        program = pathlib.Path(__file__).with_name("framework.py")
        child = subprocess.Popen([sys.executable, program, "24"], env=s.of_tenant("borrower"), stdout=subprocess.PIPE, text=True)
        s.daemon.children.append(child)
        assert child.stdout.readline() == "cached\n"
        owner = Elastic(s, "owner")
        begin = time.monotonic()
        assert owner.take(900)
        took = time.monotonic() - begin
        assert child.stdout.readline() == "emptied\n" and child.poll() is None
        reclaim = s.daemon.of_group("borrower")["reclaim"]
        assert (reclaim["trim"], reclaim["park"], reclaim["kill"]) == (1, 0, 0), reclaim
        assert "group 'owner' needs 0.88 GiB" in reclaim["last"], reclaim
        assert 'step="trim"} 1\n' in s.daemon.ask("GET", "/metrics")[1]
        print(f"# the cache was emptied, and the owner had its memory after {took * 1000:.0f} ms")


def the_command_says_why_its_program_was_ended():
    with Setting(2048, deadline="200ms") as s:
        words = ["gpu", "run", "--folder", s.daemon.folder + "/run", "--name", "borrower", "--memory", "128Mi",
                 "--memory-limit", "1800Mi", "--", BUILD / "tests/gpu/gpu-tenant", "elastic"]
        run = subprocess.Popen([MUSTER, *map(str, words)], env=s.env, text=True, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert run.stdout.readline() == "ready\n"
        run.stdin.write("take 1500\n")
        run.stdin.flush()
        assert run.stdout.readline() == "held 1500\n"
        s.group("owner", 1024, 1024)
        owner = Elastic(s, "owner")
        assert owner.take(900)
        _, complaints = run.communicate(timeout=LONG)
        assert run.returncode == 128 + signal.SIGKILL, run.returncode
        assert "the GPU daemon ended process" in complaints and "group 'owner' needs 0.88 GiB" in complaints, complaints


def nobody_borrows_more_while_an_owner_waits():
    with Setting(2048, deadline="1s", action="deny") as s:
        s.group("greedy", 128, 1900)
        s.group("modest", 512, 1900)
        s.group("owner", 1024, 1024)
        greedy, modest, owner = (Elastic(s, name) for name in ("greedy", "modest", "owner"))
        assert greedy.take(1400)
        owner.say("take 900")
        s.daemon.wait_for(lambda: s.daemon.of_group("owner")["wantedBytes"] > 0, LONG)
        assert not greedy.take(2), "what comes free meanwhile is the owner's"
        assert modest.take(128), "within its own request"
        assert owner.hear() == "denied 0" and not greedy.has_ended()
        assert 'step="refuse"} 1\n' in s.daemon.ask("GET", "/metrics")[1]
        assert greedy.take(2)


def parkable_borrowers_leave_and_come_back():
    """Nobody is ended: the borrower waits in host memory until there is room, and its memory is as it was."""
    with Setting(512) as s:
        log = s.daemon.folder + "/calls"
        s.group("borrower", 72, 300, parkable=True)
        s.group("owner", 300, 300)
        tenant = Tenant(s.daemon, {**s.env, "FAKE_GPU_LOG": log}, "borrower", TEST_PIECES=16).ready()
        owner = Elastic(s, "owner")
        assert owner.take(220)
        s.daemon.wait_for(lambda: s.daemon.of_group("borrower")["state"] == "parked", LONG)
        group = s.daemon.of_group("borrower")
        assert group["displaced"] and group["reclaim"]["park"] == 1, group
        assert "parked: group 'owner' needs" in group["reclaim"]["last"], group
        time.sleep(0.3)
        assert s.daemon.of_group("borrower")["state"] == "parked"
        owner.give()
        time.sleep(0.3)
        assert s.daemon.of_group("borrower")["state"] == "parked", "it has nothing to do"
        tenant.ask("touch")
        tenant.ask("compare")
        group = s.daemon.of_group("borrower")
        assert group["state"] != "parked" and not group["displaced"] and group["parkedBytes"] == 0, group
        assert owner.take(220)
        tenant.say("touch")
        kill_daemon(s.daemon)
        restart(s)
        s.daemon.wait_for(lambda: s.daemon.of_group("borrower")["displaced"], LONG)
        owner.process.kill()
        assert tenant.hear() == "fine touch", "the next daemon brings it back as well"
        tenant.ask("compare")
        assert s.daemon.status()["endings"] == []
        assert "uncleared" not in pathlib.Path(log).read_text(encoding="utf-8"), "memory goes back to the driver empty"


def a_borrower_that_cannot_be_parked_ends():
    with Setting(512, deadline="1s", park={"host": "100Mi"}) as s:
        s.group("borrower", 72, 300, parkable=True)
        s.group("owner", 300, 300)
        tenant = Tenant(s.daemon, s.env, "borrower", TEST_PIECES=16).ready()
        owner = Elastic(s, "owner")
        assert owner.take(220)
        assert tenant.process.wait(LONG) == -signal.SIGKILL
        (ending,) = s.daemon.status()["endings"]
        assert (ending["pid"], ending["group"]) == (tenant.process.pid, "borrower"), ending
        assert "a process was ended: group 'owner' needs" in ending["text"], ending


def groups_that_do_not_fit_together_take_turns():
    """Three of them, of which two fit: each gets on, none ends, and each finds its memory as it was."""
    with Setting(512) as s:
        names = ("a", "b", "c")
        for name in names:
            s.group(name, 130, 300, parkable=True)
        tenants = {name: Tenant(s.daemon, s.env, name, TEST_PIECES=8).ready() for name in names}
        steps = dict.fromkeys(names, 0)
        end = time.monotonic() + 12
        for tenant in tenants.values():
            tenant.say("touch")
        while time.monotonic() < end:
            for name, tenant in tenants.items():
                if is_readable(tenant.process.stdout, 0.01):
                    said = tenant.hear()
                    assert said == "fine touch", (name, said, s.daemon.status()["endings"], s.daemon.complaints())
                    steps[name] += 1
                    tenant.say("touch")
        turns = {name: s.daemon.of_group(name)["reclaim"]["park"] for name in names}
        print(f"# steps {steps}, parked {turns} times in 12 s")
        assert all(count > 0 for count in steps.values()) and sum(turns.values()) >= 3, (steps, turns)
        assert s.daemon.status()["endings"] == []
        for tenant in tenants.values():
            assert tenant.hear() == "fine touch"
            tenant.ask("compare")


def is_readable(stream, seconds):
    return bool(select.select([stream], [], [], seconds)[0])


TESTS = [
    whoever_keeps_to_its_request_is_never_chosen,
    caches_of_frameworks_are_emptied_first,
    the_command_says_why_its_program_was_ended,
    nobody_borrows_more_while_an_owner_waits,
    parkable_borrowers_leave_and_come_back,
    a_borrower_that_cannot_be_parked_ends,
    groups_that_do_not_fit_together_take_turns,
]
