"""Differences that are meant, or that are known and left: docs/design/local.md has the reason for each."""

import re

# A pattern of the request, and one of the difference.
KNOWN = [
    # The words behind an error are those of our own readers of JSON, YAML, selectors and patches.
    (r"configmaps ({|\[\]|application/yaml x: \[)", r"^\.message: 'the object provided is unrecognized"),
    (r"configmaps ({|\[\]|application/yaml x: \[)", r'^\.message: "the object provided is unrecognized'),
    (r"'kind': 'Pod'|'apiVersion': 'v2'", r"cannot be handled as a ConfigMap"),
    (r"(label|field)Selector=", r"^\.message: .*(unable to parse requirement|invalid selector)"),
    (r"continue=abc", r"^\.message: .*continue key is not valid"),
    (r"json-patch", r"^\.message: .*(the server rejected our request|error decoding patch)"),
    (r"merge-patch", r"^\.message: .*error decoding patch"),
    (r"merge-patch.*'data': 5", r"^(status|\.message|\.details)"),
    # Answers are JSON alone.
    (r"application/xml", r"Available representations"),
    # One finalizer too many is reported once.
    (r"'finalizers': \['a.b/c'\]", r"^\.details\.causes"),
    # Paths that lead nowhere are answered with a Status, too.
    (r"^GET /(nowhere|apis/none/v1)$", r"^(header Content-Type|body): .*(text/plain|404 page not found)"),
    (r"^POST /api$", r"^\.(message|details)"),
    # Pods that name no scheduler are Muster's, and every pod has a service account.
    (r"", r"schedulerName: 'default-scheduler', ours 'kai-scheduler'"),
    (r"", r"\.serviceAccount(Name)?: only ours has 'default'"),
    # A node is ready when it says so: no taint is put on one that is new.
    (r"/nodes", r"spec\.taints: ours lacks"),
    # The real server shows the difference of the two specs, as Go prints it.
    (r"'schedulerName': 'x'", r"pod updates may not change fields"),
    # Whoever is let in may do everything, and no rule is named for it.
    (r"selfsubjectaccessreviews", r"^\.status\.reason"),
]


def is_known(request, difference):
    return any(re.search(where, request) and re.search(what, difference) for where, what in KNOWN)
