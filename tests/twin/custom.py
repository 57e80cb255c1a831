"""Custom kinds for random requests: KAI's, and some with random structural schemas."""

import pathlib

import yaml

from dice import Dice
from kinds import Kind

CRDS = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy" / "crds"
NAMES = ["alpha", "beta", "gamma", "delta"]


def random_schema(dice, depth=0):
    """A structural schema, with defaults that fit it."""
    kind = dice.pick("string", "integer", "boolean", "object", "array", "string", "number") if depth else "object"
    if depth > 3 and kind in ("object", "array"):
        kind = "string"
    made = {"type": kind}
    if kind == "object" and dice.chance(20) and depth:
        made["additionalProperties"] = random_schema(dice, depth + 1)
    elif kind == "object":
        names = NAMES[:dice.randint(1, 4)]
        made["properties"] = {name: random_schema(dice, depth + 1) for name in names}
        made |= dice.maybe(30, required=lambda: [dice.choice(names)])
        made |= dice.maybe(10, **{"x-kubernetes-preserve-unknown-fields": True})
    elif kind == "array":
        made |= list_schema(dice, depth)
    else:
        made |= plain_schema(dice, kind)
    made |= dice.maybe(8, nullable=True)
    return made


def list_schema(dice, depth):
    shape = dice.pick("atomic", "set", "map", None)
    if shape == "set":
        return {"items": {"type": "string"}, "x-kubernetes-list-type": "set"}
    if shape == "map":
        items = {"type": "object", "required": ["key"],
                 "properties": {"key": {"type": "string"}, "value": random_schema(dice, depth + 2)}}
        return {"items": items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"]}
    return {"items": random_schema(dice, depth + 1), **dice.maybe(50, maxItems=3),
            **({"x-kubernetes-list-type": "atomic"} if shape else {})}


def plain_schema(dice, kind):
    if kind == "string":
        return dice.pick({}, {"enum": ["a", "b"]}, {"pattern": "^[a-z]*$"}, {"maxLength": 4}, {"default": "a"},
                         {"minLength": 1}, {"format": "date-time"})
    if kind == "integer":
        return dice.pick({}, {"minimum": 1}, {"maximum": 5}, {"default": 3}, {"format": "int32"})
    return dice.pick({}, {"default": True}) if kind == "boolean" else {}


def random_value(dice, schema):
    """A value that mostly fits the schema."""
    if schema.get("nullable") and dice.chance(20):
        return None
    if dice.chance(2):
        return dice.pick("wrong", 7, True, {}, [])
    kind = schema.get("type")
    if "x-kubernetes-int-or-string" in schema:
        return dice.pick(3, "5")
    if kind == "object" and "additionalProperties" in schema:
        inner = schema["additionalProperties"]
        return {name: random_value(dice, inner if isinstance(inner, dict) else {}) for name in dice.some(["x", "y"])}
    if kind == "object":
        wanted = set(schema.get("required", []))
        made = {name: random_value(dice, inner) for name, inner in schema.get("properties", {}).items()
                if name in wanted or dice.chance(50)}
        return {**made, **dice.maybe(3, unknown=1)}
    if kind == "array":
        return random_list(dice, schema)
    return random_plain(dice, schema)


def random_list(dice, schema):
    if schema.get("x-kubernetes-list-type") == "set":
        return dice.some(["a", "b", "c"])
    made = [random_value(dice, schema["items"]) for _ in range(dice.randint(0, 2))]
    for i, item in enumerate(made):
        for key in schema.get("x-kubernetes-list-map-keys", []):
            if isinstance(item, dict) and schema["items"]["properties"].get(key, {}).get("type") == "string":
                item[key] = f"k{i}"
    return made


def random_plain(dice, schema):
    kind = schema.get("type")
    if "enum" in schema:
        return dice.choice(schema["enum"])
    if kind == "integer":
        return dice.randint(1, 5)
    if kind == "number":
        return dice.pick(0.5, 2, 1.25)
    if kind == "boolean":
        return dice.chance(50)
    if schema.get("format") == "date-time":
        return "2024-01-02T03:04:05Z"
    return dice.pick("a", "b", "abc")


def random_definition(dice, number):
    spec, status = random_schema(dice), random_schema(dice)
    names = {"kind": f"Random{number}", "plural": f"random{number}s", "singular": f"random{number}",
             "listKind": f"Random{number}List"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
        "type": "object", "properties": {"spec": spec, "status": status}}}}
    if dice.chance(60):
        version["subresources"] = {"status": {}}
    if dice.chance(50):
        version["additionalPrinterColumns"] = [{"name": "Alpha", "type": "string", "jsonPath": ".spec.alpha"}]
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"random{number}s.twin.example.com"},
            "spec": {"group": "twin.example.com", "names": names,
                     "scope": "Namespaced" if number % 3 else "Cluster", "versions": [version]}}


def definitions(seed, count):
    """KAI's, and as many random ones."""
    dice = Dice(f"definitions {seed}")
    kai = [one for path in sorted(CRDS.glob("*.yaml")) for one in yaml.safe_load_all(path.read_text()) if one]
    return kai + [random_definition(dice, number) for number in range(count)]


def kinds_of(definition):
    """The kinds that a definition adds, one for each version."""
    spec = definition["spec"]
    for version in spec["versions"]:
        schema = version["schema"]["openAPIV3Schema"]

        def make(dice, schema=schema):
            members = {name: inner for name, inner in schema.get("properties", {}).items()
                       if name not in ("apiVersion", "kind", "metadata")}
            return {name: random_value(dice, inner) for name, inner in members.items() if dice.chance(85)}

        parts = tuple(version.get("subresources", {}))
        yield Kind(spec["group"], version["name"], spec["names"]["plural"], spec["names"]["kind"], make,
                   spec["scope"] == "Namespaced", parts, weight=3, is_custom=True)
