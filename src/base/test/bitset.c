/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bitset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void fill(struct bitset *b, uint32_t bits, uint32_t step)
{
    bitset_init(b, bits);
    for (uint32_t i = 0; i < bits; i += step)
        bitset_set(b, i);
}

static void members_are_found_across_words(void **state)
{
    (void)state;
    struct bitset b;

    bitset_init(&b, 200);
    assert_int_equal(bitset_next_set(&b, 0), BITSET_NONE);
    bitset_set(&b, 0);
    bitset_set(&b, 63);
    bitset_set(&b, 64);
    bitset_set(&b, 199);
    bitset_clear(&b, 64);
    assert_true(bitset_test(&b, 63));
    assert_false(bitset_test(&b, 64));
    assert_false(bitset_test(&b, 5000));
    assert_int_equal(bitset_count(&b), 3);
    assert_int_equal(bitset_next_set(&b, 1), 63);
    assert_int_equal(bitset_next_set(&b, 64), 199);
    assert_int_equal(bitset_next_set(&b, 200), BITSET_NONE);
    bitset_clear_all(&b);
    assert_int_equal(bitset_count(&b), 0);
    bitset_done(&b);
}

static void what_a_smaller_size_cut_off_does_not_come_back(void **state)
{
    (void)state;
    struct bitset b;

    fill(&b, 130, 1);
    bitset_resize(&b, 70);
    assert_int_equal(bitset_count(&b), 70);
    bitset_resize(&b, 1000);
    assert_int_equal(bitset_count(&b), 70);
    assert_int_equal(bitset_next_set(&b, 70), BITSET_NONE);
    bitset_resize(&b, 0);
    assert_int_equal(bitset_count(&b), 0);
    bitset_clear_all(&b);
    bitset_done(&b);
}

static void intersection_and_union_follow_their_definition(void **state)
{
    (void)state;
    struct bitset twos;
    struct bitset threes;

    fill(&twos, 100, 2);
    fill(&threes, 100, 3);
    bitset_and(&twos, &threes);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(bitset_test(&twos, i), i % 6 == 0);
    bitset_or(&twos, &threes);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(bitset_test(&twos, i), i % 3 == 0);
    assert_true(bitset_equal(&twos, &threes));
    bitset_done(&twos);
    bitset_done(&threes);
}

static void equality_is_about_members_and_not_about_size(void **state)
{
    (void)state;
    struct bitset small;
    struct bitset large;

    fill(&small, 10, 3);
    bitset_init(&large, 1000);
    assert_false(bitset_equal(&small, &large));
    for (uint32_t i = 0; i < 10; i += 3)
        bitset_set(&large, i);
    assert_true(bitset_equal(&small, &large));
    bitset_set(&large, 999);
    assert_false(bitset_equal(&small, &large));
    bitset_done(&small);
    bitset_done(&large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_found_across_words),
        cmocka_unit_test(what_a_smaller_size_cut_off_does_not_come_back),
        cmocka_unit_test(intersection_and_union_follow_their_definition),
        cmocka_unit_test(equality_is_about_members_and_not_about_size),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
