"""The stream of changes: what it says, to whom, and when it ends. register() adds the tests to the console's suite."""

import http.client
import json
import signal

from suite import expect, expect_in

PATH = "/api/muster/v1/stream"
PATIENCE = 60


class Stream:
    """One listener."""

    def __init__(self, c, topics=None, last=None, token=None, port=None, headers=None):
        head = dict(headers or {})
        if not headers:
            head["Authorization"] = f"Bearer {token or c.token}"
        if last:
            head["Last-Event-ID"] = last
        self.connection = http.client.HTTPConnection("127.0.0.1", port or c.port, timeout=PATIENCE)
        self.connection.request("GET", PATH + (f"?topics={topics}" if topics is not None else ""), headers=head)
        self.response = self.connection.getresponse()
        self.status = self.response.status
        self.last = None

    def next(self):
        """The next event but beats: its kind and data; None at the end."""
        kind, data = None, None
        while True:
            line = self.response.readline().decode()
            if not line:
                return None
            name, _, value = line.rstrip("\n").partition(": ")
            if name == "event":
                kind = value
            elif name == "id":
                self.last = value
            elif name == "data":
                data = json.loads(value)
            elif not name and kind:
                if kind != "beat":
                    return kind, data
                kind = None

    def change(self, is_it):
        """The next change that fits."""
        while True:
            event = self.next()
            expect(event is not None, True, "the stream ended")
            if event[0] == "change" and is_it(event[1]):
                return event[1]

    def named(self, name):
        return self.change(lambda data: data["name"] == name)

    def ends(self):
        while self.next():
            pass
        self.close()

    def close(self):
        self.response.close()
        self.connection.close()


def opened(c, *words, **more):
    """A listener that has been told to begin."""
    stream = Stream(c, *words, **more)
    expect(stream.status, 200)
    expect(stream.next()[0], "reset")
    return stream


def register(tests):  # pylint: disable=too-many-statements
    @tests.test("the stream tells what has changed, by topics, and goes on behind the last event that a client has seen")
    def _(c):
        stream = opened(c, "org-units")
        other = opened(c, "assets,audit")
        made = c.unit("departments", "streamed")
        data = stream.named("streamed")
        expect({key: data[key] for key in ("topics", "type", "action", "id")},
               {"topics": ["org-units"], "type": "department", "action": "create", "id": made["id"]})
        first = stream.last
        ready = stream.named("streamed")
        expect(ready["action"], "update", "the cluster has followed")
        expect(c.ask("GET", f"/api/v1/org-unit/departments/{made['id']}")["status"]["phase"], "Ready")
        entry = other.named("streamed")
        expect((entry["topics"], entry["subject"]), (["audit"], "admin@example.com"))
        again = Stream(c, "org-units", last=first)
        expect(again.named("streamed"), ready, "the next event, and not the one before")
        expect(again.last, stream.last)
        again.close()
        for wrong in ("00000000-1", first.split("-")[0] + "-999999999", "nonsense"):
            again = Stream(c, "org-units", last=wrong)
            expect(again.next()[0], "reset", wrong)
            again.close()
        for wrong in ("", "nonsense", "org-units,,audit"):
            again = Stream(c, wrong)
            expect(again.status, 400, wrong)
            again.close()
        expect(c.call("GET", PATH, token="").status, 401)
        c.ask("POST", "/api/v1/asset/compute", {"meta": {"name": "streamed-c", "scope": "tenant"}, "spec": {"gpuDevicesRequest": 1}}, 202)
        expect(other.named("streamed-c")["topics"], ["assets", "audit"])
        last = stream.last
        expect(c.kill(signal.SIGTERM), 0, "with listeners")
        c.start()
        c.unit("departments", "streamed-2")
        stream = Stream(c, "org-units", last=last)
        expect(stream.next()[0], "change", "behind a restart")
        stream.close()

    @tests.test("a listener hears of what it may read, and no more as soon as it may not")
    def _(c):
        mine, theirs, kept = (c.unit("departments", name)["id"] for name in ("heard", "unheard", "kept"))
        user, token = c.user("listener@example.com")
        rule = c.allow(user, 2, "department", mine)
        c.allow(user, 2, "department", kept)
        stream = opened(c, token=token)
        c.unit("projects", "unheard-p", parentId=theirs)
        c.user("unheard@example.com")
        c.ask("POST", "/api/v1/asset/compute", {"meta": {"name": "unheard-c", "scope": "department", "departmentId": theirs},
                                                "spec": {"gpuDevicesRequest": 1}}, 202)
        c.ask("POST", "/api/v1/asset/credentials/generic-secret",
              {"meta": {"name": "unheard-s", "scope": "department", "departmentId": mine, "private": True},
               "spec": {"keyValuePairs": [{"key": "a", "value": "b"}]}}, 202)
        c.unit("projects", "heard-p", parentId=mine)
        seen = []
        stream.change(lambda data: seen.append(data) or data["name"] == "heard-p")
        expect({(data["name"], *data["topics"]) for data in seen} <=
               {(name, "org-units") for name in ("heard", "heard-p", "kept")}, True, seen)
        c.ask("DELETE", f"/api/v1/authorization/access-rules/{rule['id']}", status=204)
        c.unit("projects", "heard-q", parentId=mine)
        c.unit("projects", "kept-p", parentId=kept)
        seen = []
        stream.change(lambda data: seen.append(data["name"]) or data["name"] == "kept-p")
        expect("heard-q" in seen, False, "a change after the role was gone")
        stream.close()

    @tests.test("a stream ends with its session or token, and nobody has too many")
    def _(c):
        made = c.ask("POST", "/api/v1/service-accounts", {"name": "streaming"}, 201)
        c.allow(made["id"], 1, kind="service-account")
        token = c.secret_token("streaming", made["clientSecret"])
        stream = opened(c, token=token)
        c.ask("POST", f"/api/v1/service-accounts/{made['id']}/secret")
        stream.ends()
        c.ask("POST", "/api/v1/users", {"email": "streaming@example.com", "resetPassword": False}, 201)
        user = next(row for row in c.ask("GET", "/api/v1/users") if row["username"] == "streaming@example.com")
        password = c.ask("POST", f"/api/v1/users/{user['id']}/password")["tempPassword"]
        token = c.password_token("streaming@example.com", password)
        answer = Stream(c, token=token)
        expect(answer.status, 403, "a temporary password")
        change = {"currentPassword": password, "newPassword": "a password for streams"}
        c.ask("POST", "/api/v1/me/password", change, token=token)
        login = c.call("POST", "/api/muster/v1/login", {"username": "streaming@example.com", "password": "a password for streams"}, token="")
        jar = {"Cookie": login.headers["Set-Cookie"].split(";")[0], "X-CSRF-Token": login.json["csrfToken"]}
        streams = [opened(c, headers=jar) for _ in range(64)]
        more = Stream(c, headers=jar)
        expect(more.status, 429)
        expect_in("64 streams", more.response.read().decode())
        more.close()
        streams.pop().close()
        c.wait_for("the end of one", lambda: is_open(c, jar))
        expect(c.call("POST", "/api/muster/v1/logout", token="", headers=jar).status, 204)
        for stream in streams:
            stream.ends()


def is_open(c, jar):
    stream = Stream(c, headers=jar)
    stream.close()
    return stream.status == 200
