"""The objects of a scripted API server, with the rules of the real one for versions, conflicts, patches, binds and
deletions. Objects are never changed in place: a write puts a new one in place of the old one, so that history holds."""

import collections
import copy
import json
import uuid

# Between two writes of ours others write as well, so that versions leave gaps. A store that is put back by one write is
# then behind by more than one version.
VERSION_STEP = 50
# Kinds whose deletion takes until somebody on a node has ended what runs.
GRACEFUL = "pods"
STATUS_KINDS = {"pods", "bindrequests", "podgroups", "resourceclaims", "nodes", "queues", "jobs"}

Change = collections.namedtuple("Change", "version plural type old new")


class Refusal(Exception):
    """What the server answers instead of an object."""

    def __init__(self, status, reason, message, headers=()):
        super().__init__(message)
        self.status, self.reason, self.headers = status, reason, headers

    def body(self):
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": str(self),
                "reason": self.reason, "code": self.status}


def conflict(plural, name, why):
    return Refusal(409, "Conflict", f'Operation cannot be fulfilled on {plural} "{name}": {why}')


def not_found(plural, name):
    return Refusal(404, "NotFound", f'{plural} "{name}" not found')


def merge(old, patch):
    """RFC 7386."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    made = dict(old) if isinstance(old, dict) else {}
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        else:
            made[key] = merge(made.get(key), value)
    return made


# Lists of built-in kinds that are merged by a key instead of being replaced.
MERGE_KEYS = {"conditions": "type", "ownerReferences": "uid", "containers": "name"}


def merge_strategic(old, patch):
    made = dict(old) if isinstance(old, dict) else {}
    for key, value in patch.items():
        if key.startswith("$"):
            continue
        if value is None:
            made.pop(key, None)
        elif isinstance(value, dict):
            made[key] = merge_strategic(made.get(key), value)
        elif isinstance(value, list) and key in MERGE_KEYS:
            by = MERGE_KEYS[key]
            rows = {one[by]: one for one in made.get(key, [])}
            for one in value:
                rows[one[by]] = merge_strategic(rows.get(one[by]), one)
            made[key] = list(rows.values())
        else:
            made[key] = copy.deepcopy(value)
    return made


def walk(root, path):
    """The container and the last step of a JSON pointer."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]
    for step in steps[:-1]:
        root = root[int(step)] if isinstance(root, list) else root[step]
    return root, steps[-1]


def patch_json(old, operations):
    """RFC 6902, without move and copy."""
    made = copy.deepcopy(old)
    for one in operations:
        at, last = walk(made, one["path"])
        is_list = isinstance(at, list)
        if is_list:
            last = len(at) if last == "-" else int(last)
        try:
            if one["op"] == "test" and at[last] != one["value"]:
                raise Refusal(422, "Invalid", f"testing value {one['path']} failed")
            if one["op"] == "add" and is_list:
                at.insert(last, one["value"])
            elif one["op"] in ("add", "replace"):
                at[last] = one["value"]
            elif one["op"] == "remove":
                del at[last]
            elif one["op"] != "test":
                raise Refusal(400, "BadRequest", f"operation {one['op']} is not known here")
        except (KeyError, IndexError) as error:
            raise Refusal(422, "Invalid", f"{one['path']} does not exist") from error
    return made


PATCHES = {
    "application/merge-patch+json": merge,
    "application/strategic-merge-patch+json": merge_strategic,
    "application/json-patch+json": patch_json,
}


class Store:
    """All objects and the history of their changes."""

    def __init__(self):
        self.objects = collections.defaultdict(dict)
        self.version = VERSION_STEP
        self.history = []
        self.oldest = 0
        self.listeners = []
        self.log = []

    # Reading.

    def find(self, plural, namespace, name):
        return self.objects[plural].get((namespace or "", name))

    def get(self, plural, namespace, name):
        found = self.find(plural, namespace, name)
        if found is None:
            raise not_found(plural, name)
        return found

    def all(self, plural):
        return list(self.objects[plural].values())

    def at(self, plural, version):
        """The objects of a kind as they were at a version."""
        state = dict(self.objects[plural])
        for change in reversed(self.history):
            if change.version <= version:
                break
            if change.plural != plural:
                continue
            meta = (change.new or change.old)["metadata"]
            key = (meta.get("namespace", ""), meta["name"])
            if change.old is None:
                state.pop(key, None)
            else:
                state[key] = change.old
        return state

    # Writing. All of it ends here.

    def commit(self, plural, old, new, who):
        self.version += VERSION_STEP
        if new is not None:
            new = {**new, "metadata": {**new["metadata"], "resourceVersion": str(self.version)}}
        else:
            # What a watch tells of an object that is gone has the version of its end.
            old = {**old, "metadata": {**old["metadata"], "resourceVersion": str(self.version)}}
        meta = (new or old)["metadata"]
        key = (meta.get("namespace", ""), meta["name"])
        if new is None:
            del self.objects[plural][key]
        else:
            self.objects[plural][key] = new
        change = Change(self.version, plural, "DELETED" if new is None else "MODIFIED" if old else "ADDED", old, new)
        self.history.append(change)
        self.log.append((who, change))
        for listener in self.listeners:
            listener(change, who)
        return new if new is not None else old

    def create(self, plural, namespace, body, who="test"):
        meta = body.setdefault("metadata", {})
        if namespace:
            meta["namespace"] = namespace
        if not meta.get("name"):
            meta["name"] = meta.pop("generateName") + uuid.uuid4().hex[:5]
        if self.find(plural, namespace, meta["name"]):
            raise Refusal(409, "AlreadyExists", f'{plural} "{meta["name"]}" already exists')
        meta["uid"] = str(uuid.uuid4())
        meta["creationTimestamp"] = "2026-01-01T00:00:00Z"
        if plural == "pods":
            body.setdefault("status", {}).setdefault("phase", "Pending")
        elif plural in STATUS_KINDS and who != "test":
            body.pop("status", None)
        return self.commit(plural, None, body, who)

    def check(self, plural, old, wanted):
        """A UID or version in a write has to be that of the object."""
        meta = old["metadata"]
        if wanted.get("uid") not in (None, meta["uid"]):
            raise conflict(plural, meta["name"], f"Precondition failed: UID in precondition: {wanted['uid']}, UID in "
                                                 f"object meta: {meta['uid']}")
        if wanted.get("resourceVersion") not in (None, "", meta["resourceVersion"]):
            raise conflict(plural, meta["name"], "the object has been modified; please apply your changes to the "
                                                 "latest version and try again")

    def replace(self, plural, old, made, subresource, who):
        """Puts what a write has made of an object in its place: either its status or all else."""
        fixed = {key: old["metadata"].get(key) for key in ("uid", "name", "namespace", "creationTimestamp",
                                                           "deletionTimestamp") if key in old["metadata"]}
        made = {**made, "metadata": {**made["metadata"], **fixed, "resourceVersion": old["metadata"]["resourceVersion"]}}
        if subresource == "status":
            made = {**old, "status": made.get("status", {})}
        elif plural in STATUS_KINDS:
            made = {key: value for key, value in made.items() if key != "status"}
            if "status" in old:
                made["status"] = old["status"]
        if plural == "pods" and old["spec"].get("nodeName") != made["spec"].get("nodeName"):
            raise Refusal(422, "Invalid", "pod updates may not change spec.nodeName")
        if made == old:
            return old
        if "deletionTimestamp" in made["metadata"] and not made["metadata"].get("finalizers") and plural != GRACEFUL:
            return self.commit(plural, old, None, who)
        return self.commit(plural, old, made, who)

    def update(self, plural, namespace, name, body, subresource=None, who="test"):
        old = self.get(plural, namespace, name)
        self.check(plural, old, body.get("metadata", {}))
        return self.replace(plural, old, body, subresource, who)

    def patch(self, plural, namespace, name, kind, body, subresource=None, who="test"):
        old = self.get(plural, namespace, name)
        if isinstance(body, dict):
            self.check(plural, old, body.get("metadata", {}))
        return self.replace(plural, old, PATCHES[kind](old, body), subresource, who)

    def bind(self, namespace, name, body, who):
        pod = self.get("pods", namespace, name)
        node = pod["spec"].get("nodeName")
        self.check("pods/binding", pod, {"uid": body["metadata"].get("uid")})
        if "deletionTimestamp" in pod["metadata"]:
            raise conflict("pods/binding", name, f"pod {name} is being deleted, cannot be assigned to a host")
        if node:
            raise conflict("pods/binding", name, f'pod {name} is already assigned to node "{node}"')
        given = body["metadata"]
        meta = {**pod["metadata"], **{key: {**pod["metadata"].get(key, {}), **given[key]}
                                      for key in ("labels", "annotations") if given.get(key)}}
        status = merge_strategic(pod.get("status"), {"conditions": [{"type": "PodScheduled", "status": "True"}]})
        self.commit("pods", pod, {**pod, "metadata": meta, "status": status,
                                  "spec": {**pod["spec"], "nodeName": body["target"]["name"]}}, who)
        return {"kind": "Status", "apiVersion": "v1", "status": "Success", "code": 201}

    def delete(self, plural, namespace, name, options=None, who="test"):
        options = options or {}
        old = self.get(plural, namespace, name)
        self.check(plural, old, options.get("preconditions", {}))
        grace = options.get("gracePeriodSeconds", old.get("spec", {}).get("terminationGracePeriodSeconds", 30))
        is_slow = plural == GRACEFUL and old["spec"].get("nodeName") and grace > 0
        if not is_slow and not old["metadata"].get("finalizers"):
            return self.commit(plural, old, None, who)
        if "deletionTimestamp" in old["metadata"]:
            return old
        meta = {**old["metadata"], "deletionTimestamp": "2026-01-01T00:00:01Z", "deletionGracePeriodSeconds": grace}
        return self.commit(plural, old, {**old, "metadata": meta}, who)

    # Older states.

    def put_back(self, version):
        """The store is restored from a backup of that version: nothing of what came later has ever happened."""
        for plural in list(self.objects):
            self.objects[plural] = self.at(plural, version)
        self.history = [change for change in self.history if change.version <= version]
        self.version = version

    def compact(self):
        """Watches can go on from the newest version alone."""
        self.oldest = self.version

    def forget(self):
        """Between two runs: a history that grows for ever would be slow."""
        self.history = []
        self.log = []
        self.oldest = self.version


def encode(content):
    return json.dumps(content, separators=(",", ":")).encode()
