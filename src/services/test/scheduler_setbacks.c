/* SPDX-License-Identifier: Apache-2.0 */

/* How long pods are left alone whose bind or eviction failed, and when that is forgotten. */
#include "services/test/scheduler_stage.h"

#define OTHER_POD "{" POD_META("p", "u1", "") "," POD_SPEC(",\"nodeSelector\":{\"a\":\"b\"}") "}"
#define FAILED_REQUEST(uid)                                                                                \
    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"" uid "\"},\"spec\":{\"podName\":\"p\"," \
    "\"selectedNode\":\"n1\"},\"status\":{\"phase\":\"Failed\"}}"

enum { FAILURES = 9 };

static struct stage *stage_with_pod(void)
{
    struct stage *s = stage_new();

    feed(s, WATCH_NODES, NODE("n1"));
    feed(s, WATCH_NODES, NODE("n2"));
    feed(s, WATCH_PODS, POD("p", "u1"));
    return s;
}

static nsec_t note(struct stage *s, enum setback_kind kind, nsec_t now)
{
    return setback_note(s->setbacks, kind, key_put(s->state, "ns", "p"), name_put(s->state, "n1"), false, now);
}

static bool holds(struct stage *s, enum setback_kind kind, nsec_t now)
{
    return setback_wait(s->setbacks, kind, key_pod(s->state, key_put(s->state, "ns", "p")), now) > 0;
}

static void waits_double_up_to_a_minute(void **arg)
{
    static const int seconds[FAILURES] = {1, 2, 4, 8, 16, 32, 60, 60, 60};
    struct stage *s = stage_with_pod();
    nsec_t now = 1000 * NSEC_PER_SEC;

    (void)arg;
    for (int i = 0; i < FAILURES; i++) {
        assert_int_equal(note(s, SETBACK_BIND, now), seconds[i] * NSEC_PER_SEC);
        assert_true(holds(s, SETBACK_BIND, now + seconds[i] * NSEC_PER_SEC - 1));
        assert_false(holds(s, SETBACK_EVICT, now));
        now += seconds[i] * NSEC_PER_SEC;
        assert_false(holds(s, SETBACK_BIND, now));
    }
    stage_free(s);
}

static void conflicts_wait_a_second_at_most(void **arg)
{
    static const int milliseconds[FAILURES] = {50, 100, 200, 400, 800, 1000, 1000, 1000, 1000};
    struct stage *s = stage_with_pod();
    object_key key = key_put(s->state, "ns", "p");
    name_id node = name_put(s->state, "n1");

    (void)arg;
    for (int i = 0; i < FAILURES; i++)
        assert_int_equal(setback_note(s->setbacks, SETBACK_BIND, key, node, true, 0), milliseconds[i] * NSEC_PER_MSEC);
    assert_int_equal(setback_wait(s->setbacks, SETBACK_BIND, key_pod(s->state, key), NSEC_PER_SEC / 2),
                     NSEC_PER_SEC / 2);
    stage_free(s);
}

static void the_same_pod_read_again_is_still_held(void **arg)
{
    struct stage *s = stage_with_pod();

    (void)arg;
    assert_true(note(s, SETBACK_BIND, 0) > 0);
    feed(s, WATCH_PODS, POD("p", "u1"));
    assert_true(holds(s, SETBACK_BIND, 0));
    feed(s, WATCH_NODES, NODE("n1"));
    assert_true(holds(s, SETBACK_BIND, 0));
    lose(s, WATCH_NODES, "", "n2");
    assert_true(holds(s, SETBACK_BIND, 0));
    stage_free(s);
}

static void another_pod_of_the_name_starts_anew(void **arg)
{
    struct stage *s = stage_with_pod();

    (void)arg;
    assert_true(note(s, SETBACK_BIND, 0) > 0);
    lose(s, WATCH_PODS, "ns", "p");
    assert_int_equal(setbacks_len(s->setbacks), 0);
    assert_int_equal(note(s, SETBACK_BIND, 0), 0);
    feed(s, WATCH_PODS, POD("p", "u2"));
    assert_false(holds(s, SETBACK_BIND, 0));
    assert_int_equal(note(s, SETBACK_BIND, 0), NSEC_PER_SEC);
    stage_free(s);
}

static void a_pod_that_asks_for_something_else_is_tried_at_once(void **arg)
{
    struct stage *s = stage_with_pod();

    (void)arg;
    assert_true(note(s, SETBACK_BIND, 0) > 0);
    feed(s, WATCH_PODS, OTHER_POD);
    assert_false(holds(s, SETBACK_BIND, 0));
    assert_int_equal(setbacks_len(s->setbacks), 0);
    stage_free(s);
}

static void a_node_that_goes_takes_its_setbacks_along(void **arg)
{
    struct stage *s = stage_with_pod();

    (void)arg;
    assert_true(note(s, SETBACK_BIND, 0) > 0);
    lose(s, WATCH_NODES, "", "n1");
    assert_false(holds(s, SETBACK_BIND, 0));
    stage_free(s);
}

static void what_has_come_about_is_forgotten(void **arg)
{
    struct stage *s = stage_with_pod();

    (void)arg;
    assert_true(note(s, SETBACK_BIND, 0) > 0);
    feed(s, WATCH_PODS, BOUND_POD("p", "u1", "n1"));
    assert_int_equal(setbacks_len(s->setbacks), 0);
    assert_true(note(s, SETBACK_EVICT, 0) > 0);
    feed(s, WATCH_PODS, BOUND_POD("p", "u1", "n1"));
    assert_true(holds(s, SETBACK_EVICT, 0));
    feed(s, WATCH_PODS,
         "{" POD_META("p", "u1", ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"") "," POD_SPEC(
             ",\"nodeName\":\"n1\"") ",\"status\":{\"phase\":\"Running\"}}");
    assert_int_equal(setbacks_len(s->setbacks), 0);
    stage_free(s);
}

static void a_request_that_the_binder_gave_up_counts_once(void **arg)
{
    struct stage *s = stage_with_pod();

    (void)arg;
    feed(s, WATCH_BIND_REQUESTS, FAILED_REQUEST("r1"));
    assert_true(holds(s, SETBACK_BIND, nsec_now_monotonic()));
    feed(s, WATCH_BIND_REQUESTS, FAILED_REQUEST("r1"));
    assert_false(holds(s, SETBACK_BIND, nsec_now_monotonic() + NSEC_PER_SEC));
    feed(s, WATCH_BIND_REQUESTS, FAILED_REQUEST("r2"));
    assert_true(holds(s, SETBACK_BIND, nsec_now_monotonic() + NSEC_PER_SEC));
    stage_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_double_up_to_a_minute),
        cmocka_unit_test(conflicts_wait_a_second_at_most),
        cmocka_unit_test(the_same_pod_read_again_is_still_held),
        cmocka_unit_test(another_pod_of_the_name_starts_anew),
        cmocka_unit_test(a_pod_that_asks_for_something_else_is_tried_at_once),
        cmocka_unit_test(a_node_that_goes_takes_its_setbacks_along),
        cmocka_unit_test(what_has_come_about_is_forgotten),
        cmocka_unit_test(a_request_that_the_binder_gave_up_counts_once),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
