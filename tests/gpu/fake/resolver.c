/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's own lookup, with both of its binary interfaces. A symbol is the name without its ending: of the variants
 * that are old enough for the version asked for, the newest is meant, and of these the one for each thread's own default
 * stream where the flags say so and there is one. */
#include <stdlib.h>
#include <string.h>

#include "exports.h"

struct row {
    const char *name;
    void *function;
};

static const struct row rows[] = {
#define X(name, handler) {#name, (void *)name},
    CUDA_HOOKS(X)
#undef X
#define X(name, ...) {#name, (void *)name},
        FAKE_OTHERS(X)
#undef X
};

/* Variants that came later than the usual first, second, third and fourth. */
static const struct {
    const char *name;
    int version;
} late[] = {
    {"cuGetProcAddress", 11030},
    {"cuGetProcAddress_v2", 12000},
    {"cuCtxCreate_v4", 12050},
    {"cuCtxSynchronize_v2", 13000},
    {"cuGraphAddNode", 12020},
    {"cuGraphAddNode_v2", 13000},
    {"cuGraphInstantiate", 10000},
    {"cuGraphInstantiate_v2", 11000},
    {"cuStreamBeginCapture", 10000},
    {"cuStreamBeginCapture_v2", 10010},
    {"cuDevicePrimaryCtxRelease_v2", 11000},
    {"cuDevicePrimaryCtxReset_v2", 11000},
    {"cuDeviceGetUuid_v2", 11040},
    {"cuMemAllocAsync", 11020},
    {"cuMemCreate", 10020},
    {"cuMemCreate_v2", 99000},
    {"cuGraphAddNode_v3", 13040},
};

/* Splits a name: the length of its stem, its number, and whether it is for threads' own streams. */
static size_t split(const char *name, int *ret_number, bool *ret_per_thread)
{
    size_t len = strlen(name);
    *ret_number = 1;
    *ret_per_thread = len > 5 && (strcmp(name + len - 5, "_ptsz") == 0 || strcmp(name + len - 5, "_ptds") == 0);
    if (*ret_per_thread)
        len -= 5;
    if (len > 3 && name[len - 3] == '_' && name[len - 2] == 'v') {
        *ret_number = name[len - 1] - '0';
        len -= 3;
    }
    return len;
}

static int version_of(const char *name, size_t stem, int number)
{
    static const int usual[] = {0, 2000, 3020, 11040, 12050};
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        int its_number;
        bool per_thread;
        size_t its_stem = split(late[i].name, &its_number, &per_thread);
        if (its_stem == stem && strncmp(late[i].name, name, stem) == 0 && its_number == number)
            return late[i].version;
    }
    return usual[number < 5 ? number : 4];
}

static void *look_up(const char *symbol, int version, uint64_t flags, int *ret_status)
{
    const struct row *best = NULL;
    int best_rank = -1;
    *ret_status = CU_PROC_SYMBOL_NOT_FOUND;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int number;
        bool per_thread;
        size_t stem = split(rows[i].name, &number, &per_thread);
        if (strlen(symbol) != stem || strncmp(rows[i].name, symbol, stem) != 0)
            continue;
        if (*ret_status == CU_PROC_SYMBOL_NOT_FOUND)
            *ret_status = CU_PROC_VERSION_NOT_SUFFICIENT;
        if (version_of(rows[i].name, stem, number) > version || (per_thread && !(flags & CU_PROC_PER_THREAD_STREAM)))
            continue;
        int rank = number * 2 + per_thread;
        if (rank > best_rank) {
            best_rank = rank;
            best = &rows[i];
        }
    }
    if (best)
        *ret_status = CU_PROC_FOUND;
    return best ? best->function : NULL;
}

static cu_result answer(const char *symbol, void **ret_function, int version, uint64_t flags, int *ret_status)
{
    int status;
    if (!symbol || !ret_function)
        return CU_INVALID_VALUE;
    *ret_function = look_up(symbol, version, flags, &status);
    if (ret_status)
        *ret_status = status;
    return *ret_function || ret_status ? CU_SUCCESS : CU_NOT_FOUND;
}

FAKE_EXPORT cu_result cuGetProcAddress(const char *symbol, void **ret_function, int version, uint64_t flags)
{
    return answer(symbol, ret_function, version, flags, NULL);
}

FAKE_EXPORT cu_result cuGetProcAddress_v2(const char *symbol, void **ret_function, int version, uint64_t flags,
                                          int *ret_status)
{
    return answer(symbol, ret_function, version, flags, ret_status);
}

FAKE_EXPORT cu_result cuGetProcAddress_v2_ptsz(const char *symbol, void **ret_function, int version, uint64_t flags,
                                               int *ret_status)
{
    return answer(symbol, ret_function, version, flags | CU_PROC_PER_THREAD_STREAM, ret_status);
}

#define CHECKPOINT(name)                            \
    FAKE_EXPORT cu_result name(int pid, void *args) \
    {                                               \
        BEGIN(name);                                \
        (void)pid, (void)args;                      \
        return CU_SUCCESS;                          \
    }

CHECKPOINT(cuCheckpointProcessLock)
CHECKPOINT(cuCheckpointProcessCheckpoint)
CHECKPOINT(cuCheckpointProcessRestore)
CHECKPOINT(cuCheckpointProcessUnlock)
CHECKPOINT(cuCheckpointProcessGetState)
CHECKPOINT(cuCheckpointProcessGetRestoreThreadId)

/* A variant that a driver of the far future might have. */
FAKE_EXPORT cu_result cuMemCreate_v2(cu_handle *ret_handle, size_t bytes, const void *prop, unsigned long long flags)
{
    BEGIN(cuMemCreate_v2);
    (void)ret_handle, (void)bytes, (void)prop, (void)flags;
    return CU_NOT_SUPPORTED;
}
