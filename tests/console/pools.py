"""Node pools over the REST and in the cluster: labels of nodes, SchedulingShards, Queues. register() adds the tests to the console's suite."""

import subprocess

import sides
from suite import expect, expect_in

POOLS = "/api/v1/node-pools"
LABEL = "kai.scheduler/node-pool"


def create(c, name, status=201, **more):
    body = {"name": name, "clusterId": c.cluster, "labelKey": "example.com/gpu", "labelValue": name, **more}
    return c.ask("POST", POOLS, body, status)


def pool(c, made):
    return c.ask("GET", f"{POOLS}/{made['id']}")


def shard(c, name):
    return c.machine.get(f"/apis/kai.scheduler/v1/schedulingshards/{name}")


def nodes(c):
    return [node["metadata"]["name"] for node in c.machine.get("/api/v1/nodes")["items"]]


def label_of(c, node, key=LABEL):
    return c.machine.get(f"/api/v1/nodes/{node}")["metadata"].get("labels", {}).get(key)


def set_labels(c, node, labels):
    answer = c.machine.send("PATCH", f"/api/v1/nodes/{node}", {"metadata": {"labels": labels}}, "application/merge-patch+json")
    expect(answer.status, 200, answer.data)


def drop(c, made):
    c.ask("DELETE", f"{POOLS}/{made['id']}", status=202)
    c.wait_for("the end of the pool", lambda: c.call("GET", f"{POOLS}/{made['id']}").status == 404)


def drop_units(c, department, project):
    path = f"/api/v1/org-unit/projects/{project['id']}"
    c.ask("DELETE", path, status=202)
    c.wait_for("the end of the project", lambda: c.call("GET", path).status == 404)
    c.ask("DELETE", f"/api/v1/org-unit/departments/{department['id']}", status=204)


def register(tests):  # pylint: disable=too-many-statements
    """Adds the tests."""

    @tests.test("node pools label their nodes and become SchedulingShards, follow changes, and go again")
    def _(c):
        first, second = nodes(c)[:2]
        set_labels(c, first, {"example.com/gpu": "gold"})
        made = create(c, "gold", placementStrategy={"gpu": "spread"}, schedulingConfiguration={"minGuaranteedRuntime": "5d8h40m"})
        expect((made["phase"], made["isDefault"], made["placementStrategy"]), ("Creating", False, {"cpu": "binpack", "gpu": "spread"}))
        c.wait_for("the pool", lambda: pool(c, made)["phase"] == "Ready")
        expect(pool(c, made)["status"]["nodes"], [first])
        expect((label_of(c, first), label_of(c, second)), ("gold", None))
        spec = shard(c, "gold")["spec"]
        expect((spec["partitionLabelValue"], spec["placementStrategy"]), ("gold", {"gpu": "spread", "cpu": "binpack"}))
        expect(spec["minRuntime"], {"preemptMinRuntime": "128h40m0s", "reclaimMinRuntime": "128h40m0s"})
        set_labels(c, second, {"example.com/gpu": "gold"})
        c.wait_for("the second node", lambda: label_of(c, second) == "gold")
        set_labels(c, first, {"example.com/gpu": None})
        c.wait_for("the first node to leave", lambda: label_of(c, first) is None)
        c.wait_for("the node's name", lambda: pool(c, made)["status"]["nodes"] == [second])
        set_labels(c, second, {LABEL: "other"})
        c.wait_for("the label that somebody changed", lambda: label_of(c, second) == "gold")
        expect(c.machine.send("DELETE", "/apis/kai.scheduler/v1/schedulingshards/gold").status, 200)
        c.wait_for("the shard that somebody deleted", lambda: shard(c, "gold"))
        path = f"{POOLS}/{made['id']}"
        c.ask("PATCH", path, {"schedulingConfiguration": {"placementStrategy": {"cpu": "spread"}}})
        c.wait_for("the change", lambda: shard(c, "gold")["spec"]["placementStrategy"]["cpu"] == "spread")
        expect(pool(c, made)["schedulingConfiguration"], {"placementStrategy": {"cpu": "spread", "gpu": "spread"},
                                                          "minGuaranteedRuntime": "5d8h40m"})
        c.ask("PUT", path, {"labelValue": "silver"})
        c.wait_for("the change", lambda: shard(c, "gold")["spec"]["placementStrategy"] == {"gpu": "binpack", "cpu": "binpack"})
        expect(shard(c, "gold")["spec"]["minRuntime"]["reclaimMinRuntime"], "0s")
        c.wait_for("an empty pool", lambda: pool(c, made)["phase"] == "Empty" and label_of(c, second) is None)
        set_labels(c, second, {"example.com/gpu": "silver"})
        c.wait_for("the node", lambda: label_of(c, second) == "gold")
        listed = {row["name"]: row for row in c.ask("GET", POOLS)["nodepools"]}
        expect(set(listed), {"default", "gold"})
        expect(c.ask("GET", f"{POOLS}/count?filterBy=name==gold")["count"], 1)
        expect(c.call("DELETE", f"{POOLS}/default").status, 400, "the default pool")
        drop(c, made)
        expect((shard(c, "gold"), label_of(c, second), label_of(c, second, "console.muster/id")), (None, None, None))
        set_labels(c, second, {"example.com/gpu": None})
        c.read_back(f"POST {POOLS}", f"PUT {POOLS}/{{nodepoolId}}", f"PATCH {POOLS}/{{nodepoolId}}", f"DELETE {POOLS}/{{nodepoolId}}")

    @tests.test("quotas of departments and projects in a node pool reach the Queues of that pool, which come and go with it")
    def _(c):
        department = c.unit("departments", "pooled-d")
        project = c.unit("projects", "pooled", parentId=department["id"], resources=[{"gpu": {"deserved": 2}}])
        made = create(c, "bronze")
        c.wait_for("the Queues of a new pool", lambda: c.queue("pooled-bronze") and c.queue("pooled-d-bronze"))
        queue = c.queue("pooled-bronze")
        expect((queue["metadata"]["labels"][LABEL], queue["spec"]["parentQueue"]), ("bronze", "pooled-d-bronze"))
        expect(queue["spec"]["resources"], {"gpu": {"quota": 0, "limit": -1, "overQuotaWeight": 1},
                                            "cpu": {"quota": -1, "limit": -1, "overQuotaWeight": 1},
                                            "memory": {"quota": -1, "limit": -1, "overQuotaWeight": 1}})
        expect((c.queue("pooled")["spec"]["resources"]["gpu"]["quota"], c.queue("pooled")["metadata"]["labels"].get(LABEL)), (2, None))
        path = f"/api/v1/org-unit/projects/{project['id']}"
        rows = c.ask("PATCH", path + "/resources", [{"nodePool": {"id": made["id"]}, "gpu": {"deserved": 3, "limit": 4}}])
        expect([(row["nodePool"]["name"], row["gpu"]["deserved"]) for row in rows], [("default", 2), ("bronze", 3)])
        c.wait_for("the quota", lambda: c.queue("pooled-bronze")["spec"]["resources"]["gpu"]["quota"] == 3)
        expect(c.queue("pooled")["spec"]["resources"]["gpu"]["quota"], 2)
        expect(c.ask("GET", path)["totalResources"]["gpuQuota"], 5)
        c.ask("PUT", f"/api/v1/org-unit/departments/{department['id']}/resources", [{"nodePool": {"name": "bronze"}, "gpu": {"deserved": 6}}])
        c.wait_for("the quota", lambda: c.queue("pooled-d-bronze")["spec"]["resources"]["gpu"]["quota"] == 6)
        for rows in ([{"nodePool": {"id": made["id"], "name": "default"}}], [{"nodePool": {"name": "bronze"}}] * 2,
                     [{"nodePool": {"name": "tin"}}]):
            expect(c.call("PUT", path + "/resources", rows).status, 400, rows)
        late = c.unit("projects", "pooled-late", parentId=department["id"])
        c.wait_for("the Queue of a new project", lambda: c.queue("pooled-late-bronze"))
        drop(c, made)
        c.wait_for("the Queues to go", lambda: not any(map(c.queue, ("pooled-bronze", "pooled-d-bronze", "pooled-late-bronze"))))
        expect([row["nodePool"]["name"] for row in c.ask("GET", path)["resources"]], ["default"])
        expect(c.queue("pooled")["spec"]["resources"]["gpu"]["quota"], 2)
        c.ask("DELETE", f"/api/v1/org-unit/projects/{late['id']}", status=202)
        c.wait_for("the end of the project", lambda: c.call("GET", f"/api/v1/org-unit/projects/{late['id']}").status == 404)
        drop_units(c, department, project)

    @tests.test("pods of a node pool run on its nodes only, in the pool's Queue")
    def _(c):
        node = nodes(c)[0]
        department = c.unit("departments", "runs-d")
        project = c.unit("projects", "runs", parentId=department["id"])
        made = create(c, "steel", labelKey=LABEL)
        set_labels(c, node, {LABEL: "steel"})
        c.wait_for("the pool", lambda: pool(c, made)["status"]["nodes"] == [node] and c.queue("runs-steel"))
        expect(label_of(c, node, "console.muster/id"), None, "a node that somebody else has put into the pool")
        namespace = project["status"]["namespace"]
        c.wait_for("the namespace", lambda: c.machine.get(f"/api/v1/namespaces/{namespace}"))
        scheduler = subprocess.Popen([sides.MUSTER, "scheduler", "--partition-label-value", "steel", "--plugin-server-port", "0",
                                      "--metrics-bind-address", "0", "--kubeconfig", c.machine.state / "kubeconfig"],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            body = {"metadata": {"name": "on-steel", "labels": {"project": "runs", LABEL: "steel"}}, "spec": {
                "schedulerName": "kai-scheduler", "containers": [{"name": "main", "image": "busybox", "command": ["sleep", "1"],
                                                                  "resources": {"limits": {"nvidia.com/gpu": "4"}}}]}}
            expect(c.machine.send("POST", f"/api/v1/namespaces/{namespace}/pods", body).status, 201)
            c.wait_for("the pod to be bound", lambda: (c.machine.get(f"/api/v1/namespaces/{namespace}/pods/on-steel") or {}).get(
                "spec", {}).get("nodeName"))
            expect(c.machine.get(f"/api/v1/namespaces/{namespace}/pods/on-steel")["spec"]["nodeName"], node)
        finally:
            scheduler.terminate()
            scheduler.wait(60)
        expect(c.machine.send("DELETE", f"/api/v1/namespaces/{namespace}/pods/on-steel").status, 200)
        drop(c, made)
        expect(label_of(c, node), "steel", "the label of somebody else")
        set_labels(c, node, {LABEL: None})
        drop_units(c, department, project)

    @tests.test("settings of node pools that are wrong or have no effect are refused, and the default pool keeps its label")
    def _(c):
        for more, status in (({"name": "Upper"}, 400), ({"name": "x" * 41}, 400), ({"name": ""}, 400), ({"name": "default"}, 409),
                             ({"clusterId": "other"}, 400), ({"labelKey": "a/b/c"}, 400), ({"labelKey": "-a"}, 400), ({"labelKey": ""}, 400),
                             ({"labelKey": "x" * 64}, 400), ({"labelKey": "/a"}, 400), ({"labelValue": "a b"}, 400), ({"labelValue": 5}, 400),
                             ({"labelKey": LABEL, "labelValue": "another"}, 400), ({"labelKey": "console.muster/id"}, 400),
                             ({"placementStrategy": {"gpu": "random"}}, 400), ({"placementStrategy": "spread"}, 400),
                             *(({"schedulingConfiguration": {"minGuaranteedRuntime": text}}, 400)
                               for text in ("5", "d", "5x", "-5m", "1d1", "9" * 40 + "d", "101w" * 99, "40000d", "1..5h")),
                             ({"overProvisioningRatio": 6}, 400), ({"overProvisioningRatio": 2}, 501), ({"networkTopologyId": "t"}, 501),
                             ({"gpuResourceOptimization": {"swapEnabled": True}}, 501),
                             ({"gpuResourceOptimization": {"cpuSwapMemorySize": "1G"}}, 501),
                             ({"gpuNetworkAccelerationDetection": "Use"}, 501), ({"gpuNetworkAccelerationDetection": "Maybe"}, 400),
                             ({"gpuNetworkAccelerationLabelKey": "x"}, 501)):
            create(c, more.pop("name", "refused"), status, **more)
        for label in ("labelKey", "labelValue"):
            expect(c.call("PATCH", f"{POOLS}/default", {label: "x"}).status, 400)
        expect([row["name"] for row in c.ask("GET", POOLS)["nodepools"]], ["default"])
        expect(shard(c, "default"), None, "a shard that nobody has asked for")
        c.ask("PATCH", f"{POOLS}/default", {"placementStrategy": {"gpu": "spread"}})
        c.wait_for("the default shard", lambda: (shard(c, "default") or {}).get("spec", {}).get("placementStrategy", {}).get("gpu") == "spread")
        expect("partitionLabelValue" in shard(c, "default")["spec"], False)
        c.wait_for("the pool", lambda: c.ask("GET", f"{POOLS}/default")["phase"] == "Ready")
        made = create(c, "twice")
        create(c, "twice", 409)
        expect_in("being deleted", delete_twice(c, made))


def delete_twice(c, made):
    """What a change of a pool that is being deleted is answered; a pool that is gone already counts as well."""
    c.ask("DELETE", f"{POOLS}/{made['id']}", status=202)
    answer = c.call("PATCH", f"{POOLS}/{made['id']}", {})
    c.wait_for("the end of the pool", lambda: c.call("GET", f"{POOLS}/{made['id']}").status == 404)
    return answer.text if answer.status == 400 else "being deleted"
