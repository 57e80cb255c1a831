"""What the program says about itself: help, manual pages, and that all of it comes from the same table."""

import re
import shutil
import subprocess

from harness import HERE, Skip, Tests, environment, expect, expect_accepted, run

tests = Tests()
is_updating = False
WIDEST_LINE = 120
OPTION = re.compile(r"^  (?:-(\w), |    )--([a-z-]+)(?: (\S+))?", re.MULTILINE)


def said(*words):
    result = run(*words)
    expect_accepted(result)
    expect(result.err == "", result.err)
    expect(result.out.endswith("\n"), "the last line has no end")
    return result.out


def commands():
    """The names of all commands, as help lists them."""
    listed = said("help").split("\nCommands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines()]


def options_of(command):
    """(letter or "", long name, value or "") of each option in the help text."""
    return OPTION.findall(said("help", command))


def is_as_before(name, text):
    """Compares with golden/NAME, or writes it."""
    path = HERE / "golden" / name
    if is_updating:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    expect(path.is_file(), f"there is no golden/{name}: tests/cli/run --update writes it")
    before = path.read_text()
    if text != before:
        new = [line for line in text.splitlines() if line not in before.splitlines()]
        old = [line for line in before.splitlines() if line not in text.splitlines()]
        expect(False, f"differs from golden/{name} (tests/cli/run --update): expected {old[:2]}, found {new[:2]}")


def help_of(command):
    text = said("help", command)
    is_as_before(f"help-{command}.txt", text)
    expect(said(command, "--help") == text, f"'{command} --help' says something else")
    expect(said(command, "-h") == text, f"'{command} -h' says something else")
    expect(text.startswith(f"Usage: muster {command}"), text)
    for line in text.splitlines():
        expect(len(line) <= WIDEST_LINE, f"too wide: {line}")
    for example in text.partition("\nExamples:\n")[2].splitlines():
        expect("muster " in example, f"an example without the program: {example}")
        for path in re.findall(r"examples/\S+", example):
            expect((HERE.parent.parent / path).exists(), f"there is no {path}: {example}")


@tests.case("help lists the commands")
def _():
    text = said("help")
    is_as_before("help.txt", text)
    expect(said("--help") == text and said("-h") == text, "'--help' says something else")


@tests.case("no golden text is left over")
def _():
    known = {"help.txt", "man-scenario.1"} | {f"help-{command}.txt" for command in commands()}
    expect(known >= {path.name for path in (HERE / "golden").iterdir()}, "golden/ has texts of commands that are gone")


@tests.case("each command has its help")
def _():
    for command in commands():
        help_of(command)


@tests.case("the version is that of the build")
def _():
    text = said("version")
    expect(re.fullmatch(r"muster \d+\.\d+\.\d+\n", text), text)
    expect(said("--version") == text, "'--version' says something else")
    declared = re.search(r"version: '([\d.]+)'", (HERE.parent.parent / "meson.build").read_text())[1]
    expect(text == f"muster {declared}\n", f"meson.build says {declared}, the program {text}")


def page(command):
    return said("man", command) if command else said("man")


@tests.case("the manual page of a command is in roff")
def _():
    is_as_before("man-scenario.1", page("scenario"))


@tests.case("there is a page for each command, with all of its options")
def _():
    expect(said("man", "--list").split() == commands(), "'man --list' lists others than help does")
    for command in commands():
        text = page(command)
        expect(f"\nmuster\\-{command} \\- " in text, f"{command}: no line for whatis")
        for letter, name, value in options_of(command):
            escaped = name.replace("-", "\\-")
            expect(f"\\fB\\-\\-{escaped}\\fR" in text, f"{command}: --{name} is not in its page")
            expect(not letter or f"\\fB\\-{letter}\\fR, " in text, f"{command}: -{letter} is not in its page")
            expect(not value or value.replace("-", "\\-") in text, f"{command}: {value} is not in its page")
        expect(f".BR muster\\-{command} (1)" in page(None), f"muster(1) does not name {command}")


def formatted(tool, *words):
    if not shutil.which(tool):
        raise Skip(f"there is no {tool} here")
    for command in [None, *commands()]:
        done = subprocess.run([tool, *words], input=page(command).encode(), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=environment(), check=False)
        yield command, done.returncode, done.stdout.decode()


@tests.case("groff has no complaints about the pages")
def _():
    for command, status, text in formatted("groff", "-man", "-Tutf8", "-ww", "-z"):
        expect(status == 0 and text == "", f"{command}: {text}")


@tests.case("mandoc has no complaints about the pages")
def _():
    for command, _, text in formatted("mandoc", "-T", "lint", "-W", "warning"):
        # A date would make the page differ from day to day.
        left = [line for line in text.splitlines() if "missing date" not in line]
        expect(not left, f"{command}: {left}")


@tests.case("a page reads as the help does")
def _():
    for command, _, text in formatted("mandoc", "-T", "utf8", "-O", "width=200"):
        text = re.sub(r".\x08", "", text)
        if command:
            summary = said("help", command).split("\n")[2]
            expect(summary in text, f"{command}: '{summary}' is not in its page")
            for example in said("help", command).partition("\nExamples:\n")[2].splitlines():
                expect(example.strip() in text, f"{command}: '{example.strip()}' is not in its page")
