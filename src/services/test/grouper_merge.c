/* SPDX-License-Identifier: Apache-2.0 */
#include "services/grouper/merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"

static const struct merge_keys keys = {"kai.scheduler/queue", "kai.scheduler/node-pool"};

/* What becomes of `old` when it should be `wanted`; NULL: it stays. */
static void merges(const char *old, const char *wanted, const char *expected)
{
    yyjson_doc *old_doc = yyjson_read(old, strlen(old), 0);
    yyjson_doc *wanted_doc = yyjson_read(wanted, strlen(wanted), 0);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(old_doc, NULL);
    bool is_changed = merge_group(doc, yyjson_mut_doc_get_root(doc), yyjson_doc_get_root(wanted_doc), &keys);
    char *text = yyjson_mut_write(doc, 0, NULL);

    assert_int_equal(is_changed, expected != NULL);
    if (expected)
        assert_string_equal(text, expected);
    free(text);
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(old_doc);
    yyjson_doc_free(wanted_doc);
}

#define META "\"metadata\":{\"labels\":{},\"annotations\":{}}"

static void what_is_as_it_should_be_is_left_alone(void **state)
{
    (void)state;
    merges("{" META ",\"spec\":{\"minMember\":1,\"queue\":\"q\"}}",
           "{" META ",\"spec\":{\"queue\":\"q\",\"minMember\":1,\"subGroups\":[],\"topologyConstraint\":{}}}", NULL);
    merges("{" META ",\"spec\":{\"subGroups\":[{\"name\":\"a\",\"minMember\":1}]}}",
           "{" META ",\"spec\":{\"subGroups\":[{\"minMember\":1,\"name\":\"a\",\"parent\":\"\"}]}}", NULL);
}

static void the_spec_is_replaced_but_for_what_belongs_to_others(void **state)
{
    (void)state;
    merges("{" META ",\"spec\":{\"minMember\":1,\"queue\":\"theirs\",\"markUnschedulable\":false,"
           "\"schedulingBackoff\":1,\"topologyConstraint\":{\"topology\":\"t\"}}}",
           "{" META ",\"spec\":{\"minMember\":2,\"queue\":\"ours\",\"topologyConstraint\":{}}}",
           "{" META ",\"spec\":{\"minMember\":2,\"queue\":\"theirs\",\"markUnschedulable\":false,"
           "\"schedulingBackoff\":1,\"topologyConstraint\":{\"topology\":\"t\"}}}");
    merges("{" META ",\"spec\":{\"minMember\":1,\"topologyConstraint\":{\"topology\":\"t\"}}}",
           "{" META ",\"spec\":{\"minSubGroup\":1,\"topologyConstraint\":{\"topology\":\"u\"}}}",
           "{" META ",\"spec\":{\"minSubGroup\":1,\"topologyConstraint\":{\"topology\":\"u\"}}}");
}

static void a_number_that_changed_in_a_subgroup_is_seen(void **state)
{
    (void)state;
    merges("{" META ",\"spec\":{\"subGroups\":[{\"name\":\"a\",\"minMember\":1}]}}",
           "{" META ",\"spec\":{\"subGroups\":[{\"name\":\"a\",\"minMember\":2}]}}",
           "{" META ",\"spec\":{\"subGroups\":[{\"name\":\"a\",\"minMember\":2}]}}");
    merges("{" META ",\"spec\":{\"subGroups\":[{\"name\":\"a\"}]}}", "{" META ",\"spec\":{\"subGroups\":[]}}",
           "{" META ",\"spec\":{\"subGroups\":[]}}");
}

static void labels_of_ours_are_put_right_and_those_of_others_kept(void **state)
{
    (void)state;
    merges("{\"metadata\":{\"labels\":{\"a\":\"1\",\"theirs\":\"x\"}},\"spec\":{}}",
           "{\"metadata\":{\"labels\":{\"a\":\"2\",\"b\":\"3\"}},\"spec\":{}}",
           "{\"metadata\":{\"labels\":{\"a\":\"2\",\"theirs\":\"x\",\"b\":\"3\"},\"annotations\":{}},\"spec\":{}}");
    /* The queue's label is not overwritten, the node pool's not even added. */
    merges(
        "{\"metadata\":{\"labels\":{\"kai.scheduler/queue\":\"theirs\"}},\"spec\":{}}",
        "{\"metadata\":{\"labels\":{\"kai.scheduler/queue\":\"ours\",\"kai.scheduler/node-pool\":\"p\"}},\"spec\":{}}",
        NULL);
}

static void another_owner_takes_the_place_of_the_old_one(void **state)
{
    (void)state;
    merges("{\"metadata\":{\"ownerReferences\":[{\"uid\":\"1\"}],\"labels\":{},\"annotations\":{}},\"spec\":{}}",
           "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"2\"}]},\"spec\":{}}",
           "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"2\"}],\"labels\":{},\"annotations\":{}},\"spec\":{}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_as_it_should_be_is_left_alone),
        cmocka_unit_test(the_spec_is_replaced_but_for_what_belongs_to_others),
        cmocka_unit_test(a_number_that_changed_in_a_subgroup_is_seen),
        cmocka_unit_test(labels_of_ours_are_put_right_and_those_of_others_kept),
        cmocka_unit_test(another_owner_takes_the_place_of_the_old_one),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
