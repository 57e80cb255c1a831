/* SPDX-License-Identifier: Apache-2.0 */

/* HTTP over a socket in a folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"
#include "net/http.h"
#include "net/loop.h"
#include "net/rest/rest.h"

struct world {
    struct loop *loop;
    int status;
    char body[64];
    struct http_peer peer;
};

static void hello(void *arg, struct http_exchange *exchange)
{
    struct world *w = arg;

    w->peer = *http_exchange_peer(exchange);
    http_reply_text(exchange, 200, "hello");
}

static void on_done(void *arg, const struct http_response *response)
{
    struct world *w = arg;

    w->status = response->status;
    (void)snprintf(w->body, sizeof w->body, "%s", response->body);
    loop_stop(w->loop);
}

static void requests_travel_over_a_socket_in_a_folder(void **state)
{
    const struct rest_route routes[] = {REST_ROUTE("GET", "/hello", hello)};
    char folder[] = "/tmp/muster-unix-XXXXXX";
    char path[64];
    struct world w = {.loop = loop_new()};
    struct http_server *server;
    struct stat found;
    struct err err = {0};

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/api.sock", folder);
    struct rest_set set = {routes, ARRAY_LEN(routes), &w};
    struct rest_options options = {.http.unix_path = path, .sets = &set, .set_count = 1};
    assert_int_equal(rest_server_start(w.loop, &options, &server, &err), 0);
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    struct http_client *client = http_client_new(w.loop);
    struct http_request request = {.method = "GET",
                                   .url = "http://daemon/hello",
                                   .unix_path = path,
                                   .body_max = 100,
                                   .on_done = on_done,
                                   .arg = &w};
    (void)http_start(client, &request);
    loop_run(w.loop);
    assert_int_equal(w.status, 200);
    assert_string_equal(w.body, "hello");
    /* The kernel says who asks. */
    assert_true(w.peer.has_credentials);
    assert_int_equal(w.peer.uid, geteuid());
    assert_int_equal(w.peer.gid, getegid());
    assert_int_equal(w.peer.pid, getpid());
    assert_string_equal(w.peer.address, "unix");
    assert_false(w.peer.is_tls);
    assert_null(w.peer.name);
    http_client_free(client);
    http_server_free(server);
    loop_free(w.loop);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void a_path_has_its_limits(void **state)
{
    struct loop *loop = loop_new();
    struct http_server *server;
    struct err err = {0};
    char path[256];

    (void)state;
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    assert_true(rest_server_start(loop, &(struct rest_options){.http.unix_path = path}, &server, &err) < 0);
    assert_true(rest_server_start(loop, &(struct rest_options){.http.unix_path = "/no/such/folder/x"}, &server, &err) <
                0);
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_travel_over_a_socket_in_a_folder),
        cmocka_unit_test(a_path_has_its_limits),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
