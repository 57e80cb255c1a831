#!/usr/bin/env python3
"""What work of PyTorch costs. Makes everything ready and says the names of what it can do, one a line, and then "ready";
after that it does what it reads the name of, and answers with the time of one round in microseconds."""

import sys
import time

import torch


def matmul():
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    return lambda: torch.mm(a, b)


def small_kernel():
    small = torch.zeros(1024, device="cuda")
    return lambda: small.add_(1)


def graph():
    medium = torch.zeros(1 << 22, device="cuda")
    made = torch.cuda.CUDAGraph()
    with torch.cuda.graph(made):
        for _ in range(20):
            medium.mul_(1.0)
    return made.replay


def transformer():
    layer = torch.nn.TransformerEncoderLayer(2048, 16, 8192, batch_first=True, device="cuda", dtype=torch.bfloat16)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1e-4)
    batch = torch.randn(16, 1024, 2048, device="cuda", dtype=torch.bfloat16)

    def step():
        optimizer.zero_grad(set_to_none=True)
        layer(batch).square().mean().backward()
        optimizer.step()

    return step


# With how many rounds make up about a fifth of a second.
KINDS = {
    "matmul of 8192 cubed, bf16": (matmul, 120),
    "a small kernel, launched and not awaited": (small_kernel, 30000),
    "replay of a graph of 20 kernels": (graph, 1500),
    "a transformer's training step": (transformer, 12),
}


def measure(work, rounds):
    begin = time.perf_counter()
    for _ in range(rounds):
        work()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / rounds * 1e6


ready = {name: (make(), rounds) for name, (make, rounds) in KINDS.items()}
for name, (work, rounds) in ready.items():
    measure(work, max(3, rounds // 4))
    print(name)
print("ready", flush=True)
for line in sys.stdin:
    print(f"{measure(*ready[line.strip()]):.3f}", flush=True)
