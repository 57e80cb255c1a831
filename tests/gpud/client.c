/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

uint64_t client_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool client_connect(struct client *c, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    *c = (struct client){.path = path, .events = -1, .allowed = GPU_GATE_NEVER};
    c->asked = c->yielded = GPU_GATE_NEVER;
    (void)strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    c->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (c->fd >= 0 && connect(c->fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return true;
    (void)close(c->fd);
    c->fd = -1;
    return false;
}

bool client_send(int fd, const struct gpu_message *message)
{
    uint8_t bytes[GPU_MESSAGE_SIZE];

    gpu_message_encode(message, bytes);
    return send(fd, bytes, sizeof bytes, MSG_NOSIGNAL) == (ssize_t)sizeof bytes;
}

bool client_receive(int fd, struct gpu_message *ret_message, int timeout_ms)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    uint8_t bytes[GPU_MESSAGE_SIZE];

    if (poll(&wait, 1, timeout_ms) != 1)
        return false;
    return gpu_message_decode(bytes, (size_t)recv(fd, bytes, sizeof bytes, 0), ret_message) == GPU_MESSAGE_FINE;
}

static bool receive_welcome(struct client *c, struct gpu_message *welcome, int fds[GPU_HELLO_FDS])
{
    uint8_t bytes[GPU_MESSAGE_SIZE];
    union {
        char room[CMSG_SPACE(GPU_HELLO_FDS * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = {.iov_base = bytes, .iov_len = sizeof bytes};
    struct msghdr header = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    ssize_t len = recvmsg(c->fd, &header, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *first = len > 0 ? CMSG_FIRSTHDR(&header) : NULL;

    if (len <= 0 || gpu_message_decode(bytes, (size_t)len, welcome) != GPU_MESSAGE_FINE ||
        welcome->type != GPU_WELCOME || !first || first->cmsg_len != CMSG_LEN(GPU_HELLO_FDS * sizeof(int)))
        return false;
    memcpy(fds, CMSG_DATA(first), GPU_HELLO_FDS * sizeof(int));
    return true;
}

bool client_hello(struct client *c, bool returns, uint64_t used)
{
    struct gpu_message message = {.type = GPU_HELLO,
                                  .sequence = ++c->sequence,
                                  .hello = {.flags = returns ? GPU_HELLO_RETURNS : 0,
                                            .pid = (uint32_t)getpid(),
                                            .session = returns ? c->session : 0,
                                            .name = "test-tenant"}};
    int fds[GPU_HELLO_FDS];

    if (!client_send(c->fd, &message) || !receive_welcome(c, &message, fds))
        return false;
    c->session = message.welcome.session;
    c->gpu_count = message.welcome.gpu_count;
    c->control = mmap(NULL, message.welcome.control_bytes, PROT_READ, MAP_SHARED, fds[0], 0);
    c->page = mmap(NULL, message.welcome.tenant_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
    c->events = fds[2];
    (void)close(fds[0]);
    (void)close(fds[1]);
    if (c->control == MAP_FAILED || c->page == MAP_FAILED)
        return false;
    if (!returns)
        return true;
    message = (struct gpu_message){.type = GPU_ATTACH, .sequence = ++c->sequence, .memory = {.bytes = used}};
    return client_send(c->fd, &message) && client_receive(c->fd, &message, 5000) && message.type == GPU_GRANT;
}

bool client_reserve(struct client *c, enum gpu_memory_kind kind, uint64_t bytes, uint64_t *ret_bytes)
{
    struct gpu_message message = {
        .type = GPU_RESERVE, .sequence = ++c->sequence, .memory = {.kind = kind, .bytes = bytes}};

    if (!client_send(c->fd, &message) || !client_receive(c->fd, &message, 10000) || message.type != GPU_GRANT)
        return false;
    if (ret_bytes)
        *ret_bytes = message.memory.bytes;
    return true;
}

void client_release(struct client *c, enum gpu_memory_kind kind, uint64_t bytes)
{
    (void)client_send(c->fd, &(struct gpu_message){.type = GPU_RELEASE, .memory = {.kind = kind, .bytes = bytes}});
}

bool client_enter(struct client *c)
{
    const struct gpu_control_line *line = &c->control->gpus[0];

    for (;;) {
        uint32_t word = atomic_load(&line->word);

        if (gpu_gate_state(word) != GPU_GATE_CLOSED && word != c->yielded) {
            atomic_store(&c->page->gpus[0].active_word, word);
            if (atomic_load(&line->word) == word) {
                c->allowed = word;
                return true;
            }
            continue;
        }
        if (word != c->asked) {
            c->asked = word;
            if (!client_send(c->events, &(struct gpu_message){.type = GPU_ASK, .lease = {.word = word}}))
                return false;
        }
        (void)syscall(SYS_futex, &line->word, FUTEX_WAIT, word, &(struct timespec){.tv_nsec = 500000000}, NULL, 0);
        if (atomic_load(&line->word) == word) {
            struct pollfd end = {.fd = c->fd, .events = POLLIN};

            if (poll(&end, 1, 0) == 1)
                return false;
        }
    }
}

void client_close(struct client *c)
{
    if (c->page)
        (void)munmap(c->page, sizeof *c->page);
    if (c->control)
        (void)munmap((void *)(uintptr_t)c->control, sizeof *c->control);
    if (c->fd >= 0)
        (void)close(c->fd);
    if (c->events >= 0)
        (void)close(c->events);
    c->page = NULL;
    c->control = NULL;
    c->fd = c->events = -1;
}
