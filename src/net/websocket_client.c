/* SPDX-License-Identifier: Apache-2.0 */

/*
 * curl makes the connection, with all that belongs to it, and then only carries bytes (CURLOPT_CONNECT_ONLY): its own
 * WebSockets are missing from the releases that distributions have.
 */
#include "net/websocket_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <wslay/wslay.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "net/http_internal.h"
#include "net/watch.h"
#include "net/websocket/answer.h"

enum { HEAD_MAX = 2 << 20, READ_BYTES = 16 << 10, SEND_BYTES = 16 << 10 };

#define ANSWER_TIMEOUT (60 * NSEC_PER_SEC)

struct websocket_client {
    struct http_client *http;  // that holds the connection
    struct http_call *call;
    wslay_event_context_ptr context;
    struct websocket_client_handler handler;
    struct websocket_answer answer;
    int fd;        // curl's
    int write_fd;  // a duplicate, to wait for both directions
    struct loop *loop;
    struct loop_watch reading, writing;
    struct loop_task first;  // reads what came with the answer
    char early[READ_BYTES];
    size_t early_at, early_len;
    char sending[SEND_BYTES];  // TLS has to be offered the same bytes again that it did not take
    size_t sending_at, sending_len;
    struct err err;
    bool is_waiting;  // the server has not taken everything, of which the handler is told when it has
    bool has_ended;
    bool has_told;  // of it
    bool is_busy;   // callbacks of the handler may come: it is freed when they are over
    bool is_freed;
};

static void destroy(struct websocket_client *client)
{
    loop_task_cancel(&client->first);
    loop_watch_done(&client->reading);
    loop_watch_done(&client->writing);
    if (client->write_fd >= 0)
        (void)close(client->write_fd);
    if (client->context)
        wslay_event_context_free(client->context);
    websocket_answer_done(&client->answer);
    http_call_free(client->call);
    http_client_free(client->http);
    free(client);
}

/* --- bytes --- */

static ssize_t receive(struct websocket_client *client, void *buffer, size_t len)
{
    size_t n = 0;

    if (client->early_at < client->early_len) {
        n = MIN(len, client->early_len - client->early_at);
        memcpy(buffer, client->early + client->early_at, n);
        client->early_at += n;
        return (ssize_t)n;
    }
    CURLcode code = curl_easy_recv(client->call->easy, buffer, len, &n);
    if (code == CURLE_AGAIN)
        return -EAGAIN;
    return code == CURLE_OK && n > 0 ? (ssize_t)n : -ECONNRESET;
}

/* Sends what is left of the bytes. Returns 0, -EAGAIN or -ECONNRESET. */
static int push(struct websocket_client *client)
{
    while (client->sending_at < client->sending_len) {
        size_t n = 0;
        CURLcode code = curl_easy_send(client->call->easy, client->sending + client->sending_at,
                                       client->sending_len - client->sending_at, &n);

        if (code == CURLE_AGAIN)
            return -EAGAIN;
        if (code != CURLE_OK)
            return -ECONNRESET;
        client->sending_at += n;
    }
    client->sending_at = client->sending_len = 0;
    return 0;
}

/* --- wslay's callbacks --- */

static ssize_t give_bytes(wslay_event_context_ptr context, uint8_t *buffer, size_t len, int flags, void *arg)
{
    struct websocket_client *client = arg;
    ssize_t n = client->is_freed ? -EAGAIN : receive(client, buffer, len);

    (void)flags;
    if (n > 0)
        return n;
    client->has_ended = client->has_ended || n != -EAGAIN;
    wslay_event_set_error(context, n == -EAGAIN ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static ssize_t take_bytes(wslay_event_context_ptr context, const uint8_t *bytes, size_t len, int flags, void *arg)
{
    struct websocket_client *client = arg;
    int code = push(client);

    (void)flags;
    if (code < 0) {
        client->has_ended = client->has_ended || code != -EAGAIN;
        wslay_event_set_error(context, code == -EAGAIN ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
        return -1;
    }
    client->sending_len = MIN(len, sizeof client->sending);
    memcpy(client->sending, bytes, client->sending_len);
    return (ssize_t)client->sending_len;
}

static int make_mask(wslay_event_context_ptr context, uint8_t *mask, size_t len, void *arg)
{
    (void)context;
    (void)arg;
    return getrandom(mask, len, 0) == (ssize_t)len ? 0 : -1;
}

static void on_message(wslay_event_context_ptr context, const struct wslay_event_on_msg_recv_arg *message, void *arg)
{
    struct websocket_client *client = arg;

    (void)context;
    if (!client->is_freed && (message->opcode == WSLAY_BINARY_FRAME || message->opcode == WSLAY_TEXT_FRAME))
        client->handler.on_message(client->handler.arg, message->msg ? (const char *)message->msg : "",
                                   message->msg_length);
}

/* --- the loop's --- */

static void on_writable(void *arg);

/* Sends what wslay has, and waits where the server does not take it. */
static void flush(struct websocket_client *client)
{
    int code = wslay_event_send(client->context) < 0 ? -ECONNRESET : push(client);
    bool is_blocked = code == -EAGAIN || (code == 0 && wslay_event_want_write(client->context));

    if (code == -ECONNRESET)
        client->has_ended = true;
    client->is_waiting = client->is_waiting || is_blocked;
    if (!is_blocked || client->has_ended)
        loop_watch_done(&client->writing);
    else if (!client->writing.handle)
        client->has_ended =
            loop_watch_start_writing(&client->writing, client->loop, client->write_fd, on_writable, client) < 0;
}

static bool has_drained(const struct websocket_client *client)
{
    return client->is_waiting && !client->writing.handle;
}

static void tell_end(struct websocket_client *client)
{
    loop_task_cancel(&client->first);
    loop_watch_done(&client->reading);
    loop_watch_done(&client->writing);
    client->has_ended = client->has_told = true;
    if (!wslay_event_get_close_received(client->context))
        (void)err_set(&client->err, -ECONNRESET, "the connection to the server was lost");
    client->handler.on_end(client->handler.arg, &client->err);
}

static void leave(struct websocket_client *client)
{
    client->is_busy = false;
    if (client->is_freed)
        destroy(client);
}

/* After reading: sends, and tells the handler what has become of it. */
static void settle(struct websocket_client *client)
{
    flush(client);
    if (client->has_ended || wslay_event_get_close_received(client->context)) {
        tell_end(client);
    } else if (has_drained(client)) {
        client->is_waiting = false;
        if (client->handler.on_drain)
            client->handler.on_drain(client->handler.arg);
    }
}

static void on_readable(void *arg)
{
    struct websocket_client *client = arg;

    client->is_busy = true;
    if (wslay_event_recv(client->context) < 0)
        client->has_ended = true;
    if (!client->is_freed)
        settle(client);
    leave(client);
}

static void on_writable(void *arg)
{
    struct websocket_client *client = arg;

    client->is_busy = true;
    settle(client);
    leave(client);
}

/* --- the beginning --- */

/* Waits for the connection. False when the time is over. */
static bool await(const struct websocket_client *client, short events, nsec_t until)
{
    struct pollfd poll_fd = {.fd = client->fd, .events = events};
    int r = -1;

    for (errno = EINTR; r < 0 && errno == EINTR;) {
        nsec_t left = until - nsec_now_monotonic();

        if (left <= 0)
            return false;
        r = poll(&poll_fd, 1, (int)MIN(left / NSEC_PER_MSEC + 1, (nsec_t)60000));
    }
    return r > 0;
}

/* The request as text; to be freed by the caller. NULL when its URL is none. */
static char *head_of(const struct http_request *request, const char *protocols, const char *key)
{
    CURLU *parts = curl_url();
    char *host = NULL, *port = NULL, *path = NULL, *query = NULL;
    struct strbuf head;

    BUG_ON(!parts);
    strbuf_init(&head, HEAD_MAX);
    if (curl_url_set(parts, CURLUPART_URL, request->url, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_PATH, &path, 0) == CURLUE_OK) {
        (void)curl_url_get(parts, CURLUPART_PORT, &port, 0);
        (void)curl_url_get(parts, CURLUPART_QUERY, &query, 0);
        strbuf_addf(&head, "GET %s%s%s HTTP/1.1\r\nHost: %s%s%s\r\n", path, query ? "?" : "", query ? query : "", host,
                    port ? ":" : "", port ? port : "");
        strbuf_addf(&head,
                    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                    "Sec-WebSocket-Key: %s\r\n",
                    key);
        if (protocols)
            strbuf_addf(&head, "Sec-WebSocket-Protocol: %s\r\n", protocols);
        for (const char *const *at = request->headers; at && *at; at++)
            strbuf_addf(&head, "%s\r\n", *at);
        strbuf_addstr(&head, "\r\n");
    }
    curl_free(host);
    curl_free(port);
    curl_free(path);
    curl_free(query);
    curl_url_cleanup(parts);
    bool is_good = head.len > 0 && !head.is_cut;
    char *text = strbuf_take(&head);
    if (!is_good)
        free(TAKE_PTR(text));
    return text;
}

static int send_head(struct websocket_client *client, const char *head, nsec_t until, struct err *err)
{
    size_t len = strlen(head);

    for (size_t at = 0; at < len;) {
        size_t n = 0;
        CURLcode code = curl_easy_send(client->call->easy, head + at, len - at, &n);

        if (code == CURLE_AGAIN && !await(client, POLLOUT, until))
            return err_set(err, -ETIMEDOUT, "the server does not take the request");
        if (code != CURLE_OK && code != CURLE_AGAIN)
            return err_set(err, -ECONNRESET, "%s", curl_easy_strerror(code));
        at += n;
    }
    return 0;
}

static int read_answer(struct websocket_client *client, nsec_t until, struct err *err)
{
    while (!client->answer.has_ended) {
        size_t n = 0;
        CURLcode code = curl_easy_recv(client->call->easy, client->early, sizeof client->early, &n);

        if (code == CURLE_AGAIN) {
            if (!await(client, POLLIN, until))
                return err_set(err, -ETIMEDOUT, "the server has not answered in time");
            continue;
        }
        /* A refusal may end with the connection. */
        if (n == 0 && client->answer.status >= 200)
            return 0;
        if (code != CURLE_OK || n == 0)
            return err_set(err, -ECONNRESET, "the connection was lost before an answer came");
        ssize_t used = websocket_answer_read(&client->answer, client->early, n);
        if (used < 0)
            return err_set(err, -EPROTO, "the server's answer is not HTTP");
        client->early_at = (size_t)used;
        client->early_len = n;
    }
    return 0;
}

static int check_answer(const struct websocket_client *client, const char *key, struct err *err)
{
    const struct websocket_answer *answer = &client->answer;
    char expected[WEBSOCKET_ACCEPT_BYTES];

    if (answer->status != 101)
        return err_set(err, -EPROTO, "the server refuses a WebSocket (HTTP status %d)", answer->status);
    if (!answer->is_upgrade || !websocket_key_answer(key, expected) || strcmp(expected, answer->accept) != 0)
        return err_set(err, -EPROTO, "the server's answer to the request for a WebSocket is malformed");
    return 0;
}

static int shake_hands(struct websocket_client *client, const struct http_request *request, const char *protocols,
                       struct err *err)
{
    nsec_t until = nsec_now_monotonic() + (request->timeout > 0 ? request->timeout : ANSWER_TIMEOUT);
    char key[WEBSOCKET_KEY_LEN + 1];

    if (!websocket_key_make(key))
        return err_set(err, -EIO, "the system has no random bytes");
    _cleanup_(freep) char *head = head_of(request, protocols, key);
    if (!head)
        return err_set(err, -EINVAL, "the request for a WebSocket is too long, or its URL is malformed");
    int code = send_head(client, head, until, err);
    if (code == 0)
        code = read_answer(client, until, err);
    return code < 0 ? code : check_answer(client, key, err);
}

static int open_connection(struct websocket_client *client, struct err *err)
{
    CURL *easy = client->call->easy;
    curl_socket_t fd = CURL_SOCKET_BAD;

    (void)curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
    CURLcode code = curl_easy_perform(easy);
    if (code != CURLE_OK)
        return err_set(err, -ECONNREFUSED, "%s",
                       client->call->curl_text[0] ? client->call->curl_text : curl_easy_strerror(code));
    if (curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK || fd == CURL_SOCKET_BAD)
        return err_set(err, -ECONNREFUSED, "there is no connection");
    client->fd = fd;
    client->write_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return client->write_fd < 0 ? err_set(err, -errno, "the connection cannot be used: %s", strerror(errno)) : 0;
}

static int begin(struct websocket_client *client, struct err *err)
{
    static const struct wslay_event_callbacks callbacks = {.recv_callback = give_bytes,
                                                           .send_callback = take_bytes,
                                                           .genmask_callback = make_mask,
                                                           .on_msg_recv_callback = on_message};

    if (wslay_event_context_client_init(&client->context, &callbacks, client) < 0)
        return err_set(err, -ENOMEM, "there is not enough memory");
    wslay_event_config_set_max_recv_msg_length(client->context, WEBSOCKET_CLIENT_MESSAGE_MAX);
    int code = loop_watch_start(&client->reading, client->loop, client->fd, on_readable, client);
    if (code < 0)
        return err_set(err, code, "the connection cannot be used: %s", strerror(-code));
    /* Nothing has to come any more for what came with the answer, or is in curl's buffers. */
    loop_task_init(&client->first, client->loop, on_readable, client);
    loop_task_queue(&client->first);
    return 0;
}

static void on_never(void *arg, const struct http_response *response)
{
    (void)arg;
    (void)response;
}

int websocket_connect(struct loop *loop, const struct http_request *request, const char *protocols,
                      const struct websocket_client_handler *handler, struct websocket_client **ret,
                      struct websocket_refusal *ret_refusal, struct err *err)
{
    struct websocket_client *client = xcalloc(1, sizeof *client);
    struct http_request connecting = *request;
    int code;

    /* The times of the request are for its answer, and no callback of it comes. */
    connecting.method = "GET";
    connecting.body = NULL;
    connecting.timeout = connecting.idle_timeout = 0;
    connecting.on_begun = NULL;
    connecting.on_data = NULL;
    connecting.on_done = on_never;
    client->loop = loop;
    client->handler = *handler;
    client->write_fd = -1;
    client->http = http_client_new(loop);
    client->call = http_call_new(client->http, &connecting);
    websocket_answer_init(&client->answer);
    code = open_connection(client, err);
    if (code == 0)
        code = shake_hands(client, request, protocols, err);
    ret_refusal->status = client->answer.status;
    (void)snprintf(ret_refusal->body, sizeof ret_refusal->body, "%s", client->answer.body.text);
    if (code == 0)
        code = begin(client, err);
    if (code < 0)
        destroy(client);
    else
        *ret = client;
    return code;
}

void websocket_client_free(struct websocket_client *client)
{
    if (!client)
        return;
    client->is_freed = true;
    if (!client->is_busy)
        destroy(client);
}

const char *websocket_client_protocol(const struct websocket_client *client)
{
    return client->answer.protocol;
}

void websocket_client_send(struct websocket_client *client, const char *bytes, size_t len)
{
    const struct wslay_event_msg message = {
        .opcode = WSLAY_BINARY_FRAME, .msg = (const uint8_t *)bytes, .msg_length = len};

    if (!client->has_ended && wslay_event_queue_msg(client->context, &message) == 0)
        flush(client);
    /* What has become of it is told by the loop. */
    if ((client->has_ended || has_drained(client)) && !client->has_told)
        loop_task_queue(&client->first);
}

size_t websocket_client_unsent(const struct websocket_client *client)
{
    return wslay_event_get_queued_msg_length(client->context) + client->sending_len - client->sending_at;
}
