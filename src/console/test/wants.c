/* SPDX-License-Identifier: Apache-2.0 */
#include "console/org/wants.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static yyjson_doc *parse(const char *text)
{
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);

    assert_non_null(doc);
    return doc;
}

static void see(struct wants *wants, const char *text)
{
    yyjson_doc *doc = parse(text);

    wants_see(wants, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
}

/* A Secret `name` in the namespace `ns` with one key. */
static void add_secret(struct wants *wants, const char *name)
{
    struct sync_item item = {.kind = "asset:password", .id = "7"};
    struct want *want = wants_add(wants, KUBE_SECRETS, WANT_SAME, "ns", name);
    yyjson_mut_val *root = want_begin(want, &item, "password");
    yyjson_mut_val *data = yyjson_mut_obj_add_obj(want->doc, root, "data");

    (void)yyjson_mut_obj_add_str(want->doc, data, "key", "dmFsdWU=");
    wants->is_listing = true;
    wants->resource = KUBE_SECRETS;
}

#define METADATA(name)                                                     \
    "\"metadata\": {\"name\": \"" name "\", \"namespace\": \"ns\", "       \
    "\"labels\": {\"console.muster/id\": \"7\", \"console.muster/kind\": " \
    "\"password\", \"more\": \"x\"}}"

static void an_object_that_has_all_that_is_wanted_is_done(void **state)
{
    struct wants wants = {0};

    (void)state;
    add_secret(&wants, "same");
    add_secret(&wants, "changed");
    add_secret(&wants, "missing");
    see(&wants, "{" METADATA("same") ", \"data\": {\"key\": \"dmFsdWU=\", \"other\": \"\"}, \"type\": \"Opaque\"}");
    see(&wants, "{" METADATA("changed") ", \"data\": {\"key\": \"b3RoZXI=\"}}");
    assert_int_equal(wants.list.len, 3);
    assert_true(wants.list.items[0].is_done && wants.list.items[0].is_listed);
    assert_true(!wants.list.items[1].is_done && wants.list.items[1].is_listed);
    assert_true(!wants.list.items[2].is_done && !wants.list.items[2].is_listed);
    wants_done(&wants);
}

static void an_object_of_ours_that_is_not_wanted_goes_once(void **state)
{
    struct wants wants = {.is_listing = true, .resource = KUBE_SECRETS};

    (void)state;
    see(&wants, "{" METADATA("left") "}");
    assert_int_equal(wants.list.len, 1);
    assert_int_equal(wants.list.items[0].mode, WANT_GONE);
    assert_string_equal(wants.list.items[0].name, "left");
    see(&wants, "{\"metadata\": {\"name\": \"ending\", \"namespace\": \"ns\", \"deletionTimestamp\": \"now\"}}");
    assert_int_equal(wants.list.len, 1);
    wants_done(&wants);
}

static void numbers_lists_and_nulls_are_compared_by_value(void **state)
{
    static const struct {
        const char *there;
        bool is_met;
    } rows[] = {
        {"{\"spec\": {\"quota\": 5.0, \"modes\": [\"a\"], \"on\": true, \"gone\": null, \"more\": 1}}", true},
        {"{\"spec\": {\"quota\": 5, \"modes\": [\"a\"], \"on\": true}}", true},
        {"{\"spec\": {\"quota\": 6, \"modes\": [\"a\"], \"on\": true}}", false},
        {"{\"spec\": {\"quota\": \"5\", \"modes\": [\"a\"], \"on\": true}}", false},
        {"{\"spec\": {\"quota\": 5, \"modes\": [\"a\", \"b\"], \"on\": true}}", false},
        {"{\"spec\": {\"quota\": 5, \"modes\": \"a\", \"on\": true}}", false},
        {"{\"spec\": {\"quota\": 5, \"modes\": [\"a\"], \"on\": 1}}", false},
        {"{\"spec\": {\"quota\": 5, \"modes\": [\"a\"], \"on\": true, \"gone\": 1}}", false},
        {"{\"spec\": []}", false},
        {"{}", false},
        {"[]", false},
    };
    const char *text = "{\"spec\": {\"quota\": 5, \"modes\": [\"a\"], \"on\": true, \"gone\": null}}";
    yyjson_doc *wanted = parse(text);
    struct want want = {.mode = WANT_SAME, .doc = yyjson_doc_mut_copy(wanted, NULL)};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        yyjson_doc *doc = parse(rows[i].there);

        assert_int_equal(want_is_met(&want, yyjson_doc_get_root(doc)), rows[i].is_met);
        yyjson_doc_free(doc);
    }
    yyjson_mut_doc_free(want.doc);
    yyjson_doc_free(wanted);
}

static void an_object_that_is_replaced_has_the_hash_of_its_document_and_may_lack_what_is_empty(void **state)
{
    struct sync_item item = {.kind = "workload", .id = "7"};
    struct wants wants = {0};
    struct want *want = wants_add(&wants, KUBE_DEPLOYMENTS, WANT_SAME, "ns", "a");
    yyjson_mut_val *root = want_begin(want, &item, "workload");
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(want->doc, root, "spec");
    static const char format[] =
        "{\"metadata\": {\"name\": \"a\", \"namespace\": \"ns\", \"labels\": {\"console.muster/id\": \"7\", "
        "\"console.muster/kind\": \"workload\"}, \"annotations\": {\"console.muster/hash\": \"%s\"}}, "
        "\"spec\": {\"limits\": {\"memory\": \"%s\"}}}";
    static const struct {
        const char *hash;  // NULL: its own
        const char *memory;
        bool is_met;
    } rows[] = {{NULL, "1Gi", true}, {NULL, "2Gi", false}, {"0", "1Gi", false}};
    char text[512];

    (void)state;
    (void)yyjson_mut_obj_add_str(want->doc, yyjson_mut_obj_add_obj(want->doc, spec, "limits"), "memory", "1024Mi");
    (void)yyjson_mut_obj_add_arr(want->doc, spec, "volumes");
    (void)yyjson_mut_obj_add_str(want->doc, spec, "value", "");
    (void)yyjson_mut_obj_add_bool(want->doc, spec, "tty", false);
    want_replaces(want);
    const char *hash = yyjson_mut_get_str(
        yyjson_mut_ptr_get(yyjson_mut_doc_get_root(want->doc), "/metadata/annotations/console.muster~1hash"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        (void)snprintf(text, sizeof text, format, rows[i].hash ? rows[i].hash : hash, rows[i].memory);
        yyjson_doc *doc = parse(text);

        assert_int_equal(want_is_met(want, yyjson_doc_get_root(doc)), rows[i].is_met);
        yyjson_doc_free(doc);
    }
    wants_done(&wants);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_that_has_all_that_is_wanted_is_done),
        cmocka_unit_test(an_object_of_ours_that_is_not_wanted_goes_once),
        cmocka_unit_test(numbers_lists_and_nulls_are_compared_by_value),
        cmocka_unit_test(an_object_that_is_replaced_has_the_hash_of_its_document_and_may_lack_what_is_empty),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
