"""Changes of objects: what may change of a Job, what an apply that says less or null does, whose name a body has."""

JSON = "application/json"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"

SPACE = "/namespaces/twin-changes/"
JOBS, CRON = (f"/apis/batch/v1{SPACE}{plural}" for plural in ("jobs", "cronjobs"))
LEASES = f"/apis/coordination.k8s.io/v1{SPACE}leases"
MAPS = f"/api/v1{SPACE}configmaps"
SETS = f"/apis/apps/v1{SPACE}replicasets"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


def job(name, labels, container=None, **spec):
    pod = {"schedulerName": "twin", "restartPolicy": "Never", "containers": [container or {"name": "m", "image": "i"}]}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {"a": "b"}},
            "spec": {"template": {"metadata": {"labels": labels}, "spec": pod}, **spec}}


def template(labels=None, **pod):
    return {"spec": {"template": {**({"metadata": {"labels": labels}} if labels else {}), **({"spec": pod} if pod else {})}}}


def changes_of(path):
    other = {"name": "m", "image": "j"}
    larger = {"name": "m", "image": "i", "resources": {"limits": {"cpu": "1"}}}
    bodies = [template({"x": "2"}), template(containers=[other]), template({"x": "3"}, containers=[other]),
              template(nodeSelector={"a": "b"}), template(tolerations=[{"key": "a", "operator": "Exists"}]),
              template(containers=[larger]), template(containers=[larger], dnsPolicy="Default"),
              {"spec": {"completions": 3}}, {"spec": {"completions": 3, "parallelism": 3}}, {"spec": {"completionMode": "Indexed"}},
              {"spec": {"backoffLimitPerIndex": 1}}, {"spec": {"managedBy": "a.io/b"}}]
    return [("PATCH", path, body, MERGE) for body in bodies]


def named(kind, version, name, **more):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **more.pop("metadata", {})}, **more}


NULLS = {"schedule": "@daily", "suspend": None, "timeZone": None, "jobTemplate": {"metadata": None, "spec": {
    "parallelism": None, "template": {"spec": {
        "restartPolicy": "Never", "schedulerName": "twin", "nodeSelector": None, "tolerations": None, "securityContext": None,
        "containers": [{"name": "main", "image": "b", "env": None, "args": None, "resources": None, "stdin": None}]}}}}}

CHANGES = [
    ("POST", "/api/v1/namespaces", {"metadata": {"name": "twin-changes"}}),
    # What may change of a Job: more as long as it is suspended, and its size when its pods have indexes.
    ("POST", JOBS, job("runs", {"x": "1"})), *changes_of(JOBS + "/runs"),
    ("POST", JOBS, job("waits", {"x": "1"}, suspend=True)), *changes_of(JOBS + "/waits"),
    ("POST", JOBS, job("counts", {"x": "1"}, completionMode="Indexed", completions=2, parallelism=2)), *changes_of(JOBS + "/counts"),
    ("PUT", JOBS + "/runs", job("runs", {"z": "1", "b": "2", "a": "3"})),
    ("PUT", JOBS + "/runs", job("runs", {"q": "r"}, selector={"matchLabels": {"q": "r"}})),
    ("PUT", JOBS + "/runs", job("runs", {"q": "r"}, {"name": "m"}, podFailurePolicy={"rules": []}, completionMode="Indexed")),
    # Mistakes come in one order, and maps are shown in order.
    ("POST", CRON, named("CronJob", "batch/v1", "bad", spec={"schedule": "@daily", "jobTemplate": {}})),
    ("POST", SETS, named("ReplicaSet", "apps/v1", "bad", spec={"selector": {"matchLabels": {"a": "b"}}, "template": {
        "metadata": {"labels": {"more": "1", "app": "y"}}, "spec": {"containers": [{"name": "m", "image": "i"}]}}})),
    # An apply that says less takes back what was applied, and leaves the metadata.
    ("PATCH", LEASES + "/a?fieldManager=m1", named("Lease", "coordination.k8s.io/v1", "a", metadata={"labels": {}}, spec={
        "holderIdentity": "me", "leaseDurationSeconds": 48}), APPLY),
    ("PATCH", LEASES + "/a?fieldManager=m1", named("Lease", "coordination.k8s.io/v1", "a"), APPLY),
    ("PATCH", LEASES + "/a", {}, MERGE), ("GET", LEASES + "/a"),
    # A null that is applied is owned, and conflicts with what another manager has there.
    ("PATCH", CRON + "/c?fieldManager=m1", named("CronJob", "batch/v1", "c", metadata={"labels": {"a": None}, "annotations": None}, spec=NULLS),
     APPLY),
    ("PATCH", CRON + "/c?fieldManager=m2", named("CronJob", "batch/v1", "c", metadata={"labels": {"a": None}, "annotations": None},
                                                spec={**NULLS, "schedule": None}), APPLY),
    ("PATCH", MAPS + "/c?fieldManager=m1", named("ConfigMap", "v1", "c", data={"a": "1", "b": "2"}), APPLY),
    ("PATCH", MAPS + "/c?fieldManager=m2", named("ConfigMap", "v1", "c", data={"a": None}, immutable=None), APPLY),
    ("PATCH", MAPS + "/c?fieldManager=m2", named("ConfigMap", "v1", "c", data=None), APPLY),
    ("PATCH", MAPS + "/c?fieldManager=m2&force=true", named("ConfigMap", "v1", "c", data={"a": None}), APPLY),
    # The name in a body is that in the path.
    ("PUT", MAPS + "/c", {"data": {}}), ("PUT", MAPS + "/none", {"data": {}}), ("PUT", MAPS + "/c", named("ConfigMap", "v1", "d")),
    ("PATCH", MAPS + "/c?fieldManager=m1", named("ConfigMap", "v1", "Bad_Name"), APPLY),
    ("PATCH", MAPS + "/none?fieldManager=m1", named("ConfigMap", "v1", "Bad_Name"), APPLY),
    ("PATCH", MAPS + "/none?fieldManager=m1", {"apiVersion": "v1", "kind": "ConfigMap", "data": {}}, APPLY),
    # What never changes.
    ("POST", CLASSES, named("PriorityClass", "scheduling.k8s.io/v1", "twin-class", value=5)),
    ("PATCH", CLASSES + "/twin-class", {"preemptionPolicy": "Never"}, MERGE),
    ("PATCH", CLASSES + "/twin-class", {"preemptionPolicy": "Never", "value": 6}, MERGE),
    ("DELETE", CLASSES + "/twin-class"),
]
