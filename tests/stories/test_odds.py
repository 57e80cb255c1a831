"""What fewer users write: volumes, groups of their own, gates, and namespaces of teams."""

from place import GROUPS, JOBS, PODS, Stories, pod_spec
from stage import NODES, node_of, pod_group
from suite import expect, expect_in

SUITE = Stories()


@SUITE.test("a volume on one node takes its pod there")
def _(here):
    classes, volumes = "/apis/storage.k8s.io/v1/storageclasses", "/api/v1/persistentvolumes"
    claims = "/api/v1/namespaces/default/persistentvolumeclaims"
    node = sorted(one["metadata"]["name"] for one in here.api.items(NODES))[2]
    here.api.create(classes, {"metadata": {"name": "disk"}, "provisioner": "kubernetes.io/no-provisioner",
                              "volumeBindingMode": "WaitForFirstConsumer"})
    here.api.create(volumes, {"metadata": {"name": "disk-0"}, "spec": {
        "capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "disk",
        "persistentVolumeReclaimPolicy": "Retain", "local": {"path": "/data"}, "nodeAffinity": {"required": {
            "nodeSelectorTerms": [{"matchExpressions": [
                {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]}}}})
    here.api.create(claims, {"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": "disk", "resources": {"requests": {"storage": "5Gi"}}}})
    try:
        here.pod("keeper", 1, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
        pod, _ = here.carried_out("keeper")
        expect(node_of(pod), node)
        here.cluster.wait_for(f"{claims}/data", lambda one: one["status"].get("phase") == "Bound", 30)
    finally:
        here.delete("keeper")
        for path in (f"{claims}/data", f"{volumes}/disk-0", f"{classes}/disk"):
            here.api.delete(path)


@SUITE.test("a PodGroup that a user wrote is kept as it is")
def _(here):
    here.api.create(GROUPS, pod_group("own", 2, "default-queue"))
    try:
        here.pod("own-0", 1, annotations={"pod-group-name": "own"})
        expect_in("Waiting for 2 pods, currently 1 exist", here.told("own", "NotReady", "kai-scheduler"))
        expect(here.waits("own-0", seconds=1), True)
        here.pod("own-1", 1, annotations={"pod-group-name": "own"})
        here.bound("own-0", "own-1")
        expect([one["metadata"]["name"] for one in here.api.items(GROUPS) if "own" in one["metadata"]["name"]], ["own"])
    finally:
        here.delete("own-0")
        here.delete("own-1")
        here.api.delete(f"{GROUPS}/own")


@SUITE.test("a gang waits for its pods' gates")
def _(here):
    job = here.workload("TFJob", "gated", {"tfReplicaSpecs": {"Worker": {"replicas": 2, "template": {}}}})
    here.pod("gated-0", 1, job)
    here.pod("gated-1", 1, job, schedulingGates=[{"name": "example.com/quota"}])
    name = here.group_of("gated-0")["metadata"]["name"]
    here.cluster.wait_until(lambda: any("1 are gated" in one["message"] for one in here.events(name, "NotReady")),
                            "the event names the gate", 20)
    expect(here.waits("gated-0", seconds=1), True)
    here.api.patch(f"{PODS}/gated-1", {"spec": {"schedulingGates": None}}, how="strategic")
    here.bound("gated-0", "gated-1")


@SUITE.test("the pods of a StatefulSet start one after the other in one group")
def _(here):
    path = "/apis/apps/v1/namespaces/default/statefulsets"
    labels = {"app": "db"}
    here.api.create(path, {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {
        "replicas": 3, "serviceName": "db", "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod_spec(1)}}})
    try:
        here.cluster.wait_for(f"{path}/db", lambda one: one["status"].get("readyReplicas") == 3, 30)
        expect(len({here.group_of(f"db-{number}")["metadata"]["name"] for number in range(3)}), 1)
    finally:
        here.api.call("DELETE", f"{path}/db?propagationPolicy=Background")


@SUITE.test("teams in namespaces of their own share the cluster by their queues")
def _(here):
    for team in ("red", "blue"):
        here.cluster.kubectl("create", "namespace", team, check=False)
        here.queue(team, quota=16)
        here.cluster.wait_for(f"/api/v1/namespaces/{team}/serviceaccounts/default")
    jobs = {team: JOBS.replace("/default/", f"/{team}/") for team in ("red", "blue")}

    def start(team, count):
        here.api.create(jobs[team], {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {
                "name": "same-name", "labels": {"kai.scheduler/queue": team}},
            "spec": {"parallelism": count, "completions": count, "template": {
                "spec": {**pod_spec(8), "restartPolicy": "Never"}}}})

    def active(team):
        return sum(one["status"]["phase"] == "Running" for one in here.api.items(f"/api/v1/namespaces/{team}/pods"))

    try:
        start("red", 4)
        here.cluster.wait_until(lambda: active("red") == 4, "red has all", 20)
        start("blue", 4)
        here.cluster.wait_until(lambda: (active("red"), active("blue")) == (2, 2), "each has its quota", 30)
        expect(here.stays(lambda: (active("red"), active("blue")) == (2, 2), 2), True)
    finally:
        for team, path in jobs.items():
            here.api.call("DELETE", f"{path}/same-name?propagationPolicy=Background")
        here.cluster.wait_until(lambda: not active("red") and not active("blue"), "the teams have gone", 20)
