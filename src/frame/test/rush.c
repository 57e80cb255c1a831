/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/rush.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Any time but 0. */
#define NOW (1000 * NSEC_PER_SEC)

static void without_pods_on_their_way_there_is_nothing_to_wait_for(void **state)
{
    (void)state;
    struct rush rush = {0};

    assert_int_equal(rush_wait(&rush, NOW, NOW, 0), 0);
    assert_int_equal(rush_wait(&rush, NOW, NOW, RUSH_AT_ONCE - 1), 0);
    assert_true(rush_wait(&rush, NOW, NOW, RUSH_AT_ONCE) == NSEC_MAX);
}

static void a_pod_on_its_way_goes_first(void **state)
{
    (void)state;
    struct rush rush = {0};

    rush_note(&rush, NOW);
    assert_int_equal(rush_wait(&rush, NOW, NOW, 0), RUSH_OVER);
    assert_int_equal(rush_wait(&rush, NOW + RUSH_OVER - 1, NOW, 0), 1);
    assert_int_equal(rush_wait(&rush, NOW + RUSH_OVER, NOW, 0), 0);
}

static void what_has_waited_goes_in_between_one_at_a_time_and_spaced(void **state)
{
    (void)state;
    nsec_t later = NOW + RUSH_PATIENCE;
    struct rush rush = {0};

    rush_note(&rush, later);
    assert_int_equal(rush_wait(&rush, later, NOW + 1, 0), 1);
    assert_true(rush_wait(&rush, later, NOW, 1) == NSEC_MAX);
    assert_int_equal(rush_wait(&rush, later, NOW, 0), 0);
    assert_int_equal(rush_wait(&rush, later, NOW, 0), RUSH_BETWEEN);
    rush_note(&rush, later + RUSH_BETWEEN);
    assert_int_equal(rush_wait(&rush, later + RUSH_BETWEEN, NOW, 0), 0);
}

static void nothing_waits_for_ever(void **state)
{
    (void)state;
    nsec_t late = NOW + RUSH_LONGEST;
    struct rush rush = {0};

    rush_note(&rush, late);
    assert_int_equal(rush_wait(&rush, late, NOW, 0), 0);
    assert_int_equal(rush_wait(&rush, late, NOW, 5), 0);
    assert_true(rush_wait(&rush, late, NOW, RUSH_AT_ONCE) == NSEC_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_pods_on_their_way_there_is_nothing_to_wait_for),
        cmocka_unit_test(a_pod_on_its_way_goes_first),
        cmocka_unit_test(what_has_waited_goes_in_between_one_at_a_time_and_spaced),
        cmocka_unit_test(nothing_waits_for_ever),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
