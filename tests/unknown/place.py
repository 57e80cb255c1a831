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
# Between two looks whether all is well.
STEP = 0.02
# In a plan: the service that is started when the load has come.
STARTS = "starts"
# For so long a new leader is alone, before the old one can do something again.
TAKEOVER = 0.25


class Broken(Exception):
    """Something that must never be, or does not end."""


class Place:
    """Built once, used for many runs."""

    def __init__(self, world_class, folder):
        self.folder = pathlib.Path(folder)
        self.clients = world_class.clients
        self.server = Server(list(self.clients), world_class.table)
        self.server.on_kill, self.server.on_put_back = self.kill, self.put_back
        self.server.on_sleep, self.server.on_stop, self.server.on_takeover = self.sleep, self.stop, self.take_over
        self.store = self.server.store
        self.controllers = Controllers(self.server)
        self.ledger = Ledger(self.store)
        self.world = world_class(self.store, self.server.later)
        self.world.build()
        self.store.listeners.append(lambda change, _: self.world_reacts(change))
        self.store.listeners.append(self.note_leader)
        self.leader, self.holder, self.is_taking_over = None, "", False
        self.processes = {}
        self.is_loaded = False
        self.counted = (0, [])

    def world_reacts(self, change):
        if self.is_loaded:
            self.server.loop.call_soon(self.world.react, change)

    # The services.

    async def open(self):
        await self.server.open()
        for client in self.clients:
            self.start(client)
        await self.until_watching()
        await asyncio.sleep(QUIET)

    async def until_watching(self):
        await self.until(self.is_watching, "all services watch pods, and one of several leads")

    def is_watching(self):
        watching = {one.request.client for one in self.server.watchers if one.plural == "pods"}
        return watching.issuperset(self.clients) and (self.leader or not self.world.has_leader)

    def start(self, client):
        service = self.clients[client]
        config = self.folder / f"{client}.yaml"
        config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.server.ports[client]}"}}],
            "users": [{"name": "u", "user": {}}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))
        with open(self.folder / f"{client}.log", "ab") as log:
            self.processes[client] = subprocess.Popen(
                [MUSTER, service, *SERVICES[service], *self.world.flags.get(service, []), f"--kubeconfig={config}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self, client):
        """The service dies at once and is started again."""
        self.processes[client].kill()
        self.processes[client].wait()
        self.server.cut_watches(client=client)
        self.start(client)

    # Leaders.

    def note_leader(self, change, who):
        if change.plural != "leases":
            return
        holder = change.new["spec"].get("holderIdentity", "")
        if holder == self.holder:
            return
        self.holder, self.leader = holder, who if holder else None
        if holder and self.is_taking_over:
            self.server.later(TAKEOVER, self.end_takeover)

    def sleep(self, client):
        self.processes[client].send_signal(signal.SIGSTOP)
        self.take_over(client)

    def stop(self, client):
        self.processes[client].terminate()
        self.take_over(client)

    def take_over(self, client):
        """Another one is to take the place of the client, which may have lost it already, on a busy machine."""
        self.is_taking_over = True
        if self.leader != client:
            self.server.later(TAKEOVER, self.end_takeover)
        # Not in the midst of a write.
        self.server.loop.call_soon(self.world.taken_over)

    def end_takeover(self):
        """The old leader finds a cluster that another one has looked after."""
        self.is_taking_over = False
        self.server.unreachable.clear()
        for process in self.processes.values():
            process.send_signal(signal.SIGCONT)

    def put_back(self, version):
        self.store.put_back(version)
        self.ledger.forget()
        self.world.restored()
        self.controllers.wake()
        self.server.restart(0.05, 0)

    def log_of(self, service, size=3000):
        path = self.folder / f"{service}.log"
        return path.read_bytes()[-size:].decode(errors="replace") if path.exists() else ""

    def close(self):
        """Ends all. Returns what is wrong with how the services ended."""
        found = []
        self.end_takeover()
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
            await asyncio.sleep(STEP / 2)

    def check_alive(self):
        """Those who wait for a lease end when they lose it, and somebody starts them again."""
        for client, process in self.processes.items():
            if process.poll() is None:
                continue
            if not self.world.has_leader or self.clients[client] != "scheduler":
                raise Broken(f"{client} ended with status {process.returncode}")
            self.start(client)

    def quiet_in(self):
        """Seconds until it counts as quiet."""
        quiet = QUIET_AFTER_FAULT if self.server.fired else QUIET
        return quiet + self.server.last_busy - self.server.loop.time()

    def unfinished(self):
        """What has to change yet; counted anew when something was written."""
        if self.counted[0] != self.store.version:
            self.counted = self.store.version, self.ledger.unfinished() + list(self.world.faults(self.ledger))
        return self.counted[1]

    async def settle(self):
        end = time.monotonic() + PATIENCE
        while (wait := self.quiet_in()) > 0 or self.is_taking_over or self.unfinished():
            self.check_alive()
            if self.ledger.broken:
                return
            if time.monotonic() > end:
                raise Broken(f"not well after {PATIENCE} s: " + "; ".join(self.unfinished()[:4] or ["never quiet"]))
            await asyncio.sleep(max(wait, STEP))

    def end(self, objects):
        for one in objects:
            plural = "pods" if "containers" in one["spec"] else "jobs"
            try:
                self.store.delete(plural, "default", one["metadata"]["name"])
            except Refusal:
                pass

    async def run(self, plan):
        """One run with these faults, and perhaps with a service that starts. Returns what is broken, as text."""
        if self.world.has_leader:
            self.server.roles = {client: "leader" if client == self.leader else "follower"
                                 for client, service in self.clients.items() if service == "scheduler"}
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
            # A write that was held back while a watch was cut may have come just now.
            await self.settle()
            left = [one for plural in ("pods", "bindrequests") for one in self.store.all(plural)]
            return [f"left at the end: {', '.join(one['metadata']['name'] for one in left)}"] if left else []
        except Broken as error:
            return [str(error)]
        finally:
            self.is_loaded = False
            self.end_takeover()
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
