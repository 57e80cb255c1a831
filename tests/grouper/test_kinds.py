"""Each kind of workload: the group that is made, its owner, counts and subgroups, and where each pod belongs."""

import contextlib

from suite import Suite, expect
from workloads import Maker, template, tree_of

SUITE = Suite()
QUEUE = {"kai.scheduler/queue": "team-a"}
GROUPER = "system:serviceaccount:kai-scheduler:pod-grouper"


def check(maker, pod, owner, name=None, counts=(1, None), tree="", priority="train", queue="team-a", subgroup=None):
    """The group of a pod; `counts` are minMember and minSubGroup."""
    pod, group = maker.grouped(pod)
    meta, spec = group["metadata"], group["spec"]
    expect(meta["name"], name or f"pg-{owner['metadata']['name']}-{owner['metadata']['uid']}", "name")
    expect([{key: one[key] for key in ("apiVersion", "kind", "name", "uid")} for one in meta["ownerReferences"]],
           [{"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
             "uid": owner["metadata"]["uid"]}], "owner")
    expect(spec["queue"], queue, "queue")
    expect(spec["priorityClassName"], priority, "priority")
    expect((spec.get("minMember"), spec.get("minSubGroup")), counts, "counts")
    expect(tree_of(group), tree, "subgroups")
    expect(pod["metadata"].get("labels", {}).get("kai.scheduler/subgroup-name"), subgroup, "the pod's subgroup")
    return group


@SUITE.test("a pod without an owner is its own group")
def plain_pod(cluster):
    maker = Maker(cluster)
    pod = maker.pod("lone", labels=QUEUE, annotations={"user": "ann", "note": "n"})
    group = check(maker, "lone", pod)
    expect(group["metadata"]["labels"], QUEUE)
    expect(group["metadata"]["annotations"], {
        "user": "ann", "note": "n", "kai.scheduler/top-owner-metadata":
        f"name: lone\nuid: {pod['metadata']['uid']}\ngroup: \"\"\nversion: v1\nkind: Pod\n"})
    expect(group["spec"], {"minMember": 1, "queue": "team-a", "priorityClassName": "train", "topologyConstraint": {},
                           "subGroups": []}, "the whole spec")


@SUITE.test("Spark's driver and executors share a group")
def spark(cluster):
    maker = Maker(cluster)
    labels = {**QUEUE, "spark-app-name": "pi", "spark-app-selector": "spark-123"}
    driver = maker.pod("pi-driver", labels=labels)
    check(maker, "pi-driver", driver, name="spark-123")
    maker.pod("pi-exec-1", labels=labels)
    _, group = maker.grouped("pi-exec-1")
    expect(group["metadata"]["name"], "spark-123")


@SUITE.test("each pod of a Deployment is a group of its own")
def deployment(cluster):
    maker = Maker(cluster)
    labels = {"app": "web"}
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, **{
        "spec": template()["spec"]}}}
    owner = maker.make("apps/v1", "Deployment", "web", spec, labels=QUEUE)
    replicas = maker.make("apps/v1", "ReplicaSet", "web-1", spec, owner)
    pod = maker.pod("web-1-a", replicas)
    check(maker, "web-1-a", pod, priority="inference")


@SUITE.test("ReplicaSets and StatefulSets share one group")
def sets(cluster):
    maker = Maker(cluster)
    labels = {"app": "set"}
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, **{
        "spec": template()["spec"]}}}
    for kind in ("ReplicaSet", "StatefulSet"):
        more = {"serviceName": "s"} if kind == "StatefulSet" else {}
        owner = maker.make("apps/v1", kind, "set", {**spec, **more}, labels=QUEUE)
        for number in range(2):
            name = f"{kind.lower()}-{number}"
            maker.pod(name, owner)
            check(maker, name, owner)


@SUITE.test("a Job is one group, of as many as its annotation says")
def job(cluster):
    maker = Maker(cluster)
    spec = {"template": {"spec": {**template()["spec"], "restartPolicy": "Never"}}}
    plain = maker.make("batch/v1", "Job", "plain", spec, labels=QUEUE)
    maker.pod("plain-a", plain)
    check(maker, "plain-a", plain)
    gang = maker.make("batch/v1", "Job", "gang", spec, labels=QUEUE,
                      annotations={"kai.scheduler/batch-min-member": "3"})
    for number in range(3):
        maker.pod(f"gang-{number}", gang)
    for number in range(3):
        check(maker, f"gang-{number}", gang, counts=(3, None))


@SUITE.test("the Job of a CronJob is the group's owner")
def cron_job(cluster):
    maker = Maker(cluster)
    spec = {"template": {"spec": {**template()["spec"], "restartPolicy": "Never"}}}
    cron = maker.make("batch/v1", "CronJob", "cron", {"schedule": "* * * * *", "jobTemplate": {"spec": spec}})
    run = maker.make("batch/v1", "Job", "cron-1", spec, cron, labels=QUEUE)
    maker.pod("cron-1-a", run)
    check(maker, "cron-1-a", run)


@SUITE.test("training jobs are gangs of all their replicas")
def kubeflow(cluster):
    maker = Maker(cluster)
    for version, kind, specs in (
            ("v1", "TFJob", {"tfReplicaSpecs": {"PS": 1, "Worker": 3}}),
            ("v1", "XGBoostJob", {"xgbReplicaSpecs": {"Master": 1, "Worker": 2}}),
            ("v1", "JAXJob", {"jaxReplicaSpecs": {"Worker": 4}}),
            ("v1", "MPIJob", {"mpiReplicaSpecs": {"Launcher": 1, "Worker": 2}}),
            ("v2beta1", "MPIJob", {"mpiReplicaSpecs": {"Launcher": 1, "Worker": 3}})):
        (member, counts), = specs.items()
        name = f"{kind.lower()}-{version}"
        spec = {member: {role: {"replicas": count, "template": template()} for role, count in counts.items()}}
        owner = maker.make(f"kubeflow.org/{version}", kind, name, spec, labels=QUEUE)
        maker.pod(f"{name}-worker-0", owner)
        check(maker, f"{name}-worker-0", owner, counts=(sum(counts.values()), None))
    fewer = maker.make("kubeflow.org/v1", "TFJob", "fewer", {
        "runPolicy": {"schedulingPolicy": {"minAvailable": 2}},
        "tfReplicaSpecs": {"Worker": {"replicas": 5, "template": template()}}}, labels=QUEUE)
    maker.pod("fewer-0", fewer)
    check(maker, "fewer-0", fewer, counts=(2, None))


@SUITE.test("an MPIJob's launcher counts once there is one")
def mpi_launcher(cluster):
    maker = Maker(cluster)
    owner = maker.make("kubeflow.org/v2beta1", "MPIJob", "late", {
        "launcherCreationPolicy": "WaitForWorkersReady",
        "mpiReplicaSpecs": {"Launcher": {"replicas": 1, "template": template()},
                            "Worker": {"replicas": 2, "template": template()}}}, labels=QUEUE)
    maker.pod("late-worker-0", owner)
    group = check(maker, "late-worker-0", owner, counts=(2, None))
    maker.pod("late-launcher", owner, labels={"training.kubeflow.org/job-name": "late",
                                              "training.kubeflow.org/job-role": "launcher"})
    maker.group(group["metadata"]["name"], lambda found: found["spec"]["minMember"] == 3)


@SUITE.test("a PyTorchJob has subgroups, and segments where it asks for them")
def pytorch(cluster):
    maker = Maker(cluster)

    def roles(role, index=0):
        return {"training.kubeflow.org/replica-type": role, "training.kubeflow.org/replica-index": str(index)}

    owner = maker.make("kubeflow.org/v1", "PyTorchJob", "torch", {"pytorchReplicaSpecs": {
        "Master": {"replicas": 1, "template": template()}, "Worker": {"replicas": 3, "template": template()}}},
        labels={**QUEUE, "priorityClassName": "build"})
    maker.pod("torch-master-0", owner, roles("master"))
    maker.pod("torch-worker-0", owner, roles("worker"))
    for role in ("master", "worker"):
        check(maker, f"torch-{role}-0", owner, counts=(4, None), tree="master:1 worker:3", priority="build",
              subgroup=role)
    elastic = maker.make("kubeflow.org/v1", "PyTorchJob", "elastic", {
        "elasticPolicy": {"minReplicas": 2},
        "pytorchReplicaSpecs": {"Worker": {"replicas": 4, "template": template()}}}, labels=QUEUE)
    maker.pod("elastic-worker-0", elastic, roles("worker"))
    check(maker, "elastic-worker-0", elastic, counts=(2, None), tree="worker:2", subgroup="worker")
    cut = maker.make("kubeflow.org/v1", "PyTorchJob", "cut", {"pytorchReplicaSpecs": {
        "Master": {"replicas": 1, "template": template()},
        "Worker": {"replicas": 5, "template": template({
            "kai.scheduler/segment-size": "2", "kai.scheduler/topology": "t",
            "kai.scheduler/segment-topology-required-placement": "rack"})}}}, labels=QUEUE)
    maker.pod("cut-worker-3", cut, roles("worker", 3))
    group = check(maker, "cut-worker-3", cut, counts=(6, None), subgroup="worker-1",
                  tree="master:1 worker(3)[worker-0:2 worker-1:2 worker-2:1]")
    expect(group["spec"]["subGroups"][2]["topologyConstraint"], {"topology": "t", "requiredTopologyLevel": "rack"})


@SUITE.test("notebooks and their like have a priority of their own")
def priorities(cluster):
    maker = Maker(cluster)
    notebook = maker.make("kubeflow.org/v1beta1", "Notebook", "nb", {}, labels=QUEUE)
    maker.pod("nb-0", notebook)
    check(maker, "nb-0", notebook, priority="build")
    spot = maker.make("egx.nvidia.io/v1", "SPOTRequest", "spot", {}, labels=QUEUE)
    maker.pod("spot-0", spot)
    check(maker, "spot-0", spot, priority="inference")


@SUITE.test("kinds without rules of their own are grouped by their top owner")
def defaults(cluster):
    maker = Maker(cluster)
    for api_version, kind in (("kubeflow.org/v1alpha1", "ScheduledWorkflow"), ("tekton.dev/v1", "PipelineRun"),
                              ("machinelearning.seldon.io/v1", "SeldonDeployment"),
                              ("kubevirt.io/v1", "VirtualMachineInstance"),
                              ("workspace.devfile.io/v1alpha2", "DevWorkspace")):
        owner = maker.make(api_version, kind, f"any-{kind.lower()}", {}, labels=QUEUE)
        maker.pod(f"any-{kind.lower()}-0", owner)
        check(maker, f"any-{kind.lower()}-0", owner)
    machine = maker.make("kubevirt.io/v1", "VirtualMachine", "machine", {}, labels=QUEUE)
    maker.pod("machine-0", maker.make("kubevirt.io/v1", "VirtualMachineInstance", "machine", {}, machine))
    check(maker, "machine-0", machine)
    labels = {"app": "daemon"}
    daemon = maker.make("apps/v1", "DaemonSet", "daemon", {"selector": {"matchLabels": labels}, "template": {
        "metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}, labels=QUEUE)
    maker.pod("daemon-0", daemon, labels)
    maker.grouped("daemon-0")


@SUITE.test("an AmlJob says how many nodes it has, a RunaiJob names the group after its pods")
def odd_jobs(cluster):
    maker = Maker(cluster)
    aml = maker.make("amlarc.azureml.com/v1alpha1", "AmlJob", "aml", {
        "job": {"options": {"envs": {"AZUREML_NODE_COUNT": "3"}}}}, labels=QUEUE)
    maker.pod("aml-0", aml)
    check(maker, "aml-0", aml, counts=(3, None))
    runai = maker.make("run.ai/v1", "RunaiJob", "rj", {"parallelism": 2}, labels=QUEUE)
    maker.pod("rj-part-0", runai)
    check(maker, "rj-part-0", runai, name=f"pg-rj-part-{runai['metadata']['uid']}")


def ray_spec(**groups):
    return {"headGroupSpec": {"template": template()}, "workerGroupSpecs": [
        {"groupName": name, "template": template(), **group} for name, group in groups.items()]}


@SUITE.test("Ray's head and workers are one gang with a subgroup each")
def ray(cluster):
    maker = Maker(cluster)
    small = {"replicas": 2, "minReplicas": 1}
    hosts = {"replicas": 1, "numOfHosts": 2}
    one = maker.make("ray.io/v1", "RayCluster", "rc", ray_spec(small=small, tpu=hosts, off={
        "replicas": 3, "suspend": True}), labels={**QUEUE, "ray.io/priority-class-name": "whatever"})
    maker.pod("rc-head", one, {"ray.io/group": "headgroup"})
    maker.pod("rc-small-0", one, {"ray.io/group": "small"})
    for name, group in (("rc-head", "headgroup"), ("rc-small-0", "small")):
        check(maker, name, one, counts=(4, None), tree="headgroup:1 small:1 tpu:2", priority="whatever", subgroup=group)
    job = maker.make("ray.io/v1", "RayJob", "ray-job", {}, labels=QUEUE, status={"rayClusterName": "ray-job-c"})
    below = maker.make("ray.io/v1", "RayCluster", "ray-job-c", ray_spec(w={"replicas": 3}), job)
    maker.pod("ray-job-w", below, {"ray.io/group": "w"})
    check(maker, "ray-job-w", job, counts=(4, None), tree="headgroup:1 w:3", subgroup="w")
    service = maker.make("ray.io/v1", "RayService", "ray-serve", {}, labels=QUEUE,
                         status={"pendingServiceStatus": {"rayClusterName": "ray-serve-c"}})
    below = maker.make("ray.io/v1", "RayCluster", "ray-serve-c", ray_spec(), service)
    maker.pod("ray-serve-h", below, {"ray.io/group": "headgroup"})
    check(maker, "ray-serve-h", service, tree="headgroup:1", subgroup="headgroup")


@SUITE.test("a JobSet is one group with a subgroup for each job")
def job_set(cluster):
    maker = Maker(cluster)

    def job(name, replicas, parallelism, annotations=None):
        return {"name": name, "replicas": replicas, "template": {
            "metadata": {"annotations": annotations or {}}, "spec": {"parallelism": parallelism}}}

    def labels(name, index):
        return {"jobset.sigs.k8s.io/replicatedjob-name": name, "jobset.sigs.k8s.io/job-index": str(index)}

    both = maker.make("jobset.x-k8s.io/v1alpha2", "JobSet", "js", {"replicatedJobs": [
        job("driver", 1, 1), job("workers", 2, 4, {"kai.scheduler/batch-min-member": "3"})]}, labels=QUEUE)
    run = maker.make("batch/v1", "Job", "js-workers-1", {"template": {"spec": {
        **template()["spec"], "restartPolicy": "Never"}}}, both)
    maker.pod("js-workers-1-0", run, labels("workers", 1))
    check(maker, "js-workers-1-0", both, counts=(None, 2), subgroup="workers-replica-1",
          tree="driver(1)[driver-replica-0:1] workers(2)[workers-replica-0:3 workers-replica-1:3]")
    ordered = maker.make("jobset.x-k8s.io/v1alpha2", "JobSet", "ordered", {
        "startupPolicy": {"startupPolicyOrder": "InOrder"}, "replicatedJobs": [job("a", 1, 1), job("b", 1, 1)]},
        labels=QUEUE)
    maker.pod("ordered-a", ordered, labels("a", 0))
    check(maker, "ordered-a", ordered, counts=(None, 1), subgroup="a-replica-0",
          tree="a(1)[a-replica-0:1] b(1)[b-replica-0:1]")


@SUITE.test("each replica of a LeaderWorkerSet is a gang")
def leader_worker_set(cluster):
    maker = Maker(cluster)

    def labels(group, worker):
        return {"leaderworkerset.sigs.k8s.io/group-index": str(group),
                "leaderworkerset.sigs.k8s.io/worker-index": str(worker)}

    lws = maker.make("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "lws", {
        "leaderWorkerTemplate": {"size": 3, "workerTemplate": template()}}, labels=QUEUE)
    name = f"pg-lws-{lws['metadata']['uid']}"
    maker.pod("lws-1", lws, labels(1, 0))
    maker.pod("lws-1-2", lws, labels(1, 2))
    for pod, subgroup in (("lws-1", "leader"), ("lws-1-2", "workers")):
        check(maker, pod, lws, name=f"{name}-group-1", counts=(3, None), tree="leader:1 workers:2", subgroup=subgroup)
    cut = maker.make("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "lws-cut", {"leaderWorkerTemplate": {
        "size": 5, "subGroupPolicy": {"subGroupSize": 2}, "workerTemplate": template()}}, labels=QUEUE)
    maker.pod("lws-cut-0-4", cut, labels(0, 4))
    check(maker, "lws-cut-0-4", cut, name=f"pg-lws-cut-{cut['metadata']['uid']}-group-0", counts=(5, None),
          tree="segment-0(2)[leader:1 workers:2] segment-1:2", subgroup="segment-1")
    ready = maker.make("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "lws-ready", {
        "startupPolicy": "LeaderReady", "leaderWorkerTemplate": {"size": 3, "workerTemplate": template()}},
        labels=QUEUE)
    maker.pod("lws-ready-0", ready, labels(0, 0))
    check(maker, "lws-ready-0", ready, name=f"pg-lws-ready-{ready['metadata']['uid']}-group-0", tree="leader:1",
          subgroup="leader")


@SUITE.test("a Knative revision is a gang of its smallest scale")
def knative(cluster):
    maker = Maker(cluster)
    service = maker.make("serving.knative.dev/v1", "Service", "kn", {})
    config = maker.make("serving.knative.dev/v1", "Configuration", "kn", {}, service)
    revision = maker.make("serving.knative.dev/v1", "Revision", "kn-1", {}, config, labels=QUEUE,
                          annotations={"autoscaling.knative.dev/min-scale": "2"})
    maker.pod("kn-1-a", revision, {"serving.knative.dev/revision": "kn-1"})
    check(maker, "kn-1-a", revision, counts=(2, None), priority="inference")
    old = maker.make("serving.knative.dev/v1", "Revision", "kn-0", {}, config, labels=QUEUE)
    first = maker.pod("kn-0-a", revision, {"serving.knative.dev/revision": "kn-0"},
                      {"kai.scheduler/skip-podgrouper": "true"})
    cluster.api.patch("/api/v1/namespaces/default/pods/kn-0-a", {"metadata": {"annotations": {
        "pod-group-name": f"pg-kn-0-a-{first['metadata']['uid']}"}}})
    second = maker.pod("kn-0-b", old, {"serving.knative.dev/revision": "kn-0"})
    check(maker, "kn-0-b", second, priority="inference")


@SUITE.test("Grove's PodGang says which pods belong together")
def grove(cluster):
    maker = Maker(cluster)
    pcs = maker.make("grove.io/v1alpha1", "PodCliqueSet", "pcs", {}, labels={**QUEUE, "kai.scheduler/preemptibility":
                                                                            "non-preemptible"})
    scaling = maker.make("grove.io/v1alpha1", "PodCliqueScalingGroup", "pcs-sg", {}, pcs)
    clique = maker.make("grove.io/v1alpha1", "PodClique", "pcs-a", {}, scaling)
    gang = maker.make("scheduler.grove.io/v1alpha1", "PodGang", "pcs-0", {
        "priorityClassName": "odd", "topologyConstraint": {"packConstraint": {"required": "zone"}},
        "topologyConstraintGroupConfigs": [{"name": "both", "podGroupNames": ["pcs-a", "pcs-b"]}],
        "podgroups": [{"name": "pcs-a", "minReplicas": 2, "podReferences": [{"namespace": "default", "name": "ga"}]},
                      {"name": "pcs-b", "minReplicas": 1, "podReferences": []}]}, pcs,
        annotations={"grove.io/topology-name": "t"})
    maker.pod("ga", clique, {"grove.io/podgang": "pcs-0"})
    group = check(maker, "ga", gang, counts=(3, None), tree="both(2)[pcs-a:2 pcs-b:1]", priority="odd",
                  subgroup="pcs-a")
    expect(group["spec"]["topologyConstraint"], {"topology": "t", "requiredTopologyLevel": "zone"})
    expect(group["spec"]["preemptibility"], "non-preemptible")
    older = maker.make("grove.io/v1alpha1", "PodGangSet", "pgs", {}, labels=QUEUE)
    gang = maker.make("scheduler.grove.io/v1alpha1", "PodGang", "pgs-0", {"podgroups": [
        {"name": "pgs-a", "minReplicas": 1, "podReferences": [{"namespace": "default", "name": "gb"}]}]}, older)
    maker.pod("gb", maker.make("grove.io/v1alpha1", "PodClique", "pgs-a", {}, older), {"grove.io/podgang": "pgs-0"})
    check(maker, "gb", gang, counts=(1, None), tree="pgs-a:1", subgroup="pgs-a")


@SUITE.test("a kind that only wraps another leaves the rules to that one")
def wrappers(cluster):
    maker = Maker(cluster)
    train = maker.make("trainer.kubeflow.org/v1alpha1", "TrainJob", "tj", {}, labels={**QUEUE, "user": "bob"})
    jobs = maker.make("jobset.x-k8s.io/v1alpha2", "JobSet", "tj", {"replicatedJobs": [
        {"name": "node", "replicas": 1, "template": {"spec": {"parallelism": 2}}}]}, train)
    maker.pod("tj-node-0-0", jobs, {"jobset.sigs.k8s.io/replicatedjob-name": "node",
                                    "jobset.sigs.k8s.io/job-index": "0"})
    group = check(maker, "tj-node-0-0", jobs, counts=(None, 1), tree="node(1)[node-replica-0:2]",
                  subgroup="node-replica-0")
    expect(group["metadata"]["labels"]["user"], "bob")
    flow = maker.make("argoproj.io/v1alpha1", "Workflow", "flow", {}, labels=QUEUE)
    pod = maker.pod("flow-step", flow)
    check(maker, "flow-step", pod)
    for kind in ("InteractiveWorkload", "DistributedWorkload", "InferenceWorkload", "DistributedInferenceWorkload"):
        name = kind.lower()
        inner = maker.make("run.ai/v1", "RunaiJob", name, {}, maker.make("run.ai/v2alpha1", kind, name, {}, labels=QUEUE))
        maker.pod(f"{name}-0", inner)
        maker.grouped(f"{name}-0")
    wrapped = maker.make("run.ai/v2alpha1", "TrainingWorkload", "tw", {}, labels={"project": "p"})
    runai = maker.make("run.ai/v1", "RunaiJob", "tw", {}, wrapped)
    maker.pod("tw-0", runai, {"kai.scheduler/node-pool": "np"})
    group = check(maker, "tw-0", runai, name=f"pg-tw-{runai['metadata']['uid']}", queue="p-np")
    expect(group["metadata"]["labels"]["kai.scheduler/node-pool"], "np")


@contextlib.contextmanager
def without_right(cluster, group, resource):
    """The grouper may not read that kind meanwhile."""
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/kai-podgrouper"
    rules = cluster.api.get(path)["rules"]

    def may_read():
        return cluster.api.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": {
            "user": GROUPER, "resourceAttributes": {"group": group, "resource": resource, "verb": "get"}}})["status"]["allowed"]

    cluster.api.patch(path, {"rules": [rule for rule in rules if resource not in rule["resources"]]})
    cluster.wait_until(lambda: not may_read(), f"{resource} may not be read")
    try:
        yield
    finally:
        cluster.api.patch(path, {"rules": rules})
        cluster.wait_until(may_read, f"{resource} may be read again")


@SUITE.test("an owner that may not be read ends the way up")
def forbidden(cluster):
    maker = Maker(cluster)
    with without_right(cluster, "nvidia.com", "dynamographdeployments"):
        dynamo = maker.make("nvidia.com/v1alpha1", "DynamoGraphDeployment", "dyn", {}, labels=QUEUE)
        notebook = maker.make("kubeflow.org/v1beta1", "Notebook", "dyn", {}, dynamo)
        maker.pod("dyn-0", notebook)
        check(maker, "dyn-0", notebook, priority="build", queue="default-queue")
        alone = maker.pod("dyn-1", dynamo)
        check(maker, "dyn-1", alone, queue="default-queue")
