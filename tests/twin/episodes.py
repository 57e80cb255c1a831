"""Random requests, in episodes of a namespace and a few kinds each. Requests are written without knowing any answer:
@version:PATH@, @uid:PATH@ and the like stand for what the server has said about an object when the request is sent."""

import copy
import dataclasses
import urllib.parse

import changes
import protobuf
from dice import Dice

JSON = "application/json"
YAML = "application/yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
JSON_PATCH, MERGE, STRATEGIC = (f"application/{name}+json" for name in
                                ("json-patch", "merge-patch", "strategic-merge-patch"))
APPLY = "application/apply-patch+yaml"
POLICIES = ["Background", "Foreground", "Orphan"]


@dataclasses.dataclass
class Step:
    """One request."""

    method: str
    path: str
    query: tuple = ()
    body: object = None  # a dict or a list, or text as it is
    type: str = JSON
    accept: str = JSON
    kind: object = None  # of the objects in the path
    is_watch: bool = False

    def describe(self):
        query = "?" + "&".join(f"{key}={value}" for key, value in self.query) if self.query else ""
        note = "".join(f" [{one}]" for one in (self.type if self.body is not None else JSON, self.accept) if one != JSON)
        return f"{self.method} {self.path}{query}{note}" + (f" {self.body}" if self.body is not None else "")


class Episode:
    """The requests of one seed. `known` has for each name the last object that was sent for it."""

    def __init__(self, seed, kinds, length):
        self.dice = Dice(seed)
        self.kinds = self.dice.choices(kinds, [one.weight for one in kinds], k=self.dice.pick(1, 1, 2))
        self.known = {}
        self.steps = [Step("POST", "/api/v1/namespaces", body={"metadata": {"name": "t@run@"}})]
        while len(self.steps) < length:
            self.steps.append(self.step())

    # What requests are about.

    def name(self, kind):
        return self.dice.pick("a", "a", "b", "c") if kind.is_namespaced else self.dice.pick("a", "b") + "-t@run@"

    def object(self, kind, name):
        """A new object, whole."""
        meta = {"name": name, **self.dice.maybe(50, labels=self.dice.labels),
                **self.dice.maybe(10, annotations={"note": "1"}), **self.dice.maybe(5, finalizers=["twin.io/a"]),
                **self.dice.maybe(5, ownerReferences=lambda: [changes.owner(self.dice)])}
        if not kind.is_namespaced:
            meta["labels"] = {**meta.get("labels", {}), "run": "t@run@"}
        return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **kind.make(self.dice)}

    def step(self):
        kind = self.dice.choice(self.kinds)
        makers = [(self.create, 22), (self.get, 8), (self.list, 14), (self.update, 12), (self.patch, 16),
                  (self.apply, 12), (self.delete, 8), (self.delete_all, 2), (self.watch, 3),
                  (self.part, 8 if kind.parts else 0)]
        maker = self.dice.choices([one for one, _ in makers], [weight for _, weight in makers])[0]
        return maker(kind)

    # Bodies.

    def encode(self, step):
        """The body in another form, now and then."""
        kind, dice = step.kind, self.dice
        if dice.chance(15):
            step.type = YAML
        elif dice.chance(35) and not kind.is_custom and "misspelt" not in str(step.body):
            try:
                protobuf.encode(kind.group, kind.version, kind.kind, step.body)
                step.type = protobuf.MEDIA_TYPE
            except (protobuf.NotEncodable, TypeError, AttributeError):
                pass
        return step

    def write_query(self):
        dice = self.dice
        return tuple({**dice.maybe(8, dryRun=lambda: dice.pick("All", "All", "Some")),
                      **dice.maybe(20, fieldValidation=lambda: dice.pick("Strict", "Warn", "Ignore", "Bad")),
                      **dice.maybe(50, fieldManager=lambda: dice.pick("m1", "m2", "kubectl"))}.items())

    def create(self, kind):
        name = self.name(kind)
        made = self.object(kind, name)
        if self.dice.chance(8):
            del made["metadata"]["name"]
            # The names come in the same order on both servers, whatever is made up behind these.
            number = f"{len(self.steps):02d}"
            made["metadata"]["generateName"] = f"gen-{number}-" if kind.is_namespaced else f"gen-t@run@-{number}-"
        elif (kind.plural, name) not in self.known or self.dice.chance(50):
            self.known[kind.plural, name] = made
        if self.dice.chance(20):
            made = changes.spoil(self.dice, made)
        if self.dice.chance(5):
            made["metadata"] |= self.dice.pick({"namespace": "other"}, {"resourceVersion": "5"}, {"uid": "x"},
                                               {"creationTimestamp": "2020-01-01T00:00:00Z"}, {"generation": 7},
                                               {"name": "Bad_Name"}, {"managedFields": []})
        if self.dice.chance(5):
            del made["apiVersion"], made["kind"]
        return self.encode(Step("POST", kind.path, self.write_query(), made, kind=kind))

    def update(self, kind):
        name, dice = self.name(kind), self.dice
        made = copy.deepcopy(self.known.get((kind.plural, name))) or self.object(kind, name)
        path = f"{kind.path}/{name}"
        if dice.chance(20):
            made = self.object(kind, name)
        elif dice.chance(70):
            made["metadata"] |= {key: value for key, value in changes.metadata(dice).items() if value is not None}
            for key, value in dice.some(list(kind.make(dice).items()), 1):
                if isinstance(value, dict) and isinstance(made.get(key), dict):
                    made[key] |= dict(dice.some(list(value.items()), 1))
                else:
                    made[key] = value
        if not kind.is_namespaced:
            made["metadata"]["labels"] = {**made["metadata"].get("labels", {}), "run": "t@run@"}
        if dice.chance(60):
            made["metadata"]["resourceVersion"] = f"@{dice.pick('version', 'version', 'version', 'first')}:{path}@"
        if dice.chance(5):
            made["metadata"]["uid"] = dice.pick(f"@uid:{path}@", "11111111-2222-3333-4444-555555555555")
        if dice.chance(10):
            made = changes.spoil(dice, made)
        else:
            self.known[kind.plural, name] = {**made, "metadata": {k: v for k, v in made["metadata"].items()
                                                                 if k not in ("resourceVersion", "uid")}}
        return self.encode(Step("PUT", path, self.write_query(), made, kind=kind))

    def patch(self, kind, part=""):
        name, dice = self.name(kind), self.dice
        path = f"{kind.path}/{name}{part}"
        which = dice.pick(MERGE, JSON_PATCH, STRATEGIC)
        if which == JSON_PATCH:
            body = changes.json_operations(dice, kind, self.known.get((kind.plural, name), {"metadata": {}}))
        else:
            body = (changes.merge_body if which == MERGE else changes.strategic_body)(dice, kind)
            if dice.chance(10):
                body.setdefault("metadata", {})["resourceVersion"] = f"@{dice.pick('version', 'first')}:{kind.path}/{name}@"
        return Step("PATCH", path, self.write_query(), body, which, kind=kind)

    def apply(self, kind):
        name, dice = self.name(kind), self.dice
        made = self.object(kind, name)
        known = self.known.get((kind.plural, name))
        if known and dice.chance(60):
            made = {**copy.deepcopy(known), **dict(dice.some(list(kind.make(dice).items()), 1))}
        for key in dice.some([key for key in made if key not in ("apiVersion", "kind", "metadata")], 1):
            if dice.chance(25):
                del made[key]
        if dice.chance(8):
            made = changes.spoil(dice, made)
        query = {"fieldManager": dice.pick("m1", "m2", "kubectl"), **dice.maybe(40, force="true"), **dice.maybe(5, dryRun="All"),
                 **dice.maybe(10, fieldValidation=lambda: dice.pick("Strict", "Warn", "Ignore"))}
        if dice.chance(2):
            del query["fieldManager"]
        return Step("PATCH", f"{kind.path}/{name}", tuple(query.items()), made, APPLY, kind=kind)

    # Reads.

    def selectors(self, kind):
        dice = self.dice
        label = dice.pick("app", "app=a", "app!=a", "!app", "app in (a,b)", "app notin (a)", "app=a,tier", "tier=",
                          "twin.io/zone in (a,c),n!=b", "app==b", "n>1", "app in", "a b", "=x", "app=a=b")
        field = dice.pick("metadata.name=a", "metadata.name!=a", "metadata.namespace=t@run@", "metadata.name=a,metadata.name=b",
                          *(f"{one}={value}" for one in kind.fields for value in ("", "Never", "Pending", "a", "true")),
                          "spec.none=a", "metadata.uid=x", "bad")
        query = {**dice.maybe(50, labelSelector=label), **dice.maybe(25, fieldSelector=field)}
        if not kind.is_namespaced:
            query["labelSelector"] = f"run=t@run@,{label}" if "labelSelector" in query else "run=t@run@"
        return query

    def get(self, kind):
        dice = self.dice
        path = f"{kind.path}/{self.name(kind)}"
        query = dice.maybe(15, resourceVersion=lambda: dice.pick("0", f"@version:{path}@", "1", "bad"))
        part = f"/{dice.choice(kind.parts)}" if kind.parts and dice.chance(20) else ""
        accept = dice.pick(JSON, JSON, TABLE, PARTIAL, f"application/cbor,{JSON}", "*/*") if not part else JSON
        return Step("GET", path + part, tuple(query.items()), accept=accept, kind=kind)

    def list(self, kind):
        dice = self.dice
        query = self.selectors(kind)
        if dice.chance(30):
            query["limit"] = dice.pick("1", "2", "500", "0", "-1", "x")
        if dice.chance(20):
            query["continue"] = dice.pick(f"@continue:{kind.path}@", f"@continue:{kind.path}@", "bad")
            query.setdefault("limit", "1")
        if dice.chance(20):
            query["resourceVersion"] = dice.pick("0", "1", f"@list:{kind.path}@", "bad", "0")
        if dice.chance(15):
            query["resourceVersionMatch"] = dice.pick("Exact", "NotOlderThan", "Bad")
        accept = dice.pick(JSON, JSON, JSON, TABLE, PARTIAL_LIST)
        query |= dice.maybe(10 if accept == TABLE else 0, includeObject=lambda: dice.pick("None", "Object", "Metadata", "Bad"))
        return Step("GET", kind.path, tuple(query.items()), accept=accept, kind=kind)

    def watch(self, kind):
        dice = self.dice
        query = {"watch": "true", "timeoutSeconds": "1", **self.selectors(kind)}
        start = dice.randrange(6)
        if start == 0:
            query["resourceVersion"] = "0"
        elif start == 1:
            query["resourceVersion"] = f"@list:{kind.path}@"
        elif start == 2:
            query["resourceVersion"] = f"@first:{kind.path}/{self.name(kind)}@"
        elif start == 3:
            query["resourceVersion"] = dice.pick("1", "bad", "@future:@")
        elif start == 4:
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
        query |= dice.maybe(20, allowWatchBookmarks="true")
        accept = dice.pick(JSON, JSON, TABLE, PARTIAL)
        return Step("GET", kind.path, tuple(query.items()), accept=accept, kind=kind, is_watch=True)

    # Deletion.

    def delete_options(self, path):
        dice = self.dice
        return {**dice.maybe(60, propagationPolicy=lambda: dice.choice(POLICIES)),
                **dice.maybe(15, gracePeriodSeconds=lambda: dice.pick(0, 5, 30)),
                **dice.maybe(10, dryRun=["All"]), **dice.maybe(3, orphanDependents=True),
                **dice.maybe(15, preconditions=lambda: dice.pick(
                    {"uid": f"@uid:{path}@"}, {"uid": "11111111-2222-3333-4444-555555555555"},
                    {"resourceVersion": f"@version:{path}@"}, {"resourceVersion": f"@first:{path}@"}))}

    def delete(self, kind):
        path = f"{kind.path}/{self.name(kind)}"
        options = self.delete_options(path)
        if self.dice.chance(40):
            query = {key: value for key, value in options.items() if isinstance(value, (str, int)) and value is not True}
            query |= {"dryRun": "All"} if "dryRun" in options else {}
            return Step("DELETE", path, tuple(query.items()), kind=kind)
        step = Step("DELETE", path, (), {"kind": "DeleteOptions", "apiVersion": "v1", **options}, kind=kind)
        if self.dice.chance(30) and not kind.is_custom:
            step.type = protobuf.MEDIA_TYPE
        return step

    def delete_all(self, kind):
        query = {key: value for key, value in self.selectors(kind).items() if "bad" not in value}
        body = self.dice.pick(None, {"propagationPolicy": self.dice.choice(POLICIES)}, {"dryRun": ["All"]})
        return Step("DELETE", kind.path, tuple(query.items()), body, kind=kind)

    # Parts of objects.

    def part(self, kind):
        dice = self.dice
        part = dice.choice(kind.parts)
        name = self.name(kind)
        path = f"{kind.path}/{name}/{part}"
        if part == "binding":
            body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, **dice.maybe(30, labels={"bound": "1"})},
                    "target": {"kind": "Node", "name": dice.pick("n1", "n2")}}
            return Step("POST", path, (), body, kind=kind)
        if part == "eviction":
            body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name},
                    **dice.maybe(30, deleteOptions={"dryRun": ["All"]})}
            return Step("POST", path, (), body, kind=kind)
        if part == "scale":
            replicas = dice.pick(0, 2, 5, -1)
            if dice.chance(50):
                return Step("PATCH", path, (), {"spec": {"replicas": replicas}}, MERGE, kind=kind)
            body = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name}, "spec": {"replicas": replicas}}
            if dice.chance(40):
                body["metadata"]["resourceVersion"] = f"@{dice.pick('version', 'first')}:{kind.path}/{name}@"
            return Step("PUT", path, (), body, kind=kind)
        return self.status(kind, name, path)

    def status(self, kind, name, path):
        dice = self.dice
        values = {"Pod": {"phase": dice.pick("Running", "Succeeded")}, "Node": {"capacity": {"cpu": "4"}},
                  "Job": {"active": 1}, "Deployment": {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 1},
                  "PersistentVolumeClaim": {"phase": "Bound"}, "PersistentVolume": {"phase": "Available"}}
        status = values.get(kind.kind)
        if status is None:
            status = {"replicas": 1} if "scale" in kind.parts else kind.make(dice).get("status", {})
        if dice.chance(70):
            which = dice.pick(MERGE, MERGE, *([] if kind.is_custom else [STRATEGIC]))
            return Step("PATCH", path, self.write_query(), {"status": status, **dice.maybe(10, spec={"x": 1})}, which, kind=kind)
        made = copy.deepcopy(self.known.get((kind.plural, name))) or self.object(kind, name)
        made["metadata"] |= dice.maybe(50, resourceVersion=f"@version:{kind.path}/{name}@")
        return self.encode(Step("PUT", path, self.write_query(), {**made, "status": status}, kind=kind))


def query_text(query):
    return "?" + urllib.parse.urlencode(list(query)) if query else ""
