"""`muster up` with pretended nodes in place of the test bed: the same tests run on both."""

import http.client
import os
import pathlib
import socket

import bed
import build
import client

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MUSTER = os.environ.get("MUSTER", str(ROOT / "build" / "asan" / "muster"))
NAME = "muster"


class SocketConnection(http.client.HTTPConnection):
    """HTTP over the socket in the state folder."""

    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class SocketClient(client.Client):
    """The kernel tells the server who we are."""

    def __init__(self, path):  # pylint: disable=super-init-not-called
        self.path, self.token, self.connection = path, None, None

    def connect(self, timeout=60):
        connection = SocketConnection(self.path, timeout)
        connection.connect()
        return connection


class Machine(bed.Bed):
    """One server, with everything in its process."""

    def __init__(self, nodes):
        super().__init__()
        self.nodes = nodes

    def __enter__(self):
        build.build(["kubectl"])
        self.processes = bed.processes.Processes()
        self.folder = self.processes.folder
        self.state = self.folder / "state"
        try:
            self.link_tools()
            (self.folder / "bin" / "muster").symlink_to(MUSTER)
            self.api = self.client()
            self.spawn(NAME, MUSTER, "up", "--foreground", f"--state={self.state}", *self.flags())
            self.wait_ready()
        except BaseException:
            self.processes.close()
            raise
        return self

    def flags(self):
        """What this machine differs in."""
        return [f"--fake-nodes={self.nodes}"]

    def client(self, token=None):
        return SocketClient(str(self.state / "api.sock"))

    @property
    def kubeconfig(self):
        return str(self.state / "kubeconfig")

    def environment(self, kubeconfig=None):
        inherited = self.processes.environment()
        return {**inherited, "KUBECONFIG": kubeconfig or self.kubeconfig, "HOME": str(self.folder),
                "PATH": f"{self.folder / 'bin'}:{inherited['PATH']}"}

    def wait_ready(self):
        def look():
            try:
                return self.api.get("/readyz") == "ok"
            except (client.ApiError, http.client.HTTPException, OSError):
                return False

        self.processes.wait_until(look, bed.START_SECONDS, "the server is ready", NAME)

    def start(self, name):
        self.processes.start(name)
        self.wait_ready()
