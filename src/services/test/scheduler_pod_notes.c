/* SPDX-License-Identifier: Apache-2.0 */

/* The table of what is known of pods besides the state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "services/scheduler/pod_notes.h"

static void a_note_goes_when_nothing_is_left_in_it(void **arg)
{
    struct pod_notes *notes = pod_notes_new();
    struct pod_note *note = pod_note_put(notes, 7);

    (void)arg;
    note->condition = 1;
    note->lone_gang = 2;
    note->condition = 0;
    pod_note_settle(notes, note);
    assert_ptr_equal(pod_note_find(notes, 7), note);
    note->lone_gang = 0;
    pod_note_settle(notes, note);
    assert_null(pod_note_find(notes, 7));
    assert_int_equal(pod_notes_len(notes), 0);
    pod_note_settle(notes, NULL);
    pod_notes_free(notes);
}

static void pods_that_leave_are_listed_in_the_order_in_which_they_began_to(void **arg)
{
    struct pod_notes *notes = pod_notes_new();

    (void)arg;
    pod_note_set_leaving(notes, 3, 30);
    pod_note_set_leaving(notes, 1, 10);
    pod_note_set_leaving(notes, 2, 20);
    pod_note_set_leaving(notes, 3, 31);
    assert_int_equal(pod_notes_leaving(notes)->len, 3);
    const struct pod_note *first = list_item(pod_notes_leaving(notes)->first, struct pod_note, in_leaving);
    assert_int_equal(first->key, 3);
    assert_int_equal(first->leaving_since, 31);
    pod_note_set_leaving(notes, 3, 0);
    pod_note_set_leaving(notes, 9, 0);
    assert_int_equal(pod_notes_leaving(notes)->len, 2);
    assert_int_equal(pod_notes_len(notes), 2);
    pod_notes_free(notes);
}

static void all_notes_are_walked_over(void **arg)
{
    struct pod_notes *notes = pod_notes_new();
    const struct pod_note *note;
    uint64_t sum = 0;

    (void)arg;
    for (object_key key = 1; key <= 100; key++)
        pod_note_put(notes, key)->promised = (name_id)key;
    for (size_t cursor = 0; (note = pod_notes_next(notes, &cursor));)
        sum += note->promised;
    assert_int_equal(sum, 5050);
    pod_notes_free(notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_note_goes_when_nothing_is_left_in_it),
        cmocka_unit_test(pods_that_leave_are_listed_in_the_order_in_which_they_began_to),
        cmocka_unit_test(all_notes_are_walked_over),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
