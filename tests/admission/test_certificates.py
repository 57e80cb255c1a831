"""Certificates are made, renewed and trusted without anybody's help."""

import base64
import socket
import ssl
import subprocess
import threading
import time

from client import ApiError
from suite import Suite, expect, expect_in
from test_objects import PODS, pod
from webhooks import HOOKS, SECRET, SPACE, refusal

SUITE = Suite()
SHORT = ["--gpu-sharing-enabled", "--certificate-lifetime=12s", "--authority-lifetime=30s"]


def served_by(address):
    """The certificate that a replica shows, as text."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection((address, 9443), 10) as plain, context.wrap_socket(plain) as tls:
        return ssl.DER_cert_to_PEM_cert(tls.getpeercert(binary_form=True))


def in_secret(hooks, key):
    encoded = hooks.api.get(SECRET)["data"].get(key)
    return base64.b64decode(encoded).decode() if encoded else None


def certificates_in(text):
    return text.count("BEGIN CERTIFICATE")


@SUITE.test("a caBundle that somebody has removed is written again, and nothing else of the configuration")
def restored(hooks):
    path = list(HOOKS)[1]
    before = hooks.api.get(path)
    for number in range(2):
        hooks.api.patch(path, [{"op": "remove", "path": f"/webhooks/{number}/clientConfig/caBundle"}], "json")
    hooks.cluster.wait_until(hooks.is_trusted, "the caBundle is back")
    expect(hooks.api.get(path)["webhooks"], before["webhooks"])


@SUITE.test("replicas that start at the same moment agree on one certificate")
def agree(hooks):
    hooks.stop()
    hooks.api.delete(SECRET)
    for name in ("admission", "second", "third"):
        hooks.start("--gpu-sharing-enabled", name=name, is_ready=False)
    for name in ("admission", "second", "third"):
        hooks.wait_ready(name)
    expect({served_by(address) for address in hooks.addresses.values()}, {in_secret(hooks, "tls.crt")})
    changes = sum(hooks.figure("muster_admission_certificate_changes_total", name) for name in hooks.addresses)
    expect(changes, 1.0, "Secrets that were written")
    hooks.cluster.wait_until(lambda: refusal(hooks.api, PODS, pod(f"agreed-{time.monotonic_ns()}")) is None, "it is trusted")
    for name in ("second", "third"):
        expect(hooks.stop(name), 0, "status")


@SUITE.test("nobody but admission may read the keys")
def secret(hooks):
    hooks.cluster.kubectl("apply", "-f", hooks.rbac)
    for account in ("binder", "scheduler", "pod-grouper"):
        may = hooks.cluster.kubectl("auth", "can-i", "get", f"secret/{SECRET.rpartition('/')[2]}", "-n", SPACE,
                                    f"--as=system:serviceaccount:{SPACE}:{account}", check=False)
        expect(may.split()[-1], "no", account)
    may = hooks.cluster.kubectl("auth", "can-i", "list", "secrets", "-n", SPACE,
                                f"--as=system:serviceaccount:{SPACE}:admission", check=False)
    expect(may.split()[-1], "no", "admission and other Secrets")


@SUITE.test("the days that certificates have left are a metric")
def days(hooks):
    left = {which: hooks.figure(f'muster_admission_certificate_days_left{{certificate="{which}"}}')
            for which in ("serving", "authority")}
    expect(89 < left["serving"] <= 90 and 1094 < left["authority"] <= 1095, True, str(left))


class Load(threading.Thread):
    """Creates pods as fast as they are admitted, and notes what was refused and how many certificates a caBundle has."""

    def __init__(self, hooks):
        super().__init__(daemon=True)
        self.hooks, self.is_over, self.count, self.refused = hooks, False, 0, []
        self.start()

    def run(self):
        api = self.hooks.cluster.client()
        while not self.is_over:
            self.count += 1
            try:
                api.create(PODS, pod(f"load-{self.count}", {"gpu-fraction": "0.25"}))
            except ApiError as error:
                self.refused.append(error.message)


@SUITE.test("certificates and their authority are rotated under load without one refused pod")
def rotation(hooks):
    hooks.stop()
    hooks.api.delete(SECRET)
    for name in ("admission", "second"):
        hooks.start(*SHORT, name=name, is_ready=False)
    for name in ("admission", "second"):
        hooks.wait_ready(name)
    hooks.cluster.wait_until(lambda: refusal(hooks.api, PODS, pod(f"first-{time.monotonic_ns()}")) is None, "it is trusted")
    load = Load(hooks)
    authorities, served, most = set(), set(), 0

    def has_turned():
        nonlocal most
        authorities.add(in_secret(hooks, "ca.crt"))
        served.update(served_by(address) for name, address in hooks.addresses.items()
                      if hooks.cluster.processes.alive(name))
        most = max(most, *(certificates_in(base64.b64decode(bundle).decode()) for bundle in hooks.bundles()))
        return len(authorities) >= 2 and len(served) >= 3

    try:
        hooks.cluster.wait_until(has_turned, "two authorities and three certificates", 180)
    finally:
        load.is_over = True
        load.join()
    expect(load.refused, [], f"refused of {load.count}")
    expect(most >= 2, True, "old and new authority trusted at once")
    expect(load.count > 20, True, "load")
    expect(hooks.stop("second"), 0, "status")


@SUITE.test("what is served is what openssl takes for good")
def verified(hooks):
    hooks.stop()
    hooks.start("--gpu-sharing-enabled")
    folder = hooks.cluster.folder
    (folder / "ca.pem").write_text(in_secret(hooks, "ca.crt"))
    (folder / "tls.pem").write_text(served_by(hooks.addresses["admission"]))
    done = subprocess.run(["openssl", "verify", "-purpose", "sslserver", "-verify_hostname", f"admission.{SPACE}.svc",
                           "-CAfile", folder / "ca.pem", folder / "tls.pem"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    expect_in("OK", done.stdout)
    expect_in("muster-admission", subprocess.run(
        ["openssl", "x509", "-in", folder / "tls.pem", "-noout", "-subject"], stdout=subprocess.PIPE, text=True,
        check=False).stdout)
