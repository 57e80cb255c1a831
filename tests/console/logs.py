"""Logs of workloads, of pods that are processes of this machine; and workloads that go by themselves. register() adds the tests."""

import http.client
import pathlib
import tempfile

import workloads
from suite import expect, expect_in
from workloads import TRAINING, drop, drop_project, ends_after, phase, pods, reaches, ready, submit

OURS = "/api/muster/v1/workloads"
SCRIPT = "sh -c 'for i in 1 2 3; do echo line $i; done; while [ ! -e /tmp/{name} ]; do sleep 0.1; done; echo the end; rm /tmp/{name}'"


def logs(c, made, query="", status=200, token=None):
    answer = c.call("GET", f"{OURS}/{made['workloadId']}/logs{query}", token=token)
    expect(answer.status, status, answer.text[:300])
    return answer.text


def follow(c, made, token=None):
    """The answer of a reader that stays, from its beginning."""
    connection = http.client.HTTPConnection("127.0.0.1", c.port, timeout=60)
    connection.request("GET", f"{OURS}/{made['workloadId']}/logs?follow=true", headers={"Authorization": f"Bearer {token or c.token}"})
    return connection.getresponse()


def read_until(answer, wanted):
    text = ""
    while wanted not in text:
        part = answer.read1(4096).decode()
        expect(part != "", True, f"more than {text!r}")
        text += part
    return text


def register(tests, real):
    """Adds the tests. `real` gives a console whose cluster is this machine."""

    @tests.test("the log of a workload is read as it is written, by whoever may read the workload, and of its own pods alone")
    def _(fake):
        with tempfile.TemporaryDirectory(prefix="muster-logs-") as folder, real(fake, pathlib.Path(folder)) as c:
            project, other = ready(c, "log-a"), ready(c, "log-b")
            flag = f"{pathlib.Path(folder).name}-end"
            made = submit(c, "trainings", project, "talker", {"image": "none", "command": SCRIPT.replace("{name}", flag)})
            quiet = submit(c, "trainings", other, "quiet", {"image": "none", "command": "sleep 60"})
            reaches(c, made, "Running")
            c.wait_for("its lines", lambda: "line 3" in logs(c, made))
            expect(logs(c, made), "line 1\nline 2\nline 3\n")
            expect(logs(c, made, "?tailLines=1"), "line 3\n")
            expect_in("Z line 3", logs(c, made, "?tailLines=1&timestamps=true"))
            name = pods(c, project, made)[0]["metadata"]["name"]
            expect(logs(c, made, f"?pod={name}&container=talker&tailLines=1"), "line 3\n")
            answer = follow(c, made)
            expect((answer.status, answer.headers["Content-Type"]), (200, "text/plain; charset=utf-8"))
            seen = read_until(answer, "line 3\n")
            pathlib.Path("/tmp", flag).write_text("")
            expect(seen + answer.read().decode(), "line 1\nline 2\nline 3\nthe end\n", "up to its end")
            reaches(c, made, "Completed")
            expect(logs(c, made, "?tailLines=1"), "the end\n", "after its end")
            reaches(c, quiet, "Running")
            foreign = pods(c, other, quiet)[0]["metadata"]["name"]
            expect_in("has no pod", logs(c, made, f"?pod={foreign}", 404))
            expect_in("container", logs(c, made, "?container=none", 400))
            expect_in("tailLines", logs(c, made, "?tailLines=x", 400))
            expect_in("follow", logs(c, made, "?follow=1", 400))
            expect(c.call("GET", f"{OURS}/{made['workloadId']}/logs?limitBytes=1").status, 501)
            user, token = c.user("log-reader@example.com")
            logs(c, made, status=403, token=token)
            c.allow(user, 8, "project", project["id"])
            expect(logs(c, made, "?tailLines=1", token=token), "the end\n")
            logs(c, quiet, status=404, token=token)
            rule = c.allow(user, 8, "project", other["id"])
            answer = follow(c, quiet, token)
            c.ask("DELETE", f"/api/v1/authorization/access-rules/{rule['id']}", status=204)
            expect(answer.read(), b"", "a reader without the right is sent away")
            answer = follow(c, quiet)
            answer.close()
            expect(c.ask("GET", "/api/muster/v1/me")["name"], "admin@example.com", "a reader that goes leaves the console alone")

    @tests.test("a workload that is to be kept for a time after its end is deleted then, also by a console that has been started since")
    def _(c):
        project = ready(c, "work-expire")
        spec = {**TRAINING, "annotations": ends_after(1), "autoDeletionTimeAfterCompletionSeconds": 3}
        made = submit(c, "trainings", project, "brief", spec)
        kept = submit(c, "trainings", project, "kept", {**spec, "autoDeletionTimeAfterCompletionSeconds": 3600})
        running = submit(c, "trainings", project, "running", {**spec, "annotations": [], "autoDeletionTimeAfterCompletionSeconds": 0})
        expect(made["spec"]["autoDeletionTimeAfterCompletionSeconds"], 3)
        reaches(c, made, "Completed")
        late = submit(c, "workspaces", project, "late", {**spec, "autoDeletionTimeAfterCompletionSeconds": 8})
        c.wait_for("its end", lambda: phase(c, made) is None)
        c.wait_for("the end of its objects", lambda: not workloads.job(c, project, "brief") and not pods(c, project, made))
        reaches(c, late, "Completed")
        c.kill()
        c.start()
        c.wait_for("the end of the other", lambda: phase(c, late) is None)
        expect((phase(c, kept), phase(c, running)), ("Completed", "Running"))
        for one in (kept, running):
            drop(c, "trainings", project, one)
        expect(workloads.names_of_jobs(c, project), [])
        drop_project(c, project)
