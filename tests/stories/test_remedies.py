"""Remedies of `muster why`: the commands that it prints are run as they are, and the workload starts."""

import json
import re
import subprocess

from place import DEPLOYMENTS, JOBS, SECONDS, Stories, pod_spec
from stage import NODES, PODS, TOPOLOGIES
from suite import expect

SUITE = Stories()


def remedies(here, workload):
    """By kind, the first of each."""
    done = subprocess.run([here.muster, "why", "-o", "json", workload, "kube:"], env=here.cluster.environment(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    expect(done.returncode, 0, done.stderr)
    said = json.loads(done.stdout)
    expect(said["state"], "Pending", done.stdout)
    found = {}
    for one in said["remedies"]:
        found.setdefault(one["kind"], one)
    return found


def apply(here, workload, kind, manifest=None):
    """Runs the commands of the remedy, with the file of the workload where they name MANIFEST."""
    found = remedies(here, workload)
    expect(kind in found, True, f"a remedy {kind} among {list(found)}")
    commands = found[kind]["commands"]
    expect(bool(commands), True, "there are commands")
    path = here.cluster.folder / "manifest.json"
    path.write_text(json.dumps(manifest))
    for command in commands:
        expect("MANIFEST" in command, manifest is not None, command)
        here.cluster.command("bash", "-o", "pipefail", "-c", re.sub(r"\bMANIFEST\b", str(path), command))


def settles(here, *pods):
    """Waits until the scheduler has said of each pod that it finds no place."""
    for name in pods:
        here.condition(name, status="False", reason="Unschedulable")


def pods_of(here, prefix, count):
    return here.cluster.wait_until(
        lambda: [name for name in sorted(one["metadata"]["name"] for one in here.api.items(PODS))
                 if name.startswith(prefix)][:count] or None, f"{count} pods of {prefix}", SECONDS)


def job_manifest(name, gpus, count=1, labels=None, **spec):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default", "labels": labels or {}},
            "spec": {"parallelism": count, "completions": count,
                     "template": {"spec": {**pod_spec(gpus), "restartPolicy": "Never", **spec}}}}


def create_job(here, manifest):
    count = manifest["spec"]["parallelism"]
    here.api.create(JOBS, manifest)
    name = manifest["metadata"]["name"]
    here.cluster.wait_until(lambda: len(here.pods_of(name)) >= count, f"the pods of {name}", SECONDS)
    settles(here, *(one["metadata"]["name"] for one in here.pods_of(name)))


@SUITE.test("a remedy raises the limit of a queue")
def _(here):
    here.queue("small", quota=0, limit=1)
    create_job(here, job_manifest("large", 2, labels={"kai.scheduler/queue": "small"}))
    apply(here, "default/large", "quota")
    here.running("large")


@SUITE.test("a remedy moves a Job to another queue")
def _(here):
    here.queue("small", quota=0, limit=1)
    here.queue("roomy", quota=8)
    create_job(here, job_manifest("moving", 2, labels={"kai.scheduler/queue": "small"}))
    apply(here, "default/moving", "queue")
    here.running("moving")


@SUITE.test("a remedy removes the node selector of a Job, which is replaced")
def _(here):
    manifest = job_manifest("picky", 1, nodeSelector={"rack": "nowhere"})
    create_job(here, manifest)
    apply(here, "default/picky", "node_selector", manifest)
    here.running("picky")


@SUITE.test("a remedy lets a pod tolerate a taint")
def _(here):
    taints = [{"key": "team", "value": "red", "effect": "NoSchedule"}]
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "plain", "namespace": "default"},
                "spec": pod_spec(1)}
    names = [one["metadata"]["name"] for one in here.api.items(NODES)]
    for name in names:
        here.api.patch(f"{NODES}/{name}", {"spec": {"taints": taints}})
    try:
        here.api.create(PODS, manifest)
        settles(here, "plain")
        apply(here, "default/plain", "tolerations", manifest)
        here.bound("plain")
    finally:
        for name in names:
            here.api.patch(f"{NODES}/{name}", {"spec": {"taints": None}})


@SUITE.test("a remedy makes the pods of a Deployment smaller, in place")
def _(here):
    labels = {"app": "chat"}
    here.api.create(DEPLOYMENTS, {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "chat"}, "spec": {
            "replicas": 1, "selector": {"matchLabels": labels}, "strategy": {"type": "Recreate"},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec(16)}}})
    name, = pods_of(here, "chat-", 1)
    settles(here, name)
    apply(here, f"default/{name}", "gpus")
    here.cluster.wait_for(f"{DEPLOYMENTS}/chat", lambda one: one["status"].get("readyReplicas") == 1, SECONDS)


@SUITE.test("a remedy lets a gang start with fewer pods")
def _(here):
    here.queue("tight", quota=0, limit=16)
    manifest = job_manifest("gang", 8, 3, labels={"kai.scheduler/queue": "tight"})
    manifest["metadata"]["annotations"] = {"kai.scheduler/batch-min-member": "3"}
    create_job(here, manifest)
    apply(here, "default/gang", "pods")
    here.running("gang", 2)


@SUITE.test("a remedy ends another workload")
def _(here):
    for number in range(4):
        here.job(f"old-{number}")
        here.running(f"old-{number}")
    create_job(here, job_manifest("new", 8))
    apply(here, "default/new", "without")
    here.running("new")


@SUITE.test("a remedy lets other workloads preempt a Job that is over its quota")
def _(here):
    here.queue("lent", quota=0)
    create_job(here, job_manifest("firm", 2, labels={"kai.scheduler/queue": "lent", "priorityClassName": "build"}))
    apply(here, "default/firm", "preemptible")
    here.running("firm")


@SUITE.test("a remedy widens the level of a topology that a gang has to fit into")
def _(here):
    names = [one["metadata"]["name"] for one in here.api.items(NODES)]
    for number, name in enumerate(names):
        here.api.patch(f"{NODES}/{name}", {"metadata": {"labels": {"zone": "a", "rack": f"r{number // 2}"}}})
    here.api.create(TOPOLOGIES, {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": {"name": "floor"},
                                 "spec": {"levels": [{"nodeLabel": "zone"}, {"nodeLabel": "rack"}]}})
    try:
        manifest = job_manifest("spread", 8, 3)
        manifest["metadata"]["annotations"] = {
            "kai.scheduler/batch-min-member": "3", "kai.scheduler/topology": "floor",
            "kai.scheduler/topology-required-placement": "rack"}
        create_job(here, manifest)
        apply(here, "default/spread", "topology_level")
        here.running("spread", 3)
    finally:
        here.api.delete(f"{TOPOLOGIES}/floor")
        for name in names:
            here.api.patch(f"{NODES}/{name}", {"metadata": {"labels": {"zone": None, "rack": None}}})
