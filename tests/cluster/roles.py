"""The rights that services have where they are installed: those of their accounts in deploy/rbac."""

import pathlib

DEPLOY = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy"
RBAC = DEPLOY / "rbac"
SPACE = "kai-scheduler"
# Accounts that are not named as the file with their rights.
ACCOUNTS = {"grouper": "pod-grouper", "numa-exporter": "numa-placement-exporter", "operator": "kai-operator",
            "podgroups": "podgroup-controller", "queues": "queue-controller", "scaler": "node-scale-adjuster"}


def user_of(name):
    """The user that a service is, by the name of its file."""
    return f"system:serviceaccount:{SPACE}:{ACCOUNTS.get(name, name)}"


def give(cluster, name):
    """A kubeconfig with the rights of a file in deploy/rbac."""
    cluster.kubectl("apply", "-f", DEPLOY / "namespaces.yaml", "-f", RBAC / f"{name}.yaml")
    return cluster.credentials.user(user_of(name))
