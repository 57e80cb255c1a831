#!/usr/bin/env python3
"""Shares of compute on a real GPU: compute.py FOLDER NAME...

FOLDER is what tests/gpu/h200/pack made: the program, the library and their libraries. Each row is one measurement: what
was promised, what was found, how far off. Windows of SECONDS_EACH (30) seconds. The GPU's settings are never changed.

  strict  10, 25, 50 and 75 %, kernels of 10 us, 1 ms and 200 ms, several tenants at a time   fair    pairs 1:1, 1:3, 1:9
  strict-graphs, fair-graphs  the same by graphs                                              three   5:3:2
  idle    a partner that rests, and one that works every other second                         trace   where time is lost
"""

import json
import os
import sys

import timeline
from node import Bench, Daemon, row

SECONDS = float(os.environ.get("SECONDS_EACH", "30"))

# Kernels in us and shares, side by side: together every length with every share. Each sums to less than the whole, since
# hand-overs cost something too.
STRICT = [
    [(10, 0.10), (1000, 0.25), (200000, 0.50)],
    [(1000, 0.10), (10, 0.75)],
    [(200000, 0.10), (10, 0.25), (1000, 0.50)],
    [(200000, 0.25), (10, 0.50)],
    [(1000, 0.75)],
    [(200000, 0.75)],
]
PAIRS = [(1000, 1000), (10, 1000), (10, 10), (1000, 200000), (10, 200000)]
WEIGHTS = (0.5, 0.25, 0.1)
THREE = [(1000, 10, 20000), (10, 200000, 1000)]


def show(name, us, wanted, found, seconds, extra=""):
    """Good is 2 % of the share over the window, or one kernel where that is more."""
    allowed = max(0.02 * wanted, us / 1e6 / seconds)
    row(name, f"promised {wanted:.3f}  found {found:.4f}  off by {100 * (found / wanted - 1):+6.2f} %, "
              f"{'within' if abs(found - wanted) <= allowed else 'NOT WITHIN'} {100 * allowed / wanted:.1f} %  {extra}")


def graph_of(us):
    """So many kernels in a graph as take half a millisecond, or one."""
    return (f"graph={max(1, 500 // us)}",)


def length(us):
    return f"{us} us" if us < 1000 else f"{us // 1000} ms"


def side_by_side(bench, mode, tenants, seconds, graphs):
    """Runs [(us, share)]: what each found, how long the longest gaps were, and the bound of 99 % of the hand-overs."""
    names = "abcdefgh"[:len(tenants)]
    for name, (_, share) in zip(names, tenants):
        bench.daemon.group(name, share, mode)
    before = bench.daemon.handovers()
    found = bench.together(seconds, *[(name, us, graph_of(us) if graphs else ())
                                      for name, (us, _) in zip(names, tenants)])
    counts = {bound: count - before.get(bound, 0) for bound, count in bench.daemon.handovers().items()}
    late = [bound for bound in sorted(counts) if counts[bound] >= 0.99 * counts[float("inf")]] or [0]
    bench.daemon.remove(*names)
    return [share for share, _ in found], [gap for _, gap in found], late[0]


def strict(bench, graphs=False):
    for tenants in STRICT:
        found, gaps, _ = side_by_side(bench, "strict", tenants, SECONDS, graphs)
        for (us, share), one, gap in zip(tenants, found, gaps):
            others = " and ".join(f"{length(other)} {100 * part:.0f} %" for other, part in tenants if other != us)
            show(f"strict {length(us)}{', graphs' if graphs else ''}, {'beside ' + others if others else 'alone'}", us,
                 share, one, SECONDS, f"longest gap {gap * 1000:.0f} ms")


def fair(bench, sets, graphs=False):
    """Shares are of the work that was done by all, since that is what is divided."""
    for tenants in sets:
        found, _, late = side_by_side(bench, "fair", tenants, SECONDS, graphs)
        for number, ((us, share), one) in enumerate(zip(tenants, found)):
            others = " and ".join(length(other) for at, (other, _) in enumerate(tenants) if at != number)
            if len(tenants) > 2 or number == 0:
                show(f"fair {length(us)}{', graphs' if graphs else ''}, beside {others}", us, share, one / sum(found),
                     SECONDS, f"together {sum(found):.4f}, hand-over p99 <= {1000 * late:.2f} ms")


def pairs(lengths, weights):
    return [[(left, share), (right, 1 - share)] for left, right in lengths for share in weights]


def threes():
    return [list(zip(lengths, (0.5, 0.3, 0.2))) for lengths in THREE]


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


def trace_pairs(bench):
    """Where the GPU's time goes, by its own clock; and when each is alone, without the library."""
    sets = json.loads(os.environ.get("TRACE_PAIRS", "[[1000, 1000], [10, 1000], [10, 10]]"))
    for us in sorted({us for lengths in sets for us in lengths}):
        path = f"{bench.daemon.folder}/alone.trace"
        bench.finish(bench.start(None, us, 3, 0, f"trace={path}"), us)
        row(f"{length(us)} alone, without the library", timeline.alone(path))
    for lengths in sets:
        names = "abcdefgh"[:len(lengths)]
        paths = [f"{bench.daemon.folder}/{name}.trace" for name in names]
        for name in names:
            bench.daemon.group(name, 1 / len(lengths), "fair")
        found = bench.together(float(os.environ.get("TRACE_SECONDS", "4")),
                               *[(name, us, (f"trace={path}",)) for name, us, path in zip(names, lengths, paths)])
        row(f"{' beside '.join(length(us) for us in lengths)}, by the GPU's clock",
            f"together {sum(share for share, _ in found):.4f}; " + timeline.breakdown(paths))
        bench.daemon.remove(*names)


MEASUREMENTS = {
    "strict": strict,
    "strict-graphs": lambda bench: strict(bench, True),
    "fair": lambda bench: fair(bench, pairs(PAIRS, WEIGHTS)),
    "fair-graphs": lambda bench: fair(bench, pairs([(10, 1000)], WEIGHTS) + threes()[:1], True),
    "three": lambda bench: fair(bench, threes()),
    "idle": idle,
    "trace": trace_pairs,
}


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
