/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences of requests are compared with the real API server in tests/custom. */
#include "local/apply/apply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/apply/fields.h"

#define NOW (INT64_C(1767225600) * NSEC_PER_SEC)  // 2026-01-01
#define CONFIG_MAP "\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\""

static yyjson_mut_doc *doc_of(const char *text)
{
    yyjson_doc *read = yyjson_read(text, strlen(text), 0);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(read, NULL);

    assert_non_null(doc);
    yyjson_doc_free(read);
    return doc;
}

static struct apply_request request_of(const char *manager)
{
    return (struct apply_request){
        .kind = builtin_kind_find("", "v1", "configmaps"), .manager = manager, .subresource = "", .now = NOW};
}

static enum apply_result apply(const char *manager, yyjson_mut_doc **live, const char *body,
                               struct apply_conflicts *conflicts)
{
    struct apply_request request = request_of(manager);
    yyjson_doc *config = yyjson_read(body, strlen(body), 0);
    yyjson_mut_doc *made = NULL;
    enum apply_result result = apply_patch(&request, *live, yyjson_doc_get_root(config), &made, conflicts, NULL);

    yyjson_doc_free(config);
    if (made) {
        yyjson_mut_doc_free(*live);
        *live = made;
    }
    return result;
}

static void what_was_there_before_belongs_to_before_first_apply(void **state)
{
    yyjson_mut_doc *live =
        doc_of("{" CONFIG_MAP ",\"metadata\":{\"name\":\"o\",\"uid\":\"u\"},\"data\":{\"x\":\"1\"}}");
    struct apply_conflicts conflicts = {0};

    (void)state;
    assert_int_equal(apply("a", &live, "{" CONFIG_MAP ",\"data\":{\"x\":\"2\"}}", &conflicts), APPLY_CONFLICT);
    assert_string_equal(conflicts.message,
                        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.x");
    assert_int_equal(conflicts.count, 1);
    assert_string_equal(conflicts.list[0].field, ".data.x");
    apply_conflicts_done(&conflicts);
    assert_int_equal(apply("a", &live, "{" CONFIG_MAP ",\"data\":{\"y\":\"2\"}}", &conflicts), APPLY_DONE);
    char *text = yyjson_mut_write(live, 0, NULL);
    assert_non_null(strstr(text,
                           "\"manager\":\"before-first-apply\",\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":"
                           "\"2026-01-01T00:00:00Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:data\":{\".\":{},"
                           "\"f:x\":{}}}"));
    free(text);
    apply_conflicts_done(&conflicts);
    yyjson_mut_doc_free(live);
}

static void the_same_again_changes_nothing_and_keeps_the_time(void **state)
{
    yyjson_mut_doc *live = NULL;
    struct apply_conflicts conflicts = {0};

    (void)state;
    assert_int_equal(
        apply("a", &live, "{" CONFIG_MAP ",\"metadata\":{\"name\":\"o\"},\"data\":{\"x\":\"1\"}}", &conflicts),
        APPLY_DONE);
    assert_int_equal(
        apply("a", &live, "{" CONFIG_MAP ",\"metadata\":{\"name\":\"o\"},\"data\":{\"x\":\"1\"}}", &conflicts),
        APPLY_UNCHANGED);
    yyjson_mut_doc_free(live);
}

static void writes_are_not_tracked_before_the_first_apply(void **state)
{
    struct apply_request request = request_of("kubectl-edit");
    yyjson_mut_doc *old = doc_of("{" CONFIG_MAP ",\"metadata\":{\"name\":\"o\"}}");
    yyjson_mut_doc *doc = doc_of("{" CONFIG_MAP ",\"metadata\":{\"name\":\"o\"},\"data\":{\"x\":\"1\"}}");

    (void)state;
    apply_track(&request, old, doc);
    char *text = yyjson_mut_write(doc, 0, NULL);
    assert_null(strstr(text, "managedFields"));
    free(text);
    yyjson_mut_doc_free(old);
    yyjson_mut_doc_free(doc);
}

static void a_body_that_is_not_of_the_kind_is_refused(void **state)
{
    yyjson_mut_doc *live = NULL;
    struct apply_conflicts conflicts = {0};

    (void)state;
    assert_int_equal(apply("a", &live, "{\"data\":{}}", &conflicts), APPLY_MALFORMED);
    assert_int_equal(apply("a", &live, "[]", &conflicts), APPLY_MALFORMED);
    assert_int_equal(apply("a", &live, "{\"apiVersion\":\"v1\",\"kind\":\"Secret\"}", &conflicts), APPLY_MALFORMED);
    assert_int_equal(apply("a", &live, "{" CONFIG_MAP ",\"metadata\":{\"managedFields\":[]}}", &conflicts),
                     APPLY_MALFORMED);
    assert_null(live);
}

static void sets_are_written_in_one_order(void **state)
{
    yyjson_mut_doc *doc =
        doc_of("{\"v:2\":{},\"i:10\":{},\"i:9\":{},\"k:{\\\"a\\\":1}\":{\".\":{},\"f:x\":{}},\"f:b\":{},\"f:a\":{},"
               "\"odd\":{},\"f:c\":3}");
    struct arena arena;

    (void)state;
    arena_init(&arena);
    char *text = yyjson_mut_val_write(fields_write(fields_read(yyjson_mut_doc_get_root(doc), &arena), doc), 0, NULL);
    assert_string_equal(
        text, "{\"f:a\":{},\"f:b\":{},\"k:{\\\"a\\\":1}\":{\".\":{},\"f:x\":{}},\"v:2\":{},\"i:9\":{},\"i:10\":{}}");
    free(text);
    arena_done(&arena);
    yyjson_mut_doc_free(doc);
}

static void the_default_manager_is_the_program_that_asks(void **state)
{
    struct strbuf manager;

    (void)state;
    strbuf_init(&manager, 200);
    apply_default_manager("kubectl/v1.36.3 (linux/amd64)", &manager);
    assert_string_equal(manager.text, "kubectl");
    strbuf_clear(&manager);
    apply_default_manager(NULL, &manager);
    assert_string_equal(manager.text, "unknown");
    strbuf_done(&manager);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_there_before_belongs_to_before_first_apply),
        cmocka_unit_test(the_same_again_changes_nothing_and_keeps_the_time),
        cmocka_unit_test(writes_are_not_tracked_before_the_first_apply),
        cmocka_unit_test(a_body_that_is_not_of_the_kind_is_refused),
        cmocka_unit_test(sets_are_written_in_one_order),
        cmocka_unit_test(the_default_manager_is_the_program_that_asks),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("apply", tests, NULL, NULL);
}
