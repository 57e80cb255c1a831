/* SPDX-License-Identifier: Apache-2.0 */

/* Both sides of a WebSocket, against each other. */
#include "net/websocket/websocket.h"

#include <errno.h>

#include "net/http.h"
#include "net/http_tunnel.h"
#include "net/test/certs.h"
#include "net/test/talk.h"
#include "net/websocket_client.h"

enum { LARGE = 900000, LARGE_COUNT = 20 };

static const char *const protocols[] = {"capitals", "echo"};

/* --- the server: sends everything back; "." closes, "!" cuts, "~" reads nothing for a while --- */

struct stage {
    struct talk talk;
    struct websocket *socket;
    struct http_tunnel *tunnel;
    struct loop_timer timer;
};

static void on_rested(void *arg)
{
    struct stage *stage = arg;

    loop_timer_done(&stage->timer);
    websocket_resume(stage->socket);
}

static void rest(struct stage *stage)
{
    websocket_pause(stage->socket);
    loop_timer_init(&stage->timer, stage->talk.loop, on_rested, stage);
    loop_timer_start(&stage->timer, 200 * NSEC_PER_MSEC);
}

static void on_server_message(void *arg, const char *bytes, size_t len)
{
    struct stage *stage = arg;

    if (len == 1 && *bytes == '.')
        websocket_close(stage->socket, WEBSOCKET_NORMAL);
    else if (len == 1 && *bytes == '!')
        websocket_free(stage->socket);
    else if (len == 1 && *bytes == '~')
        rest(stage);
    else
        websocket_send(stage->socket, bytes, len);
}

static void on_server_end(void *arg)
{
    struct stage *stage = arg;

    websocket_free(stage->socket);
    talk_note(&stage->talk, 'e');
}

static void open_socket(void *arg, struct http_exchange *exchange)
{
    struct stage *stage = arg;
    const char *protocol = websocket_protocol(exchange, protocols, ARRAY_LEN(protocols));

    if (!websocket_is_wanted(exchange)) {
        http_reply_text(exchange, 400, "a WebSocket only");
        return;
    }
    stage->socket = websocket_accept(
        exchange, protocol,
        &(struct websocket_handler){.on_message = on_server_message, .on_end = on_server_end, .arg = stage});
}

static void refuse(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    http_reply_text(exchange, 403, "you may not");
}

static void on_tunnel_read(void *arg, const char *bytes, size_t len)
{
    (void)arg;
    (void)bytes;
    (void)len;
}

static void on_tunnel_end(void *arg)
{
    http_tunnel_free(((struct stage *)arg)->tunnel);
}

/* An upgrade by a server that has not read the key. */
static void pretend(void *arg, struct http_exchange *exchange)
{
    struct stage *stage = arg;

    http_reply_header(exchange, "Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    stage->tunnel =
        http_upgrade(exchange, "websocket", &(struct http_tunnel_handler){on_tunnel_read, on_tunnel_end, NULL, stage});
}

static const struct rest_route routes[] = {
    REST_ROUTE("GET", "/echo", open_socket),
    REST_ROUTE("GET", "/refuse", refuse),
    REST_ROUTE("GET", "/pretend", pretend),
};

/* --- the client --- */

struct caller {
    struct loop *loop;
    struct websocket_client *client;
    char *last;  // message
    size_t last_len;
    size_t messages, drains, until;  // it stops after so many
    bool has_ended;
    struct err err;
    struct websocket_refusal refusal;
};

static void on_message(void *arg, const char *bytes, size_t len)
{
    struct caller *caller = arg;

    free(caller->last);
    caller->last = malloc(len + 1);
    assert_non_null(caller->last);
    memcpy(caller->last, bytes, len);
    caller->last[len] = '\0';
    caller->last_len = len;
    if (++caller->messages == caller->until)
        loop_stop(caller->loop);
}

static void on_end(void *arg, const struct err *err)
{
    struct caller *caller = arg;

    assert_false(caller->has_ended);
    caller->has_ended = true;
    caller->err = *err;
    loop_stop(caller->loop);
}

static void on_drain(void *arg)
{
    ((struct caller *)arg)->drains++;
}

static int call(struct caller *caller, const struct stage *stage, const char *path, struct http_tls *tls)
{
    static const char *const headers[] = {"X-Note: value", NULL};
    char url[128];

    *caller = (struct caller){.loop = loop_new()};
    (void)snprintf(url, sizeof url, "%s://127.0.0.1:%u%s", tls ? "https" : "http", stage->talk.port, path);
    return websocket_connect(
        caller->loop, &(struct http_request){.url = url, .tls = tls, .headers = headers, .timeout = 20 * NSEC_PER_SEC},
        "other, echo",
        &(struct websocket_client_handler){
            .on_message = on_message, .on_end = on_end, .on_drain = on_drain, .arg = caller},
        &caller->client, &caller->refusal, &caller->err);
}

static void hang_up(struct caller *caller)
{
    websocket_client_free(caller->client);
    loop_free(caller->loop);
    free(caller->last);
}

static void say(struct caller *caller, const char *text)
{
    caller->until = caller->messages + 1;
    websocket_client_send(caller->client, text, strlen(text));
    loop_run(caller->loop);
}

static void start(struct stage *stage, struct http_server_options options)
{
    *stage = (struct stage){0};
    talk_start(&stage->talk, (struct rest_options){.http = options}, routes, ARRAY_LEN(routes), stage);
}

static void exchange_large(struct caller *caller)
{
    char *large = malloc(LARGE);

    assert_non_null(large);
    memset(large, 'x', LARGE);
    websocket_client_send(caller->client, "~", 1);
    for (size_t i = 0; i < LARGE_COUNT; i++)
        websocket_client_send(caller->client, large, LARGE);
    assert_true(websocket_client_unsent(caller->client) > 0);
    caller->until = caller->messages + LARGE_COUNT;
    loop_run(caller->loop);
    assert_int_equal(caller->last_len, LARGE);
    assert_memory_equal(caller->last, large, LARGE);
    assert_int_equal(websocket_client_unsent(caller->client), 0);
    assert_true(caller->drains > 0);
    free(large);
}

static void messages_go_both_ways(void **state)
{
    struct stage stage;
    struct caller caller;

    (void)state;
    start(&stage, (struct http_server_options){0});
    assert_int_equal(call(&caller, &stage, "/echo", NULL), 0);
    assert_string_equal(websocket_client_protocol(caller.client), "echo");
    say(&caller, "hello");
    assert_string_equal(caller.last, "hello");
    exchange_large(&caller);
    say(&caller, "");
    assert_int_equal(caller.last_len, 0);
    hang_up(&caller);
    assert_int_equal(talk_noted(&stage.talk), 'e');
    talk_stop(&stage.talk);
}

static void messages_go_both_ways_within_tls(void **state)
{
    struct cert authority, cert;
    struct stage stage;
    struct caller caller;

    (void)state;
    cert_init(&authority, NULL, "authority", NULL);
    cert_init(&cert, &authority, "server", "IP:127.0.0.1");
    start(&stage, (struct http_server_options){.cert_pem = cert.cert_pem, .key_pem = cert.key_pem});
    struct http_tls *tls = http_tls_new(&(struct http_tls_options){.ca_pem = authority.cert_pem});
    assert_int_equal(call(&caller, &stage, "/echo", tls), 0);
    say(&caller, "hello");
    assert_string_equal(caller.last, "hello");
    exchange_large(&caller);
    hang_up(&caller);
    http_tls_unref(tls);
    /* The system does not trust that server. */
    tls = http_tls_new(&(struct http_tls_options){0});
    assert_true(call(&caller, &stage, "/echo", tls) < 0);
    assert_int_equal(caller.refusal.status, 0);
    hang_up(&caller);
    http_tls_unref(tls);
    talk_stop(&stage.talk);
    cert_done(&cert);
    cert_done(&authority);
}

static void a_close_is_an_end_and_a_cut_is_an_error(void **state)
{
    struct stage stage;
    struct caller caller;

    (void)state;
    start(&stage, (struct http_server_options){0});
    assert_int_equal(call(&caller, &stage, "/echo", NULL), 0);
    say(&caller, ".");
    assert_true(caller.has_ended);
    assert_int_equal(caller.err.code, 0);
    websocket_client_send(caller.client, "late", 4);
    hang_up(&caller);
    assert_int_equal(call(&caller, &stage, "/echo", NULL), 0);
    say(&caller, "!");
    assert_true(caller.has_ended);
    assert_int_equal(caller.err.code, -ECONNRESET);
    hang_up(&caller);
    talk_stop(&stage.talk);
}

static void a_refusal_is_told_with_its_body(void **state)
{
    struct stage stage;
    struct caller caller;

    (void)state;
    start(&stage, (struct http_server_options){0});
    assert_int_equal(call(&caller, &stage, "/refuse", NULL), -EPROTO);
    assert_int_equal(caller.refusal.status, 403);
    assert_non_null(strstr(caller.refusal.body, "you may not"));
    hang_up(&caller);
    assert_int_equal(call(&caller, &stage, "/pretend", NULL), -EPROTO);
    assert_non_null(strstr(caller.err.text, "malformed"));
    hang_up(&caller);
    talk_stop(&stage.talk);
    assert_int_equal(call(&caller, &stage, "/echo", NULL), -ECONNREFUSED);
    hang_up(&caller);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_go_both_ways),
        cmocka_unit_test(messages_go_both_ways_within_tls),
        cmocka_unit_test(a_close_is_an_end_and_a_cut_is_an_error),
        cmocka_unit_test(a_refusal_is_told_with_its_body),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
