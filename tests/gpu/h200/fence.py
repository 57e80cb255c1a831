#!/usr/bin/env python3
"""What tenants notice of each other and of the daemon, on a real GPU: fence.py FOLDER NAME...

FOLDER is what tests/gpu/h200/pack made. The GPU's settings are never changed, and memory is taken by plain allocations.

  start      how much later a process has its first kernel behind it, through both doors
  crowd      the same for fifty processes at once
  neighbour  a tenant's work while another one runs into its limit, alone and in four processes
  kills      how soon card and ledger know of a SIGKILL, and whether they agree
  restart    the daemon is killed under load and starts again
  burst      the owner of borrowed memory comes back, and the youngest borrower has to end
  metrics    what the daemon says about memory and shares, and what is true
  overhead   a matrix product, a transformer's step, small kernels and graphs with and without the library
"""

import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import time

import card
from ending import Ending
from node import Bench, Daemon, monotonic, row
from overhead import overhead

GIB = 1 << 30
MIB = 1 << 20


def library(name):
    said = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    return pathlib.Path(re.search(rf"^\s*{re.escape(name)} .*=> (\S+)", said, re.M)[1]).resolve()


def door_a(daemon, group):
    """The environment of a tenant for whom the library stands in the driver's place, as in a container."""
    folder = pathlib.Path(daemon.folder, "door-a")
    if not folder.exists():
        shutil.copytree(daemon.pack / "proxy", folder)
        for ours, theirs in (("libcuda.so.1", "libmuster-driver-cuda.so.1"),
                             ("libnvidia-ml.so.1", "libmuster-driver-nvml.so.1")):
            os.symlink(library(ours), folder / theirs)
    place = pathlib.Path("/run/muster/gpu/tenant.sock")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(daemon.socket(group))
    return {**os.environ, "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}


class Greedy:
    """A process of gpu-tenant that takes memory and keeps it."""

    def __init__(self, daemon, group, piece, pieces, seconds=0, turn_ms=0):
        env = {**daemon.environment(group), "TEST_PIECE": str(piece), "TEST_PIECES": str(pieces),
               "TEST_SECONDS": str(seconds), **({"TEST_TURN_MS": str(turn_ms)} if turn_ms else {})}
        self.process = subprocess.Popen([daemon.pack / "gpu-tenant", "greedy"], env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def wait(self):
        """Bytes held, and how often it was refused, once it has all that it gets."""
        found = re.search(r"held (\d+) refused (\d+)", self.process.stdout.readline())
        return int(found[1]), int(found[2])

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)


def steps_of(said):
    """Of "began TOTAL STEP MS STEP MS...": the milliseconds by step."""
    words = said.split()
    return {"all": float(words[1]), **{name: float(ms) for name, ms in zip(words[2::2], words[3::2])}}


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return f"median {middle:.1f} ms (quartiles {low:.1f} and {high:.1f})"


def start(bench):
    """In any order, since what the driver needs for a context scatters by 10 ms."""
    daemon = bench.daemon
    chance = random.Random(5)
    daemon.group("a", 0.5, "fair")
    environments = {"without": dict(os.environ), "preloaded": daemon.environment("a"), "proxy": door_a(daemon, "a")}
    times = {name: [] for name in environments}
    for _ in range(int(os.environ.get("START_ROUNDS", "100"))):
        for name in chance.sample(list(environments), len(environments)):
            said = subprocess.run([bench.spin, "10", "0", f"since={monotonic()}", f"rate={bench.rate}"],
                                  env=environments[name], capture_output=True, text=True, check=True).stdout
            times[name].append(steps_of(said))
    middle = {name: {step: statistics.median(one[step] for one in each) for step in each[0]}
              for name, each in times.items()}
    for name, each in times.items():
        later = [one["all"] - other["all"] for one, other in zip(each, times["without"])]
        row(f"first kernel of a process, {name}",
            f"{len(each)} of them, {quartiles([one['all'] for one in each])}; later than without in the same round: mean "
            f"{statistics.mean(later):+.2f} +- {statistics.stdev(later) / len(later) ** 0.5:.2f} ms, median "
            f"{statistics.median(later):+.2f}; medians of the steps against those without: "
            + ", ".join(f"{step} {middle[name][step] - middle['without'][step]:+.2f}" for step in middle[name]))
    daemon.remove("a")


def crowd(bench):
    """Fifty processes at once, until each has its first kernel behind it."""
    daemon = bench.daemon
    daemon.group("a", 0.5, "fair", "64Gi")
    for name, env in (("without", dict(os.environ)), ("preloaded", daemon.environment("a"))) * 2:
        command = [bench.spin, "10", "0", f"since={monotonic()}", f"rate={bench.rate}"]
        begun = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(50)]
        times = [steps_of(process.communicate(timeout=120)[0])["all"] for process in begun]
        row(f"50 processes at once, {name}", f"{len(times)} had a kernel, {quartiles(times)}, the last {max(times):.1f} ms")
    daemon.remove("a")


def rates_by_turn(said, turn_ms):
    """Of "rate FIRST RATE...", kernels a second in each span of the clock: those of whole turns, by whether the partner
    asked in it."""
    found = re.search(r"^rate (\d+)((?: [\d.]+)+)", said, re.M)
    first, rates = int(found[1]), [float(each) for each in found[2].split()]
    return [((first + at) % 2 == 0, rate) for at, rate in enumerate(rates)][1:-1]


def changes(turns):
    """Of each turn in which the partner asked, how much more was done than in the two beside it, in percent."""
    return [100 * (rate / ((turns[at - 1][1] + turns[at + 1][1]) / 2) - 1)
            for at, (is_asked, rate) in enumerate(turns) if is_asked and 0 < at < len(turns) - 1]


def neighbour(bench):
    """The neighbour works without a pause while its partner asks for memory beyond its limit in every other second: what it
    does then is held against the seconds before and after. The same beside a partner that never asks is the noise."""
    daemon = bench.daemon
    turn_ms, seconds = 1000, float(os.environ.get("NEIGHBOUR_SECONDS", "20"))
    daemon.group("a", 0.5, "fair")
    daemon.group("b", 0.5, "fair", "20Gi")
    before = card.used()
    for us in (1000, 10):
        for count, asks in ((1, False), (1, True), (4, True)):
            partners = [Greedy(daemon, "b", 64 * MIB, 1 << 20 if asks else 1, int(seconds) + 4 if asks else 0, turn_ms)
                        for _ in range(count)]
            running = bench.start("a", us, seconds, monotonic() + int(2e9), f"spans={turn_ms}")
            said = running.communicate(timeout=120)[0]
            found = changes(rates_by_turn(said, turn_ms))
            refused = sum(each.wait()[1] for each in partners)
            error = statistics.stdev(found) / len(found) ** 0.5
            text = f"{statistics.mean(found):+.2f} +- {error:.2f} % in {len(found)} spans"
            if asks:
                group, truth = daemon.groups()["b"], card.used() - before
                text += (f"; refused {refused} times, charged {total(group) / MIB:.0f} MiB, on the card "
                         f"{truth / MIB:.0f} MiB: {100 * (truth / (20 * GIB) - 1):+.2f} % of the limit")
            row(f"neighbour with {us} us kernels, {f'{count} at the limit of 20 GiB' if asks else 'partner idle'}", text)
            for each in partners:
                each.end()
    daemon.remove("a", "b")


def total(process):
    return process["usedBytes"] + process["contextBytes"] + process["creditBytes"]


def holdings(daemon, group):
    """Bytes that each process has allocated, by its id. What a context takes is corrected by what NVML says, so that it
    may change by itself."""
    return {each["pid"]: each["usedBytes"] for each in daemon.groups()[group]["processes"]}


def charged(daemon, group, pid):
    return sum(total(each) for each in daemon.groups()[group]["processes"] if each["pid"] == pid)


def kills(bench):
    """Kills processes one after the other, small and large ones, and watches card and ledger meanwhile."""
    daemon = bench.daemon
    chance = random.Random(7)
    rounds = int(os.environ.get("KILL_ROUNDS", "10"))
    for name, count, pieces in (("0.1 to 0.5 GiB", 10, (1, 8)), ("20 GiB", 5, (320, 320))):
        daemon.group("a", 0.5, "fair", "110Gi")
        endings, wrong = [], 0
        while len(endings) < rounds * 10:
            crowd = [Greedy(daemon, "a", 64 * MIB, chance.randint(*pieces)) for _ in range(count)]
            for each in crowd:
                each.wait()
            for victim in crowd:
                expected = {pid: held for pid, held in holdings(daemon, "a").items() if pid != victim.process.pid}
                endings.append(Ending(victim.process, lambda pid: charged(daemon, "a", pid), 64 * MIB))
                wrong += holdings(daemon, "a") != expected
        left = total(daemon.groups()["a"])

        def times(pick):
            found = sorted(map(pick, endings))
            return f"{statistics.median(found):.1f}, {found[int(0.9 * len(found))]:.1f}, {found[-1]:.1f}"

        row(f"SIGKILL of processes with {name}",
            f"{len(endings)} killed; ms from the signal until (median, p90, longest) the card has all back "
            f"{times(lambda one: one.card[1])}, NVML does not list it {times(lambda one: one.unlisted[1])}, it has ended "
            f"{times(lambda one: one.ended)}, the ledger is exact {times(lambda one: one.ledger[1])}; ms in which the "
            f"ledger was seen to count what the card had back {times(lambda one: one.disagreement()[0])}, could have "
            f"{times(lambda one: one.disagreement()[1])}; seen to have given away what the card still had: "
            f"{sum(map(Ending.is_early, endings))} times; wrong {wrong}, left {left} bytes")
        daemon.remove("a")


def restart(bench):
    """Two tenants with kernels and two with memory; the daemon is killed three times while they work."""
    daemon = bench.daemon
    daemon.group("a", 0.25, "fair")
    daemon.group("b", 0.75, "fair")
    daemon.group("c", 0.5, "fair", "20Gi")
    holders = [Greedy(daemon, "c", 64 * MIB, count) for count in (20, 50)]
    for each in holders:
        each.wait()
    at = monotonic() + int(2e9)
    running = [bench.start(name, 1000, 14, at) for name in ("a", "b")]
    time.sleep(4)
    before = holdings(daemon, "c")
    away = []
    for _ in range(3):
        killed = monotonic()
        daemon.process.kill()
        daemon.process.wait()
        time.sleep(0.3)
        daemon.start()
        away.append((monotonic() - killed) / 1e6)
        time.sleep(2)
    after = holdings(daemon, "c")
    group = daemon.groups()["c"]
    found = [bench.finish(process, 1000) for process in running]
    more = Greedy(daemon, "c", 64 * MIB, 1 << 20)
    more.wait()
    full = sum(total(each) for each in daemon.groups()["c"]["processes"])
    work = sum(share for share, _ in found)
    row("daemon killed three times under load",
        f"away {', '.join(f'{each:.0f}' for each in away)} ms; holdings {'the same' if before == after else 'DIFFER'}, "
        f"{sum(each['connected'] for each in group['processes'])} of {len(before)} connected; longest pause of a tenant "
        f"{1000 * max(gap for _, gap in found):.0f} ms; together {work / bench.solo(1000):.4f}, share of a "
        f"{found[0][0] / work:.4f}; a newcomer is refused at {full / MIB:.0f} MiB of 20480")
    for each in (*holders, more):
        each.end()
    daemon.remove("a", "b", "c")


def burst(bench):
    """One group has borrowed most of the card in two processes when another wants what is its own. The same without a borrower is
    what the owner needs anyway."""
    daemon = Daemon(bench.daemon.pack, {"memory": {"reclaim": {"deadline": "2s", "action": "kill"}}})

    def owner():
        begin = monotonic()
        one = Greedy(daemon, "b", GIB, 60)
        held, refused = one.wait()
        return one, held / GIB, refused, (monotonic() - begin) / 1e9

    try:
        daemon.group("b", 0.5, "fair", "60Gi")
        alone, _, _, usual = owner()
        alone.end()
        daemon.ask("PUT", "/v1/groups/a", {"name": "a", "gpus": [0], "memory": {"request": "20Gi", "limit": "100Gi"}})
        borrowers = [Greedy(daemon, "a", GIB, 45) for _ in range(2)]
        borrowed = [each.wait()[0] / GIB for each in borrowers]
        one, held, refused, seconds = owner()
        time.sleep(0.5)
        row("borrowed memory is asked back", f"borrowers had {', '.join(f'{each:.0f}' for each in borrowed)} GiB; the owner got "
            f"{held:.0f} of 60 GiB, refused {refused} times, after {seconds:.2f} s ({usual:.2f} s without borrowers); ended: "
            f"{', '.join('yes' if each.process.poll() is not None else 'no' for each in borrowers)}")
        for each in (one, *borrowers):
            each.end()
    finally:
        daemon.stop()


def metrics(bench):
    daemon = bench.daemon
    before = card.used()
    daemon.group("a", 0.25, "fair", "20Gi")
    daemon.group("b", 0.75, "fair")
    holder = Greedy(daemon, "a", 64 * MIB, 200)
    holder.wait()
    at = monotonic() + int(2e9)
    running = [bench.start(name, 1000, 8, at) for name in ("a", "b")]
    time.sleep(3.5)
    begin, at_begin = daemon.groups(), monotonic()
    time.sleep(5)
    end, at_end = daemon.groups(), monotonic()
    truth = card.used() - before
    charged = sum(group["usedBytes"] + group["contextBytes"] for group in end.values())
    found = [bench.finish(process, 1000)[0] / bench.solo(1000) for process in running]
    row("memory by the daemon and by the driver",
        f"{charged / MIB:.0f} and {truth / MIB:.0f} MiB: {100 * (charged / truth - 1):+.2f} %")
    for name, share in zip("ab", found):
        said = (end[name]["leaseSeconds"] - begin[name]["leaseSeconds"]) / ((at_end - at_begin) / 1e9)
        row(f"share of {name} by the daemon and by its work",
            f"{said:.4f} and {share:.4f}: {100 * (said - share):+.2f} points")
    holder.end()
    daemon.remove("a", "b")


MEASUREMENTS = {"start": start, "crowd": crowd, "neighbour": neighbour, "kills": kills, "restart": restart,
                "burst": burst, "metrics": metrics, "overhead": overhead}


def main():
    names = sys.argv[2:] or list(MEASUREMENTS)
    if unknown := set(names) - set(MEASUREMENTS):
        sys.exit(f"no measurement named {', '.join(unknown)}")
    daemon = Daemon(sys.argv[1])
    try:
        bench = Bench(daemon)
        for name in names:
            MEASUREMENTS[name](bench)
    finally:
        daemon.stop()


if __name__ == "__main__":
    main()
