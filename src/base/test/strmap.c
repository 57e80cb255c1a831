/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strmap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/macros.h"

struct thing {
    char namespace[8];
    char name[8];
    bool is_in;
};

static void an_empty_map_has_nothing(void **state)
{
    (void)state;
    struct strmap map = {0};
    size_t cursor = 0;

    assert_null(strmap_get(&map, "", "a"));
    assert_null(strmap_remove(&map, "", "a"));
    assert_null(strmap_next(&map, &cursor));
    assert_int_equal(strmap_bytes(&map), 0);
    strmap_done(&map);
}

static void both_parts_of_a_name_count(void **state)
{
    (void)state;
    struct strmap map;
    int one = 1, two = 2, three = 3;

    strmap_init(&map);
    assert_null(strmap_put(&map, "team", "a", &one));
    assert_null(strmap_put(&map, "", "teama", &two));
    assert_ptr_equal(strmap_get(&map, "team", "a"), &one);
    assert_ptr_equal(strmap_get(&map, "", "teama"), &two);
    assert_null(strmap_get(&map, "tea", "ma"));
    assert_ptr_equal(strmap_put(&map, "team", "a", &three), &one);
    assert_int_equal(map.len, 2);
    assert_ptr_equal(strmap_remove(&map, "team", "a"), &three);
    assert_null(strmap_get(&map, "team", "a"));
    strmap_done(&map);
}

/* Against a plain list: entries come and go at random, and after each step the map has just those of the list. */
static void it_holds_what_a_list_holds(void **state)
{
    (void)state;
    enum { THINGS = 400, STEPS = 40000 };
    static struct thing things[THINGS];
    struct strmap map = {0};
    uint64_t chance = 7;
    size_t len = 0;

    for (size_t i = 0; i < THINGS; i++) {
        (void)snprintf(things[i].namespace, sizeof things[i].namespace, "n%zu", i % 7);
        (void)snprintf(things[i].name, sizeof things[i].name, "p%zu", i);
    }
    for (size_t step = 0; step < STEPS; step++) {
        chance = hash_bytes(&chance, sizeof chance, step);
        /* Runs of a few hundred: the map grows, empties and grows again. */
        struct thing *thing = &things[chance % (step / 5000 % 2 ? 20 : THINGS)];

        if (thing->is_in)
            assert_ptr_equal(strmap_remove(&map, thing->namespace, thing->name), thing);
        else
            assert_null(strmap_put(&map, thing->namespace, thing->name, thing));
        thing->is_in = !thing->is_in;
        len += thing->is_in ? 1 : (size_t)-1;
        assert_int_equal(map.len, len);
        const struct thing *other = &things[(chance >> 32) % THINGS];
        assert_ptr_equal(strmap_get(&map, other->namespace, other->name), other->is_in ? other : NULL);
    }
    size_t seen = 0;
    const struct thing *thing;
    for (size_t cursor = 0; (thing = strmap_next(&map, &cursor)); seen++)
        assert_true(thing->is_in);
    assert_int_equal(seen, len);
    strmap_done(&map);
}

/* On disk: a change of the function would make old journals unreadable. */
static void the_hash_is_the_same_everywhere(void **state)
{
    (void)state;
    assert_int_equal(hash_bytes("", 0, 0), 0x2d06800538d394c2);
    assert_int_equal(hash_str("muster", 0), hash_bytes("muster", 6, 0));
    assert_int_not_equal(hash_str("a", 0), hash_str("a", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_has_nothing),
        cmocka_unit_test(both_parts_of_a_name_count),
        cmocka_unit_test(it_holds_what_a_list_holds),
        cmocka_unit_test(the_hash_is_the_same_everywhere),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
