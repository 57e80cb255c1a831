#!/usr/bin/env python3
"""Writes docs/kai-e2e.md from the reports of tests/e2e/kai.py: tests/e2e/report.py

Each spec of KAI Scheduler's end-to-end suites stands there with its result; one that was not run this time keeps the row that it has.
A spec passes when it passed in one layout and failed in none. For one that did not pass, `reasons` says why, as far as that is known; otherwise the page has the words of the failure.
"""

import collections
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE)]
sys.dont_write_bytecode = True

import kai  # noqa: E402

PAGE = ROOT / "docs" / "kai-e2e.md"
REASONS = HERE / "reasons"
LONGEST_MESSAGE = 160
ROW = re.compile(r"\| (.*) \| (passed|failed|skipped|not run) \| (.*) \|")

INTRODUCTION = """\
# KAI Scheduler's end-to-end suites

KAI Scheduler v0.17.0 has end-to-end suites of its own. They run unchanged against Muster, which is installed by its chart in
the split form with one replica of each service, on a real API server. A program in place of the kubelets runs Muster's pods
as real processes; KWOK simulates all other pods. The nodes are those of KAI's own layouts, each with two NUMA zones, a sysfs and a
PodResources socket of its own. Three specs find no nodes in any of them and run in a further layout, whose eight nodes have the
resource `gpu` beside `nvidia.com/gpu`. The operators of Ray, Kubeflow's training jobs, JobSet and LeaderWorkerSet are built
from their Go modules, installed by their own manifests, and run as Muster's pods do.

The shard has the argument `bind-requests: always`, with which a pod waits for its PodGroup and is bound by a BindRequest, as
in KAI: several specs read the PodGroup of a pod as soon as it is scheduled. See [Differences](differences.md). The suite of
upgrades starts from the same release of Muster with images of another registry, since there is no earlier release.

To repeat it, export KAI's source to a folder, then:

```sh
make kai-e2e KAI=/path/to/KAI-Scheduler                            # all suites: an hour and more
make kai-e2e KAI=/path/to/KAI-Scheduler SUITE=allocate/quota       # one of them
```

`tests/e2e/report.py` wrote this page from the reports of ginkgo; the reasons are in `tests/e2e/reasons`. A spec passes when it
passed in one layout and failed in none. A row is the result of the last run of its suite, not all of which were run at the same
commit.
"""


def name_of(spec):
    return " / ".join([*spec["ContainerHierarchyTexts"], spec["LeafNodeText"]])


def one_line(text):
    line = " ".join(text.split()).replace("|", "\\|")
    return line if len(line) <= LONGEST_MESSAGE else line[:LONGEST_MESSAGE - 3] + "..."


def load_reasons():
    """Lines of `suite: part of the name: reason`."""
    lines = [line for line in REASONS.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return [tuple(part.strip() for part in line.split(": ", 2)) for line in lines]


class Results:
    """The specs of one suite, in order, with their results in each layout."""

    def __init__(self):
        self.found = collections.OrderedDict()

    def add(self, spec, layout):
        runs = self.found.setdefault(name_of(spec), {})
        if layout:
            runs[layout] = spec

    @staticmethod
    def verdict(runs):
        """(state, message)"""
        failed = [one for one in runs.values() if one["State"] not in ("passed", "skipped", "pending")]
        if failed:
            return "failed", (failed[0].get("Failure") or {}).get("Message", failed[0]["State"])
        if any(one["State"] == "passed" for one in runs.values()):
            return "passed", ""
        skipped = [one for one in runs.values() if one["State"] == "skipped" and one.get("Failure")]
        if skipped:
            return "skipped", skipped[0]["Failure"].get("Message", "")
        return "not run", ""


def collect():
    suites = collections.defaultdict(Results)
    for layout in (kai.LISTS, *kai.LAYOUTS):
        for path in sorted((kai.REPORTS / layout).glob("*.json")):
            for spec in kai.specs_of(path):
                suites[path.stem].add(spec, None if layout == kai.LISTS else layout)
    return suites


def kept():
    """{suite: {name: (state, reason)}} of the page as it is."""
    suites, rows = {}, {}
    for line in PAGE.read_text().splitlines() if PAGE.exists() else []:
        if line.startswith("## "):
            rows = suites.setdefault(line[3:], {})
        elif found := ROW.fullmatch(line):
            rows[found[1]] = found[2], found[3]
    return suites


def rows_of(suite, results, old, reasons):
    """{name: (state, reason)} of one suite."""
    rows = dict(old)
    for name, runs in results.found.items():
        state, message = results.verdict(runs)
        if state != "not run" or one_line(name) not in old:
            rows[one_line(name)] = state, "" if state == "passed" else reason_for(reasons, suite, name) or one_line(message)
    return rows


def reason_for(reasons, suite, name):
    return next((text for where, part, text in reasons if re.fullmatch(where, suite) and part in name), None)


def main():
    suites, old, reasons = collect(), kept(), load_reasons()
    counts = collections.Counter()
    tables = []
    for suite in sorted({*suites, *old}):
        rows = rows_of(suite, suites[suite], old.get(suite, {}), reasons)
        own = collections.Counter(state for state, _ in rows.values())
        counts.update(own)
        lines = "".join(f"| {name} | {state} | {reason} |\n" for name, (state, reason) in rows.items())
        tables.append(f"\n## {suite}\n\n{own['passed']} of {len(rows)} passed.\n\n| spec | result | reason |\n|---|---|---|\n{lines}")
    total = sum(counts.values())
    summary = f"\n**{counts['passed']} of {total} specs pass**; {counts['failed']} fail, {counts['skipped']} are skipped, " \
              f"{counts['not run']} have not been run.\n"
    PAGE.write_text(INTRODUCTION + summary + "".join(tables))
    print(summary.strip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
