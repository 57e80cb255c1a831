/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void failing_is_one_statement(void **state)
{
    (void)state;
    struct err err = {0};

    assert_int_equal(err_set(&err, -ENOENT, "no queue %s", "red"), -ENOENT);
    assert_int_equal(err.code, -ENOENT);
    assert_string_equal(err.text, "no queue red");
}

static void callers_put_the_place_in_front(void **state)
{
    (void)state;
    struct err err = {0};

    (void)err_set(&err, -EINVAL, "is negative");
    assert_int_equal(err_wrap(&err, -ERANGE, "node %d", 7), -ERANGE);
    assert_int_equal(err.code, -ERANGE);
    assert_string_equal(err.text, "node 7: is negative");
}

static void nobody_has_to_listen(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, -EIO, "lost"), -EIO);
    assert_int_equal(err_wrap(NULL, -EIO, "lost"), -EIO);
}

static void a_text_that_is_too_long_ends_in_dots(void **state)
{
    (void)state;
    struct err err = {0};
    char word[600];

    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';

    (void)err_set(&err, -EINVAL, "%s", word);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_string_equal(err.text + sizeof err.text - 5, "x...");

    (void)err_set(&err, -EINVAL, "short");
    (void)err_wrap(&err, -EINVAL, "%s", word);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_string_equal(err.text + sizeof err.text - 5, "x...");

    (void)err_set(&err, -EINVAL, "%s", word + 100);
    (void)err_wrap(&err, -EINVAL, "front");
    assert_memory_equal(err.text, "front: xxx", 10);
    assert_string_equal(err.text + sizeof err.text - 5, "x...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_is_one_statement),
        cmocka_unit_test(callers_put_the_place_in_front),
        cmocka_unit_test(nobody_has_to_listen),
        cmocka_unit_test(a_text_that_is_too_long_ends_in_dots),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
