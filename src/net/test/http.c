/* SPDX-License-Identifier: Apache-2.0 */

/* The client against our own server, in one loop, over TCP and over a Unix socket. HTTP/2 is tried in http2.c. */
#include "net/http.h"

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

#include "base/strbuf.h"
#include "net/loop.h"
#include "net/rest/rest.h"
#include "net/test/certs.h"

struct world {
    struct loop *loop;
    struct http_server *server;
    struct http_client *client;
    struct cert ca, cert, other_ca;
    struct http_exchange *held;
    struct loop_timer timer;
    char url[128];
    char folder[32], path[64];  // of the Unix socket; empty: none
    int waiting;                // calls that have not ended
};

/* What a call came to. */
struct told {
    struct world *world;
    struct http_call *call;
    int times;
    int status;
    int version;
    struct err err;
    bool is_unsent;
    char body[256];
    size_t body_len;
    char header[64];
    size_t streamed;
    int answer;  // of on_data
    bool cancels, frees;
};

static void get_hello(void *arg, struct http_exchange *exchange)
{
    const char *name = rest_query(exchange, "name");

    (void)arg;
    http_reply_header(exchange, "X-Asked", http_exchange_header(exchange, "X-Ask") ? "yes" : "no");
    http_reply_text(exchange, 200, name ? name : "nobody");
}

static void post_echo(void *arg, struct http_exchange *exchange)
{
    size_t len = 0;
    const char *body = http_exchange_body(exchange, &len);

    (void)arg;
    http_reply(exchange, 201, "application/json", body, len);
}

static void get_stream(void *arg, struct http_exchange *exchange)
{
    static char block[64 * 1024];

    (void)arg;
    memset(block, 'x', sizeof block);
    http_reply_begin(exchange, 200, "text/plain");
    for (int i = 0; i < 64; i++)
        http_reply_write(exchange, block, sizeof block);
    http_reply_end(exchange);
}

static void get_refused(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    http_reply_header(exchange, "Retry-After", "7");
    http_reply_text(exchange, 429, "later");
}

static void get_never(void *arg, struct http_exchange *exchange)
{
    ((struct world *)arg)->held = exchange;
}

static void get_stalled(void *arg, struct http_exchange *exchange)
{
    ((struct world *)arg)->held = exchange;
    http_reply_begin(exchange, 200, "text/plain");
    http_reply_write(exchange, "begun", 5);
}

static const struct rest_route routes[] = {
    REST_ROUTE("GET", "/hello", get_hello),   REST_ROUTE("POST", "/echo", post_echo),
    REST_ROUTE("GET", "/stream", get_stream), REST_ROUTE("GET", "/refused", get_refused),
    REST_ROUTE("GET", "/never", get_never),   REST_ROUTE("GET", "/stalled", get_stalled),
};

static void on_late(void *arg)
{
    fail_msg("nothing happened for %d calls", ((struct world *)arg)->waiting);
}

enum way { PLAIN, TLS, SOCKET };

/* The state of tests that run twice: NULL over TCP, anything else over a Unix socket. */
static char over_socket[] = "over a Unix socket";

static void use_socket(struct world *world)
{
    (void)snprintf(world->folder, sizeof world->folder, "/tmp/muster-http-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    (void)snprintf(world->path, sizeof world->path, "%s/s", world->folder);
}

static void world_init(struct world *world, enum way way)
{
    bool has_tls = way == TLS;

    *world = (struct world){.loop = loop_new()};
    if (way == SOCKET)
        use_socket(world);
    cert_init(&world->ca, NULL, "test-ca", NULL);
    cert_init(&world->other_ca, NULL, "other-ca", NULL);
    cert_init(&world->cert, &world->ca, "server", "DNS:muster.test");
    struct rest_set set = {routes, ARRAY_LEN(routes), world};
    struct rest_options options = {
        .http = {.address = "127.0.0.1",
                 .unix_path = way == SOCKET ? world->path : NULL,
                 .cert_pem = has_tls ? world->cert.cert_pem : NULL,
                 .key_pem = has_tls ? world->cert.key_pem : NULL},
        .sets = &set,
        .set_count = 1,
    };
    struct err err = {0};

    if (rest_server_start(world->loop, &options, &world->server, &err) < 0)
        fail_msg("%s", err.text);
    world->client = http_client_new(world->loop);
    loop_timer_init(&world->timer, world->loop, on_late, world);
    loop_timer_start(&world->timer, 60 * NSEC_PER_SEC);
    (void)snprintf(world->url, sizeof world->url, "http%s://127.0.0.1:%d", has_tls ? "s" : "",
                   way == SOCKET ? 80 : http_server_port(world->server));
}

static void world_done(struct world *world)
{
    if (world->held)
        http_reply_text(world->held, 200, "too late");
    http_client_free(world->client);
    http_server_free(world->server);
    loop_timer_done(&world->timer);
    loop_free(world->loop);
    if (world->folder[0]) {
        (void)unlink(world->path);
        assert_int_equal(rmdir(world->folder), 0);
    }
    cert_done(&world->ca);
    cert_done(&world->other_ca);
    cert_done(&world->cert);
}

static void on_done(void *arg, const struct http_response *response)
{
    struct told *told = arg;
    const char *header = http_response_header(response, "x-asked");

    told->times++;
    told->status = response->status;
    told->version = response->http_version;
    told->err = response->err;
    told->is_unsent = response->is_unsent;
    told->body_len = response->body_len;
    (void)snprintf(told->body, sizeof told->body, "%s", response->body);
    (void)snprintf(told->header, sizeof told->header, "%s", header ? header : "");
    if (told->frees) {
        http_client_free(told->world->client);
        told->world->client = NULL;
    }
    if (--told->world->waiting == 0)
        loop_stop(told->world->loop);
}

static int on_data(void *arg, const char *bytes, size_t len)
{
    struct told *told = arg;

    assert_non_null(bytes);
    told->streamed += len;
    if (told->cancels && told->call) {
        http_cancel(told->call);
        told->call = NULL;
        if (--told->world->waiting == 0)
            loop_stop(told->world->loop);
    }
    return told->answer;
}

static void start(struct world *world, struct told *told, const char *path, struct http_request request)
{
    char url[256];

    (void)snprintf(url, sizeof url, "%s%s", world->url, path);
    request.url = url;
    request.unix_path = world->path[0] ? world->path : NULL;
    request.method = request.method ? request.method : "GET";
    request.on_done = on_done;
    request.arg = told;
    request.body_max = request.body_max ? request.body_max : 200;
    told->world = world;
    world->waiting++;
    told->call = http_start(world->client, &request);
}

static struct told ask(struct world *world, const char *path, struct http_request request)
{
    struct told told = {0};

    start(world, &told, path, request);
    loop_run(world->loop);
    assert_int_equal(told.times, 1);
    return told;
}

static void requests_are_answered(void **state)
{
    struct world world;
    const char *headers[] = {"X-Ask: really", NULL};

    world_init(&world, *state ? SOCKET : PLAIN);
    struct told told = ask(&world, "/hello?x=1&name=a%20b", (struct http_request){.headers = headers});
    assert_int_equal(told.err.code, 0);
    assert_int_equal(told.status, 200);
    assert_int_equal(told.version, 1);
    assert_string_equal(told.body, "a b");
    assert_string_equal(told.header, "yes");

    told = ask(&world, "/echo", (struct http_request){.method = "POST", .body = "{}", .body_len = 2});
    assert_int_equal(told.status, 201);
    assert_string_equal(told.body, "{}");
    told = ask(&world, "/hello", (struct http_request){.method = "HEAD"});
    assert_int_equal(told.status, 200);
    assert_int_equal(told.body_len, 0);
    told = ask(&world, "/nothing", (struct http_request){0});
    assert_int_equal(told.status, 404);
    told = ask(&world, "/hello", (struct http_request){.method = "DELETE"});
    assert_int_equal(told.status, 405);
    world_done(&world);
}

static void requests_up_to_the_servers_limit_are_all_answered_at_once(void **state)
{
    (void)state;
    enum { COUNT = 256 };  // one connection a call over HTTP/1.1, and the server takes as many
    struct world world;
    struct told *told = calloc(COUNT, sizeof *told);

    world_init(&world, TLS);
    struct http_tls *tls =
        http_tls_new(&(struct http_tls_options){.ca_pem = world.ca.cert_pem, .server_name = "muster.test"});
    for (int i = 0; i < COUNT; i++)
        start(&world, &told[i], "/hello", (struct http_request){.tls = tls, .connect_timeout = NSEC_PER_MIN});
    http_tls_unref(tls);
    assert_int_equal(http_client_calls(world.client), COUNT);
    loop_run(world.loop);
    int good = 0;
    for (int i = 0; i < COUNT; i++)
        good += told[i].status == 200;
    assert_int_equal(good, COUNT);
    assert_int_equal(http_client_calls(world.client), 0);
    free(told);
    world_done(&world);
}

static void only_the_named_authority_is_trusted(void **state)
{
    (void)state;
    struct world world;

    world_init(&world, TLS);
    struct {
        struct http_tls_options options;
        int code;
    } cases[] = {
        {{.ca_pem = world.ca.cert_pem, .server_name = "muster.test"}, 0},
        {{.ca_pem = world.ca.cert_pem}, -EKEYREJECTED},  // the URL says 127.0.0.1
        {{.ca_pem = world.ca.cert_pem, .server_name = "other.test"}, -EKEYREJECTED},
        {{.ca_pem = world.other_ca.cert_pem, .server_name = "muster.test"}, -EKEYREJECTED},
        {{.server_name = "muster.test"}, -EKEYREJECTED},  // the system knows nothing of it
        {{.ca_pem = "nonsense", .server_name = "muster.test"}, -EKEYREJECTED},
        {{.skips_verify = true}, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_tls *tls = http_tls_new(&cases[i].options);
        struct told told = ask(&world, "/hello", (struct http_request){.tls = tls});

        http_tls_unref(tls);
        if (told.err.code != cases[i].code)
            fail_msg("case %zu: %d %s", i, told.err.code, told.err.text);
        assert_int_equal(told.status, cases[i].code ? 0 : 200);
        assert_int_equal(told.is_unsent, cases[i].code != 0);
        assert_true((told.err.text[0] == '\0') == (cases[i].code == 0));
    }
    world_done(&world);
}

static void a_certificate_can_be_exchanged(void **state)
{
    (void)state;
    struct world world;
    struct cert fresh;
    struct err err = {0};

    world_init(&world, TLS);
    cert_init(&fresh, &world.other_ca, "server", "IP:127.0.0.1");
    assert_int_equal(http_server_set_certificate(world.server, fresh.cert_pem, world.cert.key_pem, &err),
                     -EKEYREJECTED);
    assert_int_equal(http_server_set_certificate(world.server, "nonsense", "nonsense", &err), -EKEYREJECTED);
    assert_int_equal(http_server_set_certificate(world.server, fresh.cert_pem, fresh.key_pem, &err), 0);
    struct http_tls *tls = http_tls_new(&(struct http_tls_options){.ca_pem = world.other_ca.cert_pem});
    struct told told = ask(&world, "/hello", (struct http_request){.tls = tls});
    assert_int_equal(told.status, 200);
    http_tls_unref(tls);
    cert_done(&fresh);
    world_done(&world);
}

static void an_answer_is_streamed_or_bounded(void **state)
{
    struct world world;

    world_init(&world, *state ? SOCKET : TLS);
    struct http_tls *tls = http_tls_new(&(struct http_tls_options){.skips_verify = true});
    struct told told = ask(&world, "/stream", (struct http_request){.tls = tls, .on_data = on_data});
    assert_int_equal(told.err.code, 0);
    assert_int_equal(told.streamed, 64 * 64 * 1024);
    told = ask(&world, "/stream", (struct http_request){.tls = tls});
    assert_int_equal(told.err.code, -EFBIG);
    assert_int_equal(told.body_len, 200);

    /* An error is kept whole instead, since it is no part of the stream. */
    told = ask(&world, "/refused", (struct http_request){.tls = tls, .on_data = on_data});
    assert_int_equal(told.err.code, 0);
    assert_int_equal(told.status, 429);
    assert_int_equal(told.streamed, 0);
    assert_string_equal(told.body, "later");
    http_tls_unref(tls);
    world_done(&world);
}

static void a_reader_can_refuse_what_comes(void **state)
{
    struct world world;
    struct told told = {.answer = -EBADMSG};

    world_init(&world, *state ? SOCKET : PLAIN);
    start(&world, &told, "/stream", (struct http_request){.on_data = on_data});
    loop_run(world.loop);
    assert_int_equal(told.times, 1);
    assert_int_equal(told.err.code, -EBADMSG);
    world_done(&world);
}

static void a_call_that_is_called_off_says_nothing(void **state)
{
    struct world world;
    struct told before = {0};
    struct told within = {.cancels = true};
    struct told after = {0};

    world_init(&world, *state ? SOCKET : PLAIN);
    start(&world, &before, "/hello", (struct http_request){0});
    http_cancel(before.call);
    world.waiting--;
    start(&world, &within, "/stream", (struct http_request){.on_data = on_data});
    start(&world, &after, "/hello", (struct http_request){0});
    loop_run(world.loop);
    assert_int_equal(before.times, 0);
    assert_int_equal(within.times, 0);
    assert_true(within.streamed > 0);
    assert_int_equal(after.times, 1);
    world_done(&world);
}

static void the_client_can_be_freed_by_a_callback(void **state)
{
    struct world world;
    struct told first = {.frees = true};
    struct told second = {0};

    world_init(&world, *state ? SOCKET : PLAIN);
    start(&world, &first, "/hello", (struct http_request){0});
    start(&world, &second, "/never", (struct http_request){0});
    world.waiting--;
    loop_run(world.loop);
    assert_int_equal(first.times, 1);
    assert_int_equal(second.times, 0);
    world_done(&world);
}

static void silence_has_an_end(void **state)
{
    struct world world;

    world_init(&world, *state ? SOCKET : PLAIN);
    struct told told = ask(&world, "/never", (struct http_request){.timeout = NSEC_PER_SEC});
    assert_int_equal(told.err.code, -ETIMEDOUT);
    assert_false(told.is_unsent);
    http_reply_text(world.held, 200, "too late");
    world.held = NULL;

    told = ask(&world, "/stalled", (struct http_request){.idle_timeout = NSEC_PER_SEC, .on_data = on_data});
    assert_int_equal(told.err.code, -ETIMEDOUT);
    assert_int_equal(told.streamed, 5);
    assert_int_equal(told.status, 200);
    http_reply_end(world.held);
    world.held = NULL;
    world_done(&world);
}

static bool may_not_send(void *arg)
{
    (void)arg;
    return false;
}

static void what_may_not_be_sent_any_more_is_not_sent(void **state)
{
    struct world world;

    world_init(&world, *state ? SOCKET : PLAIN);
    struct told told = ask(&world, "/hello", (struct http_request){.may_send = may_not_send});
    assert_int_equal(told.err.code, -ECANCELED);
    assert_true(told.is_unsent);
    assert_int_equal(told.status, 0);
    told = ask(&world, "/hello", (struct http_request){0});
    assert_int_equal(told.status, 200);
    world_done(&world);
}

static void nobody_at_home_is_said_so(void **state)
{
    struct world world;

    world_init(&world, *state ? SOCKET : PLAIN);
    http_server_free(world.server);
    world.server = NULL;
    struct told told = ask(&world, "/hello", (struct http_request){0});
    assert_int_equal(told.err.code, -ECONNREFUSED);
    assert_true(told.is_unsent);
    (void)snprintf(world.url, sizeof world.url, "file:///etc/hostname");
    told = ask(&world, "", (struct http_request){0});
    assert_int_equal(told.err.code, -EINVAL);
    world_done(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_answered),
        cmocka_unit_test_prestate(requests_are_answered, over_socket),
        cmocka_unit_test(requests_up_to_the_servers_limit_are_all_answered_at_once),
        cmocka_unit_test(only_the_named_authority_is_trusted),
        cmocka_unit_test(a_certificate_can_be_exchanged),
        cmocka_unit_test(an_answer_is_streamed_or_bounded),
        cmocka_unit_test_prestate(an_answer_is_streamed_or_bounded, over_socket),
        cmocka_unit_test(a_reader_can_refuse_what_comes),
        cmocka_unit_test_prestate(a_reader_can_refuse_what_comes, over_socket),
        cmocka_unit_test(a_call_that_is_called_off_says_nothing),
        cmocka_unit_test_prestate(a_call_that_is_called_off_says_nothing, over_socket),
        cmocka_unit_test(the_client_can_be_freed_by_a_callback),
        cmocka_unit_test_prestate(the_client_can_be_freed_by_a_callback, over_socket),
        cmocka_unit_test(silence_has_an_end),
        cmocka_unit_test_prestate(silence_has_an_end, over_socket),
        cmocka_unit_test(what_may_not_be_sent_any_more_is_not_sent),
        cmocka_unit_test_prestate(what_may_not_be_sent_any_more_is_not_sent, over_socket),
        cmocka_unit_test(nobody_at_home_is_said_so),
        cmocka_unit_test_prestate(nobody_at_home_is_said_so, over_socket),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
