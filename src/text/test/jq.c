/* SPDX-License-Identifier: Apache-2.0 */
#include "text/jq.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"

static void answers_as(const char *request, const char *expected)
{
    char *answer = NULL;
    struct err err = {0};

    assert_int_equal(jq_answer(request, strlen(request), &answer, &err), 0);
    assert_string_equal(answer, expected);
    free(answer);
}

static void each_input_is_asked_everything(void **state)
{
    (void)state;
    answers_as("{\"questions\": [{\"expression\": \".a[]?\", \"document\": 0}, {\"expression\": \".b # b\", "
               "\"document\": 1}, {\"expression\": \".c[0]\"}], \"inputs\": [[{\"a\": [1, \"x\"]}, {\"b\": true}], "
               "[{}, {\"b\": {\"c\": 1}}]]}",
               "{\"answers\":[[{\"results\":[1,\"x\"]},{\"results\":[true]},{\"results\":[]}],"
               "[{\"results\":[]},{\"results\":[{\"c\":1}]},{\"results\":[]}]]}");
    answers_as("{\"questions\": [], \"inputs\": [[], []]}", "{\"answers\":[[],[]]}");
}

static void what_fails_on_a_document_spoils_nothing_else(void **state)
{
    (void)state;
    answers_as(
        "{\"questions\": [{\"expression\": \".a | error(\\\"no b\\\")\", \"document\": 0}, {\"expression\": "
        "\"error({a: 1})\", "
        "\"document\": 0}, {\"expression\": \".a\", \"document\": 7}, {\"expression\": \".a\", \"document\": 0}], "
        "\"inputs\": [[{\"a\": \"x\"}]]}",
        "{\"answers\":[[{\"wrong\":\"no b\"},{\"wrong\":\"{\\\"a\\\":1}\"},"
        "{\"results\":[null]},{\"results\":[\"x\"]}]]}");
    answers_as("{\"questions\": [{\"expression\": \"halt\", \"document\": 0}], \"inputs\": [[1]]}",
               "{\"answers\":[[{\"wrong\":\"ends without a result\"}]]}");
    answers_as("{\"questions\": [{\"expression\": \"[limit(1001; 1 | while(true; .))][]\", \"document\": 0}], "
               "\"inputs\": [[1]]}",
               "{\"answers\":[[{\"wrong\":\"returns more than 1000 results\"}]]}");
}

static void expressions_that_make_no_sense_are_named(void **state)
{
    (void)state;
    answers_as(
        "{\"questions\": [{\"expression\": \".a\", \"document\": 0}, {\"expression\": \"nope(1)\"}, "
        "{\"expression\": \".a = 1\"}, {\"expression\": \"1) | (2\"}, {\"expression\": \"\"}, {}], \"inputs\": []}",
        "{\"invalid\":[null,\"nope/1 is not defined at <top-level>, line 1:\",\"= is not allowed\","
        "\"a bracket or quote that is not closed is not allowed\",\"an empty expression is not allowed\","
        "\"an empty expression is not allowed\"]}");
}

static void requests_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const char *const requests[] = {"", "{", "[]", "{\"questions\": 1, \"inputs\": []}", "{\"questions\": []}"};

    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        char *answer = NULL;
        struct err err = {0};

        assert_int_equal(jq_answer(requests[i], strlen(requests[i]), &answer, &err), -EINVAL);
        assert_null(answer);
    }
}

static void expressions_may_only_read(void **state)
{
    (void)state;
    static const struct {
        const char *expression, *forbidden;
    } cases[] = {
        {".metadata.labels[\"e2e.example.com/role\"]", NULL},
        {".spec.replicas // 1", NULL},
        {".a == \"=\" and .b != 2 or .c <= 1.5e3", NULL},
        {".del | .range, .paths.walk", NULL},
        {"{range: 1, \"del\": .recurse}", NULL},
        {"\"del(\\(.a + \"range\\(1)\")) = \" # del = ..", NULL},
        {". as $walk | $walk", NULL},
        {".[2:4]", NULL},
        {"try .a catch .", NULL},
        {".a = 1", "="},
        {".a |= 1", "|="},
        {".a //= 1", "//="},
        {".a += 1", "+="},
        {"del(.a)", "del"},
        {"{a: del(.b)}", "del"},
        {"[range(9)]", "range"},
        {".. | numbers", ".."},
        {"recurse", "recurse"},
        {"\"a\\(.x | walk(.))\"", "walk"},
        {"first(repeat(1))", "repeat"},
        {"(.a", "a bracket or quote that is not closed"},
        {".a)", "a bracket or quote that is not closed"},
        {"[.a}", "a bracket or quote that is not closed"},
        {"\"a", "a bracket or quote that is not closed"},
        {"\"a\\", "a bracket or quote that is not closed"},
        {"\"a\\(1", "a bracket or quote that is not closed"},
        {"\"a\\(1)", "a bracket or quote that is not closed"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *found = jq_forbidden(cases[i].expression);

        if (cases[i].forbidden) {
            assert_non_null(found);
            assert_string_equal(found, cases[i].forbidden);
        } else {
            assert_null(found);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_input_is_asked_everything),
        cmocka_unit_test(what_fails_on_a_document_spoils_nothing_else),
        cmocka_unit_test(expressions_that_make_no_sense_are_named),
        cmocka_unit_test(requests_that_make_no_sense_are_refused),
        cmocka_unit_test(expressions_may_only_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
