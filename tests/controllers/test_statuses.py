"""Statuses of PodGroups and Queues, one rule at a time."""

import accounts
import suite
import world
from suite import expect

SUITE = suite.Suite()


def status_becomes(cluster, name, wanted):
    try:
        cluster.wait_until(lambda: world.status_of(cluster, name) == wanted, name, 30)
    except TimeoutError:
        expect(world.status_of(cluster, name), wanted, name)


@SUITE.test("a PodGroup's status has what its pods request and have been allocated")
def test_plain(cluster):
    world.clear(cluster)
    cluster.api.create(world.GROUPS, world.group("plain", "q", priorityClassName="train"))
    cluster.api.create(world.PODS, world.pod("plain-0", "plain", [{"cpu": "500m", "memory": "1Gi"},
                                                                  {"cpu": "1", "nvidia.com/gpu": "2"}]))
    cluster.api.create(world.PODS, world.pod("plain-1", "plain", [{"memory": "512Mi"}]))
    cluster.api.create(world.PODS, world.pod("other", "plain", [{"cpu": "64"}], scheduler="default-scheduler"))
    status_becomes(cluster, "plain", {"requested": {"cpu": "1500m", "memory": "1536Mi", "nvidia.com/gpu": "2"}})
    world.set_phase(cluster, "plain-0", "Pending", scheduled=True)
    status_becomes(cluster, "plain", {"requested": {"cpu": "1500m", "memory": "1536Mi", "nvidia.com/gpu": "2"},
                                      "allocated": {"cpu": "1500m", "memory": "1Gi", "nvidia.com/gpu": "2"}})
    world.set_phase(cluster, "plain-0", "Succeeded")
    status_becomes(cluster, "plain", {"requested": {"memory": "512Mi"}})
    world.remove(cluster, f"{world.PODS}/plain-1")
    status_becomes(cluster, "plain", {})


@SUITE.test("fractions count times their devices, GPU memory as its part of the node's GPU")
def test_fractions(cluster):
    world.clear(cluster)
    given = {"received-resource-type": "Fraction"}
    for name in ("part", "memory"):
        cluster.api.create(world.GROUPS, world.group(name, "q"))
    cluster.api.create(world.PODS, world.pod(
        "part-0", "part", annotations={"gpu-fraction": "0.3", "gpu-fraction-num-devices": "2", **given}))
    cluster.api.create(world.PODS, world.pod("memory-0", "memory", annotations={"gpu-memory": "20000", **given},
                                             node="node-00000"))
    status_becomes(cluster, "part", {"requested": {"cpu": "100m", "nvidia.com/gpu": "600m"}})
    world.set_phase(cluster, "part-0", "Running")
    status_becomes(cluster, "part", {"requested": {"cpu": "100m", "nvidia.com/gpu": "600m"},
                                     "allocated": {"cpu": "100m", "nvidia.com/gpu": "600m"}})
    world.set_phase(cluster, "memory-0", "Running")
    status_becomes(cluster, "memory", {"requested": {"cpu": "100m", "run.ai/gpu.memory": "20k"},
                                       "allocated": {"cpu": "100m", "nvidia.com/gpu": "245221251n"}})
    cluster.api.patch("/api/v1/nodes/node-00000", {"metadata": {"labels": {"nvidia.com/gpu.memory": "40000"}}})
    status_becomes(cluster, "memory", {"requested": {"cpu": "100m", "run.ai/gpu.memory": "20k"},
                                       "allocated": {"cpu": "100m", "nvidia.com/gpu": "500m"}})
    cluster.api.patch("/api/v1/nodes/node-00000",
                      {"metadata": {"labels": {"nvidia.com/gpu.memory": str(world.NODE_MIB)}}})


@SUITE.test("GPUs of device claims count under their class, also when the claim comes later")
def test_claims(cluster):
    world.clear(cluster)
    cluster.api.create(world.GROUPS, world.group("claims", "q"))
    cluster.api.create(world.PODS, world.pod("claims-0", "claims", claims=["two", "nic"]))
    status_becomes(cluster, "claims", {"requested": {"cpu": "100m"}})
    for name, device_class, count in (("two", "gpu.nvidia.com", 2), ("nic", "nic.example.com", 1)):
        cluster.api.create(world.CLAIMS, {
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": device_class,
                                                                        "count": count}}]}}})
    status_becomes(cluster, "claims", {"requested": {"cpu": "100m", "gpu.nvidia.com": "2"}})
    world.set_phase(cluster, "claims-0", "Running")
    status_becomes(cluster, "claims", {"requested": {"cpu": "100m", "gpu.nvidia.com": "2"},
                                       "allocated": {"cpu": "100m", "gpu.nvidia.com": "2"}})


@SUITE.test("the non-preemptible part follows the priority class and the spec, both ways")
def test_preemptibility(cluster):
    world.clear(cluster)
    cluster.api.create(world.GROUPS, world.group("fixed", "q", priorityClassName="build"))
    cluster.api.create(world.PODS, world.pod("fixed-0", "fixed"))
    world.set_phase(cluster, "fixed-0", "Running")
    both = {"requested": {"cpu": "100m"}, "allocated": {"cpu": "100m"}}
    status_becomes(cluster, "fixed", {**both, "allocatedNonPreemptible": {"cpu": "100m"}})
    cluster.api.patch(f"{world.GROUPS}/fixed", {"spec": {"preemptibility": "preemptible"}})
    status_becomes(cluster, "fixed", both)
    cluster.api.patch(f"{world.GROUPS}/fixed", {"spec": {"preemptibility": None, "priorityClassName": "train"}})
    cluster.api.patch(f"{world.GROUPS}/fixed", {"spec": {"preemptibility": "non-preemptible"}})
    status_becomes(cluster, "fixed", {**both, "allocatedNonPreemptible": {"cpu": "100m"}})


@SUITE.test("a status that somebody else has changed is written again")
def test_drift(cluster):
    world.clear(cluster)
    cluster.api.create(world.QUEUES, world.queue("drift"))
    cluster.api.create(world.GROUPS, world.group("drift", "drift"))
    cluster.api.create(world.PODS, world.pod("drift-0", "drift"))
    accounts.wait_equal(cluster)
    cluster.api.patch(f"{world.GROUPS}/drift/status",
                      {"status": {"resourcesStatus": {"requested": {"cpu": "7", "memory": "-1"}}}})
    cluster.api.patch(f"{world.QUEUES}/drift/status", {"status": {"allocated": {"cpu": "7"}, "childQueues": ["none"]}})
    status_becomes(cluster, "drift", {"requested": {"cpu": "100m"}})
    accounts.wait_equal(cluster)


@SUITE.test("queues have the sums of their PodGroups and of the queues below them, wherever these move")
def test_tree(cluster):
    world.clear(cluster)
    for name, parent in (("all", ""), ("left", "all"), ("right", "all"), ("left-1", "left"), ("lost", "nowhere")):
        cluster.api.create(world.QUEUES, world.queue(name, parent))
    for number, name in enumerate(("left-1", "right", "lost", "all", "absent")):
        cluster.api.create(world.GROUPS, world.group(f"g{number}", name))
        cluster.api.create(world.PODS, world.pod(f"g{number}-0", f"g{number}", [{"cpu": f"{2**number}"}]))
    accounts.wait_equal(cluster)
    expect(cluster.api.get(f"{world.QUEUES}/all")["status"],
           {"requested": {"cpu": "11"}, "childQueues": ["left", "right"]}, "status of the root")
    cluster.api.patch(f"{world.QUEUES}/left-1", {"spec": {"parentQueue": "right"}})
    cluster.api.patch(f"{world.GROUPS}/g1", {"spec": {"queue": "left"}})
    cluster.api.create(world.QUEUES, world.queue("nowhere", "all"))
    cluster.api.create(world.QUEUES, world.queue("absent", "left"))
    accounts.wait_equal(cluster)
    world.remove(cluster, f"{world.QUEUES}/right")
    world.remove(cluster, f"{world.GROUPS}/g3")
    accounts.wait_equal(cluster)


@SUITE.test("queues that are their own ancestors count for themselves alone")
def test_circle(cluster):
    world.clear(cluster)
    for name, parent in (("a", "b"), ("b", "c"), ("c", "a"), ("below", "a"), ("self", "self")):
        cluster.api.create(world.QUEUES, world.queue(name, parent))
        cluster.api.create(world.GROUPS, world.group(name, name))
        cluster.api.create(world.PODS, world.pod(name, name, [{"cpu": "1"}]))

    def requested(name):
        return cluster.api.get(f"{world.QUEUES}/{name}").get("status", {}).get("requested", {}).get("cpu")

    cluster.wait_until(lambda: {name: requested(name) for name in ("a", "b", "c", "below", "self")} ==
                       {"a": "2", "b": "1", "c": "1", "below": "1", "self": "1"}, "queues of the circle")
    cluster.api.patch(f"{world.QUEUES}/c", {"spec": {"parentQueue": None}})
    world.remove(cluster, f"{world.QUEUES}/self")
    accounts.wait_equal(cluster)
