"""Keys that only services may write: deploy/fence-policy.yaml, which the API server evaluates by itself."""

import bed
import client
from suite import Suite, expect, expect_in
from test_objects import PODS, pod
from webhooks import SPACE, refusal

SUITE = Suite()
POLICY = bed.ROOT / "deploy" / "fence-policy.yaml"


def labelled(name, labels=None, annotations=None, **more):
    made = pod(name, annotations, **more)
    made["metadata"]["labels"] = labels or {}
    return made


def change(api, name, meta):
    try:
        api.patch(f"{PODS}/{name}", {"metadata": meta})
    except client.ApiError as error:
        return error.message
    return None


def as_service(hooks, *words, **options):
    return hooks.cluster.kubectl(*words, f"--as=system:serviceaccount:{SPACE}:binder", **options)


@SUITE.test("users can neither write nor remove what services say about a pod; services can")
def keys(hooks):
    hooks.cluster.kubectl("apply", "-f", POLICY)
    hooks.cluster.kubectl("create", "clusterrolebinding", "binder-pods", "--clusterrole=cluster-admin",
                          f"--serviceaccount={SPACE}:binder")
    tries = iter(range(1000))
    hooks.cluster.wait_until(lambda: "for the binder" in (refusal(
        hooks.api, PODS, labelled(f"early-{next(tries)}", {"runai-gpu-group": "x"})) or ""), "the policy works")
    for number, (labels, notes, words) in enumerate((
            ({"runai-gpu-group": "x"}, {}, ['metadata.labels["runai-gpu-group"]', "Leave the label as it is"]),
            ({"runai-gpu-group/x": "x"}, {}, ['metadata.labels["runai-gpu-group/x"]', "for the binder"]),
            ({"app": "kai-resource-reservation"}, {}, ['metadata.labels["app"]', "another value"]),
            ({"app": "scaling-pod"}, {}, ["charged to nobody"]),
            ({}, {"received-resource-type": "Regular"}, ['metadata.annotations["received-resource-type"]']),
            ({}, {"run.ai/reserve_for_gpu_index": "GPU-0"}, ['metadata.annotations["run.ai/reserve_for_gpu_index"]']),
            ({}, {"cdi.k8s.io/x": "nvidia.com/gpu=all"}, ["for the binder to write", "remove them"]))):
        for scheduler in ("kai-scheduler", "default-scheduler"):
            said = refusal(hooks.api, PODS, labelled(f"own-{number}", labels, notes, scheduler=scheduler)) or "created"
            for word in words:
                expect_in(word, said)
    hooks.api.create(PODS, labelled("plain-keys", {"app": "mine"}, {"gpu-fraction": "0.5"}))
    as_service(hooks, "label", "pod", "plain-keys", "runai-gpu-group=g")
    as_service(hooks, "annotate", "pod", "plain-keys", "received-resource-type=Fraction")
    expect(change(hooks.api, "plain-keys", {"labels": {"team": "a"}}), None)
    for meta in ({"labels": {"runai-gpu-group": None}}, {"labels": {"runai-gpu-group": "other"}},
                 {"annotations": {"received-resource-type": None}}, {"labels": {"app": "kai-resource-reservation"}}):
        expect(change(hooks.api, "plain-keys", meta) is not None, True, str(meta))
    hooks.cluster.kubectl("delete", "clusterrolebinding", "binder-pods")


@SUITE.test("NVIDIA_VISIBLE_DEVICES may come from the ConfigMap of the pod's own shared GPU and from nowhere else")
def variable(hooks):
    hooks.api.create(PODS, pod("keys-half", {"gpu-fraction": "0.5"}))
    other = {"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {"configMapKeyRef": {"name": "mine", "key": "all"}}}
    expect_in("may be 'none' or 'void'", refusal(hooks.api, PODS, pod("keys-other", scheduler="x", env=[other])) or "")
    expect_in("may be 'none' or 'void'", refusal(
        hooks.api, PODS, pod("keys-all", scheduler="x", env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}])) or "")
    hooks.cluster.kubectl("delete", "-f", POLICY)
    hooks.cluster.wait_until(lambda: refusal(hooks.api, PODS, labelled("late", {"runai-gpu-group": "x"})) is None,
                             "the policy works no more")
