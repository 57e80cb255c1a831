/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/resources.h"

static int parse(struct trace *trace, const char *text, struct err *err)
{
    _cleanup_(freep) char *copy = xstrdup(text);

    trace_init(trace);
    return trace_parse(trace, "t.csv", copy, strlen(copy), err);
}

static void a_row_gives_a_job_with_defaults(void **state)
{
    struct trace trace;
    struct err err = {0};

    (void)state;
    assert_int_equal(parse(&trace, "time,name,queue,run_seconds\n12.5,a,research,60\n", &err), 0);
    assert_int_equal(trace.jobs.len, 1);
    assert_int_equal(trace.events.len, 1);
    assert_int_equal(trace.events.items[0].time, TRACE_ORIGIN + 12 * NSEC_PER_SEC + NSEC_PER_SEC / 2);
    const struct trace_job *job = &trace.jobs.items[0];
    assert_string_equal(trace_str(&trace, job->name), "a");
    assert_string_equal(trace_str(&trace, job->queue), "research");
    assert_string_equal(trace_str(&trace, job->namespace), "");
    assert_int_equal(job->pods, 1);
    assert_int_equal(job->min_available, 1);
    assert_int_equal(job->run, 60 * NSEC_PER_SEC);
    assert_int_equal(job->cpu_milli, 1000);
    assert_int_equal(job->priority, 50);
    assert_true(job->is_preemptible);
    trace_done(&trace);
}

static void every_column_is_read(void **state)
{
    struct trace trace;
    struct err err = {0};

    (void)state;
    assert_int_equal(parse(&trace,
                           "event,time,namespace,name,queue,pods,min_available,gpu_fraction,gpu_devices,cpu,memory,"
                           "run_seconds,checkpoint_seconds,priority,preemptible,topology,required_level,"
                           "preferred_level,node_selector,x-note\r\n"
                           "submit,2026-03-01T12:00:00Z,ml,\"big, job\",q,4,2,0.25,2,500m,4Gi,1.5,600,train,false,t,"
                           "rack,block,a=b;c=d|e,hello\r\n",
                           &err),
                     -22);
    assert_string_equal(err.text, "t.csv:2: name: expected a name of at most 253 bytes of UTF-8 without spaces, found "
                                  "'big, job'");
    trace_done(&trace);

    assert_int_equal(parse(&trace,
                           "event,time,namespace,name,queue,pods,min_available,gpu_fraction,gpu_devices,cpu,memory,"
                           "run_seconds,checkpoint_seconds,priority,preemptible,topology,required_level,"
                           "preferred_level,node_selector,x-note\r\n"
                           "submit,2026-03-01T12:00:00Z,ml,\"big,job\",q,4,2,0.25,2,500m,4Gi,1.5,600,train,false,t,"
                           "rack,block,a=b;c=d|e,hello\r\n"
                           "cancel,2026-03-01T13:00:00Z,ml,\"big,job\",,,,,,,,,,,,,,,,\r\n"
                           "node_down,2026-03-01T12:30:00Z,,n1,,,,,,,,,,,,,,,,\r\n",
                           &err),
                     0);
    const struct trace_job *job = &trace.jobs.items[0];
    assert_string_equal(trace_str(&trace, job->name), "big,job");
    assert_int_equal(job->kind, REQUEST_FRACTION);
    assert_true(job->fraction == 0.25);
    assert_int_equal(job->devices, 2);
    assert_int_equal(trace_job_gpus(&trace, job), 2 * GPU_ONE);
    assert_int_equal(job->cpu_milli, 500);
    assert_int_equal(job->memory_bytes, INT64_C(4) << 30);
    assert_int_equal(job->run, NSEC_PER_SEC * 3 / 2);
    assert_string_equal(trace_str(&trace, job->priority_class), "train");
    assert_false(job->is_preemptible);
    assert_string_equal(trace_str(&trace, job->node_selector), "a=b;c=d|e");
    /* In the order of time, not of the file. */
    assert_int_equal(trace.events.items[0].kind, TRACE_SUBMIT);
    assert_int_equal(trace.events.items[1].kind, TRACE_NODE_DOWN);
    assert_int_equal(trace.events.items[2].kind, TRACE_CANCEL);
    trace_done(&trace);
}

static void bad_input_is_named_with_line_and_column(void **state)
{
    static const struct {
        const char *text;
        const char *expected;
    } cases[] = {
        {"", "t.csv: is empty, expected a line of column titles"},
        {"# nothing\n\n", "t.csv: is empty, expected a line of column titles"},
        {"name,queue\n", "t.csv:1: missing columns: time, run_seconds (found name, queue)"},
        {"event\n", "t.csv:1: missing columns: time, name (found event)"},
        {"time,name,queue,run_seconds,speed\n",
         "t.csv:1: speed: there is no such column; docs/traces.md lists all of them"},
        {"time,name,time,queue,run_seconds\n", "t.csv:1: time: the column is listed twice"},
        {"time,name,queue,run_seconds\n1,a,q,1,2\n", "t.csv:2: expected 4 fields, found 5"},
        {"time,name,queue,run_seconds\n1,a,,1\n", "t.csv:2: queue: expected the name of a queue, found ''"},
        {"time,name,queue,run_seconds\n,a,q,1\n",
         "t.csv:2: time: expected seconds from the start, or a time such as 2026-03-01T12:00:00Z, found ''"},
        {"time,name,queue,run_seconds\n-1,a,q,1\n",
         "t.csv:2: time: expected seconds from the start, or a time such as 2026-03-01T12:00:00Z, found '-1'"},
        {"time,name,queue,run_seconds\n1e9,a,q,1\n",
         "t.csv:2: time: expected seconds from the start, or a time such as 2026-03-01T12:00:00Z, found '1e9'"},
        {"time,name,queue,run_seconds\n1,a,q,0\n",
         "t.csv:2: run_seconds: expected seconds above 0, or nothing, found '0'"},
        {"time,name,queue,run_seconds,pods\n\n1,a,q,1,0\n",
         "t.csv:3: pods: expected a whole number from 1 to 16384, found '0'"},
        {"time,name,queue,run_seconds,pods,min_available\n1,a,q,1,2,3\n",
         "t.csv:2: min_available: expected at most 2, the number of pods, found '3'"},
        {"time,name,queue,run_seconds,gpus,gpu_fraction\n1,a,q,1,2,0.5\n",
         "t.csv:2: gpus: whole GPUs and a fraction cannot be requested together"},
        {"time,name,queue,run_seconds,gpu_fraction\n1,a,q,1,1.5\n",
         "t.csv:2: gpu_fraction: expected a number above 0, at most 1, found '1.5'"},
        {"time,name,queue,run_seconds,cpu\n1,a,q,1,0.1x\n",
         "t.csv:2: cpu: expected an amount of cores such as 4 or 500m, found '0.1x'"},
        {"time,name,queue,run_seconds,memory\n1,a,q,1,1e400\n",
         "t.csv:2: memory: expected an amount of memory such as 64Gi, found '1e400'"},
        {"time,name,queue,run_seconds,node_selector\n1,a,q,1,a=\n",
         "t.csv:2: node_selector: expected label=value, several joined by ';', other values by '|', found 'a='"},
        {"time,name,queue,run_seconds,resources\n1,a,q,1,cpu=1\n",
         "t.csv:2: resources: expected name=count, several joined by ';', such as rdma/hca=1, found 'cpu=1'"},
        {"time,name,queue,run_seconds,anti_affinity\n1,a,q,1,rack=\n",
         "t.csv:2: anti_affinity: expected a label of nodes, or label=group, found 'rack='"},
        {"time,name,queue,run_seconds\n1,a,q,1\n2,a,q,1\n",
         "t.csv:3: name: 'a' is already used in line 2; expected a name that is not used yet"},
        {"time,event,name\n1,cancel,a\n", "t.csv:2: name: expected a workload that an earlier line submits, found 'a'"},
        {"time,event,name\n1,stop,a\n",
         "t.csv:2: event: expected one of submit, cancel, node_down, node_up, found 'stop'"},
        {"time,name,queue,run_seconds\n1,\"a,q,1\n", "t.csv:2: a quoted field is not closed"},
        {"time,name,queue,run_seconds\n1,\"a\"b,q,1\n", "t.csv:2: expected a comma after a quoted field"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct trace trace;
        struct err err = {0};

        assert_int_equal(parse(&trace, cases[i].text, &err), -22);
        assert_string_equal(err.text, cases[i].expected);
        trace_done(&trace);
    }
}

static void lists_give_pods_of_different_size(void **state)
{
    static const char *const refused[] = {
        "t.csv:2: pods: expected amounts for 3 pods, found a list for 2",
        "t.csv:2: gpus: expected a whole number from 0 to 1024, or a list such as 4x8+3, found '8+'",
    };
    struct trace trace;
    struct err err = {0};

    (void)state;
    assert_int_equal(parse(&trace,
                           "time,name,queue,run_seconds,pods,gpus,cpu,memory\n1,a,q,1,,4x8+3,2x16+3x4,1e+3\n"
                           "2,b,q,1,2,2x8,,\n3,c,q,1,2,8+8,3,\n",
                           &err),
                     0);
    const struct trace_job *job = &trace.jobs.items[0];
    assert_int_equal(job->pods, 5);
    assert_int_equal(job->min_available, 5);
    assert_int_equal(job->part_count, 3);
    assert_int_equal(trace_job_gpus(&trace, job), 35 * GPU_ONE);
    struct trace_part part = trace_part(&trace, job, 1);
    assert_int_equal(part.pods, 2);
    assert_int_equal(part.gpus, 8);
    assert_int_equal(part.cpu_milli, 4000);
    assert_int_equal(part.memory_bytes, 1000);
    /* Parts that ask for the same are one. */
    assert_int_equal(trace.jobs.items[1].part_count, 0);
    assert_int_equal(trace.jobs.items[1].gpus, 8);
    assert_int_equal(trace.jobs.items[2].pods, 2);
    assert_int_equal(trace.jobs.items[2].part_count, 0);
    trace_done(&trace);

    assert_int_equal(parse(&trace, "time,name,queue,run_seconds,pods,gpus\n1,a,q,1,3,8+3\n", &err), -22);
    assert_string_equal(err.text, refused[0]);
    trace_done(&trace);
    assert_int_equal(parse(&trace, "time,name,queue,run_seconds,gpus\n1,a,q,1,8+\n", &err), -22);
    assert_string_equal(err.text, refused[1]);
    trace_done(&trace);
}

/* What is written reads back as it was. */
static void written_traces_read_back(void **state)
{
    static const char text[] = "time,event,name,namespace,queue,pods,min_available,gpus,gpu_fraction,gpu_memory_mib,"
                               "gpu_devices,cpu,memory,run_seconds,checkpoint_seconds,priority,preemptible,"
                               "node_selector,resources,anti_affinity,recorded_start\n"
                               "0,submit,a,ml,q,1,,1,,,,1,1Gi,3600,,50,,,rdma/hca=1;x.io/y=2,,30.5\n"
                               "0.25,submit,b,ml,q,4,2,,0.5,,2,1500m,3Gi,60.125,600,125,true,k=v|w,,rack,\n"
                               "7,node_down,n1,,,,,,,,,,,,,,,,,,\n"
                               "8,submit,c,,q,1,,,,4096,1,4,1025Ki,,,build,false,,,zone=db,\n"
                               "8.5,submit,d,,q,5,,4x8+3,,,,2x16+3x4,1Gi,9,,50,,,,,\n"
                               "9,cancel,c,,,,,,,,,,,,,,,,,,\n"
                               "10,node_up,n1,,,,,,,,,,,,,,,,,,\n";
    struct trace trace;
    struct err err = {0};
    char *out = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&out, &len);

    (void)state;
    assert_int_equal(parse(&trace, text, &err), 0);
    trace_write(&trace, file);
    (void)fclose(file);
    assert_string_equal(out, text);
    free(out);
    trace_done(&trace);
}

static void a_narrow_trace_has_few_columns(void **state)
{
    struct trace trace;
    char *out = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&out, &len);

    (void)state;
    assert_int_equal(parse(&trace, "time,name,queue,run_seconds,gpus\n2020-01-01T00:00:00Z,a,q,1,2\n", NULL), 0);
    trace_write(&trace, file);
    (void)fclose(file);
    assert_string_equal(out, "time,name,queue,gpus,run_seconds\n2020-01-01T00:00:00Z,a,q,2,1\n");
    free(out);
    trace_done(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_gives_a_job_with_defaults),         cmocka_unit_test(every_column_is_read),
        cmocka_unit_test(bad_input_is_named_with_line_and_column), cmocka_unit_test(written_traces_read_back),
        cmocka_unit_test(a_narrow_trace_has_few_columns),          cmocka_unit_test(lists_give_pods_of_different_size),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
