"""Field and label selectors, as far as services use them. One that is not known here is an error, never ignored."""

import re

TERM = re.compile(r"^(?P<not>!)?(?P<key>[\w./-]+)(?:(?P<op>!=|==?)(?P<value>[^,]*))?$")


def member(found, path):
    for step in path.split("."):
        found = found.get(step, {}) if isinstance(found, dict) else {}
    return found if isinstance(found, str) else ""


def terms(text):
    for one in filter(None, (text or "").split(",")):
        found = TERM.match(one.strip())
        if not found:
            raise ValueError(f"selector {text!r} is not known here")
        yield found


def matches_fields(text, found):
    return all((member(found, one["key"]) == one["value"]) == (one["op"] != "!=") for one in terms(text))


def matches_labels(text, found):
    labels = found["metadata"].get("labels", {})
    for one in terms(text):
        if one["op"] is None:
            holds = (one["key"] in labels) != bool(one["not"])
        else:
            holds = (labels.get(one["key"]) == one["value"]) == (one["op"] != "!=")
        if not holds:
            return False
    return True


class Selection:
    """Which objects of a kind a list or watch shows."""

    def __init__(self, namespace, query):
        self.namespace, self.fields, self.labels = namespace, query.get("fieldSelector"), query.get("labelSelector")

    def has(self, found):
        return (found is not None and (not self.namespace or found["metadata"].get("namespace") == self.namespace) and
                matches_fields(self.fields, found) and matches_labels(self.labels, found))
