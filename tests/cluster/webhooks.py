"""`muster admission` as an API server meets it: behind its Service, at an address that Kubernetes takes for an endpoint.

The bed has to be in a network of its own, see network.enter(). Replicas are processes of the bed; each has an address.
"""

import http.client
import urllib.request

import bed
import clock
import network
import roles
import suite

ROOT = bed.ROOT
SPACE = "kai-scheduler"
SLICES = f"/apis/discovery.k8s.io/v1/namespaces/{SPACE}/endpointslices"
SECRET = f"/api/v1/namespaces/{SPACE}/secrets/kai-admission-webhook-tls-secret"
HOOKS = {
    f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations/{name}": count
    for kind, name, count in (
        ("mutating", "mutating-kai-admission", 1), ("validating", "validating-kai-admission", 2),
        ("validating", "kai-queue-validation-v2", 1), ("validating", "kai-podgroup-validation-v2alpha2", 1))
}


class Webhooks:
    """The configurations of deploy/webhooks.yaml, and replicas with the rights of deploy/rbac/admission.yaml."""

    secret = SECRET
    rbac = ROOT / "deploy" / "rbac"

    def __init__(self, cluster, muster):
        self.cluster, self.api, self.muster = cluster, cluster.api, muster
        self.addresses, self.probes, self.metrics = {}, {}, {}
        cluster.kubectl("apply", "-f", ROOT / "deploy" / "namespaces.yaml", "-f", ROOT / "deploy" / "rbac" / "admission.yaml")
        cluster.kubectl("apply", "-f", ROOT / "deploy" / "webhooks.yaml")
        # The API server wants a runtime class to exist before a pod names it.
        self.api.create("/apis/node.k8s.io/v1/runtimeclasses", {"metadata": {"name": "nvidia"}, "handler": "nvidia"})
        # The endpoints are those of replicas that are no pods.
        self.api.patch(f"/api/v1/namespaces/{SPACE}/services/admission", {"spec": {"selector": None}})
        self.kubeconfig = roles.kubeconfig(cluster, "admission")

    def start(self, *flags, name="admission", environment=None, is_ready=True):
        """Starts a replica and makes it an endpoint once it serves."""
        if name not in self.addresses:
            self.addresses[name] = network.address(100 + len(self.addresses))
            network.ip("addr", "replace", f"{self.addresses[name]}/32", "dev", network.BRIDGE)
        self.probes[name], self.metrics[name] = bed.free_ports(2)
        words = [self.muster, "admission", f"--kubeconfig={self.kubeconfig}", f"--namespace={SPACE}",
                 f"--webhook-addr={self.addresses[name]}:9443", f"--metrics-bind-address=127.0.0.1:{self.metrics[name]}",
                 f"--health-probe-bind-address=127.0.0.1:{self.probes[name]}", "--v=4", *flags]
        self.cluster.processes.spawn(name, words, environment)
        if is_ready:
            self.wait_ready(name)
        self.publish()

    def wait_ready(self, name="admission"):
        self.cluster.wait_until(lambda: self.ask(self.probes[name], "/readyz") == "ok", f"{name} is ready")
        self.cluster.wait_until(self.is_trusted, "every configuration has a caBundle")

    def stop(self, name="admission"):
        """Takes a replica out of the endpoints and ends it, in this order as Kubernetes would."""
        self.publish(without=name)
        return self.cluster.stop(name)

    def clock(self, offset):
        """An environment in which the clock is off by so many seconds."""
        file = self.cluster.folder / "clock"
        file.write_text(str(offset))
        built = clock.library(self.cluster.folder)
        if not built:
            raise suite.Skip("no compiler")
        return clock.environment(built, file)

    def publish(self, without=None):
        """Tells the API server which replicas there are."""
        ready = [address for name, address in self.addresses.items()
                 if name != without and self.cluster.processes.alive(name)]
        body = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
                "metadata": {"name": "admission-by-hand", "labels": {"kubernetes.io/service-name": "admission"}},
                "ports": [{"name": "webhooks", "port": 9443, "protocol": "TCP"}],
                "endpoints": [{"addresses": [address], "conditions": {"ready": True}} for address in ready]}
        try:
            self.api.create(SLICES, body)
        except bed.client.ApiError as error:
            if error.status != 409:
                raise
            self.api.replace(f"{SLICES}/admission-by-hand", body)

    def bundles(self):
        """The caBundles of all webhooks; those that are missing are None."""
        return [hook["clientConfig"].get("caBundle") for path in HOOKS for hook in self.api.get(path)["webhooks"]]

    def is_trusted(self):
        return all(self.bundles())

    @staticmethod
    def ask(port, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
                return answer.read().decode()
        except (OSError, http.client.HTTPException):
            return None

    def figure(self, series, name="admission"):
        """A figure of a replica's metrics, by the whole name of the series; None where there is none."""
        for line in (self.ask(self.metrics[name], "/metrics") or "").splitlines():
            if line.rpartition(" ")[0] == series:
                return float(line.rpartition(" ")[2])
        return None


def refusal(api, path, body):
    """What the API server says when it refuses the object; None when it takes it."""
    try:
        api.create(path, body)
    except bed.client.ApiError as error:
        return error.message
    return None
