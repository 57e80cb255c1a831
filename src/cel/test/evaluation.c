/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cel/test/expressions.h"

static void numbers_compare_by_their_value(void **state)
{
    (void)state;
    EXPECT_ALL_TRUE("1 < 2.5", "1u < 2", "dyn(1) == dyn(1u)", "dyn(1) == dyn(1.0)", "dyn(1) != dyn('1')", "-1 < 1u",
                    "9223372036854775807 < 9223372036854775808u", "double('NaN') != double('NaN')", "[1, 2] == [1, 2]",
                    "{'a': 1} == {'a': 1}", "{1: 'a'}[1] == 'a'", "dyn([1]) != dyn({})", "b'a' < b'b'", "true > false");
}

static void numbers_never_wrap(void **state)
{
    (void)state;
    expect_outcome("9223372036854775807 + int(any)", CEL_RANGE);
    expect_outcome("-9223372036854775807 - int(any)", CEL_RANGE);
    expect_outcome("9223372036854775807 * int(any)", CEL_RANGE);
    expect_outcome("0u - uint(any)", CEL_RANGE);
    expect_outcome("uint(0 - int(any))", CEL_RANGE);
    expect_outcome("1 / (int(any) - 7)", CEL_DIVISION);
    expect_outcome("1 % (int(any) - 7)", CEL_DIVISION);
    expect_outcome("int(1e300 * double(any))", CEL_RANGE);
    expect_outcome("timestamp(253402300799 + int(any))", CEL_RANGE);
}

static void errors_are_swallowed_where_the_other_side_decides(void **state)
{
    (void)state;
    EXPECT_ALL_TRUE("any.missing || true", "true || any.missing", "!(any.missing && false)", "!(false && any.missing)",
                    "[1, 2].exists(x, x == 2 || 1 / 0 == 1)", "true ? true : any.missing",
                    "optional.of(true).orValue(any.missing)");
    expect_outcome("any.missing && true", CEL_NO_KEY);
    expect_outcome("false || any.missing", CEL_NO_KEY);
    expect_outcome("any.missing ? true : true", CEL_NO_KEY);
    expect_outcome("any && true", CEL_NO_OVERLOAD);
    expect_outcome("[1][any]", CEL_RANGE);
    expect_outcome("{'a': 1}[text]", CEL_NO_KEY);
    expect_outcome("any + 'a'", CEL_NO_OVERLOAD);
    expect_outcome("int(text)", CEL_FAILED);
}

static void macros_walk_over_lists_and_maps(void **state)
{
    (void)state;
    EXPECT_ALL_TRUE("[1, 2].all(x, x > 0)", "[1, 2].exists(x, x > 1)", "[1, 2].exists_one(x, x > 1)",
                    "![1, 1].exists_one(x, x > 0)", "[1, 2].map(x, x * 2) == [2, 4]",
                    "[1, 2].map(x, x > 1, x * 2) == [4]", "[1, 2].filter(x, x > 1) == [2]", "{'a': 1}.all(k, k == 'a')",
                    "{'a': 1}.all(k, v, v == 1)", "[5].transformList(i, v, i + v) == [5]",
                    "['a', 'b'].transformMap(i, v, v + '!')[1] == 'b!'",
                    "['a'].transformMapEntry(i, v, {v: i}) == {'a': 0}", "cel.bind(x, 2, x + x == 4)",
                    "[3, 1, 2].sortBy(x, -x) == [3, 2, 1]", "[1, 2].all(x, [1].map(x, x) == [1])",
                    "lists.range(3000).transformMap(i, v, v).size() == 3000");
    expect_outcome("['a', 'a'].transformMapEntry(i, v, {v: i}).size()", CEL_FAILED);
}

static void a_list_or_map_that_was_added_to_stays_as_it_was(void **state)
{
    (void)state;
    EXPECT_ALL_TRUE("cel.bind(a, [1] + [2], cel.bind(b, a + [3], cel.bind(c, a + [4],"
                    "    a == [1, 2] && b == [1, 2, 3] && c == [1, 2, 4])))",
                    "[{}].all(m, [1, 2].transformMap(i, v, v) == {0: 1, 1: 2} && m == {})");
}

static void members_may_be_missing(void **state)
{
    (void)state;
    EXPECT_ALL_TRUE("has({'a': 1}.a)", "!has({'a': 1}.b)", "{'a': 1}.?a.value() == 1", "!{'a': 1}.?b.hasValue()",
                    "{'a': {'b': 1}}.?a.?b.orValue(2) == 1", "{'a': 1}[?'b'].orValue(2) == 2",
                    "[1][?5].or(optional.of(3)).value() == 3", "optional.of(1).optMap(x, x + 1).value() == 2",
                    "!optional.none().optMap(x, x).hasValue()", "[?optional.none(), ?optional.of(1)] == [1]",
                    "{?'a': optional.none()}.size() == 0", "!optional.ofNonZeroValue('').hasValue()",
                    "[1, 2].first().value() == 1", "![].last().hasValue()");
    expect_outcome("optional.none().value() == 1", CEL_FAILED);
}

static void a_program_is_evaluated_any_number_of_times(void **state)
{
    struct cel_env *env = test_env();
    struct cel_program *program = NULL;
    struct arena arena;

    (void)state;
    arena_init(&arena);
    assert_int_equal(cel_compile(env, "any * 2 > 9 && text.matches('^t')", &program, NULL), 0);
    for (int i = 0; i < 10; i++) {
        const struct cel_variable variables[] = {{"any", cel_int(i)}, {"text", cel_string("t")}};
        struct cel_result result = cel_eval(program, variables, ARRAY_LEN(variables), 1000, &arena);
        assert_int_equal(result.outcome, CEL_VALUE);
        assert_int_equal(result.value.boolean, i > 4);
        arena_clear(&arena);
    }
    arena_done(&arena);
    cel_program_free(program);
    cel_env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_compare_by_their_value),
        cmocka_unit_test(numbers_never_wrap),
        cmocka_unit_test(errors_are_swallowed_where_the_other_side_decides),
        cmocka_unit_test(macros_walk_over_lists_and_maps),
        cmocka_unit_test(a_list_or_map_that_was_added_to_stays_as_it_was),
        cmocka_unit_test(members_may_be_missing),
        cmocka_unit_test(a_program_is_evaluated_any_number_of_times),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
