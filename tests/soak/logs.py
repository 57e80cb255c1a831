"""Which lines of the services' logs are explained by what a soak does to them."""

import collections
import re

LINE = re.compile(r"^\d{4}-\d\d-\d\dT[\d:.]+Z (ERROR|WARN|INFO|DEBUG|TRACE)\s+(.*)$")

# What warnings and errors may say, and why it is said in a soak.
ALLOWED = [
    (r"(Failed to connect|Couldn't connect|not closed cleanly|Connection reset|connection abort|select/poll|Recv failure"
     r"|Send failure|unexpected eof|Broken pipe|GOAWAY|connection timeout|Timeout was reached|Operation timed out)",
     "connections were cut or the API server was killed"),
    (r"^the API server is unreachable; requests are retried until it answers ", "the API server was killed"),
    (r"^the answer to a bind was lost; the pod keeps its place until the API server shows its state ",
     "the API server was killed during a bind"),
    (r"^the service failed .* was not renewed in time", "the API server was down, or a service stood still"),
    (r"^list and watch failed .*\(status 410\)", "a new API server does not know what came before it"),
    (r"^list and watch failed .*(storage is \(re\)initializing|HTTP status (429|503))", "a starting API server is not ready yet"),
    (r"before all known HTTP paths have been installed", "a starting API server is not ready yet"),
    (r"^list and watch failed .*Unauthorized \(HTTP status 401\)", "a starting API server does not know the accounts yet"),
    # scripts/check-rights compares these with the roles.
    (r"(is forbidden: User|HTTP status 403)", "a starting API server does not know the roles yet"),
    (r"^(pod cannot be bound|bind failed)\b.*(pods .* not found \(HTTP status 404\)|the pod no longer exists"
     r"|is being deleted)", "a user deleted the pod"),
    (r"^pod cannot be bound .*cluster is scaling up, could not create reservation pod", "pods stand for nodes that are to come"),
]


def reason_of(text):
    """Why a warning or an error is expected; None where it is not."""
    return next((reason for pattern, reason in ALLOWED if re.search(pattern, text)), None)


def read(lines):
    """The lines that nothing explains with the number of each, and how often each reason was needed."""
    wrong, needed = collections.Counter(), collections.Counter()
    for service, line in lines:
        found = LINE.match(line)
        if found and found[1] not in ("ERROR", "WARN"):
            continue
        text = found[2] if found else line
        reason = reason_of(text)
        if reason:
            needed[reason] += 1
        elif text.strip():
            wrong[f"{service}: {found[1] + ' ' if found else ''}{text}"[:300]] += 1
    return wrong, needed
