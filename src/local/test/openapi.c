/* SPDX-License-Identifier: Apache-2.0 */
#include "local/openapi/openapi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "local/api/kinds.h"

#define SCHEMAS "/components/schemas/"

static yyjson_doc *document_of(const char *group, const char *version, const struct openapi_kind *kinds, size_t count)
{
    size_t len;
    char *text = openapi_document(group, version, kinds, count, &len);
    yyjson_doc *doc = yyjson_read(text, len, 0);

    assert_non_null(doc);
    free(text);
    return doc;
}

static void expect_text(yyjson_doc *doc, const char *pointer, const char *expected)
{
    yyjson_val *value = yyjson_doc_ptr_get(doc, pointer);

    assert_non_null(value);
    assert_string_equal(yyjson_get_str(value), expected);
}

/* Every reference in the document leads somewhere. */
static void expect_references(yyjson_doc *doc, yyjson_val *value)
{
    size_t index, max;
    yyjson_val *key, *item;

    if (yyjson_is_arr(value))
        yyjson_arr_foreach(value, index, max, item) expect_references(doc, item);
    if (!yyjson_is_obj(value))
        return;
    yyjson_obj_foreach(value, index, max, key, item)
    {
        if (strcmp(yyjson_get_str(key), "$ref") == 0 && yyjson_is_str(item))
            assert_non_null(yyjson_doc_ptr_get(doc, yyjson_get_str(item) + 1));
        expect_references(doc, item);
    }
}

static void every_group_is_described(void **state)
{
    const struct api_kind *kind;

    (void)state;
    for (size_t i = 0; (kind = builtin_kind_at(i)); i++) {
        const struct openapi_kind one = {.api = kind};
        yyjson_doc *doc = document_of(kind->group, kind->version, &one, 1);
        expect_references(doc, yyjson_doc_get_root(doc));
        yyjson_doc_free(doc);
    }
}

static void a_kind_is_found_by_its_paths(void **state)
{
    const struct openapi_kind pods = {.api = builtin_kind_find("", "v1", "pods")};
    yyjson_doc *doc = document_of("", "v1", &pods, 1);

    (void)state;
    expect_text(doc, "/paths/~1api~1v1~1namespaces~1{namespace}~1pods/get/x-kubernetes-group-version-kind/kind", "Pod");
    expect_text(doc, "/paths/~1api~1v1~1namespaces~1{namespace}~1pods~1{name}/patch/parameters/2/name",
                "fieldValidation");
    expect_text(doc, SCHEMAS "io.k8s.api.core.v1.Pod/x-kubernetes-group-version-kind/0/kind", "Pod");
    expect_text(doc, SCHEMAS "io.k8s.api.core.v1.PodSpec/properties/containers/items/$ref",
                "#/components/schemas/io.k8s.api.core.v1.Container");
    expect_text(doc, SCHEMAS "io.k8s.api.core.v1.PodSpec/properties/containers/x-kubernetes-list-map-keys/0", "name");
    expect_text(doc, SCHEMAS "io.k8s.api.core.v1.Volume/properties/emptyDir/$ref",
                "#/components/schemas/io.k8s.api.core.v1.EmptyDirVolumeSource");
    yyjson_doc_free(doc);
}

static void a_custom_kind_has_its_own_schema(void **state)
{
    static const char schema[] = "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\"}}}";
    const struct api_kind queue = {.group = "scheduling.run.ai",
                                   .version = "v2",
                                   .plural = "queues",
                                   .singular = "queue",
                                   .kind = "Queue",
                                   .flags = KIND_IS_CUSTOM};
    yyjson_doc *read = yyjson_read(schema, strlen(schema), 0);
    const struct openapi_kind one = {.api = &queue, .schema = yyjson_doc_get_root(read)};
    yyjson_doc *doc = document_of("scheduling.run.ai", "v2", &one, 1);

    (void)state;
    expect_text(doc, SCHEMAS "ai.run.scheduling.v2.Queue/properties/spec/type", "object");
    expect_text(doc, SCHEMAS "ai.run.scheduling.v2.Queue/properties/metadata/$ref",
                "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    expect_text(doc, SCHEMAS "ai.run.scheduling.v2.Queue/x-kubernetes-group-version-kind/0/group", "scheduling.run.ai");
    expect_references(doc, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    yyjson_doc_free(read);
}

static void the_index_has_addresses_with_hashes(void **state)
{
    const struct openapi_entry entries[] = {{"api/v1", "A"}, {"apis/batch/v1", "B"}};
    char first[OPENAPI_HASH_MAX], second[OPENAPI_HASH_MAX];
    size_t len;
    char *text = openapi_index(entries, 2, &len);

    (void)state;
    assert_string_equal(text, "{\"paths\":{\"api/v1\":{\"serverRelativeURL\":\"/openapi/v3/api/v1?hash=A\"},"
                              "\"apis/batch/v1\":{\"serverRelativeURL\":\"/openapi/v3/apis/batch/v1?hash=B\"}}}");
    assert_string_not_equal(openapi_hash("a", 1, first), openapi_hash("b", 1, second));
    assert_int_equal(strlen(first), OPENAPI_HASH_MAX - 1);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_group_is_described),
        cmocka_unit_test(a_kind_is_found_by_its_paths),
        cmocka_unit_test(a_custom_kind_has_its_own_schema),
        cmocka_unit_test(the_index_has_addresses_with_hashes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
