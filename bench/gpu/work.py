#!/usr/bin/env python3
"""One kind of work of PyTorch on the GPU: work.py KIND

Makes everything ready, says "ready", and then works for each line {"at": ns, "warm": s, "seconds": s} that it reads: from that
moment of CLOCK_MONOTONIC on, counting after the warm-up. Answers with a line {"count", "seconds", "latencies"}: rounds, the time
that they took, and for periodic inference the median and the 99th percentile of a request in ms.
"""

import json
import statistics
import sys
import time

import torch

PERIOD = 0.020  # between two requests of the periodic inference


def sleeping(us, launches):
    """Kernels that take a fixed time, some of them and then a wait for all."""
    torch.cuda._sleep(1000)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    cycles, times = 2_000_000, []
    # Others start at the same time: only an interval without a turn of theirs in it shows the length of a cycle.
    for _ in range(50):
        begin.record()
        torch.cuda._sleep(cycles)
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    each = int(cycles * us / (min(times) * 1000))

    def work():
        for _ in range(launches):
            torch.cuda._sleep(each)
        torch.cuda.synchronize()

    return work


class Block(torch.nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.before, self.between = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.into, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        self.register_buffer("keys", torch.randn(1, heads, length, width // heads))
        self.register_buffer("values", torch.randn(1, heads, length, width // heads))

    def forward(self, x, at):
        q, k, v = (part.view(1, 1, self.heads, -1).transpose(1, 2) for part in self.into(self.before(x)).chunk(3, -1))
        self.keys[:, :, at:at + 1] = k
        self.values[:, :, at:at + 1] = v
        seen = torch.nn.functional.scaled_dot_product_attention(q, self.keys, self.values)
        x = x + self.out(seen.transpose(1, 2).reshape(1, 1, -1))
        return x + self.down(torch.nn.functional.gelu(self.up(self.between(x))))


def generation():
    """Token by token through 16 layers: bound by launches, with a wait for each token."""
    blocks = torch.nn.ModuleList(Block(1024, 16, 256) for _ in range(16)).cuda().bfloat16()
    words = torch.nn.Embedding(32000, 1024).cuda().bfloat16()
    state = {"token": torch.zeros(1, 1, dtype=torch.long, device="cuda"), "at": 0}

    @torch.no_grad()
    def work():
        x = words(state["token"])
        for block in blocks:
            x = block(x, state["at"])
        state["token"] = (x[0] @ words.weight.T).argmax(-1, keepdim=True)
        state["at"] = (state["at"] + 1) % 256
        state["token"][0, 0].item()

    return work


def training():
    layer = torch.nn.TransformerEncoderLayer(2048, 16, 8192, batch_first=True, device="cuda", dtype=torch.bfloat16)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1e-4)
    batch = torch.randn(16, 1024, 2048, device="cuda", dtype=torch.bfloat16)

    def work():
        optimizer.zero_grad(set_to_none=True)
        loss = layer(batch).square().mean()
        loss.backward()
        optimizer.step()
        loss.item()

    return work


def inference():
    layers = [torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True, device="cuda", dtype=torch.bfloat16).eval()
              for _ in range(4)]
    model = torch.nn.Sequential(*layers)
    batch = torch.randn(8, 128, 1024, device="cuda", dtype=torch.bfloat16)

    @torch.no_grad()
    def work():
        model(batch)
        torch.cuda.synchronize()

    return work


def replay():
    numbers = torch.zeros(1 << 22, device="cuda")
    made = torch.cuda.CUDAGraph()
    with torch.cuda.graph(made):
        for _ in range(20):
            numbers.mul_(1.0)

    def work():
        for _ in range(8):
            made.replay()
        torch.cuda.synchronize()

    return work


KINDS = {
    "training": training,
    "generation": generation,
    "inference": inference,
    "graphs": replay,
    "10us": lambda: sleeping(10, 4),
    "1ms": lambda: sleeping(1000, 4),
    "200ms": lambda: sleeping(200000, 1),
}


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) / 1e9


def rounds(work, end):
    """Works until then; how often, and until when the last round took."""
    count, last = 0, now()
    while last < end:
        work()
        last = now()
        count += 1
    return count, last


def requests(work, begin, end):
    """A request every so often, whether or not the last one has ended: each is timed from when it was due."""
    latencies, due = [], begin
    while due < end:
        time.sleep(max(due - now(), 0))
        work()
        latencies.append((now() - due) * 1000)
        due += PERIOD
    return latencies


def run(kind, work, order):
    begin = order["at"] / 1e9
    start = begin + order["warm"]
    end = start + order["seconds"]
    time.sleep(max(begin - now(), 0))
    if kind == "inference":
        requests(work, begin, start)
        latencies = requests(work, start, end)
        cuts = statistics.quantiles(latencies, n=100)
        late = now() - start
        return {"count": len(latencies), "seconds": max(late, order["seconds"]), "latencies": [cuts[49], cuts[98]]}
    _, begun = rounds(work, start)
    count, last = rounds(work, end)
    return {"count": count, "seconds": last - begun, "latencies": None}


def main():
    kind = sys.argv[1]
    work = KINDS[kind]()
    rounds(work, now() + 1)
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(run(kind, work, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
