"""A small training on PyTorch that says its loss at each step, to the last bit: torch_park.py STEPS

With a line on its standard input between two steps it can be stopped from outside: it reads one before each step.
"""

import sys

import torch


def main():
    torch.manual_seed(21)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cuda.matmul.allow_tf32 = False
    model = torch.nn.Sequential(*[layer for _ in range(8) for layer in (torch.nn.Linear(4096, 4096), torch.nn.GELU())]).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    data = torch.randn(512, 4096, device="cuda")
    print("ready", flush=True)
    for _ in range(int(sys.argv[1])):
        if not sys.stdin.readline():
            return
        optimizer.zero_grad()
        loss = (model(data) - data).square().mean()
        loss.backward()
        optimizer.step()
        print(float(loss.detach()).hex(), flush=True)


if __name__ == "__main__":
    main()
