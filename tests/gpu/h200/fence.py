#!/usr/bin/env python3
"""What tenants notice of each other and of the daemon, on a real GPU: fence.py FOLDER NAME...

FOLDER is what tests/gpu/h200/pack made. The GPU's settings are never changed, and memory is taken by plain allocations.

  start      how much later a process has its first kernel behind it, through both doors
  neighbour  a tenant's work while another one runs into its limit, alone and in four processes
  kills      how soon the ledger is exact after SIGKILL, one process after the other
  restart    the daemon is killed under load and starts again
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

from node import Bench, Daemon, monotonic, row

GIB = 1 << 30
MIB = 1 << 20


def driver_used():
    """Bytes of the GPU in use, by NVML."""
    said = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
                          capture_output=True, text=True, check=True).stdout
    return int(said.split()[0]) * MIB


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

    def __init__(self, daemon, group, piece, pieces, seconds=0):
        env = {**daemon.environment(group), "TEST_PIECE": str(piece), "TEST_PIECES": str(pieces),
               "TEST_SECONDS": str(seconds)}
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


def start(bench):
    """In any order, since what the driver needs for a context scatters by 10 ms."""
    daemon = bench.daemon
    chance = random.Random(5)
    daemon.group("a", 0.5, "fair")
    environments = {"without": dict(os.environ), "preloaded": daemon.environment("a"), "proxy": door_a(daemon, "a")}
    times = {name: [] for name in environments}
    for _ in range(int(os.environ.get("START_ROUNDS", "40"))):
        for name in chance.sample(list(environments), len(environments)):
            said = subprocess.run([bench.spin, "10", "0", f"since={monotonic()}", f"rate={bench.rate}"],
                                  env=environments[name], capture_output=True, text=True, check=True).stdout
            times[name].append(steps_of(said))
    middle = {name: {step: statistics.median(one[step] for one in each) for step in each[0]}
              for name, each in times.items()}
    for name, each in times.items():
        every = [one["all"] for one in each]
        error = statistics.stdev(every) / len(every) ** 0.5
        row(f"first kernel of a process, {name}",
            f"median of {len(every)} {middle[name]['all']:.1f} ms, mean {statistics.mean(every):.1f} +- {error:.1f} ms; "
            "medians against those without: "
            + ", ".join(f"{step} {middle[name][step] - middle['without'][step]:+.2f}" for step in middle[name]))
    daemon.remove("a")


def neighbour(bench):
    """The neighbour's work beside a partner that has a context and rests, and then beside one that runs into its limit."""
    daemon = bench.daemon
    seconds = 8
    daemon.group("a", 0.5, "fair")
    daemon.group("b", 0.5, "fair", "20Gi")
    before = driver_used()
    for us in (1000, 10):
        resting = Greedy(daemon, "b", MIB, 1)
        resting.wait()
        ((usual, _),) = bench.together(seconds, ("a", us, ()))
        resting.end()
        for count in (1, 4):
            greedy = [Greedy(daemon, "b", 64 * MIB, 1 << 20, seconds + 3) for _ in range(count)]
            ((found, _),) = bench.together(seconds, ("a", us, ()))
            said = [each.wait() for each in greedy]
            group, truth = daemon.groups()["b"], driver_used() - before
            charged = group["usedBytes"] + group["contextBytes"] + group["creditBytes"]
            row(f"neighbour with {us} us kernels, {count} at the limit of 20 GiB",
                f"{usual:.4f}, then {found:.4f}: {100 * (found / usual - 1):+.2f} %; refused {sum(n for _, n in said)} "
                f"times, charged {charged / MIB:.0f} MiB, on the card {truth / MIB:.0f} MiB: "
                f"{100 * (truth / (20 * GIB) - 1):+.2f} % of the limit")
            for each in greedy:
                each.end()
    daemon.remove("a", "b")


def total(process):
    return process["usedBytes"] + process["contextBytes"] + process["creditBytes"]


def holdings(daemon, group):
    """Bytes that each process has allocated, by its id. What a context takes is corrected by what NVML says, so that it
    may change by itself."""
    return {each["pid"]: each["usedBytes"] for each in daemon.groups()[group]["processes"]}


def kills(bench):
    """Kills one of several every time, and asks the daemon until it has only what the others hold."""
    daemon = bench.daemon
    chance = random.Random(7)
    daemon.group("a", 0.5, "fair", "60Gi")
    exact, gone, wrong = [], [], 0
    for _ in range(int(os.environ.get("KILL_ROUNDS", "10"))):
        crowd = [Greedy(daemon, "a", 64 * MIB, chance.randint(1, 8)) for _ in range(10)]
        for each in crowd:
            each.wait()
        for victim in crowd:
            expected = {pid: held for pid, held in holdings(daemon, "a").items() if pid != victim.process.pid}
            time.sleep(chance.uniform(0, 0.05))
            killed = monotonic()
            victim.process.kill()
            while holdings(daemon, "a") != expected and monotonic() - killed < 2e9:
                pass
            exact.append((monotonic() - killed) / 1e6)
            victim.process.wait()
            gone.append((monotonic() - killed) / 1e6)
            wrong += holdings(daemon, "a") != expected
    left = daemon.groups()["a"]
    row("ledger exact after SIGKILL",
        f"{len(exact)} killed, median {statistics.median(exact):.1f} ms, longest {max(exact):.1f} ms (until the kernel has "
        f"ended the process: {statistics.median(gone):.1f}, {max(gone):.1f} ms), wrong {wrong}, "
        f"left {left['usedBytes'] + left['contextBytes']} bytes")
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


def metrics(bench):
    daemon = bench.daemon
    before = driver_used()
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
    truth = driver_used() - before
    charged = sum(group["usedBytes"] + group["contextBytes"] for group in end.values())
    found = [bench.finish(process, 1000)[0] / bench.solo(1000) for process in running]
    row("memory by the daemon and by the driver",
        f"{charged / MIB:.0f} and {truth / MIB:.0f} MiB: {100 * (charged / truth - 1):+.2f} %")
    for name, share in zip("ab", found):
        said = (end[name]["leaseSeconds"] - begin[name]["leaseSeconds"]) / ((at_end - at_begin) / 1e9)
        row(f"share of {name} by the daemon and by its work", f"{said:.4f} and {share:.4f}: {100 * (said - share):+.2f} points")
    holder.end()
    daemon.remove("a", "b")


def overhead(bench):
    """What work costs with and without the library, in turn, for a tenant that is alone and shares fairly."""
    daemon = bench.daemon
    daemon.group("a", 0.5, "fair", "64Gi")
    found = {}
    for _ in range(int(os.environ.get("OVERHEAD_ROUNDS", "4"))):
        for side, env in ((0, dict(os.environ)), (1, daemon.environment("a"))):
            said = subprocess.run([sys.executable, pathlib.Path(__file__).parent / "overhead.py"], env=env,
                                  capture_output=True, text=True, check=True).stdout
            for name, us in re.findall(r"^(.+) ([\d.]+)$", said, re.M):
                found.setdefault(name, ([], []))[side].append(float(us))
            for us, more in ((10, ()), (10, ("graph=50",))):
                share, _ = bench.finish(bench.start("a" if side else None, us, 1.5, 0, "tail=0", *more), us)
                name = f"a {us} us kernel {'in a graph of 50' if more else 'of a loop'} (C)"
                found.setdefault(name, ([], []))[side].append(us / share)
    for name, (without, with_it) in found.items():
        before, after = statistics.median(without), statistics.median(with_it)
        row(name, f"without {before:.3f} us, with {after:.3f} us: {100 * (after / before - 1):+.2f} %; without between "
                  f"{min(without):.3f} and {max(without):.3f}, with between {min(with_it):.3f} and {max(with_it):.3f}")
    daemon.remove("a")


MEASUREMENTS = {"start": start, "neighbour": neighbour, "kills": kills, "restart": restart, "metrics": metrics,
                "overhead": overhead}


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
