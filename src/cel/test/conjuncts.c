/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/cel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { PARTS_MAX = 4, TEXT_MAX = 256 };

static void parts_that_have_to_be_true_are_told_apart(void **state)
{
    static const struct {
        const char *expression;
        const char *parts;  // each with a bar behind it
    } cases[] = {
        {"a && b", "a|b|"},
        {" a.b == 'x && y'  &&  c(d && e)\n&& [f][0] ", "a.b == 'x && y'|c(d && e)|[f][0]|"},
        {"(a || b) && c.?d.orValue(e[?0].hasValue() ? f : g)", "(a || b)|c.?d.orValue(e[?0].hasValue() ? f : g)|"},
        {"a && b // c && d", "a|b|"},
        {"a && !b && \"\"\"&&\"\"\".size() > 0", "a|!b|\"\"\"&&\"\"\".size() > 0|"},
        {"a", ""},
        {"(a && b)", ""},
        {"a && b || c", ""},
        {"a && b ? c : d", ""},
        {"a && 'b", ""},
        {"a && b && c && d && e", ""},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cel_text parts[PARTS_MAX];
        char text[TEXT_MAX] = "";
        size_t count = cel_conjuncts(cases[i].expression, parts, PARTS_MAX);

        for (size_t p = 0; p < count; p++) {
            (void)strncat(text, parts[p].bytes, parts[p].len);
            (void)strcat(text, "|");
        }
        assert_string_equal(text, cases[i].parts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_that_have_to_be_true_are_told_apart)};

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
