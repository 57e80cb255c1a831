#!/usr/bin/env python3
"""crowd.py FOLDER: fifty tenants begin at once, then two hundred are killed wherever they are."""

import os
import random
import re
import subprocess
import sys
import time

folder = sys.argv[1]
tenant = [f"{folder}/gpu-tenant"]
with_it = {**os.environ, "LD_PRELOAD": f"{folder}/libmuster-gpu.so"}
without = {name: value for name, value in os.environ.items() if name != "MUSTER_GPU_SOCKET"}


def start_together(env, count):
    """Milliseconds that each of so many needs until its context stands."""
    begun = [subprocess.Popen([*tenant, "start"], env=env, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    said = [process.communicate(timeout=120)[0] for process in begun]
    return [float(found[1]) for text in said if (found := re.search(r"began in ([\d.]+) ms", text))]


for name, env in (("without", without), ("with", with_it)):
    times = start_together(env, 50)
    print(f"ROW 50 at once, {name} the library: {len(times)} began, median {sorted(times)[len(times) // 2]:.1f} ms")

chance = random.Random(3)
killed = 0
while killed < 200:
    batch = [subprocess.Popen([*tenant, "hold"], env=with_it, stdout=subprocess.DEVNULL) for _ in range(20)]
    time.sleep(chance.uniform(0.5, 3.0))
    for process in batch:
        process.kill()
    for process in batch:
        process.wait()
    killed += len(batch)
print(f"ROW {killed} processes killed")
