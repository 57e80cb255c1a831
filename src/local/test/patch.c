/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/patch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/macros.h"

typedef enum patch_result (*patch_fn)(yyjson_mut_doc *doc, yyjson_val *patch, struct err *err);

/* An object, a patch, and the object after it; or, for a result other than PATCH_DONE, a part of what is said. */
struct row {
    const char *object;
    const char *patch;
    const char *expected;
    enum patch_result result;
};

static void try_row(patch_fn patch, const struct row *row)
{
    struct err err = {0};
    yyjson_doc *object = yyjson_read(row->object, strlen(row->object), 0);
    yyjson_doc *changes = yyjson_read(row->patch, strlen(row->patch), 0);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(object, NULL);

    assert_non_null(doc);
    assert_non_null(changes);
    enum patch_result result = patch(doc, yyjson_doc_get_root(changes), &err);
    char *text = yyjson_mut_write(doc, 0, NULL);
    if (result != row->result ||
        (result == PATCH_DONE ? strcmp(text, row->expected) : !strstr(err.text, row->expected)))
        fail_msg("%s\n   with %s\n   gives %d, %s\n   %s", row->object, row->patch, (int)result, text, err.text);
    free(text);
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(object);
    yyjson_doc_free(changes);
}

static void json_patches_follow_rfc_6902(void **state)
{
    static const struct row rows[] = {
        {"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/b\",\"value\":2}]", "{\"a\":1,\"b\":2}", PATCH_DONE},
        {"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":2}]", "{\"a\":2}", PATCH_DONE},
        {"{\"a\":[1,3]}", "[{\"op\":\"add\",\"path\":\"/a/1\",\"value\":2}]", "{\"a\":[1,2,3]}", PATCH_DONE},
        {"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/-\",\"value\":2}]", "{\"a\":[1,2]}", PATCH_DONE},
        {"{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", "{}", PATCH_DONE},
        {"{\"a\":[1,2,3]}", "[{\"op\":\"remove\",\"path\":\"/a/1\"}]", "{\"a\":[1,3]}", PATCH_DONE},
        {"{\"a\":[1,2]}", "[{\"op\":\"replace\",\"path\":\"/a/0\",\"value\":9}]", "{\"a\":[9,2]}", PATCH_DONE},
        {"{\"a\":1,\"b\":2}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/c\"}]", "{\"b\":2,\"c\":1}", PATCH_DONE},
        {"{\"a\":{\"x\":1}}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]",
         "{\"a\":{\"x\":1},\"b\":{\"x\":1}}", PATCH_DONE},
        {"{\"a/b\":{\"c~d\":1}}", "[{\"op\":\"replace\",\"path\":\"/a~1b/c~0d\",\"value\":2}]", "{\"a/b\":{\"c~d\":2}}",
         PATCH_DONE},
        {"{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":1},{\"op\":\"remove\",\"path\":\"/a\"}]", "{}",
         PATCH_DONE},
        {"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":{\"b\":2}}]", "{\"b\":2}", PATCH_DONE},
        {"{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":2}]", "testing path \"/a\" failed", PATCH_REJECTED},
        {"{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"/b\"}]", "nothing at path \"/b\"", PATCH_REJECTED},
        {"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"/b\",\"value\":1}]", "{\"a\":1,\"b\":1}", PATCH_DONE},
        {"{\"a\":[]}", "[{\"op\":\"add\",\"path\":\"/a/1\",\"value\":1}]", "nothing at path", PATCH_REJECTED},
        {"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/00\",\"value\":1}]", "nothing at path", PATCH_REJECTED},
        {"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/b/c\",\"value\":1}]", "nothing at path", PATCH_REJECTED},
        {"{\"a\":{}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]", "is within", PATCH_REJECTED},
        {"{}", "{\"op\":\"add\"}", "array of operations", PATCH_MALFORMED},
        {"{}", "[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]", "begins with \"/\"", PATCH_MALFORMED},
        {"{}", "[{\"op\":\"add\",\"path\":\"/a\"}]", "needs \"value\"", PATCH_MALFORMED},
        {"{}", "[{\"op\":\"move\",\"path\":\"/a\"}]", "needs \"from\"", PATCH_MALFORMED},
        {"{}", "[{\"op\":\"grow\",\"path\":\"/a\"}]", "operation \"grow\"", PATCH_REJECTED},
        {"{}", "[7]", "needs \"op\"", PATCH_MALFORMED},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        try_row(patch_json, &rows[i]);
}

static void a_json_patch_cannot_copy_without_bound(void **state)
{
    struct err err = {0};
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    char *text = calloc(1, 100001);
    const char *start = "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}";
    const char *more = ",{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}";
    char patch[4000];

    (void)state;
    memset(text, 'x', 100000);
    yyjson_mut_obj_add_strcpy(doc, root, "a", text);
    yyjson_mut_doc_set_root(doc, root);
    strcpy(patch, start);
    for (int i = 0; i < 40; i++)
        strcat(patch, more);
    strcat(patch, "]");
    yyjson_doc *changes = yyjson_read(patch, strlen(patch), 0);
    assert_int_equal(patch_json(doc, yyjson_doc_get_root(changes), &err), PATCH_TOO_LARGE);
    yyjson_doc_free(changes);
    yyjson_mut_doc_free(doc);
    free(text);
}

static void merge_patches_follow_rfc_7386(void **state)
{
    static const struct row rows[] = {
        {"{\"a\":{\"b\":1,\"c\":2}}", "{\"a\":{\"b\":null,\"d\":3}}", "{\"a\":{\"c\":2,\"d\":3}}", PATCH_DONE},
        {"{\"a\":[1,2]}", "{\"a\":[3]}", "{\"a\":[3]}", PATCH_DONE},
        {"{}", "[1]", "must be an object", PATCH_MALFORMED},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        try_row(patch_merge, &rows[i]);
}

static void strategic_patches_merge_lists_by_key(void **state)
{
    static const struct row rows[] = {
        {"{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"1\"},{\"name\":\"b\"}]}}",
         "{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"2\"},{\"name\":\"c\"}]}}",
         "{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"2\"},{\"name\":\"c\"},{\"name\":\"b\"}]}}",
         PATCH_DONE},
        {"{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}}",
         "{\"spec\":{\"containers\":[{\"name\":\"a\",\"$patch\":\"delete\"}]}}",
         "{\"spec\":{\"containers\":[{\"name\":\"b\"}]}}", PATCH_DONE},
        {"{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}}",
         "{\"spec\":{\"containers\":[{\"$patch\":\"replace\"},{\"name\":\"z\",\"x\":null}]}}",
         "{\"spec\":{\"containers\":[{\"name\":\"z\"}]}}", PATCH_DONE},
        {"{\"spec\":{\"containers\":[{\"name\":\"a\",\"ports\":[{\"containerPort\":80}]}]}}",
         "{\"spec\":{\"containers\":[{\"name\":\"a\",\"ports\":[{\"containerPort\":80,\"name\":\"web\"}]}]}}",
         "{\"spec\":{\"containers\":[{\"name\":\"a\",\"ports\":[{\"containerPort\":80,\"name\":\"web\"}]}]}}",
         PATCH_DONE},
        {"{\"spec\":{\"tolerations\":[{\"key\":\"a\"}]}}", "{\"spec\":{\"tolerations\":[{\"key\":\"b\"}]}}",
         "{\"spec\":{\"tolerations\":[{\"key\":\"b\"}]}}", PATCH_DONE},
        {"{\"metadata\":{\"finalizers\":[\"a\",\"b\"]}}", "{\"metadata\":{\"finalizers\":[\"b\",\"c\"]}}",
         "{\"metadata\":{\"finalizers\":[\"a\",\"b\",\"c\"]}}", PATCH_DONE},
        {"{\"metadata\":{\"finalizers\":[\"a\",\"b\"]}}",
         "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"a\"]}}", "{\"metadata\":{\"finalizers\":[\"b\"]}}",
         PATCH_DONE},
        {"{\"metadata\":{\"labels\":{\"a\":\"1\"}}}", "{\"metadata\":{\"labels\":{\"a\":null,\"b\":\"2\"}}}",
         "{\"metadata\":{\"labels\":{\"b\":\"2\"}}}", PATCH_DONE},
        {"{\"spec\":{\"strategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxSurge\":1}}}}",
         "{\"spec\":{\"strategy\":{\"$retainKeys\":[\"type\"],\"type\":\"Recreate\"}}}",
         "{\"spec\":{\"strategy\":{\"type\":\"Recreate\"}}}", PATCH_DONE},
        {"{\"spec\":{\"a\":{\"x\":1},\"b\":1}}", "{\"spec\":{\"a\":{\"$patch\":\"replace\",\"y\":2}}}",
         "{\"spec\":{\"a\":{\"y\":2},\"b\":1}}", PATCH_DONE},
        {"{\"spec\":{\"a\":{\"x\":1},\"b\":1}}", "{\"spec\":{\"a\":{\"$patch\":\"delete\"}}}", "{\"spec\":{\"b\":1}}",
         PATCH_DONE},
        {"{\"spec\":{}}", "{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\",\"$patch\":\"delete\"}]}}",
         "{\"spec\":{\"containers\":[{\"name\":\"a\"}]}}", PATCH_DONE},
        {"{\"spec\":{\"containers\":[]}}", "{\"spec\":{\"containers\":[{\"image\":\"x\"}]}}", "without its merge key",
         PATCH_MALFORMED},
        {"{\"spec\":{\"containers\":[]}}", "{\"spec\":{\"containers\":[5]}}", "not an object", PATCH_MALFORMED},
        {"{\"spec\":{}}", "{\"spec\":{\"a\":{\"$patch\":\"explode\"}}}", "an unknown $patch", PATCH_MALFORMED},
        {"{}", "[]", "must be an object", PATCH_MALFORMED},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        try_row(patch_strategic, &rows[i]);
}

static void a_strategic_patch_orders_lists(void **state)
{
#define NAMES(...) "{\"spec\":{\"containers\":[" __VA_ARGS__ "]}}"
#define N(name) "{\"name\":\"" name "\"}"
    static const struct row rows[] = {
        /* The patch swaps its two; what it does not name keeps its place before the first that it stood before. */
        {NAMES(N("a") "," N("x") "," N("b") "," N("y")),
         "{\"spec\":{\"$setElementOrder/containers\":[" N("b") "," N("a") "]}}",
         NAMES(N("x") "," N("b") "," N("a") "," N("y")), PATCH_DONE},
        {NAMES(N("a") "," N("b")),
         "{\"spec\":{\"$setElementOrder/containers\":[" N("new") "," N("a") "," N("b") "],\"containers\":[" N(
             "new") "]}}",
         NAMES(N("new") "," N("a") "," N("b")), PATCH_DONE},
        {NAMES(N("a") "," N("b") "," N("c")),
         "{\"spec\":{\"$setElementOrder/containers\":[" N(
             "c") "],\"containers\":[{\"name\":\"a\",\"$patch\":\"delete\"}]}}",
         NAMES(N("b") "," N("c")), PATCH_DONE},
        {"{\"metadata\":{\"finalizers\":[\"a\",\"b\",\"c\"]}}",
         "{\"metadata\":{\"$setElementOrder/finalizers\":[\"c\",\"a\"]}}",
         "{\"metadata\":{\"finalizers\":[\"b\",\"c\",\"a\"]}}", PATCH_DONE},
        /* Without an order, what the patch names keeps its own, and new elements come first. */
        {NAMES(N("a") "," N("b")), NAMES(N("new")), NAMES(N("new") "," N("a") "," N("b")), PATCH_DONE},
        {NAMES(N("a") "," N("b") "," N("c")), NAMES(N("c") "," N("a")), NAMES(N("b") "," N("c") "," N("a")),
         PATCH_DONE},
        {"{\"metadata\":{\"finalizers\":[\"a\",\"b\"]}}", "{\"metadata\":{\"finalizers\":[\"c\"]}}",
         "{\"metadata\":{\"finalizers\":[\"c\",\"a\",\"b\"]}}", PATCH_DONE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        try_row(patch_strategic, &rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_patches_follow_rfc_6902),   cmocka_unit_test(a_json_patch_cannot_copy_without_bound),
        cmocka_unit_test(merge_patches_follow_rfc_7386),  cmocka_unit_test(strategic_patches_merge_lists_by_key),
        cmocka_unit_test(a_strategic_patch_orders_lists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
