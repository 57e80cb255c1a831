/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A tenant for the tests of the daemon: tenant MODE SOCKET [NUMBER...]. Says on standard output what happened, a line
 * each, and ends with 0 unless the daemon did what it must not.
 *
 *     hold BYTES            reserves, says "held N" or "denied", and stays
 *     churn SEED SECONDS    reserves and releases at random, comes back when the daemon restarts, and stays
 *     work KERNEL_US SECONDS GPU_FILE [ON_MS OFF_MS]   kernels under leases, on a GPU that is a file for all
 *     rude KIND             garbage, huge, flood, mute, forge, never-drains
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

static int fail(const char *what)
{
    printf("fail %s: %s\n", what, strerror(errno));
    return 1;
}

static void stay(void)
{
    (void)fflush(stdout);
    for (;;)
        (void)pause();
}

static int hold(const char *path, uint64_t bytes)
{
    struct client c;

    if (!client_connect(&c, path) || !client_hello(&c, false, 0))
        return fail("hello");
    uint64_t start = client_now();
    bool is_held = client_reserve(&c, GPU_KIND_PLAIN, bytes, NULL);
    printf("%s %llu after %llu us\n", is_held ? "held" : "denied", (unsigned long long)bytes,
           (unsigned long long)(client_now() - start) / 1000);
    stay();
    return 0;
}

/* What a library does: credit first, a message when there is none. */
static bool take(struct client *c, uint64_t bytes)
{
    return gpu_credit_take(&c->page->gpus[0], bytes) || client_reserve(c, GPU_KIND_PLAIN, bytes, NULL);
}

static void give(struct client *c, uint64_t bytes)
{
    uint64_t max = atomic_load(&c->control->gpus[0].credit_max_bytes);

    gpu_credit_give(&c->page->gpus[0], bytes);
    while (atomic_load(&c->page->gpus[0].credit_bytes) > max && gpu_credit_take(&c->page->gpus[0], max / 2))
        client_release(c, GPU_KIND_PLAIN, max / 2);
}

static bool come_back(struct client *c, uint64_t used)
{
    uint64_t session = c->session;
    const char *path = c->path;

    client_close(c);
    /* A daemon that is about to end may still take a connection. */
    for (int i = 0; i < 200; i++) {
        if (client_connect(c, path)) {
            c->session = session;
            if (client_hello(c, true, used))
                return true;
            client_close(c);
        }
        (void)usleep(20000);
    }
    return false;
}

static bool is_gone(const struct client *c)
{
    struct pollfd end = {.fd = c->fd, .events = POLLIN};

    return poll(&end, 1, 0) == 1 && (end.revents & (POLLHUP | POLLERR));
}

static int churn(const char *path, unsigned seed, double seconds)
{
    struct client c;
    uint64_t end;
    uint64_t used = 0;
    uint64_t steps = 0;
    uint64_t returns = 0;

    if (!client_connect(&c, path) || !client_hello(&c, false, 0))
        return fail("hello");
    end = client_now() + (uint64_t)(seconds * 1e9);
    while (client_now() < end) {
        uint64_t bytes = (uint64_t)(rand_r(&seed) % 64 + 1) << 20;

        if (is_gone(&c)) {
            if (!come_back(&c, used))
                return fail("coming back");
            returns++;
        }
        if (rand_r(&seed) % 2 && take(&c, bytes))
            used += bytes;
        else if (used >= bytes) {
            used -= bytes;
            give(&c, bytes);
        }
        steps++;
        if (steps % 64 == 0)
            (void)usleep(1000);
    }
    printf("used %llu steps %llu returns %llu\n", (unsigned long long)used, (unsigned long long)steps,
           (unsigned long long)returns);
    (void)fflush(stdout);
    /* Stays, and comes back, so that the ledger can be compared with this line. */
    for (;;) {
        if (is_gone(&c) && !come_back(&c, used))
            return fail("coming back");
        (void)usleep(10000);
    }
}

/* The GPU: who uses it, and how often two did at once. */
struct fake_gpu {
    _Atomic int32_t user;
    _Atomic uint32_t clashes;
};

struct worker {
    struct client c;
    struct fake_gpu *gpu;
    uint64_t kernel_ns;
    uint64_t lease_start;  // 0: nothing launched under this word
    uint64_t done_ns;
    uint64_t longest_wait;
    uint64_t backlog;  // the most that was allowed when it launched
};

static void note_backlog(struct worker *w)
{
    uint64_t allowed = atomic_load(&w->c.control->gpus[0].backlog_ns);

    w->backlog = allowed > w->backlog ? allowed : w->backlog;
}

/* A kernel: the GPU is ours for so long. One that was late has done no more than its length. */
static void run_kernel(struct worker *w)
{
    struct timespec until;
    uint64_t end = client_now() + w->kernel_ns;
    int32_t nobody = 0;

    if (!atomic_compare_exchange_strong(&w->gpu->user, &nobody, getpid()))
        atomic_fetch_add(&w->gpu->clashes, 1);
    until.tv_sec = (time_t)(end / 1000000000u);
    until.tv_nsec = (long)(end % 1000000000u);
    if (w->kernel_ns > 200000)
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    while (client_now() < end)
        ;
    w->done_ns += client_now() - end + w->kernel_ns;
    nobody = getpid();
    (void)atomic_compare_exchange_strong(&w->gpu->user, &nobody, 0);
    atomic_fetch_add(&w->c.page->gpus[0].launches, 1);
}

static void say(struct worker *w, enum gpu_message_type type, uint32_t word, bool has_more)
{
    uint64_t busy = w->lease_start ? client_now() - w->lease_start : 0;

    w->lease_start = 0;
    w->c.allowed = GPU_GATE_NEVER;
    (void)client_send(
        w->c.events,
        &(struct gpu_message){.type = type,
                              .lease = {.word = word, .flags = has_more ? GPU_DRAINED_HAS_MORE : 0, .busy_ns = busy}});
}

/* Between two kernels: has the lease ended? */
static bool answer_events(struct worker *w, bool has_more)
{
    struct gpu_message message;
    struct pollfd wait = {.fd = w->c.events, .events = POLLIN};

    while (poll(&wait, 1, 0) == 1) {
        if (!client_receive(w->c.events, &message, 0))
            return false;
        if (message.type == GPU_DRAIN)
            say(w, GPU_DRAINED, message.lease.word, has_more);
    }
    return true;
}

static int work(const char *path, uint64_t kernel_us, double seconds, const char *gpu_file, uint64_t on_ms,
                uint64_t off_ms)
{
    struct worker w = {.kernel_ns = kernel_us * 1000};
    int fd = open(gpu_file, O_RDWR | O_CREAT, 0600);

    if (fd < 0 || ftruncate(fd, sizeof *w.gpu) < 0)
        return fail(gpu_file);
    w.gpu = mmap(NULL, sizeof *w.gpu, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (w.gpu == MAP_FAILED || !client_connect(&w.c, path) || !client_hello(&w.c, false, 0))
        return fail("hello");
    printf("ready\n");
    (void)fflush(stdout);
    uint64_t begin = client_now();
    uint64_t end = begin + (uint64_t)(seconds * 1e9);
    for (uint64_t now = begin; now < end; now = client_now()) {
        uint64_t phase = on_ms ? (now - begin) / 1000000 % (on_ms + off_ms) : 0;

        if (on_ms && phase >= on_ms) {
            if (w.c.allowed != GPU_GATE_NEVER) {
                w.c.yielded = w.c.allowed;
                say(&w, GPU_YIELD, w.c.yielded, false);
            }
            if (!answer_events(&w, false))
                return fail("events");
            (void)usleep(500);
            continue;
        }
        if (!answer_events(&w, true))
            return fail("events");
        if (!gpu_gate_passes(&w.c.control->gpus[0], &w.c.allowed)) {
            /* The gate is closed and what ran has ended: the message that says so is on its way. */
            if (w.c.allowed != GPU_GATE_NEVER) {
                (void)usleep(20);
                continue;
            }
            uint64_t start = client_now();
            if (!client_enter(&w.c))
                return fail("the gate");
            uint64_t waited = client_now() - start;
            w.longest_wait = waited > w.longest_wait ? waited : w.longest_wait;
            w.lease_start = client_now();
        }
        note_backlog(&w);
        run_kernel(&w);
    }
    printf("worked %llu of %llu us, clashes %u, longest wait %llu us, backlog %llu us\n",
           (unsigned long long)w.done_ns / 1000, (unsigned long long)(client_now() - begin) / 1000,
           atomic_load(&w.gpu->clashes), (unsigned long long)w.longest_wait / 1000,
           (unsigned long long)w.backlog / 1000);
    return 0;
}

static int rude(const char *path, const char *kind)
{
    struct client c;
    uint8_t bytes[256];

    if (!client_connect(&c, path))
        return fail("connect");
    memset(bytes, 0xa5, sizeof bytes);
    if (strcmp(kind, "mute") == 0) {
        stay();
    } else if (strcmp(kind, "garbage") == 0) {
        (void)send(c.fd, bytes, sizeof bytes, MSG_NOSIGNAL);
        printf("%s\n", recv(c.fd, bytes, sizeof bytes, 0) <= 0 ? "closed" : "answered");
        return 0;
    }
    if (!client_hello(&c, false, 0))
        return fail("hello");
    if (strcmp(kind, "huge") == 0) {
        bool is_granted = client_reserve(&c, GPU_KIND_PLAIN, GPU_BYTES_MAX, NULL);

        atomic_store(&c.page->gpus[0].credit_bytes, UINT64_MAX);
        is_granted |= client_reserve(&c, GPU_KIND_PLAIN, GPU_BYTES_MAX - 1, NULL);
        client_release(&c, GPU_KIND_PLAIN, GPU_BYTES_MAX);
        client_release(&c, GPU_KIND_CONTEXT, GPU_BYTES_MAX);
        printf("%s\n", is_granted ? "granted" : "denied");
    } else if (strcmp(kind, "flood") == 0) {
        struct gpu_message message = {.type = GPU_RELEASE, .memory = {.bytes = 1}};

        printf("flooding\n");
        (void)fflush(stdout);
        for (;;) {
            if (!client_send(c.fd, &message))
                return 0;
        }
    } else if (strcmp(kind, "forge") == 0) {
        for (uint32_t i = 0; i < 2000; i++) {
            struct gpu_message message = {.type = i % 3 == 0   ? GPU_YIELD
                                                  : i % 3 == 1 ? GPU_DRAINED
                                                               : GPU_ASK,
                                          .lease = {.word = i * 2654435761u}};

            if (message.type != GPU_ASK)
                message.lease.busy_ns = GPU_BUSY_MAX_NS;
            atomic_store(&c.page->gpus[0].active_word, i);
            if (!client_send(c.events, &message))
                break;
        }
        void *writable = mmap(NULL, sizeof *c.control, PROT_READ | PROT_WRITE, MAP_SHARED, c.fd, 0);
        printf("%s\n", writable == MAP_FAILED ? "sealed" : "writable");
    } else if (strcmp(kind, "never-drains") == 0) {
        printf("%s\n", client_enter(&c) ? "entered" : "kept out");
    }
    stay();
    return 0;
}

static double number(char **argv, int argc, int at)
{
    return at < argc ? atof(argv[at]) : 0;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    if (strcmp(argv[1], "hold") == 0)
        return hold(argv[2], strtoull(argv[3], NULL, 10));
    if (strcmp(argv[1], "churn") == 0)
        return churn(argv[2], (unsigned)number(argv, argc, 3), number(argv, argc, 4));
    if (strcmp(argv[1], "work") == 0 && argc >= 6)
        return work(argv[2], (uint64_t)number(argv, argc, 3), number(argv, argc, 4), argv[5],
                    (uint64_t)number(argv, argc, 6), (uint64_t)number(argv, argc, 7));
    if (strcmp(argv[1], "rude") == 0)
        return rude(argv[2], argv[3]);
    return 2;
}
