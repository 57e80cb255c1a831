"""Inference over the REST and in the cluster: a Deployment with a Service, changed while it runs. register() adds the tests."""

import functools

import workloads
from assets import make, remove
from objects import namespace_of
from reuse import TEMPLATES, names
from suite import Skip, expect, expect_in
from workloads import LABEL, POLICY, WORKLOADS, audit_of, drop_project, phase, pods, reaches, ready, row, submit, variables

SPEC = {"image": "server:1", "command": "serve", "servingPort": {"container": 8000, "protocol": "http"},
        "compute": {"gpuDevicesRequest": 1, "cpuMemoryRequest": "1024Mi"}, "autoscaling": {"minReplicas": 2, "maxReplicas": 2}}


def deployment(c, project, name):
    return c.machine.get(f"/apis/apps/v1/namespaces/{namespace_of(project)}/deployments/{name}")


def service(c, project, name):
    return c.machine.get(f"/api/v1/namespaces/{namespace_of(project)}/services/{name}")


def runs(c, made, count):
    c.wait_for(f"{count} pods of {made['name']}", lambda: row(c, made)["runningPods"] == count and phase(c, made) == "Running")


def drop(c, project, made):
    c.ask("DELETE", f"{WORKLOADS}/inferences/{made['workloadId']}", status=202)
    c.wait_for("the end of the workload", lambda: phase(c, made) is None)
    c.wait_for("the end of its objects", lambda: not deployment(c, project, made["name"]) and not pods(c, project, made))
    expect(service(c, project, made["name"]), None)


def images(c, project, made):
    return {pod["spec"]["containers"][0]["image"] for pod in pods(c, project, made)}


def register(tests):  # pylint: disable=too-many-statements
    """Adds the tests."""

    @tests.test("an inference workload runs as a Deployment with a Service, is restored when somebody changes it, and goes with all it has")
    def _(c):
        project = ready(c, "serve-a")
        made = submit(c, "inferences", project, "server", SPEC)
        path = f"{WORKLOADS}/inferences/{made['workloadId']}"
        expect((made["spec"], made["desiredPhase"], made["createdBy"]), (SPEC, "Running", "admin@example.com"))
        runs(c, made, 2)
        expect((c.ask("GET", path)["spec"], c.ask("GET", path)["actualPhase"]), (SPEC, "Running"))
        found = deployment(c, project, "server")
        expect((found["spec"]["replicas"], found["spec"]["strategy"]["rollingUpdate"]["maxSurge"], found["metadata"]["labels"][LABEL]),
               (2, 0, made["workloadId"]))
        front = service(c, project, "server")["spec"]
        expect((front["selector"], front["ports"][0]["port"], front["ports"][0]["targetPort"]), ({LABEL: made["workloadId"]}, 80, 8000))
        pod = pods(c, project, made)[0]
        labels, container = pod["metadata"]["labels"], pod["spec"]["containers"][0]
        expect((labels["project"], labels["priorityClassName"], labels["kai.scheduler/preemptibility"], pod["spec"]["restartPolicy"]),
               (project["name"], "very-high", "non-preemptible", "Always"))
        expect({key: variables(container)[key] for key in ("RUNAI_PROJECT", "RUNAI_JOB_NAME", "JOB_UUID", "RUNAI_NUM_OF_GPUS")},
               {"RUNAI_PROJECT": project["name"], "RUNAI_JOB_NAME": "server", "JOB_UUID": made["workloadId"], "RUNAI_NUM_OF_GPUS": "1"})
        one = row(c, made)
        expect((one["type"], one["category"], one["priority"], one["allocatedResources"]["gpu"], one["actionsSupport"]),
               ("Inference", "Deploy", 150, 2, {"delete": True, "suspend": False}))
        expect(one["requestedPods"], {"number": 2, "min": 2, "max": 2})
        c.wait_for("events of its pods", lambda: "Pod" in {event["involvedObject"]["kind"] for event in c.ask(
            "GET", f"{WORKLOADS}/{made['workloadId']}/events")["events"]})
        for action in ("suspend", "resume"):
            batch = c.ask("POST", f"{WORKLOADS}/batch", {"action": action, "ids": [made["workloadId"]]})
            expect_in("cannot be stopped", batch["failed"][0]["message"])
        objects = f"/apis/apps/v1/namespaces/{namespace_of(project)}/deployments/server"
        expect(c.machine.send("DELETE", objects + "?propagationPolicy=Background").status, 200)
        c.wait_for("a new Deployment", lambda: (deployment(c, project, "server") or {}).get("metadata", {}).get("uid") not in (
            None, found["metadata"]["uid"]))
        runs(c, made, 2)
        expect(c.call("GET", f"{WORKLOADS}/trainings/{made['workloadId']}").status, 404, "of another kind")
        drop(c, project, made)
        expect(c.call("GET", path).status, 404)
        expect(audit_of(c, "server"), [("create", "inference"), ("delete", "inference")])
        drop_project(c, project)
        c.read_back(f"POST {WORKLOADS}/inferences", f"DELETE {WORKLOADS}/inferences/{{workloadId}}")

    @tests.test("a change of an inference workload rolls through its pods within its quota, and takes away what it no longer has")
    def _(c):
        project = ready(c, "serve-b")
        first = {**SPEC, "environmentVariables": [{"name": "A", "value": "1"}, {"name": "B", "value": ""}],
                 "compute": {**SPEC["compute"], "gpuDevicesRequest": 2, "cpuCoreLimit": 1, "cpuCoreRequest": 0.5}}
        made = submit(c, "inferences", project, "rolling", first)
        path = f"{WORKLOADS}/inferences/{made['workloadId']}"
        runs(c, made, 2)
        expect(row(c, made)["allocatedResources"]["gpu"], 4, "all of the quota")
        changed = c.ask("PATCH", path, {"spec": {"image": "server:2", "compute": {"cpuCoreLimit": None},
                                                 "environmentVariables": [{"name": "C", "value": "3"}]}}, 202)
        expect((changed["spec"]["image"], changed["spec"]["compute"], changed["spec"]["servingPort"]),
               ("server:2", {"gpuDevicesRequest": 2, "cpuMemoryRequest": "1024Mi", "cpuCoreRequest": 0.5}, SPEC["servingPort"]))
        c.wait_for("the new image alone", lambda: images(c, project, made) == {"server:2"})
        runs(c, made, 2)
        container = pods(c, project, made)[0]["spec"]["containers"][0]
        expect(("cpu" in container["resources"]["limits"], variables(container).get("C"), "A" in variables(container)), (False, "3", False))
        expect(c.ask("GET", path)["spec"], changed["spec"])
        uid = deployment(c, project, "rolling")["metadata"]["uid"]
        smaller = c.ask("PATCH", path, {"spec": {"autoscaling": {"minReplicas": 1, "maxReplicas": 1}, "priorityClass": "high"}}, 202)
        expect((smaller["spec"]["autoscaling"], row(c, made)["priority"]), ({"minReplicas": 1, "maxReplicas": 1}, 125))
        runs(c, made, 1)
        expect(deployment(c, project, "rolling")["metadata"]["uid"], uid, "the same object")
        for spec, status, part in (({"labels": []}, 400, "cannot be changed"), ({"servingPort": {"container": 1}}, 400, "cannot be changed"),
                                   ({"image": 3}, 400, "image"), ({"autoscaling": {"minReplicas": 3}}, 400, "maxReplicas")):
            answer = c.call("PATCH", path, {"spec": spec})
            expect(answer.status, status, answer.text)
            expect_in(part, answer.text)
        drop(c, project, made)
        expect(audit_of(c, "rolling"), [("create", "inference"), ("delete", "inference"), ("update", "inference"), ("update", "inference")])
        drop_project(c, project)
        c.read_back(f"PATCH {WORKLOADS}/inferences/{{workloadId}}")

    @tests.test("inference follows its policy also when it is changed, keeps its scaling for a scaler, and refuses what has no effect")
    def _(c):
        project = ready(c, "serve-c")
        scope = f"scope=project&projectId={project['id']}"
        nfs = make(c, "datasource/nfs", "models", {"server": "n", "path": "/m", "mountPath": "/models"}, scope="project",
                   projectId=int(project["id"]))
        c.ask("PUT", f"{POLICY}/inferences", {
            "meta": {"name": "p", "scope": "project", "projectId": int(project["id"])},
            "policy": {"rules": {"compute": {"gpuDevicesRequest": {"max": 1}}}, "imposedAssets": [nfs["meta"]["id"]]}})
        scaling = {"minReplicas": 1, "maxReplicas": 3, "initialReplicas": 2, "metric": "throughput", "metricThreshold": 10, "scaleDownDelaySeconds": 30}
        made = submit(c, "inferences", project, "scaled", {**SPEC, "autoscaling": scaling})
        expect([one["mountPath"] for one in made["spec"]["storage"]["nfs"]], ["/models"])
        c.wait_for("its Deployment", lambda: deployment(c, project, "scaled"))
        found = deployment(c, project, "scaled")
        expect(found["spec"]["replicas"], 2)
        knative = {key.split("/")[1]: value for key, value in found["metadata"]["annotations"].items() if key.startswith("autoscaling.knative.dev/")}
        expect(knative, {"min-scale": "1", "max-scale": "3", "initial-scale": "2", "metric": "rps", "target": "10", "scale-down-delay": "30s"})
        path = f"{WORKLOADS}/inferences/{made['workloadId']}"
        changed = c.ask("PATCH", path, {"spec": {"args": "--all"}}, 202)
        expect(len(changed["spec"]["storage"]["nfs"]), 1, "imposed once")
        answer = c.call("PATCH", path, {"spec": {"compute": {"gpuDevicesRequest": 2}}})
        expect(answer.status, 400)
        expect_in("spec.compute.gpuDevicesRequest: 2 is more", answer.text)

        def refuse(more, status, part):
            answer = c.call("POST", f"{WORKLOADS}/inferences", {"name": "no", "projectId": project["id"], "clusterId": c.cluster, "spec": {**SPEC, **more}})
            expect(answer.status, status, answer.text[:300])
            expect_in(part, answer.text)

        refuse({"servingPort": {"container": 80, "authorizationType": "authorizedUsers"}}, 501, "authorizationType")
        refuse({"servingPort": {"protocol": "http"}}, 400, "servingPort.container")
        refuse({"servingConfiguration": {"requestTimeoutSeconds": 3}}, 501, "requestTimeoutSeconds")
        refuse({"autoscaling": {"minReplicas": 3, "maxReplicas": 2}}, 400, "maxReplicas")
        refuse({"autoscaling": {"maxReplicas": 2}}, 400, "metric")
        refuse({"autoscaling": {"maxReplicas": 2, "metric": "magic", "metricThreshold": 1}}, 400, "throughput, concurrency or latency")
        refuse({"backoffLimit": 1}, 501, "backoffLimit")
        c.ask("DELETE", f"{POLICY}/inferences?{scope}", status=204)
        drop(c, project, made)
        remove(c, "datasource/nfs", nfs)
        drop_project(c, project)

    @tests.test("who may serve is said by its own permission, and templates of inference are made, used and deleted")
    def _(c):
        project = ready(c, "serve-d")
        body = {"name": "mine", "projectId": project["id"], "clusterId": c.cluster, "spec": SPEC}
        rights = c.ask("GET", "/api/v1/authorization/roles")
        viewer = next(role["id"] for role in rights if role["name"] == "Viewer")
        user, token = c.user("serve-viewer@example.com")
        expect(c.call("POST", f"{WORKLOADS}/inferences", body, token=token).status, 403)
        c.allow(user, viewer, "project", project["id"])
        expect(c.call("POST", f"{WORKLOADS}/inferences", body, token=token).status, 403)
        made = submit(c, "inferences", project, "mine", SPEC)
        path = f"{WORKLOADS}/inferences/{made['workloadId']}"
        expect(c.ask("GET", path, token=token)["name"], "mine")
        expect((c.call("PATCH", path, {"spec": {"image": "x"}}, token=token).status, c.call("DELETE", path, token=token).status), (403, 403))
        expect(c.ask("GET", path)["spec"]["image"], "server:1")
        template = c.ask("POST", f"{TEMPLATES}/inferences", {"meta": {"name": "server", "scopeType": "tenant"}, "spec": SPEC}, 202)
        where = f"{TEMPLATES}/inferences/{template['meta']['id']}"
        expect((c.ask("GET", where)["spec"], names(c, kind="/inferences")), (SPEC, ["server"]))
        used = submit(c, "inferences", project, "used", {"autoscaling": {"minReplicas": 1, "maxReplicas": 1}}, templateId=template["meta"]["id"])
        expect((used["spec"]["image"], used["spec"]["autoscaling"]["minReplicas"]), ("server:1", 1))
        c.ask("DELETE", where, status=204)
        expect(c.call("GET", where).status, 404)
        c.read_back(f"POST {TEMPLATES}/inferences", f"DELETE {TEMPLATES}/inferences/{{templateId}}")
        drop(c, project, made)
        drop(c, project, used)
        drop_project(c, project)

    @tests.test("runapy, unmodified, submits, changes and deletes inference workloads")
    def _(c):
        try:
            from runai import models  # pylint: disable=import-outside-toplevel
        except ImportError:
            raise Skip("runapy is not installed: scripts/install-deps test") from None
        project = ready(c, "serve-runapy")
        client = c.runapy("runapy-inference").workloads.inferences
        request = functools.partial(dict, project_id=project["id"], cluster_id=c.cluster)
        made = client.create_inference1(models.InferenceCreationRequest(**request(
            name="by-runapy", spec=models.InferenceSpecSpec(image="i", serving_port=models.ServingPort(container=8080))))).data
        reaches(c, made, "Running")
        changed = client.update_inference_spec(workload_id=made["workloadId"], inference_update_request=models.InferenceUpdateRequest(
            spec=models.InferenceUpdateSpecSpec(image="j"))).data
        expect(changed["spec"]["image"], "j")
        expect(client.get_inference(workload_id=made["workloadId"]).data["name"], "by-runapy")
        client.delete_inference(workload_id=made["workloadId"])
        c.wait_for("the end", lambda: workloads.phase(c, made) is None)
        drop_project(c, project)
