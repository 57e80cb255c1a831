"""Answers that conformance cases of Kubernetes look at, and that no client above shows."""

import http.client
import json

import charts
import desk
from suite import Suite, expect, expect_in

SUITE = Suite()
APPLY = "application/apply-patch+yaml"
WIDGET = """apiVersion: charts.example.com/v1
kind: Widget
metadata:
  name: w
{more}spec:
  size: 1
"""


def ask(here, method, path, body="", **headers):
    """Status and body of an answer, whatever they are."""
    connection = here.client().connect(desk.SECONDS)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    except http.client.HTTPException as error:
        raise AssertionError(f"{method} {path}: {error}") from error
    finally:
        connection.close()


@SUITE.test("a review is not shown as a table")
def _(here):
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    body = json.dumps({"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}})
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    expect(ask(here, "POST", path, body, Content_Type="application/json", Accept=table)[0], 406)
    expect(ask(here, "POST", path, body, Content_Type="application/json")[0], 201)


@SUITE.test("unknown and duplicate fields are listed in the order of the document")
def _(here):
    body = '{"metadata":{"name":"d"},"unknown":1,"data":{"k":"1"},"data":{"k":"2"}}'
    status, found = ask(here, "POST", "/api/v1/namespaces/default/configmaps?fieldValidation=Strict", body,
                        Content_Type="application/json")
    expect(status, 400)
    expect_in('strict decoding error: unknown field "unknown", duplicate field "data"', found["message"])


@SUITE.test("an applied custom object lists all members that its schema does not have, and keys that stand twice")
def _(here):
    here.kubectl("apply", "-f", "-", feed=charts.CRD)
    here.kubectl("wait", "--for=condition=Established", "crd/widgets.charts.example.com", "--timeout=60s")
    path = "/apis/charts.example.com/v1/namespaces/default/widgets/w?fieldManager=m&fieldValidation="
    unknown = WIDGET.format(more="colour: red\n").replace("size: 1", "size: 1\n  shape: round")
    found = ask(here, "PATCH", path + "Strict", unknown, Content_Type=APPLY)[1]
    for name in (".colour", ".spec.shape"):
        expect_in(f"{name}: field not declared in schema", found["message"])
    twice = WIDGET.format(more="").replace("size: 1", "size: 1\n  size: 2")
    status, found = ask(here, "PATCH", path + "Strict", twice, Content_Type=APPLY)
    expect(status, 400)
    expect_in('line 7: key "size" already set in map', found["message"])
    status, found = ask(here, "PATCH", path + "Ignore", twice, Content_Type=APPLY)
    expect((status, found["spec"]["size"]), (201, 2))
    here.kubectl("delete", "crd", "widgets.charts.example.com")


@SUITE.test("a default that a definition gets later is in the answers about objects that were stored before")
def _(here):
    plain = charts.CRD.replace(", default: 3", "")
    expect("default: 3" in charts.CRD, True)
    here.kubectl("apply", "-f", "-", feed=plain)
    here.kubectl("wait", "--for=condition=Established", "crd/widgets.charts.example.com", "--timeout=60s")
    path = "/apis/charts.example.com/v1/namespaces/default/widgets"
    here.api.create(path, {"apiVersion": "charts.example.com/v1", "kind": "Widget", "metadata": {"name": "old"}, "spec": {}})
    expect(here.api.get(f"{path}/old")["spec"], {})
    here.kubectl("apply", "-f", "-", feed=charts.CRD)
    here.wait_for(f"{path}/old", lambda found: found["spec"].get("size") == 3)
    expect({one["metadata"]["name"]: one["spec"] for one in here.api.items(path)}["old"], {"size": 3})
    here.kubectl("delete", "crd", "widgets.charts.example.com")


@SUITE.test("the objects of a custom kind go with its definition")
def _(here):
    path = "/apis/charts.example.com/v1/namespaces/default/widgets"
    for is_first in (True, False):
        here.kubectl("apply", "-f", "-", feed=charts.CRD)
        here.kubectl("wait", "--for=condition=Established", "crd/widgets.charts.example.com", "--timeout=60s")
        if is_first:
            here.kubectl("create", "-f", "-", feed=WIDGET.format(more=""))
        expect(len(here.api.items(path)), int(is_first))
        here.kubectl("delete", "crd", "widgets.charts.example.com")


@SUITE.test("the status of a namespace is written with its annotations")
def _(here):
    with here.namespace("api-status") as place:
        patch = {"metadata": {"annotations": {"note": "text"}}, "status": {"conditions": [
            {"type": "Checked", "status": "True", "reason": "Test", "message": "m"}]}}
        found = ask(here, "PATCH", f"/api/v1/namespaces/{place.name}/status", json.dumps(patch),
                    Content_Type="application/merge-patch+json")[1]
        expect(found["metadata"]["annotations"]["note"], "text")
        expect(found["status"]["conditions"][0]["type"], "Checked")


@SUITE.test("the Service of the API server is there")
def _(here):
    expect(here.api.get("/api/v1/namespaces/default/services/kubernetes")["spec"]["ports"][0]["port"], 443)
