"""What the rest of a cluster does: kubelets, the garbage collector, the controller of claims, and the GPU operator."""

RESERVED = "kai-resource-reservation"
GROUP = "runai-gpu-group"
GPU_INDEX = "run.ai/reserve_for_gpu_index"
TICK = 0.008
OWNED = ("pods", "podgroups", "bindrequests", "configmaps", "resourceclaims")
MERGE = "application/merge-patch+json"


class Controllers:
    """They look at what there is, a little later than it changes, and survive whatever happens to it."""

    def __init__(self, server):
        self.server, self.store = server, server.store
        self.is_due = False
        self.store.listeners.append(lambda *_: self.wake())

    def wake(self):
        if not self.is_due:
            self.is_due = True
            self.server.loop.call_later(TICK, self.look)

    def look(self):
        self.is_due = False
        for pod in self.store.all("pods"):
            self.run_pod(pod)
        self.collect()
        for claim in self.store.all("resourceclaims"):
            self.release(claim)

    def run_pod(self, pod):
        meta, store = pod["metadata"], self.store
        if "deletionTimestamp" in meta:
            store.commit("pods", pod, None, "kubelet")
        elif pod["spec"].get("nodeName") and pod["status"].get("phase") == "Pending":
            store.patch("pods", meta["namespace"], meta["name"], MERGE, {"status": {"phase": "Running"}}, "status",
                        "kubelet")
        elif meta["namespace"] == RESERVED and GPU_INDEX not in meta.get("annotations", {}):
            store.patch("pods", RESERVED, meta["name"], MERGE, {"metadata": {"annotations": {
                GPU_INDEX: f"GPU-{meta['labels'][GROUP]}"}}}, None, "operator")

    def collect(self):
        """Objects all of whose owners are gone go, too."""
        alive = {one["metadata"]["uid"] for plural in ("pods", "jobs", "podgroups") for one in self.store.all(plural)}
        for plural in OWNED:
            for one in self.store.all(plural):
                owners = one["metadata"].get("ownerReferences", [])
                if owners and not any(owner["uid"] in alive for owner in owners):
                    self.store.delete(plural, one["metadata"]["namespace"], one["metadata"]["name"],
                                      {"gracePeriodSeconds": 1}, "collector")

    def release(self, claim):
        """A claim is free again when none of the pods that it was reserved for is left."""
        alive = {one["metadata"]["uid"] for one in self.store.all("pods")}
        status = claim.get("status", {})
        reserved = status.get("reservedFor", [])
        left = [one for one in reserved if one["uid"] in alive]
        if len(left) == len(reserved):
            return
        meta, made = claim["metadata"], {**status, "reservedFor": left}
        if not left:
            meta = {key: value for key, value in meta.items() if key != "finalizers"}
            made = {}
        self.store.commit("resourceclaims", claim, {**claim, "metadata": meta, "status": made}, "claims")
