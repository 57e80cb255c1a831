/* SPDX-License-Identifier: Apache-2.0 */
#include "text/json.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"

static yyjson_doc *parse(const char *text)
{
    yyjson_doc *doc = NULL;
    struct err err = {0};

    if (json_parse(text, strlen(text), "test", &doc, &err) < 0)
        fail_msg("%s", err.text);
    return doc;
}

static void parse_fails_with(const char *text, size_t len, const char *expected)
{
    yyjson_doc *doc = NULL;
    struct err err = {0};

    assert_int_equal(json_parse(text, len, "nodes.json", &doc, &err), -EINVAL);
    assert_null(doc);
    assert_string_equal(err.text, expected);
}

static void a_syntax_error_names_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *expected;
    } cases[] = {
        {"", "nodes.json: is empty, expected a JSON document"},
        {"{\n  \"a\": [1 2]\n}", "nodes.json:2:11: unexpected character, expected a comma or a closing bracket"},
        {"{\"a\": 1e400}", "nodes.json:1:7: number is infinity when parsed as double"},
        {"{\"a\": NaN}", "nodes.json:1:7: unexpected character, expected a valid JSON value"},
        {"[1] x", "nodes.json:1:5: unexpected content after document"},
        {"[\"\xff\"]", "nodes.json:1:3: invalid UTF-8 encoding in string"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        parse_fails_with(cases[i].text, strlen(cases[i].text), cases[i].expected);
}

static void deep_nesting_is_refused_before_it_is_parsed(void **state)
{
    (void)state;
    enum { DEEP = 1000000 };
    _cleanup_(freep) char *text = xmalloc(DEEP);

    memset(text, '[', DEEP);
    parse_fails_with(text, DEEP, "nodes.json:1:513: nested too deeply, expected at most 512 levels");

    for (size_t i = 0; i < DEEP; i += 5)
        memcpy(text + i, "{\"a\":", 5);
    parse_fails_with(text, DEEP, "nodes.json:1:2561: nested too deeply, expected at most 512 levels");
}

static void brackets_in_strings_do_not_nest(void **state)
{
    (void)state;
    char text[2 * JSON_DEPTH_MAX + 64];
    char *at = text;

    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        *at++ = '[';
    at = stpcpy(at, "\"\\\"[[{{\\\\\"");
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        *at++ = ']';
    *at = '\0';
    yyjson_doc_free(parse(text));
}

static void members_are_read_by_type(void **state)
{
    (void)state;
    _cleanup_(json_doc_freep) yyjson_doc *doc = parse(
        "{\"name\":\"gpu-1\",\"gpus\":8,\"weight\":0.5,\"ready\":true,\"same\":4.0,\"low\":-9223372036854775808}");
    struct json_at root = json_root(doc);
    const char *name = NULL;
    int64_t gpus = 0;
    int64_t same = 0;
    int64_t low = 0;
    double weight = 0;
    bool is_ready = false;

    assert_int_equal(json_member_str(&root, "name", JSON_REQUIRED, &name, NULL), 1);
    assert_string_equal(name, "gpu-1");
    assert_int_equal(json_member_int64(&root, "gpus", JSON_REQUIRED, 0, 8, &gpus, NULL), 1);
    assert_int_equal(gpus, 8);
    assert_int_equal(json_member_int64(&root, "same", JSON_REQUIRED, 0, 8, &same, NULL), 1);
    assert_int_equal(same, 4);
    assert_int_equal(json_member_int64(&root, "low", JSON_REQUIRED, INT64_MIN, INT64_MAX, &low, NULL), 1);
    assert_int_equal(low, INT64_MIN);
    assert_int_equal(json_member_double(&root, "weight", JSON_OPTIONAL, 0, 1, &weight, NULL), 1);
    assert_true(weight == 0.5);
    assert_int_equal(json_member_bool(&root, "ready", JSON_OPTIONAL, &is_ready, NULL), 1);
    assert_true(is_ready);
}

static void a_missing_optional_member_leaves_the_default(void **state)
{
    (void)state;
    _cleanup_(json_doc_freep) yyjson_doc *doc = parse("{\"null\":null}");
    struct json_at root = json_root(doc);
    struct json_at list;
    struct json_at object;
    const char *name = "default";
    int64_t gpus = 7;

    assert_int_equal(json_member_str(&root, "null", JSON_OPTIONAL, &name, NULL), 0);
    assert_string_equal(name, "default");
    assert_int_equal(json_member_int64(&root, "gpus", JSON_OPTIONAL, 0, 8, &gpus, NULL), 0);
    assert_int_equal(gpus, 7);
    assert_int_equal(json_member_array(&root, "list", JSON_OPTIONAL, &list, NULL), 0);
    for (struct json_at item = {0}; json_next(&list, &item);)
        fail();
    /* A place without a value has no members, so that optional parts can be read without asking at each step. */
    assert_int_equal(json_member_object(&root, "object", JSON_OPTIONAL, &object, NULL), 0);
    assert_int_equal(json_member_int64(&object, "gpus", JSON_OPTIONAL, 0, 8, &gpus, NULL), 0);
    assert_int_equal(gpus, 7);
}

/* The last member of the path below is read as each type in turn. */
static void an_error_names_the_path_and_both_types(void **state)
{
    (void)state;
    _cleanup_(json_doc_freep) yyjson_doc *doc = parse(
        "{\"nodes\":[{},{\"limits\":{\"nvidia.com/gpu\":\"8\",\"cpu\":-3,\"mem\":1.5,\"big\":18446744073709551615}}]}");
    struct json_at root = json_root(doc);
    struct json_at nodes;
    struct json_at limits;
    struct json_at node = {0};
    struct err err = {0};
    const char *text = NULL;
    int64_t number = 42;
    double real = 42;
    bool flag = false;

    assert_int_equal(json_member_array(&root, "nodes", JSON_REQUIRED, &nodes, NULL), 1);
    assert_true(json_next(&nodes, &node));
    assert_true(json_next(&nodes, &node));
    assert_int_equal(json_member_object(&node, "limits", JSON_REQUIRED, &limits, NULL), 1);

    assert_int_equal(json_member_int64(&limits, "nvidia.com/gpu", JSON_REQUIRED, 0, INT64_MAX, &number, &err), -EINVAL);
    assert_string_equal(err.text, "nodes[1].limits[\"nvidia.com/gpu\"]: expected a whole number >= 0, found string");
    assert_int_equal(json_member_int64(&limits, "cpu", JSON_OPTIONAL, 0, 9, &number, &err), -EINVAL);
    assert_string_equal(err.text, "nodes[1].limits.cpu: expected a whole number from 0 to 9, found -3");
    assert_int_equal(json_member_int64(&limits, "mem", JSON_OPTIONAL, INT64_MIN, INT64_MAX, &number, &err), -EINVAL);
    assert_string_equal(err.text, "nodes[1].limits.mem: expected a whole number, found 1.5");
    assert_int_equal(json_member_int64(&limits, "big", JSON_OPTIONAL, INT64_MIN, 5, &number, &err), -EINVAL);
    assert_string_equal(err.text, "nodes[1].limits.big: expected a whole number <= 5, found 1.8446744073709552e+19");
    assert_int_equal(json_member_double(&limits, "cpu", JSON_OPTIONAL, 0, INFINITY, &real, &err), -EINVAL);
    assert_string_equal(err.text, "nodes[1].limits.cpu: expected a number >= 0, found -3");
    assert_int_equal(json_member_double(&limits, "nvidia.com/gpu", JSON_OPTIONAL, -INFINITY, 1, &real, &err), -EINVAL);
    assert_string_equal(err.text, "nodes[1].limits[\"nvidia.com/gpu\"]: expected a number <= 1, found string");
    assert_int_equal(json_member_double(&nodes, "x", JSON_OPTIONAL, 0, 1, &real, &err), -EINVAL);
    assert_string_equal(err.text, "nodes: expected an object, found array");
    assert_int_equal(json_member_bool(&limits, "cpu", JSON_OPTIONAL, &flag, &err), -EINVAL);
    assert_string_equal(err.text, "nodes[1].limits.cpu: expected true or false, found number");
    assert_int_equal(json_member_str(&limits, "name", JSON_REQUIRED, &text, &err), -EINVAL);
    assert_string_equal(err.text, "nodes[1].limits.name: is missing");
    assert_int_equal(json_array(&root, &err), -EINVAL);
    assert_string_equal(err.text, "the document: expected an array, found object");
    assert_int_equal(json_fail(&node, &err, -ENOENT, "no queue '%s'", "red"), -ENOENT);
    assert_string_equal(err.text, "nodes[1]: no queue 'red'");
    assert_int_equal(number, 42);
    assert_true(real == 42);
}

static void a_path_that_is_too_long_ends_in_dots(void **state)
{
    (void)state;
    _cleanup_(json_doc_freep) yyjson_doc *doc = parse("{\"abcdefghij\":{\"klmnopqrst\":1}}");
    struct json_at root = json_root(doc);
    struct json_at outer;
    char text[16];

    assert_int_equal(json_member_object(&root, "abcdefghij", JSON_REQUIRED, &outer, NULL), 1);
    struct json_at inner = {.parent = &outer, .key = "klmnopqrst"};
    assert_string_equal(json_path(&inner, text, sizeof text), "abcdefghij.k...");
}

static void a_string_with_a_nul_is_refused(void **state)
{
    (void)state;
    _cleanup_(json_doc_freep) yyjson_doc *doc = parse("{\"name\":\"a\\u0000b\"}");
    struct json_at root = json_root(doc);
    struct err err = {0};
    const char *name = NULL;

    assert_int_equal(json_member_str(&root, "name", JSON_REQUIRED, &name, &err), -EINVAL);
    assert_string_equal(err.text, "name: expected a string without NUL characters");
}

static void a_walk_meets_items_and_members_in_order(void **state)
{
    (void)state;
    _cleanup_(json_doc_freep) yyjson_doc *doc = parse("[[1,[2,3],{\"x\":4}],{\"b\":[5],\"a\":{\"y\":6},\"\":7},8]");
    static const char *const paths[] = {"[0]",   "[0][0]", "[0][1]",    "[0][2]", "[1]",
                                        "[1].b", "[1].a",  "[1][\"\"]", "[2]"};
    struct json_at root = json_root(doc);
    size_t count = 0;
    char text[64];

    for (struct json_at outer = {0}; json_next(&root, &outer);) {
        assert_string_equal(json_path(&outer, text, sizeof text), paths[count++]);
        for (struct json_at inner = {0}; json_next(&outer, &inner);)
            assert_string_equal(json_path(&inner, text, sizeof text), paths[count++]);
    }
    assert_int_equal(count, ARRAY_LEN(paths));
}

static void a_file_that_is_missing_is_named(void **state)
{
    (void)state;
    yyjson_doc *doc = NULL;
    struct err err = {0};

    assert_int_equal(json_read_file("no-such-file.json", 100, &doc, &err), -ENOENT);
    assert_string_equal(err.text, "no-such-file.json: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_syntax_error_names_line_and_column),
        cmocka_unit_test(deep_nesting_is_refused_before_it_is_parsed),
        cmocka_unit_test(brackets_in_strings_do_not_nest),
        cmocka_unit_test(members_are_read_by_type),
        cmocka_unit_test(a_missing_optional_member_leaves_the_default),
        cmocka_unit_test(an_error_names_the_path_and_both_types),
        cmocka_unit_test(a_path_that_is_too_long_ends_in_dots),
        cmocka_unit_test(a_string_with_a_nul_is_refused),
        cmocka_unit_test(a_walk_meets_items_and_members_in_order),
        cmocka_unit_test(a_file_that_is_missing_is_named),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
