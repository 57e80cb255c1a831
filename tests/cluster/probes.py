"""The probes of a container: asked in a thread of their own, at the pace that the pod asks for."""

import http.client
import socket
import ssl
import threading


def port_number(container, port):
    if isinstance(port, int):
        return port
    return next(one["containerPort"] for one in container.get("ports", []) if one.get("name") == port)


def connect(container, get, address, seconds):
    host, port = get.get("host") or address, port_number(container, get["port"])
    if get.get("scheme") != "HTTPS":
        return http.client.HTTPConnection(host, port, timeout=seconds)
    # A kubelet does not check the certificate of a probe either.
    insecure = ssl._create_unverified_context()  # pylint: disable=protected-access
    return http.client.HTTPSConnection(host, port, timeout=seconds, context=insecure)


def ask(container, probe, address):
    """Whether the container answers well."""
    seconds = probe.get("timeoutSeconds", 1)
    try:
        if get := probe.get("httpGet"):
            connection = connect(container, get, address, seconds)
            try:
                connection.request("GET", get.get("path", "/"))
                return 200 <= connection.getresponse().status < 400
            finally:
                connection.close()
        if dial := probe.get("tcpSocket"):
            with socket.create_connection((address, port_number(container, dial["port"])), seconds):
                return True
    except (OSError, http.client.HTTPException):
        return False
    raise ValueError(f"probe of container {container['name']}: only httpGet and tcpSocket are supported")


class Prober(threading.Thread):
    """Asks one probe until it is stopped. report(kind, is_good) is called with each verdict: so many good or bad answers
    in a row as the probe asks for."""

    def __init__(self, container, kind, address, report):
        super().__init__(daemon=True)
        self.container, self.kind, self.address, self.report = container, kind, address, report
        self.over = threading.Event()
        self.start()

    def run(self):
        probe = self.container[self.kind]
        needed = {True: probe.get("successThreshold", 1), False: probe.get("failureThreshold", 3)}
        last, row, wait = None, 0, probe.get("initialDelaySeconds", 0)
        while not self.over.wait(wait):
            wait = probe.get("periodSeconds", 10)
            good = ask(self.container, probe, self.address)
            row = row + 1 if good == last else 1
            last = good
            if row == needed[good]:
                self.report(self.kind, good)

    def stop(self):
        self.over.set()
