"""Programs whose clock is off: see clock.c."""

import pathlib
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parent / "clock.c"


def library(folder):
    """The library that sets a program's clock, or None where there is no compiler."""
    path = folder / "clock.so"
    done = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(path), str(SOURCE)], check=False)
    return path if done.returncode == 0 else None


def environment(built, file):
    """That of a program whose clock is off by as many seconds as the file says."""
    return {"LD_PRELOAD": str(built), "CLOCK_OFFSET_FILE": str(file),
            "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
