"""Answers without what differs from server to server by nature: times, versions, identifiers, made up names."""

import re
from datetime import datetime, timedelta, timezone

TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
AGE = re.compile(r"^(\d+[smhd])+$")
ADDRESS = re.compile(r"^10\.\d+\.\d+\.\d+$")
NUMBERS = re.compile(r"(?<=resource version: )\d+( \(\d+\))?|(?<=current: )\d+|(?<=ResourceVersion: )\d+|"
                     r"(?<=ResourceVersion in the precondition \()\d+|(?<=ResourceVersion in record \()\d+")
# The lines in which the real server shows how a specification would change, as Go prints it.
CHANGES = re.compile(r"\n@@ [^\n]*(?:\n[ +@-][^\n]*)*\n?")
# The texts about the columns of a table.
DROPPED = {"columnDefinitions": "description"}
HEADERS = ("Content-Type", "Warning", "Retry-After", "Cache-Control", "Allow")


def is_recent(text):
    moment = datetime.fromisoformat(text[:19]).replace(tzinfo=timezone.utc)
    return abs(datetime.now(timezone.utc) - moment) < timedelta(hours=2)


class Masker:
    """Masks the answers of one server."""

    def __init__(self, memory):
        self.memory = memory

    def mask(self, value, key=""):
        if isinstance(value, dict):
            return self.mask_object(value, DROPPED.get(key))
        if isinstance(value, list):
            masked = [self.mask(item, key) for item in value]
            return sorted(masked, key=manager_order) if key == "managedFields" else masked
        return self.mask_text(value, key) if isinstance(value, str) else value

    def mask_object(self, value, dropped):
        masked = {self.memory.mask_text(name): self.mask(item, name) for name, item in value.items()
                  if name != dropped}
        if value.get("resourceVersion"):
            masked["resourceVersion"] = self.memory.number(value.get("uid"), value["resourceVersion"])
        return masked

    def mask_text(self, text, key):
        if key == "continue":
            return "<continue>" if text else ""
        if TIME.match(text) and is_recent(text):
            return "<now>"
        if key == "cells" and AGE.match(text):
            return "<age>"
        if key in ("clusterIP", "clusterIPs", "cells") and ADDRESS.match(text):
            return "<address>"
        return CHANGES.sub("", NUMBERS.sub("<n>", self.memory.mask_text(text)))


# What KAI's rules of admission, which are part of our server, warn of.
ADVICE = re.compile(r"exceeds the number of direct child SubGroups")


def without_order(status, is_custom):
    """A Status whose causes come in the order of a Go map, which is another one each time, with the causes in one order:
    conflicts between managers, and what is wrong with an object of a custom kind. The message is taken apart by them, so
    that nothing of it is lost. A cause that the API server has several times, as its message does not, counts once."""
    causes = status.get("details", {}).get("causes", [])
    causes = [one for number, one in enumerate(causes) if one not in causes[:number]]
    if causes:
        status = {**status, "details": {**status["details"], "causes": causes}}
    is_conflict = causes and all(one.get("reason") == "FieldManagerConflict" for one in causes)
    if len(causes) < 2 or not (is_conflict or (is_custom and status.get("code") == 422)):
        return status
    ordered = sorted(causes, key=lambda one: (one.get("field", ""), one.get("message", "")))
    message = status["message"]
    for one in [] if is_conflict else sorted(ordered, key=lambda one: -len(one["message"])):
        message = message.replace(f"{one.get('field')}: {one['message']}", "<cause>", 1)
    return {**status, "message": message, "details": {**status["details"], "causes": ordered}}


def manager_order(entry):
    return tuple(str(entry.get(key, "")) for key in ("operation", "manager", "apiVersion", "subresource"))
