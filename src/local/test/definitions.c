/* SPDX-License-Identifier: Apache-2.0 */
#include "local/custom/definitions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "local/api/problems.h"

#define NOW (INT64_C(1767225600) * NSEC_PER_SEC)  // 2026-01-01

static yyjson_mut_doc *doc_of(const char *text)
{
    yyjson_doc *read = yyjson_read(text, strlen(text), 0);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(read, NULL);

    assert_non_null(doc);
    yyjson_doc_free(read);
    return doc;
}

static const char widgets[] =
    "{\"metadata\":{\"name\":\"widgets.example.com\"},\"spec\":{\"group\":\"example.com\",\"scope\":\"Namespaced\","
    "\"names\":{\"plural\":\"widgets\",\"kind\":\"Widget\",\"shortNames\":[\"wd\",\"wi\"],\"categories\":[\"all\"]},"
    "\"versions\":[{\"name\":\"v1beta1\",\"served\":true,\"storage\":false,\"deprecated\":true,\"schema\":{"
    "\"openAPIV3Schema\":{\"type\":\"object\"}}},{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
    "\"openAPIV3Schema\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true,\"properties\":{\"spec\":{"
    "\"type\":\"object\",\"properties\":{\"size\":{\"type\":\"string\"}}}}}},\"selectableFields\":[{\"jsonPath\":"
    "\".spec.size\"}],\"subresources\":{\"status\":{},\"scale\":{\"specReplicasPath\":\".spec.a.replicas\","
    "\"statusReplicasPath\":\".status.replicas\",\"labelSelectorPath\":\".status.selector\"}},"
    "\"additionalPrinterColumns\":[{\"name\":\"Ready\",\"type\":\"string\",\"jsonPath\":"
    "\".status.conditions[?(@.type==\\\"Ready\\\")].status\"},{\"name\":\"First\",\"type\":\"integer\",\"jsonPath\":"
    "\".spec.list[0].n\"},{\"name\":\"Since\",\"type\":\"date\",\"priority\":1,\"jsonPath\":"
    "\".metadata.creationTimestamp\"}]}]}}";

/* As the server does it: defaults, checks, status, registry. */
static void put(struct definitions *definitions, const char *text)
{
    yyjson_mut_doc *doc = doc_of(text);
    struct problems problems = {0};

    definition_default(doc);
    definition_validate(doc, NULL, &problems);
    if (problems_any(&problems))
        fail_msg("%s: %s", problems.list.items[0].field, problems.list.items[0].message);
    definitions_set_status(definitions, doc, NOW);
    assert_int_equal(definitions_put(definitions, doc, NULL), 0);
    yyjson_mut_doc_free(doc);
}

static void a_definition_adds_kinds_and_takes_them_away(void **state)
{
    struct definitions *definitions = definitions_new();

    (void)state;
    put(definitions, widgets);
    const struct custom_kind *kind = definitions_find(definitions, "example.com", "v1", "widgets");
    assert_non_null(kind);
    assert_ptr_equal(custom_kind_of(&kind->api), kind);
    assert_string_equal(kind->api.singular, "widget");
    assert_string_equal(kind->list_kind, "WidgetList");
    assert_string_equal(kind->api.short_names, "wd wi");
    assert_string_equal(kind->api.categories, "all");
    assert_string_equal(kind->api.fields, "spec.size");
    assert_true(kind->api.flags & KIND_STATUS);
    assert_true(kind->is_storage_version);
    assert_ptr_equal(definitions_at(definitions, 0), kind);
    const struct custom_kind *beta = definitions_at(definitions, 1);
    assert_string_equal(beta->api.version, "v1beta1");
    assert_string_equal(beta->deprecation_warning, "example.com/v1beta1 Widget is deprecated");
    assert_string_equal(beta->columns[0].name, "Age");
    assert_null(definitions_at(definitions, 2));

    uint64_t revision = definitions_revision(definitions);
    definitions_drop(definitions, "widgets.example.com");
    assert_null(definitions_find(definitions, "example.com", "v1", "widgets"));
    assert_true(definitions_revision(definitions) > revision);
    definitions_free(definitions);
}

static void a_definition_with_names_of_another_is_not_served(void **state)
{
    struct definitions *definitions = definitions_new();
    yyjson_mut_doc *doc = doc_of(
        "{\"metadata\":{\"name\":\"gadgets.example.com\"},\"spec\":{\"group\":\"example.com\",\"scope\":\"Cluster\","
        "\"names\":{\"plural\":\"gadgets\",\"kind\":\"Gadget\",\"shortNames\":[\"wd\"]},\"versions\":[{\"name\":\"v1\","
        "\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}");

    (void)state;
    put(definitions, widgets);
    definition_default(doc);
    definitions_set_status(definitions, doc, NOW);
    yyjson_mut_val *status = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "status");
    char *text = yyjson_mut_val_write(status, 0, NULL);
    assert_string_equal(
        text,
        "{\"conditions\":[{\"type\":\"NamesAccepted\",\"status\":\"False\",\"lastTransitionTime\":"
        "\"2026-01-01T00:00:00Z\",\"reason\":\"ShortNamesConflict\",\"message\":\"\\\"wd\\\" is already in use\"},"
        "{\"type\":\"Established\",\"status\":\"False\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\",\"reason\":"
        "\"NotAccepted\",\"message\":\"not all names are accepted\"}],\"acceptedNames\":{\"plural\":\"gadgets\","
        "\"kind\":\"Gadget\",\"singular\":\"gadget\",\"listKind\":\"GadgetList\"},\"storedVersions\":[\"v1\"]}");
    free(text);
    assert_int_equal(definitions_put(definitions, doc, NULL), 0);
    assert_null(definitions_find(definitions, "example.com", "v1", "gadgets"));
    yyjson_mut_doc_free(doc);
    definitions_free(definitions);
}

static void expect_cell(const struct custom_column *column, yyjson_mut_doc *object, const char *cell)
{
    yyjson_mut_val *made = custom_column_cell(column, yyjson_mut_doc_get_root(object), NOW, object);
    char *text = yyjson_mut_val_write(made, 0, NULL);

    assert_string_equal(text, cell);
    free(text);
}

static void columns_show_what_is_at_their_paths(void **state)
{
    struct definitions *definitions = definitions_new();
    yyjson_mut_doc *full =
        doc_of("{\"metadata\":{\"creationTimestamp\":\"2025-12-31T23:55:30Z\"},\"spec\":{\"list\":[{\"n\":5}]},"
               "\"status\":{\"conditions\":[{\"type\":\"Other\"},{\"type\":\"Ready\",\"status\":\"True\"}]}}");
    yyjson_mut_doc *empty = doc_of("{\"spec\":{\"list\":[]}}");

    (void)state;
    put(definitions, widgets);
    const struct custom_kind *kind = definitions_find(definitions, "example.com", "v1", "widgets");
    assert_int_equal(kind->column_count, 3);
    expect_cell(&kind->columns[0], full, "\"True\"");
    expect_cell(&kind->columns[1], full, "5");
    expect_cell(&kind->columns[2], full, "\"4m30s\"");
    for (size_t i = 0; i < 3; i++)
        expect_cell(&kind->columns[i], empty, "null");
    yyjson_mut_doc_free(full);
    yyjson_mut_doc_free(empty);
    definitions_free(definitions);
}

static void a_scale_is_read_and_written_at_its_paths(void **state)
{
    struct definitions *definitions = definitions_new();
    yyjson_mut_doc *doc =
        doc_of("{\"metadata\":{\"name\":\"x\"},\"spec\":{},\"status\":{\"replicas\":2,\"selector\":\"a=b\"}}");

    (void)state;
    put(definitions, widgets);
    const struct custom_kind *kind = definitions_find(definitions, "example.com", "v1", "widgets");
    assert_null(custom_scale_read(kind, yyjson_mut_doc_get_root(doc), doc));
    assert_int_equal(custom_scale_write(kind, doc, 3, NULL), 0);
    char *text = yyjson_mut_val_write(custom_scale_read(kind, yyjson_mut_doc_get_root(doc), doc), 0, NULL);
    assert_string_equal(text,
                        "{\"kind\":\"Scale\",\"apiVersion\":\"autoscaling/v1\",\"metadata\":{\"name\":\"x\"},\"spec\":{"
                        "\"replicas\":3},\"status\":{\"replicas\":2,\"selector\":\"a=b\"}}");
    free(text);
    yyjson_mut_doc_free(doc);
    definitions_free(definitions);
}

static void versions_are_preferred_by_stability_and_number(void **state)
{
    static const char *const order[] = {"v10", "v2", "v1", "v11beta2", "v3beta1", "v12alpha1", "foo1", "foo10"};

    (void)state;
    for (size_t i = 0; i + 1 < ARRAY_LEN(order); i++)
        assert_true(version_compare(order[i], order[i + 1]) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_definition_adds_kinds_and_takes_them_away),
        cmocka_unit_test(a_definition_with_names_of_another_is_not_served),
        cmocka_unit_test(columns_show_what_is_at_their_paths),
        cmocka_unit_test(a_scale_is_read_and_written_at_its_paths),
        cmocka_unit_test(versions_are_preferred_by_stability_and_number),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("definitions", tests, NULL, NULL);
}
