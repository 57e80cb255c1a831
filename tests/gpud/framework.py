"""A program that uses a framework with a cache: what PyTorch is to the tenants' library, on the pretended driver.

It takes 64 MiB pieces, as many as it is told, and lets go of all of them at once, as a cache does: they stay its own. Then it
prints "cached" and works on in Python. When it is asked to empty its cache, it does and prints "emptied".
"""

import ctypes
import sys
import time
import types

PIECE = 64 << 20

cuda = ctypes.CDLL("libcuda.so.1")
cache = []


def empty_cache():
    while cache:
        assert cuda.cuMemFree_v2(cache.pop()) == 0
    print("emptied", flush=True)


def main():
    context, device = ctypes.c_void_p(), ctypes.c_int()
    assert cuda.cuInit(0) == 0 and cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0 and cuda.cuCtxSetCurrent(context) == 0
    torch = types.ModuleType("torch")
    torch.cuda = types.SimpleNamespace(is_initialized=lambda: True, empty_cache=empty_cache)
    sys.modules["torch"] = torch
    for _ in range(int(sys.argv[1])):
        address = ctypes.c_uint64()
        assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(PIECE)) == 0
        cache.append(address)
    print("cached", flush=True)
    while True:
        time.sleep(0.005)


main()
