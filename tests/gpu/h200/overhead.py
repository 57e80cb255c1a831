#!/usr/bin/env python3
"""What work of PyTorch costs: a line for each kind with the median time of one round in microseconds."""

import statistics
import time

import torch


def measure(name, work, rounds, repeat=7):
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        for _ in range(rounds):
            work()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) / rounds)
    print(f"{name} {statistics.median(times) * 1e6:.3f}", flush=True)


a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
b = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
measure("matmul of 8192 cubed, bf16", lambda: torch.mm(a, b), 50)

small = torch.zeros(1024, device="cuda")
measure("a small kernel, launched and not awaited", lambda: small.add_(1), 5000)

medium = torch.zeros(1 << 22, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    for _ in range(20):
        medium.mul_(1.0)
measure("replay of a graph of 20 kernels", graph.replay, 1000)

layer = torch.nn.TransformerEncoderLayer(2048, 16, 8192, batch_first=True, device="cuda", dtype=torch.bfloat16)
optimizer = torch.optim.SGD(layer.parameters(), lr=1e-4)
batch = torch.randn(16, 1024, 2048, device="cuda", dtype=torch.bfloat16)


def step():
    optimizer.zero_grad(set_to_none=True)
    layer(batch).square().mean().backward()
    optimizer.step()


measure("a transformer's training step", step, 20)


def allocate():
    torch.cuda.empty_cache()
    del_me = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
    del del_me


measure("64 MiB allocated and freed", allocate, 100)
