/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bitset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint32_t count(const struct bitset *b)
{
    uint32_t members = 0;

    for (uint32_t i = bitset_next_set(b, 0); i != BITSET_NONE; i = bitset_next_set(b, i + 1))
        members++;
    return members;
}

static void members_are_found_across_words(void **state)
{
    (void)state;
    struct bitset b = {0};

    bitset_resize(&b, 200);
    assert_int_equal(bitset_next_set(&b, 0), BITSET_NONE);
    bitset_set(&b, 0);
    bitset_set(&b, 63);
    bitset_set(&b, 64);
    bitset_set(&b, 199);
    bitset_clear(&b, 64);
    assert_true(bitset_test(&b, 63));
    assert_false(bitset_test(&b, 64));
    assert_false(bitset_test(&b, 5000));
    assert_int_equal(count(&b), 3);
    assert_int_equal(bitset_next_set(&b, 1), 63);
    assert_int_equal(bitset_next_set(&b, 64), 199);
    assert_int_equal(bitset_next_set(&b, 200), BITSET_NONE);
    bitset_clear_all(&b);
    assert_int_equal(count(&b), 0);
    bitset_done(&b);
}

static void what_a_smaller_size_cut_off_does_not_come_back(void **state)
{
    (void)state;
    struct bitset b = {0};

    bitset_resize(&b, 130);
    for (uint32_t i = 0; i < 130; i++)
        bitset_set(&b, i);
    bitset_resize(&b, 70);
    assert_int_equal(count(&b), 70);
    bitset_resize(&b, 1000);
    assert_int_equal(count(&b), 70);
    assert_int_equal(bitset_next_set(&b, 70), BITSET_NONE);
    bitset_resize(&b, 0);
    assert_int_equal(count(&b), 0);
    bitset_clear_all(&b);
    bitset_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_found_across_words),
        cmocka_unit_test(what_a_smaller_size_cut_off_does_not_come_back),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
