"""Processes and a folder that are gone when their owner is, however it ends."""

import collections
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


class Ended(Exception):
    """A process that should run does not; the text holds the end of its log."""


def die_with_parent():
    """Runs in the child. The kernel ends it with the thread that started it, even if that one is killed."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Processes:
    """Starts processes that log into one temporary folder. Meant to be used from one thread that stays."""

    def __init__(self, prefix="muster-cluster-"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=prefix))
        self.commands = {}
        self.running = collections.OrderedDict()
        # pylint: disable-next=consider-using-with
        self.janitor = subprocess.Popen(
            [sys.executable, "-S", "-E", __file__, str(self.folder)], stdin=subprocess.PIPE, text=True,
            start_new_session=True, cwd="/",
        )

    def spawn(self, name, command, env=None):
        """Starts a process; its name is for stop, start and log_of."""
        self.commands[name] = (command, env)
        self.start(name)

    def start(self, name):
        """Starts a process again, as it was spawned."""
        if self.alive(name):
            return
        command, env = self.commands[name]
        with open(self.log_path(name), "ab") as log:
            # pylint: disable-next=consider-using-with,subprocess-popen-preexec-fn
            self.running[name] = subprocess.Popen(
                [str(word) for word in command], cwd=self.folder, env={**self.environment(), **(env or {})},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, preexec_fn=die_with_parent,
            )
        self.tell_janitor(self.pid(name))

    def environment(self):
        """Whatever a program keeps in its home goes into the folder."""
        return {**os.environ, "HOME": str(self.folder), "TMPDIR": str(self.folder)}

    def alive(self, name):
        return name in self.running and self.running[name].poll() is None

    def pid(self, name):
        return self.running[name].pid

    def stop(self, name, by=signal.SIGTERM, seconds=30):
        """Ends a process and all it has started, at the latest when the time is over; returns its exit status. Services of
        ours allow themselves 10 s to stop, which a busy machine draws out."""
        process = self.running.pop(name)
        send(process, by)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        send(process, signal.SIGKILL)
        self.tell_janitor(-process.pid)
        return process.wait()

    def kill(self, name):
        return self.stop(name, signal.SIGKILL)

    def pause(self, name):
        send(self.running[name], signal.SIGSTOP)

    def resume(self, name):
        send(self.running[name], signal.SIGCONT)

    def log_path(self, name):
        return self.folder / f"{name}.log"

    def log_of(self, name, last=2000):
        path = self.log_path(name)
        return path.read_bytes()[-last:].decode(errors="replace") if path.exists() else ""

    def wait_until(self, check, seconds, what, name=None):
        """Calls check until it returns something true, and returns that."""
        end = time.monotonic() + seconds
        while True:
            if found := check():
                return found
            if name and not self.alive(name):
                raise Ended(f"{name} has ended: {self.log_of(name)}")
            if time.monotonic() > end:
                raise TimeoutError(f"not within {seconds} s: {what}" + (f"\n{self.log_of(name)}" if name else ""))
            time.sleep(0.05)

    def tell_janitor(self, number):
        self.janitor.stdin.write(f"{number}\n")
        self.janitor.stdin.flush()

    def close(self):
        for name in reversed(list(self.running)):
            self.kill(name)
        self.janitor.stdin.close()
        self.janitor.wait()


def send(process, number):
    """To the whole group, whose leader may be gone already."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def clean_up_after(owner, folder):
    """The janitor. It is told the groups of processes, and the same with a minus when they are gone; then the end of
    its input tells it that the owner is done, or was killed."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    groups = set()
    for line in owner:
        group = int(line)
        if group > 0:
            groups.add(group)
        else:
            groups.discard(-group)
    for group in groups:
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            pass
    for _ in range(50):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            break
        # Whoever was killed may have been about to write.
        time.sleep(0.1)


if __name__ == "__main__":
    clean_up_after(sys.stdin, sys.argv[1])
