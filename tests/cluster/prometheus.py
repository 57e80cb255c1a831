"""Prometheus for tests: one that says what it is told to, and the real one on figures that a test sets."""

import http.server
import json
import os
import pathlib
import re
import shutil
import threading
import time
import urllib.parse

METRICS = {"kai_queue_allocated_gpus": "gpu", "kai_queue_allocated_cpu_cores": "cpu",
           "kai_queue_allocated_memory_bytes": "memory"}
RESOURCES = {"gpu": "nvidia_com_gpu", "cpu": "cpu", "memory": "memory"}


class Server:
    """An HTTP server in a thread; `answer(path, fields, headers)` gives status, type and body."""

    def __init__(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # pylint: disable=invalid-name
                parts = urllib.parse.urlsplit(self.path)
                status, kind, body = outer.answer(parts.path, dict(urllib.parse.parse_qsl(parts.query)), self.headers)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            """Who asks may be gone before the answer."""

            daemon_threads = True

            def handle_error(self, *_):  # pylint: disable=arguments-differ
                pass

        self.server = Quiet(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self.server.server_address[1]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path, fields, headers):
        raise NotImplementedError


class Pretended(Server):
    """Knows sums of what queues had, {queue: {"gpu": 1.0}}, of a cluster that had 1 of everything in sum. `fails` is what
    it answers instead, as a status and a body."""

    def __init__(self):
        self.used, self.fails, self.asked, self.headers = {}, None, [], []
        super().__init__()

    def answer(self, path, fields, headers):
        self.asked.append(fields.get("query", ""))
        self.headers.append(headers.get("Authorization"))
        if path != "/api/v1/query":
            return 404, "text/plain", b"no such page"
        if self.fails:
            return self.fails[0], "application/json", self.fails[1].encode()
        result = [{"metric": {}, "value": [time.time(), "1"]}]
        for metric, resource in METRICS.items():
            if metric in fields["query"]:
                result = [{"metric": {"queue_name": queue, "instance": "x"}, "value": [time.time(), str(parts[resource])]}
                          for queue, parts in self.used.items() if resource in parts]
        return 200, "application/json", json.dumps(
            {"status": "success", "data": {"resultType": "vector", "result": result}}).encode()

    def windows(self):
        """Ranges that were asked for, in seconds."""
        return [int(found[1]) / (1000 if found[2] else 1)
                for found in (re.search(r"\[(\d+)(m?)s:", one) for one in self.asked) if found]


class Figures(Server):
    """What is scraped: what queues have now, and the cluster."""

    def __init__(self, capacity):
        self.capacity, self.allocated = capacity, {}
        super().__init__()

    def answer(self, path, fields, headers):
        lines = [f'kube_node_status_capacity{{resource="{name}",node="n"}} {self.capacity[resource]}'
                 for resource, name in RESOURCES.items()]
        lines += [f'{metric}{{queue_name="{queue}"}} {parts.get(resource, 0)}'
                  for metric, resource in METRICS.items() for queue, parts in self.allocated.items()]
        return 200, "text/plain; version=0.0.4", ("\n".join(lines) + "\n").encode()


def program():
    """The real one, where it is installed; else None."""
    return os.environ.get("PROMETHEUS") or shutil.which("prometheus")


def start(cluster, figures, port, more_ports=()):
    """The real one, on the figures and on what is served at other ports, every second."""
    targets = [f"127.0.0.1:{one}" for one in (figures.port, *more_ports)]
    folder = pathlib.Path(cluster.folder) / "prometheus"
    folder.mkdir(exist_ok=True)
    # What an earlier one has seen would count for some minutes more.
    shutil.rmtree(folder / "data", ignore_errors=True)
    (folder / "config.yml").write_text(json.dumps({
        "global": {"scrape_interval": "1s"},
        "scrape_configs": [{"job_name": "figures", "static_configs": [{"targets": targets}]}]}))
    cluster.spawn("prometheus", program(), f"--config.file={folder}/config.yml", f"--storage.tsdb.path={folder}/data",
                  f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn")
