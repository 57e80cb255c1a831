"""The definitions in deploy/crds, held against a real API server."""

import copy
import pathlib

import client
import shape
from suite import Suite, expect, expect_in

SUITE = Suite()
HERE = pathlib.Path(__file__).resolve().parent
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

# Where the objects of each kind are.
PATHS = {
    "Queue": ("scheduling.run.ai/v2", "/apis/scheduling.run.ai/v2/queues"),
    "PodGroup": ("scheduling.run.ai/v2alpha2", "/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups"),
    "BindRequest": ("scheduling.run.ai/v1alpha2", "/apis/scheduling.run.ai/v1alpha2/namespaces/default/bindrequests"),
    "Topology": ("kai.scheduler/v1alpha1", "/apis/kai.scheduler/v1alpha1/topologies"),
    "Config": ("kai.scheduler/v1", "/apis/kai.scheduler/v1/configs"),
    "SchedulingShard": ("kai.scheduler/v1", "/apis/kai.scheduler/v1/schedulingshards"),
}
AMOUNT = {"quota": 4, "overQuotaWeight": 1.5, "limit": -1}
RESULT = {"request": "r", "driver": "gpu.example.com", "pool": "p", "device": "gpu-0"}
CONDITION = {"type": "Available", "status": "True", "reason": "Ready", "message": "",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}


def allocation(**devices):
    return {"resourceClaimAllocations": [{"name": "claim", "allocation": {"devices": devices}}]}


def claim(**request):
    return {"extendedResourceClaimAllocation": {"deviceRequests": [request]}}


def levels(*labels):
    return {"levels": [{"nodeLabel": label} for label in labels]}


# Specs that are taken as they are.
GOOD = [
    ("Queue", {}),
    ("Queue", {"displayName": "Team A", "parentQueue": "all", "priority": 200, "preemptMinRuntime": "10m",
               "reclaimMinRuntime": "1h30m", "resources": {"gpu": AMOUNT, "cpu": AMOUNT, "memory": AMOUNT}}),
    ("PodGroup", {"queue": "team-a", "minMember": 0, "topologyConstraint": {}}),
    ("PodGroup", {"queue": "team-a", "minSubGroup": 2, "priorityClassName": "train",
                  "preemptibility": "non-preemptible", "markUnschedulable": False, "schedulingBackoff": -1,
                  "preemptionDelay": "90s", "stalenessGracePeriod": "-1s",
                  "topologyConstraint": {"topology": "t", "requiredTopologyLevel": "rack",
                                         "preferredTopologyLevel": "kubernetes.io/hostname"},
                  "subGroups": [{"name": "workers", "minMember": 3}, {"name": "left", "parent": "workers"}]}),
    ("BindRequest", {"podName": "p", "selectedNode": "n", "receivedResourceType": "Fraction",
                     "receivedGPU": {"count": 1, "portion": "0.50"}, "selectedGPUGroups": ["g"], "backoffLimit": 3,
                     "predictedNUMAZones": [{"zone": "node-0", "amount": {"cpu": "500m", "nvidia.com/gpu": 1}}]}),
    ("BindRequest", allocation(
        results=[{**RESULT, "shareID": "s", "consumedCapacity": {"memory": "10Gi"}}],
        config=[{"source": "FromClass", "opaque": {"driver": "d", "parameters": {"any": {"thing": [1, "x"]}}}}])),
    ("BindRequest", claim(name="one", exactly={"deviceClassName": "gpu", "count": 2,
                                               "selectors": [{"cel": {"expression": "true"}}]})),
    ("Topology", levels("zone", "example.com/rack", "kubernetes.io/hostname")),
    ("Topology", {"levels": [{"nodeLabel": "example.com/rack", "alias": "rack"}]}),
    ("SchedulingShard", {}),
    ("SchedulingShard", {"args": {"schedule-period": "1s"}, "goMemLimit": "2Gi", "goMemLimitRatio": 0.9, "kValue": 0.5,
                         "placementStrategy": {"gpu": "spread", "cpu": "binpack"}, "partitionLabelValue": "pool-a",
                         "queueDepthPerAction": {"allocate": 10}, "minRuntime": {"preemptMinRuntime": "10m"},
                         "plugins": {"minruntime": {"enabled": True, "priority": 5, "arguments": {"a": "b"}}},
                         "actions": {"consolidation": {"enabled": False}},
                         "usageDBConfig": {"clientType": "prometheus", "usageParams": {"windowSize": "1w"}},
                         "scenarioSearchBudgets": {"maxActionSearchDuration": {"default": "5m"}}}),
    ("Config", {}),
    ("Config", {"namespace": "kai-scheduler",
                "global": {"replicaCount": 2, "tolerations": [{"operator": "Exists"}],
                           "securityContext": {"runAsUser": 10000, "capabilities": {"drop": ["all"]}},
                           "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                               "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}}}},
                "scheduler": {"service": {"resources": {"requests": {"cpu": "250m", "memory": 536870912}}}},
                "admission": {"gpuSharing": True, "vpa": {"enabled": True, "updatePolicy": {"updateMode": "Off"}}},
                "binder": {"plugins": {"hamicore": {"enabled": True}}}}),
]

# Specs that are refused, each with a part of what the API server says.
BAD = [
    ("Queue", {"priority": "high"}, "spec.priority"),
    ("Queue", {"priority": 1.5}, "spec.priority"),
    ("Queue", {"resources": {"gpu": {"quota": "4"}}}, "spec.resources.gpu.quota"),
    ("Queue", {"parentQueue": 7}, "spec.parentQueue"),
    ("PodGroup", {"minMember": -1}, "spec.minMember"),
    ("PodGroup", {"minSubGroup": -1}, "spec.minSubGroup"),
    ("PodGroup", {"preemptibility": "perhaps"}, "spec.preemptibility"),
    ("PodGroup", {"subGroups": [{"minMember": 1}]}, "spec.subGroups[0].name"),
    ("PodGroup", {"subGroups": [{"name": ""}]}, "spec.subGroups[0].name"),
    ("PodGroup", {"subGroups": [{"name": "Upper"}]}, "spec.subGroups[0].name"),
    ("PodGroup", {"subGroups": [{"name": "a", "parent": "-b"}]}, "spec.subGroups[0].parent"),
    ("PodGroup", {"subGroups": [{"name": "a", "minMember": -1}]}, "spec.subGroups[0].minMember"),
    ("BindRequest", {"receivedGPU": {"portion": 0.5}}, "spec.receivedGPU.portion"),
    ("BindRequest", {"predictedNUMAZones": [{"zone": "node-0"}]}, "spec.predictedNUMAZones[0].amount"),
    ("BindRequest", {"predictedNUMAZones": [{"zone": "z", "amount": {"cpu": "1 core"}}]}, "amount.cpu"),
    ("BindRequest", allocation(results=[{"request": "r", "driver": "d", "pool": "p"}]), "results[0].device"),
    ("BindRequest", allocation(config=[{"opaque": {"driver": "d", "parameters": {}}}]), "config[0].source"),
    ("BindRequest", claim(exactly={"deviceClassName": "gpu"}), "deviceRequests[0].name"),
    ("BindRequest", claim(name="one", exactly={}), "exactly.deviceClassName"),
    ("Topology", {}, "spec.levels"),
    ("Topology", {"levels": []}, "spec.levels"),
    ("Topology", levels(*(f"level-{number}" for number in range(17))), "spec.levels"),
    ("Topology", levels(""), "spec.levels[0].nodeLabel"),
    ("Topology", levels("a b"), "spec.levels[0].nodeLabel"),
    ("Topology", levels("x" * 317), "spec.levels[0].nodeLabel"),
    ("Topology", {"levels": [{"alias": "rack"}]}, "spec.levels[0].nodeLabel"),
    ("Topology", {"levels": [{"nodeLabel": "rack", "alias": "not ok"}]}, "spec.levels[0].alias"),
    ("Topology", levels("rack", "zone", "rack"), "nodeLabel must be unique"),
    ("Topology", levels("kubernetes.io/hostname", "rack"), "can only be used at the lowest level"),
    ("SchedulingShard", {"goMemLimitRatio": 0}, "spec.goMemLimitRatio"),
    ("SchedulingShard", {"goMemLimitRatio": 1.1}, "spec.goMemLimitRatio"),
    ("SchedulingShard", {"goMemLimit": "much"}, "spec.goMemLimit"),
    ("SchedulingShard", {"usageDBConfig": {"connectionString": "x"}}, "spec.usageDBConfig.clientType"),
    ("SchedulingShard", {"usageDBConfig": {"clientType": "p", "usageParams": {"windowSize": "long"}}}, "windowSize"),
    ("SchedulingShard", {"args": {"v": 3}}, "spec.args.v"),
    ("Config", {"global": {"replicaCount": "2"}}, "spec.global.replicaCount"),
    ("Config", {"global": {"vpa": {"updatePolicy": {"updateMode": "Sometimes"}}}}, "updateMode"),
    ("Config", {"binder": {"resourceReservation": {"podResources": {"limits": {"cpu": "x"}}}}}, "limits.cpu"),
    ("Config", {"scheduler": {"service": {"affinity": {"podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{}]}}}}}, "topologyKey"),
]

# Statuses that are taken.
STATUSES = [
    ("Queue", {"childQueues": ["a"], "allocated": {"cpu": "1500m", "nvidia.com/gpu": "2"},
               "requested": {"memory": 1024}, "conditions": [{"type": "Orphan", "status": "True"}]}),
    ("PodGroup", {"resourcesStatus": {"allocated": {"nvidia.com/gpu": "1"}}, "schedulingConditions": [{
        "type": "UnschedulableOnNodePool", "nodePool": "default", "reason": "Unschedulable", "status": "True",
        "message": "m", "transitionID": "1", "lastTransitionTime": "2026-01-01T00:00:00Z", "reasons": [{
            "reason": "OverLimit", "message": "m",
            "details": {"queueDetails": {"name": "q", "queueResourceLimits": {"nvidia.com/gpu": "8"}}}}]}]}),
    ("BindRequest", {"phase": "Failed", "reason": "no such node", "failedAttempts": 2}),
    ("Config", {"conditions": [CONDITION]}),
    ("SchedulingShard", {"conditions": [CONDITION]}),
]


def make(kind, spec, name="object"):
    return {"apiVersion": PATHS[kind][0], "kind": kind, "metadata": {"name": name}, "spec": copy.deepcopy(spec)}


def smallest(kind):
    return levels("rack") if kind == "Topology" else {}


def refused(call, *arguments):
    """The error of a call that has to fail."""
    try:
        call(*arguments)
    except client.ApiError as error:
        return error
    raise AssertionError(f"was not refused: {arguments}")


class Stored:
    """An object that is there inside a with block."""

    def __init__(self, cluster, kind, spec):
        self.api, self.path = cluster.api, PATHS[kind][1]
        self.object = self.api.create(f"{self.path}?fieldValidation=Strict", make(kind, spec))

    def __enter__(self):
        return self.object

    def __exit__(self, *_):
        self.api.delete(f"{self.path}/object")


@SUITE.test("the definitions have the shapes of KAI Scheduler's")
def _(cluster):
    listed = [line.split() for line in (HERE / "shapes").read_text().splitlines() if not line.startswith("#")]
    wanted = {name: digest for digest, name in listed}
    found = {one["metadata"]["name"]: shape.digest(one) for one in cluster.api.items(CRDS)}
    expect(sorted(found), sorted(wanted))
    changed = [name for name in sorted(wanted) if found[name] != wanted[name]]
    expect(changed, [], "definitions with another shape (shape.py prints it)")


@SUITE.test("the API server has nothing to say against the definitions")
def _(cluster):
    for one in cluster.api.items(CRDS):
        conditions = {condition["type"]: condition["status"] for condition in one["status"]["conditions"]}
        expect(conditions, {"NamesAccepted": "True", "Established": "True"}, one["metadata"]["name"])


@SUITE.test("the definitions can be applied again, from both sides")
def _(cluster):
    folder = HERE.parent.parent / "deploy" / "crds"
    said = cluster.kubectl("apply", "-f", folder).splitlines()
    expect([line for line in said if not line.endswith(" unchanged")], [])
    cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", folder)
    cluster.kubectl("apply", "-f", folder)


@SUITE.test("kubectl knows the names, short names and fields")
def _(cluster):
    listed = {line.split()[0]: line.split()[-3:] for group in ("scheduling.run.ai", "kai.scheduler")
              for line in cluster.kubectl("api-resources", "--api-group", group, "--no-headers").splitlines()}
    for kind, (version, path) in PATHS.items():
        expect(listed[path.rsplit("/", 1)[1]], [version, str("/namespaces/" in path).lower(), kind])
    expect_in("No resources found", cluster.kubectl("get", "pg"))
    expect_in("never exceeds", cluster.kubectl("explain", "queue.spec.resources.gpu.limit"))


@SUITE.test("good objects are taken as they are")
def _(cluster):
    for kind, spec in GOOD:
        with Stored(cluster, kind, spec) as stored:
            expect(stored["spec"], spec, kind)


@SUITE.test("bad objects are refused, and the field is named")
def _(cluster):
    for kind, spec, part in BAD:
        error = refused(cluster.api.create, PATHS[kind][1], make(kind, spec))
        expect(error.status, 422, f"{kind} {spec}: {error}")
        expect_in(part, error.message, f"{kind} {spec}")


@SUITE.test("a Topology without a spec is refused, the others need none")
def _(cluster):
    for kind, (_, path) in PATHS.items():
        bare = make(kind, {})
        del bare["spec"]
        if kind == "Topology":
            expect_in("spec", refused(cluster.api.create, path, bare).message)
        else:
            cluster.api.create(path, bare)
            cluster.api.delete(f"{path}/object")


@SUITE.test("unknown fields are dropped, or refused where the client asks for it")
def _(cluster):
    for kind, (_, path) in PATHS.items():
        odd = make(kind, {**smallest(kind), "colour": "red"})
        error = refused(cluster.api.create, f"{path}?fieldValidation=Strict", odd)
        expect_in('unknown field "spec.colour"', error.message)
        stored = cluster.api.create(f"{path}?fieldValidation=Ignore", odd)
        expect(stored["spec"], smallest(kind), kind)
        cluster.api.delete(f"{path}/object")


@SUITE.test("a toleration of devices is given its operator, and nothing else is made up")
def _(cluster):
    bare = {**RESULT, "tolerations": [{"key": "broken"}]}
    with Stored(cluster, "BindRequest", allocation(results=[bare])) as stored:
        result = stored["spec"]["resourceClaimAllocations"][0]["allocation"]["devices"]["results"][0]
        expect(result, {**RESULT, "tolerations": [{"key": "broken", "operator": "Equal"}]})


@SUITE.test("spec and status are written apart from each other")
def _(cluster):
    for kind, status in STATUSES:
        path = PATHS[kind][1]
        with Stored(cluster, kind, {}) as stored:
            both = {**stored, "spec": {}, "status": status}
            expect("status" in cluster.api.replace(f"{path}/object", both), False, f"{kind}: status by the object")

            written = cluster.api.patch(f"{path}/object/status", {"status": status, "metadata": {"labels": {"a": "b"}}})
            expect(written["status"], status, kind)
            expect(written["metadata"]["generation"], 1, f"{kind}: generation")
            expect(written["metadata"].get("labels"), None, f"{kind}: labels by the status")
            expect(cluster.api.patch(f"{path}/object", {"status": None})["status"], status, kind)


@SUITE.test("a Topology has no status")
def _(cluster):
    path = PATHS["Topology"][1]
    with Stored(cluster, "Topology", levels("rack")):
        expect(refused(cluster.api.get, f"{path}/object/status").status, 404)


@SUITE.test("bad statuses are refused")
def _(cluster):
    for kind, status, part in [
        ("Queue", {"conditions": [{"type": "Orphan"}]}, "status.conditions[0].status"),
        ("Queue", {"allocated": {"cpu": "a lot"}}, "status.allocated.cpu"),
        ("PodGroup", {"resourcesStatus": {"requested": {"cpu": []}}}, "status.resourcesStatus.requested.cpu"),
        ("PodGroup", {"conditions": [{"lastTransitionTime": "today"}]}, "lastTransitionTime"),
        ("BindRequest", {"failedAttempts": "two"}, "status.failedAttempts"),
        ("Config", {"conditions": [{**CONDITION, "status": "Maybe"}]}, "status.conditions[0].status"),
        ("SchedulingShard", {"conditions": [{**CONDITION, "reason": ""}]}, "status.conditions[0].reason"),
    ]:
        with Stored(cluster, kind, {}):
            error = refused(cluster.api.patch, f"{PATHS[kind][1]}/object/status", {"status": status})
            expect((error.status, part in error.message), (422, True), f"{kind} {status}: {error}")


@SUITE.test("of a Topology only the aliases can be changed")
def _(cluster):
    path = PATHS["Topology"][1] + "/object"
    with Stored(cluster, "Topology", levels("zone", "rack")):
        cluster.api.patch(path, {"spec": {"levels": [{"nodeLabel": "zone", "alias": "z"}, {"nodeLabel": "rack"}]}})
        for labels in (["zone"], ["rack", "zone"], ["zone", "rack", "host"], ["zone", "row"]):
            error = refused(cluster.api.patch, path, {"spec": levels(*labels)})
            expect_in("only aliases may be edited", error.message)


@SUITE.test("kubectl shows the columns of a Queue")
def _(cluster):
    with Stored(cluster, "Queue", {"priority": 120, "parentQueue": "all", "displayName": "TeamA"}):
        cluster.api.patch(PATHS["Queue"][1] + "/object/status", {"status": {"childQueues": ["a", "b"]}})
        shown = [line.split() for line in cluster.kubectl("get", "queues").splitlines()]
    expect(shown, [["NAME", "PRIORITY", "PARENT", "CHILDREN", "DISPLAYNAME"],
                   ["object", "120", "all", '["a","b"]', "TeamA"]])


@SUITE.test("a BindRequest goes with its pod")
def _(cluster):
    pods = "/api/v1/namespaces/default/pods"
    pod = cluster.api.create(pods, {"metadata": {"name": "owner"}, "spec": {
        "schedulerName": "nobody", "containers": [{"name": "main", "image": "none"}]}})
    request = make("BindRequest", {"podName": "owner"}, "owner")
    request["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "Pod", "name": "owner", "uid": pod["metadata"]["uid"]}]
    cluster.api.create(PATHS["BindRequest"][1], request)
    cluster.api.delete(f"{pods}/owner")
    cluster.wait_gone(PATHS["BindRequest"][1] + "/owner")
