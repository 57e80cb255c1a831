"""What the program says about itself: help, manual pages, and that all of it comes from the same table."""

import functools
import re
import shutil
import subprocess

from harness import HERE, Skip, Tests, environment, expect, expect_accepted, run

tests = Tests()
is_updating = False
WIDEST_LINE = 120
OPTION = re.compile(r"^  (?:-(\w), |    )--([A-Za-z0-9-]+)(?: (\S+))?", re.MULTILINE)


def said(*words):
    result = run(*words)
    expect_accepted(result)
    expect(result.err == "", result.err)
    expect(result.out.endswith("\n"), "the last line has no end")
    return result.out


def listed(text):
    """The first words of the indented lines."""
    return re.findall(r"^  ([a-z][a-z-]*)  ", text, re.MULTILINE)


@functools.cache
def verbs():
    """The verbs of each command that has some."""
    texts = {command: said("help", command) for command in listed(said("help"))}
    return {command: listed(text.split("\nVerbs:\n")[1].split("\n\n")[0])
            for command, text in texts.items() if "\nVerbs:\n" in text}


def commands():
    """The words of all commands and verbs that can be run: ("gpu", "run"), ("why",)."""
    return [(command, *verb) for command in listed(said("help"))
            for verb in ([(one,) for one in verbs()[command]] if command in verbs() else [()])]


def pages_of():
    """The words of everything that has a page of help."""
    return sorted({*commands(), *((command,) for command in verbs())})


@functools.cache
def options_of(words):
    """(letter or "", long name, value or "") of each option in the help text."""
    return OPTION.findall(said("help", *words))


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


def help_of(words):
    command = " ".join(words)
    text = said("help", *words)
    is_as_before(f"help-{'-'.join(words)}.txt", text)
    expect(said(*words, "--help") == text, f"'{command} --help' says something else")
    expect(" -h, --noheader" in text or said(*words, "-h") == text, f"'{command} -h' says something else")
    expect(text.startswith(f"Usage: muster {command}"), text)
    expect("\nExamples:\n" in text, f"{command} has no examples")
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
    known = {"help.txt", "man-scenario.1", "man-gpu-run.1"} | {f"help-{'-'.join(words)}.txt" for words in pages_of()}
    expect(known >= {path.name for path in (HERE / "golden").iterdir()}, "golden/ has texts of commands that are gone")


@tests.case("each command has its help")
def _():
    for words in pages_of():
        help_of(words)


@tests.case("the version is that of the build")
def _():
    text = said("version")
    expect(re.fullmatch(r"muster \d+\.\d+\.\d+\n", text), text)
    expect(said("--version") == text, "'--version' says something else")
    declared = re.search(r"version: '([\d.]+)'", (HERE.parent.parent / "meson.build").read_text())[1]
    expect(text == f"muster {declared}\n", f"meson.build says {declared}, the program {text}")


def page(words):
    return said("man", *words)


@tests.case("the manual page of a command is in roff")
def _():
    is_as_before("man-scenario.1", page(["scenario"]))
    is_as_before("man-gpu-run.1", page(["gpu", "run"]))


@tests.case("there is a page for each command, with all of its options")
def _():
    expect(sorted(tuple(line.split()) for line in said("man", "--list").splitlines()) == pages_of(), "man --list")
    for words in pages_of():
        text = page(words)
        name = "\\-".join(words)
        expect(f"\nmuster\\-{name} \\- " in text, f"{words}: no line for whatis")
        for letter, option, value in options_of(words):
            escaped = option.replace("-", "\\-")
            expect(f"\\fB\\-\\-{escaped}\\fR" in text, f"{words}: --{option} is not in its page")
            expect(not letter or f"\\fB\\-{letter}\\fR, " in text, f"{words}: -{letter} is not in its page")
            expect(not value or value.replace("-", "\\-") in text, f"{words}: {value} is not in its page")
        above = page(words[:-1])
        expect(f".BR muster\\-{name} (1)" in above, f"the page of {words[:-1]} does not name {name}")


def formatted(tool, *words):
    if not shutil.which(tool):
        raise Skip(f"there is no {tool} here")
    for command in [(), *pages_of()]:
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
            summary = said("help", *command).split("\n")[2]
            expect(summary in text, f"{command}: '{summary}' is not in its page")
            for example in said("help", *command).partition("\nExamples:\n")[2].splitlines():
                expect(example.strip() in text, f"{command}: '{example.strip()}' is not in its page")
