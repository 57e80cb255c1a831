"""SchedulingShards: settings that reach the scheduler, replicas and their leader, shards that come and go."""

import re

from suite import Suite, expect, expect_in
from world import BUDGETS, CONFIG, DEPLOYMENTS, MAPS, NAMESPACE, SERVICES, SHARDS, SLICES, arguments, condition, message

SUITE = Suite()

NAME = "kai-scheduler-default"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"


def settings(here, name=NAME):
    return here.api.get(f"{MAPS}/{name}")["data"]["config.yaml"]


def wait_settings(here, check, name=NAME):
    here.wait_for(f"{MAPS}/{name}", lambda one: check(one["data"]["config.yaml"]))
    return settings(here, name)


@SUITE.test("a shard without settings gets KAI's plugins and actions, in order")
def _(here):
    here.wait_ready(f"{SHARDS}/default")
    text = settings(here)
    expect_in('actions: "allocate, consolidation, reclaim, preempt, stalegangeviction"', text)
    expect(re.findall(r'- name: "([^"]*)"', text)[:3], ["predicates", "proportion", "priority"])
    expect_in('"gpu": "binpack"', text)
    expect("gpuspread" in text, False)


@SUITE.test("settings of a shard change the configuration and start the scheduler anew")
def _(here):
    old = here.api.get(f"{DEPLOYMENTS}/{NAME}")["spec"]["template"]["metadata"]["annotations"]
    here.patch_shard({
        "placementStrategy": {"gpu": "spread", "cpu": "spread"}, "kValue": 2.5, "queueDepthPerAction": {"reclaim": 7},
        "minRuntime": {"preemptMinRuntime": "5m"}, "plugins": {"elastic": {"enabled": False}, "numa": {"priority": 5}},
        "actions": {"preempt": {"enabled": False}}, "scenarioSearchBudgets": {"maxJobSearchDuration": "90s"},
        "args": {"full-hierarchy-fairness": "false", "not-a-flag": "1"}})
    text = wait_settings(here, lambda found: "spread" in found)
    expect_in('actions: "allocate, reclaim, stalegangeviction"', text)
    expect_in('"kValue": "2.5"', text)
    expect_in('"defaultPreemptMinRuntime": "5m"', text)
    expect_in("  reclaim: 7\n", text)
    expect_in("maxJobSearchDuration: 1m30s\n", text)
    expect_in('name: "gpuspread"', text)
    expect('name: "elastic"' in text, False)
    found = here.wait_for(f"{DEPLOYMENTS}/{NAME}",
                          lambda one: arguments(one)[1].get("full-hierarchy-fairness") == "false")
    expect("not-a-flag" in arguments(found)[1], False)
    expect(found["spec"]["template"]["metadata"]["annotations"] != old, True, "the annotation of the settings changes")
    here.wait_ready(f"{SHARDS}/default")


@SUITE.test("a shard whose settings make no sense says so, and keeps running as it was")
def _(here):
    before = settings(here)
    here.patch_shard({"queueDepthPerAction": {"sing": 1}})
    found = here.wait_for(f"{SHARDS}/default", lambda one: condition(one, "Deployed") == "False")
    expect_in("queueDepthPerAction: 'sing' is not an enabled action", message(found, "Deployed"))
    expect(settings(here), before)
    here.patch_shard({"queueDepthPerAction": None, "placementStrategy": None, "kValue": None, "minRuntime": None,
                      "plugins": None, "actions": None, "scenarioSearchBudgets": None, "args": None})
    here.wait_ready(f"{SHARDS}/default")


@SUITE.test("a usage database that the shard does not name is the Config's")
def _(here):
    here.patch_shard({"usageDBConfig": {"clientType": "prometheus"}})
    here.wait_for(f"{SHARDS}/default", lambda one: "externalPrometheusUrl" in message(one, "Deployed"))
    here.patch_config({"prometheus": {"externalPrometheusUrl": "http://prometheus.monitoring:9090"}})
    wait_settings(here, lambda found: '"connectionString":"http://prometheus.monitoring:9090"' in found)
    here.patch_shard({"usageDBConfig": None})
    here.patch_config({"prometheus": {"externalPrometheusUrl": None}})
    here.wait_ready(f"{SHARDS}/default")


@SUITE.test("with two replicas the Service leads to the pod that holds the lease, and a budget keeps one of them")
def _(here):
    here.patch_config({"scheduler": {"replicas": 2}})
    found = here.wait_for(f"{DEPLOYMENTS}/{NAME}", lambda one: one["spec"]["replicas"] == 2)
    expect(arguments(found)[1]["leader-elect"], "true")
    expect_in("podAntiAffinity", found["spec"]["template"]["spec"]["affinity"])
    here.wait_for(f"{SERVICES}/{NAME}", lambda one: not one["spec"].get("selector"))
    expect(here.wait_for(f"{BUDGETS}/{NAME}")["spec"]["maxUnavailable"], 1)
    expect(here.wait_for(f"{SLICES}/{NAME}-leader")["endpoints"] or [], [])
    here.wait_for(f"{DEPLOYMENTS}/{NAME}", lambda one: one["status"].get("observedGeneration") == one["metadata"]["generation"]
                  and [one["status"].get(key) for key in ("replicas", "updatedReplicas", "availableReplicas")] == [2, 2, 2])

    def running():
        pods = [one for one in here.api.items(PODS) if one["metadata"].get("labels", {}).get("app") == NAME
                and one["status"].get("phase") == "Running" and "deletionTimestamp" not in one["metadata"]]
        return pods if len(pods) == 2 else None

    for number, pod in enumerate(here.cluster.wait_until(running, "two pods of the scheduler", 60)):
        # KWOK gives pods no address.
        address = f"10.9.8.{number + 1}"
        here.api.patch(f"{PODS}/{pod['metadata']['name']}/status",
                       {"status": {"podIP": address, "podIPs": [{"ip": address}]}})
        holder = f"{pod['metadata']['name']}_1234"
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "kai-scheduler"},
                 "spec": {"holderIdentity": holder}}
        if here.find(f"{LEASES}/kai-scheduler"):
            here.api.patch(f"{LEASES}/kai-scheduler", lease)
        else:
            here.api.create(LEASES, lease)
        slices = here.wait_for(f"{SLICES}/{NAME}-leader", lambda one, wanted=pod: any(
            end["targetRef"]["name"] == wanted["metadata"]["name"] for end in one["endpoints"] or []))
        expect(slices["endpoints"][0]["addresses"], [address])
    here.patch_config({"scheduler": {"replicas": None}})
    here.wait_for(f"{SERVICES}/{NAME}", lambda one: one["spec"].get("selector") == {"app": NAME})
    here.wait_gone(f"{SLICES}/{NAME}-leader")
    here.wait_gone(f"{BUDGETS}/{NAME}")


@SUITE.test("another shard has a scheduler of its own, and takes it along when it is deleted")
def _(here):
    here.api.create(SHARDS, {"apiVersion": "kai.scheduler/v1", "kind": "SchedulingShard", "metadata": {"name": "red"},
                             "spec": {"partitionLabelValue": "red"}})
    found = here.wait_for(f"{DEPLOYMENTS}/kai-scheduler-red")
    expect(arguments(found)[1]["partition-label-value"], "red")
    here.wait_ready(f"{SHARDS}/red")
    here.api.delete(f"{SHARDS}/red")
    for path in (DEPLOYMENTS, MAPS, SERVICES):
        here.wait_gone(f"{path}/kai-scheduler-red")
    here.wait_for(f"{DEPLOYMENTS}/{NAME}")


@SUITE.test("the exporter of NUMA placements runs when a shard aligns pods, unless the Config says otherwise")
def _(here):
    path = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets/numa-placement-exporter"
    here.patch_shard({"plugins": {"numa": {"enabled": True}}})
    here.wait_for(path)
    here.patch_config({"numaPlacementExporter": {"pollInterval": "9s"}})
    here.wait_for(path, lambda one: arguments(one)[1].get("poll-interval") == "9s")
    here.patch_config({"numaPlacementExporter": {"service": {"enabled": False}, "pollInterval": None}})
    here.wait_gone(path)
    here.patch_shard({"plugins": None})
    here.patch_config({"numaPlacementExporter": {"service": {"enabled": None}}})
    here.wait_ready(CONFIG)
