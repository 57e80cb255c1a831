/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/daemon/arbiter/arbiter.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "gpu/test/gpu_model.h"

#define USEC NSEC_PER_USEC
#define MSEC NSEC_PER_MSEC
#define SEC NSEC_PER_SEC

static const nsec_t kernels[] = {10 * USEC, 100 * USEC, 1 * MSEC, 5 * MSEC, 20 * MSEC, 200 * MSEC};

static double share_of(const struct model *m, uint32_t tenant)
{
    return (double)model_work(m, &m->tenants[tenant]) / (double)m->now;
}

static void assert_share(const struct model *m, uint32_t tenant, double expected, double tolerance)
{
    double share = share_of(m, tenant);

    if (fabs(share / expected - 1) > tolerance)
        fail_msg("tenant %u has %.4f of the time, expected %.4f", tenant, share, expected);
}

static void a_strict_share_is_exact_alone(void **state)
{
    static const double shares[] = {0.05, 0.1, 0.25, 0.5, 0.75, 0.9};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
        for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
            struct model m;

            model_init(&m, NULL);
            (void)model_add(&m, shares[i], true, kernels[k]);
            model_run(&m, 120 * SEC);
            assert_share(&m, 0, shares[i], 0.02);
        }
    }
}

static void strict_shares_are_exact_together(void **state)
{
    static const double shares[][2] = {{0.1, 0.9}, {0.25, 0.5}, {0.5, 0.5}, {0.25, 0.75}, {0.1, 0.25}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
        for (size_t k = 0; k < ARRAY_LEN(kernels) * ARRAY_LEN(kernels); k++) {
            struct model m;

            model_init(&m, NULL);
            (void)model_add(&m, shares[i][0], true, kernels[k % ARRAY_LEN(kernels)]);
            (void)model_add(&m, shares[i][1], true, kernels[k / ARRAY_LEN(kernels)]);
            model_run(&m, 240 * SEC);
            assert_share(&m, 0, shares[i][0], 0.02);
            assert_share(&m, 1, shares[i][1], 0.02);
        }
    }
}

static void fair_shares_follow_the_weights(void **state)
{
    static const double shares[][2] = {{0.5, 0.5}, {0.25, 0.75}, {0.1, 0.9}, {0.2, 0.2}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
        for (size_t k = 0; k < ARRAY_LEN(kernels) * ARRAY_LEN(kernels); k++) {
            double sum = shares[i][0] + shares[i][1];
            struct model m;

            model_init(&m, NULL);
            (void)model_add(&m, shares[i][0], false, kernels[k % ARRAY_LEN(kernels)]);
            (void)model_add(&m, shares[i][1], false, kernels[k / ARRAY_LEN(kernels)]);
            model_run(&m, 240 * SEC);
            assert_share(&m, 0, shares[i][0] / sum, 0.02);
            assert_share(&m, 1, shares[i][1] / sum, 0.02);
            if (share_of(&m, 0) + share_of(&m, 1) < 0.98)
                fail_msg("only %.4f of the time is used", share_of(&m, 0) + share_of(&m, 1));
        }
    }
}

/* A program is late with a launch now and then, and its lease goes back. Beside long kernels it is owed much just then. */
static void a_pause_in_a_turn_does_not_cost_the_turn(void **state)
{
    static const nsec_t periods[] = {310 * MSEC, 370 * MSEC, 430 * MSEC, 530 * MSEC};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(periods); i++) {
        struct model m;

        model_init(&m, NULL);
        struct model_tenant *one = model_add(&m, 0.25, false, 1 * MSEC);
        struct model_tenant *two = model_add(&m, 0.75, false, 200 * MSEC);
        one->off = 100 * USEC;
        one->on = periods[i] - one->off;
        one->asks_late = two->asks_late = 60 * USEC;
        model_run(&m, 240 * SEC);
        assert_share(&m, 0, 0.25, 0.02);
        assert_share(&m, 1, 0.75, 0.02);
    }
}

/* What is owed is used up by resting: who was away for long has no more than anyone who comes back. */
static void what_is_owed_is_not_kept_through_a_rest(void **state)
{
    struct arbiter a;

    (void)state;
    arbiter_init(&a, NULL);
    uint32_t one = (uint32_t)arbiter_add(&a, 1, 250000, ARBITER_WHOLE, 0);
    uint32_t two = (uint32_t)arbiter_add(&a, 1, 750000, ARBITER_WHOLE, 0);
    arbiter_ask(&a, two, 0);
    arbiter_ask(&a, one, 0);
    arbiter_tick(&a, 25 * MSEC);
    arbiter_drained(&a, two, 200 * MSEC, true, 200 * MSEC);
    arbiter_yield(&a, one, 10 * MSEC, 210 * MSEC);
    assert_true(a.groups[one].owed > 200 * MSEC);
    arbiter_ask(&a, one, 1210 * MSEC);
    assert_int_equal(a.groups[one].owed, 0);
    assert_int_equal(a.groups[one].vtime, a.groups[two].vtime + 1000 * MSEC * 4 / 3 - 25 * MSEC);
}

static void three_share_as_five_three_two(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
        struct model m;

        model_init(&m, NULL);
        (void)model_add(&m, 0.5, false, kernels[k]);
        (void)model_add(&m, 0.3, false, kernels[(k + 2) % ARRAY_LEN(kernels)]);
        (void)model_add(&m, 0.2, false, kernels[(k + 4) % ARRAY_LEN(kernels)]);
        model_run(&m, 240 * SEC);
        assert_share(&m, 0, 0.5, 0.02);
        assert_share(&m, 1, 0.3, 0.02);
        assert_share(&m, 2, 0.2, 0.02);
    }
}

static void an_idle_partner_costs_nothing(void **state)
{
    struct model m;

    (void)state;
    model_init(&m, NULL);
    (void)model_add(&m, 0.1, false, 1 * MSEC);
    /* Works for a tenth of a second in ten. */
    struct model_tenant *partner = model_add(&m, 0.9, false, 1 * MSEC);
    partner->on = 100 * MSEC;
    partner->off = 9900 * MSEC;
    model_run(&m, 600 * SEC);
    assert_true(share_of(&m, 0) > 0.985);
    /* Who comes back waits for one quantum and what is in the queue at most. */
    assert_true(partner->longest_wait <= 28 * MSEC);
}

static void an_on_off_partner_gets_its_share_while_it_is_on(void **state)
{
    static const nsec_t periods[] = {500 * MSEC, 1 * SEC, 5 * SEC};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(periods); i++) {
        struct model m;

        model_init(&m, NULL);
        (void)model_add(&m, 0.5, false, 1 * MSEC);
        struct model_tenant *partner = model_add(&m, 0.5, false, 1 * MSEC);
        partner->on = partner->off = periods[i];
        model_run(&m, 600 * SEC);
        assert_share(&m, 0, 0.75, 0.02);
        assert_share(&m, 1, 0.25, 0.05);
    }
}

static void strict_beside_fair_keeps_its_cap(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
        struct model m;

        model_init(&m, NULL);
        (void)model_add(&m, 0.25, true, 1 * MSEC);
        (void)model_add(&m, 0.25, false, kernels[k]);
        model_run(&m, 240 * SEC);
        assert_share(&m, 0, 0.25, 0.02);
        assert_share(&m, 1, 0.75, 0.02);
    }
}

static void a_hand_over_takes_less_than_three_milliseconds(void **state)
{
    struct model m;

    (void)state;
    model_init(&m, NULL);
    (void)model_add(&m, 0.5, false, 1 * MSEC);
    (void)model_add(&m, 0.5, false, 1 * MSEC);
    model_run(&m, 60 * SEC);
    assert_true(m.longest_switch <= 3 * MSEC);
}

static void who_never_drains_harms_nobody_for_long(void **state)
{
    struct model m;

    (void)state;
    model_init(&m, NULL);
    struct model_tenant *hostile = model_add(&m, 0.5, false, 1 * MSEC);
    struct model_tenant *honest = model_add(&m, 0.5, false, 1 * MSEC);
    hostile->never_drains = true;
    model_run(&m, 60 * SEC);
    assert_int_equal(m.given_up, 1);
    assert_true(share_of(&m, 1) > 0.97);
    assert_int_equal(m.arbiter.groups[hostile->group].state, ARBITER_STUCK);
    assert_true(honest->longest_wait <= 1100 * MSEC);

    /* When it ends at last it has paid for all of the time. */
    arbiter_drained(&m.arbiter, (uint32_t)hostile->group, 0, true, m.now);
    model_act(&m);
    assert_true(m.arbiter.groups[hostile->group].charged > 58 * SEC);
}

/* A kernel may wait for another that the end of the lease has left at the gate: both wait for ever if that is not let in. */
static void who_waits_for_its_own_launches_gets_another_turn(void **state)
{
    struct model m;

    (void)state;
    model_init(&m, NULL);
    struct model_tenant *parted = model_add(&m, 0.5, false, 1 * MSEC);
    struct model_tenant *honest = model_add(&m, 0.5, false, 1 * MSEC);
    parted->never_drains = true;
    model_run(&m, 3 * SEC);
    const struct arbiter_group *group = &m.arbiter.groups[parted->group];
    assert_int_equal(group->state, ARBITER_STUCK);
    assert_int_equal(group->leases, 1);

    arbiter_ask(&m.arbiter, (uint32_t)parted->group, m.now);
    model_act(&m);
    assert_int_not_equal(group->state, ARBITER_STUCK);
    assert_true(group->charged > 2900 * MSEC);
    /* Its turn comes when the other has had as much. */
    model_run(&m, 500 * MSEC);
    assert_int_equal(group->leases, 1);
    model_run(&m, 4 * SEC);
    assert_int_equal(group->leases, 2);
    assert_true(honest->longest_wait <= 1100 * MSEC);
}

static void lying_about_busy_time_gains_next_to_nothing(void **state)
{
    struct arbiter a;

    (void)state;
    arbiter_init(&a, NULL);
    uint32_t g = (uint32_t)arbiter_add(&a, 1, 500000, ARBITER_WHOLE, 0);
    arbiter_ask(&a, g, 0);
    arbiter_close(&a, g, 20 * MSEC);
    arbiter_drained(&a, g, 0, true, 20 * MSEC);
    assert_true(a.groups[g].charged >= 19 * MSEC);
    arbiter_close(&a, g, 30 * MSEC);
    arbiter_drained(&a, g, 3600 * SEC, false, 40 * MSEC);
    assert_true(a.groups[g].charged <= 40 * MSEC);
}

static enum arbiter_verb verb_for(struct arbiter *a, uint32_t group)
{
    struct arbiter_action action;
    enum arbiter_verb verb = ARBITER_NOTHING;

    while ((action = arbiter_next_action(a)).verb != ARBITER_NOTHING) {
        if (action.group == group && action.verb != ARBITER_PACE)
            verb = action.verb;
    }
    return verb;
}

static void a_group_gets_all_its_gpus_or_none(void **state)
{
    struct arbiter a;

    (void)state;
    arbiter_init(&a, NULL);
    uint32_t one = (uint32_t)arbiter_add(&a, 1, 500000, ARBITER_WHOLE, 0);
    uint32_t two = (uint32_t)arbiter_add(&a, 2, 500000, ARBITER_WHOLE, 0);
    uint32_t both = (uint32_t)arbiter_add(&a, 3, 500000, ARBITER_WHOLE, 0);
    arbiter_ask(&a, one, 0);
    assert_int_equal(verb_for(&a, one), ARBITER_OPEN);
    arbiter_ask(&a, two, 0);
    assert_int_equal(verb_for(&a, two), ARBITER_OPEN);
    arbiter_ask(&a, both, 1 * MSEC);
    assert_int_equal(verb_for(&a, both), ARBITER_NOTHING);
    arbiter_tick(&a, 25 * MSEC);
    arbiter_drained(&a, one, 25 * MSEC, true, 26 * MSEC);
    /* The first GPU is kept free for the group that waits for both. */
    assert_int_equal(verb_for(&a, one), ARBITER_CLOSE);
    arbiter_drained(&a, two, 25 * MSEC, true, 27 * MSEC);
    assert_int_equal(verb_for(&a, both), ARBITER_OPEN);
    assert_int_equal(a.holder[0], (int)both);
    assert_int_equal(a.holder[1], (int)both);
}

/* The gate may close between two launches on two GPUs whose kernels wait for each other. */
static void a_group_on_several_gpus_may_launch_what_its_kernels_wait_for(void **state)
{
    struct arbiter a;

    (void)state;
    arbiter_init(&a, NULL);
    uint32_t both = (uint32_t)arbiter_add(&a, 3, 500000, ARBITER_WHOLE, 0);
    uint32_t one = (uint32_t)arbiter_add(&a, 1, 500000, ARBITER_WHOLE, 0);
    arbiter_ask(&a, both, 0);
    arbiter_ask(&a, one, 0);
    arbiter_tick(&a, 25 * MSEC);
    assert_int_equal(verb_for(&a, both), ARBITER_CLOSE);
    assert_int_equal(arbiter_deadline(&a), 1025 * MSEC);
    arbiter_ask(&a, both, 26 * MSEC);
    assert_int_equal(arbiter_deadline(&a), 50 * MSEC);
    arbiter_tick(&a, 50 * MSEC);
    assert_int_equal(verb_for(&a, both), ARBITER_EXTEND);
    assert_int_equal(arbiter_deadline(&a), 50 * MSEC + 25 * MSEC / 8);
    arbiter_tick(&a, 54 * MSEC);
    assert_int_equal(verb_for(&a, both), ARBITER_CLOSE);
    arbiter_drained(&a, both, 0, true, 55 * MSEC);
    assert_true(a.groups[both].charged > 54 * MSEC);
    assert_int_equal(verb_for(&a, one), ARBITER_OPEN);
}

/* Long kernels look the same from here: what they gain by it has an end. */
static void a_lease_is_extended_twice_and_no_more(void **state)
{
    struct arbiter a;
    nsec_t now = 25 * MSEC;

    (void)state;
    arbiter_init(&a, NULL);
    uint32_t both = (uint32_t)arbiter_add(&a, 3, 500000, ARBITER_WHOLE, 0);
    uint32_t one = (uint32_t)arbiter_add(&a, 1, 500000, ARBITER_WHOLE, 0);
    arbiter_ask(&a, both, 0);
    arbiter_ask(&a, one, 0);
    for (int i = 0; i < 2; i++) {
        arbiter_tick(&a, now);
        assert_int_equal(verb_for(&a, both), ARBITER_CLOSE);
        arbiter_ask(&a, both, now);
        now = arbiter_deadline(&a);
        arbiter_tick(&a, now);
        assert_int_equal(verb_for(&a, both), ARBITER_EXTEND);
        now = arbiter_deadline(&a);
    }
    arbiter_tick(&a, now);
    assert_int_equal(verb_for(&a, both), ARBITER_CLOSE);
    arbiter_ask(&a, both, now);
    assert_int_equal(arbiter_deadline(&a), now + 1 * SEC);
    arbiter_tick(&a, now + 1 * SEC);
    assert_int_equal(verb_for(&a, both), ARBITER_GIVE_UP);
    assert_int_equal(a.holder[0], (int)one);
}

static void a_removed_holder_frees_its_gpu_at_once(void **state)
{
    struct arbiter a;

    (void)state;
    arbiter_init(&a, NULL);
    uint32_t one = (uint32_t)arbiter_add(&a, 1, 500000, ARBITER_WHOLE, 0);
    uint32_t two = (uint32_t)arbiter_add(&a, 1, 500000, ARBITER_WHOLE, 0);
    arbiter_ask(&a, one, 0);
    arbiter_ask(&a, two, 0);
    assert_int_equal(verb_for(&a, two), ARBITER_NOTHING);
    arbiter_remove(&a, one, 1);
    assert_int_equal(verb_for(&a, two), ARBITER_OPEN);
}

static void there_is_a_limit_to_groups(void **state)
{
    struct arbiter a;

    (void)state;
    arbiter_init(&a, NULL);
    for (int i = 0; i < ARBITER_GROUPS_MAX; i++)
        assert_int_equal(arbiter_add(&a, 1, 1000, ARBITER_WHOLE, 0), i);
    assert_int_equal(arbiter_add(&a, 1, 1000, ARBITER_WHOLE, 0), -1);
    for (uint32_t i = 0; i < ARBITER_GROUPS_MAX; i++)
        arbiter_ask(&a, i, 5);
    assert_int_equal(arbiter_next_action(&a).verb, ARBITER_OPEN);
}

static void a_new_share_counts_from_now_on(void **state)
{
    struct model m;

    (void)state;
    model_init(&m, NULL);
    struct model_tenant *one = model_add(&m, 0.5, false, 1 * MSEC);
    struct model_tenant *two = model_add(&m, 0.5, false, 1 * MSEC);
    model_run(&m, 10 * SEC);
    nsec_t before[] = {model_work(&m, one), model_work(&m, two)};
    arbiter_set(&m.arbiter, (uint32_t)one->group, 900000, ARBITER_WHOLE, m.now);
    arbiter_set(&m.arbiter, (uint32_t)two->group, 100000, ARBITER_WHOLE, m.now);
    model_run(&m, 60 * SEC);
    double got = (double)(model_work(&m, one) - before[0]) / (60.0 * SEC);
    assert_true(fabs(got / 0.9 - 1) < 0.02);
}

/* It is woken up while the holder still drains, so that it has to be one that can go on then. */
static void the_successor_is_furthest_behind_and_has_credit(void **state)
{
    struct arbiter a;

    (void)state;
    arbiter_init(&a, NULL);
    uint32_t holder = (uint32_t)arbiter_add(&a, 1, 500000, ARBITER_WHOLE, 0);
    uint32_t strict = (uint32_t)arbiter_add(&a, 1, 100000, 100000, 0);
    uint32_t elsewhere = (uint32_t)arbiter_add(&a, 2, 100000, ARBITER_WHOLE, 0);
    arbiter_ask(&a, strict, 0);
    arbiter_tick(&a, 50 * MSEC);
    arbiter_ask(&a, holder, 50 * MSEC);
    arbiter_ask(&a, elsewhere, 50 * MSEC);
    arbiter_drained(&a, strict, 50 * MSEC, true, 50 * MSEC);
    assert_int_equal(a.groups[holder].state, ARBITER_RUNNING);
    assert_int_equal(arbiter_successor(&a, holder), -1);
    arbiter_tick(&a, 1 * SEC);
    assert_int_equal(arbiter_successor(&a, holder), strict);
    assert_int_equal(arbiter_successor(&a, elsewhere), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_strict_share_is_exact_alone),
        cmocka_unit_test(strict_shares_are_exact_together),
        cmocka_unit_test(fair_shares_follow_the_weights),
        cmocka_unit_test(a_pause_in_a_turn_does_not_cost_the_turn),
        cmocka_unit_test(what_is_owed_is_not_kept_through_a_rest),
        cmocka_unit_test(three_share_as_five_three_two),
        cmocka_unit_test(an_idle_partner_costs_nothing),
        cmocka_unit_test(an_on_off_partner_gets_its_share_while_it_is_on),
        cmocka_unit_test(strict_beside_fair_keeps_its_cap),
        cmocka_unit_test(a_hand_over_takes_less_than_three_milliseconds),
        cmocka_unit_test(who_never_drains_harms_nobody_for_long),
        cmocka_unit_test(who_waits_for_its_own_launches_gets_another_turn),
        cmocka_unit_test(lying_about_busy_time_gains_next_to_nothing),
        cmocka_unit_test(a_group_gets_all_its_gpus_or_none),
        cmocka_unit_test(a_group_on_several_gpus_may_launch_what_its_kernels_wait_for),
        cmocka_unit_test(a_lease_is_extended_twice_and_no_more),
        cmocka_unit_test(a_removed_holder_frees_its_gpu_at_once),
        cmocka_unit_test(there_is_a_limit_to_groups),
        cmocka_unit_test(a_new_share_counts_from_now_on),
        cmocka_unit_test(the_successor_is_furthest_behind_and_has_credit),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
