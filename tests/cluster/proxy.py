"""Between a client and the API server, on TLS: hands requests on, and breaks what a test wants broken.

    with proxy.Proxy(cluster) as between:
        cluster.spawn("scheduler", MUSTER, "scheduler", kubeconfig=between.kubeconfig())
        between.conflict_every = 3

Whoever comes through it is the admin.
"""

import http.client
import http.server
import json
import ssl
import threading
import time
import urllib.parse

WRITES = ("POST", "PUT", "PATCH", "DELETE")


class Proxy:
    """What is 0 or None does not happen. Counts are of writes to anything but leases."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.conflict_every = 0   # such a write is refused with 409, and not handed on
        self.drop_every = 0       # such a write is done, and its answer lost
        self.delay = 0            # seconds that every answer is late
        self.is_refusing = False  # connections are closed at once
        self.hides = None         # a function of the path: what the server does not have
        self.loses = None         # a function of method and path: such requests are done, and their answers lost
        self.refuses = None       # a function of method and path: such requests get 403, as from a server that starts
        self.holds = None         # a function of method and path: such requests wait until it is None again
        self.stalls = None        # a function of the path: such answers stop coming, unfinished, until it is None again
        self.counts = {"writes": 0, "conflicts": 0, "dropped": 0, "cut": 0, "held": 0, "refused": 0, "forbidden": 0,
                       "stalled": 0}
        self.cuts = 0             # of the watches that are open: the next object of each ends in its middle
        self.lock = threading.Lock()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self.server.daemon_threads = True
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(cluster.credentials.path("server.crt"), cluster.credentials.path("server.key"))
        # The handshake is made in the thread of the connection: a slow client holds up nobody else.
        self.server.socket = tls.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def heal(self):
        """Nothing is broken any more."""
        self.conflict_every = self.drop_every = self.delay = 0
        self.is_refusing = False
        self.hides = self.loses = self.holds = self.refuses = self.stalls = None

    def __exit__(self, *_):
        self.holds = self.stalls = None
        self.server.shutdown()
        self.server.server_close()

    def kubeconfig(self):
        path = self.cluster.folder / f"proxy-{self.server.server_port}.json"
        authority = str(self.cluster.credentials.path("ca.crt"))
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "proxy",
            "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": "proxy"}}],
            "clusters": [{"name": "proxy", "cluster": {
                "server": f"https://127.0.0.1:{self.server.server_port}", "certificate-authority": authority}}],
            "users": [{"name": "proxy", "user": {}}],
        }))
        return str(path)

    def cut_watches(self):
        """Each watch that is open ends in the middle of its next object."""
        with self.lock:
            self.cuts += 1

    def count(self, what):
        with self.lock:
            self.counts[what] += 1
            return self.counts[what]

    def fate_of(self, method, path):
        """What happens to a request: "", "conflict" or "drop"."""
        if method not in WRITES or "/leases" in path:
            return ""
        number = self.count("writes")
        if self.loses and self.loses(method, path):
            return "drop"
        if self.conflict_every and number % self.conflict_every == 0:
            return "conflict"
        return "drop" if self.drop_every and number % self.drop_every == 0 else ""


def handler_of(proxy):
    url = urllib.parse.urlparse(proxy.cluster.server)
    tls = ssl.create_default_context(cafile=proxy.cluster.credentials.path("ca.crt"))

    class Handler(http.server.BaseHTTPRequestHandler):
        """One connection of the client, with one to the server."""

        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        upstream = None

        def log_message(self, *_):
            pass

        def handle(self):
            try:
                super().handle()
            except (http.client.HTTPException, OSError):
                pass
            finally:
                self.forget_upstream()

        def forget_upstream(self):
            if self.upstream:
                self.upstream.close()
            self.upstream = None

        def handle_any(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if proxy.is_refusing:
                proxy.count("refused")
                self.close_connection = True
                return
            if proxy.holds and proxy.holds(self.command, self.path):
                proxy.count("held")
                while proxy.holds:
                    time.sleep(0.02)
            if proxy.refuses and proxy.refuses(self.command, self.path):
                proxy.count("forbidden")
                self.refuse(403, "Forbidden", "no RBAC policy matched")
                return
            if proxy.hides and proxy.hides(self.path):
                self.refuse(404, "NotFound", "the server could not find the requested resource")
                return
            fate = proxy.fate_of(self.command, self.path)
            if fate == "conflict":
                proxy.count("conflicts")
                self.refuse(409, "Conflict", "the object has been modified")
                return
            response = self.ask(body)
            if proxy.delay:
                time.sleep(proxy.delay)
            if fate == "drop":
                response.read()
                proxy.count("dropped")
                self.close_connection = True
                return
            self.hand_on(response)

        def ask(self, body):
            """The server's answer; one that has gone away meanwhile is asked anew if it cannot have seen it."""
            if not self.upstream:
                self.upstream = http.client.HTTPSConnection(url.hostname, url.port, context=tls, timeout=600)
            left_out = ("host", "connection", "authorization")
            headers = {key: value for key, value in self.headers.items() if key.lower() not in left_out}
            headers["Authorization"] = f"Bearer {proxy.cluster.credentials.token}"
            self.upstream.request(self.command, self.path, body or None, headers)
            return self.upstream.getresponse()

        def hand_on(self, response):
            cuts = proxy.cuts
            self.send_response(response.status)
            for key, value in response.getheaders():
                if key.lower() not in ("transfer-encoding", "content-length", "connection"):
                    self.send_header(key, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            # What has a length is read whole: only a watch comes in pieces that matter.
            while data := response.read() if response.length is not None else response.read1(65536):
                if "watch=" in self.path and proxy.cuts != cuts:
                    self.cut(data)
                    return
                if proxy.stalls and proxy.stalls(self.path):
                    proxy.count("stalled")
                    while proxy.stalls:
                        time.sleep(0.02)
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.write(b"0\r\n\r\n")

        def cut(self, data):
            proxy.count("cut")
            half = data[:len(data) // 2]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(half), half))
            self.close_connection = True
            self.forget_upstream()

        def refuse(self, status, reason, message):
            data = json.dumps({"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": reason,
                               "message": message, "code": status}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

    return Handler
