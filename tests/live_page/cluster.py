"""The cluster that the suite looks at: three teams on four nodes, one of them over its quota, with work that waits and a hostile one."""

import http.client
import urllib.parse

import sides
from suite import expect
from visits import ADMIN, PASSWORD, VIEWS, Console, until

NODES = "3x8xH100,1x8xA100"
HOSTILE = "<img src=x onerror=alert(1)>\u202egnihton\u001b[31m"
SHOWN = "<img src=x onerror=alert(1)>‹U+202E›gnihton‹U+001B›[31m"
WORKLOADS = "/api/v1/workloads"
LIVE = "/api/muster/v1"


class Teams(Console):
    """A console over a machine with pretended nodes, and teams that work on it."""

    def __init__(self, chromium):
        super().__init__(chromium)
        self.machine = sides.Local("--fake-nodes", NODES)
        self.projects = {}

    def visit(self, view=VIEWS[0], name=ADMIN, password=PASSWORD, path="/"):
        return super().visit(view, name, password, path)

    def start(self):
        """Makes the first administrator, as the form of the link does."""
        code = urllib.parse.parse_qs(urllib.parse.urlparse(self.link).query)["code"][0]
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=sides.PATIENCE)
        form = urllib.parse.urlencode({"code": code, "email": ADMIN, "password": PASSWORD})
        connection.request("POST", "/setup", form, {"Content-Type": "application/x-www-form-urlencoded"})
        expect(connection.getresponse().status, 201)
        self.sign_in()

    def fill(self):
        research = self.unit("departments", "research", 20)
        product = self.unit("departments", "product", 12)
        for name, gpus, parent in (("language", 8, research), ("vision", 12, research), ("search", 12, product)):
            self.unit("projects", name, gpus, parentId=parent["id"])
        self.projects = until(self.ready_projects, "the projects")
        for name, project, gpus in (("pretrain", "language", 8), ("finetune", "language", 8), ("clip-eval", "vision", 8), ("notebook", "vision", 0.5), ("colbert", "search", 4)):
            self.submit(name, project, gpus)
        until(lambda: self.rows("state:Running")["matched"] == 5, "five that run")
        self.submit("rope-long", "language", 8)
        self.submit("giant", "search", 16)
        until(lambda: self.rows("state:Pending")["matched"] == 2, "two that wait")
        self.hostile()

    def ready_projects(self):
        found = self.list("projects")
        return len(found) >= 3 and all(one["status"]["phase"] == "Ready" for one in found.values()) and found

    def submit(self, name, project, gpus, kind="trainings"):
        compute = {"gpuDevicesRequest": 1, "gpuPortionRequest": gpus} if gpus < 1 else {"gpuDevicesRequest": gpus}
        body = {"name": name, "projectId": self.projects[project]["id"], "clusterId": self.cluster, "spec": {"image": "train", "compute": compute}}
        return self.ask("POST", f"{WORKLOADS}/{kind}", body, 202)

    def past_the_console(self, name, image="train", gpus=64):
        """A Job of the vision team that the console did not submit. Returns its object."""
        namespace = self.projects["vision"]["status"]["namespace"]
        labels = {"kai.scheduler/queue": "vision"}
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": namespace, "labels": labels}, "spec": {
            "template": {"metadata": {"labels": labels}, "spec": {"schedulerName": "kai-scheduler", "restartPolicy": "Never", "containers": [
                {"name": "main", "image": image, "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}]}}}}
        made = self.machine.send("POST", f"/apis/batch/v1/namespaces/{namespace}/jobs", job)
        expect(made.status, 201, made.body)
        return made.body

    def hostile(self):
        """A workload whose events are hostile."""
        job = self.past_the_console("hostile", HOSTILE.replace("\u001b", ""))
        namespace = job["metadata"]["namespace"]
        event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "hostile.1", "namespace": namespace}, "type": "Warning", "reason": HOSTILE, "message": HOSTILE, "count": 3,
                 "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z",
                 "involvedObject": {"apiVersion": "batch/v1", "kind": "Job", "namespace": namespace, "name": "hostile", "uid": job["metadata"]["uid"]}}
        expect(self.machine.send("POST", f"/api/v1/namespaces/{namespace}/events", event).status, 201)
        until(lambda: self.rows("name:hostile")["matched"] == 1, "the hostile one")

    def rows(self, words):
        answer = self.call("GET", f"{LIVE}/workloads/window?filter={words.replace(' ', '%20')}&limit=500")
        expect(answer.status, 200, answer.data)
        return answer.body

    def row(self, name):
        """The row of a workload by its name; None where there is none."""
        return next((row for row in self.rows(f"name:{name}")["items"] if row["name"] == name), None)

    def state(self, name):
        row = self.row(name)
        return row and row["state"]
