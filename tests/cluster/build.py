#!/usr/bin/env python3
"""Builds the programs of the test bed from their published Go modules, once: tests/cluster/build.py [PROGRAM...]

The table `versions` says what is built; the outcome lies in .cache/cluster/bin and carries its version in its name, so
that a second call costs nothing. Modules are checked against go.sum; --update writes that file anew. All cores are
used, at the lowest priority; --jobs 1 keeps to one of them.
"""

import argparse
import collections
import contextlib
import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = ROOT / ".cache" / "cluster"
SUMS = HERE / "go.sum"
NEEDED_GO = (1, 26)

Program = collections.namedtuple("Program", "name module version package")

# Where a module keeps the version that its programs report. Clients act on it, so a build must not say "unknown".
VERSION_VARIABLES = {
    "k8s.io/kubernetes": ["k8s.io/component-base/version.gitVersion", "k8s.io/client-go/pkg/version.gitVersion"],
    "sigs.k8s.io/kwok": ["sigs.k8s.io/kwok/pkg/consts.Version"],
    "helm.sh/helm/v3": ["helm.sh/helm/v3/internal/version.version"],
}

# Programs that are built only when they are named: they take as long as all others together.
ON_REQUEST = {"agnhost", "e2e.test"}

# Modules that are not Go alone. Functions of a driver that is not there are found when they are called, or never.
NEED_C = {"github.com/NVIDIA/nvidia-container-toolkit": ["-extldflags=-Wl,-z,lazy"]}


class BuildError(Exception):
    """The programs cannot be had; the text says why."""


def programs():
    """The table, by program name."""
    table = {}
    for line in (HERE / "versions").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            program = Program(*line.split())
            table[program.name] = program
    return table


def path_of(program):
    return CACHE / "bin" / f"{program.name}-{program.version}"


def binary(name):
    """The path of a program that has been built."""
    path = path_of(programs()[name])
    if not path.exists():
        raise BuildError(f"{name} has not been built: tests/cluster/build.py {name}")
    return str(path)


def missing(names=None):
    table = programs()
    wanted = names or [name for name in table if name not in ON_REQUEST]
    return [table[name] for name in wanted if not path_of(table[name]).exists()]


def find_go():
    """A Go that is new enough: the system's, else the one that scripts/install-deps fetches."""
    for go in (shutil.which("go"), ROOT / ".cache" / "venv" / "bin" / "go"):
        if go and os.access(go, os.X_OK):
            said = subprocess.run([go, "env", "GOVERSION"], stdout=subprocess.PIPE, text=True, check=False).stdout
            found = re.match(r"go(\d+)\.(\d+)", said)
            if found and tuple(map(int, found.groups())) >= NEEDED_GO:
                return str(go)
    raise BuildError(f"no Go {'.'.join(map(str, NEEDED_GO))} or newer: scripts/install-deps cluster")


class Builder:
    """Go with its caches inside ours, so that nothing is left elsewhere."""

    def __init__(self, jobs):
        self.go = find_go()
        self.jobs = jobs
        self.env = {
            **os.environ,
            "CGO_ENABLED": "0",
            "GOCACHE": str(CACHE / "go-build"),
            "GOFLAGS": "-mod=mod -modcacherw -trimpath -buildvcs=false",
            "GOMAXPROCS": str(jobs),
            "GOMODCACHE": str(CACHE / "go-mod"),
            "GOWORK": "off",
        }

    def run(self, folder, *arguments, **env):
        done = subprocess.run(
            ["nice", "-n", "19", self.go, *arguments], cwd=folder, env={**self.env, **env}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, check=False,
        )
        if done.returncode != 0:
            raise BuildError(f"go {' '.join(arguments)}: {done.stderr[-2000:].strip()}")
        return done.stdout

    def module_file(self, folder, module, version):
        """The go.mod of a published module, as `go mod edit -json` tells it."""
        fetched = json.loads(self.run(folder, "mod", "download", "-json", f"{module}@{version}"))
        return json.loads(self.run(folder, "mod", "edit", "-json", fetched["GoMod"]))

    def prepare(self, module, version):
        """A module of our own that requires the published one and nothing else."""
        folder = CACHE / "module" / f"{module.replace('/', '_')}-{version}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "go.mod").write_text("module cluster\n")
        (folder / "go.sum").write_text(SUMS.read_text() if SUMS.exists() else "")
        origin = self.module_file(folder, module, version)
        lines = ["module cluster", f"go {origin['Go']}", f"require {module} {version}"]
        lines += [f"godebug {one['Key']}={one['Value']}" for one in origin.get("GoDebug") or []]
        lines += replacements(origin, version)
        (folder / "go.mod").write_text("\n".join(lines) + "\n")
        return folder

    def build(self, folder, program):
        package = program.module if program.package == "." else f"{program.module}/{program.package}"
        flags = ["-s", "-w"] + [f"-X={one}={program.version}" for one in VERSION_VARIABLES.get(program.module, [])]
        flags += NEED_C.get(program.module, [])
        path = path_of(program)
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(path.name + ".new")
        command = ["test", "-c", "-vet=off"] if program.name.endswith(".test") else ["build"]
        self.run(folder, *command, "-p", str(self.jobs), "-ldflags", " ".join(flags), "-o", str(fresh), package,
                 CGO_ENABLED="1" if program.module in NEED_C else "0")
        fresh.rename(path)


def replacements(origin, version):
    """What a module replaces takes effect only in its own tree. Kubernetes replaces its staged modules, required as
    v0.0.0, by folders that are not published with it; they are published alone, as v0.x.y of Kubernetes 1.x.y."""
    required = {one["Path"]: one["Version"] for one in origin.get("Require") or []}
    for one in origin.get("Replace") or []:
        old, new = one["Old"]["Path"], one["New"]
        if "Version" in new:
            yield f"replace {old} => {new['Path']} {new['Version']}"
        elif required.get(old) == "v0.0.0":
            yield f"replace {old} => {old} v0.{version.removeprefix('v1.')}"


@contextlib.contextmanager
def locked():
    """Two builds at once would do the same work twice."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(names=None, jobs=None, update=False, say=print):
    """Builds what is missing of the named programs, or of all."""
    if not missing(names):
        return
    with locked():
        wanted = missing(names)
        builder = Builder(jobs or os.cpu_count() or 1)
        sums = set()
        for (module, version), group in group_by_module(wanted).items():
            folder = builder.prepare(module, version)
            for program in group:
                start = time.monotonic()
                builder.build(folder, program)
                say(f"# built {program.name} {program.version} in {time.monotonic() - start:.0f} s", flush=True)
            sums.update((folder / "go.sum").read_text().splitlines())
        if update:
            SUMS.write_text("".join(f"{line}\n" for line in sorted(sums)))
        remove_leftovers()


def group_by_module(wanted):
    groups = collections.defaultdict(list)
    for program in wanted:
        groups[program.module, program.version].append(program)
    return groups


def remove_leftovers():
    """The programs are kept, what they were made of is not: it is ten times their size."""
    if not missing():
        for name in ("go-build", "go-mod", "module"):
            shutil.rmtree(CACHE / name, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS", "0")))
    parser.add_argument("--update", action="store_true")
    parser.add_argument("program", nargs="*", choices=[[], *programs()])
    arguments = parser.parse_args()
    if arguments.update:
        # All of them, since the sums of what is not built would be lost.
        shutil.rmtree(CACHE / "bin", ignore_errors=True)
        SUMS.unlink(missing_ok=True)
        arguments.program = None
    try:
        build(arguments.program, arguments.jobs, arguments.update)
    except BuildError as error:
        sys.exit(f"tests/cluster/build.py: {error}")


if __name__ == "__main__":
    main()
