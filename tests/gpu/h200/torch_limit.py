#!/usr/bin/env python3
"""PyTorch as a tenant: it sees the limit, runs out of memory ten times, and goes on each time. The last line sums up."""

import os

import torch

limit = int(os.environ["TEST_LIMIT"])
free, total = torch.cuda.mem_get_info()
print("torch", torch.__version__, "free", free, "total", total)
properties = torch.cuda.get_device_properties(0).total_memory
results = {"total": total == limit, "properties": properties == limit}

survived = 0
for _ in range(10):
    held = []
    try:
        while len(held) < 1000:
            held.append(torch.empty(256 << 20, dtype=torch.uint8, device="cuda"))
    except torch.cuda.OutOfMemoryError as error:
        count = len(held)
        message = str(error)
        held.clear()
        torch.cuda.empty_cache()
        a = torch.randn(1024, 1024, device="cuda")
        survived += bool(torch.isfinite(a @ a).all())
print("pieces of 256 MiB before the end:", count, "of", limit >> 28)
print(message.splitlines()[0][:160])
results["survived 10/10"] = survived == 10
results["below limit"] = count * (256 << 20) <= limit

graph = torch.cuda.CUDAGraph()
x = torch.zeros(1 << 20, device="cuda")
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    for _ in range(3):
        y = x * 2 + 1
torch.cuda.synchronize()
with torch.cuda.graph(graph):
    y = x * 2 + 1
for _ in range(100):
    graph.replay()
torch.cuda.synchronize()
results["graph"] = bool((y == 1).all())

try:
    import pynvml

    pynvml.nvmlInit()
    memory = pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(0))
    results["nvml total"] = memory.total == limit
    results["nvml free"] = abs(memory.free - torch.cuda.mem_get_info()[0]) <= (2 << 20)
except ImportError:
    print("no pynvml here")
print(", ".join(f"{name}: {'yes' if holds else 'NO'}" for name, holds in results.items()))
