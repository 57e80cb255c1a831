/* SPDX-License-Identifier: Apache-2.0 */

/* The client over a Unix socket against a server that answers as no good server does. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/macros.h"
#include "net/http.h"
#include "net/loop.h"

#define OK(text) "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" text "\r\nok"

/* One answer; the connection is closed after it, or before it when it is NULL. */
struct line {
    const char *answer;
    bool ends;
};

struct world {
    char folder[32], path[64];
    const struct line *script;
    size_t lines;
    size_t connections;
    int listener;
    pthread_t thread;
    struct loop *loop;
    struct http_client *client;
    struct http_response told;
    char body[64], header[64];
    int times;
};

/* Reads a head, which is all that these requests have. */
static bool read_request(int fd)
{
    char bytes[4096];
    size_t len = 0;

    while (len < sizeof bytes - 1) {
        ssize_t got = read(fd, bytes + len, sizeof bytes - 1 - len);

        if (got <= 0)
            return false;
        len += (size_t)got;
        bytes[len] = '\0';
        if (strstr(bytes, "\r\n\r\n"))
            return true;
    }
    return false;
}

static void *serve(void *arg)
{
    struct world *w = arg;
    int fd = -1;

    for (size_t i = 0; i < w->lines; i++) {
        if (fd < 0) {
            fd = accept(w->listener, NULL, NULL);
            w->connections++;
        }
        if (!read_request(fd) && fd >= 0) {
            /* The client has given the connection up. */
            (void)close(fd);
            fd = -1;
            i--;
            continue;
        }
        const char *answer = w->script[i].answer;
        if (answer)
            assert_int_equal(write(fd, answer, strlen(answer)), (ssize_t)strlen(answer));
        if (!w->script[i].ends)
            continue;
        (void)close(fd);
        fd = -1;
    }
    if (fd >= 0)
        (void)close(fd);
    return NULL;
}

static void world_init(struct world *w, const struct line *script, size_t lines)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    *w = (struct world){.folder = "/tmp/muster-socket-XXXXXX", .script = script, .lines = lines, .loop = loop_new()};
    assert_non_null(mkdtemp(w->folder));
    (void)snprintf(w->path, sizeof w->path, "%s/s", w->folder);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", w->path);
    w->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(w->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(w->listener, 8), 0);
    assert_int_equal(pthread_create(&w->thread, NULL, serve, w), 0);
    w->client = http_client_new(w->loop);
}

static void world_done(struct world *w)
{
    http_client_free(w->client);
    loop_free(w->loop);
    assert_int_equal(pthread_join(w->thread, NULL), 0);
    (void)close(w->listener);
    assert_int_equal(unlink(w->path), 0);
    assert_int_equal(rmdir(w->folder), 0);
}

static void on_done(void *arg, const struct http_response *response)
{
    struct world *w = arg;
    const char *header = http_response_header(response, "x-word");

    w->told = *response;
    w->times++;
    (void)snprintf(w->body, sizeof w->body, "%s", response->body);
    (void)snprintf(w->header, sizeof w->header, "%s", header ? header : "none");
    loop_stop(w->loop);
}

static void ask(struct world *w, const char *method, const char *url)
{
    (void)http_start(w->client, &(struct http_request){.method = method,
                                                       .url = url,
                                                       .unix_path = w->path,
                                                       .timeout = 20 * NSEC_PER_SEC,
                                                       .body_max = 50,
                                                       .on_done = on_done,
                                                       .arg = w});
    loop_run(w->loop);
}

static void a_connection_is_used_again(void **state)
{
    const struct line script[] = {{OK("X-Word: a\r\n"), false}, {OK(""), false}, {OK("X-Word: \r\n"), true}};
    const char *headers[] = {"a", "none", ""};
    struct world w;

    (void)state;
    world_init(&w, script, ARRAY_LEN(script));
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        ask(&w, "GET", "http://x/");
        assert_int_equal(w.told.err.code, 0);
        assert_int_equal(w.told.status, 200);
        assert_string_equal(w.body, "ok");
        assert_string_equal(w.header, headers[i]);
    }
    assert_int_equal(w.times, 3);
    world_done(&w);
    assert_int_equal(w.connections, 1);
}

static void reading_is_repeated_on_a_new_connection_and_writing_is_not(void **state)
{
    const struct line script[] = {{OK(""), false}, {NULL, true}, {OK(""), false}, {NULL, true}, {NULL, true}};
    struct world w;

    (void)state;
    world_init(&w, script, ARRAY_LEN(script));
    ask(&w, "GET", "http://x/");
    ask(&w, "GET", "http://x/");
    assert_int_equal(w.told.status, 200);
    ask(&w, "DELETE", "http://x/");
    assert_int_equal(w.told.err.code, -ECONNRESET);
    assert_int_equal(w.told.status, 0);
    assert_false(w.told.is_unsent);
    /* On a connection of its own nothing is repeated: this is no idle connection that was closed. */
    ask(&w, "GET", "http://x/");
    assert_int_equal(w.told.err.code, -ECONNRESET);
    assert_int_equal(w.times, 4);
    world_done(&w);
    assert_int_equal(w.connections, 3);
}

static void answers_end_in_every_way_that_http_knows(void **state)
{
    const struct line script[] = {
        {"HTTP/1.1 200 OK\r\n\r\nuntil the end", true},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-Word: late\r\n\r\n",
         false},
        {"HTTP/1.1 103 Early Hints\r\nX-Word: early\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", false},
        {OK(""), true},
    };
    const char *bodies[] = {"until the end", "abcde", "", "ok", "ok"};
    const char *headers[] = {"none", "late", "none", "none", "none"};
    struct world w;

    (void)state;
    world_init(&w, script, ARRAY_LEN(script));
    for (size_t i = 0; i < ARRAY_LEN(script); i++) {
        ask(&w, "GET", "http://x/a?b=c");
        assert_int_equal(w.told.err.code, 0);
        assert_string_equal(w.body, bodies[i]);
        assert_string_equal(w.header, headers[i]);
    }
    world_done(&w);
    assert_int_equal(w.connections, 3);
}

static void bad_answers_are_errors(void **state)
{
    const struct line script[] = {
        {"nonsense\r\n\r\n", true},
        {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", true},
        {"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n123456789012345678901234567890123456789012345678901234567890",
         true},
        {OK("") "more", false},
        {OK(""), true},
    };
    const int codes[] = {-ECONNRESET, -ECONNRESET, -EFBIG, 0, 0};
    struct world w;

    (void)state;
    world_init(&w, script, ARRAY_LEN(script));
    for (size_t i = 0; i < ARRAY_LEN(script); i++) {
        ask(&w, "GET", "http://x");
        assert_int_equal(w.told.err.code, codes[i]);
    }
    world_done(&w);
    assert_int_equal(w.connections, 5);
}

static void a_request_cannot_smuggle_another_one(void **state)
{
    const struct line script[] = {{OK(""), true}};
    struct world w;

    (void)state;
    world_init(&w, script, ARRAY_LEN(script));
    ask(&w, "GET", "http://x/a b");
    assert_int_equal(w.told.err.code, -EINVAL);
    ask(&w, "GET", "http://x/a\r\nX: y");
    assert_int_equal(w.told.err.code, -EINVAL);
    assert_true(w.told.is_unsent);
    ask(&w, "GET", "http://x/");
    assert_int_equal(w.told.status, 200);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_is_used_again),
        cmocka_unit_test(reading_is_repeated_on_a_new_connection_and_writing_is_not),
        cmocka_unit_test(answers_end_in_every_way_that_http_knows),
        cmocka_unit_test(bad_answers_are_errors),
        cmocka_unit_test(a_request_cannot_smuggle_another_one),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
