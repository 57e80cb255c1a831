"""kubectl on nodes: cordon, drain, taint; and what is measured."""

import desk
from suite import Suite, expect, expect_in

SUITE = Suite()


@SUITE.test("a node that is cordoned takes no pods until it is uncordoned")
def _(here):
    with here.namespace("nodes-cordon") as place:
        pinned = {"nodeSelector": {"kubernetes.io/hostname": "fake-00005"}}
        here.kubectl("cordon", "fake-00005")
        expect_in("SchedulingDisabled", here.kubectl("get", "node", "fake-00005"))
        place.apply(desk.pod("a", **pinned))
        place.wait_until(lambda: "PodScheduled" in place.field("pod", "a", ".status.conditions[*].type"), "a verdict")
        expect(place.field("pod", "a", ".spec.nodeName"), "")
        here.kubectl("uncordon", "fake-00005")
        place.kubectl("wait", "--for=condition=Ready", "pod/a", "--timeout=60s")
        expect(place.field("pod", "a", ".spec.nodeName"), "fake-00005")


@SUITE.test("drain evicts the pods of a node, and a budget holds it back")
def _(here):
    with here.namespace("nodes-drain") as place:
        place.kubectl("create", "deployment", "web", "--image=x", "--replicas=2")
        place.roll_out("deployment/web")
        node = place.get("pods")["items"][0]["spec"]["nodeName"]
        place.kubectl("create", "pdb", "keep", "--selector=app=web", "--min-available=2")
        said = here.refused("kubectl", "drain", node, "--timeout=3s", "--force", "--ignore-daemonsets",
                            "--pod-selector=app=web")
        expect_in("disruption budget", said)
        place.kubectl("delete", "pdb", "keep")
        here.kubectl("drain", node, "--timeout=60s", "--force", "--ignore-daemonsets", "--pod-selector=app=web")
        expect([one for one in place.get("pods")["items"] if one["spec"].get("nodeName") == node
                and "deletionTimestamp" not in one["metadata"]], [])
        here.kubectl("uncordon", node)
        place.roll_out("deployment/web")


@SUITE.test("taints keep pods away, and drive them away")
def _(here):
    with here.namespace("nodes-taint") as place:
        here.kubectl("taint", "node", "fake-00004", "team=a:NoSchedule")
        pinned = {"nodeSelector": {"kubernetes.io/hostname": "fake-00004"}}
        place.apply(desk.pod("not", **pinned),
                    desk.pod("may", **pinned, tolerations=[{"key": "team", "operator": "Equal", "value": "a"}]))
        place.kubectl("wait", "--for=condition=Ready", "pod/may", "--timeout=60s")
        expect(place.field("pod", "not", ".spec.nodeName"), "")
        here.kubectl("taint", "node", "fake-00004", "team:NoSchedule-")
        place.kubectl("wait", "--for=condition=Ready", "pod/not", "--timeout=60s")


@SUITE.test("a label on a node is selected by pods")
def _(here):
    with here.namespace("nodes-label") as place:
        here.kubectl("label", "node", "fake-00003", "disk=fast")
        place.apply(desk.pod("a", nodeSelector={"disk": "fast"}))
        place.kubectl("wait", "--for=condition=Ready", "pod/a", "--timeout=60s")
        expect(place.field("pod", "a", ".spec.nodeName"), "fake-00003")
        here.kubectl("label", "node", "fake-00003", "disk-")
