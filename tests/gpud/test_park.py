"""Groups that are parked and resumed, with the tenants' library on the pretended driver, whose mapped memory has contents."""

import http.client
import json
import os
import random
import signal
import subprocess
import threading
import time

from daemon import BUILD, Daemon, MUSTER, UnixConnection, kill_daemon, restart_on_pretended_driver

MIB = 1 << 20
CONTEXT = 64 * MIB
# Four pieces of 6 MiB, and more for some of them by their number, and the counters.
MOVES = (2 + 8 + 10 + 6 + 8) * MIB
STAYS = {"driverBytes": 4096, "arrayBytes": 4 * MIB, "poolBytes": 32 * MIB, "mappedBytes": 2 * MIB}
LONG = 60


class Tenant:
    """The program gpu-tenant parkable, which says what it finds."""

    def __init__(self, daemon, env, group, **more):
        env = {**env, "LD_PRELOAD": str(BUILD / "src/gpu/tenant/libmuster-gpu.so"),
               "MUSTER_GPU_SOCKET": daemon.socket(group), **{name: str(value) for name, value in more.items()}}
        self.process = subprocess.Popen([BUILD / "tests/gpu/gpu-tenant", "parkable"], env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        daemon.children.append(self.process)

    def say(self, order):
        self.process.stdin.write(order + "\n")
        self.process.stdin.flush()

    def hear(self):
        return self.process.stdout.readline().strip()

    def ask(self, order):
        self.say(order)
        answer = self.hear()
        assert answer == f"fine {order.split()[0]}", answer

    def ready(self):
        said = self.hear()
        assert said == "fine ready", said
        return self

    def end(self):
        self.process.kill()
        self.process.wait()


class Setting:
    """A daemon on the pretended driver with the group `a`, which can be parked, and `b`, which cannot."""

    def __init__(self, park=None, **more):
        self.daemon = Daemon()
        try:
            self.env = restart_on_pretended_driver(self.daemon, "50ms", park={"host": "1Gi", **(park or {})}, **more)
            assert self.daemon.group("a", "1Gi", parkable=True)[0] == 201
            assert self.daemon.group("b", "64Mi")[0] == 201
        except (AssertionError, OSError):
            self.daemon.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.daemon.stop()

    def tenant(self, **more):
        return Tenant(self.daemon, self.env, "a", **more)

    def order(self, verb, group="a"):
        connection = UnixConnection(self.daemon.folder + "/run/api.sock")
        connection.connect()
        connection.sock.settimeout(LONG)
        connection.request("POST", f"/v1/groups/{group}/{verb}")
        answer = connection.getresponse()
        data = answer.read().decode()
        connection.close()
        return answer.status, json.loads(data)

    def driver_used(self):
        """What the driver says the GPU has in use."""
        before = self.daemon.status()["gpus"][0]["looks"]
        self.daemon.wait_for(lambda: self.daemon.status()["gpus"][0]["looks"] > before + 2, LONG)
        return self.daemon.status()["gpus"][0]["driverUsedBytes"]

    def settle(self, verb):
        """Gives the order again until it is carried out, as somebody would after a daemon has ended in the middle."""
        end = time.monotonic() + LONG
        while True:
            status, said = self.order(verb)
            if status == 200:
                return said
            assert status == 409 and time.monotonic() < end, (status, said, self.daemon.complaints())
            time.sleep(0.05)


def a_parked_group_leaves_the_gpu_and_comes_back():
    with Setting() as s:
        log = s.daemon.folder + "/calls"
        tenant = s.tenant(FAKE_GPU_LOG=log).ready()
        tenant.ask("touch")
        before = s.driver_used()
        for turn in range(3):
            status, said = s.order("park")
            assert status == 200 and said["state"] == "parked" and said["hostBytes"] == MOVES, said
            one = said["processes"][0]
            assert set(said["seconds"]) == {"stop", "hostMemory", "move"}, said
            assert set(one["seconds"]) == {"hostMemory", "copy", "clear", "map"} and one["seconds"]["copy"] > 0, one
            assert one["stays"] == STAYS and one["contextBytes"] == CONTEXT, one
            assert one["usedBytes"] == sum(STAYS.values()), one
            assert s.driver_used() == before - MOVES, "what has moved is free for others"
            group = s.daemon.of_group("a")
            assert (group["state"], group["parkedBytes"]) == ("parked", MOVES), group
            assert group["usedBytes"] == sum(STAYS.values()) and group["creditBytes"] == 0, group
            assert s.daemon.status()["hostTakenBytes"] == MOVES
            tenant.say("touch")
            time.sleep(0.2)
            assert s.daemon.of_group("a")["state"] == "parked"
            status, said = s.order("resume")
            assert status == 200 and said["state"] == "running" and said["hostBytes"] == 0, said
            assert tenant.hear() == "fine touch", "the call that waited is carried out, by kernel and by graph"
            tenant.ask("compare")
            assert s.driver_used() == before
            assert s.daemon.status()["hostTakenBytes"] == 0
            tenant.ask("touch")
        with open(log, encoding="utf-8") as calls:
            assert "uncleared" not in calls.read(), "memory goes back to the driver empty"
        tenant.ask("more")
        tenant.ask("compare")
        assert s.order("park")[0] == 200 and s.order("resume")[0] == 200
        tenant.ask("compare")


def what_cannot_be_parked_is_refused():
    with Setting() as s:
        assert s.order("park", "b") == (400, {"error": "group 'b' cannot be parked: it was created without "
                                                       "\"parkable\": true"})
        assert s.order("park", "nobody")[0] == 404
        status, said = s.daemon.group("two", "1Gi", gpus=(0, 1), parkable=True)
        assert status == 422 and "one GPU" in str(said), said
        status, said = s.daemon.group("a", "1Gi")
        assert status == 409 and "parkable" in str(said), said
        assert s.order("park") [0] == 200 and s.order("park")[0] == 200, "without processes it takes nothing"
        late = s.tenant()
        s.daemon.wait_for(lambda: s.daemon.of_group("a")["processes"], LONG)
        time.sleep(0.3)
        assert s.daemon.of_group("a")["contextBytes"] == 0, "one that begins now waits before it has a context"
        assert s.order("resume")[0] == 200
        late.ready().ask("touch")
        assert s.order("park")[0] == 200
        status, said = s.daemon.ask("DELETE", "/v1/groups/a")
        assert status == 409 and "resume" in str(said), said
        assert s.daemon.ask("DELETE", "/v1/groups/a?kill=true")[0] == 200
        assert late.process.wait(LONG) == -signal.SIGKILL
        s.daemon.wait_for(lambda: s.daemon.status()["hostTakenBytes"] == 0, LONG)


def commands_park_and_resume():
    with Setting() as s:
        s.tenant().ready()

        def run(*words):
            done = subprocess.run([MUSTER, "gpu", *words, "--folder", s.daemon.folder + "/run"], capture_output=True,
                                  text=True, timeout=LONG, check=False)
            return done.returncode, done.stdout + done.stderr

        status, said = run("park", "a")
        assert status == 0 and said.startswith("a: parked\n") and "in host memory" in said and "memory pools" in said, said
        assert "times: stop " in said and ", copy " in said, said
        status, said = run("status")
        assert status == 0 and "parked" in said, said
        status, said = run("resume", "a")
        assert status == 0 and said.startswith("a: resumed\n  times: resume ") and ", copy " in said, said
        status, said = run("park", "b")
        assert status != 0 and "cannot be parked" in said, said
        status, said = run("park", "nobody")
        assert status != 0 and "no group 'nobody'" in said, said
        status, said = run("park")
        assert status != 0 and "GROUP is missing" in said, said


def the_budget_of_the_host_is_kept():
    with Setting(park={"host": MOVES + MIB}) as s:
        first = s.tenant().ready()
        assert s.order("park")[0] == 200 and s.order("resume")[0] == 200
        second = s.tenant().ready()
        status, said = s.order("park")
        assert status == 409 and "host memory" in str(said), said
        assert s.daemon.status()["hostTakenBytes"] == 0
        for tenant in (first, second):
            tenant.ask("touch")
            tenant.ask("compare")
        second.end()
        s.daemon.wait_for(lambda: len(s.daemon.of_group("a")["processes"]) == 1, LONG)
        assert s.order("park")[0] == 200
        first.end()
        s.daemon.wait_for(lambda: s.daemon.status()["hostTakenBytes"] == 0, LONG)
        s.daemon.wait_for(lambda: s.daemon.taken() == 0, LONG)


def memory_that_others_have_taken_is_waited_for():
    """The GPU's memory is lent while a group is parked; it comes back when there is room again."""
    with Setting(FAKE_GPU_BYTES=str(1600 * MIB)) as s:
        assert s.daemon.group("c", 0, "1500Mi", share=0.1)[0] == 201
        tenant = s.tenant(TEST_PIECES=16, TEST_PIECE=48 * MIB).ready()
        assert s.order("park")[0] == 200
        env = {**s.env, "LD_PRELOAD": str(BUILD / "src/gpu/tenant/libmuster-gpu.so"),
               "MUSTER_GPU_SOCKET": s.daemon.socket("c"), "TEST_PIECE": str(64 * MIB), "TEST_PIECES": "15",
               "TEST_SECONDS": "1"}
        greedy = subprocess.Popen([BUILD / "tests/gpu/gpu-tenant", "greedy"], env=env, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        s.daemon.children.append(greedy)
        said = greedy.stdout.readline()
        assert "held" in said, said
        status, said = s.order("resume")
        assert status == 409 and "are free for it" in str(said), (status, said)
        assert s.daemon.of_group("a")["state"] == "parked"
        greedy.kill()
        greedy.wait()
        s.settle("resume")
        tenant.ask("compare")


def a_process_that_does_not_stop_goes_on():
    with Setting(park={"timeout": "1s"}) as s:
        tenant = s.tenant().ready()
        tenant.ask("capture")
        status, said = s.order("park")
        assert status == 409 and "did not stop" in str(said), said
        tenant.ask("end")
        tenant.ask("touch")
        tenant.ask("spin 10000")
        status, said = s.order("park")
        assert status == 409 and "did not stop" in str(said), said
        tenant.ask("touch")
        s.settle("park")
        s.settle("resume")
        tenant.ask("compare")


def exported_memory_stays():
    with Setting() as s:
        tenant = s.tenant().ready()
        tenant.ask("export")
        status, said = s.order("park")
        assert status == 200 and said["hostBytes"] == MOVES - 8 * MIB, said
        assert said["processes"][0]["stays"]["exportedBytes"] == 8 * MIB, said
        assert s.order("resume")[0] == 200
        tenant.ask("compare")


def failures_of_the_driver_lose_nothing():
    """Each call that a move needs fails once: on the way out nothing has happened, on the way back it stays in the host."""
    for call, verb in (("cuMemcpyDtoHAsync_v2:1:2", "park"), ("cuMemsetD8Async:2:2", "park"),
                       ("cuMemHostAlloc:1:1", None), ("cuEventCreate:1:2", None), ("cuMemcpyHtoDAsync_v2:2:2", "resume"),
                       ("cuMemSetAccess:7:2", "resume")):
        with Setting() as s:
            tenant = s.tenant(FAKE_GPU_FAULT=call).ready()
            status, said = s.order("park")
            assert status == (500 if verb == "park" else 200), (call, status, said)
            if verb == "park":
                tenant.ask("touch")
                tenant.ask("compare")
                assert s.daemon.status()["hostTakenBytes"] == 0, call
                continue
            status, said = s.order("resume")
            if verb == "resume":
                assert status == 409 and "stay in host memory" in str(said), (call, said)
                group = s.daemon.of_group("a")
                assert group["parkedBytes"] == MOVES and group["usedBytes"] == sum(STAYS.values()), (call, group)
                continue
            assert status == 200, (call, said)
            tenant.ask("compare")


def ask_meanwhile(setting, verb):
    """The order in a thread of its own, whose connection may break."""
    def give():
        try:
            setting.order(verb)
        except (OSError, ValueError, http.client.HTTPException):
            pass
    thread = threading.Thread(target=give)
    thread.start()
    return thread


SLOW = ("cuMemcpyDtoHAsync_v2", "cuMemsetD8Async", "cuMemUnmap", "cuMemCreate", "cuMemcpyHtoDAsync_v2", "cuCtxSynchronize")


def a_daemon_killed_in_the_middle_loses_no_byte():
    """Killed at each step of a park and a resume, and at random moments; the next daemon brings the group back."""
    chance = random.Random(21)
    with Setting() as s:
        for number, (call, verb) in enumerate([(name, verb) for name in SLOW for verb in ("park", "resume")] +
                                              [("cuMemMap", verb) for verb in ("park", "resume") * 4]):
            tenant = s.tenant(FAKE_GPU_SLOW=f"{call}:40").ready()
            other = s.tenant().ready()
            if verb == "resume":
                s.settle("park")
            thread = ask_meanwhile(s, verb)
            time.sleep(chance.uniform(0, 0.25))
            kill_daemon(s.daemon)
            thread.join()
            restart(s)
            s.settle("park" if number % 2 else "resume")
            s.settle("resume")
            for one in (tenant, other):
                one.ask("touch")
                one.ask("compare")
            assert s.daemon.status()["hostTakenBytes"] == 0, call
            for one in (tenant, other):
                one.end()
            s.daemon.wait_for(lambda: s.daemon.taken() == 0 and not s.daemon.of_group("a")["processes"], LONG)


def restart(setting):
    """The daemon again, on the same driver and the same folder."""
    new = {name: value for name, value in setting.env.items() if name not in os.environ}
    os.environ.update(new)
    try:
        setting.daemon.start()
    finally:
        for name in new:
            del os.environ[name]


def a_tenant_killed_in_the_middle_harms_nobody():
    chance = random.Random(22)
    with Setting() as s:
        stays = s.tenant().ready()
        for call, verb in [(name, verb) for name in SLOW for verb in ("park", "resume")]:
            victim = s.tenant(FAKE_GPU_SLOW=f"{call}:40").ready()
            if verb == "resume":
                s.settle("park")
            thread = ask_meanwhile(s, verb)
            time.sleep(chance.uniform(0, 0.25))
            victim.end()
            thread.join()
            s.settle("park")
            group = s.daemon.of_group("a")
            assert group["parkedBytes"] == MOVES and len(group["processes"]) == 1, (call, group)
            s.settle("resume")
            stays.ask("touch")
            stays.ask("compare")
            assert s.daemon.status()["hostTakenBytes"] == 0, call
        stays.end()
        s.daemon.wait_for(lambda: s.daemon.taken() == 0, LONG)


TESTS = [
    a_parked_group_leaves_the_gpu_and_comes_back,
    what_cannot_be_parked_is_refused,
    commands_park_and_resume,
    the_budget_of_the_host_is_kept,
    memory_that_others_have_taken_is_waited_for,
    a_process_that_does_not_stop_goes_on,
    exported_memory_stays,
    failures_of_the_driver_lose_nothing,
    a_daemon_killed_in_the_middle_loses_no_byte,
    a_tenant_killed_in_the_middle_harms_nobody,
]
