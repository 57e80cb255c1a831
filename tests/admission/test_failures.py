"""Without an answer of the webhooks nothing of ours is created, and everything else is."""

import os
import signal

from suite import Suite, expect_in
from test_objects import PODS, pod
from webhooks import HOOKS, SPACE, refusal

SUITE = Suite()


def check(hooks, name, *reasons):
    """Our pod is refused for one of the reasons; pods of other schedulers, of kube-system and of Muster are created."""
    said = refusal(hooks.api, PODS, pod(name, {"gpu-fraction": "0.5"})) or "created"
    expect_in("failed calling webhook", said)
    if not any(reason in said for reason in reasons):
        raise AssertionError(f"{reasons} not in {said!r}")
    hooks.api.create(PODS, pod(f"{name}-other", scheduler="default-scheduler"))
    for space in ("kube-system", SPACE):
        hooks.api.create(f"/api/v1/namespaces/{space}/pods", pod(name))
    # Pods that services make: those that keep shared GPUs, and those that stand for nodes to come.
    for space in ("kai-resource-reservation", "kai-scale-adjust"):
        hooks.api.create(f"/api/v1/namespaces/{space}/pods", pod(name, scheduler="default-scheduler"))
    hooks.api.patch(f"{PODS}/{name}-other", {"metadata": {"labels": {"may": "change"}}})


def hurry(hooks, seconds):
    """How long the API server waits for an answer."""
    for path, count in HOOKS.items():
        hooks.api.patch(path, [{"op": "replace", "path": f"/webhooks/{number}/timeoutSeconds", "value": seconds}
                               for number in range(count)], "json")


@SUITE.test("with no replica our pods are refused with the reason, all others are created")
def down(hooks):
    hooks.stop()
    check(hooks, "down", "no endpoints available", "no service endpoint", "no endpoint")
    hooks.start("--gpu-sharing-enabled")


@SUITE.test("a replica that is gone without a word is an error with a reason as well")
def crashed(hooks):
    hooks.cluster.kill("admission")
    check(hooks, "crashed", "connection refused")
    hooks.start("--gpu-sharing-enabled")


@SUITE.test("with a replica that does not answer in time our pods are refused with the reason, all others are created")
def slow(hooks):
    hurry(hooks, 1)
    process = hooks.cluster.processes.pid("admission")
    os.kill(process, signal.SIGSTOP)
    try:
        check(hooks, "slow", "deadline exceeded", "Timeout exceeded")
    finally:
        os.kill(process, signal.SIGCONT)
    hurry(hooks, 10)
    hooks.cluster.wait_until(lambda: refusal(hooks.api, PODS, pod("quick-again", {"gpu-fraction": "0.5"})) is None,
                             "it answers again")


@SUITE.test("with a certificate that has expired our pods are refused with the reason, all others are created")
def expired(hooks):
    environment = hooks.clock(-40 * 24 * 3600)
    hooks.stop()
    hooks.api.delete(hooks.secret)
    hooks.start("--gpu-sharing-enabled", "--certificate-lifetime=24h", "--authority-lifetime=48h",
                environment=environment)
    check(hooks, "expired", "certificate has expired")
    hooks.stop()
    # Whoever comes next finds certificates that cannot be used, and replaces them.
    hooks.start("--gpu-sharing-enabled")
    hooks.cluster.wait_until(lambda: refusal(hooks.api, PODS, pod("trusted-again", {"gpu-fraction": "0.5"})) is None,
                             "the new certificate is trusted")
