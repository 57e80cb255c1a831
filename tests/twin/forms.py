"""The forms that requests have, so that a campaign can say how often each has occurred."""

import episodes
import protobuf

PATCHES = {episodes.JSON_PATCH: "JSON patch", episodes.MERGE: "merge patch", episodes.STRATEGIC: "strategic merge patch",
           episodes.APPLY: "apply"}
BODIES = {episodes.JSON: "JSON", episodes.YAML: "YAML", protobuf.MEDIA_TYPE: "protobuf"}
ANSWERS = {episodes.TABLE: "Table", episodes.PARTIAL: "metadata alone", episodes.PARTIAL_LIST: "metadata alone"}


def policy_of(step):
    body = step.body if isinstance(step.body, dict) else {}
    return body.get("propagationPolicy") or dict(step.query).get("propagationPolicy") or "no policy"


def start_of(step):
    """The version from which a watch begins."""
    query = dict(step.query)
    if "sendInitialEvents" in query:
        return "initial events"
    version = query.get("resourceVersion")
    if version is None:
        return "no version"
    return version.split(":")[0].strip("@") + " version" if "@" in version else f"version {version}"


def list_forms(step):
    query = dict(step.query)
    yield "list"
    for name in ("labelSelector", "fieldSelector", "limit", "continue", "resourceVersionMatch"):
        if name in query:
            yield f"list with {name}"


def forms_of(step, status):
    """The names of the forms of one request; `status` is that of the real server's answer, 0 for a watch."""
    is_one = step.kind is not None and step.path != step.kind.path
    if step.is_watch:
        yield f"watch from {start_of(step)}"
    elif step.method == "GET":
        yield from ["get"] if is_one else list_forms(step)
    elif step.method == "DELETE":
        yield f"delete with {policy_of(step)}" if is_one else "delete of a collection"
    elif step.method == "PATCH":
        yield PATCHES[step.type]
        if step.type == episodes.APPLY and status == 409:
            yield "apply with conflicts"
    else:
        yield "create" if step.method == "POST" else "update"
    if step.body is not None and step.type not in PATCHES:
        yield f"body of {BODIES[step.type]}"
    if step.accept in ANSWERS:
        yield f"answer as {ANSWERS[step.accept]}"
    if is_one and step.path.rsplit("/", 1)[-1] in ("status", "scale", "binding", "eviction"):
        yield f"subresource {step.path.rsplit('/', 1)[-1]}"
