/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/convert/convert.h"

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

/* What came of one conversion. */
struct outcome {
    int rc;
    struct err err;
    struct conversion conversion;
    struct trace trace;
    char *csv;   // the trace, as it is written
    char *yaml;  // its cluster
};

static void write_outcome(struct outcome *o)
{
    size_t len;
    FILE *out = open_memstream(&o->csv, &len);

    trace_write(&o->trace, out);
    (void)fclose(out);
    convert_cluster(&o->trace, &o->conversion);
    out = open_memstream(&o->yaml, &len);
    trace_cluster_write(&o->conversion.cluster, &o->trace, out);
    (void)fclose(out);
}

/* Converts up to three texts, the last ones NULL. */
static void convert(struct outcome *o, const char *source, const char *a, const char *b, const char *c)
{
    const char *texts[] = {a, b, c};
    char *paths[3] = {0};
    size_t count = 0;

    for (; count < 3 && texts[count]; count++)
        paths[count] = write_file(texts[count]);
    o->conversion.gpus_per_node = 8;
    trace_init(&o->trace);
    o->rc = convert_files(&o->trace, source, (const char *const *)paths, count, &o->conversion, &o->err);
    for (size_t i = 0; i < count; i++) {
        (void)unlink(paths[i]);
        free(paths[i]);
    }
    if (o->rc == 0)
        write_outcome(o);
}

static void outcome_done(struct outcome *o)
{
    free(o->csv);
    free(o->yaml);
    trace_done(&o->trace);
    conversion_done(&o->conversion);
}

static void tasks_of_2020_take_time_and_user_from_their_job(void **state)
{
    struct outcome o = {0};

    (void)state;
    /* The tables come without titles. 57600 is Friday 00:00 in Shanghai. */
    convert(&o, "alibaba",
            "j1,worker,2.0,Terminated,57700.0,57800.0,600.0,29.296875,50.0,MISC\n"
            "j1,ps,1.0,Terminated,57700.0,57900.0,400.0,,,\n"
            "j2,tensorflow,1.0,Running,57700.0,,600.0,29.3,100.0,T4\n"
            "j3,tensorflow,,Failed,57610.0,57640.0,,,250.0,V100\n",
            "j1,i1,alice,Terminated,57600.0,57900.0\n", "m1,T4,96,512,2\nm2,CPU,96,512,0\n");
    assert_int_equal(o.rc, 0);
    assert_string_equal(o.csv, "time,name,queue,pods,gpus,gpu_fraction,cpu,memory,run_seconds,recorded_start\n"
                               "345600,j1-worker,alice,2,,0.5,6,30000Mi,100,345700\n"
                               "345600,j1-ps,alice,1,0,,4,1Gi,200,345700\n"
                               "345610,j3-tensorflow,unknown,1,3,,1,1Gi,30,345610\n");
    assert_int_equal(o.conversion.skipped, 1);
    assert_int_equal(o.conversion.cluster.nodes.len, 2);
    assert_non_null(strstr(o.yaml, "{name: m1, labels: {nvidia.com/gpu.product: \"T4\"}}"));
    assert_non_null(strstr(o.yaml, "{name: m2, labels: {}}"));
    outcome_done(&o);
}

#define OPENB "name,cpu_milli,memory_mib,num_gpu,gpu_milli"
#define OPENB_TIMES ",gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"

static void pods_of_2023_keep_their_fraction_types_and_starts(void **state)
{
    struct outcome o = {0};

    (void)state;
    convert(&o, NULL,
            OPENB OPENB_TIMES "p0,12000,16384,1,1000,,LS,Running,100,1100,200\n"
                              "p1,6000,12288,1,460,V100M16|V100M32,BE,Running,150,1150,150\n"
                              "p2,88000,327680,8,1000,nan,Burstable,Succeeded,160,2160,160\n"
                              "p3,11908,47104,1,1000,,BE,Pending,170,300,\n",
            "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,2,V100M16\nn1,96000,786432,0,\n", NULL);
    assert_int_equal(o.rc, 0);
    assert_string_equal(o.csv, "time,name,queue,gpus,gpu_fraction,cpu,memory,run_seconds,priority,node_selector,"
                               "recorded_start\n"
                               "100,p0,LS,1,,12,16Gi,900,75,,200\n"
                               "150,p1,BE,,0.46,6,12Gi,1000,50,nvidia.com/gpu.product=V100M16|V100M32,150\n"
                               "160,p2,Burstable,8,,88,320Gi,2000,75,,160\n");
    assert_int_equal(o.conversion.skipped, 1);
    assert_non_null(strstr(o.yaml, "{name: n0, labels: {nvidia.com/gpu.product: \"V100M16\", nvidia.com/gpu.memory: "
                                   "\"16384\"}}, status: {allocatable: {cpu: \"64\", memory: 256Gi, pods: \"250\", "
                                   "nvidia.com/gpu: \"2\"}"));
    outcome_done(&o);
}

static void pods_that_never_started_are_kept_when_asked_for(void **state)
{
    struct outcome o = {.conversion = {.keeps_pending = true}};

    (void)state;
    convert(&o, "alibaba",
            OPENB OPENB_TIMES
            "p0,1000,1024,1,1000,,LS,Running,100,1100,200\np3,1000,1024,1,1000,,BE,Pending,170,300,\n",
            NULL, NULL);
    assert_int_equal(o.rc, 0);
    assert_int_equal(o.conversion.skipped, 0);
    assert_int_equal(o.conversion.pending, 1);
    assert_string_equal(o.csv, "time,event,name,queue,gpus,run_seconds,priority,recorded_start\n"
                               "100,submit,p0,LS,1,900,75,200\n"
                               "170,submit,p3,BE,1,,50,\n"
                               "300,cancel,p3,,,,,\n");
    outcome_done(&o);
}

static void pods_without_times_come_at_once_and_stay(void **state)
{
    struct outcome o = {0};

    (void)state;
    convert(&o, NULL, OPENB "\np0,1000,1024,1,1000\np1,2000,1024,2,1000\n", NULL, NULL);
    assert_int_equal(o.rc, 0);
    assert_int_equal(o.conversion.timeless, 2);
    assert_string_equal(o.csv, "time,name,queue,gpus,cpu,run_seconds\n"
                               "0,p0,unknown,1,1,\n"
                               "0,p1,unknown,2,2,\n");
    outcome_done(&o);
}

static void jobs_of_philly_keep_the_shape_that_their_machines_gave_them(void **state)
{
    struct outcome o = {0};

    (void)state;
    convert(&o, "philly",
            "[{\"status\":\"Pass\",\"vc\":\"ee9e8c\",\"jobid\":\"app_1\",\"user\":\"u\","
            "\"submitted_time\":\"2017-10-07 01:11:39\",\"attempts\":["
            "{\"start_time\":\"2017-10-07 01:12:00\",\"end_time\":\"2017-10-07 01:13:00\",\"detail\":[]},"
            "{\"start_time\":\"2017-10-07 01:13:30\",\"end_time\":\"2017-10-07 02:13:30\",\"detail\":["
            "{\"ip\":\"m2\",\"gpus\":[\"0\",\"1\",\"2\"]},"
            "{\"ip\":\"m1\",\"gpus\":[\"0\",\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\"]}]}]},"
            "{\"vc\":\"x\",\"jobid\":\"app_2\",\"submitted_time\":\"2017-10-07 01:11:40\",\"attempts\":[]},"
            "{\"vc\":\"x\",\"jobid\":\"app_3\",\"submitted_time\":\"None\",\"attempts\":[{\"start_time\":"
            "\"2017-10-07 01:12:00\",\"end_time\":null,\"detail\":[{\"ip\":\"m1\",\"gpus\":[\"gpu0\"]}]}]}]",
            "machineId, number of GPUs, single GPU mem\nm1,8, 24GB\n", "vc,node num\nee9e8c,2\n");
    assert_int_equal(o.rc, 0);
    assert_int_equal(o.conversion.skipped, 2);
    /* 2017-10-07 was a Saturday. */
    assert_string_equal(o.csv, "time,name,queue,pods,gpus,cpu,memory,run_seconds,recorded_start\n"
                               "436299,app_1,ee9e8c,2,8+3,32+12,1Gi,3660,436320\n");
    assert_non_null(strstr(o.yaml, "nvidia.com/gpu.memory: \"24576\"}}, status: {allocatable: {cpu: \"128\", memory: "
                                   "1024Gi, pods: \"250\", nvidia.com/gpu: \"8\"}"));
    assert_non_null(strstr(o.yaml,
                           "metadata: {name: ee9e8c}\n  spec:\n    parentQueue: all\n    resources:\n      gpu: "
                           "{quota: 16, "));
    outcome_done(&o);
}

static void reduced_philly_fills_nodes_of_eight(void **state)
{
    struct outcome o = {0};

    (void)state;
    convert(&o, NULL,
            "timestamp,duration,num_gpus,gpu_time,cluster\n"
            "2017-10-09 07:01:55,66.0,19,1254.0,11cb48\n2017-10-09 07:02:55,60.0,1,60.0,7f04ca\n",
            NULL, NULL);
    assert_int_equal(o.rc, 0);
    assert_string_equal(o.csv, "time,name,queue,pods,gpus,cpu,memory,run_seconds\n"
                               "25315,job-2,11cb48,3,2x8+3,2x32+12,1Gi,66\n"
                               "25375,job-3,7f04ca,1,1,4,1Gi,60\n");
    outcome_done(&o);
}

static void jobs_of_slurm_are_gangs_of_a_pod_a_node(void **state)
{
    struct outcome o = {0};

    (void)state;
    convert(
        &o, NULL,
        "JobID|User|Account|Partition|Submit|Start|End|State|Elapsed|Suspended|NNodes|NCPUS|ReqTRES|AllocTRES\n"
        "100|ann|vision|gpu|2026-03-02T08:00:00|2026-03-02T08:05:00|2026-03-03T08:05:00|COMPLETED|1-00:00:00|"
        "00:00:00|2|64|billing=64,cpu=64,gres/gpu:a100=8,mem=512G,node=2|cpu=64,gres/gpu:a100=8,gres/gpu=8,mem=512G,"
        "node=2\n"
        "100.batch|||gpu|2026-03-02T08:05:00|2026-03-02T08:05:00|2026-03-03T08:05:00|COMPLETED|1-00:00:00|00:00:00|"
        "1|32||cpu=32,mem=256G,node=1\n"
        "101_7|bob|language|gpu*|2026-03-02T09:00:00|2026-03-02T09:00:00|2026-03-02T09:30:00|TIMEOUT|00:20:00|"
        "00:10:00|2|6|cpu=6,gres/gpu=5,mem=1.5T,node=2|\n"
        "102|bob|language|cpu|2026-03-02T09:10:00|2026-03-02T09:11:00|Unknown|RUNNING|5-00:00:00|00:00:00|1|4|"
        "cpu=4,mem=8000M,node=1|cpu=4,mem=8000M,node=1\n"
        "103|eve|vision|gpu|2026-03-02T09:20:00|None|2026-03-02T09:40:00|CANCELLED by 1000|00:00:00|00:00:00|1|1|"
        "cpu=1,mem=1G,node=1|\n",
        "NODELIST|CPUS|MEMORY|GRES|PARTITION\n"
        "g1|64|1031000|gpu:a100:4(S:0-1)|gpu*\ng1|64|1031000|gpu:a100:4(S:0-1)|long\nc1|128|515000|(null)|cpu\n",
        NULL);
    assert_int_equal(o.rc, 0);
    assert_string_equal(
        o.csv, "time,name,namespace,queue,pods,gpus,cpu,memory,run_seconds,node_selector,recorded_start\n"
               "2026-03-02T08:00:00Z,100,ann,vision,2,4,32,256Gi,86400,slurm/partition-gpu=true;"
               "nvidia.com/gpu.product=a100,2026-03-02T08:05:00Z\n"
               "2026-03-02T09:00:00Z,101_7,bob,language,2,3+2,3,768Gi,1200,slurm/partition-gpu=true,"
               "2026-03-02T09:00:00Z\n"
               "2026-03-02T09:10:00Z,102,bob,language,1,0,4,8000Mi,,slurm/partition-cpu=true,2026-03-02T09:11:00Z\n");
    assert_int_equal(o.conversion.skipped, 1);
    assert_int_equal(o.conversion.cluster.nodes.len, 2);
    assert_non_null(strstr(o.yaml, "{name: g1, labels: {nvidia.com/gpu.product: a100, slurm/partition-gpu: \"true\", "
                                   "slurm/partition-long: \"true\"}}"));
    outcome_done(&o);
}

static void arrays_of_slurm_that_wait_become_a_workload_a_task(void **state)
{
    struct outcome o = {.conversion = {.keeps_pending = true}};

    (void)state;
    convert(&o, "slurm",
            "JobID|User|Account|Submit|Start|End|State\n"
            "7_[1-3,9%2]|ann|a|2026-03-02T08:00:00|Unknown|Unknown|PENDING\n"
            "8|ann|a|2026-03-02T08:00:00|2026-03-02T08:30:00|2026-03-02T08:30:00|CANCELLED by 5\n",
            NULL, NULL);
    assert_int_equal(o.rc, 0);
    assert_string_equal(o.csv, "time,event,name,namespace,queue,run_seconds\n"
                               "2026-03-02T08:00:00Z,submit,7_1,ann,a,\n"
                               "2026-03-02T08:00:00Z,submit,7_2,ann,a,\n"
                               "2026-03-02T08:00:00Z,submit,7_3,ann,a,\n"
                               "2026-03-02T08:00:00Z,submit,7_9,ann,a,\n"
                               "2026-03-02T08:00:00Z,submit,8,ann,a,\n"
                               "2026-03-02T08:30:00Z,cancel,8,ann,,\n");
    outcome_done(&o);
}

static void records_of_eagle_are_read_as_slurm(void **state)
{
    struct outcome o = {0};

    (void)state;
    convert(&o, NULL,
            "job_id,user,account,partition,qos,wallclock_req,nodes_req,processors_req,gpus_req,mem_req,submit_time,"
            "start_time,end_time,run_time,state,name,work_dir,submit_line\n"
            "5,u1,acc,p7,normal,900.0,2,72,4,0.0,2019-01-02 11:00:00,2019-01-02 11:00:30,2019-01-02 11:15:30,900.0,"
            "TIMEOUT,n,w,s\n",
            NULL, NULL);
    assert_int_equal(o.rc, 0);
    assert_string_equal(
        o.csv, "time,name,namespace,queue,pods,gpus,cpu,run_seconds,node_selector,limit_seconds,recorded_start\n"
               "2019-01-02T11:00:00Z,5,u1,acc,2,2,36,900,slurm/partition-p7=true,900,2019-01-02T11:00:30Z\n");
    /* No file lists nodes: one of 8 GPUs holds all that ran at one time. */
    assert_int_equal(o.conversion.nodes_made_up, 1);
    assert_non_null(strstr(o.yaml, "{name: node-0001, labels: {slurm/partition-p7: \"true\"}}, status: {allocatable: "
                                   "{cpu: \"128\", memory: 1024Gi, pods: \"250\", nvidia.com/gpu: \"8\"}"));
    outcome_done(&o);
}

#define POD(ns, name) "\"namespace\":\"" ns "\",\"pod\":\"" name "\",\"uid\":\"u-" name "\""
#define SERIES(metric, labels, values) "{\"metric\":{\"__name__\":\"" metric "\"," labels "},\"values\":[" values "]}"
#define REQUEST(ns, name, resource, amount)        \
    SERIES("kube_pod_container_resource_requests", \
           POD(ns, name) ",\"container\":\"main\",\"resource\":\"" resource "\"", "[1772440000,\"" amount "\"]")
#define ANSWER(series) "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[" series "]}}"

/* One that ended, one that was deleted while Prometheus looked on, one that still runs, and one that waits. */
static void pods_of_prometheus_are_workloads_of_their_owner(void **state)
{
    static const char pods[] =
        ANSWER(
            SERIES("kube_pod_created", POD("ml", "t-0"), "[1772440000,\"1772439000\"],[1772440300,\"1772439000\"]") "," SERIES(
                "kube_pod_created", POD("ml", "t-1"),
                "[1772440000,\"1772439010\"]") "," SERIES("kube_pod_status_scheduled_time", POD("ml", "t-0"),
                                                          "[1772440000,\"1772439060\"]") "," SERIES("kube_pod_start_"
                                                                                                    "time",
                                                                                                    POD("ml", "t-1"),
                                                                                                    "[1772440000,"
                                                                                                    "\"1772439061\"]") "," SERIES("kube_pod_completion_time",
                                                                                                                                  POD("ml",
                                                                                                                                      "t-0"),
                                                                                                                                  "[1772440300,\"1772440261\"]") "," SERIES("kube_pod_owner", POD("ml", "t-0") ",\"owner_kind\":\"PyTorchJob\",\"owner_name\":\"t\"", "[1772440000,\"1\"]") "," SERIES("kube_pod_owner", POD("ml", "t-1") ",\"owner_kind\":\"PyTorchJob\",\"owner_name\":\"t\"", "[1772440000,\"1\"]") "," REQUEST("ml",
                                                                                                                                                                                                                                                                                                                                                                                                                                   "t-0", "nvidia_com_gpu", "8") "," REQUEST("ml",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                             "t-1", "nvidia_com_gpu", "4") "," REQUEST("ml",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       "t-0", "cpu", "16") "," REQUEST("ml",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       "t-1", "cpu", "0.5"));
    static const char more[] = ANSWER(
        SERIES("kube_pod_created", POD("web", "v"), "[1772449000,\"1772430000\"],[1772450000,\"1772430000\"]") "," SERIES("kube_pod_start_time", POD("web", "v"), "[1772450000,\"1772430005\"]") "," SERIES(
            "kube_pod_labels", POD("web", "v") ",\"label_kai_scheduler_queue\":\"prod\"",
            "[1772450000,\"1\"]") "," REQUEST("web", "v", "nvidia_com_gpu",
                                              "1") "," REQUEST("web", "v", "nvidia_com_gpu",
                                                               "1") "," SERIES("kube_pod_created", POD("web", "w"),
                                                                               "[1772450000,\"1772449000\"]") "," SERIES("kube_pod_created",
                                                                                                                         POD("kube-system",
                                                                                                                             "d"),
                                                                                                                         "[1772450000,\"1772449000\"]") "," SERIES("kube_pod_owner",
                                                                                                                                                                   POD("kube-system",
                                                                                                                                                                       "d") ",\"owner_kind\":\"DaemonSet\",\"owner_name\":\"d\"",
                                                                                                                                                                   "[1772440000,\"1\"]") "," SERIES("up",
                                                                                                                                                                                                    "\"job\":\"x\"",
                                                                                                                                                                                                    "[1772450000,\"1\"]"));
    static const char nodes[] = ANSWER(
        SERIES("kube_node_status_allocatable", "\"node\":\"g1\",\"resource\":\"nvidia_com_gpu\"",
               "[1772450000,\"8\"]") "," SERIES("kube_node_status_allocatable", "\"node\":\"g1\",\"resource\":\"cpu\"",
                                                "[1772450000,\"63.5\"]") "," SERIES("kube_node_status_"
                                                                                    "allocatable",
                                                                                    "\"node\":\"g1\","
                                                                                    "\"resource\":"
                                                                                    "\"memory\"",
                                                                                    "[1772450000,"
                                                                                    "\"1099511627776\""
                                                                                    "]") "," SERIES("ku"
                                                                                                    "be"
                                                                                                    "_n"
                                                                                                    "od"
                                                                                                    "e_"
                                                                                                    "la"
                                                                                                    "be"
                                                                                                    "l"
                                                                                                    "s",
                                                                                                    "\""
                                                                                                    "no"
                                                                                                    "de"
                                                                                                    "\""
                                                                                                    ":"
                                                                                                    "\""
                                                                                                    "g1"
                                                                                                    "\""
                                                                                                    ","
                                                                                                    "\""
                                                                                                    "la"
                                                                                                    "be"
                                                                                                    "l_"
                                                                                                    "nv"
                                                                                                    "id"
                                                                                                    "ia"
                                                                                                    "_c"
                                                                                                    "om"
                                                                                                    "_g"
                                                                                                    "pu"
                                                                                                    "_p"
                                                                                                    "ro"
                                                                                                    "du"
                                                                                                    "ct"
                                                                                                    "\""
                                                                                                    ":"
                                                                                                    "\""
                                                                                                    "NV"
                                                                                                    "ID"
                                                                                                    "IA"
                                                                                                    "-H"
                                                                                                    "10"
                                                                                                    "0"
                                                                                                    "\"",
                                                                                                    "[1"
                                                                                                    "77"
                                                                                                    "24"
                                                                                                    "50"
                                                                                                    "00"
                                                                                                    "0,"
                                                                                                    "\""
                                                                                                    "1"
                                                                                                    "\""
                                                                                                    "]"));
    struct outcome o = {0};

    (void)state;
    convert(&o, NULL, pods, more, nodes);
    assert_string_equal(o.err.text, "");
    assert_string_equal(o.csv, "time,name,namespace,queue,pods,gpus,cpu,memory,run_seconds,recorded_start\n"
                               "2026-03-02T05:40:00Z,v,web,prod,1,1,0,0,,2026-03-02T05:40:05Z\n"
                               "2026-03-02T08:10:00Z,t,ml,ml,2,8+4,16+500m,0,1200,2026-03-02T08:11:01Z\n");
    assert_int_equal(o.conversion.skipped, 1);
    assert_non_null(strstr(o.yaml, "{name: g1, labels: {nvidia.com/gpu.product: \"NVIDIA-H100\"}}, status: "
                                   "{allocatable: {cpu: \"63500m\", memory: 1024Gi, pods: \"250\", nvidia.com/gpu: "
                                   "\"8\"}"));
    outcome_done(&o);
}

static void owners_are_spread_over_queues_by_name(void **state)
{
    struct outcome o = {.conversion = {.queues = 4}};

    (void)state;
    convert(&o, NULL,
            "JobID|Account|Submit|Start|End|State\n"
            "1|a|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T08:01:00|COMPLETED\n"
            "1|a|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T08:01:00|COMPLETED\n",
            NULL, NULL);
    assert_int_equal(o.rc, 0);
    /* A job that was requeued stands there twice. */
    assert_string_equal(o.csv, "time,name,queue,run_seconds,recorded_start\n"
                               "2026-03-02T08:00:00Z,1,queue-01,60,2026-03-02T08:00:00Z\n"
                               "2026-03-02T08:00:00Z,1-2,queue-01,60,2026-03-02T08:00:00Z\n");
    outcome_done(&o);
}

static void files_of_no_known_format_are_refused_with_the_nearest(void **state)
{
    static const struct {
        const char *source;
        const char *text;
        const char *expected;
    } cases[] = {
        {NULL, "name,cpu_milli,memory_mib,num_gpu\n",
         ":1: the nearest format is openb_pod_list (alibaba), which also needs the columns gpu_milli; found name, "
         "cpu_milli, memory_mib, num_gpu"},
        {NULL, "a,b\n", ":1: no format has any of the columns a, b; docs/traces.md lists the formats"},
        {"slurm", "timestamp,duration\n",
         ":1: no format of slurm has any of the columns timestamp, duration; docs/traces.md lists the formats"},
        {"alibaba", "a,1\n",
         ":1: expected a line of column titles, or without one 5 fields (pai_machine_spec), 6 (pai_job_table), 10 "
         "(pai_task_table) or 11 (openb_pod_list), found 2 fields"},
        {NULL, "JobID|Submit|Start\n",
         ":1: the nearest format is sacct -P (slurm), which also needs the columns End, State; found JobID, Submit, "
         "Start"},
        {"slurm", "{}",
         ": expected a file of slurm, found JSON as prometheus has it; leave out --from, or name "
         "prometheus"},
        {NULL, "{\"status\":\"error\",\"error\":\"query timed out\"}",
         ": Prometheus answered with an error: query timed out"},
        {NULL, "{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{\"pod\":\"a\"},\"value\":[1,\"2\"]}]}}",
         ": data.result[0].metric: expected the metric's name in __name__; query for the metrics themselves, without "
         "functions"},
        {"philly", "[{\"vc\":\"a\"}]", "jobid"},
        {NULL, "", "is empty, expected a line of column titles"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct outcome o = {0};

        convert(&o, cases[i].source, cases[i].text, NULL, NULL);
        assert_int_equal(o.rc, -22);
        if (!strstr(o.err.text, cases[i].expected))
            assert_string_equal(o.err.text, cases[i].expected);
        outcome_done(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_of_2020_take_time_and_user_from_their_job),
        cmocka_unit_test(pods_of_2023_keep_their_fraction_types_and_starts),
        cmocka_unit_test(pods_that_never_started_are_kept_when_asked_for),
        cmocka_unit_test(pods_without_times_come_at_once_and_stay),
        cmocka_unit_test(jobs_of_philly_keep_the_shape_that_their_machines_gave_them),
        cmocka_unit_test(reduced_philly_fills_nodes_of_eight),
        cmocka_unit_test(jobs_of_slurm_are_gangs_of_a_pod_a_node),
        cmocka_unit_test(arrays_of_slurm_that_wait_become_a_workload_a_task),
        cmocka_unit_test(records_of_eagle_are_read_as_slurm),
        cmocka_unit_test(pods_of_prometheus_are_workloads_of_their_owner),
        cmocka_unit_test(owners_are_spread_over_queues_by_name),
        cmocka_unit_test(files_of_no_known_format_are_refused_with_the_nearest),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
