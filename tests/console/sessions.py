"""Sessions, cookies and limits: what an attacker of the sign-in meets. register() adds the tests to the console's suite."""

import http.client
import pathlib
import re
import signal
import socket
import sqlite3
import ssl
import subprocess
import warnings

import sides
from suite import expect, expect_in

PATIENCE = 60
NSEC_PER_MIN = 60 * 10 ** 9


def run_sql(c, text):
    """A statement in the console's database, behind its back."""
    if "://" not in c.database:
        with sqlite3.connect(c.database, timeout=PATIENCE) as database:
            database.execute(text)
        database.close()
        return
    psql = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin")) / "psql"
    subprocess.run([psql, "-q", "-v", "ON_ERROR_STOP=1", c.database, "-c", text], check=True, timeout=PATIENCE)


def login(c, name, password):
    answer = c.call("POST", "/api/muster/v1/login", {"username": name, "password": password}, token="")
    expect(answer.status, 200, answer.text)
    return {"Cookie": answer.headers["Set-Cookie"].split(";")[0], "X-CSRF-Token": answer.json["csrfToken"]}


def statuses(c, count, source):
    """Of requests by a guest from another address, over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", c.port, timeout=PATIENCE, source_address=(source, 0))
    found = set()
    for _ in range(count):
        connection.request("GET", "/api/muster/v1/sso")
        answer = connection.getresponse()
        answer.read()
        found.add(answer.status)
    connection.close()
    return found


class Secure:
    """A console with TLS and a database of its own, and one request to it."""

    def __init__(self, c, folder):
        self.folder = folder
        folder.mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                        folder / "key", "-out", folder / "cert", "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=IP:127.0.0.1"], check=True, stderr=subprocess.DEVNULL)
        with open(folder / "out", "wb") as out, open(folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                [sides.MUSTER, "console", "--listen", "127.0.0.1:0", "--database", folder / "db", "--kubeconfig",
                 c.machine.state / "kubeconfig", "--metrics-bind-address", "0", "--health-probe-bind-address", "0", "--tls-cert",
                 folder / "cert", "--tls-key", folder / "key"], stdout=out, stderr=log)
        c.wait_for("the link", lambda: "code=" in (folder / "out").read_text())
        self.port, self.code = re.search(r"https://\S+:(\d+)/setup\?code=(\w+)", (folder / "out").read_text()).groups()

    def ask(self, method, path, body=None, headers=None):
        trust = ssl.create_default_context(cafile=self.folder / "cert")
        connection = http.client.HTTPSConnection("127.0.0.1", int(self.port), timeout=PATIENCE, context=trust)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer

    def refuses_tls_1_1(self):
        """Why a client that knows no newer version of TLS gets no connection."""
        old = ssl.create_default_context(cafile=self.folder / "cert")
        old.set_ciphers("DEFAULT@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        try:
            with socket.create_connection(("127.0.0.1", int(self.port)), PATIENCE) as plain:
                old.wrap_socket(plain, server_hostname="127.0.0.1").close()
        except ssl.SSLError as error:
            return error.reason
        return ""

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


def register(tests):
    @tests.test("a session ends after half an hour without use, and lives on with it")
    def _(c):
        made = c.ask("POST", "/api/v1/users", {"email": "idle@example.com", "resetPassword": False}, 201)
        used, idle = (login(c, "idle@example.com", made["tempPassword"]) for _ in range(2))
        mine = f"kind = 'session' AND subject = '{made['id']}'"
        run_sql(c, f"UPDATE grants SET used = used - {29 * NSEC_PER_MIN} WHERE {mine}")
        expect(c.call("GET", "/api/muster/v1/me", token="", headers=used).status, 200)
        run_sql(c, f"UPDATE grants SET used = used - {2 * NSEC_PER_MIN} WHERE {mine}")
        expect(c.call("GET", "/api/muster/v1/me", token="", headers=used).status, 200, "used since")
        expect(c.call("GET", "/api/muster/v1/me", token="", headers=idle).status, 401, "not used")
        run_sql(c, f"UPDATE grants SET expires = used WHERE {mine}")
        expect(c.call("GET", "/api/muster/v1/me", token="", headers=used).status, 401, "after its whole time")

    @tests.test("all answers tell browsers what to keep, to guess no types, and to run and frame nothing of others")
    def _(c):
        # The files of the page are the same for everybody: browsers may keep them, and ask whether they are still right.
        for path, token, keeps in (("/api/muster/v1/me", c.token, "no-store"), ("/api/muster/v1/me", "", "no-store"),
                                   ("/setup", "", "no-cache"), ("/api/muster/v1/sso", "", "no-store")):
            head = c.call("GET", path, token=token).headers
            expect((head["X-Content-Type-Options"], head["Referrer-Policy"], head["Cache-Control"]), ("nosniff", "no-referrer", keeps))
            for words in ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"):
                expect_in(words, head["Content-Security-Policy"])
            expect([name for name in head if name.lower() in ("server", "x-powered-by", "access-control-allow-origin")], [])

    @tests.test("without TLS, no other machine is served")
    def _(c):
        for address in ("0.0.0.0:0", ":0", "[::]:0"):
            done = subprocess.run([sides.MUSTER, "console", "--listen", address, "--database", c.folder / "unused"], text=True,
                                  capture_output=True, timeout=PATIENCE, check=False)
            expect(done.returncode != 0, True, address)
            expect_in("without --tls-cert and --tls-key", done.stderr)

    @tests.test("guests are slowed down, each address by itself")
    def _(c):
        found = set()

        def is_refused():
            found.update(statuses(c, 200, "127.0.0.2"))
            return 429 in found

        c.wait_for("a refusal", is_refused)
        expect(found, {200, 429})
        expect(statuses(c, 1, "127.0.0.3"), {200}, "another address")

    @tests.test("with TLS, the cookies are for this host and for TLS alone")
    def _(c):
        secure = Secure(c, c.folder / "tls")
        try:
            form = {"Content-Type": "application/x-www-form-urlencoded"}
            body = f"code={secure.code}&email=admin@example.com&password=correct+horse+battery"
            expect(secure.ask("POST", "/setup", body, form).status, 201)
            answer = secure.ask("POST", "/api/muster/v1/login", '{"username": "admin@example.com", "password": "correct horse battery"}',
                                {"Content-Type": "application/json"})
            cookie = answer.headers["Set-Cookie"]
            words = {word.strip() for word in cookie.split(";")[1:]}
            expect((cookie.startswith("__Host-muster-console="), words), (True, {"Path=/", "HttpOnly", "SameSite=Strict", "Secure"}))
            value = cookie.split(";")[0]
            expect(secure.ask("GET", "/api/muster/v1/me", headers={"Cookie": value}).status, 200)
            plain = {"Cookie": value.removeprefix("__Host-")}
            expect(secure.ask("GET", "/api/muster/v1/me", headers=plain).status, 401, "a cookie that another host may have set")
            expect("max-age" in answer.headers["Strict-Transport-Security"], True)
            expect("PROTOCOL_VERSION" in secure.refuses_tls_1_1(), True)
        finally:
            expect(secure.stop(), 0)
