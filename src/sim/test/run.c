/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "engine/config.h"
#include "model/delta.h"
#include "model/state.h"
#include "sim/report/metrics.h"
#include "sim/report/report.h"
#include "sim/trace/trace.h"
#include "sim/trace/trace_generate.h"

/* One simulation of one trace on a small cluster of nodes with 8 GPUs. */
struct bed {
    struct state *state;
    struct config config;
    struct sim_run_options options;
    struct trace trace;
    struct sim_run run;
};

static void put_queue(struct bed *bed, const char *name, const char *parent, double quota, double weight)
{
    struct queue_spec spec = {
        .name = name,
        .parent = parent,
        .priority = 100,
        .created = (nsec_t)bed->state->queues.len,
        .deserved = {-1, -1, quota},
        .limit = {-1, -1, -1},
        .weight = {1, 1, weight},
    };

    assert_int_equal(state_put_queue(bed->state, &spec, NULL), 0);
}

static void put_node(struct bed *bed, const char *name)
{
    const struct amount_spec amounts[] = {
        {"cpu", 128000}, {"memory", INT64_C(1) << 40}, {"pods", 100}, {"nvidia.com/gpu", 8 * GPU_ONE}};
    struct node_spec spec = {
        .name = name,
        .allocatable = amounts,
        .allocatable_count = ARRAY_LEN(amounts),
        .device_count = -1,
        .gpu_memory_mib = 80000,
        .is_gpu_memory_known = true,
    };

    assert_int_equal(state_put_node(bed->state, &spec, NULL), 0);
}

static void bed_init(struct bed *bed)
{
    *bed = (struct bed){.state = state_new()};
    config_init(&bed->config);
    sim_run_options_init(&bed->options);
    trace_init(&bed->trace);
    put_queue(bed, "all", NULL, -1, 1);
}

static void bed_done(struct bed *bed)
{
    sim_run_done(&bed->run);
    trace_done(&bed->trace);
    state_free(bed->state);
}

/* A cluster of one node, and queue q. */
static void bed_small(struct bed *bed)
{
    bed_init(bed);
    put_queue(bed, "q", "all", 8, 1);
    put_node(bed, "n1");
}

static void bed_sim_run(struct bed *bed, const char *rows)
{
    _cleanup_(freep) char *text = xstrdup(rows);
    struct err err = {0};

    if (trace_parse(&bed->trace, "t.csv", text, strlen(text), &err) < 0 ||
        sim_run_run(&bed->run, bed->state, &bed->config, &bed->options, &bed->trace, &err) < 0)
        fail_msg("%s", err.text);
}

static nsec_t seconds(const struct bed *bed, nsec_t time)
{
    return (time - bed->run.start) / NSEC_PER_SEC;
}

static void work_runs_and_ends_one_after_the_other(void **state)
{
    struct bed bed;

    (void)state;
    bed_small(&bed);
    bed_sim_run(&bed, "time,name,queue,gpus,run_seconds\n0,a,q,8,100\n10,b,q,8,50\n");
    assert_int_equal(bed.run.jobs.len, 2);
    assert_int_equal(seconds(&bed, bed.run.jobs.items[0].ended), 100);
    assert_int_equal(seconds(&bed, bed.run.jobs.items[1].first_start), 100);
    assert_int_equal(seconds(&bed, bed.run.jobs.items[1].ended), 150);
    assert_int_equal(seconds(&bed, bed.run.end), 150);
    assert_true(metric_value(&bed.run, METRIC_MAX_WAIT, &(struct metric_filter){0}) == 90);
    assert_true(metric_value(&bed.run, METRIC_ALLOCATED, &(struct metric_filter){0}) == 1);
    assert_true(metric_value(&bed.run, METRIC_SHARE, &(struct metric_filter){.queue = "q"}) == 1);
    assert_true(metric_value(&bed.run, METRIC_MAKESPAN, &(struct metric_filter){0}) == 150);
    assert_int_equal(bed.run.jobs_ended, 2);
    /* Nothing is left behind. */
    assert_int_equal(state_find_gang(bed.state, "default", "a"), NO_ID);
    assert_int_equal(state_find_pod(bed.state, "default", "b-0"), NO_ID);
    bed_done(&bed);
}

static void a_gang_waits_for_room_for_all(void **state)
{
    struct bed bed;

    (void)state;
    bed_small(&bed);
    put_node(&bed, "n2");
    bed_sim_run(&bed, "time,name,queue,pods,gpus,run_seconds\n0,a,q,1,8,100\n5,gang,q,2,8,60\n");
    assert_int_equal(seconds(&bed, bed.run.jobs.items[1].first_start), 100);
    assert_int_equal(seconds(&bed, bed.run.jobs.items[1].ended), 160);
    bed_done(&bed);
}

/* Two of four pods run for 100 s, then all four: half of the work is left at 100 s minus 50 that are done. */
static void elastic_work_goes_at_the_speed_of_its_pods(void **state)
{
    struct bed bed;

    (void)state;
    bed_small(&bed);
    bed_sim_run(&bed, "time,name,queue,pods,min_available,gpus,run_seconds\n0,a,q,1,,4,100\n0,elastic,q,4,2,2,150\n");
    assert_int_equal(seconds(&bed, bed.run.jobs.items[1].first_start), 0);
    assert_int_equal(seconds(&bed, bed.run.jobs.items[1].ended), 200);
    bed_done(&bed);
}

static void an_eviction_costs_what_came_after_the_checkpoint(void **state)
{
    struct bed bed;
    const struct sim_run_job *low;

    (void)state;
    bed_small(&bed);
    bed_sim_run(&bed, "time,name,queue,gpus,run_seconds,priority,checkpoint_seconds\n"
                      "0,low,q,8,1000,50,300\n"
                      "500,high,q,8,100,75,\n");
    low = &bed.run.jobs.items[0];
    assert_int_equal(low->evictions, 1);
    assert_true(low->lost == 8.0 * 200 * 1e9);
    /* 30 s until it is gone, 100 s of the other one, then the 700 s that are left. */
    assert_int_equal(seconds(&bed, bed.run.jobs.items[1].first_start), 530);
    assert_int_equal(seconds(&bed, low->ended), 630 + 700);
    assert_true(low->used == 8.0 * (500 + 700) * 1e9);
    assert_int_equal(bed.run.evictions.len, 1);
    assert_int_equal(bed.run.evictions.items[0].for_job, 1);
    assert_true(metric_value(&bed.run, METRIC_EVICTIONS, &(struct metric_filter){0}) == 1);
    bed_done(&bed);
}

static void a_failing_node_takes_its_pods_down(void **state)
{
    struct bed bed;
    const struct sim_run_job *job;

    (void)state;
    bed_small(&bed);
    bed_sim_run(&bed, "time,event,name,queue,gpus,run_seconds\n"
                      "0,submit,a,q,8,100\n"
                      "40,node_down,n1,,,\n"
                      "60,node_up,n1,,,\n");
    job = &bed.run.jobs.items[0];
    assert_int_equal(job->failures, 1);
    assert_int_equal(job->evictions, 0);
    assert_true(job->lost == 8.0 * 40 * 1e9);
    assert_int_equal(seconds(&bed, job->ended), 160);
    /* 20 s of 160 there was no GPU. */
    assert_true(bed.run.capacity->total == 8.0 * 140 * 1e9);
    bed_done(&bed);
}

static void what_is_left_of_a_gang_goes_after_the_grace(void **state)
{
    struct bed bed;
    const struct sim_run_job *job;

    (void)state;
    bed_small(&bed);
    put_node(&bed, "n2");
    bed.config.staleness_grace = 60 * NSEC_PER_SEC;
    bed_sim_run(&bed, "time,event,name,queue,pods,gpus,run_seconds\n"
                      "0,submit,gang,q,2,8,1000\n"
                      "100,node_down,n2,,,,\n"
                      "400,node_up,n2,,,,\n");
    job = &bed.run.jobs.items[0];
    assert_int_equal(job->failures, 1);
    assert_int_equal(bed.run.evicted_pods, 1);
    assert_int_equal(seconds(&bed, bed.run.evictions.items[0].time), 160);
    assert_int_equal(seconds(&bed, job->ended), 1400);
    bed_done(&bed);
}

static void work_without_an_end_runs_until_it_is_cancelled(void **state)
{
    struct bed bed;

    (void)state;
    bed_small(&bed);
    bed_sim_run(&bed, "time,event,name,queue,gpus,run_seconds\n"
                      "0,submit,service,q,8,\n"
                      "10,submit,a,q,8,20\n"
                      "100,cancel,service,,,\n"
                      "110,cancel,service,,,\n");
    assert_true(bed.run.jobs.items[0].is_cancelled);
    assert_int_equal(seconds(&bed, bed.run.jobs.items[1].first_start), 100);
    assert_true(metric_value(&bed.run, METRIC_COMPLETED, &(struct metric_filter){0}) == 1);
    bed_done(&bed);
}

static void a_sim_run_can_be_cut(void **state)
{
    struct bed bed;

    (void)state;
    bed_small(&bed);
    bed.options.until = TRACE_ORIGIN + 50 * NSEC_PER_SEC;
    bed_sim_run(&bed, "time,name,queue,gpus,run_seconds\n0,a,q,8,100\n10,b,q,8,50\n90,c,q,1,1\n");
    assert_int_equal(seconds(&bed, bed.run.end), 50);
    assert_int_equal(bed.run.jobs.len, 2);
    assert_true(metric_value(&bed.run, METRIC_NEVER_STARTED, &(struct metric_filter){0}) == 1);
    /* Who has not started has waited so far. */
    assert_true(metric_value(&bed.run, METRIC_MAX_WAIT, &(struct metric_filter){0}) == 40);
    assert_true(bed.run.jobs.items[0].used == 8.0 * 50 * 1e9);
    bed_done(&bed);
}

static void far_ahead_cycles_may_wait_for_each_other(void **state)
{
    struct bed bed;

    (void)state;
    bed_small(&bed);
    bed.options.coarse = 10;
    bed.options.coarse_most = 8 * NSEC_PER_SEC;
    bed_sim_run(&bed, "time,name,queue,gpus,run_seconds\n0,a,q,4,100\n0,b,q,2,101\n0,c,q,2,102\n"
                      "1,d,q,4,50\n1,e,q,2,50\n1,f,q,2,50\n");
    assert_int_equal(seconds(&bed, bed.run.jobs.items[3].first_start), 100);
    assert_int_equal(seconds(&bed, bed.run.jobs.items[5].first_start), 108);
    bed_done(&bed);
}

static void fractions_share_a_gpu(void **state)
{
    struct bed bed;

    (void)state;
    bed_small(&bed);
    bed.options.until = TRACE_ORIGIN + 10 * NSEC_PER_SEC;
    bed_sim_run(&bed, "time,name,queue,gpu_fraction,run_seconds\n0,a,q,0.5,100\n0,b,q,0.25,100\n");
    assert_int_equal(bed.run.gantt.segments.len, 2);
    assert_int_equal(bed.run.gantt.segments.items[0].top, 0);
    assert_int_equal(bed.run.gantt.segments.items[0].height, 50);
    assert_int_equal(bed.run.gantt.segments.items[1].top, 50);
    assert_int_equal(bed.run.gantt.segments.items[1].height, 25);
    assert_true(bed.run.used->total == 0.75 * 10 * 1e9);
    assert_true(bed.run.idle_partly->total == 7 * 10 * 1e9);
    assert_true(bed.run.idle_shared->total > 0.249 * 10 * 1e9 && bed.run.idle_shared->total < 0.251 * 10 * 1e9);
    bed_done(&bed);
}

static void traces_must_fit_the_cluster(void **state)
{
    static const struct {
        const char *rows;
        const char *expected;
    } cases[] = {
        {"time,name,queue,run_seconds\n0,a,nobody,1\n", "line 2: queue: the cluster has no queue called 'nobody'"},
        {"time,name,queue,run_seconds\n0,a,all,1\n", "line 2: queue: 'all' has child queues; name one of them"},
        {"time,event,name\n0,node_down,n7\n", "line 2: name: the cluster has no node called 'n7'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bed bed;
        struct err err = {0};
        _cleanup_(freep) char *text = xstrdup(cases[i].rows);

        bed_small(&bed);
        assert_int_equal(trace_parse(&bed.trace, "t.csv", text, strlen(text), &err), 0);
        assert_int_equal(sim_run_run(&bed.run, bed.state, &bed.config, &bed.options, &bed.trace, &err), -22);
        assert_string_equal(err.text, cases[i].expected);
        bed_done(&bed);
    }
}

/* Two queues, one of which has had the cluster for an hour. What it was given beyond its quota may be taken back. */
static nsec_t start_of_second(bool counts_past_use)
{
    struct bed bed;
    nsec_t start;

    bed_init(&bed);
    put_queue(&bed, "greedy", "all", 0, 1);
    put_queue(&bed, "modest", "all", 0, 1);
    put_node(&bed, "n1");
    bed.options.usage.is_on = counts_past_use;
    bed.options.usage.window = 2 * NSEC_PER_HOUR;
    bed_sim_run(&bed, "time,name,queue,gpus,run_seconds\n"
                      "0,first,greedy,8,3600\n"
                      "3500,more,greedy,8,600\n"
                      "3550,other,modest,8,600\n");
    start = seconds(&bed, bed.run.jobs.items[2].first_start);
    bed_done(&bed);
    return start;
}

static void past_use_counts_when_asked_for(void **state)
{
    (void)state;
    assert_int_equal(start_of_second(false), 4200);
    assert_int_equal(start_of_second(true), 3580);
}

/* The one that waits has had all of the cluster until now; the other has only just begun. */
static nsec_t start_of_one_with_a_past(double past)
{
    struct bed bed;
    nsec_t start;

    bed_init(&bed);
    put_queue(&bed, "fresh", "all", 0, 1);
    put_queue(&bed, "sated", "all", 0, 1);
    put_node(&bed, "n1");
    state_set_usage(bed.state, "sated", (double[SHARE_COUNT]){[SHARE_GPU] = past});
    bed.options.usage.is_on = true;
    bed.options.usage.window = 2 * NSEC_PER_HOUR;
    bed_sim_run(&bed, "time,name,queue,gpus,run_seconds\n"
                      "0,first,fresh,8,3600\n"
                      "600,other,sated,8,600\n");
    start = seconds(&bed, bed.run.jobs.items[1].first_start);
    bed_done(&bed);
    return start;
}

static void past_use_that_a_cluster_comes_with_fades_with_the_window(void **state)
{
    (void)state;
    assert_true(start_of_one_with_a_past(0) < 700);
    assert_int_equal(start_of_one_with_a_past(1), 3600);
}

static char *report_of_a_day(void)
{
    static const char *const teams[] = {"a", "b", "c"};
    struct trace_recipe recipe;
    struct bed bed;
    struct err err = {0};
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    bed_init(&bed);
    trace_recipe_init(&recipe);
    recipe.days = 0.5;
    recipe.gpus = 64;
    recipe.jobs = 150;
    recipe.load = 0.8;
    recipe.queues = teams;
    recipe.queue_count = ARRAY_LEN(teams);
    recipe.failures_per_day = 4;
    for (uint32_t i = 0; i < ARRAY_LEN(teams); i++)
        put_queue(&bed, teams[i], "all", 64 / 3.0, 1);
    for (uint32_t i = 0; i < 8; i++) {
        char name[TRACE_NODE_NAME_MAX];

        put_node(&bed, trace_node_name(i, name));
    }
    assert_int_equal(trace_generate(&bed.trace, &recipe, NULL), 0);
    if (sim_run_run(&bed.run, bed.state, &bed.config, &bed.options, &bed.trace, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(bed.run.jobs_ended, 150);
    report_write(out, &(struct report){"Day", &(struct report_run){NULL, &bed.run}, 1, NULL});
    (void)fclose(out);
    bed_done(&bed);
    return text;
}

static void two_simulations_are_the_same_bit_for_bit(void **state)
{
    _cleanup_(freep) char *a = report_of_a_day();
    _cleanup_(freep) char *b = report_of_a_day();

    (void)state;
    assert_true(strlen(a) > 10000);
    assert_string_equal(a, b);
    assert_non_null(strstr(a, "<title>Day</title>"));
    assert_null(strstr(a, "{{"));
}

/* Whatever is called, it cannot get out of the data. */
static void names_cannot_break_the_page(void **state)
{
    struct bed bed;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    (void)state;
    bed_small(&bed);
    bed_sim_run(&bed, "time,name,queue,gpus,run_seconds\n0,</script><b>,q,8,100\n");
    report_write(out, &(struct report){"a<b>&c", &(struct report_run){NULL, &bed.run}, 1, NULL});
    (void)fclose(out);
    assert_null(strstr(text, "</script><b>"));
    assert_non_null(strstr(text, "\\u003c/script>\\u003cb>"));
    assert_non_null(strstr(text, "<title>a&#60;b&#62;&#38;c</title>"));
    free(text);
    bed_done(&bed);
}

/* The mean over the whole simulation of how many waited for that reason. */
static double mean_waiting(const struct bed *bed, enum verdict_code code)
{
    return bed->run.waits.counts[code]->total / (double)(bed->run.end - bed->run.start);
}

static void each_workload_knows_why_and_how_long_it_waited(void **state)
{
    struct bed bed;
    nsec_t total = 0;

    (void)state;
    bed_small(&bed);
    bed.options.has_waits = true;
    bed_sim_run(&bed, "time,name,queue,gpus,run_seconds\n0,a,q,8,100\n10,b,q,8,50\n20,huge,q,9,10\n");
    /* a never waited, b waited for a, and no node has 9 GPUs. */
    for (int code = 0; code < _VERDICT_CODE_MAX; code++) {
        assert_int_equal(waits_of(&bed.run.waits, 0, (enum verdict_code)code), 0);
        total += waits_of(&bed.run.waits, 1, (enum verdict_code)code);
    }
    assert_int_equal(total / NSEC_PER_SEC, 90);
    assert_int_equal(waits_of(&bed.run.waits, 1, VERDICT_OVER_FAIR_SHARE) / NSEC_PER_SEC, 90);
    assert_int_equal(waits_of(&bed.run.waits, 2, VERDICT_TOO_LARGE) / NSEC_PER_SEC, 130);
    assert_true(mean_waiting(&bed, VERDICT_OVER_FAIR_SHARE) * 150 == 90);
    assert_true(mean_waiting(&bed, VERDICT_TOO_LARGE) * 150 == 130);
    bed_done(&bed);
}

static void reasons_are_kept_only_when_asked_for(void **state)
{
    struct bed bed;

    (void)state;
    bed_small(&bed);
    bed_sim_run(&bed, "time,name,queue,gpus,run_seconds\n0,a,q,8,100\n10,b,q,8,50\n");
    assert_int_equal(bed.run.waits.parts.len, 0);
    assert_null(bed.run.waits.counts[VERDICT_NO_ROOM]);
    assert_int_equal(waits_of(&bed.run.waits, 1, VERDICT_OVER_FAIR_SHARE), 0);
    bed_done(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_runs_and_ends_one_after_the_other),
        cmocka_unit_test(a_gang_waits_for_room_for_all),
        cmocka_unit_test(elastic_work_goes_at_the_speed_of_its_pods),
        cmocka_unit_test(an_eviction_costs_what_came_after_the_checkpoint),
        cmocka_unit_test(a_failing_node_takes_its_pods_down),
        cmocka_unit_test(what_is_left_of_a_gang_goes_after_the_grace),
        cmocka_unit_test(work_without_an_end_runs_until_it_is_cancelled),
        cmocka_unit_test(a_sim_run_can_be_cut),
        cmocka_unit_test(far_ahead_cycles_may_wait_for_each_other),
        cmocka_unit_test(fractions_share_a_gpu),
        cmocka_unit_test(traces_must_fit_the_cluster),
        cmocka_unit_test(past_use_counts_when_asked_for),
        cmocka_unit_test(past_use_that_a_cluster_comes_with_fades_with_the_window),
        cmocka_unit_test(two_simulations_are_the_same_bit_for_bit),
        cmocka_unit_test(names_cannot_break_the_page),
        cmocka_unit_test(each_workload_knows_why_and_how_long_it_waited),
        cmocka_unit_test(reasons_are_kept_only_when_asked_for),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
