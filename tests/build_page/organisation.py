"""What the suite runs on: a console with two departments and three projects, and what it keeps for them."""

import sides
from cluster import Teams
from visits import until

POLICY = "/api/v2/policy/trainings"
ASSETS = "/api/v1/asset"
TEMPLATES = "/api/v1/workload-templates"


class Organisation(Teams):
    """Two departments with three projects, on two small nodes."""

    def __init__(self, chromium):
        super().__init__(chromium)
        self.machine = sides.Local("--fake-nodes", "2x4")

    def fill(self):
        research = self.unit("departments", "research", 6)
        product = self.unit("departments", "product", 2)
        for name, gpus, parent in (("language", 4, research), ("vision", 2, research), ("search", 2, product)):
            self.unit("projects", name, gpus, parentId=parent["id"])
        self.projects = until(self.ready_projects, "the projects")

    def policy(self, scope="tenant", **more):
        """The policy of a scope; None where there is none."""
        query = "&".join(f"{name}={value}" for name, value in {"scope": scope, **more}.items())
        answer = self.call("GET", f"{POLICY}?{query}")
        return answer.body if answer.status == 200 else None

    def assets(self, kind):
        return {one["meta"]["name"]: one for one in self.ask("GET", f"{ASSETS}/{kind}")["entries"]}

    def templates(self):
        return {one["meta"]["name"]: one for one in self.ask("GET", TEMPLATES)["entries"]}

    def viewer(self):
        """A user who may read and change nothing of all this."""
        kinds = ["policies", "environments", "compute-resources", "pvc-assets", "credentials", "registries", "templates", "project", "department"]
        body = {"name": "Reader", "permissions": [{"resourceType": one, "actions": ["read"]} for one in kinds]}
        role = self.ask("POST", "/api/muster/v1/roles", body, 201)
        return self.user("viewer@example.com", role["id"])
