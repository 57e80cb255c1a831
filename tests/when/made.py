"""Small clusters and histories around one moment, for suites that look ahead."""

import datetime
import json

NOW = datetime.datetime(2026, 3, 2, 12, 0, 0, tzinfo=datetime.timezone.utc)


def stamp(minutes):
    return (NOW + datetime.timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def node(name="n1"):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"nvidia.com/gpu.count": "8"}},
            "status": {"allocatable": {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"},
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def queue(name, parent=None, **gpu):
    everything = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    spec = {"resources": {"gpu": dict(everything, **gpu), "cpu": everything, "memory": everything}}
    if parent:
        spec["parentQueue"] = parent
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name}, "spec": spec}


def pod(name, gpus, created, started=None, limit=None, to="team", on="n1"):
    """A pod of the queue `to` that waits or, with `started`, runs on `on`, in minutes from NOW; `limit` in seconds."""
    group = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
             "metadata": {"name": f"pg-{name}-{name}-uid", "namespace": "lab", "creationTimestamp": stamp(created), "annotations": {},
                          "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": name, "uid": f"{name}-uid"}]},
             "spec": {"minMember": 1, "queue": to}}
    spec = {"schedulerName": "kai-scheduler", "containers": [
        {"name": "main", "image": "train:1", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}, "requests": {"cpu": "1"}}}]}
    if limit:
        spec["activeDeadlineSeconds"] = limit
    made = {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "lab", "uid": f"{name}-uid", "creationTimestamp": stamp(created),
                         "labels": {"kai.scheduler/queue": to}, "annotations": {"pod-group-name": group["metadata"]["name"]}},
            "spec": spec, "status": {"phase": "Pending"}}
    if started is not None:
        group["metadata"]["annotations"]["kai.scheduler/last-start-timestamp"] = stamp(started)
        spec["nodeName"] = on
        made["status"] = {"phase": "Running"}
    return [group, made]


def write(path, objects):
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return path


def cluster(*pods):
    return [node(), queue("all"), queue("team", "all"), *[object_ for pod_ in pods for object_ in pod_]]


HISTORY = ["time,name,namespace,queue,gpus,run_seconds,limit_seconds,user,image"]


def history(path, runs, until=-600):
    """A month ago, one after another, so that nothing of it comes again within the horizon."""
    rows = [f"{stamp(until - 40320 - 10 * i)},old-{i},lab,team,8,{seconds},,," for i, seconds in enumerate(runs)]
    path.write_text("\n".join(HISTORY + rows) + "\n")
    return path
