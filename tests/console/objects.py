"""Assets as objects of the cluster: Secrets and claims in the namespaces of projects. register() adds the tests to the console's suite."""

import base64
import json
import signal

from assets import ASSETS, make, remove
from suite import expect, expect_in


def namespace_of(project):
    return project["status"]["namespace"]


def ready(c, name, **more):
    """A new project whose namespace is there."""
    project = c.unit("projects", name, **more)
    path = f"/api/v1/org-unit/projects/{project['id']}"
    c.wait_for("the project", lambda: c.ask("GET", path)["status"]["phase"] == "Ready")
    return project


def drop_project(c, project):
    path = f"/api/v1/org-unit/projects/{project['id']}"
    c.ask("DELETE", path, status=202)
    c.wait_for("the end of the project", lambda: c.call("GET", path).status == 404)


def object_name(asset):
    return asset["clusterInfo"]["resources"][0]["name"]


def read(c, plural, project, name):
    return c.machine.get(f"/api/v1/namespaces/{namespace_of(project)}/{plural}/{name}")


def secret(c, project, asset):
    return read(c, "secrets", project, object_name(asset))


def data(found):
    return {key: base64.b64decode(value).decode() for key, value in (found or {}).get("data", {}).items()}


def status(c, path, asset):
    return c.ask("GET", f"{ASSETS}{path}/{asset['meta']['id']}?statusInfo=true")["status"]


def settles(c, path, asset, wanted="No issues found"):
    c.wait_for(f"{path}: {wanted}", lambda: status(c, path, asset)["status"] == wanted)


def register(tests):  # pylint: disable=too-many-statements
    """Adds the tests."""

    @tests.test("credentials become Secrets in the namespaces of all projects below their scope, and go with the asset and the project")
    def _(c):
        department, other = c.unit("departments", "secret-d"), c.unit("departments", "secret-other")
        first = ready(c, "secret-a", parentId=department["id"])
        outside = ready(c, "secret-o", parentId=other["id"])
        scope = {"scope": "department", "departmentId": department["id"]}
        login = {"username": "ada", "password": "hidden-pass"}
        config = {"auths": {"https://r.example.com": {"username": "ada", "password": "hidden-pass",
                                                      "auth": base64.b64encode(b"ada:hidden-pass").decode()}}}
        rows = [("credentials/password", {"user": "ada", "password": "hidden-pass"}, "kubernetes.io/basic-auth", login),
                ("credentials/access-key", {"accessKeyId": "AK", "secretAccessKey": "hidden-key"}, "Opaque",
                 {"AccessKeyId": "AK", "SecretKey": "hidden-key"}),
                ("credentials/docker-registry", {"user": "ada", "password": "hidden-pass", "url": "https://r.example.com"},
                 "kubernetes.io/dockerconfigjson", None),
                ("credentials/generic-secret", {"keyValuePairs": [{"key": "a.b", "value": "hidden é"}, {"key": "c", "value": ""}]},
                 "Opaque", {"a.b": "hidden é", "c": ""}),
                ("credentials/ngc-api-key", {"ngc_api_key": "hidden-ngc"}, "Opaque", {"NGC_API_KEY": "hidden-ngc"})]
        made = {}
        for path, spec, kind, wanted in rows:
            asset = made[path] = make(c, path, "In the: Cluster!", spec, **scope)
            expect_in("-in-the-cluster-" + asset["meta"]["id"][:8], object_name(asset))
            settles(c, path, asset)
            found = secret(c, first, asset)
            expect(found["type"], kind)
            if wanted is None:
                expect(json.loads(data(found)[".dockerconfigjson"]), config)
            else:
                expect(data(found), wanted)
            expect(secret(c, outside, asset), None, "outside of the scope")
        second = ready(c, "secret-b", parentId=department["id"])
        for path, asset in made.items():
            c.wait_for("the Secret of a new project", lambda asset=asset: secret(c, second, asset))
        drop_project(c, second)
        for asset in made.values():
            c.wait_for("the Secret of a deleted project to go", lambda asset=asset: secret(c, second, asset) is None)
            expect(secret(c, first, asset) is not None, True, "the Secret of the project that stays")
        for path, asset in made.items():
            remove(c, path, asset, 204 if "ngc" in path or "generic" in path else 202)
            c.wait_for("the Secret of a deleted asset to go", lambda asset=asset: secret(c, first, asset) is None)
        own = make(c, "credentials/password", "own", {"user": "u", "password": "p"}, scope="project", projectId=int(first["id"]))
        c.wait_for("the Secret", lambda: secret(c, first, own))
        drop_project(c, first)
        c.wait_for("the Secret to go with its asset", lambda: secret(c, first, own) is None)
        for wrong in ([{"key": "a b", "value": ""}], [{"key": "a", "value": ""}, {"key": "a", "value": "2"}], [{"key": "x" * 254, "value": ""}]):
            make(c, "credentials/generic-secret", "wrong", {"keyValuePairs": wrong}, 400)
        private = make(c, "credentials/generic-secret", "private", {"keyValuePairs": [{"key": "k", "value": "v"}]}, private=True)
        expect("clusterInfo" in private, False)
        expect(status(c, "credentials/generic-secret", private), {"status": "No status"})
        remove(c, "credentials/generic-secret", private, 204)
        drop_project(c, outside)

    @tests.test("Secrets, Queues and namespaces that somebody deletes or changes are repaired, also those of a time when no console ran")
    def _(c):
        project = ready(c, "repaired")
        path = "credentials/password"
        asset = make(c, path, "repaired", {"user": "u", "password": "first"}, scope="project", projectId=int(project["id"]))
        gone = make(c, path, "gone", {"user": "u", "password": "first"}, scope="project", projectId=int(project["id"]))
        settles(c, path, asset)
        settles(c, path, gone)
        where = f"/api/v1/namespaces/{namespace_of(project)}/secrets/{object_name(asset)}"
        expect(c.machine.send("DELETE", where).status, 200)
        c.wait_for("the deleted Secret", lambda: secret(c, project, asset))
        changed = {"data": {"password": base64.b64encode(b"other").decode()}}
        expect(c.machine.send("PATCH", where, changed, "application/merge-patch+json").status, 200)
        c.wait_for("the changed Secret", lambda: data(secret(c, project, asset)).get("password") == "first")
        expect(c.machine.send("DELETE", "/apis/scheduling.run.ai/v2/queues/repaired").status, 200)
        c.wait_for("the Queue", lambda: c.queue("repaired"))
        c.kill(signal.SIGTERM)
        expect(c.machine.send("DELETE", where).status, 200)
        stray = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "stray", "labels": {
            "console.muster/id": "00000000-0000-4000-8000-000000000000", "console.muster/kind": "password"}}}
        foreign = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "foreign"}}
        secrets = where.rsplit("/", 1)[0]
        for body in (stray, foreign):
            expect(c.machine.send("POST", secrets, body).status, 201)
        c.start()
        c.wait_for("the deleted Secret", lambda: secret(c, project, asset))
        c.wait_for("the Secret of an asset that is no more to go", lambda: read(c, "secrets", project, "stray") is None)
        expect(read(c, "secrets", project, "foreign") is not None, True, "the Secret of somebody else")
        remove(c, path, gone)
        c.wait_for("the Secret to go", lambda: secret(c, project, gone) is None)
        expect(c.machine.send("DELETE", f"/api/v1/namespaces/{namespace_of(project)}").status, 200)
        c.wait_for("the Secret in the namespace that was made again", lambda: data(secret(c, project, asset)).get("password") == "first")
        remove(c, path, asset)
        drop_project(c, project)

    @tests.test("new claims become PersistentVolumeClaims, and objects that an asset only names are looked for and reported while they are missing")
    def _(c):
        project = ready(c, "claims")
        namespace = f"/api/v1/namespaces/{namespace_of(project)}"
        scope = {"scope": "project", "projectId": int(project["id"])}
        info = {"size": "10Gi", "storageClass": "fast", "accessModes": {"readWriteOnce": False, "readWriteMany": True}, "volumeMode": "Block"}
        path = "datasource/pvc"
        made = make(c, path, "data", {"path": "/data", "claimInfo": info}, **scope)
        settles(c, path, made)
        spec = read(c, "persistentvolumeclaims", project, object_name(made))["spec"]
        expect((spec["accessModes"], spec["resources"]["requests"]["storage"], spec["storageClassName"], spec["volumeMode"]),
               (["ReadWriteMany"], "10Gi", "fast", "Block"))
        named = make(c, path, "named", {"path": "/named", "claimName": "chosen", "claimInfo": {"size": "1Gi"}}, **scope)
        c.wait_for("the named claim", lambda: read(c, "persistentvolumeclaims", project, "chosen"))
        later = make(c, path, "later", {"path": "/x", "ephemeral": True, "claimInfo": {"size": "1Gi"}}, **scope)
        expect((status(c, path, later), "clusterInfo" in later), ({"status": "No status"}, False))
        for spec in ({"dataSharing": True}, {"claimInfo": {"size": "1Gi", "addedAttrValues": [{"key": "a", "value": "b"}]}}):
            make(c, path, "refused", {"path": "/x", "claimInfo": {"size": "1Gi"}, **spec}, 501, **scope)
        rows = [(path, {"path": "/x", "existingPvc": True, "claimName": "theirs"}, "persistentvolumeclaims",
                 {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}),
                ("datasource/config-map", {"configMap": "theirs", "mountPath": "/etc/x"}, "configmaps", {}),
                ("credentials/password", {"existingSecretName": "theirs"}, "secrets", {})]
        for path, spec, plural, body in rows:
            asset = make(c, path, "theirs", spec, **scope)
            settles(c, path, asset, "Issues found")
            found = status(c, path, asset)
            expect(found["issues"], [{"scopeId": project["id"], "scopeType": "project", "issue": "NotCreated"}])
            expect_in("'theirs'", found["message"])
            expect(c.machine.send("POST", f"{namespace}/{plural}", {"metadata": {"name": "theirs"}, **body}).status, 201)
            settles(c, path, asset)
            remove(c, path, asset)
        remove(c, "datasource/pvc", made)
        c.wait_for("the claim to go", lambda: read(c, "persistentvolumeclaims", project, object_name(made)) is None)
        expect(read(c, "persistentvolumeclaims", project, "theirs") is not None, True, "the claim of somebody else")
        remove(c, "datasource/pvc", later)
        drop_project(c, project)
        c.wait_for("the claim to go with the project", lambda: read(c, "persistentvolumeclaims", project, "chosen") is None)
        expect(c.call("GET", f"{ASSETS}datasource/pvc/{named['meta']['id']}").status, 404)
        nfs = make(c, "datasource/nfs", "no-object", {"server": "s", "path": "/p", "mountPath": "/m"})
        expect(status(c, "datasource/nfs", nfs), {"status": "No status"})
        remove(c, "datasource/nfs", nfs)
