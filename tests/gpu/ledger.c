/* SPDX-License-Identifier: Apache-2.0 */
/* A daemon that knows one number: gpu-ledger SOCKET LIMIT_BYTES CONTEXT_BYTES UUID_HEX [CREDIT_BYTES [parkable]]
 *
 * It speaks the tenants' protocol with one group of one GPU, grants up to the limit and lets every launch pass. The tests
 * of the tenant library use it where the real daemon's doings would only disturb, and where that cannot be built. On
 * SIGTERM it says what was left. On SIGUSR1 it prints what is held now. On SIGUSR2 the limit is twice as high. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "gpu/protocol/message.h"
#include "gpu/protocol/pages.h"

enum { TENANTS = 512 };

static struct tenant {
    int fd;
    int events;
    uint64_t plain, context;
    struct gpu_tenant_page *page;
} tenants[TENANTS];

static uint64_t limit, context_bytes, credit_bytes, launches, traffic, pinned;
static unsigned long denied, attached, returned, unhooked, grown;
static bool is_parkable;
static int control_fd;
static struct gpu_control_page *control;
static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static uint64_t held(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < TENANTS; i++)
        sum += tenants[i].plain + tenants[i].context;
    return sum;
}

static void count_page(const struct tenant *tenant)
{
    launches += atomic_load(&tenant->page->gpus[0].launches);
    traffic += atomic_load(&tenant->page->gpus[0].traffic_bytes);
    pinned += atomic_load(&tenant->page->gpus[0].pinned_bytes);
}

static void print_held(void)
{
    int count = 0;
    uint64_t credit = 0;
    for (int i = 0; i < TENANTS; i++) {
        count += tenants[i].fd > 0;
        if (tenants[i].fd > 0)
            credit += atomic_load(&tenants[i].page->gpus[0].credit_bytes);
    }
    printf("held %llu credit %llu tenants %d denied %lu attached %lu returned %lu unhooked %lu grown %lu launches %llu "
           "traffic %llu pinned %llu\n",
           (unsigned long long)held(), (unsigned long long)credit, count, denied, attached, returned, unhooked, grown,
           (unsigned long long)launches, (unsigned long long)traffic, (unsigned long long)pinned);
    fflush(stdout);
}

static int memory_file(size_t size)
{
    int fd = memfd_create("gpu-ledger", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
        fail("memfd");
    return fd;
}

static void make_control(const char *uuid)
{
    control_fd = memory_file(sizeof(struct gpu_control_page));
    struct gpu_control_page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, control_fd, 0);
    if (page == MAP_FAILED)
        fail("mmap");
    control = page;
    page->magic = GPU_CONTROL_MAGIC;
    page->version = GPU_PROTOCOL_VERSION;
    page->gpu_count = 1;
    atomic_store(&page->gpus[0].word, GPU_GATE_GENERATION | GPU_GATE_FREE);
    atomic_store(&page->gpus[0].limit_bytes, limit);
    atomic_store(&page->gpus[0].request_bytes, limit);
    atomic_store(&page->gpus[0].credit_max_bytes, 2 * credit_bytes);
    for (int i = 0; i < 16; i++) {
        char digits[3] = {uuid[2 * i], uuid[2 * i + 1], '\0'};
        page->gpus[0].uuid[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
}

static void answer(int fd, const struct gpu_message *message)
{
    uint8_t bytes[GPU_MESSAGE_SIZE];
    gpu_message_encode(message, bytes);
    (void)!send(fd, bytes, sizeof bytes, MSG_NOSIGNAL);
}

static void welcome(struct tenant *tenant, uint32_t sequence)
{
    int pair[2], page_fd = memory_file(sizeof(struct gpu_tenant_page));
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        fail("socketpair");
    tenant->page = mmap(NULL, sizeof *tenant->page, PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
    if (tenant->page == MAP_FAILED)
        fail("mmap");
    tenant->events = pair[0];
    struct gpu_message message = {.type = GPU_WELCOME, .sequence = sequence};
    message.welcome.gpu_count = 1;
    message.welcome.control_bytes = sizeof(struct gpu_control_page);
    message.welcome.tenant_bytes = sizeof(struct gpu_tenant_page);
    message.welcome.session = ++attached;
    message.welcome.flags = is_parkable ? GPU_WELCOME_PARKABLE : 0;
    uint8_t bytes[GPU_MESSAGE_SIZE];
    gpu_message_encode(&message, bytes);
    int fds[GPU_HELLO_FDS] = {control_fd, page_fd, pair[1]};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof fds)];
    } extra = {0};
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &extra, .msg_controllen = sizeof extra};
    struct cmsghdr *c = CMSG_FIRSTHDR(&packet);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fds);
    memcpy(CMSG_DATA(c), fds, sizeof fds);
    (void)!sendmsg(tenant->fd, &packet, MSG_NOSIGNAL);
    close(page_fd);
    close(pair[1]);
}

static void take_credits(void)
{
    for (int i = 0; i < TENANTS; i++) {
        if (tenants[i].fd <= 0)
            continue;
        uint64_t credit = atomic_exchange(&tenants[i].page->gpus[0].credit_bytes, 0);
        tenants[i].plain -= credit;
    }
}

static void reserve(struct tenant *tenant, const struct gpu_message *request)
{
    bool is_context = request->memory.kind == GPU_KIND_CONTEXT;
    uint64_t bytes = is_context && request->memory.bytes == 0 ? context_bytes : request->memory.bytes;
    struct gpu_message message = {.type = GPU_GRANT, .sequence = request->sequence};
    message.memory.kind = request->memory.kind;
    message.memory.bytes = bytes;
    if (held() + bytes > limit)
        take_credits();
    if (held() + bytes > limit) {
        denied++;
        message.type = GPU_DENY;
        message.memory.reason = GPU_REASON_LIMIT;
        message.memory.free_bytes = limit - held();
    } else if (is_context) {
        tenant->context += bytes;
    } else {
        tenant->plain += bytes;
        if (held() + credit_bytes <= limit && credit_bytes > 0) {
            tenant->plain += credit_bytes;
            gpu_credit_give(&tenant->page->gpus[0], credit_bytes);
        }
    }
    answer(tenant->fd, &message);
}

static void list(const struct tenant *tenant, uint32_t own_pid)
{
    struct ucred peer = {0};
    socklen_t len = sizeof peer;
    (void)getsockopt(tenant->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len);
    atomic_store(&control->processes[tenant - tenants], gpu_process_pids((uint32_t)peer.pid, own_pid));
}

static void handle(struct tenant *tenant, const struct gpu_message *message)
{
    struct gpu_message reply = {.sequence = message->sequence};
    switch (message->type) {
    case GPU_HELLO:
        returned += message->hello.flags & GPU_HELLO_RETURNS;
        list(tenant, message->hello.pid);
        welcome(tenant, message->sequence);
        break;
    case GPU_ATTACH:
        tenant->context = message->memory.context_bytes;
        tenant->plain = message->memory.bytes - message->memory.context_bytes;
        reply.type = GPU_GRANT;
        reply.memory.bytes = message->memory.bytes;
        answer(tenant->fd, &reply);
        break;
    case GPU_RESERVE:
        reserve(tenant, message);
        break;
    case GPU_RELEASE:
        if (message->memory.kind == GPU_KIND_CONTEXT)
            tenant->context -= message->memory.bytes;
        else
            tenant->plain -= message->memory.bytes;
        break;
    case GPU_QUERY: {
        uint64_t credit = 0;
        for (int i = 0; i < TENANTS; i++)
            credit += tenants[i].fd > 0 ? atomic_load(&tenants[i].page->gpus[0].credit_bytes) : 0;
        reply.type = GPU_INFO;
        reply.memory.total_bytes = limit;
        reply.memory.free_bytes = limit - held() + credit;
        answer(tenant->fd, &reply);
        break;
    }
    case GPU_GREW:
        grown++;
        break;
    case GPU_UNHOOKED:
        unhooked++;
        (void)fprintf(stderr, "unhooked: %s\n", message->notice.text);
        break;
    case GPU_PING:
        reply.type = GPU_PONG;
        reply.ping.value = message->ping.value;
        answer(tenant->fd, &reply);
        break;
    default:
        break;
    }
}

static void leave(struct tenant *tenant)
{
    atomic_store(&control->processes[tenant - tenants], 0);
    if (tenant->page) {
        count_page(tenant);
        munmap(tenant->page, sizeof *tenant->page);
    }
    close(tenant->fd);
    if (tenant->events > 0)
        close(tenant->events);
    *tenant = (struct tenant){0};
}

static void serve(struct tenant *tenant)
{
    uint8_t bytes[GPU_MESSAGE_SIZE + 1];
    struct gpu_message message;
    ssize_t len = recv(tenant->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (len < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (len <= 0 || gpu_message_decode(bytes, (size_t)len, &message) != GPU_MESSAGE_FINE)
        leave(tenant);
    else
        handle(tenant, &message);
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    (void)unlink(path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 128) != 0)
        fail(path);
    return fd;
}

static void accept_one(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    for (int i = 0; fd >= 0 && i < TENANTS; i++) {
        if (tenants[i].fd == 0) {
            tenants[i].fd = fd;
            return;
        }
    }
    if (fd >= 0)
        close(fd);
}

/* Signals come as data: a handler may run between a look at what it set and the wait for the next message. */
static int take_signals(void)
{
    sigset_t all;
    int fd;

    sigemptyset(&all);
    sigaddset(&all, SIGTERM);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGUSR1);
    sigaddset(&all, SIGUSR2);
    if (sigprocmask(SIG_BLOCK, &all, NULL) != 0 || (fd = signalfd(-1, &all, SFD_CLOEXEC)) < 0)
        fail("signalfd");
    return fd;
}

/* Whether to go on. */
static bool obey(int signals)
{
    struct signalfd_siginfo told;

    if (read(signals, &told, sizeof told) != sizeof told)
        fail("signalfd");
    if (told.ssi_signo != SIGUSR1 && told.ssi_signo != SIGUSR2)
        return false;
    if (told.ssi_signo == SIGUSR2) {
        limit *= 2;
        atomic_store(&control->gpus[0].limit_bytes, limit);
    }
    print_held();
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 5 || strlen(argv[4]) != 32) {
        (void)fprintf(stderr,
                      "usage: gpu-ledger SOCKET LIMIT_BYTES CONTEXT_BYTES UUID_HEX [CREDIT_BYTES [parkable]]\n");
        return 2;
    }
    limit = strtoull(argv[2], NULL, 10);
    context_bytes = strtoull(argv[3], NULL, 10);
    credit_bytes = argc > 5 ? strtoull(argv[5], NULL, 10) : 0;
    is_parkable = argc > 6 && strcmp(argv[6], "parkable") == 0;
    make_control(argv[4]);
    int signals = take_signals();
    int listener = listen_at(argv[1]);
    printf("ready\n");
    fflush(stdout);
    for (bool goes_on = true; goes_on;) {
        struct pollfd waits[TENANTS + 2] = {{.fd = listener, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
        for (int i = 0; i < TENANTS; i++)
            waits[i + 2] = (struct pollfd){.fd = tenants[i].fd > 0 ? tenants[i].fd : -1, .events = POLLIN};
        int ready = poll(waits, TENANTS + 2, -1);
        for (int i = 0; ready > 0 && i < TENANTS; i++) {
            if (waits[i + 2].revents && tenants[i].fd > 0)
                serve(&tenants[i]);
        }
        if (ready > 0 && waits[0].revents)
            accept_one(listener);
        /* What tenants said before the signal came is heard first, their end as well. */
        if (ready == 1 && waits[1].revents)
            goes_on = obey(signals);
    }
    for (int i = 0; i < TENANTS; i++) {
        if (tenants[i].fd > 0 && tenants[i].page)
            count_page(&tenants[i]);
    }
    print_held();
    return 0;
}
