/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/node/shims.h"
#include "local/server/files.h"
#include "local/shim/connect.h"
#include "local/shim/shim.h"
#include "text/json.h"

enum { STATUS_BYTES_MAX = 4 << 20 };

#define PAUSE_FIRST (5 * NSEC_PER_MSEC)
#define PAUSE_EXPECTED (20 * NSEC_PER_MSEC)
#define PAUSE_MAX (1 * NSEC_PER_SEC)

/* A process that was asked for takes the lock within this time. One that is late after all finds the lock taken. */
#define START_TIME (2 * NSEC_PER_SEC)

static void try_connect(void *arg);

yyjson_doc *pod_link_status(const struct pod_link *link)
{
    _cleanup_(freep) char *path = file_path(link->folder, POD_STATUS);
    yyjson_doc *doc = NULL;

    if (access(path, F_OK) < 0 || json_read_file(path, STATUS_BYTES_MAX, &doc, NULL) < 0)
        return NULL;
    return doc;
}

static bool is_over(const struct pod_link *link)
{
    yyjson_doc *doc = pod_link_status(link);
    bool result = bool_at(yyjson_doc_get_root(doc), "isOver");

    yyjson_doc_free(doc);
    return result;
}

/* Whether a process has the pod. */
static bool is_locked(const struct pod_link *link)
{
    _cleanup_(freep) char *path = file_path(link->folder, POD_LOCK);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    bool result = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;

    if (fd >= 0)
        (void)close(fd);
    return result;
}

static void disconnect(struct pod_link *link)
{
    loop_watch_done(&link->watch);
    if (link->fd >= 0)
        (void)close(link->fd);
    link->fd = -1;
}

static void retry_later(struct pod_link *link)
{
    bool is_expected = nsec_now_monotonic() < link->expected_by;

    loop_timer_start(&link->retry, link->pause);
    link->pause = MIN(link->pause * 2, is_expected ? PAUSE_EXPECTED : PAUSE_MAX);
}

static void send_order(struct pod_link *link)
{
    char text[64];

    (void)snprintf(text, sizeof text, "{\"op\":\"watch\",\"deadline\":%lld}", (long long)link->deadline);
    if (link->grace >= 0)
        (void)snprintf(text, sizeof text, "{\"op\":\"stop\",\"grace\":%lld}", (long long)(link->grace / NSEC_PER_SEC));
    if (send(link->fd, text, strlen(text), MSG_NOSIGNAL) < 0) {
        disconnect(link);
        retry_later(link);
    }
}

static void take(struct pod_link *link, const char *text, size_t len)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;

    if (json_parse(text, len, "event", &doc, NULL) < 0)
        return;
    yyjson_val *root = yyjson_doc_get_root(doc);
    const char *reason = kube_text(root, "reason");
    if (*reason)
        link->on_event(link->arg, kube_text(root, "type"), reason, kube_text(root, "message"));
}

static void on_packet(void *arg)
{
    struct pod_link *link = arg;
    char packet[SHIM_PACKET_MAX];
    bool has_changed = false;
    ssize_t n;

    while ((n = recv(link->fd, packet, sizeof packet, MSG_DONTWAIT)) > 0) {
        if (n > 2)
            take(link, packet, (size_t)n);
        else
            has_changed = true;
    }
    bool has_ended = n == 0 || (errno != EAGAIN && errno != EINTR);
    if (has_ended) {
        disconnect(link);
        link->is_over = is_over(link);
        link->pause = PAUSE_FIRST;
        if (!link->is_over)
            retry_later(link);
    }
    if (has_changed || has_ended)
        link->on_change(link->arg);
}

static void try_connect(void *arg)
{
    struct pod_link *link = arg;

    link->fd = shim_connect(link->folder);
    if (link->fd >= 0 && loop_watch_start(&link->watch, link->loop, link->fd, on_packet, link) < 0)
        disconnect(link);
    if (link->fd >= 0) {
        link->pause = PAUSE_FIRST;
        send_order(link);
        return;
    }
    /* The order matters: a process writes its last word before it lets go of the lock. */
    bool has_process = is_locked(link) || nsec_now_monotonic() < link->expected_by;
    link->is_over = is_over(link);
    if (link->is_over) {
        link->on_change(link->arg);
        return;
    }
    if (!has_process && shims_start(link->shims, link->folder) == 0)
        link->expected_by = nsec_now_monotonic() + START_TIME;
    retry_later(link);
}

void pod_link_open(struct pod_link *link, struct loop *loop, struct shims *shims, const char *folder)
{
    link->loop = loop;
    link->shims = shims;
    link->folder = xstrdup(folder);
    link->fd = -1;
    link->grace = -1;
    link->pause = PAUSE_FIRST;
    loop_timer_init(&link->retry, loop, try_connect, link);
    loop_timer_start(&link->retry, 0);
}

void pod_link_close(struct pod_link *link)
{
    disconnect(link);
    loop_timer_done(&link->retry);
    free(link->folder);
    *link = (struct pod_link){.fd = -1};
}

void pod_link_stop(struct pod_link *link, nsec_t grace)
{
    if (link->grace >= 0 && link->grace <= grace)
        return;
    link->grace = grace;
    /* A process that is started from now on starts nothing. */
    _cleanup_(freep) char *path = file_path(link->folder, POD_STOP);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        (void)close(fd);
    if (link->fd < 0)
        return;
    /* A connection has one order. */
    disconnect(link);
    loop_timer_start(&link->retry, 0);
}

void pod_link_deadline(struct pod_link *link, int64_t seconds)
{
    bool is_known = link->deadline == seconds;

    link->deadline = seconds;
    if (is_known || link->fd < 0 || link->grace >= 0)
        return;
    disconnect(link);
    loop_timer_start(&link->retry, 0);
}
