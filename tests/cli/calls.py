"""Calls, right and wrong: what they print where, and with which status they end."""

import gzip
import json
import pathlib
import subprocess
import tempfile

from harness import PROGRAM, ROOT, Tests, environment, expect, expect_accepted, expect_refused, run
from texts import commands, options_of

tests = Tests()
EXAMPLE = "examples/three-teams.json"

WRONG = [
    (("nothing",), "muster: there is no command 'nothing'; see 'muster help'"),
    (("",), "muster: there is no command ''"),
    (("--nothing",), "muster: there is no option --nothing"),
    (("-x",), "muster: there is no option -x"),
    (("help", "nothing"), "muster: there is no command 'nothing'"),
    (("help", "help", "more"), "muster help: 'more' is too much"),
    (("version", "more"), "muster version: 'more' is too much"),
    (("man", "nothing"), "muster: there is no command 'nothing'"),
    (("man", "man", "more"), "muster man: 'more' is too much"),
    (("man", "--list", "man"), "muster man: 'man' is too much"),
    (("completion",), "muster completion: for which shell?"),
    (("completion", "tcsh"), "muster completion: there is no completion for 'tcsh'; there are bash, zsh and fish"),
    (("completion", "bash", "zsh"), "muster completion: 'zsh' is too much"),
    (("scenario",), "muster scenario: which file?"),
    (("scenario", "--nothing", EXAMPLE), "muster scenario: there is no option --nothing; see 'muster help scenario'"),
    (("scenario", "-x", EXAMPLE), "muster scenario: there is no option -x"),
    (("scenario", "-o"), "muster scenario: --output needs a value: table|json"),
    (("scenario", "-o", "yaml", EXAMPLE), "muster scenario: --output: 'yaml' is not one of table|json"),
    (("scenario", "--output=", EXAMPLE), "muster scenario: --output: '' is not one of table|json"),
    (("scenario", "--help=yes"), "muster scenario: there is no option --help"),
    (("scenario", "--repeat"), "muster scenario: --repeat needs a value: N"),
    (("scenario", "--outputs=json", EXAMPLE), "muster scenario: there is no option --outputs"),
    (("scenario", "--out=json", EXAMPLE), "muster scenario: there is no option --out"),
    (("scenario", "-\x1b[31m", EXAMPLE), "muster scenario: there is no option -?"),
    (("scenario", "--", "--help"), "muster: --help: No such file or directory"),
]
for number in ("0", "-1", "10001", "1e400", "NaN", "", "1x", "0x10", "99999999999999999999", "1.5"):
    WRONG.append((("scenario", "--repeat", number, EXAMPLE), f"--repeat: '{number}' is no whole number from 1 to 10000"))


def is_wrong(words, says):
    expect_refused(run(*words), says)


for words, says in WRONG:
    tests.add(f"wrong call: {' '.join(words)!r}", is_wrong, words, says)


def is_service(command):
    return run("help", command).out.startswith(f"Usage: muster {command} [FLAG...]")


@tests.case("an option without a value, or with a wrong one, is refused by each command")
def _():
    for command in commands():
        if is_service(command):
            # Flags as Go takes them, which the frame of services reads: src/services/test.
            expect_refused(run(command, "--no-such-flag"), f"muster {command}: there is no flag --no-such-flag")
            continue
        expect_refused(run(command, "--no-such-option"), f"muster {command}: there is no option --no-such-option")
        for letter, name, value in options_of(command):
            if name == "help":
                continue
            if value:
                expect_refused(run(command, f"--{name}"), f"muster {command}: --{name} needs a value: {value}")
                if letter:
                    expect_refused(run(command, f"-{letter}"), f"muster {command}: --{name} needs a value: {value}")
            else:
                expect_refused(run(command, f"--{name}=x"), f"muster {command}: --{name} takes no value")
            if "|" in value:
                expect_refused(run(command, f"--{name}=nothing"), f"'nothing' is not one of {value}")


@tests.case("no command at all shows the list of them, with status 2")
def _():
    result = run()
    expect(result.status == 2 and result.out == run("help").out, result)


@tests.case("JSON comes as one list for all files, packed or not, arrays or not")
def _():
    text = (ROOT / EXAMPLE).read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "one.json").write_bytes(text)
        (pathlib.Path(folder) / "two.json.gz").write_bytes(gzip.compress(b"[%s,%s]" % (text, text)))
        result = run("scenario", "-ojson", "one.json", "--repeat=2", "two.json.gz", "-", text=text, folder=folder)
    expect_accepted(result)
    found = json.loads(result.out)
    expect([one["id"] for one in found] == ["three-teams"] * 4, found)
    expect(set(found[0]) >= {"id", "actual", "state_bytes", "peak_rss_bytes"}, set(found[0]))
    expect(set(found[0]["actual"]["rounds"][0]["timing"]) == {"state_ns", "open_ns", "actions"}, "timing")


@tests.case("options may stand anywhere")
def _():
    for words in (("-o", "json", EXAMPLE), (EXAMPLE, "-o", "json"), ("--output=json", "--", EXAMPLE)):
        result = run("scenario", *words)
        expect_accepted(result)
        expect(result.out.startswith("[{"), result.out[:80])


def ended(words, redirection):
    """Status and standard error with standard output redirected by a shell."""
    done = subprocess.run(["sh", "-c", f'exec "$0" "$@" {redirection}', PROGRAM, *words], stderr=subprocess.PIPE,
                          cwd=ROOT, env=environment(), check=False)
    return done.returncode, done.stderr.decode()


@tests.case("output that cannot be written is a failure")
def _():
    for words in (("help",), ("version",), ("man",), ("completion", "zsh"), ("scenario", EXAMPLE),
                  ("scenario", "-o", "json", EXAMPLE), ("scenario", "--help")):
        expect(ended(words, ">/dev/full") == (1, "muster: standard output: No space left on device\n"),
               f"{words}: {ended(words, '>/dev/full')}")
        expect(ended(words, ">&-") == (1, "muster: standard output: Bad file descriptor\n"),
               f"{words}: {ended(words, '>&-')}")


@tests.case("a trace comes out the same in every run, to the last bit")
def _():
    with tempfile.TemporaryDirectory() as folder:
        made = run("trace", "generate", "--days", "2", "--jobs", "400", "--gpus", "128", "--queues", "a,b,c",
                   "--cluster", "cluster.yaml", "--out", "days.csv", folder=folder)
        expect_accepted(made)
        first, second = (run("simulate", "-ojson", "cluster.yaml", "--trace", "days.csv", folder=folder) for _ in range(2))
    expect_accepted(first)
    expect(first.out == second.out, "two runs differ")
    whole = json.loads(first.out)["queues"][0]["metrics"]
    expect(whole["completed"] == 400 and whole["evictions"] > 0 and whole["maxWait"] > 0, whole)
