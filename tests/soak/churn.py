"""What users do in a soak, at random: workloads of every kind come and go, and quotas change."""

import collections
import http.client

import client
from judge import FIXED, PRIORITY_LABEL
from stage import NAMESPACE, PODS, QUEUES, pod

JOBS = f"/apis/kubeflow.org/v1/namespaces/{NAMESPACE}/tfjobs"
# Quotas of GPUs that change, and limits that do not; all of them below one queue without either.
ROOT, QUOTAS, LIMITS = "soak", {"red": 8, "green": 12, "blue": 16}, {"green": 20}
MOST_QUOTA = 24
MOST_WORKLOADS = 60
CUT = (http.client.HTTPException, OSError)

Gang = collections.namedtuple("Gang", "job size queue")


def queue(name, quota=-1, limit=-1, parent=None):
    free = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    return {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": name}, "spec": {
        **({"parentQueue": parent} if parent else {}),
        "resources": {"cpu": free, "memory": free, "gpu": {**free, "quota": quota, "limit": limit}}}}


class Churn:
    """Whoever gets no answer, or none from the webhooks, goes on with something else; `wrong` has answers that nobody may get."""

    def __init__(self, cluster, chance, quotas):
        self.cluster, self.api, self.chance, self.quotas = cluster, cluster.client(), chance, quotas
        self.number = 0
        self.pods, self.gangs = {}, {}
        self.done, self.wrong = collections.Counter(), []
        self.api.create(QUEUES, queue(ROOT))
        for name, gpus in QUOTAS.items():
            self.api.create(QUEUES, queue(name, gpus, LIMITS.get(name, -1), ROOT))
            quotas.set(name, gpus)
        self.actions = [(self.lone, 6), (self.fixed, 3), (self.share, 6), (self.memory, 2), (self.gang, 4), (self.cores, 2),
                        (self.delete, 12), (self.change_quota, 1)]

    def step(self):
        """One action."""
        full = len(self.pods) + len(self.gangs) >= MOST_WORKLOADS
        actions = [(self.delete, 1)] if full else self.actions
        action, = self.chance.choices(*zip(*actions))
        self.attempt(action)
        self.attempt(self.complete_gangs)

    def attempt(self, action):
        try:
            action()
            self.done[action.__name__] += 1
        except client.ApiError as error:
            if error.status < 500 and error.status != 404:
                self.wrong.append(f"{action.__name__}: {error}")
            self.done["not answered"] += 1
        except CUT:
            self.done["not answered"] += 1

    def name(self, kind):
        self.number += 1
        return f"{kind}-{self.number}"

    def make(self, kind, gpus=0, cpu="1", priority="train", **notes):
        """Some end by themselves. It counts as made even if no answer comes."""
        name = self.name(kind)
        if self.chance.random() < 0.4:
            notes["test/finish-after"] = f"{self.chance.randint(2, 40)}s"
        self.pods[name] = kind
        self.api.create(PODS, pod(name, gpus, self.chance.choice(list(QUOTAS)), cpu=cpu, annotations={
            key.replace("gpu_", "gpu-"): value for key, value in notes.items()}, labels={PRIORITY_LABEL: priority}))

    def lone(self):
        self.make("lone", self.chance.choice([1, 1, 1, 2, 4]))

    def fixed(self):
        self.make("fixed", self.chance.choice([1, 1, 2]), priority=FIXED)

    def share(self):
        self.make("share", priority=self.chance.choice(["train", FIXED]), gpu_fraction=self.chance.choice(["0.25", "0.5", "0.7"]))

    def memory(self):
        self.make("memory", gpu_memory=self.chance.choice(["20000", "40000"]))

    def cores(self):
        self.make("cores", cpu=self.chance.choice(["1", "4", "8"]))

    def gang(self):
        """A training job; complete_gangs() is its controller."""
        name, of_queue = self.name("gang"), self.chance.choice(list(QUOTAS))
        size = self.chance.randint(2, 4)
        job = self.api.create(JOBS, {
            "apiVersion": "kubeflow.org/v1", "kind": "TFJob",
            "metadata": {"name": name, "labels": {"kai.scheduler/queue": of_queue, PRIORITY_LABEL: "train"}},
            "spec": {"tfReplicaSpecs": {"Worker": {"replicas": size, "template": {}}}}})
        self.gangs[name] = Gang(job, size, of_queue)

    def complete_gangs(self):
        """Pods that a job has lost are made again."""
        if not self.gangs:
            return
        there = {one["metadata"]["name"] for one in self.api.items(f"{PODS}?labelSelector=gang")}
        for name, gang in self.gangs.items():
            for number in range(gang.size):
                if f"{name}-{number}" not in there:
                    self.make_member(name, gang, number)

    def make_member(self, name, gang, number):
        made = pod(f"{name}-{number}", 1, gang.queue, labels={"gang": name, PRIORITY_LABEL: "train"})
        made["metadata"]["ownerReferences"] = [{
            "apiVersion": gang.job["apiVersion"], "kind": gang.job["kind"], "controller": True,
            **{key: gang.job["metadata"][key] for key in ("name", "uid")}}]
        try:
            self.api.create(PODS, made)
        except client.ApiError as error:
            if error.status != 409:
                raise

    def delete(self):
        """A workload, of which nothing may be left."""
        names = [*self.pods, *self.gangs]
        if not names:
            return
        name = self.chance.choice(names)
        path = JOBS if name in self.gangs else PODS
        try:
            self.api.delete(f"{path}/{name}?gracePeriodSeconds=0&propagationPolicy=Background")
        except client.ApiError as error:
            if error.status != 404:
                raise
        self.forget(name)

    def forget(self, name):
        self.pods.pop(name, None)
        self.gangs.pop(name, None)

    def change_quota(self):
        name = self.chance.choice(list(QUOTAS))
        gpus = self.chance.randint(2, MOST_QUOTA)
        before = self.quotas.now(name)
        # Before the answer: a quota that is raised may be used before it comes.
        self.quotas.set(name, gpus)
        try:
            self.api.patch(f"{QUEUES}/{name}", {"spec": {"resources": {"gpu": {"quota": gpus}}}})
        except (client.ApiError, *CUT):
            self.quotas.set(name, before)
            raise

    def delete_all(self):
        """The end of everything that users made, also of what was made without an answer."""
        for path in (JOBS, PODS):
            self.api.call("DELETE", f"{path}?gracePeriodSeconds=0&propagationPolicy=Background")
        self.pods.clear()
        self.gangs.clear()
