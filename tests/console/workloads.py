"""Workloads over the REST and in the cluster: submitted, seen to run, stopped, ended, refused. register() adds the tests."""

import functools

import objects
import pools
import streams
from assets import make, remove
from objects import namespace_of
from suite import Skip, expect, expect_in

WORKLOADS = "/api/v1/workloads"
POLICY = "/api/v2/policy"
LABEL = "console.muster/id"
TRAINING = {"image": "python:3", "command": "python -u", "args": "train.py --name 'a b'", "compute": {
    "gpuDevicesRequest": 1, "cpuCoreRequest": 0.5, "cpuMemoryRequest": "64Mi", "cpuCoreLimit": 2}}


def ready(c, name):
    """A new project, of a department of its own, with a quota of 4 GPUs."""
    quota = [{"gpu": {"deserved": 4}}]
    department = c.unit("departments", name + "-d", resources=quota)
    return objects.ready(c, name, parentId=department["id"], resources=quota)


def drop_project(c, project):
    objects.drop_project(c, project)
    c.ask("DELETE", f"/api/v1/org-unit/departments/{project['parentId']}", status=204)


def submit(c, kind, project, name, spec, status=202, token=None, **more):
    body = {"name": name, "projectId": project["id"], "clusterId": c.cluster, "spec": spec, **more}
    return c.ask("POST", f"{WORKLOADS}/{kind}", body, status, token=token)


def refuse(c, project, spec, status, part="", **more):
    body = {"name": "refused", "projectId": project["id"], "clusterId": c.cluster, "spec": spec, **more}
    answer = c.call("POST", f"{WORKLOADS}/trainings", body)
    expect(answer.status, status, f"{spec}: {answer.text[:300]}")
    expect_in(part, answer.text)


def row(c, made, token=None):
    return c.ask("GET", f"{WORKLOADS}/{made['workloadId']}", token=token)


def phase(c, made):
    answer = c.call("GET", f"{WORKLOADS}/{made['workloadId']}")
    return answer.json["phase"] if answer.status == 200 else None


def reaches(c, made, wanted):
    c.wait_for(f"{made['name']}: {wanted}, not {phase(c, made)}", lambda: phase(c, made) == wanted)


def job(c, project, name):
    return c.machine.get(f"/apis/batch/v1/namespaces/{namespace_of(project)}/jobs/{name}")


def names_of_jobs(c, project):
    return sorted(one["metadata"]["name"] for one in c.machine.get(f"/apis/batch/v1/namespaces/{namespace_of(project)}/jobs")["items"])


def pods(c, project, made):
    found = c.machine.get(f"/api/v1/namespaces/{namespace_of(project)}/pods?labelSelector={LABEL}={made['workloadId']}")
    return found["items"]


def drop(c, kind, project, made):
    c.ask("DELETE", f"{WORKLOADS}/{kind}/{made['workloadId']}", status=202)
    c.wait_for("the end of the workload", lambda: phase(c, made) is None)
    c.wait_for("the end of its objects", lambda: not job(c, project, made["name"]) and not pods(c, project, made))


def ends_after(seconds, code=0):
    """Annotations for fake nodes."""
    return [{"name": "muster.scheduler/pretend-run-time", "value": f"{seconds}s"},
            {"name": "muster.scheduler/pretend-exit-code", "value": str(code)}]


def variables(container):
    return {one["name"]: one.get("value") for one in container["env"]}


def audit_of(c, name):
    times = f"start=2020-01-01T00:00:00Z&end=2100-01-01T00:00:00Z&filterBy=entity_name=={name}"
    return sorted((entry["action"], entry["entity_type"]) for entry in c.ask("GET", f"/api/v1/audit/log?{times}")["audit_logs"])


def check_kind(c, project, kind, type_, priority, preemptibility):
    made = submit(c, kind, project, f"whole-{type_}", TRAINING)
    path = f"{WORKLOADS}/{kind}/{made['workloadId']}"
    expect((made["name"], made["projectId"], made["desiredPhase"], made["createdBy"]),
           (f"whole-{type_}", project["id"], "Running", "admin@example.com"))
    expect(made["spec"], TRAINING)
    reaches(c, made, "Running")
    expect(c.ask("GET", path)["spec"], TRAINING)
    expect(c.ask("GET", path)["actualPhase"], "Running")
    found = job(c, project, made["name"])
    expect(found["metadata"]["labels"][LABEL], made["workloadId"])
    expect((found["spec"]["suspend"], found["spec"]["backoffLimit"]), (False, 6))
    pod, = pods(c, project, made)
    labels, container = pod["metadata"]["labels"], pod["spec"]["containers"][0]
    expect((labels["project"], labels["priorityClassName"], labels["kai.scheduler/preemptibility"]), (project["name"], priority, preemptibility))
    expect((container["image"], container["command"], container["args"]), ("python:3", ["python", "-u"], ["train.py", "--name", "a b"]))
    expect((container["resources"]["limits"]["nvidia.com/gpu"], container["resources"]["requests"]["cpu"]), ("1", "500m"))
    expect({key: value for key, value in variables(container).items() if key != "NODE_NAME"},
           {"RUNAI_PROJECT": project["name"], "RUNAI_JOB_NAME": made["name"], "JOB_NAME": made["name"],
            "JOB_UUID": made["workloadId"], "RUNAI_NUM_OF_GPUS": "1"})
    expect(c.machine.get(f"/apis/scheduling.k8s.io/v1/priorityclasses/{priority}")["value"], {"low": 40, "high": 125}[priority])
    groups = c.machine.get(f"/apis/scheduling.run.ai/v2alpha2/namespaces/{namespace_of(project)}/podgroups")["items"]
    group, = [one for one in groups if made["name"] in one["metadata"]["name"]]
    expect((group["spec"]["queue"], group["spec"]["priorityClassName"]), (project["name"], priority))
    one = row(c, made)
    expect((one["type"].lower(), one["runningPods"], one["allocatedResources"]["gpu"], one["priorityClassName"], one["namespace"]),
           (type_, 1, 1, priority, namespace_of(project)))
    shown, = c.ask("GET", f"{WORKLOADS}/{made['workloadId']}/pods")["pods"]
    expect((shown["name"], shown["id"], shown["nodeName"], shown["k8sPhase"], shown["workloadName"]),
           (pod["metadata"]["name"], pod["metadata"]["uid"], pod["spec"]["nodeName"], "Running", made["name"]))
    c.ask("POST", path + "/suspend", status=202)
    reaches(c, made, "Stopped")
    expect((job(c, project, made["name"])["spec"]["suspend"], pods(c, project, made)), (True, []))
    expect((c.ask("GET", path)["desiredPhase"], row(c, made)["allocatedResources"]["gpu"]), ("Stopped", 0))
    c.ask("POST", path + "/resume", status=202)
    reaches(c, made, "Running")
    expect(job(c, project, made["name"])["spec"]["suspend"], False)
    drop(c, kind, project, made)
    expect(c.call("GET", path).status, 404)
    expect(audit_of(c, made["name"]), [("create", type_), ("delete", type_), ("update", type_), ("update", type_)])
    c.read_back(f"POST {WORKLOADS}/{kind}", f"DELETE {WORKLOADS}/{kind}/{{workloadId}}",
                f"POST {WORKLOADS}/{kind}/{{workloadId}}/suspend", f"POST {WORKLOADS}/{kind}/{{workloadId}}/resume")


def register(tests):  # pylint: disable=too-many-statements
    """Adds the tests."""

    @tests.test("workspaces and trainings run as Jobs in their project's Queue, stop, run again and go, and the audit log says who did it")
    def _(c):
        project = ready(c, "work-a")
        check_kind(c, project, "trainings", "training", "low", "preemptible")
        check_kind(c, project, "workspaces", "workspace", "high", "non-preemptible")
        drop_project(c, project)

    @tests.test("a workload that ends is Completed or Failed, and does not run again when its Job is deleted")
    def _(c):
        project = ready(c, "work-end")
        good = submit(c, "trainings", project, "good", {**TRAINING, "annotations": ends_after(1), "completions": 2, "parallelism": 2})
        bad = submit(c, "workspaces", project, "bad", {**TRAINING, "annotations": ends_after(1, 3), "backoffLimit": 0})
        reaches(c, good, "Completed")
        reaches(c, bad, "Failed")
        expect(job(c, project, "good")["status"]["succeeded"], 2)
        one = row(c, good)
        expect((one["completedAt"] >= one["createdAt"], one["requestedPods"]["completions"], one["actionsSupport"]["suspend"]), (True, 2, False))
        expect("Failed" in [condition["type"] for condition in row(c, bad)["conditions"]], True)
        for action in ("suspend", "resume"):
            expect_in("has ended", c.call("POST", f"{WORKLOADS}/trainings/{good['workloadId']}/{action}").text)
        path = f"/apis/batch/v1/namespaces/{namespace_of(project)}/jobs/good?propagationPolicy=Background"
        expect(c.machine.send("DELETE", path).status, 200)
        c.wait_for("the end of the pods", lambda: not pods(c, project, good))
        again = submit(c, "trainings", project, "after", {**TRAINING, "annotations": ends_after(1)})
        reaches(c, again, "Completed")
        expect((job(c, project, "good"), phase(c, good)), (None, "Completed"))
        for kind, made in (("trainings", good), ("workspaces", bad), ("trainings", again)):
            drop(c, kind, project, made)
        drop_project(c, project)

    @tests.test("a Job that somebody deletes or changes is made again as it was asked for, also one that was while the console was down")
    def _(c):
        project = ready(c, "work-repair")
        made = submit(c, "trainings", project, "kept", TRAINING)
        reaches(c, made, "Running")
        path = f"/apis/batch/v1/namespaces/{namespace_of(project)}/jobs/kept"
        uid = job(c, project, "kept")["metadata"]["uid"]
        c.machine.send("DELETE", path + "?propagationPolicy=Background")
        c.wait_for("another Job", lambda: (job(c, project, "kept") or {"metadata": {"uid": uid}})["metadata"]["uid"] != uid)
        reaches(c, made, "Running")
        c.machine.send("PATCH", path, {"spec": {"suspend": True}}, kind="application/merge-patch+json")
        c.wait_for("the Job to run", lambda: not job(c, project, "kept")["spec"]["suspend"])
        reaches(c, made, "Running")
        c.kill()
        c.machine.send("DELETE", path + "?propagationPolicy=Background")
        c.start()
        c.wait_for("the Job", lambda: job(c, project, "kept"))
        reaches(c, made, "Running")
        orphan = job(c, project, "kept")
        orphan["metadata"] = {"name": "orphan", "labels": {LABEL: "00000000-0000-4000-8000-000000000000",
                                                           "console.muster/kind": "workload"}}
        orphan["spec"] = {"suspend": True, "template": {"spec": orphan["spec"]["template"]["spec"]}}
        expect(c.machine.send("POST", path.rsplit("/", 1)[0], orphan).status, 201)
        c.wait_for("the end of a Job of a workload that is gone", lambda: not job(c, project, "orphan"))
        drop(c, "trainings", project, made)
        drop_project(c, project)

    @tests.test("members of a spec reach the pods: portions, memory, variables, volumes, security, placement, probes")
    def _(c):
        project = ready(c, "work-spec")
        node = sorted(one["metadata"]["name"] for one in c.machine.get("/api/v1/nodes")["items"])[0]
        spec = {"image": "i", "restartPolicy": "OnFailure", "backoffLimit": 2, "workingDir": "/w", "imagePullPolicy": "Never", "tty": True, "stdin": True,
                "terminationGracePeriodSeconds": 1, "priorityClass": "medium-high", "preemptibility": "non-preemptible", "category": "Mine",
                "imagePullSecrets": [{"name": "pull"}], "labels": [{"name": "stage", "value": "a"}],
                "annotations": [{"name": "note", "value": "b"}],
                "compute": {"gpuRequestType": "portion", "gpuDevicesRequest": 1, "gpuPortionRequest": 0.25, "cpuMemoryLimit": "1Gi", "largeShmRequest": True},
                "environmentVariables": [{"name": "A", "value": "1"}, {"name": "B", "secret": {"name": "s", "key": "k"}},
                                         {"name": "C", "configMap": {"name": "m", "key": "k"}}, {"name": "D", "podFieldRef": {"path": "metadata.uid"}}],
                "security": {"runAsUid": 1000, "runAsGid": 100, "runAsNonRoot": True, "supplementalGroups": "5,6", "capabilities": ["IPC_LOCK"],
                             "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "seccompProfileType": "RuntimeDefault"},
                "storage": {"nfs": [{"server": "n", "path": "/e", "mountPath": "/n", "readOnly": True}],
                            "hostPath": [{"path": "/srv", "mountPath": "/srv", "mountPropagation": "None"}],
                            "configMapVolume": [{"configMap": "m", "mountPath": "/m", "subPath": "f", "defaultMode": "0640"}],
                            "secretVolume": [{"secret": "s", "mountPath": "/s"}], "emptyDirVolume": [{"path": "/t", "sizeLimit": "1Gi"}],
                            "pvc": [{"existingPvc": True, "claimName": "c", "path": "/c"}]},
                "nodeAffinityRequired": {"nodeSelectorTerms": [{"matchExpressions": [
                    {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]},
                "podAffinity": {"type": "Preferred", "key": "kubernetes.io/hostname"},
                "tolerations": [{"name": "t", "key": "k", "operator": "Exists", "effect": "Any"}],
                "probes": {"readiness": {"periodSeconds": 5, "handler": {"httpGet": {"path": "/ok", "port": 80}}}}}
        made = submit(c, "workspaces", project, "spec", spec)
        expect(made["spec"], spec)
        c.wait_for("the pod", lambda: pods(c, project, made))
        pod = pods(c, project, made)[0]
        container, whole = pod["spec"]["containers"][0], pod["spec"]
        expect((pod["metadata"]["annotations"]["gpu-fraction"], pod["metadata"]["annotations"]["note"], pod["metadata"]["labels"]["stage"]),
               ("0.25", "b", "a"))
        expect((pod["metadata"]["labels"]["priorityClassName"], pod["metadata"]["labels"]["kai.scheduler/preemptibility"]), ("medium-high", "non-preemptible"))
        expect((whole["restartPolicy"], whole["terminationGracePeriodSeconds"], whole["imagePullSecrets"]), ("OnFailure", 1, [{"name": "pull"}]))
        expect((container["workingDir"], container["imagePullPolicy"], container["tty"], container["stdin"]), ("/w", "Never", True, True))
        sources = {one["name"]: one.get("valueFrom") for one in container["env"]}
        expect((sources["B"]["secretKeyRef"], sources["C"]["configMapKeyRef"], sources["D"]["fieldRef"]["fieldPath"], variables(container)["A"]),
               ({"name": "s", "key": "k"}, {"name": "m", "key": "k"}, "metadata.uid", "1"))
        expect_in("RUNAI_NUM_OF_GPUS", sources, "for a portion, the binder says it in a ConfigMap")
        expect({key: whole["securityContext"].get(key) for key in ("runAsUser", "runAsGroup", "runAsNonRoot", "supplementalGroups")},
               {"runAsUser": 1000, "runAsGroup": 100, "runAsNonRoot": True, "supplementalGroups": [5, 6]})
        expect((whole["securityContext"]["seccompProfile"], container["securityContext"]["capabilities"]),
               ({"type": "RuntimeDefault"}, {"add": ["IPC_LOCK"]}))
        mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
        volumes = {path: next(one for one in whole["volumes"] if one["name"] == mount["name"]) for path, mount in mounts.items()}
        expect((volumes["/n"]["nfs"], mounts["/n"]["readOnly"]), ({"server": "n", "path": "/e"}, True))
        expect((volumes["/srv"]["hostPath"]["path"], volumes["/m"]["configMap"]["name"], volumes["/m"]["configMap"]["defaultMode"], mounts["/m"]["subPath"]),
               ("/srv", "m", 0o640, "f"))
        expect((volumes["/s"]["secret"]["secretName"], volumes["/t"]["emptyDir"]["sizeLimit"], volumes["/c"]["persistentVolumeClaim"]["claimName"],
                volumes["/dev/shm"]["emptyDir"]), ("s", "1Gi", "c", {"medium": "Memory"}))
        expect(container["readinessProbe"]["httpGet"]["path"], "/ok")
        expect_in({"key": "k", "operator": "Exists"}, whole["tolerations"])
        expect(len(whole["affinity"]["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]), 1)
        expect(whole["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"],
               spec["nodeAffinityRequired"]["nodeSelectorTerms"])
        expect((row(c, made)["category"], row(c, made)["preemptible"], row(c, made)["priority"]), ("Mine", False, 90))
        memory = submit(c, "trainings", project, "memory", {"image": "i", "compute": {"gpuRequestType": "memory", "gpuMemoryRequest": "3Gi"}})
        c.wait_for("the pod", lambda: pods(c, project, memory))
        expect(pods(c, project, memory)[0]["metadata"]["annotations"]["gpu-memory"], "3072")
        reaches(c, memory, "Running")
        huge = submit(c, "trainings", project, "huge", {"image": "i", "nodeType": "none-such", "compute": {"gpuDevicesRequest": 4}})
        c.wait_for("why it waits", lambda: row(c, huge).get("phaseMessage"))
        expect((phase(c, huge), pods(c, project, huge)[0]["spec"]["nodeSelector"]), ("Pending", {"run.ai/type": "none-such"}))
        gold = pools.create(c, "work-gold")
        pooled = submit(c, "trainings", project, "pooled", {"image": "i", "nodePools": ["work-gold"]})
        c.wait_for("the pod", lambda: pods(c, project, pooled))
        expect(pods(c, project, pooled)[0]["metadata"]["labels"]["kai.scheduler/node-pool"], "work-gold")
        expect((row(c, pooled)["requestedNodePools"], row(c, made)["requestedNodePools"]), (["work-gold"], ["default"]))
        prefix = submit(c, "trainings", project, "many", {"image": "i"}, useGivenNameAsPrefix=True)
        expect((prefix["requestedName"], prefix["name"][:5], len(prefix["name"])), ("many", "many-", 10))
        drop_project(c, project)
        c.wait_for("the end of all Jobs", lambda: not c.machine.get(
            f"/apis/batch/v1/namespaces/{namespace_of(project)}/jobs")["items"])
        expect(phase(c, made), None, "the workload of a project that is gone")
        pools.drop(c, gold)

    @tests.test("a workload follows the policy of its project: defaults, rules, imposed data sources")
    def _(c):
        project = ready(c, "work-policy")
        number = int(project["id"])
        nfs = make(c, "datasource/nfs", "shared", {"server": "n", "path": "/e", "mountPath": "/shared"}, scope="project", projectId=number)
        claim = make(c, "datasource/pvc", "made", {"path": "/made", "existingPvc": False, "claimInfo": {"size": "1Gi"}}, scope="project", projectId=number)
        policy = {"defaults": {"image": "base", "compute": {"gpuDevicesRequest": 1},
                               "environmentVariables": {"instances": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}},
                  "rules": {"compute": {"gpuDevicesRequest": {"max": 2}}, "storage": {"hostPath": {"instances": {"canAdd": False}}}},
                  "imposedAssets": [nfs["meta"]["id"], claim["meta"]["id"]]}
        meta = {"name": "p", "scope": "project", "projectId": number}
        c.ask("PUT", f"{POLICY}/trainings", {"meta": meta, "policy": policy})
        made = submit(c, "trainings", project, "defaults", {"environmentVariables": [{"name": "B", "exclude": True}, {"name": "C", "value": "3"}]})
        expect((made["spec"]["image"], made["spec"]["compute"]["gpuDevicesRequest"]), ("base", 1))
        c.wait_for("the pod", lambda: pods(c, project, made))
        container = pods(c, project, made)[0]["spec"]["containers"][0]
        expect({key: variables(container).get(key) for key in "ABC"}, {"A": "1", "B": None, "C": "3"})
        expect(sorted(mount["mountPath"] for mount in container["volumeMounts"] if "serviceaccount" not in mount["mountPath"]), ["/made", "/shared"])
        volumes = pods(c, project, made)[0]["spec"]["volumes"]
        expect_in(claim["clusterInfo"]["resources"][0]["name"], str(volumes))
        refuse(c, project, {"compute": {"gpuDevicesRequest": 3}}, 400, "the policy of the project does not allow this: spec.compute.gpuDevicesRequest: 3 is more")
        refuse(c, project, {"storage": {"hostPath": [{"path": "/", "mountPath": "/h"}]}}, 400, "spec.storage.hostPath")
        git = make(c, "datasource/git", "g", {"repository": "https://g.example.com/a", "path": "/g"}, scope="project", projectId=number)
        c.ask("PUT", f"{POLICY}/trainings", {"meta": meta, "policy": {"imposedAssets": [git["meta"]["id"]]}})
        refuse(c, project, {"image": "i"}, 501, "imposes the data source")
        c.ask("DELETE", f"{POLICY}/trainings?scope=project&projectId={number}", status=204)
        for path, asset in (("datasource/nfs", nfs), ("datasource/pvc", claim), ("datasource/git", git)):
            remove(c, path, asset)
        drop_project(c, project)

    @tests.test("specs that are wrong or have no effect are refused by name, and names are unique in a project")
    def _(c):
        project = ready(c, "work-wrong")
        for more, part in (({"exposedUrls": [{"container": 80}]}, "spec.exposedUrls"), ({"ports": [{"container": 80}]}, "spec.ports"),
                           ({"createHomeDir": True}, "createHomeDir"), ({"terminateAfterPreemption": True}, "terminateAfterPreemption"),
                           ({"nodePools": ["default", "b"]}, "nodePools"),
                           ({"storage": {"git": [{"repository": "r", "path": "/p"}]}}, "spec.storage.git"),
                           ({"storage": {"dataVolume": [{"id": "x"}]}}, "spec.storage.dataVolume"), ({"nonsense": 1}, "spec.nonsense"),
                           ({"storage": {"pvc": [{"claimName": "c", "path": "/c"}]}}, "existingPvc"), ({"restartPolicy": "Always"}, "restartPolicy"),
                           ({"compute": {"gpuPortionRequest": 0.1, "gpuPortionLimit": 0.5}}, "gpuPortionLimit"),
                           ({"environmentVariables": [{"name": "a", "userCredential": {"name": "u", "key": "k"}}]}, "userCredential"),
                           ({"security": {"uidGidSource": "fromIdpToken"}}, "uidGidSource")):
            refuse(c, project, {"image": "i", **more}, 501, part)
        for spec, part in (({}, "spec.image"), ({"image": ""}, "image"), ({"image": "i", "nodePools": ["nowhere"]}, "nowhere"),
                           ({"image": "i", "compute": {"gpuPortionRequest": 2}}, "gpuPortionRequest"), ({"image": "i", "command": "sh -c 'a"}, "spec.command"),
                           ({"image": "i", "compute": {"cpuCoreRequest": 2, "cpuCoreLimit": 1}}, "cpuCoreLimit"), ({"image": 5}, "image"),
                           ({"image": "i", "labels": [{"name": "project", "value": "other"}]}, "is set by the console"),
                           ({"image": "i", "annotations": [{"name": "gpu-fraction", "value": "0.01"}]}, "is set by the console"),
                           ({"image": "i", "compute": {"extendedResources": [{"resource": "nvidia.com/gpu", "quantity": "8"}]}}, "requested by other members"),
                           ({"image": "i", "priorityClass": "urgent"}, "priorityClass"), ({"image": "i", "storage": {"nfs": [{"path": "/a"}]}}, "server")):
            refuse(c, project, spec, 400, part)
        refuse(c, project, {"image": "i"}, 400, "templateId", templateId="00000000-0000-4000-8000-000000000000")
        refuse(c, project, {"image": "i"}, 400, "clusterId", clusterId="other")
        refuse(c, project, {"image": "i"}, 400, "projectId", projectId="1")
        for name in ("", "Upper", "-a", "a-", "1a", "x" * 58, "a.b"):
            refuse(c, project, {"image": "i"}, 400, "name", name=name)
        made = submit(c, "trainings", project, "once", {"image": "i"})
        submit(c, "trainings", project, "once", {"image": "i"}, 409)
        submit(c, "workspaces", project, "once", {"image": "i"}, 409)
        expect(c.call("GET", f"{WORKLOADS}/workspaces/{made['workloadId']}").status, 404, "of another kind")
        drop(c, "trainings", project, made)
        drop_project(c, project)

    @tests.test("a workload of somebody else's is never touched: a Job of its name stays, and the workload says so")
    def _(c):
        project = ready(c, "work-foreign")
        path = f"/apis/batch/v1/namespaces/{namespace_of(project)}/jobs"
        body = {"metadata": {"name": "theirs"}, "spec": {"suspend": True, "template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]}}}}
        expect(c.machine.send("POST", path, body).status, 201)
        made = submit(c, "trainings", project, "theirs", {"image": "i"})
        c.wait_for("why", lambda: "did not create" in row(c, made).get("phaseMessage", ""))
        expect(phase(c, made), "Creating")
        c.ask("DELETE", f"{WORKLOADS}/trainings/{made['workloadId']}", status=202)
        c.wait_for("the end of the workload", lambda: phase(c, made) is None)
        expect(job(c, project, "theirs")["spec"]["suspend"], True)
        expect(c.machine.send("DELETE", f"{path}/theirs").status, 200)
        drop_project(c, project)

    @tests.test("whoever has a role in a project submits, sees and changes its workloads, and nobody else does")
    def _(c):
        department = c.unit("departments", "work-d")
        mine, yours = (objects.ready(c, name, parentId=department["id"]) for name in ("work-mine", "work-yours"))
        researcher, token = c.user("work-l2@example.com")
        viewer, read_token = c.user("work-viewer@example.com")
        c.allow(researcher, 8, "project", mine["id"])
        c.allow(viewer, 5, "department", department["id"])
        theirs = submit(c, "trainings", yours, "theirs", {"image": "i"})
        submit(c, "trainings", yours, "more", {"image": "i"}, 403, token)
        submit(c, "trainings", mine, "more", {"image": "i"}, 403, read_token)
        own = submit(c, "trainings", mine, "own", {"image": "i"}, token=token)
        expect(own["createdBy"], "work-l2@example.com")

        def names(who):
            return sorted(one["name"] for one in c.ask("GET", WORKLOADS, token=who)["workloads"])

        expect((names(token), names(read_token)), (["own"], ["own", "theirs"]))
        expect(c.ask("GET", f"{WORKLOADS}/count", token=token)["count"], 1)
        where = f"{WORKLOADS}/trainings/{theirs['workloadId']}"
        for method, path in (("GET", where), ("DELETE", where), ("POST", where + "/suspend"), ("POST", where + "/resume"),
                             ("GET", f"{WORKLOADS}/{theirs['workloadId']}"), ("GET", f"{WORKLOADS}/{theirs['workloadId']}/pods")):
            expect(c.call(method, path, token=token).status, 404, f"{method} {path}")
        expect((c.call("GET", where, token=read_token).status, c.call("DELETE", where, token=read_token).status,
                c.call("POST", where + "/suspend", token=read_token).status), (200, 403, 403))
        c.wait_for("pods", lambda: len(c.ask("GET", f"{WORKLOADS}/pods", token=read_token)["pods"]) == 2)
        expect([one["workloadName"] for one in c.ask("GET", f"{WORKLOADS}/pods", token=token)["pods"]], ["own"])
        expect(c.ask("GET", f"{WORKLOADS}/pods/count", token=read_token)["count"], 2)
        c.ask("POST", f"{WORKLOADS}/trainings/{own['workloadId']}/suspend", status=202, token=token)
        reaches(c, own, "Stopped")
        drop(c, "trainings", mine, own)
        drop(c, "trainings", yours, theirs)
        for project in (mine, yours):
            objects.drop_project(c, project)

    @tests.test("a listener hears of the workloads of its own project, from their submission to their end, and of no others")
    def _(c):
        mine, yours = (ready(c, name) for name in ("work-heard", "work-unheard"))
        user, token = c.user("work-listener@example.com")
        c.allow(user, 8, "project", mine["id"])
        stream = streams.opened(c, "workloads", token=token)
        everything = streams.opened(c, "workloads,audit")
        theirs = submit(c, "trainings", yours, "unheard", {"image": "i"})
        reaches(c, theirs, "Running")
        made = submit(c, "trainings", mine, "heard", {"image": "i"}, token=token)
        first = stream.change(lambda data: True)
        expect((first["name"], first["action"], first["type"], first["topics"]), ("heard", "create", "training", ["workloads"]))
        reaches(c, made, "Running")
        drop(c, "trainings", yours, theirs)
        drop(c, "trainings", mine, made)
        actions = []
        while len([one for one in actions if one == "delete"]) < 2:
            data = stream.change(lambda data: True)
            expect((data["id"], data["name"]), (made["workloadId"], "heard"))
            actions.append(data["action"])
        expect("update" in actions, True, "phases")
        expect(everything.change(lambda data: data["name"] == "unheard")["topics"], ["workloads", "audit"])
        for one in (stream, everything):
            one.close()
        for project in (mine, yours):
            drop_project(c, project)

    @tests.test("a clone has all that its workload had but its name, and what is given in its place, where its maker may submit")
    def _(c):
        project, other = ready(c, "work-clone"), ready(c, "work-cloned")
        spec = {**TRAINING, "environmentVariables": [{"name": "A", "value": "1"}], "annotations": ends_after(1)}
        made = submit(c, "trainings", project, "first", spec)
        reaches(c, made, "Completed")
        path = f"/api/muster/v1/workloads/{made['workloadId']}/clone"
        same = c.ask("POST", path, {"name": "second"}, 202)
        expect((same["spec"], same["projectId"], same["workloadId"] != made["workloadId"]), (spec, project["id"], True))
        changed = c.ask("POST", path, {"name": "third", "projectId": other["id"], "spec": {"image": "new", "environmentVariables": []}}, 202)
        expect((changed["spec"], changed["projectId"]), ({**spec, "image": "new", "environmentVariables": []}, other["id"]))
        reaches(c, same, "Completed")
        expect(job(c, other, "third")["spec"]["template"]["spec"]["containers"][0]["image"], "new")
        expect((row(c, changed)["type"], audit_of(c, "second")), ("Training", [("create", "training")]))
        expect(c.call("POST", path, {"name": "second"}).status, 409)
        expect(c.call("POST", path, {}).status, 400)
        expect_in("templateId", c.call("POST", path, {"name": "x", "templateId": "x"}).text)
        user, token = c.user("work-clone@example.com")
        c.allow(user, 7, "project", other["id"])
        expect(c.call("POST", path, {"name": "x"}, token=token).status, 404)
        mine = f"/api/muster/v1/workloads/{changed['workloadId']}/clone"
        expect(c.ask("POST", mine, {"name": "mine"}, 202, token=token)["createdBy"], "work-clone@example.com")
        expect(c.call("POST", mine, {"name": "x", "projectId": project["id"]}, token=token).status, 403)
        for where in (project, other):
            drop_project(c, where)

    @tests.test("many workloads are stopped, run again and deleted by one request, which says which it could not change")
    def _(c):
        project, other = ready(c, "work-batch"), ready(c, "work-other")
        made = [submit(c, kind, project, name, {"image": "i"}) for kind, name in (("trainings", "batch-a"), ("workspaces", "batch-b"))]
        foreign = submit(c, "trainings", other, "batch-c", {"image": "i"})
        user, token = c.user("work-batch@example.com")
        c.allow(user, 7, "project", project["id"])
        ids = [one["workloadId"] for one in made]

        def batch(action, status=200, who=token, more=()):
            return c.ask("POST", f"{WORKLOADS}/batch", {"action": action, "ids": [*ids, *more]}, status, token=who)

        for one in (*made, foreign):
            reaches(c, one, "Running")
        answer = batch("suspend", more=[foreign["workloadId"]])
        expect((answer["succeeded"], [(row["id"], row["code"]) for row in answer["failed"]]), (ids, [(foreign["workloadId"], 404)]))
        for one in made:
            reaches(c, one, "Stopped")
        expect((phase(c, foreign), pods(c, project, made[0])), ("Running", []))
        batch("resume")
        for one in made:
            reaches(c, one, "Running")
        batch("explode", 400)
        viewer, read_token = c.user("work-batch-viewer@example.com")
        c.allow(viewer, 5, "project", project["id"])
        batch("delete", 403, read_token)
        batch("delete")
        c.wait_for("the end of the workloads", lambda: not any(phase(c, one) for one in made))
        c.wait_for("the end of their Jobs", lambda: not any(job(c, project, one["name"]) for one in made))
        expect(audit_of(c, "batch-b"), [("create", "workspace"), ("delete", "workspace"), ("update", "workspace"), ("update", "workspace")])
        drop(c, "trainings", other, foreign)
        for one in (project, other):
            drop_project(c, one)
        c.read_back(f"POST {WORKLOADS}/batch")

    @tests.test("the list of all workloads is filtered, sorted, searched, paged and counted")
    def _(c):
        project = ready(c, "work-list")
        made = [submit(c, kind, project, name, {"image": "i", "compute": {"gpuDevicesRequest": gpus}})
                for kind, name, gpus in (("trainings", "list-c", 1), ("workspaces", "list-a", 0), ("trainings", "list-b", 2))]
        for one in made:
            reaches(c, one, "Running")

        def names(query):
            return [one["name"] for one in c.ask("GET", f"{WORKLOADS}?filterBy=projectName==work-list&{query}")["workloads"]]

        expect(names("sortBy=name"), ["list-a", "list-b", "list-c"])
        expect(names("sortBy=allocatedGPU&sortOrder=desc"), ["list-b", "list-c", "list-a"])
        expect(names("filterBy=type==Workspace"), ["list-a"])
        expect(sorted(names("filterBy=phase==Running,allocatedGPU>=1")), ["list-b", "list-c"])
        expect(names("search=list-c"), ["list-c"])
        expect(names("sortBy=name&limit=1&offset=1"), ["list-b"])
        expect(c.ask("GET", f"{WORKLOADS}?filterBy=projectName==work-list&limit=2")["next"], 2)
        expect(c.ask("GET", f"{WORKLOADS}/count?filterBy=projectName==work-list")["count"], 3)
        expect(c.call("GET", f"{WORKLOADS}?filterBy=nonsense==1").status, 400)
        expect(c.call("GET", f"{WORKLOADS}?deleted=true").status, 501)
        drop_project(c, project)

    @tests.test("runapy, unmodified, submits, lists, stops and deletes workloads")
    def _(c):
        try:
            from runai import models  # pylint: disable=import-outside-toplevel
        except ImportError:
            raise Skip("runapy is not installed: scripts/install-deps test") from None
        project = ready(c, "work-runapy")
        client = c.runapy("runapy-workloads").workloads
        compute = models.SupersetSpecAllOfCompute(gpu_devices_request=1)
        request = functools.partial(dict, project_id=project["id"], cluster_id=c.cluster)
        made = client.trainings.create_training1(models.TrainingCreationRequest(**request(
            name="by-runapy", spec=models.TrainingSpecSpec(image="i", compute=compute)))).data
        c.wait_for("the workload", lambda: client.workloads.get_workload(workload_id=made["workloadId"]).data["phase"] == "Running")
        expect(client.trainings.get_training(workload_id=made["workloadId"]).data["name"], "by-runapy")
        expect(client.workloads.count_workloads(filter_by=["name==by-runapy"]).data["count"], 1)
        expect(len(client.pods.get_workload_pods(workload_id=made["workloadId"]).data["pods"]), 1)
        client.trainings.suspend_training(workload_id=made["workloadId"])
        reaches(c, made, "Stopped")
        client.trainings.delete_training(workload_id=made["workloadId"])
        space = client.workspaces.create_workspace1(models.WorkspaceCreationRequest(**request(
            name="space", spec=models.WorkspaceSpecSpec(image="i", command="sleep 60")))).data
        reaches(c, space, "Running")
        client.workspaces.delete_workspace(workload_id=space["workloadId"])
        c.wait_for("the end", lambda: phase(c, space) is None)
        drop_project(c, project)
