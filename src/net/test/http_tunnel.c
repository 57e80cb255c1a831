/* SPDX-License-Identifier: Apache-2.0 */

/* Connections that leave HTTP. */
#include "net/http_tunnel.h"

#include <errno.h>
#include <openssl/ssl.h>

#include "net/test/certs.h"
#include "net/test/talk.h"

/* One tunnel at a time, in the server's thread. */
struct stage {
    struct talk talk;
    struct http_tunnel *tunnel;
    struct loop_timer timer;
    bool is_slow;  // pauses after each piece
    size_t drains;
};

static void end_tunnel(struct stage *stage)
{
    stage->tunnel = NULL;
    loop_timer_done(&stage->timer);
}

/* Sends everything back in capitals; "." ends the tunnel, "!" cuts it. */
static void on_read(void *arg, const char *bytes, size_t len)
{
    struct stage *stage = arg;

    for (size_t i = 0; i < len; i++) {
        char letter = (char)(bytes[i] >= 'a' && bytes[i] <= 'z' ? bytes[i] - 32 : bytes[i]);

        http_tunnel_write(stage->tunnel, &letter, 1);
        if (letter != '.' && letter != '!')
            continue;
        if (letter == '.')
            http_tunnel_close(stage->tunnel);
        else
            http_tunnel_free(stage->tunnel);
        end_tunnel(stage);
        return;
    }
    if (stage->is_slow) {
        http_tunnel_pause(stage->tunnel);
        loop_timer_start(&stage->timer, 0);
    }
}

static void on_timer(void *arg)
{
    struct stage *stage = arg;

    http_tunnel_resume(stage->tunnel);
}

static void on_end(void *arg)
{
    struct stage *stage = arg;

    http_tunnel_write(stage->tunnel, "bye", 3);
    http_tunnel_close(stage->tunnel);
    end_tunnel(stage);
    talk_note(&stage->talk, 'e');
}

static void on_drain(void *arg)
{
    ((struct stage *)arg)->drains++;
}

static void open_tunnel(void *arg, struct http_exchange *exchange)
{
    struct stage *stage = arg;
    struct http_tunnel_handler handler = {.on_read = on_read, .on_end = on_end, .on_drain = on_drain, .arg = stage};

    if (!http_exchange_wants_upgrade(exchange)) {
        rest_fail(exchange, -EINVAL, "%s is reached by an upgrade", http_exchange_path(exchange));
        return;
    }
    loop_timer_init(&stage->timer, stage->talk.loop, on_timer, stage);
    stage->is_slow = rest_query_is_true(exchange, "slow");
    http_reply_header(exchange, "X-Pod", rest_param(exchange, "pod"));
    stage->tunnel = http_upgrade(exchange, "capitals", &handler);
}

static void is_open(void *arg, struct http_exchange *exchange)
{
    const struct stage *stage = arg;

    http_reply_text(exchange, 200, stage->tunnel ? "open" : "closed");
}

static void on_drained(void *arg)
{
    struct stage *stage = arg;

    loop_stop(stage->talk.loop);
}

static void drain(void *arg, struct http_exchange *exchange)
{
    struct stage *stage = arg;

    http_server_drain(stage->talk.server, 20 * NSEC_PER_SEC, on_drained, stage);
    http_reply_text(exchange, 200, "draining");
}

static const struct rest_route routes[] = {
    REST_ROUTE("GET", "/exec/{pod}", open_tunnel, .requests_max = 1),
    REST_ROUTE("POST", "/exec/{pod}", open_tunnel, .body_max = 100),
    REST_ROUTE("GET", "/open", is_open),
    REST_ROUTE("GET", "/drain", drain),
};

#define UPGRADE "Host: h\r\nConnection: Upgrade\r\nUpgrade: capitals\r\n"
#define EXEC "GET /exec/p1 HTTP/1.1\r\n" UPGRADE "\r\n"
#define LAST(path) "GET " path " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

static void start(struct stage *stage, struct http_server_options options)
{
    *stage = (struct stage){0};
    talk_start(&stage->talk, (struct rest_options){.http = options}, routes, ARRAY_LEN(routes), stage);
}

static void bytes_sent_ahead_reach_the_tunnel(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct http_server_options){0});
    /* All in one go: head, leftover bytes that look like a request, and the end. */
    const char *text = talk_ask(&stage.talk, EXEC "get / http\r\n\r\nmore.");
    assert_true(strncmp(text, "HTTP/1.1 101 Switching Protocols\r\n", 34) == 0);
    talk_expect(text, "\r\nConnection: Upgrade\r\n");
    talk_expect(text, "\r\nUpgrade: capitals\r\n");
    talk_expect(text, "\r\nX-Pod: p1\r\n");
    assert_null(strstr(text, "Connection: close"));
    talk_expect(text, "\r\n\r\nGET / HTTP\r\n\r\nMORE.");
    /* A body belongs to the request, what follows it to the tunnel. */
    text = talk_ask(&stage.talk, "POST /exec/p2 HTTP/1.1\r\n" UPGRADE "Content-Length: 3\r\n\r\nabcdef.");
    talk_expect(text, "X-Pod: p2\r\n");
    assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\nDEF.");
    talk_stop(&stage.talk);
}

static void a_tunnel_may_come_byte_by_byte(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct http_server_options){0});
    int fd = talk_connect(&stage.talk);
    talk_send_slowly(fd, EXEC "hello");
    talk_expect(talk_receive(fd, "HELLO"), "\r\n\r\nHELLO");
    talk_send_slowly(fd, "again!");
    (void)talk_receive(fd, NULL);
    assert_int_equal(close(fd), 0);
    talk_expect(talk_ask(&stage.talk, LAST("/open")), "closed");
    talk_stop(&stage.talk);
}

static void a_tunnel_can_make_its_peer_wait(void **state)
{
    enum { LETTERS = 300 * 1000 };
    struct stage stage;
    static char letters[LETTERS];
    static char bytes[4096];
    size_t capitals = 0;

    (void)state;
    start(&stage, (struct http_server_options){0});
    int fd = talk_connect(&stage.talk);
    memset(letters, 'q', sizeof letters);
    talk_send(fd, "GET /exec/p?slow HTTP/1.1\r\n" UPGRADE "\r\n");
    assert_int_equal(send(fd, letters, sizeof letters, MSG_NOSIGNAL), sizeof letters);
    /* The peer has closed its side while the tunnel is paused: it gets everything, and then the end. */
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    for (ssize_t got; (got = recv(fd, bytes, sizeof bytes, 0)) > 0;) {
        for (ssize_t i = 0; i < got; i++)
            capitals += bytes[i] == 'Q';
    }
    assert_int_equal(capitals, LETTERS);
    assert_int_equal(talk_noted(&stage.talk), 'e');
    assert_int_equal(close(fd), 0);
    talk_stop(&stage.talk);
    assert_true(stage.drains > 0);
}

static void a_tunnel_counts_and_ends_with_its_peer(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct http_server_options){0});
    int fd = talk_connect(&stage.talk);
    talk_send(fd, EXEC);
    talk_expect(talk_receive(fd, "\r\n\r\n"), "101 ");
    /* The route allows one at a time, and a tunnel is one. */
    const char *text = talk_ask(&stage.talk, EXEC);
    talk_expect(text, "HTTP/1.1 429 ");
    talk_expect(text, "Retry-After: 1\r\n");
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    assert_string_equal(talk_receive(fd, NULL), "bye");
    assert_int_equal(talk_noted(&stage.talk), 'e');
    assert_int_equal(close(fd), 0);
    talk_expect(talk_ask(&stage.talk, EXEC "."), "101 ");
    /* Without the wish for an upgrade there is none. */
    talk_expect(talk_ask(&stage.talk, LAST("/exec/p")), "{\"error\":\"/exec/p is reached by an upgrade\"}");
    talk_stop(&stage.talk);
}

static void a_server_that_drains_ends_its_tunnels(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct http_server_options){0});
    int fd = talk_connect(&stage.talk);
    talk_send(fd, EXEC "a");
    talk_expect(talk_receive(fd, "A"), "101 ");
    talk_expect(talk_ask(&stage.talk, LAST("/drain")), "draining");
    assert_string_equal(talk_receive(fd, NULL), "bye");
    assert_int_equal(talk_noted(&stage.talk), 'e');
    assert_int_equal(close(fd), 0);
    talk_join(&stage.talk);
}

static void a_tunnel_works_within_tls(void **state)
{
    struct stage stage;
    struct cert cert;
    char text[1024];
    size_t len = 0;

    (void)state;
    cert_init(&cert, NULL, "server", NULL);
    start(&stage, (struct http_server_options){.cert_pem = cert.cert_pem, .key_pem = cert.key_pem});
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(context);
    int fd = talk_connect(&stage.talk);
    assert_int_equal(SSL_set_fd(ssl, fd), 1);
    assert_int_equal(SSL_connect(ssl), 1);
    assert_int_equal(SSL_write(ssl, EXEC "early", strlen(EXEC "early")), strlen(EXEC "early"));
    assert_int_equal(SSL_write(ssl, "late.", 5), 5);
    for (int got; (got = SSL_read(ssl, text + len, (int)(sizeof text - 1 - len))) > 0;)
        len += (size_t)got;
    text[len] = '\0';
    assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\nEARLYLATE.");
    SSL_free(ssl);
    SSL_CTX_free(context);
    assert_int_equal(close(fd), 0);
    talk_stop(&stage.talk);
    cert_done(&cert);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_sent_ahead_reach_the_tunnel),
        cmocka_unit_test(a_tunnel_may_come_byte_by_byte),
        cmocka_unit_test(a_tunnel_can_make_its_peer_wait),
        cmocka_unit_test(a_tunnel_counts_and_ends_with_its_peer),
        cmocka_unit_test(a_server_that_drains_ends_its_tunnels),
        cmocka_unit_test(a_tunnel_works_within_tls),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
