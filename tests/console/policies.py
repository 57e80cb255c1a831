"""Policies over the REST: what is kept, what follows from several scopes, and workloads against it."""

from suite import Skip, expect, expect_in

import assets

POLICY = "/api/v2/policy"
PATHS = ("workspaces", "trainings", "distributed", "inferences")


def body(name, policy, scope="tenant", **ids):
    return {"meta": {"name": name, "scope": scope, **ids}, "policy": policy}


def whole(path, part):
    """A part of a policy; of distributed workloads it is the worker's."""
    return {"worker": part} if path == "distributed" else part


def check_type(c, path):
    where = f"{POLICY}/{path}"
    policy = {"defaults": whole(path, {"image": "i", "compute": {"gpuDevicesRequest": 1},
                                       "environmentVariables": {"instances": [{"name": "A", "value": "b"}]}}),
              "rules": whole(path, {"compute": {"gpuDevicesRequest": {"max": 4}}, "image": {"required": True}})}
    expect(c.call("GET", where + "?scope=tenant").status, 404, "before")
    tried = c.ask("PUT", where + "?validateOnly=true", body("first", policy))
    expect(tried["policy"], policy)
    expect(c.call("GET", where + "?scope=tenant").status, 404, "validateOnly keeps nothing")
    made = c.ask("PUT", where, body("first", policy))
    got = c.ask("GET", where + "?scope=tenant")
    expect(got, made)
    expect((got["policy"], got["meta"]["name"], got["meta"]["createdBy"]), (policy, "first", "admin@example.com"))
    patch = {"rules": whole(path, {"image": {"canEdit": False}})}
    c.ask("PATCH", where, {**body("second", patch), "reset": ["worker.compute" if path == "distributed" else "compute"]})
    got = c.ask("GET", where + "?scope=tenant")
    expect(got["policy"]["rules"], whole(path, {"image": {"required": True, "canEdit": False}}))
    expect("gpuDevicesRequest" in str(got["policy"]["defaults"]), False, "reset")
    expect((got["meta"]["id"], got["meta"]["name"]), (made["meta"]["id"], "second"))
    for wrong in ({"rules": {"nonsense": {}}}, {"defaults": {"nonsense": 1}}, {"rules": whole(path, {"image": {"min": 1}})},
                  {"rules": whole(path, {"compute": {"gpuDevicesRequest": {"min": 4, "max": 1}}})},
                  {"rules": whole(path, {"compute": {"cpuMemoryLimit": {"min": "4Gi", "max": "1Gi"}}})},
                  {"defaults": whole(path, {"compute": {"gpuDevicesRequest": "many"}})},
                  {"imposedAssets": {"worker": ["x"]} if path == "distributed" else ["x"]}):
        expect(c.call("PUT", where, body("wrong", wrong)).status, 400, wrong)
    kinds = [row["type"] for row in c.ask("GET", POLICY)["policies"]]
    expect(len(kinds), 1, kinds)
    c.ask("DELETE", where + "?scope=tenant", status=204)
    expect(c.call("GET", where + "?scope=tenant").status, 404)
    expect(c.call("DELETE", where + "?scope=tenant").status, 404)
    c.read_back(*(f"{method} {where}" for method in ("PUT", "PATCH", "DELETE")))


def register(tests):
    """Adds the tests."""

    @tests.test("policies of every type are kept, validated only, changed, reset and deleted, and wrong ones are refused")
    def _(c):
        for path in PATHS:
            check_type(c, path)
        expect(c.call("GET", f"{POLICY}/trainings").status, 400, "without a scope")
        expect(c.call("GET", f"{POLICY}/trainings?scope=project").status, 400, "without a project")

    @tests.test("the effective policy: closest defaults, highest rules of compute and security, closest others, and their origin")
    def _(c):
        department = c.unit("departments", "policy-d")
        project = c.unit("projects", "policy-p", parentId=department["id"])
        number = int(project["id"])
        nfs = assets.make(c, "datasource/nfs", "imposed", {"server": "s", "path": "/p", "mountPath": "/m"})["meta"]["id"]
        where = f"{POLICY}/trainings"
        c.ask("PUT", where, body("t", {
            "defaults": {"image": "tenant", "command": "run"}, "imposedAssets": [nfs],
            "rules": {"compute": {"gpuDevicesRequest": {"max": 2}}, "image": {"required": True},
                      "security": {"runAsUid": {"min": 1000}}}}))
        c.ask("PUT", where, body("d", {"rules": {"compute": {"gpuDevicesRequest": {"max": 8}, "cpuCoreRequest": {"max": 4}}}},
                                 "department", departmentId=department["id"]))
        c.ask("PUT", where, body("p", {
            "defaults": {"image": "project"},
            "rules": {"image": {"canEdit": False}, "security": {"runAsUid": {"min": 1}},
                      "labels": {"instances": {"canAdd": False}}}}, "project", projectId=number))
        effective = c.ask("GET", f"{where}?scope=project&projectId={number}")["effective"]
        tenant, mine = {"scope": "tenant"}, {"scope": "project", "projectId": number, "clusterId": c.cluster}
        expect(effective["defaults"], {"image": "project", "command": "run"})
        expect(effective["rules"]["compute"]["gpuDevicesRequest"], {"max": 2, "sourceOfRule": tenant})
        expect(effective["rules"]["compute"]["cpuCoreRequest"]["sourceOfRule"]["departmentId"], department["id"])
        expect(effective["rules"]["security"]["runAsUid"], {"min": 1000, "sourceOfRule": tenant})
        expect(effective["rules"]["image"], {"canEdit": False, "sourceOfRule": mine})
        expect(effective["rules"]["labels"]["instances"], {"canAdd": False, "sourceOfRule": mine})
        expect(effective["imposedAssets"], [nfs])
        expect(c.call("DELETE", f"{assets.ASSETS}datasource/nfs/{nfs}").status, 412, "an imposed asset")
        above = c.ask("GET", f"{where}?scope=department&departmentId={department['id']}")["effective"]
        expect("canEdit" in above["rules"]["image"], False, "a project's rule above it")
        check_workloads(c, number)
        expect(len(c.ask("GET", f"{POLICY}?workloadType=training&projectId={number}")["policies"]), 3)
        user, token = c.user("policy-maker@example.com")
        c.allow(user, 2, "department", department["id"])
        expect(c.call("PUT", where, body("x", {}), token=token).status, 403)
        c.ask("PUT", where, body("d2", {}, "department", departmentId=department["id"]), token=token)
        expect(c.ask("GET", f"{where}?scope=department&departmentId={department['id']}", token=token)["meta"]["name"], "d2")
        c.ask("DELETE", f"{where}?scope=tenant", status=204)
        c.ask("DELETE", f"/api/v1/org-unit/projects/{project['id']}", status=202)
        c.wait_for("the project's policy to go", lambda: len(c.ask("GET", POLICY)["policies"]) == 1)
        c.ask("DELETE", f"{where}?scope=department&departmentId={department['id']}", status=204)

    @tests.test("runapy, unmodified, sets and reads a policy")
    def _(c):
        try:
            from runai import models  # pylint: disable=import-outside-toplevel
        except ImportError:
            raise Skip("runapy is not installed: scripts/install-deps test") from None
        policies = c.runapy("runapy-policies").policies.policy
        request = models.TrainingPolicyOverwriteRequestV2.from_dict(
            body("by-runapy", {"rules": {"compute": {"gpuDevicesRequest": {"max": 3}}}}))
        policies.overwrite_training_policy_v2(training_policy_overwrite_request_v2=request)
        got = policies.get_training_policy_v2(scope="tenant").data
        expect(got["policy"]["rules"]["compute"]["gpuDevicesRequest"]["max"], 3)
        policies.delete_training_policy(scope="tenant")


def check_workloads(c, project):
    """Workloads of the project against what its three policies say."""
    def reasons(spec):
        answer = c.ask("POST", "/api/muster/v1/policy/check",
                       {"workloadType": "training", "scope": "project", "projectId": project, "spec": spec})
        found = sorted((row["field"], row["rule"], row["sourceOfRule"]["scope"]) for row in answer["reason"])
        expect(answer["compliance"], not found)
        return found

    expect(reasons({"compute": {"gpuDevicesRequest": 2, "cpuCoreRequest": 4}, "security": {"runAsUid": 1000}}), [])
    expect(reasons({"image": "project"}), [])
    expect(reasons({"image": "other", "compute": {"gpuDevicesRequest": 3, "cpuCoreRequest": 4.5}, "security": {"runAsUid": 5},
                    "labels": [{"name": "a", "value": "b"}]}),
           [("compute.cpuCoreRequest", "max", "department"), ("compute.gpuDevicesRequest", "max", "tenant"),
            ("image", "canEdit", "project"), ("labels", "canAdd", "project"), ("security.runAsUid", "min", "tenant")])
    expect_in("unknown", c.call("POST", "/api/muster/v1/policy/check", {"workloadType": "x", "scope": "tenant", "spec": {}}).text)
