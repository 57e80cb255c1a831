/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace/trace_convert.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "sim/trace/trace.h"

/* A file that is there for one test. */
static char *write_file(const char *text)
{
    char *path = xstrdup("/tmp/muster-convert-XXXXXX");
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(fd);
    return path;
}

static int convert(struct trace *trace, const char *format, struct trace_conversion *conversion, struct err *err,
                   const char *text, const char *more)
{
    char *paths[2] = {write_file(text), more ? write_file(more) : NULL};
    int r;

    trace_init(trace);
    r = trace_convert(trace, format, (const char *const *)paths, more ? 2 : 1, conversion, err);
    for (int i = 0; i < 2; i++) {
        if (paths[i])
            (void)unlink(paths[i]);
        free(paths[i]);
    }
    return r;
}

static void tasks_of_2020_take_time_and_user_from_their_job(void **state)
{
    struct trace_conversion conversion = {0};
    struct trace trace;
    struct err err = {0};
    const struct trace_job *job;

    (void)state;
    /* The tables come without titles. 57600 is Friday 00:00 in Shanghai. */
    assert_int_equal(convert(&trace, "alibaba", &conversion, &err,
                             "j1,worker,2.0,Terminated,57700.0,57800.0,600.0,29.296875,50.0,MISC\n"
                             "j1,ps,1.0,Terminated,57700.0,57900.0,400.0,,,\n"
                             "j2,tensorflow,1.0,Running,57700.0,,600.0,29.3,100.0,T4\n"
                             "j3,tensorflow,,Failed,57610.0,57640.0,,,250.0,V100\n",
                             "j1,i1,alice,Terminated,57600.0,57900.0\n"),
                     0);
    assert_int_equal(trace.jobs.len, 3);
    assert_int_equal(conversion.skipped, 1);
    job = &trace.jobs.items[0];
    assert_string_equal(trace_str(&trace, job->name), "j1-worker");
    assert_string_equal(trace_str(&trace, job->queue), "alice");
    assert_int_equal(job->pods, 2);
    assert_true(job->fraction == 0.5);
    assert_int_equal(job->cpu_milli, 6000);
    assert_int_equal(job->run, 100 * NSEC_PER_SEC);
    assert_int_equal(trace.jobs.items[1].kind, REQUEST_REGULAR);
    assert_int_equal(trace.jobs.items[1].gpus, 0);
    assert_string_equal(trace_str(&trace, trace.jobs.items[2].queue), "unknown");
    assert_int_equal(trace.jobs.items[2].gpus, 3);
    /* Friday, midnight, as in Shanghai. */
    assert_int_equal(trace.events.items[0].time, TRACE_ORIGIN + 4 * 24 * NSEC_PER_HOUR);
    trace_done(&trace);
}

static void pods_of_2023_keep_their_fraction_and_types(void **state)
{
    struct trace_conversion conversion = {.queues = 4};
    struct trace trace;
    struct err err = {0};
    const struct trace_job *jobs;

    (void)state;
    assert_int_equal(
        convert(&trace, "alibaba", &conversion, &err,
                "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
                "scheduled_time\n"
                "p0,12000,16384,1,1000,,LS,Running,100,1100,200\n"
                "p1,6000,12288,1,460,V100M16|V100M32,BE,Running,150,1150,150\n"
                "p2,88000,327680,8,1000,nan,Burstable,Succeeded,160,2160,160\n"
                "p3,11908,47104,1,1000,,BE,Pending,170,300,\n",
                NULL),
        0);
    jobs = trace.jobs.items;
    assert_int_equal(trace.jobs.len, 3);
    assert_int_equal(conversion.skipped, 1);
    assert_int_equal(jobs[0].gpus, 1);
    assert_int_equal(jobs[0].run, 900 * NSEC_PER_SEC);
    assert_int_equal(jobs[0].priority, 75);
    assert_int_equal(jobs[1].kind, REQUEST_FRACTION);
    assert_true(jobs[1].fraction == 0.46);
    assert_int_equal(jobs[1].priority, 50);
    assert_string_equal(trace_str(&trace, jobs[1].node_selector), "nvidia.com/gpu.product=V100M16|V100M32");
    assert_int_equal(jobs[2].gpus, 8);
    assert_int_equal(jobs[2].node_selector, 0);
    assert_memory_equal(trace_str(&trace, jobs[2].queue), "queue-0", 7);
    trace_done(&trace);
}

static void jobs_of_philly_are_gangs_of_equal_pods(void **state)
{
    struct trace_conversion conversion = {0};
    struct trace trace;
    struct err err = {0};
    const struct trace_job *job;

    (void)state;
    assert_int_equal(
        convert(&trace, "philly", &conversion, &err,
                "[{\"status\":\"Pass\",\"vc\":\"ee9e8c\",\"jobid\":\"app_1\",\"user\":\"u\","
                "\"submitted_time\":\"2017-10-07 01:11:39\",\"attempts\":["
                "{\"start_time\":\"2017-10-07 01:12:00\",\"end_time\":\"2017-10-07 01:13:00\",\"detail\":[]},"
                "{\"start_time\":\"2017-10-07 01:13:30\",\"end_time\":\"2017-10-07 02:13:30\",\"detail\":["
                "{\"ip\":\"m1\",\"gpus\":[\"gpu0\",\"gpu1\",\"gpu2\",\"gpu3\"]},{\"ip\":\"m2\",\"gpus\":[\"gpu0\","
                "\"gpu1\"]}]}]},"
                "{\"vc\":\"x\",\"jobid\":\"app_2\",\"submitted_time\":\"2017-10-07 01:11:40\",\"attempts\":[]},"
                "{\"vc\":\"x\",\"jobid\":\"app_3\",\"submitted_time\":\"None\",\"attempts\":[{\"start_time\":"
                "\"2017-10-07 01:12:00\",\"end_time\":null,\"detail\":[{\"ip\":\"m1\",\"gpus\":[\"gpu0\"]}]}]}]",
                NULL),
        0);
    assert_int_equal(trace.jobs.len, 1);
    assert_int_equal(conversion.skipped, 2);
    job = &trace.jobs.items[0];
    assert_string_equal(trace_str(&trace, job->queue), "ee9e8c");
    assert_int_equal(job->pods, 3);
    assert_int_equal(job->gpus, 2);
    assert_int_equal(job->run, 61 * NSEC_PER_MIN);
    /* 2017-10-07 was a Saturday. */
    assert_int_equal((trace.events.items[0].time - TRACE_ORIGIN) / (24 * NSEC_PER_HOUR), 5);
    trace_done(&trace);
}

static void what_is_no_such_trace_is_refused(void **state)
{
    struct trace_conversion conversion = {0};
    struct trace trace;
    struct err err = {0};

    (void)state;
    assert_int_equal(convert(&trace, "alibaba", &conversion, &err, "a,b\n", NULL), -22);
    assert_non_null(strstr(err.text, ":1: missing columns: job_name, inst_id, user, status, start_time, end_time"));
    trace_done(&trace);
    assert_int_equal(convert(&trace, "alibaba", &conversion, &err, "a,1\n", NULL), -22);
    assert_non_null(strstr(err.text, ":1: expected 6 fields (pai_job_table), 10 (pai_task_table) or 11"));
    trace_done(&trace);
    assert_int_equal(convert(&trace, "philly", &conversion, &err, "{}", NULL), -22);
    trace_done(&trace);
    assert_int_equal(convert(&trace, "philly", &conversion, &err, "[{\"vc\":\"a\"}]", NULL), -22);
    assert_non_null(strstr(err.text, "jobid"));
    trace_done(&trace);
    assert_int_equal(convert(&trace, "google", &conversion, &err, "", NULL), -22);
    assert_string_equal(err.text, "no trace format is called 'google'");
    trace_done(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_of_2020_take_time_and_user_from_their_job),
        cmocka_unit_test(pods_of_2023_keep_their_fraction_and_types),
        cmocka_unit_test(jobs_of_philly_are_gangs_of_equal_pods),
        cmocka_unit_test(what_is_no_such_trace_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
