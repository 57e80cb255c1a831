"""The reference model with its defects mended, for judging where the engine differs from it.

The model keeps KAI's own mistakes so as to agree with every recorded case: what a simulation changed is not taken back
exactly, a pod can be evicted twice by one scenario, and a job's next pods are remembered too long. The engine does none of
this. Here the same model is run with exact undo, each victim once, and no memory: where the engine agrees with it, a
difference from the plain model is one of those defects and nothing else.

usage: mended.py MODEL_FOLDER SCENARIOS.json > OUTCOMES.json
"""

import copy
import json
import multiprocessing
import sys

NODE_FIELDS = ("idle", "used", "rel", "U", "A", "R", "M", "M2", "tasks", "devref", "zav")
TASK_FIELDS = ("status", "node", "groups", "virtual", "acc", "numa")


def remember(engine, task, node_name):
    """What one operation on the task can change, here and on other nodes that hold it, as a function that puts it back."""
    of_nodes = []
    for node in engine.nodes.values():
        if node.name != node_name and task.name not in node.tasks:
            continue
        fields = {f: copy.copy(getattr(node, f)) for f in NODE_FIELDS if hasattr(node, f)}
        if "zav" in fields:
            fields["zav"] = [dict(zone) for zone in fields["zav"]]
        of_nodes.append((node, fields))
    of_task = {f: copy.copy(getattr(task, f)) for f in TASK_FIELDS}
    refs = dict(getattr(engine, "refs", {}))
    devices = copy.deepcopy(getattr(task, "dramem", None))
    claims = {k: (copy.copy(c["alloc"]), list(c["res"])) for k, c in engine.claims.items()}
    queues = [(q, dict(q.alloc), dict(q.allocnp)) for q in engine.path(task.job.queue)]

    def restore():
        for node, fields in of_nodes:
            for field, value in fields.items():
                setattr(node, field, value)
        for field, value in of_task.items():
            setattr(task, field, value)
        engine.refs = refs
        if devices is not None:
            task.dramem = devices
        elif hasattr(task, "dramem"):
            del task.dramem
        for key, (alloc, res) in claims.items():
            engine.claims[key]["alloc"], engine.claims[key]["res"] = alloc, res
        for queue, alloc, fixed in queues:
            queue.alloc, queue.allocnp = alloc, fixed
        task.job.ver = getattr(task.job, "ver", 0) + 1

    return restore


def mend_undo(solver):
    plain = solver.Stmt

    class Exact(plain):
        def noted(self, task, node_name, operate):
            restore = remember(self.e, task, node_name)
            before = len(self.log)
            operate()
            for operation in self.log[before:]:
                operation["restore"] = restore

        def evict(self, task):
            self.noted(task, task.node, lambda: plain.evict(self, task))

        def pipeline(self, task, node_name, update, groups):
            self.noted(task, node_name, lambda: plain.pipeline(self, task, node_name, update, groups))

        def allocate(self, task, node_name, groups):
            self.noted(task, node_name, lambda: plain.allocate(self, task, node_name, groups))

        def rollback(self, checkpoint):
            while len(self.log) > checkpoint:
                operation = self.log.pop()
                operation["restore"]()
                if operation["op"] == "unevict":
                    operation["evop"]["valid"] = True

    solver.Stmt = Exact
    return Exact


def each_once(groups, seen):
    """The groups without the tasks that came before."""
    out = []
    for job, tasks in groups:
        fresh = [t for t in tasks if t.name not in seen]
        seen.update(t.name for t in fresh)
        if fresh:
            out.append((job, fresh))
    return out


def mend_search(search):
    plain_simulate = search.simulate
    plain_solve = search.solve
    found = []

    def simulate(e, action, job, partial, pending, recorded, potential, nodes, snapshot):
        seen = set()
        recorded, potential = each_once(recorded, seen), each_once(potential, seen)
        result = plain_simulate(e, action, job, partial, pending, recorded, potential, nodes, snapshot)
        found[:] = result[:1] if result else []
        return result

    def solve(e, action, job):
        result = plain_solve(e, action, job)
        if result == "leak":
            found[0].discard()
        return result

    search.simulate = simulate
    search.solve = solve


def mend_sums(engine):
    """Sums of doubles drift: 0.9 three times taken away from 2.7 leaves something. Queues hold hundredths of GPUs."""
    plain = engine.ev

    def charge(e, task, sign):
        plain(e, task, sign)
        for queue in e.path(task.job.queue):
            for held in (queue.alloc, queue.allocnp):
                held["gpu"] = round(held["gpu"], 6)

    engine.ev = charge


def number_by_age(e):
    """Names of new shared GPUs that sort by age: where several are equally good, the oldest is taken."""
    e.uuid += 1
    return f"uuid-{e.uuid:09d}"


def one(scenario):
    import engine

    given = {k: scenario[k] for k in ("id", "kind", "config", "topology") if scenario.get(k) is not None}
    try:
        return {"id": scenario["id"], "actual": engine.Engine(given).run()}
    except Exception as problem:  # the caller counts what the model could not answer
        print(scenario["id"], repr(problem), file=sys.stderr)
        return {"id": scenario["id"], "actual": None}


def prepare(folder):
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    sys.setrecursionlimit(10000)
    import engine
    import search
    import solver

    exact = mend_undo(solver)
    search.Stmt = exact
    mend_search(search)
    engine.Engine.chunk = engine.Engine.chunk0
    engine.Engine.fresh = number_by_age
    mend_sums(engine.Engine)


def main():
    folder, path = sys.argv[1:]
    prepare(folder)
    with open(path, encoding="utf-8") as file:
        scenarios = json.load(file)
    with multiprocessing.Pool(initializer=prepare, initargs=(folder,)) as pool:
        json.dump(pool.map(one, scenarios, chunksize=8), sys.stdout)


if __name__ == "__main__":
    main()
