"""Sequences of server-side apply: what several managers send for one object, one after the other.

A step is how (apply, merge, put), the manager, the body, and whether it forces or goes to a subresource.
"""

import json

import cases

CONFIG = {"type": "object", "properties": {
    "replicas": {"type": "integer"},
    "text": {"type": "string", "default": "x"},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "atomic": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
    "list": {"type": "array", "items": {"type": "string"}},
    "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
    "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"], "items": {
        "type": "object", "required": ["port"], "properties": {
            "port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}, "name": {"type": "string"},
            "sub": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}}}},
    "any": {"x-kubernetes-preserve-unknown-fields": True},
    "deep": {"type": "object", "properties": {"a": {"type": "object", "properties": {
        "b": {"type": "string"}, "c": {"type": "string"}}}}},
}}
CUSTOM = cases.definition("applied", CONFIG, subresources={"status": {}})


def custom(**spec):
    return {"apiVersion": f"{cases.GROUP}/v1", "kind": "Applied", "metadata": {"name": "o"}, "spec": spec}


def config_map(**data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "o"}, "data": data}


def labelled(**labels):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "o", "labels": labels, "finalizers": sorted(
        f"example.com/{name}" for name in labels)}}


def deployment(replicas=None, containers=(), volumes=None, **more):
    pod = {"containers": list(containers), **({"volumes": volumes} if volumes else {})}
    spec = {"selector": {"matchLabels": {"app": "a"}}, "template": {
        "metadata": {"labels": {"app": "a"}}, "spec": pod}, **more}
    if replicas is not None:
        spec["replicas"] = replicas
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "o"}, "spec": spec}


def container(name="app", image="a:1", **more):
    return {"name": name, "image": image, **more}


def apply(manager, body, force=False, **more):
    return {"how": "apply", "manager": manager, "body": body, "force": force, **more}


def merge(manager, body, **more):
    return {"how": "merge", "manager": manager, "body": body, **more}


def last_applied(body):
    return {"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(body)}}}


# Title, kind, and steps.
SEQUENCES = [
    ("two managers with their own keys", "configmaps", [
        apply("a", config_map(x="1")), apply("b", config_map(y="2")), apply("a", config_map(x="3")), apply("b", config_map())]),
    ("the same value is shared", "configmaps", [
        apply("a", config_map(x="1")), apply("b", config_map(x="1")), apply("a", config_map()), apply("b", config_map())]),
    ("a conflict", "configmaps", [
        apply("a", config_map(x="1")), apply("b", config_map(x="2")), apply("b", config_map(x="2"), force=True),
        apply("a", config_map(x="1")), apply("a", config_map(x="2"))]),
    ("several conflicts with several managers", "configmaps", [
        apply("a", config_map(x="1", y="1")), apply("b", config_map(z="1")), merge("c", {"data": {"w": "1"}}),
        apply("d", config_map(x="2", y="2", z="2", w="2"))]),
    ("left-out fields go", "configmaps", [apply("a", config_map(x="1", y="2")), apply("a", config_map(x="1")), apply("a", config_map())]),
    ("an update takes fields", "configmaps", [
        apply("a", config_map(x="1", y="1")), merge("b", {"data": {"x": "2"}}), apply("a", config_map(x="1", y="1")),
        apply("a", config_map(y="1")), merge("b", {"data": {"x": None}})]),
    ("applied again without a change", "configmaps", [apply("a", config_map(x="1")), apply("a", config_map(x="1"))]),
    ("labels and finalizers", "configmaps", [
        apply("a", labelled(x="1", y="1")), apply("b", labelled(y="1", z="1")), apply("a", labelled(x="1")), apply("b", labelled(z="2"))]),
    ("an empty object", "configmaps", [apply("a", config_map()), apply("a", config_map(x="1")), apply("b", config_map())]),
    ("kubectl takes over what it applied", "configmaps", [
        apply("x", config_map(q="1")), merge("kubectl-client-side-apply", {**last_applied(config_map(x="1", y="1")), "data": {"x": "1", "y": "1"}}),
        apply("kubectl", config_map(x="2")), merge("other", {"data": {"y": "3"}}), apply("kubectl", config_map(x="2", y="4"))]),
    ("managers with many updates", "configmaps", [apply("a", config_map(x="1"))] + [
        merge(f"m{number:02}", {"data": {f"k{number}": "v"}}) for number in range(12)]),
    ("managedFields are reset", "configmaps", [
        apply("a", config_map(x="1")), merge("b", {"metadata": {"managedFields": [{}]}}), merge("c", {"data": {"y": "1"}})][:2]),
    ("managedFields in the body", "configmaps", [apply("a", {**config_map(), "metadata": {"name": "o", "managedFields": [{}]}})]),
    ("custom: members and defaults", "applied", [
        apply("a", custom(replicas=1)), apply("b", custom(text="y")), apply("a", custom(replicas=2, text="y")), merge("c", {"spec": {"replicas": 5}}),
        apply("a", custom(replicas=2)), apply("a", custom(replicas=2), force=True), apply("a", custom())]),
    ("custom: a map", "applied", [
        apply("a", custom(labels={"x": "1"})), apply("b", custom(labels={"y": "1"})), apply("b", custom(labels={"x": "2", "y": "1"})),
        apply("a", custom()), apply("b", custom(labels={})), apply("b", custom())]),
    ("custom: atomic parts", "applied", [
        apply("a", custom(atomic={"x": "1"}, list=["a"])), apply("b", custom(atomic={"x": "1"})), apply("b", custom(atomic={"y": "1"})),
        apply("b", custom(list=["a", "b"])), apply("b", custom(list=["a", "b"]), force=True), apply("a", custom())]),
    ("custom: a set", "applied", [
        apply("a", custom(set=["a", "b"])), apply("b", custom(set=["c", "a"])), apply("a", custom(set=["b"])), apply("b", custom(set=["d", "a"])), apply("a", custom())]),
    ("custom: a list by keys", "applied", [
        apply("a", custom(ports=[{"port": 1, "name": "one"}, {"port": 2}])),
        apply("b", custom(ports=[{"port": 3, "protocol": "UDP"}, {"port": 1, "sub": {"a": "x"}}])),
        apply("a", custom(ports=[{"port": 2, "name": "two"}])), merge("c", {"spec": {"ports": [{"port": 2, "name": "three"}, {"port": 9}]}}),
        apply("a", custom(ports=[{"port": 2, "name": "two"}, {"port": 4}]))]),
    ("custom: the order of a list", "applied", [
        apply("a", custom(ports=[{"port": n} for n in (1, 2, 3, 4)])), apply("b", custom(ports=[{"port": n} for n in (4, 9, 2)])),
        apply("b", custom(ports=[{"port": n} for n in (8, 2, 4, 7)]))]),
    ("custom: what is not specified further", "applied", [
        apply("a", custom(any={"x": {"y": 1}, "l": [1]})), apply("b", custom(any={"x": {"z": 1}})), apply("b", custom(any={"l": [2]})), apply("a", custom(any={"x": {}}))]),
    ("custom: nested members", "applied", [
        apply("a", custom(deep={"a": {"b": "1"}})), merge("u", {"spec": {"deep": {"a": {"c": "2"}}}}), apply("a", custom()),
        merge("u", {"spec": {"deep": None}})]),
    ("custom: an element twice", "applied", [apply("a", custom(ports=[{"port": 1}, {"port": 1}]))]),
    ("custom: an unknown member", "applied", [apply("a", custom(unknown=1))]),
    ("custom: status", "applied", [
        apply("a", custom(replicas=1)), apply("s", {**custom(), "status": {"ready": 1}}, subresource="status"), merge("t", {"status": {"ready": 2}}, subresource="status"),
        apply("s", {**custom(), "status": {"ready": 1}}, subresource="status"), apply("a", {**custom(replicas=1), "status": {"ready": 7}})]),
    ("deployment: replicas and containers", "deployments", [
        apply("a", deployment(1, [container(env=[{"name": "A", "value": "1"}], ports=[{"containerPort": 80}])])),
        apply("b", deployment(2, [container()])), merge("scaler", {"spec": {"replicas": 3}}),
        apply("a", deployment(None, [container(image="a:2", env=[{"name": "A", "value": "1"}, {"name": "B", "value": "2"}], ports=[{"containerPort": 80}])])),
        apply("b", deployment(None, [container(name="side", image="b:1")])), apply("a", deployment(1, [container(image="a:3")])),
        apply("c", deployment(None, [container()], selector={"matchLabels": {"app": "z"}}))]),
    ("deployment: volumes and tolerations", "deployments", [
        apply("a", deployment(1, [container(volumeMounts=[{"name": "v", "mountPath": "/v"}], command=["x"], args=["1"], resources={"limits": {"cpu": "1"}})], volumes=[{"name": "v", "emptyDir": {}}], paused=True)),
        apply("b", deployment(1, [container(args=["2"])])), apply("b", deployment(1, [container(resources={"limits": {"cpu": "1", "memory": "1Gi"}})]))]),
]
