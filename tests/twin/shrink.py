"""The smallest sequence of requests that still shows a difference."""


def signature(found):
    """What makes two differences the same: their first place, without its numbers."""
    return found[0].split(":")[0]


def shrink(play, result, steps):
    """Leaves out as much before the step with the difference as can be. play(steps) returns Results."""
    wanted = signature(result.found)
    kept = steps[:result.number + 1]
    best = result
    if not result.step.is_watch:
        # Watches take their time, and change nothing.
        kept = [one for one in kept if not one.is_watch]
    size = max(1, len(kept) // 2)
    while size:
        start = 0
        while start < len(kept) - 1:
            fewer = kept[:start] + kept[min(start + size, len(kept) - 1):]
            again = [one for one in play(fewer) if one.number == len(fewer) - 1 and signature(one.found) == wanted]
            if again:
                kept, best = fewer, again[0]
            else:
                start += size
        size //= 2
    return best, kept
