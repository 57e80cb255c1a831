"""Between a client and the API server: hands requests on, and refuses some of them as a busy server would."""

import http.client
import http.server
import json
import ssl
import threading
import urllib.parse

WRITES = ("POST", "PUT", "PATCH", "DELETE")


class Proxy:
    """Every `nth` write is refused with a conflict, if given. Plain HTTP on the client's side."""

    def __init__(self, cluster, nth=0):
        self.cluster = cluster
        self.nth = nth
        self.writes = 0
        self.refused = 0
        self.lock = threading.Lock()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def kubeconfig(self):
        path = self.cluster.folder / "proxy.json"
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "proxy",
            "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": "proxy"}}],
            "clusters": [{"name": "proxy", "cluster": {"server": f"http://127.0.0.1:{self.server.server_port}"}}],
            "users": [{"name": "proxy", "user": {}}],
        }))
        return str(path)

    def refuses(self, method):
        if method not in WRITES:
            return False
        with self.lock:
            self.writes += 1
            is_refused = self.nth and self.writes % self.nth == 0
            self.refused += bool(is_refused)
            return is_refused


def handler_of(proxy):
    cluster = proxy.cluster
    url = urllib.parse.urlparse(cluster.server)
    tls = ssl.create_default_context(cafile=cluster.credentials.path("ca.crt"))

    class Handler(http.server.BaseHTTPRequestHandler):
        """One connection of the client, with one to the server."""

        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        upstream = None

        def log_message(self, *_):
            pass

        def handle_any(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if proxy.refuses(self.command):
                self.refuse()
                return
            if not self.upstream:
                self.upstream = http.client.HTTPSConnection(url.hostname, url.port, context=tls, timeout=600)
            headers = {key: value for key, value in self.headers.items() if key.lower() not in ("host", "connection")}
            headers["Authorization"] = f"Bearer {cluster.credentials.token}"
            self.upstream.request(self.command, self.path, body or None, headers)
            self.hand_on(self.upstream.getresponse())

        def hand_on(self, response):
            self.send_response(response.status)
            for key, value in response.getheaders():
                if key.lower() not in ("transfer-encoding", "content-length", "connection"):
                    self.send_header(key, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                # What has a length is read whole: only a watch comes in pieces that matter.
                while data := response.read() if response.length is not None else response.read1(65536):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.write(b"0\r\n\r\n")
            except (http.client.HTTPException, OSError):
                self.close_connection = True
                self.upstream.close()
                self.upstream = None

        def refuse(self):
            data = json.dumps({"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "Conflict",
                               "message": "the object has been modified", "code": 409}).encode()
            self.send_response(409)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

    return Handler
