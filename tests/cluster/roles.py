"""The rights that services have where they are installed: those of their accounts in deploy/rbac."""

import pathlib

DEPLOY = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy"
RBAC = DEPLOY / "rbac"
SPACE = "kai-scheduler"
# Accounts that are not named as the file with their rights.
ACCOUNTS = {"grouper": "pod-grouper", "numa-exporter": "numa-placement-exporter", "operator": "kai-operator",
            "podgroups": "podgroup-controller", "queues": "queue-controller", "reservation": "kai-resource-reservation",
            "scaler": "node-scale-adjuster", "starter": "job-starter"}
# Accounts in other namespaces.
SPACES = {"reservation": "kai-resource-reservation"}


def space_of(name):
    return SPACES.get(name, SPACE)


def account_of(name):
    return ACCOUNTS.get(name, name)


def user_of(name):
    """The user that a service is, by the name of its file."""
    return f"system:serviceaccount:{space_of(name)}:{account_of(name)}"


def kubeconfig(cluster, name, seconds=24 * 3600):
    """With a token of a service's account, which has to exist."""
    token = cluster.api.create(f"/api/v1/namespaces/{space_of(name)}/serviceaccounts/{account_of(name)}/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": seconds},
    })["status"]["token"]
    return cluster.credentials.token_user(name, token)


def give(cluster, name):
    """A kubeconfig with the rights of a file in deploy/rbac."""
    cluster.kubectl("apply", "-f", DEPLOY / "namespaces.yaml", "-f", RBAC / f"{name}.yaml")
    return kubeconfig(cluster, name)
