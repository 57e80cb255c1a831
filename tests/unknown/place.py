"""One server with one world and the real services, in which one run follows the other."""

import asyncio
import json
import os
import pathlib
import signal
import subprocess
import time

from controllers import Controllers
from ledger import Ledger
from server import Server
from store import Refusal

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MUSTER = os.environ.get("MUSTER", str(ROOT / "build" / "asan" / "muster"))
SERVICES = {
    "scheduler": ["--listen-address=0", "--plugin-server-port=0", "--health-probe-bind-address=0"],
    "binder": ["--metrics-bind-address=0", "--health-probe-bind-address=0"],
    "grouper": ["--metrics-bind-address=0", "--health-probe-bind-address=0"],
}
# Nothing new is written for so long: then it counts as quiet. Longer after a fault, which has to be got over.
QUIET = 0.06
QUIET_AFTER_FAULT = 0.2
# The longest time for all to be well again; the machine may be busy.
PATIENCE = 60
ROUNDS = 12
# In a plan: the service that is started when the load has come.
STARTS = "starts"


class Broken(Exception):
    """Something that must never be, or does not end."""


class Place:
    """Built once, used for many runs."""

    def __init__(self, world_class, folder):
        self.folder = pathlib.Path(folder)
        self.server = Server(list(SERVICES))
        self.server.on_kill, self.server.on_put_back = self.kill, self.put_back
        self.store = self.server.store
        self.controllers = Controllers(self.server)
        self.ledger = Ledger(self.store)
        self.world = world_class(self.store, self.server.later)
        self.world.build()
        self.store.listeners.append(lambda change, _: self.world_reacts(change))
        self.processes = {}
        self.is_loaded = False
        self.counted = (0, [])

    def world_reacts(self, change):
        if self.is_loaded:
            self.server.loop.call_soon(self.world.react, change)

    # The services.

    async def open(self):
        await self.server.open()
        for service in SERVICES:
            self.start(service)
        await self.until_watching()
        await asyncio.sleep(QUIET)

    async def until_watching(self):
        await self.until(lambda: all(any(one.request.client == service and one.plural == "pods" for one in
                                         self.server.watchers) for service in SERVICES), "all services watch pods")

    def start(self, service):
        config = self.folder / f"{service}.yaml"
        config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.server.ports[service]}"}}],
            "users": [{"name": "u", "user": {}}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))
        with open(self.folder / f"{service}.log", "ab") as log:
            self.processes[service] = subprocess.Popen(
                [MUSTER, service, *SERVICES[service], *self.world.flags.get(service, []), f"--kubeconfig={config}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self, service):
        """The service dies at once and is started again."""
        self.processes[service].kill()
        self.processes[service].wait()
        self.server.cut_watches(client=service)
        self.start(service)

    def put_back(self, version):
        self.store.put_back(version)
        self.ledger.forget()
        self.controllers.wake()
        self.server.restart(0.05, 0)

    def log_of(self, service, size=3000):
        path = self.folder / f"{service}.log"
        return path.read_bytes()[-size:].decode(errors="replace") if path.exists() else ""

    def close(self):
        """Ends all. Returns what is wrong with how the services ended."""
        found = []
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        for service, process in self.processes.items():
            try:
                status = process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                status = "none within 30 s"
            log = self.log_of(service, 1 << 20)
            if status != 0 or "AddressSanitizer" in log or "runtime error" in log:
                found.append(f"{service} ended with status {status}\n{log[-3000:]}")
        self.server.close()
        return found

    # Runs.

    async def until(self, holds, what, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while not holds():
            self.check_alive()
            if time.monotonic() > end:
                raise Broken(f"not within {seconds} s: {what}")
            await asyncio.sleep(0.005)

    def check_alive(self):
        for service, process in self.processes.items():
            if process.poll() is not None:
                raise Broken(f"{service} ended with status {process.returncode}")

    def is_quiet(self):
        quiet = QUIET_AFTER_FAULT if self.server.fired else QUIET
        return self.server.loop.time() - self.server.last_busy > quiet

    def unfinished(self):
        """What has to change yet; counted anew when something was written."""
        if self.counted[0] != self.store.version:
            self.counted = self.store.version, self.ledger.unfinished() + list(self.world.faults(self.ledger))
        return self.counted[1]

    async def settle(self):
        end = time.monotonic() + PATIENCE
        while not self.is_quiet() or self.unfinished():
            self.check_alive()
            if self.ledger.broken:
                return
            if time.monotonic() > end:
                raise Broken(f"not well after {PATIENCE} s: " + "; ".join(self.unfinished()[:4] or ["never quiet"]))
            await asyncio.sleep(0.01)

    def end(self, objects):
        for one in objects:
            plural = "pods" if "containers" in one["spec"] else "jobs"
            try:
                self.store.delete(plural, "default", one["metadata"]["name"])
            except Refusal:
                pass

    async def run(self, plan):
        """One run with these faults, and perhaps with a service that starts. Returns what is broken, as text."""
        self.ledger.begin()
        self.counted = (0, [])
        self.server.begin({point: fault for point, fault in plan.items() if point != STARTS})
        self.world.load()
        if STARTS in plan:
            self.kill(plan[STARTS])
        self.is_loaded = True
        try:
            for _ in range(ROUNDS):
                await self.settle()
                if self.ledger.broken:
                    return self.ledger.broken
                if not self.store.all("pods"):
                    break
                self.end(self.world.next_ends())
            await self.until_watching()
            left = [one for plural in ("pods", "bindrequests") for one in self.store.all(plural)]
            return [f"left at the end: {', '.join(one['metadata']['name'] for one in left)}"] if left else []
        except Broken as error:
            return [str(error)]
        finally:
            self.is_loaded = False
            await self.clear()

    async def clear(self):
        """Nothing of the run is left. History goes only where all watches have seen it."""
        for plural in ("pods", "jobs", "resourceclaims", "podgroups", "bindrequests", "events", "configmaps"):
            for one in self.store.all(plural):
                self.store.commit(plural, one, None, "test")
        self.world.unload()
        for watcher in self.server.watchers:
            watcher.bookmark()
        if len(self.store.history) > 2000:
            self.store.forget()
