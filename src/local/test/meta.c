/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/meta.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "local/api/kinds.h"
#include "local/api/names.h"

static yyjson_mut_doc *doc_of(const char *text)
{
    yyjson_doc *read = yyjson_read(text, strlen(text), 0);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(read, NULL);

    assert_non_null(doc);
    yyjson_doc_free(read);
    return doc;
}

static void expect(yyjson_mut_doc *doc, const char *expected)
{
    char *text = yyjson_mut_write(doc, 0, NULL);

    assert_string_equal(text, expected);
    free(text);
}

static void a_new_object_is_stamped(void **state)
{
    const struct api_kind *pods = builtin_kind_find("", "v1", "pods");
    yyjson_mut_doc *doc =
        doc_of("{\"metadata\":{\"name\":\"a\",\"generation\":9,\"deletionTimestamp\":\"x\"},\"spec\":{},"
               "\"status\":{\"phase\":\"Running\"}}");

    (void)state;
    meta_stamp_new(doc, pods, 1000 * NSEC_PER_SEC + 5);
    assert_int_equal(strlen(meta_text(doc, "uid")), 36);
    meta_remove(doc, "uid");
    meta_set_version(doc, 7);
    expect(doc, "{\"metadata\":{\"name\":\"a\",\"creationTimestamp\":\"1970-01-01T00:16:40Z\",\"generation\":1,"
                "\"resourceVersion\":\"7\"},\"spec\":{},\"apiVersion\":\"v1\",\"kind\":\"Pod\"}");
    yyjson_mut_doc_free(doc);
}

static void the_generation_counts_changes_of_the_spec(void **state)
{
    const struct api_kind *pods = builtin_kind_find("", "v1", "pods");
    yyjson_mut_doc *old = doc_of("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\","
                                 "\"generation\":3},\"spec\":{\"x\":1},\"status\":{\"phase\":\"Running\"}}");
    yyjson_mut_doc *doc =
        doc_of("{\"metadata\":{\"name\":\"b\",\"uid\":\"other\",\"labels\":{\"l\":\"1\"}},\"spec\":{\"x\":1}}");

    (void)state;
    meta_keep_status(doc, old);
    meta_stamp_update(doc, pods, old);
    assert_string_equal(meta_text(doc, "uid"), "u");
    assert_string_equal(meta_text(doc, "name"), "a");
    assert_false(meta_is_same(doc, old));
    meta_remove(doc, "labels");
    assert_true(meta_is_same(doc, old));
    meta_set_version(doc, 9);
    assert_true(meta_is_same(doc, old));
    yyjson_mut_obj_put(yyjson_mut_doc_get_root(doc), yyjson_mut_str(doc, "spec"), yyjson_mut_obj(doc));
    meta_stamp_update(doc, pods, old);
    meta_count_change(doc, pods, old);
    expect(doc, "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\",\"generation\":4,\"resourceVersion\":\"9\"},\"spec\":{},"
                "\"status\":{\"phase\":\"Running\"},\"apiVersion\":\"v1\",\"kind\":\"Pod\"}");
    yyjson_mut_doc_free(old);
    yyjson_mut_doc_free(doc);
}

static void names_are_checked(void **state)
{
    static const char *const good[] = {"a", "a-b.c-1", "0"};
    static const char *const bad[] = {"", "A", "-a", "a-", "a..b", ".a", "a_b", "a/b"};
    char name[NAME_BYTES_MAX + 1], again[NAME_BYTES_MAX + 1];

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(name_is_subdomain(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(name_is_subdomain(bad[i]));
    assert_false(name_is_label("a.b"));
    assert_true(name_is_path_segment("system:node"));
    assert_false(name_is_path_segment(".."));
    name_generate("train-", name);
    name_generate("train-", again);
    assert_int_equal(strlen(name), 11);
    assert_true(name_is_subdomain(name));
    assert_string_not_equal(name, again);
}

static void kinds_are_found(void **state)
{
    char version[API_VERSION_MAX];

    (void)state;
    assert_string_equal(api_kind_version(builtin_kind_find("apps", "v1", "deployments"), version), "apps/v1");
    assert_null(builtin_kind_find("apps", "v1beta1", "deployments"));
    assert_true(kind_list_has("a bc d", "bc"));
    assert_false(kind_list_has("a bc d", "b"));
    assert_false(kind_list_has(NULL, "b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_object_is_stamped),
        cmocka_unit_test(the_generation_counts_changes_of_the_spec),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(kinds_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
