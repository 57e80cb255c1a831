"""Jobs that come and go while the daemon is killed, and what has to be true of them afterwards."""

import json
import pathlib
import random
import threading
import time

import world
from suite import expect

NAMESPACE = "default"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
MARK = "KILLS_FOLDER"
MOMENTS_A_ROUND = 10  # after which all jobs are awaited, judged and removed
PATIENCE = 120
SETTLED = 0.1  # between two looks at the same thing


class Task:
    """One job: what was asked for, and what the server has said of it."""

    def __init__(self, folder, number, chance):
        self.name, self.runs_path = f"task-{number}", folder / f"task-{number}"
        self.is_job = chance.randrange(2) == 0
        self.code = chance.choice([0, 0, 3])
        # A Job that fails stops its other pods, so that one with several would say nothing about them.
        self.pods = chance.randint(1, 2) if self.is_job and self.code == 0 else 1
        self.length = chance.choice([0, 0.1, 0.3, 1])
        self.is_created, self.is_deleted = False, False  # that it was created is acknowledged, its deletion is asked for

    @property
    def path(self):
        return f"{JOBS if self.is_job else PODS}/{self.name}"

    def spec(self, mark):
        """Notes that it runs, outside of everything that Muster keeps, and prints two lines."""
        script = f"echo run >> {self.runs_path}; echo first; sleep {self.length}; echo last; exit {self.code}"
        return {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [
            {"name": "main", "image": "none", "command": ["sh", "-c", script], "env": [{"name": MARK, "value": mark}]}]}

    def manifest(self, mark):
        labels = {"kai.scheduler/queue": "default-queue"}
        if not self.is_job:
            return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": self.name, "labels": labels}, "spec": self.spec(mark)}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": self.name}, "spec": {
            "completions": self.pods, "parallelism": self.pods, "backoffLimit": 0,
            "template": {"metadata": {"labels": labels}, "spec": self.spec(mark)}}}

    def runs(self):
        return len(self.runs_path.read_text().split()) if self.runs_path.exists() else 0


class User(threading.Thread):
    """Creates jobs, and deletes some of them, until nobody answers."""

    def __init__(self, campaign, seed):
        super().__init__(daemon=True)
        self.campaign, self.chance = campaign, random.Random(seed)
        self.connection = campaign.server.connect()
        self.problem = None

    def run(self):
        try:
            while True:
                self.act()
                time.sleep(self.chance.random() * 0.15)
        except world.CUT_OFF:
            pass
        except Exception as problem:  # pylint: disable=broad-except
            self.problem = problem

    def act(self):
        tasks = [task for task in self.campaign.tasks if task.is_created and not task.is_deleted]
        if tasks and self.chance.randrange(4) == 0:
            task = self.chance.choice(tasks)
            task.is_deleted = True
            status, answer = self.connection.ask("DELETE", task.path, {"propagationPolicy": "Background"})
            wanted = (200, 202)
        else:
            task = self.campaign.new_task(self.chance)
            status, answer = self.connection.ask("POST", task.path.rsplit("/", 1)[0], task.manifest(self.campaign.mark))
            task.is_created, wanted = True, (201,)
        if status not in wanted:
            raise AssertionError(f"{task.name}: {status} {answer.get('message')}")


class Campaign:
    """One state folder through many kills."""

    def __init__(self, folder, seed):
        self.server = world.Server(folder, flags=())
        self.chance = random.Random(seed)
        self.folder, self.mark = folder / "runs", str(folder)
        self.folder.mkdir()
        self.tasks, self.number = [], 0
        self.deleted, self.ran = 0, 0

    def new_task(self, chance):
        task = Task(self.folder, self.number, chance)
        self.number += 1
        self.tasks.append(task)
        return task

    def ask(self, method, path, body=None):
        return self.server.connect().ask(method, path, body)

    def moment(self):
        """From a start to a kill; one of six comes while the daemon starts."""
        self.server.start()
        if self.chance.randrange(6) == 0:
            time.sleep(self.chance.random() * 0.5)
            self.server.kill(self.chance)
            return
        self.server.wait_ready()
        user = User(self, self.chance.random())
        user.start()
        time.sleep(self.chance.random() * 0.6)
        self.server.kill(self.chance)
        user.join(PATIENCE)
        if user.problem:
            raise user.problem

    def wait(self, is_so, what):
        until = time.monotonic() + PATIENCE
        while not (found := is_so()):
            if time.monotonic() > until:
                raise AssertionError(f"not within {PATIENCE} s: {what}")
            time.sleep(SETTLED)
        return found

    def pods_of(self, task, pods):
        if not task.is_job:
            return [pod for pod in pods if pod["metadata"]["name"] == task.name]
        return [pod for pod in pods if pod["metadata"].get("labels", {}).get("batch.kubernetes.io/job-name") == task.name]

    def has_ended(self, task):
        status, found = self.ask("GET", task.path)
        if status == 404:
            return found
        if task.is_job:
            is_over = any(row["type"] in ("Complete", "Failed") for row in found["status"].get("conditions", []))
        else:
            is_over = found["status"].get("phase") in ("Succeeded", "Failed")
        return found if is_over and not task.is_deleted else None

    def judge_log(self, pod):
        connection = self.server.connect()
        connection.request("GET", f"{PODS}/{pod['metadata']['name']}/log")
        expect(connection.getresponse().read(), b"first\nlast\n", f"log of {pod['metadata']['name']}")

    def judge(self, task, pods):
        """A job that was not deleted has run once, and all that it left is kept."""
        mine = self.pods_of(task, pods)
        if task.is_deleted or not task.is_created and not mine:
            if task.runs() > task.pods:
                raise AssertionError(f"{task.name} has {task.pods} pods and ran {task.runs()} times")
            self.deleted += 1
            return
        expect(len(mine), task.pods, f"pods of {task.name}")
        expect(task.runs(), task.pods, f"runs of {task.name}")
        for pod in mine:
            ended = pod["status"]["containerStatuses"][0]["state"]["terminated"]
            expect(ended["exitCode"], task.code, f"exit code of {task.name}: {json.dumps(pod['status'])}")
            self.judge_log(pod)
            self.ran += 1

    def leftovers(self):
        """Processes of the jobs, and those beside their pods."""
        mark = f"{MARK}={self.mark}".encode()
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                line = (process / "cmdline").read_bytes().replace(b"\0", b" ")
                if mark in (process / "environ").read_bytes().split(b"\0") or f"pod-shim {self.mark}".encode() in line:
                    found.append((process.name, line.decode()))
            except OSError:
                continue  # it has ended meanwhile
        return found

    def settle(self):
        """Waits until every job is over, judges them, and leaves an empty machine."""
        self.server.start()
        self.server.wait_ready()
        for task in self.tasks:
            if task.is_deleted:
                self.ask("DELETE", task.path, {"propagationPolicy": "Background"})  # the request may have been lost
        for task in self.tasks:
            self.wait(lambda task=task: self.has_ended(task), f"the end of {task.name}")
        pods = self.ask("GET", PODS)[1]["items"]
        for task in self.tasks:
            self.judge(task, pods)
        for task in self.tasks:
            self.ask("DELETE", task.path, {"propagationPolicy": "Background"})
        self.wait(lambda: not self.ask("GET", PODS)[1]["items"], "no pods are left")
        self.wait(lambda: not self.leftovers(), f"no processes are left: {self.leftovers()}")
        self.server.kill(self.chance)
        self.tasks = []

    def one_of(self, number, moments):
        try:
            self.moment()
            if number % MOMENTS_A_ROUND == MOMENTS_A_ROUND - 1 or number == moments - 1:
                self.settle()
        except Exception as error:
            raise AssertionError(f"moment {number}: {error}\n{self.server.log.read_text()[-4000:]}") from error

    def run(self, moments):
        try:
            for number in range(moments):
                self.one_of(number, moments)
        finally:
            if self.server.process.poll() is None:
                self.server.kill(self.chance)
        print(f"# {moments} moments, {self.number} jobs: {self.ran} pods ran to their end, {self.deleted} jobs were deleted",
              flush=True)
        if self.ran == 0 or self.deleted == 0:
            raise AssertionError("no job has come or gone")
