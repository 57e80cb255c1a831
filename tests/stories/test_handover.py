"""Upgrades and drained nodes: services are told to stop while there is work, and others go on with it."""

from place import MUSTER, SERVICES, Stories
from suite import expect

SUITE = Stories()
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kai-scheduler/leases/kai-scheduler"
# Whoever waits for the end of such a lease waits for longer than any test. Few writes a second, so that work is left.
REPLICA = ["--leader-elect", "--namespace=kai-scheduler", "--lease-duration=600s", "--lease-renew-deadline=500s",
           "--lease-retry-period=1s"]
SLOW = ["--qps=4", "--burst=1"]
PODS = 24


@SUITE.test("a scheduler that is told to stop hands its lease over at once, and another one binds the rest of the load")
def _(here):
    here.job("before", gpus=1)
    here.running("before")
    here.restart(*REPLICA, *SLOW)
    first = here.cluster.wait_for(LEASE, lambda one: one["spec"].get("holderIdentity"))["spec"]["holderIdentity"]
    here.cluster.spawn("scheduler-2", MUSTER, "scheduler", *SERVICES["scheduler"][0], *REPLICA,
                       kubeconfig=here.kubeconfigs["scheduler"])
    try:
        here.job("load", gpus=1, count=PODS)
        bound = len(here.running("load", 3))
        print(f"# {bound} of {PODS} pods ran when the first one was told to stop")
        expect(bound < PODS, True, "some of the load is left")
        expect(here.stop("scheduler"), 0, "the status of the first one")
        here.cluster.wait_for(LEASE, lambda one: one["spec"].get("holderIdentity") not in ("", None, first))
        here.running("load", PODS)
    finally:
        expect(here.stop("scheduler-2"), 0, "the status of the second one")
        here.serve("scheduler")
