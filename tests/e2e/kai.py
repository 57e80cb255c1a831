#!/usr/bin/env python3
"""Runs KAI Scheduler's own end-to-end suites, unchanged, against Muster on the test bed.

    tests/e2e/kai.py --kai DIR [--layout NAME] [--focus TEXT] [SUITE...]

DIR is a copy of KAI Scheduler's source, v0.17.0; its suites are built there, once, into DIR/build-e2e. A suite is named by its
folder below test/e2e/suites, for example allocate/quota; without names, each layout runs the suites that are meant for it. Reports go
to build/kai-e2e; tests/e2e/report.py writes docs/kai-e2e.md from them. Exits with 1 where a spec failed.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "cluster")]
sys.dont_write_bytecode = True

import build  # noqa: E402
import network  # noqa: E402

REPORTS = ROOT / "build" / "kai-e2e"
LISTS = "all"  # in place of a layout: what there is
SUITES = "test/e2e/suites"
THIRD_PARTIES = "integrations/third_party/"
# As KAI's own runs: these need an autoscaler, thousands of nodes or Argo CD; the upgrade has a run of its own.
LABELS = "!autoscale && !scale && !upgrade && !gitops"
UPGRADE = "upgrade"
# The layouts after the first run the specs that the first one has no nodes for.
LAYOUTS = {
    "default": (lambda suite: suite != "numa", ""),
    "dra-enabled": (lambda suite: suite in ("allocate/resources", "preempt", "reclaim"), "DRA|[Dd]ynamic [Rr]esource"),
    "numa-full": (lambda suite: suite == "numa", ""),
    "eight-nodes": (lambda suite: suite in ("allocate/topology", "preempt"), "8 nodes|Max Pods"),
}


def all_suites(kai):
    top = kai / SUITES
    return sorted({str(path.parent.relative_to(top)) for path in top.rglob("*_test.go")})


def binary_of(kai, suite):
    return kai / "build-e2e" / suite.replace("/", "-")


def build_suites(kai, suites):
    """With the modules that KAI's go.sum pins."""
    go = build.find_go()
    (kai / "build-e2e").mkdir(exist_ok=True)
    for suite in suites:
        if binary_of(kai, suite).exists():
            continue
        print(f"# building {suite}", flush=True)
        subprocess.run(["nice", "-n", "19", go, "test", "-vet=off", "-ldflags=-s -w", "-c", "-o", str(binary_of(kai, suite)), f"./{SUITES}/{suite}"],
                       cwd=kai, check=True)


def run_suite(stand, kai, suite, layout, chosen):
    """One suite; returns how many specs passed, failed and were skipped."""
    report = REPORTS / layout / f"{suite.replace('/', '-')}.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    log = report.with_suffix(".log")
    focus = chosen.focus or LAYOUTS[layout][1]
    labels = UPGRADE if suite == UPGRADE else chosen.labels
    command = [str(binary_of(kai, suite)), f"--ginkgo.json-report={report}", f"--ginkgo.label-filter={labels}", "--ginkgo.v",
               "--ginkgo.timeout=4h", *([f"--ginkgo.focus={focus}"] if focus else [])]
    environment = {**stand.cluster.environment(), "UPGRADE_CHART_PATH": str(stand.chart)}
    start = time.monotonic()
    with open(log, "wb") as output:
        subprocess.run(command, cwd=kai / SUITES / suite, env=environment, stdout=output,
                       stderr=subprocess.STDOUT, check=False)
    counts = count(report)
    print(f"# {layout} {suite}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped, "
          f"{time.monotonic() - start:.0f} s", flush=True)
    return counts


def place_of(suite):
    """Those that need other projects come late: their operators are no load for the rest then. The upgrade comes last, since
    it takes settings back."""
    return suite.startswith(THIRD_PARTIES) + 2 * (suite == UPGRADE)


def list_specs(kai, suite):
    """Writes a report of all specs that there are, whether they run here or not."""
    report = REPORTS / LISTS / f"{suite.replace('/', '-')}.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([str(binary_of(kai, suite)), "--ginkgo.dry-run", f"--ginkgo.json-report={report}"], cwd=kai / SUITES / suite,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def specs_of(report):
    """The specs of a report of ginkgo; setting up and tearing down are no specs."""
    for suite in json.loads(report.read_text()) if report.exists() else []:
        yield from (one for one in suite["SpecReports"] or [] if one["LeafNodeType"] == "It")


def count(report):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for spec in specs_of(report):
        kind = spec["State"] if spec["State"] in ("passed", "skipped", "pending") else "failed"
        counts["skipped" if kind == "pending" else kind] += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kai", type=pathlib.Path, required=True)
    parser.add_argument("--layout", choices=[*LAYOUTS])
    parser.add_argument("--focus", default="")
    parser.add_argument("--labels", default=LABELS, help=f"which specs to run, by their labels; otherwise {LABELS}")
    parser.add_argument("--hold", action="store_true", help="wait for the end of a shell before taking all of it down")
    parser.add_argument("suite", nargs="*")
    chosen = parser.parse_args()
    network.enter()
    # pylint: disable=import-outside-toplevel
    import parties
    import stand as stands

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    kai = chosen.kai.resolve()
    known = all_suites(kai)
    if unknown := [one for one in chosen.suite if one not in known]:
        sys.exit(f"no suite named {unknown[0]} in {kai / SUITES}; there are {', '.join(known)}")
    build_suites(kai, chosen.suite or known)
    if not chosen.suite or any(one.startswith(THIRD_PARTIES) for one in chosen.suite):
        parties.build_all(kai)
    for suite in chosen.suite or known:
        list_specs(kai, suite)
    muster = os.environ.get("MUSTER", str(ROOT / "build" / "asan" / "muster"))
    total = {"passed": 0, "failed": 0, "skipped": 0}
    for layout in [chosen.layout] if chosen.layout else LAYOUTS:
        suites = chosen.suite or [one for one in known if LAYOUTS[layout][0](one)]
        with stands.Stand(layout, muster, parties.programs(kai)) as stand:
            # As KAI: a pod waits for its PodGroup and is bound by a BindRequest.
            stand.install("scheduler.args.bind-requests=always")
            for suite in sorted(suites, key=place_of):
                if suite.startswith(THIRD_PARTIES):
                    stand.install_parties(kai)
                for key, value in run_suite(stand, kai, suite, layout, chosen).items():
                    total[key] += value
            if chosen.hold:
                subprocess.run([os.environ.get("SHELL", "sh")], env=stand.cluster.environment(), check=False)
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
