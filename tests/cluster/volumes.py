"""The volumes of a pod as folders: ConfigMaps, Secrets, projections with tokens and the pod's own fields, empty folders.

A volume with contents is written as a kubelet does: the files lie in a folder of their own, `..data` is a link to it, and a
change replaces the link at once. So a program never sees half of a change.
"""

import base64
import datetime
import os
import pathlib
import shutil

import client

REFRESH_PART = 0.8  # of a token's life


class VolumeError(Exception):
    """A volume that cannot be had yet; the text says why."""


def field(pod, path):
    """The value of a fieldRef."""
    meta = pod["metadata"]
    for kind in ("labels", "annotations"):
        if path.startswith(f"metadata.{kind}["):
            return (meta.get(kind) or {}).get(path.split("'")[1], "")
        if path == f"metadata.{kind}":
            return "\n".join(f'{key}="{value}"' for key, value in sorted((meta.get(kind) or {}).items()))
    found = pod
    for name in path.split("."):
        found = (found or {}).get(name)
    return "" if found is None else str(found)


def object_data(api, kind, namespace, name, is_optional):
    """The data of a ConfigMap or a Secret as bytes by key."""
    try:
        found = api.get(f"/api/v1/namespaces/{namespace}/{kind}s/{name}")
    except client.ApiError as error:
        if error.status == 404 and is_optional:
            return {}
        raise VolumeError(f"{kind} {namespace}/{name}: {error.message}") from error
    decode = base64.b64decode if kind == "secret" else str.encode
    data = {key: decode(value) for key, value in (found.get("data") or {}).items()}
    return {**data, **{key: base64.b64decode(value) for key, value in (found.get("binaryData") or {}).items()}}


def chosen(data, items, what):
    if not items:
        return data
    if lacking := [one["key"] for one in items if one["key"] not in data]:
        raise VolumeError(f"{what} has no key {lacking[0]}")
    return {one["path"]: data[one["key"]] for one in items}


class Tokens:
    """Those of one pod, asked for again before they expire."""

    def __init__(self, api, pod):
        self.api, self.pod, self.known = api, pod, {}

    def get(self, source):
        audience = source.get("audience", "")
        token, renew = self.known.get(audience, (None, None))
        if token is None or datetime.datetime.now(datetime.timezone.utc) > renew:
            token, renew = self.request(audience, source.get("expirationSeconds", 3600))
            self.known[audience] = token, renew
        return token

    def request(self, audience, seconds):
        meta, spec = self.pod["metadata"], self.pod["spec"]
        path = f"/api/v1/namespaces/{meta['namespace']}/serviceaccounts/{spec['serviceAccountName']}/token"
        now = datetime.datetime.now(datetime.timezone.utc)
        status = self.api.create(path, {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"audiences": [audience] if audience else [], "expirationSeconds": seconds,
                     "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": meta["name"], "uid": meta["uid"]}},
        })["status"]
        end = datetime.datetime.fromisoformat(status["expirationTimestamp"].replace("Z", "+00:00"))
        return status["token"].encode(), now + (end - now) * REFRESH_PART


class Volumes:
    """Those of one pod, in a folder."""

    def __init__(self, api, pod, folder, hosts):
        self.api, self.pod, self.folder, self.hosts = api, pod, pathlib.Path(folder), pathlib.Path(hosts)
        self.tokens = Tokens(api, pod)
        self.written = {}

    def path(self, name):
        """Where the contents of a volume lie; a hostPath is the node's own where it has such a folder, else the machine's."""
        volume = next(one for one in self.pod["spec"].get("volumes", []) if one["name"] == name)
        if "hostPath" not in volume:
            return self.folder / name
        own = self.hosts / self.pod["spec"]["nodeName"] / volume["hostPath"]["path"].lstrip("/")
        return own if own.exists() else pathlib.Path(volume["hostPath"]["path"])

    def write_all(self):
        """Writes what is new. Raises VolumeError while something is missing."""
        for volume in self.pod["spec"].get("volumes", []):
            folder = self.path(volume["name"])
            folder.mkdir(parents=True, exist_ok=True)
            if "emptyDir" in volume:
                folder.chmod(0o1777)
            elif "hostPath" not in volume:
                self.publish(volume["name"], self.contents(volume))

    def contents(self, volume):
        namespace = self.pod["metadata"]["namespace"]
        if source := volume.get("configMap"):
            data = object_data(self.api, "configmap", namespace, source["name"], source.get("optional"))
            return chosen(data, source.get("items"), f"ConfigMap {source['name']}")
        if source := volume.get("secret"):
            data = object_data(self.api, "secret", namespace, source["secretName"], source.get("optional"))
            return chosen(data, source.get("items"), f"Secret {source['secretName']}")
        if source := volume.get("downwardAPI"):
            return self.own_fields(source)
        if source := volume.get("projected"):
            parts = [self.projection(one, namespace) for one in source["sources"]]
            return {key: value for part in parts for key, value in part.items()}
        raise VolumeError(f"volume {volume['name']} is of a kind that the test bed does not have")

    def projection(self, source, namespace):
        if part := source.get("serviceAccountToken"):
            return {part["path"]: self.tokens.get(part)}
        if part := source.get("configMap"):
            data = object_data(self.api, "configmap", namespace, part["name"], part.get("optional"))
            return chosen(data, part.get("items"), f"ConfigMap {part['name']}")
        if part := source.get("secret"):
            data = object_data(self.api, "secret", namespace, part["name"], part.get("optional"))
            return chosen(data, part.get("items"), f"Secret {part['name']}")
        return self.own_fields(source["downwardAPI"])

    def own_fields(self, source):
        return {one["path"]: field(self.pod, one["fieldRef"]["fieldPath"]).encode() for one in source.get("items", [])
                if "fieldRef" in one}

    def publish(self, name, data):
        if self.written.get(name) == data:
            return
        folder = self.folder / name
        number = len(list(folder.glob("..20*")))
        fresh = folder / f"..20{number:02d}_{os.urandom(4).hex()}"
        for key, value in data.items():
            path = fresh / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(value)
            path.chmod(0o644)
        fresh.mkdir(exist_ok=True)
        old = folder / "..data"
        before = folder / os.readlink(old) if old.is_symlink() else None
        replace_link(old, fresh.name)
        for top in {key.split("/")[0] for key in data}:
            replace_link(folder / top, f"..data/{top}")
        if before:
            for top in {one.name for one in before.iterdir()} - {key.split("/")[0] for key in data}:
                (folder / top).unlink(missing_ok=True)
            shutil.rmtree(before, ignore_errors=True)
        self.written[name] = data


def replace_link(path, target):
    fresh = path.with_name(f"{path.name}.new")
    fresh.symlink_to(target)
    fresh.rename(path)
