"""A container with nothing in it but a tenant's program, made by podman and runc from the device that the fencer wrote.

Where there is no podman that works, the mounts that the device names are made by hand, in a mount namespace: the same
files in the same places, but no runtime that has read them.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

import build
from node import BUILD, LIBRARIES, VERSION, fence

UNSHARE = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c"]
PROGRAM = BUILD / "tests/gpu/gpu-tenant"
TOOLS = ("/bin/sh", "/bin/rm")


def libraries_of(program):
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"(/\S+) \(0x", listed))


class Image:
    """A root file system, and how to run what is in it."""

    def __init__(self, here):
        self.here = here
        self.top = pathlib.Path(here.cluster.folder)
        self.root = self.top / "rootfs"
        for name in ("usr/bin", "usr/lib", "usr/lib64", "proc", "dev", "sys", "run", "tmp", "etc"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        for name in ("bin", "lib", "lib64"):
            (self.root / name).symlink_to(f"usr/{name}")
        for file in (PROGRAM, *TOOLS):
            shutil.copy(file, self.root / "bin")
        # All that Muster's library needs is in every image with a C library.
        for file in (PROGRAM, *TOOLS, here.library_dir / "libmuster-gpu-core.so"):
            for library in libraries_of(file):
                (self.root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(library, self.root / library[1:])
        self.has_podman = shutil.which("podman") and self.podman([], {}, "/bin/sh", "-c", "exit 0").returncode == 0
        print(f"# containers are made by {'podman' if self.has_podman else 'hand, there is no podman that works'}")

    def podman(self, options, env, *words, runtime="runc"):
        """In a mount namespace, so that neither its files nor the folder of devices are the machine's."""
        podman = ["podman", "--root", self.top / "storage", "--runroot", "/run/podman", "--storage-driver", "vfs",
                  "--cgroup-manager", "cgroupfs", "--runtime", runtime, "run", "--rm", "--network=none", "--pid=host",
                  "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024", "-v", f"{self.here.gpu_state}:/gpus",
                  *(f"--env={name}={value}" for name, value in env.items()), *options, "--rootfs", self.root, *words]
        place = f"mount -t tmpfs none /run && mkdir /run/cdi && mount --bind {self.here.cdi} /run/cdi"
        return run([*UNSHARE, f'{place} && exec "$@"', "sh", *podman], os.environ)

    def by_hand(self, mounts, env, *words):
        lines = ["set -e", f"mount --bind {self.root} {self.root}", f"cd {self.root}"]
        for source, target, options in [(self.here.gpu_state, "/gpus", "bind"), *mounts]:
            kind = "mkdir -p" if os.path.isdir(source) else "touch"
            lines += [f"mkdir -p .{os.path.dirname(target)}", f"{kind} .{target}", f"mount --bind {source} .{target}"]
            if "ro" in options:
                lines.append(f"mount -o remount,bind,ro .{target}")
        lines.append('exec chroot . "$@"')
        return run([*UNSHARE, "\n".join(lines), "sh", *words], {**os.environ, **env})

    def start(self, pod, *words, **env):
        """Runs a program in a container of the pod; without a pod, in one that has the driver itself."""
        env = {"FAKE_GPU_STATE": "/gpus", "FAKE_GPU_COUNT": "8", **env}
        driver = [(f"{self.here.driver_root}{LIBRARIES}/{name}", f"{LIBRARIES}/{name}")
                  for name in ("libcuda.so.1", "libnvidia-ml.so.1")]
        if self.has_podman and pod:
            return self.podman([f"--device=muster.scheduler/gpu={fence(pod)}"], env, *words)
        if self.has_podman:
            return self.podman([f"-v={source}:{target}:ro" for source, target in driver], env, *words)
        mounts = [(os.path.realpath(source), target, "ro") for source, target in driver]
        if pod and not self.here.file(pod).exists():
            return subprocess.CompletedProcess(words, 125, "", "no such device")
        if pod:
            device, = json.loads(self.here.file(pod).read_text())["devices"]
            mounts = [(one["hostPath"], one["containerPath"], one["options"])
                      for one in device["containerEdits"]["mounts"]]
        return self.by_hand(mounts, env, *words)

    def nvidia(self, devices, annotation, *words, **env):
        """The same by NVIDIA's runtime, which is told the devices by a variable and perhaps by an annotation."""
        # In quotes: podman takes commas for the next annotation.
        options = [f'--annotation="cdi.k8s.io/muster={annotation}"'] if annotation else []
        env = {"FAKE_GPU_STATE": "/gpus", "FAKE_GPU_COUNT": "8", "NVIDIA_VISIBLE_DEVICES": devices, **env}
        return self.podman(options, env, *words, runtime=self.nvidia_runtime())

    def nvidia_runtime(self):
        """With settings of its own and devices as NVIDIA's tools write them: each GPU, and the driver with all of them."""
        folder = self.top / "nvidia"
        wrapper = folder / "runc"
        if wrapper.exists():
            return wrapper
        build.build(["nvidia-container-runtime"])
        (folder / "nvidia-container-runtime").mkdir(parents=True)
        (folder / "nvidia-container-runtime" / "config.toml").write_text(
            f'[nvidia-container-runtime]\nmode = "auto"\nruntimes = ["{shutil.which("runc")}"]\n')
        wrapper.write_text(f'#!/bin/sh\nXDG_CONFIG_HOME={folder} exec {build.binary("nvidia-container-runtime")} "$@"\n')
        wrapper.chmod(0o755)
        driver = f"{self.here.driver_root}{LIBRARIES}"
        mounts = [{"hostPath": f"{driver}/{name}.{VERSION}", "containerPath": f"{LIBRARIES}/{name}.{end}",
                   "options": ["ro", "nosuid", "nodev", "bind"]}
                  for name in ("libcuda.so", "libnvidia-ml.so") for end in (VERSION, "1")]
        (self.here.cdi / "vendor.json").write_text(json.dumps({
            "cdiVersion": "0.5.0", "kind": "k8s.device-plugin.nvidia.com/gpu", "containerEdits": {"mounts": mounts},
            "devices": [{"name": gpu, "containerEdits": {"env": [f"TEST_GPU={gpu}"]}} for gpu in self.here.operator.gpus]}))
        return wrapper


def run(command, env):
    return subprocess.run([str(word) for word in command], env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, check=False)
