"""Tests as functions: the name of each is the sentence in its decorator, true when it passes."""

import sys
import time
import traceback


class Skip(Exception):
    """The test cannot run here; the text says why."""


class Suite:
    """Tests in the order of their definition."""

    def __init__(self):
        self.tests = []

    def test(self, title):
        def add(function):
            self.tests.append((title, function))
            return function
        return add

    def run(self, cluster, words=()):
        """Runs the tests whose titles contain one of the words, or all. Returns passed, failed and skipped."""
        counts = {"ok": 0, "not ok": 0, "skip": 0}
        chosen = [one for one in self.tests if not words or any(word in one[0] for word in words)]
        for number, (title, function) in enumerate(chosen, 1):
            start = time.monotonic()
            try:
                function(cluster)
                outcome, note = "ok", f"# {time.monotonic() - start:.1f} s"
            except Skip as skip:
                outcome, note = "skip", f"# SKIP {skip}"
            except Exception as error:  # pylint: disable=broad-except
                outcome, note = "not ok", ""
                explain(error)
            counts[outcome] += 1
            print(f"{'ok' if outcome == 'skip' else outcome} {number} - {title} {note}".rstrip(), flush=True)
        return tuple(counts.values())


def explain(error):
    """What went wrong and where, without the way through the runner."""
    frames = traceback.extract_tb(sys.exc_info()[2])[1:]
    text = "".join(traceback.format_list(frames)) + f"{type(error).__name__}: {error}"
    print("".join(f"# {line}\n" for line in text.splitlines()), end="", flush=True)


def expect(found, wanted, what=""):
    if found != wanted:
        raise AssertionError(f"{what or 'value'}: {found!r}, expected {wanted!r}")


def expect_in(part, whole, what=""):
    if part not in whole:
        raise AssertionError(f"{what or 'text'}: {part!r} not in {whole!r}")
