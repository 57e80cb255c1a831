"""Every version of every pod, straight from etcd, in the order in which they were stored.

The API server is not asked: what it has done counts whether it lived to say so or not. Pods are stored as protobuf; the few
fields that a ledger needs are read by their numbers in k8s.io/api/core/v1/generated.proto.
"""

import base64
import collections
import http.client
import json
import urllib.parse

from quantity import amount

PODS = "/registry/pods/"
MAGIC = b"k8s\x00"

# `gpus` are whole ones, by limit, `milli_cpu` thousandths of a core, by request; `node` and `phase` are "" where there is none yet.
Pod = collections.namedtuple("Pod", "namespace name uid labels annotations node gpus milli_cpu phase is_ending")
LIMITS, REQUESTS = 1, 2


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    """The fields of a message: number and value."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"protobuf: a field of kind {kind}")
        yield key >> 3, value


def first(data, number):
    return next((value for key, value in fields(data) if key == number), b"")


def text_map(data, number):
    entries = [dict(fields(value)) for key, value in fields(data) if key == number]
    return {entry[1].decode(): entry.get(2, b"").decode() for entry in entries}


def amounts_of(spec, which, resource):
    """Of all containers together, as they are written, by limits or requests."""
    for container in (value for key, value in fields(spec) if key == 2):
        for entry in (value for key, value in fields(first(container, 8)) if key == which):
            found = dict(fields(entry))
            if found[1] == resource:
                yield first(found[2], 1).decode()


def pod_of(data):
    if not data.startswith(MAGIC):
        raise ValueError("a pod that is not stored as protobuf")
    pod = first(data[len(MAGIC):], 2)
    meta, spec, status = (first(pod, number) for number in (1, 2, 3))
    return Pod(
        first(meta, 3).decode(), first(meta, 1).decode(), first(meta, 5).decode(), text_map(meta, 11), text_map(meta, 12),
        first(spec, 10).decode(), sum(map(int, amounts_of(spec, LIMITS, b"nvidia.com/gpu"))),
        int(1000 * sum(map(amount, amounts_of(spec, REQUESTS, b"cpu")))), first(status, 1).decode(), bool(first(meta, 9)))


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def range_of(prefix):
    """All keys that begin so."""
    return {"key": encoded(prefix), "range_end": encoded(prefix[:-1] + chr(ord(prefix[-1]) + 1))}


def ask(url, path, body):
    """Calls etcd's JSON gateway; returns the open response."""
    place = urllib.parse.urlparse(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
    connection.request("POST", path, json.dumps(body))
    response = connection.getresponse()
    if response.status != 200:
        raise OSError(f"etcd: status {response.status}: {response.read(500)!r}")
    return response


def changes(url, prefix, revision):
    """Yields all changes from a revision on: (revision, key, value), the value None where the key was deleted. An end is an
    OSError, an HTTPException or a ValueError: whoever goes on from the revision after the last one misses nothing."""
    response = ask(url, "/v3/watch", {"create_request": {**range_of(prefix), "start_revision": str(revision)}})
    while line := response.readline():
        result = json.loads(line)["result"]
        if result.get("canceled"):
            raise OSError(f"etcd: {result}")
        for event in result.get("events", []):
            entry = event["kv"]
            is_gone = event.get("type") == "DELETE"
            yield (int(entry["mod_revision"]), base64.b64decode(entry["key"]).decode(),
                   None if is_gone else base64.b64decode(entry["value"]))
    raise OSError("etcd has ended the watch")


def delete(url, prefix):
    """Removes all keys that begin so, in one step, and without a word to the API server; returns the revision."""
    return int(json.loads(ask(url, "/v3/kv/deleterange", range_of(prefix)).read())["header"]["revision"])
