"""What the GPU operator's own programs do on a node: reservation pods are told which GPU they have got."""

import http.client
import threading
import time

import client

RESERVED = "/api/v1/namespaces/kai-resource-reservation/pods"
GPU_KEY = "run.ai/reserve_for_gpu_index"
GROUP_KEY = "runai-gpu-group"


def gpu_of(group):
    """The GPU that a group gets here."""
    return f"GPU-{group}"


class GpuOperator(threading.Thread):
    """Works until it is over, whatever happens to the API server."""

    def __init__(self, cluster, seconds=0.05):
        super().__init__(daemon=True)
        self.cluster = cluster
        self.seconds = seconds  # between two looks
        self.is_paused = False
        self.is_over = False
        self.start()

    def run(self):
        api = self.cluster.client()
        while not self.is_over:
            time.sleep(self.seconds)
            if self.is_paused:
                continue
            try:
                self.tell_all(api)
            except (client.ApiError, http.client.HTTPException, OSError, ValueError):
                pass

    @staticmethod
    def tell_all(api):
        for pod in api.items(RESERVED):
            meta = pod["metadata"]
            if GPU_KEY not in meta.get("annotations", {}) and "deletionTimestamp" not in meta:
                api.patch(f"{RESERVED}/{meta['name']}",
                          {"metadata": {"annotations": {GPU_KEY: gpu_of(meta["labels"][GROUP_KEY])}}})


class QuickOperator(threading.Thread):
    """Tells them as soon as they are there, by a watch: for measurements, in which looking would be work of the server."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster = cluster
        self.start()

    def run(self):
        api, watcher = self.cluster.client(), self.cluster.client()
        while True:
            try:
                for event in watcher.watch(RESERVED, 60):
                    self.tell(api, event["object"]["metadata"])
            except (client.ApiError, http.client.HTTPException, ValueError):
                pass
            except OSError:
                return

    @staticmethod
    def tell(api, meta):
        if "deletionTimestamp" in meta or GPU_KEY in meta.get("annotations", {}):
            return
        try:
            api.patch(f"{RESERVED}/{meta['name']}", {"metadata": {"annotations": {GPU_KEY: gpu_of(meta["name"])}}})
        except client.ApiError as error:
            if error.status != 404:
                raise
