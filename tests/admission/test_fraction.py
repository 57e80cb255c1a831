"""From `gpu-fraction: "0.5"` and nothing else in a manifest to a program that gets half a GPU and no more: webhooks, grouper,
scheduler, binder, fencer and GPU daemon on a real API server, with a pretended driver. What a kubelet does with the pod is
done here: the environment of the container is looked up, and the container is started with it."""

from image import Image
from stage import PODS
from suite import Suite, expect
from test_containers import CONTEXT, taken

SUITE = Suite()
MAPS = "/api/v1/namespaces/default/configmaps"


def environment_of(api, pod):
    """The variables of the first container, as a kubelet would find them; a ConfigMap that is missing is an error."""
    container = pod["spec"]["containers"][0]
    found = {}
    for source in container.get("envFrom", []):
        ref = source["configMapRef"]
        if not ref.get("optional") or api.items(f"{MAPS}?fieldSelector=metadata.name={ref['name']}"):
            found.update(api.get(f"{MAPS}/{ref['name']}").get("data") or {})
    for env in container["env"]:
        ref = env["valueFrom"]["configMapKeyRef"]
        data = api.get(f"{MAPS}/{ref['name']}")["data"]
        if ref["key"] in data or not ref.get("optional"):
            found[env["name"]] = data[ref["key"]]
    return found


@SUITE.test("a pod with gpu-fraction 0.5 and nothing else is admitted, bound, told its GPU, and held to its half")
def half(here):
    made = here.api.create(PODS, {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "half", "annotations": {"gpu-fraction": "0.5"}},
        "spec": {"schedulerName": "kai-scheduler", "containers": [{"name": "main", "image": "none"}]}})
    expect(made["spec"]["runtimeClassName"], "nvidia")
    here.bound("half", seconds=60)
    pod = here.get("half")
    group, = here.fenced(pod, seconds=60)
    expect((group["requestBytes"], group["limitBytes"]), (here.capacity() // 2, here.capacity() // 2))
    for volume in pod["spec"]["volumes"]:
        if "configMap" in volume and "shared-gpu" in volume["configMap"]["name"]:
            here.api.get(f"{MAPS}/{volume['configMap']['name']}")

    variables = environment_of(here.api, pod)
    expect((variables["GPU_PORTION"], variables["RUNAI_NUM_OF_GPUS"]), ("0.50", "0.50"))
    expect(variables["NVIDIA_VISIBLE_DEVICES"], pod["metadata"]["annotations"]["cdi.k8s.io/muster"])
    piece = here.capacity() // 64
    greed = {"TEST_PIECE": str(piece), "TEST_PIECES": "64", "TEST_SECONDS": "0"}
    image = Image(here)
    held = taken(image.start(pod, "/bin/gpu-tenant", "greedy", **greed, **variables))
    expect(group["limitBytes"] - CONTEXT - piece < held <= group["limitBytes"] - CONTEXT, True,
           f"{held >> 20} MiB held of {group['limitBytes'] >> 20}")

    keeper, = here.api.items("/api/v1/namespaces/kai-resource-reservation/pods")
    main, = keeper["spec"]["containers"]
    expect((main["command"], main["args"], main["image"], keeper["spec"]["runtimeClassName"]),
           (["muster"], ["reservation"], "muster:latest", "nvidia"))
