"""The Python client `kubernetes_asyncio`."""

import asyncio
import os

import desk
import kubernetes_asyncio as k8s
from kubernetes_asyncio.client.rest import ApiException
from suite import Suite, expect, expect_in

SUITE = Suite()
GROUP = {"group": "scheduling.run.ai", "version": "v2", "plural": "queues"}


def run(here, test, *words):
    """Runs a test with a client of its own; a coroutine cannot be awaited outside."""
    async def inside():
        os.environ["PATH"] = here.environment()["PATH"]
        async with await k8s.config.new_client_from_config(here.kubeconfig) as api:
            await asyncio.wait_for(test(api, *words), desk.SECONDS)

    asyncio.run(inside())


def config(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


@SUITE.test("asyncio: objects are created, read, listed, replaced, patched and deleted")
def _(here):
    async def test(api, space):
        core = k8s.client.CoreV1Api(api)
        await asyncio.gather(*(core.create_namespaced_config_map(space, config(f"c{number}", k="1")) for number in range(20)))
        expect(len((await core.list_namespaced_config_map(space)).items), 21)
        made = await core.read_namespaced_config_map("c1", space)
        made.data = {"k": "2"}
        await core.replace_namespaced_config_map("c1", space, made)
        await core.patch_namespaced_config_map("c1", space, {"data": {"n": "3"}})
        expect((await core.read_namespaced_config_map("c1", space)).data, {"k": "2", "n": "3"})
        await core.delete_namespaced_config_map("c1", space)
        try:
            await core.read_namespaced_config_map("c1", space)
            raise AssertionError("the object is still there")
        except ApiException as error:
            expect(error.status, 404)

    with here.namespace("asyncio-core") as place:
        run(here, test, place.name)


@SUITE.test("asyncio: pods and nodes have the status that the client's models demand")
def _(here):
    async def test(api, space):
        core = k8s.client.CoreV1Api(api)
        pod = await core.read_namespaced_pod("a", space)
        expect((pod.status.phase, pod.status.container_statuses[0].image), ("Running", "x"))
        nodes = await core.list_node()
        expect(nodes.items[0].status.node_info.kubelet_version[:2], "v1")

    with here.namespace("asyncio-status") as place:
        place.apply(desk.pod("a"))
        place.kubectl("wait", "--for=condition=Ready", "pod/a", "--timeout=60s")
        run(here, test, place.name)


@SUITE.test("asyncio: a watch shows what is there and each change")
def _(here):
    async def test(api, space):
        core = k8s.client.CoreV1Api(api)
        await core.create_namespaced_config_map(space, config("a", k="1"))
        version = (await core.list_namespaced_config_map(space)).metadata.resource_version
        seen = []
        async with k8s.watch.Watch() as watch:
            await core.patch_namespaced_config_map("a", space, {"data": {"k": "2"}})
            await core.delete_namespaced_config_map("a", space)
            async for event in watch.stream(core.list_namespaced_config_map, space, resource_version=version):
                seen.append((event["type"], event["object"].metadata.name))
                if event["type"] == "DELETED":
                    break
        expect(seen, [("MODIFIED", "a"), ("DELETED", "a")])

    with here.namespace("asyncio-watch") as place:
        run(here, test, place.name)


@SUITE.test("asyncio: custom objects; a patch that is a map where a list of operations is announced is refused")
def _(here):
    async def test(api):
        custom = k8s.client.CustomObjectsApi(api)
        await custom.create_cluster_custom_object(body=desk.queue("asyncio-q"), **GROUP)
        try:
            await custom.patch_cluster_custom_object(name="asyncio-q", body={"spec": {"priority": 5}}, **GROUP,
                                                     _content_type="application/json-patch+json")
            raise AssertionError("a map was taken for a list of operations")
        except ApiException as error:
            expect(error.status, 400)
            expect_in("patch", error.body)
        await custom.patch_cluster_custom_object(name="asyncio-q", body={"spec": {"priority": 5}}, **GROUP,
                                                 _content_type="application/merge-patch+json")
        found = await custom.get_cluster_custom_object(name="asyncio-q", **GROUP)
        expect(found["spec"]["priority"], 5)
        await custom.delete_cluster_custom_object(name="asyncio-q", **GROUP)

    run(here, test)


@SUITE.test("asyncio: the dynamic client finds kinds and lists them")
def _(here):
    async def test(api):
        from kubernetes_asyncio import dynamic  # pylint: disable=import-outside-toplevel
        found = await dynamic.DynamicClient(api)
        queues = await found.resources.get(api_version="scheduling.run.ai/v2", kind="Queue")
        names = [one.metadata.name for one in (await queues.get()).items]
        expect_in("default-queue", names)

    run(here, test)
