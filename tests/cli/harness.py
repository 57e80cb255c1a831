"""What the tests of the command line share: running the program, on a terminal too, and saying what is wrong."""

import collections
import fcntl
import os
import pathlib
import pty
import struct
import subprocess
import termios

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAM = os.path.abspath(os.environ.get("MUSTER") or str(ROOT / "build" / "muster"))
LONGEST_RUN_SECONDS = 120

Result = collections.namedtuple("Result", "status out err")


class Skip(Exception):
    """A test that cannot run here, and why."""


class Failure(Exception):
    """What a test found."""


def expect(condition, problem):
    if not condition:
        raise Failure(problem)


def environment(extra=None):
    """Nothing of the caller's terminal or language may show."""
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR", "TERM")}
    return {**kept, "LC_ALL": "C.UTF-8", **(extra or {})}


def run(*words, text=b"", folder=None, env=None):
    """Runs `muster WORD...` with `text` on standard input."""
    try:
        done = subprocess.run(
            [PROGRAM, *words], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder or ROOT,
            env=environment(env), timeout=LONGEST_RUN_SECONDS, check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Failure(f"muster {' '.join(words)} did not end in {LONGEST_RUN_SECONDS} s") from error
    return Result(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def run_on_terminal(*words, columns=80, folder=None, env=None):
    """Runs the program on a terminal of that width; what standard error gets comes with the rest in `out`."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(
        [PROGRAM, *words], stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder or ROOT,
        env=environment({"TERM": "xterm-256color", **(env or {})}),
    ) as process:
        os.close(theirs)
        parts = []
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # what a terminal says when its last user is gone
                break
            if not part:
                break
            parts.append(part)
        os.close(ours)
    return Result(process.returncode, b"".join(parts).decode(errors="replace").replace("\r\n", "\n"), "")


def shown(result):
    """The result in one line, for a message."""
    return f"status {result.status}, {result.err.strip()[-600:] or result.out[-200:]!r}"


def expect_no_crash(result):
    for word in ("Sanitizer", "runtime error", "BUG:", "Assertion"):
        expect(word not in result.err, shown(result))
    expect(result.status in (0, 1, 2), shown(result))


def expect_refused(result, *fragments):
    """Status 2, one line on standard error that holds all fragments, and nothing else."""
    expect_no_crash(result)
    expect(result.status == 2, f"expected status 2, found {shown(result)}")
    expect(result.out == "", f"expected no output, found {result.out[:200]!r}")
    expect(result.err.endswith("\n"), f"the last line has no end: {result.err!r}")
    lines = result.err[:-1].split("\n")
    expect(len(lines) == 1, f"expected one line, found {len(lines)}: {shown(result)}")
    expect(all(ch.isprintable() for ch in lines[0]), f"not printable: {lines[0]!r}")
    for fragment in fragments:
        expect(fragment in lines[0], f"expected '{fragment}' in '{lines[0]}'")


def expect_accepted(result):
    expect_no_crash(result)
    expect(result.status == 0, f"expected status 0, found {shown(result)}")


class Tests:
    """Named tests, in the order in which they were added."""

    def __init__(self):
        self.all = []

    def add(self, name, function, *arguments):
        self.all.append((name, function, arguments))

    def case(self, name):
        """As a decorator: the function is a test of that name."""

        def keep(function):
            self.add(name, function)
            return function

        return keep
