/* SPDX-License-Identifier: Apache-2.0 */
#include "console/org/pools.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "console/org/pool_objects.h"
#include "console/org/quota.h"

static void runtimes_are_sums_of_parts_with_one_unit_each(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds;  // -1: it is none
    } rows[] = {
        {"0", 0},
        {"5d8h40m", 463200},
        {"1.5h", 5400},
        {"+2w", 1209600},
        {"90s", 90},
        {"1h1h", 7200},
        {"", -1},
        {"+", -1},
        {"5", -1},
        {"d", -1},
        {"5x", -1},
        {"-5m", -1},
        {"1d1", -1},
        {"1..5h", -1},
        {"1d -1h", -1},
        {"40000d", -1},
        {"36000d600d", -1},
        {"1e9d", -1},
        {" 1h", -1},
        {"1h ", -1},
        {"infd", -1},
        {"0x10h", -1},
        {"9999999999999999999999999999999999999999999999999999999999999999999h", -1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        nsec_t duration = 0;
        struct err err = {0};
        int r = runtime_parse(rows[i].text, &duration, &err);

        assert_int_equal(r, rows[i].seconds < 0 ? -EINVAL : 0);
        if (r == 0)
            assert_int_equal(duration, rows[i].seconds * NSEC_PER_SEC);
    }
}

static double deserved(yyjson_mut_val *rows, size_t i)
{
    return yyjson_mut_get_num(yyjson_mut_ptr_get(yyjson_mut_arr_get(rows, i), "/gpu/deserved"));
}

static int read_rows(const char *text, const struct pool_list *pools, yyjson_mut_doc *doc, yyjson_mut_val *before,
                     yyjson_mut_val **ret_rows)
{
    yyjson_doc *body = yyjson_read(text, strlen(text), 0);
    struct json_at at = json_root(body);
    struct err err = {0};
    int r = quota_read(&at, pools, doc, before, ret_rows, &err);

    yyjson_doc_free(body);
    return r;
}

static void rows_of_pools_are_kept_changed_and_completed_one_by_one(void **state)
{
    struct pool items[] = {{.id = "default", .name = "default", .is_default = true}, {.id = "7", .name = "gold"}};
    struct pool_list pools = {.items = items, .len = 2, .cap = 2};
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *rows = NULL;

    (void)state;
    assert_int_equal(read_rows("[{\"gpu\": {\"deserved\": 2}}]", &pools, doc, NULL, &rows), 0);
    assert_int_equal(yyjson_mut_arr_size(rows), 1);
    yyjson_mut_val *all = quota_complete(doc, rows, &pools);
    assert_int_equal(yyjson_mut_arr_size(all), 2);
    assert_true(deserved(all, 0) == 2 && deserved(all, 1) == 0);
    assert_int_equal(
        read_rows("[{\"nodePool\": {\"id\": \"7\"}, \"gpu\": {\"deserved\": 3}}]", &pools, doc, rows, &rows), 0);
    assert_true(deserved(rows, 0) == 2 && deserved(rows, 1) == 3);
    assert_true(yyjson_mut_get_num(yyjson_mut_obj_get(quota_totals(doc, rows), "gpuQuota")) == 5);
    assert_int_equal(
        read_rows("[{\"nodePool\": {\"name\": \"gold\"}}, {\"nodePool\": {\"id\": \"7\"}}]", &pools, doc, NULL, &rows),
        -EINVAL);
    assert_int_equal(read_rows("[{\"nodePool\": {\"id\": \"7\", \"name\": \"default\"}}]", &pools, doc, NULL, &rows),
                     -EINVAL);
    assert_int_equal(read_rows("[{\"nodePool\": {\"id\": \"8\"}}]", &pools, doc, NULL, &rows), -EINVAL);
    assert_int_equal(read_rows("[7]", &pools, doc, NULL, &rows), -EINVAL);
    yyjson_mut_doc_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runtimes_are_sums_of_parts_with_one_unit_each),
        cmocka_unit_test(rows_of_pools_are_kept_changed_and_completed_one_by_one),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
