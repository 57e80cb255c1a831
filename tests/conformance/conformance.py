#!/usr/bin/env python3
"""Kubernetes' own conformance cases against `muster up`: tests/conformance/conformance.py [--write] [WORD...]

e2e.test is built from Kubernetes' published Go modules, as the test bed's programs are, and runs the cases that the files
`cases-*` list, or those of them whose names have one of the words in them: those of `cases-api` on fake nodes, those of
`cases-processes` with pods as processes, which needs root. The files `reasons-*` say why a case cannot pass. Cases with a reason
are run with --known alone, since many of them wait for a quarter of an hour. --write makes docs/conformance.md from the results.
The status is 0 when no case failed that has no reason.
"""

import contextlib
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "conformance.md"
sys.path[:0] = [str(ROOT / "tests" / name) for name in ("cluster", "local_controllers", "local_clients")]
sys.dont_write_bytecode = True

import build  # noqa: E402
import desk  # noqa: E402
import images  # noqa: E402
import machine  # noqa: E402

FLAGS = ("--provider=skeleton", "--minStartupPods=0", "--allowed-not-ready-nodes=-1", "--delete-namespace-on-failure=true",
         "--ginkgo.no-color", "--ginkgo.timeout=3h", "--ginkgo.silence-skips")
NODES = "4x8xH100"

# Processes share the ports of the machine: cases that use some run one after the other, the rest beside them.
LANES = 4
PORT_GROUPS = {"Probes", "Hooks", "Deployments", "ReplicaSets", "ReplicationControllers", "StatefulSets", "kubectl",
               "Ephemeral containers", "emptyDir volumes", "Logs, hosts and a read-only root"}

HEAD = """# Conformance

`make conformance` builds Kubernetes' conformance suite, {version}, and runs two parts of it against `muster up`. This page is
written by `tests/conformance/conformance.py --write`.
"""


class Desk(desk.Desk):
    """Fake nodes: objects and controllers without processes."""

    part = "api"
    text = f"""Cases that need only an API server and controllers, against `muster up --fake-nodes {NODES}`."""

    def __init__(self):
        super().__init__(NODES)


class Workshop(desk.Desk):
    """This machine as the node, with folders in place of images."""

    part = "processes"
    text = """Cases that run pods, against `muster up --image-map FILE` as root: [pods are processes](local-pods.md) of this
machine, and [folders](local-pods.md#folders-as-images) stand in for the images of the suite. The folder of `nginx` has the web
server of busybox in it."""

    def __init__(self):
        super().__init__("")

    def flags(self):
        return [f"--image-map={images.make()}"]

    def __enter__(self):
        machine.Machine.__enter__(self)
        self.wait_until(lambda: self.api.get("/api/v1/nodes")["items"], "a node", desk.SECONDS)
        return self

    def __exit__(self, *rest):
        """Pods outlive the server, and would outlive this."""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (process / "cmdline").read_bytes().startswith(f"muster\0pod-shim\0{self.state}/".encode()):
                    os.kill(int(process.name), signal.SIGKILL)
        return super().__exit__(*rest)


def groups(part):
    """[(title, [case])] of the file `cases-PART`."""
    found = []
    for line in (HERE / f"cases-{part}").read_text().splitlines():
        if line.startswith("== "):
            found.append((line[3:], []))
        elif line and not line.startswith("#"):
            found[-1][1].append(line)
    return found


def reasons(part):
    """Why a case cannot pass, by its name."""
    lines = [line for line in (HERE / f"reasons-{part}").read_text().splitlines() if line and not line.startswith("#")]
    return {line.strip(): lines[at + 1].strip() for at, line in enumerate(lines) if not line.startswith(" ")}


def lanes_of(part, cases):
    """Lists of cases that can run beside each other."""
    if part == "api":
        return [cases]
    ports = [case for title, listed in groups(part) for case in listed if title in PORT_GROUPS and case in cases]
    rest = [case for case in cases if case not in ports]
    return [lane for lane in (ports, *(rest[at::LANES] for at in range(LANES))) if lane]


def run(place, cases):
    """Runs the cases; returns {case: (state, text of the failure)}."""
    found = {}

    def run_lane(number, lane):
        found.update(run_one_by_one(place, lane, f"{place.part}-{number}"))

    workers = [threading.Thread(target=run_lane, args=pair) for pair in enumerate(lanes_of(place.part, cases))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return found


def run_one_by_one(place, cases, name):
    folder = place.folder / f"e2e-{name}"
    folder.mkdir()
    report = folder / "report.json"
    focus = "|".join(re.sub(r"([][().|+*?$^\\])", r"\\\1", case) for case in cases)
    words = [build.binary("e2e.test"), f"--kubeconfig={place.kubeconfig}", f"--ginkgo.focus={focus}",
             f"--ginkgo.json-report={report}", *FLAGS]
    with open(ROOT / "build" / f"conformance-{name}.log", "w", encoding="utf-8") as log:
        subprocess.run(words, env=place.environment(), cwd=folder, stdout=log, stderr=log, check=False)
    if not report.exists():
        print(f"# e2e.test wrote no report: see build/conformance-{name}.log")
        return {}
    return read_report(json.loads(report.read_text()), set(cases))


@contextlib.contextmanager
def busy(place):
    """Renews a Lease while the cases run, as the kubelet of a real node does: a case waits for a newer version."""
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
    api, is_over = place.client(), threading.Event()
    api.create(path, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "conformance"}})

    def renew():
        while not is_over.wait(10):
            now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
            api.patch(f"{path}/conformance", {"spec": {"renewTime": now}})

    worker = threading.Thread(target=renew)
    worker.start()
    try:
        yield
    finally:
        is_over.set()
        worker.join()


def read_report(report, cases):
    found = {}
    for spec in (spec for suite in report for spec in suite["SpecReports"] or []):
        name = " ".join([*(spec["ContainerHierarchyTexts"] or []), spec["LeafNodeText"]])
        if name in cases:
            text = (spec.get("Failure") or {}).get("Message", "")
            found[name] = (spec["State"], text.strip())
    return found


def show(results, known):
    """Prints TAP; returns how many passed, failed without a reason, and failed with one."""
    counts = [0, 0, 0]
    for case, (state, text) in results.items():
        is_passed = state == "passed"
        print(f"{'ok' if is_passed else 'not ok'} - {case}{'' if is_passed or case not in known else ' # TODO ' + known[case]}")
        if not is_passed:
            print("".join(f"#   {line}\n" for line in (state, *text.splitlines()[:30])), end="")
        elif case in known:
            print("#   it has a reason to fail, and passes")
        counts[0 if is_passed else 2 if case in known else 1] += 1
    return counts


def write_part(place, results, known):
    """The cases of one part: how many pass, which do not, which do."""
    passed = sum(state == "passed" for state, _ in results.values())
    title = {"api": "The API", "processes": "Pods"}[place.part]
    text = f"\n## {title}\n\n{place.text} {passed} of {len(results)} pass.\n"
    text += "\n| cases | pass | of |\n|---|---|---|\n"
    for group, cases in groups(place.part):
        text += f"| {group} | {sum(results[case][0] == 'passed' for case in cases)} | {len(cases)} |\n"
    failed = [case for case, (state, _) in results.items() if state != "passed"]
    if failed:
        text += f"\n### {title}: cases that do not pass\n\n| case | reason |\n|---|---|\n"
        unknown = {case: "not run" if results[case][0] == "not run" else "not known yet" for case in failed}
        text += "".join(f"| {short(case)} | {known.get(case, unknown[case])} |\n" for case in failed)
    text += f"\n### {title}: cases that pass\n"
    for group, cases in groups(place.part):
        if any(results[case][0] == "passed" for case in cases):
            text += f"\n{group}:\n\n" + "".join(f"- {short(case)}\n" for case in cases if results[case][0] == "passed")
    return text


def short(case):
    """Stars and brackets would be read as marks."""
    return case.removesuffix(" [Conformance]").replace("*", "\\*").replace("|", "\\|")


def campaign(kind, words):
    """Runs the cases of one part; returns the counts and the text of the page."""
    cases = [case for _, listed in groups(kind.part) for case in listed if not words or any(word in case for word in words)]
    if not cases:
        return [0, 0, 0], ""
    known = reasons(kind.part)
    wanted = [case for case in cases if case not in known or "--known" in sys.argv]
    with kind() as place:
        with busy(place):
            found = run(place, wanted)
        well = place.ends_well()
    results = {case: found.get(case, ("not run", "")) for case in cases}
    counts = show(results, known)
    text = "" if words else write_part(place, results, known)
    return [a + b for a, b in zip(counts, well)], text


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    (ROOT / "build").mkdir(exist_ok=True)
    build.build(["e2e.test", "kubectl"])
    kinds = [Desk, Workshop] if os.geteuid() == 0 else [Desk]
    parts = [campaign(kind, words) for kind in kinds]
    if "--write" in sys.argv and not words and Workshop in kinds:
        PAGE.write_text(HEAD.format(version=build.programs()["e2e.test"].version) + "".join(text for _, text in parts))
    passed, failed, excused = (sum(column) for column in zip(*(counts for counts, _ in parts)))
    print(f"{passed} passed, {failed} failed, {excused} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
