"""Differences that are meant, or that are known and left: docs/design/local.md has the reason for each."""

import re

# A pattern of the request, and one of the difference.
KNOWN = [
]


def is_known(request, difference):
    return any(re.search(where, request) and re.search(what, difference) for where, what in KNOWN)
