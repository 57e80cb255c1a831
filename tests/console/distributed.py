"""Distributed trainings over the REST and in the cluster: a gang with a rank for each pod. register() adds the tests."""

import functools
import json

import workloads
from assets import make, remove
from objects import namespace_of
from suite import Skip, expect, expect_in
from workloads import LABEL, POLICY, TRAINING, WORKLOADS, drop, drop_project, ends_after, job, pods, reaches, ready, row, submit, variables

INDEX = "batch.kubernetes.io/job-completion-index"
SPEC = {"image": "i", "command": "train", "distributedFramework": "PyTorch", "numWorkers": 2, "compute": {"gpuDevicesRequest": 1}}


def service(c, project, name):
    return c.machine.get(f"/api/v1/namespaces/{namespace_of(project)}/services/{name}")


def by_rank(c, project, made):
    return {int(pod["metadata"]["annotations"][INDEX]): pod["spec"] for pod in pods(c, project, made)}


def whole(c, project, name, framework, **more):
    """A training that runs, and the variables of its pods."""
    made = submit(c, "distributed", project, name, {**SPEC, "distributedFramework": framework}, **more)
    reaches(c, made, "Running")
    found = by_rank(c, project, made)
    return made, found, variables(found[0]["containers"][0])


def rank_from(container, name):
    return next(one for one in container["env"] if one["name"] == name)["valueFrom"]["fieldRef"]["fieldPath"]


def register(tests):  # pylint: disable=too-many-statements
    """Adds the tests."""

    @tests.test("a distributed training runs as one gang whose pods have names and ranks, stops as a whole, runs again and goes")
    def _(c):
        project = ready(c, "dist-a")
        made, found, env = whole(c, project, "torch", "PyTorch", masterSpecSameAsWorker=True)
        path = f"{WORKLOADS}/distributed/{made['workloadId']}"
        expect((made["spec"]["numWorkers"], made["masterSpecSameAsWorker"]), (2, True))
        expect(sorted(found), [0, 1, 2], "a master and two workers")
        expect((found[1]["hostname"], found[1]["subdomain"]), ("torch-1", "torch"))
        expect({key: env[key] for key in ("MASTER_ADDR", "WORLD_SIZE", "PET_NNODES", "PET_NPROC_PER_NODE", "RUNAI_JOB_NAME")},
               {"MASTER_ADDR": "torch-0.torch", "WORLD_SIZE": "3", "PET_NNODES": "3", "PET_NPROC_PER_NODE": "1", "RUNAI_JOB_NAME": "torch"})
        expect_in(INDEX, rank_from(found[2]["containers"][0], "RANK"))
        expect((service(c, project, "torch")["spec"]["clusterIP"], service(c, project, "torch")["spec"]["selector"]),
               ("None", {LABEL: made["workloadId"]}))
        groups = c.machine.get(f"/apis/scheduling.run.ai/v2alpha2/namespaces/{namespace_of(project)}/podgroups")["items"]
        expect([group["spec"]["minMember"] for group in groups], [3])
        one = row(c, made)
        expect((one["type"], one["distributedFramework"], one["requestedPods"]["number"], one["runningPods"], one["allocatedResources"]["gpu"]),
               ("Distributed", "PyTorch", 3, 3, 3))
        expect(c.ask("GET", path)["spec"]["distributedFramework"], "PyTorch")
        c.machine.send("DELETE", f"/api/v1/namespaces/{namespace_of(project)}/services/torch")
        c.ask("POST", path + "/suspend", status=202)
        reaches(c, made, "Stopped")
        expect(pods(c, project, made), [])
        c.ask("POST", path + "/resume", status=202)
        reaches(c, made, "Running")
        expect(sorted(by_rank(c, project, made)), [0, 1, 2])
        expect(service(c, project, "torch")["spec"]["clusterIP"], "None", "made again")
        expect(c.call("GET", f"{WORKLOADS}/trainings/{made['workloadId']}").status, 404, "of another kind")
        drop(c, "distributed", project, made)
        expect(service(c, project, "torch"), None)
        expect(c.call("GET", path).status, 404)
        drop_project(c, project)
        c.read_back(f"POST {WORKLOADS}/distributed", f"DELETE {WORKLOADS}/distributed/{{workloadId}}",
                    f"POST {WORKLOADS}/distributed/{{workloadId}}/suspend", f"POST {WORKLOADS}/distributed/{{workloadId}}/resume")

    @tests.test("each framework finds its own variables, and a gang that does not fit waits as a whole")
    def _(c):
        project = ready(c, "dist-b")
        made, _found, env = whole(c, project, "tf", "TF")
        config = json.loads(env["TF_CONFIG"].replace("$(JOB_COMPLETION_INDEX)", "1"))
        expect(config, {"cluster": {"worker": ["tf-0.tf:2222", "tf-1.tf:2222"]}, "task": {"type": "worker", "index": 1}})
        drop(c, "distributed", project, made)
        made, found, env = whole(c, project, "jax", "JAX")
        expect((env["COORDINATOR_ADDRESS"], env["NUM_PROCESSES"], len(found)), ("jax-0.jax", "2", 2))
        drop(c, "distributed", project, made)
        made, found, env = whole(c, project, "boost", "XGBoost", masterSpecSameAsWorker=True)
        expect((env["MASTER_ADDR"], env["MASTER_PORT"], env["WORLD_SIZE"], len(found)), ("boost-0.boost", "9999", "3", 3))
        large = submit(c, "distributed", project, "large", {**SPEC, "numWorkers": 9})
        c.wait_for("its pods", lambda: len(pods(c, project, large)) == 9)
        c.wait_for("why it waits", lambda: row(c, large).get("phaseMessage"))
        expect([pod["spec"].get("nodeName") for pod in pods(c, project, large)], [None] * 9, "nine GPUs of eight")
        drop_project(c, project)
        c.wait_for("the end of its objects", lambda: not workloads.names_of_jobs(c, project) and not service(c, project, "boost"))

    @tests.test("a distributed training ends when all its ranks have, and fails when one of them cannot go on")
    def _(c):
        project = ready(c, "dist-c")
        good = submit(c, "distributed", project, "good", {**SPEC, "annotations": ends_after(1)})
        bad = submit(c, "distributed", project, "bad", {**SPEC, "annotations": ends_after(1, 3), "backoffLimit": 0})
        reaches(c, good, "Completed")
        reaches(c, bad, "Failed")
        expect(job(c, project, "good")["status"]["succeeded"], 2)
        for made in (good, bad):
            drop(c, "distributed", project, made)
        drop_project(c, project)

    @tests.test("a distributed training follows the policy for workers, and parts that have no effect are refused by name")
    def _(c):
        project = ready(c, "dist-d")
        scope = f"scope=project&projectId={project['id']}"
        meta = {"name": "p", "scope": "project", "projectId": int(project["id"])}
        nfs = make(c, "datasource/nfs", "dist-shared", {"server": "n", "path": "/e", "mountPath": "/shared"}, scope="project", projectId=int(project["id"]))
        policy = {"imposedAssets": {"master": [], "worker": [nfs["meta"]["id"]]},
                  "defaults": {"worker": {"image": "of-the-policy"}}, "rules": {"worker": {"compute": {"gpuDevicesRequest": {"max": 1}}}}}
        c.ask("PUT", f"{POLICY}/distributed", {"meta": meta, "policy": policy})
        plain = {key: value for key, value in SPEC.items() if key != "image"}
        made = submit(c, "distributed", project, "policed", plain)
        expect((made["spec"]["image"], made["spec"]["storage"]["nfs"][0]["mountPath"]), ("of-the-policy", "/shared"))

        def refuse(spec, status, part, **more):
            body = {"name": "no", "projectId": project["id"], "clusterId": c.cluster, "spec": spec, **more}
            answer = c.call("POST", f"{WORKLOADS}/distributed", body)
            expect(answer.status, status, answer.text[:300])
            expect_in(part, answer.text)

        refuse({**SPEC, "compute": {"gpuDevicesRequest": 2}}, 400, "spec.compute.gpuDevicesRequest: 2 is more")
        refuse({**SPEC, "distributedFramework": "MPI"}, 501, "MPI is not supported")
        refuse({**SPEC, "distributedFramework": "other"}, 400, "distributedFramework")
        refuse({**SPEC, "numWorkers": 0}, 400, "numWorkers")
        refuse({key: value for key, value in SPEC.items() if key != "numWorkers"}, 400, "numWorkers")
        refuse({**SPEC, "slotsPerWorker": 2}, 400, "slotsPerWorker")
        refuse({**SPEC, "minReplicas": 1}, 501, "minReplicas")
        refuse({**SPEC, "cleanPodPolicy": "All"}, 501, "cleanPodPolicy")
        refuse({**SPEC, "parallelism": 2}, 501, "parallelism")
        refuse(SPEC, 501, "masterSpec", masterSpec={"image": "other"})
        refuse({**SPEC, "distributedFramework": "JAX"}, 400, "JAX has no master", masterSpecSameAsWorker=True)
        c.ask("POST", f"{WORKLOADS}/trainings", {"name": "no", "projectId": project["id"], "clusterId": c.cluster,
                                                 "spec": {**TRAINING, "numWorkers": 2}}, 501)
        c.ask("DELETE", f"{POLICY}/distributed?{scope}", status=204)
        drop(c, "distributed", project, made)
        remove(c, "datasource/nfs", nfs)
        drop_project(c, project)

    @tests.test("runapy, unmodified, submits, stops and deletes distributed trainings")
    def _(c):
        try:
            from runai import models  # pylint: disable=import-outside-toplevel
        except ImportError:
            raise Skip("runapy is not installed: scripts/install-deps test") from None
        project = ready(c, "dist-runapy")
        client = c.runapy("runapy-distributed").workloads
        request = functools.partial(dict, project_id=project["id"], cluster_id=c.cluster)
        made = client.distributed.create_distributed(models.DistributedCreationRequest(**request(
            name="by-runapy", master_spec_same_as_worker=True,
            spec=models.DistributedSpecSpec(image="i", distributed_framework="PyTorch", num_workers=2)))).data
        reaches(c, made, "Running")
        expect(client.distributed.get_distributed(workload_id=made["workloadId"]).data["name"], "by-runapy")
        client.distributed.suspend_distributed(workload_id=made["workloadId"])
        reaches(c, made, "Stopped")
        client.distributed.delete_distributed(workload_id=made["workloadId"])
        c.wait_for("the end", lambda: workloads.phase(c, made) is None)
        drop_project(c, project)
