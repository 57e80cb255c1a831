/* SPDX-License-Identifier: Apache-2.0 */
/* How programs come by the driver's functions, and what becomes of them in threads and children. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"

static const struct {
    const char *name;
    bool is_nvml;
} rows[] = {
#define X(name, handler) {#name, false},
    CUDA_HOOKS(X)
#undef X
#define X(name, handler) {#name, true},
        NVML_HOOKS(X)
#undef X
};

/* Whether a function lies in our library. */
static bool is_ours(void *function)
{
    Dl_info info;
    return function && dladdr(function, &info) && strstr(info.dli_fname, "libmuster-gpu");
}

static void names(void)
{
    int wrong = 0, missing = 0;
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *function = dlsym(rows[i].is_nvml ? nvml_library() : cuda_library(), rows[i].name);
        if (!function) {
            printf("# this driver has no %s\n", rows[i].name);
            missing++;
        } else if (!is_ours(function)) {
            printf("# %s is the driver's\n", rows[i].name);
            wrong++;
        }
    }
    check_equal((uint64_t)wrong, 0, "every hooked name is found as ours, %zu of them", sizeof rows / sizeof *rows);
    check(is_real() || missing == 0, "the pretended driver has all of them");
    check(!is_ours(cuda("cuGetExportTable")), "the driver's private tables are its own");
    check(!is_ours(cuda("cuDeviceGetCount")), "what is not hooked is the driver's own");
}

/* The name without its version and ending. */
static void stem_of(const char *name, char *stem, size_t size)
{
    (void)snprintf(stem, size, "%s", name);
    size_t len = strlen(stem);
    if (len > 5 && strcmp(stem + len - 5, "_ptsz") == 0)
        stem[len -= 5] = '\0';
    if (len > 3 && stem[len - 3] == '_' && stem[len - 2] == 'v')
        stem[len - 3] = '\0';
}

/* Each name in each version with each flag, by both interfaces of the driver's own lookup. */
static void lookups(void)
{
    static const int versions[] = {2000, 3020, 10000, 11000, 11030, 11040, 12000, 12050, 12090, 13000};
    int wrong = 0, found = 0;
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char stem[64];
        stem_of(rows[i].name, stem, sizeof stem);
        for (size_t v = 0; !rows[i].is_nvml && v < sizeof versions / sizeof *versions; v++) {
            for (uint64_t flags = 0; flags < 3; flags++) {
                void *first = NULL, *second = NULL;
                int status = -1;
                (void)CALL(cuGetProcAddress, get_proc)(stem, &first, versions[v], flags);
                (void)CALL(cuGetProcAddress_v2, get_proc_v2)(stem, &second, versions[v], flags, &status);
                if (first != second || (first != NULL) != (status == CU_PROC_FOUND) || (first && !is_ours(first))) {
                    printf("# %s %d %d: %p %p %d\n", stem, versions[v], (int)flags, first, second, status);
                    wrong++;
                }
                found += first != NULL;
            }
        }
    }
    check_equal((uint64_t)wrong, 0, "the driver's lookup gives ours in every version, %d answers", found);
    void *self = NULL;
    (void)CALL(cuGetProcAddress_v2, get_proc_v2)("cuGetProcAddress", &self, 11030, 0, NULL);
    check(self == cuda("cuGetProcAddress"), "the lookup finds itself with four arguments for old runtimes");
    (void)CALL(cuGetProcAddress_v2, get_proc_v2)("cuGetProcAddress", &self, 12000, 0, NULL);
    check(self == cuda("cuGetProcAddress_v2"), "and with five for new ones");
    int status = 77;
    check(CALL(cuGetProcAddress_v2, get_proc_v2)("cuNoSuchThing", &self, 13000, 0, &status) == CU_SUCCESS && !self &&
              status == CU_PROC_SYMBOL_NOT_FOUND,
          "what the driver does not have is not found");
}

static void ways_in(void)
{
    const char *path = getenv("TEST_CUDA") ? getenv("TEST_CUDA") : "libcuda.so.1";
    void *deep = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    check(deep && is_ours(dlsym(deep, "cuMemAlloc_v2")), "RTLD_DEEPBIND does not get around the library");
    void *again = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
    check(again == deep, "the library is loaded once");
    check(is_ours(dlsym(RTLD_DEFAULT, "cuMemAlloc_v2")), "RTLD_DEFAULT does not get around the library");
    void *next = dlsym(RTLD_NEXT, "cuMemAlloc_v2");
    check(!next || is_ours(next), "RTLD_NEXT does not get around the library");
    check(dlsym(RTLD_NEXT, "malloc") != NULL, "RTLD_NEXT still finds what has nothing to do with GPUs");
    check(dlsym(RTLD_DEFAULT, "no_such_function_anywhere") == NULL, "what is nowhere is not found");
    void *(*again_dlsym)(void *, const char *) = (void *(*)(void *, const char *))dlsym(RTLD_DEFAULT, "dlsym");
    check(again_dlsym && is_ours(again_dlsym(deep, "cuLaunchKernel")), "nor does a dlsym that was found by dlsym");
}

enum { THREADS = 8, ROUNDS = 300 };

static void *hammer(void *seed_at)
{
    unsigned seed = *(unsigned *)seed_at;
    uint64_t keys[16] = {0};
    (void)primary();
    for (int i = 0; i < ROUNDS; i++) {
        unsigned at = (unsigned)rand_r(&seed) % 16;
        if (keys[at]) {
            (void)CALL(cuMemFree_v2, mem_free)(keys[at]);
            keys[at] = 0;
        } else if (CALL(cuMemAlloc_v2, mem_alloc)(&keys[at], (uint64_t)(rand_r(&seed) % (8 << 20)) + 1) != CU_SUCCESS) {
            keys[at] = 0;
        }
    }
    for (int i = 0; i < 16; i++) {
        if (keys[i])
            (void)CALL(cuMemFree_v2, mem_free)(keys[i]);
    }
    return NULL;
}

/* The highest descriptor that is open. */
static int highest_descriptor(void)
{
    int highest = -1;
    for (int fd = 0; fd < 1024; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            highest = fd;
    }
    return highest;
}

static void *crowded_pool;

/* Memory of a pool that has room for some of the threads. */
static void *hammer_pool(void *unused)
{
    (void)primary();
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t address = 0;
        if (CALL(cuMemAllocFromPoolAsync, pool_alloc_from)(&address, 20 * MIB, crowded_pool, NULL) == CU_SUCCESS)
            (void)CALL(cuMemFreeAsync, pool_free)(address, NULL);
        if (i % 8 == 0)
            (void)CALL(cuMemPoolTrimTo, pool_trim)(crowded_pool, 0);
    }
    return unused;
}

/* Each may find that another has grown the pool up to the limit. */
static void crowd(uint64_t free_bytes)
{
    struct cu_pool_props props = {.allocation_type = CU_ALLOCATION_PINNED, .location = {CU_LOCATION_DEVICE, 0}};
    pthread_t all[THREADS];
    uint64_t rest = 0;
    check(CALL(cuMemPoolCreate, pool_create)(&crowded_pool, &props) == CU_SUCCESS &&
              CALL(cuMemAlloc_v2, mem_alloc)(&rest, free_bytes - 100 * MIB) == CU_SUCCESS,
          "a pool is left with little room");
    for (int i = 0; i < THREADS; i++)
        pthread_create(&all[i], NULL, hammer_pool, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
    check(CALL(cuMemPoolDestroy, pool_destroy)(crowded_pool) == CU_SUCCESS &&
              CALL(cuMemFree_v2, mem_free)(rest) == CU_SUCCESS,
          "it goes");
    check_equal(told_free(), free_bytes, "eight threads that crowd a pool leave nothing charged");
}

static void threads(void)
{
    pthread_t all[THREADS];
    unsigned seeds[THREADS];
    begin();
    uint64_t before = told_free();
    for (unsigned i = 0; i < THREADS; i++) {
        seeds[i] = i + 1;
        pthread_create(&all[i], NULL, hammer, &seeds[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
    check_equal(told_free(), before, "eight threads at once leave nothing charged");
    crowd(before);
    check(is_real() || highest_descriptor() < 64, "and the table of descriptors did not have to grow");
}

/* Runs `work` in a child; true when it says so. */
static bool in_child(bool (*work)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(work() ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool child_uses(void)
{
    uint64_t address = 0;
    cu_result (*init)(unsigned) = (cu_result(*)(unsigned))cuda("cuInit");
    return init(0) == CU_SUCCESS && primary() && CALL(cuMemAlloc_v2, mem_alloc)(&address, 64 * MIB) == CU_SUCCESS &&
           told_total() == strtoull(getenv("TEST_LIMIT"), NULL, 10);
}

/* The real driver writes a zero there, with us and without. */
static bool child_cannot(void)
{
    uint64_t address = 7;
    return CALL(cuMemAlloc_v2, mem_alloc)(&address, 64 * MIB) == CU_NOT_INITIALIZED && (is_real() || address == 7);
}

static bool child_execs(void)
{
    (void)execl("/proc/self/exe", "gpu-tenant", "small", (char *)NULL);
    return false;
}

static bool child_of_child(void)
{
    return in_child(child_uses) && child_uses();
}

static void small(void)
{
    uint64_t address = 0;
    begin();
    exit(CALL(cuMemAlloc_v2, mem_alloc)(&address, 64 * MIB) == CU_SUCCESS ? 0 : 1);
}

static void forks(void)
{
    (void)cuda_library();
    check(in_child(child_uses), "a child of a program that has not begun uses the GPU by itself");
    check(in_child(child_of_child), "so does its child");
    begin();
    uint64_t before = told_free(), address = 0;
    check(CALL(cuMemAlloc_v2, mem_alloc)(&address, 64 * MIB) == CU_SUCCESS, "the parent takes memory");
    check(in_child(child_cannot), "a child of a program that has begun is told so by the driver");
    check_equal(told_free(), before - 64 * MIB, "the child changes nothing of the parent's");
    check(in_child(child_execs), "a child that runs a new program begins anew");
    /* The daemon hears of its end when the kernel closes its socket, a moment later. */
    struct timespec moment = {0, 10000000};
    for (int i = 0; i < 10 && told_free() != before - 64 * MIB; i++)
        nanosleep(&moment, NULL);
    check_equal(told_free(), before - 64 * MIB, "and gives everything back within 100 ms of its end");
    pid_t pid = vfork();
    if (pid == 0) {
        (void)execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    (void)waitpid(pid, NULL, 0);
    check(CALL(cuMemFree_v2, mem_free)(address) == CU_SUCCESS, "the parent goes on after vfork()");
    check_equal(told_free(), before, "and its account is right");
}

/* In a child of a program whose threads were anywhere in the library: the driver is of no use here, NVML is. */
static bool child_of_threads(void)
{
    struct nvml_memory memory = {0};
    nvml_result (*start)(void) = (nvml_result(*)(void))nvml("nvmlInit_v2");
    void *device = NULL;
    alarm(30);
    return child_cannot() && start() == NVML_SUCCESS &&
           ((nvml_by_index_fn *)nvml("nvmlDeviceGetHandleByIndex_v2"))(0, &device) == NVML_SUCCESS &&
           ((nvml_memory_fn *)nvml("nvmlDeviceGetMemoryInfo"))(device, &memory) == NVML_SUCCESS &&
           memory.total == strtoull(getenv("TEST_LIMIT"), NULL, 10);
}

static void forks_of_threads(void)
{
    enum { CHILDREN = 20 };
    pthread_t all[THREADS];
    unsigned seeds[THREADS];
    int fine = 0;
    begin();
    (void)nvml_library();
    uint64_t before = told_free();
    for (unsigned i = 0; i < THREADS; i++) {
        seeds[i] = i + 1;
        pthread_create(&all[i], NULL, hammer, &seeds[i]);
    }
    for (int i = 0; i < CHILDREN; i++)
        fine += in_child(child_of_threads);
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
    check_equal((uint64_t)fine, CHILDREN, "children of a program whose threads take memory find the library in order");
    check_equal(told_free(), before, "and the parent's account is right");
}

/* What belongs to the whole process, not to one of its libraries. */
struct host {
    void *handlers[65];
    int flags[65];
    bool is_blocked[65];
    mode_t umask;
    struct rlimit files, memory;
    struct itimerval timer;
    char folder[4096], locale[64], name[16];
    size_t environment;
    uint64_t environment_sum;
};

static void look_at_host(struct host *host)
{
    struct sigaction action;
    sigset_t mask;
    (void)sigprocmask(SIG_BLOCK, NULL, &mask);
    for (int i = 1; i <= 64; i++) {
        if (sigaction(i, NULL, &action) != 0)
            continue;
        host->handlers[i] = (void *)action.sa_handler;
        host->flags[i] = action.sa_flags;
        host->is_blocked[i] = sigismember(&mask, i) == 1;
    }
    host->umask = umask(022);
    (void)umask(host->umask);
    (void)getrlimit(RLIMIT_NOFILE, &host->files);
    (void)getrlimit(RLIMIT_AS, &host->memory);
    (void)getitimer(ITIMER_REAL, &host->timer);
    (void)!getcwd(host->folder, sizeof host->folder);
    (void)snprintf(host->locale, sizeof host->locale, "%s", setlocale(LC_ALL, NULL));
    (void)prctl(PR_GET_NAME, host->name);
    for (; environ[host->environment]; host->environment++) {
        for (const char *at = environ[host->environment]; *at; at++)
            host->environment_sum = host->environment_sum * 31 + (unsigned char)*at;
    }
}

static void untouched(void)
{
    uint64_t address = 7;
    bool is_open[256];
    static struct host before, after;
    look_at_host(&before);
    for (int fd = 0; fd < 256; fd++)
        is_open[fd] = fcntl(fd, F_GETFD) >= 0;
    begin();
    (void)CALL(cuMemAlloc_v2, mem_alloc)(&address, 64 * MIB);
    (void)CALL(cuLaunchKernel, launch_kernel)(spin_function(), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    look_at_host(&after);
    check(memcmp(&before, &after, sizeof before) == 0,
          "signals, mask, umask, limits, timers, folder, locale, name and environment are as they were");
    int leaks = 0;
    for (int fd = 0; fd < 256; fd++) {
        int flags = fcntl(fd, F_GETFD);
        leaks += !is_open[fd] && flags >= 0 && !(flags & FD_CLOEXEC);
    }
    check_equal((uint64_t)leaks, 0, "no descriptor of ours goes on to a program that is started");
    errno = 4711;
    check(CALL(cuMemAlloc_v2, mem_alloc)(&address, UINT64_C(1) << 40) == CU_OUT_OF_MEMORY && errno == 4711,
          "errno is the program's own");
}

/* Takes memory and waits to be killed. */
static void hold(void)
{
    uint64_t address = 0;
    begin();
    for (int i = 0; i < 4; i++)
        (void)CALL(cuMemAlloc_v2, mem_alloc)(&address, 3 * MIB);
    for (;;)
        (void)hammer(&(unsigned){(unsigned)getpid()});
}

/* Whether now is one of the spans in which it asks: every other one of TEST_TURN_MS by the monotonic clock, or always. */
static bool is_turn(const struct timespec *now)
{
    const char *turn_ms = getenv("TEST_TURN_MS");
    return !turn_ms || ((int64_t)now->tv_sec * 1000 + now->tv_nsec / 1000000) / strtol(turn_ms, NULL, 10) % 2 == 0;
}

/* Takes pieces of TEST_PIECE bytes until one is refused, TEST_PIECES of them at most, goes on asking for TEST_SECONDS, and
 * keeps what it has until its standard input ends. */
static void greedy(void)
{
    uint64_t piece = strtoull(getenv("TEST_PIECE"), NULL, 10), pieces = strtoull(getenv("TEST_PIECES"), NULL, 10);
    uint64_t held = 0, refused = 0, address = 0;
    struct timespec now, pause = {0, 200000};
    char byte;
    begin();
    for (; held < pieces && CALL(cuMemAlloc_v2, mem_alloc)(&address, piece) == CU_SUCCESS; held++)
        nanosleep(&pause, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (time_t end = now.tv_sec + strtol(getenv("TEST_SECONDS"), NULL, 10); now.tv_sec < end;) {
        if (is_turn(&now) && CALL(cuMemAlloc_v2, mem_alloc)(&address, piece) == CU_SUCCESS)
            held++;
        else
            refused += is_turn(&now);
        nanosleep(&pause, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    printf("# held %llu refused %llu\n", (unsigned long long)(held * piece), (unsigned long long)refused);
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
}

/* How long it takes until a context stands, and what of that is ours: the first question to the daemon. */
static void start(void)
{
    struct timespec from, to, pause = {3, 0};
    clock_gettime(CLOCK_MONOTONIC, &from);
    begin();
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("# began in %.3f ms\n", (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6);
    fflush(stdout);
    nanosleep(&pause, NULL);
}

/* Something happens to the daemon, by the test, which reads this. */
static void have(const char *what)
{
    char line[64];
    printf("# %s\n", what);
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        exit(1);
}

/* A limit that is raised reaches what was made before. */
static void raised(void)
{
    struct cu_pool_props props = {.allocation_type = CU_ALLOCATION_PINNED, .location = {CU_LOCATION_DEVICE, 0}};
    void *pool = NULL;
    uint64_t address = 0, plain = 0;
    begin();
    uint64_t before = told_free(), total = told_total();
    (void)CALL(cuMemPoolCreate, pool_create)(&pool, &props);
    check(CALL(cuMemAllocFromPoolAsync, pool_alloc_from)(&address, total, pool, NULL) == CU_OUT_OF_MEMORY,
          "a pool is held to the limit");
    have("raise");
    check_equal(told_total(), 2 * total, "the limit is raised");
    check(CALL(cuMemAllocFromPoolAsync, pool_alloc_from)(&address, total, pool, NULL) == CU_SUCCESS,
          "it may grow beyond the old limit");
    check_equal(told_free(), before, "and is charged for it");
    check(CALL(cuMemAllocFromPoolAsync, pool_alloc_from)(&plain, total, pool, NULL) == CU_OUT_OF_MEMORY,
          "it is held to the new one");
    check(CALL(cuMemFreeAsync, pool_free)(address, NULL) == CU_SUCCESS &&
              CALL(cuMemPoolDestroy, pool_destroy)(pool) == CU_SUCCESS,
          "it goes");
    check_equal(told_free(), before + total, "with all that it had");
}

/* A daemon that is there and does nothing: who gives memory back is not to hang on its full socket. */
static void hung(void)
{
    enum { PIECES = 600 };
    static uint64_t pieces[PIECES];
    int freed = 0;
    begin();
    uint64_t before = told_free();
    for (int i = 0; i < PIECES; i++)
        (void)CALL(cuMemAlloc_v2, mem_alloc)(&pieces[i], MIB / 2);
    have("freeze");
    for (int i = 0; i < PIECES; i++)
        freed += CALL(cuMemFree_v2, mem_free)(pieces[i]) == CU_SUCCESS;
    check_equal((uint64_t)freed, PIECES, "all memory is freed while nobody listens");
    have("thaw");
    struct timespec pause = {2, 0};
    nanosleep(&pause, NULL);
    check_equal(told_free(), before, "the daemon hears of it when it listens again");
}

/* The daemon goes away and comes back in the middle. */
static void outage(void)
{
    uint64_t address = 0, more = 0;
    void *pinned[2] = {NULL};
    begin();
    uint64_t before = told_free();
    check(CALL(cuMemAlloc_v2, mem_alloc)(&address, 64 * MIB) == CU_SUCCESS,
          "memory is taken while the daemon is there");
    for (int i = 0; i < 2; i++)
        check(CALL(cuMemHostAlloc, pinned_alloc)(&pinned[i], MIB, 0) == CU_SUCCESS, "memory of the host is pinned");
    have("stop");
    check_equal((uint64_t)CALL(cuMemAlloc_v2, mem_alloc)(&more, 64 * MIB), CU_OUT_OF_MEMORY,
                "nothing more is granted while it is away");
    unsigned us = 1;
    void *params[] = {&us};
    check(CALL(cuLaunchKernel, launch_kernel)(spin_function(), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL) == CU_SUCCESS,
          "kernels run while it is away");
    check_equal(told_total(), strtoull(getenv("TEST_LIMIT"), NULL, 10), "the limit is still known");
    have("start");
    struct timespec pause = {1, 500000000};
    nanosleep(&pause, NULL);
    check(CALL(cuMemAlloc_v2, mem_alloc)(&more, 64 * MIB) == CU_SUCCESS, "memory is granted again when it is back");
    check_equal(told_free(), before - 128 * MIB, "and what was held before is known to it");
    check(CALL(cuMemFreeHost, pinned_end)(pinned[0]) == CU_SUCCESS, "a part of what is pinned goes");
}

/* A program that has no more use for the driver. A thread of ours is in the library. */
static void unloaded(void)
{
    struct timespec pause = {0, 500000000};
    begin();
    check(dlclose(cuda_library()) == 0, "the library is closed");
    nanosleep(&pause, NULL);
    check(true, "and the program goes on");
}

const struct test_case process_cases[] = {
    {"names", names},       {"lookups", lookups}, {"ways_in", ways_in},     {"threads", threads},
    {"forks", forks},       {"small", small},     {"hold", hold},           {"start", start},
    {"outage", outage},     {"greedy", greedy},   {"untouched", untouched}, {"forks_of_threads", forks_of_threads},
    {"unloaded", unloaded}, {"raised", raised},   {"hung", hung},           {NULL, NULL},
};
