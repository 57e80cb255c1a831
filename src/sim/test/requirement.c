/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/report/requirement.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "engine/config.h"
#include "model/delta.h"
#include "model/state.h"
#include "sim/trace/trace.h"

static void bounds_on_metrics_are_read(void **state)
{
    struct requirement r;

    (void)state;
    assert_int_equal(requirement_parse(&r, "p95Wait(queue=research)<30m", NULL), 0);
    assert_false(r.is_state);
    assert_int_equal(r.metric, METRIC_P95_WAIT);
    assert_string_equal(r.queue, "research");
    assert_int_equal(r.op, BOUND_LT);
    assert_true(r.value == 1800);
    assert_false(r.is_relative);

    assert_int_equal(requirement_parse(&r, " allocated >= 85% ", NULL), 0);
    assert_true(r.value == 0.85);
    assert_string_equal(r.queue, "");
    assert_int_equal(requirement_parse(&r, "allocated>0.85", NULL), 0);
    assert_true(r.value == 0.85);
    assert_int_equal(requirement_parse(&r, "lostGpuHours( queue=a, size=64+ ) <= 1.1*A", NULL), 0);
    assert_true(r.is_relative && r.value == 1.1);
    assert_true(r.has_size && r.size_min == 64);
    assert_int_equal(requirement_parse(&r, "evictions<=A", NULL), 0);
    assert_true(r.is_relative && r.value == 1);
    assert_int_equal(requirement_parse(&r, "evictions()<3", NULL), 0);
    assert_int_equal(requirement_parse(&r, "pending=0", NULL), 0);
    assert_int_equal(r.op, BOUND_EQ);
    assert_int_equal(requirement_parse(&r, "maxWait(workload=lab/*) < 1h", NULL), 0);
    assert_string_equal(r.workload, "lab/*");
}

static void states_of_workloads_are_read(void **state)
{
    struct requirement r;

    (void)state;
    assert_int_equal(requirement_parse(&r, "lab/train=Running", NULL), 0);
    assert_true(r.is_state);
    assert_string_equal(r.workload, "lab/train");
    assert_int_equal(r.state, WORKLOAD_RUNNING);
    assert_int_equal(requirement_parse(&r, " lab/* == pending ", NULL), 0);
    assert_string_equal(r.workload, "lab/*");
    assert_int_equal(r.state, WORKLOAD_PENDING);
    /* A name may be that of a metric. */
    assert_int_equal(requirement_parse(&r, "running=Completed", NULL), 0);
    assert_true(r.is_state && r.state == WORKLOAD_COMPLETED);
}

static void what_is_neither_is_refused_with_what_was_expected(void **state)
{
    static const struct {
        const char *text;
        const char *expected;
    } cases[] = {
        {"", "--require '': expected a metric with a bound such as 'p95Wait<30m', or WORKLOAD=STATE, found ''"},
        {"speed<3",
         "--require 'speed<3': expected a metric with a bound such as 'p95Wait<30m', or WORKLOAD=STATE, found "
         "'speed<3'"},
        {"=Running",
         "--require '=Running': expected a metric with a bound such as 'p95Wait<30m', or WORKLOAD=STATE, found "
         "'=Running'"},
        {"allocated", "--require 'allocated': expected one of <, <=, =, >=, >, found ''"},
        {"allocated!3", "--require 'allocated!3': expected one of <, <=, =, >=, >, found '!3'"},
        {"allocated<", "--require 'allocated<': expected a percentage such as 85%, or 1.1*A, found ''"},
        {"maxWait<30", "--require 'maxWait<30': expected a duration such as 30m or 7d, or 1.1*A, found '30'"},
        {"evictions<5%", "--require 'evictions<5%': expected a number, or 1.1*A, found '5%'"},
        {"evictions(<5", "--require 'evictions(<5': expected a closing bracket, found '(<5'"},
        {"evictions(team=a)<5",
         "--require 'evictions(team=a)<5': expected queue=NAME, workload=NAME or size=SIZE, found 'team=a'"},
        {"evictions(queue=)<5",
         "--require 'evictions(queue=)<5': expected queue=NAME, workload=NAME or size=SIZE, found 'queue='"},
        {"evictions(size=big)<5",
         "--require 'evictions(size=big)<5': expected a size such as fraction, 1, 8-31 or 64+, found 'big'"},
        {"fragmented(queue=a)<5%",
         "--require 'fragmented(queue=a)<5%': expected no filter, since the metric is about the whole cluster, found "
         "'(queue=a)<5%'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct requirement r;
        struct err err = {0};

        assert_int_equal(requirement_parse(&r, cases[i].text, &err), -22);
        assert_string_equal(err.text, cases[i].expected);
    }
}

/* One node of 8 GPUs, on which `a` runs for 100 s, `b` after it, and `huge` never. */
struct bed {
    struct state *state;
    struct config config;
    struct sim_run_options options;
    struct trace trace;
    struct sim_run run;
};

static void bed_run(struct bed *bed)
{
    static const struct amount_spec amounts[] = {
        {"cpu", 128000}, {"memory", INT64_C(1) << 40}, {"pods", 100}, {"nvidia.com/gpu", 8 * GPU_ONE}};
    const struct node_spec node = {
        .name = "n1", .allocatable = amounts, .allocatable_count = ARRAY_LEN(amounts), .device_count = -1};
    const struct queue_spec queue = {
        .name = "q", .priority = 100, .deserved = {-1, -1, 8}, .limit = {-1, -1, -1}, .weight = {1, 1, 1}};
    _cleanup_(freep) char *text =
        xstrdup("time,name,queue,gpus,run_seconds\n0,a,q,8,100\n10,b,q,8,50\n20,huge,q,9,10\n");
    struct err err = {0};

    *bed = (struct bed){.state = state_new()};
    config_init(&bed->config);
    sim_run_options_init(&bed->options);
    trace_init(&bed->trace);
    assert_int_equal(state_put_queue(bed->state, &queue, NULL), 0);
    assert_int_equal(state_put_node(bed->state, &node, NULL), 0);
    if (trace_parse(&bed->trace, "t.csv", text, strlen(text), &err) < 0 ||
        sim_run_run(&bed->run, bed->state, &bed->config, &bed->options, &bed->trace, &err) < 0)
        fail_msg("%s", err.text);
}

static void bed_done(struct bed *bed)
{
    sim_run_done(&bed->run);
    trace_done(&bed->trace);
    state_free(bed->state);
}

static void requirements_hold_or_are_broken(void **state)
{
    static const struct {
        const char *text;
        bool holds;
        const char *found;
    } cases[] = {
        {"maxWait(workload=b)<=90s", true, "1m 30s"},
        {"maxWait(workload=b)<90s", false, "1m 30s"},
        {"completed=2", true, "2"},
        {"completed==3", false, "2"},
        {"pending(queue=q)=1", true, "1"},
        {"pendingGpus>=9", true, "9"},
        {"allocatedGpus>0", false, "0"},
        {"neverStarted<1", false, "1"},
        {"meanTurnaround(size=9)<1d", false, "-"},
        {"a=Completed", true, "default/a is Completed"},
        {"default/huge=Running", false, "default/huge is Pending: too large"},
        {"default/?=Completed", true, "2 of 2 workloads are Completed"},
        {"*=Completed", false, "2 of 3 workloads are Completed; default/huge is Pending: too large"},
    };
    struct bed bed;

    (void)state;
    bed_run(&bed);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct requirement r;
        struct finding found;
        struct err err = {0};

        if (requirement_parse(&r, cases[i].text, &err) < 0 || requirement_judge(&r, NULL, &bed.run, &found, &err) < 0)
            fail_msg("%s", err.text);
        assert_string_equal(found.text, cases[i].found);
        assert_int_equal(found.holds, cases[i].holds);
    }
    bed_done(&bed);
}

static void a_requirement_about_nothing_is_refused(void **state)
{
    static const struct {
        const char *text;
        const char *expected;
    } cases[] = {
        {"evictions(queue=p)<3", "--require 'evictions(queue=p)<3': there is no queue 'p'"},
        {"default/hug=Running",
         "--require 'default/hug=Running': there is no workload 'default/hug'; did you mean huge?"},
        {"c=Running", "--require 'c=Running': there is no workload 'c'"},
        {"evictions<A", "--require 'evictions<A': A is the first setting of 'muster compare'; give a value here"},
    };
    struct bed bed;

    (void)state;
    bed_run(&bed);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct requirement r;
        struct finding found;
        struct err err = {0};

        assert_int_equal(requirement_parse(&r, cases[i].text, &err), 0);
        assert_int_equal(requirement_judge(&r, NULL, &bed.run, &found, &err), -22);
        assert_string_equal(err.text, cases[i].expected);
    }
    bed_done(&bed);
}

static void the_first_setting_can_be_the_measure(void **state)
{
    struct bed bed;
    struct requirement r;
    struct finding found;

    (void)state;
    bed_run(&bed);
    assert_int_equal(requirement_parse(&r, "maxWait(workload=b)<0.5*A", NULL), 0);
    assert_int_equal(requirement_judge(&r, &bed.run, &bed.run, &found, NULL), 0);
    assert_false(found.holds);
    assert_string_equal(found.text, "A 1m 30s, B 1m 30s");
    assert_int_equal(requirement_parse(&r, "maxWait(workload=b)<=A", NULL), 0);
    assert_int_equal(requirement_judge(&r, &bed.run, &bed.run, &found, NULL), 0);
    assert_true(found.holds);
    bed_done(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_on_metrics_are_read),
        cmocka_unit_test(states_of_workloads_are_read),
        cmocka_unit_test(what_is_neither_is_refused_with_what_was_expected),
        cmocka_unit_test(requirements_hold_or_are_broken),
        cmocka_unit_test(a_requirement_about_nothing_is_refused),
        cmocka_unit_test(the_first_setting_can_be_the_measure),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
