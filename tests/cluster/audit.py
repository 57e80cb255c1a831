"""Which rights of deploy/rbac the services use: the API server's audit log of a bed, summed up.

A bed that finds the name of a file in $MUSTER_AUDIT has its API server log the requests of the services' accounts, and adds them
to that file when it ends: one line for each kind of request. scripts/check-rights compares the lines with the roles.
"""

import collections
import json
import os

import roles

FILE = "MUSTER_AUDIT"
DECISION = "authorization.k8s.io/decision"

# `namespace` and `name` are "" where there is none; `resource` has the subresource after a slash.
Request = collections.namedtuple("Request", "user verb group resource namespace name is_allowed")


def documents():
    """All objects of deploy/rbac."""
    # Whoever starts a bed by hand does without it.
    import yaml  # pylint: disable=import-outside-toplevel
    for path in sorted(roles.RBAC.glob("*.yaml")):
        yield from (one for one in yaml.safe_load_all(path.read_text()) if one)


def user_of(subject):
    return f"system:serviceaccount:{subject['namespace']}:{subject['name']}"


def users():
    """Those that some role is bound to."""
    return sorted({user_of(subject) for one in documents() for subject in one.get("subjects", [])})


def named_resources():
    """Resources of which a role names single objects; the names of all others say nothing."""
    return {(group, resource) for one in documents() for rule in one.get("rules", []) if "resourceNames" in rule
            for group in rule["apiGroups"] for resource in rule["resources"]}


def flags(folder):
    """Those of the API server; none where nobody asks for the log."""
    if FILE not in os.environ:
        return []
    policy = folder / "audit-policy.json"
    policy.write_text(json.dumps({
        "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived", "ResponseStarted"],
        "rules": [{"level": "Metadata", "users": users()}, {"level": "None"}]}))
    return [f"--audit-policy-file={policy}", f"--audit-log-path={folder / 'audit.log'}", "--audit-log-maxsize=10000"]


def requests_of(event, named):
    """What an event of the log says; nothing for what is no resource, such as the list of all kinds."""
    found = event.get("objectRef")
    if not found or "resource" not in found:
        return
    group, resource = found.get("apiGroup", ""), found["resource"]
    request = Request(
        event["user"]["username"], event["verb"], group,
        f"{resource}/{found['subresource']}" if "subresource" in found else resource, found.get("namespace", ""),
        found.get("name", "") if (group, resource) in named else "",
        event.get("annotations", {}).get(DECISION) != "forbid")
    yield request
    # The API server asks for the second right by itself when an object is applied that is not there yet.
    if request.verb == "patch" and event.get("responseStatus", {}).get("code") == 201:
        yield request._replace(verb="create", name="")


def collect(folder):
    """Adds what the log of a bed says to the file that was asked for."""
    log = folder / "audit.log"
    if FILE not in os.environ or not log.exists():
        return
    named, found = named_resources(), collections.Counter()
    with open(log, errors="replace") as lines:
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                continue  # A server that was killed may leave half a line.
            found.update(requests_of(event, named))
    os.makedirs(os.path.dirname(os.environ[FILE]), exist_ok=True)
    with open(os.environ[FILE], "a") as file:
        file.writelines(json.dumps([*request, count]) + "\n" for request, count in sorted(found.items()))


def read(path):
    """{Request: count} of a file."""
    found = collections.Counter()
    for line in path.read_text().splitlines():
        *fields, count = json.loads(line)
        found[Request(*fields)] += count
    return found
