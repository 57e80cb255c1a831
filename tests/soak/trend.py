"""Whether the memory of services stays flat: straight lines through what was measured."""

import collections
import statistics

# Growth that counts: more than this in MiB, and more than this part of what it was.
MOST_MIB, MOST_PART = 0.5, 0.05
FEWEST_SAMPLES = 6

# `late` is the growth at the pace of the second half: one burst makes an allocator keep more, a leak goes on.
Line = collections.namedtuple("Line", "first last growth late per_hour seconds samples mib")


class Memory:
    """Samples by service and process: [(second, MiB)]."""

    def __init__(self):
        self.samples = collections.defaultdict(list)

    def add(self, second, found):
        for service, (process, mib) in found.items():
            self.samples[service, process].append((second, mib))

    def lines(self):
        """{service: Line} of the process of each that was measured for the longest time. The first sample is of a process
        that has not seen everything yet, and does not count where there are enough."""
        longest = {}
        for (service, _), samples in self.samples.items():
            if len(samples) > len(longest.get(service, [])):
                longest[service] = samples
        return {service: line_of(samples[1:] if len(samples) > FEWEST_SAMPLES else samples)
                for service, samples in sorted(longest.items())}


def slope_of(samples):
    seconds, mib = zip(*samples)
    return statistics.linear_regression(seconds, mib).slope if len(samples) > 1 and seconds[-1] > seconds[0] else 0


def line_of(samples):
    seconds, mib = zip(*samples)
    span, slope, late = seconds[-1] - seconds[0], slope_of(samples), slope_of(samples[len(samples) // 2:])
    return Line(mib[0], mib[-1], slope * span, late * span, slope * 3600, span, len(samples), mib)


def is_flat(line):
    return min(line.growth, line.late) <= max(MOST_MIB, MOST_PART * line.first)


def growing(lines):
    """Those that are not flat, as text; services with too few samples say nothing."""
    return [f"{service}: {line.growth:.2f} MiB more after {line.seconds / 60:.0f} minutes, {line.first:.1f} MiB at first"
            for service, line in lines.items() if line.samples >= FEWEST_SAMPLES and not is_flat(line)]
