#!/usr/bin/env python3
"""Prints the shape of a CustomResourceDefinition: kubectl create --dry-run=client -o json -f FILE | shape.py

One line says one thing about one field, in order. Descriptions are left out, as is whatever has no effect on an object,
so that two definitions with the same lines take, refuse, keep and show the same objects.
"""

import hashlib
import json
import sys

UNORDERED = ("required", "shortNames", "x-kubernetes-list-map-keys")


def lines(definition):
    spec = definition["spec"]
    found = [("name", definition["metadata"]["name"])]
    found += [(key, spec[key]) for key in ("group", "scope")]
    found += [(f"names.{key}", value) for key, value in spec["names"].items()]
    for version in spec["versions"]:
        name = version["name"]
        found += [(f"{name}.{key}", value) for key, value in version.items() if key != "schema"]
        found += field_lines(f"{name}:", version["schema"]["openAPIV3Schema"])
    return sorted(f"{path} {text(path, value)}" for path, value in found)


def field_lines(path, schema):
    for key, value in schema.items():
        if key == "properties":
            for name, field in value.items():
                yield from field_lines(f"{path}.{name}", field)
        elif key == "items":
            yield from field_lines(f"{path}[]", value)
        elif key == "additionalProperties" and isinstance(value, dict):
            yield from field_lines(path + "{}", value)
        elif key != "description":
            yield f"{path} {key}", value


def text(path, value):
    if path.rsplit(" ", 1)[-1].removeprefix("names.") in UNORDERED:
        value = sorted(value)
    return json.dumps(value, sort_keys=True)


def digest(definition):
    return hashlib.sha256("".join(f"{line}\n" for line in lines(definition)).encode()).hexdigest()


if __name__ == "__main__":
    print("\n".join(lines(json.load(sys.stdin))))
