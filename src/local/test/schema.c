/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of the real API server to many schemas and objects are compared in tests/custom. */
#include "local/custom/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "local/api/problems.h"
#include "local/builtin/builtin.h"
#include "local/custom/format.h"

static yyjson_mut_doc *doc_of(const char *text)
{
    yyjson_doc *read = yyjson_read(text, strlen(text), 0);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(read, NULL);

    assert_non_null(doc);
    yyjson_doc_free(read);
    return doc;
}

static struct schema *compile(const char *spec)
{
    struct problems problems = {0};
    yyjson_mut_doc *doc = doc_of("{\"type\":\"object\",\"properties\":{}}");
    yyjson_mut_doc *below = doc_of(spec);

    yyjson_mut_obj_add_val(doc, yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "properties"), "spec",
                           yyjson_mut_val_mut_copy(doc, yyjson_mut_doc_get_root(below)));
    struct schema *schema = schema_compile(yyjson_mut_doc_get_root(doc), NULL, &problems);
    assert_false(problems_any(&problems));
    assert_non_null(schema);
    yyjson_mut_doc_free(below);
    yyjson_mut_doc_free(doc);
    return schema;
}

static void expect_stored(const char *spec, const char *object, const char *stored)
{
    struct schema *schema = compile(spec);
    yyjson_mut_doc *doc = doc_of(object);

    schema_prune(schema, doc, NULL);
    schema_default(schema, doc);
    char *text = yyjson_mut_write(doc, 0, NULL);
    assert_string_equal(text, stored);
    free(text);
    yyjson_mut_doc_free(doc);
    schema_free(schema);
}

static void unknown_members_are_dropped_and_listed(void **state)
{
    struct schema *schema = compile("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}");
    yyjson_mut_doc *doc =
        doc_of("{\"kind\":\"K\",\"metadata\":{\"name\":\"x\",\"odd\":1},\"spec\":{\"a\":\"1\",\"b\":2}}");
    struct field_faults faults = {0};

    (void)state;
    schema_prune(schema, doc, &faults);
    char *text = yyjson_mut_write(doc, 0, NULL);
    assert_string_equal(text, "{\"kind\":\"K\",\"metadata\":{\"name\":\"x\"},\"spec\":{\"a\":\"1\"}}");
    free(text);
    assert_int_equal(faults.texts.len, 2);
    assert_string_equal(faults.texts.items[0], "unknown field \"metadata.odd\"");
    assert_string_equal(faults.texts.items[1], "unknown field \"spec.b\"");
    vec_foreach (&faults.texts, one)
        free(*one);
    vec_done(&faults.texts);
    yyjson_mut_doc_free(doc);
    schema_free(schema);
}

static void defaults_fill_what_is_missing_or_null(void **state)
{
    (void)state;
    expect_stored("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"default\":3}}}",
                  "{\"spec\":{\"a\":null}}", "{\"spec\":{\"a\":3}}");
    expect_stored("{\"type\":\"object\",\"default\":{},\"properties\":{\"a\":{\"type\":\"integer\",\"default\":3}}}",
                  "{}", "{\"spec\":{\"a\":3}}");
}

static void whole_numbers_are_stored_without_a_point(void **state)
{
    (void)state;
    expect_stored("{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}",
                  "{\"spec\":{\"x\":2.0,\"y\":1.5}}", "{\"spec\":{\"x\":2,\"y\":1.5}}");
}

static void a_rule_that_is_not_known_refuses_objects_and_is_named(void **state)
{
    struct schema *schema = compile("{\"type\":\"object\",\"x-kubernetes-validations\":[{\"rule\":\"self.a > 1\"}],"
                                    "\"properties\":{\"a\":{\"type\":\"integer\"}}}");
    yyjson_mut_doc *doc = doc_of("{\"spec\":{\"a\":2}}");
    struct problems problems = {0};

    (void)state;
    schema_validate(schema, doc, NULL, &problems);
    assert_int_equal(problems.list.len, 1);
    assert_string_equal(problems.list.items[0].field, "spec");
    assert_non_null(strstr(problems.list.items[0].message, "self.a > 1"));
    problems_done(&problems);
    yyjson_mut_doc_free(doc);
    schema_free(schema);
}

static void a_transition_rule_needs_an_object_before(void **state)
{
    struct schema *schema = compile(
        "{\"type\":\"object\",\"properties\":{\"levels\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
        "\"properties\":{"
        "\"nodeLabel\":{\"type\":\"string\"}}},\"x-kubernetes-validations\":[{\"message\":\"immutable\",\"rule\":"
        "\"self.map(l, l.nodeLabel)  ==\\noldSelf.map(l, l.nodeLabel)\"}]}}}");
    yyjson_mut_doc *doc = doc_of("{\"spec\":{\"levels\":[{\"nodeLabel\":\"a\"}]}}");
    yyjson_mut_doc *old = doc_of("{\"spec\":{\"levels\":[{\"nodeLabel\":\"b\"}]}}");
    struct problems problems = {0};

    (void)state;
    schema_validate(schema, doc, NULL, &problems);
    schema_validate(schema, doc, doc, &problems);
    assert_false(problems_any(&problems));
    schema_validate(schema, doc, old, &problems);
    assert_int_equal(problems.list.len, 1);
    assert_string_equal(problems.list.items[0].message, "Invalid value: immutable");
    problems_done(&problems);
    yyjson_mut_doc_free(doc);
    yyjson_mut_doc_free(old);
    schema_free(schema);
}

static void a_status_is_validated_alone_and_names_its_own_members(void **state)
{
    static const char schema_text[] = "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"string\"},\"status\":{"
                                      "\"type\":\"object\",\"properties\":"
                                      "{\"list\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}}}}";
    static const struct {
        const char *object, *message;
    } rows[] = {
        {"{\"spec\":7,\"status\":{\"list\":[\"a\"]}}", NULL},
        {"{\"spec\":7}", NULL},
        {"{\"status\":{\"list\":[\"a\",7]}}",
         "status.list[1]: Invalid value: \"integer\": list[1] in body must be of type string: \"integer\""},
        {"{\"status\":7}", "status: Invalid value: \"integer\":  in body must be of type object: \"integer\""},
    };
    struct problems none = {0};
    yyjson_mut_doc *described = doc_of(schema_text);
    struct schema *schema = schema_compile(yyjson_mut_doc_get_root(described), NULL, &none);

    (void)state;
    assert_non_null(schema);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        yyjson_mut_doc *doc = doc_of(rows[i].object);
        struct problems problems = {0};
        struct strbuf text;

        schema_validate_status(schema, doc, NULL, &problems);
        assert_int_equal(problems.list.len, rows[i].message ? 1 : 0);
        if (rows[i].message) {
            strbuf_init(&text, PROBLEM_BYTES_MAX);
            strbuf_addf(&text, "%s: %s", problems.list.items[0].field, problems.list.items[0].message);
            assert_string_equal(text.text, rows[i].message);
            strbuf_done(&text);
        }
        problems_done(&problems);
        yyjson_mut_doc_free(doc);
    }
    schema_free(schema);
    yyjson_mut_doc_free(described);
}

static void a_schema_that_nests_too_deeply_is_refused(void **state)
{
    struct problems problems = {0};
    char text[8192] = "";
    size_t len = 0;

    (void)state;
    for (int i = 0; i < 2 * SCHEMA_DEPTH_MAX; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "{\"type\":\"array\",\"items\":");
    len += (size_t)snprintf(text + len, sizeof text - len, "{\"type\":\"string\"}");
    for (int i = 0; i < 2 * SCHEMA_DEPTH_MAX; i++)
        text[len++] = '}';
    yyjson_mut_doc *doc = doc_of(text);
    assert_null(schema_compile(yyjson_mut_doc_get_root(doc), NULL, &problems));
    assert_true(problems_any(&problems));
    problems_done(&problems);
    yyjson_mut_doc_free(doc);
}

static void formats_that_are_not_known_are_not_checked(void **state)
{
    (void)state;
    assert_false(format_is_known("made-up"));
    assert_true(format_matches("made-up", "x"));
    assert_false(format_matches("date", "2026-02-29"));
    assert_true(format_matches("date", "2028-02-29"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_members_are_dropped_and_listed),
        cmocka_unit_test(defaults_fill_what_is_missing_or_null),
        cmocka_unit_test(whole_numbers_are_stored_without_a_point),
        cmocka_unit_test(a_rule_that_is_not_known_refuses_objects_and_is_named),
        cmocka_unit_test(a_transition_rule_needs_an_object_before),
        cmocka_unit_test(a_status_is_validated_alone_and_names_its_own_members),
        cmocka_unit_test(a_schema_that_nests_too_deeply_is_refused),
        cmocka_unit_test(formats_that_are_not_known_are_not_checked),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
