"""What goes wrong, and what is left of it."""

import random
import time

import proxy
import world
from gpu_operator import GPU_KEY, GROUP_KEY, RESERVED, gpu_of
from suite import Suite, expect, expect_in
from test_binds import allocation, claim_spec, make_claim, make_class, make_volume, volume_pod
from world import CLAIMS, MAPS, PODS, REQUESTS, fraction_pod, pod

SUITE = Suite()
NODE = "node-00001"


def wait_failed(here, name, part, seconds=20):
    failed = here.wait_phase(name, "Failed", seconds)
    expect_in(part, failed["status"]["reason"], "reason")
    told = here.cluster.wait_for(f"{PODS}/{name}", lambda one: world.condition(one, "PodBound"))
    expect(told["spec"].get("nodeName"), None)
    found = world.condition(told, "PodBound")
    node = failed["spec"]["selectedNode"]
    expect((found["status"], found["reason"]), ("False", "BindingError"))
    expect(found["message"], f"Failed to bind pod default/{name} to node {node}: {failed['status']['reason']}")
    here.cluster.wait_until(lambda: here.events(name, "BindingError"), "the event")
    event = here.events(name, "BindingError")[0]
    expect((event["type"], event["message"]), ("Warning", found["message"]))
    return told


@SUITE.test("a node that is not there is an error of the request and of the pod")
def _(here):
    here.start("--resource-reservation-allocation-timeout=2", '--plugins={"volumebinding":{"enabled":true,'
               '"priority":300,"arguments":{"bindTimeoutSeconds":"2"}}}')
    here.bind(pod("lost"), "no-such-node")
    wait_failed(here, "lost", "no-such-node")
    here.clear()


@SUITE.test("a request that may be tried again is, and each attempt is counted")
def _(here):
    here.bind(pod("again"), "node-late", backoffLimit=3)
    wait_failed(here, "again", "node-late")
    here.cluster.wait_for(f"{REQUESTS}/again", lambda one: one["status"].get("failedAttempts", 0) == 1)
    here.cluster.wait_for(f"{REQUESTS}/again", lambda one: one["status"].get("failedAttempts", 0) == 2)
    here.api.create("/api/v1/nodes", {"metadata": {"name": "node-late"}})
    here.wait_bound("again", "node-late")
    here.wait_phase("again", "Succeeded")
    here.clear()
    here.api.delete("/api/v1/nodes/node-late")


@SUITE.test("a request for a part of a GPU that names none is deleted")
def _(here):
    here.bind(fraction_pod("corrupt"), NODE, "Fraction", portion="0.50")
    here.cluster.wait_gone(f"{REQUESTS}/corrupt")
    expect(here.api.get(f"{PODS}/corrupt")["spec"].get("nodeName"), None)
    here.clear()


@SUITE.test("a reservation pod that does not say its GPU in time is removed")
def _(here):
    here.operator.is_paused = True
    here.bind(fraction_pod("mute"), NODE, "Fraction", portion="0.50", groups=["group-mute"])
    here.cluster.wait_until(here.reservations, "the reservation pod")
    told = wait_failed(here, "mute", "did not report its GPU within 2s")
    here.cluster.wait_until(lambda: not here.reservations(), "the reservation pod is removed")
    expect(told["metadata"].get("labels"), None)
    here.operator.is_paused = False
    here.clear()


@SUITE.test("a part of a GPU that did not come is tried again")
def _(here):
    here.operator.is_paused = True
    here.bind(fraction_pod("later"), NODE, "Fraction", portion="0.50", groups=["group-later"], backoffLimit=2)
    here.wait_phase("later", "Failed")
    here.operator.is_paused = False
    here.wait_bound("later", NODE)
    expect(here.wait_phase("later", "Succeeded")["status"]["failedAttempts"], 1)
    log = here.cluster.processes.log_of("binder", 1 << 20)
    made = [line for line in log.splitlines() if "GPU reserved" in line and "group=group-later" in line]
    expect(len(made), 2, "reservation pods, one for each attempt")
    here.clear()


@SUITE.test("what was done is taken back when a later step fails")
def _(here):
    here.api.create(CLAIMS, {"metadata": {"name": "first"}, "spec": claim_spec()})
    manifest = fraction_pod("undone")
    manifest["spec"]["resourceClaims"] = [{"name": "a", "resourceClaimName": "first"}]
    del manifest["metadata"]["annotations"]["runai/shared-gpu-configmap"]
    here.bind(manifest, NODE, "Fraction", portion="0.50", groups=["group-undone"],
              resourceClaimAllocations=[{"name": "a", "allocation": allocation()}])
    wait_failed(here, "undone", "plugin gpusharing failed in PreBind: the pod has no annotation")
    here.cluster.wait_until(lambda: not here.reservations(), "the GPU is given back")
    expect(here.api.get(f"{PODS}/undone")["metadata"].get("labels", {}), {})
    expect(here.api.get(f"{CLAIMS}/first").get("status", {}), {})
    here.clear()
    here.api.delete(f"{CLAIMS}/first")


@SUITE.test("volumes that do not come in time are given up")
def _(here):
    here.cluster.stop("kube-controller-manager")
    claims = "/api/v1/namespaces/default/persistentvolumeclaims"
    make_class(here, "slow", "example.com/slow")
    make_claim(here, "slow-claim", "slow")
    here.bind(volume_pod("slow-pod", "slow-claim"), NODE)
    here.cluster.wait_for(f"{claims}/slow-claim", lambda one: "annotations" in one["metadata"])
    wait_failed(here, "slow-pod", "timed out")
    annotations = here.api.get(f"{claims}/slow-claim")["metadata"].get("annotations", {})
    expect("volume.kubernetes.io/selected-node" in annotations, False)
    here.api.delete(f"{PODS}/slow-pod?gracePeriodSeconds=0")
    here.api.delete(f"{REQUESTS}/slow-pod")
    here.cluster.start("kube-controller-manager")


@SUITE.test("a volume that was given to a claim is taken back")
def _(here):
    make_class(here, "kept", "kubernetes.io/no-provisioner")
    make_volume(here, "kept", "kept", "20Gi")
    here.cluster.stop("kube-controller-manager")
    make_claim(here, "kept-claim", "kept")
    path = "/api/v1/persistentvolumes/kept"
    here.bind(volume_pod("kept-pod", "kept-claim"), NODE)
    here.cluster.wait_for(path, lambda one: "claimRef" in one["spec"])
    wait_failed(here, "kept-pod", "timed out")
    expect("claimRef" in here.api.get(path)["spec"], False)
    here.api.delete(f"{PODS}/kept-pod?gracePeriodSeconds=0")
    here.api.delete(f"{REQUESTS}/kept-pod")
    here.cluster.start("kube-controller-manager")


@SUITE.test("a pod of the same name that was not meant is left alone")
def _(here):
    here.cluster.stop("kube-controller-manager")
    here.stop()
    old = here.api.create(PODS, pod("same"))
    here.api.delete(f"{PODS}/same?gracePeriodSeconds=0")
    here.api.create(PODS, pod("same"))
    here.api.create(REQUESTS, world.request(old, NODE))
    here.cluster.start("binder")
    failed = here.wait_phase("same", "Failed")
    expect_in("another pod of the same name", failed["status"]["reason"])
    young = here.api.get(f"{PODS}/same")
    expect((young["spec"].get("nodeName"), world.condition(young, "PodBound")), (None, None))
    here.cluster.start("kube-controller-manager")
    here.clear()


@SUITE.test("no GPU is reserved while the cluster grows")
def _(here):
    path = "/api/v1/namespaces/kai-scale-adjust/pods"
    here.cluster.wait_for("/api/v1/namespaces/kai-scale-adjust/serviceaccounts/default")
    here.api.create(path, pod("scaler"))
    time.sleep(0.3)
    here.bind(fraction_pod("growing"), NODE, "Fraction", portion="0.50", groups=["group-growing"])
    wait_failed(here, "growing", "cluster is scaling up, could not create reservation pod")
    here.api.delete(f"{path}/scaler?gracePeriodSeconds=0")
    here.clear()


@SUITE.test("a request that is withdrawn leaves nothing behind")
def _(here):
    here.operator.is_paused = True
    here.bind(fraction_pod("withdrawn"), NODE, "Fraction", portion="0.50", groups=["group-withdrawn"])
    here.cluster.wait_until(here.reservations, "the reservation pod")
    here.api.delete(f"{REQUESTS}/withdrawn")
    here.cluster.wait_until(lambda: not here.reservations(), "the reservation pod is removed")
    here.operator.is_paused = False
    time.sleep(0.5)
    expect(here.api.get(f"{PODS}/withdrawn")["spec"].get("nodeName"), None)
    expect(here.api.get(f"{PODS}/withdrawn")["metadata"].get("labels"), None)
    here.clear()


@SUITE.test("pods whose GPU nobody keeps any more are ended")
def _(here):
    here.bind(fraction_pod("orphan"), NODE, "Fraction", portion="0.50", groups=["group-orphan"])
    here.wait_bound("orphan", NODE)
    here.cluster.wait_for(f"{PODS}/orphan", lambda one: one["status"]["phase"] == "Running")
    keeper, = here.reservations()
    here.api.delete(f"{RESERVED}/{keeper['metadata']['name']}?gracePeriodSeconds=0")
    here.cluster.wait_gone(f"{PODS}/orphan")
    here.clear()


@SUITE.test("a binder that was killed before the bind goes on where it was")
def _(here):
    here.operator.is_paused = True
    here.bind(fraction_pod("crash"), NODE, "Fraction", portion="0.50", groups=["group-crash"])
    keeper, = here.cluster.wait_until(here.reservations, "the reservation pod")
    here.cluster.kill("binder")
    here.operator.is_paused = False
    here.cluster.wait_for(f"{RESERVED}/{keeper['metadata']['name']}",
                          lambda one: GPU_KEY in one["metadata"]["annotations"])
    here.cluster.start("binder")
    here.wait_bound("crash", NODE)
    expect([one["metadata"]["uid"] for one in here.reservations()], [keeper["metadata"]["uid"]])
    here.clear()


@SUITE.test("GPUs that nobody uses are given back at the start")
def _(here):
    here.bind(fraction_pod("before"), NODE, "Fraction", portion="0.50", groups=["group-before"])
    here.wait_bound("before", NODE)
    here.stop()
    here.api.delete(f"{PODS}/before?gracePeriodSeconds=0")
    here.cluster.wait_gone(f"{REQUESTS}/before")
    expect(len(here.reservations()), 1)
    here.cluster.start("binder")
    here.clear()


@SUITE.test("a pod that a killed binder left in a group does not keep its GPU")
def _(here):
    here.operator.is_paused = True
    here.bind(fraction_pod("stray"), NODE, "Fraction", portion="0.50", groups=["group-stray"])
    here.cluster.wait_until(here.reservations, "the reservation pod")
    here.cluster.kill("binder")
    here.operator.is_paused = False
    here.api.patch(f"{PODS}/stray", {"metadata": {"labels": {GROUP_KEY: "group-stray", "own": "stays"}}})
    here.api.delete(f"{REQUESTS}/stray")
    here.cluster.start("binder")
    here.cluster.wait_until(lambda: not here.reservations(), "the GPU is given back")
    expect(here.api.get(f"{PODS}/stray")["metadata"]["labels"], {"own": "stays"})
    here.clear()


def mixed_load(here, prefix, count):
    """Plain pods and pods that share GPUs, three on each."""
    names = [f"{prefix}-{number}" for number in range(count)]
    for number, name in enumerate(names):
        if number % 2:
            here.bind(fraction_pod(name, "0.3"), NODE, "Fraction", portion="0.30", groups=[f"{prefix}-{number // 6}"])
        else:
            here.bind(pod(name), NODE)
    return names


def check_all(here, names):
    for name in names:
        bound = here.wait_bound(name, NODE, 60)
        here.wait_phase(name, "Succeeded")
        group = bound["metadata"].get("labels", {}).get(GROUP_KEY)
        if group:
            expect(here.api.get(f"{MAPS}/{name}-shared-0-evar")["data"], {"NVIDIA_VISIBLE_DEVICES": gpu_of(group)})
    groups = [one["metadata"]["labels"][GROUP_KEY] for one in here.reservations()]
    expect(sorted(groups), sorted(set(groups)), "one reservation pod for a GPU")
    here.clear()


@SUITE.test("a binder that is killed again and again binds each pod once")
def _(here):
    chance = random.Random(7)
    names = mixed_load(here, "killed", 60)
    for _ in range(8):
        time.sleep(chance.uniform(0.02, 0.3))
        here.cluster.kill("binder")
        here.cluster.start("binder")
    check_all(here, names)


@SUITE.test("every third write may meet a conflict")
def _(here):
    here.stop()
    with proxy.Proxy(here.cluster) as between:
        between.conflict_every = 3
        here.start(kubeconfig=between.kubeconfig())
        check_all(here, mixed_load(here, "conflict", 40))
        expect(between.counts["conflicts"] > 30, True, f"of {between.counts} writes refused")
        here.stop()


@SUITE.test("one of two binders acts, and the other takes over")
def _(here):
    flags = ["--leader-elect", "--leader-election-namespace=kai-scheduler", "--lease-duration=2s",
             "--lease-renew-deadline=1500ms", "--lease-retry-period=300ms"]
    lease = "/apis/coordination.k8s.io/v1/namespaces/kai-scheduler/leases/2ad35f9c.kai.scheduler"
    here.start(*flags)
    here.cluster.wait_for(lease)
    here.start(*flags, name="second")
    here.bind(pod("by-first"), NODE)
    here.wait_bound("by-first", NODE)
    here.cluster.kill("binder")
    here.bind(pod("by-second"), NODE)
    here.wait_bound("by-second", NODE)
    here.clear()
    here.stop("second")


@SUITE.test("nothing is left: no pod, no request, no reservation")
def _(here):
    expect((here.api.items(PODS), here.api.items(REQUESTS), here.reservations()), ([], [], []))
