"""What a new user stumbles over, and what is printed then: tests/why/stumbles.py [--update]

One cluster (stumbles.yaml) holds a workload for each mistake. The files in golden/ hold the whole output: warnings, the
answer and the status. --update writes what is printed now: look at the difference before it is kept.
"""

import os
import pathlib
import pty
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MUSTER = os.path.abspath(os.environ.get("MUSTER", HERE.parent.parent / "build" / "asan" / "muster"))

# The file's name, and the arguments; all but the first leave the warnings out, which are the same.
CASES = {
    "warnings": ["simulate", "-o", "json"],
    "two-causes": ["why", "lab/two-causes"],
    "two-causes-json": ["why", "-o", "json", "lab/two-causes"],
    "unknown-queue": ["why", "lost"],
    "limits-of-0": ["why", "lab/careless"],
    "labels-missing": ["why", "lab/together"],
    "too-large": ["why", "twelve"],
    "other-scheduler": ["why", "stray"],
    "other-scheduler-json": ["why", "-o", "json", "stray"],
    "other-scheduler-workload": ["why", "lab/web"],
    "other-scheduler-placed": ["why", "lab/placed"],
    "no-pods": ["why", "hollow"],
    "too-few-pods": ["why", "short"],
    "several": ["why", "prod/vllm"],
    "one-of-several": ["why", "vllm-1"],
    "mistyped": ["why", "lab/two-cuases"],
    "other-namespace": ["why", "prod/lost"],
}

# The same for replicas.yaml: the pods of a Deployment are gangs of their own, and one workload for whoever wrote it.
REPLICAS = {
    "replicas": ["simulate", "--require", "prod/chat=Running", "--fail-on", "waiting"],
    "replicas-mistyped": ["simulate", "--require", "prod/chatt=Running"],
    "replicas-why": ["why", "chat"],
    "leftover": ["why", "index"],
}

# On a terminal: its width, the environment, and more arguments.
TERMINALS = {
    "terminal-80": (80, {"TERM": "xterm"}, []),
    "terminal-120": (120, {"TERM": "xterm"}, []),
    "terminal-dumb": (80, {"TERM": "dumb"}, []),
    "terminal-no-color": (80, {"TERM": "xterm", "NO_COLOR": "1"}, []),
    "color-never": (80, {"TERM": "xterm"}, ["--color", "never"]),
    "color-always": (None, {"TERM": "xterm", "NO_COLOR": "1"}, ["--color", "always"]),
}


def call(arguments, cluster="stumbles.yaml"):
    done = subprocess.run([MUSTER, *arguments, cluster], cwd=HERE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    is_about_warnings = arguments == CASES["warnings"]
    errors = [line for line in done.stderr.splitlines() if is_about_warnings or ": warning: " not in line]
    output = "" if is_about_warnings else done.stdout
    return output + "".join(line + "\n" for line in errors) + f"status {done.returncode}\n"


def read_all(fd):
    parts = []
    while True:
        try:
            part = os.read(fd, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def on_terminal(width, environment, more):
    """The answer as a terminal of that width gets it, with escapes made visible; None: a pipe."""
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "TERM")} | environment
    command = [MUSTER, "why", *more, "lab/two-causes", "stumbles.yaml"]
    if width is None:
        done = subprocess.run(command, cwd=HERE, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        text = done.stdout
    else:
        ours, theirs = pty.openpty()
        with subprocess.Popen(command, cwd=HERE, env=env | {"COLUMNS": str(width)}, stdout=theirs,
                              stderr=subprocess.DEVNULL) as process:
            os.close(theirs)
            text = read_all(ours)
        os.close(ours)
        if process.returncode != 0:
            raise RuntimeError(f"status {process.returncode}")
    return text.decode().replace("\r\n", "\n").replace("\033", "<ESC>")


def printed():
    for name, arguments in CASES.items():
        yield name, call(arguments)
    for name, arguments in REPLICAS.items():
        yield name, call(arguments, "replicas.yaml")
    for name, (width, environment, more) in TERMINALS.items():
        yield name, on_terminal(width, environment, more)


def problems(update=False):
    """Names of files that differ from what is printed, one by one with the first line that does."""
    for name, text in printed():
        path = HERE / "golden" / f"{name}.txt"
        expected = path.read_text() if path.exists() else ""
        if update:
            path.write_text(text)
        elif text != expected:
            pairs = zip(text.splitlines() + [""], expected.splitlines() + [""])
            line = next((f"{a!r} instead of {b!r}" for a, b in pairs if a != b), "more or fewer lines")
            yield f"golden/{name}.txt: {line}"


if __name__ == "__main__":
    found = list(problems(update=sys.argv[1:] == ["--update"]))
    print("\n".join(found))
    sys.exit(1 if found else 0)
