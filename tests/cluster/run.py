#!/usr/bin/env python3
"""Starts a real Kubernetes and tries it, and the definitions in deploy/crds on it: tests/cluster/run.py [WORD...]

With words, only the tests whose titles contain one of them. The programs are built the first time, see build.py.
"""

import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import bed  # noqa: E402
import build  # noqa: E402
import test_bed  # noqa: E402
import test_crds  # noqa: E402

NODES = 2
SUITES = (test_crds.SUITE, test_bed.SUITE)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    words = sys.argv[1:]
    try:
        build.build()
        start = time.monotonic()
        with bed.Bed(nodes=NODES, scheduler=True) as cluster:
            print(f"# the cluster took {time.monotonic() - start:.1f} s to start", flush=True)
            counts = [suite.run(cluster, words) for suite in SUITES]
            folder = cluster.folder
    except (build.BuildError, bed.processes.Ended, TimeoutError) as error:
        print(f"# {error}")
        counts = [(0, 1, 0)]
    else:
        counts.append(nothing_left(folder))
    passed, failed, skipped = (sum(column) for column in zip(*counts))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


def nothing_left(folder):
    """The last test: the cluster is gone."""
    found = test_bed.leftovers(folder) + [str(one) for one in [folder] if one.exists()]
    for one in found:
        print(f"# left: {one}")
    print(f"{'not ok' if found else 'ok'} - nothing is left of the cluster")
    return (0, 1, 0) if found else (1, 0, 0)


if __name__ == "__main__":
    sys.exit(main())
