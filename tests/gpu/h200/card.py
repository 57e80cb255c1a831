"""What the card itself says about its memory: NVML's count, asked directly."""

import ctypes
import functools


class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


class Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("instance", ctypes.c_uint),
                ("compute_instance", ctypes.c_uint)]


PROCESSES_MAX = 1024


def call(name, *arguments):
    result = getattr(library(), name)(*arguments)
    if result != 0:
        raise OSError(f"{name}: error {result} of NVML")


@functools.cache
def library():
    found = ctypes.CDLL("libnvidia-ml.so.1")
    if found.nvmlInit_v2() != 0:
        raise OSError("NVML does not start")
    return found


@functools.cache
def device():
    handle = ctypes.c_void_p()
    call("nvmlDeviceGetHandleByIndex_v2", 0, ctypes.byref(handle))
    return handle


def used():
    """Bytes in use, of all processes."""
    memory = Memory()
    call("nvmlDeviceGetMemoryInfo", device(), ctypes.byref(memory))
    return memory.used


def processes():
    """Bytes in use by the id of the process."""
    count, found = ctypes.c_uint(PROCESSES_MAX), (Process * PROCESSES_MAX)()
    call("nvmlDeviceGetComputeRunningProcesses_v3", device(), ctypes.byref(count), found)
    return {each.pid: each.used for each in found[:count.value]}
