"""Services as commands: version, kubeconfigs that are missing, and API servers that do not answer."""

import json
import pathlib
import signal
import subprocess
import tempfile

from harness import PROGRAM, Tests, environment, expect, expect_accepted, expect_refused, run
from texts import commands

tests = Tests()
NOWHERE = {"HOME": "/nonexistent", "KUBECONFIG": ""}
WITH_API = ("scheduler", "binder", "grouper", "admission", "podgroups", "queues", "scaler")


def services():
    return [words[0] for words in commands() if "[FLAG...]" in run("help", *words).out.split("\n")[0]]


@tests.case("each service prints its version and exits")
def _():
    expect(set(services()) >= {*WITH_API, "gpud", "fencer", "reservation"}, services())
    for service in services():
        result = run(service, "--version", env=NOWHERE)
        expect_accepted(result)
        expect(result.out == run("version").out and result.err == "", result)


@tests.case("the nearest flag is suggested for a mistyped one")
def _():
    expect_refused(run("binder", "--leader-elects"),
                   "muster binder: unknown flag --leader-elects; did you mean --leader-elect? See 'muster help binder'")


@tests.case("a kubeconfig that is missing is wrong usage, said in one line")
def _():
    for service in WITH_API:
        expect_refused(run(service, "--kubeconfig", "/no/such/file", env=NOWHERE),
                       f"muster {service}: loading the kubeconfig: /no/such/file: No such file or directory")
        expect_refused(run(service, env=NOWHERE), "no kubeconfig found: give --kubeconfig, set KUBECONFIG, or run in a pod")
    expect_refused(run("simulate", "kube:", "--kubeconfig", "/no/such/file", env=NOWHERE), "/no/such/file: No such file")


def kubeconfig(folder):
    """Leads to a port where nobody listens."""
    path = pathlib.Path(folder) / "config"
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
    }))
    return path


@tests.case("an API server that does not answer is one line with its address, for all kinds of objects")
def _():
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [PROGRAM, "scheduler", "--kubeconfig", kubeconfig(folder), "--listen-address=0", "--metrics-bind-address=0",
             "--health-probe-bind-address=0", "--log-json", "--v=4"],
            stderr=subprocess.PIPE, text=True, env=environment(NOWHERE))
        lines = []
        for line in process.stderr:
            lines.append(line)
            if "unreachable" in line:
                # Every other kind of object has failed too by the time that the first is tried once more.
                process.send_signal(signal.SIGTERM)
        process.wait()
    found = [json.loads(line) for line in lines if "unreachable" in line]
    expect(len(found) == 1, lines)
    expect(found[0]["server"] == "http://127.0.0.1:9" and "retried" in str(found[0]), found)
    expect(not any("following objects" in line for line in lines), lines)


@tests.case("a command that reads such a cluster fails with status 1 and names the address")
def _():
    with tempfile.TemporaryDirectory() as folder:
        result = run("simulate", "kube:", "--kubeconfig", str(kubeconfig(folder)), env=NOWHERE)
    expect(result.status == 1 and result.err.count("\n") == 1 and "127.0.0.1 port 9" in result.err, result)
