"""Looks on during all tests, straight at the API server: what a test has put right by its end counts as well."""

import http.client
import threading
import time

import client
import invariants


# GPUs that are given away twice for longer than it takes to end a pod.
LONGEST_SECONDS = 3


class Watcher(threading.Thread):
    """Follows all pods; a pod that changes its node, or GPUs that stay given away twice, are remembered."""

    def __init__(self, cluster, longest=LONGEST_SECONDS, pause=0.25):
        super().__init__(daemon=True)
        self.cluster = cluster
        self.longest = longest
        self.pause = pause
        self.places = {}
        self.since = {}
        self.wrong = []
        self.brief = []
        self.looks = 0
        self.start()

    def run(self):
        api = self.cluster.client()
        while True:
            time.sleep(self.pause)
            try:
                pods, nodes = api.items(invariants.PODS), api.items("/api/v1/nodes")
            except (client.ApiError, http.client.HTTPException, OSError, ValueError):
                continue
            self.looks += 1
            self.look_at_gpus(nodes, pods)
            for pod in pods:
                uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName")
                if node and self.places.setdefault(uid, node) != node:
                    self.wrong.append(f"pod {pod['metadata']['name']}: on {self.places[uid]}, then on {node}")

    def look_at_gpus(self, nodes, pods):
        now = time.monotonic()
        found = invariants.over_committed(nodes, pods)
        for line in found:
            if line not in self.since:
                node = line.split()[1].rstrip(":")
                names = " ".join(pod["metadata"]["name"] for pod in pods if pod["spec"].get("nodeName") == node)
                self.brief.append(f"{line}: {names}")
            self.since.setdefault(line, now)
            if now - self.since[line] >= self.longest:
                self.wrong.append(line)
        self.since = {line: since for line, since in self.since.items() if line in found}

    def verdict(self):
        for line in [*self.brief, *self.wrong][:20]:
            print(f"# {line}")
        is_fine = not self.wrong and self.looks > 0
        print(f"{'ok' if is_fine else 'not ok'} - no GPU stays given away twice, and no pod is bound twice "
              f"# {self.looks} looks, {len(self.places)} pods")
        return (1, 0, 0) if is_fine else (0, 1, 0)
