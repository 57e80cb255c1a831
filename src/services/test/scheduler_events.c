/* SPDX-License-Identifier: Apache-2.0 */

/* In which order events reach the API server, which is played by a server that notes their reasons. */
#include <unistd.h>

#include "base/strbuf.h"
#include "kube/access/config.h"
#include "kube/client/client.h"
#include "kube/events/events.h"
#include "net/rest/rest.h"
#include "services/test/scheduler_stage.h"

struct server {
    struct stage *s;
    struct http_server *server;
    struct strbuf reasons;  // their first letters, as they came
    size_t awaited;
    int pods;  // that have come meanwhile
    struct loop_timer next_pod;
};

static void on_post(void *arg, struct http_exchange *exchange)
{
    struct server *server = arg;
    size_t len = 0;
    const char *body = http_exchange_body(exchange, &len);
    const char *reason = strstr(body, "\"reason\":\"");

    assert_non_null(reason);
    strbuf_addf(&server->reasons, "%c", reason[strlen("\"reason\":\"")]);
    http_reply(exchange, 201, "application/json", "{}", 2);
    if (server->reasons.len == server->awaited)
        loop_stop(server->s->loop);
}

static void tell(struct stage *s, int number, const char *type, const char *reason)
{
    char name[16];

    (void)snprintf(name, sizeof name, "pod-%d", number);
    report_pod_event(s->report, key_put(s->state, "ns", name), name_put(s->state, name), type, reason, "why");
}

static const struct rest_route routes[] = {REST_ROUTE("POST", "/api/v1/namespaces/ns/events", on_post)};

static void open_server(struct server *server, size_t awaited)
{
    struct loop *loop = loop_new();

    *server = (struct server){.awaited = awaited};
    strbuf_init(&server->reasons, 2 * awaited);
    struct rest_set set = {routes, ARRAY_LEN(routes), server};
    struct rest_options options = {.http.address = "127.0.0.1", .sets = &set, .set_count = 1};
    assert_int_equal(rest_server_start(loop, &options, &server->server, NULL), 0);
    server->s = stage_new_at(loop, http_server_port(server->server));
}

static void close_server(struct server *server)
{
    http_server_free(server->server);
    strbuf_done(&server->reasons);
    stage_free(server->s);
}

static void trouble_is_told_before_what_goes_well(void **state)
{
    (void)state;
    enum { EVENTS = 40 };
    struct server server;

    open_server(&server, EVENTS);
    for (int i = 0; i < EVENTS - 2; i++)
        tell(server.s, i, "Normal", "Scheduled");
    tell(server.s, EVENTS - 2, "Warning", "Unschedulable");
    tell(server.s, EVENTS - 1, "Warning", "FailedBinding");
    loop_run(server.s->loop);
    assert_int_equal(strncmp(server.reasons.text, "UFSS", 4), 0);
    assert_int_equal(strspn(server.reasons.text + 2, "S"), EVENTS - 2);
    close_server(&server);
}

/* Fewer than come while events are patient. */
enum { PODS_AWAITED = 100 };
_Static_assert(PODS_AWAITED *(RUSH_OVER / 4) < RUSH_PATIENCE, "or patience would be over");

static void on_next_pod(void *arg)
{
    struct server *server = arg;
    struct stage *s = server->s;

    rush_note(&s->traffic.rush, nsec_now_monotonic());
    loop_timer_start(&server->next_pod, RUSH_OVER / 4);
    if (++server->pods == PODS_AWAITED)
        loop_stop(s->loop);
}

static void what_waits_for_pods_is_told_when_we_stop(void **state)
{
    (void)state;
    struct server server;

    open_server(&server, 2);
    struct stage *s = server.s;

    loop_timer_init(&server.next_pod, s->loop, on_next_pod, &server);
    on_next_pod(&server);
    tell(s, 0, "Normal", "Scheduled");
    tell(s, 1, "Warning", "Unschedulable");
    pace_hold(s->pace, HOLD_STOPPING);
    assert_false(report_is_over(s->report, 0));
    loop_run(s->loop);
    assert_string_equal(server.reasons.text, "US");
    assert_true(report_is_over(s->report, 0));

    /* But not for ever, and what is left is given back. */
    tell(s, 2, "Normal", "Scheduled");
    assert_true(report_is_over(s->report, NSEC_PER_MIN));
    loop_timer_done(&server.next_pod);
    close_server(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trouble_is_told_before_what_goes_well),
        cmocka_unit_test(what_waits_for_pods_is_told_when_we_stop),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
