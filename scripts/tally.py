"""Counts test results in what a suite prints: TAP, or a line "N passed, M failed, K skipped"; that line wins where
both are there."""

import os
import re
import subprocess

SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
TAP = re.compile(r"^(not )?ok\b(?:[^#]|\\#)*(#\s*(?:skip|todo))?", re.IGNORECASE)
PLAN = re.compile(r"^1\.\.(\d+)")


class Counter:
    """Counts results in the lines of one suite."""

    def __init__(self):
        self.passed = self.failed = self.skipped = self.planned = 0
        self.summary = None

    def read(self, line):
        if found := SUMMARY.match(line):
            self.summary = tuple(int(n) for n in found.groups())
        elif found := PLAN.match(line):
            self.planned += int(found[1])
        elif line.startswith("Bail out!"):
            self.failed += 1
        elif found := TAP.match(line):
            if found[2]:
                self.skipped += 1
            elif found[1]:
                self.failed += 1
            else:
                self.passed += 1

    def result(self, status):
        if self.summary:
            passed, failed, skipped = self.summary
        else:
            # Tests that were announced and did not report have crashed.
            missing = max(0, self.planned - self.passed - self.failed - self.skipped)
            passed, failed, skipped = self.passed, self.failed + missing, self.skipped
        if failed == 0 and (status != 0 or passed + skipped == 0):
            failed = 1
        return passed, failed, skipped


def show(line):
    print(line, end="", flush=True)


def run(command, env=None, show_line=show):
    """Runs a command, shows its output without summaries, and returns its status, what it has counted, and the seconds of processor
    time that it and the processes it waited for have used."""
    counter = Counter()
    busy = 0
    try:
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True, errors="replace") as process:
            for line in process.stdout:
                counter.read(line.rstrip("\n"))
                # There is one summary, the last line of all; the parts report theirs with their name.
                if not SUMMARY.match(line):
                    show_line(line)
            _, code, used = os.wait4(process.pid, 0)
            process.returncode = status = os.waitstatus_to_exitcode(code)
            busy = used.ru_utime + used.ru_stime
    except OSError as error:
        show_line(f"# {command[0]}: {error}\n")
        status = 1
    return status, counter.result(status), busy


def total(results):
    """The sum of results as (passed, failed, skipped)."""
    return tuple(sum(column) for column in zip(*results))


def summary(result):
    return "{} passed, {} failed, {} skipped".format(*result)
