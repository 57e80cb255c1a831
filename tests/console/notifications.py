"""Notification channels: signed webhooks, Slack and mail. register() adds the tests to the console's suite."""

import base64
import email
import email.header
import hashlib
import hmac
import http.server
import json
import signal
import socketserver
import threading
import time

from suite import expect, expect_in

CHANNELS = "/api/muster/v1/notification-channels"


class Receiver(http.server.ThreadingHTTPServer):
    """Takes webhooks: (path, headers, body) of each, and answers with `status`."""

    def __init__(self):
        self.got, self.status = [], 200
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def of(self, path):
        return [(headers, json.loads(body)) for at, headers, body in self.got if at == path]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, self.headers, body))
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        if self.server.status == 302:
            self.send_header("Location", self.server.url("/elsewhere"))
        self.end_headers()

    def log_message(self, *_):
        pass


class MailServer(socketserver.ThreadingTCPServer):
    """A server of SMTP without TLS: the mails that it has taken, each with its envelope."""

    daemon_threads, allow_reuse_address = True, True

    def __init__(self):
        self.mails, self.logins = [], []
        super().__init__(("127.0.0.1", 0), MailTalk)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class MailTalk(socketserver.StreamRequestHandler):
    def say(self, text):
        self.wfile.write(f"{text}\r\n".encode())

    def handle(self):
        self.say("220 test")
        sender, to = None, []
        for line in self.rfile:
            line = line.decode().rstrip("\r\n")
            word = line.split(":")[0].split(" ")[0].upper()
            if word == "EHLO":
                self.say("250-test\r\n250 AUTH PLAIN")
            elif word == "AUTH":
                self.say("334 ")
                self.server.logins.append(base64.b64decode(self.rfile.readline()).decode().split("\0")[1:])
                self.say("235 in")
            elif word == "MAIL":
                sender = line
                self.say("250 ok")
            elif word == "RCPT":
                to.append(line)
                self.say("250 ok")
            elif word == "DATA":
                self.say("354 go on")
                text = b""
                while not text.endswith(b"\r\n.\r\n"):
                    text += self.rfile.readline()
                self.server.mails.append((sender, to, email.message_from_bytes(text[:-3])))
                self.say("250 taken")
            else:
                self.say("221 bye")
                if word == "QUIT":
                    return


def is_signed(headers, body, secret):
    """As Standard Webhooks has it."""
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    good = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
    return headers["webhook-signature"] == f"v1,{good}" and abs(int(headers["webhook-timestamp"]) - time.time()) < 60


def state(c, name):
    return c.ask("GET", f"{CHANNELS}/{name}").get("state")


def drop_all(c):
    for row in c.ask("GET", CHANNELS):
        c.ask("DELETE", f"{CHANNELS}/{row['name']}", status=204)


def register(tests):
    @tests.test("a webhook gets what its channel asks for, signed with a key that is shown once, and nothing of other scopes")
    def _(c):
        receiver = Receiver()
        mine, other = c.unit("departments", "told")["id"], c.unit("departments", "untold")["id"]
        made = c.ask("POST", CHANNELS, {"name": "mine", "type": "webhook", "url": receiver.url("/mine"), "events": ["change:project"],
                                        "scope": "department", "departmentId": mine}, 201)
        c.ask("POST", CHANNELS, {"name": "all", "type": "webhook", "url": receiver.url("/all"), "events": ["change"]}, 201)
        project = c.unit("projects", "told-p", parentId=mine)
        c.unit("projects", "untold-p", parentId=other)
        c.wait_for("three notices", lambda: len(receiver.of("/all")) >= 3 and receiver.of("/mine"))
        headers, body = next((headers, body) for path, headers, body in receiver.got if path == "/mine")
        expect(is_signed(headers, body, made["secret"]), True, "the signature")
        expect(is_signed(headers, body + b" ", made["secret"]), False, "another body")
        notice = json.loads(body)
        expect((notice["event"], notice["detail"], notice["action"], notice["subject"], notice["object"], notice["id"]),
               ("change", "project", "create", "admin@example.com", {"id": project["id"], "name": "told-p"}, headers["webhook-id"]))
        expect([row["object"]["name"] for _, row in receiver.of("/mine")], ["told-p"])
        expect({row["object"]["name"] for _, row in receiver.of("/all")}, {"all", "told-p", "untold-p"})
        expect("secret" in c.ask("GET", f"{CHANNELS}/mine"), False, "a secret that is shown twice")
        expect(state(c, "mine"), "Ok")
        drop_all(c)
        receiver.shutdown()

    @tests.test("notices that were not taken are sent again, also by a console that was killed, and never follow a redirect")
    def _(c):
        receiver = Receiver()
        receiver.status = 500
        c.ask("POST", CHANNELS, {"name": "flaky", "type": "webhook", "url": receiver.url("/flaky"), "events": ["change:user"]}, 201)
        c.ask("POST", f"{CHANNELS}/flaky/test", status=202)
        c.wait_for("a failure", lambda: state(c, "flaky") == "Failing")
        expect_in("status 500", c.ask("GET", f"{CHANNELS}/flaky")["problem"])
        c.kill(signal.SIGKILL)
        receiver.status = 302
        seen = len(receiver.got)
        c.start()
        c.wait_for("the second try", lambda: len(receiver.got) > seen)
        c.wait_for("the redirect", lambda: "302" in c.ask("GET", f"{CHANNELS}/flaky").get("problem", ""))
        expect(receiver.of("/elsewhere"), [], "what followed the redirect")
        receiver.status = 200
        c.wait_for("success", lambda: state(c, "flaky") == "Ok")
        expect(len({headers["webhook-id"] for headers, _ in receiver.of("/flaky")}), 1, "one notice has one id")
        drop_all(c)
        receiver.shutdown()

    @tests.test("Slack gets a line in which names are neither links nor calls to everyone, and its address is not shown")
    def _(c):
        receiver = Receiver()
        made = c.ask("POST", CHANNELS, {"name": "chat", "type": "slack", "url": receiver.url("/hook"), "events": ["workload"]}, 201)
        expect(made["url"], "********")
        body = {"type": "slack", "url": "********", "events": ["change:project-x", "change:service-account"]}
        c.ask("PUT", f"{CHANNELS}/chat", body)
        c.ask("POST", "/api/v1/service-accounts", {"name": "told-robot"}, 201)
        c.wait_for("the line", lambda: receiver.of("/hook"))
        expect(receiver.of("/hook")[0][1], {"text": "admin@example.com: create of service-account 'told-robot'"})
        drop_all(c)
        receiver.shutdown()

    @tests.test("mail goes by SMTP with what was asked for, and a password is not sent to another server than it was given for")
    def _(c):
        server = MailServer()
        mail = {"host": "127.0.0.1", "port": server.server_address[1], "tls": "none", "from": "muster@example.com",
                "to": ["ada@example.com", "bob@example.com"], "username": "muster", "password": "mail password"}
        body = {"name": "post", "type": "mail", "events": ["change:department"], "mail": mail}
        made = c.ask("POST", CHANNELS, body, 201)
        expect(made["mail"]["password"], "********")
        c.unit("departments", "mailed")
        c.wait_for("the mail", lambda: server.mails)
        sender, to, message = server.mails[0]
        expect((sender.split()[0], [line.split()[0] for line in to]),
               ("MAIL", ["RCPT", "RCPT"]))
        expect_in("<muster@example.com>", sender)
        expect_in("<bob@example.com>", to[1])
        expect(server.logins[0], ["muster", "mail password"])
        text = "admin@example.com: create of department 'mailed'"
        expect(str(email.header.make_header(email.header.decode_header(message["Subject"]))), text)
        expect(message.get_payload(decode=True).decode(), text)
        hidden = {**body, "mail": {**mail, "password": "********"}}
        c.ask("PUT", f"{CHANNELS}/post", hidden)
        answer = c.call("PUT", f"{CHANNELS}/post", {**hidden, "mail": {**hidden["mail"], "port": 2525}})
        expect((answer.status, "password: required" in answer.text), (400, True), answer.text)
        drop_all(c)
        server.shutdown()

    @tests.test("phases of workloads are told, and channels at private addresses are refused or fail")
    def _(c):
        receiver = Receiver()
        c.ask("POST", CHANNELS, {"name": "phases", "type": "webhook", "url": receiver.url("/phases"),
                                 "events": ["workload:Running", "workload:Completed"]}, 201)
        project = c.unit("projects", "phases")["id"]
        c.ask("POST", "/api/v1/workloads/trainings", {"name": "told", "projectId": project, "clusterId": c.cluster,
                                                      "spec": {"image": "x", "compute": {"gpuDevicesRequest": 1}}}, 202)
        c.wait_for("the phase", lambda: any(row["detail"] == "Running" for _, row in receiver.of("/phases")))
        notice = receiver.of("/phases")[0][1]
        expect((notice["event"], notice["object"]["name"], notice["projectId"], notice["scopeName"]), ("workload", "told", project, "phases"))
        for url in ("http://169.254.169.254/latest/meta-data", "https://169.254.169.254/", "https://10.0.0.1/", "https://[::1]/",
                    "https://[::ffff:169.254.169.254]/", "file:///etc/passwd", "https://u:p@example.com/"):
            answer = c.call("POST", CHANNELS, {"name": "inner", "type": "webhook", "url": url, "events": ["change"]})
            expect(answer.status, 400, f"{url}: {answer.text}")
        mail = {"host": "169.254.169.254", "port": 25, "tls": "none", "from": "muster@example.com", "to": ["ada@example.com"]}
        c.ask("POST", CHANNELS, {"name": "inner", "type": "mail", "mail": mail, "events": ["workload:Failed"]}, 201)
        c.ask("POST", f"{CHANNELS}/inner/test", status=202)
        c.wait_for("the refusal", lambda: state(c, "inner") == "Failing")
        expect_in("not allowed", c.ask("GET", f"{CHANNELS}/inner")["problem"])
        drop_all(c)
        receiver.shutdown()

    @tests.test("channels that nobody could use are refused, and each is read, changed and deleted by administrators alone")
    def _(c):
        good = {"name": "x", "type": "webhook", "url": "https://example.com/", "events": ["change"]}
        for wrong in ({"type": "pigeon"}, {"events": []}, {"events": ["change:"]}, {"events": ["everything"]}, {"events": ["change:a b"]},
                      {"url": "x"}, {"name": "X"}, {"name": ""}, {"scope": "project", "projectId": "0"}, {"type": "mail"},
                      {"type": "mail", "mail": {"host": "a b", "from": "a@example.com", "to": ["b@example.com"]}},
                      {"type": "mail", "mail": {"host": "a", "from": "a@example.com>\r\nRCPT TO:<c@example.com", "to": ["b@example.com"]}}):
            answer = c.call("POST", CHANNELS, {**good, **wrong})
            expect(answer.status, 400, f"{wrong}: {answer.text}")
        c.ask("POST", CHANNELS, good, 201)
        expect(c.call("POST", CHANNELS, good).status, 409)
        expect(c.call("PUT", f"{CHANNELS}/x", {**good, "type": "slack"}).status, 400)
        user, token = c.user("channels@example.com")
        c.allow(user, 2)
        for method, path in (("GET", CHANNELS), ("POST", CHANNELS), ("GET", f"{CHANNELS}/x"), ("PUT", f"{CHANNELS}/x"),
                             ("DELETE", f"{CHANNELS}/x"), ("POST", f"{CHANNELS}/x/test")):
            expect(c.call(method, path, good if method in ("POST", "PUT") else None, token=token).status, 403, f"{method} {path}")
        c.ask("DELETE", f"{CHANNELS}/x", status=204)
        expect(c.call("GET", f"{CHANNELS}/x").status, 404)
