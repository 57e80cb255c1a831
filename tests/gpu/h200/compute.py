#!/usr/bin/env python3
"""Shares of compute on a real GPU: compute.py FOLDER NAME...

FOLDER is what tests/gpu/h200/pack made: the program, the library and their libraries. Each row is one measurement: what
was promised, what was found, how far off. Windows of SECONDS_EACH (30) seconds. The GPU's settings are never changed.

  strict  10, 25, 50 and 75 %, kernels of 10 us, 1, 20 and 200 ms, one by one and by graphs, several tenants at a time
  fair    1:1, 1:3, 1:9 and 5:3:2 of the same
  idle    a partner that rests, and one that works every other second
  trace   where time is lost

WINDOWS=0,3,5 takes only these of strict, fair or trace; TRACE_MODE=strict traces those of strict.
"""

import json
import os
import sys
import threading
import time

import timeline
from node import Bench, Daemon, monotonic, row

SECONDS = float(os.environ.get("SECONDS_EACH", "30"))

US, MS = 1, 1000

# Windows of (kernel in us, share, by graphs), side by side: together every length with every share, both ways. These sum to
# less than the whole, since hand-overs cost something too; the last ones do not, so that the cost shows.
STRICT = [
    [(200 * MS, 0.75, False), (10 * US, 0.10, True)],
    [(20 * MS, 0.75, False), (1 * MS, 0.10, False)],
    [(1 * MS, 0.75, True), (20 * MS, 0.10, True)],
    [(20 * MS, 0.75, True), (10 * US, 0.10, False)],
    [(200 * MS, 0.75, True), (20 * MS, 0.10, False)],
    [(20 * MS, 0.50, False), (10 * US, 0.25, True), (200 * MS, 0.10, True)],
    [(10 * US, 0.50, True), (20 * MS, 0.25, False), (1 * MS, 0.10, True)],
    [(1 * MS, 0.50, True), (200 * MS, 0.25, True), (20 * MS, 0.10, False)],
    [(20 * MS, 0.50, True), (1 * MS, 0.25, False), (200 * MS, 0.10, False)],
    [(200 * MS, 0.50, False), (20 * MS, 0.25, True), (10 * US, 0.10, False)],
    [(10 * US, 0.75, False), (1 * MS, 0.10, False)],
    [(10 * US, 0.75, True), (1 * MS, 0.10, True)],
    [(1 * MS, 0.75, False), (10 * US, 0.10, False)],
    [(10 * US, 0.50, False), (200 * MS, 0.25, False), (1 * MS, 0.10, True)],
    [(1 * MS, 0.50, False), (10 * US, 0.25, False), (200 * MS, 0.10, False)],
    [(200 * MS, 0.50, True), (1 * MS, 0.25, True), (10 * US, 0.10, True)],
    [(1 * MS, 0.50, False), (1 * MS, 0.50, False)],
    [(1 * MS, 0.25, False), (10 * US, 0.75, False)],
]
FAIR = [
    [(1 * MS, 0.50, False), (1 * MS, 0.50, False)],
    [(10 * US, 0.50, True), (1 * MS, 0.50, True)],
    [(20 * MS, 0.50, False), (200 * MS, 0.50, True)],
    [(10 * US, 0.25, True), (200 * MS, 0.75, False)],
    [(20 * MS, 0.25, True), (1 * MS, 0.75, False)],
    [(20 * MS, 0.10, False), (10 * US, 0.90, True)],
    [(1 * MS, 0.10, True), (200 * MS, 0.90, False)],
    [(10 * US, 0.10, False), (1 * MS, 0.90, False)],
    [(200 * MS, 0.50, True), (20 * MS, 0.30, False), (10 * US, 0.20, True)],
    [(10 * US, 0.50, False), (10 * US, 0.50, False)],
    [(1 * MS, 0.25, False), (1 * MS, 0.75, False)],
    [(1 * MS, 0.50, False), (10 * US, 0.30, False), (20 * MS, 0.20, False)],
    [(1 * MS, 0.10, False), (1 * MS, 0.90, False)],
    [(10 * US, 0.50, False), (1 * MS, 0.50, False)],
    [(10 * US, 0.25, False), (10 * US, 0.75, False)],
    [(10 * US, 0.50, False), (200 * MS, 0.30, False), (1 * MS, 0.20, False)],
]
TRACED = [
    [(1 * MS, 0.50, False), (1 * MS, 0.50, False)],
    [(10 * US, 0.50, False), (1 * MS, 0.50, False)],
    [(10 * US, 0.50, False), (10 * US, 0.50, False)],
]


def show(name, us, wanted, found, seconds, extra=""):
    """Good is 2 % of the share over the window, or one kernel where that is more."""
    allowed = max(0.02 * wanted, us / 1e6 / seconds)
    row(name, f"promised {wanted:.3f}  found {found:.4f}  off by {100 * (found / wanted - 1):+6.2f} %, "
              f"{'within' if abs(found - wanted) <= allowed else 'NOT WITHIN'} {100 * allowed / wanted:.1f} %  {extra}")


def graph_of(us):
    """So many kernels in a graph as take half a millisecond, or one."""
    return (f"graph={max(1, 500 // us)}",)


def length(us, by_graphs=False):
    return (f"{us} us" if us < MS else f"{us // MS} ms") + (" by graphs" if by_graphs else "")


def chosen(windows):
    """Those of the environment, or all."""
    numbers = os.environ.get("WINDOWS")
    return [windows[int(number)] for number in numbers.split(",")] if numbers else windows


def others_of(tenants, number):
    """The partners of one of a window, in words."""
    return " and ".join(f"{length(us, by_graphs)} {100 * part:.0f} %"
                        for at, (us, part, by_graphs) in enumerate(tenants) if at != number)


class Charges(threading.Thread):
    """What the daemon charges each group for in the middle of a window, of the time that passes."""

    def __init__(self, daemon, seconds):
        super().__init__()
        self.daemon_asked, self.seconds, self.found = daemon, seconds, {}
        self.start()

    def look(self):
        return monotonic(), {name: group["leaseSeconds"] for name, group in self.daemon_asked.groups().items()}

    def run(self):
        time.sleep(4)
        begin, before = self.look()
        time.sleep(max(self.seconds - 4, 1))
        end, after = self.look()
        self.found = {name: (after[name] - before[name]) / ((end - begin) / 1e9) for name in after}

    def wait(self):
        self.join()
        return self.found


def side_by_side(bench, mode, tenants, seconds):
    """Runs a window: what each found, how long the longest gaps were, and the bound of 99 % of the hand-overs."""
    names = "abcdefgh"[:len(tenants)]
    for name, (_, share, _) in zip(names, tenants):
        bench.daemon.group(name, share, mode)
    workers = [(name, us, graph_of(us) if by_graphs else ()) for name, (us, _, by_graphs) in zip(names, tenants)]
    for _, us, more in workers:
        bench.solo(us, *more)
    before = bench.daemon.handovers()
    charges = Charges(bench.daemon, seconds)
    found = bench.together(seconds, *workers)
    counts = {bound: count - before.get(bound, 0) for bound, count in bench.daemon.handovers().items()}
    late = [bound for bound in sorted(counts) if counts[bound] >= 0.99 * counts[float("inf")]] or [0]
    print("# charged by the daemon: " + ", ".join(f"{charges.wait()[name]:.4f}" for name in names))
    bench.daemon.remove(*names)
    return [share for share, _ in found], [gap for _, gap in found], late[0]


def strict(bench):
    for tenants in chosen(STRICT):
        found, gaps, _ = side_by_side(bench, "strict", tenants, SECONDS)
        for number, ((us, share, by_graphs), one, gap) in enumerate(zip(tenants, found, gaps)):
            show(f"strict {length(us, by_graphs)}, beside {others_of(tenants, number)}", us, share, one, SECONDS,
                 f"longest gap {gap * 1000:.0f} ms")


def fair(bench):
    """Shares are of the work that was done by all, since that is what is divided."""
    for tenants in chosen(FAIR):
        found, _, late = side_by_side(bench, "fair", tenants, SECONDS)
        for number, ((us, share, by_graphs), one) in enumerate(zip(tenants, found)):
            show(f"fair {length(us, by_graphs)}, beside {others_of(tenants, number)}", us, share, one / sum(found),
                 SECONDS, f"together {sum(found):.4f}, hand-over p99 <= {1000 * late:.2f} ms")


def idle(bench):
    bench.daemon.group("a", 0.5, "fair")
    bench.daemon.group("b", 0.5, "fair")
    ((found, _),) = bench.together(5, ("a", 1000, ()))
    row("fair, the partner is idle", f"promised 1.000  found {found:.4f}")
    (one, _), (two, _) = bench.together(12, ("a", 1000, ()), ("b", 1000, ("on=1000", "off=1000")))
    row("fair, the partner works every other second", f"promised 0.750  found {one:.4f}, the partner {two:.4f}")
    folder = bench.daemon.folder
    paths = [f"{folder}/a.trace", f"{folder}/b.trace"]
    bench.together(8, ("a", 1000, (f"trace={paths[0]}",)), ("b", 1000, ("on=200", "off=200", f"trace={paths[1]}")))
    row("time until a rested partner has the GPU, and until its share is used", timeline.takeovers(*paths))
    bench.daemon.remove("a", "b")


def trace(bench):
    """Where the GPU's time goes, by its own clock; and when each is alone, without the library. TRACE_MODE is one of the modes;
    a graph knows no kernel's own time, so that all are launched one by one."""
    mode = os.environ.get("TRACE_MODE", "fair")
    windows = chosen(STRICT if mode == "strict" else TRACED)
    for us in sorted({us for tenants in windows for us, _, _ in tenants}):
        path = f"{bench.daemon.folder}/alone.trace"
        bench.finish(bench.start(None, us, 3, 0, f"trace={path}"), us)
        row(f"{length(us)} alone, without the library", timeline.alone(path))
    for tenants in windows:
        names = "abcdefgh"[:len(tenants)]
        paths = [f"{bench.daemon.folder}/{name}.trace" for name in names]
        for name, (_, share, _) in zip(names, tenants):
            bench.daemon.group(name, share, mode)
        found = bench.together(float(os.environ.get("TRACE_SECONDS", "4")),
                               *[(name, us, (f"trace={path}",)) for name, (us, _, _), path in zip(names, tenants, paths)])
        row(f"{' beside '.join(length(us) for us, _, _ in tenants)}, {mode}, by the GPU's clock",
            f"found {' and '.join(f'{share:.4f}' for share, _ in found)}; " + timeline.breakdown(paths))
        bench.daemon.remove(*names)


MEASUREMENTS = {"strict": strict, "fair": fair, "idle": idle, "trace": trace}


def main():
    names = sys.argv[2:] or list(MEASUREMENTS)
    config = os.environ.get("GPUD_CONFIG")
    if unknown := set(names) - set(MEASUREMENTS):
        sys.exit(f"no measurement named {', '.join(unknown)}")
    daemon = Daemon(sys.argv[1], json.loads(config) if config else None)
    try:
        bench = Bench(daemon)
        for name in names:
            MEASUREMENTS[name](bench)
        print("# alone, without the library, of nominal work: " +
              ", ".join(f"{us} us {' '.join(more)} {share:.4f}" for (us, more), share in bench.alone.items()))
    finally:
        daemon.stop()


if __name__ == "__main__":
    main()
