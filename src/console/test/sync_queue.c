/* SPDX-License-Identifier: Apache-2.0 */
#include "console/org/sync_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "console/data/items.h"

static void expect_taken(struct sync_queue *queue, bool units_only, const char *id)
{
    struct sync_entry entry;

    assert_true(sync_queue_take(queue, units_only, &entry));
    assert_string_equal(entry.id, id);
}

static void items_are_taken_in_the_order_in_which_they_came_and_each_once(void **state)
{
    struct sync_queue queue = {0};
    struct sync_entry entry;

    (void)state;
    sync_queue_add(&queue, ITEM_WORKLOAD, "w");
    sync_queue_add(&queue, ITEM_PROJECT, "p");
    sync_queue_add(&queue, ITEM_WORKLOAD, "w");
    sync_queue_add(&queue, ITEM_DEPARTMENT, "d");
    sync_queue_add(&queue, "asset:compute", "a");
    expect_taken(&queue, false, "w");
    expect_taken(&queue, false, "p");
    expect_taken(&queue, false, "d");
    expect_taken(&queue, false, "a");
    assert_false(sync_queue_take(&queue, false, &entry));
    sync_queue_done(&queue);
}

static void departments_and_projects_can_be_taken_before_all_else(void **state)
{
    struct sync_queue queue = {0};
    struct sync_entry entry;

    (void)state;
    sync_queue_add(&queue, ITEM_WORKLOAD, "w");
    sync_queue_add(&queue, ITEM_PROJECT, "p");
    expect_taken(&queue, true, "p");
    assert_false(sync_queue_take(&queue, true, &entry));
    expect_taken(&queue, false, "w");
    sync_queue_done(&queue);
}

static void what_failed_is_tried_again_after_twice_as_long_each_time(void **state)
{
    struct sync_queue queue = {0};
    struct sync_entry entry;
    nsec_t now = 1000;
    nsec_t delay = SYNC_RETRY_FIRST;

    (void)state;
    sync_queue_add(&queue, ITEM_PROJECT, "p");
    for (int i = 0; i < 8; i++) {
        assert_true(sync_queue_take(&queue, false, &entry));
        sync_queue_fail(&queue, &entry, now);
        assert_int_equal(sync_queue_due(&queue), now + delay);
        sync_queue_retry(&queue, now + delay - 1);
        assert_false(sync_queue_take(&queue, false, &entry));
        now += delay;
        sync_queue_retry(&queue, now);
        delay = i < 4 ? 2 * delay : delay;
    }
    expect_taken(&queue, false, "p");
    assert_int_equal(sync_queue_due(&queue), 0);
    sync_queue_done(&queue);
}

static void an_item_that_is_added_again_is_there_once_whether_it_failed_or_not(void **state)
{
    struct sync_queue queue = {0};
    struct sync_entry entry;

    (void)state;
    sync_queue_add(&queue, ITEM_PROJECT, "p");
    assert_true(sync_queue_take(&queue, false, &entry));
    sync_queue_fail(&queue, &entry, 0);
    sync_queue_add(&queue, ITEM_PROJECT, "p");
    assert_int_equal(sync_queue_due(&queue), 0);
    assert_true(sync_queue_take(&queue, false, &entry));
    assert_int_equal(entry.tries, 0);
    sync_queue_add(&queue, ITEM_PROJECT, "p");
    sync_queue_fail(&queue, &entry, 0);
    assert_int_equal(sync_queue_due(&queue), 0);
    assert_true(sync_queue_take(&queue, false, &entry));
    assert_int_equal(entry.tries, 1);
    assert_false(sync_queue_take(&queue, false, &entry));
    sync_queue_done(&queue);
}

/* With a walk over all others at each call, this would take minutes. */
static void a_hundred_thousand_items_are_added_fail_and_are_retried(void **state)
{
    enum { COUNT = 100000 };
    struct sync_queue queue = {0};
    struct sync_entry entry;
    char id[16];

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(id, sizeof id, "%d", i);
        sync_queue_add(&queue, ITEM_WORKLOAD, id);
    }
    for (int i = 0; i < COUNT; i++) {
        assert_true(sync_queue_take(&queue, false, &entry));
        sync_queue_fail(&queue, &entry, i);
        assert_int_equal(sync_queue_due(&queue), SYNC_RETRY_FIRST);
    }
    sync_queue_retry(&queue, SYNC_RETRY_FIRST + COUNT);
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(id, sizeof id, "%d", i);
        expect_taken(&queue, false, id);
    }
    sync_queue_done(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_taken_in_the_order_in_which_they_came_and_each_once),
        cmocka_unit_test(departments_and_projects_can_be_taken_before_all_else),
        cmocka_unit_test(what_failed_is_tried_again_after_twice_as_long_each_time),
        cmocka_unit_test(an_item_that_is_added_again_is_there_once_whether_it_failed_or_not),
        cmocka_unit_test(a_hundred_thousand_items_are_added_fail_and_are_retried),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
