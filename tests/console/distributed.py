"""Distributed trainings over the REST and in the cluster: a gang with a rank for each pod. register() adds the tests."""

import base64
import functools
import json
import shutil
import subprocess
import tempfile

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

    @tests.test("a master with a spec of its own is rank 0 of one gang, and its end is that of the training")
    def _(c):
        project = ready(c, "dist-m")
        master = {"image": "chief", "compute": {"gpuDevicesRequest": 0, "cpuCoreRequest": 0.1}, "annotations": ends_after(4)}
        made = submit(c, "distributed", project, "led", {**SPEC, "environmentVariables": [{"name": "A", "value": "1"}]}, masterSpec=master)
        path = f"{WORKLOADS}/distributed/{made['workloadId']}"
        expect((made["masterSpec"], c.ask("GET", path)["masterSpec"]), (master, master))
        reaches(c, made, "Running")
        c.wait_for("three pods", lambda: row(c, made)["runningPods"] == 3)
        found = {pod["spec"]["hostname"]: pod for pod in pods(c, project, made)}
        expect(sorted(found), ["led-0", "led-1", "led-2"])
        env = {name: variables(pod["spec"]["containers"][0]) for name, pod in found.items()}
        expect([(env[name]["RANK"], env[name]["WORLD_SIZE"], env[name]["MASTER_ADDR"], env[name].get("A")) for name in sorted(found)],
               [("0", "3", "led-0.led", None), ("1", "3", "led-0.led", "1"), ("2", "3", "led-0.led", "1")])
        expect([found[name]["spec"]["containers"][0]["image"] for name in sorted(found)], ["chief", "i", "i"])
        expect({pod["metadata"]["annotations"]["pod-group-name"] for pod in found.values()}, {"led"})
        group, = c.machine.get(f"/apis/scheduling.run.ai/v2alpha2/namespaces/{namespace_of(project)}/podgroups")["items"]
        expect((group["metadata"]["name"], group["spec"]["minMember"], group["spec"]["queue"], group["spec"]["priorityClassName"]),
               ("led", 3, project["name"], "low"))
        one = row(c, made)
        expect((one["allocatedResources"]["gpu"], one["workloadRequestedResources"]["gpu"]["request"], one["requestedPods"]["number"]), (2, 2, 3))
        reaches(c, made, "Completed")
        c.wait_for("the end of the workers", lambda: [pod["spec"]["hostname"] for pod in pods(c, project, made)] == ["led-0"])
        expect(sorted(workloads.names_of_jobs(c, project)), ["led-0"])
        drop(c, "distributed", project, made)
        c.wait_for("the end of all", lambda: not workloads.names_of_jobs(c, project) and not service(c, project, "led"))
        lost = submit(c, "distributed", project, "lost", {**SPEC, "annotations": ends_after(1, 3), "backoffLimit": 0}, masterSpec={"image": "chief"})
        reaches(c, lost, "Failed")
        c.wait_for("the end of the master", lambda: row(c, lost)["runningPods"] == 0 and not [
            pod for pod in pods(c, project, lost) if pod["status"].get("phase") == "Running"])
        drop(c, "distributed", project, lost)
        large = submit(c, "distributed", project, "large", {**SPEC, "numWorkers": 9}, masterSpec=master)
        c.wait_for("its pods", lambda: len(pods(c, project, large)) == 10)
        c.wait_for("why it waits", lambda: row(c, large).get("phaseMessage"))
        expect({pod["spec"].get("nodeName") for pod in pods(c, project, large)}, {None}, "nine GPUs of eight: not even the master")
        path = f"{WORKLOADS}/distributed/{large['workloadId']}"
        c.ask("POST", path + "/suspend", status=202)
        reaches(c, large, "Stopped")
        expect(pods(c, project, large), [])
        drop(c, "distributed", project, large)
        drop_project(c, project)

    @tests.test("MPI has a launcher, workers with sshd, a host file and keys of its own, which go with it")
    def _(c):
        project = ready(c, "dist-mpi")
        spec = {key: value for key, value in {**SPEC, "distributedFramework": "MPI", "slotsPerWorker": 4}.items() if key != "command"}
        made = submit(c, "distributed", project, "mpi", spec, masterSpec={"image": "i", "command": "mpirun hello", "annotations": ends_after(3)})
        reaches(c, made, "Running")
        found = {pod["spec"]["hostname"]: pod["spec"] for pod in pods(c, project, made)}
        launcher, worker = found["mpi-0"]["containers"][0], found["mpi-1"]["containers"][0]
        expect((launcher["command"], worker["command"]), (["mpirun", "hello"], ["/usr/sbin/sshd", "-De"]))
        expect((variables(launcher)["OMPI_MCA_orte_default_hostfile"], variables(launcher)["K_MPI_JOB_ROLE"], variables(worker)["K_MPI_JOB_ROLE"]),
               ("/etc/mpi/hostfile", "launcher", "worker"))
        expect({mount["mountPath"] for mount in worker["volumeMounts"]} >= {"/etc/mpi", "/root" + "/.ssh"}, True)
        core = f"/api/v1/namespaces/{namespace_of(project)}"
        expect(c.machine.get(f"{core}/configmaps/mpi-mpi")["data"]["hostfile"], "mpi-1.mpi slots=4\nmpi-2.mpi slots=4\n")
        keys = c.machine.get(f"{core}/secrets/mpi-ssh")
        private, public = (base64.b64decode(keys["data"][name]) for name in ("ssh-privatekey", "ssh-publickey"))
        expect((private.split(b"\n")[0], public.split()[0]), (b"-----BEGIN EC PRIVATE KEY-----", b"ecdsa-sha2-nistp256"))
        if shutil.which("ssh-keygen"):
            with tempfile.NamedTemporaryFile() as file:
                file.write(private)
                file.flush()
                shown = subprocess.run(["ssh-keygen", "-y", "-f", file.name], capture_output=True, check=True).stdout
                expect(shown.split()[:2], public.split(), "the keys are a pair")
        reaches(c, made, "Completed")
        c.wait_for("the end of the workers", lambda: len(pods(c, project, made)) == 1)
        expect(c.machine.get(f"{core}/secrets/mpi-ssh")["data"], keys["data"], "the same keys all the time")
        drop(c, "distributed", project, made)
        c.wait_for("the end of all", lambda: not any(c.machine.get(f"{core}/{name}") for name in ("secrets/mpi-ssh", "configmaps/mpi-mpi", "services/mpi")))
        drop_project(c, project)

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
        refuse({**SPEC, "distributedFramework": "MPI"}, 400, "MPI needs it for the launcher")
        refuse({**SPEC, "distributedFramework": "MPI", "mpiLauncherCreationPolicy": "WaitForWorkersReady"}, 501, "mpiLauncherCreationPolicy")
        refuse({**SPEC, "distributedFramework": "other"}, 400, "distributedFramework")
        refuse({**SPEC, "numWorkers": 0}, 400, "numWorkers")
        refuse({key: value for key, value in SPEC.items() if key != "numWorkers"}, 400, "numWorkers")
        refuse({**SPEC, "slotsPerWorker": 2}, 400, "slotsPerWorker")
        refuse({**SPEC, "minReplicas": 1}, 501, "minReplicas")
        refuse({**SPEC, "cleanPodPolicy": "All"}, 501, "cleanPodPolicy")
        refuse({**SPEC, "parallelism": 2}, 501, "parallelism")
        refuse(SPEC, 400, "spec.image", masterSpec={"command": "other"})
        refuse(SPEC, 400, "exclude each other", masterSpec={"image": "other"}, masterSpecSameAsWorker=True)
        refuse(SPEC, 501, "masterSpec: spec.ports", masterSpec={"image": "other", "ports": [{"container": 1}]})
        refuse({**SPEC, "numWorkers": 257}, 400, "up to 256 workers", masterSpec={"image": "other"})
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
