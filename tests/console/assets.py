"""Assets over the REST: each kind by one table, scopes, secrets. register() adds the tests to the console's suite."""

import json
import os
import pathlib
import signal
import subprocess

from suite import Skip, expect, expect_in

ASSETS = "/api/v1/asset/"


def kinds(env, password, key):
    """Path, kind, a spec, a part of a spec that is wrong, statuses of create, update and delete."""
    return [
        ("compute", "compute", {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5, "cpuCoreRequest": 0.1,
                                "cpuMemoryRequest": "1Gi", "extendedResources": [{"resource": "x/y", "quantity": "2"}]},
         {"gpuPortionRequest": 2}, (202, 202, 202)),
        ("environment", "environment", {"image": "python:3", "command": "python", "capabilities": ["CHOWN"], "runAsUid": 1000,
                                        "environmentVariables": [{"name": "A", "value": "b"}],
                                        "connections": [{"name": "Jupyter", "internalToolInfo": {
                                            "toolType": "jupyter-notebook", "connectionType": "ExternalUrl", "containerPort": 8888}}]},
         {"capabilities": ["EVERYTHING"]}, (202, 202, 202)),
        ("datasource/pvc", "pvc", {"path": "/data", "existingPvc": False, "claimInfo": {
            "size": "10Gi", "storageClass": "fast", "accessModes": {"readWriteMany": True}}}, {"claimInfo": {"size": "many"}}, (202, 202, 202)),
        ("datasource/git", "git", {"repository": "https://git.example.com/a", "path": "/code", "passwordAssetId": password},
         {"passwordAssetId": "00000000-0000-4000-8000-000000000000"}, (202, 202, 202)),
        ("datasource/nfs", "nfs", {"server": "nfs.example.com", "path": "/export", "mountPath": "/mnt"}, {"readOnly": "no"}, (202, 202, 202)),
        ("datasource/s3", "s3", {"bucket": "b", "path": "/s3", "url": "https://s3.example.com", "accessKeyAssetId": key},
         {"accessKeyAssetId": password}, (202, 202, 202)),
        ("datasource/host-path", "hostPath", {"path": "/srv", "mountPath": "/srv", "mountPropagation": "None"},
         {"path": "srv"}, (202, 202, 202)),
        ("datasource/config-map", "config-map", {"configMap": "settings", "mountPath": "/etc/x", "defaultMode": "0644"},
         {"defaultMode": "0999"}, (202, 202, 202)),
        ("datasource/secrets", "secret-volume", {"credentialAssetId": password, "mountPath": "/secrets"},
         {"credentialAssetId": env}, (202, 202, 202)),
        ("credentials/access-key", "accessKey", {"accessKeyId": "AK", "secretAccessKey": "hidden-1"}, {"accessKeyId": ""}, (202, 202, 202)),
        ("credentials/password", "password", {"user": "u", "password": "hidden-2"}, {"existingSecretName": "also"}, (202, 202, 202)),
        ("credentials/docker-registry", "dockerRegistry", {"user": "u", "password": "hidden-3", "url": "https://r.example.com"},
         {"url": 5}, (202, 202, 202)),
        ("credentials/generic-secret", "genericSecret", {"keyValuePairs": [{"key": "k", "value": "hidden-4"}]},
         {"keyValuePairs": []}, (202, 202, 204)),
        ("credentials/ngc-api-key", "ngcApiKey", {"ngc_api_key": "hidden-5"}, {"ngc_api_key": ""}, (202, 202, 204)),
        ("registries", "registry", {"url": "https://r.example.com", "credentialKind": "password", "user": "u", "password": "hidden-6"},
         {"credentialKind": "none"}, (201, 200, 204)),
        ("workload-template", "workload-template", {"assets": {"environment": env, "datasources": []}, "specificEnv": {"category": "x"}},
         {"assets": {"environment": password}}, (202, 202, 202)),
    ]


def make(c, path, name, spec, status=202, token=None, **meta):
    body = {"meta": {"name": name, "scope": "tenant", **meta}, "spec": spec}
    return c.ask("POST", ASSETS + path, body, status, token=token)


def remove(c, path, asset, status=202):
    c.ask("DELETE", f"{ASSETS}{path}/{asset['meta']['id']}", status=status)


def entries(c, path, token=None):
    return [row["meta"]["name"] for row in c.ask("GET", ASSETS + path, token=token)["entries"]]


def includes(there, wanted):
    """Whether all that is wanted is there; lists by position."""
    if isinstance(wanted, dict):
        return isinstance(there, dict) and all(includes(there.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(there, list) and len(there) == len(wanted) and all(map(includes, there, wanted))
    return there == wanted


def without_secrets(spec):
    text = json.dumps(spec)
    if "hidden-4" in text:
        return {"keyValuePairs": [{"key": "k"}]}
    return {key: value for key, value in spec.items() if "hidden" not in str(value)}


def raw_text(c):
    """All that is in the database, as it lies there."""
    if "://" not in c.database:
        return pathlib.Path(c.database).read_bytes() + pathlib.Path(c.database + "-wal").read_bytes()
    url = c.database
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/pg_dump"))[-1]
    return subprocess.run([found, url], capture_output=True, check=True, timeout=60).stdout


def key_file(c):
    return pathlib.Path((c.database if "://" not in c.database else str(c.head)) + ".secrets-key")


def check_kind(c, path, kind, spec, wrong, statuses):
    created, updated, deleted = statuses
    made = make(c, path, f"one-{kind}", spec, created, description="first")
    where = f"{ASSETS}{path}/{made['meta']['id']}"
    got = c.ask("GET", where)
    expect(got, made, kind)
    expect((got["meta"]["kind"], got["meta"]["scope"], got["meta"]["createdBy"], got["meta"]["description"]),
           (kind, "tenant", "admin@example.com", "first"))
    if path == "workload-template":
        expect(got["spec"]["assets"]["environment"], {"id": spec["assets"]["environment"], "name": "base"})
        got["spec"]["assets"]["environment"] = spec["assets"]["environment"]
    expect(includes(got["spec"], without_secrets(spec)), True, f"{got['spec']} has {spec}")
    expect("hidden" in json.dumps(got), False, "a secret is read back")
    expect_in(f"one-{kind}", entries(c, path))
    make(c, path, f"one-{kind}", spec, 409)
    make(c, path, "wrong", {**spec, **wrong}, 400)
    make(c, path, "", spec, 400)
    expect(c.call("POST", ASSETS + path, {"meta": {"name": "x", "scope": "tenant"}}).status, 400, "without a spec")
    expect(c.call("POST", ASSETS + path, {"meta": {"name": "x", "scope": "galaxy"}, "spec": spec}).status, 400)
    meta = {"description": "second"} if "credentials" in path else {"name": f"two-{kind}", "description": "second"}
    changed = c.ask("PUT", where, {"meta": meta, "spec": spec}, updated)
    got = c.ask("GET", where)
    expect(got, changed)
    expect((got["meta"]["description"], got["meta"]["updateCount"]), ("second", 1))
    expect(got["meta"]["name"], meta.get("name", f"one-{kind}"))
    c.ask("DELETE", where, status=deleted)
    expect(c.call("GET", where).status, 404)
    expect(c.call("PUT", where, {"meta": meta, "spec": spec}).status, 404)
    c.read_back(*(f"{method} {ASSETS}{path}{more}" for method, more in
                  (("POST", ""), ("PUT", "/{AssetId}"), ("DELETE", "/{AssetId}"))))


def register(tests):  # pylint: disable=too-many-statements
    """Adds the tests."""

    @tests.test("assets of every kind are created, listed, read, changed and deleted, and wrong specs are refused")
    def _(c):
        env = make(c, "environment", "base", {"image": "python:3"})
        password = make(c, "credentials/password", "base", {"user": "u", "password": "hidden-0"})
        key = make(c, "credentials/access-key", "base", {"accessKeyId": "AK", "secretAccessKey": "hidden-0"})
        for row in kinds(*(asset["meta"]["id"] for asset in (env, password, key))):
            check_kind(c, *row)
        times = "start=2020-01-01T00:00:00Z&end=2100-01-01T00:00:00Z&filterBy=entity_name==two-compute"
        logs = c.ask("GET", f"/api/v1/audit/log?{times}")["audit_logs"]
        expect(sorted((row["action"], row["entity_type"]) for row in logs), [("delete", "compute"), ("update", "compute")])
        remove(c, "environment", env)
        remove(c, "credentials/password", password)
        remove(c, "credentials/access-key", key)

    @tests.test("lists of assets: names, scopes, what is above and below a scope, kinds of workloads, groups, use by templates")
    def _(c):
        department = c.unit("departments", "asset-d")
        project = c.unit("projects", "asset-p", parentId=department["id"])
        other = c.unit("departments", "asset-other")
        number = int(project["id"])
        spec = {"gpuDevicesRequest": 1}
        make(c, "compute", "of-tenant", spec, workloadSupportedTypes={"training": True})
        make(c, "compute", "of-cluster", spec, scope="cluster", clusterId=c.cluster)
        make(c, "compute", "of-department", spec, scope="department", departmentId=department["id"])
        make(c, "compute", "of-other", spec, scope="department", departmentId=other["id"])
        made = make(c, "compute", "of-project", spec, scope="project", projectId=number)
        expect((made["meta"]["projectId"], made["meta"]["projectName"]), (number, "asset-p"))
        make(c, "compute", "nowhere", spec, 400, scope="project", projectId=1)
        make(c, "compute", "nowhere", spec, 400, scope="cluster")
        above = ["of-tenant", "of-cluster", "of-department", "of-project"]
        for query, names in ((f"projectId={number}", above), (f"departmentId={department['id']}", above[:3]),
                             (f"clusterId={c.cluster}", above[:2]), ("scope=tenant", above[:1]),
                             (f"scope=project&projectId={number}", above[3:]), ("name=of-cluster", ["of-cluster"]),
                             (f"departmentId={department['id']}&includeDescendants=true", above),
                             ("isWorkspace=true", above[1:] + ["of-other"]), ("isTraining=true", above + ["of-other"])):
            expect(sorted(entries(c, f"compute?{query}")), sorted(names), query)
        for query in ("scope=galaxy", "projectId=77", "scope=tenant&includeDescendants=true"):
            expect(c.call("GET", f"{ASSETS}compute?{query}").status, 400, query)
        expect(c.call("GET", f"{ASSETS}compute?complyToProject=1").status, 501)
        nfs = make(c, "datasource/nfs", "grouped", {"server": "s", "path": "/p", "mountPath": "/m"})
        git = make(c, "datasource/git", "grouped", {"repository": "https://g.example.com/a", "path": "/c"})
        rows = {row["meta"]["kind"]: row["spec"] for row in c.ask("GET", ASSETS + "datasource?name=grouped")["entries"]}
        expect(rows["nfs"]["nfs"]["server"], "s")
        expect(rows["git"]["git"]["path"], "/c")
        expect([row["meta"]["kind"] for row in c.ask("GET", f"{ASSETS}datasource?assetIds={nfs['meta']['id']}")["entries"]], ["nfs"])
        env = make(c, "environment", "used", {"image": "i"})
        sources = [{"id": nfs["meta"]["id"], "kind": "nfs"}]
        template = make(c, "workload-template", "user", {"assets": {"environment": env["meta"]["id"], "datasources": sources}})
        make(c, "workload-template", "x", {"assets": {"environment": env["meta"]["id"],
                                                      "datasources": [{"id": git["meta"]["id"], "kind": "nfs"}]}}, 400)
        hidden, hidden_token = c.user("asset-hidden@example.com")
        c.allow(hidden, 11)
        own = make(c, "workload-template", "of-project", {"assets": {"environment": env["meta"]["id"]}}, scope="project", projectId=number)
        user, token = c.user("asset-other@example.com")
        c.allow(user, 5, "department", other["id"])
        for who, names in ((token, ["user"]), (hidden_token, ["of-project", "user"])):
            row = c.ask("GET", f"{ASSETS}environment?name=used&usageInfo=true", token=who)["entries"][0]
            expect(sorted(one["name"] for one in row["usedBy"]["templates"]), names, "templates that the caller sees")
        remove(c, "workload-template", own)
        used = c.ask("GET", f"{ASSETS}datasource/nfs/{nfs['meta']['id']}?usageInfo=true")["usedBy"]["templates"]
        expect(used, [{"id": template["meta"]["id"], "name": "user"}])
        remove(c, "datasource/nfs", nfs, 412)
        remove(c, "workload-template", template)
        for path, asset in (("datasource/nfs", nfs), ("datasource/git", git), ("environment", env)):
            remove(c, path, asset)

    @tests.test("assets of a scope are seen from below it and beside it not, and written with a role in the whole scope")
    def _(c):
        mine, yours = c.unit("departments", "seen-a"), c.unit("departments", "seen-b")
        project = c.unit("projects", "seen-p", parentId=mine["id"])
        spec = {"gpuDevicesRequest": 1}
        assets = {"t": make(c, "compute", "seen-t", spec),
                  "d": make(c, "compute", "seen-d", spec, scope="department", departmentId=mine["id"]),
                  "o": make(c, "compute", "seen-o", spec, scope="department", departmentId=yours["id"]),
                  "p": make(c, "compute", "seen-p", spec, scope="project", projectId=int(project["id"]))}
        user, token = c.user("asset-maker@example.com")
        expect(c.call("GET", ASSETS + "compute", token=token).status, 403, "without a role")
        c.allow(user, 7, "project", project["id"])
        names = {name for name in entries(c, "compute", token) if name.startswith("seen")}
        expect(names, {"seen-t", "seen-d", "seen-p"})
        for key, seen, written in (("t", 200, 403), ("d", 200, 403), ("o", 404, 404), ("p", 200, 202)):
            path = f"{ASSETS}compute/{assets[key]['meta']['id']}"
            expect(c.call("GET", path, token=token).status, seen, key)
            body = {"meta": {"name": f"seen-{key}"}, "spec": spec}
            expect(c.call("PUT", path, body, token=token).status, written, key)
            if written != 202:
                expect(c.call("DELETE", path, token=token).status, written, key)
        make(c, "compute", "own", spec, 202, token, scope="project", projectId=int(project["id"]))
        make(c, "compute", "own", spec, 403, token)
        make(c, "compute", "own", spec, 403, token, scope="department", departmentId=mine["id"])
        reader, read_token = c.user("asset-reader@example.com")
        c.allow(reader, 5, "department", mine["id"])
        expect_in("seen-p", entries(c, "compute", read_token))
        make(c, "compute", "more", spec, 403, read_token, scope="department", departmentId=mine["id"])
        private = make(c, "credentials/generic-secret", "mine", {"keyValuePairs": [{"key": "a", "value": "b"}]}, 202, token,
                       scope="project", projectId=int(project["id"]), private=True)
        path = f"{ASSETS}credentials/generic-secret/{private['meta']['id']}"
        expect((c.call("GET", path, token=token).status, c.call("GET", path).status), (200, 404), "a private secret")
        make(c, "compute", "more", spec, 400, private=True)
        c.ask("DELETE", f"/api/v1/org-unit/projects/{project['id']}", status=202)
        c.wait_for("the project's assets to go", lambda: "seen-p" not in entries(c, "compute"))

    @tests.test("secrets are encrypted at rest; a key is replaced by a restart, and a lost or readable one is reported")
    def _(c):
        made = make(c, "credentials/password", "sealed", {"user": "u", "password": "very-hidden-word"})
        make(c, "registries", "sealed", {"url": "https://r.example.com", "credentialKind": "password", "user": "u",
                                         "password": "very-hidden-word"}, 201)
        listed = c.ask("GET", ASSETS + "credentials?name=sealed")["entries"]
        expect(listed[0]["spec"]["password"]["user"], "u")
        expect("very-hidden" in json.dumps(listed) + json.dumps(c.ask("GET", ASSETS + "registries")), False)
        raw = raw_text(c)
        expect(made["meta"]["id"].encode() in raw, True, "the database was read")
        expect(b"very-hidden-word" in raw, False, "the secret is in the database")
        path = key_file(c)
        first = path.read_text()
        expect(first.split()[1].encode() in raw, False, "the key is in the database")
        expect(os.stat(path).st_mode & 0o777, 0o600)
        path.write_text(first + f"2 {'ab' * 32}\n")
        expect(c.kill(signal.SIGTERM), 0)
        c.start()
        expect(c.ask("GET", f"{ASSETS}credentials/password/{made['meta']['id']}")["spec"]["keyId"], 2)
        c.kill(signal.SIGTERM)
        for text, mode, message in (("2 " + "cd" * 32, 0o644, "other users can read"), (first, 0o600, "which the file does not have"),
                                    ("nonsense", 0o600, "hexadecimal digits"), (None, 0o600, "there is no ")):
            path.unlink(missing_ok=True)
            if text:
                path.write_text(text)
                path.chmod(mode)
            expect_in(message, c.fails_to_start())
        path.write_text(f"2 {'ab' * 32}\n")
        path.chmod(0o600)
        c.start()

    @tests.test("runapy, unmodified, makes, lists and deletes assets")
    def _(c):
        try:
            from runai import models  # pylint: disable=import-outside-toplevel
        except ImportError:
            raise Skip("runapy is not installed: scripts/install-deps test") from None
        assets = c.runapy("runapy-assets").workload_assets
        project = c.unit("projects", "runapy-assets-p")
        meta = models.AssetCreationRequest(name="by-runapy", scope="project", project_id=int(project["id"]))
        made = assets.compute.create_compute_asset(models.ComputeCreationRequest(
            meta=meta, spec=models.ComputeAssetSpec(gpu_devices_request=2))).data
        expect(assets.compute.get_compute_asset_by_id(asset_id=made["meta"]["id"]).data["spec"]["gpuDevicesRequest"], 2)
        names = [row["meta"]["name"] for row in assets.compute.list_compute_assets(project_id=int(project["id"])).data["entries"]]
        expect_in("by-runapy", names)
        secret = assets.credentials.create_password(models.PasswordCreationRequest(
            meta=meta, spec=models.PasswordCreationSpec(user="u", password="p"))).data
        expect("password" in secret["spec"], False)
        assets.credentials.delete_password(asset_id=secret["meta"]["id"])
        assets.compute.delete_compute_asset_by_id(asset_id=made["meta"]["id"])
