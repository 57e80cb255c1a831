"""Sections of RESULTS.md, one for each benchmark. A benchmark replaces only its own section."""

import os
import pathlib
import platform

PATH = pathlib.Path(__file__).resolve().parent / "RESULTS.md"
TITLE = "# Benchmarks"
ORDER = ["One cycle on a large cluster", "Cycles of a running cluster", "Cost by cluster size",
         "Simulation of a month", "Public traces", "Fragmentation", "Predicted starts", "On Kubernetes", "On Kubernetes, parts of GPUs",
         "On Kubernetes, with another load generator", "After an outage", "Under blows", "Soak", "Binder",
         "Memory of all services", "A large cluster", "Local mode", "The console with a large organisation", "On the H200"]


def machine():
    """The processor of this machine and its number of cores."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.machine()
    return f"{name}, {os.cpu_count()} cores"


def table(titles, rows):
    """Lines of a table; all columns but the first hold figures."""
    lines = ["| " + " | ".join(titles) + " |", "|---|" + "--:|" * (len(titles) - 1)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def write_section(title, lines):
    """Replaces the section of this title, or adds it where it belongs."""
    text = PATH.read_text() if PATH.is_file() else TITLE + "\n"
    sections = {}
    for part in text.split("\n## ")[1:]:
        name, _, body = part.partition("\n")
        sections[name] = body.strip("\n")
    sections[title] = "\n".join(lines).strip("\n")
    names = [name for name in ORDER if name in sections] + [name for name in sections if name not in ORDER]
    PATH.write_text(TITLE + "\n" + "".join(f"\n## {name}\n\n{sections[name]}\n" for name in names))
