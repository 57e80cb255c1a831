"""What has happened to workloads, how many there are, and the properties of their types. register() adds the tests."""

import workloads
from suite import Skip, expect, expect_in
from workloads import TRAINING, WORKLOADS, drop, drop_project, ends_after, pods, reaches, ready, row, submit

TYPES = "/api/v1/workload-types"
CATEGORIES = "/api/v1/workload-categories"
PRIORITIES = "/api/v1/workload-priorities"


def events(c, made, **more):
    return c.ask("GET", f"{WORKLOADS}/{made['workloadId']}/events?limit=500", **more)["events"]


def records(c, made, query="limit=500"):
    return c.ask("GET", f"{WORKLOADS}/{made['workloadId']}/history?{query}")["records"]


def phases(c, made):
    return [one["spec"]["phaseUpdate"]["phase"] for one in reversed(records(c, made)) if one["meta"]["type"] == "PhaseUpdate"]


def values(c, query, token=None):
    found = c.ask("GET", f"{WORKLOADS}/telemetry?{query}", token=token)["values"]
    return {tuple(group["name"] for group in one.get("groups", [])): float(one["value"]) for one in found}


def register(tests):
    """Adds the tests."""

    @tests.test("a workload has the events of its own objects, newest first, and the history of its phases")
    def _(c):
        project = ready(c, "events-a")
        made = submit(c, "trainings", project, "told", {**TRAINING, "annotations": ends_after(1)})
        other = submit(c, "trainings", project, "told-1", TRAINING)
        gang = submit(c, "distributed", project, "gang", {"image": "i", "distributedFramework": "JAX", "numWorkers": 2})
        for one in (other, gang):
            reaches(c, one, "Running")
        reaches(c, made, "Completed")
        own = {pod["metadata"]["name"] for pod in pods(c, project, made)} | {"told"}
        found = events(c, made)
        names = {one["involvedObject"]["name"] for one in found if one["involvedObject"]["kind"] != "PodGroup"}
        expect(names, own, "its Job and its pod, and no others'")
        expect({one["clusterId"] for one in found}, {c.cluster})
        expect_in("SuccessfulCreate", {one["reason"] for one in found})
        expect([one["createdAt"] for one in found], sorted((one["createdAt"] for one in found), reverse=True))
        first = c.ask("GET", f"{WORKLOADS}/{made['workloadId']}/events?limit=1&sortOrder=asc")
        expect((len(first["events"]), first["next"], first["events"][0]["createdAt"]), (1, 1, found[-1]["createdAt"]))
        expect({one["involvedObject"]["name"] for one in events(c, gang) if one["involvedObject"]["kind"] == "Pod"},
               {pod["metadata"]["name"] for pod in pods(c, project, gang)})
        seen = phases(c, made)
        expect((seen[0], seen[-1]), ("Creating", "Completed"))
        expect("Running" in seen, True, seen)
        expect(len(records(c, made)), len(seen) + len(events(c, made)))
        c.ask("POST", f"{WORKLOADS}/trainings/{other['workloadId']}/suspend", status=202)
        reaches(c, other, "Stopped")
        expect(phases(c, other)[-2:], ["Stopping", "Stopped"])
        user, token = c.user("events-a@example.com")
        c.allow(user, 8, "project", ready(c, "events-b")["id"])
        for part in ("events", "history"):
            expect(c.call("GET", f"{WORKLOADS}/{made['workloadId']}/{part}", token=token).status, 404, "somebody else's")
        expect(c.call("GET", f"{WORKLOADS}/{made['workloadId']}/events?sortBy=name").status, 501)
        expect(c.call("GET", f"{WORKLOADS}/{made['workloadId']}/events?sortOrder=up").status, 400)
        drop_project(c, project)

    @tests.test("telemetry counts workloads and their GPUs by what it is asked for, of what the caller may read")
    def _(c):
        mine, yours = ready(c, "tele-a"), ready(c, "tele-b")
        made = [submit(c, kind, project, name, TRAINING) for kind, project, name in (
            ("trainings", mine, "tele-1"), ("workspaces", mine, "tele-2"), ("trainings", yours, "tele-3"))]
        for one in made:
            reaches(c, one, "Running")
        department = f"departmentId={mine['parentId']}"
        expect(values(c, f"telemetryType=WORKLOADS_COUNT&{department}"), {(): 2})
        expect(values(c, f"telemetryType=GPU_ALLOCATION&{department}&groupBy=Type"), {("Training",): 1, ("Workspace",): 1})
        expect(values(c, f"telemetryType=WORKLOADS_COUNT&{department}&groupBy=ProjectId&groupBy=Phase"), {("tele-a", "Running"): 2})
        expect(values(c, f"telemetryType=WORKLOADS_COUNT&{department}&filterByPhases=Pending,Failed"), {(): 0})
        user, token = c.user("telemetry@example.com")
        c.allow(user, 8, "project", yours["id"])
        expect(values(c, "telemetryType=WORKLOADS_COUNT&groupBy=ProjectId", token), {("tele-b",): 1})
        expect(values(c, "telemetryType=WORKLOADS_COUNT&clusterId=00000000-0000-4000-8000-000000000000"), {(): 0})
        for wrong, status in (("telemetryType=OTHER", 400), ("", 400), ("telemetryType=WORKLOADS_COUNT&groupBy=Colour", 400),
                              ("telemetryType=PENDING_TIME_DISTRIBUTION", 501)):
            expect(c.call("GET", f"{WORKLOADS}/telemetry?{wrong}").status, status, wrong)
        for project in (mine, yours):
            drop_project(c, project)

    @tests.test("types of workloads have a category and a priority, which an administrator changes for those that come later")
    def _(c):
        priorities = {one["name"]: one for one in c.ask("GET", PRIORITIES)["priorities"]}
        expect({name: one["value"] for name, one in priorities.items()}["high"], 125)
        expect([one["name"] for one in c.ask("GET", f"{PRIORITIES}?sortBy=value&sortOrder=desc")["priorities"]][0], "very-high")
        categories = {one["name"]: one["id"] for one in c.ask("GET", CATEGORIES)["categories"]}
        expect(sorted(categories), ["Build", "Deploy", "Train"])
        expect(c.ask("GET", f"{CATEGORIES}/{categories['Train']}")["name"], "Train")
        expect(c.call("GET", f"{CATEGORIES}/{c.cluster}").status, 404)
        types = {one["name"]: one for one in c.ask("GET", TYPES)["types"]}
        training = types["Training"]
        expect((training["priorityName"], training["categoryName"], types["Workspace"]["priorityName"]), ("low", "Train", "high"))
        expect([one["name"] for one in c.ask("GET", f"{TYPES}?filterBy=name==Training")["types"]], ["Training"])
        expect(c.ask("GET", f"{TYPES}?externalTypesOnly=true")["types"], [])
        project = ready(c, "types-a")
        before = submit(c, "trainings", project, "before", {"image": "i"})
        path = f"{TYPES}/{training['id']}"
        changed = c.ask("PUT", path, {"categoryId": categories["Deploy"], "priorityId": priorities["very-high"]["id"]})
        expect((changed["priorityName"], changed["categoryName"], changed["updatedBy"]), ("very-high", "Deploy", "admin@example.com"))
        expect(c.ask("GET", path), changed)
        after = submit(c, "trainings", project, "after", {"image": "i"})
        for one, wanted in ((before, ("low", "Train", True)), (after, ("very-high", "Deploy", False))):
            expect((row(c, one)["priorityClassName"], row(c, one)["category"], row(c, one)["preemptible"]), wanted)
        c.wait_for("the pod", lambda: pods(c, project, after))
        expect(pods(c, project, after)[0]["metadata"]["labels"]["priorityClassName"], "very-high")
        user, token = c.user("types@example.com")
        c.allow(user, 2, "department", project["parentId"])
        expect(c.call("PUT", path, {"priorityId": priorities["low"]["id"]}, token=token).status, 403, "of one department")
        expect(c.call("PUT", path, {"priorityId": c.cluster}).status, 400)
        expect(c.call("PUT", f"{TYPES}/{c.cluster}", {}).status, 404)
        c.ask("PUT", path, {"categoryId": categories["Train"], "priorityId": priorities["low"]["id"]})
        expect(c.ask("GET", path)["priorityName"], "low")
        c.read_back(f"PUT {TYPES}/{{workloadTypeId}}")
        drop_project(c, project)

    @tests.test("runapy, unmodified, reads events, history and the properties of types")
    def _(c):
        try:
            import runai  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
        except ImportError:
            raise Skip("runapy is not installed: scripts/install-deps test") from None
        project = ready(c, "events-runapy")
        client = c.runapy("runapy-events").workloads
        made = submit(c, "trainings", project, "by-runapy", {"image": "i"})
        reaches(c, made, "Running")
        expect(len(client.events.get_workload_events(workload_id=made["workloadId"]).data["events"]) > 0, True)
        expect(len(client.events.get_workload_history(workload_id=made["workloadId"]).data["records"]) > 1, True)
        expect(len(client.workload_properties.list_categories().data["categories"]), 3)
        expect(len(client.workload_properties.get_workload_priorities().data["priorities"]), 7)
        count = client.workloads.get_workloads_telemetry(telemetry_type="WORKLOADS_COUNT", group_by=["ProjectId", "Type"]).data["values"]
        expect([one["value"] for one in count if one["groups"][0]["name"] == "events-runapy"], ["1"])
        drop(c, "trainings", project, made)
        expect(workloads.phase(c, made), None)
        drop_project(c, project)
