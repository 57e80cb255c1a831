"""A network of the bed's own: a network namespace with a bridge, and an address for every pod that really runs.

Kubernetes refuses addresses of 127.0.0.0/8 as endpoints, and two pods may listen at the same port. So the bed moves into a
network namespace in which nothing but the bed exists; each pod has a namespace of its own, connected to the bridge. Nothing in
it reaches another machine, and the kernel removes all of it with the last process.
"""

import os
import subprocess
import sys
import time

ENTERED = "MUSTER_BED_NETWORK"
BRIDGE = "pods"
GATEWAY = "10.244.0.1"
PREFIX = 16
FIRST, LAST = 2, 65000


class NetworkError(Exception):
    """The namespace cannot be had; the text says why."""


def enter():
    """Runs this program again inside a network namespace of its own, unless it is in one already."""
    if not is_entered():
        as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
        command = ["unshare", "--net", *as_root, sys.executable, *sys.argv]
        os.environ[ENTERED] = "1"
        try:
            os.execvp(command[0], command)
        except OSError as error:
            raise NetworkError(f"unshare: {error}") from error
    if not has_bridge():
        ip("link", "set", "lo", "up")
        ip("link", "add", BRIDGE, "type", "bridge")
        ip("addr", "add", f"{GATEWAY}/{PREFIX}", "dev", BRIDGE)
        ip("link", "set", BRIDGE, "up")


def is_entered():
    return os.environ.get(ENTERED) == "1"


def has_bridge():
    return subprocess.run(["ip", "link", "show", BRIDGE], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def ip(*words):
    done = subprocess.run(["ip", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise NetworkError(f"ip {' '.join(words)}: {done.stdout.strip()}")


def address(number):
    """The address of pod `number`; they are used in turn, so that an old one is not met again soon."""
    place = FIRST + number % (LAST - FIRST)
    return f"10.244.{place // 256}.{place % 256}"


class PodNetwork:
    """The namespace of one pod, kept by a process that sleeps."""

    def __init__(self, number, spawn):
        self.address = address(number)
        self.device = f"pod{number}"
        self.keeper = spawn(["unshare", "--net", "sleep", "infinity"])
        try:
            self.wait_for_namespace()
            self.connect()
        except BaseException:
            self.close()
            raise

    @property
    def path(self):
        return f"/proc/{self.keeper.pid}/ns/net"

    def wait_for_namespace(self):
        own = os.readlink("/proc/self/ns/net")
        end = time.monotonic() + 30
        while os.readlink(self.path) == own:
            if time.monotonic() > end or self.keeper.poll() is not None:
                raise NetworkError("unshare has made no network namespace")
            time.sleep(0.005)

    def connect(self):
        inside = ["nsenter", f"--net={self.path}", "ip"]
        ip("link", "add", self.device, "master", BRIDGE, "type", "veth", "peer", "name", "eth0", "netns",
           str(self.keeper.pid))
        ip("link", "set", self.device, "up")
        for words in (["link", "set", "lo", "up"], ["addr", "add", f"{self.address}/{PREFIX}", "dev", "eth0"],
                      ["link", "set", "eth0", "up"], ["route", "add", "default", "via", GATEWAY]):
            subprocess.run([*inside, *words], check=True)

    def close(self):
        """The kernel removes the namespace and both ends of the cable when nothing runs in it any more."""
        self.keeper.kill()
        self.keeper.wait()
