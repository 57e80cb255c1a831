"""The status of PodDisruptionBudgets."""

import client
import suite
import test_deployments
import test_jobs
import test_stateful_sets
import world
from suite import expect

SUITE = suite.Suite()
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


def budget(name, selector=None, **spec):
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": {"app": selector or name}}, **spec}}


def wait_status(cluster, name, **wanted):
    def is_so(found):
        status = found.get("status", {})
        return status.get("observedGeneration") == found["metadata"]["generation"] and all(
            status.get(key) == value for key, value in wanted.items())
    return cluster.wait_for(f"{BUDGETS}/{name}", is_so)


def wait_failed(cluster, name):
    """Its controller has given up, and allows nothing."""
    found = cluster.wait_for(f"{BUDGETS}/{name}",
                             lambda found: world.condition(found, "DisruptionAllowed") == ("False", "SyncFailed"))
    expect(found["status"]["disruptionsAllowed"], 0, "evictions that are allowed")
    return found


def is_ready(pod):
    return world.condition(pod, "Ready") and world.condition(pod, "Ready")[0] == "True"


def counts(allowed, healthy, desired, expected):
    return {"disruptionsAllowed": allowed, "currentHealthy": healthy, "desiredHealthy": desired, "expectedPods": expected}


@SUITE.test("a budget says how many pods are healthy, and how many may go")
def test_status(cluster):
    cluster.api.create(BUDGETS, budget("held", minAvailable=2))
    wait_status(cluster, "held", **counts(0, 0, 2, 0))
    cluster.api.create(world.DEPLOYMENTS, test_deployments.deployment("held", 3))
    found = wait_status(cluster, "held", **counts(1, 3, 2, 3))
    condition = found["status"]["conditions"][0]
    expect((condition["type"], condition["status"], condition["reason"], condition["message"], condition["observedGeneration"]),
           ("DisruptionAllowed", "True", "SufficientPods", "", 1), "condition")
    cluster.api.patch(f"{world.DEPLOYMENTS}/held", {"spec": {"replicas": 2}})
    found = wait_status(cluster, "held", **counts(0, 2, 2, 2))
    expect(world.condition(found, "DisruptionAllowed"), ("False", "InsufficientPods"), "condition")
    cluster.api.patch(f"{BUDGETS}/held", {"spec": {"minAvailable": 0}})
    wait_status(cluster, "held", **counts(2, 2, 0, 2))


@SUITE.test("percentages and maxUnavailable are of the replicas that the controllers want, through ReplicaSets")
def test_scaled(cluster):
    for name, spec in (("most", {"maxUnavailable": 1}), ("least", {"minAvailable": "50%"})):
        cluster.api.create(BUDGETS, budget(name, "scaled", **spec))
    cluster.api.create(world.DEPLOYMENTS, test_deployments.deployment("scaled", 5))
    wait_status(cluster, "most", **counts(1, 5, 4, 5))
    wait_status(cluster, "least", **counts(2, 5, 3, 5))
    cluster.api.create(BUDGETS, budget("numbered", maxUnavailable="40%"))
    cluster.api.create(world.STATEFUL_SETS, test_stateful_sets.stateful_set("numbered", 3))
    wait_status(cluster, "numbered", **counts(2, 3, 1, 3))


@SUITE.test("a budget by replicas allows nothing for pods of a controller that has none")
def test_unscalable(cluster):
    job = test_jobs.job("working", parallelism=2, completions=2)
    job["spec"]["template"]["metadata"].setdefault("labels", {})["app"] = "working"
    cluster.api.create(BUDGETS, budget("working", maxUnavailable=1))
    cluster.api.create(BUDGETS, budget("counted", "working", minAvailable=1))
    cluster.api.create(world.JOBS, job)
    wait_status(cluster, "counted", **counts(1, 2, 1, 2))
    found = wait_failed(cluster, "working")
    expect(found["status"]["conditions"][0]["message"], "jobs.batch does not implement the scale subresource", "message")


@SUITE.test("evictions are refused where a budget allows none, and for pods that it cannot judge")
def test_evictions(cluster):
    def evict(pod):
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
        try:
            cluster.api.create(f"{world.PODS}/{pod}/eviction", eviction)
        except client.ApiError as error:
            return error.status
        return 201
    job = test_jobs.job("kept")
    job["spec"]["template"]["metadata"].setdefault("labels", {})["app"] = "kept"
    cluster.api.create(world.JOBS, job)
    cluster.api.create(BUDGETS, budget("kept", maxUnavailable=1))
    wait_failed(cluster, "kept")
    cluster.wait_until(lambda: any(is_ready(pod) for pod in world.pods_of(cluster, "app=kept")), "a pod of the Job")
    expect(evict(world.pods_of(cluster, "app=kept")[0]["metadata"]["name"]), 429, "eviction of a pod of a Job")
    for most, desired, status in ((0, 3, 429), ("34%", 1, 201)):
        cluster.api.patch(f"{BUDGETS}/numbered", {"spec": {"maxUnavailable": most}})
        wait_status(cluster, "numbered", **counts(3 - desired, 3, desired, 3))
        expect(evict(world.pods_of(cluster, "app=numbered")[0]["metadata"]["name"]), status, f"eviction with {most}")


@SUITE.test("a budget without a selector selects nothing, and one with an empty selector all pods")
def test_selectors(cluster):
    nothing, everything = budget("nothing", minAvailable=1), budget("everything", minAvailable=1)
    del nothing["spec"]["selector"]
    everything["spec"]["selector"] = {}
    for body in (nothing, everything):
        cluster.api.create(BUDGETS, body)
    wait_status(cluster, "nothing", **counts(0, 0, 1, 0))
    cluster.wait_for(f"{BUDGETS}/everything", lambda found: found.get("status", {}).get("currentHealthy", 0) >= 2)


@SUITE.test("a budget follows when the controllers were killed meanwhile")
def test_kill(cluster):
    world.kill(cluster)
    if not cluster.is_local:
        cluster.api.patch(f"{BUDGETS}/held", {"spec": {"minAvailable": 1}})
    world.start(cluster)
    if cluster.is_local:
        cluster.api.patch(f"{BUDGETS}/held", {"spec": {"minAvailable": 1}})
    wait_status(cluster, "held", **counts(1, 2, 1, 2))
