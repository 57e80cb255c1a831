/* SPDX-License-Identifier: Apache-2.0 */
#include "model/test/helper.h"

static void going_back_restores_values_of_both_sizes_last_change_first(void **unused)
{
    struct undo undo;
    struct {
        uint32_t small;
        uint32_t beside;
        int64_t large;
    } data = {1, 7, -5};

    (void)unused;
    undo_init(&undo);
    undo_set32(&undo, &data.small, 2);
    assert_int_equal(undo.len, 0);
    undo.is_recording = true;
    undo_set32(&undo, &data.small, 3);
    undo_mark mark = undo_here(&undo);
    for (uint32_t i = 0; i < 3000; i++) {
        undo_set32(&undo, &data.small, i);
        undo_add64(&undo, &data.large, 1);
    }
    assert_int_equal(data.large, 2995);
    undo_back_to(&undo, mark);
    assert_int_equal(data.small, 3);
    assert_int_equal(data.large, -5);
    undo_back_to(&undo, 0);
    assert_int_equal(data.small, 2);
    assert_int_equal(data.beside, 7);
    undo_set32(&undo, &data.small, 9);
    undo_forget(&undo);
    undo_back_to(&undo, 0);
    assert_int_equal(data.small, 9);
    undo_done(&undo);
}

static void an_id_is_in_a_set_once_and_can_leave_it(void **unused)
{
    struct id_set set = {0};

    (void)unused;
    assert_false(id_set_has(&set, 5));
    id_set_remove(&set, 5);
    id_set_add(&set, 5);
    id_set_add(&set, 0);
    id_set_add(&set, 5);
    id_set_add(&set, 9);
    assert_int_equal(set.ids.len, 3);
    id_set_remove(&set, 5);
    assert_false(id_set_has(&set, 5));
    assert_true(id_set_has(&set, 9));
    assert_int_equal(set.ids.items[0], 9);
    id_set_clear(&set);
    assert_int_equal(set.ids.len, 0);
    assert_false(id_set_has(&set, 9));
    id_set_done(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(going_back_restores_values_of_both_sizes_last_change_first),
        cmocka_unit_test(an_id_is_in_a_set_once_and_can_leave_it),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
