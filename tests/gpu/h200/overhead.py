"""What work costs with and without the library, for a tenant that is alone and shares fairly.

Processes differ from each other by more than what is looked for, since memory lies elsewhere in each, and the card's clock
changes with its power. So there are many processes of both sides at once, of which one works at a time; they are measured in
pairs right after each other, the first of a pair by chance; and what is shown is the mean over pairs of processes, with its
standard error over them."""

import os
import pathlib
import random
import statistics
import subprocess
import sys

from node import row


class Worker:
    """A process of torch_work.py."""

    def __init__(self, env):
        self.process = subprocess.Popen([sys.executable, pathlib.Path(__file__).parent / "torch_work.py"], env=env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.kinds = []

    def wait(self):
        self.kinds = list(iter(lambda: self.process.stdout.readline().strip(), "ready"))

    def measure(self, kind):
        self.process.stdin.write(kind + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)


def show(name, pairs):
    """`pairs`: of each pair of processes, the measurements without and with the library."""
    each = [statistics.mean(100 * (after / before - 1) for before, after in rounds) for rounds in pairs]
    every = [one for rounds in pairs for one in rounds]
    error = statistics.stdev(each) / len(each) ** 0.5
    row(name, f"without {statistics.median(before for before, _ in every):.3f} us, with "
              f"{statistics.median(after for _, after in every):.3f} us: mean {statistics.mean(each):+.2f} +- {error:.2f} %, "
              f"median {statistics.median(100 * (after / before - 1) for before, after in every):+.2f} %; "
              f"{len(pairs)} pairs of processes, {len(every)} of measurements")


def with_torch(daemon, chance, rounds):
    count = int(os.environ.get("OVERHEAD_PAIRS", "7"))
    pairs = [(Worker(dict(os.environ)), Worker(daemon.environment("a"))) for _ in range(count)]
    workers = [worker for pair in pairs for worker in pair]
    for worker in workers:
        worker.wait()
    wanted = os.environ.get("OVERHEAD_KINDS", "")
    for kind in workers[0].kinds:
        if wanted not in kind:
            continue
        found = [[] for _ in pairs]
        for _ in range(rounds):
            for number in chance.sample(range(count), count):
                took = {side: pairs[number][side].measure(kind) for side in chance.sample((0, 1), 2)}
                found[number].append((took[0], took[1]))
        show(kind, found)
    for worker in workers:
        worker.end()


def with_c(bench, chance, rounds):
    """Each measurement is a process of its own."""
    us = 10
    for name, more in ((f"a {us} us kernel of a loop (C)", ()), (f"a {us} us kernel in a graph of 50 (C)", ("graph=50",))):
        found = []
        for _ in range(2 * rounds):
            took = {side: us / bench.finish(bench.start("a" if side else None, us, 1, 0, "warm=0.2", "tail=0", *more), us)[0]
                    for side in chance.sample((0, 1), 2)}
            found.append([(took[0], took[1])])
        show(name, found)


def overhead(bench):
    chance = random.Random(11)
    rounds = int(os.environ.get("OVERHEAD_ROUNDS", "5"))
    bench.daemon.group("a", 0.5, "fair", "110Gi")
    with_torch(bench.daemon, chance, rounds)
    with_c(bench, chance, rounds)
    bench.daemon.remove("a")
