"""The Python client `kubernetes`, as its users write with it."""

import os
import threading

import kubernetes as k8s
import desk
from kubernetes.client.rest import ApiException
from suite import Suite, expect, expect_in

SUITE = Suite()
GROUP = {"group": "scheduling.run.ai", "version": "v2", "plural": "queues"}


def client(here):
    """A client with the kubeconfig of the server, whose credentials come from a program in the path."""
    # The client starts the program with the environment of this process.
    os.environ["PATH"] = here.environment()["PATH"]
    return k8s.config.new_client_from_config(here.kubeconfig)


def refused(status, call, *words, **options):
    try:
        call(*words, **options)
    except ApiException as error:
        expect(error.status, status, str(error.body))
        return error.body
    raise AssertionError(f"{call.__name__} succeeded")


def config(name, **data):
    return k8s.client.V1ConfigMap(metadata=k8s.client.V1ObjectMeta(name=name), data=data)


@SUITE.test("Python: objects are created, read, listed, replaced, patched and deleted")
def _(here):
    core = k8s.client.CoreV1Api(client(here))
    with here.namespace("python-core") as place:
        made = core.create_namespaced_config_map(place.name, config("a", k="1"))
        expect(core.read_namespaced_config_map("a", place.name).metadata.uid, made.metadata.uid)
        expect([one.metadata.name for one in core.list_namespaced_config_map(place.name).items],
               ["a", "kube-root-ca.crt"])
        made.data = {"k": "2"}
        core.replace_namespaced_config_map("a", place.name, made)
        refused(409, core.replace_namespaced_config_map, "a", place.name, made)
        core.patch_namespaced_config_map("a", place.name, {"data": {"n": "3", "k": None}})
        expect(core.read_namespaced_config_map("a", place.name).data, {"n": "3"})
        core.patch_namespaced_config_map("a", place.name, [{"op": "replace", "path": "/data/n", "value": "4"}])
        expect(core.read_namespaced_config_map("a", place.name).data, {"n": "4"})
        refused(409, core.create_namespaced_config_map, place.name, config("a"))
        expect(core.delete_namespaced_config_map("a", place.name).status, "Success")
        expect_in("not found", refused(404, core.read_namespaced_config_map, "a", place.name))


@SUITE.test("Python: pods, nodes and workloads have the status that the client's models demand")
def _(here):
    api = client(here)
    core, apps, batch = k8s.client.CoreV1Api(api), k8s.client.AppsV1Api(api), k8s.client.BatchV1Api(api)
    with here.namespace("python-status") as place:
        core.create_namespaced_pod(place.name, desk.pod("a"))
        place.kubectl("create", "deployment", "d", "--image=x")
        place.kubectl("create", "job", "j", "--image=x")
        place.roll_out("deployment/d")
        place.kubectl("wait", "--for=condition=Ready", "pod", "--all", "--timeout=60s")
        pod = core.read_namespaced_pod("a", place.name)
        expect((pod.status.phase, pod.status.container_statuses[0].ready), ("Running", True))
        expect(pod.status.container_statuses[0].restart_count, 0)
        expect(len(core.list_namespaced_pod(place.name, field_selector="status.phase=Running").items), 3)
        node = core.list_node(limit=1).items[0]
        expect((node.status.node_info.operating_system, node.status.capacity["nvidia.com/gpu"]), ("linux", "8"))
        expect({one.type for one in node.status.conditions} > {"Ready", "DiskPressure"}, True)
        expect(apps.read_namespaced_deployment("d", place.name).status.ready_replicas, 1)
        expect(batch.read_namespaced_job("j", place.name).status.active, 1)
        expect(len(core.list_event_for_all_namespaces(limit=1).items), 1)
        expect(core.list_namespaced_pod(place.name, watch=False).metadata.resource_version != "", True)


@SUITE.test("Python: deleting a Job without a policy leaves its pods; with one it does not")
def _(here):
    api = client(here)
    core, batch = k8s.client.CoreV1Api(api), k8s.client.BatchV1Api(api)
    with here.namespace("python-job") as place:
        for name, policy, left in (("j", None, 1), ("k", "Background", 0)):
            place.kubectl("create", "job", name, "--image=x")
            label = f"batch.kubernetes.io/job-name={name}"
            place.wait_until(lambda at=label: place.names("pods", "-l", at), "the pod of the Job")
            batch.delete_namespaced_job(name, place.name, **({"propagation_policy": policy} if policy else {}))
            here.wait_gone(f"/apis/batch/v1/namespaces/{place.name}/jobs/{name}")
            place.wait_until(lambda at=label, count=left: len(core.list_namespaced_pod(
                place.name, label_selector=at).items) == count, f"{left} pods of {name}")


@SUITE.test("Python: custom objects are created, patched, replaced, listed and deleted")
def _(here):
    custom = k8s.client.CustomObjectsApi(client(here))
    queue = desk.queue("python-q")
    custom.create_cluster_custom_object(body=queue, **GROUP)
    custom.patch_cluster_custom_object(name="python-q", body={"spec": {"displayName": "Q"}}, **GROUP)
    found = custom.get_cluster_custom_object(name="python-q", **GROUP)
    expect((found["spec"]["displayName"], found["spec"]["resources"]["gpu"]["quota"]), ("Q", 1))
    found["spec"]["priority"] = 7
    expect(custom.replace_cluster_custom_object(name="python-q", body=found, **GROUP)["spec"]["priority"], 7)
    refused(409, custom.replace_cluster_custom_object, name="python-q", body=found, **GROUP)
    custom.patch_cluster_custom_object_status(name="python-q", body={"status": {"childQueues": ["c"]}}, **GROUP)
    names = [one["metadata"]["name"] for one in custom.list_cluster_custom_object(**GROUP)["items"]]
    expect_in("python-q", names)
    wrong = {**queue, "metadata": {"name": "bad"}, "spec": {"resources": {"gpu": {"quota": "many"}}}}
    expect_in("spec.resources.gpu.quota", refused(422, custom.create_cluster_custom_object, body=wrong, **GROUP))
    expect(custom.delete_cluster_custom_object(name="python-q", **GROUP)["status"], "Success")


@SUITE.test("Python: a watch shows what is there and each change, and resumes from a version")
def _(here):
    core = k8s.client.CoreV1Api(client(here))
    with here.namespace("python-watch") as place:
        core.create_namespaced_config_map(place.name, config("a", k="1"))
        version = core.list_namespaced_config_map(place.name).metadata.resource_version

        def change():
            core.patch_namespaced_config_map("a", place.name, {"data": {"k": "2"}})
            core.delete_namespaced_config_map("a", place.name)

        watch = k8s.watch.Watch()
        worker = threading.Thread(target=change)
        worker.start()
        seen = []
        for event in watch.stream(core.list_namespaced_config_map, place.name, resource_version=version,
                                  timeout_seconds=desk.SECONDS):
            seen.append((event["type"], event["object"].metadata.name, event["object"].data))
            if event["type"] == "DELETED":
                watch.stop()
        worker.join()
        expect(seen, [("MODIFIED", "a", {"k": "2"}), ("DELETED", "a", {"k": "2"})])
        first = next(iter(k8s.watch.Watch().stream(core.list_namespaced_config_map, place.name,
                                                   timeout_seconds=desk.SECONDS)))
        expect((first["type"], first["object"].metadata.name), ("ADDED", "kube-root-ca.crt"))


@SUITE.test("Python: a loop of list and watch keeps a copy that is right after many changes")
def _(here):
    core = k8s.client.CoreV1Api(client(here))
    with here.namespace("python-loop") as place:
        listed = core.list_namespaced_config_map(place.name)
        copy = {one.metadata.name: one.data for one in listed.items}

        def change():
            for number in range(40):
                core.create_namespaced_config_map(place.name, config(f"c{number}", n="0"))
                core.patch_namespaced_config_map(f"c{number}", place.name, {"data": {"n": str(number)}})
                if number % 2:
                    core.delete_namespaced_config_map(f"c{number}", place.name)
            core.create_namespaced_config_map(place.name, config("last"))

        worker = threading.Thread(target=change)
        worker.start()
        watch = k8s.watch.Watch()
        for event in watch.stream(core.list_namespaced_config_map, place.name,
                                  resource_version=listed.metadata.resource_version, timeout_seconds=desk.SECONDS):
            name = event["object"].metadata.name
            if event["type"] == "DELETED":
                del copy[name]
            else:
                copy[name] = event["object"].data
            if name == "last":
                watch.stop()
        worker.join()
        now = {one.metadata.name: one.data for one in core.list_namespaced_config_map(place.name).items}
        expect(copy, now)
        expect(len(now), 22)


@SUITE.test("Python: pages of a list follow each other and show one version")
def _(here):
    core = k8s.client.CoreV1Api(client(here))
    with here.namespace("python-pages") as place:
        for number in range(7):
            core.create_namespaced_config_map(place.name, config(f"p{number}"))
        names, token, versions = [], None, set()
        while token != "":
            page = core.list_namespaced_config_map(place.name, limit=3, **({"_continue": token} if token else {}))
            names += [one.metadata.name for one in page.items]
            versions.add(page.metadata.resource_version)
            token = page.metadata._continue or ""
            core.patch_namespaced_config_map("p0", place.name, {"data": {"n": str(len(names))}})
        expect((len(names), len(set(names)), len(versions)), (8, 8, 1))


@SUITE.test("Python: the dynamic client finds kinds, applies and patches by each type")
def _(here):
    from kubernetes import dynamic  # pylint: disable=import-outside-toplevel
    found = dynamic.DynamicClient(client(here))
    maps = found.resources.get(api_version="v1", kind="ConfigMap")
    queues = found.resources.get(api_version="scheduling.run.ai/v2", kind="Queue")
    expect((maps.namespaced, queues.namespaced, queues.name), (True, False, "queues"))
    with here.namespace("python-dynamic") as place:
        maps.create(namespace=place.name, body=desk.config("a", k="1"))
        for kind in ("application/strategic-merge-patch+json", "application/merge-patch+json"):
            maps.patch(name="a", namespace=place.name, body={"data": {kind.split("/")[1].split("-")[0]: "1"}}, content_type=kind)
        maps.patch(name="a", namespace=place.name, body=[{"op": "remove", "path": "/data/k"}],
                   content_type="application/json-patch+json")
        expect(dict(maps.get(name="a", namespace=place.name).data), {"strategic": "1", "merge": "1"})
        maps.server_side_apply(name="b", namespace=place.name, body={
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}, "data": {"k": "v"}}, field_manager="me")
        expect(maps.get(name="b", namespace=place.name).metadata.managedFields[0].manager, "me")
        event = next(iter(maps.watch(namespace=place.name, name="b", timeout=desk.SECONDS)))
        expect((event["type"], event["object"].metadata.name), ("ADDED", "b"))
        maps.delete(name="a", namespace=place.name)
    expect_in("default-queue", [one.metadata.name for one in queues.get().items])


@SUITE.test("Python: reviews, the version and scaling answer")
def _(here):
    api = client(here)
    review = k8s.client.V1SelfSubjectAccessReview(spec={"resourceAttributes": {"verb": "get", "resource": "pods"}})
    expect(k8s.client.AuthorizationV1Api(api).create_self_subject_access_review(review).status.allowed, True)
    expect(k8s.client.VersionApi(api).get_code().major, "1")
    expect_in("apps", [one.name for one in k8s.client.ApisApi(api).get_api_versions().groups])
    apps = k8s.client.AppsV1Api(api)
    with here.namespace("python-scale") as place:
        place.kubectl("create", "deployment", "d", "--image=x", "--replicas=0")
        expect(apps.patch_namespaced_deployment_scale("d", place.name, {"spec": {"replicas": 2}}).spec.replicas, 2)
        scale = apps.read_namespaced_deployment_scale("d", place.name)
        scale.spec.replicas = 1
        apps.replace_namespaced_deployment_scale("d", place.name, scale)
        expect(apps.read_namespaced_deployment("d", place.name).spec.replicas, 1)
        pod = k8s.client.CoreV1Api(api).create_namespaced_pod(place.name, desk.pod("e"))
        expect(pod.status.phase, "Pending")
        eviction = k8s.client.V1Eviction(metadata=k8s.client.V1ObjectMeta(name="e"))
        k8s.client.CoreV1Api(api).create_namespaced_pod_eviction("e", place.name, eviction)
