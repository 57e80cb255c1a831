"""The rights that services have where they are installed, for users of the test bed."""

import json
import pathlib

RBAC = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy" / "rbac"
SPACE = "kai-scheduler"
# Those that are not named as the file with their rights.
ACCOUNTS = {"grouper": "pod-grouper", "podgroups": "podgroup-controller", "queues": "queue-controller",
            "scaler": "node-scale-adjuster", "numa-exporter": "numa-placement-exporter"}


def give(cluster, name):
    """The rights of a file in deploy/rbac, for a user of that name."""
    account = ACCOUNTS.get(name, name)
    cluster.kubectl("create", "namespace", SPACE, check=False)
    cluster.kubectl("apply", "-f", RBAC / f"{name}.yaml")
    bindings = json.loads(cluster.kubectl("get", "clusterrolebindings,rolebindings", "-A", "-o", "json"))["items"]
    for binding in bindings:
        if any(one["name"] == account and one.get("namespace") == SPACE for one in binding.get("subjects", [])):
            space = ["-n", binding["metadata"]["namespace"]] if binding["kind"] == "RoleBinding" else []
            cluster.kubectl(*space, "create", binding["kind"].lower(), f"{name}-{binding['metadata']['name']}",
                            f"--{binding['roleRef']['kind'].lower()}={binding['roleRef']['name']}", f"--user={name}",
                            check=False)
