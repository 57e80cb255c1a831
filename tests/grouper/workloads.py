"""Workloads and their pods as their controllers would make them."""

SCHEDULER = "kai-scheduler"


def plural_of(kind):
    return "priorityclasses" if kind == "PriorityClass" else f"{kind.lower()}s"


def path_of(api_version, kind, namespace="default", name=""):
    root = f"/api/{api_version}" if "/" not in api_version else f"/apis/{api_version}"
    inside = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{inside}/{plural_of(kind)}" + (f"/{name}" if name else "")


def reference_to(owner, controller=True):
    return {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"], "controller": controller}


class Maker:
    """Creates objects in one namespace."""

    def __init__(self, cluster, namespace="default"):
        self.cluster = cluster
        self.namespace = namespace

    def make(self, api_version, kind, name, spec=None, owner=None, labels=None, annotations=None, cluster_wide=False,
             **more):
        meta = {"name": name}
        if labels:
            meta["labels"] = labels
        if annotations:
            meta["annotations"] = annotations
        if owner:
            owners = owner if isinstance(owner, list) else [owner]
            meta["ownerReferences"] = [reference_to(one, number == 0) for number, one in enumerate(owners)]
        body = {"apiVersion": api_version, "kind": kind, "metadata": meta, **more}
        if spec is not None:
            body["spec"] = spec
        return self.cluster.api.create(path_of(api_version, kind, None if cluster_wide else self.namespace), body)

    def pod(self, name, owner=None, labels=None, annotations=None, scheduler=SCHEDULER, **spec):
        return self.make("v1", "Pod", name, {"schedulerName": scheduler, "containers": [{"name": "c", "image": "i"}],
                                             **spec}, owner, labels, annotations)

    def get(self, api_version, kind, name):
        return self.cluster.api.get(path_of(api_version, kind, self.namespace, name))

    def pod_of(self, name):
        return self.get("v1", "Pod", name)

    def group(self, name, check=lambda group: True, seconds=20):
        return self.cluster.wait_for(path_of("scheduling.run.ai/v2alpha2", "PodGroup", self.namespace, name), check,
                                     seconds)

    def groups(self):
        return self.cluster.api.items(path_of("scheduling.run.ai/v2alpha2", "PodGroup", self.namespace))

    def grouped(self, name, seconds=20):
        """The pod when it knows its group, and the group."""
        pod = self.cluster.wait_for(path_of("v1", "Pod", self.namespace, name),
                                    lambda found: "pod-group-name" in found["metadata"].get("annotations", {}), seconds)
        return pod, self.group(pod["metadata"]["annotations"]["pod-group-name"])


def template(annotations=None):
    return {"metadata": {"annotations": annotations or {}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def tree_of(group):
    """The subgroups as text: "a:1 b(2)[b-0:1 b-1:1]"."""
    subgroups = group["spec"].get("subGroups", [])

    def text_of(one):
        children = [child for child in subgroups if child.get("parent") == one["name"]]
        if not children:
            return f"{one['name']}:{one.get('minMember')}"
        return f"{one['name']}({one.get('minSubGroup')})[{' '.join(map(text_of, children))}]"

    return " ".join(text_of(one) for one in subgroups if not one.get("parent"))
