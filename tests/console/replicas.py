"""Several consoles on one PostgreSQL. register() adds the tests to the console's suite."""

import concurrent.futures
import json
import pathlib
import signal
import subprocess

import streams
import workloads
from assets import key_file
from suite import Skip, expect, expect_in

PATIENCE = 60


def wait_for_queue(c, name):
    c.wait_for(f"the Queue {name}", lambda: c.queue(name))


def leads(c):
    """Whether the console has become the leader since it was started, and still is."""
    log = (c.folder / "log").read_text().rsplit("the console is listening", 1)[-1]
    return log.rfind("this console is now the leader") > log.rfind("this console is no longer the leader")


def register(tests, replica_of, verify):
    @tests.test("two consoles serve one database: tokens, locks, changes and streams are of both, and the audit log is one chain")
    def _(c):
        if "://" not in c.database:
            raise Skip("a file has one console")
        c.wait_for("a leader", lambda: leads(c))
        other = replica_of(c)
        try:
            expect(other.ask("GET", "/api/muster/v1/me")["name"], "admin@example.com", "a token of the first")
            listener = streams.opened(c, "org-units")
            made = other.unit("departments", "of-the-second")
            expect(listener.named("of-the-second")["id"], made["id"])
            listener.close()
            wait_for_queue(c, "of-the-second")
            expect(c.ask("GET", f"/api/v1/org-unit/departments/{made['id']}")["name"], "of-the-second")
            locked = c.ask("POST", "/api/v1/users", {"email": "locked-by-two@example.com", "resetPassword": False}, 201)
            for i in range(5):
                (c, other)[i % 2].password_token("locked-by-two@example.com", "wrong wrong wrong", 401)
            for console in (c, other):
                console.password_token("locked-by-two@example.com", locked["tempPassword"], 429)
            write_at_once(c, other)
            for console in (c, other):
                expect_in("none changed, removed or added", verify(console))
            expect(leads(other), False)
        finally:
            expect(other.kill(signal.SIGTERM), 0)

    @tests.test("a leader that dies is replaced, and nothing that it has acknowledged is lost")
    def _(c):
        if "://" not in c.database:
            raise Skip("a file has one console")
        c.wait_for("a leader", lambda: leads(c))
        other = replica_of(c)
        try:
            names = [c.unit("departments", f"led-{i}")["name"] for i in range(5)]
            c.kill()
            names.append(other.unit("departments", "led-by-the-second")["name"])
            c.wait_for("the second to lead", lambda: leads(other))
            for name in names:
                wait_for_queue(c, name)
            expect_in("none changed, removed or added", verify(other))
            c.start()
            expect(leads(c), False, "a second leader")
            c.unit("departments", "led-by-the-second-still")
            wait_for_queue(c, "led-by-the-second-still")
        finally:
            expect(other.kill(signal.SIGTERM), 0)
        c.wait_for("the first to lead again", lambda: leads(c))

    @tests.test("two consoles have the same workloads, each changes them, the leader alone writes their phases, also the next one")
    def _(c):
        if "://" not in c.database:
            raise Skip("a file has one console")
        c.wait_for("a leader", lambda: leads(c))
        other = replica_of(c)
        try:
            project = workloads.ready(c, "work-two")
            made = [workloads.submit((c, other)[i % 2], "trainings", project, f"two-{i}", {"image": "i"}) for i in range(6)]
            for console in (c, other):
                for one in made:
                    workloads.reaches(console, one, "Running")
                console.wait_for("its pods", lambda: sum(workloads.row(console, one)["runningPods"] for one in made) == 6)
            other.ask("POST", f"{workloads.WORKLOADS}/trainings/{made[0]['workloadId']}/suspend", status=202)
            for console in (c, other):
                workloads.reaches(console, made[0], "Stopped")
            expect(len(writers_of_phases(c)), 1, "one console has written all phases")
            c.kill()
            c.wait_for("the second to lead", lambda: leads(other))
            other.ask("POST", f"{workloads.WORKLOADS}/trainings/{made[0]['workloadId']}/resume", status=202)
            workloads.reaches(other, made[0], "Running")
            expect(len(writers_of_phases(c)), 2, "the next leader goes on")
            c.start()
            for one in made:
                workloads.reaches(c, one, "Running")
            expect(len(workloads.names_of_jobs(c, project)), 6, "each once")
            workloads.drop_project(other, project)
        finally:
            expect(other.kill(signal.SIGTERM), 0)
        c.wait_for("the first to lead again", lambda: leads(c))

    @tests.test("a console with other keys for secrets is refused the database")
    def _(c):
        c.kill(signal.SIGTERM)
        keys = key_file(c)
        kept = keys.read_text()
        number = kept.split()[-2]
        keys.write_text(f"{number} {'0123456789abcdef' * 4}\n")
        try:
            expect_in("is not the file with the keys of this database", c.fails_to_start())
        finally:
            keys.write_text(kept)
            c.start()


def writers_of_phases(c):
    """The consoles that have written phases of workloads: those changes have no entry in the audit log."""
    psql = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin/psql"))
    rows = subprocess.run([psql, c.database, "-tAc", "SELECT doc FROM changes"], check=True, capture_output=True, text=True,
                          timeout=PATIENCE).stdout.splitlines()
    changes = [json.loads(row) for row in rows]
    return {one["from"] for one in changes if one["type"] == "training" and one["name"].startswith("two-") and not one.get("isAudited")}


def write_at_once(c, other):
    """Both write at the same time, some of it the same."""
    def write(number):
        console = (c, other)[number % 2]
        made = console.call("POST", "/api/v1/service-accounts", {"name": f"at-once-{number // 2}"})
        console.unit("departments", f"at-once-{number}")
        return made.status

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = list(pool.map(write, range(32)))
    expect(sorted(found), [201] * 16 + [409] * 16, "each name once")
    path = "/api/v1/org-unit/departments?limit=500&filterBy=name=@at-once-"
    lists = [[row["name"] for row in console.ask("GET", path)["departments"]] for console in (c, other)]
    expect(lists[0], lists[1])
    expect(len(set(lists[0])), 32)
