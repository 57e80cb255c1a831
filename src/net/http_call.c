/* SPDX-License-Identifier: Apache-2.0 */

/* One request and its answer. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/macros.h"
#include "base/mem.h"
#include "net/http_internal.h"
#include "net/http_socket.h"

enum { PEER_SILENT_MS = 30000, KEEPALIVE_AFTER_S = 30, KEEPALIVE_EVERY_S = 10 };

/* Of each request that is under way: curl's own choice is 64 KiB for what is sent, which with many requests is more than
 * all else that a service holds. It takes no less than 16 KiB. The same for all, since handles are used again with the
 * buffers that they have. */
enum { SEND_BUFFER = 16 << 10 };

/* What a failure of curl means to our callers; all others are lost connections. */
static const struct {
    CURLcode curl;
    int code;
} errors[] = {
    {CURLE_UNSUPPORTED_PROTOCOL, -EINVAL},
    {CURLE_URL_MALFORMAT, -EINVAL},
    {CURLE_COULDNT_RESOLVE_PROXY, -EHOSTUNREACH},
    {CURLE_COULDNT_RESOLVE_HOST, -EHOSTUNREACH},
    {CURLE_COULDNT_CONNECT, -ECONNREFUSED},
    {CURLE_OPERATION_TIMEDOUT, -ETIMEDOUT},
    {CURLE_SSL_CONNECT_ERROR, -EPROTO},
    {CURLE_PEER_FAILED_VERIFICATION, -EKEYREJECTED},
    {CURLE_SSL_CERTPROBLEM, -EKEYREJECTED},
    {CURLE_SSL_CACERT_BADFILE, -EKEYREJECTED},
    {CURLE_OUT_OF_MEMORY, -ENOMEM},
};

/* Keepalive alone does not notice a peer that is gone while bytes to it are on their way. */
static int on_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
    unsigned int timeout_ms = PEER_SILENT_MS;

    (void)arg;
    (void)purpose;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof timeout_ms);
    return CURL_SOCKOPT_OK;
}

/* A name has been resolved: what counts is the address that is connected to, whatever the name said before. */
static curl_socket_t on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct http_call *call = arg;

    (void)purpose;
    if (!call->may_connect(call->may_connect_arg, &address->addr)) {
        call->is_refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

bool http_call_may_send(struct http_call *call)
{
    if (!call->may_send || call->may_send(call->arg))
        return true;
    (void)err_set(&call->err, -ECANCELED, "the request may not be sent any more");
    return false;
}

/*
 * curl sends a request again by itself when a connection that was in use before turns out to be dead. For all it knows
 * the server may have done what was asked, so that only reading may be repeated.
 */
// NOLINTNEXTLINE(readability-non-const-parameter): the type is curl's
static int on_sending(void *arg, char *to, char *from, int to_port, int from_port)
{
    struct http_call *call = arg;

    (void)to;
    (void)from;
    (void)to_port;
    (void)from_port;
    if (!http_call_may_send(call))
        return CURL_PREREQFUNC_ABORT;
    if (!call->is_sent || call->is_reading) {
        call->is_sent = true;
        return CURL_PREREQFUNC_OK;
    }
    (void)err_set(&call->err, -ECONNRESET, "the connection was lost before an answer came");
    return CURL_PREREQFUNC_ABORT;
}

static int status_of(const struct http_call *call)
{
    long status = call->status;

    if (call->easy)
        (void)curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

static bool is_good(const struct http_call *call)
{
    return status_of(call) / 100 == 2;
}

/* One line of the headers; the empty one is their end. Those of an interim answer or of a proxy end likewise. */
static size_t on_header(const char *bytes, size_t size, size_t count, void *arg)
{
    struct http_call *call = arg;
    size_t len = size * count;

    if (len == 2 && bytes[0] == '\r' && !call->is_cancelled && is_good(call))
        call->on_begun(call->arg);
    return len;
}

bool http_call_take(struct http_call *call, const char *bytes, size_t len)
{
    if (call->idle_timeout > 0)
        call->last_byte = nsec_now_monotonic();
    if (call->is_cancelled)
        return false;
    if (call->on_data && is_good(call)) {
        int r = call->on_data(call->arg, bytes, len);

        if (r < 0 && call->err.code == 0)
            (void)err_set(&call->err, r, "the answer was refused: %s", strerror(-r));
        return r >= 0 && !call->is_cancelled;
    }
    strbuf_add(&call->body, bytes, len);
    if (call->body.is_cut)
        (void)err_set(&call->err, -EFBIG, "the answer is larger than the limit of %zu bytes", call->body.max);
    return !call->body.is_cut;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
    return http_call_take(arg, bytes, size * count) ? size * count : CURL_WRITEFUNC_ERROR;
}

static void on_idle(void *arg)
{
    struct http_call *call = arg;
    struct http_client *client = call->client;
    nsec_t silent = nsec_now_monotonic() - call->last_byte;

    if (silent < call->idle_timeout) {
        loop_timer_start(&call->idle, call->idle_timeout - silent);
        return;
    }
    (void)err_set(&call->err, -ETIMEDOUT, "the server has sent nothing for %lld s", (long long)(silent / NSEC_PER_SEC));
    http_client_enter(client);
    http_call_finish(call, CURLE_ABORTED_BY_CALLBACK);
    http_client_leave(client);
}

static void set_headers(struct http_call *call, const struct http_request *request)
{
    for (const char *const *at = request->headers; at && *at; at++) {
        struct curl_slist *longer = curl_slist_append(call->headers, *at);

        BUG_ON(!longer);
        call->headers = longer;
    }
    /* Waiting for a "100 Continue" costs a round trip, and the servers that we talk to do not say no. */
    call->headers = curl_slist_append(call->headers, "Expect:");
    BUG_ON(!call->headers);
    (void)curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers);
}

static void set_body(struct http_call *call, const struct http_request *request)
{
    if (request->body) {
        (void)curl_easy_setopt(call->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_len);
        BUG_ON(curl_easy_setopt(call->easy, CURLOPT_COPYPOSTFIELDS, request->body) != CURLE_OK);
    } else if (strcmp(request->method, "POST") == 0 || strcmp(request->method, "PUT") == 0) {
        (void)curl_easy_setopt(call->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
        (void)curl_easy_setopt(call->easy, CURLOPT_COPYPOSTFIELDS, "");
    }
    if (strcmp(request->method, "HEAD") == 0)
        (void)curl_easy_setopt(call->easy, CURLOPT_NOBODY, 1L);
    else
        (void)curl_easy_setopt(call->easy, CURLOPT_CUSTOMREQUEST, request->method);
}

static long timeout_ms(nsec_t timeout)
{
    return timeout > 0 ? (long)MIN((timeout - 1) / NSEC_PER_MSEC + 1, (nsec_t)INT32_MAX) : 0;
}

static void set_transport(struct http_call *call, const struct http_request *request)
{
    CURL *easy = call->easy;
    nsec_t connect_timeout = request->connect_timeout ? request->connect_timeout : 10 * NSEC_PER_SEC;
    bool is_tls = strncmp(request->url, "https:", 6) == 0;
    long plain_version = request->speaks_http2 ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE : CURL_HTTP_VERSION_1_1;

    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, is_tls ? (long)CURL_HTTP_VERSION_2TLS : plain_version);
    /*
     * A request waits for a connection that may carry it too, rather than open one of its own. Not without TLS: curl would
     * wait for one that turns out to speak HTTP/1.1, and of those that wait it wakes a single one for each request that
     * ends. With nothing but watches under way the others would wait for ever.
     */
    (void)curl_easy_setopt(easy, CURLOPT_PIPEWAIT, is_tls ? 1L : 0L);
    /* curl 7.88 speaks HTTP/2 without TLS once only: on a connection that it uses again, the second request fails. */
    (void)curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, !is_tls && request->speaks_http2 ? 1L : 0L);
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)SEND_BUFFER);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_AFTER_S);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_EVERY_S);
    (void)curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_socket);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, timeout_ms(connect_timeout));
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms(request->timeout));
    if (request->unix_path)
        (void)curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, request->unix_path);
    if (request->may_connect) {
        (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
        (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, call);
        (void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
        (void)curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        (void)curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    } else if (request->proxy)
        (void)curl_easy_setopt(easy, CURLOPT_PROXY, request->proxy);
    if (request->accepts_gzip)
        (void)curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
}

static CURL *take_handle(struct http_client *client)
{
    CURL *easy = client->spares ? client->spare[--client->spares] : curl_easy_init();

    BUG_ON(!easy);
    return easy;
}

static void give_handle(struct http_client *client, CURL *easy)
{
    curl_easy_reset(easy);
    if (client->spares < SPARE_HANDLES)
        client->spare[client->spares++] = easy;
    else
        curl_easy_cleanup(easy);
}

/* All that is the same for both kinds. */
static struct http_call *call_new(struct http_client *client, const struct http_request *request)
{
    struct http_call *call = xcalloc(1, sizeof *call);

    call->client = client;
    list_push(&client->calls, &call->of_client);
    call->may_send = request->may_send;
    call->on_begun = request->on_begun;
    call->on_data = request->on_data;
    call->on_done = request->on_done;
    call->arg = request->arg;
    call->may_connect = request->may_connect;
    call->may_connect_arg = request->may_connect_arg;
    call->is_reading = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    call->idle_timeout = request->idle_timeout;
    call->last_byte = nsec_now_monotonic();
    strbuf_init(&call->body, request->body_max);
    if (call->idle_timeout > 0) {
        loop_timer_init(&call->idle, client->loop, on_idle, call);
        loop_timer_start(&call->idle, call->idle_timeout);
    }
    return call;
}

struct http_call *http_call_new_by_socket(struct http_client *client, const struct http_request *request)
{
    struct http_call *call = call_new(client, request);

    http_socket_prepare(call, request);
    return call;
}

struct http_call *http_call_new(struct http_client *client, const struct http_request *request)
{
    struct http_call *call = call_new(client, request);

    call->easy = take_handle(client);
    call->tls = http_tls_ref(request->tls);
    (void)curl_easy_setopt(call->easy, CURLOPT_URL, request->url);
    (void)curl_easy_setopt(call->easy, CURLOPT_PRIVATE, call);
    (void)curl_easy_setopt(call->easy, CURLOPT_ERRORBUFFER, call->curl_text);
    (void)curl_easy_setopt(call->easy, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl_easy_setopt(call->easy, CURLOPT_WRITEDATA, call);
    if (call->on_begun) {
        (void)curl_easy_setopt(call->easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
        (void)curl_easy_setopt(call->easy, CURLOPT_HEADERFUNCTION, on_header);
        (void)curl_easy_setopt(call->easy, CURLOPT_HEADERDATA, call);
    }
    (void)curl_easy_setopt(call->easy, CURLOPT_PREREQFUNCTION, on_sending);
    (void)curl_easy_setopt(call->easy, CURLOPT_PREREQDATA, call);
    set_transport(call, request);
    set_headers(call, request);
    set_body(call, request);
    http_tls_apply(call, request->url);
    return call;
}

/* All but the list. */
static void release(struct http_call *call)
{
    if (call->easy)
        give_handle(call->client, call->easy);
    else
        http_socket_release(call);
    curl_slist_free_all(call->headers);
    curl_slist_free_all(call->connect_to);
    http_tls_unref(call->tls);
    strbuf_done(&call->body);
    loop_timer_done(&call->idle);
    free(call);
}

void http_call_free(struct http_call *call)
{
    list_remove(&call->client->calls, &call->of_client);
    release(call);
}

static void explain(struct http_call *call, CURLcode result, struct http_response *response)
{
    const char *text = call->curl_text[0] ? call->curl_text : curl_easy_strerror(result);

    response->is_unsent = !call->is_sent;
    if (call->err.code) {
        response->err = call->err;
        return;
    }
    if (result == CURLE_OK)
        return;
    if (result == CURLE_COULDNT_CONNECT && call->is_refused) {
        (void)err_set(&response->err, -EACCES, "the address of the server is not allowed");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        if (errors[i].curl != result)
            continue;
        (void)err_set(&response->err, errors[i].code, "%s", text);
        return;
    }
    (void)err_set(&response->err, -ECONNRESET, "%s", text);
}

static int version_of(const struct http_call *call)
{
    long version = call->status ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_NONE;

    if (call->easy)
        (void)curl_easy_getinfo(call->easy, CURLINFO_HTTP_VERSION, &version);
    return version == CURL_HTTP_VERSION_NONE ? 0 : version >= CURL_HTTP_VERSION_2_0 ? 2 : 1;
}

void http_call_finish(struct http_call *call, CURLcode result)
{
    struct http_client *client = call->client;
    struct http_response response = {
        .status = status_of(call),
        .http_version = version_of(call),
        .body = call->body.text,
        .body_len = call->body.len,
        .call = call,
    };

    if (call->is_started)
        (void)curl_multi_remove_handle(client->multi, call->easy);
    call->is_started = false;
    explain(call, result, &response);
    list_remove(&call->client->calls, &call->of_client);
    if (!call->is_cancelled)
        call->on_done(call->arg, &response);
    release(call);
}

const char *http_response_header(const struct http_response *response, const char *name)
{
    struct curl_header *header = NULL;

    if (!response->call->easy)
        return http_socket_header(response->call, name);
    if (curl_easy_header(response->call->easy, name, 0, CURLH_HEADER | CURLH_TRAILER, -1, &header) != CURLHE_OK)
        return NULL;
    return header->value;
}
