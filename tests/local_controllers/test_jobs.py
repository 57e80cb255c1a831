"""Jobs."""

import suite
import world
from suite import expect

SUITE = suite.Suite()
FINALIZER = "batch.kubernetes.io/job-tracking"


def job(name, annotations=None, restart="Never", **spec):
    """Its pods run until they are deleted, unless annotations say otherwise."""
    pod = world.template({}, annotations, restartPolicy=restart)
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": pod, **spec}}


def create(cluster, name, annotations=None, **spec):
    return cluster.api.create(world.JOBS, job(name, annotations, **spec))


def pods_of(cluster, name):
    return cluster.api.items(f"{world.PODS}?labelSelector=job-name={name}")


def wait_job(cluster, name, check, seconds=60):
    return cluster.wait_for(f"{world.JOBS}/{name}", lambda found: check(found.get("status", {}), found), seconds)


def wait_end(cluster, name, kind, seconds=60):
    return wait_job(cluster, name, lambda _, found: world.condition(found, kind), seconds)


@SUITE.test("a Job with completions and parallelism completes")
def test_complete(cluster):
    create(cluster, "sum", {"test/finish-after": "1s"}, completions=4, parallelism=2)
    wait_job(cluster, "sum", lambda status, _: status.get("active") == 2)
    found = wait_end(cluster, "sum", "Complete")
    status = found["status"]
    expect(world.condition(found, "Complete"), ("True", "CompletionsReached"), "Complete")
    expect(world.condition(found, "SuccessCriteriaMet"), ("True", "CompletionsReached"), "SuccessCriteriaMet")
    expect({key: status.get(key) for key in ("succeeded", "failed", "active", "ready", "terminating",
                                             "uncountedTerminatedPods")},
           {"succeeded": 4, "failed": None, "active": None, "ready": 0, "terminating": 0, "uncountedTerminatedPods": {}},
           "status")
    expect("completionTime" in status and "startTime" in status, True, "times")
    pods = pods_of(cluster, "sum")
    expect(len(pods), 4, "pods")
    expect([pod["metadata"].get("finalizers") for pod in pods], [None] * 4, "finalizers")
    world.wait_reason(cluster, "sum", "Completed")
    world.wait_reason(cluster, "sum", "SuccessfulCreate")


@SUITE.test("a Job without completions is done with the first success, when no pod is left")
def test_work_queue(cluster):
    create(cluster, "queue", {"test/finish-after": "1s"}, parallelism=3)
    found = wait_end(cluster, "queue", "Complete")
    expect(found["status"]["succeeded"], 3, "succeeded")


@SUITE.test("pods of an Indexed Job have their index in label, annotation, environment and host name")
def test_indexed(cluster):
    create(cluster, "index", {"test/finish-after": "1s"}, completions=5, parallelism=3, completionMode="Indexed")
    found = wait_end(cluster, "index", "Complete")
    expect(found["status"]["completedIndexes"], "0-4", "completed")
    pods = pods_of(cluster, "index")
    expect(len(pods), 5, "pods")
    for pod in pods:
        index = pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]
        expect(pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"], index, "annotation")
        expect(pod["spec"]["hostname"], f"index-{index}", "host name")
        expect(pod["metadata"]["generateName"], f"index-{index}-", "generateName")
        expect([one for one in pod["spec"]["containers"][0]["env"] if one["name"] == "JOB_COMPLETION_INDEX"],
               [{"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {
                   "apiVersion": "v1", "fieldPath": "metadata.labels['batch.kubernetes.io/job-completion-index']"}}}],
               "environment")


@SUITE.test("a Job whose pods fail more often than backoffLimit fails")
def test_backoff_limit(cluster):
    create(cluster, "bad", {"test/fail-after": "1s"}, backoffLimit=0, parallelism=2, completions=2)
    found = wait_end(cluster, "bad", "Failed")
    expect(world.condition(found, "Failed"), ("True", "BackoffLimitExceeded"), "Failed")
    expect(world.condition(found, "FailureTarget"), ("True", "BackoffLimitExceeded"), "FailureTarget")
    expect((found["status"].get("active"), found["status"]["failed"] >= 1, found["status"].get("completionTime")),
           (None, True, None), "status")
    world.wait_reason(cluster, "bad", "BackoffLimitExceeded")


@SUITE.test("a pod that fails is replaced after a while, and counts")
def test_retry(cluster):
    create(cluster, "retry", {"test/fail-after": "1s"}, backoffLimit=3)
    wait_job(cluster, "retry", lambda status, _: status.get("failed") == 1)
    expect(len(pods_of(cluster, "retry")), 1, "pods right after the failure")
    cluster.api.patch(f"{world.JOBS}/retry", {"spec": {"activeDeadlineSeconds": 3600}})
    cluster.wait_until(lambda: len(pods_of(cluster, "retry")) == 2, "a second pod", 60)
    world.delete(cluster, f"{world.JOBS}/retry")


@SUITE.test("a Job that is active for too long fails, and its pods are deleted")
def test_deadline(cluster):
    create(cluster, "late", activeDeadlineSeconds=2, parallelism=2, completions=2)
    found = wait_end(cluster, "late", "Failed")
    expect(world.condition(found, "Failed"), ("True", "DeadlineExceeded"), "Failed")
    cluster.wait_until(lambda: not pods_of(cluster, "late"), "no pods")


@SUITE.test("a suspended Job has no pods, and its clock starts when it is resumed")
def test_suspend(cluster):
    create(cluster, "later", {"test/finish-after": "1s"}, suspend=True)
    found = wait_job(cluster, "later", lambda _, found: world.condition(found, "Suspended") == ("True", "JobSuspended"))
    expect((found["status"].get("startTime"), pods_of(cluster, "later")), (None, []), "before")
    cluster.api.patch(f"{world.JOBS}/later", {"spec": {"suspend": False}})
    found = wait_end(cluster, "later", "Complete")
    expect(world.condition(found, "Suspended"), ("False", "JobResumed"), "Suspended")
    create(cluster, "pause", parallelism=2)
    wait_job(cluster, "pause", lambda status, _: status.get("active") == 2 and status.get("ready") == 2)
    cluster.api.patch(f"{world.JOBS}/pause", {"spec": {"suspend": True}})
    found = wait_job(cluster, "pause", lambda status, _: not status.get("active") and not status.get("terminating")
                     and "startTime" not in status)
    expect((found["status"].get("failed"), world.condition(found, "Suspended")), (None, ("True", "JobSuspended")), "paused")
    cluster.wait_until(lambda: not pods_of(cluster, "pause"), "no pods")


@SUITE.test("a Job is deleted ttlSecondsAfterFinished after its end")
def test_ttl(cluster):
    create(cluster, "short", {"test/finish-after": "1s"}, ttlSecondsAfterFinished=2)
    wait_end(cluster, "short", "Complete")
    cluster.wait_gone(f"{world.JOBS}/short")


@SUITE.test("rules of podFailurePolicy ignore a pod, or fail the Job at once")
def test_policy(cluster):
    rules = [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
             {"action": "FailJob", "onExitCodes": {"containerName": "main", "operator": "In", "values": [42]}}]
    create(cluster, "policy", backoffLimit=5, podFailurePolicy={"rules": rules})
    first = cluster.wait_until(lambda: [pod for pod in pods_of(cluster, "policy")
                                        if pod["status"]["phase"] == "Running"], "a pod")[0]["metadata"]["name"]
    fail(cluster, first, 137, [{"type": "DisruptionTarget", "status": "True"}])
    cluster.wait_until(lambda: len(pods_of(cluster, "policy")) == 2, "another pod")
    expect(cluster.api.get(f"{world.JOBS}/policy")["status"].get("failed"), None, "failures")
    second = cluster.wait_until(lambda: [pod for pod in pods_of(cluster, "policy")
                                         if pod["status"]["phase"] == "Running"], "a pod")[0]["metadata"]["name"]
    fail(cluster, second, 42)
    found = wait_end(cluster, "policy", "Failed")
    expect(world.condition(found, "Failed"), ("True", "PodFailurePolicy"), "Failed")
    expect([one["message"] for one in found["status"]["conditions"] if one["type"] == "Failed"],
           [f"Container main for pod default/{second} failed with exit code 42 matching FailJob rule at index 1"], "text")


def fail(cluster, name, code, conditions=()):
    state = {"terminated": {"exitCode": code, "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:01Z"}}
    cluster.api.patch(f"{world.PODS}/{name}/status", {"status": {
        "phase": "Failed", "conditions": list(conditions), "containerStatuses": [
            {"name": "main", "image": "x", "imageID": "", "ready": False, "restartCount": 0, "state": state}]}})


@SUITE.test("with backoffLimitPerIndex one index fails and the others go on")
def test_per_index(cluster):
    create(cluster, "each", completions=2, parallelism=2, completionMode="Indexed", backoffLimitPerIndex=0)
    pods = cluster.wait_until(lambda: (lambda found: len(found) == 2 and all(
        pod["status"]["phase"] == "Running" for pod in found) and found)(pods_of(cluster, "each")), "both pods")
    by_index = {pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]: pod["metadata"]["name"]
                for pod in pods}
    fail(cluster, by_index["0"], 1)
    wait_job(cluster, "each", lambda status, _: status.get("failedIndexes") == "0" and status.get("active") == 1)
    cluster.api.patch(f"{world.PODS}/{by_index['1']}/status", {"status": {"phase": "Succeeded"}})
    found = wait_end(cluster, "each", "Failed")
    expect((world.condition(found, "Failed"), found["status"]["completedIndexes"]), (("True", "FailedIndexes"), "1"))


@SUITE.test("a rule of successPolicy ends a Job before all indexes have succeeded")
def test_success_policy(cluster):
    rules = [{"succeededIndexes": "1-2", "succeededCount": 2}, {"succeededIndexes": "0"}]
    create(cluster, "enough", completions=3, parallelism=3, completionMode="Indexed", successPolicy={"rules": rules})
    pods = cluster.wait_until(lambda: (lambda found: len(found) == 3 and all(
        pod["status"]["phase"] == "Running" for pod in found) and found)(pods_of(cluster, "enough")), "three pods")
    first = next(pod["metadata"]["name"] for pod in pods
                 if pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] == "0")
    cluster.api.patch(f"{world.PODS}/{first}/status", {"status": {"phase": "Succeeded"}})
    found = wait_end(cluster, "enough", "Complete")
    expect((world.condition(found, "SuccessCriteriaMet"), found["status"]["completedIndexes"]),
           (("True", "SuccessPolicy"), "0"))


@SUITE.test("a pod that is deleted at its end counts, once")
def test_counted(cluster):
    if cluster.is_local:
        raise suite.Skip("the API server ends with the controllers here")
    create(cluster, "count", completions=2, parallelism=1)
    pod = cluster.wait_until(lambda: [pod for pod in pods_of(cluster, "count")
                                      if pod["status"]["phase"] == "Running"], "a pod")[0]["metadata"]["name"]
    world.kill(cluster)
    cluster.api.patch(f"{world.PODS}/{pod}/status", {"status": {"phase": "Succeeded"}})
    world.delete(cluster, f"{world.PODS}/{pod}")
    expect(cluster.api.get(f"{world.PODS}/{pod}")["metadata"]["finalizers"], [FINALIZER], "what holds it")
    world.start(cluster)
    wait_job(cluster, "count", lambda status, _: status.get("succeeded") == 1)
    cluster.wait_gone(f"{world.PODS}/{pod}")
    world.delete(cluster, f"{world.JOBS}/count")


@SUITE.test("Jobs complete with exact counts while the controllers are killed again and again")
def test_kill(cluster):
    names = [f"storm-{number}" for number in range(4)]
    for number, name in enumerate(names):
        create(cluster, name, {"test/finish-after": "1s"}, completions=12, parallelism=4,
               completionMode=("Indexed", "NonIndexed")[number % 2])
    for _ in range(6):
        world.kill(cluster)
        world.start(cluster)
        cluster.wait_until(lambda: True, "nothing")
    for name in names:
        found = wait_end(cluster, name, "Complete", 120)
        expect((found["status"]["succeeded"], len(pods_of(cluster, name))), (12, 12), f"{name}: succeeded and pods")


@SUITE.test("the pods of a Job that is deleted lose their finalizers")
def test_deleted(cluster):
    create(cluster, "gone", parallelism=2)
    wait_job(cluster, "gone", lambda status, _: status.get("active") == 2)
    world.delete(cluster, f"{world.JOBS}/gone", "Orphan")
    cluster.wait_until(lambda: all(not pod["metadata"].get("finalizers") for pod in pods_of(cluster, "gone")),
                       "pods without finalizers")


@SUITE.test("a Job adopts a pod of its own that has lost its owner, and releases one whose labels have changed")
def test_adopt(cluster):
    create(cluster, "kin", parallelism=2, completions=2)
    wait_job(cluster, "kin", lambda status, _: status.get("ready") == 2)
    name = pods_of(cluster, "kin")[0]["metadata"]["name"]
    path = f"{world.PODS}/{name}"
    cluster.api.patch(path, {"metadata": {"ownerReferences": None, "finalizers": None}})
    cluster.wait_for(path, lambda pod: pod["metadata"].get("ownerReferences"))
    expect(cluster.api.get(path)["metadata"]["finalizers"], [FINALIZER], "finalizers")
    names = ("controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name")
    cluster.api.patch(path, {"metadata": {"labels": dict.fromkeys(names)}})
    found = cluster.wait_for(path, lambda pod: not pod["metadata"].get("ownerReferences"))
    expect(found["metadata"].get("finalizers"), None, "finalizers of a pod that is released")
    wait_job(cluster, "kin", lambda status, _: status.get("active") == 2 and len(pods_of(cluster, "kin")) == 2)
    world.delete(cluster, f"{world.JOBS}/kin")
    world.delete(cluster, path)
