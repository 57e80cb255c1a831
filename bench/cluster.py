#!/usr/bin/env python3
"""Writes a large cluster as a scenario: bench/cluster.py KIND NODES PENDING [QUEUES] > cluster.json

Nodes have 8 GPUs, 128 cores and 1 TB each. QUEUES (100) leaf queues lie under ten departments; their quotas are equal
and sum to the cluster. The same arguments give the same file. KIND is what the cluster holds and what waits:
"""

import json
import sys

NODE_GPUS = 8
RACK_NODES = 16
BLOCK_NODES = 256
GANG = 16
DEPARTMENTS = 10
DAY_SECONDS = 86400
ALL_ACTIONS = ["allocate", "consolidation", "reclaim", "preempt", "stalegangeviction"]


class Cluster:
    """The parts that all kinds share."""

    def __init__(self, node_count, pending, queue_count):
        self.node_count, self.pending, self.queue_count = node_count, pending, queue_count
        self.gpus = node_count * NODE_GPUS
        self.node_labels = None
        self.topologies = []
        self.jobs = []
        self.queues = [queue(f"q{i:03d}", f"d{i % DEPARTMENTS}", self.gpus / queue_count) for i in range(queue_count)]
        self.queues += [queue(f"d{i}", None, self.gpus / DEPARTMENTS) for i in range(DEPARTMENTS)]

    def node(self, i):
        return f"node-{i:05d}"

    def leaf(self, i):
        return f"q{i % self.queue_count:03d}"

    def in_racks(self):
        """Puts nodes into racks and blocks that jobs can ask for."""
        self.node_labels = lambda i: {"block": f"b{i // BLOCK_NODES}", "rack": f"r{i // RACK_NODES}"}
        self.topologies = [{"name": "net", "levels": [{"node_label": "block"}, {"node_label": "rack"}]}]

    def wait(self, make_tasks, queue_of, root=None):
        """Adds the pending jobs."""
        for i in range(self.pending):
            tasks = make_tasks()
            job = {"name": f"p{i}", "queue": queue_of(i), "tasks": tasks}
            if root:
                job["root"] = root(len(tasks))
            self.jobs.append(job)

    def run(self, count, node_of, queue_of, gpus=1):
        """Adds running jobs of one pod each."""
        for i in range(count):
            task = {"status": "running", "node": self.node(node_of(i)), "request": whole(gpus)}
            self.jobs.append({"name": f"r{i}", "queue": queue_of(i), "tasks": [task]})

    def fill(self, queue_of):
        self.run(self.gpus, lambda i: i // NODE_GPUS, queue_of)

    def scenario(self, kind):
        nodes = []
        for i in range(self.node_count):
            node = {"name": self.node(i), "gpus": NODE_GPUS, "cpu_milli": 128_000, "memory_bytes": 10**12, "pods": 110}
            if self.node_labels:
                node["labels"] = self.node_labels(i)
            nodes.append(node)
        return {
            "id": f"{kind}-{self.node_count}n-{self.pending}p", "name": kind,
            "kind": {"mode": "single_session", "actions": ALL_ACTIONS},
            "config": {"use_scheduling_signatures": True, "max_consolidation_preemptees": 16},
            "topology": {"nodes": nodes, "queues": self.queues, "topologies": self.topologies, "jobs": self.jobs},
        }


def queue(name, parent, quota):
    made = {"name": name, "gpu": {"quota": quota, "limit": -1, "over_quota_weight": 1}}
    if parent:
        made["parent"] = parent
    return made


def whole(gpus):
    return {"gpus": gpus, "cpu_milli": 1000 * gpus, "memory_bytes": 4 * 10**9}


def one():
    return [{"request": whole(1)}]


def gang(size=GANG):
    return [{"request": whole(NODE_GPUS)} for _ in range(size)]


def quarter():
    return [{"request": {"gpu_fraction": 0.25, "gpu_fraction_devices": 1, "cpu_milli": 250, "memory_bytes": 10**9}}]


def rack_root(size):
    return {
        "topology_constraint": {"topology": "net", "required_level": "rack", "preferred_level": ""},
        "pod_sets": [{"name": "default", "min_available": size}],
    }


def empty_single(c):
    """an empty cluster, one-GPU jobs"""
    c.wait(one, c.leaf)


def empty_gang16(c):
    """an empty cluster, gangs of 16 pods of 8 GPUs"""
    c.wait(gang, c.leaf)


def empty_fraction(c):
    """an empty cluster, jobs of a quarter GPU"""
    c.wait(quarter, c.leaf)


def topology(c):
    """an empty cluster in racks, gangs of 16 that each want one rack"""
    c.in_racks()
    c.wait(gang, c.leaf, rack_root)


def full_pending(c):
    """a cluster full of one-GPU jobs within their quotas, more of them that find no room"""
    c.fill(c.leaf)
    c.wait(one, c.leaf)


def taken_by_half(c):
    half = c.queue_count // 2
    c.fill(lambda i: c.leaf(i % half))
    return lambda i: c.leaf(half + i % half)


def nodes_taken_by_half(c):
    half = c.queue_count // 2
    c.fill(lambda i: c.leaf(i // NODE_GPUS % half))
    return lambda i: c.leaf(half + i % half)


def reclaim(c):
    """half of the queues hold everything, one-GPU jobs of the others take back one each"""
    c.wait(one, taken_by_half(c))


def reclaim_young(c):
    """as reclaim, but no victim has run for its queue's minimum time"""
    for each in c.queues:
        each["reclaim_min_runtime_seconds"] = DAY_SECONDS
    c.wait(one, taken_by_half(c))


def reclaim_gang(c):
    """half of the queues hold everything node by node, gangs of 16 take nodes back"""
    c.wait(gang, nodes_taken_by_half(c))


def reclaim_rack(c):
    """as reclaim_gang, each gang in one rack"""
    c.in_racks()
    c.wait(gang, nodes_taken_by_half(c), rack_root)


def reclaim_never(c):
    """one queue holds the cluster within its quota, gangs of 10 that can never be placed"""
    c.queues = [queue("d0", None, c.gpus), queue("owner", "d0", c.gpus), queue("hopeful", "d0", 80)]
    c.fill(lambda _: "owner")
    c.wait(lambda: gang(10), lambda _: "hopeful")


def fragmented(c):
    """half of each node is taken, 8-GPU jobs that only moving others can place"""
    c.run(c.node_count, lambda i: i, c.leaf, NODE_GPUS // 2)
    c.wait(lambda: gang(1), c.leaf)


KINDS = {
    each.__name__: each
    for each in (empty_single, empty_gang16, empty_fraction, topology, full_pending, reclaim, reclaim_young,
                 reclaim_gang, reclaim_rack, reclaim_never, fragmented)
}


def make(kind, node_count, pending, queue_count=100):
    """The scenario as a dict."""
    cluster = Cluster(node_count, pending, queue_count)
    KINDS[kind](cluster)
    return cluster.scenario(kind)


def main():
    words = sys.argv[1:]
    if len(words) not in (3, 4) or words[0] not in KINDS:
        listed = "\n".join(f"  {name:15} {made.__doc__}" for name, made in KINDS.items())
        sys.exit(f"{__doc__}\n{listed}")
    json.dump(make(words[0], *map(int, words[1:])), sys.stdout, separators=(",", ":"))


if __name__ == "__main__":
    main()
