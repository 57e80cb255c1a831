"""What the operator makes for the operators of others, and what becomes of it when it is switched off."""

import operands
from operands import ACCOUNT, AUTOSCALERS, MONITORS, PROMETHEUS, USAGE
from suite import Suite, expect
from world import DEPLOYMENTS, arguments

SUITE = Suite()


@SUITE.test("without the operator of Prometheus the Config says what is missing; with it, Prometheus is there")
def _(here):
    here.patch_config({"prometheus": {"enabled": True}})
    here.wait_for("/apis/kai.scheduler/v1/configs/kai-config", lambda one: any(
        each["type"] == "DependenciesFulfilled" and "prometheus operator" in each["message"]
        for each in one["status"]["conditions"]))
    operands.apply_crds(here.cluster)
    found = here.wait_for(PROMETHEUS)
    expect((found["spec"]["retention"], found["spec"]["serviceAccountName"]), ("2w", "prometheus"))
    here.wait_for(ACCOUNT)
    here.wait_for(USAGE)
    expect(sorted(one["metadata"]["name"] for one in here.api.items(MONITORS)), ["kube-state-metrics", "queue-controller"])
    operands.say_available(here.cluster)
    here.wait_ready()


@SUITE.test("a Prometheus that is switched off is marked and stays; switched on again, it has no mark")
def _(here):
    here.patch_config({"prometheus": {"enabled": False, "serviceMonitor": {"interval": "45s"}}})
    here.wait_for(PROMETHEUS, operands.switched_off)
    here.wait_for(f"{MONITORS}/queue-controller", lambda one: one["spec"]["endpoints"][0]["interval"] == "45s")
    here.wait_ready()
    since = operands.switched_off(here.api.get(PROMETHEUS))
    here.stop_operator()
    here.start_operator("--leader-elect")
    here.patch_config({"prometheus": {"storageSize": "1Gi"}})
    here.wait_for(PROMETHEUS, lambda one: one["spec"]["storage"]["volumeClaimTemplate"]["spec"]["resources"] ==
                  {"requests": {"storage": "1Gi"}})
    expect(operands.switched_off(here.api.get(PROMETHEUS)), since, "the mark after a restart")
    here.patch_config({"prometheus": {"enabled": True}})
    here.wait_for(PROMETHEUS, lambda one: not operands.switched_off(one))


@SUITE.test("it is removed when its retention is over, with all that belongs to it")
def _(here):
    here.patch_config({"prometheus": {"retentionPeriod": "1s"}})
    here.wait_for(PROMETHEUS, lambda one: one["spec"]["retention"] == "1s")
    here.patch_config({"prometheus": {"enabled": False}})
    here.cluster.wait_until(lambda: operands.are_gone(here.cluster, PROMETHEUS, ACCOUNT, USAGE,
                                                      f"{MONITORS}/queue-controller"), "all of it is gone")
    here.wait_ready()


@SUITE.test("services have vertical autoscalers where the Config wants them")
def _(here):
    here.patch_config({"global": {"vpa": {"enabled": True}}})
    here.wait_for(f"{AUTOSCALERS}/binder", lambda one: one["spec"]["updatePolicy"]["updateMode"] == "InPlaceOrRecreate")
    here.patch_config({"global": {"vpa": {"updatePolicy": {"updateMode": "Off"}}}})
    here.wait_for(f"{AUTOSCALERS}/binder", lambda one: one["spec"]["updatePolicy"]["updateMode"] == "Off")
    here.patch_config({"global": {"vpa": None}})
    here.wait_gone(f"{AUTOSCALERS}/binder")
    here.wait_ready()


@SUITE.test("the GPU operator's policy decides whether GPUs are handed out by CDI")
def _(here):
    here.api.create(operands.POLICIES, {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "gpus"},
                                        "spec": {"cdi": {"enabled": True, "default": True}}})
    here.wait_for(f"{DEPLOYMENTS}/binder", lambda one: '"cdiEnabled":"true"' in arguments(one)[1]["plugins"])
    here.api.delete(f"{operands.POLICIES}/gpus")
    here.wait_for(f"{DEPLOYMENTS}/binder", lambda one: '"cdiEnabled":"true"' not in arguments(one)[1]["plugins"])
    here.wait_ready()
