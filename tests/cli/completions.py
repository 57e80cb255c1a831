"""Completions, tried in the shells themselves where they are there."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import tempfile
import time

from harness import PROGRAM, ROOT, Skip, Tests, environment, expect, expect_accepted, run
from texts import commands, options_of, pages_of

tests = Tests()


def script(shell):
    result = run("completion", shell)
    expect_accepted(result)
    return result.out


def shell_or_skip(shell):
    found = shutil.which(shell)
    if not found:
        raise Skip(f"there is no {shell} here")
    return found


def in_folder(function):
    """Calls it with a folder that holds a few files to be found."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("cluster.json", "with space.json", "plain"):
            (pathlib.Path(folder) / name).touch()
        os.symlink(PROGRAM, pathlib.Path(folder) / "muster")
        return function(folder)


# What is typed, with the cursor behind it; what must be offered; what must not.
EXPECTED = [
    ("muster sce", {"scenario"}, {"help", "cluster.json"}),
    ("muster ", set("scenario completion man version help".split()), {"cluster.json"}),
    ("muster help ", set("scenario completion".split()), {"cluster.json"}),
    ("muster man sc", {"scenario"}, {"cluster.json"}),
    ("muster completion ", set("bash zsh fish".split()), {"cluster.json"}),
    ("muster scenario --", {"--output", "--repeat", "--help"}, {"--list", "cluster.json"}),
    ("muster scenario --output ", {"table", "json"}, {"cluster.json"}),
    ("muster scenario -o ", {"table", "json"}, {"cluster.json"}),
    ("muster scenario --output=j", {"json"}, {"cluster.json", "table"}),
    ("muster scenario -o json clu", {"cluster.json"}, {"plain"}),
    ("muster scenario ", {"cluster.json", "plain"}, {"json", "table"}),
    ("muster scenario --repeat ", set(), {"cluster.json"}),
    ("muster version ", set(), {"cluster.json"}),
    ("muster simulate --trace ", {"cluster.json", "plain"}, {"table", "scenario"}),
    ("muster compare -w plain -w clu", {"cluster.json"}, {"plain"}),
    ("muster trace gen", {"generate"}, {"convert", "cluster.json"}),
    ("muster trace convert --from ", {"alibaba", "philly", "prometheus", "slurm"}, {"cluster.json"}),
    ("muster trace convert ", {"cluster.json", "plain"}, {"generate", "alibaba"}),
    ("muster man --", {"--list", "--help"}, {"--output"}),
    ("muster gpu ", {"run", "top", "status", "doctor"}, {"cluster.json", "generate"}),
    ("muster gpu r", {"run"}, {"top", "reservation"}),
    ("muster gpu run --m", {"--memory", "--memory-limit", "--mig", "--mode"}, {"--output", "--folder"}),
    ("muster gpu run --mode ", {"strict", "fair", "time"}, {"cluster.json"}),
    ("muster gpu status --", {"--output", "--folder", "--color", "--help"}, {"--memory"}),
    ("muster help gpu ", {"run", "top", "status", "doctor"}, {"cluster.json", "scenario"}),
    ("muster why --color ", {"auto", "always", "never"}, {"cluster.json"}),
]


def is_offered(offered, typed, wanted, unwanted):
    # fish and zsh offer the whole of --output=json.
    offered = {word.rpartition("=")[2] for word in offered}
    expect(wanted <= offered, f"'{typed}' offers {sorted(offered)}, expected {sorted(wanted)}")
    expect(not unwanted & offered, f"'{typed}' offers {sorted(unwanted & offered)}")


BASH = r"""
source completion
complete_line() {
    # As readline does it: '=' is a word of its own.
    local line=${1//=/ = }
    read -ra COMP_WORDS <<<"$line"
    [[ $line == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$1 COMP_POINT=${#1}
    _muster muster "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    printf '%s\n' "${COMPREPLY[@]}"
}
complete_line "$1"
"""


@tests.case("bash completes")
def _():
    bash = shell_or_skip("bash")

    def check(folder):
        (pathlib.Path(folder) / "completion").write_text(script("bash"))
        expect(not subprocess.run([bash, "-n", "completion"], cwd=folder, check=False).returncode, "syntax")
        for typed, wanted, unwanted in EXPECTED:
            done = subprocess.run([bash, "--norc", "-c", BASH, "bash", typed], cwd=folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env=environment(), check=False)
            expect(done.stderr == b"", done.stderr)
            is_offered(set(done.stdout.decode().splitlines()), typed, wanted, unwanted)

    in_folder(check)


@tests.case("bash keeps names with spaces whole")
def _():
    bash = shell_or_skip("bash")

    def check(folder):
        (pathlib.Path(folder) / "completion").write_text(script("bash"))
        done = subprocess.run([bash, "--norc", "-c", BASH, "bash", "muster scenario wi"], cwd=folder,
                              stdout=subprocess.PIPE, env=environment(), check=False)
        expect(done.stdout == b"with space.json\n", done.stdout)

    in_folder(check)


@tests.case("fish completes")
def _():
    fish = shell_or_skip("fish")

    def check(folder):
        (pathlib.Path(folder) / "completion").write_text(script("fish"))
        home = {"HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder}
        for typed, wanted, unwanted in EXPECTED:
            done = subprocess.run([fish, "--no-config", "-c", 'source completion; complete -C "$argv[1]"', typed],
                                  cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(home),
                                  check=False)
            expect(done.stderr == b"", done.stderr)
            offered = {line.split("\t")[0] for line in done.stdout.decode().splitlines()}
            is_offered(offered, typed, wanted, unwanted)

    in_folder(check)


ZSH = r"""
PS1='%%'
fpath=($PWD $fpath)
autoload -Uz compinit && compinit -u -D
zstyle ':completion:*' menu no
setopt no_beep
LISTMAX=1000
bindkey '^I' list-choices
echo READY
"""
LONGEST_LIST_SECONDS = 5


def read_until(terminal, pattern, seconds):
    text = ""
    end = time.monotonic() + seconds
    while not re.search(pattern, text) and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                text += os.read(terminal, 65536).decode(errors="replace")
            except OSError:
                break
    return text


@tests.case("zsh completes")
def _():
    zsh = shell_or_skip("zsh")

    def check(folder):
        (pathlib.Path(folder) / "_muster").write_text(script("zsh"))
        (pathlib.Path(folder) / "setup").write_text(ZSH)
        expect(not subprocess.run([zsh, "-n", "_muster"], cwd=folder, check=False).returncode, "syntax")
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execve(zsh, ["zsh", "-f", "-i"], environment({"TERM": "dumb", "HOME": folder, "COLUMNS": "200"}))
        try:
            os.write(terminal, b"source ./setup\n")
            expect("READY" in read_until(terminal, r"READY\r\n", 60), "zsh does not start")
            for typed, wanted, unwanted in EXPECTED:
                # Ctrl-U clears the line. The list is followed by the prompt and the line once more.
                os.write(terminal, b"\x15" + typed.encode() + b"\t")
                again = "\n%" + re.escape(typed) + "$"
                text = read_until(terminal, again if wanted else r"\n", LONGEST_LIST_SECONDS if wanted else 1)
                rows = [line.split(" -- ")[0] for line in text.split("\n")[1:-1]]
                is_offered(set(" ".join(rows).replace("\\ ", "_").split()), typed, wanted, unwanted)
        finally:
            os.close(terminal)
            os.waitpid(pid, 0)

    in_folder(check)


CLUSTER = """
{"topology": {"nodes": [{"name": "n", "gpus": 1}], "queues": [{"name": "q"}],
              "jobs": [{"name": "train-a", "queue": "q", "tasks": [{}]}, {"name": "train-b", "queue": "q", "tasks": [{}]}]}}
"""


def with_cluster(function):
    """Calls it with a folder that holds a cluster, and an environment in which `muster` is found."""

    def check(folder):
        (pathlib.Path(folder) / "cluster.json").write_text(CLUSTER)
        function(folder, environment({"PATH": f"{folder}:{os.environ['PATH']}", "HOME": folder, "KUBECONFIG": "",
                                      "XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder}))

    in_folder(check)


BASH_WORKLOADS = r"""
source completion
COMP_WORDS=(muster why -o json "$1" cluster.json) COMP_CWORD=$2 COMP_LINE="${COMP_WORDS[*]}"
_muster muster
printf '%s\n' "${COMPREPLY[@]}"
"""


@tests.case("bash completes workloads of the cluster behind the cursor, and files elsewhere")
def _():
    bash = shell_or_skip("bash")

    def check(folder, env):
        (pathlib.Path(folder) / "completion").write_text(script("bash"))
        for typed, cursor, wanted in (("", "4", {"train-a", "train-b"}), ("train-b", "4", {"train-b"}),
                                      ("x", "4", {""}), ("", "5", {"cluster.json"})):
            done = subprocess.run([bash, "--norc", "-c", BASH_WORKLOADS, "bash", typed, cursor], cwd=folder, env=env,
                                  stdout=subprocess.PIPE, check=False)
            expect(set(done.stdout.decode().split("\n")[:-1]) == wanted, f"{typed!r}: {done.stdout}")

    with_cluster(check)


@tests.case("zsh completes workloads of the cluster behind the cursor")
def _():
    zsh = shell_or_skip("zsh")

    def check(folder, env):
        (pathlib.Path(folder) / "_muster").write_text(script("zsh"))
        (pathlib.Path(folder) / "setup").write_text(ZSH)
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execve(zsh, ["zsh", "-f", "-i"], {**env, "TERM": "dumb", "COLUMNS": "200"})
        try:
            os.write(terminal, b"source ./setup\n")
            expect("READY" in read_until(terminal, r"READY\r\n", 60), "zsh does not start")
            # Back to before the path, where the workload is missing.
            os.write(terminal, b"muster why  cluster.json" + b"\x02" * len(" cluster.json") + b"\t")
            text = read_until(terminal, r"train-a\s+train-b", 60)
            expect(re.search(r"train-a\s+train-b", text), text)
        finally:
            os.close(terminal)
            os.waitpid(pid, 0)

    with_cluster(check)


@tests.case("fish asks the program for workloads with the words and the place of the cursor")
def _():
    fish = shell_or_skip("fish")

    def check(folder, env):
        # What stands behind the cursor is known to an interactive fish only; here it is the call that counts.
        (pathlib.Path(folder) / "completion").write_text(script("fish"))
        (pathlib.Path(folder) / "muster").unlink()
        stub = pathlib.Path(folder) / "muster"
        stub.write_text('#!/bin/sh\necho "$@" >>asked\necho lab/train\n')
        stub.chmod(0o755)
        done = subprocess.run([fish, "--no-config", "-c", "source completion; complete -C 'muster why -o json la'"],
                              cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        asked = (pathlib.Path(folder) / "asked").read_text().strip()
        expect(asked == "complete workloads 2 -o json la", asked)
        expect("lab/train" in done.stdout.decode(), done)

    with_cluster(check)


@tests.case("every shell knows every option of every command")
def _():
    for shell, form in (("bash", "--{}"), ("zsh", "--{}"), ("fish", "-l {}")):
        text = script(shell)
        for words in commands():
            expect(all(re.search(rf"\b{word}\b", text) for word in words), f"{shell}: {words} is missing")
            for _, name, _ in options_of(words):
                expect(form.format(name) in text, f"{shell}: {words} --{name} is missing")


@tests.case("pages and completions are installed where they are looked for")
def _():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ROOT / "scripts" / "install-texts", PROGRAM, folder], env=environment(), check=True)
        share = pathlib.Path(folder)
        found = {str(path.relative_to(share)): path.read_text() for path in share.rglob("*") if path.is_file()}
    expected = {
        "man/man1/muster.1": ("man",),
        "bash-completion/completions/muster": ("completion", "bash"),
        "zsh/site-functions/_muster": ("completion", "zsh"),
        "fish/vendor_completions.d/muster.fish": ("completion", "fish"),
        **{f"man/man1/muster-{'-'.join(words)}.1": ("man", *words) for words in pages_of()},
    }
    expect(set(found) == set(expected), sorted(set(found) ^ set(expected)))
    for name, words in expected.items():
        expect(found[name] == run(*words).out, f"{name} is not what the program says")
