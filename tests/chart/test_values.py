"""Values one by one: each renders, is taken by the API server, and arrives where it should."""

import json
import re
import shutil
import subprocess

import yaml
from suite import Skip, Suite, expect, expect_in
from world import CHART, NAMESPACE, RELEASE, ROOT

SUITE = Suite()

# A value and words that its rendering has to hold; "!" before a word: must not hold.
CASES = [
    ("global.registry=reg.example/x", ["reg.example/x/muster:"]),
    ("global.tag=v9", ["muster:v9"]),
    ("image.tag=v8,global.tag=v9", ["muster:v8", "!muster:v9"]),
    ("global.fips=true", ["-fips"]),
    ("global.imagePullSecrets[0].name=pull", ["additionalImagePullSecrets:", "- pull"]),
    ("global.leaderElection=true", ["--leader-elect=true"]),
    ("operator.replicaCount=3", ["replicas: 3", "replicaCount: 3", "kind: PodDisruptionBudget"]),
    ("operator.logLevel=debug", ["--zap-log-level=debug"]),
    ("operator.qps=7,operator.burst=8", ["--qps=7", "--burst=8"]),
    ("global.jsonLog=true", ["--zap-devel=false", "jsonLog: true"]),
    ("global.gpuSharing=true", ["gpuSharing: true"]),
    ("global.blockNvidiaVisibleDevices=true", ["blockNvidiaVisibleDevices: true"]),
    ("global.clusterAutoscaling=true", ["name: kai-scale-adjust"]),
    ("global.nodeSelector.disk=fast", ["disk: fast"]),
    ("global.priorityClassName=system-cluster-critical", ["priorityClassName: \"system-cluster-critical\""]),
    ("global.nodePoolLabelKey=pool", ["nodePoolLabelKey: \"pool\""]),
    ("global.namespaceLabelSelector.a=b", ["namespaceLabelSelector:"]),
    ("global.vpa.enabled=true", ["updateMode: InPlaceOrRecreate"]),
    ("global.resourceReservation.namespace=held", ["namespace: held"]),
    ("global.resourceReservation.createNamespace=false,networkPolicy.enabled=false", ["!kind: Namespace"]),
    ("binder.runtimeClassName=nv", ["runtimeClassName: nv"]),
    ("binder.cdiEnabled=true", ["cdiEnabled: true"]),
    ("binder.plugins.gpusharing.enabled=false", ["gpusharing:"]),
    ("binder.enabled=false", ["enabled: false"]),
    ("scheduler.placementStrategy=spread", ["placementStrategy: {gpu: spread, cpu: spread}"]),
    ("scheduler.args.v=6", ["args:\n    v: \"6\""]),
    ("scheduler.args.names-max=2000000,scheduler.args.bind-requests=always",
     ["names-max: \"2000000\"", "bind-requests: \"always\""]),
    ("scheduler.goMemLimit=2Gi", ["goMemLimit: \"2Gi\""]),
    ("scheduler.plugins.elastic.enabled=false", ["elastic:"]),
    ("scheduler.ports.metricsPort=9999", ["port: 9999"]),
    ("defaultShard.enabled=false", ["!kind: SchedulingShard"]),
    ("defaultQueue.createDefaultQueue=false", ["!kind: Queue"]),
    ("defaultQueue.childName=mine", ["name: mine"]),
    ("defaultPriorityClasses.enabled=false", ["!kind: PriorityClass"]),
    ("admission.gpuFractionRuntimeClassName=", ["gpuFractionRuntimeClassName: \"\""]),
    ("admission.ports.webhookPort=9555", ["targetPort: 9555"]),
    ("numaPlacementExporter.enabled=true,numaPlacementExporter.pollInterval=2s", ["pollInterval: \"2s\""]),
    ("starter.enabled=false", ["!job-starter", "!--starter"]),
    ("starter.enabled=false,mode=controller", ["!job-starter", "--starter=false"]),
    ("mode=controller", ["muster-job-numbers", "!--starter=false", "!app: job-starter"]),
    ("starter.enabled=true", ["name: job-starter\n", "selector: {app: job-starter}", "!kind: PodDisruptionBudget"]),
    ("starter.replicaCount=2", ["- starter\n            - --numbers-namespace=kai-scheduler\n            - --leader-elect",
                                "kind: PodDisruptionBudget"]),
    ("kaiConfig.render=true", ["kind: Config\n", "!--config-values"]),
    ("kaiConfigDeployer.enabled=false", ["!kind: Config\n", "!--config-values"]),
    ("prometheus.enabled=true", ["prometheus:\n", "name: kai-prometheus"]),
    ("prometheus.externalPrometheusUrl=http://p:9090", ["externalPrometheusUrl: \"http://p:9090\""]),
    ("openshift=true", ["kind: SecurityContextConstraints", "openshift: true"]),
    ("networkPolicy.enabled=false", ["!kind: NetworkPolicy"]),
    ("gpuIsolation.enabled=true", ["kind: DaemonSet", "name: fencer", "kind: ValidatingAdmissionPolicy\n"]),
    ("admission.mutatingWebhookConfigurationName=mine",
     ["mutatingWebhookConfigurationName: mine", "- mine\n", "!- mutating-kai-admission"]),
    ("mode=controller", ["name: muster-controller", "name: admission\n", "!kind: MutatingWebhookConfiguration", "!name: kai-operator"]),
    ("monitoring.serviceMonitors.enabled=true", ["kind: ServiceMonitor"]),
    ("monitoring.rules.enabled=true", ["kind: PrometheusRule"]),
    ("monitoring.dashboards.enabled=true", ["queues.json:", "services.json:"]),
]
# Kinds of other projects, whose CRDs are not here.
FOREIGN = {"SecurityContextConstraints", "ServiceMonitor", "PrometheusRule"}


def render(here, *words):
    return here.helm("template", RELEASE, CHART, "--namespace", NAMESPACE, "--kube-version", "1.33.0", *words)


def check_unique(text, what):
    """Helm refuses to install an object that is there twice."""
    found = [(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"])
             for one in yaml.safe_load_all(text) if one]
    expect([one for one in found if found.count(one) > 1], [], f"{what}: objects that are there twice")


def check_accepted(here, text, what):
    """The server takes every object of it, in a dry run."""
    # Queues are checked by admission, which does not run here.
    objects = [one for one in yaml.safe_load_all(text) if one and one["kind"] not in {*FOREIGN, "Queue"}]
    # A dry run makes no namespaces for those after it.
    known = {one["metadata"]["name"] for one in here.api.items("/api/v1/namespaces")}
    objects = [one for one in objects if one["metadata"].get("namespace") in {None, *known}]
    said = here.cluster.kubectl("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-", check=False,
                                feed=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    bad = [line for line in said.splitlines() if "serverside-applied" not in line]
    expect(bad, [], what)


@SUITE.test("every value renders what it stands for, in objects that the API server takes")
def _(here):
    for values, words in CASES:
        text = render(here, "--set", values)
        check_unique(text, values)
        for word in words:
            found = word.removeprefix("!") in text
            expect(found, not word.startswith("!"), f"{values}: {word!r} in the rendering")
    for values in ("mode=controller", "gpuIsolation.enabled=true", "kaiConfig.render=true", "global.clusterAutoscaling=true",
                   "operator.replicaCount=3,global.vpa.enabled=true", "monitoring.dashboards.enabled=true"):
        check_accepted(here, render(here, "--set", values), values)


@SUITE.test("promtool takes the alert rules, which are about the release's namespace")
def _(here):
    if not shutil.which("promtool"):
        raise Skip("promtool is not installed")
    text = here.helm("template", RELEASE, CHART, "--namespace", "elsewhere", "--kube-version", "1.33.0",
                     "--set", "monitoring.rules.enabled=true")
    rules = next(one for one in yaml.safe_load_all(text) if one and one["kind"] == "PrometheusRule")
    expect("kai-scheduler" in json.dumps(rules["spec"]), False, "the default namespace in the rules")
    expect_in('namespace="elsewhere"', rules["spec"]["groups"][0]["rules"][0]["expr"])
    path = here.cluster.folder / "rules.yaml"
    path.write_text(yaml.safe_dump(rules["spec"]))
    done = subprocess.run(["promtool", "check", "rules", path], capture_output=True, text=True, check=False)
    expect((done.returncode, done.stderr), (0, ""), done.stdout)


@SUITE.test("a mode that is unknown is refused with the choices")
def _(here):
    said = here.helm("template", RELEASE, CHART, "--kube-version", "1.33.0", "--set", "mode=both", check=False)
    expect_in("mode is 'both': it has to be split or controller", said)


@SUITE.test("rules and dashboards ask for metrics that the services have")
def _(here):
    docs = "".join((ROOT / "docs" / name).read_text() for name in ("metrics.md",))
    asked = (CHART / "rules" / "muster.yaml").read_text() + "".join(
        path.read_text() for path in (CHART / "dashboards").glob("*.json"))
    sources = subprocess.run(["git", "-C", ROOT, "grep", "-hoE", r'"[a-z_]*(_total|_left|leader|_waiting|_in_flight)"', "--", "src"],
                             stdout=subprocess.PIPE, text=True, check=True).stdout
    for name in sorted(set(re.findall(r"\b(?:kai|muster)_([a-z0-9_]+?)(?:_bucket)?(?=[^a-z0-9_])", asked))):
        if name.startswith("queue_allocated") or name in ("queue_deserved_gpus", "queue_info"):
            continue
        expect(f"`{name}`" in docs or f'"{name}"' in sources, True, f"somebody serves {name}")
