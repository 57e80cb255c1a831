"""kubectl create and its generators, which send protobuf; apply, diff and dry runs."""

import json

import desk
from suite import Suite, expect, expect_in

SUITE = Suite()

# The words of `kubectl create`, and what has to be in the object: a JSON path and its value.
GENERATORS = (
    ("configmap x --from-literal=a=b", "configmap", ".data.a", "b"),
    ("secret generic x --from-literal=a=b", "secret", ".data.a", "Yg=="),
    ("secret docker-registry y --docker-username=u --docker-password=p --docker-email=e", "secret/y", ".type",
     "kubernetes.io/dockerconfigjson"),
    ("deployment x --image=nginx --replicas=0 --port=80", "deployment", ".spec.template.spec.containers[0].ports[0].containerPort",
     "80"),
    ("job x --image=busybox -- sleep 1", "job", ".spec.template.spec.containers[0].command[0]", "sleep"),
    ("cronjob x --image=busybox --schedule=*/5_*_*_*_*", "cronjob", ".spec.schedule", "*/5 * * * *"),
    ("job y --from=cronjob/x", "job/y", ".metadata.ownerReferences[0].kind", "CronJob"),
    ("service clusterip x --tcp=80:8080", "service", ".spec.ports[0].targetPort", "8080"),
    ("service nodeport y --tcp=80", "service/y", ".spec.type", "NodePort"),
    ("service externalname z --external-name=a.example", "service/z", ".spec.externalName", "a.example"),
    ("ingress x --rule=a.example/*=x:80", "ingress", ".spec.rules[0].host", "a.example"),
    ("serviceaccount x", "serviceaccount", ".metadata.name", "x"),
    ("role x --verb=get,list --resource=pods", "role", ".rules[0].verbs[1]", "list"),
    ("rolebinding x --role=x --user=me", "rolebinding", ".subjects[0].name", "me"),
    ("quota x --hard=pods=300", "quota", ".spec.hard.pods", "300"),
    ("poddisruptionbudget x --selector=a=b --min-available=1", "pdb", ".spec.minAvailable", "1"),
)
CLUSTER_GENERATORS = (
    ("clusterrole clients-x --verb=get --resource=nodes", "clusterrole", ".rules[0].resources[0]", "nodes"),
    ("clusterrolebinding clients-x --clusterrole=clients-x --group=g", "clusterrolebinding", ".roleRef.name", "clients-x"),
    ("priorityclass clients-x --value=10", "priorityclass", ".value", "10"),
)


@SUITE.test("each generator of kubectl create makes its object")
def _(here):
    with here.namespace("create-all") as place:
        for words, what, path, value in GENERATORS:
            place.kubectl("create", *(word.replace("_", " ") for word in words.split()))
            kind, _, name = what.partition("/")
            expect(place.field(kind, name or "x", path), value, words)


@SUITE.test("generators of objects outside of namespaces make them, and delete removes them")
def _(here):
    for words, kind, path, value in CLUSTER_GENERATORS:
        here.kubectl("create", *words.split())
        expect(here.kubectl("get", kind, "clients-x", "-o", f"jsonpath={{{path}}}"), value, words)
    for _, kind, _, _ in CLUSTER_GENERATORS:
        here.kubectl("delete", kind, "clients-x")
        expect_in("NotFound", here.refused("kubectl", "get", kind, "clients-x"))


@SUITE.test("run, expose and create -f make objects, and refuse those that are there")
def _(here):
    with here.namespace("create-run") as place:
        place.kubectl("run", "p", "--image=busybox", "--restart=Never", "--labels=app=p", "--port=80")
        place.kubectl("expose", "pod", "p", "--port=80")
        expect(place.field("service", "p", ".spec.selector.app"), "p")
        expect(bool(place.field("service", "p", ".spec.clusterIP")), True, "an address")
        place.kubectl("create", "-f", "-", feed=json.dumps(desk.config("c", k="v")))
        expect_in("AlreadyExists", place.refused("create", "-f", "-", feed=json.dumps(desk.config("c"))))
        named = {**desk.config("", k="v"), "metadata": {"generateName": "part-"}}
        expect_in("configmap/part-", place.kubectl("create", "-f", "-", "-o", "name", feed=json.dumps(named)))
        expect_in("unknown field", place.refused("create", "-f", "-", feed=json.dumps({**desk.config("u"), "colour": 1})))
        place.kubectl("create", "--validate=ignore", "-f", "-", feed=json.dumps({**desk.config("u"), "colour": 1}))
        expect_in("not found", place.refused("-n", "none", "create", "configmap", "x"))


@SUITE.test("apply creates, changes, leaves alone, and removes what has left the manifest")
def _(here):
    with here.namespace("create-apply") as place:
        expect(place.apply(desk.config("a", k="1", old="1")), "configmap/a created")
        expect(place.apply(desk.config("a", k="1", old="1")), "configmap/a unchanged")
        place.kubectl("patch", "configmap", "a", "--type=merge", "-p", '{"data":{"others":"1"}}')
        expect(place.apply(desk.config("a", k="2")), "configmap/a configured")
        expect(place.get("configmap", "a")["data"], {"k": "2", "others": "1"})
        expect_in('"k":"2"', place.kubectl("apply", "view-last-applied", "configmap", "a", "-o", "json").replace(" ", ""))
        place.apply(desk.config("b", {"set": "s"}), desk.config("c", {"set": "s"}))
        said = place.apply(desk.config("b", {"set": "s"}), more=("--prune", "-l", "set=s",
                                                                  "--prune-allowlist=core/v1/ConfigMap"))
        expect_in("configmap/c pruned", said)


@SUITE.test("apply of a pod's lists merges them by their keys, and a custom object is merged as a document")
def _(here):
    def deployment(**values):
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {
            "replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {
                "containers": [{"name": "main", "image": "x",
                                "env": [{"name": name, "value": value} for name, value in values.items()]}]}}}}

    with here.namespace("create-merge") as place:
        place.apply(deployment(A="1", B="2"))
        place.kubectl("set", "env", "deployment/d", "MINE=3")
        place.apply(deployment(A="1"))
        expect(place.field("deployment", "d", ".spec.template.spec.containers[0].env[*].name"), "A MINE")
    queue = desk.queue("clients-q")
    here.apply(queue)
    queue["spec"]["resources"]["gpu"]["quota"] = 2
    expect_in("configured", here.apply(queue))
    expect(here.kubectl("get", "queue", "clients-q", "-o", "jsonpath={.spec.resources.gpu.quota}"), "2")
    here.kubectl("delete", "queue", "clients-q")


@SUITE.test("server-side apply keeps owners apart, forces on demand and takes over from client-side apply")
def _(here):
    with here.namespace("create-server") as place:
        place.apply(desk.config("a", k="1"), more=("--server-side", "--field-manager=mine"))
        theirs = ("apply", "-f", "-", "--server-side", "--field-manager=theirs")
        expect_in('conflict with "mine"', place.refused(*theirs, feed=json.dumps(desk.config("a", k="2"))))
        place.kubectl(*theirs, "--force-conflicts", feed=json.dumps(desk.config("a", k="2")))
        managers = json.loads(place.kubectl("get", "configmap", "a", "-o", "json", "--show-managed-fields"))
        owners = {one["manager"]: one for one in managers["metadata"]["managedFields"]}
        expect_in("f:k", json.dumps(owners["theirs"]))
        expect("f:k" in json.dumps(owners.get("mine", {})), False, "the first owner keeps the field")
        place.apply(desk.config("b", k="1", old="1"))
        place.apply(desk.config("b", k="2"), more=("--server-side",))
        expect(place.get("configmap", "b")["data"], {"k": "2"})


@SUITE.test("a dry run shows the object and stores nothing, and diff shows what would change")
def _(here):
    with here.namespace("create-dry") as place:
        dry = place.kubectl("create", "deployment", "d", "--image=x", "--dry-run=server", "-o", "json")
        expect(json.loads(dry)["spec"]["strategy"]["type"], "RollingUpdate")
        expect_in("NotFound", place.refused("get", "deployment", "d"))
        place.apply(desk.config("a", k="1"))
        done = here.call("kubectl", "-n", place.name, "diff", "-f", "-", feed=json.dumps(desk.config("a", k="2")))
        expect(done.returncode, 1, done.stderr)
        expect_in('+  k: "2"', done.stdout)
        expect(place.field("configmap", "a", ".data.k"), "1")
        same = here.call("kubectl", "-n", place.name, "diff", "-f", "-", feed=json.dumps(desk.config("a", k="1")))
        expect((same.returncode, same.stdout), (0, ""))
        server = here.call("kubectl", "-n", place.name, "diff", "--server-side", "--force-conflicts", "-f", "-",
                           feed=json.dumps(desk.config("a", k="3")))
        expect_in('+  k: "3"', server.stdout)
