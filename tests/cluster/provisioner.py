"""What the provisioner of a CSI driver does: volumes for claims, on the node that was chosen for them, while there is room.

It can be told to be slow, to fail on a node, and how much room there is; what it has left, it tells by CSIStorageCapacity.
"""

import http.client
import threading
import time

import client

DRIVER = "disks.example.com"
STORAGE = "/apis/storage.k8s.io/v1"
ROOMS = f"{STORAGE}/namespaces/default/csistoragecapacities"
VOLUMES = "/api/v1/persistentvolumes"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
SELECTED = "volume.kubernetes.io/selected-node"
HOST = "kubernetes.io/hostname"


def on_host(node):
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": HOST, "operator": "In", "values": [node]}]}]}


class Provisioner(threading.Thread):
    """Works until it is over, whatever happens to the API server."""

    def __init__(self, cluster, rooms=None):
        super().__init__(daemon=True)
        self.cluster = cluster
        self.rooms = dict(rooms or {})  # GiB by node; a node that is not there has room without end
        self.failing = set()  # nodes for which it makes nothing
        self.delay = 0  # seconds before it makes a volume
        self.refused = []  # (claim, node)
        self.is_over = False

    def __enter__(self):
        api = self.cluster.api
        api.create(f"{STORAGE}/csidrivers", {"metadata": {"name": DRIVER}, "spec": {
            "attachRequired": False, "storageCapacity": bool(self.rooms)}})
        for node, room in self.rooms.items():
            api.create(ROOMS, {"metadata": {"name": node}, "storageClassName": "disks", "capacity": f"{room}Gi",
                               "nodeTopology": {"matchLabels": {HOST: node}}})
        self.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.join()
        api = self.cluster.api
        for path in (ROOMS, CLAIMS):
            api.call("DELETE", path)
        self.cluster.wait_until(lambda: not api.items(CLAIMS), "no volume claim is left", 30)
        for volume in api.items(VOLUMES):
            api.delete(f"{VOLUMES}/{volume['metadata']['name']}")
        api.delete(f"{STORAGE}/csidrivers/{DRIVER}")

    def run(self):
        api = self.cluster.client()
        while not self.is_over:
            time.sleep(0.05)
            try:
                self.look(api)
            except (client.ApiError, http.client.HTTPException, OSError):
                pass

    def look(self, api):
        made = {one["spec"].get("claimRef", {}).get("uid") for one in api.items(VOLUMES)}
        for claim in api.items(CLAIMS):
            node = claim["metadata"].get("annotations", {}).get(SELECTED)
            if node and "volumeName" not in claim["spec"] and claim["metadata"]["uid"] not in made:
                self.provision(api, claim, node)

    def provision(self, api, claim, node):
        meta = claim["metadata"]
        size = int(claim["spec"]["resources"]["requests"]["storage"].removesuffix("Gi"))
        time.sleep(self.delay)
        if node in self.failing or size > self.rooms.get(node, size):
            self.refused.append((meta["name"], node))
            api.patch(f"{CLAIMS}/{meta['name']}", {"metadata": {"annotations": {SELECTED: None}}})
            return
        if node in self.rooms:
            self.rooms[node] -= size
            api.patch(f"{ROOMS}/{node}", {"capacity": f"{self.rooms[node]}Gi"})
        api.create(VOLUMES, {"metadata": {"name": f"pv-{meta['uid']}"}, "spec": {
            "capacity": claim["spec"]["resources"]["requests"], "accessModes": claim["spec"]["accessModes"],
            "storageClassName": claim["spec"]["storageClassName"], "persistentVolumeReclaimPolicy": "Retain",
            "csi": {"driver": DRIVER, "volumeHandle": meta["uid"]}, "nodeAffinity": {"required": on_host(node)},
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": meta["namespace"],
                         "name": meta["name"], "uid": meta["uid"]}}})
