"""Three teams with work on four nodes, as objects of the API."""

NODES = "4x8xH100"


def queue(name, quota, parent=None):
    unlimited = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    spec = {"resources": {"gpu": {"quota": quota, "limit": -1, "overQuotaWeight": 1}, "cpu": unlimited, "memory": unlimited}}
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name},
            "spec": {**spec, **({"parentQueue": parent} if parent else {})}}


def job(team, name, pods, gpus=0, part=None):
    labels = {"kai.scheduler/queue": team}
    asks = {"resources": {"limits": {"nvidia.com/gpu": str(gpus)}}} if gpus else {}
    notes = {"kai.scheduler/batch-min-member": str(pods)}
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": team, "labels": labels, "annotations": notes},
            "spec": {"parallelism": pods, "completions": pods, "template": {
                "metadata": {"labels": labels, "annotations": {**notes, **({"gpu-fraction": part} if part else {})}},
                "spec": {"schedulerName": "kai-scheduler", "restartPolicy": "Never",
                         "containers": [{"name": "main", "image": "train", **asks}]}}}}


QUEUES = [queue("lab", 32), *(queue(name, quota, "lab") for name, quota in (("research", 14), ("product", 10), ("platform", 8)))]
RUNNING = [job("research", "pretrain", 2, 8), job("product", "finetune", 1, 8),
           job("platform", "notebook", 1, part="0.5"), job("platform", "eval", 1, part="0.25")]
WAITING = [job("platform", "index", 2, 8), job("product", "giant", 1, 16)]


def submit(machine):
    """Creates everything; the server answers when it is stored."""
    for one in QUEUES:
        create(machine, "/apis/scheduling.run.ai/v2/queues", one)
    for team in ("research", "product", "platform"):
        create(machine, "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": team}})
    for one in RUNNING + WAITING:
        submit_job(machine, one)


def submit_job(machine, one):
    create(machine, f"/apis/batch/v1/namespaces/{one['metadata']['namespace']}/jobs", one)


def create(machine, path, one):
    answer = machine.send("POST", path, one)
    assert answer.status == 201, answer.body
