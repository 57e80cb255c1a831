"""Pods of pretended nodes: how fast they reach Running, and what they cost. Everything is one process: the API server, the
store, the controllers, the scheduler and the nodes."""

import os
import pathlib
import sys
import time

import client
import machine

GPUS = 8
JOB_PODS = 400
PATIENCE = 300
JOBS = "/apis/batch/v1/namespaces/default/jobs"


def job(number, pods):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": f"load-{number}"}, "spec": {
        "completions": pods, "parallelism": pods, "template": {
            "metadata": {"labels": {"kai.scheduler/queue": "default-queue"}},
            "spec": {"schedulerName": "kai-scheduler", "restartPolicy": "Never", "containers": [
                {"name": "main", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}}}


def wait(check):
    start = time.monotonic()
    while not check():
        if time.monotonic() - start > PATIENCE:
            sys.exit("not within the time")
        time.sleep(0.05)
    return time.monotonic() - start


def has_queue(cluster):
    try:
        return bool(cluster.api.get("/apis/scheduling.run.ai/v2/queues/default-queue"))
    except client.ApiError:
        return False


def memory_mib(cluster):
    pid = cluster.processes.pid(machine.NAME)
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return {key: int(line.split()[1]) // 1024 for line in status.splitlines()
            for key in ("VmRSS", "VmHWM") if line.startswith(key)}


def ready_pods(cluster):
    """By the Jobs, which say it in a few lines."""
    return sum(one.get("status", {}).get("ready", 0) for one in cluster.api.items(JOBS))


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def thread_seconds(pid):
    """Processor time of each thread, by its number."""
    found = {}
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        fields = (thread / "stat").read_text().rsplit(")", 1)[1].split()
        found[thread.name] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return found


def version(cluster):
    return int(cluster.api.get("/api/v1/namespaces?limit=1")["metadata"]["resourceVersion"])


def measure(nodes):
    start = time.monotonic()
    with machine.Machine(f"{nodes}x{GPUS}xH100") as cluster:
        wait(lambda: len(cluster.api.items("/api/v1/nodes?limit=20000")) == nodes)
        registered = time.monotonic() - start
        wait(lambda: has_queue(cluster))
        pods, pid = nodes * GPUS, cluster.processes.pid(machine.NAME)
        used, writes, threads = processor_seconds(pid), version(cluster), thread_seconds(pid)
        for number, first in enumerate(range(0, pods, JOB_PODS)):
            cluster.api.create(JOBS, job(number, min(JOB_PODS, pods - first)))
        seconds = wait(lambda: ready_pods(cluster) == pods)
        used, writes = processor_seconds(pid) - used, version(cluster) - writes
        busiest = max(now - threads.get(name, 0) for name, now in thread_seconds(pid).items())
        memory = memory_mib(cluster)
    print(f"pods      {pods} on {nodes} nodes in {seconds:.1f} s: {pods / seconds:.0f} a second   registered {registered:.1f} s   "
          f"{used / pods * 1e3:.2f} ms of processor, {busiest / pods * 1e3:.2f} of the busiest thread, and "
          f"{writes / pods:.1f} writes a pod   memory {memory['VmHWM']} MiB",
          flush=True)
