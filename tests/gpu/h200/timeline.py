"""Where the GPU's time goes when tenants take turns: from files that spin wrote with trace=FILE."""

import array
import statistics


LONG = 60000  # between two kernels of one tenant: more than the program needs to begin its next batch
APART = 1000000  # likewise: a lease has ended in between


def read(path):
    """Kernels as (begin, end) in nanoseconds of the GPU's clock."""
    numbers = array.array("Q")
    with open(path, "rb") as file:
        numbers.frombytes(file.read())
    return [(begin, end) for begin, end in zip(numbers[::2], numbers[1::2]) if end > 0]


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0


def breakdown(paths):
    """One line: of the time in which all of them ran, what was lost and to what."""
    kernels = [read(path) for path in paths]
    begin = max(each[0][0] for each in kernels)
    end = min(each[-1][1] for each in kernels)
    usual = [statistics.median(e - b for b, e in each) for each in kernels]
    merged = sorted((b, e, who) for who, each in enumerate(kernels) for b, e in each if b >= begin and e <= end)
    span = end - begin
    gaps, first_late, places = [], [], []
    inside, slow, work = [0] * len(paths), [0] * len(paths), [0] * len(paths)
    long = beside = 0
    last_end, last_who = merged[0][1:]
    for b, e, who in merged[1:]:
        late = (e - b) - usual[who]
        if who != last_who or b - last_end > APART:
            gaps.append(b - last_end)
            places.append((b - last_end, last_end - begin, last_who, who))
            first_late.append(late)
        else:
            inside[who] += max(b - last_end, 0)
            long += b - last_end if b - last_end > LONG else 0
        beside += max(last_end - b, 0)
        slow[who] += max(late, 0)
        work[who] += e - b
        last_end, last_who = max(last_end, e), who
    between = sum(max(gap, 0) for gap in gaps)
    return (f"{len(gaps)} changes in {span / 1e9:.1f} s; lost between tenants {100 * between / span:.2f} % "
            f"(gap median {statistics.median(gaps) / 1e3:.0f}, p90 {percentile(gaps, 0.9) / 1e3:.0f}, "
            f"p99 {percentile(gaps, 0.99) / 1e3:.0f} us), between kernels of one {of_work(inside, work)} % of its work "
            f"({100 * long / span:.2f} % of all in gaps of more than {LONG / 1e3:.0f} us), "
            f"in kernels longer than usual {of_work(slow, work)} % (the first after a change: median "
            f"{statistics.median(first_late) / 1e3:.0f} us more), side by side {100 * beside / span:.2f} %; "
            f"usual {', '.join(f'{each / 1e3:.1f}' for each in usual)} us; the worst changes: " +
            ", ".join(f"{gap / 1e3:.0f} us at {at / 1e9:.3f} s from {old} to {new}"
                      for gap, at, old, new in sorted(places, reverse=True)[:6]))


def of_work(parts, work):
    """By tenant, in percent."""
    return " and ".join(f"{100 * part / whole:.2f}" for part, whole in zip(parts, work))


def alone(path):
    """The same for a tenant that is alone."""
    kernels = read(path)
    span = kernels[-1][1] - kernels[0][0]
    gaps = [after[0] - before[1] for before, after in zip(kernels, kernels[1:])]
    return (f"between kernels {100 * sum(gaps) / span:.2f} % "
            f"({100 * sum(gap for gap in gaps if gap > LONG) / span:.2f} % in gaps of more than {LONG / 1e3:.0f} us); "
            f"usual {statistics.median(e - b for b, e in kernels) / 1e3:.1f} us")


def takeovers(steady, resting):
    """One line about a tenant that always has work beside one that rests in between: how long the GPU had nothing to do
    when the partner stopped, and how long the partner waited when it came back."""
    own, other = read(steady), read(resting)
    pauses = [(before[1], after[0]) for before, after in zip(other, other[1:]) if after[0] - before[1] > 100000000]
    unused = []
    for stopped, _ in pauses:
        after = [begin for begin, _ in own if begin >= stopped - 1000000]
        if after:
            unused.append(max(after[0] - stopped, 0))
    return (f"{len(pauses)} pauses; without work for {statistics.median(unused) / 1e6:.2f} ms, "
            f"at most {max(unused) / 1e6:.2f} ms") if unused else "no pauses seen"
