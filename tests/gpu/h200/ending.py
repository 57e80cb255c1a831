"""What is seen of a process's end, by the card and by the ledger, while it is killed."""

import os
import select
import sys
import threading
import time

import card
from node import monotonic


class Watch:
    """Asks one question over and over. `seen` has (asked, answered, bytes) for each time."""

    def __init__(self, question, pause):
        self.question, self.pause = question, pause
        self.seen = []
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.is_over.is_set():
            asked = monotonic()
            found = self.question()
            self.seen.append((asked, monotonic(), found))
            time.sleep(self.pause)

    def stop(self):
        self.is_over.set()
        self.thread.join()

    def is_down(self, level):
        return bool(self.seen) and self.seen[-1][2] <= level

    def between(self, at):
        """The sample's change happened after the one before was asked for, and before this one was answered."""
        return self.seen[max(at - 1, 0)][0], self.seen[at][1]

    def began(self, level):
        """When it was first below the level."""
        return self.between(next(at for at, (_, _, found) in enumerate(self.seen) if found < level))

    def fell(self, level):
        """When it came down to the level for good."""
        at = max((at for at, (_, _, found) in enumerate(self.seen) if found > level), default=-1) + 1
        if at == len(self.seen):
            sys.exit("what a killed process held is still there")
        return self.between(at)


class Ending:
    """Kills a process. All times are milliseconds after the signal; pairs are the earliest and the latest that they can
    have been, since nobody tells when it happens and asking takes time."""

    def __init__(self, process, ledger_of, tolerance):
        pid, pidfd = process.pid, os.pidfd_open(process.pid)
        held = card.processes()[pid]
        before = card.used()
        listed, used, ledger = watches = [Watch(lambda: card.processes().get(pid, 0), 0.0005), Watch(card.used, 0.0005),
                                          Watch(lambda: ledger_of(pid), 0.0005)]
        levels = [tolerance, before - held + tolerance, tolerance]
        while not all(watch.seen for watch in watches):
            time.sleep(0.0005)
        killed = monotonic()
        process.kill()
        select.select([pidfd], [], [], 10)
        ended = monotonic()
        while not all(watch.is_down(level) for watch, level in zip(watches, levels)) and monotonic() - killed < 5e9:
            time.sleep(0.001)
        for watch in watches:
            watch.stop()
        process.wait()
        os.close(pidfd)

        def since(pair):
            return tuple((at - killed) / 1e6 for at in pair)

        self.ended = (ended - killed) / 1e6
        self.unlisted = since(listed.fell(levels[0]))  # NVML counts nothing for it any more
        self.card_began = since(used.began(before - tolerance))  # the card has less in use
        self.card = since(used.fell(levels[1]))  # the card has all of it back
        self.ledger = since(ledger.fell(levels[2]))

    def disagreement(self):
        """How long the ledger still counted what the card had begun to have back: as was seen, and at most. NVML answers
        nobody while the driver ends a process, so that the two are far apart."""
        return max(self.ledger[0] - self.card_began[1], 0), max(self.ledger[1] - self.card_began[0], 0)

    def is_early(self):
        """Who asked the card after the ledger's answer still found there what the ledger had given away."""
        return self.ledger[1] < self.card[0]
