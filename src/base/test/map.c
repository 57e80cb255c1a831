/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void an_empty_map_holds_nothing(void **state)
{
    (void)state;
    struct map64 m = {0};
    size_t cursor = 0;
    uint64_t key;
    uint64_t value;

    assert_false(map64_get(&m, 0, NULL));
    assert_false(map64_remove(&m, 0));
    assert_false(map64_next(&m, &cursor, &key, &value));
    assert_int_equal(map64_bytes(&m), 0);
    map64_clear(&m);
    map64_done(&m);
}

static void every_key_is_allowed_and_the_last_value_counts(void **state)
{
    (void)state;
    static const uint64_t keys[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63};
    struct map64 m;

    map64_init(&m);
    for (uint64_t i = 0; i < 4; i++) {
        map64_put(&m, keys[i], 100);
        map64_put(&m, keys[i], i);
    }
    assert_int_equal(map64_len(&m), 4);
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t value = 99;

        assert_true(map64_get(&m, keys[i], &value));
        assert_int_equal(value, i);
    }
    map64_clear(&m);
    assert_int_equal(map64_len(&m), 0);
    assert_false(map64_get(&m, 1, NULL));
    map64_done(&m);
}

/* A plain array beside the map: after many random changes both have to agree. */
static void it_agrees_with_an_array_after_many_changes(void **state)
{
    (void)state;
    enum { KEYS = 500, STEPS = 100000 };
    uint64_t model[KEYS] = {0};
    uint64_t random = 1;
    struct map64 m;
    size_t len = 0;

    map64_init(&m);
    for (uint64_t step = 1; step <= STEPS; step++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        size_t key = (random >> 33) % KEYS;

        if (random >> 63) {
            map64_put(&m, key, step);
            len += !model[key];
            model[key] = step;
        } else {
            assert_int_equal(map64_remove(&m, key), model[key] != 0);
            len -= model[key] != 0;
            model[key] = 0;
        }
        assert_int_equal(map64_len(&m), len);
    }
    for (size_t key = 0; key < KEYS; key++) {
        uint64_t value = 0;

        assert_int_equal(map64_get(&m, key, &value), model[key] != 0);
        assert_int_equal(value, model[key]);
    }
    map64_done(&m);
}

static void iteration_meets_every_entry_once(void **state)
{
    (void)state;
    struct map64 m;
    bool seen[300] = {0};
    uint64_t key;
    uint64_t value;
    size_t count = 0;

    map64_init(&m);
    for (uint64_t i = 0; i < 300; i++)
        map64_put(&m, i, i * 2);
    for (size_t cursor = 0; map64_next(&m, &cursor, &key, &value); count++) {
        assert_true(key < 300);
        assert_false(seen[key]);
        assert_int_equal(value, key * 2);
        seen[key] = true;
    }
    assert_int_equal(count, 300);
    assert_true(map64_bytes(&m) >= 300 * 17);
    map64_done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_holds_nothing),
        cmocka_unit_test(every_key_is_allowed_and_the_last_value_counts),
        cmocka_unit_test(it_agrees_with_an_array_after_many_changes),
        cmocka_unit_test(iteration_meets_every_entry_once),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
