/* SPDX-License-Identifier: Apache-2.0 */
#include "services/starter/lineup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "text/yaml.h"

static struct lineup lineup;

static int start_empty(void **state)
{
    (void)state;
    memset(&lineup, 0, sizeof lineup);
    return 0;
}

static int end(void **state)
{
    (void)state;
    lineup_done(&lineup);
    return 0;
}

/* Puts a Job; `meta` is more of its metadata, `rest` what stands behind it. */
static struct waiter *put(const char *name, const char *labels, const char *annotations, const char *rest)
{
    struct yaml_docs docs = {0};
    struct err err = {0};
    struct waiter *waiter;
    char text[2048];

    (void)snprintf(text, sizeof text,
                   "metadata: {namespace: a, name: %s, uid: u-%s, labels: {%s}, annotations: {%s}}\n%s\n", name, name,
                   labels, annotations, rest);
    if (yaml_parse(text, strlen(text), "test", &docs, &err) < 0)
        fail_msg("%s", err.text);
    waiter = lineup_put(&lineup, yyjson_doc_get_root(docs.items[0].json));
    yaml_docs_done(&docs);
    return waiter;
}

#define WAITS "muster.scheduler/start: when-ready"
#define NUMBER(n) "muster.scheduler/job-id: '" #n "'"
#define HELD_BACK "spec: {suspend: true}"
#define RUNS "spec: {suspend: false}"
#define ENDED(type) "status: {conditions: [{type: " type ", status: 'True'}]}"

static const char *reason_of(const struct waiter *waiter)
{
    lineup_tally(&lineup);
    return lineup_plan(&lineup, waiter, 1000).reason;
}

static void a_job_starts_when_the_jobs_before_it_have_ended_as_they_should(void **state)
{
    static const struct {
        const char *dependency, *rest, *reason;
    } cases[] = {
        {"afterok:1", RUNS, "Dependency"},
        {"afterok:1", ENDED("Complete"), ""},
        {"afterok:1", ENDED("Failed"), "DependencyNeverSatisfied"},
        {"afternotok:1", ENDED("Failed"), ""},
        {"afternotok:1", ENDED("Complete"), "DependencyNeverSatisfied"},
        {"afterany:first", ENDED("Failed"), ""},
        {"after:1", "status: {startTime: x}", ""},
        {"afterok:77", RUNS, "DependencyNeverSatisfied"},
        {"afterany:77", RUNS, ""},
        {"afterok:1?afterany:77", RUNS, ""},
        {"afterok:1,afterany:77", RUNS, "Dependency"},
        {"before:1", RUNS, "DependencyNeverSatisfied"},
        {"afterok", RUNS, "DependencyNeverSatisfied"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char annotations[256];

        (void)snprintf(annotations, sizeof annotations, WAITS ", muster.scheduler/dependency: '%s'",
                       cases[i].dependency);
        (void)put("first", NUMBER(1), "", cases[i].rest);
        struct waiter *second = put("second", NUMBER(2), annotations, HELD_BACK);
        assert_string_equal(reason_of(second), cases[i].reason);
    }
}

static void a_singleton_waits_for_earlier_jobs_of_its_name(void **state)
{
    (void)state;
    (void)put("x-1", NUMBER(1), "muster.scheduler/job-name: x", RUNS);
    struct waiter *second = put(
        "x-2", NUMBER(2), "muster.scheduler/job-name: x, " WAITS ", muster.scheduler/dependency: singleton", HELD_BACK);
    (void)put("x-3", NUMBER(3), "muster.scheduler/job-name: x", RUNS);

    assert_string_equal(reason_of(second), "Dependency");
    (void)put("x-1", NUMBER(1), "muster.scheduler/job-name: x", ENDED("Failed"));
    assert_string_equal(reason_of(second), "");
}

#define ELEMENT(i) "muster.scheduler/job-id: '', muster.scheduler/array: arr, muster.scheduler/array-index: '" #i "'"

static void no_more_of_an_array_start_than_its_limit(void **state)
{
    struct waiter *jobs[3];

    (void)state;
    jobs[0] = put("e0", ELEMENT(0), WAITS ", muster.scheduler/array-limit: '2'", HELD_BACK);
    jobs[1] = put("e1", ELEMENT(1), WAITS ", muster.scheduler/array-limit: '2'", HELD_BACK);
    jobs[2] = put("e2", ELEMENT(2), WAITS ", muster.scheduler/array-limit: '2'", HELD_BACK);
    lineup_tally(&lineup);
    for (int i = 0; i < 2; i++) {
        assert_true(lineup_plan(&lineup, jobs[i], 0).starts);
        waiter_starts(jobs[i]);
    }
    assert_string_equal(lineup_plan(&lineup, jobs[2], 0).reason, "ArrayLimit");
    (void)put("e0", ELEMENT(0), "", ENDED("Complete"));
    assert_string_equal(reason_of(jobs[2]), "");
}

static void a_job_that_begins_later_is_looked_at_again_then(void **state)
{
    (void)state;
    struct waiter *job = put("j", NUMBER(1), WAITS ", muster.scheduler/begin: '2026-01-01T00:00:00Z'", HELD_BACK);
    struct waiter_plan plan = lineup_plan(&lineup, job, 0);

    assert_string_equal(plan.reason, "BeginTime");
    assert_true(plan.look_again == job->begin && !plan.starts);
    assert_true(lineup_plan(&lineup, job, job->begin).starts);
}

static void a_cancelled_job_is_removed_after_a_while(void **state)
{
    (void)state;
    struct waiter *job = put("j", NUMBER(1), "muster.scheduler/cancelled: '2026-01-01T00:00:00Z'",
                             "spec: {suspend: true, ttlSecondsAfterFinished: 60}");

    assert_false(lineup_plan(&lineup, job, job->cancelled).is_deleted);
    assert_true(lineup_plan(&lineup, job, job->cancelled + 60 * NSEC_PER_SEC).is_deleted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_job_starts_when_the_jobs_before_it_have_ended_as_they_should, start_empty,
                                        end),
        cmocka_unit_test_setup_teardown(a_singleton_waits_for_earlier_jobs_of_its_name, start_empty, end),
        cmocka_unit_test_setup_teardown(no_more_of_an_array_start_than_its_limit, start_empty, end),
        cmocka_unit_test_setup_teardown(a_job_that_begins_later_is_looked_at_again_then, start_empty, end),
        cmocka_unit_test_setup_teardown(a_cancelled_job_is_removed_after_a_while, start_empty, end),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
