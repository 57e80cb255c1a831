"""A tenant for tests/gpu/h200-park: parked.py GIBIBYTES

Fills its memory with numbers by a kernel, captures a graph, and says "ready". Then each line that it reads is one order, and
each answer one line: `step` launches a kernel and the graph, which count; `check` counts the words that are not what they
should be, on the GPU itself; `bandwidth` copies a pinned piece of memory each way. Without a GPU of its own it cannot run.
"""

import ctypes
import sys
import time

GIB = 1 << 30
PIECE = GIB
SEED = 0x5bd1e995
THREADS, BLOCKS = 256, 1024
PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 address, .param .u64 words, .param .u64 seed)
{
    .reg .b64 %r<8>;
    .reg .b32 %t<5>;
    .reg .pred %p;
    ld.param.u64 %r0, [address];
    cvta.to.global.u64 %r0, %r0;
    ld.param.u64 %r1, [words];
    ld.param.u64 %r2, [seed];
    mov.u32 %t0, %tid.x;
    mov.u32 %t1, %ctaid.x;
    mov.u32 %t2, %ntid.x;
    mov.u32 %t3, %nctaid.x;
    mad.lo.u32 %t0, %t1, %t2, %t0;
    mul.lo.u32 %t4, %t2, %t3;
    cvt.u64.u32 %r3, %t0;
    cvt.u64.u32 %r4, %t4;
again:
    setp.ge.u64 %p, %r3, %r1;
    @%p bra done;
    mul.lo.u64 %r5, %r3, 0x9e3779b97f4a7c15;
    add.u64 %r5, %r5, %r2;
    shl.b64 %r6, %r3, 3;
    add.u64 %r6, %r0, %r6;
    st.global.u64 [%r6], %r5;
    add.u64 %r3, %r3, %r4;
    bra again;
done:
    ret;
}
.visible .entry compare(.param .u64 address, .param .u64 words, .param .u64 seed, .param .u64 wrong)
{
    .reg .b64 %r<10>;
    .reg .b32 %t<5>;
    .reg .pred %p;
    .reg .pred %q;
    ld.param.u64 %r0, [address];
    cvta.to.global.u64 %r0, %r0;
    ld.param.u64 %r1, [words];
    ld.param.u64 %r2, [seed];
    ld.param.u64 %r7, [wrong];
    cvta.to.global.u64 %r7, %r7;
    mov.u32 %t0, %tid.x;
    mov.u32 %t1, %ctaid.x;
    mov.u32 %t2, %ntid.x;
    mov.u32 %t3, %nctaid.x;
    mad.lo.u32 %t0, %t1, %t2, %t0;
    mul.lo.u32 %t4, %t2, %t3;
    cvt.u64.u32 %r3, %t0;
    cvt.u64.u32 %r4, %t4;
again:
    setp.ge.u64 %p, %r3, %r1;
    @%p bra done;
    mul.lo.u64 %r5, %r3, 0x9e3779b97f4a7c15;
    add.u64 %r5, %r5, %r2;
    shl.b64 %r6, %r3, 3;
    add.u64 %r6, %r0, %r6;
    ld.global.u64 %r8, [%r6];
    setp.ne.u64 %q, %r8, %r5;
    @%q atom.global.add.u64 %r9, [%r7], 1;
    add.u64 %r3, %r3, %r4;
    bra again;
done:
    ret;
}
.visible .entry add_one(.param .u64 address)
{
    .reg .b64 %r<2>;
    ld.param.u64 %r0, [address];
    cvta.to.global.u64 %r0, %r0;
    ld.global.u64 %r1, [%r0];
    add.u64 %r1, %r1, 1;
    st.global.u64 [%r0], %r1;
    ret;
}
"""

CUDA = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    code = getattr(CUDA, name)(*arguments)
    if code:
        print(f"{name}: error {code}", flush=True)
        sys.exit(1)


def u64(value):
    return ctypes.c_uint64(value)


class Tenant:
    def __init__(self, gibibytes):
        device, context, module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        call("cuInit", 0)
        call("cuDeviceGet", ctypes.byref(device), 0)
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        call("cuCtxSetCurrent", context)
        call("cuModuleLoadData", ctypes.byref(module), PTX)
        self.kernels = {}
        for name in ("fill", "compare", "add_one"):
            self.kernels[name] = ctypes.c_void_p()
            call("cuModuleGetFunction", ctypes.byref(self.kernels[name]), module, name.encode())
        self.counters = self.take(2 << 20)
        call("cuMemsetD8_v2", self.counters, 0, ctypes.c_size_t(2 << 20))
        self.pieces = [self.take(PIECE) for _ in range(gibibytes)]
        for number, piece in enumerate(self.pieces):
            self.launch("fill", BLOCKS, piece, u64(PIECE // 8), u64(SEED * (number + 1)))
        self.stream, graph, self.graph = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        call("cuStreamCreate", ctypes.byref(self.stream), 1)
        call("cuStreamBeginCapture_v2", self.stream, 0)
        self.launch("add_one", 1, u64(self.counters.value + 8), stream=self.stream)
        call("cuStreamEndCapture", self.stream, ctypes.byref(graph))
        call("cuGraphInstantiateWithFlags", ctypes.byref(self.graph), graph, ctypes.c_uint64(0))
        call("cuCtxSynchronize")
        self.steps = 0

    def take(self, size):
        address = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address

    def launch(self, name, blocks, *arguments, stream=None):
        pointers = (ctypes.c_void_p * len(arguments))(*[ctypes.cast(ctypes.byref(one), ctypes.c_void_p) for one in arguments])
        threads = THREADS if blocks > 1 else 1
        call("cuLaunchKernel", self.kernels[name], blocks, 1, 1, threads, 1, 1, 0, stream, pointers, None)

    def words(self):
        found = (ctypes.c_uint64 * 3)()
        call("cuCtxSynchronize")
        call("cuMemcpyDtoH_v2", found, self.counters, ctypes.c_size_t(24))
        return list(found)

    def step(self):
        begin = time.monotonic()
        self.launch("add_one", 1, self.counters)
        call("cuGraphLaunch", self.graph, self.stream)
        self.steps += 1
        by_kernel, by_graph, _ = self.words()
        is_fine = by_kernel == by_graph == self.steps
        return f"{'fine' if is_fine else 'WRONG'} step {by_kernel} {by_graph} of {self.steps} {time.monotonic() - begin:.4f}"

    def check(self):
        call("cuMemsetD8_v2", u64(self.counters.value + 16), 0, ctypes.c_size_t(8))
        for number, piece in enumerate(self.pieces):
            self.launch("compare", BLOCKS, piece, u64(PIECE // 8), u64(SEED * (number + 1)),
                        u64(self.counters.value + 16))
        return f"wrong {self.words()[2]}"

    def bandwidth(self):
        """Of plain pinned copies, to compare with."""
        host, rates = ctypes.c_void_p(), []
        call("cuMemHostAlloc", ctypes.byref(host), ctypes.c_size_t(PIECE), 0)
        for name, arguments in (("cuMemcpyDtoH_v2", (host, self.pieces[0])), ("cuMemcpyHtoD_v2", (self.pieces[0], host))):
            times = []
            for _ in range(3):
                begin = time.monotonic()
                call(name, *arguments, ctypes.c_size_t(PIECE))
                times.append(time.monotonic() - begin)
            rates.append(PIECE / min(times) / 1e9)
        call("cuMemFreeHost", host)
        return f"bandwidth {rates[0]:.1f} {rates[1]:.1f}"


def main():
    tenant = Tenant(int(sys.argv[1]))
    print("ready", flush=True)
    for line in sys.stdin:
        print({"step": tenant.step, "check": tenant.check, "bandwidth": tenant.bandwidth}[line.strip()](), flush=True)


if __name__ == "__main__":
    main()
