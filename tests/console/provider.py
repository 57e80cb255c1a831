"""An OpenID Connect provider on oauthlib, for the tests: discovery, the code flow with PKCE, keys that rotate.

Tests change its attributes to make it do what a provider should not do. Tokens are signed by the program openssl.
"""

import base64
import http.server
import json
import os
import pathlib
import subprocess
import threading
import time
import urllib.parse

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"

from oauthlib.openid import RequestValidator, Server  # noqa: E402  pylint: disable=wrong-import-position


def encode(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def openssl(*words, data=None):
    return subprocess.run(["openssl", *words], input=data, capture_output=True, check=True, timeout=60).stdout


class Key:
    """A key pair; `kind` is RS256, PS256 or ES256."""

    made = 0

    def __init__(self, folder, kind="RS256"):
        Key.made += 1
        self.kind, self.id = kind, f"key-{Key.made}"
        self.path = pathlib.Path(folder) / f"{self.id}.pem"
        options = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"] if kind == "ES256" else \
            ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
        openssl("genpkey", *options, "-out", self.path)

    def public(self):
        if self.kind == "ES256":
            point = openssl("pkey", "-in", self.path, "-pubout", "-outform", "DER")[-64:]
            return {"kty": "EC", "crv": "P-256", "x": encode(point[:32]), "y": encode(point[32:]), "kid": self.id, "use": "sig"}
        number = openssl("rsa", "-in", self.path, "-modulus", "-noout").decode().strip().split("=")[1]
        return {"kty": "RSA", "n": encode(bytes.fromhex(number)), "e": "AQAB", "kid": self.id, "use": "sig", "alg": self.kind}

    def sign(self, text):
        more = ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest"] if self.kind == "PS256" else []
        signature = openssl("dgst", "-sha256", *more, "-sign", self.path, data=text.encode())
        if self.kind == "ES256":
            signature = raw_ecdsa(signature)
        return encode(signature)


def raw_ecdsa(der):
    """The two numbers of a signature in DER, one after the other."""
    first_len = der[3]
    first = int.from_bytes(der[4:4 + first_len], "big")
    second = int.from_bytes(der[6 + first_len:], "big")
    return first.to_bytes(32, "big") + second.to_bytes(32, "big")


class Validator(RequestValidator):
    """What the provider knows: one client, and the codes that it has given. Codes are used once."""

    def __init__(self, provider):
        super().__init__()
        self.provider, self.codes = provider, {}

    def validate_client_id(self, client_id, request, *args, **kwargs):
        request.client = type("Client", (), {"client_id": client_id})
        return client_id == self.provider.client

    def validate_redirect_uri(self, client_id, redirect_uri, request, *args, **kwargs):
        return redirect_uri == self.provider.redirect

    def validate_response_type(self, client_id, response_type, client, request, *args, **kwargs):
        return response_type == "code"

    def validate_scopes(self, client_id, scopes, client, request, *args, **kwargs):
        return "openid" in scopes

    def get_default_scopes(self, client_id, request, *args, **kwargs):
        return ["openid"]

    def validate_user_match(self, id_token_hint, scopes, claims, request):
        return True

    def is_pkce_required(self, client_id, request):
        return not self.provider.ignores_pkce

    def save_authorization_code(self, client_id, code, request, *args, **kwargs):
        self.codes[code["code"]] = {"redirect": request.redirect_uri, "scopes": request.scopes, "nonce": request.nonce,
                                    "challenge": request.code_challenge, "method": request.code_challenge_method}

    def authenticate_client(self, request, *args, **kwargs):
        header = request.headers.get("Authorization", "")
        if header.startswith("Basic "):
            name, secret = map(urllib.parse.unquote, base64.b64decode(header[6:]).decode().split(":", 1))
        else:
            name, secret = request.client_id, request.client_secret
        request.client = type("Client", (), {"client_id": name})
        self.provider.methods.append("basic" if header else "post")
        return (name, secret) == (self.provider.client, self.provider.secret)

    def validate_grant_type(self, client_id, grant_type, client, request, *args, **kwargs):
        return grant_type == "authorization_code"

    def validate_code(self, client_id, code, client, request, *args, **kwargs):
        known = self.codes.get(code)
        if known:
            request.scopes, request.user = known["scopes"], "user"
        return known is not None

    def confirm_redirect_uri(self, client_id, code, redirect_uri, client, request, *args, **kwargs):
        return self.codes[code]["redirect"] == redirect_uri

    def get_code_challenge(self, code, request):
        return None if self.provider.ignores_pkce else self.codes[code]["challenge"]

    def get_code_challenge_method(self, code, request):
        return self.codes[code]["method"]

    def get_authorization_code_scopes(self, client_id, code, redirect_uri, request):
        return self.codes[code]["scopes"]

    def get_authorization_code_nonce(self, client_id, code, redirect_uri, request):
        return self.codes[code]["nonce"]

    def invalidate_authorization_code(self, client_id, code, request, *args, **kwargs):
        if not self.provider.keeps_codes:
            del self.codes[code]

    def save_bearer_token(self, token, request, *args, **kwargs):
        pass

    def finalize_id_token(self, id_token, token, token_handler, request):
        return self.provider.token(id_token)


class Provider:
    """Listens on all addresses of the loopback network; `seen` has the Host of each request."""

    def __init__(self, folder, redirect):
        self.folder, self.redirect = folder, redirect
        self.client, self.secret = "muster", "s3cret & more"
        self.keys = [Key(folder)]
        self.claims, self.header = {"sub": "ada", "email": "ada@example.com"}, {}
        self.ignores_pkce = self.keeps_codes = False
        self.skew, self.methods, self.seen = 0, [], []
        self.document = {}
        self.validator = Validator(self)
        self.server = Server(self.validator)
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """Hands requests on."""

            def do_GET(self):
                provider.handle(self, None)

            def do_POST(self):
                provider.handle(self, self.rfile.read(int(self.headers["Content-Length"])).decode())

            def log_message(self, *args):
                pass

        self.http = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Handler)
        self.port = self.http.server_address[1]
        self.issuer = f"http://127.0.0.1:{self.port}/realm"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def stop(self):
        self.http.shutdown()
        self.http.server_close()

    def discovery(self):
        return {"issuer": self.issuer, "authorization_endpoint": self.issuer + "/auth", "token_endpoint": self.issuer + "/token",
                "jwks_uri": self.issuer + "/keys", "response_types_supported": ["code"], **self.document}

    def token(self, claims):
        """A signed token; attributes of the provider override what oauthlib says."""
        now = time.time() + self.skew
        claims = {"iss": self.issuer, **claims, "iat": int(now), "exp": int(now) + 300, **self.claims}
        claims = {name: value for name, value in claims.items() if value is not None}
        key = self.keys[-1]
        header = {"alg": key.kind, "typ": "JWT", "kid": key.id, **self.header}
        text = ".".join(encode(json.dumps(part).encode()) for part in (header, claims))
        return f"{text}.{'' if header['alg'] == 'none' else key.sign(text)}"

    def handle(self, handler, body):
        path = urllib.parse.urlsplit(handler.path).path
        self.seen.append((handler.headers["Host"], path))
        headers, status = {"Content-Type": "application/json"}, 200
        if path == "/realm/.well-known/openid-configuration":
            text = json.dumps(self.discovery())
        elif path == "/realm/keys":
            text = json.dumps({"keys": [key.public() for key in self.keys]})
        elif path == "/realm/auth":
            headers, text, status = self.server.create_authorization_response(
                f"{self.issuer}/auth?{urllib.parse.urlsplit(handler.path).query}", "GET", scopes=["openid"],
                credentials={"user": "user"})
        elif path == "/realm/token" and body is not None:
            headers, text, status = self.server.create_token_response(self.issuer + "/token", "POST", body, dict(handler.headers))
        else:
            text, status = "{}", 404
        data = (text or "").encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)
