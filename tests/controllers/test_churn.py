"""Random changes, restarts in the middle, and metrics, against the ledger."""

import random
import shutil
import subprocess

import accounts
import suite
import world
from suite import expect

SUITE = suite.Suite()
SEED = 7
NAMES = [f"team-{number}" for number in range(8)]
REQUESTS = [{"cpu": "100m", "memory": "64Mi"}, {"cpu": "1500m", "nvidia.com/gpu": "1"}, {"memory": "500M"},
            {"cpu": "2", "memory": "1Gi", "nvidia.com/gpu": "8"}, {"example.com/widget": "3"}]
NOTES = [{}, {}, {"gpu-fraction": "0.3", "received-resource-type": "Fraction"}, {"gpu-memory": "2000"},
         {"gpu-fraction": "0.25", "gpu-fraction-num-devices": "3", "received-resource-type": "Fraction"}]


class Churn:
    """Changes at random; a change that the API server refuses is none."""

    def __init__(self, cluster, seed):
        self.api, self.cluster = cluster.api, cluster
        self.random, self.count = random.Random(seed), 0

    def some(self, path):
        items = self.api.items(path)
        return self.random.choice(items)["metadata"]["name"] if items else None

    def add_pod(self):
        self.count += 1
        containers = self.random.choices(REQUESTS, k=self.random.randint(1, 2))
        self.api.create(world.PODS, world.pod(f"pod-{self.count}", self.some(world.GROUPS), containers,
                                              self.random.choice(NOTES)))

    def change_pod(self):
        if name := self.some(world.PODS):
            phase = self.random.choice(["Pending", "Running", "Running", "Succeeded", "Failed"])
            world.set_phase(self.cluster, name, phase, self.random.random() < 0.5)

    def move_pod(self):
        if name := self.some(world.PODS):
            self.api.patch(f"{world.PODS}/{name}",
                           {"metadata": {"annotations": {"pod-group-name": self.some(world.GROUPS)}}})

    def drop_pod(self):
        if name := self.some(world.PODS):
            world.remove(self.cluster, f"{world.PODS}/{name}")

    def add_group(self):
        self.count += 1
        self.api.create(world.GROUPS, world.group(f"group-{self.count}", self.random.choice(NAMES)))

    def change_group(self):
        if name := self.some(world.GROUPS):
            self.api.patch(f"{world.GROUPS}/{name}", {"spec": self.random.choice([
                {"queue": self.random.choice(NAMES)}, {"priorityClassName": self.random.choice(["train", "build", "x"])},
                {"preemptibility": self.random.choice(["preemptible", "non-preemptible", None])}])})

    def drop_group(self):
        if name := self.some(world.GROUPS):
            world.remove(self.cluster, f"{world.GROUPS}/{name}")

    def move_queue(self):
        """Upwards alone, so that there are no circles."""
        number = self.random.randrange(1, len(NAMES))
        path = f"{world.QUEUES}/{NAMES[number]}"
        if any(one["metadata"]["name"] == NAMES[number] for one in self.api.items(world.QUEUES)):
            self.api.patch(path, {"spec": {"parentQueue": NAMES[self.random.randrange(number)]}})

    def swap_queue(self):
        number = self.random.randrange(1, len(NAMES))
        if any(one["metadata"]["name"] == NAMES[number] for one in self.api.items(world.QUEUES)):
            world.remove(self.cluster, f"{world.QUEUES}/{NAMES[number]}")
        else:
            self.api.create(world.QUEUES, world.queue(NAMES[number], NAMES[self.random.randrange(number)]))

    def step(self):
        self.random.choices([self.add_pod, self.change_pod, self.move_pod, self.drop_pod, self.add_group,
                             self.change_group, self.drop_group, self.move_queue, self.swap_queue],
                            [12, 12, 2, 3, 3, 3, 1, 1, 1])[0]()


def restart(cluster, name, kill):
    if kill:
        cluster.kill(name)
    else:
        expect(cluster.stop(name), 0, f"status of {name}")


@SUITE.test("after random changes and restarts, statuses equal the ledger")
def test_random(cluster):
    world.clear(cluster)
    for number, name in enumerate(NAMES):
        cluster.api.create(world.QUEUES, world.queue(name, NAMES[number // 2] if number else ""))
    churn = Churn(cluster, SEED)
    for _ in range(6):
        churn.add_group()
    for episode in range(6):
        for _ in range(60):
            churn.step()
        if episode % 2:
            victim = ("podgroups", "queues")[episode // 2 % 2]
            restart(cluster, victim, kill=episode != 3)
            for _ in range(30):
                churn.step()
            world.start(cluster, victim)
        accounts.wait_equal(cluster)


@SUITE.test("nothing is written while nothing changes, also after a restart")
def test_quiet(cluster):
    accounts.wait_equal(cluster)
    versions = versions_of(cluster)
    for name in world.COUNTING:
        restart(cluster, name, kill=True)
        world.start(cluster, name)
    # Whatever they would write, they write before the status of something new.
    cluster.api.create(world.GROUPS, world.group("news", NAMES[0]))
    cluster.api.create(world.PODS, world.pod("news", "news"))
    accounts.wait_equal(cluster)
    now = versions_of(cluster)
    changed = [name for name, version in versions.items() if now.get(name) != version]
    expect([name for name in changed if name != f"queue {NAMES[0]}"], [], "objects that were written")


def versions_of(cluster):
    return {f"{kind} {one['metadata']['name']}": one["metadata"]["resourceVersion"]
            for kind, path in (("group", world.GROUPS), ("queue", world.QUEUES)) for one in cluster.api.items(path)}


@SUITE.test("the metrics of queues equal the ledger, and queues that are gone are not shown")
def test_metrics(cluster):
    accounts.wait_equal(cluster)
    text = world.metrics(cluster, "queues")
    wanted = {name: {kind: lists["allocated"].get(resource, 0) for kind, resource in
                     (("gpus", "nvidia.com/gpu"), ("cpu_cores", "cpu"), ("memory_bytes", "memory"))}
              for name, (lists, _) in accounts.Shown(cluster).of_queues.items()}
    for kind in ("gpus", "cpu_cores", "memory_bytes"):
        found = {labels["queue_metadata_name"]: value
                 for labels, value in world.series(text, f"kai_queue_allocated_{kind}")}
        expect(found, {name: float(round(one[kind], 4)) for name, one in wanted.items()}, f"kai_queue_allocated_{kind}")


@SUITE.test("queues' own labels are labels of their metrics, with defaults; quotas have the units of their names")
def test_labels(cluster):
    world.clear(cluster)
    restart(cluster, "queues", kill=False)
    world.start(cluster, "queues", "--metrics-namespace=lab", "--queue-label-to-metric-label=cost-center=cost,who=who",
                "--queue-label-to-default-metric-value=cost-center=none")
    cluster.api.create(world.QUEUES, world.queue("paid", labels={"cost-center": "7"}, display="Paid work",
                                                 quota={"gpu": 2.5, "cpu": 1500, "memory": 10}))
    cluster.api.create(world.QUEUES, world.queue("free", labels={"who": "me"}))
    accounts.wait_equal(cluster)
    cluster.wait_until(lambda: len(world.series(world.metrics(cluster, "queues"), "lab_queue_info")) == 2, "two queues")
    text = world.metrics(cluster, "queues")
    labels = sorted((one for one, _ in world.series(text, "lab_queue_info")), key=lambda one: one["queue_name"])
    expect(labels, [
        {"queue_name": "free", "queue_metadata_name": "free", "queue_display_name": "", "cost": "none", "who": "me"},
        {"queue_name": "paid", "queue_metadata_name": "paid", "queue_display_name": "Paid work", "cost": "7", "who": ""}])
    quotas = {name: {one["queue_name"]: value for one, value in world.series(text, f"lab_queue_{name}")}
              for name in ("deserved_gpus", "quota_cpu_cores", "quota_memory_bytes")}
    expect(quotas, {"deserved_gpus": {"free": -1, "paid": 2.5}, "quota_cpu_cores": {"free": -1, "paid": 1.5},
                    "quota_memory_bytes": {"free": -1, "paid": 1e7}})


@SUITE.test("of two replicas one acts and shows queues; the other takes over")
def test_replicas(cluster):
    restart(cluster, "queues", kill=False)
    world.start(cluster, "queues", *world.QUICK_LEASE)
    cluster.wait_until(lambda: "kai_queue_info{" in world.metrics(cluster, "queues"), "the first replica shows queues")
    world.start(cluster, "queues", *world.QUICK_LEASE, name="queues-2")
    expect("kai_queue_info{" in world.metrics(cluster, "queues-2"), False, "the second replica shows queues")
    cluster.kill("queues")
    cluster.api.create(world.QUEUES, world.queue("child", "paid"))
    cluster.wait_until(lambda: "kai_queue_info{" in world.metrics(cluster, "queues-2"), "the second replica takes over")
    accounts.wait_equal(cluster)


@SUITE.test("of two replicas of podgroups and of the scaler one leads; the other takes over")
def test_leaders(cluster):
    for name in ("podgroups", "scaler"):
        if cluster.processes.alive(name):
            restart(cluster, name, kill=False)
        world.start(cluster, name, *world.QUICK_LEASE)
        cluster.wait_until(lambda leads=name: world.leads(cluster, leads), f"the first replica of {name} leads")
        world.start(cluster, name, *world.QUICK_LEASE, name=f"{name}-2")
        expect(world.leads(cluster, f"{name}-2"), False, f"the second replica of {name} leads")
        cluster.kill(name)
        cluster.wait_until(lambda leads=name: world.leads(cluster, f"{leads}-2"), f"the second replica of {name} takes over")
        restart(cluster, f"{name}-2", kill=False)
    world.start(cluster, "podgroups")
    accounts.wait_equal(cluster)


@SUITE.test("promtool finds nothing wrong with the metrics, and those of the dashboards are there")
def test_promtool(cluster):
    name = "queues-2" if cluster.processes.alive("queues-2") else "queues"
    texts = [world.metrics(cluster, name), world.metrics(cluster, "podgroups")]
    for text in texts:
        for one in ("workqueue_depth", "workqueue_adds_total", "workqueue_retries_total",
                    "workqueue_unfinished_work_seconds", "workqueue_queue_duration_seconds_bucket",
                    "workqueue_work_duration_seconds_bucket", "controller_runtime_reconcile_total",
                    "controller_runtime_reconcile_errors_total", "controller_runtime_active_workers",
                    "process_cpu_seconds_total", "process_resident_memory_bytes"):
            expect(bool(world.series(text, one)), True, one)
    if not shutil.which("promtool"):
        raise suite.Skip("promtool is not installed")
    for text in texts:
        done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True, check=False)
        expect((done.returncode, done.stdout + done.stderr), (0, ""), "promtool")
