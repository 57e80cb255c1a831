"""Jobs as processes of this machine: how soon the first one runs, and how many come and go a second."""

import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import threading
import time

import pretended
import world

STARTS = 5
JOBS = 1000
PATH = "/apis/batch/v1/namespaces/default/jobs"
QUEUE = "/apis/scheduling.run.ai/v2/queues/default-queue"
PATIENCE = 300
GROUPS = pathlib.Path("/sys/fs/cgroup/cpuacct")
LAST_PODS = 2  # seconds in which the processes beside the last pods end


def muster(folder, *words):
    """A command of a user, who has just been given a shell."""
    environment = {**os.environ, "HOME": str(folder), "KUBECONFIG": str(folder / "state" / "kubeconfig")}
    return subprocess.run([world.MUSTER, *words], check=True, capture_output=True, text=True, env=environment).stdout


def first_process_seconds():
    """From the start of `muster up` to the first line of a process that is submitted as soon as it returns."""
    found = []
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory(prefix="muster-bench-") as name:
            folder = pathlib.Path(name)
            mark, state = folder / "mark", f"--state={folder / 'state'}"
            start = time.monotonic()
            muster(folder, "up", state)
            try:
                muster(folder, "submit", "--", "touch", str(mark))
                while not mark.exists() and time.monotonic() - start < PATIENCE:
                    time.sleep(0.001)
                found.append(time.monotonic() - start)
            finally:
                muster(folder, "down", state)
    return statistics.median(found)


class Finished(threading.Thread):
    """Follows Jobs until so many are complete."""

    def __init__(self, server, version, count):
        super().__init__(daemon=True)
        self.connection, self.version, self.left = server.connect(), version, count
        self.done = set()

    def run(self):
        self.connection.request("GET", f"{PATH}?watch=1&resourceVersion={self.version}&timeoutSeconds={PATIENCE}")
        answer = self.connection.getresponse()
        while self.left > len(self.done) and (line := answer.readline()):
            job = json.loads(line)["object"]
            if any(row["type"] == "Complete" for row in job.get("status", {}).get("conditions", [])):
                self.done.add(job["metadata"]["name"])


class Account:
    """Processor time of the server and of all that it starts, also of processes that are nobody's children: of a control
    group, or where root has none of its own, at most that of the whole machine."""

    def __init__(self, pid):
        self.folder = GROUPS / f"muster-bench-{pid}"
        self.is_exact = os.access(GROUPS, os.W_OK)
        if self.is_exact:
            self.folder.mkdir()
            (self.folder / "cgroup.procs").write_text(str(pid))

    def seconds(self):
        return int((self.folder / "cpuacct.usage").read_text()) / 1e9 if self.is_exact else machine_seconds()

    def close(self):
        """The group goes when its last process has ended."""
        start = time.monotonic()
        while self.is_exact and self.folder.exists() and time.monotonic() - start < PATIENCE:
            try:
                self.folder.rmdir()
            except OSError:
                time.sleep(0.1)


def machine_seconds():
    fields = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()
    return sum(int(field) for field in (fields[1], fields[2], fields[3], fields[6], fields[7])) / os.sysconf("SC_CLK_TCK")


def measure():
    with tempfile.TemporaryDirectory(prefix="muster-bench-") as name:
        folder = pathlib.Path(name)
        server = world.Server(folder, flags=())
        server.start()
        server.wait_ready()
        account = Account(server.process.pid)
        try:
            connection = server.connect()
            while connection.ask("GET", QUEUE)[0] != 200:
                time.sleep(0.01)
            job = json.loads(muster(folder, "submit", f"--kubeconfig=unix:{server.state / 'api.sock'}", "--dry-run", "-o", "json",
                                    "-N", "job", "-D", "/", "--", "true"))
            version = connection.ask("GET", f"{PATH}?limit=1")[1]["metadata"]["resourceVersion"]
            finished = Finished(server, version, JOBS)
            finished.start()
            used, everything, start = pretended.processor_seconds(server.process.pid), account.seconds(), time.monotonic()
            for number in range(JOBS):
                job["metadata"]["name"] = f"job-{number}"
                status, answer = connection.ask("POST", PATH, job)
                if status != 201:
                    raise SystemExit(f"{status} {answer}")
            posted = time.monotonic() - start
            finished.join(PATIENCE)
            seconds, used = time.monotonic() - start, pretended.processor_seconds(server.process.pid) - used
            time.sleep(LAST_PODS)
            everything = account.seconds() - everything
            print(f"jobs      {len(finished.done)} of `true` in {seconds:.1f} s: {len(finished.done) / seconds:.0f} a second   "
                  f"submitted within {posted:.1f} s   {used / JOBS * 1e3:.1f} ms of the server's processor time a job, "
                  f"{'' if account.is_exact else 'at most '}{everything / JOBS * 1e3:.1f} in all", flush=True)
        finally:
            server.process.terminate()
            server.process.wait()
            account.close()
