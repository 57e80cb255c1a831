#!/usr/bin/env python3
"""A stand-in for the kubelets of the test bed: pods with an image of ours run as real processes.

    kubelet.py --server URL --token TOKEN --ca FILE --folder FOLDER --hosts FOLDER --program MUSTER [--image NAME=PROGRAM...]

A pod is ours when its images begin with IMAGES; KWOK plays all others, see stages.yaml. A pod of ours has an address of its own,
its arguments, environment and volumes; its probes are asked, containers that end are restarted, and all of it ends with the pod.
An image holds Muster, unless --image gives its name another program.
A hostPath lies in the folder of --hosts, below the name of the node, if it is there, so that nodes differ, and is the machine's own otherwise.
The log of each container is FOLDER/<namespace>_<pod>_<container>.log.
"""

import argparse
import collections
import http.client
import pathlib
import queue
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import client  # noqa: E402
import network  # noqa: E402
import pods  # noqa: E402
import processes  # noqa: E402
import volumes  # noqa: E402

# Ours, and the registry that KAI Scheduler's suite of upgrades names.
IMAGES = ("muster.test/", "localhost:30100/")
# The pods that hold shared GPUs need a driver; KWOK plays them, and gpu_operator.py tells them their GPU.
PLAYED_NAMESPACE = "kai-resource-reservation"
TROUBLE = (client.ApiError, http.client.HTTPException, OSError)


def is_ours(pod):
    spec = pod["spec"]
    return (spec.get("nodeName") and pod["metadata"]["namespace"] != PLAYED_NAMESPACE
            and all(one["image"].startswith(IMAGES) for one in spec["containers"]))


class Kubelet:
    """All pods of ours, on whatever node they are. One thread changes them; others only put work into its queue."""

    def __init__(self, chosen):
        self.new_client = lambda: client.Client(chosen.server, chosen.token, chosen.ca)
        self.api = self.new_client()
        self.host, self.port = self.api.url.hostname, str(self.api.url.port)
        self.program = str(pathlib.Path(chosen.program).resolve())
        self.images = {name: str(pathlib.Path(path).resolve()) for name, path in (one.split("=", 1) for one in chosen.image)}
        self.folders = sorted({str(pathlib.Path(path).parent) for path in (self.program, *self.images.values())})
        self.folder = pathlib.Path(chosen.folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.hosts = chosen.hosts
        self.queue = queue.SimpleQueue()
        self.pods = collections.OrderedDict()
        self.timers = []
        self.count = 0
        threading.Thread(target=self.follow, daemon=True).start()

    def program_of(self, image):
        """The program that an image holds other than Muster, or None."""
        return self.images.get(image.rpartition("/")[2].split(":")[0])

    @staticmethod
    def say(text):
        print(f"{pods.now()} {text}", flush=True)

    def log_path(self, pod, container):
        return self.folder / f"{pod.key.replace('/', '_')}_{container}.log"

    def spawn(self, command, log=subprocess.DEVNULL):
        # pylint: disable-next=consider-using-with,subprocess-popen-preexec-fn
        return subprocess.Popen(command, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                start_new_session=True, preexec_fn=processes.die_with_parent)

    def new_network(self):
        self.count += 1
        return network.PodNetwork(self.count, self.spawn)

    def later(self, seconds, work):
        self.timers.append((time.monotonic() + seconds, work))

    # Its one thread.

    def run(self):
        while True:
            self.work_off()
            due = [work for when, work in self.timers if when <= time.monotonic()]
            self.timers = [one for one in self.timers if one[0] > time.monotonic()]
            for work in due:
                work()
            for pod in list(self.pods.values()):
                try:
                    pod.step()
                except volumes.VolumeError as error:
                    pod.next_refresh = time.monotonic() + 0.2
                    self.say(f"{pod.key} waits: {error}")
                except TROUBLE as error:
                    self.say(f"{pod.key}: {error}")

    def work_off(self):
        """The work that others left, or nothing for a moment."""
        try:
            work = self.queue.get(timeout=0.05)
            while True:
                work()
                work = self.queue.get_nowait()
        except queue.Empty:
            pass

    def see(self, found):
        """A pod as the API server has it."""
        uid, meta = found["metadata"]["uid"], found["metadata"]
        if uid not in self.pods:
            if "deletionTimestamp" in meta or found["status"].get("phase") in ("Succeeded", "Failed"):
                self.finish_unknown(found)
                return
            self.pods[uid] = pods.Pod(self, found)
        pod = self.pods[uid]
        address = pod.object["status"].get("podIP")
        pod.object = pod.volumes.pod = pod.volumes.tokens.pod = found
        if address:
            found["status"]["podIP"] = address
        if "deletionTimestamp" in meta:
            pod.end(meta.get("deletionGracePeriodSeconds", 0))

    def finish_unknown(self, found):
        """A pod that was deleted before it was started here needs no more than that."""
        if "deletionTimestamp" in found["metadata"]:
            meta = found["metadata"]
            try:
                self.api.call("DELETE", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}", {
                    "gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}})
            except TROUBLE as error:
                self.say(f"{meta['namespace']}/{meta['name']}: {error}")

    def lose(self, uid):
        if uid in self.pods:
            self.pods.pop(uid).close()

    def forget(self, pod):
        if self.pods.pop(pod.uid, None):
            pod.close()

    # The thread that watches.

    def follow(self):
        api = self.new_client()
        while True:
            try:
                listed = api.get("/api/v1/pods")
                ours = [one for one in listed["items"] if is_ours(one)]
                known = {one["metadata"]["uid"] for one in ours}
                self.queue.put(lambda known=known: [self.lose(uid) for uid in list(self.pods) if uid not in known])
                for one in ours:
                    self.queue.put(lambda one=one: self.see(one))
                for event in api.watch(f"/api/v1/pods?resourceVersion={listed['metadata']['resourceVersion']}", 300):
                    self.take(event)
            except (*TROUBLE, ValueError) as error:
                self.say(f"watch of pods: {error}")
                time.sleep(0.2)

    def take(self, event):
        found = event["object"]
        if event["type"] == "ERROR":
            raise ValueError(found.get("message"))
        if not is_ours(found):
            return
        if event["type"] == "DELETED":
            self.queue.put(lambda: self.lose(found["metadata"]["uid"]))
        else:
            self.queue.put(lambda: self.see(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("server", "token", "ca", "program", "folder", "hosts"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--image", action="append", default=[])
    Kubelet(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
