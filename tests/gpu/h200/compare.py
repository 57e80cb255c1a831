#!/usr/bin/env python3
"""compare.py LOG: the medians of lines "with|without NAME NUMBER", side by side."""

import collections
import statistics
import sys

found = collections.defaultdict(lambda: collections.defaultdict(list))
with open(sys.argv[1]) as lines:
    for line in lines:
        words = line.split()
        if len(words) == 3:
            found[words[1]][words[0]].append(float(words[2]))
for name, sides in found.items():
    if len(sides) == 2:
        without, with_it = statistics.median(sides["without"]), statistics.median(sides["with"])
        print(f"{name:<34} without {without:.3f}, with {with_it:.3f}, {100 * (with_it / without - 1):+.2f} %")
