/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../fake/state.h"

void check(bool holds, const char *what, ...)
{
    va_list args;
    va_start(args, what);
    printf("%s - ", holds ? "ok" : "not ok");
    vprintf(what, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

void check_equal(uint64_t found, uint64_t expected, const char *what, ...)
{
    va_list args;
    va_start(args, what);
    printf("%s - ", found == expected ? "ok" : "not ok");
    vprintf(what, args);
    va_end(args);
    if (found != expected)
        printf(" (found %llu, expected %llu)", (unsigned long long)found, (unsigned long long)expected);
    printf("\n");
    fflush(stdout);
}

static void *library(const char *variable, const char *name)
{
    const char *path = getenv(variable);
    void *handle = dlopen(path ? path : name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        printf("not ok - %s\n", dlerror());
        exit(1);
    }
    return handle;
}

void *cuda_library(void)
{
    static void *handle;
    return handle ? handle : (handle = library("TEST_CUDA", "libcuda.so.1"));
}

void *nvml_library(void)
{
    static void *handle;
    return handle ? handle : (handle = library("TEST_NVML", "libnvidia-ml.so.1"));
}

bool is_real(void)
{
    return getenv("FAKE_GPU_STATE") == NULL;
}

static void *find(void *handle, const char *name)
{
    void *found = dlsym(handle, name);
    if (!found) {
        printf("not ok - %s is there\n", name);
        exit(1);
    }
    return found;
}

void *cuda(const char *name)
{
    return find(cuda_library(), name);
}

void *nvml(const char *name)
{
    return find(nvml_library(), name);
}

void *primary(void)
{
    void *ctx = NULL;
    cu_result (*set_current)(void *) = (cu_result(*)(void *))cuda("cuCtxSetCurrent");
    if (CALL(cuDevicePrimaryCtxRetain, primary_retain)(&ctx, 0) != CU_SUCCESS || set_current(ctx) != CU_SUCCESS)
        return NULL;
    return ctx;
}

void begin(void)
{
    cu_result (*init)(unsigned) = (cu_result(*)(unsigned))cuda("cuInit");
    if (init(0) != CU_SUCCESS || !primary()) {
        printf("not ok - the driver begins\n");
        exit(1);
    }
}

uint64_t told_free(void)
{
    size_t free_bytes = 0;
    return CALL(cuMemGetInfo_v2, mem_info)(&free_bytes, NULL) == CU_SUCCESS ? free_bytes : UINT64_MAX;
}

uint64_t told_total(void)
{
    size_t total = 0;
    return CALL(cuMemGetInfo_v2, mem_info)(NULL, &total) == CU_SUCCESS ? total : UINT64_MAX;
}

/* On a real device: what it holds for everybody, asked of a program that we do not stand in front of, less what it held
 * before. */
static uint64_t truth_of_device(void)
{
    char line[64] = "";
    const char *baseline = getenv("TEST_BASELINE_MIB");
    FILE *answer = popen("env -u LD_PRELOAD -u LD_LIBRARY_PATH nvidia-smi --query-gpu=memory.used "
                         "--format=csv,noheader,nounits",
                         "r");
    if (!answer)
        return UINT64_MAX;
    bool is_read = fgets(line, sizeof line, answer) != NULL;
    (void)pclose(answer);
    return is_read ? (strtoull(line, NULL, 10) - (baseline ? strtoull(baseline, NULL, 10) : 0)) * MIB : UINT64_MAX;
}

uint64_t truth(void)
{
    static struct fake_state *state;
    const char *path = getenv("FAKE_GPU_STATE");
    if (!path)
        return truth_of_device();
    if (!state) {
        int fd = open(path, O_RDWR | O_CLOEXEC);
        void *memory = mmap(NULL, sizeof *state, PROT_READ, MAP_SHARED, fd, 0);
        if (fd < 0 || memory == MAP_FAILED)
            return UINT64_MAX;
        state = memory;
        close(fd);
    }
    for (int i = 0; i < FAKE_PROCESSES; i++) {
        if (atomic_load(&state->processes[i].pid) == getpid())
            return atomic_load(&state->processes[i].used[0]);
    }
    return 0;
}

/* Waits on the device's own clock. The pretended driver knows it by its name alone. */
static const char spin_text[] = ".version 7.0\n"
                                ".target sm_70\n"
                                ".address_size 64\n"
                                ".visible .entry spin_us(.param .u32 us)\n"
                                "{\n"
                                "    .reg .u32 %r1;\n"
                                "    .reg .u64 %t<4>;\n"
                                "    .reg .pred %p1;\n"
                                "    ld.param.u32 %r1, [us];\n"
                                "    mul.wide.u32 %t1, %r1, 1000;\n"
                                "    mov.u64 %t2, %globaltimer;\n"
                                "    add.u64 %t1, %t1, %t2;\n"
                                "AGAIN:\n"
                                "    mov.u64 %t3, %globaltimer;\n"
                                "    setp.lt.u64 %p1, %t3, %t1;\n"
                                "    @%p1 bra AGAIN;\n"
                                "    ret;\n"
                                "}\n";

void *function_of(const char *name)
{
    void *module = NULL, *function = NULL;
    cu_result (*load)(void **, const void *) = (cu_result(*)(void **, const void *))cuda("cuModuleLoadData");
    cu_result (*get)(void **, void *, const char *) =
        (cu_result(*)(void **, void *, const char *))cuda("cuModuleGetFunction");
    return load(&module, spin_text) == CU_SUCCESS && get(&function, module, name) == CU_SUCCESS ? function : NULL;
}

void *spin_function(void)
{
    return function_of("spin_us");
}
