/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void the_empty_string_is_id_zero(void **state)
{
    (void)state;
    struct intern in;

    intern_init(&in);
    assert_int_equal(intern_len(&in), 1);
    assert_int_equal(intern_id(&in, "", 0), 0);
    assert_string_equal(intern_str(&in, 0), "");
    intern_done(&in);
}

static void equal_strings_share_an_id_and_others_do_not(void **state)
{
    (void)state;
    struct intern in;
    uint32_t found = 99;

    intern_init(&in);
    assert_int_equal(intern_id(&in, "gpu-1", 5), 1);
    assert_int_equal(intern_id(&in, "gpu-10", 6), 2);
    assert_int_equal(intern_id(&in, "gpu-10", 5), 1);
    assert_false(intern_find(&in, "gpu-2", 5, &found));
    assert_int_equal(found, 99);
    assert_true(intern_find(&in, "gpu-10", 6, &found));
    assert_int_equal(found, 2);
    assert_int_equal(intern_len(&in), 3);
    intern_done(&in);
}

static void strings_stay_where_they_are_while_the_table_grows(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct intern in;
    char name[32];

    intern_init(&in);
    uint32_t first = intern_id(&in, "first", 5);
    const char *text = intern_str(&in, first);
    for (int i = 0; i < COUNT; i++) {
        int len = snprintf(name, sizeof name, "pod-%d", i);

        assert_int_equal(intern_id(&in, name, (size_t)len), (uint32_t)i + 2);
    }
    assert_ptr_equal(intern_str(&in, first), text);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t id = 0;
        int len = snprintf(name, sizeof name, "pod-%u", i);

        assert_true(intern_find(&in, name, (size_t)len, &id));
        assert_int_equal(id, i + 2);
        assert_string_equal(intern_str(&in, id), name);
    }
    assert_true(intern_bytes(&in) > COUNT * 8);
    intern_done(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_empty_string_is_id_zero),
        cmocka_unit_test(equal_strings_share_an_id_and_others_do_not),
        cmocka_unit_test(strings_stay_where_they_are_while_the_table_grows),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
