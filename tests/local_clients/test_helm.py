"""Helm 3: the life of a release, hooks, definitions, and Muster's own chart."""

import json

import charts
import desk
from suite import Suite, expect, expect_in

SUITE = Suite()
WAIT = ("--wait", f"--timeout={desk.SECONDS}s")
MUSTER_CHART = desk.machine.ROOT / "deploy" / "chart" / "muster"


class Release:
    """Helm in one namespace."""

    def __init__(self, place, name="r"):
        self.place, self.name = place, name

    def helm(self, verb, *words):
        done = self.place.desk.call("helm", "-n", self.place.name, verb, *map(str, words))
        if done.returncode:
            raise AssertionError(f"helm {verb}: {done.stdout}{done.stderr}")
        return done.stdout

    def refused(self, verb, *words):
        return self.place.desk.refused("helm", "-n", self.place.name, verb, *map(str, words))

    def history(self):
        return [(one["revision"], one["status"]) for one in json.loads(self.helm("history", self.name, "-o", "json"))]


@SUITE.test("Helm: a release is installed, upgraded, rolled back and uninstalled")
def _(here):
    chart = charts.write(here.folder / "life", "web", web=charts.WEB)
    with here.namespace("helm-life") as place:
        release = Release(place)
        release.helm("install", "r", chart, *WAIT)
        expect(place.field("deployment", "r-web", ".status.readyReplicas"), "2")
        expect(place.field("configmap", "r-config", ".data.has-batch"), "true")
        expect_in("r", release.helm("list"))
        release.helm("upgrade", "r", chart, "--set", "tag=2,text=two,replicas=1", *WAIT)
        expect(place.field("deployment", "r-web", ".spec.template.spec.containers[0].image"), "nginx:2")
        expect(place.field("configmap", "r-config", ".data.text"), "two")
        expect_in("tag: 2", release.helm("get", "values", "r"))
        expect_in("nginx:2", release.helm("get", "manifest", "r"))
        release.helm("rollback", "r", "1", *WAIT)
        expect(place.field("deployment", "r-web", ".status.readyReplicas"), "2")
        expect(place.field("configmap", "r-config", ".data.text"), "one")
        expect(release.history(), [(1, "superseded"), (2, "superseded"), (3, "deployed")])
        expect_in("STATUS: deployed", release.helm("status", "r"))
        release.helm("uninstall", "r", *WAIT)
        expect(place.names("deployments,services"), [])
        expect(place.names("secrets"), [])


@SUITE.test("Helm: what others have changed is merged in an upgrade")
def _(here):
    chart = charts.write(here.folder / "merge", "web", web=charts.WEB)
    with here.namespace("helm-merge") as place:
        release = Release(place)
        release.helm("install", "r", chart, "--set", "replicas=0")
        place.kubectl("set", "env", "deployment/r-web", "MINE=1")
        place.kubectl("label", "configmap", "r-config", "mine=1")
        release.helm("upgrade", "r", chart, "--set", "replicas=0,text=two")
        expect(place.field("deployment", "r-web", ".spec.template.spec.containers[0].env[0].name"), "MINE")
        expect(place.field("configmap", "r-config", ".metadata.labels.mine"), "1")
        place.kubectl("create", "configmap", "s-config")
        expect_in("cannot be imported into the current release", release.refused("install", "s", chart))


@SUITE.test("Helm: --atomic takes back what does not get ready")
def _(here):
    chart = charts.write(here.folder / "atomic", "web", web=charts.WEB)
    with here.namespace("helm-atomic") as place:
        release = Release(place)
        release.helm("install", "r", chart, *WAIT)
        said = release.refused("upgrade", "r", chart, "--atomic", "--timeout=3s", "--set", "nodeSelector.none=such,text=two")
        expect_in("rolled back", said)
        expect(place.field("configmap", "r-config", ".data.text"), "one")
        expect([status for _, status in release.history()], ["superseded", "failed", "deployed"])
        release.refused("install", "s", chart, "--atomic", "--timeout=3s", "--set", "nodeSelector.none=such")
        expect(place.names("configmap"), ["kube-root-ca.crt", "r-config"])


@SUITE.test("Helm: hooks run to their end before the release, and a hook that fails stops it")
def _(here):
    chart = charts.write(here.folder / "hooks", "hooked", hooks=charts.HOOKS, web=charts.WEB)
    with here.namespace("helm-hooks") as place:
        release = Release(place)
        release.helm("install", "r", chart, "--set", "replicas=0", f"--timeout={desk.SECONDS}s")
        expect(place.field("job", "r-before", ".status.succeeded"), "1")
        expect_in("pre-upgrade hooks failed", release.refused("upgrade", "r", chart, "--set", "replicas=0,hookExit=1",
                                                              f"--timeout={desk.SECONDS}s"))
        expect(release.history(), [(1, "deployed"), (2, "failed")])
        expect_in("Succeeded", release.helm("test", "r", f"--timeout={desk.SECONDS}s"))
        release.helm("uninstall", "r")


@SUITE.test("Helm: definitions of a chart come first, and their objects after them")
def _(here):
    chart = charts.write(here.folder / "crds", "widgets", crds=charts.CRD, widget=charts.WIDGET)
    with here.namespace("helm-crds") as place:
        Release(place).helm("install", "r", chart, *WAIT)
        expect(place.field("widget", "r", ".spec.size"), "3")
        Release(place).helm("uninstall", "r")
        expect(place.names("widgets"), [])
    here.kubectl("delete", "crd", "widgets.charts.example.com")


@SUITE.test("Helm: template and lint know the kinds of the server, and a dry run stores nothing")
def _(here):
    chart = charts.write(here.folder / "dry", "web", web=charts.WEB)
    with here.namespace("helm-dry") as place:
        release = Release(place)
        said = release.helm("install", "r", chart, "--dry-run=server")
        expect_in('has-batch: "true"', said)
        expect('seen: "0"' in said, False, "lookup found nothing")
        expect(place.names("configmap"), ["kube-root-ca.crt"])
        expect_in("kind: Deployment", release.helm("template", "r", chart, "--validate"))


@SUITE.test("Helm: KAI's values of the chart render objects that the server knows")
def _(here):
    values = ("global.registry=reg.example/x", "global.leaderElection=true", "global.gpuSharing=true", "operator.replicaCount=3",
              "scheduler.placementStrategy=spread", "binder.cdiEnabled=true", "numaPlacementExporter.enabled=true",
              "global.clusterAutoscaling=true", "defaultQueue.createDefaultQueue=false", "defaultPriorityClasses.enabled=false")
    with here.namespace("helm-values") as place:
        said = Release(place).helm("install", "muster", MUSTER_CHART, "--dry-run=server", *(
            word for value in values for word in ("--set", value)))
        for text in ("kind: PodDisruptionBudget", "kind: NetworkPolicy", "reg.example/x/muster:", "kind: SchedulingShard"):
            expect_in(text, said)


@SUITE.test("Helm: Muster's own chart is installed, upgraded and uninstalled")
def _(here):
    space = "kai-scheduler"
    here.kubectl("create", "namespace", space)
    here.wait_for(f"/api/v1/namespaces/{space}/serviceaccounts/default")
    place = desk.Place(here, space)
    # Local mode has these objects from its first start; a chart takes over only what it may.
    for kind, names in (("queue", ("default-queue", "default-parent-queue")),
                        ("priorityclass", ("train", "build-preemptible", "build", "inference"))):
        for name in names:
            here.kubectl("label", kind, name, "app.kubernetes.io/managed-by=Helm", "--overwrite")
            here.kubectl("annotate", kind, name, "meta.helm.sh/release-name=muster", f"meta.helm.sh/release-namespace={space}")
    release = Release(place, "muster")
    release.helm("install", "muster", MUSTER_CHART, "--set", "image.tag=test")
    expect_in("kai-operator", place.names("deployments"))
    release.helm("upgrade", "muster", MUSTER_CHART, "--set", "image.tag=other")
    expect_in(":other", place.kubectl("get", "deployment", "kai-operator", "-o", "yaml"))
    release.helm("uninstall", "muster", "--no-hooks")
    expect(place.names("deployments"), [])
    here.kubectl("delete", "namespace", space, "--wait=false")
    here.wait_gone(f"/api/v1/namespaces/{space}", desk.SECONDS)
