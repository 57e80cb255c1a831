/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/owner_keys.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

static int uid_of(const char *annotations, uint32_t *ret_uid)
{
    char text[256];
    struct err err = {0};

    (void)snprintf(text, sizeof text, "{\"metadata\":{\"annotations\":%s}}", annotations);
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    assert_non_null(doc);
    int r = owner_uid(yyjson_doc_get_root(doc), 7, ret_uid, &err);
    yyjson_doc_free(doc);
    return r;
}

static void an_object_without_the_annotation_is_the_daemon_owners(void **state)
{
    uint32_t uid = 0;

    (void)state;
    assert_int_equal(uid_of("{}", &uid), 0);
    assert_int_equal(uid, 7);
    assert_int_equal(uid_of("null", &uid), 0);
    assert_int_equal(uid, 7);
}

static void the_annotation_names_the_uid(void **state)
{
    uint32_t uid = 0;

    (void)state;
    assert_int_equal(uid_of("{\"" KEY_SUBMITTED_BY "\":\"1000\"}", &uid), 0);
    assert_int_equal(uid, 1000);
    assert_int_equal(uid_of("{\"" KEY_SUBMITTED_BY "\":\"0\"}", &uid), 0);
    assert_int_equal(uid, 0);
}

static void an_annotation_that_is_no_uid_is_an_error(void **state)
{
    static const char *const bad[] = {
        "\"\"",      "\"-1\"", "\"+1\"", "\" 1\"", "\"4294967295\"", "\"99999999999\"", "\"184467440737\"",
        "\"1000x\"", "1000",   "null"};
    uint32_t uid = 0;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "{\"" KEY_SUBMITTED_BY "\":%s}", bad[i]);
        assert_int_equal(uid_of(text, &uid), -EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_without_the_annotation_is_the_daemon_owners),
        cmocka_unit_test(the_annotation_names_the_uid),
        cmocka_unit_test(an_annotation_that_is_no_uid_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
