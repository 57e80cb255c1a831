"""Bad days: restarts, rude tenants, damaged files, full disks, no descriptors."""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from daemon import Daemon, GIB, MUSTER, TENANT, UUIDS, kill_daemon


def restart_loses_nothing():
    daemon = Daemon()
    try:
        daemon.group("a", "40Gi")
        children = [daemon.tenant("churn", "a", i, 4) for i in range(12)]
        dead = daemon.tenant("hold", "a", GIB)
        assert dead.stdout.readline().startswith("held")
        time.sleep(0.5)
        for signal_number in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
            daemon.process.send_signal(signal_number)
            daemon.process.wait()
            if dead.poll() is None:
                dead.send_signal(signal.SIGKILL)
                dead.wait()
            time.sleep(0.1)
            daemon.start()
            time.sleep(0.5)
        lines = [child.stdout.readline() for child in children]
        assert all(line.startswith("used ") for line in lines), str(lines) + daemon.complaints()
        used = [int(re.match(r"used (\d+) ", line)[1]) for line in lines]
        returns = [int(re.search(r"returns (\d+)", line)[1]) for line in lines]
        assert sum(returns) >= 12, lines
        daemon.wait_for(lambda: daemon.of_group("a")["usedBytes"] == sum(used), 5)
        assert len(daemon.of_group("a")["processes"]) == 12
    finally:
        daemon.stop()


def restart_charges_those_who_do_not_come_back():
    daemon = Daemon()
    try:
        daemon.group("a", "40Gi")
        child = daemon.tenant("hold", "a", 7 * GIB)
        assert child.stdout.readline().startswith("held")
        used = daemon.taken()
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait()
        daemon.start()
        assert daemon.taken() == used, "what a living process holds was forgotten"
        child.send_signal(signal.SIGKILL)
        daemon.wait_for(lambda: daemon.taken() == 0)
    finally:
        daemon.stop()


def rude_tenants_harm_nobody():
    daemon = Daemon()
    try:
        daemon.group("good", "20Gi")
        daemon.group("bad", "20Gi")
        for kind, expected in (("garbage", "closed"), ("huge", "denied"), ("forge", "sealed"), ("flood", "flooding")):
            child = daemon.tenant("rude", "bad", kind)
            line = child.stdout.readline().strip()
            assert line == expected, f"{kind}: {line}"
        flooders = [daemon.tenant("rude", "bad", "flood") for _ in range(3)]
        mutes = [daemon.tenant("rude", "bad", "mute") for _ in range(20)]
        assert len(flooders) + len(mutes) == 23
        slowest = 0
        for _ in range(20):
            child = daemon.tenant("hold", "good", GIB)
            line = child.stdout.readline()
            assert line.startswith("held"), line
            slowest = max(slowest, int(line.split()[3]))
            child.kill()
            child.wait()
        print(f"# a reservation beside four floods took {slowest} us at most")
        assert slowest < 1000000
        daemon.wait_for(lambda: daemon.of_group("good")["usedBytes"] == 0)
        assert daemon.of_group("bad")["badMessages"] >= 1
        assert daemon.of_group("bad")["usedBytes"] == 0
    finally:
        daemon.stop()


def only_the_right_peer_is_let_in():
    daemon = Daemon()
    try:
        daemon.group("a", "1Gi", uid=os.getuid() + 1 if os.getuid() != 0 else 12345)
        daemon.group("b", "1Gi", cgroup="/no/such/cgroup")
        daemon.group("c", "1Gi", cgroup="/")
        if os.getuid() != 0:
            assert daemon.tenant("hold", "a", 1).stdout.readline().startswith("fail")
        assert daemon.tenant("hold", "b", 1).stdout.readline().startswith("fail")
        assert daemon.tenant("hold", "c", 1).stdout.readline().startswith("held")
    finally:
        daemon.stop()


def a_damaged_state_file_is_put_aside():
    daemon = Daemon()
    try:
        state = pathlib.Path(daemon.folder, "run/groups.json")
        daemon.group("a", "1Gi")
        daemon.group("b", "2Gi")
        daemon.wait_for(lambda: '"b"' in state.read_text())
        kill_daemon(daemon)
        whole = state.read_text()
        state.write_text(whole.replace('"request"', '"request_x"', 1).replace('"limit"', '"limt"', 1))
        daemon.start()
        assert [group["group"] for group in daemon.status()["groups"]] == ["b"], daemon.complaints()
        for damaged in (whole[:len(whole) // 2], "", "\0" * 4096, "{}", "[3]"):
            kill_daemon(daemon)
            state.write_text(damaged)
            daemon.start()
            assert not daemon.status()["groups"], damaged
            aside = pathlib.Path(daemon.folder, "run/groups.json.damaged")
            assert damaged == "[3]" or aside.read_text() == damaged, damaged
        assert daemon.group("a", "1Gi")[0] == 201
    finally:
        daemon.stop()


def a_full_disk_is_said():
    """In a file system with room for little: the daemon says so, where it would be ended by the kernel later."""
    folder = tempfile.mkdtemp(prefix="muster-gpud-")
    config = folder + "/config.yaml"
    pathlib.Path(config).write_text(json.dumps({"folder": folder + "/small/run",
                                                "gpus": [{"uuid": UUIDS[0], "memory": "80Gi"}]}))
    os.mkdir(folder + "/small")
    script = 'mount -t tmpfs -o size=256k none "$1"/small || exit 77; exec "$2" gpud -c "$1"/config.yaml'
    run = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", folder, MUSTER], capture_output=True, text=True,
                         timeout=30)
    shutil.rmtree(folder)
    if run.returncode == 77 or "unshare" in run.stderr:
        print("# no file system can be made here")
        return
    assert run.returncode > 0 and "No space left" in run.stderr, run


def state_is_saved_once_there_is_room():
    daemon = Daemon()
    try:
        state = pathlib.Path(daemon.folder, "run/groups.json")
        os.mkdir(str(state) + ".next")
        pathlib.Path(str(state) + ".next/full").touch()
        assert daemon.group("a", "1Gi")[0] == 201
        daemon.wait_for(lambda: "cannot be saved" in daemon.complaints())
        shutil.rmtree(str(state) + ".next")
        daemon.wait_for(state.exists, 20)
        assert '"a"' in state.read_text()
    finally:
        daemon.stop()


def seqpacket(path):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.settimeout(20)
    connection.connect(path)
    return connection


def one_process_gets_a_few_connections():
    daemon = Daemon()
    try:
        daemon.group("a", "1Gi")
        kept = [seqpacket(daemon.socket("a")) for _ in range(4)]
        more = seqpacket(daemon.socket("a"))
        assert b"too many connections" in more.recv(4096) and more.recv(4096) == b"", "one process has all connections"
        child = daemon.tenant("hold", "a", 1)
        assert child.stdout.readline().startswith("held"), "another process is let in"
        for connection in (*kept, more):
            connection.close()
    finally:
        daemon.stop()


def without_descriptors_tenants_are_sent_away():
    """Nobody waits for ever, and the daemon does not turn in circles; when some are free again it goes on."""
    daemon = Daemon(options={"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))})
    try:
        made = []
        while daemon.group(f"g{len(made)}", "1Mi", share=0.001)[0] == 201:
            made.append(f"g{len(made)}")
        assert 4 < len(made) < 64, made
        # Whoever is let in is told after a while that it has not said who it is; whoever is sent away hears nothing.
        waiting = [seqpacket(daemon.socket(name)) for name in made for _ in range(4)]
        heard = [connection.recv(4096) for connection in waiting]
        assert b"" in heard and any(heard), heard
        for connection in waiting:
            connection.close()
        for name in made[1:]:
            assert daemon.ask("DELETE", "/v1/groups/" + name)[0] == 200
        assert daemon.tenant("hold", made[0], 1).stdout.readline().startswith("held")
    finally:
        daemon.stop()


def a_group_can_change_its_user():
    daemon = Daemon()
    try:
        folder = pathlib.Path(daemon.folder, "run/groups/a")
        user = 12345 if os.getuid() == 0 else os.getuid()
        for uid, mode, owner in ((None, 0o755, os.getuid()), (user, 0o700, user), (None, 0o755, os.getuid())):
            assert daemon.group("a", "1Gi", **({} if uid is None else {"uid": uid}))[0] in (200, 201)
            found = folder.stat()
            assert (found.st_mode & 0o777, found.st_uid) == (mode, owner), (uid, oct(found.st_mode), found.st_uid)
    finally:
        daemon.stop()


def tenants_are_known_by_their_number_here():
    """A tenant in a namespace of its own is number 1 there."""
    daemon = Daemon()
    try:
        daemon.group("a", "1Gi")
        if subprocess.run(["unshare", "-rpf", "true"], stderr=subprocess.DEVNULL).returncode != 0:
            print("# no namespace can be made here")
            return
        child = subprocess.Popen(["unshare", "-rpf", "--kill-child", TENANT, "hold", daemon.socket("a"), "1"],
                                 stdout=subprocess.PIPE, stderr=daemon.log, text=True)
        daemon.children.append(child)
        assert child.stdout.readline().startswith("held")
        (found,) = daemon.of_group("a")["processes"]
        status = pathlib.Path(f"/proc/{found['pid']}/status").read_text()
        assert re.search(rf"^NSpid:\s+{found['pid']}\s+1$", status, re.MULTILINE), status
        os.kill(found["pid"], signal.SIGKILL)
        daemon.wait_for(lambda: daemon.taken() == 0)
    finally:
        daemon.stop()


TESTS = [
    restart_loses_nothing,
    restart_charges_those_who_do_not_come_back,
    rude_tenants_harm_nobody,
    only_the_right_peer_is_let_in,
    a_damaged_state_file_is_put_aside,
    a_full_disk_is_said,
    state_is_saved_once_there_is_room,
    one_process_gets_a_few_connections,
    without_descriptors_tenants_are_sent_away,
    a_group_can_change_its_user,
    tenants_are_known_by_their_number_here,
]
