/* SPDX-License-Identifier: Apache-2.0 */

/* A process that stops while a request is under way. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "frame/process.h"
#include "frame/service.h"
#include "net/http.h"
#include "net/loop.h"

static struct {
    uint16_t port;
    struct http_client *http;
    struct http_exchange *held;
    struct loop_timer timer;
    bool has_stopped;
    int status;
    char body[16];
} seen;

static void on_timer(void *arg)
{
    (void)arg;
    assert_true(seen.has_stopped);
    http_reply_text(seen.held, 200, "finished");
}

/* The request makes the process stop, and is answered after its service has ended. */
static void serve_slow(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    seen.held = exchange;
    (void)raise(SIGTERM);
}

static const struct rest_route routes[] = {REST_ROUTE("GET", "/slow", serve_slow)};

static void on_done(void *arg, const struct http_response *response)
{
    (void)arg;
    seen.status = response->status;
    (void)snprintf(seen.body, sizeof seen.body, "%s", response->body);
}

static int open_service(struct service *service, struct err *err)
{
    char address[64];

    (void)snprintf(address, sizeof address, "127.0.0.1:%u", seen.port);
    loop_timer_init(&seen.timer, service->loop, on_timer, NULL);
    return process_serve(service->process, service->log, address, &(struct rest_set){routes, 1, NULL}, NULL, err);
}

static void lead(struct service *service)
{
    char url[64];

    seen.http = http_client_new(service->loop);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/slow", seen.port);
    (void)http_start(seen.http,
                     &(struct http_request){.method = "GET", .url = url, .body_max = 100, .on_done = on_done});
}

static void stop(struct service *service)
{
    service_stopped(service);
    seen.has_stopped = true;
    loop_timer_start(&seen.timer, 20 * NSEC_PER_MSEC);
}

static void close_service(struct service *service)
{
    (void)service;
    http_client_free(seen.http);
    loop_timer_done(&seen.timer);
}

static const struct service_kind kind = {
    .name = "test", .open = open_service, .lead = lead, .stop = stop, .close = close_service};

static void a_request_under_way_is_answered_before_the_process_ends(void **state)
{
    static const struct service_kind *const kinds[] = {&kind};
    static const char *const argv[] = {"--metrics-bind-address=0", "--health-probe-bind-address=0",
                                       "--zap-log-level=error"};
    struct loop *loop = loop_new();
    struct http_server *server = NULL;
    struct err err = {0};

    (void)state;
    /* A port that is free a moment from now. */
    assert_int_equal(rest_server_start(loop, &(struct rest_options){.http = {.address = "127.0.0.1"}}, &server, NULL),
                     0);
    seen.port = http_server_port(server);
    http_server_free(server);
    loop_free(loop);

    if (process_main(kinds, 1, ARRAY_LEN(argv), argv, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(seen.status, 200);
    assert_string_equal(seen.body, "finished");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_under_way_is_answered_before_the_process_ends),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
