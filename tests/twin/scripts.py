"""Requests that every client makes, and the mistakes that clients make, each group in a namespace of its own."""

from scripts_changes import CHANGES
from scripts_events import EVENTS

JSON = "application/json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
MERGE, PATCH, STRATEGIC = (f"application/{name}+json" for name in ("merge-patch", "json-patch", "strategic-merge-patch"))
APPLY = "application/apply-patch+yaml"

CORE = "/api/v1"
HOME = "/api/v1/namespaces/twin"
CONFIGS = HOME + "/configmaps"
PODS = HOME + "/pods"
JOBS = "/apis/batch/v1/namespaces/twin/jobs"
DEPLOYMENTS = "/apis/apps/v1/namespaces/twin/deployments"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/twin/leases"


def config(name, **more):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **more}, "data": {"k": "v"}}


def template(**labels):
    return {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}}


def pod(name, **more):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **more},
            "spec": {"containers": [{"name": "main", "image": "busybox"}], "schedulerName": "twin"}}


def deployment(name):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": template(a="b")}}


def job(name):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"template": {"spec": {**template()["spec"], "restartPolicy": "Never"}}}}


def node(name):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"zone": "a"}},
            "status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "4"}}}


# (method, path, body, content type, accept); what is left out is None, JSON and JSON.
NAMESPACE = [
    ("POST", CORE + "/namespaces", {"metadata": {"name": "twin"}}),
    ("POST", CORE + "/namespaces", {"metadata": {"name": "twin"}}),
    ("GET", CORE + "/namespaces/twin"),
    ("GET", CORE + "/namespaces/none"),
    ("POST", CORE + "/namespaces", {"metadata": {"name": "Bad_Name"}}),
    ("DELETE", CORE + "/namespaces/default"),
    ("DELETE", CORE + "/namespaces"),
]

CONFIGMAPS = [
    ("POST", CONFIGS, config("a", labels={"x": "1"})),
    ("POST", CONFIGS, config("a")),
    ("POST", CONFIGS, config("b", labels={"x": "2"})),
    ("POST", CONFIGS, config("c", namespace="other")),
    ("POST", "/api/v1/namespaces/missing/configmaps", config("a")),
    ("POST", CONFIGS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}),
    ("POST", CONFIGS, {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "a"}}),
    ("POST", CONFIGS, {"metadata": {}}),
    ("POST", CONFIGS, {"metadata": {"generateName": "gen-"}}),
    ("POST", CONFIGS, {"metadata": {"name": "d", "resourceVersion": "5"}}),
    ("POST", CONFIGS, "{"),
    ("POST", CONFIGS, "[]"),
    ("POST", CONFIGS, "x: [", "application/yaml"),
    ("POST", CONFIGS, "metadata: {name: yaml}\ndata: {a: b}\n", "application/yaml"),
    ("POST", CONFIGS, "x", "text/plain"),
    ("POST", CONFIGS + "?dryRun=All", config("dry")),
    ("POST", CONFIGS + "?dryRun=Some", config("dry")),
    ("GET", CONFIGS + "/dry"),
    ("POST", CORE + "/configmaps", config("z")),
    ("POST", CONFIGS + "?fieldValidation=Strict", {**config("strict"), "colour": "red"}),
    ("POST", CONFIGS + "?fieldValidation=Warn", {**config("warn"), "colour": "red"}),
    ("POST", CONFIGS + "?fieldValidation=Ignore", {**config("ignore"), "colour": "red"}),
    ("GET", CONFIGS + "/a"),
    ("GET", CONFIGS + "/none"),
    ("GET", CONFIGS + "/a?resourceVersion=0"),
    ("GET", CONFIGS + "/a?resourceVersion=abc"),
    ("GET", CONFIGS + "/a", None, JSON, PARTIAL),
    ("GET", CONFIGS + "/a", None, JSON, TABLE),
    ("GET", CONFIGS + "/a", None, JSON, "application/xml"),
    ("GET", CONFIGS + "/a/status"),
    ("GET", CONFIGS + "/a/b/c/d"),
    ("PUT", CONFIGS + "/a", {**config("a"), "data": {"k": "w"}}),
    ("PUT", CONFIGS + "/a", config("b")),
    ("PUT", CONFIGS + "/a", config("a", resourceVersion="1")),
    ("PUT", CONFIGS + "/a", config("a", uid="11111111-2222-3333-4444-555555555555")),
    ("PUT", CONFIGS + "/none", config("none")),
    ("PUT", CONFIGS, config("none")),
    ("POST", CONFIGS + "/a", config("a")),
    ("DELETE", CONFIGS + "/none"),
    ("DELETE", CONFIGS + "/a", {"preconditions": {"uid": "x"}}),
    ("DELETE", CONFIGS + "/a?dryRun=All"),
    ("DELETE", CONFIGS + "/a?propagationPolicy=Sideways"),
    ("DELETE", CONFIGS + "/a"),
    ("DELETE", CONFIGS + "/b", {"propagationPolicy": "Foreground"}),
    ("GET", CONFIGS + "/b"),
    ("PATCH", CONFIGS + "/b", {"metadata": {"finalizers": ["a.b/c"]}}, MERGE),
    ("PATCH", CONFIGS + "/b", {"metadata": {"finalizers": None}}, MERGE),
    ("GET", CONFIGS + "/b"),
]

LISTS = [
    *(("POST", CONFIGS, config(f"list-{i}", labels={"n": str(i), "even": str(i % 2 == 0).lower()})) for i in range(5)),
    ("GET", CONFIGS + "?labelSelector=even%3Dtrue"),
    ("GET", CONFIGS + "?labelSelector=n+in+(1,2),even"),
    ("GET", CONFIGS + "?labelSelector=n+notin+(1,2)"),
    ("GET", CONFIGS + "?labelSelector=!even"),
    ("GET", CONFIGS + "?labelSelector=a%3D%3D%3Db"),
    ("GET", CONFIGS + "?labelSelector=n+in"),
    ("GET", CONFIGS + "?fieldSelector=metadata.name%3Dlist-1"),
    ("GET", CONFIGS + "?fieldSelector=metadata.name!%3Dlist-1&labelSelector=n"),
    ("GET", CONFIGS + "?fieldSelector=data.k%3Dv"),
    ("GET", PODS + "?fieldSelector=data.k%3Dv"),
    ("GET", PODS + "?fieldSelector=spec"),
    ("GET", CONFIGS + "?labelSelector=n&limit=2"),
    ("GET", CONFIGS + "?labelSelector=n", None, JSON, PARTIAL_LIST),
    ("GET", CONFIGS + "?labelSelector=n", None, JSON, TABLE),
    ("GET", CONFIGS + "?continue=abc"),
    ("GET", CONFIGS + "?resourceVersionMatch=Exact"),
    ("GET", CONFIGS + "?resourceVersionMatch=Exact&resourceVersion=0"),
    ("GET", CONFIGS + "?resourceVersionMatch=Never&resourceVersion=1"),
    ("GET", CONFIGS + "?resourceVersion=abc"),
    ("GET", CONFIGS + "?sendInitialEvents=true"),
    ("GET", CONFIGS + "?watch=true&sendInitialEvents=true"),
    ("GET", CONFIGS + "?watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=1"),
    ("GET", "/api/v1/namespaces/missing/configmaps"),
    ("GET", PODS),
    ("DELETE", CONFIGS + "?labelSelector=even%3Dtrue"),
    ("GET", CONFIGS + "?labelSelector=n"),
]

PATCHES = [
    ("POST", CONFIGS, config("p")),
    ("PATCH", CONFIGS + "/p", {"data": {"a": "b", "k": None}}, MERGE),
    ("PATCH", CONFIGS + "/p", [{"op": "add", "path": "/data/c", "value": "d"}], PATCH),
    ("PATCH", CONFIGS + "/p", [{"op": "test", "path": "/data/c", "value": "e"}], PATCH),
    ("PATCH", CONFIGS + "/p", [{"op": "remove", "path": "/data/zzz"}], PATCH),
    ("PATCH", CONFIGS + "/p", [{"op": "fly", "path": "/data/zzz"}], PATCH),
    ("PATCH", CONFIGS + "/p", {"data": {"a": "b"}}, PATCH),
    ("PATCH", CONFIGS + "/p", {"data": {"s": "t"}}, STRATEGIC),
    ("PATCH", CONFIGS + "/p", {"metadata": {"name": "q"}}, MERGE),
    ("PATCH", CONFIGS + "/p", {"metadata": {"resourceVersion": "1"}, "data": {"n": "m"}}, MERGE),
    ("PATCH", CONFIGS + "/p", {"data": {"a": "b"}}),
    ("PATCH", CONFIGS + "/p", "{", MERGE),
    ("PATCH", CONFIGS + "/none", {"data": {}}, MERGE),
    ("PATCH", CONFIGS + "/p", {"data": 5}, MERGE),
    ("GET", CONFIGS + "/p"),
]

WORKLOADS = [
    ("POST", PODS, pod("a")),
    ("GET", PODS + "/a", None, JSON, TABLE),
    ("PATCH", PODS + "/a", {"spec": {"containers": [{"name": "main", "image": "other"}]}}, STRATEGIC),
    ("PATCH", PODS + "/a", {"spec": {"schedulerName": "x"}}, STRATEGIC),
    ("POST", PODS, {"metadata": {"name": "empty"}, "spec": {}}),
    ("POST", PODS + "/a/binding", {"target": {"name": "n1"}, "metadata": {"annotations": {"a": "b"}}}),
    ("POST", PODS + "/a/binding", {"target": {"name": "n2"}}),
    ("POST", PODS + "/none/binding", {"target": {"name": "n2"}}),
    ("PATCH", PODS + "/a/status", {"status": {"phase": "Running"}}, STRATEGIC),
    ("GET", PODS + "/a/status"),
    ("GET", PODS + "?fieldSelector=spec.nodeName%3Dn1"),
    ("DELETE", PODS + "/a"),
    ("DELETE", PODS + "/a?gracePeriodSeconds=5"),
    ("DELETE", PODS + "/a?gracePeriodSeconds=0"),
    ("GET", PODS + "/a"),
    ("POST", PODS, pod("e")),
    ("POST", PODS + "/e/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "e"}}),
    ("POST", DEPLOYMENTS, deployment("d")),
    ("GET", DEPLOYMENTS + "/d/scale"),
    ("PATCH", DEPLOYMENTS + "/d/scale", {"spec": {"replicas": 3}}, MERGE),
    ("GET", DEPLOYMENTS + "/d", None, JSON, TABLE),
    ("DELETE", DEPLOYMENTS + "/d", {"propagationPolicy": "Background"}),
    ("POST", JOBS, job("j")),
    ("GET", JOBS, None, JSON, TABLE),
    ("PATCH", JOBS + "/j", {"spec": {"suspend": True}}, MERGE),
    ("DELETE", JOBS + "/j"),
    ("PUT", LEASES + "/l", {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me"}}),
    ("PUT", LEASES + "/l", {"metadata": {"name": "l"}, "spec": {"holderIdentity": "you"}}),
    ("GET", LEASES, None, JSON, TABLE),
    ("POST", CORE + "/nodes", node("n1")),
    ("GET", CORE + "/nodes", None, JSON, TABLE),
    ("PATCH", CORE + "/nodes/n1", {"spec": {"unschedulable": True}}, MERGE),
    ("GET", CORE + "/nodes?fieldSelector=spec.unschedulable%3Dtrue"),
    ("DELETE", CORE + "/nodes/n1"),
]

# What random requests have found, and what has been mended since.
FOUND = [
    ("POST", HOME + "/secrets", {"metadata": {"name": "s"}, "stringData": {"a": "b"}, "data": {"a": "eA==", "c": "ZA=="}}),
    ("POST", HOME + "/persistentvolumeclaims", {"metadata": {"name": "v"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}),
    ("GET", HOME + "/persistentvolumeclaims", None, JSON, TABLE),
    ("DELETE", HOME + "/persistentvolumeclaims/v"),
    ("POST", HOME + "/serviceaccounts", {"metadata": {"name": "n", "generation": 7}}),
    ("DELETE", HOME + "/serviceaccounts/n"),
    ("POST", DEPLOYMENTS, deployment("g")),
    ("PATCH", DEPLOYMENTS + "/g", {"metadata": {"annotations": {"a": "b"}}}, MERGE),
    ("PUT", DEPLOYMENTS + "/g/status", {**deployment("g"), "metadata": {"name": "g", "annotations": {"a": "c"}}}),
    ("DELETE", DEPLOYMENTS + "/g?propagationPolicy=Foreground"),
    ("POST", DEPLOYMENTS, deployment("g")),
    ("PATCH", DEPLOYMENTS + "/g", {"metadata": {"finalizers": None}}, MERGE),
    ("GET", CONFIGS + "?limit=x"), ("GET", CONFIGS + "?limit=1&resourceVersion=0"),
    ("POST", CONFIGS + "?fieldValidation=Bad&dryRun=Some", config("z")),
    ("PUT", CONFIGS + "/list-1", config("list-1", resourceVersion="x")),
    ("PATCH", CONFIGS + "/z?fieldManager=m", {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": 1}}, APPLY),
    ("PATCH", CONFIGS + "/z?fieldManager=m", {"apiVersion": "v1", "kind": "ConfigMap", "dada": {}}, APPLY),
    ("POST", "/apis/networking.k8s.io/v1/namespaces/twin/ingresses", {"metadata": {"name": "i"}, "spec": {
        "rules": [{"host": "a.example.com"}]}}),
    ("GET", "/apis/networking.k8s.io/v1/namespaces/twin/ingresses", None, JSON, TABLE),
    ("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/twin/roles", {"metadata": {"name": "r"}}),
    ("GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/twin/roles", None, JSON, TABLE),
]

CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"


def runtime_class(name, **more):
    return {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": "nvidia", **more}


RUNTIMES = [
    ("GET", CLASSES + "/gpu"), ("POST", CLASSES, runtime_class("gpu")), ("POST", CLASSES, runtime_class("gpu")),
    ("POST", CLASSES, runtime_class("full", overhead={"podFixed": {"cpu": "250m", "memory": "64Mi"}}, scheduling={
        "nodeSelector": {"a": "b"}, "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}]})),
    ("POST", CLASSES, runtime_class("bad", handler="")), ("POST", CLASSES, runtime_class("bad", handler="Bad_Name")),
    ("POST", CLASSES, runtime_class("Bad")), ("POST", CLASSES, {"metadata": {"name": "bad"}}),
    ("POST", CLASSES, runtime_class("bad", overhead={"podFixed": {"cpu": "-1"}})),
    ("POST", CLASSES, runtime_class("bad", scheduling={"nodeSelector": {"a b": "c"}})),
    ("POST", CLASSES, runtime_class("bad", scheduling={"tolerations": [{"operator": "Odd"}]})),
    ("PUT", CLASSES + "/gpu", runtime_class("gpu")), ("PUT", CLASSES + "/put", runtime_class("put")),
    ("PATCH", CLASSES + "/gpu", {"handler": "other"}, MERGE), ("PATCH", CLASSES + "/gpu", {"metadata": {"labels": {"a": "b"}}}, MERGE),
    ("GET", CLASSES), ("GET", CLASSES, None, JSON, TABLE), ("DELETE", CLASSES + "/gpu"), ("DELETE", CLASSES),
]

SMALL = [
    ("GET", "/healthz"), ("GET", "/livez"), ("GET", "/nowhere"), ("GET", "/api/v1/none"), ("GET", "/apis/none/v1"),
    ("GET", "/apis/apps/v1/none"), ("POST", "/api"), ("GET", "/api/v7/pods"),
    ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
     {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}),
]

SCRIPTS = {
    "namespaces": NAMESPACE, "config maps": CONFIGMAPS, "lists": LISTS, "patches": PATCHES, "workloads": WORKLOADS,
    "what random requests have found": FOUND,
    "changes": CHANGES, "events in both groups": EVENTS, "runtime classes": RUNTIMES,
    "small pages and paths that lead nowhere": SMALL,
}
PREFIXES = ["gen-"]
