"""`muster whatif --hours` on small clusters whose future is known, and on random ones whose change is made in the files."""

import json
import os
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "when"))
sys.dont_write_bytecode = True

from made import HISTORY, cluster, history, node, pod, queue, stamp, write  # noqa: E402

MUSTER = os.environ.get("MUSTER", str(ROOT / "build" / "asan" / "muster"))
DAY = 86400
SEEDS = 8


def call(*words):
    return subprocess.run([MUSTER, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT)


def ask(*words):
    done = call("whatif", "-o", "json", "--hours", 24, *words)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"muster whatif {words}: status {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def row_of(document, name):
    return next((row for row in document["workloads"] if row["workload"] == f"lab/{name}"), None)


class Checks:
    def __init__(self):
        self.troubles = []
        self.count = 0

    def __call__(self, what, is_true, found=""):
        self.count += 1
        if not is_true:
            self.troubles.append(f"--hours: {what}: {str(found)[-3000:]}")


def try_known(folder, check):
    """One node, taken for another hour: what waits starts then, or at once where the change makes room."""
    blocked = write(folder / "blocked.json", cluster(pod("busy-1", 8, -120, started=-60), pod("next", 8, -1)))
    # Too long ago for its arrivals to come again.
    past = history(folder / "past.csv", [7200] * 30, until=-50000)
    # The cluster's moment is a second after the latest date in the files: 59 seconds before NOW.
    fates = {"running": False, "startedIn": 100, "medianWaitSeconds": 3659, "evictedIn": 0}
    for change in ("node/n1=+1", "workload/busy-1=gone"):
        document = ask(blocked, change, "--history", past)
        row = row_of(document, "next")
        check(f"{change}: it starts at once, in all futures", row and row["without"] == fates and
              row["with"] == dict(fates, medianWaitSeconds=0) and row["soonerIn"] == 100 and row["laterIn"] == 0, document)
    check("what is gone is on one side only", "with" not in row_of(document, "busy-1") and "without" in row_of(document, "busy-1"), document)
    # What is left of the two hours of one, and the two hours of the other; after each other, or together.
    whole = ask(blocked, "node/n1=+1", "--history", past)["whole"]
    check("both run their time", all(abs(whole[side]["gpuHours"] - 8 * (3659 / 3600 + 2)) < 0.01 for side in whole), whole)
    check("waits are means over workloads", abs(whole["without"]["meanWaitSeconds"] - 1829.5) < 0.01 and
          whole["with"]["meanWaitSeconds"] == 0, whole)

    document = ask(blocked, "node/n1=lost", "--history", past)
    row = row_of(document, "busy-1")
    check("without its node nothing starts", row and row["without"]["running"] and not row["with"]["running"] and
          row["with"]["startedIn"] == 0 and "medianWaitSeconds" not in row["with"] and row["laterIn"] == 100, document)
    spare = write(folder / "spare.json", [*cluster(pod("busy-1", 8, -120, started=-60), pod("small", 1, -1)), node("n2"), node("n3")])
    whole = ask(spare, "node/n1=lost", "--history", past)["whole"]
    check("what loses its place begins anew, with the run time that it has anyway", abs(whole["without"]["gpuHours"] - 2 - 8 * 3659 / 3600) < 0.01 and
          abs(whole["with"]["gpuHours"] - 18) < 0.01, whole)

    job = write(folder / "job.json", pod("fresh", 8, -1))
    document = ask(write(folder / "base.json", cluster(pod("busy-1", 8, -120, started=-60))), f"new={job}", "--history", past)
    row = row_of(document, "fresh")
    check("new work waits for its place", row and "without" not in row and row["with"] == dict(fates, medianWaitSeconds=7199), document)
    return blocked, past


def try_luck(folder, check, blocked):
    """Run times and arrivals are drawn alike on both sides, and as `muster when` draws them."""
    rows = [f"{stamp(-1440 * day + 30)},day-{day},lab,team,4,{3600 * (day % 5 + 1)},,," for day in range(1, 29)]
    rows += [f"{stamp(-50000 - 10 * i)},busy-{i + 10},lab,team,8,{[1800, 7200, 10800][i % 3]},,," for i in range(90)]
    past = folder / "mixed.csv"
    past.write_text("\n".join(HISTORY + rows) + "\n")
    document = ask(blocked, "queue/team.priority=7", "--history", past)
    check("a change without effect changes nothing", all(row["soonerIn"] + row["laterIn"] == 0 and row["with"] == row["without"]
          for row in document["workloads"]), document)
    check("in no queue either", all(row["with"] == row["without"] for row in document["queues"] + [document["whole"]]), document)
    check("work comes in these futures", document["whole"]["with"]["workloads"] > 2.5, document["whole"])
    done = call("when", "-o", "json", "next", blocked, "--history", past, "--horizon", "1d")
    median = json.loads(done.stdout)["workloads"][0]["medianWaitSeconds"]
    check("muster when says the same", row_of(document, "next")["without"]["medianWaitSeconds"] == median, (document, done.stdout))
    check("the same question has the same answer", document == ask(blocked, "queue/team.priority=7", "--history", past))
    check("another seed has another", document["whole"] != ask(blocked, "queue/team.priority=7", "--history", past, "--seed", 9)["whole"])
    text = call("whatif", "--hours", 24, blocked, "queue/team.priority=7", "--history", past).stdout
    check("and says so", "The change affects no current workload" in text and "The next 1d" in text, text)


def try_requirements(check, blocked, past):
    words = ("whatif", "--hours", 24, blocked, "--history", past)
    for change, requirement, status, text in (
            ("node/n1=+1", "maxWait<1m", 0, "in all 100 futures"),
            ("queue/team.priority=7", "maxWait<1m", 1, "in 0 of 100 futures; not in number 1: A 1h"),
            ("node/n1=+1", "meanWait<0.1*A", 0, "in all 100 futures"),
            ("queue/team.priority=7", "lab/next=Completed", 0, "in all 100 futures"),
            ("node/n1=lost", "lab/next=Completed", 1, "in 0 of 100 futures; not in number 1: lab/next is Pending")):
        done = call(*words, change, "--require", requirement)
        check(f"{change} --require {requirement}", done.returncode == status and text in done.stdout, (done.returncode, done.stdout, done.stderr))


def try_wrong(check, blocked):
    for words, text in [
        ((blocked, "node/n1=+1", "--hours", "24"), "there is not enough data for an estimate: 1 of 1 running workloads"),
        ((blocked, "node/n1=+1", "--hours", "0"), "expected a whole number from 1 to 1344"),
        ((blocked, "node/n1=+1", "--seed", "3"), "--seed needs --hours"),
        ((blocked, "node/n1=+1", "--history", "past.csv"), "--history needs --hours"),
        ((blocked, "node/n1=+1", "--hours", "24", "--futures", "3"), "expected a whole number from 10"),
        ((blocked, "node/n1=+1", "--hours", "24", "--history", "/nowhere.csv"), "/nowhere.csv"),
        ((blocked, "node/n7=lost", "--hours", "24"), "there is no node 'n7'"),
    ]:
        done = call("whatif", *words)
        check(f"refused: {text}", done.returncode == 2 and text in done.stderr and not done.stdout, (done.returncode, done.stdout, done.stderr))


QUEUES = ("a", "b", "c")
PARTS = {"quota": [0, 2, 8, 16], "limit": [4, 8, 16], "weight": [0, 1, 5], "priority": [1, 200]}


def random_cluster(rng):
    """Nodes with work on them, work that waits, and a past with many arrivals."""
    objects = [queue("all"), *[queue(name, "all", quota=rng.choice([0, 4, 8])) for name in QUEUES]]
    number = 0
    for at in range(rng.randint(2, 4)):
        objects.append(node(f"n{at}"))
        free = 8
        while free > 0 and rng.random() < 0.9:
            gpus = rng.randint(1, free)
            free -= gpus
            number += 1
            objects += pod(f"run-{number}", gpus, -300 - number, started=-rng.randint(5, 290), to=rng.choice(QUEUES), on=f"n{at}")
    for number in range(rng.randint(2, 8)):
        objects += pod(f"wait-{number}", rng.randint(1, 8), -10 - number, to=rng.choice(QUEUES))
    objects += pod("latest", 1, -1, to="a")
    rows = [f"{stamp(-1440 * day + rng.randint(0, 1400))},old-{day}-{i},lab,{rng.choice(QUEUES)},{rng.randint(1, 8)},{rng.randint(600, 40000)},,,"
            for day in range(1, 8) for i in range(6)]
    return objects, sorted(rows)


def make_change(rng, objects):
    """Makes a change of a queue in the objects, and returns its words."""
    name, part = rng.choice(QUEUES), rng.choice(sorted(PARTS))
    value = rng.choice(PARTS[part])
    spec = next(item["spec"] for item in objects if item["kind"] == "Queue" and item["metadata"]["name"] == name)
    if part == "priority":
        spec["priority"] = value
    else:
        spec["resources"]["gpu"]["overQuotaWeight" if part == "weight" else part] = value
    return f"queue/{name}.{part}={value}"


def figures(document, side):
    fates = {row["workload"]: row.get(side) for row in document["workloads"]}
    return {row["queue"]: row[side] for row in document["queues"]}, document["whole"][side], fates


def try_random(folder, check):
    """The side with a change is the side without one of a cluster in which the change is made."""
    differ = 0
    for seed in range(1, SEEDS + 1):
        rng = random.Random(f"hours-{seed}")
        objects, rows = random_cluster(rng)
        before, after, past = folder / "before.json", folder / "after.json", folder / "random.csv"
        past.write_text("\n".join(HISTORY + rows) + "\n")
        write(before, objects)
        change = make_change(rng, objects)
        write(after, objects)
        words = ("--history", past, "--futures", 10, "--seed", seed)
        asked, made = ask(before, change, *words), ask(after, change, *words)
        queues, whole, fates = figures(asked, "with")
        other_queues, other_whole, other_fates = figures(made, "without")
        same = {name: fate for name, fate in fates.items() if name in other_fates}
        check(f"seed {seed}, {change}: it comes as it would", queues == other_queues and whole == other_whole and
              same == {name: other_fates[name] for name in same}, (asked, made))
        check(f"seed {seed}, {change}: made already, it changes nothing", figures(made, "with") == figures(made, "without"), made)
        differ += asked["whole"]["with"] != asked["whole"]["without"]
    check("changes make a difference", differ > 0)


def try_hours(folder):
    """(checks made, what is wrong)"""
    check = Checks()
    blocked, past = try_known(folder, check)
    try_luck(folder, check, blocked)
    try_requirements(check, blocked, past)
    try_wrong(check, blocked)
    try_random(folder, check)
    return check.count, check.troubles
