"""What a release consists of: the program, the libraries that it needs, and the Debian packages that they come from."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TENANTS = ("libmuster-gpu.so", "libmuster-gpu-core.so", "libcuda.so.1", "libnvidia-ml.so.1")
# Sources that are compiled in where Debian has no package of them; scripts/install-deps pins their versions.
BUNDLED = {"yyjson": "MIT", "llhttp": "MIT"}


def output(*words):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True, check=True).stdout


def version():
    return re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1]


def libraries(*programs):
    """The shared libraries of programs: the path that the loader asks for, and the file that is there."""
    found = {}
    for program in programs:
        for line in output("ldd", program).splitlines():
            match = re.search(r"(?:=> )?(/\S+) \(0x", line)
            if match:
                found[match[1]] = pathlib.Path(match[1]).resolve()
    return found


def tenant_libraries(build):
    """The libraries for programs that share a GPU, as `make install` lays them out."""
    folder = pathlib.Path(build) / "src" / "gpu" / "tenant"
    return {("" if name == TENANTS[0] else "proxy/") + name: folder / name for name in TENANTS}


def packages(files):
    """The Debian packages that files belong to, with their versions: a release is built from these."""
    names = set()
    for file in files:
        # The database has the paths before /lib became a link to /usr/lib.
        for path in (str(file), str(file).removeprefix("/usr")):
            done = subprocess.run(["dpkg", "-S", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
            if done.returncode == 0:
                names.add(done.stdout.split(": ")[0].split(",")[0])
                break
    shown = output("dpkg-query", "-W", "-f", "${Package} ${Version} ${Homepage}\\n", *sorted(names)) if names else ""
    return [(line.split() + [""])[:3] for line in shown.splitlines()]
