"""Random small clusters in the form of scenarios, in which something waits."""

import random

FLAVOURS = ["plain", "gang", "elastic", "fraction", "memory", "memory", "topology", "topology", "groups", "cpu", "cpu",
            "nodes", "times", "times", "times", "fixed", "limits", "large"]
ACTIONS = ["allocate", "consolidation", "reclaim", "preempt", "stalegangeviction"]


class Node:
    """What is left of a node while running pods are put on it."""

    def __init__(self, name, gpus, cpu):
        self.name, self.gpus, self.cpu = name, gpus, cpu
        self.shared = {}

    def take(self, request):
        """Room for one pod: its GPU groups, or None when it does not fit."""
        if self.cpu < request["cpu_milli"]:
            return None
        part = request.get("gpu_fraction", 0)
        groups = []
        if part:
            group = next((g for g, left in self.shared.items() if left >= part - 1e-9), None)
            if group is None:
                if self.gpus < 1:
                    return None
                self.gpus -= 1
                group = f"{self.name}-g{len(self.shared)}"
                self.shared[group] = 1
            self.shared[group] -= part
            groups = [group]
        elif self.gpus < request.get("gpus", 0):
            return None
        else:
            self.gpus -= request.get("gpus", 0)
        self.cpu -= request["cpu_milli"]
        return groups


def make_nodes(rng, flavour):
    sizes = rng.choice([[8], [4], [2, 4], [8, 4]])
    cpu = 8_000 if flavour == "cpu" else 64_000
    nodes = []
    for i in range(rng.randint(4, 6) if flavour == "topology" else rng.randint(1, 6)):
        gpus = rng.choice(sizes)
        nodes.append({"name": f"n{i}", "gpus": gpus, "gpu_memory_mib": rng.choice([40_000, 80_000]), "cpu_milli": cpu,
                      "labels": {"zone": f"z{i // 4}", "rack": f"r{i // 2}", "kai.scheduler/type": f"t{i % 2}"}})
    return nodes


def make_queues(rng, flavour, total):
    queues = []
    for d in range(rng.randint(1, 2)):
        limit = rng.randint(1, total) if flavour == "limits" and rng.random() < 0.5 else -1
        queues.append({"name": f"d{d}", "parent": "", "gpu": {"quota": rng.choice([-1, -1, rng.randint(1, total)]),
                                                              "limit": limit, "over_quota_weight": rng.choice([1, 2])}})
        for q in range(rng.randint(1, 3)):
            queue = {"name": f"d{d}q{q}", "parent": f"d{d}", "priority": rng.choice([100, 100, 110]),
                     "gpu": {"quota": rng.choice([0, 1, 2, rng.randint(0, total)]),
                             "limit": rng.choice([-1, -1, rng.randint(1, total)]) if flavour == "limits" else -1,
                             "over_quota_weight": rng.choice([0, 1, 1, 2])}}
            if flavour == "cpu" and rng.random() < 0.4:
                queue["cpu"] = {"quota": rng.choice([-1, 4_000]), "limit": rng.choice([-1, 6_000, 10_000]),
                                "over_quota_weight": 1}
            if flavour == "times":
                queue["preempt_min_runtime_seconds"] = rng.choice([None, 120, 600])
                queue["reclaim_min_runtime_seconds"] = rng.choice([None, 300, 900])
            queues.append(queue)
    return queues


def make_request(rng, flavour, largest):
    request = {"cpu_milli": rng.choice([500, 1_000, 3_000, 6_000]) if flavour == "cpu" else 1_000,
               "memory_bytes": 1_000_000_000}
    kind = rng.random()
    if flavour in ("fraction", "memory") and kind < 0.6:
        if flavour == "fraction":
            request["gpu_fraction"] = rng.choice([0.2, 0.25, 0.5, 0.5, 0.7])
        else:
            request["gpu_memory_mib"] = rng.choice([8_000, 20_000, 30_000])
    elif not (flavour == "cpu" and kind < 0.4):
        request["gpus"] = rng.randint(1, largest)
    return request


def make_root(rng, flavour, count):
    """The gang's tree, and the pod set of each of its pods."""
    constraint = None
    if flavour == "topology":
        constraint = {"topology": "tree", "required_level": rng.choice(["rack", "rack", "zone", ""]), "preferred_level": ""}
        if not constraint["required_level"]:
            constraint["preferred_level"] = "rack"
    if flavour == "groups" and count > 1:
        first = rng.randint(1, count - 1)
        sets = [{"name": "left", "min_available": rng.randint(1, first)},
                {"name": "right", "min_available": rng.randint(1, count - first)}]
        return {"name": "", "topology_constraint": constraint, "pod_sets": sets}, ["left"] * first + ["right"] * (count - first)
    least = rng.randint(1, count) if flavour == "elastic" else count
    return ({"name": "", "topology_constraint": constraint, "pod_sets": [{"name": "default", "min_available": least}]},
            ["default"] * count)


def make_job(rng, flavour, number, leaves, largest):
    fixed = rng.random() < (0.5 if flavour == "fixed" else 0.15)
    count = rng.choice([1, 1, 2, 3, 4]) if flavour in ("gang", "elastic", "groups") else rng.choice([1, 1, 2])
    if flavour == "topology":
        count = rng.choice([2, 3, 4, 6])
    request = make_request(rng, flavour, largest)
    root, sets = make_root(rng, flavour, count)
    job = {"name": f"job{number}", "queue": rng.choice(leaves), "priority": rng.choice([100, 125] if fixed else [40, 50, 50, 75]),
           "preemptible": not fixed, "age_seconds": 10_000 - 60 * number, "root": root,
           "tasks": [{"name": f"job{number}-{i}", "pod_set": s, "request": dict(request)} for i, s in enumerate(sets)]}
    if flavour == "nodes" and rng.random() < 0.6:
        for task in job["tasks"]:
            task["node_affinity_types"] = [rng.choice(["t0", "t1", "none"])]
    if flavour == "times" and rng.random() < 0.5:
        job["preemption_delay_seconds"] = rng.choice([60, 20_000])
    return job


def start(rng, job, nodes, types):
    """Puts all pods of the job on nodes, or none."""
    before = [(n.gpus, n.cpu, dict(n.shared)) for n in nodes]
    for task in job["tasks"]:
        allowed = task.get("node_affinity_types")
        for node in sorted(nodes, key=lambda n: rng.random()):
            groups = None if allowed and types[node.name] not in allowed else node.take(task["request"])
            if groups is not None:
                task.update(status="running", node=node.name, gpu_groups=groups)
                break
        else:
            for node, (gpus, cpu, shared) in zip(nodes, before):
                node.gpus, node.cpu, node.shared = gpus, cpu, shared
            for other in job["tasks"]:
                for key in ("status", "node", "gpu_groups"):
                    other.pop(key, None)
            return
    job["last_start_age_seconds"] = rng.choice([30, 100, 100, 400, 5_000])


def scenario(seed):
    """One cluster. What runs was placed where it fitted; what did not fit, and some more, waits."""
    rng = random.Random(seed)
    flavour = rng.choice(FLAVOURS)
    specs = make_nodes(rng, flavour)
    nodes = [Node(n["name"], n["gpus"], n["cpu_milli"]) for n in specs]
    types = {n["name"]: n["labels"]["kai.scheduler/type"] for n in specs}
    total = sum(n["gpus"] for n in specs)
    queues = make_queues(rng, flavour, total)
    leaves = [q["name"] for q in queues if q["parent"]]
    largest = max(n["gpus"] for n in specs) + (2 if flavour == "large" else 0)
    jobs = []
    for number in range(rng.randint(3, 14)):
        job = make_job(rng, flavour, number, leaves, largest if rng.random() < 0.4 else min(3, largest))
        if rng.random() < (0.5 if flavour == "topology" else 0.75):
            # What runs somewhere, by fractions and without a topology, stands in the way of what waits.
            if flavour == "topology":
                job["root"]["topology_constraint"] = None
            for task in job["tasks"] if flavour == "memory" else []:
                task["request"]["gpu_fraction"] = 0.5 if task["request"].pop("gpu_memory_mib", 0) else 0
            start(rng, job, nodes, types)
        jobs.append(job)
    return {"id": f"why-{seed}", "name": flavour,
            "kind": {"mode": "multi_round", "actions": ACTIONS, "rounds_until_match": 24, "rounds_after_match": 0},
            "topology": {"nodes": specs, "queues": queues, "jobs": jobs,
                         "topologies": [{"name": "tree", "levels": [{"node_label": "zone"}, {"node_label": "rack"}]}]}}
