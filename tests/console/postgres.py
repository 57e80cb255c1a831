"""A PostgreSQL server of Debian's in a folder of its own, for tests and benchmarks."""

import os
import pathlib
import shutil
import signal
import subprocess

PATIENCE = 60
ROOT = pathlib.Path("/usr/lib/postgresql")


def is_installed():
    return any(ROOT.glob("*/bin/initdb"))


class Postgres:
    """Runs as another user where we are root, which PostgreSQL refuses to be. `is_durable`: it writes to the disk before it
    acknowledges."""

    def __init__(self, folder, is_durable=False):
        self.folder = pathlib.Path(folder) / "server"
        self.folder.mkdir()
        self.bin = max(ROOT.glob("*/bin"))
        self.is_durable = is_durable
        self.user = "postgres" if os.getuid() == 0 else None
        if self.user:
            shutil.chown(self.folder, self.user)
            os.chmod(folder, 0o755)

    def call(self, name, *words):
        subprocess.run([self.bin / name, *words], user=self.user, cwd="/", check=True, stdout=subprocess.DEVNULL,
                       timeout=PATIENCE)

    def control(self, *words):
        self.call("pg_ctl", "-w", "-D", self.folder / "data", *words)

    def make(self):
        self.call("initdb", "-A", "trust", "-U", "muster", "-D", self.folder / "data", "--no-sync")
        self.start()

    def start(self):
        unsafe = "" if self.is_durable else " -F"
        self.control("-l", self.folder / "log", "-o", f"-k {self.folder} -c listen_addresses=''{unsafe}", "start")

    def url(self, name):
        """The URL of a new database."""
        self.call("createdb", "-h", self.folder, "-U", "muster", name)
        return f"postgresql:///{name}?host={self.folder}&user=muster"

    def stop(self):
        self.control("-m", "immediate", "stop")

    def kill(self):
        """As a machine that loses its power: no process of the server ends in order."""
        postmaster = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(postmaster, signal.SIGKILL)
