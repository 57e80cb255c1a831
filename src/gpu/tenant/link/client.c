/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of an earlier connection stay mapped: another thread may be looking at one. */
#include "gpu/tenant/link/client.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "gpu/tenant/driver.h"
#include "gpu/tenant/link/descriptor.h"
#include "gpu/tenant/lock.h"
#include "gpu/tenant/park/park.h"

enum {
    ANSWER_MS = 15000,  // an answer may wait for others to give memory back
    WELCOME_MS = 5000,
    PAUSE_MS = 3000,  // how long an allocation waits for a daemon that is away
    RETRY_MS = 50,
    PATIENCE_MS = 1000,  // after a pause in vain, tries without waiting are this far apart
};

static struct lock lock;         // guards the first socket, and the order of requests and answers on it
static struct lock events_lock;  // guards the second one; taken after the other where both are needed
static struct descriptor requests = DESCRIPTOR_NONE;
static struct descriptor events = DESCRIPTOR_NONE;
static atomic_int is_connected;
static atomic_int wanted;  // 0 not known, 1 yes, 2 no
static uint64_t session;
static uint32_t sequence;
static int64_t next_try_ns;
static bool has_paused;
static client_holdings_fn *tell_holdings;

static atomic_int gpu_count;
static atomic_uint epoch;
static struct gpu_control_page *_Atomic control_page;
static struct gpu_tenant_page *_Atomic tenant_page;
/* What stands for the control page while there is no daemon: a copy in which every gate is free. */
static struct gpu_control_page own_page;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sleep_ms(int ms)
{
    struct timespec pause = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&pause, NULL);
}

/* A daemon that is there and reads nothing is as good as gone. */
static void limit_sends(int fd)
{
    struct timeval most = {.tv_sec = ANSWER_MS / 1000};
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
}

static void put_events(int fd)
{
    lock_take(&events_lock);
    descriptor_put(&events, fd);
    lock_give(&events_lock);
}

static void drop_both(void)
{
    descriptor_drop(&requests);
    lock_take(&events_lock);
    descriptor_drop(&events);
    lock_give(&events_lock);
}

/* Where the environment of a container points to does not matter. */
static const char *socket_path(void)
{
    const char *path = getenv(GPU_SOCKET_VARIABLE);
    return path && *path && !driver_is_renamed() ? path : GPU_SOCKET_PATH;
}

bool client_is_wanted(void)
{
    int known = atomic_load_explicit(&wanted, memory_order_relaxed);
    if (known == 0) {
        const char *path = getenv(GPU_SOCKET_VARIABLE);
        known = driver_is_renamed() || (path && *path) || access(GPU_SOCKET_PATH, F_OK) == 0 ? 1 : 2;
        atomic_store_explicit(&wanted, known, memory_order_relaxed);
    }
    return known == 1;
}

static bool send_on(const struct descriptor *descriptor, const struct gpu_message *message)
{
    uint8_t bytes[GPU_MESSAGE_SIZE];
    gpu_message_encode(message, bytes);
    return descriptor_is_ours(descriptor) &&
           send(descriptor->fd, bytes, sizeof bytes, MSG_NOSIGNAL) == (ssize_t)sizeof bytes;
}

/* One packet that is there, and up to GPU_HELLO_FDS descriptors, of which the missing ones are -1. Returns what recvmsg()
 * does. */
static ssize_t receive_now(int fd, uint8_t bytes[static GPU_MESSAGE_SIZE + 1], int fds[GPU_HELLO_FDS])
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(GPU_HELLO_FDS * sizeof(int))];
    } extra;
    struct iovec part = {bytes, GPU_MESSAGE_SIZE + 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (fds) {
        memset(&extra, 0, sizeof extra);
        message.msg_control = &extra;
        message.msg_controllen = sizeof extra;
    }
    ssize_t len = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    for (int i = 0; fds && i < GPU_HELLO_FDS; i++)
        fds[i] = -1;
    for (struct cmsghdr *c = fds && len >= 0 ? CMSG_FIRSTHDR(&message) : NULL; c; c = CMSG_NXTHDR(&message, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
            memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
    }
    return len;
}

/* Waits for a message. */
static bool receive(int fd, int timeout_ms, struct gpu_message *ret_message, int fds[GPU_HELLO_FDS])
{
    uint8_t bytes[GPU_MESSAGE_SIZE + 1];
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    int64_t deadline = now_ns() + (int64_t)timeout_ms * 1000000;
    int left = timeout_ms, ready;

    while ((ready = poll(&wait, 1, left)) < 0 && errno == EINTR)
        left = (int)((deadline - now_ns()) / 1000000) > 0 ? (int)((deadline - now_ns()) / 1000000) : 0;
    if (ready <= 0)
        return false;
    ssize_t len = receive_now(fd, bytes, fds);
    return len > 0 && gpu_message_decode(bytes, (size_t)len, ret_message) == GPU_MESSAGE_FINE;
}

static bool map_pages(const struct gpu_message *welcome, const int fds[GPU_HELLO_FDS])
{
    if (welcome->welcome.control_bytes < sizeof(struct gpu_control_page) ||
        welcome->welcome.tenant_bytes < sizeof(struct gpu_tenant_page))
        return false;
    void *control = mmap(NULL, sizeof(struct gpu_control_page), PROT_READ, MAP_SHARED, fds[0], 0);
    void *tenant = mmap(NULL, sizeof(struct gpu_tenant_page), PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
    if (control == MAP_FAILED || tenant == MAP_FAILED)
        return false;
    if (((struct gpu_control_page *)control)->magic != GPU_CONTROL_MAGIC)
        return false;
    atomic_store(&gpu_count, (int)welcome->welcome.gpu_count);
    atomic_fetch_add(&epoch, 1);
    atomic_store(&tenant_page, tenant);
    atomic_store(&control_page, control);
    return true;
}

/* After a new beginning: what this process holds on each GPU. */
static bool attach_all(void)
{
    for (int slot = 0; tell_holdings && slot < atomic_load(&gpu_count); slot++) {
        struct gpu_message message = {.type = GPU_ATTACH}, answer;
        message.sequence = ++sequence;
        message.memory.gpu = (uint32_t)slot;
        tell_holdings(slot, &message.memory.bytes, &message.memory.context_bytes);
        if (!send_on(&requests, &message) || !receive(requests.fd, ANSWER_MS, &answer, NULL))
            return false;
    }
    return true;
}

static bool say_hello(int fd, int fds[GPU_HELLO_FDS])
{
    struct gpu_message hello = {.type = GPU_HELLO}, welcome;
    hello.sequence = ++sequence;
    hello.hello.flags = session ? GPU_HELLO_RETURNS : 0;
    hello.hello.session = session;
    hello.hello.pid = (uint32_t)getpid();
    hello.hello.now_ns = (uint64_t)now_ns();
    memccpy(hello.hello.name, program_invocation_short_name, 0, GPU_NAME_SIZE - 1);

    descriptor_put(&requests, fd);
    if (!send_on(&requests, &hello) || !receive(requests.fd, WELCOME_MS, &welcome, fds) ||
        welcome.type != GPU_WELCOME || fds[GPU_HELLO_FDS - 1] < 0 || !map_pages(&welcome, fds))
        return false;
    bool is_back = session != 0;
    session = welcome.welcome.session;
    park_welcomed(welcome.welcome.flags, !is_back);
    limit_sends(fds[2]);
    put_events(fds[2]);
    fds[2] = -1;
    return !is_back || attach_all();
}

/* One try, with the lock held. */
static bool try_connect(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = socket_path();
    int fds[GPU_HELLO_FDS] = {-1, -1, -1};
    if (strlen(path) >= sizeof address.sun_path)
        return false;
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    limit_sends(fd);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return false;
    }
    bool is_welcome = say_hello(fd, fds);
    for (int i = 0; i < GPU_HELLO_FDS; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    if (!is_welcome)
        drop_both();
    atomic_store(&is_connected, is_welcome);
    return is_welcome;
}

/* The daemon is gone, with the lock held: launches pass from now on, those that wait as well, and nothing more is
 * granted. */
static void lose(void)
{
    drop_both();
    struct gpu_control_page *page = atomic_load(&control_page);
    if (page && page != &own_page) {
        memcpy(&own_page, page, sizeof own_page);
        for (int i = 0; i < GPU_MAX; i++)
            atomic_store(&own_page.gpus[i].word, (atomic_load(&page->gpus[i].word) & ~3u) + 4 + GPU_GATE_FREE);
        atomic_store(&control_page, &own_page);
        for (int i = 0; i < GPU_MAX; i++)
            futex_wake((const atomic_uint *)&page->gpus[i].word);
    }
    has_paused = false;
    next_try_ns = 0;
    atomic_store(&is_connected, 0);
}

/* The same for one that was found broken, unless another thread has found the daemon again by now. */
static void lose_connection(unsigned its_epoch)
{
    lock_take(&lock);
    if (atomic_load(&is_connected) && client_epoch() == its_epoch)
        lose();
    lock_give(&lock);
}

static bool connect_locked(void)
{
    if (atomic_load(&is_connected))
        return true;
    int64_t end = now_ns() + (int64_t)PAUSE_MS * 1000000;
    if (has_paused && now_ns() < next_try_ns)
        return false;
    bool is_done = try_connect();
    while (!is_done && !has_paused && now_ns() < end) {
        sleep_ms(RETRY_MS);
        is_done = try_connect();
    }
    has_paused = !is_done;
    next_try_ns = now_ns() + (int64_t)PATIENCE_MS * 1000000;
    return is_done;
}

bool client_is_ready(void)
{
    if (atomic_load_explicit(&is_connected, memory_order_acquire))
        return true;
    int saved = errno;
    lock_take(&lock);
    bool is_ready = connect_locked();
    lock_give(&lock);
    errno = saved;
    return is_ready;
}

static bool ask_locked(const struct gpu_message *request, struct gpu_message *ret_answer)
{
    struct gpu_message numbered = *request;
    numbered.sequence = ++sequence;
    if (!send_on(&requests, &numbered))
        return false;
    do {
        if (!receive(requests.fd, ANSWER_MS, ret_answer, NULL))
            return false;
    } while (ret_answer->sequence != numbered.sequence);
    return true;
}

/* A second try, after the daemon was found gone in the middle. */
bool client_ask(const struct gpu_message *request, struct gpu_message *ret_answer)
{
    int saved = errno;
    bool is_answered = false;
    lock_take(&lock);
    for (int i = 0; i < 2 && !is_answered && connect_locked(); i++) {
        is_answered = ask_locked(request, ret_answer);
        if (!is_answered)
            lose();
    }
    lock_give(&lock);
    errno = saved;
    return is_answered;
}

void client_tell(const struct gpu_message *message)
{
    int saved = errno;
    lock_take(&lock);
    if (atomic_load(&is_connected) && !send_on(&requests, message))
        lose();
    lock_give(&lock);
    errno = saved;
}

void client_tell_event(const struct gpu_message *message)
{
    int saved = errno;
    lock_take(&events_lock);
    unsigned before = client_epoch();
    bool is_told = send_on(&events, message);
    lock_give(&events_lock);
    if (!is_told)
        lose_connection(before);
    errno = saved;
}

int client_events(void)
{
    lock_take(&events_lock);
    int fd = descriptor_is_ours(&events) ? events.fd : -1;
    lock_give(&events_lock);
    return fd;
}

int client_read_event(struct gpu_message *ret_message, int *ret_file)
{
    uint8_t bytes[GPU_MESSAGE_SIZE + 1];
    int fds[GPU_HELLO_FDS] = {-1, -1, -1};
    int result = -1;
    lock_take(&events_lock);
    unsigned before = client_epoch();
    if (descriptor_is_ours(&events)) {
        ssize_t len = receive_now(events.fd, bytes, fds);
        if (len > 0)
            result = gpu_message_decode(bytes, (size_t)len, ret_message) == GPU_MESSAGE_FINE ? 1 : 0;
        else if (len < 0 && (errno == EAGAIN || errno == EINTR))
            result = 0;
    }
    lock_give(&events_lock);
    for (int i = result > 0 ? 1 : 0; i < GPU_HELLO_FDS; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    *ret_file = result > 0 ? fds[0] : -1;
    if (result < 0)
        lose_connection(before);
    return result;
}

int client_gpu_count(void)
{
    return atomic_load_explicit(&gpu_count, memory_order_relaxed);
}

const struct gpu_control_line *client_control(int slot)
{
    struct gpu_control_page *page = atomic_load_explicit(&control_page, memory_order_acquire);
    return page && slot >= 0 && slot < GPU_MAX ? &page->gpus[slot] : NULL;
}

struct gpu_tenant_line *client_line(int slot)
{
    struct gpu_tenant_page *page = atomic_load_explicit(&tenant_page, memory_order_acquire);
    return page && slot >= 0 && slot < GPU_MAX ? &page->gpus[slot] : NULL;
}

unsigned client_own_pid(unsigned node_pid)
{
    struct gpu_control_page *page = atomic_load_explicit(&control_page, memory_order_acquire);
    unsigned found = 0;
    for (int i = 0; page && !found && i < GPU_PROCESSES_MAX; i++) {
        uint64_t pids = atomic_load_explicit(&page->processes[i], memory_order_relaxed);
        if (pids >> 32 == node_pid)
            found = (unsigned)pids;
    }
    return found;
}

unsigned client_node_pid(unsigned own_pid)
{
    struct gpu_control_page *page = atomic_load_explicit(&control_page, memory_order_acquire);
    unsigned found = 0;
    for (int i = 0; page && !found && i < GPU_PROCESSES_MAX; i++) {
        uint64_t pids = atomic_load_explicit(&page->processes[i], memory_order_relaxed);
        if ((unsigned)pids == own_pid)
            found = (unsigned)(pids >> 32);
    }
    return found;
}

unsigned client_epoch(void)
{
    return atomic_load_explicit(&epoch, memory_order_acquire);
}

void client_set_holdings(client_holdings_fn *holdings)
{
    tell_holdings = holdings;
}

void client_forget(void)
{
    memset(&lock, 0, sizeof lock);
    memset(&events_lock, 0, sizeof events_lock);
    drop_both();
    atomic_store(&is_connected, 0);
    atomic_store(&control_page, NULL);
    atomic_store(&tenant_page, NULL);
    atomic_store(&gpu_count, 0);
    session = 0;
    has_paused = false;
    next_try_ns = 0;
}
