"""A scripted API server: HTTP over a store. Every request and every event of a watch is a point, with a name that is the
same in every run of the same world. At each point a fault may be planned, which then takes the place of the usual course.

Each client has a port of its own, so that a point knows whose it is."""

import asyncio
import collections
import json
import re
import urllib.parse

import faults
from selection import Selection
from store import Refusal, Store, encode, not_found

PATH = re.compile(r"^/(?:api|apis/(?P<group>[^/]+))/(?P<version>[^/]+)(?:/namespaces/(?P<ns>[^/]+)(?=/))?/"
                  r"(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<sub>[^/]+))?$")
KINDS = {
    "pods": ("v1", "Pod"), "nodes": ("v1", "Node"), "namespaces": ("v1", "Namespace"), "events": ("v1", "Event"),
    "configmaps": ("v1", "ConfigMap"), "persistentvolumes": ("v1", "PersistentVolume"),
    "persistentvolumeclaims": ("v1", "PersistentVolumeClaim"), "leases": ("coordination.k8s.io/v1", "Lease"),
    "priorityclasses": ("scheduling.k8s.io/v1", "PriorityClass"), "storageclasses": ("storage.k8s.io/v1", "StorageClass"),
    "resourceclaims": ("resource.k8s.io/v1", "ResourceClaim"), "deviceclasses": ("resource.k8s.io/v1", "DeviceClass"),
    "resourceslices": ("resource.k8s.io/v1", "ResourceSlice"), "queues": ("scheduling.run.ai/v2", "Queue"),
    "podgroups": ("scheduling.run.ai/v2alpha2", "PodGroup"), "topologies": ("kai.scheduler/v1alpha1", "Topology"),
    "bindrequests": ("scheduling.run.ai/v1alpha2", "BindRequest"), "jobs": ("batch/v1", "Job"),
}
REASONS = {200: "OK", 201: "Created", 403: "Forbidden", 404: "Not Found", 409: "Conflict", 410: "Gone",
           422: "Unprocessable Entity", 429: "Too Many Requests", 500: "Internal Server Error",
           503: "Service Unavailable", 504: "Gateway Timeout"}
WRITES = ("write", "note")
# Names that are made up anew in each run.
RANDOM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<=[.-])[0-9a-f]{10,}")


def plain(name):
    return RANDOM.sub("*", name or "")


def discovery(path):
    """The kinds of a group."""
    group = path.removeprefix("/apis/").removeprefix("/api/")
    kinds = [{"name": plural, "kind": kind, "namespaced": True, "verbs": ["get", "list", "watch"]}
             for plural, (api, kind) in KINDS.items() if api == group]
    if not kinds:
        raise Refusal(404, "NotFound", "the server could not find the requested resource")
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group, "resources": kinds}


class Request:
    """One request of a client."""

    def __init__(self, client, method, target, headers, body):
        path, _, query = target.partition("?")
        self.client, self.method, self.path, self.headers, self.body = client, method, path, headers, body
        self.query = dict(urllib.parse.parse_qsl(query))
        found = PATH.match(path)
        self.plural = found["plural"] if found else None
        self.namespace, self.name, self.sub = (found["ns"], found["name"], found["sub"]) if found else (None,) * 3
        if self.plural and self.name:
            self.name = urllib.parse.unquote(self.name)
        if not self.plural:
            self.kind = "probe" if path == "/readyz" else "read"
        elif method != "GET":
            self.kind = "note" if self.plural == "events" else "write"
        elif self.name:
            self.kind = "read"
        else:
            self.kind = "watch" if "watch" in self.query else "list"

    def label(self, who):
        if not self.plural:
            return f"{who} read {self.path}"
        what = self.plural + (f"/{self.sub}" if self.sub else "")
        name = self.name
        if self.method == "POST" and not self.sub:
            name = "" if self.plural == "events" else self.document().get("metadata", {}).get("name", "")
        return f"{who} {self.method if self.kind in WRITES else self.kind} {what} {plain(name)}".strip()

    def document(self):
        return json.loads(self.body) if self.body else {}

    def is_partial(self):
        return "PartialObjectMetadata" in self.headers.get("accept", "")


class Connection(asyncio.Protocol):
    """HTTP/1.1 of one client."""

    def __init__(self, server, client):
        self.server, self.client, self.buffer, self.transport, self.watcher = server, client, b"", None, None

    def connection_made(self, transport):
        self.transport = transport
        self.server.connections.add(self)

    def connection_lost(self, _):
        self.server.connections.discard(self)
        if self.watcher:
            self.server.watchers.discard(self.watcher)

    def data_received(self, data):
        self.buffer += data
        while not self.transport.is_closing():
            head, mark, rest = self.buffer.partition(b"\r\n\r\n")
            if not mark:
                return
            first, *lines = head.decode("latin-1").split("\r\n")
            headers = {key.lower(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
            length = int(headers.get("content-length", 0))
            if len(rest) < length:
                return
            self.buffer = rest[length:]
            method, target, _ = first.split(" ", 2)
            self.server.handle(self, Request(self.client, method, target, headers, rest[:length]))

    def send(self, data):
        if not self.transport.is_closing():
            self.transport.write(data)

    def answer(self, status, body, headers=(), part=1.0):
        """An answer, or the first part of it and then the end of the connection."""
        more = "".join(f"{key}: {value}\r\n" for key, value in headers)
        data = (f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}\r\nContent-Type: application/json\r\n"
                f"{more}Content-Length: {len(body)}\r\n\r\n").encode() + body
        if part < 1:
            self.send(data[:len(data) - int(len(body) * (1 - part)) - 1])
            self.close()
        else:
            self.send(data)

    def refuse(self, refusal):
        self.answer(refusal.status, encode(refusal.body()), refusal.headers)

    def cut(self):
        self.transport.abort()

    def close(self):
        """Ends it after what was sent."""
        self.transport.close()


class Watcher:
    """A watch that is open."""

    def __init__(self, server, connection, request, version):
        self.server, self.connection, self.request = server, connection, request
        self.selection = Selection(request.namespace, request.query)
        self.version, self.plural = version, request.plural
        self.waiting = collections.deque()
        self.is_stalled = False

    def begin(self):
        self.connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")

    def chunk(self, kind, content, part=1.0):
        line = encode({"type": kind, "object": content}) + b"\n"
        line = line[:int(len(line) * part)]
        return b"%x\r\n%s\r\n" % (len(line), line)

    def send(self, kind, content, part=1.0):
        self.connection.send(self.chunk(kind, content, part))

    def fail(self, refusal):
        self.send("ERROR", refusal.body())
        self.connection.send(b"0\r\n\r\n")
        self.connection.close()

    def event_of(self, change):
        had, has = self.selection.has(change.old), self.selection.has(change.new)
        if change.old is None:
            had = False
        if not had and not has:
            return None
        kind = "ADDED" if not had else "MODIFIED" if has else "DELETED"
        return kind, change.new if change.new is not None else change.old

    def take(self, *changes):
        """All of them wait before the first is told, so that no bookmark among them speaks of one that is still to come."""
        for change in changes:
            if change.plural == self.plural and change.version > self.version and (event := self.event_of(change)):
                self.waiting.append((change.version, *event))
        self.pump()

    def pump(self):
        while self.waiting and not self.is_stalled and not self.connection.transport.is_closing():
            version, kind, content = self.waiting.popleft()
            if self.plural == "leases":
                self.tell(version, kind, content)
                continue
            name = plain(content["metadata"]["name"]) if self.plural != "events" else ""
            who = self.server.role_of(self.request.client)
            fault = self.server.reach(f"{who} sees {self.plural} {name} {kind}", "event")
            if fault:
                fault(self.server, self, version, kind, content)
            else:
                self.tell(version, kind, content)

    def tell(self, version, kind, content, part=1.0):
        self.version = version
        self.send(kind, self.server.shape(self.request, content), part)

    def stall(self, seconds):
        """What comes meanwhile arrives afterwards, in order."""
        self.is_stalled = True
        self.server.later(seconds, self.resume)

    def resume(self):
        self.is_stalled = False
        self.pump()

    def bookmark(self):
        if not self.waiting and self.request.query.get("allowWatchBookmarks"):
            self.version = self.server.store.version
            api, kind = KINDS[self.plural]
            self.send("BOOKMARK", {"apiVersion": api, "kind": kind, "metadata": {
                "resourceVersion": str(self.version), "creationTimestamp": None}})


class Server:
    """The server of one world."""

    def __init__(self, clients, table):
        self.store, self.table = Store(), table
        self.store.listeners.append(self.changed)
        self.loop = asyncio.get_running_loop()
        self.connections, self.watchers = set(), set()
        self.clients, self.ports, self.listeners = clients, {}, []
        self.plan, self.counts, self.points, self.fired = {}, collections.Counter(), [], []
        self.down_until = self.forbidden_until = self.last_busy = 0
        self.forbidden_path = None
        self.begun = self.loop.time()
        self.stale = {}
        self.roles = {}
        self.unreachable = set()
        self.on_kill = self.on_put_back = self.on_sleep = self.on_stop = self.on_takeover = None
        self.trace = collections.deque(maxlen=200)

    async def open(self):
        for client in self.clients:
            listener = await self.loop.create_server(lambda client=client: Connection(self, client), "127.0.0.1", 0,
                                                     backlog=256)
            self.listeners.append(listener)
            self.ports[client] = listener.sockets[0].getsockname()[1]

    def close(self):
        for listener in self.listeners:
            listener.close()
        for connection in list(self.connections):
            connection.cut()

    def later(self, seconds, function, *arguments):
        self.busy()
        self.loop.call_later(seconds, self.do_later, function, arguments)

    def do_later(self, function, arguments):
        self.busy()
        function(*arguments)

    def busy(self):
        self.last_busy = self.loop.time()

    # Points and faults.

    def role_of(self, client):
        return self.roles.get(client, client)

    def begin(self, plan):
        """A run begins, with faults by the names of their points."""
        self.plan, self.points, self.fired, self.begun = dict(plan), [], [], self.loop.time()
        self.counts.clear()
        self.stale.clear()

    def reach(self, label, kind):
        """A point is reached; the fault that is planned for it, or None."""
        self.counts[label] += 1
        point = f"{label} #{self.counts[label]}"
        self.points.append((point, kind))
        name = self.plan.pop(point, None)
        self.note(f"{point} {'*** ' + name if name else ''}")
        if not name:
            return None
        self.fired.append((point, name))
        self.busy()
        return faults.of(self.table, kind, True)[name]

    def note(self, text):
        """For whoever has to find out what went wrong."""
        self.trace.append(f"{self.loop.time() - self.begun:7.3f} {text}")

    def handle(self, connection, request):
        now = self.loop.time()
        if now < self.down_until or request.client in self.unreachable:
            self.note(f"{request.client} finds the server down: {request.method} {request.path}")
            connection.cut()
            return
        if now < self.forbidden_until and self.forbidden_path in (None, request.path):
            self.note(f"{request.client} is refused: {request.method} {request.path}")
            connection.refuse(Refusal(403, "Forbidden", f"{request.path} is forbidden: User \"u\" cannot do that: no "
                                                        "RBAC policy matched"))
            return
        if request.path == "/readyz":
            connection.answer(200, b"ok")
            return
        if request.plural == "leases":
            # Leases are renewed all the time: they have no points, and keep nothing busy.
            self.serve(connection, request)
            return
        fault = self.reach(request.label(self.role_of(request.client)), request.kind)
        if request.kind == "write":
            self.busy()
        if fault:
            fault(self, connection, request)
        else:
            self.serve(connection, request)

    def serve(self, connection, request, part=1.0):
        """The usual course."""
        if request.kind == "watch":
            self.watch(connection, request)
        elif not connection.transport.is_closing():
            status, body, headers = self.perform(request)
            connection.answer(status, body, headers, part)

    def perform(self, request):
        try:
            status, content = self.act(request)
        except Refusal as refusal:
            return refusal.status, encode(refusal.body()), refusal.headers
        return status, encode(content), ()

    def shape(self, request, content):
        api, kind = KINDS[request.plural]
        if request.is_partial():
            return {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": content["metadata"]}
        return {"apiVersion": api, "kind": kind, **content}

    def act(self, request):
        store, plural, namespace, name = self.store, request.plural, request.namespace, request.name
        if not plural:
            return 200, discovery(request.path)
        if plural not in KINDS:
            raise Refusal(404, "NotFound", "the server could not find the requested resource")
        if request.kind == "list":
            return 200, self.list(request)
        if request.kind == "read":
            return 200, self.shape(request, store.get(plural, namespace, name))
        if request.method == "POST" and request.sub == "binding":
            return 201, store.bind(namespace, name, request.document(), request.client)
        if request.method == "POST" and request.sub == "eviction":
            store.delete(plural, namespace, name, request.document().get("deleteOptions"), request.client)
            return 201, {"kind": "Status", "status": "Success"}
        if request.method == "POST" and not name:
            return 201, self.shape(request, store.create(plural, namespace, request.document(), request.client))
        if request.method == "PUT":
            return 200, self.shape(request, store.update(plural, namespace, name, request.document(), request.sub,
                                                         request.client))
        if request.method == "PATCH":
            kind = request.headers["content-type"]
            return 200, self.shape(request, store.patch(plural, namespace, name, kind, request.document(), request.sub,
                                                        request.client))
        if request.method == "DELETE" and name:
            return 200, self.shape(request, store.delete(plural, namespace, name, request.document(), request.client))
        raise Refusal(405, "MethodNotAllowed", f"{request.method} {request.path} is not known here")

    def list(self, request):
        api, kind = KINDS[request.plural]
        version = self.stale.pop((request.client, request.plural), self.store.version)
        selection = Selection(request.namespace, request.query)
        items = [self.shape(request, one) for _, one in sorted(self.store.at(request.plural, version).items())
                 if selection.has(one)]
        return {"apiVersion": api, "kind": f"{kind}List", "metadata": {"resourceVersion": str(version)}, "items": items}

    # Watches.

    def watch(self, connection, request):
        if request.plural not in KINDS:
            connection.refuse(not_found(request.plural, ""))
            return
        version = int(request.query.get("resourceVersion") or 0)
        if "sendInitialEvents" in request.query:
            connection.refuse(Refusal(422, "Invalid", "sendInitialEvents is forbidden"))
            return
        if version > self.store.version:
            connection.refuse(Refusal(504, "Timeout", f"Too large resource version: {version}, current: "
                                                      f"{self.store.version}"))
            return
        watcher = Watcher(self, connection, request, version)
        watcher.begin()
        if version < self.store.oldest:
            watcher.fail(Refusal(410, "Expired", f"too old resource version: {version} ({self.store.oldest})"))
            return
        connection.watcher = watcher
        self.watchers.add(watcher)
        watcher.take(*self.store.history)

    def changed(self, change, who):
        if (who in self.clients or who == "test") and change.plural != "leases":
            self.busy()
        for watcher in list(self.watchers):
            watcher.take(change)

    def cut_watches(self, plural=None, client=None):
        for watcher in list(self.watchers):
            if plural in (None, watcher.plural) and client in (None, watcher.request.client):
                self.watchers.discard(watcher)
                watcher.connection.cut()

    def cut_off(self, client):
        """Nothing that the client sends arrives any more, until another one has taken over."""
        self.unreachable.add(client)
        for connection in [one for one in self.connections if one.client == client]:
            connection.cut()
        self.cut_watches(client=client)
        self.on_takeover(client)

    def restart(self, down, forbidden):
        """All connections end; for a while nobody answers, and then everything is refused."""
        now = self.loop.time()
        self.down_until, self.forbidden_until, self.forbidden_path = now + down, now + down + forbidden, None
        self.later(down + forbidden, self.busy)
        self.watchers.clear()
        for connection in list(self.connections):
            connection.cut()
