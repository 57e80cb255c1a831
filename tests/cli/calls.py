"""Calls, right and wrong: what they print where, and with which status they end."""

import gzip
import json
import pathlib
import subprocess
import tempfile

from harness import PROGRAM, ROOT, Tests, environment, expect, expect_accepted, expect_refused, run, run_on_terminal
from texts import commands, options_of

tests = Tests()
EXAMPLE = "examples/three-teams.json"

WRONG = [
    (("nothing",), "muster: there is no command 'nothing'; see 'muster help'"),
    (("",), "muster: there is no command ''"),
    (("--nothing",), "muster: there is no option --nothing"),
    (("-x",), "muster: there is no option -x"),
    (("help", "nothing"), "muster: there is no command 'nothing'"),
    (("help", "gpu", "run", "more"), "muster help: unexpected argument 'more'"),
    (("version", "more"), "muster version: unexpected argument 'more'"),
    (("man", "nothing"), "muster: there is no command 'nothing'"),
    (("man", "gpu", "run", "more"), "muster man: unexpected argument 'more'"),
    (("man", "--list", "man"), "muster man: unexpected argument 'man'"),
    (("completion",), "muster completion: a shell is missing: bash, zsh or fish"),
    (("completion", "tcsh"), "muster completion: expected bash, zsh or fish, found 'tcsh'"),
    (("completion", "bash", "zsh"), "muster completion: unexpected argument 'zsh'"),
    (("scenario",), "muster scenario: a FILE is missing"),
    (("scenario", "--nothing", EXAMPLE), "muster scenario: there is no option --nothing; see 'muster help scenario'"),
    (("scenario", "-x", EXAMPLE), "muster scenario: there is no option -x"),
    (("scenario", "-o"), "muster scenario: --output needs a value: table|json"),
    (("scenario", "-o", "yaml", EXAMPLE), "muster scenario: --output: expected table|json, found 'yaml'"),
    (("scenario", "--output=", EXAMPLE), "muster scenario: --output: expected table|json, found ''"),
    (("scenario", "--help=yes"), "muster scenario: there is no option --help"),
    (("scenario", "--repeat"), "muster scenario: --repeat needs a value: N"),
    (("scenario", "--outputs=json", EXAMPLE), "muster scenario: there is no option --outputs"),
    (("scenario", "--out=json", EXAMPLE), "muster scenario: there is no option --out"),
    (("scenario", "-\x1b[31m", EXAMPLE), "muster scenario: there is no option -?"),
    (("scenario", "--", "--help"), "muster: --help: No such file or directory"),
    (("gpu",), "muster gpu: a verb is missing: one of run, top, status, park, resume, doctor; see 'muster help gpu'"),
    (("gpu", "dance"), "muster gpu: there is no verb 'dance'; see 'muster help gpu'"),
    (("gpu", "statuz"), "muster gpu: there is no verb 'statuz'; did you mean status? See 'muster help gpu'"),
    (("gpu", "urn"), "muster gpu: there is no verb 'urn'; did you mean run? See 'muster help gpu'"),
    (("gpu", "--folder", "x", "top"), "muster gpu: options follow the verb; found '--folder' before it"),
    (("gpu", "top", "--once"), "muster gpu top: there is no option --once; see 'muster help gpu top'"),
    (("gpu", "top"), "muster gpu top: this needs a terminal; 'muster gpu status' prints to files and pipes"),
    (("gpu", "run"), "muster gpu run: a PROGRAM is missing"),
    (("gpu", "run", "--memry=1Gi", "true"), "muster gpu run: there is no option --memry; did you mean --memory?"),
    (("help", "gpu", "dance"), "muster gpu: there is no verb 'dance'"),
    (("help", "why", "dance"), "muster: 'muster why' has no verbs, found 'dance'"),
    (("complete", "workloads"), "muster complete workloads: CURSOR and the word at it are missing"),
    (("complete", "workloads", "1", "x"), "muster complete workloads: CURSOR: expected a whole number from 0 to 0, found '1'"),
    (("simulat",), "muster: there is no command 'simulat'; did you mean simulate? See 'muster help'"),
    (("why", "--color=often", "x", EXAMPLE), "muster why: --color: expected auto|always|never, found 'often'"),
]
for number in ("0", "-1", "10001", "1e400", "NaN", "", "1x", "0x10", "99999999999999999999", "1.5"):
    WRONG.append((("scenario", "--repeat", number, EXAMPLE), f"--repeat: expected a whole number from 1 to 10000, found '{number}'"))


def is_wrong(words, says):
    expect_refused(run(*words), says)


for words, says in WRONG:
    tests.add(f"wrong call: {' '.join(words)!r}", is_wrong, words, says)


def is_service(words):
    return run("help", *words).out.partition("\n")[0].endswith(" [FLAG...]")


@tests.case("an option without a value, or with a wrong one, is refused by each command")
def _():
    for words in commands():
        name = f"muster {' '.join(words)}"
        if is_service(words):
            # Flags as Go takes them, which the frame of services reads.
            expect_refused(run(*words, "--no-such-flag"), f"{name}: unknown flag --no-such-flag")
            continue
        expect_refused(run(*words, "--no-such-option"), f"{name}: there is no option --no-such-option")
        for letter, option, value in options_of(words):
            if option == "help":
                continue
            if value:
                expect_refused(run(*words, f"--{option}"), f"{name}: --{option} needs a value: {value}")
                if letter:
                    expect_refused(run(*words, f"-{letter}"), f"{name}: --{option} needs a value: {value}")
            else:
                expect_refused(run(*words, f"--{option}=x"), f"{name}: --{option} takes no value")
            if "|" in value:
                expect_refused(run(*words, f"--{option}=nothing"), f"expected {value}, found 'nothing'")


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


DAY = ("--trace", "examples/three-teams/day.csv")


@tests.case("tables of simulate and compare fit a terminal of 80 columns")
def _():
    teams = "examples/three-teams"
    for words in (("simulate", "examples/topology"), ("simulate", f"{teams}/cluster", *DAY),
                  ("compare", f"{teams}/cluster/quotas.yaml", f"{teams}/research-first.yaml", "--with",
                   f"{teams}/cluster/nodes.yaml", *DAY)):
        result = run_on_terminal(*words, columns=80, env={"NO_COLOR": "1"})
        lines = [line.split("\r")[-1].replace("\x1b[K", "").rstrip() for line in result.out.splitlines()]
        expect(result.status == 0 and max(map(len, lines)) <= 80, max(lines, key=len))


@tests.case("--fail-on and --require decide the status, and say why")
def _():
    for words, status, says in (
            (("--fail-on", "never"), 0, ""),
            (("--fail-on", "waiting"), 1, "muster: --fail-on waiting: 1 workload is pending: lab/quartet\n"),
            (("--require", "lab/trio=Running", "--require", "pending<=1"), 0, ""),
            (("--require", "lab/*=Running"), 1, ""),
            (("--require", "lab/trip=Running"), 2,
             "muster: --require 'lab/trip=Running': there is no workload 'lab/trip'; did you mean trio?\n"),
            (("--require", "pending<=A"), 2,
             "muster: --require 'pending<=A': A is the first setting of 'muster compare'; give a value here\n")):
        result = run("simulate", "examples/topology", *words)
        expect((result.status, result.err) == (status, says), f"{words}: {result.status}, {result.err}")
    broken = run("simulate", "examples/topology", "--require", "lab/trio=Running", "--require", "lab/quartet=Running")
    expect(broken.out.splitlines()[1].split()[:2] == ["lab/quartet=Running", "BROKEN"], broken.out)
