"""helm install, and what the operator makes of it."""

from suite import Suite, expect, expect_in
from world import (ACCOUNTS, CONFIG, DEPLOYMENTS, MUTATING, SERVICES, SHARDS, VALIDATING, arguments, condition, container)

SUITE = Suite()

OPERANDS = {"admission": "admission", "binder": "binder", "kai-scheduler-default": "scheduler", "pod-grouper": "grouper",
            "podgroup-controller": "podgroups", "queue-controller": "queues"}


@SUITE.test("helm install is accepted by the API server, object by object")
def _(here):
    here.install("--set", "image.tag=test")
    expect_in("default", here.names(SHARDS))
    expect(here.names("/apis/scheduling.run.ai/v2/queues"), ["default-parent-queue", "default-queue"])
    classes = here.api.items("/apis/scheduling.k8s.io/v1/priorityclasses")
    expect({one["metadata"]["name"]: one["value"] for one in classes if one["value"] < 1000},
           {"train": 50, "build-preemptible": 75, "build": 100, "inference": 125})


@SUITE.test("the operator applies the Config of the release and runs a Deployment for each service")
def _(here):
    here.start_operator()
    config = here.wait_for(CONFIG)
    expect(config["metadata"]["ownerReferences"][0]["kind"], "ClusterRole")
    for name, command in OPERANDS.items():
        found = here.wait_for(f"{DEPLOYMENTS}/{name}")
        expect(found["metadata"]["labels"]["app.kubernetes.io/managed-by"], "kai-operator")
        expect(arguments(found)[0], command, name)
        expect(container(found)["name"], name)
        expect(container(found)["image"], "registry/local/muster:test")
        expect(found["spec"]["template"]["metadata"]["labels"]["app"], name)
    expect([name for name in here.names(DEPLOYMENTS) if name not in ("kai-operator", "job-starter")], sorted(OPERANDS))
    expect(arguments(here.wait_for(f"{DEPLOYMENTS}/job-starter")), ("starter", {"numbers-namespace": "kai-scheduler"}))


@SUITE.test("accounts, Services and webhook configurations have KAI's names")
def _(here):
    here.wait_ready()
    expect({"binder", "admission", "pod-grouper", "podgroup-controller", "queue-controller", "scheduler"}
           - set(here.names(ACCOUNTS)), set())
    expect({"binder", "admission", "queue-controller", "podgroup-controller", "kai-scheduler-default"}
           - set(here.names(SERVICES)), set())
    expect(here.names(MUTATING), ["mutating-kai-admission"])
    expect(here.names(VALIDATING), ["kai-podgroup-validation-v2alpha2", "kai-queue-validation-v2", "validating-kai-admission"])


@SUITE.test("conditions say that the Config and the shard are deployed, available and ready, for their generation")
def _(here):
    for path in (CONFIG, f"{SHARDS}/default"):
        found = here.wait_ready(path)
        expect(condition(found, "DependenciesFulfilled"), "True")


@SUITE.test("what others change is repaired, and what belongs to others stays")
def _(here):
    path = f"{DEPLOYMENTS}/binder"
    here.api.patch(path, {"metadata": {"labels": {"team": "a"}}, "spec": {"replicas": 3, "template": {
        "metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}},
        "spec": {"nodeSelector": {"disk": "fast"}}}}})
    found = here.wait_for(path, lambda one: one["spec"]["replicas"] == 1
                          and not one["spec"]["template"]["spec"].get("nodeSelector"))
    expect(found["metadata"]["labels"]["team"], "a")
    expect(found["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"], "now")
    here.api.delete(f"{SERVICES}/binder")
    here.wait_for(f"{SERVICES}/binder")


@SUITE.test("the CA that admission writes into a webhook stays, and so does a selector that a cloud adds")
def _(here):
    path = f"{MUTATING}/mutating-kai-admission"
    cloud = {"key": "control-plane", "operator": "DoesNotExist"}
    here.cluster.wait_until(lambda: here.find(path), path)
    found = here.api.get(path)
    found["webhooks"][0]["clientConfig"]["caBundle"] = here.cluster.credentials.encoded("ca.crt")
    found["webhooks"][0]["namespaceSelector"]["matchExpressions"].append(cloud)
    found["webhooks"][0]["timeoutSeconds"] = 7
    found["webhooks"][0]["failurePolicy"] = "Ignore"
    here.api.replace(path, found)
    found = here.wait_for(path, lambda one: one["webhooks"][0]["failurePolicy"] == "Fail")["webhooks"][0]
    expect(found["clientConfig"]["caBundle"], here.cluster.credentials.encoded("ca.crt"))
    expect_in(cloud, found["namespaceSelector"]["matchExpressions"])
    expect(found["timeoutSeconds"], 7)


@SUITE.test("a change of the Config reaches the service, and a service that is switched off is gone")
def _(here):
    here.patch_config({"admission": {"blockNvidiaVisibleDevices": True}, "binder": {"service": {"enabled": False}}})
    here.wait_for(f"{DEPLOYMENTS}/admission",
                  lambda one: arguments(one)[1].get("block-nvidia-visible-devices") == "true")
    here.wait_gone(f"{DEPLOYMENTS}/binder")
    here.wait_gone(f"{SERVICES}/binder")
    here.patch_config({"admission": {"service": {"enabled": False}}})
    here.wait_gone(f"{MUTATING}/mutating-kai-admission")
    here.patch_config({"admission": {"blockNvidiaVisibleDevices": False, "service": {"enabled": True}},
                       "binder": {"service": {"enabled": True}}})
    here.wait_for(f"{DEPLOYMENTS}/binder")
    here.wait_for(f"{MUTATING}/mutating-kai-admission")
    here.wait_ready()
