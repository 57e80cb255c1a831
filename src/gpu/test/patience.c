/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/daemon/patience.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { DEADLINE = 2000, LONG_AFTER = 1000000 };

static void short_waits_cost_little(void **state)
{
    struct patience p = {0};
    nsec_t now = LONG_AFTER;

    (void)state;
    for (int i = 0; i < 10; i++) {
        assert_true(patience_left(&p, DEADLINE, now) >= DEADLINE - i * 10);
        patience_note(&p, now, now + 10);
        now += 100;
    }
}

/* Sixty pieces, each of which comes at the last moment. */
static void an_owner_in_many_pieces_does_not_wait_for_each(void **state)
{
    struct patience p = {0};
    nsec_t begin = LONG_AFTER, now = begin;

    (void)state;
    for (int i = 0; i < 60; i++) {
        nsec_t left = patience_left(&p, DEADLINE, now);

        assert_true(left >= DEADLINE / 10);
        patience_note(&p, now, now + left);
        now += left;
    }
    assert_true(now - begin <= DEADLINE + 59 * DEADLINE / 10);
}

static void what_was_waited_is_forgotten(void **state)
{
    struct patience p = {0};

    (void)state;
    patience_note(&p, LONG_AFTER, LONG_AFTER + DEADLINE);
    assert_int_equal(patience_left(&p, DEADLINE, LONG_AFTER + DEADLINE), DEADLINE / 10);
    assert_int_equal(patience_left(&p, DEADLINE, LONG_AFTER + 3 * DEADLINE), DEADLINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_waits_cost_little),
        cmocka_unit_test(an_owner_in_many_pieces_does_not_wait_for_each),
        cmocka_unit_test(what_was_waited_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
