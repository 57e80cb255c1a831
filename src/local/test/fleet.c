/* SPDX-License-Identifier: Apache-2.0 */
#include "local/agent/fleet.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"

static const char *text_at(yyjson_mut_doc *doc, const char *path)
{
    return yyjson_mut_get_str(yyjson_mut_doc_ptr_get(doc, path));
}

static void groups_of_nodes_follow_each_other(void **state)
{
    struct fleet fleet;

    (void)state;
    assert_int_equal(fleet_parse(&fleet, "2x8xH100,3x4xa100", NULL), 0);
    assert_int_equal(fleet.nodes, 5);
    yyjson_mut_doc *first = fleet_node(&fleet, 1), *second = fleet_node(&fleet, 2);
    assert_string_equal(text_at(first, "/metadata/labels/nvidia.com~1gpu.product"), "NVIDIA-H100-80GB-HBM3");
    assert_string_equal(text_at(first, "/status/allocatable/nvidia.com~1gpu"), "8");
    assert_string_equal(text_at(second, "/metadata/labels/nvidia.com~1gpu.product"), "NVIDIA-A100-SXM4-80GB");
    assert_string_equal(text_at(second, "/metadata/labels/nvidia.com~1gpu.memory"), "81920");
    yyjson_mut_doc_free(first);
    yyjson_mut_doc_free(second);
    fleet_done(&fleet);
}

static void names_of_nodes_are_found(void **state)
{
    struct fleet fleet;
    char name[FLEET_NAME_MAX];

    (void)state;
    assert_int_equal(fleet_parse(&fleet, "10x0", NULL), 0);
    assert_int_equal(fleet_find(&fleet, fleet_name(9, name)), 9);
    assert_int_equal(fleet_find(&fleet, "fake-00010"), -1);
    assert_int_equal(fleet_find(&fleet, "fake-9"), -1);
    assert_int_equal(fleet_find(&fleet, "fake-"), -1);
    assert_int_equal(fleet_find(&fleet, "node-1"), -1);
    fleet_done(&fleet);
}

static void what_is_no_fleet_is_refused(void **state)
{
    static const char *const texts[] = {"8",    "x8",       "0x8",  "8x",        "1x65xH100", "1x8xZ1",
                                        "1x8,", "100001x8", "-1x8", "1x8xH100x", ",",         "60000x8,60000x8"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct fleet fleet;
        struct err err = {0};

        if (fleet_parse(&fleet, texts[i], &err) != -EINVAL || !err.text[0])
            fail_msg("'%s' is taken", texts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_nodes_follow_each_other),
        cmocka_unit_test(names_of_nodes_are_found),
        cmocka_unit_test(what_is_no_fleet_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
