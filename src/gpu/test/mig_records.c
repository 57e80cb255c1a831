/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/mig/records.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"

static int parse(const char *text, struct mig_records *records, struct err *err)
{
    return mig_records_parse(text, strlen(text), records, err);
}

static void what_is_written_is_read(void **state)
{
    char folder[] = "/tmp/muster-slices-XXXXXX", path[64];
    struct mig_records records = {0}, again = {0};

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/slices.json", folder);
    assert_int_equal(mig_records_read(path, &again, NULL), 0);
    assert_int_equal(again.len, 0);
    vec_push(&records, (struct mig_record){
                           .gpu = "GPU-1", .profile = 19, .place = {6, 1}, .instance = MIG_NOT_MADE, .owner = "a"});
    vec_push(&records,
             (struct mig_record){.gpu = "GPU-2", .profile = 0, .place = {0, 8}, .instance = 0, .uuid = "MIG-\"1\""});
    assert_int_equal(mig_records_write(path, &records, NULL), 0);
    assert_int_equal(mig_records_read(path, &again, NULL), 0);
    assert_int_equal(again.len, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_string_equal(again.items[i].gpu, records.items[i].gpu);
        assert_string_equal(again.items[i].uuid, records.items[i].uuid);
        assert_string_equal(again.items[i].owner, records.items[i].owner);
        assert_int_equal(again.items[i].profile, records.items[i].profile);
        assert_int_equal(again.items[i].instance, records.items[i].instance);
        assert_int_equal(again.items[i].place.start, records.items[i].place.start);
        assert_int_equal(again.items[i].place.size, records.items[i].place.size);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(mig_records_write(path, &records, NULL), -ENOENT);
    vec_done(&records);
    vec_done(&again);
}

static void what_no_gpu_can_have_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "{}",
        "[1]",
        "[{}]",
        "[{\"gpu\": \"GPU-1\", \"profile\": 19, \"start\": 6}]",
        "[{\"gpu\": \"GPU-1\", \"profile\": 19, \"start\": 6, \"size\": 0}]",
        "[{\"gpu\": \"GPU-1\", \"profile\": 19, \"start\": 32, \"size\": 1}]",
        "[{\"gpu\": \"GPU-1\", \"profile\": 19, \"start\": 31, \"size\": 2}]",
        "[{\"gpu\": \"GPU-1\", \"profile\": -1, \"start\": 0, \"size\": 1}]",
        "[{\"gpu\": \"GPU-1\", \"profile\": 4294967296, \"start\": 0, \"size\": 1}]",
        "[{\"gpu\": \"GPU-1\", \"profile\": 1, \"start\": 0, \"size\": 1, \"instance\": -1}]",
        "[{\"gpu\":\"GPU-1234567890123456789012345678901234567890123456789\",\"profile\":1,\"start\":0,\"size\":1}]",
        "[{\"gpu\": \"GPU-1\", \"profile\": 1, \"start\": 0, \"size\": 1}, {\"gpu\": 5}]",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct mig_records records = {0};
        struct err err = {0};

        assert_int_equal(parse(bad[i], &records, &err), -EINVAL);
        assert_int_equal(records.len, 0);
        assert_true(err.text[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(what_no_gpu_can_have_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
