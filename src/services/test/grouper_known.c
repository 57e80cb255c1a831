/* SPDX-License-Identifier: Apache-2.0 */
#include "services/grouper/known.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "services/grouper/pod_text.h"

static yyjson_doc *read_json(const char *text)
{
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);

    assert_non_null(doc);
    return doc;
}

static void note(struct known *known, const char *text, bool is_check)
{
    yyjson_doc *doc = read_json(text);

    if (is_check)
        known_check_group(known, "n", "g", yyjson_doc_get_root(doc), 5);
    else
        known_add_group(known, "n", "g", yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
}

static void a_group_stays_checked_until_somebody_changes_it(void **state)
{
    (void)state;
    struct known known;

    known_init(&known);
    assert_int_equal(known_find_group(&known, "n", "g"), GROUP_ABSENT);
    note(&known, "{\"metadata\":{\"generation\":1,\"labels\":{\"a\":\"1\"}},\"spec\":{}}", true);
    assert_true(known_is_checked(&known, "n", "g", 5));
    assert_false(known_is_checked(&known, "n", "g", 6));
    assert_int_equal(known_find_group(&known, "n", "g"), GROUP_FLAT);
    note(&known,
         "{\"metadata\":{\"generation\":1,\"labels\":{\"a\":\"1\"},\"annotations\":{"
         "\"kai.scheduler/last-start-timestamp\":\"t\"}},\"spec\":{},\"status\":{\"x\":1}}",
         false);
    assert_true(known_is_checked(&known, "n", "g", 5));
    note(&known, "{\"metadata\":{\"generation\":1,\"labels\":{\"a\":\"2\"}},\"spec\":{}}", false);
    assert_false(known_is_checked(&known, "n", "g", 5));
    note(&known, "{\"metadata\":{\"generation\":2,\"labels\":{\"a\":\"1\"}},\"spec\":{\"subGroups\":[{}]}}", false);
    assert_false(known_is_checked(&known, "n", "g", 5));
    assert_int_equal(known_find_group(&known, "n", "g"), GROUP_WITH_SUBGROUPS);
    known_drop_group(&known, "n", "g");
    assert_int_equal(known_find_group(&known, "n", "g"), GROUP_ABSENT);
    known_done(&known);
}

static void defaults_are_found_by_kind_and_group_then_by_kind(void **state)
{
    (void)state;
    struct known known;
    struct group_defaults defaults;
    struct err err;

    known_init(&known);
    assert_int_equal(known_set_defaults(&known,
                                        "[{\"typeName\":\"Job\",\"priorityName\":\"low\"},"
                                        "{\"typeName\":\"Job\",\"group\":\"batch\",\"priorityName\":\"high\","
                                        "\"preemptibility\":\"Non-Preemptible\"}]",
                                        &err),
                     0);
    assert_true(known_find_default(&known, "batch", "Job", &defaults));
    assert_string_equal(defaults.priority_class, "high");
    assert_string_equal(defaults.preemptibility, "non-preemptible");
    assert_true(known_find_default(&known, "other", "Job", &defaults));
    assert_string_equal(defaults.priority_class, "low");
    assert_null(defaults.preemptibility);
    assert_false(known_find_default(&known, "batch", "CronJob", &defaults));
    /* What cannot be read leaves what was there. */
    assert_true(known_set_defaults(&known, "[{\"priorityName\":\"x\"}]", &err) < 0);
    assert_true(known_set_defaults(&known, "{", &err) < 0);
    assert_true(known_find_default(&known, "other", "Job", &defaults));
    assert_int_equal(known_set_defaults(&known, NULL, &err), 0);
    assert_false(known_find_default(&known, "other", "Job", &defaults));
    known_done(&known);
}

static uint64_t digest_of(const char *text)
{
    yyjson_doc *doc = read_json(text);
    uint64_t digest = pod_digest_of(yyjson_doc_get_root(doc));

    yyjson_doc_free(doc);
    return digest;
}

static void a_pod_is_the_same_while_only_its_status_changes(void **state)
{
    (void)state;
    uint64_t first =
        digest_of("{\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"1\",\"ownerReferences\":[{\"uid\":\"o\"}]},"
                  "\"spec\":{}}");

    assert_true(first ==
                digest_of("{\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"2\",\"ownerReferences\":[{\"uid\":"
                          "\"o\"}],\"annotations\":{\"received-resource-type\":\"Fraction\"}},"
                          "\"spec\":{\"nodeName\":\"n\"},\"status\":{\"phase\":\"Running\"}}"));
    assert_false(first == digest_of("{\"metadata\":{\"name\":\"p\",\"ownerReferences\":[{\"uid\":\"o\"}],"
                                    "\"labels\":{\"a\":\"b\"}},\"spec\":{}}"));
    assert_false(first ==
                 digest_of("{\"metadata\":{\"name\":\"p\",\"ownerReferences\":[{\"uid\":\"o2\"}]},\"spec\":{}}"));
}

static void the_text_of_a_pod_holds_what_grouping_looks_at(void **state)
{
    (void)state;
    yyjson_doc *doc = read_json("{\"metadata\":{\"name\":\"p\",\"managedFields\":[1],\"labels\":{\"a\":\"b\","
                                "\"runai-gpu-group\":\"g\"}},"
                                "\"spec\":{\"schedulerName\":\"s\",\"containers\":[{}]},\"status\":{}}");
    struct pod_text pod = pod_text_of(yyjson_doc_get_root(doc));

    assert_string_equal(
        pod.text, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"labels\":{\"a\":\"b\"}},"
                  "\"spec\":{\"schedulerName\":\"s\"}}");
    free(pod.text);
    yyjson_doc_free(doc);
}

static struct pod_stand stand_of(const char *text)
{
    yyjson_doc *doc = read_json(text);
    struct pod_stand stand = pod_stand_of(yyjson_doc_get_root(doc));

    yyjson_doc_free(doc);
    return stand;
}

static void where_a_pod_stands_is_read_from_its_spec_and_conditions(void **state)
{
    (void)state;
    struct pod_stand stand = stand_of("{\"metadata\":{\"name\":\"p\"},\"status\":{\"phase\":\"Pending\"}}");

    assert_false(stand.has_owner || stand.has_group || stand.is_bound || stand.is_unschedulable);
    stand = stand_of("{\"metadata\":{\"ownerReferences\":[{\"uid\":\"o\"}],\"annotations\":{\"pod-group-name\":\"g\"}},"
                     "\"spec\":{\"nodeName\":\"n\"},"
                     "\"status\":{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\"}]}}");
    assert_true(stand.has_owner && stand.has_group && stand.is_bound && !stand.is_unschedulable);
    stand = stand_of("{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"},"
                     "{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\"}]}}");
    assert_true(stand.is_unschedulable && !stand.is_bound);
    assert_true(stand_of("{\"status\":{\"phase\":\"Failed\"}}").is_bound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_stays_checked_until_somebody_changes_it),
        cmocka_unit_test(defaults_are_found_by_kind_and_group_then_by_kind),
        cmocka_unit_test(a_pod_is_the_same_while_only_its_status_changes),
        cmocka_unit_test(the_text_of_a_pod_holds_what_grouping_looks_at),
        cmocka_unit_test(where_a_pod_stands_is_read_from_its_spec_and_conditions),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
