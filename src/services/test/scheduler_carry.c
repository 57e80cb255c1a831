/* SPDX-License-Identifier: Apache-2.0 */

/* What becomes of decisions when the answers of the API server get lost; the server is scripted. */
#include <errno.h>

#include "base/strbuf.h"
#include "net/rest/rest.h"
#include "services/scheduler/carry/carry.h"
#include "services/test/scheduler_stage.h"

#define REQUEST_WITH(status)                                                                                    \
    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"r1\",\"ownerReferences\":[{\"kind\":\"Pod\"," \
    "\"name\":\"p\",\"uid\":\"u1\"}]},\"spec\":{\"podName\":\"p\",\"selectedNode\":\"n1\"}" status "}"
#define REQUEST REQUEST_WITH("")
#define FAILED_REQUEST REQUEST_WITH(",\"status\":{\"phase\":\"Failed\"}")
#define REQUESTS_PATH "/apis/scheduling.run.ai/v1alpha2/namespaces/ns/bindrequests"
#define POD_PATH "/api/v1/namespaces/ns/pods/p"

/*
 * A server with one pod. Each request takes the next letter of the script: "l" is done and its answer lost, for which a
 * status of 500 stands; "x" is lost, too, but not done; "f" is refused with 403; "c" is a conflict; "d" is done. Behind the
 * end of the script all is done.
 */
struct script {
    const char *next;
    char node[16];    // of the pod
    bool is_leaving;  // it is being deleted
    bool is_gone_early;
    struct strbuf asked;
    struct stage *s;
    struct http_server *server;
    enum pod_status during;  // what the state had of the pod at each request
    const char *during_node;
    size_t stop_at;  // requests after which the loop ends; 0: not
    int code;        // how the decision ended
};

static char take(struct script *script, const char *what)
{
    expect_pod(script->s, "p", script->during, script->during_node);
    strbuf_addstr(&script->asked, what);
    if (script->asked.len == script->stop_at)
        loop_stop(script->s->loop);
    return *script->next ? *script->next++ : 'd';
}

static void refuse(struct http_exchange *exchange, int status, const char *reason)
{
    char body[128];

    (void)snprintf(body, sizeof body, "{\"kind\":\"Status\",\"reason\":\"%s\",\"message\":\"no\"}", reason);
    http_reply(exchange, status, "application/json", body, strlen(body));
}

static bool is_done(char letter)
{
    return letter == 'd' || letter == 'l';
}

static void answer(struct http_exchange *exchange, char letter, const char *body)
{
    if (letter == 'l' || letter == 'x')
        refuse(exchange, 500, "InternalError");
    else if (letter == 'f')
        refuse(exchange, 403, "Forbidden");
    else if (letter == 'c')
        refuse(exchange, 409, "Conflict");
    else
        http_reply(exchange, 200, "application/json", body, strlen(body));
}

static void on_bind(void *arg, struct http_exchange *exchange)
{
    struct script *script = arg;
    char letter = take(script, "B");

    if (is_done(letter))
        (void)snprintf(script->node, sizeof script->node, "n1");
    answer(exchange, letter, "{\"kind\":\"Status\"}");
}

static void on_get(void *arg, struct http_exchange *exchange)
{
    struct script *script = arg;
    char letter = take(script, "G");
    char body[512];

    (void)snprintf(
        body, sizeof body,
        "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u1\"%s},\"spec\":{\"nodeName\":\"%s\"}}",
        script->is_leaving ? ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"" : "", script->node);
    answer(exchange, letter, body);
}

static void on_delete(void *arg, struct http_exchange *exchange)
{
    struct script *script = arg;
    char letter = take(script, "D");

    script->is_leaving |= is_done(letter);
    answer(exchange, letter, "{}");
}

/* The watch shows the request, and what has become of it, before the answer comes. */
static void on_request(void *arg, struct http_exchange *exchange)
{
    struct script *script = arg;

    strbuf_addstr(&script->asked, "R");
    feed(script->s, WATCH_BIND_REQUESTS, REQUEST);
    if (script->is_gone_early)
        lose_of(script->s, WATCH_BIND_REQUESTS, "ns", "p", "r1");
    else
        feed(script->s, WATCH_BIND_REQUESTS, FAILED_REQUEST);
    http_reply(exchange, 201, "application/json", REQUEST, strlen(REQUEST));
}

static const struct rest_route routes[] = {
    REST_ROUTE("POST", REQUESTS_PATH, on_request),
    REST_ROUTE("POST", POD_PATH "/binding", on_bind),
    REST_ROUTE("GET", POD_PATH, on_get),
    REST_ROUTE("DELETE", POD_PATH, on_delete),
};

static void on_carried_out(void *arg, const struct decision *decision, nsec_t took, const struct err *err)
{
    struct script *script = arg;

    (void)decision;
    (void)took;
    script->code = err ? err->code : 0;
    loop_stop(script->s->loop);
}

static void script_open(struct script *script, const char *letters)
{
    struct loop *loop = loop_new();

    *script = (struct script){.next = letters, .during = POD_BINDING, .during_node = "n1"};
    strbuf_init(&script->asked, 100);
    struct rest_set set = {routes, ARRAY_LEN(routes), script};
    struct rest_options options = {.http.address = "127.0.0.1", .sets = &set, .set_count = 1};
    assert_int_equal(rest_server_start(loop, &options, &script->server, NULL), 0);
    script->s = stage_new_at(loop, http_server_port(script->server));
    vec_push(&script->s->observers.list, (struct scheduler_observer){.arg = script, .on_carried_out = on_carried_out});
    feed(script->s, WATCH_NODES, NODE("n1"));
    feed(script->s, WATCH_NODES, NODE("n2"));
    feed(script->s, WATCH_PODS, POD("p", "u1"));
}

static void script_close(struct script *script)
{
    http_server_free(script->server);
    strbuf_done(&script->asked);
    vec_done(&script->s->observers.list);
    stage_free(script->s);
}

/* As the engine does it. */
static void bind(struct stage *s)
{
    struct decision decision = {.kind = DECISION_BIND, .pod = key_pod(s->state, key_put(s->state, "ns", "p"))};

    decision.node = state_find_node(s->state, "n1");
    state_move_pod(s->state, decision.pod, POD_BINDING, decision.node, (struct group_list){0});
    carry_bind(s->carry, &decision, "why");
}

static const struct placement *placement_of_pod(struct stage *s)
{
    return placement_find(s->placements, key_put(s->state, "ns", "p"));
}

static void a_bind_whose_answer_is_lost_keeps_its_place_whatever_is_refused_later(void **arg)
{
    struct script script;

    (void)arg;
    /* Done and lost; the first three reads are refused, as by a server that starts. */
    script_open(&script, "lfff");
    bind(script.s);
    loop_run(script.s->loop);
    assert_string_equal(script.asked.text, "BGGGG");
    assert_int_equal(script.code, 0);
    expect_pod(script.s, "p", POD_BINDING, "n1");
    assert_non_null(placement_of_pod(script.s));
    assert_true(carry_is_idle(script.s->carry));
    assert_int_equal(setbacks_len(script.s->setbacks), 0);
    feed(script.s, WATCH_PODS, BOUND_POD("p", "u1", "n1"));
    assert_null(placement_of_pod(script.s));
    script_close(&script);
}

static void a_bind_that_is_refused_at_once_is_undone(void **arg)
{
    struct script script;

    (void)arg;
    script_open(&script, "f");
    bind(script.s);
    loop_run(script.s->loop);
    assert_string_equal(script.asked.text, "B");
    assert_int_equal(script.code, -EPERM);
    expect_pod(script.s, "p", POD_PENDING, NULL);
    assert_null(placement_of_pod(script.s));
    assert_int_equal(setbacks_len(script.s->setbacks), 1);
    script_close(&script);
}

static void a_pod_that_is_on_another_node_is_taken_to_be_there(void **arg)
{
    struct script script;

    (void)arg;
    script_open(&script, "c");
    (void)snprintf(script.node, sizeof script.node, "n2");
    bind(script.s);
    loop_run(script.s->loop);
    assert_string_equal(script.asked.text, "BG");
    assert_int_equal(script.code, -EEXIST);
    expect_pod(script.s, "p", POD_BINDING, "n2");
    feed(script.s, WATCH_PODS, POD("p", "u1"));  // an event that was on its way
    expect_pod(script.s, "p", POD_BINDING, "n2");
    feed(script.s, WATCH_PODS, BOUND_POD("p", "u1", "n2"));
    expect_pod(script.s, "p", POD_BOUND, "n2");
    assert_null(placement_of_pod(script.s));
    script_close(&script);
}

static void a_bind_that_was_lost_before_it_was_done_is_made_again_on_the_same_node(void **arg)
{
    struct script script;

    (void)arg;
    script_open(&script, "xf");
    bind(script.s);
    loop_run(script.s->loop);
    assert_string_equal(script.asked.text, "BGGB");
    assert_int_equal(script.code, 0);
    expect_pod(script.s, "p", POD_BINDING, "n1");
    assert_int_equal(setbacks_len(script.s->setbacks), 0);
    script_close(&script);
}

static void a_bind_is_not_made_again_when_the_server_shows_an_older_state(void **arg)
{
    struct script script;

    (void)arg;
    script_open(&script, "x");
    bind(script.s);
    pace_hold(script.s->pace, HOLD_LISTING);
    loop_run(script.s->loop);
    assert_int_equal(strspn(script.asked.text, "B"), 1);
    assert_null(strchr(script.asked.text + 1, 'B'));
    assert_int_equal(script.code, -ESTALE);
    expect_pod(script.s, "p", POD_PENDING, NULL);
    assert_null(placement_of_pod(script.s));
    assert_int_equal(setbacks_len(script.s->setbacks), 0);
    script_close(&script);
}

static void a_conflict_about_a_pod_without_a_node_undoes_the_bind(void **arg)
{
    struct script script;

    (void)arg;
    script_open(&script, "c");
    bind(script.s);
    loop_run(script.s->loop);
    assert_string_equal(script.asked.text, "BG");
    assert_int_equal(script.code, -EAGAIN);
    expect_pod(script.s, "p", POD_PENDING, NULL);
    script_close(&script);
}

static void binds_that_were_not_sent_are_taken_back(void **arg)
{
    struct stage *s = stage_new();

    (void)arg;
    feed(s, WATCH_NODES, NODE("n1"));
    feed(s, WATCH_PODS, POD("p", "u1"));
    bind(s);
    assert_false(carry_is_idle(s->carry));
    carry_take_back_unsent(s->carry);
    assert_true(carry_is_idle(s->carry));
    expect_pod(s, "p", POD_PENDING, NULL);
    assert_null(placement_of_pod(s));
    assert_int_equal(setbacks_len(s->setbacks), 0);
    stage_free(s);
}

static void a_bind_that_may_have_been_sent_is_not_taken_back(void **arg)
{
    struct script script;

    (void)arg;
    script_open(&script, "lf");
    bind(script.s);
    script.stop_at = 2;
    loop_run(script.s->loop);
    carry_take_back_unsent(script.s->carry);
    expect_pod(script.s, "p", POD_BINDING, "n1");
    assert_false(carry_is_idle(script.s->carry));
    loop_run(script.s->loop);
    assert_int_equal(script.code, 0);
    script_close(&script);
}

/* The binder is another process: its bind may be seen before the answer to the request. */
static void a_bind_by_the_binder_is_told_whichever_is_seen_first(void **arg)
{
    (void)arg;
    for (int order = 0; order < 2; order++) {
        struct stage *s = stage_new();

        s->setup.always_requests = true;
        pace_release(s->pace, HOLD_STANDBY);
        feed(s, WATCH_NODES, NODE("n1"));
        feed(s, WATCH_PODS, POD("p", "u1"));
        bind(s);
        if (order == 1)
            feed(s, WATCH_BIND_REQUESTS, REQUEST);
        assert_true(report_is_over(s->report, 0));
        feed(s, WATCH_PODS, BOUND_POD("p", "u1", "n1"));
        assert_false(report_is_over(s->report, 0));
        stage_free(s);
    }
}

static void count_stale(void *arg, const struct placement *placement)
{
    (void)placement;
    ++*(int *)arg;
}

/* Else the pod would wait for a binder that has given up. */
static void a_request_that_fails_or_goes_before_its_answer_comes_is_a_failed_bind(void **arg)
{
    (void)arg;
    for (int is_gone = 0; is_gone < 2; is_gone++) {
        struct script script;
        int stale = 0;

        script_open(&script, "");
        script.is_gone_early = is_gone;
        script.s->setup.always_requests = true;
        bind(script.s);
        loop_run(script.s->loop);
        assert_string_equal(script.asked.text, "R");
        assert_true(carry_is_idle(script.s->carry));
        expect_pod(script.s, "p", POD_PENDING, NULL);
        placements_take_stale(script.s->placements, count_stale, &stale);
        assert_int_equal(stale, is_gone ? 0 : 1);
        assert_int_equal(setbacks_len(script.s->setbacks), is_gone ? 0 : 1);
        script_close(&script);
    }
}

static void an_eviction_whose_answer_is_lost_lets_the_pod_leave(void **arg)
{
    struct decision decision = {.kind = DECISION_EVICT, .on_behalf = NO_ID};
    struct script script;

    (void)arg;
    script_open(&script, "lfff");
    struct stage *s = script.s;
    script.during = POD_RELEASING;
    feed(s, WATCH_PODS, BOUND_POD("p", "u1", "n1"));
    decision.pod = key_pod(s->state, key_put(s->state, "ns", "p"));
    state_move_pod(s->state, decision.pod, POD_RELEASING, state_find_node(s->state, "n1"), (struct group_list){0});
    evictions_start(s->evictions, &decision, "why", 1);
    loop_run(s->loop);
    assert_string_equal(script.asked.text, "DGGGG");
    assert_int_equal(script.code, 0);
    expect_pod(s, "p", POD_RELEASING, "n1");
    assert_int_equal(setbacks_len(s->setbacks), 0);
    assert_true(evictions_are_idle(s->evictions));
    assert_int_equal(evictions_len(s->evictions), 1);  // the cluster has yet to show it
    script_close(&script);
}

static void an_eviction_that_is_refused_at_once_is_undone(void **arg)
{
    struct decision decision = {.kind = DECISION_EVICT, .on_behalf = NO_ID};
    struct script script;

    (void)arg;
    script_open(&script, "f");
    struct stage *s = script.s;
    script.during = POD_RELEASING;
    feed(s, WATCH_PODS, BOUND_POD("p", "u1", "n1"));
    decision.pod = key_pod(s->state, key_put(s->state, "ns", "p"));
    state_move_pod(s->state, decision.pod, POD_RELEASING, state_find_node(s->state, "n1"), (struct group_list){0});
    evictions_start(s->evictions, &decision, "why", 1);
    loop_run(s->loop);
    assert_string_equal(script.asked.text, "D");
    assert_int_equal(script.code, -EPERM);
    expect_pod(s, "p", POD_RUNNING, "n1");
    assert_int_equal(evictions_len(s->evictions), 0);
    script_close(&script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bind_whose_answer_is_lost_keeps_its_place_whatever_is_refused_later),
        cmocka_unit_test(a_bind_that_is_refused_at_once_is_undone),
        cmocka_unit_test(a_pod_that_is_on_another_node_is_taken_to_be_there),
        cmocka_unit_test(a_bind_that_was_lost_before_it_was_done_is_made_again_on_the_same_node),
        cmocka_unit_test(a_bind_is_not_made_again_when_the_server_shows_an_older_state),
        cmocka_unit_test(a_conflict_about_a_pod_without_a_node_undoes_the_bind),
        cmocka_unit_test(binds_that_were_not_sent_are_taken_back),
        cmocka_unit_test(a_bind_that_may_have_been_sent_is_not_taken_back),
        cmocka_unit_test(a_bind_by_the_binder_is_told_whichever_is_seen_first),
        cmocka_unit_test(a_request_that_fails_or_goes_before_its_answer_comes_is_a_failed_bind),
        cmocka_unit_test(an_eviction_whose_answer_is_lost_lets_the_pod_leave),
        cmocka_unit_test(an_eviction_that_is_refused_at_once_is_undone),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
