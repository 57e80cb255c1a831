"""A cluster with the chart installed, and the operator beside it."""

import os
import pathlib

import client
from suite import expect

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MUSTER = os.environ.get("MUSTER", str(ROOT / "build" / "asan" / "muster"))
CHART = ROOT / "deploy" / "chart" / "muster"
RELEASE = NAMESPACE = "kai-scheduler"
SECONDS = 90

CONFIG = "/apis/kai.scheduler/v1/configs/kai-config"
SHARDS = "/apis/kai.scheduler/v1/schedulingshards"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
DAEMON_SETS = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets"
MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
SERVICES = f"/api/v1/namespaces/{NAMESPACE}/services"
ACCOUNTS = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
BUDGETS = f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets"
SLICES = f"/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices"
MUTATING = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


class World:
    """The release and the operator, with short words for what the tests do."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.api = cluster.api
        self.kubeconfig = cluster.credentials.user(f"system:serviceaccount:{NAMESPACE}:kai-operator",
                                                   ["system:serviceaccounts"])

    # Helm.

    def helm(self, *words, check=True):
        text = self.cluster.command("helm", *words, check=check)
        return "".join(line for line in text.splitlines(keepends=True) if "found symbolic link" not in line)

    def install(self, *words):
        return self.helm("install", RELEASE, CHART, "--namespace", NAMESPACE, "--create-namespace", *words)

    def upgrade(self, *words):
        return self.helm("upgrade", RELEASE, CHART, "--namespace", NAMESPACE, *words)

    # The operator.

    def start_operator(self, *flags):
        os.environ.update(MS_REPOSITORY="registry/local", MS_IMAGE="muster", MS_TAG="test")
        self.cluster.spawn("operator", MUSTER, "operator", f"--namespace={NAMESPACE}", "--config-values=kai-config",
                           "--metrics-bind-address=0", "--health-probe-bind-address=0", "--v=4", *flags,
                           kubeconfig=self.kubeconfig)

    def stop_operator(self):
        status = self.cluster.stop("operator")
        expect(status, 0, "the status of the operator")

    def ends_well(self):
        """The last test: the operator stops when it is told to, and was refused nothing."""
        status = self.cluster.stop("operator") if self.cluster.processes.alive("operator") else "gone"
        log = self.cluster.processes.log_of("operator", 1000000)
        bad = [line for line in log.splitlines() if any(word in line for word in (
            "Sanitizer", "runtime error", "BUG:", "orbidden"))]
        is_well = status == 0 and not bad
        if not is_well:
            print("".join(f"# {line}\n" for line in [str(status), *bad[:10], *log.splitlines()[-30:]]), end="")
        print(f"{'ok' if is_well else 'not ok'} - the operator stops when told to, with no complaint")
        return (1, 0, 0) if is_well else (0, 1, 0)

    # Objects.

    def find(self, path):
        try:
            return self.api.get(path)
        except client.ApiError as error:
            if error.status != 404:
                raise
            return None

    def names(self, path):
        return sorted(one["metadata"]["name"] for one in self.api.items(path))

    def wait_for(self, path, check=lambda found: True):
        return self.cluster.wait_for(path, check, SECONDS)

    def wait_gone(self, path):
        self.cluster.wait_gone(path, SECONDS)

    def patch_config(self, spec):
        return self.api.patch(CONFIG, {"spec": spec})

    def patch_shard(self, spec, name="default"):
        return self.api.patch(f"{SHARDS}/{name}", {"spec": spec})

    def wait_ready(self, path=CONFIG):
        """The operator has seen the object as it is now, and all of it runs."""
        return self.wait_for(path, lambda one: all(
            condition(one, kind, one["metadata"]["generation"]) == wanted
            for kind, wanted in (("Reconciling", "False"), ("Deployed", "True"), ("Available", "True"),
                                 ("Ready", "True"))))


def condition(one, kind, generation=None):
    """The status of a condition, if it is of that generation."""
    for found in one.get("status", {}).get("conditions", []):
        if found["type"] == kind and generation in (None, found.get("observedGeneration")):
            return found["status"]
    return None


def message(one, kind):
    found = one.get("status", {}).get("conditions", [])
    return next((each["message"] for each in found if each["type"] == kind), "")


def container(workload):
    return workload["spec"]["template"]["spec"]["containers"][0]


def arguments(workload):
    """The arguments of the container: the command, and flags by name."""
    words = container(workload)["args"]
    flags = (word.removeprefix("--").partition("=") for word in words[1:])
    return words[0], {name: value for name, _, value in flags}
