/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queues/share.h"

#include "engine/test/queues.h"

static double fair(const struct cluster *c, const char *queue)
{
    return engine_share(c->engine, state_find_queue(c->state, queue)).fair[SHARE_GPU];
}

/* A gang that asks for so many GPUs and has none. */
static void ask(struct cluster *c, const char *queue, int gpus)
{
    char name[64];

    (void)snprintf(name, sizeof name, "%s-asks-%u", queue, (unsigned)c->state->gangs.len);
    waiting_gang(c, name, queue, gpus);
}

static void what_is_left_goes_by_weight_and_the_larger_remainder(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 11);
    put_queue(&c, queue_with("q1", NULL, 2, 1));
    put_queue(&c, queue_with("q2", NULL, 2, 4));
    ask(&c, "q1", 10);
    ask(&c, "q2", 10);
    cluster_open(&c);

    assert_true(fair(&c, "q1") == 3);
    assert_true(fair(&c, "q2") == 8);
    cluster_end(&c);
}

static void equal_remainders_go_to_the_older_queue(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 11);
    struct queue_spec young = queue_with("a", NULL, 2, 1);
    struct queue_spec old = queue_with("b", NULL, 2, 1);
    young.created = 2;
    old.created = 1;
    put_queue(&c, young);
    put_queue(&c, old);
    ask(&c, "a", 6);
    ask(&c, "b", 6);
    cluster_open(&c);

    assert_true(fair(&c, "b") == 6);
    assert_true(fair(&c, "a") == 5);
    cluster_end(&c);
}

static void past_use_counts_against_a_queue(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 10);
    struct queue_spec busy = queue_with("busy", NULL, 0, 1);
    struct queue_spec idle = queue_with("idle", NULL, 0, 1);
    busy.usage[SHARE_GPU] = 0.8;
    idle.usage[SHARE_GPU] = 0.2;
    put_queue(&c, busy);
    put_queue(&c, idle);
    ask(&c, "busy", 10);
    ask(&c, "idle", 10);
    cluster_open(&c);

    assert_true(fair(&c, "busy") == 2);
    assert_true(fair(&c, "idle") == 8);
    cluster_end(&c);
}

static void weights_are_divided_before_they_are_multiplied(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 31);
    struct queue_spec first = queue_with("first", NULL, 0, 1);
    first.priority = 200;
    first.usage[SHARE_GPU] = 0.94;
    put_queue(&c, first);
    put_queue(&c, queue_with("second", NULL, 0, 1));
    ask(&c, "first", 40);
    ask(&c, "second", 40);
    cluster_open(&c);

    /* 31 x 1.06 / 1.06 is 30.99.. in doubles and would leave a device to the other queue. */
    assert_true(fair(&c, "first") == 31);
    assert_true(fair(&c, "second") == 0);
    cluster_end(&c);
}

static void what_is_deserved_does_not_depend_on_priority(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 10);
    struct queue_spec high = queue_with("high", NULL, 2, 1);
    high.priority = 200;
    put_queue(&c, queue_with("low", NULL, 3, 1));
    put_queue(&c, high);
    ask(&c, "low", 10);
    ask(&c, "high", 10);
    cluster_open(&c);

    assert_true(fair(&c, "low") == 3);
    assert_true(fair(&c, "high") == 7);
    cluster_end(&c);
}

static void nobody_gets_more_than_asked_for_or_allowed(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 20);
    struct queue_spec limited = queue_with("limited", NULL, 0, 1);
    limited.limit[SHARE_GPU] = 3;
    put_queue(&c, limited);
    put_queue(&c, queue_with("modest", NULL, 8, 1));
    put_queue(&c, queue_with("weightless", NULL, 1, 0));
    put_queue(&c, queue_with("rest", NULL, 0, 1));
    ask(&c, "limited", 10);
    ask(&c, "modest", 4);
    ask(&c, "weightless", 10);
    ask(&c, "rest", 20);
    cluster_open(&c);

    assert_true(fair(&c, "limited") == 3);
    assert_true(fair(&c, "modest") == 4);
    assert_true(fair(&c, "weightless") == 1);
    assert_true(fair(&c, "rest") == 12);
    cluster_end(&c);
}

static void children_divide_what_their_parent_has(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 10);
    put_queue(&c, queue_with("a", NULL, 6, 1));
    put_queue(&c, queue_with("b", NULL, 4, 1));
    put_queue(&c, queue_with("a1", "a", 2, 1));
    put_queue(&c, queue_with("a2", "a", 1, 2));
    put_queue(&c, queue_with("lost", "nowhere", 9, 9));
    ask(&c, "a1", 8);
    ask(&c, "a2", 8);
    ask(&c, "b", 8);
    ask(&c, "lost", 8);
    cluster_open(&c);

    assert_true(fair(&c, "a") == 6);
    assert_true(fair(&c, "a1") == 3);
    assert_true(fair(&c, "a2") == 3);
    assert_true(fair(&c, "b") == 4);
    assert_true(engine_share(c.engine, state_find_queue(c.state, "a")).requested[SHARE_GPU] == 16);
    cluster_end(&c);
}

static void an_oversubscribed_cluster_keeps_what_is_deserved(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 4);
    put_queue(&c, queue_with("a", NULL, 4, 1));
    put_queue(&c, queue_with("b", NULL, 3, 1));
    ask(&c, "a", 9);
    ask(&c, "b", 9);
    cluster_open(&c);

    assert_true(fair(&c, "a") == 4);
    assert_true(fair(&c, "b") == 3);
    cluster_end(&c);
}

static void allocatable_is_the_larger_of_quota_and_share_within_the_limit(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 10);
    struct queue_spec limited = queue_with("limited", NULL, 8, 1);
    limited.limit[SHARE_GPU] = 5;
    queue_id l = put_queue(&c, limited);
    queue_id a = put_queue(&c, queue_with("a", NULL, 3, 1));
    ask(&c, "a", 1);
    cluster_open(&c);

    assert_true(share_allocatable(c.engine, l, SHARE_GPU) == 5);
    assert_true(share_allocatable(c.engine, a, SHARE_GPU) == 3);
    assert_true(share_allocatable(c.engine, a, SHARE_CPU) == UNLIMITED);
    cluster_end(&c);
}

static void unlimited_is_above_everything(void **unused)
{
    (void)unused;
    assert_true(share_le(5, UNLIMITED));
    assert_true(share_le(UNLIMITED, UNLIMITED));
    assert_false(share_le(UNLIMITED, 5));
    assert_true(share_le(5, 5));
}

static void leaves_are_compared_below_their_common_ancestor(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 1);
    queue_id a = put_queue(&c, queue_with("a", NULL, 0, 1));
    queue_id b = put_queue(&c, queue_with("b", NULL, 0, 1));
    queue_id a1 = put_queue(&c, queue_with("a1", "a", 0, 1));
    queue_id a2 = put_queue(&c, queue_with("a2", "a", 0, 1));
    queue_id a11 = put_queue(&c, queue_with("a11", "a1", 0, 1));
    cluster_open(&c);

    const queue_id cases[][4] = {
        {a11, b, a, b}, {a11, a2, a1, a2}, {a2, a11, a2, a1}, {a11, a11, a11, a11}, {a11, a, a, a}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        queue_id l;
        queue_id r;
        share_level(c.engine, cases[i][0], cases[i][1], &l, &r);
        assert_int_equal(l, cases[i][2]);
        assert_int_equal(r, cases[i][3]);
    }
    cluster_end(&c);
}

static void limits_bind_everyone_and_quotas_those_that_stay(void **unused)
{
    (void)unused;
    struct cluster c;
    cluster_begin(&c, 10);
    struct queue_spec parent = queue_with("parent", NULL, 3, 1);
    parent.limit[SHARE_GPU] = 6;
    queue_id above = put_queue(&c, parent);
    put_queue(&c, queue_with("leaf", "parent", UNLIMITED, 1));
    put_gang(&c, "fixed", "leaf", (struct gang_options){.min = 2, .running = 2, .is_fixed = true});
    gang_id preemptible = put_gang(&c, "loose", "leaf", (struct gang_options){.min = 1, .running = 1, .pending = 1});
    gang_id fixed = state_find_gang(c.state, NULL, "fixed");
    cluster_open(&c);

    const struct gang *gangs = c.state->gangs.items;
    struct verdict verdict = {0};
    assert_true(capacity_allows(c.engine, &gangs[preemptible], (const double[]){0, 0, 3}, &verdict));
    assert_false(capacity_allows(c.engine, &gangs[preemptible], (const double[]){0, 0, 4}, &verdict));
    assert_int_equal(verdict.code, VERDICT_OVER_LIMIT);
    assert_int_equal(verdict.queue, above);
    assert_int_equal(verdict.resource, SHARE_GPU);
    assert_true(verdict.requested == 4 && verdict.allocated == 3 && verdict.bound == 6);
    assert_true(capacity_allows(c.engine, &gangs[preemptible], (const double[]){100, 100, 0}, NULL));

    assert_true(capacity_allows(c.engine, &gangs[fixed], (const double[]){0, 0, 1}, NULL));
    assert_false(capacity_allows(c.engine, &gangs[fixed], (const double[]){0, 0, 2}, &verdict));
    assert_int_equal(verdict.code, VERDICT_OVER_QUOTA);
    assert_true(verdict.requested == 2 && verdict.allocated == 2 && verdict.bound == 3);
    assert_true(capacity_allows_fixed(c.engine, &gangs[preemptible], (const double[]){0, 0, 9}, NULL));
    cluster_end(&c);
}

static void a_quota_is_kept_when_no_resource_exceeds_it(void **unused)
{
    (void)unused;
    const struct queue queue = {.deserved = {UNLIMITED, 10, 4}};

    assert_true(share_stays_deserved(&queue, (const double[]){99, 5, 2}, (const double[]){99, 5, 2}));
    assert_false(share_stays_deserved(&queue, (const double[]){99, 5, 2}, (const double[]){99, 6, 2}));
    /* What is over already stays over, asked for or not. */
    assert_false(share_stays_deserved(&queue, (const double[]){0, 11, 0}, (const double[]){0, 0, 1}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_goes_by_weight_and_the_larger_remainder),
        cmocka_unit_test(equal_remainders_go_to_the_older_queue),
        cmocka_unit_test(past_use_counts_against_a_queue),
        cmocka_unit_test(weights_are_divided_before_they_are_multiplied),
        cmocka_unit_test(what_is_deserved_does_not_depend_on_priority),
        cmocka_unit_test(nobody_gets_more_than_asked_for_or_allowed),
        cmocka_unit_test(children_divide_what_their_parent_has),
        cmocka_unit_test(an_oversubscribed_cluster_keeps_what_is_deserved),
        cmocka_unit_test(allocatable_is_the_larger_of_quota_and_share_within_the_limit),
        cmocka_unit_test(unlimited_is_above_everything),
        cmocka_unit_test(leaves_are_compared_below_their_common_ancestor),
        cmocka_unit_test(limits_bind_everyone_and_quotas_those_that_stay),
        cmocka_unit_test(a_quota_is_kept_when_no_resource_exceeds_it),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
