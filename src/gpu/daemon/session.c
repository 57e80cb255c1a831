/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One process and its connection. The pidfd decides when the process has ended; the sockets only say whether it can be
 * talked to. Each wake-up handles a limited number of messages, and whoever sends more than a program ever would is not
 * read for a while, so that a flood from one tenant is waiting time for that tenant.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "gpu/daemon/gpud_parts.h"

enum { MESSAGES_A_TURN = 64, MESSAGES_A_WINDOW = 20000, GREETING_S = 5 };

/* One is all that a process needs; one more comes after a fork that did not close it. */
enum { CONNECTIONS_A_PROCESS = 4 };
#define WINDOW (200 * NSEC_PER_MSEC)

void session_send(struct session *session, int fd, const struct gpu_message *message, const int *fds, size_t fd_count)
{
    uint8_t bytes[GPU_MESSAGE_SIZE];
    union {
        char room[CMSG_SPACE(GPU_HELLO_FDS * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec part = {.iov_base = bytes, .iov_len = sizeof bytes};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

    if (fd < 0)
        return;
    gpu_message_encode(message, bytes);
    if (fd_count > 0) {
        header.msg_control = control.room;
        header.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
        struct cmsghdr *first = CMSG_FIRSTHDR(&header);
        first->cmsg_level = SOL_SOCKET;
        first->cmsg_type = SCM_RIGHTS;
        first->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
        memcpy(CMSG_DATA(first), fds, fd_count * sizeof(int));
    }
    /* Who does not read what it is sent loses its connection, and nobody waits for it. */
    if (sendmsg(fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        (void)shutdown(session->fd, SHUT_RDWR);
}

void session_notice(struct session *session, enum gpu_reason reason, uint32_t gpu, const char *text)
{
    struct gpu_message message = {.type = GPU_NOTICE, .notice = {.reason = reason, .gpu = gpu}};

    (void)snprintf(message.notice.text, sizeof message.notice.text, "%s", text);
    session_send(session, session->events, &message, NULL, 0);
}

void session_kill(struct session *session, enum gpu_reason reason, uint32_t gpu, const char *text)
{
    struct gpud *gpud = session->group->gpud;
    struct ending *ending = &gpud->endings[gpud->ending_count % ENDINGS_MAX];

    if (session->is_killed)
        return;
    session->is_killed = true;
    gpud->ending_count++;
    *ending = (struct ending){.pid = session->peer.pid, .reason = reason, .at = gpud_now()};
    (void)snprintf(ending->group, sizeof ending->group, "%s", session->group->spec.name);
    (void)snprintf(ending->text, sizeof ending->text, "%s", text);
    session_notice(session, reason, gpu, "this process is ended");
    session->group->gone[gpu].killed++;
    (void)syscall(SYS_pidfd_send_signal, session->peer.pidfd, SIGKILL, NULL, 0);
}

static void close_sockets(struct session *session)
{
    loop_watch_done(&session->on_fd);
    loop_watch_done(&session->on_events);
    loop_timer_done(&session->pause);
    session->pause = (struct loop_timer){0};
    if (session->fd >= 0)
        (void)close(session->fd);
    if (session->events >= 0)
        (void)close(session->events);
    session->fd = session->events = -1;
}

static void unlink_session(struct session *session)
{
    list_remove(&session->group->sessions, &session->in_group);
}

static void keep_figures(struct session *session)
{
    struct group *group = session->group;

    for (uint32_t gpu = 0; session->page.mem && gpu < group->spec.gpu_count; gpu++) {
        const struct gpu_tenant_line *line = session_line(session, gpu);

        group->gone[gpu].launches += atomic_load(&line->launches);
        group->gone[gpu].work_ns += atomic_load(&line->work_ns);
        group->gone[gpu].wait_ns += atomic_load(&line->wait_ns);
        group->gone[gpu].traffic += atomic_load(&line->traffic_bytes);
    }
}

/* Changes one entry of the list that tenants find themselves in. */
static void set_listed(const struct group *group, uint64_t from, uint64_t to)
{
    struct gpu_control_page *page = group->page.mem;

    for (uint32_t i = 0; from != to && i < GPU_PROCESSES_MAX; i++) {
        if (atomic_load(&page->processes[i]) == from) {
            atomic_store(&page->processes[i], to);
            return;
        }
    }
}

void session_free(struct session *session)
{
    struct group *group = session->group;
    struct gpud *gpud = group->gpud;

    close_sockets(session);
    loop_watch_done(&session->on_end);
    set_listed(group, session->pids, 0);
    if (gpud->is_stopping) {
        reclaim_end(session);
        session->slot = NULL;
    }
    park_forget(session, true);
    leases_forget(session);
    memory_forget(session);
    keep_figures(session);
    if (session->slot)
        book_give(gpud->book, session->slot);
    session->slot = NULL;
    unlink_session(session);
    shared_page_free(&session->page);
    if (session->peer.pidfd >= 0)
        (void)close(session->peer.pidfd);
    free(session);
    memory_retry(gpud);
}

static void on_end(void *arg)
{
    session_free(arg);
}

/* The connection is gone, the process may be not. */
static void disconnect(struct session *session)
{
    if (!session->slot) {
        session_free(session);
        return;
    }
    close_sockets(session);
    reclaim_end(session);
    park_forget(session, false);
    leases_forget(session);
    keep_figures(session);
    shared_page_free(&session->page);
}

static void refuse(struct session *session, enum gpu_reason reason, const char *text)
{
    struct gpu_message message = {.type = GPU_REFUSED, .notice = {.reason = reason}};

    (void)snprintf(message.notice.text, sizeof message.notice.text, "%s", text);
    session_send(session, session->fd, &message, NULL, 0);
    log_warn(session->group->gpud->log, "tenant refused", log_str("group", session->group->spec.name),
             log_int("pid", session->peer.pid), log_str("why", text));
}

static struct session *find_gone(const struct session *session)
{
    for (struct session *s = session_first(session->group); s; s = session_next(s)) {
        if (s != session && s->slot && s->fd < 0 && s->peer.pid == session->peer.pid &&
            s->peer.started == session->peer.started)
            return s;
    }
    return NULL;
}

/* Its own slot in the book; one that comes back takes over what it left. */
static bool take_slot(struct session *session, const struct gpu_message *hello)
{
    struct group *group = session->group;
    struct session *gone = find_gone(session);
    bool returns = hello->hello.flags & GPU_HELLO_RETURNS;

    if (gone && returns && gone->slot->session == hello->hello.session) {
        session->slot = gone->slot;
        gone->slot = NULL;
    }
    /* Otherwise it has begun anew under the same number, by exec: what it had on the GPU is gone. */
    if (gone)
        session_free(gone);
    session->may_attach = returns;
    if (session->slot)
        return true;
    /* A group gets no more than what then is left for others: a few that fork without end leave room for the rest. */
    if (group->sessions.len > book_free_count(group->gpud->book))
        return false;
    session->slot = book_take(group->gpud->book);
    if (!session->slot)
        return false;
    session->slot->pid = session->peer.pid;
    session->slot->started = session->peer.started;
    memcpy(session->slot->group, group->spec.name, strlen(group->spec.name) + 1);
    if (getrandom(&session->slot->session, sizeof session->slot->session, 0) != sizeof session->slot->session)
        session->slot->session = (uint64_t)gpud_now();
    return true;
}

static void on_events(void *arg);

static int share_pages(struct session *session, int *ret_events)
{
    int pair[2];
    int r = shared_page_new(&session->page, "muster-tenant", sizeof(struct gpu_tenant_page), false);

    if (r < 0)
        return r;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        return -errno;
    /* The other end blocks: a thread of the tenant sits there. */
    (void)fcntl(pair[1], F_SETFL, 0);
    session->events = pair[0];
    *ret_events = pair[1];
    r = loop_watch_start(&session->on_events, session->group->gpud->loop, session->events, on_events, session);
    if (r < 0)
        (void)close(pair[1]);
    return r;
}

static void greet(struct session *session, const struct gpu_message *hello)
{
    struct group *group = session->group;
    int events = -1;

    loop_timer_stop(&session->pause);
    (void)snprintf(session->name, sizeof session->name, "%s", hello->hello.name);
    if (!take_slot(session, hello)) {
        refuse(session, GPU_REASON_FULL, "too many processes");
        disconnect(session);
        return;
    }
    if (share_pages(session, &events) < 0) {
        refuse(session, GPU_REASON_FULL, "out of memory or file descriptors");
        disconnect(session);
        return;
    }
    session->pids = gpu_process_pids((uint32_t)session->peer.pid, hello->hello.pid);
    set_listed(group, 0, session->pids);
    watcher_wake(group->gpud);
    session_send(session, session->fd,
                 &(struct gpu_message){.type = GPU_WELCOME,
                                       .sequence = hello->sequence,
                                       .welcome = {.gpu_count = group->spec.gpu_count,
                                                   .control_bytes = group->page.size,
                                                   .tenant_bytes = session->page.size,
                                                   .flags = park_welcome_flags(group),
                                                   .session = session->slot->session,
                                                   .now_ns = (uint64_t)gpud_now()}},
                 (int[]){group->page.fd, session->page.fd, events}, GPU_HELLO_FDS);
    (void)close(events);
    log_debug(group->gpud->log, "tenant joined", log_str("group", group->spec.name), log_int("pid", session->peer.pid),
              log_str("name", session->name));
}

static void pong(struct session *session, const struct gpu_message *message)
{
    session_send(session, session->fd,
                 &(struct gpu_message){.type = GPU_PONG, .sequence = message->sequence, .ping = {message->ping.value}},
                 NULL, 0);
}

/* Names are a tenant's word: only what could be a function's is kept, and not more than there is room for. */
static void note_unhooked(struct session *session, const struct gpu_message *message)
{
    struct group *group = session->group;
    const char *name = message->notice.text;
    size_t i = 0;

    if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != strlen(name) || !*name)
        name = "other";
    while (i < UNHOOKED_MAX - 1 && group->unhooked[i].count > 0 && strcmp(group->unhooked[i].name, name) != 0)
        i++;
    if (group->unhooked[i].count++ > 0)
        return;
    (void)snprintf(group->unhooked[i].name, sizeof group->unhooked[i].name, "%s",
                   i < UNHOOKED_MAX - 1 ? name : "other");
    log_warn(group->gpud->log, "a driver function is not isolated: the driver is newer than this library",
             log_str("group", group->spec.name), log_int("pid", session->peer.pid), log_str("name", name));
}

static void note_growth(struct session *session, const struct gpu_message *message)
{
    (void)message;
    watcher_hurry(session->group->gpud);
}

static const struct {
    enum gpu_message_type type;
    bool is_event;
    void (*handle)(struct session *session, const struct gpu_message *message);
} handlers[] = {
    {GPU_RESERVE, false, memory_reserve},
    {GPU_RELEASE, false, memory_release},
    {GPU_QUERY, false, memory_query},
    {GPU_ATTACH, false, memory_attach},
    {GPU_PING, false, pong},
    {GPU_GREW, false, note_growth},
    {GPU_UNHOOKED, false, note_unhooked},
    {GPU_ASK, true, leases_ask},
    {GPU_YIELD, true, leases_yield},
    {GPU_DRAINED, true, leases_drained},
    {GPU_STOPPED, true, park_stopped},
    {GPU_PARKED, true, park_parked},
    {GPU_RESUMED, true, park_resumed},
};

/* Whether the message made sense here. */
static bool handle(struct session *session, const struct gpu_message *message, bool is_event)
{
    bool is_lease = message->type == GPU_ASK || message->type == GPU_YIELD || message->type == GPU_DRAINED;

    bool is_parking = message->type == GPU_STOPPED || message->type == GPU_PARKED || message->type == GPU_RESUMED;

    if (is_lease && message->lease.gpu >= session->group->spec.gpu_count)
        return false;
    if (is_parking && !session->group->spec.is_parkable)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(handlers); i++) {
        if (handlers[i].type == message->type && handlers[i].is_event == is_event) {
            handlers[i].handle(session, message);
            return true;
        }
    }
    return false;
}

static void bad_message(struct session *session, enum gpu_message_error error)
{
    session->group->bad_messages++;
    if (!session->slot && error == GPU_MESSAGE_BAD_VERSION)
        refuse(session, GPU_REASON_VERSION, gpu_reason_text(GPU_REASON_VERSION));
    log_warn(session->group->gpud->log, "a tenant sent an invalid message: its connection is closed",
             log_str("group", session->group->spec.name), log_int("pid", session->peer.pid), log_int("error", error));
    disconnect(session);
}

static void watch_sockets(struct session *session);

static void on_pause_over(void *arg)
{
    struct session *session = arg;

    if (!session->slot) {
        refuse(session, GPU_REASON_PEER, "no greeting");
        disconnect(session);
        return;
    }
    watch_sockets(session);
}

/* Whether it has sent more than a program would; then it is not read until the window is over. */
static bool is_flooding(struct session *session)
{
    nsec_t now = gpud_now();

    if (now - session->window > WINDOW) {
        session->window = now;
        session->messages = 0;
    }
    if (++session->messages < MESSAGES_A_WINDOW)
        return false;
    loop_watch_done(&session->on_fd);
    loop_watch_done(&session->on_events);
    loop_timer_start(&session->pause, session->window + WINDOW - now);
    return true;
}

/* One packet. Returns whether there may be more, and the session is still there. */
static bool read_one(struct session *session, int fd, bool is_event)
{
    uint8_t bytes[GPU_MESSAGE_SIZE + 1];
    struct gpu_message message;
    enum gpu_message_error error;
    ssize_t len = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);

    if (len < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (len <= 0) {
        disconnect(session);
        return false;
    }
    error = gpu_message_decode(bytes, (size_t)len, &message);
    if (error == GPU_MESSAGE_FINE && (message.type == GPU_HELLO) != !session->slot)
        error = GPU_MESSAGE_BAD_TYPE;
    if (error == GPU_MESSAGE_FINE && message.type == GPU_HELLO) {
        greet(session, &message);
        return false;
    }
    if (error == GPU_MESSAGE_FINE && !handle(session, &message, is_event))
        error = GPU_MESSAGE_BAD_VALUE;
    if (error != GPU_MESSAGE_FINE) {
        bad_message(session, error);
        return false;
    }
    return !is_flooding(session) && session->fd >= 0;
}

static void on_requests(void *arg)
{
    struct session *session = arg;

    for (int i = 0; i < MESSAGES_A_TURN && read_one(session, session->fd, false); i++)
        ;
}

static void on_events(void *arg)
{
    struct session *session = arg;

    for (int i = 0; i < MESSAGES_A_TURN && read_one(session, session->events, true); i++)
        ;
}

static void watch_sockets(struct session *session)
{
    struct loop *loop = session->group->gpud->loop;
    int r = loop_watch_start(&session->on_fd, loop, session->fd, on_requests, session);

    if (r == 0 && session->events >= 0)
        r = loop_watch_start(&session->on_events, loop, session->events, on_events, session);
    if (r < 0)
        disconnect(session);
}

static struct session *new_session(struct group *group, const struct peer *peer)
{
    struct session *session = xcalloc(1, sizeof *session);

    session->group = group;
    session->peer = *peer;
    session->fd = session->events = -1;
    session->since = gpud_now();
    list_push(&group->sessions, &session->in_group);
    return session;
}

static uint32_t connections_of(const struct group *group, const struct peer *peer)
{
    uint32_t count = 0;

    for (const struct session *s = session_first(group); s; s = session_next(s))
        count += s->fd >= 0 && s->peer.pid == peer->pid && s->peer.started == peer->started;
    return count;
}

/* Which rule a peer breaks; NULL when it may come in. */
static const char *objection(const struct group *group, const struct peer *peer)
{
    if (group->spec.uid >= 0 && peer->uid != (uid_t)group->spec.uid && peer->uid != 0)
        return "the process belongs to another user";
    if (group->spec.cgroup[0] && !peer_is_in_cgroup(peer->pid, group->spec.cgroup))
        return "the process is in another cgroup";
    if (group->sessions.len >= SESSIONS_MAX)
        return "too many processes";
    if (connections_of(group, peer) > CONNECTIONS_A_PROCESS)
        return "too many connections of one process";
    return NULL;
}

void session_accept(struct group *group, int fd)
{
    struct peer peer;
    int r = peer_of(fd, &peer);

    if (r < 0) {
        (void)close(fd);
        return;
    }
    struct session *session = new_session(group, &peer);
    session->fd = fd;
    const char *why = objection(group, &peer);
    if (why) {
        refuse(session, GPU_REASON_PEER, why);
        session_free(session);
        return;
    }
    if (loop_watch_start(&session->on_end, group->gpud->loop, peer.pidfd, on_end, session) < 0) {
        session_free(session);
        return;
    }
    loop_timer_init(&session->pause, group->gpud->loop, on_pause_over, session);
    loop_timer_start(&session->pause, GREETING_S * NSEC_PER_SEC);
    watch_sockets(session);
}

void session_adopt(struct group *group, struct book_slot *slot, int pidfd)
{
    struct session *session =
        new_session(group, &(struct peer){.pid = slot->pid, .pidfd = pidfd, .started = slot->started});

    session->slot = slot;
    park_adopt(session);
    if (loop_watch_start(&session->on_end, group->gpud->loop, pidfd, on_end, session) < 0)
        session_free(session);
}
