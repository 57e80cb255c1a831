/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/problems.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"

static void expect_message(const struct problems *problems, const char *group, const char *expected)
{
    struct strbuf text;

    strbuf_init(&text, 4096);
    problems_message(problems, group, "Deployment", "web", &text);
    assert_string_equal(text.text, expected);
    strbuf_done(&text);
}

static void one_problem_follows_the_name(void **state)
{
    struct problems problems = {0};
    const struct field spec = field_member(NULL, "spec");

    (void)state;
    expect_message(&problems, "apps", "Deployment.apps \"web\" is invalid");
    problem_invalid_number(&problems, FIELD(&spec, "replicas"), -1, "must be greater than or equal to 0");
    expect_message(&problems, "apps",
                   "Deployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or "
                   "equal to 0");
    problems_done(&problems);
}

static void several_problems_are_a_list_without_repetitions(void **state)
{
    struct problems problems = {0};
    const struct field levels = field_member(FIELD(NULL, "spec"), "levels");
    const struct field first = field_item(&levels, 0);
    const struct field data = field_member(NULL, "data");
    const struct field key = field_key(&data, "a/b");

    (void)state;
    problem_required(&problems, FIELD(&first, "name"), "");
    problem_required(&problems, FIELD(&first, "name"), "");
    problem_invalid_text(&problems, &key, "a\n\"b\x01", "no");
    expect_message(&problems, "",
                   "Deployment \"web\" is invalid: [spec.levels[0].name: Required value, data[a/b]: Invalid value: "
                   "\"a\\n\\\"b\\x01\": no]");
    problems_done(&problems);
}

static void causes_have_reason_message_and_field(void **state)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    struct problems problems = {0};
    const struct field type = field_member(NULL, "type");

    (void)state;
    problem_not_supported(&problems, &type, yyjson_mut_str(doc, "x"), "A B");
    problem_too_long(&problems, &type, 63);
    problem_too_many(&problems, &type, 3, 1);
    problem_duplicate(&problems, &type, yyjson_mut_int(doc, 4));
    problem_forbidden(&problems, &type, "no");
    char *text = yyjson_mut_val_write(problems_causes(&problems, doc), 0, NULL);
    assert_string_equal(
        text,
        "[{\"reason\":\"FieldValueNotSupported\",\"message\":\"Unsupported value: \\\"x\\\": supported values: "
        "\\\"A\\\", \\\"B\\\"\",\"field\":\"type\"},"
        "{\"reason\":\"FieldValueTooLong\",\"message\":\"Too long: may not be more than 63 bytes\",\"field\":\"type\"},"
        "{\"reason\":\"FieldValueTooMany\",\"message\":\"Too many: 3: must have at most 1 item\",\"field\":\"type\"},"
        "{\"reason\":\"FieldValueDuplicate\",\"message\":\"Duplicate value: 4\",\"field\":\"type\"},"
        "{\"reason\":\"FieldValueForbidden\",\"message\":\"Forbidden: no\",\"field\":\"type\"}]");
    free(text);
    problems_done(&problems);
    yyjson_mut_doc_free(doc);
}

static void the_list_is_bounded(void **state)
{
    struct problems problems = {0};

    (void)state;
    for (int i = 0; i < PROBLEMS_MAX + 5; i++)
        problem_required(&problems, FIELD(NULL, "a"), "");
    assert_int_equal(problems.list.len, PROBLEMS_MAX);
    problems_done(&problems);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_problem_follows_the_name),
        cmocka_unit_test(several_problems_are_a_list_without_repetitions),
        cmocka_unit_test(causes_have_reason_message_and_field),
        cmocka_unit_test(the_list_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
