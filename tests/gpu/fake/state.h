/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* GPUs that are only pretended, shared by all processes that map the same file: which process holds how much memory, and
 * until when each GPU is busy. A process that is gone, however it went, holds nothing.
 *
 * The environment says what there is:
 *   FAKE_GPU_STATE          the file, by preference in shared memory; made by whoever comes first
 *   FAKE_GPU_COUNT          GPUs (1)
 *   FAKE_GPU_BYTES          memory of each (16 GiB)
 *   FAKE_GPU_CONTEXT_BYTES  what a context takes without being asked (64 MiB)
 *   FAKE_GPU_MODULE_BYTES   what a module takes without being asked (0)
 *   FAKE_GPU_FAULT          NAME:NTH:CODE, answer CODE to the NTH call of NAME and those after it; several by commas
 *   FAKE_GPU_SLOW           NAME:MS, each call of NAME takes so long
 *   FAKE_GPU_MIG            "on" or "off": the GPUs have MIG, as FAKE_GPU_NAME says, in this mode (they have none)
 *   FAKE_GPU_CRASH          step:N, the process is killed at the Nth step of its calls about MIG: each call has one before it
 *                           and one after; change:N, the same of calls that change something
 *   FAKE_GPU_LOG            a file that gets a line for each name called for the first time
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { FAKE_GPUS = 16, FAKE_PROCESSES = 2048, FAKE_SLICES = 16 };

struct fake_process {
    atomic_int pid;     // 0: free
    atomic_uint slice;  // the serial number of the slice that it was started with; 0: none
    _Atomic uint64_t start;
    _Atomic uint64_t used[FAKE_GPUS];
    _Atomic uint64_t busy_ns[FAKE_GPUS];
};

/* A GPU instance; its number is its index, plus one. Only whoever holds the lock of the file changes these. */
struct fake_slice {
    unsigned serial;  // no other ever has it; 0: there is none
    unsigned profile, start, size, processors;
    unsigned compute;  // whether it has a compute instance
    atomic_int held;   // a process that is pretended to use it; 0: none
};

struct fake_state {
    atomic_int is_ready;
    int gpu_count;
    uint64_t bytes;
    uint64_t context_bytes;
    uint64_t module_bytes;
    _Atomic int64_t busy_until[FAKE_GPUS];
    unsigned last_serial;
    struct fake_slice slices[FAKE_GPUS][FAKE_SLICES];
    struct fake_process processes[FAKE_PROCESSES];
};

/* The state, mapped at first need; NULL when FAKE_GPU_STATE is missing or wrong. */
struct fake_state *fake_state(void);

/* This process in the state. Made at first need, and again after a fork. */
struct fake_process *fake_self(void);

/* Takes memory; false when the GPU has not so much left. */
bool fake_take(int gpu, uint64_t bytes);
void fake_give(int gpu, uint64_t bytes);

/* The serial number in the UUID of a slice; 0: it is none. */
unsigned fake_serial(const char *uuid);

/* What all living processes hold. */
uint64_t fake_used(int gpu);

/* The sixteen bytes of a GPU's UUID. */
void fake_uuid(int gpu, unsigned char uuid[16]);

/* The result that a call has to answer: 0, or what FAKE_GPU_FAULT says. */
int fake_fault(const char *name);

int64_t fake_now_ns(void);
