"""Becomes the program of a container: container.py FILE, where FILE describes it as kubelet.py writes it.

The program gets the network of its pod, a file system that holds the system's libraries, the volumes of the pod and empty
folders for the rest, and the user that the pod asks for. It ends with the process that started it.
"""

import ctypes
import json
import os
import pathlib
import signal
import sys

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWNET = 0x00020000, 0x04000000, 0x40000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)

# What programs of the image find of the system, next to the folders that the description names.
SYSTEM = ["bin", "lib", "lib32", "lib64", "sbin", "usr", "dev", "proc", "sys"]
SYSTEM_FILES = ["etc/ld.so.cache", "etc/ssl", "etc/passwd", "etc/group", "etc/nsswitch.conf", "etc/localtime"]


def call(name, *arguments):
    if getattr(LIBC, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def mount(source, target, kind=None, options=0):
    encoded = [None if one is None else str(one).encode() for one in (source, target, kind)]
    call("mount", *encoded, ctypes.c_ulong(options), None)


def bind(source, target, is_read_only=False):
    source, target = pathlib.Path(source), pathlib.Path(target)
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    mount(source, target, options=MS_BIND | MS_REC)
    if is_read_only:
        mount(source, target, options=MS_BIND | MS_REMOUNT | MS_RDONLY)


def make_root(root, folders, mounts):
    """A file system in memory with the system's folders, then the volumes of the pod, outer ones first."""
    call("unshare", CLONE_NEWNS)
    mount("none", "/", options=MS_REC | MS_PRIVATE)
    mount("tmpfs", root, "tmpfs")
    for name in SYSTEM:
        there = pathlib.Path("/", name)
        if there.is_symlink():
            (root / name).symlink_to(os.readlink(there))
        elif there.exists():
            bind(there, root / name)
    for name in SYSTEM_FILES:
        if pathlib.Path("/", name).exists():
            bind(pathlib.Path("/", name), root / name)
    for name in ("tmp", "var/tmp", "run", "var/lib"):
        (root / name).mkdir(parents=True, exist_ok=True)
        (root / name).chmod(0o1777)
    (root / "var/run").symlink_to("/run")
    for folder in folders:
        bind(folder, f"{root}{folder}")
    for one in sorted(mounts, key=lambda one: one["target"].count("/")):
        bind(one["source"], inside(root, one["target"]), one["readOnly"])


def inside(root, target):
    """/var/run is a link to /run, which would lead out of the new root."""
    return f"{root}{target.replace('/var/run/', '/run/', 1) if target.startswith('/var/run/') else target}"


def become(what):
    with open(what["network"], "rb") as network:
        call("setns", network.fileno(), CLONE_NEWNET)
    call("unshare", CLONE_NEWUTS)
    name = what["environment"]["HOSTNAME"].encode()
    call("sethostname", name, len(name))
    root = pathlib.Path(what["root"])
    make_root(root, what["folders"], what["mounts"])
    os.chroot(root)
    os.chdir(what["workingDir"])
    if what["user"] is not None:
        os.setgroups([])
        os.setgid(what["group"])
        os.setuid(what["user"])
    # After the change of the user, which would undo it.
    call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != what["parent"]:
        sys.exit("the process that started this container is gone")
    os.execvpe(what["program"], what["arguments"], what["environment"])


def main():
    become(json.loads(pathlib.Path(sys.argv[1]).read_text()))


if __name__ == "__main__":
    main()
