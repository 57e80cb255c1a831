/* SPDX-License-Identifier: Apache-2.0 */

/* The server against clients that write bytes as they like, from another thread. */
#include "net/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "net/loop.h"
#include "net/test/certs.h"

struct world {
    struct loop *loop;
    struct http_server *server;
    pthread_t thread;
    uint16_t port;
};

static void echo(void *arg, struct http_exchange *exchange)
{
    size_t len = 0;
    const char *body = http_exchange_body(exchange, &len);
    char text[512];
    const char *empty = http_exchange_header(exchange, "X-Empty");

    (void)arg;
    (void)snprintf(text, sizeof text, "[%s %s ?%s host=%s%s body=%.*s]", http_exchange_method(exchange),
                   http_exchange_path(exchange), http_exchange_query(exchange), http_exchange_header(exchange, "Host"),
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

static void quit(void *arg, struct http_exchange *exchange)
{
    struct world *world = arg;

    http_reply(exchange, 204, NULL, NULL, 0);
    loop_stop(world->loop);
}

static const struct http_route routes[] = {
    {"GET", "/echo*", echo}, {"POST", "/echo*", echo}, {"GET", "/pieces", pieces}, {"GET", "/quit", quit}};

static void *serve(void *arg)
{
    loop_run(((struct world *)arg)->loop);
    return NULL;
}

static void world_init(struct world *world, struct http_server_options options)
{
    *world = (struct world){.loop = loop_new()};
    options.address = "127.0.0.1";
    options.routes = routes;
    options.route_count = ARRAY_LEN(routes);
    options.arg = world;
    assert_int_equal(http_server_start(world->loop, &options, &world->server, NULL), 0);
    world->port = http_server_port(world->server);
    assert_int_equal(pthread_create(&world->thread, NULL, serve, world), 0);
}

static int connect_to(const struct world *world)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(world->port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct timeval patience = {.tv_sec = 20};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* What comes until the connection ends, or until `until` has been seen. */
static const char *receive(int fd, const char *until)
{
    static char text[64 * 1024];
    size_t len = 0;

    while (len < sizeof text - 1) {
        ssize_t got = recv(fd, text + len, sizeof text - 1 - len, 0);

        if (got <= 0)
            break;
        len += (size_t)got;
        text[len] = '\0';
        if (until && strstr(text, until))
            break;
    }
    text[len] = '\0';
    return text;
}

static void send_text(int fd, const char *text)
{
    size_t len = strlen(text);

    /* A server that has refused does not read the rest. */
    (void)!send(fd, text, len, MSG_NOSIGNAL);
}

static const char *ask(const struct world *world, const char *request)
{
    int fd = connect_to(world);

    send_text(fd, request);
    const char *text = receive(fd, NULL);
    assert_int_equal(close(fd), 0);
    return text;
}

static void world_done(struct world *world)
{
    (void)ask(world, "GET /quit HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    assert_int_equal(pthread_join(world->thread, NULL), 0);
    http_server_free(world->server);
    loop_free(world->loop);
}

static void requests_ahead_are_answered_in_order(void **state)
{
    (void)state;
    struct world world;

    world_init(&world, (struct http_server_options){0});
    const char *text = ask(&world, "GET /echo/1?a=b HTTP/1.1\r\nHost: h\r\nX-Empty:\r\n\r\n"
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
    assert_non_null(strstr(third, "\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"));
    world_done(&world);
}

static void many_requests_ahead_over_tls_are_answered_in_order(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    struct world world;
    struct cert cert;
    struct strbuf requests;
    char answer[64 * 1024];
    int seen = 0;

    cert_init(&cert, NULL, "server", NULL);
    world_init(&world, (struct http_server_options){.cert_pem = cert.cert_pem, .key_pem = cert.key_pem});
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(context);
    int fd = connect_to(&world);
    assert_int_equal(SSL_set_fd(ssl, fd), 1);
    assert_int_equal(SSL_connect(ssl), 1);

    strbuf_init(&requests, 1 << 20);
    for (int i = 0; i < COUNT; i++)
        strbuf_addf(&requests, "GET /echo/%d HTTP/1.1\r\nHost: h\r\n\r\n", i);
    strbuf_addstr(&requests, "GET /quit HTTP/1.1\r\nConnection: close\r\n\r\n");
    assert_int_equal(SSL_write(ssl, requests.text, (int)requests.len), (int)requests.len);
    strbuf_clear(&requests);
    for (int got; (got = SSL_read(ssl, answer, sizeof answer)) > 0;)
        strbuf_add(&requests, answer, (size_t)got);
    for (const char *at = requests.text; (at = strstr(at, "[GET /echo/")); seen++)
        assert_int_equal(strtol(at += strlen("[GET /echo/"), NULL, 10), seen);
    assert_int_equal(seen, COUNT);

    assert_int_equal(pthread_join(world.thread, NULL), 0);
    http_server_free(world.server);
    loop_free(world.loop);
    SSL_free(ssl);
    SSL_CTX_free(context);
    assert_int_equal(close(fd), 0);
    strbuf_done(&requests);
    cert_done(&cert);
}

static void a_request_may_come_byte_by_byte(void **state)
{
    (void)state;
    struct world world;
    const char *request = "POST /echo?q HTTP/1.1\r\nHost: slow\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";

    world_init(&world, (struct http_server_options){0});
    int fd = connect_to(&world);
    for (const char *at = request; *at; at++)
        assert_int_equal(send(fd, at, 1, MSG_NOSIGNAL), 1);
    assert_non_null(strstr(receive(fd, NULL), "[POST /echo ?q host=slow body=ok]"));
    assert_int_equal(close(fd), 0);
    world_done(&world);
}

static void what_is_too_large_or_wrong_is_refused(void **state)
{
    (void)state;
    struct world world;
    _cleanup_(freep) char *large = xmalloc(100 * 1024);

    world_init(&world, (struct http_server_options){.body_max = 10});
    assert_non_null(strstr(ask(&world, "nonsense\r\n\r\n"), "HTTP/1.1 400 "));
    assert_non_null(strstr(ask(&world, "POST /echo HTTP/1.1\r\nContent-Length: 11\r\n\r\n"), "HTTP/1.1 413 "));
    assert_non_null(strstr(ask(&world, "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n"),
                           "HTTP/1.1 413 "));
    assert_non_null(
        strstr(ask(&world, "POST /echo HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"), "HTTP/1.1 400 "));
    (void)snprintf(large, 100 * 1024, "GET /echo HTTP/1.1\r\nX-Large: %070000d\r\n\r\n", 1);
    assert_non_null(strstr(ask(&world, large), "HTTP/1.1 431 "));
    size_t used = (size_t)snprintf(large, 100, "GET /echo HTTP/1.1\r\n");
    for (int i = 0; i < 200; i++)
        used += (size_t)snprintf(large + used, 100, "X-%d: 1\r\n", i);
    (void)snprintf(large + used, 100, "\r\n");
    assert_non_null(strstr(ask(&world, large), "HTTP/1.1 431 "));
    world_done(&world);
}

static void old_clients_and_careful_ones_are_served(void **state)
{
    (void)state;
    struct world world;

    world_init(&world, (struct http_server_options){0});
    const char *text = ask(&world, "GET /pieces HTTP/1.0\r\n\r\n");
    assert_non_null(strstr(text, "\r\n\r\nonetwo"));
    assert_null(strstr(text, "chunked"));
    text = ask(&world, "HEAD /pieces HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    assert_non_null(strstr(text, "200 OK"));
    assert_null(strstr(text, "one"));

    int fd = connect_to(&world);
    send_text(fd, "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n"
                  "Connection: close\r\n\r\n");
    assert_non_null(strstr(receive(fd, "\r\n\r\n"), "100 Continue"));
    send_text(fd, "ok");
    assert_non_null(strstr(receive(fd, NULL), "body=ok]"));
    assert_int_equal(close(fd), 0);

    /* An upgrade is not taken up, and the connection ends after the answer. */
    text = ask(&world, "GET /echo HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
    assert_non_null(strstr(text, "200 OK"));
    world_done(&world);
}

static void idle_and_surplus_connections_are_closed(void **state)
{
    (void)state;
    struct world world;

    world_init(&world, (struct http_server_options){.connections_max = 2, .idle_timeout = 100 * NSEC_PER_MSEC});
    int first = connect_to(&world);
    int second = connect_to(&world);
    send_text(first, "GET /echo HTTP/1.1\r\nHos");
    send_text(second, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_non_null(strstr(receive(second, "]"), "[GET"));
    int third = connect_to(&world);
    assert_string_equal(receive(third, NULL), "");
    assert_string_equal(receive(first, NULL), "");
    assert_string_equal(receive(second, NULL), "");
    assert_int_equal(close(first) + close(second) + close(third), 0);
    assert_non_null(strstr(ask(&world, "GET /echo HTTP/1.0\r\n\r\n"), "200 OK"));
    world_done(&world);
}

static void a_port_in_use_is_said_so(void **state)
{
    (void)state;
    struct world world;
    struct http_server *server = NULL;
    struct err err = {0};

    world_init(&world, (struct http_server_options){0});
    struct loop *loop = loop_new();
    struct http_server_options options = {.address = "127.0.0.1", .port = world.port};
    assert_int_equal(http_server_start(loop, &options, &server, &err), -EADDRINUSE);
    assert_non_null(strstr(err.text, "127.0.0.1"));
    options.address = "not an address";
    assert_int_equal(http_server_start(loop, &options, &server, &err), -EINVAL);
    loop_free(loop);
    world_done(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_ahead_are_answered_in_order),
        cmocka_unit_test(many_requests_ahead_over_tls_are_answered_in_order),
        cmocka_unit_test(a_request_may_come_byte_by_byte),
        cmocka_unit_test(what_is_too_large_or_wrong_is_refused),
        cmocka_unit_test(old_clients_and_careful_ones_are_served),
        cmocka_unit_test(idle_and_surplus_connections_are_closed),
        cmocka_unit_test(a_port_in_use_is_said_so),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
