/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "cel/test/expressions.h"

static void costs_are_those_of_kubernetes(void **state)
{
    static const struct {
        const char *expression;
        uint64_t cost;
    } cases[] = {
        {"true", 0},
        {"lists.range(1000).all(x, x >= 0)", 6012},
        {"lists.range(500).sort().size() == 500", 500524},
        {"sets.contains(lists.range(900), lists.range(900))", 811823},
        {"lists.range(50).map(x, lists.range(50)).flatten().size() == 2500", 3775},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cel_result result = evaluate(cases[i].expression, CEL_DEVICE_COST_MAX);
        assert_int_equal(result.outcome, CEL_VALUE);
        assert_int_equal(result.cost, cases[i].cost);
    }
}

static void the_cost_limit_ends_an_evaluation_and_nothing_swallows_it(void **state)
{
    (void)state;
    assert_int_equal(evaluate("lists.range(1000).all(x, x >= 0)", 6012).outcome, CEL_VALUE);
    assert_int_equal(evaluate("lists.range(1000).all(x, x >= 0)", 6011).outcome, CEL_COST);
    assert_int_equal(evaluate("lists.range(1000).all(x, x >= 0) || true", 100).outcome, CEL_COST);
    assert_int_equal(evaluate("true || lists.range(1000).all(x, x >= 0)", 100).outcome, CEL_VALUE);
}

static void what_takes_quadratic_time_is_not_begun_when_it_costs_too_much(void **state)
{
    struct cel_result result = evaluate("lists.range(900000).distinct().size() == 1", CEL_DEVICE_COST_MAX);

    (void)state;
    assert_int_equal(result.outcome, CEL_COST);
    assert_int_equal(result.cost, 900011 + 2 * 900000ULL * 900000ULL + 11);
    expect_outcome("lists.range(400000).sort().size() == 1", CEL_COST);
    expect_outcome("sets.equivalent(lists.range(400000), lists.range(400000))", CEL_COST);
}

/* Variables within one another, each made of the last one, and an expression over the last of them; all of them are x. */
static void expect_layers(const char *first, const char *more, int count, const char *last, enum cel_outcome outcome)
{
    struct strbuf text;

    strbuf_init(&text, 1 << 20);
    strbuf_addf(&text, "cel.bind(x0, %s, ", first);
    for (int i = 1; i <= count; i++)
        strbuf_addf(&text, "cel.bind(x%d, cel.bind(x, x%d, %s), ", i, i - 1, more);
    strbuf_addf(&text, "cel.bind(x, x%d, %s)", count, last);
    for (int i = 0; i <= count; i++)
        strbuf_addch(&text, ')');
    expect_outcome(text.text, outcome);
    strbuf_done(&text);
}

static void values_that_are_shared_do_not_take_exponential_time(void **state)
{
    (void)state;
    expect_layers("dyn([1, 1])", "dyn([x, x])", 8, "x == x", CEL_VALUE);
    expect_layers("dyn([1, 1])", "dyn([x, x])", 60, "x == x", CEL_COST);
    expect_layers("dyn([])", "dyn([x, x])", 60, "[x].flatten(100).size() == 0", CEL_COST);
    expect_layers("dyn([1, 1])", "dyn([x, x])", 60, "[x].indexOf(1) == 0", CEL_COST);
    expect_layers("dyn([1])", "dyn([x, x])", 60, "'%s'.format([x]) == ''", CEL_MEMORY);
    expect_layers("dyn({})", "dyn({'a': x, 'b': x})", 60, "'%s'.format([x]) == ''", CEL_MEMORY);
}

static void long_texts_do_not_take_more_time_than_their_cost_allows(void **state)
{
    static const char eight[] = "'aaaaaaaa'";

    (void)state;
    expect_layers(eight, "x + x", 16, "lists.range(100000).all(i, x.charAt(i) == 'a')", CEL_COST);
    expect_layers(eight, "x + x", 16, "lists.range(100000).all(i, x != 'a')", CEL_COST);
    expect_layers(eight, "x + x", 16, "x.lastIndexOf(x.substring(0, 5000)) == 0", CEL_COST);
}

static void regular_expressions_do_not_take_more_time_than_their_cost_allows(void **state)
{
    static const char eight[] = "'aaaaaaaa'";

    (void)state;
    expect_layers(eight, "x + x", 9, "x.findAll('a*b|a').size() == 4096", CEL_VALUE);
    expect_layers(eight, "x + x", 14, "x.findAll('a*b|a').size() == 131072", CEL_COST);
    expect_layers(eight, "x + x", 2, "lists.range(50000).all(i, x.find('(a|aa)*[bc]') == '')", CEL_COST);
    expect_layers(eight, "x + x", 2, "lists.range(60000).all(i, !x.matches('((b{30}){30})' + string(i)))", CEL_COST);
}

static void the_memory_limit_ends_an_evaluation(void **state)
{
    (void)state;
    expect_layers("'aaaaaaaa'", "x.replace('', x)", 4, "x.size() == 0", CEL_MEMORY);
    assert_int_equal(evaluate("lists.range(5000000).size() == 1", UINT64_MAX).outcome, CEL_MEMORY);
    assert_int_equal(evaluate("lists.range(9223372036854775807).size() == 1", UINT64_MAX).outcome, CEL_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_those_of_kubernetes),
        cmocka_unit_test(the_cost_limit_ends_an_evaluation_and_nothing_swallows_it),
        cmocka_unit_test(what_takes_quadratic_time_is_not_begun_when_it_costs_too_much),
        cmocka_unit_test(values_that_are_shared_do_not_take_exponential_time),
        cmocka_unit_test(long_texts_do_not_take_more_time_than_their_cost_allows),
        cmocka_unit_test(regular_expressions_do_not_take_more_time_than_their_cost_allows),
        cmocka_unit_test(the_memory_limit_ends_an_evaluation),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
