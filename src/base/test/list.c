/* SPDX-License-Identifier: Apache-2.0 */
#include "base/list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct thing {
    int number;
    struct list_link in_list, in_other;
};

static int first_number(const struct list *list)
{
    return list_first(list, struct thing, in_list)->number;
}

static void things_leave_in_the_order_they_came(void **state)
{
    (void)state;
    struct thing things[3] = {{.number = 1}, {.number = 2}, {.number = 3}};
    struct list list = {0};

    assert_null(list_first(&list, struct thing, in_list));
    for (int i = 0; i < 3; i++)
        list_push(&list, &things[i].in_list);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(list.len, 3 - i);
        assert_int_equal(first_number(&list), i + 1);
        list_remove(&list, &things[i].in_list);
    }
    assert_null(list.first);
    assert_null(list.last);
}

static void a_thing_leaves_from_anywhere_and_comes_again(void **state)
{
    (void)state;
    struct thing things[3] = {{.number = 1}, {.number = 2}, {.number = 3}};
    struct list list = {0};

    for (int i = 0; i < 3; i++)
        list_push(&list, &things[i].in_list);
    list_remove(&list, &things[1].in_list);
    list_push(&list, &things[1].in_list);
    list_remove(&list, &things[0].in_list);
    assert_int_equal(first_number(&list), 3);
    assert_ptr_equal(list.last, &things[1].in_list);
    list_remove(&list, &things[1].in_list);
    assert_ptr_equal(list.last, &things[2].in_list);
    assert_int_equal(list.len, 1);
}

static void a_thing_is_in_as_many_lists_as_it_has_links(void **state)
{
    (void)state;
    struct thing thing = {.number = 1};
    struct list list = {0}, other = {0};

    list_push(&list, &thing.in_list);
    list_push(&other, &thing.in_other);
    list_remove(&list, &thing.in_list);
    assert_int_equal(list.len, 0);
    assert_ptr_equal(list_first(&other, struct thing, in_other), &thing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(things_leave_in_the_order_they_came),
        cmocka_unit_test(a_thing_leaves_from_anywhere_and_comes_again),
        cmocka_unit_test(a_thing_is_in_as_many_lists_as_it_has_links),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
