"""The two servers that get the same requests: the real kube-apiserver of the test bed, and `muster up`."""

import http.client
import json
import os
import pathlib
import socket
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MUSTER = pathlib.Path(os.environ.get("BUILD", ROOT / "build" / "asan")) / "muster"
PATIENCE = 120

# Admission plugins whose work has no counterpart in local mode: docs/design/local.md has the reasons.
WITHOUT = ["ServiceAccount", "StorageObjectInUseProtection", "TaintNodesByCondition"]


class Answer:
    """What a server said."""

    def __init__(self, status, headers, data):
        self.status = status
        self.headers = headers
        self.data = data
        try:
            self.body = json.loads(data)
        except ValueError:
            self.body = data.decode(errors="replace")


class Side:
    """A connection to one of the servers; sub-classes open it."""

    name = ""

    def __init__(self):
        self.connection = None

    def connect(self):
        raise NotImplementedError

    def headers(self):
        return {}

    def log(self):
        """What the server has written about itself."""
        return ""

    def send(self, method, path, body=None, kind="application/json", accept="application/json"):
        """Sends a request, once more where an idle connection has been closed meanwhile."""
        headers = {**self.headers(), "Accept": accept}
        if body is not None and kind:
            headers["Content-Type"] = kind
        data = json.dumps(body) if isinstance(body, (dict, list)) else body
        for is_last in (False, True):
            if not self.connection:
                self.connection = self.connect()
            try:
                self.connection.request(method, path, data, headers)
                answer = self.connection.getresponse()
                return Answer(answer.status, answer.headers, answer.read())
            except (http.client.HTTPException, OSError):
                self.close()
                if is_last:
                    raise
        return None

    def watch(self, path, accept, patience, begun):
        """The whole of an answer that ends by itself, on a connection of its own; an exception is returned. `begun`, an Event,
        is set when the server has begun to answer."""
        connection = None
        try:
            connection = self.connect()
            connection.sock and connection.sock.settimeout(patience)
            connection.request("GET", path, None, {**self.headers(), "Accept": accept})
            answer = connection.getresponse()
            begun.set()
            return Answer(answer.status, answer.headers, answer.read())
        except (http.client.HTTPException, OSError) as error:
            return error
        finally:
            begun.set()
            if connection:
                connection.close()

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None


class Real(Side):
    """The API server of a bed."""

    name = "kube-apiserver"

    def __init__(self, cluster):
        super().__init__()
        self.client = cluster.client()

    def connect(self):
        return self.client.connect(PATIENCE)

    def headers(self):
        return {"Authorization": f"Bearer {self.client.token}"}


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Local(Side):
    """`muster up` in a folder of its own, for as long as the with-statement lasts."""

    name = "muster"

    def __init__(self, *flags):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="muster-local-")
        self.state = pathlib.Path(self.folder.name) / "state"
        self.flags = flags
        self.process = None

    def __enter__(self):
        self.muster("up", *self.flags)
        return self

    def __exit__(self, *_):
        self.close()
        try:
            self.muster("down")
        finally:
            self.folder.cleanup()

    def restart(self):
        """Ends and starts it again: changes up to here are no longer in its history, as in a server that has run long."""
        self.close()
        self.muster("down")
        self.muster("up", *self.flags)

    def muster(self, *words, check=True):
        return subprocess.run([MUSTER, *words, "--state", self.state], check=check, timeout=PATIENCE,
                              capture_output=True, text=True)

    def connect(self):
        return UnixConnection(str(self.state / "api.sock"))

    def log(self):
        return (self.state / "muster.log").read_text()
