/* SPDX-License-Identifier: Apache-2.0 */

/*
 * curl's multi interface on the loop: curl says which sockets and which time it waits for, and is told when they are
 * ready.
 *
 * curl must not be entered again from its own callbacks, and ours may do anything. So whatever comes while curl is
 * running is noted, and settled when it has returned: calls to start, calls to take away, and the client itself to
 * free.
 */
#include "net/http.h"

#include <errno.h>
#include <stdlib.h>
#include <uv.h>

#include "base/macros.h"
#include "base/mem.h"
#include "net/http_internal.h"
#include "net/http_socket.h"
#include "net/loop_internal.h"

/* A socket that curl waits for. */
struct watched {
    uv_poll_t poll;
    struct http_client *client;
    curl_socket_t fd;
};

static void destroy(struct http_client *client)
{
    (void)curl_multi_cleanup(client->multi);
    http_socket_close_all(client);
    for (size_t i = 0; i < client->spares; i++)
        curl_easy_cleanup(client->spare[i]);
    vec_done(&client->starting);
    loop_timer_done(&client->timer);
    loop_task_cancel(&client->settle);
    free(client);
    curl_global_cleanup();
}

static void reap(struct http_client *client)
{
    for (struct list_link *link = client->calls.first, *next; link; link = next) {
        struct http_call *call = list_item(link, struct http_call, of_client);

        next = link->next;
        if (!call->is_cancelled)
            continue;
        if (call->is_started)
            (void)curl_multi_remove_handle(client->multi, call->easy);
        http_call_free(call);
    }
}

void http_client_enter(struct http_client *client)
{
    client->busy++;
}

void http_client_leave(struct http_client *client)
{
    if (--client->busy > 0 || !client->is_freed)
        return;
    reap(client);
    destroy(client);
}

/* The ends that curl has to tell of. */
static void finish_calls(struct http_client *client)
{
    int left = 0;

    for (CURLMsg *message; !client->is_freed && (message = curl_multi_info_read(client->multi, &left));) {
        CURLcode result = message->data.result;
        struct http_call *call = NULL;

        if (message->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
        http_call_finish(call, result);
    }
}

/* Tells curl of a socket, or of the time, and follows up on what came of it. */
static void drive(struct http_client *client, curl_socket_t fd, int events)
{
    int running = 0;

    http_client_enter(client);
    (void)curl_multi_socket_action(client->multi, fd, events, &running);
    finish_calls(client);
    http_client_leave(client);
}

static void on_time(void *arg)
{
    drive(arg, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer_wanted(CURLM *multi, long after_ms, void *arg)
{
    struct http_client *client = arg;

    (void)multi;
    if (after_ms < 0)
        loop_timer_stop(&client->timer);
    else
        loop_timer_start(&client->timer, after_ms * NSEC_PER_MSEC);
    return 0;
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct watched *watched = (struct watched *)poll;
    int flags = (events & UV_READABLE ? CURL_CSELECT_IN : 0) | (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0);

    drive(watched->client, watched->fd, status < 0 ? CURL_CSELECT_ERR : flags);
}

static void free_watched(uv_handle_t *handle)
{
    free(handle);
}

static int on_socket_wanted(CURL *easy, curl_socket_t fd, int what, void *arg, void *of_socket)
{
    struct http_client *client = arg;
    struct watched *watched = of_socket;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (watched)
            uv_close((uv_handle_t *)&watched->poll, free_watched);
        (void)curl_multi_assign(client->multi, fd, NULL);
        return 0;
    }
    if (!watched) {
        watched = xcalloc(1, sizeof *watched);
        watched->client = client;
        watched->fd = fd;
        if (uv_poll_init_socket(&client->loop->uv, &watched->poll, fd) < 0) {
            free(watched);
            return -1;
        }
        (void)curl_multi_assign(client->multi, fd, watched);
    }
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);

    return uv_poll_start(&watched->poll, events, on_ready) < 0 ? -1 : 0;
}

static void give_to_curl(struct http_call *call)
{
    CURLMcode r = curl_multi_add_handle(call->client->multi, call->easy);

    if (r == CURLM_OK) {
        call->is_started = true;
        return;
    }
    (void)err_set(&call->err, -ENOMEM, "%s", curl_multi_strerror(r));
    http_call_finish(call, CURLE_FAILED_INIT);
}

static void settle(void *arg)
{
    struct http_client *client = arg;
    bool has_curl = false;

    reap(client);
    if (client->starting.len == 0)
        return;
    http_client_enter(client);
    while (client->starting.len > 0 && !client->is_freed) {
        struct http_call *call = client->starting.items[0];

        vec_remove_at(&client->starting, 0);
        has_curl |= call->easy != NULL;
        if (call->easy)
            give_to_curl(call);
        else
            http_socket_start(call);
    }
    if (has_curl && !client->is_freed)
        drive(client, CURL_SOCKET_TIMEOUT, 0);
    http_client_leave(client);
}

struct http_client *http_client_new(struct loop *loop)
{
    struct http_client *client = xcalloc(1, sizeof *client);

    BUG_ON(curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK);
    client->loop = loop;
    client->multi = curl_multi_init();
    BUG_ON(!client->multi);
    loop_timer_init(&client->timer, loop, on_time, client);
    loop_task_init(&client->settle, loop, settle, client);
    (void)curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_socket_wanted);
    (void)curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    (void)curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_timer_wanted);
    (void)curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    /* As many as the server allows. */
    (void)curl_multi_setopt(client->multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 10000L);
    return client;
}

void http_client_free(struct http_client *client)
{
    if (!client || client->is_freed)
        return;
    for (struct list_link *link = client->calls.first; link; link = link->next)
        list_item(link, struct http_call, of_client)->is_cancelled = true;
    client->is_freed = true;
    if (client->busy > 0)
        return;
    reap(client);
    destroy(client);
}

struct http_call *http_start(struct http_client *client, const struct http_request *request)
{
    struct http_call *call =
        http_socket_takes(request) ? http_call_new_by_socket(client, request) : http_call_new(client, request);

    vec_push(&client->starting, call);
    loop_task_queue(&client->settle);
    return call;
}

void http_cancel(struct http_call *call)
{
    struct http_client *client = call->client;

    if (call->is_cancelled)
        return;
    call->is_cancelled = true;
    for (uint32_t i = 0; i < client->starting.len; i++) {
        if (client->starting.items[i] != call)
            continue;
        vec_remove_at(&client->starting, i);
        break;
    }
    loop_task_queue(&client->settle);
}

size_t http_client_calls(const struct http_client *client)
{
    return client->calls.len;
}
