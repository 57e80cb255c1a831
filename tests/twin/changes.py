"""Random changes of objects: the patches of a client, and the slips of one that is careless."""

import copy

BAD_VALUES = [-1, "", "Bad_Value!", True, None, {}, [], 3, "x" * 70]


def places(value, path=()):
    """All members of an object, as paths."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key)
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from places(item, (*path, i))


def parent_of(value, path):
    for key in path[:-1]:
        value = value[key]
    return value


def spoil(dice, made):
    """The object with one slip: a member that is missing, wrong, misspelt or not there at all."""
    made = copy.deepcopy(made)
    paths = [path for path in places(made) if path[0] not in ("apiVersion", "kind") and path != ("metadata",)
             and path[:2] not in (("metadata", "name"), ("metadata", "generateName"))]
    if not paths:
        return made
    path = dice.choice(paths)
    parent = parent_of(made, path)
    slip = dice.randrange(4)
    if slip == 0 and isinstance(path[-1], str):
        del parent[path[-1]]
    elif slip == 1 and isinstance(parent, dict):
        parent["misspelt"] = 1
    elif slip == 2 and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[path[-1]]))
    else:
        parent[path[-1]] = dice.choice(BAD_VALUES)
    return made


def metadata(dice):
    """Members of metadata that clients change."""
    return dice.pick(
        {"labels": dice.labels()}, {"labels": {dice.pick("app", "tier"): dice.pick("a", "b", None)}},
        {"annotations": {"note": dice.pick("1", "2", None)}}, {"finalizers": dice.pick([], ["twin.io/a"], None)},
        {"finalizers": dice.some(["twin.io/a", "twin.io/b"])}, {"ownerReferences": [owner(dice)]},
        {"ownerReferences": None}, {"labels": None}, {"annotations": {}})


def owner(dice):
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": dice.pick("a", "b"),
            "uid": dice.pick("11111111-2222-3333-4444-555555555555", "11111111-2222-3333-4444-666666666666"),
            **dice.maybe(30, controller=True), **dice.maybe(30, blockOwnerDeletion=True)}


def fresh(dice, kind):
    """The contents of a new object, without apiVersion, kind and metadata."""
    return kind.make(dice)


def merge_body(dice, kind):
    """A patch that is merged: of metadata, of a member or two, or both."""
    made = {} if dice.chance(40) else {"metadata": metadata(dice)}
    if made and dice.chance(50):
        return made
    other = fresh(dice, kind)
    for name in dice.some(list(other), 2):
        made[name] = other[name]
        if isinstance(made[name], dict) and dice.chance(70):
            made[name] = {key: made[name][key] for key in dice.some(list(made[name]), 2)}
            if made[name] and dice.chance(15):
                made[name][dice.choice(list(made[name]))] = None
    return made


DIRECTIVES = [
    {"metadata": {"finalizers": ["twin.io/c"]}},
    {"metadata": {"$deleteFromPrimitiveList/finalizers": ["twin.io/a"]}},
    {"metadata": {"$setElementOrder/finalizers": ["twin.io/c", "twin.io/a"], "finalizers": ["twin.io/c"]}},
    {"metadata": {"annotations": {"$patch": "delete"}}},
    {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "other"}]}}}},
    {"spec": {"template": {"spec": {"containers": [{"name": "side", "$patch": "delete"}]}}}},
    {"spec": {"containers": [{"name": "main", "image": "other"}]}},
]


def strategic_body(dice, kind):
    return copy.deepcopy(dice.choice(DIRECTIVES)) if dice.chance(30) else merge_body(dice, kind)


def json_operations(dice, kind, known):
    """A JSON patch; its paths are mostly there."""
    paths = ["/" + "/".join(str(key).replace("~", "~0").replace("/", "~1") for key in path) for path in places(known)
             if path[0] not in ("apiVersion", "kind")] + ["/metadata/labels", "/metadata/annotations"]
    made = []
    for _ in range(dice.randint(1, 2)):
        path = dice.choice(paths) if dice.chance(60) else dice.pick("/metadata/labels/app", "/metadata/annotations/note")
        operation = dice.pick("add", "replace", "remove", "test", "add", "copy", "move")
        one = {"op": operation, "path": path}
        if operation in ("add", "replace", "test"):
            one["value"] = dice.pick("a", "b", {"app": "a"}, 1) if "metadata" in path else dice.pick(1, "x", 2)
        elif operation in ("copy", "move"):
            one |= {"from": dice.pick("/metadata/labels/app", "/metadata/name"), "path": "/metadata/annotations/note"}
        made.append(one)
    return made
