"""Root folders in place of the images of Kubernetes' conformance suite: busybox and a shell from Debian's packages, agnhost from
Kubernetes' own module. They lie in .cache/conformance, with the map that `muster up --image-map` reads."""

import json
import os
import pathlib
import shlex
import shutil
import subprocess

import build

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / ".cache" / "conformance"

# Names of images in the suite, the folders that stand in for them, and what runs by default.
IMAGES = (
    ("busybox", "busybox", {"Cmd": ["sh"]}),
    ("agnhost", "agnhost", {"Entrypoint": ["/agnhost"], "Cmd": ["pause"]}),
    ("pause", "pause", {"Entrypoint": ["/agnhost", "pause"]}),
    ("nginx", "web", {"Entrypoint": ["httpd", "-f", "-p", "80", "-h", "/usr/share/nginx/html"]}),
    ("nonewprivs", "nonewprivs", {"Entrypoint": ["/nnp"], "User": "1000"}),
)
SETUID = r"""#include <stdio.h>
#include <unistd.h>
int main(void) { printf("Effective uid: %d\n", (int)geteuid()); return 0; }
"""
FOLDERS = ("bin", "etc", "home", "root", "tmp", "uploads", "usr/bin", "usr/share/nginx/html", "var/run", "var/tmp")
ACCOUNTS = {"etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
            "etc/group": "root:x:0:\nnobody:x:65534:\n", "usr/share/nginx/html/index.html": "<h1>Welcome</h1>\n"}


def program_of(package, path):
    """A program of a Debian package, which is unpacked and not installed."""
    folder = FOLDER / package
    if not (folder / path).exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run(["apt-get", "download", "-qq", package], cwd=folder, check=True, stderr=subprocess.DEVNULL)
        subprocess.run(["dpkg-deb", "-x", next(folder.glob("*.deb")), folder], check=True)
    return folder / path


def make_root(folder, agnhost):
    """A small system: busybox under all its names, accounts, and agnhost where it is wanted. Its shell is another: Debian's
    busybox drops variables whose names have a dash in them, which the suite's does not."""
    program = program_of("busybox-static", "bin/busybox")
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    os.chmod(folder / "tmp", 0o1777)
    os.chmod(folder / "var" / "tmp", 0o1777)
    for name, text in ACCOUNTS.items():
        (folder / name).write_text(text)
    shutil.copy2(program, folder / "bin" / "busybox")
    for name in ("sh", "bash"):
        shutil.copy2(program_of("bash-static", "bin/bash-static"), folder / "bin" / name)
    for applet in subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split():
        link = folder / "bin" / applet
        if not link.exists():
            link.symlink_to("busybox")
    if agnhost:
        shutil.copy2(agnhost, folder / "agnhost")
        (folder / "agnhost-2").symlink_to("agnhost")


def make_setuid(path):
    """A program of root that anybody may run as root, if anything lets them."""
    subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-static", "-x", "c", "-", "-o", path], input=SETUID, text=True, check=True)
    os.chown(path, 0, 0)
    os.chmod(path, 0o4755)


def names():
    """{name: full names} of the images that the suite uses."""
    said = subprocess.run([build.binary("e2e.test"), "--list-images"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=True).stdout
    found = {}
    for image in said.split():
        full, _, _ = image.rpartition(":")
        found.setdefault(full.rpartition("/")[2], set()).add(full)
    return found


def make():
    """Makes what is missing; returns the path of the map."""
    build.build(["agnhost", "e2e.test"])
    known, lines = names(), []
    for name, where, config in IMAGES:
        folder = FOLDER / "images" / where
        if not folder.with_suffix(".json").exists():
            shutil.rmtree(folder, ignore_errors=True)
            make_root(folder, build.binary("agnhost") if name in ("agnhost", "pause") else None)
            if name == "nonewprivs":
                make_setuid(folder / "nnp")
            folder.with_suffix(".json").write_text(json.dumps({"config": {"Env": ["PATH=/bin:/usr/bin"], **config}}))
        lines += [f"{image} = {folder}\n" for image in sorted(known.get(name, ()))]
    path = FOLDER / "image-map"
    path.write_text("".join(lines))
    return path
