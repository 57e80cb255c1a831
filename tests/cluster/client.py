"""A small client of the Kubernetes API: JSON in, JSON out, one connection."""

import http.client
import json
import queue
import socket
import ssl
import threading
import time
import urllib.parse

PATCHES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
PATIENCE = 100


class ApiError(Exception):
    """What the API server refused."""

    def __init__(self, status, data):
        try:
            answer = json.loads(data)
        except ValueError:
            answer = {}
        self.status = status
        self.reason = answer.get("reason", "")
        self.message = answer.get("message") or data[:500].decode(errors="replace")
        super().__init__(f"{status} {self.reason}: {self.message}")


class Client:
    """One connection, for one thread."""

    def __init__(self, server, token, ca_file):
        self.url = urllib.parse.urlparse(server)
        self.token = token
        self.tls = ssl.create_default_context(cafile=ca_file)
        self.connection = None

    def connect(self, timeout=60):
        connection = http.client.HTTPSConnection(self.url.hostname, self.url.port, context=self.tls, timeout=timeout)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def request(self, connection, method, path, body=None, kind="application/json"):
        headers = {"Content-Type": kind, "Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        return connection.getresponse()

    def call(self, method, path, body=None, kind="application/json"):
        """The answer; an ApiError if it is not of the 200s. Whoever is asked to come again later does so."""
        for _ in range(PATIENCE):
            try:
                return self.call_once(method, path, body, kind)
            except ApiError as error:
                if error.status != 429:
                    raise
                time.sleep(0.1)
        return self.call_once(method, path, body, kind)

    def call_once(self, method, path, body, kind):
        if self.connection:
            try:
                return self.answer(method, path, body, kind)
            except (http.client.RemoteDisconnected, ConnectionError):
                # An idle connection that the server has closed meanwhile.
                self.close()
        self.connection = self.connect()
        return self.answer(method, path, body, kind)

    def answer(self, method, path, body, kind):
        try:
            response = self.request(self.connection, method, path, body, kind)
            data = response.read()
        except (http.client.HTTPException, OSError):
            self.close()
            raise
        if not 200 <= response.status < 300:
            raise ApiError(response.status, data)
        return json.loads(data) if response.headers.get_content_type() == "application/json" else data.decode()

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def get(self, path):
        return self.call("GET", path)

    def items(self, path):
        return self.get(path)["items"]

    def create(self, path, body):
        return self.call("POST", path, body)

    def replace(self, path, body):
        return self.call("PUT", path, body)

    def patch(self, path, body, how="merge"):
        return self.call("PATCH", path, body, PATCHES[how])

    def delete(self, path):
        return self.call("DELETE", path)

    def watch(self, path, seconds=10):
        """Yields the events of a watch as they come, until the server ends it."""
        connection = self.connect(timeout=seconds + 5)
        try:
            mark = "&" if "?" in path else "?"
            response = self.request(connection, "GET", f"{path}{mark}watch=1&timeoutSeconds={seconds}")
            if response.status != 200:
                raise ApiError(response.status, response.read())
            while line := response.readline():
                yield json.loads(line)
        finally:
            connection.close()


def in_parallel(make_client, items, work, threads=8):
    """work(client, item) for each item; the first error is raised when all have ended."""
    waiting, errors = queue.SimpleQueue(), []
    for item in items:
        waiting.put(item)

    def run():
        client = make_client()
        while not errors:
            try:
                work(client, waiting.get_nowait())
            except queue.Empty:
                break
            except Exception as error:  # pylint: disable=broad-except
                errors.append(error)
        client.close()

    workers = [threading.Thread(target=run) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise errors[0]
