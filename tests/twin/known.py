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
    (r"labelSelector=|fieldSelector=bad", r"^\.message: .*(found '|invalid selector|unable to parse)"),
    (r"continue=", r"^\.message: .*continue key is not valid"),
    (r"", r"^\.message: .*json: cannot unmarshal .*IngressRuleValue"),
    (r"application/yaml", r"^\.message: .*Object 'Kind' is missing in"),
    # KAI's rules of admission are part of the server.
    (r"(queues|topologies|podgroups|bindrequests|configs|schedulingshards)", r"^status: .*admission webhook .* denied the request"),
    # Pods run as their user on the machine itself, with what that user may do.
    (r"", r"^status: \d+, ours 403: .* is forbidden: spec\S*: "
         r"(choose a folder below|your pods run as you|you are not in group|only administrators may run privileged)"),
    # Who has sent an object is written on it, so that its pods run as that user.
    (r"", r"muster.scheduler/(submitted-by|user)"),
    (r"", r"f:metadata\.f:annotations\.\.: ours lacks \{\}$"),
    # Nothing acts on DaemonSets, and volumes do not tell since when they are in their phase.
    (r"daemonsets", r"deprecated.daemonset.template.generation"),
    (r"daemonsets", r"managedFields\[\d+\]\.fieldsV1\.f:metadata(\.f:annotations\.\.)?: "
                    r"(only ours has|ours lacks) (\{\}|\{'f:annotations': \{\}\})$"),
    (r"persistentvolumes", r"status\.lastPhaseTransitionTime: ours lacks"),
    # Before the first change that a server remembers: the history of etcd begins earlier.
    (r"resourceVersion=(1(&|\s|$)|@list)", r"^status: 200, ours 410"),
    (r"watch=true.*resourceVersion=(1(&|\s|$)|@list)", r"^watch: \[\], ours \['ERROR None'\]"),
    # Values of refused changes are shown as Go structs.
    (r"^(PUT|PATCH) .*/(jobs|resourceclaims|resourceclaimtemplates)/",
     r"^\.(message|details\.causes\[\d+\]\.message): .*Invalid value: \{.*field is immutable"),
    # A patch that leaves a value of a wrong type: the text shows the object as the patch leaves it, ours the patch.
    (r"^PATCH", r"^\.message: ' \"\" is invalid: patch: Invalid value: "),
    (r"^PATCH", r"^\.details\.causes\[0\]\.message: 'Invalid value: .*(json: cannot unmarshal|unable to parse|cannot restore|unrecognized type|strict decoding error)"),
    # Of several mistakes in what is applied, the first is told; the API server tells all, in no order.
    (r"apply-patch", r"^\.message: .*failed to create typed patch object .*errors:"),
    # Answers are JSON alone.
    (r"application/xml", r"Available representations"),
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
