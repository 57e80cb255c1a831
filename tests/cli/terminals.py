"""Colours only where a person looks, and tables that fit."""

import json
import pathlib
import re
import tempfile
import unicodedata

from harness import Tests, expect, expect_accepted, run, run_on_terminal

tests = Tests()
EXAMPLE = "examples/three-teams.json"
ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def width(line):
    """Columns of a line, escapes not counted."""
    columns = 0
    for char in ESCAPE.sub("", line):
        if not unicodedata.combining(char):
            columns += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return columns


def wide_scenario():
    """Names that fit into no terminal, of letters of all widths."""
    long = "a-name-that-goes-on-" * 6
    return {
        "id": "wide",
        "topology": {
            "nodes": [{"name": f"{long}{i}", "gpus": 2} for i in range(6)],
            "queues": [{"name": f"部門-{long}"}, {"name": f"équipe-{long}", "parent": f"部門-{long}", "gpu": {"quota": 2}}],
            "jobs": [
                {"name": f"{long}-{i}", "queue": f"équipe-{long}", "tasks": [{"request": {"gpus": gpus}}] * count}
                for i, (gpus, count) in enumerate(((2, 1), (1, 3), (0, 9), (64, 1), (2, 20)))
            ],
        },
    }


def play_wide(columns, command="scenario", **env):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "wide.json").write_text(json.dumps(wide_scenario()))
        return run_on_terminal(command, "wide.json", columns=columns, folder=folder, env=env)


@tests.case("a terminal gets colours")
def _():
    result = run_on_terminal("scenario", EXAMPLE)
    expect_accepted(result)
    expect(set(ESCAPE.findall(result.out)) >= {"\x1b[32m", "\x1b[0m", "\x1b[2m"}, ESCAPE.findall(result.out)[:9])
    expect(result.out.count("\x1b[0m") * 2 == len(ESCAPE.findall(result.out)), "a colour is not ended")


@tests.case("pipes and files get none, and lines of any width")
def _():
    result = run("scenario", EXAMPLE, env={"TERM": "xterm-256color", "COLUMNS": "40", "CLICOLOR_FORCE": "1"})
    expect_accepted(result)
    expect("\x1b" not in result.out, "an escape in a pipe")
    expect("the largest node has 8 GPUs (pod too-big-0)\n" in result.out, result.out)
    expect("…" not in result.out, "cut in a pipe")


@tests.case("NO_COLOR is respected, when it is not empty")
def _():
    expect("\x1b" not in run_on_terminal("scenario", EXAMPLE, env={"NO_COLOR": "1"}).out, "an escape")
    expect("\x1b" in run_on_terminal("scenario", EXAMPLE, env={"NO_COLOR": ""}).out, "no escape")


@tests.case("JSON has no colours on a terminal")
def _():
    result = run_on_terminal("scenario", "-o", "json", EXAMPLE)
    expect_accepted(result)
    expect("\x1b" not in result.out, "an escape")
    json.loads(result.out)


@tests.case("help, pages and completions have no colours on a terminal")
def _():
    for words in (("help",), ("help", "scenario"), ("version",), ("man", "scenario"), ("completion", "fish")):
        expect("\x1b" not in run_on_terminal(*words).out, f"an escape in {words}")


@tests.case("messages have no colours and are one line on a terminal")
def _():
    result = run_on_terminal("scenario", "no-such-file.json")
    expect(result.out == "muster: no-such-file.json: No such file or directory\n", result)


def fits(columns, command):
    result = play_wide(columns, command)
    expect_accepted(result)
    lines = result.out.splitlines()
    expect(any(width(line) == columns for line in lines), "the width is not used")
    for line in lines:
        expect(width(line) <= columns, f"{width(line)} columns of {columns}: {line}")


for size in (72, 80, 100, 132, 200):
    tests.add(f"tables of scenario fit into {size} columns", fits, size, "scenario")
for size in (72, 80, 132):
    tests.add(f"tables of simulate fit into {size} columns", fits, size, "simulate")


def help_fits(columns, *words):
    on_terminal = run_on_terminal("help", *words, columns=columns)
    in_pipe = run("help", *words, env={"COLUMNS": str(columns)})
    expect_accepted(on_terminal)
    before_examples = on_terminal.out.partition("\nExamples:")[0]
    for line in before_examples.splitlines():
        expect(width(line) <= columns, f"{width(line)} columns of {columns}: {line}")
    expect(on_terminal.out.split() == in_pipe.out.split(), "other words than in a pipe")
    expect(any(width(line) > columns for line in in_pipe.out.splitlines()), "lines are broken in a pipe")


for size, words in ((80, ()), (80, ("whatif",)), (72, ("queue", "create")), (100, ("scheduler",))):
    tests.add(f"help {' '.join(words) or 'of all commands'} fits into {size} columns", help_fits, size, *words)


@tests.case("a bar shows how far a simulation is, on a terminal and nowhere else")
def _():
    with tempfile.TemporaryDirectory() as folder:
        made = run("trace", "generate", "--days", "2", "--gpus", "64", "--jobs", "800", "--queues", "4",
                   "--cluster", "cluster.yaml", "--out", "trace.csv", folder=folder)
        expect_accepted(made)
        words = ("simulate", "cluster.yaml", "--trace", "trace.csv")
        plain = run(*words, folder=folder)
        expect_accepted(plain)
        expect(plain.err == "" and "\x1b" not in plain.out and "\r" not in plain.out, plain.err[:200])
        dumb = run_on_terminal(*words, folder=folder, env={"TERM": "dumb"})
        expect("\r" not in dumb.out, "a bar on a dumb terminal")
        smart = run_on_terminal(*words, folder=folder)
        expect_accepted(smart)
        bars = [part for part in re.split(r"[\r\n]", smart.out) if part.startswith("Playing [")]
        for bar in bars:
            expect(width(bar) <= 100, bar)
        expect(not bars or "\r\x1b[K" in smart.out, "the bar is left on the terminal")


@tests.case("COLUMNS is believed before the terminal")
def _():
    lines = play_wide(200, COLUMNS="70").out.splitlines()
    expect(max(width(line) for line in lines) == 70, max(width(line) for line in lines))


@tests.case("a COLUMNS that makes no sense is passed over")
def _():
    for value in ("x", "-5", "0", "", "99999999999999999999"):
        expect_accepted(play_wide(80, COLUMNS=value))


@tests.case("no word of why a job waits is lost on a narrow terminal")
def _():
    whole = run("scenario", EXAMPLE).out.partition("\nWaiting\n")[2].splitlines()[1:]
    narrow = ESCAPE.sub("", run_on_terminal("scenario", EXAMPLE, columns=60).out).partition("\nWaiting\n")[2]
    narrow = " ".join(narrow.split())
    for line in whole:
        expect(re.split(r"\s{2,}", line)[3] in narrow, f"'{line}' is cut: {narrow}")


@tests.case("a terminal without a size is taken for one of 80 columns")
def _():
    lines = play_wide(0).out.splitlines()
    expect(max(width(line) for line in lines) == 80, max(width(line) for line in lines))
