/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "cel/test/expressions.h"

static void literals_have_their_values(void **state)
{
    (void)state;
    EXPECT_ALL_TRUE("0x1F == 31", "-9223372036854775808 < 0", "1e3 == 1000.0", ".5 == 0.5", "7u == 7u",
                    "'\\x41\\101' == 'AA'", "'\\u00e4' == '\xc3\xa4'", "'\\U0001F600'.size() == 1",
                    "r'a\\b'.size() == 3", "b'\\xff'.size() == 1", "\"\"\"a'\nb\"\"\".size() == 4", "'''a''' == 'a'",
                    "[1, 2,] == [1, 2]", "{'a': 1,}.size() == 1", "// a comment\ntrue", "null == null",
                    "'\\'' == \"'\"");
}

static void operators_bind_as_they_should(void **state)
{
    (void)state;
    EXPECT_ALL_TRUE("1 + 2 * 3 == 7", "(1 + 2) * 3 == 9", "7 - 2 - 1 == 4", "!false && true", "true || false && false",
                    "1 < 2 == true", "false ? false : true ? true : false", "--1 == 1", "!!true", "-[1][0] == -1");
}

static void what_is_wrong_is_said_with_its_place(void **state)
{
    static const struct {
        const char *expression;
        const char *error;
    } cases[] = {
        {"", "1:1: syntax error: unexpected end of the expression"},
        {"1 +", "1:4: syntax error: unexpected end of the expression"},
        {"(1", "1:3: syntax error: unexpected end of the expression"},
        {"1 $ 2", "1:3: token recognition error"},
        {"true\n&& )", "2:4: syntax error: unexpected ')'"},
        {"'a", "1:1: string without an end"},
        {"'a\\'", "1:1: string without an end"},
        {"'a\nb'", "1:1: string without an end"},
        {"'\\q'", "1:3: invalid escape sequence"},
        {"'\\ud800'", "1:4: invalid unicode code point"},
        {"99999999999999999999", "1:1: invalid int literal"},
        {"if", "1:1: reserved identifier"},
        {"[1].map(2, 1)", "1:9: argument must be a simple name"},
        {"has(1)", "1:5: invalid argument to has() macro"},
        {"f(1,)", "1:5: syntax error: unexpected ')'"},
        {"a{b: 1}", "1:2: messages are not supported"},
        {"\xff", "1:1: the expression is not UTF-8"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};
        assert_int_equal(compile_error(cases[i].expression, &err), -EINVAL);
        assert_string_equal(err.text, cases[i].error);
    }
}

/* `count` times `before`, `middle` and as many times `behind`. */
static char *nested(const char *before, const char *middle, const char *behind, int count)
{
    struct strbuf text;

    strbuf_init(&text, 1 << 20);
    for (int i = 0; i < count; i++)
        strbuf_addstr(&text, before);
    strbuf_addstr(&text, middle);
    for (int i = 0; i < count; i++)
        strbuf_addstr(&text, behind);
    return strbuf_take(&text);
}

static void expect_refused(const char *before, const char *middle, const char *behind, int count, const char *error)
{
    struct err err = {0};
    char *expression = nested(before, middle, behind, count);

    assert_int_equal(compile_error(expression, &err), -EINVAL);
    if (!strstr(err.text, error))
        fail_msg("%s%s%s: %s", before, middle, behind, err.text);
    free(expression);
}

static void depth_and_size_have_limits(void **state)
{
    static const char too_deep[] = "expression recursion limit exceeded";
    char *right = nested("(", "true", ")", CEL_DEPTH_MAX - 10);

    (void)state;
    expect_true(right);
    free(right);
    expect_refused("(", "1", ")", 300, too_deep);
    expect_refused("[", "1", "]", 300, too_deep);
    expect_refused("", "1", "+1", 300, too_deep);
    expect_refused("", "text", ".a", 300, too_deep);
    /* Parentheses with chains in them: each is short enough, the tree is not. */
    expect_refused("(", "1", "+1+1+1+1+1+1+1+1+1+1)", 200, too_deep);
    /* Each of these stands for its target twice. */
    expect_refused("", "optional.of(1)", ".optMap(x, x)", 100, "the expression is too large");
    expect_refused(" ", "true", "", CEL_EXPRESSION_BYTES_MAX, "1:1: the expression is longer than 100000 bytes");
}

static void many_literals_and_calls_take_memory_in_proportion(void **state)
{
    struct err err = {0};
    char *expression = nested("['', 1 < 2 ? 'a' : ''],", "[]", "", 4000);
    struct strbuf list;

    (void)state;
    strbuf_init(&list, 1 << 20);
    strbuf_addf(&list, "[%s].size() == 4001", expression);
    expect_true(list.text);
    assert_int_equal(compile_error(list.text, &err), 0);
    strbuf_done(&list);
    free(expression);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_have_their_values),
        cmocka_unit_test(operators_bind_as_they_should),
        cmocka_unit_test(what_is_wrong_is_said_with_its_place),
        cmocka_unit_test(depth_and_size_have_limits),
        cmocka_unit_test(many_literals_and_calls_take_memory_in_proportion),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
