"""A server that is killed, clients that remember what they were told, and the comparison of both."""

import hashlib
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

import lossy

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MUSTER = os.environ.get("MUSTER", str(ROOT / "build" / "asan" / "muster"))
PATIENCE = 60
MAPS = "/api/v1/namespaces/default/configmaps"
CUT_OFF = (http.client.HTTPException, OSError, ValueError)
ABSENT = (0, None)


class Connection(http.client.HTTPConnection):
    """HTTP over the socket of a state folder."""

    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)

    def ask(self, method, path, body=None, kind="application/json"):
        self.request(method, path, None if body is None else json.dumps(body), {"Content-Type": kind})
        answer = self.getresponse()
        return answer.status, json.loads(answer.read() or b"{}")


class Server:
    """`muster up` in a folder, which outlives its processes; of all parts only the API unless other flags are given."""

    def __init__(self, folder, disk=None, room=None, flags=("--api-only", "--listen=0")):
        self.folder, self.state, self.disk, self.room = folder, folder / "state", disk, room
        self.flags = flags
        self.journal = folder / "journal"
        self.log = folder / "log"
        self.process = None

    def environment(self):
        if not self.disk:
            return None
        return {**os.environ, "LD_PRELOAD": lossy.preload(MUSTER, self.disk), "LOSSY_FOLDER": str(self.state),
                "LOSSY_JOURNAL": str(self.journal), **({"LOSSY_ROOM": str(self.room)} if self.room else {})}

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([MUSTER, "up", "--foreground", f"--state={self.state}", *self.flags],
                                            stdout=log, stderr=log, env=self.environment())

    def connect(self):
        return Connection(self.state / "api.sock")

    def wait_ready(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise AssertionError(f"the server has ended: {self.log.read_text()[-2000:]}")
            try:
                if self.connect().ask("GET", "/api/v1/namespaces/default")[0] == 200:
                    return
            except CUT_OFF:
                pass
            time.sleep(0.01)
        raise AssertionError("the server is not ready")

    def kill(self, chance):
        """Kills it. A disk that loses things does so now; returns how many changes it had not been told to keep."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        return lossy.lose(self.journal, chance) if self.disk else 0


def contents(serial, size):
    """What one write puts into an object; half of it would be noticed."""
    text = (str(serial) + "-") * (size // (len(str(serial)) + 1) + 1)
    return {"serial": str(serial), "text": text, "sum": hashlib.sha1(text.encode()).hexdigest()}


def state_of(item):
    """(version, serial) of an object whose contents are whole."""
    data = item["data"]
    if hashlib.sha1(data["text"].encode()).hexdigest() != data["sum"] or not data["text"].startswith(data["serial"]):
        raise AssertionError(f"{item['metadata']['name']} is half of one write and half of another")
    return int(item["metadata"]["resourceVersion"]), int(data["serial"])


class Record:
    """What is known of one object: its acknowledged state, and the write whose answer has not come."""

    def __init__(self):
        self.state = ABSENT
        self.pending = None  # serial of the write; None for a removal
        self.has_pending = False

    def check(self, name, found):
        if found == self.state:
            return
        if not self.has_pending:
            raise AssertionError(f"{name} is {found}, and was acknowledged as {self.state}")
        if found[1] != self.pending or (found[0] <= self.state[0] and found != ABSENT):
            raise AssertionError(f"{name} is {found}: neither {self.state} nor the write {self.pending} under way")


class Writer(threading.Thread):
    """A client with objects of its own, which writes until it is told to stop or nobody answers."""

    def __init__(self, server, number, chance, records, large=20):
        super().__init__(daemon=True)
        self.connection, self.number, self.chance, self.records = server.connect(), number, chance, records
        self.large = large
        self.is_told = threading.Event()
        self.writes, self.refused, self.problem = 0, 0, None

    def run(self):
        try:
            while not self.is_told.is_set():
                self.write(f"w{self.number}-{self.chance.randrange(12)}")
        except CUT_OFF:
            pass
        except Exception as problem:  # pylint: disable=broad-except
            self.problem = problem

    def write(self, name):
        record = self.records.setdefault(name, Record())
        serial = self.chance.randrange(1 << 40)
        size = 150_000 if self.chance.randrange(self.large) == 0 else self.chance.randrange(3000)
        request = self.request(name, record, serial, size)
        record.has_pending = True
        record.pending = None if request[0] == "DELETE" else serial
        status, answer = self.connection.ask(*request)
        if status >= 500:
            # Refused as a whole: what comes next shows whether it is not there.
            self.refused += 1
        elif status >= 300:
            raise AssertionError(f"{request[0]} {name}: {status} {answer.get('message')}")
        else:
            record.state = ABSENT if request[0] == "DELETE" else state_of(answer)
            self.writes += 1
        record.has_pending = False

    def request(self, name, record, serial, size):
        body = {"metadata": {"name": name}, "data": contents(serial, size)}
        if record.state == ABSENT:
            return "POST", MAPS, body
        how = self.chance.randrange(4)
        if how == 0:
            return "DELETE", f"{MAPS}/{name}"
        if how == 1:
            return "PATCH", f"{MAPS}/{name}", body, "application/merge-patch+json"
        if how == 2:
            body["metadata"]["resourceVersion"] = str(record.state[0])
        return "PUT", f"{MAPS}/{name}", body


class Watcher(threading.Thread):
    """A client that follows all objects from a version on."""

    def __init__(self, server, version):
        super().__init__(daemon=True)
        self.connection, self.version = server.connect(), version
        self.last, self.events, self.error, self.problem = {}, 0, None, None
        self.is_sought = threading.Event()
        self.sought = 0  # a version to look out for

    def run(self):
        try:
            self.connection.request("GET", f"{MAPS}?watch=1&resourceVersion={self.version}&timeoutSeconds=600")
            answer = self.connection.getresponse()
            while line := answer.readline():
                self.take(json.loads(line))
        except CUT_OFF:
            pass
        except Exception as problem:  # pylint: disable=broad-except
            self.problem = problem
        self.is_sought.set()

    def take(self, event):
        item = event["object"]
        if event["type"] == "ERROR":
            self.error = item["code"]
            return
        version = int(item["metadata"]["resourceVersion"])
        if version <= self.version:
            raise AssertionError(f"a watch goes from version {self.version} to {version}")
        self.version = version
        self.events += 1
        self.last[item["metadata"]["name"]] = (version, event["type"] == "DELETED")
        if self.sought and version >= self.sought:
            self.is_sought.set()

    def hang_up(self):
        """Ends it from another thread, which may not touch what the thread reads from."""
        self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.join(PATIENCE)

    def check(self, found):
        """Whatever was seen is on the disk."""
        if self.problem:
            raise self.problem
        for name, (version, is_gone) in self.last.items():
            now = found.get(name, ABSENT)
            if is_gone and now != ABSENT and now[0] < version:
                raise AssertionError(f"{name} was seen to go at {version} and is there with {now[0]}")
            if not is_gone and now != ABSENT and now[0] < version:
                raise AssertionError(f"{name} was seen with version {version} and is there with {now[0]}")


def look(connection):
    """All objects, and the version of the list."""
    status, answer = connection.ask("GET", MAPS)
    if status != 200:
        raise AssertionError(f"list: {status} {answer.get('message')}")
    found = {item["metadata"]["name"]: state_of(item) for item in answer["items"]
             if item["metadata"]["name"].startswith("w")}
    return found, int(answer["metadata"]["resourceVersion"])
