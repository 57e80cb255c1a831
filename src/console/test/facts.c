/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "console/workloads/facts.h"

static struct workload_facts read_with(void (*read)(yyjson_val *object, struct workload_facts *ret_facts),
                                       const char *text)
{
    yyjson_doc *doc = yyjson_read(text, strlen(text), 0);
    struct workload_facts facts = {.pods = 7};

    assert_non_null(doc);
    read(yyjson_doc_get_root(doc), &facts);
    yyjson_doc_free(doc);
    return facts;
}

static void a_job_says_whether_it_is_stopped_and_how_it_has_ended(void **state)
{
    static const char ended[] = "{\"spec\": {\"suspend\": true}, \"status\": {\"conditions\": ["
                                "{\"type\": \"Failed\", \"status\": \"False\"}, "
                                "{\"type\": \"Complete\", \"status\": \"True\"}]}}";
    struct workload_facts facts = read_with(facts_of_job, "{\"spec\": {}}");

    (void)state;
    assert_true(facts.has_object && !facts.is_suspended && !facts.has_completed && facts.pods == 0);
    facts = read_with(facts_of_job, ended);
    assert_true(facts.is_suspended && facts.has_completed && !facts.has_failed);
}

static void a_deployment_is_updated_until_all_its_pods_are_new(void **state)
{
    static const struct {
        const char *object;
        bool is_updating, is_degraded;
    } rows[] = {
        {"{\"metadata\": {\"generation\": 1}}", false, false},
        {"{\"metadata\": {\"generation\": 2}, \"status\": {\"observedGeneration\": 1, \"replicas\": 2, "
         "\"updatedReplicas\": 2}}",
         true, false},
        {"{\"metadata\": {\"generation\": 2}, \"status\": {\"observedGeneration\": 2, \"replicas\": 2, "
         "\"updatedReplicas\": 1}}",
         true, false},
        {"{\"metadata\": {\"generation\": 2}, \"status\": {\"observedGeneration\": 2, \"replicas\": 2, "
         "\"updatedReplicas\": 2, \"conditions\": [{\"type\": \"Progressing\", \"status\": \"False\"}]}}",
         false, true},
        {"{\"metadata\": {\"generation\": 3}, \"status\": {\"observedGeneration\": 2, "
         "\"conditions\": [{\"type\": \"Progressing\", \"status\": \"False\"}]}}",
         false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct workload_facts facts = read_with(facts_of_deployment, rows[i].object);

        assert_true(facts.has_object);
        assert_int_equal(facts.is_updating, rows[i].is_updating);
        assert_int_equal(facts.is_degraded, rows[i].is_degraded);
    }
}

static void several_objects_end_with_their_head_or_together(void **state)
{
    static const struct workload_facts runs = {.has_object = true}, completed = {.has_completed = true},
                                       failed = {.has_failed = true}, stopped = {.is_suspended = true};
    struct workload_facts facts = {0};

    (void)state;
    facts_add(&facts, &completed, false);
    assert_true(facts.has_object && facts.has_completed);
    facts_add(&facts, &runs, false);
    assert_false(facts.has_completed);

    facts = (struct workload_facts){0};
    facts_add(&facts, &runs, false);
    facts_add(&facts, &completed, true);
    facts_add(&facts, &runs, false);
    assert_true(facts.has_completed && !facts.has_failed);

    facts = (struct workload_facts){0};
    facts_add(&facts, &completed, false);
    facts_add(&facts, &runs, true);
    assert_false(facts.has_completed);
    facts_add(&facts, &failed, false);
    assert_true(facts.has_failed);

    facts = (struct workload_facts){0};
    facts_add(&facts, &stopped, true);
    assert_true(facts.is_suspended);
    facts_add(&facts, &stopped, false);
    assert_true(facts.is_suspended);
    facts_add(&facts, &runs, false);
    assert_false(facts.is_suspended);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_says_whether_it_is_stopped_and_how_it_has_ended),
        cmocka_unit_test(a_deployment_is_updated_until_all_its_pods_are_new),
        cmocka_unit_test(several_objects_end_with_their_head_or_together),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
