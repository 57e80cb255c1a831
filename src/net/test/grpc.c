/* SPDX-License-Identifier: Apache-2.0 */

/* gRPC's frames, and servers that speak something else. A real server of gRPC is in tests/controllers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"
#include "net/grpc.h"
#include "net/loop.h"
#include "net/rest/rest.h"

static void a_frame_holds_one_message(void **state)
{
    static const struct {
        const char *body;
        size_t len;
        const char *message;  // NULL: is refused
    } cases[] = {
        {"\0\0\0\0\0", 5, ""},     {"\0\0\0\0\3abc", 8, "abc"},      {"", 0, NULL},
        {"\0\0\0\0", 4, NULL},     {"\1\0\0\0\0", 5, NULL},          {"\0\0\0\0\3ab", 7, NULL},
        {"\0\0\0\0\1ab", 7, NULL}, {"\0\377\377\377\377a", 6, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *message = NULL;
        size_t len = 0;
        struct err err = {0};
        int r = grpc_unwrap(cases[i].body, cases[i].len, &message, &len, &err);

        assert_int_equal(r, cases[i].message ? 0 : -EBADMSG);
        if (r < 0)
            continue;
        assert_int_equal(len, strlen(cases[i].message));
        assert_memory_equal(message, cases[i].message, len);
    }
}

struct world {
    struct loop *loop;
    int code;
    int calls;
};

static void on_done(void *arg, const struct grpc_answer *answer)
{
    struct world *w = arg;

    w->code = answer->err.code;
    w->calls++;
    assert_true(answer->status != 0);
    assert_string_equal(answer->message, "");
    loop_stop(w->loop);
}

static int call(struct world *w, const char *path)
{
    struct http_client *client = http_client_new(w->loop);
    struct grpc_request request = {.unix_path = path,
                                   .method = "/some.Service/Method",
                                   .message = "abc",
                                   .message_len = 3,
                                   .timeout = 20 * NSEC_PER_SEC,
                                   .answer_max = 100,
                                   .on_done = on_done,
                                   .arg = w};
    struct grpc_call *cancelled = grpc_start(client, &request);

    (void)grpc_start(client, &request);
    grpc_cancel(cancelled);
    w->calls = 0;
    loop_run(w->loop);
    assert_int_equal(w->calls, 1);
    http_client_free(client);
    return w->code;
}

static void hello(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    http_reply_text(exchange, 200, "hello");
}

static void whoever_does_not_speak_grpc_is_an_error(void **state)
{
    const struct rest_route routes[] = {REST_ROUTE("POST", "/some.Service/Method", hello)};
    struct rest_set set = {routes, ARRAY_LEN(routes), NULL};
    char folder[] = "/tmp/muster-grpc-XXXXXX";
    char path[64];
    struct world w = {.loop = loop_new()};
    struct http_server *server;
    struct err err = {0};

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/kubelet.sock", folder);
    assert_int_equal(call(&w, path), -ECONNREFUSED);
    struct rest_options options = {.http.unix_path = path, .sets = &set, .set_count = 1};
    assert_int_equal(rest_server_start(w.loop, &options, &server, &err), 0);
    assert_true(call(&w, path) < 0);
    http_server_free(server);
    loop_free(w.loop);
    (void)unlink(path);
    (void)rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_holds_one_message),
        cmocka_unit_test(whoever_does_not_speak_grpc_is_an_error),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
