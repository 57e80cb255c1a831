"""Leases of compute, fair and strict."""

import re
import signal
import subprocess
import time

from daemon import BUILD, Daemon, restart_on_pretended_driver


def worked(children):
    found = [re.match(r"worked (\d+) of (\d+) us, clashes (\d+), longest wait (\d+) us, backlog (\d+) us",
                      child.stdout.readline()) for child in children]
    assert all(found), "a tenant failed"
    return [tuple(map(int, each.groups())) for each in found]


def start_work(daemon, gpu, *tenants):
    children = [daemon.tenant("work", name, kernel, seconds, gpu, *more) for name, kernel, seconds, *more in tenants]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    return children


def fair_leases_follow_the_weights():
    daemon = Daemon()
    try:
        daemon.group("a", "1Gi", share=0.25)
        daemon.group("b", "1Gi", share=0.75)
        gpu = daemon.folder + "/gpu"
        (one, two) = worked(start_work(daemon, gpu, ("a", 1000, 4), ("b", 5000, 4)))
        share = one[0] / (one[0] + two[0])
        print(f"# 1 ms beside 5 ms kernels, 1:3: {share:.4f}, together {(one[0] + two[0]) / one[1]:.4f} of the time")
        assert 0.22 < share < 0.28, share
        assert one[2] == 0, f"{one[2]} kernels ran at the same time as others"
        figures = daemon.ask("GET", "/metrics")[1]
        for group in "ab":
            assert int(re.search(rf'muster_gpu_gate_wait_seconds_count{{group="{group}"}} (\d+)', figures)[1]) > 0
        assert float(re.search(r'muster_gpu_gate_wait_seconds_sum\{group="a"\} (\S+)', figures)[1]) > 0
        daemon.ask("DELETE", "/v1/groups/a")
        assert 'gate_wait_seconds_count{group="a"}' not in daemon.ask("GET", "/metrics")[1]
    finally:
        daemon.stop()


def strict_leases_keep_their_share_alone():
    daemon = Daemon()
    try:
        daemon.group("a", "1Gi", share=0.25, mode="strict")
        (one,) = worked(start_work(daemon, daemon.folder + "/gpu", ("a", 1000, 4)))
        print(f"# strict 0.25 alone: {one[0] / one[1]:.4f}")
        assert 0.22 < one[0] / one[1] < 0.28
        assert one[4] == 1500, one
    finally:
        daemon.stop()


def who_is_alone_may_queue_more():
    daemon = Daemon()
    try:
        daemon.group("a", "1Gi", share=0.5)
        daemon.group("b", "1Gi", share=0.5)
        gpu = daemon.folder + "/gpu"
        (one,) = worked(start_work(daemon, gpu, ("a", 1000, 1)))
        assert one[4] == 10000, one
        start_work(daemon, gpu, ("a", 1000, 60))
        (two,) = worked(start_work(daemon, gpu, ("b", 1000, 1)))
        assert two[4] == 1500, f"who comes to one that is alone is not alone: {two}"
    finally:
        daemon.stop()


def idle_time_of_a_partner_is_used():
    daemon = Daemon()
    try:
        daemon.group("a", "1Gi", share=0.5)
        daemon.group("b", "1Gi", share=0.5)
        one, two = worked(start_work(daemon, daemon.folder + "/gpu", ("a", 1000, 4), ("b", 1000, 4, 200, 800)))
        print(f"# beside a partner that works a fifth of the time: {one[0] / one[1]:.4f}, it {two[0] / two[1]:.4f}; "
              f"longest wait {two[3] / 1000:.1f} ms")
        assert one[0] / one[1] > 0.8
        assert two[0] / two[1] > 0.07
        assert one[2] == 0
    finally:
        daemon.stop()


def who_never_drains_is_passed_by():
    daemon = Daemon(compute={"drainBound": "200ms"}, watch={"stuck": "kill"})
    try:
        daemon.group("a", "1Gi", share=0.5)
        daemon.group("b", "1Gi", share=0.5)
        hog = daemon.tenant("rude", "a", "never-drains")
        assert hog.stdout.readline() == "entered\n"
        (one,) = worked(start_work(daemon, daemon.folder + "/gpu", ("b", 1000, 1.5)))
        assert one[3] < 1000000, f"waited {one[3]} us"
        assert one[0] / one[1] > 0.5
        assert hog.wait(5) == -signal.SIGKILL
    finally:
        daemon.stop()


def a_mode_that_changes_leaves_nobody_waiting():
    """Whoever had to end its turn when the mode changed is not waited for in the next one."""
    daemon = Daemon(compute={"drainBound": "60s"})
    try:
        daemon.group("a", "1Gi")
        daemon.group("b", "1Gi")
        hog = daemon.tenant("rude", "a", "never-drains")
        assert hog.stdout.readline() == "entered\n"
        daemon.tenant("work", "b", 1000, 1, daemon.folder + "/gpu")
        daemon.wait_for(lambda: daemon.of_group("a")["state"] == "draining")
        assert daemon.ask("DELETE", "/v1/groups/b")[0] == 200
        assert daemon.group("a", "1Gi", mode="time")[0] == 200
        assert daemon.group("a", "1Gi", mode="fair")[0] == 200
        assert daemon.group("b", "1Gi")[0] == 201
        one, two = worked(start_work(daemon, daemon.folder + "/gpu", ("a", 1000, 2), ("b", 1000, 2)))
        assert one[0] > 0 and two[0] > 0 and max(one[3], two[3]) < 30000000, (one, two)
    finally:
        daemon.stop()


def modes_change_under_load():
    daemon = Daemon()
    try:
        daemon.group("a", "1Gi")
        children = start_work(daemon, daemon.folder + "/gpu", ("a", 500, 4), ("a", 2000, 4))
        for i in range(60):
            mode = ("time", "fair", "strict")[i % 3]
            assert daemon.group("a", "1Gi", share=0.5, mode=mode)[0] == 200
            time.sleep(0.02)
        assert daemon.group("a", "1Gi")[0] == 200
        assert daemon.group("b", "1Gi")[0] == 201
        children += start_work(daemon, daemon.folder + "/gpu", ("b", 1000, 1))
        assert all(each[0] > 0 for each in worked(children))
    finally:
        daemon.stop()


def start_spin(daemon, env, group, us):
    child = subprocess.Popen([BUILD / "gpu-spin", str(us), "300"], stdout=subprocess.PIPE, text=True,
                             env={**env, "LD_PRELOAD": str(BUILD / "src/gpu/tenant/libmuster-gpu.so"),
                                  "MUSTER_GPU_SOCKET": daemon.socket(group)})
    daemon.children.append(child)


def states(daemon):
    return {group["group"]: group["state"] for group in daemon.status()["groups"]}


def fair_tenants_that_get_enough_run_side_by_side():
    """The pretended driver slows nobody down, so that nothing has to be enforced between fair tenants."""
    daemon = Daemon()
    try:
        env = restart_on_pretended_driver(daemon, "1s", compute={"together": "2s"})
        daemon.group("a", "1Gi", share=0.3)
        daemon.group("b", "1Gi", share=0.3)
        start_spin(daemon, env, "a", 1000)
        start_spin(daemon, env, "b", 300)
        daemon.wait_for(lambda: states(daemon) == {"a": "together", "b": "together"}, 60)
        before = {name: daemon.of_group(name)["leaseSeconds"] for name in "ab"}
        begin = time.monotonic()
        daemon.wait_for(lambda: all(daemon.of_group(name)["leaseSeconds"] > before[name] for name in "ab"), 60)
        charged = sum(daemon.of_group(name)["leaseSeconds"] - before[name] for name in "ab")
        assert charged <= time.monotonic() - begin + 0.1, "more time was charged than there was"
        # A strict share is exact, which it cannot be with others beside it.
        daemon.group("c", "1Gi", share=0.2, mode="strict")
        start_spin(daemon, env, "c", 300)
        daemon.wait_for(lambda: daemon.of_group("c")["state"] == "running", 60)
        for _ in range(50):
            assert "together" not in states(daemon).values()
    finally:
        daemon.stop()


def the_latency_class_runs_alone_and_in_between():
    daemon = Daemon()
    try:
        env = restart_on_pretended_driver(daemon, "1s", compute={"together": "2s"})
        daemon.group("a", "1Gi", share=0.4)
        daemon.group("b", "1Gi", share=0.3)
        status, _ = daemon.ask("PUT", "/v1/groups/c", {"name": "c", "gpus": [0], "memory": {"request": "1Gi"},
                                                       "compute": {"share": 0.3, "priority": "latency"}})
        assert status == 201 and daemon.of_group("c")["priority"] == "latency"
        start_spin(daemon, env, "a", 1000)
        start_spin(daemon, env, "b", 300)
        daemon.wait_for(lambda: states(daemon) == {"a": "together", "b": "together", "c": "idle"}, 60)
        start_spin(daemon, env, "c", 300)
        daemon.wait_for(lambda: daemon.of_group("c")["leaseSeconds"] > 0.2, 60)
        for _ in range(100):
            now = states(daemon)
            assert now["c"] != "together", now
            assert now["c"] != "running" or now["a"] in ("waiting", "idle"), now
        status, answer = daemon.ask("PUT", "/v1/groups/c", {"name": "c", "gpus": [0], "memory": {"request": "1Gi"},
                                                            "compute": {"mode": "time", "priority": "latency"}})
        assert status == 400 and "fair or strict" in str(answer), answer
    finally:
        daemon.stop()


TESTS = [
    fair_leases_follow_the_weights,
    strict_leases_keep_their_share_alone,
    who_is_alone_may_queue_more,
    idle_time_of_a_partner_is_used,
    who_never_drains_is_passed_by,
    a_mode_that_changes_leaves_nobody_waiting,
    modes_change_under_load,
    fair_tenants_that_get_enough_run_side_by_side,
    the_latency_class_runs_alone_and_in_between,
]
