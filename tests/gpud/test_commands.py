"""muster gpu run, top and doctor, as people use them."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import termios
import time

from daemon import BUILD, Daemon, GIB, MUSTER, kill_daemon, names, pretended_driver, restart_on_pretended_driver


def programs_run_with_a_part_of_a_gpu():
    daemon = Daemon()
    try:
        env = restart_on_pretended_driver(daemon, "50ms")
        folder = daemon.folder + "/run"
        spin = str(BUILD / "gpu-spin")
        run = [MUSTER, "gpu", "run", "--folder", folder, "--memory", "1Gi"]
        child = subprocess.Popen([*run, "--share", "0.25", "--mode", "strict", "--name", "spinning", "--", spin, "1000",
                                  "3"], env=env, stdout=subprocess.PIPE, text=True)
        daemon.wait_for(lambda: [group for group in daemon.status()["groups"] if group["launches"] > 0], 20)
        group = daemon.of_group("spinning")
        assert group["contextBytes"] > 0 and len(group["processes"]) == 1, group
        top = subprocess.run([MUSTER, "gpu", "status", "--folder", folder], capture_output=True, text=True,
                             check=True).stdout
        assert "spinning" in top and "strict" in top, top
        out = child.communicate(timeout=60)[0]
        found = re.match(r"kernels (\d+) seconds ([\d.]+)", out)
        assert child.returncode == 0 and found, out
        share = int(found[1]) / 1000 / float(found[2])
        print(f"# strict 0.25 through the library on a pretended driver: {share:.3f}")
        assert share < 0.3, share
        assert not daemon.status()["groups"] and daemon.status()["unregisteredProcesses"] == 0

        child = subprocess.Popen([*run, "--name", "tenant", "--", "sleep", "60"], env=env)
        daemon.wait_for(lambda: daemon.status()["groups"], 20)
        outsider = subprocess.Popen([spin, "1000", "60"], env=env, stdout=subprocess.DEVNULL)
        daemon.wait_for(lambda: daemon.status()["unregisteredProcesses"] == 1, 20)
        outsider.kill()
        outsider.wait()
        child.terminate()
        assert child.wait(20) == 128 + signal.SIGTERM
        assert subprocess.run([*run, "--", "sh", "-c", "exit 7"], env=env).returncode == 7
        too_much = subprocess.run([*run[:-1], "4Ti", "--", "true"], env=env, capture_output=True, text=True)
        assert too_much.returncode != 0 and "for groups" in too_much.stderr, too_much
    finally:
        daemon.stop()


def start_run(daemon, name, *program):
    """A program with a part of a GPU; says its own number first."""
    child = subprocess.Popen([MUSTER, "gpu", "run", "--folder", daemon.folder + "/run", "--memory", "1Gi", "--name", name,
                              "--", "sh", "-c", "echo $$; " + "; ".join(program)], stdout=subprocess.PIPE, text=True,
                             start_new_session=True)
    daemon.children.append(child)
    return child, int(child.stdout.readline())


def a_group_ends_with_its_program():
    daemon = Daemon()
    try:
        child, program = start_run(daemon, "a", "exec sleep 60")
        child.kill()
        child.wait()
        assert names(daemon) == ["a"], "the program still runs"
        os.kill(program, signal.SIGKILL)
        daemon.wait_for(lambda: not names(daemon))
        child, program = start_run(daemon, "b", "exec sleep 60")
        other, _ = start_run(daemon, "c", "exec sleep 60")
        daemon.wait_for(lambda: '"c"' in pathlib.Path(daemon.folder, "run/groups.json").read_text())
        kill_daemon(daemon)
        os.kill(program, signal.SIGKILL)
        assert child.wait(20) == 128 + signal.SIGKILL
        daemon.start()
        assert names(daemon) == ["c"], "a group whose program ended while there was no daemon"
        other.terminate()
        assert other.wait(20) == 128 + signal.SIGTERM and not names(daemon)
        nobody = daemon.group("d", "1Gi", owner=2 ** 31 - 1)
        assert nobody[0] == 404 and "no process" in nobody[1]["error"], nobody
    finally:
        daemon.stop()


def a_name_is_not_taken_from_who_has_it():
    daemon = Daemon()
    try:
        child, _ = start_run(daemon, "a", "exec sleep 60")
        second = subprocess.run([MUSTER, "gpu", "run", "--folder", daemon.folder + "/run", "--memory", "2Gi", "--name", "a",
                                 "--", "touch", daemon.folder + "/ran"], capture_output=True, text=True, timeout=60)
        assert second.returncode != 0 and "already" in second.stderr, second
        assert not os.path.exists(daemon.folder + "/ran")
        assert daemon.of_group("a")["requestBytes"] == GIB
        pid = daemon.ask("GET", "/v1/groups/a")[1]["owner"]
        assert daemon.ask("DELETE", f"/v1/groups/a?owner={pid + 1}")[0] == 404 and names(daemon) == ["a"]
        child.terminate()
        assert child.wait(20) == 128 + signal.SIGTERM
    finally:
        daemon.stop()


def signals_are_the_programs():
    daemon = Daemon()
    try:
        for number, program, expected in (
                (signal.SIGINT, ("exec sleep 60",), 130), (signal.SIGINT, ("trap 'exit 9' INT", "sleep 60 & wait"), 9),
                (signal.SIGHUP, ("trap 'exit 8' HUP", "sleep 60 & wait"), 8), (signal.SIGQUIT, ("exec sleep 60",), 131)):
            child, _ = start_run(daemon, "a", *program)
            time.sleep(0.2)
            if number == signal.SIGINT:
                os.killpg(child.pid, number)
            else:
                child.send_signal(number)
            assert child.wait(20) == expected, (number, program, child.returncode)
            assert not names(daemon)
        run = [MUSTER, "gpu", "run", "--folder", daemon.folder + "/run", "--memory", "1Gi", "--"]
        for program, expected in ((["/no/such"], 127), (["/"], 126), (["sh", "-c", "exit 7"], 7),
                                  (["sh", "-c", "kill -9 $$"], 137)):
            assert subprocess.run([*run, *program], stderr=subprocess.DEVNULL).returncode == expected, program
        assert not names(daemon)
    finally:
        daemon.stop()


def listener(path):
    """The process that listens at a socket."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return struct.unpack("3i", peer)[0]


def several_may_start_the_daemon():
    daemon = Daemon()
    try:
        env = pretended_driver(daemon)
        folder = daemon.folder + "/other"
        doctor = subprocess.run([MUSTER, "gpu", "doctor", "--folder", folder], env=env, capture_output=True, text=True,
                                timeout=60)
        assert doctor.returncode == 0 and "starts it" in doctor.stdout, doctor
        runs = [subprocess.Popen([MUSTER, "gpu", "run", "--folder", folder, "--memory", "1Gi", "--", "true"], env=env,
                                 stderr=subprocess.PIPE, text=True) for _ in range(4)]
        said = [run.communicate(timeout=60)[1] for run in runs]
        assert [run.returncode for run in runs] == [0] * 4, said
        doctor = subprocess.run([MUSTER, "gpu", "doctor", "--folder", folder], env=env, capture_output=True, text=True,
                                timeout=60)
        started = listener(folder + "/api.sock")
        found = pathlib.Path(f"/proc/{started}/cwd").resolve()
        os.kill(started, signal.SIGTERM)
        assert doctor.returncode == 0 and "ok  daemon" in doctor.stdout and "ok  watching" in doctor.stdout, doctor
        assert str(found) == "/", "the daemon holds the folder of who started it"
        daemon.wait_for(lambda: not os.path.exists(f"/proc/{started}"))
    finally:
        daemon.stop()


def doctor_says_what_is_wrong():
    daemon = Daemon()
    try:
        env = {**os.environ, "LD_LIBRARY_PATH": daemon.folder}
        doctor = [MUSTER, "gpu", "doctor", "--folder", daemon.folder + "/run"]
        run = subprocess.run(doctor, env=env, capture_output=True, text=True, timeout=60)
        assert run.returncode == 1 and "NO  driver" in run.stdout and "ok  daemon" in run.stdout, run
        shutil.copy(MUSTER, daemon.folder + "/muster")
        run = subprocess.run([daemon.folder + "/muster", *doctor[1:]], env=env, capture_output=True, text=True, timeout=60)
        assert run.returncode == 1 and "NO  tenants' library" in run.stdout, run
        run = subprocess.run([daemon.folder + "/muster", "gpu", "run", "--", "true"], capture_output=True, text=True,
                             timeout=60)
        assert run.returncode == 1 and "the program is not started" in run.stderr, run
        daemon.process.send_signal(signal.SIGSTOP)
        run = subprocess.run(doctor, env=env, capture_output=True, text=True, timeout=60)
        daemon.process.send_signal(signal.SIGCONT)
        assert run.returncode == 1 and "does not answer" in run.stdout, run
    finally:
        daemon.stop()


def the_daemon_of_another_user_says_so():
    if os.getuid() != 0:
        print("# only root can be another user")
        return
    daemon = Daemon()
    try:
        def ask(*words):
            return subprocess.run([MUSTER, "gpu", *words], user=65534, group=65534, extra_groups=[], capture_output=True,
                                  text=True, timeout=60)

        folder = ["--folder", daemon.folder + "/run"]
        assert "no permission to open" in ask("status", *folder).stderr
        os.chmod(daemon.folder, 0o755)
        for words in (("status", *folder), ("run", *folder, "--", "true")):
            run = ask(*words)
            assert run.returncode == 1 and "belongs to user 0" in run.stderr, run
        run = ask("doctor", *folder)
        assert run.returncode == 1 and "NO  daemon" in run.stdout and "belongs to user 0" in run.stdout, run
        run = ask("doctor", "--folder", daemon.folder + "/mine")
        assert "cannot write to " + daemon.folder in run.stdout, run
    finally:
        daemon.stop()


class Terminal:
    """A program on a terminal of a given size."""

    def __init__(self, command, rows, columns, **env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(command[0], command, {**os.environ, "TERM": "xterm", "NO_COLOR": "1", **env})
        self.output = ""

    def read(self, until):
        """What comes until `until` is in it; the last frame of it."""
        end = time.monotonic() + 20
        while not until(self.output):
            assert time.monotonic() < end, "waited in vain: " + repr(self.output[-3000:])
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.output += os.read(self.fd, 1 << 16).decode(errors="replace")
                except OSError:
                    return self.output
        return self.frame()

    def frame(self):
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.output.split("\x1b[H")[-1]).replace("\r", "")

    def press(self, keys, expected):
        """Waits for a frame that has `expected` in it, drawn after the keys."""
        start = len(self.output)
        os.write(self.fd, keys)
        return self.read(lambda output: any(expected in frame for frame in output[start:].split("\x1b[H")[1:]))

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def end(self):
        """The status, once everything has been said."""
        self.read(lambda output: False if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
                  else not select.select([self.fd], [], [], 0.1)[0])
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return status
ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"


def top_is_live_on_a_terminal():
    daemon = Daemon()
    try:
        for i in range(40):
            assert daemon.group(f"group-{i:02}", f"{i + 1}Mi", share=0.01, gpus=[i % 2])[0] == 201
        top = [MUSTER, "gpu", "top", "--folder", daemon.folder + "/run"]
        terminal = Terminal(top, 15, 60)
        terminal.read(lambda output: "1-8 of 40" in output)
        lines = terminal.frame().split("\n")
        assert len(lines) == 15 and max(map(len, lines)) <= 60, lines
        assert "1-17 of 40" in (terminal.resize(24, 80), terminal.read(lambda output: "1-17 of 40" in output))[1]
        terminal.press(b"\x1b[F", "24-40 of 40")
        terminal.press(b"n", "by name")
        terminal.press(b"?", "reverse the order")
        terminal.press(b"?", "group-39")
        child = daemon.tenant("hold", "group-07", 1 << 20)
        assert child.stdout.readline().startswith("held")
        terminal.press(b"pm\x1b[H", f"{child.pid} test-tenant")
        child.kill()
        terminal.read(lambda output: "0 processes" in output.split("\x1b[H")[-1])
        kill_daemon(daemon)
        terminal.read(lambda output: "no GPU daemon answers" in output.split("\x1b[H")[-1])
        daemon.start()
        terminal.read(lambda output: "2 GPUs, 40 groups" in output.split("\x1b[H")[-1])
        os.write(terminal.fd, b"q")
        assert terminal.end() == 0 and terminal.output.rstrip().endswith(LEAVE)
        terminal = Terminal(top, 4, 40)
        terminal.read(lambda output: output.count("\x1b[J") >= 2)
        for keys in (b"h", b"h"):
            before = terminal.output.count("\x1b[J")
            os.write(terminal.fd, keys)
            terminal.read(lambda output, before=before: output.count("\x1b[J") > before)
        assert all(frame.count("\n") <= 3 for frame in terminal.output.split("\x1b[H")), "a small terminal is scrolled"
        os.write(terminal.fd, b"q")
        assert terminal.end() == 0
        for how in (lambda one: os.write(one.fd, b"\x03"), lambda one: os.kill(one.pid, signal.SIGTERM)):
            terminal = Terminal(top, 50, 200)
            terminal.read(lambda output: "arrows scroll" in output)
            how(terminal)
            assert terminal.end() == 0 and terminal.output.rstrip().endswith(LEAVE), repr(terminal.output[-200:])
    finally:
        daemon.stop()


def status_prints_once():
    daemon = Daemon()
    try:
        status = [MUSTER, "gpu", "status", "--folder", daemon.folder + "/run"]
        assert "No groups yet" in subprocess.run(status, capture_output=True, text=True, timeout=60).stdout
        daemon.group("a" * 40, "1Gi")
        table = subprocess.run(status, capture_output=True, text=True, timeout=60).stdout
        assert "a" * 40 in table and "\x1b" not in table, table
        assert json.loads(subprocess.run([*status, "-o", "json"], capture_output=True, text=True,
                                         timeout=60).stdout)["groups"][0]["group"] == "a" * 40
        for more, env in (([], {}), (["-o", "json"], {}), ([], {"TERM": "dumb"})):
            terminal = Terminal([*status, *more], 24, 80, **env)
            assert terminal.end() == 0
            assert ENTER not in terminal.output and "aaaa" in terminal.output, repr(terminal.output)
        terminal = Terminal(status, 24, 80, NO_COLOR="")
        assert terminal.end() == 0 and "\x1b[32m" in terminal.output, repr(terminal.output)
    finally:
        daemon.stop()


TESTS = [
    programs_run_with_a_part_of_a_gpu,
    a_group_ends_with_its_program,
    a_name_is_not_taken_from_who_has_it,
    signals_are_the_programs,
    several_may_start_the_daemon,
    doctor_says_what_is_wrong,
    the_daemon_of_another_user_says_so,
    top_is_live_on_a_terminal,
    status_prints_once,
]
