/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct fake_state *_Atomic mapped;
static struct fake_process *_Atomic self;
static atomic_int self_pid;
static atomic_int lock_word;

static void lock(void)
{
    while (atomic_exchange(&lock_word, 1))
        sched_yield();
}

static void unlock(void)
{
    atomic_store(&lock_word, 0);
}

int64_t fake_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static struct fake_state *map_state(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    (void)flock(fd, LOCK_EX);
    struct stat status;
    bool is_sized = fstat(fd, &status) == 0 && (status.st_size >= (off_t)sizeof(struct fake_state) ||
                                                ftruncate(fd, (off_t)sizeof(struct fake_state)) == 0);
    void *memory =
        is_sized ? mmap(NULL, sizeof(struct fake_state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    struct fake_state *state = memory == MAP_FAILED ? NULL : memory;
    if (state && !atomic_load(&state->is_ready)) {
        state->gpu_count = (int)number("FAKE_GPU_COUNT", 1);
        state->bytes = number("FAKE_GPU_BYTES", UINT64_C(16) << 30);
        state->context_bytes = number("FAKE_GPU_CONTEXT_BYTES", 64 << 20);
        state->module_bytes = number("FAKE_GPU_MODULE_BYTES", 0);
        atomic_store(&state->is_ready, 1);
    }
    /* The mapping keeps the file open, and the lock with it. */
    (void)flock(fd, LOCK_UN);
    close(fd);
    return state;
}

struct fake_state *fake_state(void)
{
    struct fake_state *state = atomic_load(&mapped);
    const char *path = getenv("FAKE_GPU_STATE");
    if (state || !path)
        return state;
    lock();
    if (!atomic_load(&mapped))
        atomic_store(&mapped, map_state(path));
    unlock();
    return atomic_load(&mapped);
}

/* When the process began, and whether it lives: a number may be used again, and a dead child waits for its parent. */
static bool is_alive(int pid, uint64_t *ret_start)
{
    char path[64], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t len = read(fd, text, sizeof text - 1);
    close(fd);
    if (len <= 0)
        return false;
    text[len] = '\0';
    char *after = strrchr(text, ')');
    char state = after && strlen(after) > 2 ? after[2] : 'X';
    unsigned long long start = 0;
    char *at = after ? after + 2 : text;
    for (int field = 3; field < 22 && at; field++)
        at = strchr(at + 1, ' ');
    if (at)
        start = strtoull(at, NULL, 10);
    *ret_start = start;
    return state != 'Z' && state != 'X';
}

static void sweep(struct fake_state *state)
{
    for (int i = 0; i < FAKE_PROCESSES; i++) {
        struct fake_process *process = &state->processes[i];
        int pid = atomic_load(&process->pid);
        uint64_t start = 0;
        if (pid <= 0 || (is_alive(pid, &start) && start == atomic_load(&process->start)))
            continue;
        if (!atomic_compare_exchange_strong(&process->pid, &pid, -1))
            continue;
        for (int gpu = 0; gpu < FAKE_GPUS; gpu++) {
            atomic_store(&process->used[gpu], 0);
            atomic_store(&process->busy_ns[gpu], 0);
        }
        atomic_store(&process->pid, 0);
    }
}

/* As the node numbers it, as the real driver does: /proc may be of a namespace further out than ours. */
static int node_pid(void)
{
    char text[16] = "";
    ssize_t len = readlink("/proc/self", text, sizeof text - 1);
    return len > 0 ? (int)strtol(text, NULL, 10) : getpid();
}

unsigned fake_serial(const char *uuid)
{
    unsigned serial = 0;
    return uuid && sscanf(uuid, "MIG-%8x-", &serial) == 1 ? serial : 0;
}

static struct fake_process *enroll(struct fake_state *state)
{
    uint64_t start = 0;
    (void)is_alive(node_pid(), &start);
    sweep(state);
    for (int i = 0; i < FAKE_PROCESSES; i++) {
        int nobody = 0;
        if (!atomic_compare_exchange_strong(&state->processes[i].pid, &nobody, -1))
            continue;
        atomic_store(&state->processes[i].start, start);
        atomic_store(&state->processes[i].slice, fake_serial(getenv("CUDA_VISIBLE_DEVICES")));
        atomic_store(&state->processes[i].pid, node_pid());
        return &state->processes[i];
    }
    return NULL;
}

struct fake_process *fake_self(void)
{
    struct fake_state *state = fake_state();
    struct fake_process *process = atomic_load(&self);
    if (!state)
        return NULL;
    if (process && atomic_load(&self_pid) == getpid())
        return process;
    atomic_store(&lock_word, 0);
    lock();
    process = enroll(state);
    atomic_store(&self, process);
    atomic_store(&self_pid, getpid());
    unlock();
    return process;
}

uint64_t fake_used(int gpu)
{
    struct fake_state *state = fake_state();
    uint64_t sum = 0;
    if (!state)
        return 0;
    sweep(state);
    for (int i = 0; i < FAKE_PROCESSES; i++) {
        if (atomic_load(&state->processes[i].pid) > 0)
            sum += atomic_load(&state->processes[i].used[gpu]);
    }
    return sum;
}

bool fake_take(int gpu, uint64_t bytes)
{
    struct fake_process *process = fake_self();
    if (!process)
        return false;
    atomic_fetch_add(&process->used[gpu], bytes);
    if (bytes <= fake_state()->bytes && fake_used(gpu) <= fake_state()->bytes)
        return true;
    atomic_fetch_sub(&process->used[gpu], bytes);
    return false;
}

void fake_give(int gpu, uint64_t bytes)
{
    struct fake_process *process = fake_self();
    if (process)
        atomic_fetch_sub(&process->used[gpu], bytes);
}

void fake_uuid(int gpu, unsigned char uuid[16])
{
    static const unsigned char base[16] = {0xfa, 0x4e, 0x00, 0x01, 0x12, 0x34, 0x56, 0x78,
                                           0x9a, 0xbc, 0xde, 0xf0, 0x11, 0x22, 0x33, 0x00};
    memcpy(uuid, base, 16);
    uuid[15] = (unsigned char)gpu;
}

enum { FAULTS = 16 };

static struct {
    char name[64];
    int nth;
    int code;
    atomic_int calls;
} faults[FAULTS];
static atomic_int faults_read;

static void read_faults(void)
{
    const char *text = getenv("FAKE_GPU_FAULT");
    int count = 0;
    while (text && *text && count < FAULTS) {
        if (sscanf(text, "%63[^:]:%d:%d", faults[count].name, &faults[count].nth, &faults[count].code) == 3)
            count++;
        text = strchr(text, ',');
        text = text ? text + 1 : NULL;
    }
}

static void note_first(const char *name)
{
    static char seen[512][64];
    static int count;
    const char *path = getenv("FAKE_GPU_LOG");
    if (!path)
        return;
    lock();
    int i = 0;
    while (i < count && strcmp(seen[i], name) != 0)
        i++;
    if (i == count && count < 512) {
        (void)snprintf(seen[count++], sizeof *seen, "%s", name);
        FILE *file = fopen(path, "a");
        if (file) {
            (void)fprintf(file, "%s\n", name);
            (void)fclose(file);
        }
    }
    unlock();
}

static void be_slow(const char *name)
{
    const char *slow = getenv("FAKE_GPU_SLOW");
    size_t len = strlen(name);
    if (!slow || strncmp(slow, name, len) != 0 || slow[len] != ':')
        return;
    long ms = strtol(slow + len + 1, NULL, 10);
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

int fake_fault(const char *name)
{
    note_first(name);
    be_slow(name);
    if (!getenv("FAKE_GPU_FAULT"))
        return 0;
    lock();
    if (!atomic_exchange(&faults_read, 1))
        read_faults();
    unlock();
    for (int i = 0; i < FAULTS; i++) {
        if (faults[i].nth && strcmp(faults[i].name, name) == 0)
            return atomic_fetch_add(&faults[i].calls, 1) + 1 >= faults[i].nth ? faults[i].code : 0;
    }
    return 0;
}
