"""The life of a release: upgrade, roll back, uninstall."""

from suite import Suite, expect, expect_in
from world import CHART, CONFIG, DEPLOYMENTS, MUTATING, NAMESPACE, RELEASE, ROOT, SHARDS, VALIDATING, arguments, container

SUITE = Suite()
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@SUITE.test("helm upgrade applies new values, and keeps what users changed in the Config since")
def _(here):
    # Admission does not run here, and the release has queues.
    here.patch_config({"queueController": {"webhooks": {"enableValidation": False}}})
    here.wait_gone(f"{VALIDATING}/kai-queue-validation-v2")
    here.patch_config({"admission": {"queueLabelSelector": True}, "global": {"jsonLog": True}})
    here.wait_ready()
    here.upgrade("--set", "image.tag=test,global.gpuSharing=true,operator.replicaCount=2")
    here.wait_for(f"{DEPLOYMENTS}/admission", lambda one: arguments(one)[1].get("gpu-sharing-enabled") == "true"
                  and one["spec"]["replicas"] == 2)
    config = here.wait_ready()
    expect(config["spec"]["global"]["replicaCount"], 2)
    expect(len(here.api.items("/apis/scheduling.run.ai/v2/queues")), 2)


@SUITE.test("CRDs of an older release are brought up to date, and missing ones created, when the operator starts")
def _(here):
    path = f"{CRDS}/queues.scheduling.run.ai"
    old = here.api.get(path)
    columns = old["spec"]["versions"][0]["additionalPrinterColumns"]
    old["spec"]["versions"][0]["additionalPrinterColumns"] = columns[:1]
    here.api.replace(path, old)
    here.stop_operator()
    here.api.delete(f"{CRDS}/topologies.kai.scheduler")
    here.wait_gone(f"{CRDS}/topologies.kai.scheduler")
    here.start_operator()
    here.wait_for(path, lambda one: one["spec"]["versions"][0]["additionalPrinterColumns"] == columns)
    here.wait_for(f"{CRDS}/topologies.kai.scheduler")


@SUITE.test("helm rollback brings the old values back")
def _(here):
    here.helm("rollback", RELEASE, "1", "--namespace", NAMESPACE)
    here.wait_for(f"{DEPLOYMENTS}/admission", lambda one: "gpu-sharing-enabled" not in arguments(one)[1]
                  and one["spec"]["replicas"] == 1)
    here.wait_ready()


@SUITE.test("pull secrets reach every pod and the account of reservation pods")
def _(here):
    here.patch_config({"global": {"additionalImagePullSecrets": ["one"], "imagesPullSecret": "two"}})
    wanted = [{"name": "one"}, {"name": "two"}]
    here.wait_for(f"{DEPLOYMENTS}/binder",
                  lambda one: one["spec"]["template"]["spec"].get("imagePullSecrets") == wanted)
    here.wait_for("/api/v1/namespaces/kai-resource-reservation/serviceaccounts/kai-resource-reservation",
                  lambda one: one.get("imagePullSecrets") == wanted)
    here.patch_config({"global": {"additionalImagePullSecrets": None, "imagesPullSecret": None}})
    here.wait_ready()


@SUITE.test("containers are restricted, and on OpenShift left to the cluster")
def _(here):
    context = container(here.api.get(f"{DEPLOYMENTS}/binder"))["securityContext"]
    expect(context, {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "runAsNonRoot": True,
                     "runAsUser": 10000, "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}})
    here.patch_config({"global": {"openshift": True}})
    here.wait_for(f"{DEPLOYMENTS}/binder", lambda one: "securityContext" not in container(one))
    here.patch_config({"global": {"openshift": False}})
    here.wait_ready()


@SUITE.test("a Config for another namespace is refused with the reason, and nothing is deleted")
def _(here):
    here.patch_config({"namespace": "elsewhere"})
    found = here.wait_for(CONFIG, lambda one: "elsewhere" in str(one["status"]["conditions"]))
    expect_in("spec.namespace is 'elsewhere'", str(found["status"]["conditions"]))
    expect_in("binder", here.names(DEPLOYMENTS))
    here.patch_config({"namespace": NAMESPACE})
    here.wait_ready()


@SUITE.test("helm uninstall leaves nothing behind but CRDs, queues, the shard and the namespace of reservations")
def _(here):
    # Helm deletes the operator's Deployment before its roles.
    here.stop_operator()
    here.helm("uninstall", RELEASE, "--namespace", NAMESPACE)
    here.wait_gone(CONFIG)
    for path in (DEPLOYMENTS, MUTATING, VALIDATING, f"/api/v1/namespaces/{NAMESPACE}/services",
                 f"/apis/networking.k8s.io/v1/namespaces/{NAMESPACE}/networkpolicies",
                 f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/roles"):
        here.cluster.wait_until(lambda where=path: not here.api.items(where), f"{path} is empty", 60)
    here.cluster.wait_until(lambda: here.names(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts") == ["default"],
                            "no account is left", 60)
    here.cluster.wait_until(lambda: here.names(f"/api/v1/namespaces/{NAMESPACE}/configmaps") == ["kube-root-ca.crt"],
                            "no ConfigMap is left", 60)
    roles = here.names("/apis/rbac.authorization.k8s.io/v1/clusterroles")
    expect([name for name in roles if name.startswith(("kai-", "muster-"))], [])
    expect(here.names(SHARDS), ["default"])
    expect(len(here.names("/apis/scheduling.run.ai/v2/queues")), 2)
    expect([one["value"] for one in here.api.items("/apis/scheduling.k8s.io/v1/priorityclasses") if one["value"] < 1000], [])
    here.api.get("/api/v1/namespaces/kai-resource-reservation")


@SUITE.test("the lines of deploy/kind.md install it again, on what an earlier release has left")
def _(here):
    text = (ROOT / "deploy" / "kind.md").read_text()
    lines = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    expect([line.split()[0] for line in lines], ["kind", "helm", "kubectl", "kubectl"])
    here.cluster.command("sh", "-c", lines[1].replace("deploy/chart/muster", str(CHART)))
    here.start_operator()
    here.cluster.command("sh", "-c", lines[2])
    expect_in("binder", here.names(DEPLOYMENTS))
