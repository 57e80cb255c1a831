/* SPDX-License-Identifier: Apache-2.0 */

/* The server against clients that write bytes as they like, from another thread. */
#include "net/http_server.h"

#include <errno.h>
#include <openssl/ssl.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "net/test/certs.h"
#include "net/test/talk.h"

static void echo(void *arg, struct http_exchange *exchange)
{
    size_t len = 0;
    const char *body = http_exchange_body(exchange, &len);
    char text[512];
    const char *host = http_exchange_header(exchange, "Host");
    const char *empty = http_exchange_header(exchange, "X-Empty");

    (void)arg;
    (void)snprintf(text, sizeof text, "[%s %s ?%s host=%s%s body=%.*s]", http_exchange_method(exchange),
                   http_exchange_path(exchange), http_exchange_query(exchange), host ? host : "(null)",
                   empty && !*empty ? " empty" : "", (int)len, body);
    http_reply_text(exchange, 200, text);
}

static void pieces(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    http_reply_begin(exchange, 200, "text/plain");
    http_reply_write(exchange, "one", 3);
    http_reply_write(exchange, "two", 3);
    http_reply_end(exchange);
}

static const struct rest_route routes[] = {
    REST_ROUTE("GET", "/echo/{rest...}", echo),
    REST_ROUTE("POST", "/echo/{rest...}", echo),
    REST_ROUTE("GET", "/pieces", pieces),
};

static void start(struct talk *talk, struct rest_options options)
{
    talk_start(talk, options, routes, ARRAY_LEN(routes), NULL);
}

static void requests_ahead_are_answered_in_order(void **state)
{
    (void)state;
    struct talk talk;

    start(&talk, (struct rest_options){0});
    const char *text = talk_ask(&talk, "GET /echo/1?a=b HTTP/1.1\r\nHost: h\r\nX-Empty:\r\n\r\n"
                                       "POST /echo/2 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
                                       "POST /echo/3 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                                       "2\r\nde\r\n1\r\nf\r\n0\r\n\r\n"
                                       "GET /pieces HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    const char *first = strstr(text, "[GET /echo/1 ?a=b host=h empty body=]");
    assert_non_null(first);
    const char *second = strstr(first, "[POST /echo/2 ? host=h body=abc]");
    assert_non_null(second);
    const char *third = strstr(second, "[POST /echo/3 ? host=h body=def]");
    assert_non_null(third);
    talk_expect(third, "\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n");
    talk_stop(&talk);
}

static void many_requests_ahead_over_tls_are_answered_in_order(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    struct talk talk;
    struct cert cert;
    struct strbuf requests;
    char answer[64 * 1024];
    int seen = 0;

    cert_init(&cert, NULL, "server", NULL);
    start(&talk, (struct rest_options){.http = {.cert_pem = cert.cert_pem, .key_pem = cert.key_pem}});
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(context);
    int fd = talk_connect(&talk);
    assert_int_equal(SSL_set_fd(ssl, fd), 1);
    assert_int_equal(SSL_connect(ssl), 1);

    strbuf_init(&requests, 1 << 20);
    for (int i = 0; i < COUNT; i++)
        strbuf_addf(&requests, "GET /echo/%d HTTP/1.1\r\nHost: h\r\n\r\n", i);
    strbuf_addstr(&requests, "GET /pieces HTTP/1.1\r\nConnection: close\r\n\r\n");
    assert_int_equal(SSL_write(ssl, requests.text, (int)requests.len), (int)requests.len);
    strbuf_clear(&requests);
    for (int got; (got = SSL_read(ssl, answer, sizeof answer)) > 0;)
        strbuf_add(&requests, answer, (size_t)got);
    for (const char *at = requests.text; (at = strstr(at, "[GET /echo/")); seen++)
        assert_int_equal(strtol(at += strlen("[GET /echo/"), NULL, 10), seen);
    assert_int_equal(seen, COUNT);

    talk_stop(&talk);
    SSL_free(ssl);
    SSL_CTX_free(context);
    assert_int_equal(close(fd), 0);
    strbuf_done(&requests);
    cert_done(&cert);
}

static void a_request_may_come_byte_by_byte(void **state)
{
    (void)state;
    struct talk talk;
    const char *request = "POST /echo?q HTTP/1.1\r\nHost: slow\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";

    start(&talk, (struct rest_options){0});
    int fd = talk_connect(&talk);
    for (const char *at = request; *at; at++)
        assert_int_equal(send(fd, at, 1, MSG_NOSIGNAL), 1);
    talk_expect(talk_receive(fd, NULL), "[POST /echo ?q host=slow body=ok]");
    assert_int_equal(close(fd), 0);
    talk_stop(&talk);
}

static void trailers_are_read_past(void **state)
{
    (void)state;
    struct talk talk;
    struct strbuf request;

    start(&talk, (struct rest_options){0});
    const char *text = talk_ask(&talk, "POST /echo/1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                                       "2;x=y\r\nab\r\n0\r\nHost: late\r\nX-Empty:\r\n\r\n"
                                       "GET /echo/2 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    talk_expect(text, "[POST /echo/1 ? host=(null) body=ab]");
    talk_expect(text, "[GET /echo/2 ? host=h body=]");
    /* They have a limit as well. */
    strbuf_init(&request, 1 << 20);
    strbuf_addstr(&request, "POST /echo/1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n");
    strbuf_addf(&request, "X-Large: %070000d\r\n\r\n", 1);
    talk_expect(talk_ask(&talk, request.text), "HTTP/1.1 431 ");
    strbuf_done(&request);
    talk_stop(&talk);
}

static void what_is_too_large_or_wrong_is_refused(void **state)
{
    (void)state;
    struct talk talk;
    _cleanup_(freep) char *large = xmalloc(100 * 1024);

    start(&talk, (struct rest_options){.body_max = 10});
    talk_expect(talk_ask(&talk, "nonsense\r\n\r\n"), "HTTP/1.1 400 ");
    talk_expect(talk_ask(&talk, "POST /echo HTTP/1.1\r\nContent-Length: 11\r\n\r\n"), "HTTP/1.1 413 ");
    talk_expect(talk_ask(&talk, "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n"),
                "HTTP/1.1 413 ");
    talk_expect(talk_ask(&talk, "POST /echo HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
                "HTTP/1.1 400 ");
    (void)snprintf(large, 100 * 1024, "GET /echo HTTP/1.1\r\nX-Large: %070000d\r\n\r\n", 1);
    talk_expect(talk_ask(&talk, large), "HTTP/1.1 431 ");
    size_t used = (size_t)snprintf(large, 100, "GET /echo HTTP/1.1\r\n");
    for (int i = 0; i < 200; i++)
        used += (size_t)snprintf(large + used, 100, "X-%d: 1\r\n", i);
    (void)snprintf(large + used, 100, "\r\n");
    talk_expect(talk_ask(&talk, large), "HTTP/1.1 431 ");
    talk_stop(&talk);
}

static void old_clients_and_careful_ones_are_served(void **state)
{
    (void)state;
    struct talk talk;

    start(&talk, (struct rest_options){0});
    const char *text = talk_ask(&talk, "GET /pieces HTTP/1.0\r\n\r\n");
    talk_expect(text, "\r\n\r\nonetwo");
    assert_null(strstr(text, "chunked"));
    text = talk_ask(&talk, "HEAD /pieces HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    talk_expect(text, "200 OK");
    assert_null(strstr(text, "one"));

    int fd = talk_connect(&talk);
    talk_send(fd, "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n"
                  "Connection: close\r\n\r\n");
    talk_expect(talk_receive(fd, "\r\n\r\n"), "100 Continue");
    talk_send(fd, "ok");
    talk_expect(talk_receive(fd, NULL), "body=ok]");
    assert_int_equal(close(fd), 0);

    /* An upgrade is not taken up, and the connection ends after the answer. */
    text = talk_ask(&talk, "GET /echo HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
    talk_expect(text, "200 OK");
    talk_stop(&talk);
}

static void surplus_connections_are_closed(void **state)
{
    (void)state;
    struct talk talk;
    int fds[2];

    start(&talk, (struct rest_options){.http = {.connections_max = 2}});
    for (int i = 0; i < 2; i++) {
        fds[i] = talk_connect(&talk);
        talk_send(fds[i], "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
        talk_expect(talk_receive(fds[i], "]"), "[GET");
    }
    assert_string_equal(talk_ask(&talk, "GET /echo HTTP/1.0\r\n\r\n"), "");
    /* One goes, and there is room for another. */
    assert_int_equal(shutdown(fds[0], SHUT_WR), 0);
    assert_string_equal(talk_receive(fds[0], NULL), "");
    talk_expect(talk_ask(&talk, "GET /echo HTTP/1.0\r\n\r\n"), "200 OK");
    assert_int_equal(close(fds[0]) + close(fds[1]), 0);
    talk_stop(&talk);
}

static void idle_connections_are_closed(void **state)
{
    (void)state;
    struct talk talk;

    /* Between two requests; the first has more time. */
    start(&talk, (struct rest_options){.http = {.idle_timeout = 50 * NSEC_PER_MSEC}});
    int fd = talk_connect(&talk);
    talk_send(fd, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    talk_expect(talk_receive(fd, NULL), "[GET");
    assert_int_equal(close(fd), 0);
    talk_stop(&talk);

    /* Before the first, and within it. */
    start(&talk, (struct rest_options){.http = {.request_timeout = 50 * NSEC_PER_MSEC}});
    fd = talk_connect(&talk);
    assert_string_equal(talk_receive(fd, NULL), "");
    assert_int_equal(close(fd), 0);
    fd = talk_connect(&talk);
    talk_send(fd, "GET /echo HTTP/1.1\r\nHos");
    assert_string_equal(talk_receive(fd, NULL), "");
    assert_int_equal(close(fd), 0);
    talk_stop(&talk);
}

static void a_port_in_use_is_said_so(void **state)
{
    (void)state;
    struct talk talk;
    struct http_server *server = NULL;
    struct err err = {0};

    start(&talk, (struct rest_options){0});
    struct loop *loop = loop_new();
    struct rest_options options = {.http = {.address = "127.0.0.1", .port = talk.port}};
    assert_int_equal(rest_server_start(loop, &options, &server, &err), -EADDRINUSE);
    talk_expect(err.text, "127.0.0.1");
    options.http.address = "not an address";
    assert_int_equal(rest_server_start(loop, &options, &server, &err), -EINVAL);
    loop_free(loop);
    talk_stop(&talk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_ahead_are_answered_in_order),
        cmocka_unit_test(many_requests_ahead_over_tls_are_answered_in_order),
        cmocka_unit_test(a_request_may_come_byte_by_byte),
        cmocka_unit_test(trailers_are_read_past),
        cmocka_unit_test(what_is_too_large_or_wrong_is_refused),
        cmocka_unit_test(old_clients_and_careful_ones_are_served),
        cmocka_unit_test(surplus_connections_are_closed),
        cmocka_unit_test(idle_connections_are_closed),
        cmocka_unit_test(a_port_in_use_is_said_so),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
