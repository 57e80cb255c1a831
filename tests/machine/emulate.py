"""A small emulated machine: Debian's kernel in qemu, with this machine's own programs below a layer that is thrown away.

The tests' machine often has neither systemd nor control groups of version 2; the emulated one has both. Its root folder is
that of this machine, read through 9p and never written. Nothing is emulated but one CPU, memory and two shared folders.
"""

import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CACHE = ROOT / ".cache" / "machine"
MODULES = ["virtio_pci", "9p", "9pnet_virtio", "overlay", "virtio_rng"]
LIMIT_SECONDS = 1500

INIT = """#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
for module in {modules}; do /bin/busybox insmod "/lib/$module"; done
share() {{ /bin/busybox mount -t 9p -o "trans=virtio,version=9p2000.L,msize=262144,$3" "$1" "$2"; }}
share root /lower ro,cache=loose
/bin/busybox mount -t tmpfs -o size=1g tmpfs /layer
/bin/busybox mkdir /layer/upper /layer/work
/bin/busybox mount -t overlay -o lowerdir=/lower,upperdir=/layer/upper,workdir=/layer/work overlay /new
/bin/busybox mount -t proc proc /new/proc
/bin/busybox mount -t sysfs sys /new/sys
/bin/busybox mount -t cgroup2 cgroup2 /new/sys/fs/cgroup
/bin/busybox mount -t devtmpfs dev /new/dev
/bin/busybox mount -t tmpfs -o mode=755 tmpfs /new/run
/bin/busybox mount -t tmpfs -o mode=1777 tmpfs /new/tmp
/bin/busybox mkdir -p /new/run/systemd/system /new/mnt
# The tests may run in a container, which this machine is not.
/bin/busybox rm -f /new/.dockerenv
share folder /new/mnt rw,cache=none
/bin/busybox cp /work.service /new/run/systemd/system/
exec /bin/busybox switch_root /new /lib/systemd/systemd
"""

WORK = """[Unit]
Description=What the emulated machine is started for
Wants=dbus.service systemd-logind.service
After=dbus.service systemd-logind.service sysinit.target
SuccessAction=poweroff-force
FailureAction=poweroff-force

[Service]
Type=oneshot
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
Environment=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
ExecStart={command}
"""


def output(*words, **options):
    return subprocess.run(words, check=True, text=True, capture_output=True, **options).stdout


def kernel():
    """The folder with Debian's kernel package, unpacked; it is fetched once."""
    folder = CACHE / "kernel"
    if folder.exists():
        return folder
    new = CACHE / "new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    package = next(line.split()[1] for line in output("apt-cache", "depends", "linux-image-amd64").splitlines()
                   if line.strip().startswith("Depends: linux-image-"))
    output("apt-get", "download", package, cwd=new)
    archive = next(new.glob("*.deb"))
    output("dpkg-deb", "-x", archive, new / "kernel")
    output("depmod", "-b", new / "kernel", version(new / "kernel"))
    (new / "kernel").rename(folder)
    shutil.rmtree(new)
    return folder


def version(folder):
    return next((folder / "lib" / "modules").iterdir()).name


def module_files(folder):
    """The files of the modules in the order in which they are loaded; those built into the kernel have none."""
    files = []
    for name in MODULES:
        said = output("modprobe", "-d", folder, "-S", version(folder), "--show-depends", name)
        files += [pathlib.Path(line.split()[1]) for line in said.splitlines() if line.startswith("insmod")]
    return list(dict.fromkeys(files))


def write_initrd(folder, target, command):
    top = target.parent / "initrd.d"
    for name in ("bin", "lib", "dev", "lower", "layer", "new"):
        (top / name).mkdir(parents=True)
    shutil.copy("/bin/busybox", top / "bin" / "busybox")
    files = module_files(folder)
    for file in files:
        shutil.copy(file, top / "lib")
    (top / "init").write_text(INIT.format(modules=" ".join(file.name for file in files)))
    (top / "init").chmod(0o755)
    (top / "work.service").write_text(WORK.format(command=command))
    names = "\n".join(str(path.relative_to(top)) for path in sorted(top.rglob("*")))
    with target.open("wb") as file:
        subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=top, input=names.encode(), stdout=file, check=True)


def run(share, command, scratch):
    """Starts the machine with `share` at its /mnt, runs the command as root there and returns what its console said."""
    folder = kernel()
    write_initrd(folder, scratch / "initrd", command)
    words = ["qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-m", "3072", "-smp", "1", "-nographic", "-no-reboot", "-nic", "none",
             "-kernel", folder / "boot" / f"vmlinuz-{version(folder)}", "-initrd", scratch / "initrd",
             "-append", "console=ttyS0 panic=-1 quiet systemd.show_status=no systemd.unit=work.service",
             "-fsdev", "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap",
             "-device", "virtio-9p-pci,fsdev=root,mount_tag=root",
             "-fsdev", f"local,id=share,path={share},security_model=none,multidevs=remap",
             "-device", "virtio-9p-pci,fsdev=share,mount_tag=folder", "-device", "virtio-rng-pci"]
    # A machine that hangs is ended; what it had to say is in what it has printed by then.
    done = subprocess.run(["timeout", "--kill-after=10", str(LIMIT_SECONDS), *words], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    return (done.stdout + done.stderr).decode(errors="replace")
