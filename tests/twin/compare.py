"""Whether two answers are the same to a client: uids, versions, times and the record of managers are masked."""

import re

MASKED = {
    "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "lastTransitionTime", "continue",
    "startTime", "lastTimestamp", "firstTimestamp",
}
DROPPED = {"managedFields", "description"}
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
AGE = re.compile(r"^(\d+[smhd])+$")
GENERATED = re.compile(r"(?<=-)[bcdfghjklmnpqrstvwxz2456789]{5}\b")
HEADERS = ("Content-Type", "Warning")


def mask(value, key=""):
    """The value without what differs from server to server by nature."""
    if isinstance(value, dict):
        return {name: mask(item, name) for name, item in value.items() if name not in DROPPED}
    if isinstance(value, list):
        return [mask(item, key if key == "cells" else "") for item in value]
    if key == "cells" and isinstance(value, str) and AGE.match(value):
        return "<age>"
    if key in MASKED and value is not None:
        return f"<{key}>"
    if isinstance(value, str):
        return UID.sub("<uid>", value)
    return value


def mask_names(value, names):
    """Generated names differ: they are masked wherever they stand."""
    if isinstance(value, dict):
        return {mask_names(key, names): mask_names(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [mask_names(item, names) for item in value]
    if isinstance(value, str):
        for prefix in names:
            value = re.sub(re.escape(prefix) + GENERATED.pattern[len("(?<=-)"):], prefix + "<random>", value)
    return value


def differences(a, b, path=""):
    """The places where two values differ, as sentences."""
    if isinstance(a, dict) and isinstance(b, dict):
        found = []
        for key in sorted(set(a) | set(b)):
            where = f"{path}.{key}"
            if key not in a:
                found.append(f"{where}: only ours has {b[key]!r}")
            elif key not in b:
                found.append(f"{where}: ours lacks {a[key]!r}")
            else:
                found += differences(a[key], b[key], where)
        return found
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [one for i, (x, y) in enumerate(zip(a, b)) for one in differences(x, y, f"{path}[{i}]")]
    return [] if a == b else [f"{path or 'body'}: {a!r}, ours {b!r}"]


def compare(real, ours, prefixes=()):
    """What a client would see differently."""
    found = []
    if real.status != ours.status:
        said = [one.body.get("message", "") if isinstance(one.body, dict) else one.body for one in (real, ours)]
        return [f"status: {real.status}, ours {ours.status}: {said[0]!r}, ours {said[1]!r}"]
    for name in HEADERS:
        theirs, mine = real.headers.get_all(name), ours.headers.get_all(name)
        if theirs != mine:
            found.append(f"header {name}: {theirs}, ours {mine}")
    return found + differences(mask_names(mask(real.body), prefixes), mask_names(mask(ours.body), prefixes))


def found(real, ours):
    """The same for masked answers."""
    if real["status"] != ours["status"]:
        said = [one["body"].get("message", "") if isinstance(one["body"], dict) else one["body"] for one in (real, ours)]
        return [f"status: {real['status']}, ours {ours['status']}: {said[0]!r}, ours {said[1]!r}"]
    return differences(real["headers"], ours["headers"], "header") + differences(real["body"], ours["body"])
