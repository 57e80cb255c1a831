#!/usr/bin/env python3
"""What work of PyTorch costs. Makes everything ready and says the names of what it can do, one a line, and then "ready";
after that it does what it reads the name of, and answers with the time of one round in microseconds."""

import sys
import time

import torch


def matmul(make):
    a = make(8192, 8192, device="cuda", dtype=torch.bfloat16)
    b = make(8192, 8192, device="cuda", dtype=torch.bfloat16)
    out = torch.empty(8192, 8192, device="cuda", dtype=torch.bfloat16)
    return lambda: torch.mm(a, b, out=out)


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


# With how many rounds make up about 0.4 s. Numbers of zeros take so little power that the card keeps its clock.
KINDS = {
    "matmul of 8192 cubed, bf16": (lambda: matmul(torch.randn), 240),
    "the same with zeros, at a steady clock": (lambda: matmul(torch.zeros), 300),
    "a transformer's training step": (transformer, 36),
    "replay of a graph of 20 kernels": (graph, 3000),
    "a small kernel, launched and not awaited": (small_kernel, 40000),
}


def measure(work, rounds):
    """The first quarter only brings card and queues to where they stay."""
    for _ in range(rounds // 4):
        work()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(rounds):
        work()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / rounds * 1e6


ready = {name: (make(), rounds) for name, (make, rounds) in KINDS.items()}
for name, (work, rounds) in ready.items():
    measure(work, 8)
    print(name)
print("ready", flush=True)
for line in sys.stdin:
    print(f"{measure(*ready[line.strip()]):.3f}", flush=True)
