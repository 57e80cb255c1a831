"""What runs in the emulated machine, as root (see run): Muster under its units, for the system and for a user."""

import contextlib
import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import sys
import time

import suite
from suite import expect, expect_in

SHARE = pathlib.Path("/mnt")
GROUPS = pathlib.Path("/sys/fs/cgroup")
PATIENCE = 300
PROCESSES_MAX = 40
USER = "ada"
tests = suite.Suite()


def run(*words, check=True, **options):
    done = subprocess.run(words, text=True, capture_output=True, timeout=PATIENCE, check=False, **options)
    if check and done.returncode:
        raise AssertionError(f"{' '.join(map(str, words))}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def wait(is_done, what):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with contextlib.suppress(AssertionError, OSError, ValueError, KeyError, IndexError):
            if found := is_done():
                return found
        time.sleep(0.5)
    raise AssertionError(f"not {what} within {PATIENCE} s")


class Machine:
    """A running Muster under its unit, of root or of a user."""

    def __init__(self, state, user=None):
        self.state, self.user = pathlib.Path(state), user

    def command(self, *words):
        if not self.user:
            return words
        uid = pwd.getpwnam(self.user).pw_uid
        return ("setpriv", f"--reuid={uid}", f"--regid={uid}", "--init-groups", "env", f"HOME=/home/{self.user}",
                f"XDG_RUNTIME_DIR=/run/user/{uid}", f"USER={self.user}", *words)

    def systemctl(self, *words):
        return run(*self.command("systemctl", *(["--user"] if self.user else []), *words))

    def kubectl(self, *words, feed=None):
        return run("/mnt/kubectl", f"--kubeconfig={self.state}/kubeconfig", *words, input=feed)

    def wait_until_ready(self):
        wait(lambda: (self.state / "kubeconfig").exists() and "True" in self.condition("Ready"), "ready")

    def condition(self, name):
        node = json.loads(self.kubectl("get", "nodes", "-o", "json"))["items"][0]
        return next(f"{one['status']} {one['message']}" for one in node["status"]["conditions"] if one["type"] == name)

    def start_pod(self, name, script, limits=None, **spec):
        container = {"name": "main", "image": "none", "command": ["/usr/bin/python3", "-c", script],
                     "resources": {"limits": limits or {}}}
        self.kubectl("create", "-f", "-", feed=json.dumps({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"restartPolicy": "Never", "containers": [container], **spec}}))

    def pod(self, name):
        return json.loads(self.kubectl("get", "pod", name, "-o", "json"))

    def ended(self, name):
        pod = wait(lambda: (one := self.pod(name))["status"]["phase"] in ("Succeeded", "Failed") and one, f"over: {name}")
        return pod["status"]["containerStatuses"][0]["state"]["terminated"]

    def started(self, name):
        return wait(lambda: (one := self.pod(name))["status"]["phase"] == "Running" and one, f"running: {name}")

    def logs(self, name):
        return self.kubectl("logs", name)

    def group(self, name):
        """The control group of the pod's container, where the kernel says that its processes are."""
        uid = self.pod(name)["metadata"]["uid"]
        return next(GROUPS.rglob(f"{uid}/main"))

    def number(self, name):
        return int((self.group(name) / "cgroup.procs").read_text().split()[0])


SYSTEM = Machine("/var/lib/muster")
OWN = Machine(f"/home/{USER}/.local/state/muster", USER)

FORKS = """
import os, time
count = 0
try:
    while count < 1000:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        count += 1
except OSError as error:
    print(count, type(error).__name__, flush=True)
"""
OPENS = """
import errno, os
for name in ("nvidia0", "nvidia1", "nvidiactl", "null"):
    try:
        os.close(os.open("/dev/" + name, os.O_RDWR))
        print(name, "opened")
    except OSError as error:
        print(name, errno.errorcode[error.errno])
"""


def start_system():
    shutil.copytree(SHARE / "lib", "/usr/lib", dirs_exist_ok=True)
    extra = pathlib.Path("/run/systemd/system/muster.service.d")
    extra.mkdir(parents=True)
    # The pretended driver has two GPUs; leaks are looked for where programs end by themselves.
    (extra / "test.conf").write_text(f"""[Service]
Environment=LD_LIBRARY_PATH=/opt/driver FAKE_GPU_STATE=/opt/driver/state FAKE_GPU_COUNT=2 ASAN_OPTIONS=detect_leaks=0
ExecStart=
ExecStart=/usr/bin/muster up --foreground --container-processes {PROCESSES_MAX}
""")
    run("systemctl", "daemon-reload")
    run("systemctl", "start", "muster")
    SYSTEM.wait_until_ready()


@tests.test("the system unit starts Muster, which enforces limits and access to GPUs")
def test_start(_):
    start_system()
    expect(SYSTEM.condition("LimitsEnforced"), "True limits of CPU, memory and processes and access to GPUs are enforced")


@tests.test("a container that takes more memory than its limit is ended")
def test_memory(_):
    SYSTEM.start_pod("hungry", "x = bytearray(300 << 20); print('taken')", {"memory": "64Mi"})
    found = SYSTEM.ended("hungry")
    expect((found["reason"], found["exitCode"]), ("OOMKilled", 137))


@tests.test("a container gets no more CPU time than its limit")
def test_cpu(_):
    SYSTEM.start_pod("busy", "while True: pass", {"cpu": "200m"})
    SYSTEM.started("busy")
    group = SYSTEM.group("busy")
    expect((group / "cpu.max").read_text().strip(), "20000 100000", "cpu.max")

    def throttled():
        return int(re.search(r"nr_throttled (\d+)", (group / "cpu.stat").read_text())[1])
    wait(lambda: throttled() > 3, "throttled")
    SYSTEM.kubectl("delete", "pod", "busy", "--grace-period=2")


@tests.test("a container has no more processes than its limit")
def test_processes(_):
    SYSTEM.start_pod("forks", FORKS)
    expect(SYSTEM.ended("forks")["exitCode"], 0, "exit code")
    count, error = SYSTEM.logs("forks").split()
    expect((0 < int(count) < PROCESSES_MAX, error), (True, "BlockingIOError"), f"{count} processes")


@tests.test("a container opens the device files of its own GPUs and of no others")
def test_devices(_):
    for name, minor in (("nvidia0", 0), ("nvidia1", 1), ("nvidiactl", 255)):
        os.mknod(f"/dev/{name}", 0o666 | 0o020000, os.makedev(195, minor))
        os.chmod(f"/dev/{name}", 0o666)
    # There is no driver behind the files, which the kernel says only to those that may open them.
    SYSTEM.start_pod("without", OPENS)
    SYSTEM.start_pod("with", OPENS, {"nvidia.com/gpu": "1"})
    for name in ("without", "with"):
        expect(SYSTEM.ended(name)["exitCode"], 0, f"exit code of {name}")
    expect(SYSTEM.logs("without").splitlines(), ["nvidia0 EPERM", "nvidia1 EPERM", "nvidiactl ENXIO", "null opened"])
    found = SYSTEM.logs("with").splitlines()
    expect((sorted(line.split()[1] for line in found[:2]), found[2:]), (["ENXIO", "EPERM"], ["nvidiactl ENXIO", "null opened"]))


def check_restarts(machine, unit_of):
    machine.start_pod("long", "import time\nprint('begun', flush=True)\ntime.sleep(100000)", {"memory": "256Mi"})
    machine.started("long")
    number = machine.number("long")
    for words in (("restart", "muster"), ("kill", "--kill-who=main", "--signal=KILL", "muster")):
        before = machine.systemctl("show", "--property=MainPID", "--value", "muster")
        machine.systemctl(*words)
        wait(lambda: machine.systemctl("show", "--property=MainPID", "--value", "muster") not in (before, "0"), "started again")
        machine.wait_until_ready()
        pod = machine.started("long")
        expect((machine.number("long"), pod["status"]["containerStatuses"][0]["restartCount"]), (number, 0), " ".join(words))
        expect(machine.condition("LimitsEnforced").split()[0], "True", "limits")
    expect_in("muster-pods.service", str(machine.group("long")), unit_of)
    machine.kubectl("delete", "pod", "long", "--grace-period=2")
    wait(lambda: not pathlib.Path("/proc", str(number)).exists(), "ended")


@tests.test("pods go on while the system unit is started again and its daemon is killed")
def test_restarts(_):
    check_restarts(SYSTEM, "the system's group")


@tests.test("a unit that is stopped leaves no daemon, and starts again with its objects")
def test_stop(_):
    run("systemctl", "stop", "muster")
    expect(run("systemctl", "show", "--property=ActiveState", "--value", "muster"), "inactive")
    run("systemctl", "start", "muster")
    SYSTEM.wait_until_ready()
    expect(SYSTEM.pod("hungry")["status"]["phase"], "Failed")
    run("systemctl", "stop", "muster")


@tests.test("the user unit enforces limits, and pods go on while it is started again")
def test_user(_):
    run("useradd", "--create-home", "--shell", "/bin/sh", USER)
    run("loginctl", "enable-linger", USER)
    wait(lambda: pathlib.Path(f"/run/user/{pwd.getpwnam(USER).pw_uid}/bus").exists(), "a bus of the user")
    OWN.systemctl("daemon-reload")
    OWN.systemctl("start", "muster")
    OWN.wait_until_ready()
    expect(OWN.condition("LimitsEnforced"), "True limits of CPU, memory and processes are enforced")
    OWN.start_pod("hungry", "x = bytearray(300 << 20); print('taken')", {"memory": "64Mi"})
    expect(OWN.ended("hungry")["reason"], "OOMKilled")
    check_restarts(OWN, "the user's group")
    OWN.systemctl("stop", "muster")


def main():
    shutil.copy(SHARE / "muster", "/usr/bin/muster")
    pathlib.Path("/opt/driver").mkdir(parents=True, exist_ok=True)
    shutil.copy(SHARE / "libnvidia-ml.so.1", "/opt/driver")
    with open(SHARE / "result.tap", "w", encoding="utf-8") as result:
        with contextlib.redirect_stdout(result):
            tests.run(None, sys.argv[1:])
    (SHARE / "ended").touch()


if __name__ == "__main__":
    main()
