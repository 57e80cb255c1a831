"""What one server has said in an episode: it fills in later requests, and tells versions and names apart by their order."""

import json
import re

PLACE = re.compile(r"@(version|first|uid|list|continue|future):([^@]*)@")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
NO_UID = "00000000-0000-0000-0000-000000000000"
GENERATED = re.compile(r"gen-(?:tRUN-)?\d\d-[bcdfghjklmnpqrstvwxz2456789]{5}\b")


class Memory:
    """Of one server and one episode, whose run has a name of its own."""

    def __init__(self, run):
        self.run = run
        self.versions = {}  # by uid, in the order in which they came
        self.uids = {}      # by path
        self.lists = {}
        self.tokens = {}
        self.names = []     # that the server has made up
        self.newest = 1

    def fill(self, text):
        """The text with its places filled in."""
        return PLACE.sub(self.value, text.replace("@run@", self.run))

    def value(self, found):
        what, path = found.groups()
        uid = self.uids.get(path, NO_UID)
        if what == "uid":
            return uid
        if what in ("version", "first"):
            return self.versions.get(uid, ["1"])[-1 if what == "version" else 0]
        if what == "future":
            return str(self.newest + 1_000_000)
        return self.lists.get(path, "1") if what == "list" else self.tokens.get(path, "none")

    def learn(self, collection, body):
        """Takes note of an answer from below the path of a collection."""
        if not isinstance(body, dict) or not isinstance(body.get("metadata"), dict):
            return
        meta = body["metadata"]
        if "items" in body or body.get("kind") == "Table":
            self.lists[collection] = meta.get("resourceVersion", "1")
            self.tokens[collection] = meta.get("continue", "none")
            self.see(meta.get("resourceVersion"))
        elif meta.get("name") and meta.get("uid"):
            self.uids[f"{collection}/{meta['name']}"] = meta["uid"]
        self.learn_versions(body)

    def learn_versions(self, value):
        """Numbers the versions of all objects in an answer, and all names that were made up."""
        if isinstance(value, list):
            for item in value:
                self.learn_versions(item)
        if not isinstance(value, dict):
            return
        meta = value.get("metadata")
        if isinstance(meta, dict) and meta.get("uid") and meta.get("resourceVersion"):
            seen = self.versions.setdefault(meta["uid"], [])
            if meta["resourceVersion"] not in seen:
                seen.append(meta["resourceVersion"])
            self.see(meta["resourceVersion"])
        for item in value.values():
            self.learn_versions(item)

    def see(self, version):
        if version and version.isdigit():
            self.newest = max(self.newest, int(version))

    def number(self, uid, version):
        """The version of an object as a number that both servers have in common."""
        seen = self.versions.get(uid, [])
        return f"<version {seen.index(version)}>" if version in seen else "<version>"

    def mask_text(self, text):
        """The text without what differs from server to server by nature."""
        text = UID.sub("<uid>", text.replace(self.run, "RUN"))
        return GENERATED.sub(self.mask_name, text)

    def mask_name(self, found):
        name = found.group(0)
        if name not in self.names:
            self.names.append(name)
        return f"<name {self.names.index(name)}>"


def parse(data):
    try:
        return json.loads(data)
    except ValueError:
        return data.decode(errors="replace")
