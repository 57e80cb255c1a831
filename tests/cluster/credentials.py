"""Who may enter the test bed: certificates made by openssl, an admin's token, and kubeconfigs with them."""

import base64
import secrets
import subprocess

import network

DAYS = "30"
SERVER_NAMES = ",".join([
    "IP:127.0.0.1", f"IP:{network.GATEWAY}", "DNS:localhost", "DNS:kubernetes", "DNS:kubernetes.default", "DNS:kubernetes.default.svc",
])


def openssl(*arguments):
    done = subprocess.run(["openssl", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {arguments[0]}: {done.stderr.decode(errors='replace')}")


class Credentials:
    """Those of one cluster, in a folder: NAME.crt and NAME.key for each certificate, NAME.kubeconfig for each user."""

    def __init__(self, folder, server):
        self.folder = folder
        self.server = server
        self.token = secrets.token_hex(16)
        self.scheduler_token = secrets.token_hex(16)
        folder.mkdir(mode=0o700)
        self.issue("ca", "/CN=muster-test-bed", "basicConstraints=critical,CA:true", "keyUsage=critical,keyCertSign",
                   signed=False)
        self.issue("server", "/CN=kube-apiserver", f"subjectAltName={SERVER_NAMES}", "extendedKeyUsage=serverAuth",
                   "basicConstraints=critical,CA:false")
        self.make_key_pair("service-accounts")
        self.path("tokens.csv").write_text(f'{self.token},admin,admin,"system:masters"\n'
                                           f"{self.scheduler_token},system:kube-scheduler,scheduler\n")
        self.admin = self.user("admin", ["system:masters"])

    def path(self, name):
        return self.folder / name

    def issue(self, name, subject, *extensions, signed=True):
        signer = ["-CA", self.path("ca.crt"), "-CAkey", self.path("ca.key")] if signed else []
        openssl(
            "req", "-x509", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", DAYS, "-subj", subject, "-keyout", self.path(f"{name}.key"), "-out", self.path(f"{name}.crt"),
            *signer, *(word for extension in extensions for word in ("-addext", extension)),
        )

    def make_key_pair(self, name):
        openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-out",
                self.path(f"{name}.key"))
        openssl("pkey", "-in", self.path(f"{name}.key"), "-pubout", "-out", self.path(f"{name}.pub"))

    def user(self, name, groups=()):
        """A kubeconfig, its path, with a new client certificate."""
        file = name.replace(":", "-").replace("/", "-")
        subject = "".join(f"/O={escape(group)}" for group in groups) + f"/CN={escape(name)}"
        self.issue(file, subject, "extendedKeyUsage=clientAuth", "basicConstraints=critical,CA:false")
        return self.write_kubeconfig(
            file, f"client-certificate-data: {self.encoded(file + '.crt')}",
            f"client-key-data: {self.encoded(file + '.key')}",
        )

    def token_user(self, file, token):
        """A kubeconfig with a token in it."""
        return self.write_kubeconfig(file, f"token: {token}")

    def encoded(self, name):
        return base64.b64encode(self.path(name).read_bytes()).decode()

    def write_kubeconfig(self, file, *credentials):
        path = self.path(f"{file}.kubeconfig")
        path.write_text("\n".join([
            "apiVersion: v1", "kind: Config", "current-context: bed",
            "clusters:", "- name: bed", "  cluster:", f"    server: {self.server}",
            f"    certificate-authority-data: {self.encoded('ca.crt')}",
            "contexts:", "- name: bed", "  context:", "    cluster: bed", "    user: me",
            "users:", "- name: me", "  user:", *(f"    {line}" for line in credentials),
        ]) + "\n")
        return str(path)


def escape(text):
    return text.replace("\\", "\\\\").replace("/", "\\/")
