"""Templates of workloads: made in a scope, found below it, and what is submitted from them. register() adds the tests."""

from suite import Skip, expect, expect_in
from workloads import WORKLOADS, drop, drop_project, pods, reaches, ready, submit, variables

TEMPLATES = "/api/v1/workload-templates"
SPEC = {"image": "base", "compute": {"gpuDevicesRequest": 1, "cpuCoreRequest": 0.5},
        "environmentVariables": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}


def make(c, kind, name, spec, scope="tenant", where=None, status=202, token=None, **more):
    meta = {"name": name, "scopeType": scope, **({"scopeId": where} if where else {}), **more.pop("meta", {})}
    return c.ask("POST", f"{TEMPLATES}/{kind}", {"meta": meta, "spec": spec, **more}, status, token=token)


def names(c, query="", kind="", token=None):
    return [one["meta"]["name"] for one in c.ask("GET", f"{TEMPLATES}{kind}?{query}", token=token)["entries"]]


def register(tests):
    """Adds the tests."""

    @tests.test("templates of each kind are made in a scope, listed, changed and deleted, and their names are unique in it")
    def _(c):
        project = ready(c, "reuse-a")
        for kind, title, spec in (("workspaces", "Workspace", SPEC), ("trainings", "Training", {**SPEC, "parallelism": 2}),
                                  ("distributed", "Distributed", {**SPEC, "distributedFramework": "PyTorch", "numWorkers": 2})):
            made = make(c, kind, f"whole-{kind}", spec, "project", project["id"], meta={"description": "first"})
            meta = made["meta"]
            expect((meta["workloadType"], meta["scopeType"], meta["scopeId"], meta["projectId"], meta["createdBy"], meta["description"]),
                   (title, "project", project["id"], int(project["id"]), "admin@example.com", "first"))
            path = f"{TEMPLATES}/{kind}/{meta['id']}"
            expect((made["spec"], c.ask("GET", path)), (spec, made))
            expect(c.ask("GET", f"{TEMPLATES}/{meta['id']}")["meta"]["name"], f"whole-{kind}")
            expect(names(c, kind=f"/{kind}", query="filterBy=scopeType==project"), [f"whole-{kind}"])
            patched = c.ask("PATCH", path, {"spec": {"compute": {"gpuDevicesRequest": 2}}})
            expect((patched["spec"]["compute"], patched["spec"]["image"], patched["meta"]["name"], patched["meta"]["updatedBy"]),
                   ({"gpuDevicesRequest": 2, "cpuCoreRequest": 0.5}, "base", f"whole-{kind}", "admin@example.com"))
            expect(c.ask("GET", path)["spec"], patched["spec"])
            replaced = c.ask("PUT", path, {"meta": {"name": f"other-{kind}"}, "spec": {"image": "new"}})
            expect((replaced["spec"], replaced["meta"].get("description")), ({"image": "new"}, None))
            expect(c.ask("GET", path)["meta"]["name"], f"other-{kind}")
            c.read_back(f"POST {TEMPLATES}/{kind}", f"PATCH {TEMPLATES}/{kind}/{{templateId}}", f"PUT {TEMPLATES}/{kind}/{{templateId}}")
        where = f"scopeType=project&scopeId={project['id']}"
        expect(c.call("GET", f"{TEMPLATES}/name-availability?templateName=other-trainings&{where}").status, 409)
        expect(c.call("GET", f"{TEMPLATES}/name-availability?templateName=free&{where}").status, 204)
        make(c, "workspaces", "other-trainings", SPEC, "project", project["id"], 409)
        expect(names(c, "search=other-&sortBy=name"), ["other-distributed", "other-trainings", "other-workspaces"])
        expect(c.ask("GET", f"{TEMPLATES}/count?search=other-")["count"], 3)
        page = c.ask("GET", f"{TEMPLATES}?search=other-&limit=2")
        expect((len(page["entries"]), page["pagination"]), (2, {"limit": 2, "offset": 0, "nextOffset": 2}))
        for kind in ("workspaces", "trainings", "distributed"):
            one, = c.ask("GET", f"{TEMPLATES}/{kind}?search=other-")["entries"]
            expect(c.call("GET", f"{TEMPLATES}/{'trainings' if kind == 'workspaces' else 'workspaces'}/{one['meta']['id']}").status, 404)
            c.ask("DELETE", f"{TEMPLATES}/{kind}/{one['meta']['id']}", status=204)
            expect(c.call("GET", f"{TEMPLATES}/{kind}/{one['meta']['id']}").status, 404)
            c.read_back(f"DELETE {TEMPLATES}/{kind}/{{templateId}}")
        kept = make(c, "trainings", "kept", SPEC, "project", project["id"])
        drop_project(c, project)
        expect(c.call("GET", f"{TEMPLATES}/{kept['meta']['id']}").status, 404, "of a project that is gone")

    @tests.test("a workload of a template has its members where it gives none, is held against the policy, and needs one of its scope")
    def _(c):
        mine, yours = ready(c, "reuse-b"), ready(c, "reuse-c")
        template = make(c, "trainings", "for-mine", SPEC, "department", mine["parentId"])["meta"]["id"]
        made = submit(c, "trainings", mine, "by-template", {"compute": {"gpuDevicesRequest": 2}, "environmentVariables": [{"name": "B", "value": "3"}]},
                      templateId=template)
        expect((made["spec"]["image"], made["spec"]["compute"]), ("base", {"cpuCoreRequest": 0.5, "gpuDevicesRequest": 2}))
        reaches(c, made, "Running")
        container = pods(c, mine, made)[0]["spec"]["containers"][0]
        expect((container["image"], variables(container)["A"], variables(container)["B"]), ("base", "1", "3"))
        body = {"name": "no", "clusterId": c.cluster, "templateId": template, "spec": {}}
        answer = c.call("POST", f"{WORKLOADS}/trainings", {**body, "projectId": yours["id"]})
        expect(answer.status, 400, "of another department")
        expect_in("templateId", answer.text)
        expect(c.call("POST", f"{WORKLOADS}/workspaces", {**body, "projectId": mine["id"]}).status, 400, "of another kind")
        c.ask("PUT", "/api/v2/policy/trainings", {"meta": {"name": "p", "scope": "project", "projectId": int(mine["id"])},
                                                  "policy": {"rules": {"compute": {"gpuDevicesRequest": {"max": 0}}}}})
        answer = c.call("POST", f"{WORKLOADS}/trainings", {**body, "projectId": mine["id"]})
        expect(answer.status, 400)
        expect_in("spec.compute.gpuDevicesRequest: 1 is more", answer.text)
        c.ask("DELETE", f"/api/v2/policy/trainings?scope=project&projectId={mine['id']}", status=204)
        gang = make(c, "distributed", "gang", {**SPEC, "distributedFramework": "PyTorch", "numWorkers": 1}, "project", mine["id"],
                    masterSpecSameAsWorker=True)
        expect(gang["masterSpecSameAsWorker"], True)
        many = submit(c, "distributed", mine, "gang", {}, templateId=gang["meta"]["id"])
        c.wait_for("its pods", lambda: len(pods(c, mine, many)) == 2)
        drop(c, "trainings", mine, made)
        for project in (mine, yours):
            drop_project(c, project)

    @tests.test("a template is read below its scope, changed by whoever may do so in the whole of it, and has no parts without effect")
    def _(c):
        mine, yours = ready(c, "reuse-d"), ready(c, "reuse-e")
        engineer, token = c.user("reuse-ml@example.com")
        c.allow(engineer, 7, "project", mine["id"])
        outsider, other_token = c.user("reuse-other@example.com")
        c.allow(outsider, 7, "project", yours["id"])
        wide = make(c, "trainings", "wide", SPEC, "department", mine["parentId"])["meta"]["id"]
        own = make(c, "trainings", "own", SPEC, "project", mine["id"], token=token)["meta"]["id"]
        make(c, "trainings", "no", SPEC, "tenant", status=403, token=token)
        make(c, "trainings", "no", SPEC, "project", yours["id"], 403, token)
        expect(names(c, "sortBy=name", "/trainings", token), ["own", "wide"])
        expect(names(c, "sortBy=name", "/trainings", other_token), [])
        for method in ("GET", "DELETE"):
            expect(c.call(method, f"{TEMPLATES}/trainings/{own}", token=other_token).status, 404)
        expect(c.call("DELETE", f"{TEMPLATES}/trainings/{wide}", token=token).status, 403)
        expect(c.call("PATCH", f"{TEMPLATES}/trainings/{wide}", {"spec": {"image": "x"}}, token=token).status, 403)
        for spec, status, part in (({"nonsense": 1}, 501, "nonsense"), ({"ports": [{"container": 80}]}, 501, "spec.ports"), ({"image": 5}, 400, "image"),
                                   ({"labels": [{"name": "project", "value": "x"}]}, 400, "is set by the console")):
            answer = c.call("POST", f"{TEMPLATES}/trainings", {"meta": {"name": "wrong", "scopeType": "tenant"}, "spec": spec})
            expect(answer.status, status, answer.text[:200])
            expect_in(part, answer.text)
        make(c, "trainings", "no", SPEC, "system", status=400)
        make(c, "trainings", "", SPEC, status=400)
        expect(c.call("GET", f"{TEMPLATES}/trainings?complyToProject=1").status, 501)
        for project in (mine, yours):
            drop_project(c, project)

    @tests.test("runapy, unmodified, makes a template and submits from it")
    def _(c):
        try:
            from runai import models  # pylint: disable=import-outside-toplevel
        except ImportError:
            raise Skip("runapy is not installed: scripts/install-deps test") from None
        project = ready(c, "reuse-runapy")
        client = c.runapy("runapy-templates").workloads
        made = client.workload_templates.create_workspace_template(models.WorkspaceTemplateCreationRequest(
            meta=models.TemplateCreationMetaFields(name="by-runapy", scope_type="project", scope_id=project["id"]),
            spec=models.WorkspaceTemplateSpec(image="i"))).data
        space = client.workspaces.create_workspace1(models.WorkspaceCreationRequest(
            name="space", project_id=project["id"], cluster_id=c.cluster, template_id=made["meta"]["id"])).data
        expect(space["spec"]["image"], "i")
        drop(c, "workspaces", project, space)
        drop_project(c, project)
