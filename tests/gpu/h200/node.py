"""A daemon on the machine, and tenants on it, for the measurements. FOLDER is what tests/gpu/h200/pack made."""

import http.client
import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("daemon", timeout=20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Daemon:
    def __init__(self, folder, config=None):
        self.pack = pathlib.Path(folder).resolve()
        self.folder = tempfile.mkdtemp(prefix="muster-h200-")
        self.log = open(self.folder + "/log", "wb")
        self.config = config
        self.process = None
        self.start()

    def start(self):
        env = {**os.environ, "LD_LIBRARY_PATH": f"{self.pack}/lib:{os.environ.get('LD_LIBRARY_PATH', '')}"}
        more = []
        if self.config:
            pathlib.Path(self.folder, "config.yaml").write_text(json.dumps(self.config))
            more = ["--config", self.folder + "/config.yaml"]
        self.process = subprocess.Popen([str(self.pack / "muster"), "gpud", *more, "--folder", self.folder], env=env,
                                        stderr=self.log, stdout=self.log)
        for _ in range(1000):
            try:
                self.ask("GET", "/healthz")
                return
            except OSError:
                time.sleep(0.01)
        sys.exit("the daemon does not start: " + pathlib.Path(self.folder, "log").read_text())

    def ask(self, method, path, body=None):
        connection = Connection(self.folder + "/api.sock")
        connection.request(method, path, json.dumps(body) if body else None)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status >= 300:
            sys.exit(f"{method} {path}: {text}")
        return text

    def group(self, name, share, mode, memory="4Gi"):
        self.ask("PUT", "/v1/groups/" + name, {"name": name, "gpus": [0], "memory": {"request": memory},
                                               "compute": {"share": share, "mode": mode}})

    def remove(self, *names):
        for name in names:
            self.ask("DELETE", "/v1/groups/" + name)

    def status(self):
        return json.loads(self.ask("GET", "/v1/status"))

    def groups(self):
        return {group["group"]: group for group in self.status()["groups"]}

    def handovers(self):
        """Counts of changes of hands by their upper bound in seconds."""
        found = re.findall(r'muster_gpu_handover_seconds_bucket\{.*?le="([^"]+)"\} (\d+)', self.ask("GET", "/metrics"))
        return {float(bound): int(count) for bound, count in found}

    def socket(self, group):
        return f"{self.folder}/groups/{group}/tenant.sock"

    def environment(self, group):
        """Of a tenant through the preloaded library."""
        return {**os.environ, "LD_PRELOAD": str(self.pack / "libmuster-gpu.so"),
                "MUSTER_GPU_SOCKET": self.socket(group)}

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


def monotonic():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def row(name, text):
    print(f"{name:<52} {text}", flush=True)


class Bench:
    """Runs spin, alone and side by side; what it finds is work done, of what the same program does alone."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.spin = str(daemon.pack / "spin")
        self.rate = re.match(r"rate ([\d.]+)", subprocess.run([self.spin, "0", "0"], capture_output=True, text=True,
                                                              check=True).stdout)[1]
        self.alone = {}
        print(f"# {self.rate} iterations a microsecond")

    def start(self, group, us, seconds, at, *options):
        env = self.daemon.environment(group) if group else None
        return subprocess.Popen([self.spin, str(us), str(seconds), f"at={at}", f"rate={self.rate}", *options], env=env,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    @staticmethod
    def finish(process, us):
        """The share of the GPU's time that its work took, and the longest gap."""
        out, err = process.communicate(timeout=120)
        found = re.match(r"kernels (\d+) seconds ([\d.]+) gap ([\d.]+)", out)
        if not found:
            sys.exit(f"spin failed: {out}{err}")
        kernels, seconds, gap = int(found[1]), float(found[2]), float(found[3])
        return kernels * us / 1e6 / seconds, gap

    @staticmethod
    def steadily(process, us):
        """The same from the first end of a kernel to the last: without what the window cuts off, which is much of a long one."""
        found = re.search(r"rate ([\d.]+)$", process.communicate(timeout=120)[0])
        return float(found[1]) * us / 1e6

    def solo(self, us, *more):
        """What the kernels do of their nominal work without the library; that of short ones depends on the processor too,
        and scatters by one percent."""
        if (us, more) not in self.alone:
            times, seconds = (5, 1.5) if us < 1000 else (1, 4 if us >= 100000 else 2)
            self.alone[us, more] = statistics.median(
                self.steadily(self.start(None, us, seconds, 0, "warm=0.2", "tail=0", *more), us) for _ in range(times))
        return self.alone[us, more]

    def together(self, seconds, *tenants):
        """Runs (group, us, options) side by side; for each its share of what it does alone, and the longest gap."""
        alone = [self.solo(us, *[each for each in more if not each.startswith(("on=", "off=", "trace="))])
                 for _, us, more in tenants]
        at = monotonic() + int(2e9)
        running = [self.start(group, us, seconds, at, *more) for group, us, more in tenants]
        found = [self.finish(process, us) for process, (_, us, _) in zip(running, tenants)]
        return [(share / one, gap) for (share, gap), one in zip(found, alone)]
