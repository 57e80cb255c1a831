"""Compares two outcomes of a scenario: what was recorded, and what the engine did.

Equal are: the queues' fair shares at the start; in every round the pods' states and places, who shares a GPU with whom,
what each pod was granted, and the set of decisions; and the pods at the match point. The order of decisions and the
names of shared GPUs are free.
"""

import gzip
import json
import pathlib
import subprocess

HOLDS_A_PLACE = {"allocated", "pipelined", "binding", "bound", "running"}


def load(path):
    """The scenarios in a file, packed or not."""
    data = pathlib.Path(path).read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    found = json.loads(data)
    found = found if isinstance(found, list) else [found]
    return [scenario for scenario in found if isinstance(scenario, dict) and "topology" in scenario]


def play(program, scenarios, options=()):
    """Outcomes by id. Where the program fails on all scenarios together they are played one by one, so that one of them
    cannot hide the others; its outcome is then the text of the failure."""
    keys = ("id", "kind", "config", "topology")
    inputs = [{key: one[key] for key in keys if one.get(key) is not None} for one in scenarios]
    done = subprocess.run(
        [program, "scenario", "-o", "json", *options, "-"], input=json.dumps(inputs).encode(), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, check=False,
    )
    if done.returncode == 0:
        return {outcome["id"]: outcome["actual"] for outcome in json.loads(done.stdout)}
    if len(scenarios) == 1:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or [f"status {done.returncode}"]
        telling = [line for line in lines if "BUG" in line or "error" in line.lower()]
        return {scenarios[0]["id"]: (telling or lines)[0]}
    half = len(scenarios) // 2
    return {**play(program, scenarios[:half], options), **play(program, scenarios[half:], options)}


def places(pods):
    return {pod["name"]: f"{pod['status']}@{pod.get('node') or ''}" for pod in pods}


def grants(pods):
    return {
        pod["name"]: round(pod["gpus_accepted"], 4)
        for pod in pods if pod.get("gpus_accepted") and pod["status"] in HOLDS_A_PLACE
    }


def sharers(pods):
    """The sets of pods that sit on one GPU together, whatever it is called."""
    by_gpu = {}
    for pod in pods:
        for group in pod.get("gpu_groups") or []:
            by_gpu.setdefault((pod.get("node") or "", group), []).append(pod["name"])
    return sorted(sorted(names) for names in by_gpu.values())


def decisions(a_round):
    return {(op["action"], op["op"], op["pod"], op.get("node") or "") for op in a_round.get("ops") or []}


def fair_shares(rounds):
    shares = rounds[0].get("queue_shares") if rounds else None
    return {
        f"{queue}/{resource}": round(numbers["fair_share"], 6)
        for queue, by_resource in (shares or {}).items() for resource, numbers in by_resource.items()
    }


def first_difference(what, want, got):
    for key in sorted(set(want) | set(got)):
        if want.get(key) != got.get(key):
            return f"{what} {key}: expected {want.get(key)}, got {got.get(key)}"
    return None


def pods_differ(where, want, got):
    if problem := first_difference(f"{where}: pod", places(want), places(got)):
        return problem
    if sharers(want) != sharers(got):
        return f"{where}: GPUs are shared by {sharers(got)}, expected {sharers(want)}"
    return first_difference(f"{where}: GPUs granted to", grants(want), grants(got))


def decisions_differ(where, want, got):
    missing, extra = decisions(want) - decisions(got), decisions(got) - decisions(want)
    if not missing and not extra:
        return None
    return f"{where}: decisions missing {sorted(missing)[:3]}, not expected {sorted(extra)[:3]}"


def differ(want, got):
    """Why the two outcomes are not the same, as one line; None when they are."""
    if not isinstance(got, dict):
        return f"no outcome: {got}"
    if len(want["rounds"]) != len(got["rounds"]):
        return f"{len(got['rounds'])} rounds, expected {len(want['rounds'])}"
    expected = fair_shares(want["rounds"])
    found = {key: share for key, share in fair_shares(got["rounds"]).items() if key in expected}
    if problem := first_difference("fair share of", expected, found):
        return problem
    for number, (one, other) in enumerate(zip(want["rounds"], got["rounds"])):
        where = f"round {number}"
        if problem := pods_differ(where, one["pods"], other["pods"]) or decisions_differ(where, one, other):
            return problem
    if want.get("match_pods"):
        return pods_differ("match point", want["match_pods"], got["match_pods"])
    return None
