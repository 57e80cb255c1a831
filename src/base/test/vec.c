/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct ints VEC_OF(int);

static void fill(struct ints *v, int count)
{
    for (int i = 0; i < count; i++)
        vec_push(v, i);
}

static void items_come_back_in_the_order_they_went_in(void **state)
{
    (void)state;
    struct ints v = {0};
    int expected = 0;

    fill(&v, 1000);
    assert_int_equal(v.len, 1000);
    vec_foreach (&v, at)
        assert_int_equal(*at, expected++);
    assert_int_equal(expected, 1000);
    assert_true(vec_bytes(&v) >= 1000 * sizeof(int));
    vec_done(&v);
    assert_int_equal(v.len, 0);
    assert_int_equal(vec_bytes(&v), 0);
}

static void an_empty_vec_has_nothing_to_walk_over(void **state)
{
    (void)state;
    struct ints v = {0};

    vec_foreach (&v, at)
        fail();
    vec_done(&v);
}

static void items_are_inserted_and_removed_in_order(void **state)
{
    (void)state;
    struct ints v = {0};
    static const int expected[] = {0, 2, 9, 3, 4, 8};

    fill(&v, 5);
    vec_remove_at(&v, 1);
    vec_insert_at(&v, 2, 9);
    vec_insert_at(&v, v.len, 8);
    assert_int_equal(v.len, ARRAY_LEN(expected));
    assert_memory_equal(v.items, expected, sizeof expected);
    vec_swap_remove(&v, 0);
    assert_int_equal(v.items[0], 8);
    assert_int_equal(vec_last(&v), 4);
    vec_last(&v) = 40;
    assert_int_equal(vec_pop(&v), 40);
    assert_int_equal(v.len, 4);
    vec_done(&v);
}

static void growing_the_length_fills_with_zeros(void **state)
{
    (void)state;
    struct ints v = {0};

    fill(&v, 8);
    vec_resize(&v, 2);
    vec_resize(&v, 8);
    assert_int_equal(v.items[1], 1);
    for (uint32_t i = 2; i < 8; i++)
        assert_int_equal(v.items[i], 0);
    vec_clear(&v);
    assert_int_equal(v.len, 0);
    vec_done(&v);
}

static void reserved_room_keeps_items_in_place(void **state)
{
    (void)state;
    struct ints v = {0};

    vec_reserve(&v, 100);
    const int *before = v.items;
    fill(&v, 100);
    assert_ptr_equal(v.items, before);
    vec_done(&v);
}

static void a_value_may_be_a_literal_or_come_from_the_vec_itself(void **state)
{
    (void)state;
    VEC(struct {
        int a;
        int b;
    })
    pairs = {0};
    struct ints v = {0};

    vec_resize(&pairs, 1);
    vec_push(&pairs, (__typeof__(*pairs.items)){.a = 1, .b = 2});
    assert_int_equal(vec_last(&pairs).b, 2);
    vec_done(&pairs);

    fill(&v, 8);
    for (int i = 0; i < 100; i++)
        vec_push(&v, v.items[7]);
    vec_push(&v, vec_pop(&v));
    assert_int_equal(vec_last(&v), 7);
    assert_int_equal(v.len, 108);
    vec_done(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_back_in_the_order_they_went_in),
        cmocka_unit_test(an_empty_vec_has_nothing_to_walk_over),
        cmocka_unit_test(items_are_inserted_and_removed_in_order),
        cmocka_unit_test(growing_the_length_fills_with_zeros),
        cmocka_unit_test(reserved_room_keeps_items_in_place),
        cmocka_unit_test(a_value_may_be_a_literal_or_come_from_the_vec_itself),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
