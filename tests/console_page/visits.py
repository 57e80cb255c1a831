"""What the suite of the console's page runs on: `muster console` on SQLite against `muster up`, and browsers that look for trouble."""

import http.client
import json
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from playwright.sync_api import Error as BrowserError

import browser
import sides
from suite import expect

PASSWORD = "correct horse battery"
ADMIN = "admin@example.com"
HEIGHTS = {1440: 1000, 1024: 800, 400: 860}
VIEWS = [(f"{width}-{scheme}", width, scheme) for width in HEIGHTS for scheme in ("light", "dark")]
PHONE = next(view for view in VIEWS if view[1] == 400)
AXE = sides.ROOT / "ui" / "console" / "node_modules" / "axe-core" / "axe.min.js"
FIND_FAULTS = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations.map(
  ({id, nodes}) => `${id}: ${nodes.slice(0, 3).map((node) => node.target.join(' ') + ' ' + node.any.concat(node.all).map((one) => one.message).join(', ')).join('; ')}`)"""


def until(look, what):
    """Waits until `look` returns something true, and returns it."""
    end = time.monotonic() + sides.PATIENCE
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"never came: {what}")


class Console:
    """A console for as long as the with-statement lasts. `ask` sends requests as its administrator."""

    def __init__(self, chromium):
        self.chromium = chromium
        self.machine = sides.Local("--fake-nodes", "2x4")
        self.folder = tempfile.TemporaryDirectory(prefix="muster-console-page-")
        self.process, self.port, self.link, self.token, self.cluster = None, None, None, None, None

    def __enter__(self):
        self.machine.__enter__()
        folder = pathlib.Path(self.folder.name)
        with open(folder / "log", "wb") as log, open(folder / "out", "wb") as out:
            self.process = subprocess.Popen(
                [sides.MUSTER, "console", "--listen", "127.0.0.1:0", "--database", str(folder / "console.db"), "--kubeconfig",
                 self.machine.state / "kubeconfig", "--metrics-bind-address", "0", "--health-probe-bind-address", "0",
                 "--allow-networks", "127.0.0.1/32"], stdout=out, stderr=log)
        self.port = until(lambda: (found := re.search(r"the console is listening.*port=(\d+)", self.log())) and int(found[1]), "the port")
        self.link = until(lambda: (found := re.search(r"(http://\S+)", (folder / "out").read_text())) and found[1], "the link")
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(sides.PATIENCE)
        for line in self.log().splitlines():
            if status or "Sanitizer" in line or "runtime error" in line:
                print(f"# {line}")
        self.machine.__exit__()
        self.folder.cleanup()

    def log(self):
        return (pathlib.Path(self.folder.name) / "log").read_text()

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def call(self, method, path, body=None, headers=None, token=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=sides.PATIENCE)
        head = dict(headers or {})
        if token or token is None and self.token:
            head["Authorization"] = f"Bearer {token or self.token}"
        if body is not None:
            head["Content-Type"] = "application/json"
        connection.request(method, path, None if body is None else json.dumps(body), head)
        answer = connection.getresponse()
        return sides.Answer(answer.status, answer.headers, answer.read())

    def ask(self, method, path, body=None, status=200):
        answer = self.call(method, path, body)
        expect(answer.status, status, f"{method} {path}: {answer.data[:300]}")
        return answer.body

    def sign_in(self):
        """A token of the administrator, whom the setup has made."""
        body = {"grantType": "password", "username": ADMIN, "password": PASSWORD}
        self.token = self.call("POST", "/api/v1/token", body, token="").body["accessToken"]
        self.cluster = self.ask("GET", "/api/v1/clusters")[0]["uuid"]

    def list(self, kind):
        return {row["name"]: row for row in self.ask("GET", f"/api/v1/org-unit/{kind}?limit=500")[kind]}

    def unit(self, kind, name, gpus, limit=None, **more):
        row = {"gpu": {"deserved": gpus, "limit": limit}}
        return self.ask("POST", f"/api/v1/org-unit/{kind}", {"name": name, "clusterId": self.cluster, "resources": [row], **more}, 201)

    def pools(self):
        return {row["name"]: row for row in self.ask("GET", "/api/v1/node-pools")["nodepools"]}

    def user(self, email, role=None, scope=("tenant", "1")):
        """A user with a password that need not be changed, and a role."""
        made = self.ask("POST", "/api/v1/users", {"email": email, "resetPassword": False}, 201)
        if role:
            self.ask("POST", "/api/v1/authorization/access-rules",
                     {"subjectId": made["id"], "subjectType": "user", "roleId": role, "scopeType": scope[0], "scopeId": scope[1]}, 201)
        return made

    def rules(self):
        return self.ask("GET", "/api/v1/authorization/access-rules?limit=500")["accessRules"]

    def visit(self, view=VIEWS[0], name=ADMIN, password=PASSWORD, path="/quota"):
        """A browser that has signed in at a path."""
        one = Visit(self, view)
        one.page.goto(self.url(path))
        one.sign_in(name, password)
        return one


class Visit:
    """A browser of its own, with what went wrong on its pages."""

    def __init__(self, console, view=VIEWS[0]):
        _, width, scheme = view
        self.console, self.problems, self.refused = console, [], set()
        self.context = console.chromium.new_context(viewport={"width": width, "height": HEIGHTS[width]}, color_scheme=scheme,
                                                    has_touch=width < 500, reduced_motion="reduce")
        self.page = self.context.new_page()
        self.page.on("console", self.note_message)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", self.note_request)

    def note_message(self, message):
        """A refused request is written to the console by the browser itself, and is what some tests are about."""
        if not message.text.startswith("Failed to load resource"):
            self.problems.append(f"{message.type}: {message.text}")

    def note_request(self, request):
        if not request.url.startswith((self.console.url("/"), "data:")):
            self.problems.append(f"asks for {request.url}")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.context.close()
        if kind is None:
            expect(self.problems, [], "what the browser complained of")

    def sign_in(self, name=ADMIN, password=PASSWORD):
        self.page.get_by_label("E-mail").fill(name)
        self.page.get_by_label("Password", exact=True).fill(password)
        self.page.keyboard.press("Enter")
        self.page.locator("#app").wait_for(timeout=sides.PATIENCE * 1000)
        self.ready()

    def ready(self):
        self.page.wait_for_selector("html[data-ready^='/']", timeout=sides.PATIENCE * 1000)

    def go(self, path):
        self.page.goto(self.console.url(path))
        self.ready()

    def shows(self, text, where="body"):
        def texts():
            try:
                return self.page.locator(where).all_inner_texts()
            except BrowserError:
                # The page is just being replaced by another.
                return []

        try:
            until(lambda: any(text in one for one in texts()), "")
        except AssertionError:
            raise AssertionError(f"{text!r} never came in {where}: {str(texts())[:400]}") from None

    def fill(self, label, value):
        self.page.locator("#drawer, dialog[open]").last.get_by_label(label, exact=True).first.fill(value)

    def click(self, name, where="body"):
        self.page.locator(where).get_by_role("button", name=name).first.click()

    def row(self, name):
        return self.page.locator("#main tbody tr", has=self.page.get_by_role("link", name=name, exact=True))

    def open(self, name):
        self.row(name).get_by_role("link").first.click()
        self.page.locator("#drawer").wait_for()

    def at(self, path):
        self.page.wait_for_url(self.console.url(path), wait_until="commit", timeout=sides.PATIENCE * 1000)

    def looks_well(self, picture):
        """A picture, nothing too wide, all text readable, and nothing that axe finds."""
        self.page.screenshot(path=f"{picture}.png")
        widths = self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        expect(widths[0] <= widths[1], True, f"{picture} is {widths[0]} wide")
        contrast = self.page.evaluate(browser.LEAST_CONTRAST)
        expect(contrast >= 4.5, True, f"{picture} has a contrast of {contrast:.2f}")
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text())
        expect(self.page.evaluate(FIND_FAULTS), [], f"{picture}: what axe finds")
