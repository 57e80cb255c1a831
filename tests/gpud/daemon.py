"""A daemon under test, its tenants, and the pretended driver."""

import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

BUILD = pathlib.Path(os.environ.get("BUILD", "build/asan"))
MUSTER = os.environ.get("MUSTER", str(BUILD / "muster"))
TENANT = str(BUILD / "gpud-tenant")
GIB = 1 << 30
UUIDS = ["GPU-00000000-0000-0000-0000-000000000001", "GPU-00000000-0000-0000-0000-000000000002"]


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(20)
        self.sock.connect(self.path)


class Daemon:
    """A daemon in a folder of its own, and the tenants that were started on it."""

    def __init__(self, memory_settings=None, options=None, **settings):
        self.options = options or {}
        self.folder = tempfile.mkdtemp(prefix="muster-gpud-")
        self.config = os.path.join(self.folder, "config.yaml")
        self.children = []
        text = {"folder": self.folder + "/run", "gpus": [{"uuid": uuid, "memory": "80Gi"} for uuid in UUIDS]}
        text.update(settings, **({"memory": memory_settings} if memory_settings else {}))
        pathlib.Path(self.config).write_text(json.dumps(text))
        self.log = open(os.path.join(self.folder, "log"), "wb")
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen([MUSTER, "gpud", "-c", self.config], stderr=self.log, stdout=self.log,
                                        start_new_session=True, **self.options)
        for _ in range(400):
            try:
                return self.ask("GET", "/healthz")
            except OSError:
                time.sleep(0.025)
        raise AssertionError("the daemon does not answer: " + self.complaints())

    def complaints(self):
        return pathlib.Path(self.folder, "log").read_text(errors="replace")[-2000:]

    def ask(self, method, path, body=None):
        connection = UnixConnection(self.folder + "/run/api.sock")
        connection.request(method, path, json.dumps(body) if body is not None else None)
        answer = connection.getresponse()
        data = answer.read().decode()
        connection.close()
        if answer.getheader("Content-Type") == "application/json":
            data = json.loads(data)
        return answer.status, data

    def group(self, name, request, limit=None, share=0.5, mode="fair", gpus=(0,), **more):
        spec = {"name": name, "gpus": list(gpus), "memory": {"request": request, "limit": limit or request},
                "compute": {"share": share, "mode": mode}, **more}
        return self.ask("PUT", "/v1/groups/" + name, spec)

    def socket(self, name):
        return f"{self.folder}/run/groups/{name}/tenant.sock"

    def tenant(self, mode, name, *numbers):
        child = subprocess.Popen([TENANT, mode, self.socket(name), *map(str, numbers)], stdout=subprocess.PIPE,
                                 stderr=self.log, text=True)
        self.children.append(child)
        return child

    def status(self):
        return self.ask("GET", "/v1/status")[1]

    def of_group(self, name):
        return next(group for group in self.status()["groups"] if group["group"] == name)

    def taken(self):
        return self.status()["gpus"][0]["takenBytes"]

    def wait_for(self, what, seconds=10):
        end = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < end, "waited in vain; " + self.complaints()
            time.sleep(0.01)

    def stop(self):
        for child in self.children:
            child.kill()
        for child in self.children:
            child.wait()
            child.stdout.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(20)
        assert status != 0 or not os.path.exists(self.folder + "/run/api.sock"), "who comes later takes it for a daemon"
        self.log.close()
        complaints = self.complaints()
        shutil.rmtree(self.folder)
        assert status == 0, f"the daemon ended with {status}: {complaints}"
        assert "Sanitizer" not in complaints and "runtime error" not in complaints, complaints


def pretended_driver(daemon):
    """The environment in which libcuda and NVML are the pretended ones of tests/gpu."""
    folder = pathlib.Path(daemon.folder, "driver")
    folder.mkdir()
    shutil.copy(BUILD / "tests/gpu/libfake-cuda.so", folder / "libcuda.so.1")
    shutil.copy(BUILD / "tests/gpu/libfake-nvml.so", folder / "libnvidia-ml.so.1")
    return {**os.environ, "LD_LIBRARY_PATH": str(folder), "FAKE_GPU_STATE": str(folder / "state")}


def restart_on_pretended_driver(daemon, interval, watch=None, compute=None, park=None, mig=None, memory=None, **more):
    """The daemon again, with that driver; returns the environment for programs."""
    env = {**pretended_driver(daemon), **more}
    daemon.process.terminate()
    daemon.process.wait()
    pathlib.Path(daemon.config).write_text(json.dumps({"folder": daemon.folder + "/run",
                                                       "memory": {"reserve": "64Mi", "context": "64Mi", **(memory or {})},
                                                       "watch": {"interval": interval, **(watch or {})},
                                                       "compute": compute or {}, "park": park or {}, "mig": mig or {}}))
    new = {name: value for name, value in env.items() if name not in os.environ}
    os.environ.update(new)
    try:
        daemon.start()
    finally:
        for name in new:
            del os.environ[name]
    assert daemon.status()["watchesDriver"]
    return env


def kill_daemon(daemon):
    daemon.process.kill()
    daemon.process.wait()


def names(daemon):
    return [group["group"] for group in daemon.status()["groups"]]
