"""What the daemon sees through NVML, on the pretended driver."""

import os
import re
import shutil
import subprocess
import tempfile
import time

from daemon import BUILD, Daemon, GIB, MUSTER, UUIDS, restart_on_pretended_driver


def a_late_driver_lifts_no_limit():
    """NVML's answers are old when they come, while a tenant fills its memory as fast as it can."""
    daemon = Daemon()
    try:
        env = restart_on_pretended_driver(daemon, "50ms", FAKE_GPU_LATE="3000")
        assert daemon.group("a", "1Gi")[0] == 201
        env.update(LD_PRELOAD=str(BUILD / "src/gpu/tenant/libmuster-gpu.so"), MUSTER_GPU_SOCKET=daemon.socket("a"),
                   TEST_PIECE=str(2 << 20), TEST_PIECES="100000", TEST_SECONDS="1")
        child = subprocess.Popen([BUILD / "tests/gpu/gpu-tenant", "greedy"], env=env, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        daemon.children.append(child)
        held = int(re.search(r"held (\d+)", child.stdout.readline())[1])
        group = daemon.of_group("a")
        print(f"# held {held >> 20} MiB, context {group['contextBytes'] >> 20} MiB")
        assert group["contextBytes"] > 0 and held + group["contextBytes"] <= GIB, (held, group)
    finally:
        daemon.stop()


def looks(daemon):
    return daemon.status()["gpus"][0]["looks"]


def the_driver_is_asked_when_there_is_something_to_see():
    daemon = Daemon()
    try:
        env = restart_on_pretended_driver(daemon, "20ms")
        daemon.wait_for(lambda: looks(daemon) > 0)
        before = looks(daemon)
        time.sleep(0.5)
        assert looks(daemon) - before <= 1, "a GPU that nobody shares is looked at only when figures are read"
        assert "driverUsedBytes" in daemon.status()["gpus"][0]
        assert daemon.group("a", 0, "1Gi")[0] == 201, "nothing is kept for it, and it is watched all the same"
        time.sleep(1.5)
        before = looks(daemon)
        time.sleep(2.5)
        assert looks(daemon) - before >= 2
        env.update(LD_PRELOAD=str(BUILD / "src/gpu/tenant/libmuster-gpu.so"), MUSTER_GPU_SOCKET=daemon.socket("a"))
        child = subprocess.Popen([BUILD / "gpu-spin", "1000", "60"], env=env, stdout=subprocess.PIPE)
        daemon.children.append(child)
        daemon.wait_for(lambda: daemon.of_group("a")["contextBytes"] > 0, 20)
        before = looks(daemon)
        daemon.wait_for(lambda: looks(daemon) > before + 50, 20)
    finally:
        daemon.stop()


def a_driver_that_talks_nonsense_harms_nobody():
    """A driver that names no process, this one, everybody (-1) or the first: nobody is ended. Its names are no text."""
    daemon = Daemon()
    try:
        restart_on_pretended_driver(daemon, "20ms", watch={"unregistered": "kill"},
                                    FAKE_GPU_NUMBERS="0,1,4294967295,4294967294,2147483648",
                                    FAKE_GPU_NAME="a\udcff\x1bname")
        assert daemon.status()["gpus"][0]["name"] == "a??name"
        assert daemon.group("a", "1Gi")[0] == 201
        child = daemon.tenant("hold", "a", 1)
        assert child.stdout.readline().startswith("held")
        daemon.wait_for(lambda: looks(daemon) > 5, 20)
        assert daemon.status()["unregisteredProcesses"] == 0
    finally:
        daemon.stop()


def tenants_that_end_are_no_strangers():
    """NVML's answer names processes that have ended since, and were tenants; one that escapes is counted once."""
    daemon = Daemon()
    try:
        env = restart_on_pretended_driver(daemon, "10ms", FAKE_GPU_LATE="20000")
        assert daemon.group("a", "1Gi")[0] == 201
        spin = [BUILD / "gpu-spin", "1000"]
        inside = {**env, "LD_PRELOAD": str(BUILD / "src/gpu/tenant/libmuster-gpu.so"),
                  "MUSTER_GPU_SOCKET": daemon.socket("a")}
        for _ in range(12):
            assert subprocess.run([*spin, "0.1"], env=inside, stdout=subprocess.DEVNULL, timeout=60).returncode == 0
        assert daemon.status()["unregisteredProcesses"] == 0
        for count in (1, 2):
            outsider = subprocess.Popen([*spin, "60"], env=env, stdout=subprocess.DEVNULL)
            daemon.wait_for(lambda count=count: daemon.status()["unregisteredProcesses"] == count, 20)
            before = looks(daemon)
            daemon.wait_for(lambda before=before: looks(daemon) > before + 3, 20)
            assert daemon.status()["unregisteredProcesses"] == count
            outsider.kill()
            outsider.wait()
    finally:
        daemon.stop()


def overuse_ends_one_process_at_a_time():
    daemon = Daemon()
    try:
        env = restart_on_pretended_driver(daemon, "20ms", watch={"overuse": "kill"},
                                          FAKE_GPU_CONTEXT_BYTES=str(400 << 20))
        assert daemon.group("a", "4Gi")[0] == 201
        env.update(LD_PRELOAD=str(BUILD / "src/gpu/tenant/libmuster-gpu.so"), MUSTER_GPU_SOCKET=daemon.socket("a"))
        children = [subprocess.Popen([BUILD / "gpu-spin", "1000", "60"], env=env, stdout=subprocess.PIPE)
                    for _ in range(3)]
        daemon.children += children
        daemon.wait_for(lambda: daemon.of_group("a")["contextBytes"] == 1200 << 20, 20)
        assert daemon.group("a", "1Gi")[0] == 200
        daemon.wait_for(lambda: daemon.of_group("a")["contextBytes"] == 800 << 20, 20)
        before = looks(daemon)
        daemon.wait_for(lambda: looks(daemon) > before + 5, 20)
        assert [child.poll() for child in children].count(None) == 2
        assert daemon.of_group("a")["killed"] == 1
        assert daemon.complaints().count("a process uses more memory than its limit") == 1
    finally:
        daemon.stop()


def a_driver_that_hangs_is_noticed():
    daemon = Daemon()
    try:
        restart_on_pretended_driver(daemon, "20ms", FAKE_GPU_LATE="600000000")
        assert daemon.group("a", "1Gi")[0] == 201
        daemon.wait_for(lambda: not daemon.status()["watchesDriver"], 30)
        child = daemon.tenant("hold", "a", 1)
        assert child.stdout.readline().startswith("held"), "the rest goes on"
        assert "muster_gpu_driver_used_bytes{" not in daemon.ask("GET", "/metrics")[1]
    finally:
        daemon.stop()


def figures_have_the_names_that_dashboards_ask_for():
    daemon = Daemon(options={"env": {**os.environ, "NODE_NAME": "node-1"}})
    try:
        labels = {"namespace": "team-a", "pod": "train-0", "container": "main"}
        daemon.group("pod-1234", "20Gi", gpus=(0, 1), labels=labels)
        daemon.group("run-1", "1Gi")
        child = daemon.tenant("hold", "pod-1234", GIB)
        assert child.stdout.readline().startswith("held")
        assert daemon.tenant("hold", "pod-1234", 30 * GIB).stdout.readline().startswith("denied")
        text = daemon.ask("GET", "/metrics")[1]
        ours = 'node="node-1",gpu="%s",group="pod-1234",namespace="team-a",pod="train-0",container="main"' % UUIDS[0]
        of_pod = 'node="node-1",group="pod-1234",namespace="team-a",pod="train-0",container="main"'
        runai = 'node="node-1",gpu="%s",pod_name="train-0",pod_namespace="team-a",pod_uuid="1234"' % UUIDS[0]
        hami = 'namespace="team-a",pod="train-0",container="main",vdevice_index="0",device_uuid="%s"' % UUIDS[0]
        for line in (f"muster_gpu_memory_used_bytes{{{ours}}} {GIB}", f"muster_gpu_memory_request_bytes{{{ours}}} {20 * GIB}",
                     f"muster_gpu_memory_limit_bytes{{{ours}}} {20 * GIB}", f"muster_gpu_memory_burst_bytes{{{ours}}} 0",
                     f"muster_gpu_memory_footprint_bytes{{{ours}}} ", f"muster_gpu_compute_share_target{{{ours}}} 0.5",
                     f"muster_gpu_compute_share_actual{{{ours}}} ", f"muster_gpu_compute_lease_seconds_total{{{ours}}} ",
                     f"muster_gpu_compute_overrun_seconds_total{{{ours}}} ",
                     f"muster_gpu_compute_wait_seconds_total{{{ours}}} ", f"muster_gpu_launches_total{{{ours}}} ",
                     f"muster_gpu_oom_killed_total{{{ours}}} 0",
                     f'muster_gpu_oom_denied_total{{{of_pod},reason="limit"}} 1', "muster_gpu_unregistered_process_total 0",
                     f"runai_gpu_memory_used_mebibytes_per_pod_per_gpu{{{runai}}} 1024",
                     f"runai_gpu_utilization_per_pod_per_gpu{{{runai}}} 0",
                     f'runai_gpu_utilization_per_gpu{{node="node-1",gpu="{UUIDS[0]}"}} 0',
                     f'runai_gpu_memory_total_mebibytes_per_gpu{{node="node-1",gpu="{UUIDS[0]}"}} 81920',
                     f'runai_allocated_gpu_count_per_gpu{{node="node-1",gpu="{UUIDS[0]}"}} 0.2',
                     f"hami_vgpu_memory_used_bytes{{{hami}}} {GIB}", f"hami_vgpu_memory_limit_bytes{{{hami}}} {20 * GIB}",
                     f"hami_container_device_utilization_ratio{{{hami}}} 0",
                     'runai_gpu_memory_used_mebibytes_per_pod_per_gpu{node="node-1",gpu="%s",pod_name="run-1"' % UUIDS[0]):
            assert "\n" + line in text, line + "\n" + text
        assert str(child.pid) not in re.sub(r" \S+$", "", text, flags=re.MULTILINE), "a number of a process is in a label"
        assert daemon.ask("DELETE", "/v1/groups/pod-1234")[0] == 200
        left = daemon.ask("GET", "/metrics")[1]
        assert "pod-1234" not in left and "train-0" not in left and 'group="run-1"' in left, left
    finally:
        daemon.stop()


def a_driver_is_not_needed_to_say_so():
    run = subprocess.run([MUSTER, "gpud", "--folder", tempfile.gettempdir() + "/muster-gpud-none"], capture_output=True,
                         text=True, timeout=20)
    shutil.rmtree(tempfile.gettempdir() + "/muster-gpud-none", ignore_errors=True)
    if run.returncode == 0 or "driver" not in run.stderr:
        raise AssertionError(run.stderr)


TESTS = [
    a_late_driver_lifts_no_limit,
    the_driver_is_asked_when_there_is_something_to_see,
    a_driver_that_talks_nonsense_harms_nobody,
    tenants_that_end_are_no_strangers,
    overuse_ends_one_process_at_a_time,
    a_driver_that_hangs_is_noticed,
    figures_have_the_names_that_dashboards_ask_for,
    a_driver_is_not_needed_to_say_so,
]
