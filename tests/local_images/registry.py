"""A registry with images that the tests make, and podman with a storage of its own."""

import hashlib
import http.server
import io
import json
import os
import pathlib
import subprocess
import tarfile
import threading

BUSYBOX = "/bin/busybox"
PROGRAMS = ("sh", "cat", "id", "ls", "echo", "sleep", "touch", "hostname", "sed", "true")
CONFIG = {"Entrypoint": ["sh", "-c"], "Cmd": ["cat /word; echo $WORD; id -u"], "Env": ["PATH=/bin", "WORD=own"],
          "WorkingDir": "/work"}


def layer(word, files=None):
    """A root file system as a tar: busybox, and files of the test's own; "-> PATH" is a link."""
    found = io.BytesIO()
    with tarfile.open(fileobj=found, mode="w") as tar:
        for name in ("bin", "etc", "tmp"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
            tar.addfile(entry)
        tar.add(pathlib.Path(BUSYBOX).resolve(), "bin/busybox")
        for name in PROGRAMS:
            entry = tarfile.TarInfo(f"bin/{name}")
            entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(entry)
        for name, text in {"word": f"{word}\n", **(files or {})}.items():
            entry = tarfile.TarInfo(name)
            if text.startswith("-> "):
                entry.type, entry.linkname = tarfile.SYMTYPE, text.removeprefix("-> ")
                tar.addfile(entry)
                continue
            entry.size, entry.mode = len(text), 0o644
            tar.addfile(entry, io.BytesIO(text.encode()))
    return found.getvalue()


def digest(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


class Registry:
    """Serves images over HTTP for as long as the with-statement lasts, and counts who asks for manifests."""

    def __init__(self):
        self.blobs, self.manifests, self.asked = {}, {}, []
        self.is_stuck, self.released = False, threading.Event()
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """The few requests that pulls make."""

            protocol_version = "HTTP/1.1"

            def do_GET(self):  # pylint: disable=invalid-name
                registry.answer(self)

            do_HEAD = do_GET

            def log_message(self, format, *args):  # pylint: disable=redefined-builtin
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.host = f"127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def put(self, name, tag, word, config=None, files=None):
        """Publishes an image. Returns its name, and the digest of its manifest."""
        data = layer(word, files)
        settings = json.dumps({"architecture": "amd64", "os": "linux", "config": {**CONFIG, **(config or {})},
                               "rootfs": {"type": "layers", "diff_ids": [digest(data)]}}).encode()
        manifest = json.dumps({
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": digest(settings),
                       "size": len(settings)},
            "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": digest(data),
                        "size": len(data)}]}).encode()
        self.blobs.update({digest(data): data, digest(settings): settings})
        for key in (tag, digest(manifest)):
            self.manifests[name, key] = manifest
        return f"{self.host}/{name}:{tag}", digest(manifest)

    def answer(self, request):
        words = request.path.split("/")
        kind, key, name = (words[-2], words[-1], "/".join(words[2:-2])) if len(words) > 4 else ("", "", "")
        if self.is_stuck:
            self.asked.append("stuck")
            self.released.wait()
        data = {"manifests": self.manifests.get((name, key)), "blobs": self.blobs.get(key), "": b"{}"}.get(kind)
        if kind == "manifests" and request.command == "GET":
            self.asked.append(f"{name}:{key}")
        request.send_response(200 if data is not None else 404)
        request.send_header("Content-Length", str(len(data or b"")))
        request.send_header("Content-Type", "application/vnd.oci.image.manifest.v1+json" if kind == "manifests"
                            else "application/octet-stream")
        if kind == "manifests" and data:
            request.send_header("Docker-Content-Digest", digest(data))
        try:
            request.end_headers()
            if request.command == "GET" and data:
                request.wfile.write(data)
        except OSError:  # of a pull that was ended
            request.close_connection = True


class Podman:
    """podman with the storage in a folder of its own. The daemon finds it by the variables, which stay set."""

    def __init__(self, folder, registry):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True)
        self.storage = folder / "storage"
        (folder / "storage.conf").write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{self.storage}"\nrunroot = "{folder}/run"\n')
        (folder / "registries.conf").write_text(f'[[registry]]\nlocation = "{registry.host}"\ninsecure = true\n')
        os.environ["CONTAINERS_STORAGE_CONF"] = str(folder / "storage.conf")
        os.environ["CONTAINERS_REGISTRIES_CONF"] = str(folder / "registries.conf")

    def __call__(self, *words, feed=None, check=True):
        done = subprocess.run(["podman", *words], input=feed, capture_output=True, timeout=120, check=False)
        if check and done.returncode:
            raise AssertionError(f"podman {' '.join(words)}: {done.stderr.decode()}")
        return done.stdout.decode().strip()

    def make(self, name, word, *changes, files=None):
        """An image of this machine alone."""
        lines = [f"{key.upper()} {json.dumps(value)}" for key, value in CONFIG.items() if key in ("Entrypoint", "Cmd")]
        lines += ["ENV PATH=/bin", "ENV WORD=own", "WORKDIR /work", *changes]
        return self("import", *(f"--change={line}" for line in lines), "-", name, feed=layer(word, files))

    def ids(self):
        return {row["Id"] for row in json.loads(self("images", "-a", "--no-trunc", "--format", "json") or "[]")}

    def close(self):
        """Removes everything, and the mount that podman leaves on its storage."""
        self("image", "unmount", "--all", check=False)
        self("rmi", "--all", "--force", check=False)
        subprocess.run(["umount", str(self.storage / "overlay")], capture_output=True, check=False)
