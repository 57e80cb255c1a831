"""The organisation as one YAML document: export and apply. register() adds the tests to the console's suite."""

import json

from suite import expect, expect_in

PATH = "/api/muster/v1/organization"

DOCUMENT = """\
apiVersion: muster/v1
kind: Organization
nodePools:
- {name: yaml-pool, labelKey: example.com/yaml, labelValue: "yes", schedulingConfiguration: {placementStrategy: {gpu: spread}}}
departments:
- name: yaml-d
  description: from a file
  resources:
  - {gpu: {deserved: 8, limit: 16}}
  - {nodePool: {name: yaml-pool}, gpu: {deserved: 2}}
  projects:
  - name: yaml-a
    resources: [{gpu: {deserved: 2.5}, memory: {deserved: 64, units: GB}}]
  - name: yaml-b
    requestedNamespace: yaml-space
    resources: []
"""


def apply(c, text, status=200, token=None):
    return c.ask("PUT", PATH, text, status, token=token)


def export(c, **headers):
    return c.call("GET", PATH, headers=headers)


def clean(c):
    for kind, names in (("projects", ("yaml-a", "yaml-b")), ("departments", ("yaml-d",))):
        for name in names:
            found = c.ask("GET", f"/api/v1/org-unit/{kind}?filterBy=name=={name}")[kind]
            for row in found:
                path = f"/api/v1/org-unit/{kind}/{row['id']}"
                c.ask("DELETE", path, status=202 if kind == "projects" else 204)
                c.wait_for("the end", lambda path=path: c.call("GET", path).status == 404)
    for row in c.ask("GET", "/api/v1/node-pools?filterBy=name==yaml-pool")["nodepools"]:
        c.ask("DELETE", f"/api/v1/node-pools/{row['id']}", status=202)
        c.wait_for("the end", lambda row=row: c.call("GET", f"/api/v1/node-pools/{row['id']}").status == 404)


def register(tests):
    """Adds the tests."""

    @tests.test("an organisation is applied from YAML, exported, and applied again without a change")
    def _(c):
        answer = apply(c, DOCUMENT)
        expect(answer["created"], ["node-pool/yaml-pool", "department/yaml-d", "project/yaml-a", "project/yaml-b"])
        expect((answer["updated"], answer["unchanged"]), ([], 0))
        c.wait_for("the Queues", lambda: c.queue("yaml-a") and c.queue("yaml-d-yaml-pool") and c.queue("yaml-b-yaml-pool"))
        expect(c.queue("yaml-a")["spec"]["resources"]["gpu"]["quota"], 2.5)
        expect(c.queue("yaml-d-yaml-pool")["spec"]["resources"]["gpu"]["quota"], 2)
        c.wait_for("the namespace", lambda: c.machine.get("/api/v1/namespaces/yaml-space"))
        expect(apply(c, DOCUMENT), {"created": [], "updated": [], "unchanged": 4})
        text = export(c, Accept="application/yaml")
        expect((text.status, text.headers["Content-Type"]), (200, "application/yaml"))
        expect_in("name: yaml-a", text.text)
        again = apply(c, text.text)
        expect((again["created"], again["updated"]), ([], []), "what was exported changes nothing")
        whole = export(c).json
        expect(whole["kind"], "Organization")
        expect([row["name"] for row in whole["departments"] if row["name"] == "yaml-d"], ["yaml-d"])
        expect('"id"' in json.dumps(whole), False, "identifiers")
        answer = apply(c, DOCUMENT.replace("2.5", "3").replace("gpu: spread", "gpu: binpack"))
        expect((answer["created"], answer["updated"], answer["unchanged"]), ([], ["node-pool/yaml-pool", "project/yaml-a"], 2))
        c.wait_for("the change", lambda: c.queue("yaml-a")["spec"]["resources"]["gpu"]["quota"] == 3)
        expect_in("keeps its namespace", c.call("PUT", PATH, DOCUMENT.replace("yaml-space", "other-space")).text)
        moved = DOCUMENT.replace("- name: yaml-d\n", "- name: default\n")
        expect_in("cannot be moved", c.call("PUT", PATH, moved).text)
        times = "start=2020-01-01T00:00:00Z&end=2100-01-01T00:00:00Z&filterBy=entity_name==yaml-a"
        expect(sorted(row["action"] for row in c.ask("GET", f"/api/v1/audit/log?{times}")["audit_logs"]), ["create", "update"])
        clean(c)

    @tests.test("a document with a mistake changes nothing, and only whoever may do all of it in the whole tenant applies one")
    def _(c):
        before = export(c).json
        for wrong, status in ((DOCUMENT.replace("2.5", "-3"), 400), (DOCUMENT.replace("name: yaml-b", "name: Upper"), 400),
                              (DOCUMENT.replace("muster/v1", "muster/v2"), 400), (DOCUMENT + "more: 1\n", 400), (DOCUMENT + "---\n" + DOCUMENT, 400),
                              ("", 400), ("[]", 400), ("{", 400), (DOCUMENT.replace("name: yaml-pool}", "name: nowhere}"), 400),
                              (DOCUMENT.replace("gpu: spread", "gpu: random"), 400), (DOCUMENT.replace("- name: yaml-a", "- 7"), 400),
                              (DOCUMENT.replace("yaml-b\n", "yaml-d\n"), 409), ("a: &a [x]\nb: [" + "*a," * 9 + "]", 400),
                              (DOCUMENT.replace("departments:", "departments: 5\nx:"), 400)):
            answer = c.call("PUT", PATH, wrong)
            expect(answer.status, status, f"{wrong[-80:]}: {answer.text[:200]}")
        expect_in("departments[0].projects[1]", c.call("PUT", PATH, DOCUMENT.replace("name: yaml-b", "name: Upper")).text)
        expect(export(c).json, before)
        expect(c.call("PUT", PATH, "x" * (9 << 20)).status, 413)
        user, token = c.user("applier@example.com")
        c.allow(user, 4)
        apply(c, DOCUMENT, 403, token=token)
        role = c.ask("POST", "/api/muster/v1/roles", {"name": "Applier", "permissions": [
            {"resourceType": "tenant", "actions": ["read", "update"]}, {"resourceType": "department", "actions": ["create", "read", "update"]}]}, 201)
        c.allow(user, role["id"])
        expect_in("nodepools:", c.call("PUT", PATH, DOCUMENT, token=token).text)
        expect(c.call("GET", PATH, token=token).status, 200, "reading: the editor's role has the rest")
        expect(export(c).json, before)
