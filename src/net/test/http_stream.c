/* SPDX-License-Identifier: Apache-2.0 */

/* Answers and bodies that last: watches, slow readers, clients that go, and the end of the server. */
#include <poll.h>

#include "base/strbuf.h"
#include "net/http_server.h"
#include "net/test/talk.h"

enum { BLOCK = 64 * 1024, BLOCKS = 1024, UNSENT_LOW = 1 << 20 };

/* Touched in the server's thread alone. */
struct stage {
    struct talk talk;
    struct http_exchange *held;
    size_t blocks;  // written of a long answer
    size_t body;    // bytes that came
    int pauses;
    struct loop_timer timer;
};

static void on_cancel(void *arg)
{
    struct stage *stage = arg;

    talk_note(&stage->talk, http_exchange_is_gone(stage->held) ? 'g' : 'c');
    http_reply_end(stage->held);
    stage->held = NULL;
}

/* A watch: something at once, the rest when /push comes. */
static void watch(void *arg, struct http_exchange *exchange)
{
    struct stage *stage = arg;

    stage->held = exchange;
    http_on_cancel(exchange, on_cancel, stage);
    http_reply_begin(exchange, 200, "application/json");
    http_reply_write(exchange, "{}\n", 3);
}

static void push(void *arg, struct http_exchange *exchange)
{
    struct stage *stage = arg;

    if (stage->held)
        http_reply_write(stage->held, "[1]\n", 4);
    http_reply_text(exchange, stage->held ? 200 : 404, "");
}

/* An answer that is given when /finish comes. */
static void hold(void *arg, struct http_exchange *exchange)
{
    struct stage *stage = arg;

    stage->held = exchange;
    talk_note(&stage->talk, 'h');
}

static void finish(void *arg, struct http_exchange *exchange)
{
    struct stage *stage = arg;

    http_reply_text(stage->held, 200, "held long");
    stage->held = NULL;
    http_reply_text(exchange, 200, "");
}

static void write_blocks(void *arg)
{
    struct stage *stage = arg;
    static char block[BLOCK];

    memset(block, 'Z', sizeof block);
    while (stage->blocks < BLOCKS && http_reply_unsent(stage->held) < UNSENT_LOW) {
        http_reply_write(stage->held, block, sizeof block);
        stage->blocks++;
    }
    if (stage->blocks < BLOCKS)
        return;
    http_reply_end(stage->held);
    stage->held = NULL;
}

static void large(void *arg, struct http_exchange *exchange)
{
    struct stage *stage = arg;

    stage->held = exchange;
    http_on_cancel(exchange, on_cancel, stage);
    http_on_drain(exchange, write_blocks, stage);
    http_reply_begin(exchange, 200, "text/plain");
    write_blocks(stage);
    talk_note(&stage->talk, 'b');
}

static void blocks(void *arg, struct http_exchange *exchange)
{
    const struct stage *stage = arg;
    char text[32];

    (void)snprintf(text, sizeof text, "blocks=%zu.", stage->blocks);
    http_reply_text(exchange, 200, text);
}

static void go_on(void *arg)
{
    struct stage *stage = arg;

    http_body_resume(stage->held);
}

/* Counts the bytes of a body, and makes its sender wait a few times. */
static void on_body(void *arg, const char *bytes, size_t len)
{
    struct stage *stage = arg;
    char text[64];

    if (bytes) {
        stage->body += len;
        if (stage->pauses < 3) {
            stage->pauses++;
            http_body_pause(stage->held);
            loop_timer_start(&stage->timer, 0);
        }
        return;
    }
    (void)snprintf(text, sizeof text, "[%zu bytes]", stage->body);
    loop_timer_done(&stage->timer);
    stage->body = 0;
    http_reply_text(stage->held, 200, text);
    stage->held = NULL;
}

static void upload(void *arg, struct http_exchange *exchange)
{
    struct stage *stage = arg;

    stage->held = exchange;
    loop_timer_init(&stage->timer, stage->talk.loop, go_on, stage);
    http_body_read(exchange, on_body, stage);
}

static void on_upload_cancel(void *arg)
{
    struct stage *stage = arg;

    talk_note(&stage->talk, 'u');
    http_reply_text(stage->held, 400, "");
    stage->held = NULL;
}

static void on_ignored(void *arg, const char *bytes, size_t len)
{
    (void)arg;
    (void)bytes;
    (void)len;
}

static void upload_in_part(void *arg, struct http_exchange *exchange)
{
    struct stage *stage = arg;

    stage->held = exchange;
    http_on_cancel(exchange, on_upload_cancel, stage);
    http_body_read(exchange, on_ignored, stage);
    talk_note(&stage->talk, 'b');
}

static void refuse_upload(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    http_reply_text(exchange, 403, "no upload");
}

static void on_drained(void *arg)
{
    struct stage *stage = arg;

    talk_note(&stage->talk, 'd');
    loop_stop(stage->talk.loop);
}

static void drain(void *arg, struct http_exchange *exchange)
{
    struct stage *stage = arg;
    const char *ms = rest_query(exchange, "ms");

    http_server_drain(stage->talk.server, (ms ? atoi(ms) : 20000) * NSEC_PER_MSEC, on_drained, stage);
    http_reply_text(exchange, 200, "draining");
}

static void drop(void *arg, struct http_exchange *exchange)
{
    struct stage *stage = arg;

    http_server_free(stage->talk.server);
    stage->talk.server = NULL;
    http_reply_text(exchange, 200, "to nobody");
    loop_stop(stage->talk.loop);
}

static const struct rest_route routes[] = {
    REST_ROUTE("GET", "/watch", watch),
    REST_ROUTE("GET", "/push", push),
    REST_ROUTE("GET", "/hold", hold),
    REST_ROUTE("GET", "/finish", finish),
    REST_ROUTE("GET", "/large", large),
    REST_ROUTE("GET", "/blocks", blocks),
    REST_ROUTE("POST", "/upload", upload, .is_body_streamed = true, .body_max = 100 << 20),
    REST_ROUTE("POST", "/part", upload_in_part, .is_body_streamed = true, .body_max = 10),
    REST_ROUTE("POST", "/refused", refuse_upload, .is_body_streamed = true, .body_max = 100 << 20),
    REST_ROUTE("GET", "/drain", drain),
    REST_ROUTE("GET", "/drop", drop),
};

#define GET(path) "GET " path " HTTP/1.1\r\nHost: h\r\n\r\n"
#define LAST(path) "GET " path " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

static void start(struct stage *stage, struct http_server_options options)
{
    *stage = (struct stage){0};
    talk_start(&stage->talk, (struct rest_options){.http = options}, routes, ARRAY_LEN(routes), stage);
}

static void each_piece_of_a_stream_is_sent_at_once(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct http_server_options){0});
    int fd = talk_connect(&stage.talk);
    talk_send(fd, GET("/watch"));
    const char *text = talk_receive(fd, "3\r\n{}\n\r\n");
    talk_expect(text, "Transfer-Encoding: chunked\r\n");
    talk_expect(text, "3\r\n{}\n\r\n");
    talk_expect(talk_ask(&stage.talk, LAST("/push")), "200 OK");
    assert_string_equal(talk_receive(fd, "\n\r\n"), "4\r\n[1]\n\r\n");
    /* The client goes, and the handler hears of it although it writes nothing. */
    assert_int_equal(close(fd), 0);
    assert_int_equal(talk_noted(&stage.talk), 'c');
    talk_expect(talk_ask(&stage.talk, LAST("/push")), "404 ");
    talk_stop(&stage.talk);
}

static void a_half_closed_watch_ends_in_order(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct http_server_options){0});
    int fd = talk_connect(&stage.talk);
    talk_send(fd, GET("/watch"));
    (void)talk_receive(fd, "{}\n\r\n");
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    assert_string_equal(talk_receive(fd, NULL), "0\r\n\r\n");
    assert_int_equal(talk_noted(&stage.talk), 'c');
    assert_int_equal(close(fd), 0);
    talk_stop(&stage.talk);
}

static void a_half_closed_client_gets_all_its_answers(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct http_server_options){0});
    int fd = talk_connect(&stage.talk);
    talk_send(fd, GET("/hold") GET("/blocks") GET("/blocks"));
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    assert_int_equal(talk_noted(&stage.talk), 'h');
    talk_expect(talk_ask(&stage.talk, LAST("/finish")), "200 OK");
    const char *text = talk_receive(fd, NULL);
    talk_expect(text, "held long");
    const char *first = strstr(text, "blocks=0.");
    assert_non_null(first);
    talk_expect(first + 1, "blocks=0.");
    assert_int_equal(close(fd), 0);
    /* A watch that was sent ahead by a client that has closed its side ends at once. */
    fd = talk_connect(&stage.talk);
    talk_send(fd, GET("/hold") GET("/watch"));
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    assert_int_equal(talk_noted(&stage.talk), 'h');
    talk_expect(talk_ask(&stage.talk, LAST("/finish")), "200 OK");
    talk_expect(talk_receive(fd, NULL), "{}\n\r\n0\r\n\r\n");
    assert_int_equal(talk_noted(&stage.talk), 'c');
    assert_int_equal(close(fd), 0);
    /* With half a request the connection just ends. */
    fd = talk_connect(&stage.talk);
    talk_send(fd, "GET /hold HTT");
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    assert_string_equal(talk_receive(fd, NULL), "");
    assert_int_equal(close(fd), 0);
    talk_stop(&stage.talk);
}

/* Reads a chunked answer of /large to its end; returns the bytes of its body. */
static size_t count_large(int fd)
{
    static char bytes[BLOCK];
    size_t count = 0;

    for (ssize_t got; (got = recv(fd, bytes, sizeof bytes, 0)) > 0;) {
        for (ssize_t i = 0; i < got; i++)
            count += bytes[i] == 'Z';
    }
    return count;
}

static void a_slow_reader_makes_the_handler_wait(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct http_server_options){0});
    int fd = talk_connect(&stage.talk);
    talk_send(fd, LAST("/large"));
    assert_int_equal(talk_noted(&stage.talk), 'b');
    /* The system's buffers are full and a little waits; most has not been written. */
    const char *text = strstr(talk_ask(&stage.talk, LAST("/blocks")), "blocks=");
    assert_non_null(text);
    assert_in_range(strtol(text + strlen("blocks="), NULL, 10), UNSENT_LOW / BLOCK, BLOCKS / 2);
    assert_int_equal(count_large(fd), (size_t)BLOCK * BLOCKS);
    assert_int_equal(close(fd), 0);
    talk_stop(&stage.talk);
}

static void a_reader_that_stops_is_let_go(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct http_server_options){.idle_timeout = 100 * NSEC_PER_MSEC});
    int fd = talk_connect(&stage.talk);
    talk_send(fd, GET("/large"));
    assert_int_equal(talk_noted(&stage.talk), 'b');
    assert_int_equal(talk_noted(&stage.talk), 'g');
    assert_int_equal(close(fd), 0);
    talk_stop(&stage.talk);
}

/* Each byte comes well within the time, the request as a whole never does. */
static void a_request_that_trickles_in_is_cut_off(void **state)
{
    struct stage stage;
    int sent = 0;

    (void)state;
    start(&stage, (struct http_server_options){.request_timeout = 200 * NSEC_PER_MSEC});
    int fd = talk_connect(&stage.talk);
    talk_send(fd, "GET /blocks HTTP/1.1\r\nX: ");
    while (sent < 10000 && poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 10) == 0) {
        talk_send(fd, "x");
        sent++;
    }
    assert_in_range(sent, 1, 9999);
    assert_string_equal(talk_receive(fd, NULL), "");
    assert_int_equal(close(fd), 0);
    talk_stop(&stage.talk);
}

static void a_body_is_streamed_and_can_be_held_up(void **state)
{
    struct stage stage;
    struct strbuf request;
    char block[1000];

    (void)state;
    start(&stage, (struct http_server_options){0});
    int fd = talk_connect(&stage.talk);
    strbuf_init(&request, 8 << 20);
    strbuf_addf(&request, "POST /upload HTTP/1.1\r\nContent-Length: %d\r\n\r\n", 4000 * 1000);
    memset(block, 'y', sizeof block);
    for (int i = 0; i < 4000; i++)
        strbuf_add(&request, block, sizeof block);
    /* Right behind it the next one, in chunks, and then a plain request. */
    strbuf_addstr(&request, "POST /upload HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 100; i++)
        strbuf_addstr(&request, "3\r\nabc\r\n");
    strbuf_addstr(&request, "0\r\n\r\n" LAST("/blocks"));
    for (size_t at = 0; at < request.len;) {
        ssize_t sent = send(fd, request.text + at, request.len - at, MSG_NOSIGNAL);

        assert_true(sent > 0);
        at += (size_t)sent;
    }
    const char *text = talk_receive(fd, NULL);
    talk_expect(text, "[4000000 bytes]");
    talk_expect(text, "[300 bytes]");
    talk_expect(text, "blocks=0.");
    assert_int_equal(close(fd), 0);
    /* Byte by byte, and one without a body. */
    fd = talk_connect(&stage.talk);
    talk_send_slowly(fd, "POST /upload HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n");
    talk_expect(talk_receive(fd, "]"), "[3 bytes]");
    talk_send(fd, "POST /upload HTTP/1.1\r\nConnection: close\r\n\r\n");
    talk_expect(talk_receive(fd, NULL), "[0 bytes]");
    assert_int_equal(close(fd), 0);
    strbuf_done(&request);
    talk_stop(&stage.talk);
}

static void a_body_that_does_not_come_whole_is_reported(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct http_server_options){.idle_timeout = 100 * NSEC_PER_MSEC});
    /* The client goes. */
    int fd = talk_connect(&stage.talk);
    talk_send(fd, "POST /part HTTP/1.1\r\nContent-Length: 5\r\n\r\nab");
    assert_int_equal(talk_noted(&stage.talk), 'b');
    assert_int_equal(close(fd), 0);
    assert_int_equal(talk_noted(&stage.talk), 'u');
    /* The client sends no more. */
    fd = talk_connect(&stage.talk);
    talk_send(fd, "POST /part HTTP/1.1\r\nContent-Length: 5\r\n\r\nab");
    assert_int_equal(talk_noted(&stage.talk), 'b');
    assert_int_equal(talk_noted(&stage.talk), 'u');
    assert_int_equal(close(fd), 0);
    /* It sends too much, which its head did not say. */
    fd = talk_connect(&stage.talk);
    talk_send(fd, "POST /part HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n");
    assert_int_equal(talk_noted(&stage.talk), 'b');
    assert_int_equal(talk_noted(&stage.talk), 'u');
    assert_int_equal(close(fd), 0);
    /* Its head says so. */
    talk_expect(talk_ask(&stage.talk, "POST /part HTTP/1.1\r\nContent-Length: 11\r\n\r\n"), "HTTP/1.1 413 ");
    talk_stop(&stage.talk);
}

/* The client sends megabytes before it reads; the answer must survive that the server has not read them. */
static void an_early_answer_reaches_a_client_that_still_sends(void **state)
{
    struct stage stage;
    static char block[1 << 20];

    (void)state;
    start(&stage, (struct http_server_options){0});
    for (int i = 0; i < 5; i++) {
        int fd = talk_connect(&stage.talk);

        talk_send(fd, "POST /refused HTTP/1.1\r\nContent-Length: 4194304\r\n\r\n");
        for (int j = 0; j < 4; j++)
            assert_int_equal(send(fd, block, sizeof block, MSG_NOSIGNAL), sizeof block);
        const char *text = talk_receive(fd, NULL);
        talk_expect(text, "403 Forbidden");
        talk_expect(text, "Connection: close");
        talk_expect(text, "no upload");
        assert_int_equal(close(fd), 0);
    }
    talk_stop(&stage.talk);
}

static void a_server_that_drains_lets_requests_finish(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct http_server_options){0});
    int idle = talk_connect(&stage.talk);
    talk_send(idle, GET("/blocks"));
    talk_expect(talk_receive(idle, "blocks=0."), "200 OK");
    int watching = talk_connect(&stage.talk);
    talk_send(watching, GET("/watch"));
    (void)talk_receive(watching, "{}\n\r\n");
    int half = talk_connect(&stage.talk);
    int asking = talk_connect(&stage.talk);
    talk_send(half, "GET /blo");
    int late = talk_connect(&stage.talk);
    talk_send(late, "GET /wat");
    talk_send(asking, GET("/blocks") "GET /blo");
    talk_expect(talk_receive(asking, "blocks=0."), "200 OK");

    talk_expect(talk_ask(&stage.talk, GET("/drain")), "Connection: close\r\n\r\ndraining");
    /* The stream ends with its last chunk, the idle connection without a word. */
    assert_string_equal(talk_receive(watching, NULL), "0\r\n\r\n");
    assert_string_equal(talk_receive(idle, NULL), "");
    assert_int_equal(talk_noted(&stage.talk), 'c');
    /* Requests that have begun are answered. */
    talk_send(half, "cks HTTP/1.1\r\nHost: h\r\n\r\n");
    talk_expect(talk_receive(half, NULL), "Connection: close\r\n\r\nblocks=0.");
    talk_send(asking, "cks HTTP/1.1\r\nHost: h\r\n\r\n");
    talk_expect(talk_receive(asking, NULL), "Connection: close\r\n\r\nblocks=0.");
    /* A watch that begins now ends at once. */
    talk_send(late, "ch HTTP/1.1\r\nHost: h\r\n\r\n");
    talk_expect(talk_receive(late, NULL), "{}\n\r\n0\r\n\r\n");
    assert_int_equal(talk_noted(&stage.talk), 'c');
    assert_int_equal(close(idle) + close(watching) + close(half) + close(asking) + close(late), 0);
    assert_int_equal(talk_noted(&stage.talk), 'd');
    talk_join(&stage.talk);
}

static void a_server_drains_only_for_a_time(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct http_server_options){0});
    int fd = talk_connect(&stage.talk);
    talk_send(fd, GET("/hold"));
    assert_int_equal(talk_noted(&stage.talk), 'h');
    talk_expect(talk_ask(&stage.talk, LAST("/drain?ms=50")), "draining");
    assert_string_equal(talk_receive(fd, NULL), "");
    assert_int_equal(talk_noted(&stage.talk), 'd');
    assert_int_equal(close(fd), 0);
    talk_join(&stage.talk);
    http_reply_text(stage.held, 200, "to nobody");
}

static void a_handler_may_free_the_server(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct http_server_options){0});
    int fd = talk_connect(&stage.talk);
    talk_send(fd, GET("/watch"));
    (void)talk_receive(fd, "{}\n\r\n");
    assert_string_equal(talk_ask(&stage.talk, GET("/drop") GET("/blocks")), "");
    assert_int_equal(talk_noted(&stage.talk), 'g');
    assert_string_equal(talk_receive(fd, NULL), "");
    assert_int_equal(close(fd), 0);
    talk_join(&stage.talk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_piece_of_a_stream_is_sent_at_once),
        cmocka_unit_test(a_half_closed_watch_ends_in_order),
        cmocka_unit_test(a_half_closed_client_gets_all_its_answers),
        cmocka_unit_test(a_slow_reader_makes_the_handler_wait),
        cmocka_unit_test(a_reader_that_stops_is_let_go),
        cmocka_unit_test(a_request_that_trickles_in_is_cut_off),
        cmocka_unit_test(a_body_is_streamed_and_can_be_held_up),
        cmocka_unit_test(a_body_that_does_not_come_whole_is_reported),
        cmocka_unit_test(an_early_answer_reaches_a_client_that_still_sends),
        cmocka_unit_test(a_server_that_drains_lets_requests_finish),
        cmocka_unit_test(a_server_drains_only_for_a_time),
        cmocka_unit_test(a_handler_may_free_the_server),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
