"""The kubelets of nodes with NUMA zones, as far as they give out resources: GPUs, CPUs and memory of a pod come from as few zones as
can hold them, the first ones first. What pods hold is served on the socket of each node's PodResources API; sysfs of a node
says which CPUs are in which zone. Both lie in the bed's folder `hosts`, which kubelet.py mounts in place of the machine's own."""

import http.client
import itertools
import threading

import client
import layouts
import pod_resources
from quantity import amount

SOCKET_FOLDER = "var/lib/kubelet/pod-resources"
GPU = "nvidia.com/gpu"


def needs_of(pod):
    """What has a place: devices of all pods; memory and whole CPUs of Guaranteed ones."""
    found = {}
    for container in pod["spec"]["containers"]:
        for key, text in container.get("resources", {}).get("requests", {}).items():
            if key in ("cpu", "memory") and pod["status"].get("qosClass") != "Guaranteed":
                continue
            if key in (GPU, "cpu", "memory") and (key != "cpu" or amount(text) == int(amount(text))):
                found[key] = found.get(key, 0) + int(amount(text))
    return {key: value for key, value in found.items() if value}


class Node:
    """One node: what is free, and what pods hold, by zone and resource."""

    def __init__(self, name):
        self.name = name
        per_zone = layouts.GPUS // layouts.ZONES
        cpus = int(layouts.ZONE_CPU)
        self.free = [{GPU: [f"GPU-{zone * per_zone + number}" for number in range(per_zone)],
                      "cpu": list(range(zone * cpus, (zone + 1) * cpus)), "memory": int(amount(layouts.ZONE_MEMORY))}
                     for zone in range(layouts.ZONES)]
        self.pods = {}  # by UID: (the pod, what it holds)

    def room(self, zone, key):
        free = self.free[zone][key]
        return free if key == "memory" else len(free)

    def zones_for(self, needs):
        for width in range(1, layouts.ZONES + 1):
            for zones in itertools.combinations(range(layouts.ZONES), width):
                if all(sum(self.room(zone, key) for zone in zones) >= value for key, value in needs.items()):
                    return zones
        return tuple(range(layouts.ZONES))

    def give(self, zone, key, most):
        """Up to so much of a zone."""
        count = min(self.room(zone, key), most)
        if key == "memory":
            self.free[zone][key] -= count
            return count
        given, self.free[zone][key] = self.free[zone][key][:count], self.free[zone][key][count:]
        return given

    def admit(self, pod):
        uid, needs, held = pod["metadata"]["uid"], needs_of(pod), []
        if uid in self.pods or not needs:
            return False
        for zone in self.zones_for(needs):
            part = {key: self.give(zone, key, value) for key, value in needs.items()}
            needs = {key: value - (part[key] if key == "memory" else len(part[key])) for key, value in needs.items()}
            held.append((zone, part))
        self.pods[uid] = pod, held
        return True

    def release(self, uid):
        if uid not in self.pods:
            return False
        for zone, part in self.pods.pop(uid)[1]:
            for key, value in part.items():
                self.free[zone][key] = self.free[zone][key] + value if key == "memory" else sorted(self.free[zone][key] + value)
        return True

    def report(self):
        """For pod_resources.py."""
        return [{
            "namespace": pod["metadata"]["namespace"], "name": pod["metadata"]["name"], "containers": [{
                "cpus": [cpu for _, part in held for cpu in part.get("cpu", [])],
                "devices": [{"resource": GPU, "ids": part[GPU], "zones": [zone]} for zone, part in held if part.get(GPU)],
                "memory": [{"type": "memory", "size": part["memory"], "zones": [zone]} for zone, part in held if part.get("memory")],
            }],
        } for pod, held in self.pods.values()]


class Kubelets(threading.Thread):
    """Those of all nodes of a layout that have zones; ends with the test."""

    def __init__(self, cluster, layout):
        super().__init__(daemon=True)
        self.cluster = cluster
        self.nodes = {one["metadata"]["name"]: Node(one["metadata"]["name"]) for one in layouts.topologies(layout)}
        for node in self.nodes.values():
            self.furnish(node)
        self.is_over = False
        self.start()

    def folder(self, node):
        return self.cluster.folder / "hosts" / node.name

    def furnish(self, node):
        for zone, free in enumerate(node.free):
            path = self.folder(node) / "sys" / "devices" / "system" / "node" / f"node{zone}"
            path.mkdir(parents=True)
            (path / "cpulist").write_text(",".join(map(str, free["cpu"])) + "\n")
        (self.folder(node) / SOCKET_FOLDER).mkdir(parents=True)
        self.say(node)
        self.cluster.spawn(f"pod-resources-{node.name}", *pod_resources.command(
            self.folder(node) / SOCKET_FOLDER / "kubelet.sock", self.folder(node) / "pods.json"))

    def say(self, node):
        pod_resources.write(self.folder(node) / "pods.json", node.report())

    def see(self, pod, is_gone):
        node = self.nodes.get(pod["spec"].get("nodeName"))
        if not node:
            return
        is_over = is_gone or pod["status"].get("phase") in ("Succeeded", "Failed")
        if node.release(pod["metadata"]["uid"]) if is_over else node.admit(pod):
            self.say(node)

    def sync(self, pods):
        """All that there are."""
        known = {one["metadata"]["uid"] for one in pods}
        for node in self.nodes.values():
            for uid in [one for one in node.pods if one not in known]:
                node.release(uid)
            self.say(node)
        for one in pods:
            self.see(one, False)

    def run(self):
        api = self.cluster.client()
        while not self.is_over:
            try:
                listed = api.get("/api/v1/pods")
                self.sync(listed["items"])
                for event in api.watch(f"/api/v1/pods?resourceVersion={listed['metadata']['resourceVersion']}", 300):
                    if event["type"] == "ERROR":
                        break
                    self.see(event["object"], event["type"] == "DELETED")
            except (client.ApiError, http.client.HTTPException, OSError, ValueError):
                pass
