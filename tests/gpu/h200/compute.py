#!/usr/bin/env python3
"""Shares of compute on a real GPU: compute.py FOLDER [NAME...]

FOLDER is what tests/gpu/h200/pack made: the program, the library and their libraries. Each row is one measurement: what
was promised, what was found, how far off. Names: strict, long, graph, fair, three, idle, and check for those that
need long windows. Without any all but the last run, in about seven minutes. The GPU's settings are never changed."""

import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(sys.argv[1]).resolve()
SECONDS = float(os.environ.get("SECONDS_EACH", "6"))
SPIN = str(FOLDER / "spin")
MEMORY = os.environ.get("GROUP_MEMORY", "4Gi")


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("daemon", timeout=20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Daemon:
    def __init__(self, config=None):
        self.folder = tempfile.mkdtemp(prefix="muster-compute-")
        self.log = open(self.folder + "/log", "wb")
        env = {**os.environ, "LD_LIBRARY_PATH": f"{FOLDER}/lib:{os.environ.get('LD_LIBRARY_PATH', '')}"}
        more = []
        if config:
            pathlib.Path(self.folder, "config.yaml").write_text(json.dumps(config))
            more = ["--config", self.folder + "/config.yaml"]
        self.process = subprocess.Popen([str(FOLDER / "muster"), "gpud", *more, "--folder", self.folder], env=env,
                                        stderr=self.log, stdout=self.log)
        for _ in range(200):
            try:
                self.ask("GET", "/healthz")
                return
            except OSError:
                time.sleep(0.05)
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

    def group(self, name, share, mode):
        self.ask("PUT", "/v1/groups/" + name, {"name": name, "gpus": [0], "memory": {"request": MEMORY},
                                               "compute": {"share": share, "mode": mode}})

    def remove(self, *names):
        for name in names:
            self.ask("DELETE", "/v1/groups/" + name)

    def status(self):
        return json.loads(self.ask("GET", "/v1/status"))

    def handovers(self):
        """Counts of changes of hands by their upper bound in seconds."""
        found = re.findall(r'muster_gpu_handover_seconds_bucket\{.*?le="([^"]+)"\} (\d+)', self.ask("GET", "/metrics"))
        return {float(bound): int(count) for bound, count in found}

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


def start(daemon, group, us, seconds, at, *options):
    env = dict(os.environ)
    if daemon:
        env["LD_PRELOAD"] = str(FOLDER / "libmuster-gpu.so")
        env["MUSTER_GPU_SOCKET"] = f"{daemon.folder}/groups/{group}/tenant.sock"
    return subprocess.Popen([SPIN, str(us), str(seconds), f"at={at}", *options], env=env, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def finish(process, us):
    """The share of the GPU's time that its work took, and the longest gap."""
    out, err = process.communicate(timeout=120)
    found = re.match(r"kernels (\d+) seconds ([\d.]+) gap ([\d.]+)", out)
    if not found:
        sys.exit(f"spin failed: {out}{err}")
    kernels, seconds, gap = int(found[1]), float(found[2]), float(found[3])
    return kernels * us / 1e6 / max(seconds, 1e-9), gap


class Bench:
    def __init__(self, daemon):
        self.daemon = daemon
        self.rate = re.match(r"rate ([\d.]+)", subprocess.run([SPIN, "0", "0"], capture_output=True, text=True,
                                                              check=True).stdout)[1]
        self.alone = {}
        print(f"# {self.rate} iterations a microsecond")

    def options(self, more):
        return [f"rate={self.rate}", *more]

    def solo(self, us, *more):
        """What the kernels do of their nominal work without the library."""
        if (us, more) not in self.alone:
            seconds = 2 if us < 100000 else 4
            process = start(None, None, us, seconds, 0, *self.options(more))
            self.alone[us, more] = finish(process, us)[0]
        return self.alone[us, more]

    def together(self, seconds, *tenants):
        """Runs (group, us, options) side by side; shares of what each does alone."""
        at = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + int(4e9)
        running = [start(self.daemon, group, us, seconds, at, *self.options(more)) for group, us, more in tenants]
        found = [finish(process, us) for process, (_, us, _) in zip(running, tenants)]
        return [(share / self.solo(us, *[each for each in more if not each.startswith(("on", "off"))]), gap)
                for (share, gap), (_, us, more) in zip(found, tenants)]


def row(name, wanted, found, extra=""):
    print(f"{name:<46} promised {wanted:.3f}  found {found:.4f}  off by {100 * (found / wanted - 1):+6.2f} %  {extra}",
          flush=True)


def strict(bench, shares, lengths, seconds, *more):
    for share in shares:
        for us in lengths:
            bench.daemon.group("a", share, "strict")
            ((found, gap),) = bench.together(seconds, ("a", us, more))
            row(f"strict alone, {us} us {' '.join(more)}", share, found, f"longest gap {gap * 1000:.1f} ms")
            bench.daemon.remove("a")


def fair(bench, pairs, weights, seconds, *more):
    for left, right in pairs:
        for share in weights:
            bench.daemon.group("a", share, "fair")
            bench.daemon.group("b", 1 - share, "fair")
            before = bench.daemon.handovers()
            (one, _), (two, gap) = bench.together(seconds, ("a", left, more), ("b", right, more))
            after = bench.daemon.handovers()
            late = [bound for bound in sorted(after)
                    if after[bound] - before.get(bound, 0) >= 0.99 * (after[float("inf")] -
                                                                      before.get(float("inf"), 0))]
            row(f"fair {left} us beside {right} us {' '.join(more)}", share, one / (one + two),
                f"together {one + two:.4f} of sequential, hand-over p99 <= {1000 * late[0]:.2f} ms")
            bench.daemon.remove("a", "b")


def three(bench):
    for name, share in (("a", 0.5), ("b", 0.3), ("c", 0.2)):
        bench.daemon.group(name, share, "fair")
    found = bench.together(8, ("a", 1000, ()), ("b", 10, ()), ("c", 20000, ()))
    total = sum(share for share, _ in found)
    for (share, _), wanted, us in zip(found, (0.5, 0.3, 0.2), (1000, 10, 20000)):
        row(f"fair 5:3:2, {us} us", wanted, share / total, f"together {total:.4f}")
    bench.daemon.remove("a", "b", "c")


def idle(bench):
    bench.daemon.group("a", 0.5, "fair")
    bench.daemon.group("b", 0.5, "fair")
    ((found, _),) = bench.together(4, ("a", 1000, ()))
    row("fair, the partner is idle", 1, found)
    (one, _), (two, _) = bench.together(10, ("a", 1000, ()), ("b", 1000, ("on=1000", "off=1000")))
    row("fair, the partner works every other second", 0.75, one, f"the partner {two:.4f}")
    status = {group["group"]: group for group in bench.daemon.status()["groups"]}
    print(f"# leases by the daemon's clock: a {status['a']['leaseSeconds']:.2f} s, b {status['b']['leaseSeconds']:.2f} s")
    bench.daemon.remove("a", "b")


def main():
    names = sys.argv[2:] or ["strict", "long", "graph", "fair", "three", "idle"]
    config = os.environ.get("GPUD_CONFIG")
    daemon = Daemon(json.loads(config) if config else None)
    try:
        bench = Bench(daemon)
        for name in names:
            if name == "strict":
                strict(bench, (0.1, 0.25, 0.5, 0.75), (10, 1000, 20000), SECONDS)
            elif name == "long":
                strict(bench, (0.25, 0.5), (200000,), 16)
                fair(bench, [(1000, 200000)], (0.25, 0.5), 16)
            elif name == "graph":
                strict(bench, (0.25, 0.5), (10,), SECONDS, "graph=50")
                fair(bench, [(10, 10), (1000, 1000)], (0.25,), SECONDS, "graph=20")
            elif name == "fair":
                fair(bench, [(1000, 1000), (10, 1000), (10, 10)], (0.5, 0.25, 0.1), SECONDS)
            elif name == "check":
                strict(bench, (0.1,), (10, 1000), 30)
                fair(bench, [(10, 10)], (0.5,), 12)
                fair(bench, [(1000, 200000)], (0.25,), 24)
            elif name == "three":
                three(bench)
            elif name == "idle":
                idle(bench)
            else:
                sys.exit(f"no measurement named {name}")
        print("# alone, without the library, of nominal work: " +
              ", ".join(f"{us} us {' '.join(more)} {share:.4f}" for (us, more), share in bench.alone.items()))
    finally:
        daemon.stop()


if __name__ == "__main__":
    main()
