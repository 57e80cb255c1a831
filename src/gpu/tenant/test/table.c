/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/tenant/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 4000 };

static void an_empty_table_has_nothing(void **state)
{
    (void)state;
    struct table table = {0};
    struct entry entry;
    assert_false(table_get(&table, 1, &entry));
    assert_false(table_take(&table, 1, &entry));
    assert_false(table_take_any(&table, &entry));
    assert_int_equal(table_count(&table), 0);
    table_forget(&table);
}

static void the_key_zero_is_refused(void **state)
{
    (void)state;
    struct table table = {0};
    struct entry entry = {.key = 0, .bytes = 1};
    assert_false(table_put(&table, &entry));
    assert_false(table_get(&table, 0, &entry));
    assert_int_equal(table_count(&table), 0);
}

static void putting_again_replaces(void **state)
{
    (void)state;
    struct table table = {0};
    struct entry entry = {.key = 7, .bytes = 1}, found;
    assert_true(table_put(&table, &entry));
    entry.bytes = 2;
    assert_true(table_put(&table, &entry));
    assert_int_equal(table_count(&table), 1);
    assert_true(table_get(&table, 7, &found));
    assert_int_equal(found.bytes, 2);
    table_forget(&table);
    assert_int_equal(table_count(&table), 0);
}

static void adding_again_does_not(void **state)
{
    (void)state;
    struct table table = {0};
    struct entry entry = {.key = 7, .bytes = 1}, found;
    assert_true(table_add(&table, &entry));
    entry.bytes = 2;
    assert_false(table_add(&table, &entry));
    assert_int_equal(table_count(&table), 1);
    assert_true(table_get(&table, 7, &found));
    assert_int_equal(found.bytes, 1);
    table_forget(&table);
}

/* Keys as drivers give them: multiples of large powers of two. */
static void random_changes_agree_with_an_array(void **state)
{
    (void)state;
    static uint64_t expected[KEYS];
    struct table table = {0};
    struct entry entry;
    unsigned seed = 11;
    size_t count = 0;
    memset(expected, 0, sizeof expected);
    for (int i = 0; i < 200000; i++) {
        size_t at = (size_t)rand_r(&seed) % KEYS;
        uint64_t key = UINT64_C(0x7e0000000000) + (at << 21);
        if (rand_r(&seed) % 2) {
            entry = (struct entry){.key = key, .bytes = (uint64_t)i + 1};
            assert_true(table_put(&table, &entry));
            count += expected[at] == 0;
            expected[at] = entry.bytes;
        } else {
            assert_int_equal(table_take(&table, key, &entry), expected[at] != 0);
            if (expected[at]) {
                assert_int_equal(entry.bytes, expected[at]);
                count--;
            }
            expected[at] = 0;
        }
    }
    assert_int_equal(table_count(&table), count);
    for (size_t at = 0; at < KEYS; at++) {
        bool is_there = table_get(&table, UINT64_C(0x7e0000000000) + (at << 21), &entry);
        assert_int_equal(is_there, expected[at] != 0);
        if (is_there)
            assert_int_equal(entry.bytes, expected[at]);
    }
    table_forget(&table);
}

static void add_bytes(const struct entry *entry, void *sum)
{
    *(uint64_t *)sum += entry->bytes;
}

static void entries_go_with_their_owner(void **state)
{
    (void)state;
    struct table table = {0};
    struct entry entry;
    uint64_t sum = 0;
    for (uint64_t key = 1; key <= 1000; key++) {
        entry = (struct entry){.key = key, .bytes = 1, .owner = key % 2};
        assert_true(table_put(&table, &entry));
    }
    size_t taken = 0;
    while (table_take_owned(&table, 1, &entry))
        taken++;
    assert_int_equal(taken, 500);
    table_each(&table, add_bytes, &sum);
    assert_int_equal(sum, 500);
    while (table_take_any(&table, &entry))
        sum--;
    assert_int_equal(sum, 0);
    table_forget(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_table_has_nothing),
        cmocka_unit_test(the_key_zero_is_refused),
        cmocka_unit_test(putting_again_replaces),
        cmocka_unit_test(adding_again_does_not),
        cmocka_unit_test(random_changes_agree_with_an_array),
        cmocka_unit_test(entries_go_with_their_owner),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
