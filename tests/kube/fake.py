"""A scripted Kubernetes API server for tests of the client: it has objects, lists, watches and leases as the real one
has them, and fails as it is told to. One thread a connection, HTTP/1.1, TLS."""

import collections
import copy
import http.server
import json
import pathlib
import re
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse

PATH = re.compile(r"^/(?:api|apis/[^/]+)/[^/]+(?:/namespaces/(?P<ns>[^/]+))?/(?P<plural>[^/]+)"
                  r"(?:/(?P<name>[^/]+))?(?:/(?P<sub>[^/]+))?$")
Request = collections.namedtuple("Request", "time method path query headers")


def openssl(*arguments, folder, text=None):
    subprocess.run(["openssl", *arguments], cwd=folder, input=text, check=True, text=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_authority(folder, name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
            "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.crt", folder=folder)


def make_certificate(folder, authority, name, alternative=None):
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
            "-keyout", f"{name}.key", "-out", f"{name}.csr", folder=folder)
    extension = ["-extfile", "/dev/stdin"] if alternative else []
    openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.crt", "-CAkey", f"{authority}.key",
            "-set_serial", str(time.time_ns()), "-days", "1", "-out", f"{name}.crt", *extension, folder=folder,
            text=f"subjectAltName={alternative}\n" if alternative else "")


class Api:
    """The server and what it holds. `hook(handler, request)` may answer a request itself and return True."""

    def __init__(self, folder, certificate="server", client_authority=None):
        self.folder = pathlib.Path(folder)
        self.changed = threading.Condition()
        self.objects = collections.defaultdict(dict)
        self.log = []
        self.version = 100
        self.oldest = 0
        self.requests = []
        self.hook = None
        self.tokens = None
        self.page_fault = None
        self.streams = False
        self.resources = {}
        self.cut_next = 0
        self.expired = 0
        self.bookmarks = 0
        self.has_readyz = False
        self.connections = set()
        self.server = None
        self.port = 0
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(self.folder / f"{certificate}.crt", self.folder / f"{certificate}.key")
        if client_authority:
            self.tls.verify_mode = ssl.CERT_REQUIRED
            self.tls.load_verify_locations(self.folder / f"{client_authority}.crt")
        self.start()

    def start(self):
        api = self

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128
            allow_reuse_address = True

            def get_request(self):
                connection, address = super().get_request()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                wrapped = api.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
                api.connections.add(wrapped)
                return wrapped, address

            def handle_error(self, request, client_address):
                pass

        self.server = Server(("127.0.0.1", self.port), type("Bound", (Handler,), {"api": api}))
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        """As if killed: the port is closed and so are all connections."""
        self.server.shutdown()
        self.server.server_close()
        self.drop_connections()

    def drop_connections(self):
        for connection in list(self.connections):
            self.connections.discard(connection)
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    # What is in the cluster.

    def put(self, plural, name, namespace="default", uid=None, **fields):
        with self.changed:
            key = (namespace, name)
            old = self.objects[plural].get(key)
            self.version += 1
            uid = uid or (old["metadata"]["uid"] if old else f"uid-{self.version}")
            made = {"metadata": {"namespace": namespace, "name": name, "uid": uid,
                                 "resourceVersion": str(self.version)}, **fields}
            self.objects[plural][key] = made
            self.log.append((self.version, plural, "MODIFIED" if old else "ADDED", made))
            self.changed.notify_all()
            return made

    def remove(self, plural, name, namespace="default", is_told=True):
        with self.changed:
            old = copy.deepcopy(self.objects[plural].pop((namespace, name)))
            self.version += 1
            old["metadata"]["resourceVersion"] = str(self.version)
            if is_told:
                self.log.append((self.version, plural, "DELETED", old))
            self.changed.notify_all()

    def get(self, plural, name, namespace="default"):
        with self.changed:
            return copy.deepcopy(self.objects[plural].get((namespace, name)))

    def all(self, plural):
        with self.changed:
            return list(self.objects[plural].values())

    # Faults.

    def compact(self):
        """Versions up to now are gone; watches that run are told so."""
        with self.changed:
            self.oldest = self.version
            self.log.clear()
            self.expired += 1
            self.changed.notify_all()

    def restore(self, backup):
        """The store is put back to what `backup()` gave, and all connections end, as when the server is started anew."""
        with self.changed:
            self.version, objects = copy.deepcopy(backup)
            self.objects.clear()
            self.objects.update(objects)
            self.log.clear()
            self.changed.notify_all()
        self.drop_connections()

    def backup(self):
        with self.changed:
            return copy.deepcopy((self.version, dict(self.objects)))

    def cut_watches(self, count=1):
        """The next events are sent by half, and the connection ends."""
        with self.changed:
            self.cut_next += count

    def bookmark(self):
        with self.changed:
            self.version += 1
            self.bookmarks += 1
            self.changed.notify_all()
            return self.version

    def asked(self, method=None, contains=""):
        with self.changed:
            return [r for r in self.requests if (not method or r.method == method) and contains in r.path]

    def lists(self, plural):
        return [r for r in self.asked("GET") if r.path.endswith("/" + plural) and "watch" not in r.query]

    def watches(self, plural):
        return [r for r in self.asked("GET") if r.path.endswith("/" + plural) and "watch" in r.query]

    def wait_for(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError("waited in vain")
            time.sleep(0.01)

    # How to reach it.

    def kubeconfig(self, name="kubeconfig", user=None, cluster=None):
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
            "clusters": [{"name": "k", "cluster": cluster or {
                "server": f"https://127.0.0.1:{self.port}", "certificate-authority": "ca.crt"}}],
            "users": [{"name": "u", "user": user if user is not None else {"token": "good"}}],
        }
        path = self.folder / f"{name}-{self.port}"
        path.write_text(json.dumps(config))
        return str(path)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    api = None

    def log_message(self, *arguments):
        pass

    def setup(self):
        self.request.do_handshake()
        super().setup()

    def finish(self):
        self.api.connections.discard(self.request)
        try:
            super().finish()
        except OSError:
            pass

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (OSError, ValueError):
            self.close_connection = True

    def do_GET(self):
        self.serve()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def serve(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.body = self.rfile.read(length) if length else b""
        path, _, query = self.path.partition("?")
        request = Request(time.monotonic(), self.command, path, dict(urllib.parse.parse_qsl(query)), dict(self.headers))
        with self.api.changed:
            self.api.requests.append(request)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.api.tokens is not None and token not in self.api.tokens:
            self.fail(401, "Unauthorized", "who are you")
        elif not (self.api.hook and self.api.hook(self, request)):
            self.route(request)

    def route(self, request):
        if request.path == "/readyz" and self.api.has_readyz:
            self.reply(200, {})
            return
        found = PATH.match(request.path)
        if request.path == "/version":
            self.reply(200, {"major": "1", "minor": "36"})
        elif request.path in self.api.resources:
            self.reply(200, {"kind": "APIResourceList", "resources": self.api.resources[request.path]})
        elif not found:
            self.fail(404, "NotFound", "no such path")
        elif request.method == "GET" and not found["name"]:
            if "watch" in request.query:
                self.watch(found, request)
            else:
                self.list(found, request)
        else:
            getattr(self, "do_on_" + request.method)(found, request)

    # Answers.

    def reply(self, status, content, headers=()):
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def fail(self, status, reason, message, headers=()):
        self.reply(status, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "reason": reason,
                            "message": message}, headers)

    def drop(self):
        """The connection ends without an answer."""
        self.close_connection = True
        try:
            self.request.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    # Verbs.

    def matching(self, found):
        return [o for (ns, _), o in sorted(self.api.objects[found["plural"]].items())
                if not found["ns"] or ns == found["ns"]]

    def list(self, found, request):
        with self.api.changed:
            items, version = copy.deepcopy(self.matching(found)), self.api.version
        limit, start = int(request.query.get("limit", 0)), int(request.query.get("continue", 0))
        if start and self.api.page_fault:
            self.api.page_fault -= 1
            self.fail(410, "Expired", "the continue token is too old")
            return
        page = items[start:start + limit] if limit else items
        metadata = {"resourceVersion": str(version)}
        if limit and start + limit < len(items):
            metadata["continue"] = str(start + limit)
        self.reply(200, {"kind": "List", "metadata": metadata, "items": page})

    def send_event(self, kind, content, part=1.0):
        line = (json.dumps({"type": kind, "object": content}) + "\n").encode()
        line = line[:int(len(line) * part)]
        self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        self.wfile.flush()

    def watch(self, found, request):
        api, plural = self.api, found["plural"]
        end = time.monotonic() + int(request.query.get("timeoutSeconds", 600))
        is_initial = request.query.get("sendInitialEvents") == "true"
        if is_initial and not api.streams:
            self.fail(422, "Invalid", "sendInitialEvents is forbidden")
            return
        with api.changed:
            version = api.version if is_initial else int(request.query.get("resourceVersion") or 0)
            initial = copy.deepcopy(self.matching(found)) if is_initial else []
            expired, bookmarks = api.expired, api.bookmarks
            is_too_old, is_ahead, now = version < api.oldest, version > api.version, api.version
        if is_too_old:
            self.fail(410, "Expired", "too old resource version")
            return
        if is_ahead:
            self.fail(504, "Timeout", f"Too large resource version: {version}, current: {now}")
            return
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        for item in initial:
            self.send_event("ADDED", item)
        if is_initial:
            self.send_event("BOOKMARK", {"metadata": {"resourceVersion": str(version),
                                                      "annotations": {"k8s.io/initial-events-end": "true"}}})
        while time.monotonic() < end:
            with api.changed:
                news = [e for e in api.log if e[0] > version and e[1] == plural]
                if not news and api.expired == expired and api.bookmarks == bookmarks:
                    api.changed.wait(min(0.2, end - time.monotonic()))
                    if self.request not in api.connections:
                        return
                    continue
                news = copy.deepcopy(news)
                is_expired = api.expired != expired
                is_marked, bookmarks, now = api.bookmarks != bookmarks, api.bookmarks, api.version
                is_cut = bool(news) and api.cut_next > 0
                api.cut_next -= is_cut
            if is_expired:
                self.send_event("ERROR", {"kind": "Status", "code": 410, "reason": "Expired",
                                          "message": "too old resource version"})
                break
            for at, _, kind, content in news:
                self.send_event(kind, content, 0.5 if is_cut else 1.0)
                if is_cut:
                    self.drop()
                    return
                version = at
            if is_marked:
                self.send_event("BOOKMARK", {"metadata": {"resourceVersion": str(now)}})
                version = now
        self.wfile.write(b"0\r\n\r\n")

    def do_on_GET(self, found, request):
        content = self.api.get(found["plural"], found["name"], found["ns"] or "")
        if content:
            self.reply(200, content)
        else:
            self.fail(404, "NotFound", f"{found['plural']} \"{found['name']}\" not found")

    def do_on_POST(self, found, request):
        content = json.loads(self.body)
        if found["sub"] == "binding":
            self.bind(found, content)
            return
        name = content["metadata"]["name"]
        if self.api.get(found["plural"], name, found["ns"] or ""):
            self.fail(409, "AlreadyExists", f"{name} already exists")
            return
        fields = {k: v for k, v in content.items() if k != "metadata"}
        self.reply(201, self.api.put(found["plural"], name, found["ns"] or "", **fields))

    def bind(self, found, content):
        with self.api.changed:
            pod = self.api.get("pods", found["name"], found["ns"])
            if not pod:
                self.fail(404, "NotFound", "no such pod")
            elif pod.get("spec", {}).get("nodeName"):
                self.fail(409, "Conflict", "pod is already assigned to node")
            elif content["metadata"].get("uid") not in (None, pod["metadata"]["uid"]):
                self.fail(409, "Conflict", "precondition failed: UID")
            else:
                self.api.put("pods", found["name"], found["ns"], spec={"nodeName": content["target"]["name"]},
                             bindings=pod.get("bindings", 0) + 1)
                self.reply(201, {"kind": "Status", "status": "Success"})

    def do_on_PUT(self, found, request):
        content = json.loads(self.body)
        with self.api.changed:
            old = self.api.get(found["plural"], found["name"], found["ns"] or "")
            if not old:
                self.fail(404, "NotFound", "not found")
            elif old["metadata"]["resourceVersion"] != content["metadata"].get("resourceVersion"):
                self.fail(409, "Conflict", "the object has been modified")
            else:
                fields = {k: v for k, v in content.items() if k != "metadata"}
                self.reply(200, self.api.put(found["plural"], found["name"], found["ns"] or "", **fields))

    def do_on_PATCH(self, found, request):
        with self.api.changed:
            old = self.api.get(found["plural"], found["name"], found["ns"] or "")
            if not old:
                self.fail(404, "NotFound", "not found")
                return
            patch = json.loads(self.body)
            fields = {k: v for k, v in old.items() if k != "metadata"}
            if isinstance(patch, dict):
                fields.update({k: v for k, v in patch.items() if k != "metadata"})
            self.reply(200, self.api.put(found["plural"], found["name"], found["ns"] or "", **fields))

    def do_on_DELETE(self, found, request):
        options = json.loads(self.body or b"{}")
        with self.api.changed:
            old = self.api.get(found["plural"], found["name"], found["ns"] or "")
            wanted = options.get("preconditions", {}).get("uid")
            if not old:
                self.fail(404, "NotFound", "not found")
            elif wanted and wanted != old["metadata"]["uid"]:
                self.fail(409, "Conflict", "precondition failed: UID")
            else:
                self.api.remove(found["plural"], found["name"], found["ns"] or "")
                self.reply(200, {"kind": "Status", "status": "Success"})
