/* SPDX-License-Identifier: Apache-2.0 */

/* In which order events reach the API server, which is played by a server that notes their reasons. */
#include <unistd.h>

#include "base/strbuf.h"
#include "kube/access/config.h"
#include "kube/client/client.h"
#include "kube/events/events.h"
#include "net/rest/rest.h"
#include "services/test/scheduler_stage.h"

struct stage {
    struct scheduler *s;
    struct http_server *server;
    struct strbuf reasons;  // their first letters, as they came
    size_t awaited;
    int pods;  // that have come meanwhile
};

static void on_post(void *arg, struct http_exchange *exchange)
{
    struct stage *stage = arg;
    size_t len = 0;
    const char *body = http_exchange_body(exchange, &len);
    const char *reason = strstr(body, "\"reason\":\"");

    assert_non_null(reason);
    strbuf_addf(&stage->reasons, "%c", reason[strlen("\"reason\":\"")]);
    http_reply(exchange, 201, "application/json", "{}", 2);
    if (stage->reasons.len == stage->awaited)
        loop_stop(stage->s->loop);
}

static struct kube_config *config_of(uint16_t port)
{
    char path[] = "/tmp/muster-events-XXXXXX";
    int file = mkstemp(path);
    struct kube_config *config = NULL;

    assert_true(file >= 0);
    assert_true(dprintf(file,
                        "current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\n"
                        "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%u'}}]\n",
                        port) > 0);
    (void)close(file);
    assert_int_equal(kube_config_load(path, NULL, &config, NULL), 0);
    (void)unlink(path);
    return config;
}

static void tell(struct scheduler *s, int number, const char *type, const char *reason)
{
    char name[16];

    (void)snprintf(name, sizeof name, "pod-%d", number);
    report_pod_event(s, key_put(s->state, "ns", name), name_put(s->state, name), type, reason, "why");
}

static const struct rest_route routes[] = {REST_ROUTE("POST", "/api/v1/namespaces/ns/events", on_post)};

static void open_stage(struct stage *stage, size_t awaited)
{
    struct scheduler *s = stage_new();

    *stage = (struct stage){.s = s, .awaited = awaited};
    strbuf_init(&stage->reasons, 2 * awaited);
    struct rest_set set = {routes, ARRAY_LEN(routes), stage};
    struct rest_options options = {.http.address = "127.0.0.1", .sets = &set, .set_count = 1};
    assert_int_equal(rest_server_start(s->loop, &options, &stage->server, NULL), 0);
    /* One at a time, so that they arrive as they were sent. */
    s->client = kube_client_new(s->loop, config_of(http_server_port(stage->server)),
                                &(struct kube_client_options){.in_flight_max = 1});
    s->recorder = recorder_new(s->client, &(struct recorder_options){.component = "test"});
    report_init(s);
}

static void close_stage(struct stage *stage)
{
    struct scheduler *s = stage->s;

    report_done(s);
    recorder_free(s->recorder);
    kube_client_free(s->client);
    http_server_free(stage->server);
    strbuf_done(&stage->reasons);
    stage_free(s);
}

static void trouble_is_told_before_what_goes_well(void **state)
{
    (void)state;
    enum { EVENTS = 40 };
    struct stage stage;

    open_stage(&stage, EVENTS);
    for (int i = 0; i < EVENTS - 2; i++)
        tell(stage.s, i, "Normal", "Scheduled");
    tell(stage.s, EVENTS - 2, "Warning", "Unschedulable");
    tell(stage.s, EVENTS - 1, "Warning", "FailedBinding");
    loop_run(stage.s->loop);
    assert_int_equal(strncmp(stage.reasons.text, "UFSS", 4), 0);
    assert_int_equal(strspn(stage.reasons.text + 2, "S"), EVENTS - 2);
    close_stage(&stage);
}

/* Fewer than come while events are patient. */
enum { PODS_AWAITED = 100 };
_Static_assert(PODS_AWAITED *(RUSH_OVER / 4) < RUSH_PATIENCE, "or patience would be over");

static void on_next_pod(void *arg)
{
    struct stage *stage = arg;
    struct scheduler *s = stage->s;

    rush_note(&s->rush, nsec_now_monotonic());
    loop_timer_start(&s->stop_timer, RUSH_OVER / 4);
    if (++stage->pods == PODS_AWAITED)
        loop_stop(s->loop);
}

static void what_waits_for_pods_is_told_when_we_stop(void **state)
{
    (void)state;
    struct stage stage;

    open_stage(&stage, 2);
    struct scheduler *s = stage.s;

    loop_timer_init(&s->stop_timer, s->loop, on_next_pod, &stage);
    on_next_pod(&stage);
    tell(s, 0, "Normal", "Scheduled");
    tell(s, 1, "Warning", "Unschedulable");
    s->is_stopping = true;
    assert_false(report_is_over(s, 0));
    loop_run(s->loop);
    assert_string_equal(stage.reasons.text, "US");
    assert_true(report_is_over(s, 0));

    /* But not for ever, and what is left is given back. */
    tell(s, 2, "Normal", "Scheduled");
    assert_true(report_is_over(s, NSEC_PER_MIN));
    loop_timer_done(&s->stop_timer);
    close_stage(&stage);
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
