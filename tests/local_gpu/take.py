"""Takes memory of the first GPU through the CUDA driver: take.py MEBIBYTES [SECONDS]

Takes it in pieces, says what the GPU is said to have and what was got, and holds it so long. Ends with status 2 when the
driver is out of memory before.
"""

import ctypes
import os
import sys
import time

PIECE = 64
OUT_OF_MEMORY = 2


def call(name, *arguments):
    return getattr(CUDA, name)(*arguments)


def check(name, *arguments):
    code = call(name, *arguments)
    if code:
        sys.exit(f"{name}: error {code}")


CUDA = ctypes.CDLL("libcuda.so.1")
wanted, seconds = int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 0
device, count, context = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
free, total = ctypes.c_size_t(), ctypes.c_size_t()
check("cuInit", 0)
check("cuDeviceGetCount", ctypes.byref(count))
check("cuDeviceGet", ctypes.byref(device), 0)
check("cuCtxCreate_v2", ctypes.byref(context), 0, device)
check("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
print(f"devices {count.value} total {total.value >> 20} MiB visible {os.environ.get('CUDA_VISIBLE_DEVICES')}", flush=True)
held = 0
while held < wanted:
    address = ctypes.c_uint64()
    code = call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(PIECE << 20))
    if code:
        print(f"refused with error {code} after {held} MiB", flush=True)
        sys.exit(OUT_OF_MEMORY if code == OUT_OF_MEMORY else 1)
    held += PIECE
print(f"holds {held} MiB", flush=True)
time.sleep(seconds)
