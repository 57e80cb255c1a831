/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A connection carries one call at a time and is kept for the next one. It is read from while it is idle as well, so
 * that one that the server has closed is not used again.
 */
#include "net/http_socket.h"

#include <errno.h>
#include <llhttp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>
#include <uv.h>

#include "base/macros.h"
#include "base/mem.h"
#include "net/loop_internal.h"

enum {
    READ_BYTES = 64 << 10,
    HEAD_MAX = 64 << 10,
    ANSWER_HEAD_MAX = 64 << 10,
    IDLE_MAX = 256,  // as many as one client may have under way
};

/* Servers close idle connections. One that was idle for long may be about to go, and a write that is lost with it could
 * not be made again. */
#define REUSE_MAX (20 * NSEC_PER_SEC)

struct http_socket {
    uv_pipe_t pipe;
    uv_timer_t timer;  // of the call
    uv_connect_t connect;
    struct http_client *client;
    struct list_link in_client;  // among those that are idle, or among all others
    char *path;
    struct http_call *call;  // NULL: idle, or closing
    llhttp_t parser;
    nsec_t idle_since;
    bool is_idle;
    bool has_served;  // another call before this one
    bool has_answer;  // bytes of it have come
    bool is_whole;    // the answer is
    int handles;      // of libuv, not yet closed
};

/* Bytes that did not fit into the socket at once. */
struct rest {
    uv_write_t uv;
    char bytes[];
};

/* --- the request --- */

bool http_socket_takes(const struct http_request *request)
{
    return request->unix_path && !request->speaks_http2 && strncmp(request->url, "http://", 7) == 0;
}

static bool has_control(const char *text, char lowest)
{
    for (; *text; text++) {
        if ((unsigned char)*text < (unsigned char)lowest || *text == 0x7f)
            return true;
    }
    return false;
}

static void add_headers(struct strbuf *head, struct http_call *call, const struct http_request *request)
{
    bool has_body = request->body || strcmp(request->method, "POST") == 0 || strcmp(request->method, "PUT") == 0;

    for (const char *const *at = request->headers; at && *at; at++) {
        if (has_control(*at, ' '))
            (void)err_set(&call->err, -EINVAL, "a header has a line end: %s", *at);
        strbuf_addstr(head, *at);
        strbuf_add(head, "\r\n", 2);
    }
    if (has_body)
        strbuf_addf(head, "Content-Length: %zu\r\n", request->body ? request->body_len : 0);
    strbuf_add(head, "\r\n", 2);
}

void http_socket_prepare(struct http_call *call, const struct http_request *request)
{
    const char *host = request->url + strlen("http://");
    size_t host_len = strcspn(host, "/?#");
    const char *target = host + host_len;
    size_t body_len = request->body ? request->body_len : 0;
    struct strbuf *head = &call->sending;

    strbuf_init(head, HEAD_MAX + body_len);
    if (has_control(request->url, '!') || has_control(request->method, '!'))
        (void)err_set(&call->err, -EINVAL, "a URL or method has a space or line end: %s", request->url);
    strbuf_addf(head, "%s %s%s HTTP/1.1\r\nHost: %.*s\r\n", request->method, *target == '/' ? "" : "/", target,
                (int)host_len, host);
    add_headers(head, call, request);
    if (head->len > HEAD_MAX || head->is_cut)
        (void)err_set(&call->err, -EINVAL, "the head of the request has more than %d bytes", HEAD_MAX);
    if (strlen(request->unix_path) >= sizeof((struct sockaddr_un){0}).sun_path)
        (void)err_set(&call->err, -ECONNREFUSED, "the path of a socket is too long: %s", request->unix_path);
    if (request->body)
        strbuf_add(head, request->body, body_len);
    call->socket_path = xstrdup(request->unix_path);
    call->timeout = request->timeout;
    call->is_head = strcmp(request->method, "HEAD") == 0;
    strbuf_init(&call->answer_head, ANSWER_HEAD_MAX);
}

/* --- connections --- */

static void on_handle_closed(uv_handle_t *handle)
{
    struct http_socket *socket = handle->data;

    if (--socket->handles > 0)
        return;
    free(socket->path);
    free(socket);
}

static void close_socket(struct http_socket *socket)
{
    struct http_client *client = socket->client;

    list_remove(socket->is_idle ? &client->idle_sockets : &client->sockets, &socket->in_client);
    socket->call = NULL;
    uv_close((uv_handle_t *)&socket->pipe, on_handle_closed);
    uv_close((uv_handle_t *)&socket->timer, on_handle_closed);
}

void http_socket_close_all(struct http_client *client)
{
    for (struct http_socket *socket; (socket = list_first(&client->idle_sockets, struct http_socket, in_client));)
        close_socket(socket);
    free(TAKE_PTR(client->read_buffer));
}

static void set_idle(struct http_socket *socket, bool is_idle)
{
    struct http_client *client = socket->client;

    list_remove(socket->is_idle ? &client->idle_sockets : &client->sockets, &socket->in_client);
    list_push(is_idle ? &client->idle_sockets : &client->sockets, &socket->in_client);
    socket->is_idle = is_idle;
    /* Nobody waits for an idle connection: a loop with nothing else to do ends. */
    if (is_idle)
        uv_unref((uv_handle_t *)&socket->pipe);
    else
        uv_ref((uv_handle_t *)&socket->pipe);
}

void http_socket_release(struct http_call *call)
{
    struct http_socket *socket = TAKE_PTR(call->socket);

    free(TAKE_PTR(call->socket_path));
    strbuf_done(&call->sending);
    strbuf_done(&call->answer_head);
    if (!socket)
        return;
    socket->call = NULL;
    (void)uv_timer_stop(&socket->timer);
    if (!socket->is_whole || !llhttp_should_keep_alive(&socket->parser) ||
        socket->client->idle_sockets.len >= IDLE_MAX) {
        close_socket(socket);
        return;
    }
    socket->has_served = true;
    socket->idle_since = nsec_now_monotonic();
    set_idle(socket, true);
}

/* The connection that was used last: it is the least likely to be closed, and the others grow old and go. */
static struct http_socket *take_idle(struct http_client *client, const char *path)
{
    nsec_t oldest = nsec_now_monotonic() - REUSE_MAX;

    for (struct http_socket *first;
         (first = list_first(&client->idle_sockets, struct http_socket, in_client)) && first->idle_since < oldest;)
        close_socket(first);
    for (struct list_link *at = client->idle_sockets.last; at; at = at->prev) {
        struct http_socket *socket = list_item(at, struct http_socket, in_client);

        if (strcmp(socket->path, path) != 0)
            continue;
        set_idle(socket, false);
        return socket;
    }
    return NULL;
}

/* --- the answer, by the callbacks of llhttp --- */

static int add_to_head(struct http_call *call, const char *bytes, size_t len)
{
    strbuf_add(&call->answer_head, bytes, len);
    if (!call->answer_head.is_cut)
        return HPE_OK;
    (void)err_set(&call->err, -EFBIG, "the head of the answer is larger than the limit of %d bytes", ANSWER_HEAD_MAX);
    return HPE_USER;
}

static int on_name(llhttp_t *parser, const char *bytes, size_t len)
{
    return add_to_head(((struct http_socket *)parser->data)->call, bytes, len);
}

static int on_text_complete(llhttp_t *parser)
{
    return add_to_head(((struct http_socket *)parser->data)->call, "", 1);
}

static int on_headers_complete(llhttp_t *parser)
{
    struct http_call *call = ((struct http_socket *)parser->data)->call;

    call->status = llhttp_get_status_code(parser);
    if (call->on_begun && !call->is_cancelled && call->status / 100 == 2)
        call->on_begun(call->arg);
    return call->is_head ? 1 : 0;
}

static int on_body(llhttp_t *parser, const char *bytes, size_t len)
{
    return http_call_take(((struct http_socket *)parser->data)->call, bytes, len) ? HPE_OK : HPE_USER;
}

static int on_complete(llhttp_t *parser)
{
    struct http_socket *socket = parser->data;

    /* The answer itself comes behind an interim one. */
    if (socket->call->status / 100 == 1) {
        strbuf_clear(&socket->call->answer_head);
        return HPE_OK;
    }
    socket->is_whole = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_header_field = on_name,
    .on_header_field_complete = on_text_complete,
    .on_header_value = on_name,
    .on_header_value_complete = on_text_complete,
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_complete,
};

const char *http_socket_header(const struct http_call *call, const char *name)
{
    const char *end = call->answer_head.text + call->answer_head.len;

    for (const char *at = call->answer_head.text; at < end;) {
        const char *value = at + strlen(at) + 1;

        if (strcasecmp(at, name) == 0)
            return value;
        at = value + strlen(value) + 1;
    }
    return NULL;
}

/* --- the life of a call --- */

/* The connection is gone. A request that the server cannot have seen is made again, and reading always may be: the server
 * closes idle connections when it likes. */
static void lose(struct http_socket *socket, bool is_unseen, const char *why)
{
    struct http_call *call = socket->call;

    if (!call) {
        close_socket(socket);
        return;
    }
    if (call->err.code == 0 && socket->has_served && !socket->has_answer && (is_unseen || call->is_reading)) {
        call->socket = NULL;
        close_socket(socket);
        http_socket_start(call);
        return;
    }
    if (call->err.code == 0)
        (void)err_set(&call->err, -ECONNRESET, "the connection was lost before %s: %s",
                      socket->has_answer ? "the answer was complete" : "an answer came", why);
    http_call_finish(call, CURLE_OK);
}

static void parse(struct http_socket *socket, const char *bytes, size_t len)
{
    socket->has_answer = true;
    llhttp_errno_t r = llhttp_execute(&socket->parser, bytes, len);

    if (socket->is_whole) {
        /* Bytes behind the answer would be taken for the next one. */
        if (llhttp_get_error_pos(&socket->parser) != bytes + len)
            socket->is_whole = false;
        llhttp_resume(&socket->parser);
        http_call_finish(socket->call, CURLE_OK);
    } else if (r != HPE_OK) {
        lose(socket, false, llhttp_errno_name(r));
    }
}

/* An answer without a length ends with the connection. */
static void on_end(struct http_socket *socket, const char *why)
{
    if (socket->call && socket->has_answer && llhttp_finish(&socket->parser) == HPE_PAUSED && socket->is_whole) {
        socket->is_whole = false;
        http_call_finish(socket->call, CURLE_OK);
        return;
    }
    lose(socket, false, why);
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *buffer)
{
    struct http_socket *socket = stream->data;
    struct http_client *client = socket->client;

    if (len == 0)
        return;
    http_client_enter(client);
    if (len < 0)
        on_end(socket, len == UV_EOF ? "it was closed" : uv_strerror((int)len));
    else if (socket->call)
        parse(socket, buffer->base, (size_t)len);
    else
        close_socket(socket);
    http_client_leave(client);
}

static void give_buffer(uv_handle_t *handle, size_t wanted, uv_buf_t *ret_buffer)
{
    struct http_client *client = ((struct http_socket *)handle->data)->client;

    (void)wanted;
    if (!client->read_buffer)
        client->read_buffer = xmalloc(READ_BYTES);
    *ret_buffer = uv_buf_init(client->read_buffer, READ_BYTES);
}

static void on_rest_sent(uv_write_t *uv, int status)
{
    /* A connection that is lost is noticed by reading, which may bring an answer that came before the end. */
    (void)status;
    free(uv);
}

static void send_rest(struct http_socket *socket, const char *bytes, size_t len)
{
    struct rest *rest = xmalloc(sizeof *rest + len);
    uv_buf_t buffer = uv_buf_init(rest->bytes, (unsigned)len);

    memcpy(rest->bytes, bytes, len);
    if (uv_write(&rest->uv, (uv_stream_t *)&socket->pipe, &buffer, 1, on_rest_sent) < 0)
        free(rest);
}

static void send_request(struct http_socket *socket)
{
    struct http_call *call = socket->call;
    uv_buf_t buffer = uv_buf_init(call->sending.text, (unsigned)call->sending.len);

    if (!http_call_may_send(call)) {
        lose(socket, true, "");
        return;
    }
    int sent = uv_try_write((uv_stream_t *)&socket->pipe, &buffer, 1);
    if (sent < 0 && sent != UV_EAGAIN) {
        lose(socket, true, uv_strerror(sent));
        return;
    }
    call->is_sent = true;
    if (MAX(sent, 0) < (int)call->sending.len)
        send_rest(socket, call->sending.text + MAX(sent, 0), call->sending.len - (size_t)MAX(sent, 0));
}

static void on_timeout(uv_timer_t *timer)
{
    struct http_socket *socket = timer->data;
    struct http_client *client = socket->client;

    http_client_enter(client);
    (void)err_set(&socket->call->err, -ETIMEDOUT, "no whole answer came within %lld ms",
                  (long long)(socket->call->timeout / NSEC_PER_MSEC));
    http_call_finish(socket->call, CURLE_OK);
    http_client_leave(client);
}

static void carry(struct http_socket *socket)
{
    struct http_call *call = socket->call;

    socket->has_answer = socket->is_whole = false;
    llhttp_init(&socket->parser, HTTP_RESPONSE, &settings);
    socket->parser.data = socket;
    if (call->timeout > 0)
        (void)uv_timer_start(&socket->timer, on_timeout, (uint64_t)((call->timeout - 1) / NSEC_PER_MSEC + 1), 0);
    send_request(socket);
}

static void on_connected(uv_connect_t *connect, int status)
{
    struct http_socket *socket = connect->data;
    struct http_client *client = socket->client;

    if (status == UV_ECANCELED || !socket->call)
        return;
    http_client_enter(client);
    if (status < 0) {
        (void)err_set(&socket->call->err, -ECONNREFUSED, "%s: %s", socket->path, uv_strerror(status));
        http_call_finish(socket->call, CURLE_OK);
    } else {
        (void)uv_read_start((uv_stream_t *)&socket->pipe, give_buffer, on_read);
        carry(socket);
    }
    http_client_leave(client);
}

static void connect_for(struct http_call *call)
{
    struct http_client *client = call->client;
    struct http_socket *socket = xcalloc(1, sizeof *socket);

    socket->client = client;
    socket->path = xstrdup(call->socket_path);
    socket->call = call;
    socket->handles = 2;
    BUG_ON(uv_pipe_init(&client->loop->uv, &socket->pipe, 0) < 0 ||
           uv_timer_init(&client->loop->uv, &socket->timer) < 0);
    socket->pipe.data = socket->timer.data = socket->connect.data = socket;
    list_push(&client->sockets, &socket->in_client);
    call->socket = socket;
    uv_pipe_connect(&socket->connect, &socket->pipe, socket->path, on_connected);
}

void http_socket_start(struct http_call *call)
{
    struct http_socket *socket;

    if (call->err.code) {
        http_call_finish(call, CURLE_OK);
        return;
    }
    socket = take_idle(call->client, call->socket_path);
    if (!socket) {
        connect_for(call);
        return;
    }
    socket->call = call;
    call->socket = socket;
    carry(socket);
}
