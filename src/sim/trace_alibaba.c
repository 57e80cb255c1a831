/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Alibaba's GPU traces. v2020 tells of jobs made of tasks, each a number of equal instances: a task becomes a gang of its
 * own, since a gang of ours has equal pods. v2023 tells of single pods. Files are known by their columns; those of v2020
 * come without a line of titles.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "sim/trace_convert_internal.h"
#include "text/csv.h"
#include "text/file.h"

/* The times of v2020, taken for Unix time, are 8 hours behind Shanghai's clocks; Unix time starts 3 days after a Monday. */
#define SHANGHAI (3 * 24 * NSEC_PER_HOUR + 8 * NSEC_PER_HOUR)

enum table { TABLE_JOBS, TABLE_TASKS, TABLE_PODS, _TABLE_MAX };

enum { JOB_NAME, JOB_ID, JOB_USER, JOB_STATUS, JOB_START, JOB_END, JOB_COLUMNS };
enum {
    TASK_JOB,
    TASK_NAME,
    TASK_INSTANCES,
    TASK_STATUS,
    TASK_START,
    TASK_END,
    TASK_CPU,
    TASK_MEMORY,
    TASK_GPU,
    TASK_TYPE,
    TASK_COLUMNS
};
enum {
    POD_NAME,
    POD_CPU,
    POD_MEMORY,
    POD_GPUS,
    POD_GPU_MILLI,
    POD_SPEC,
    POD_QOS,
    POD_PHASE,
    POD_CREATED,
    POD_DELETED,
    POD_SCHEDULED,
    POD_COLUMNS
};

static const struct {
    size_t columns;
    const char *first_title;
} tables[_TABLE_MAX] = {
    [TABLE_JOBS] = {JOB_COLUMNS, "job_name"},
    [TABLE_TASKS] = {TASK_COLUMNS, "job_name"},
    [TABLE_PODS] = {POD_COLUMNS, "name"},
};

/* What the job table says of a job. */
struct known_job {
    nsec_t submitted;
    trace_name user;
};

struct reader {
    struct trace *trace;
    struct trace_conversion *conversion;
    struct csv csv;
    VEC(struct known_job) jobs;
    struct map64 job_by_name;  // trace_name -> index in `jobs`
};

/* A number of a field; false when it is empty or none, as the traces have it for what is not known. */
static bool number(const struct csv *csv, size_t field, double *ret)
{
    const char *text = csv_field(csv, field);
    char *end;

    *ret = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*ret) && *ret >= 0 && *ret < 1e12;
}

static double number_or(const struct csv *csv, size_t field, double other)
{
    double value;

    return number(csv, field, &value) ? value : other;
}

static nsec_t seconds(double value)
{
    return (nsec_t)value * NSEC_PER_SEC;
}

static void read_job(struct reader *r)
{
    const struct csv *csv = &r->csv;
    double submitted;

    if (!number(csv, JOB_START, &submitted))
        return;
    map64_put(&r->job_by_name, trace_intern(r->trace, csv_field(csv, JOB_NAME)), r->jobs.len);
    vec_push(&r->jobs, (struct known_job){.submitted = seconds(submitted),
                                          .user = trace_intern(r->trace, csv_field(csv, JOB_USER))});
}

/* GPUs in hundredths of one: less than a whole one is a fraction, more is rounded up to whole ones. */
static void set_gpus(struct trace_job *job, double hundredths)
{
    if (hundredths > 0 && hundredths < 100) {
        job->kind = REQUEST_FRACTION;
        job->fraction = hundredths / 100;
        return;
    }
    job->gpus = (uint32_t)MIN(ceil(hundredths / 100), (double)TRACE_GPUS_MAX);
}

static trace_name join_names(struct trace *trace, const char *job, const char *task)
{
    char name[254];

    (void)snprintf(name, sizeof name, "%s-%s", job, task);
    return trace_intern(trace, name);
}

static void read_task(struct reader *r)
{
    const struct csv *csv = &r->csv;
    struct trace_job job = TRACE_JOB_INIT;
    const char *user = "";
    double start;
    double end;
    nsec_t submitted;
    uint64_t known;

    if (!number(csv, TASK_START, &start) || !number(csv, TASK_END, &end) || seconds(end) <= seconds(start)) {
        r->conversion->skipped++;
        return;
    }
    submitted = seconds(start);
    if (map64_get(&r->job_by_name, trace_intern(r->trace, csv_field(csv, TASK_JOB)), &known)) {
        submitted = MIN(submitted, r->jobs.items[known].submitted);
        user = trace_str(r->trace, r->jobs.items[known].user);
    }
    job.line = csv->line;
    job.name = join_names(r->trace, csv_field(csv, TASK_JOB), csv_field(csv, TASK_NAME));
    job.queue = convert_queue(r->trace, r->conversion, user);
    job.pods = (uint32_t)CLAMP(number_or(csv, TASK_INSTANCES, 1), 1.0, (double)TRACE_PODS_MAX);
    job.min_available = job.pods;
    job.is_preemptible = true;
    job.cpu_milli = (int64_t)(number_or(csv, TASK_CPU, 100) * 10);
    job.memory_bytes = (int64_t)(number_or(csv, TASK_MEMORY, 1) * (1 << 30));
    job.run = seconds(end) - seconds(start);
    set_gpus(&job, number_or(csv, TASK_GPU, 0));
    trace_submit(r->trace, TRACE_ORIGIN + submitted + SHANGHAI, &job);
}

static void set_gpu_types(struct trace *trace, struct trace_job *job, const char *types)
{
    char text[254];

    if (!*types || strcmp(types, "nan") == 0)
        return;
    (void)snprintf(text, sizeof text, "nvidia.com/gpu.product=%s", types);
    job->node_selector = trace_intern(trace, text);
}

static void read_pod(struct reader *r)
{
    const struct csv *csv = &r->csv;
    struct trace_job job = TRACE_JOB_INIT;
    double created;
    double scheduled;
    double deleted;
    double gpus = number_or(csv, POD_GPUS, 0);

    if (!number(csv, POD_CREATED, &created) || !number(csv, POD_SCHEDULED, &scheduled) ||
        !number(csv, POD_DELETED, &deleted) || seconds(deleted) <= seconds(scheduled)) {
        r->conversion->skipped++;
        return;
    }
    job.line = csv->line;
    job.name = trace_intern(r->trace, csv_field(csv, POD_NAME));
    job.queue = convert_queue(r->trace, r->conversion, csv_field(csv, POD_QOS));
    job.min_available = 1;
    job.is_preemptible = true;
    /* Best effort comes last; everything else is latency sensitive or paid for. */
    job.priority = strcmp(csv_field(csv, POD_QOS), "BE") == 0 ? 50 : 75;
    job.cpu_milli = (int64_t)number_or(csv, POD_CPU, 1000);
    job.memory_bytes = (int64_t)number_or(csv, POD_MEMORY, 1024) << 20;
    job.run = seconds(deleted) - seconds(scheduled);
    set_gpus(&job, gpus > 1 ? gpus * 100 : gpus * number_or(csv, POD_GPU_MILLI, 1000) / 10);
    set_gpu_types(r->trace, &job, csv_field(csv, POD_SPEC));
    trace_submit(r->trace, TRACE_ORIGIN + seconds(created), &job);
}

static void (*const row_readers[_TABLE_MAX])(struct reader *) = {
    [TABLE_JOBS] = read_job,
    [TABLE_TASKS] = read_task,
    [TABLE_PODS] = read_pod,
};

/* What the reader takes for titles is the first row, unless it is titles. */
static int read_rows(struct reader *r, bool wants_jobs, struct err *err)
{
    struct csv *csv = &r->csv;
    int table = 0;
    int rc = 1;

    while (table < _TABLE_MAX && tables[table].columns != csv->titles.len)
        table++;
    if (table == _TABLE_MAX)
        return err_set(err, -EINVAL,
                       "%s:%u: expected 6 fields (pai_job_table), 10 (pai_task_table) or 11 (openb_pod_list), found %u",
                       csv->name, csv->line, csv->titles.len);
    if (wants_jobs != (table == TABLE_JOBS))
        return 0;
    if (strcmp(csv_field(csv, 0), tables[table].first_title) == 0)
        rc = csv_next(csv, err);
    for (; rc > 0; rc = csv_next(csv, err))
        row_readers[table](r);
    return rc;
}

static int read_file(struct reader *r, const char *path, bool wants_jobs, struct err *err)
{
    _cleanup_(freep) char *text = NULL;
    size_t len;
    int rc = file_read(path, CONVERT_BYTES_MAX, &text, &len, err);

    if (rc < 0 || (rc = csv_init(&r->csv, text, len, file_name(path), err)) < 0)
        return rc;
    rc = read_rows(r, wants_jobs, err);
    csv_done(&r->csv);
    return rc;
}

/* Tasks need what the job tables say, in whatever order the files are named. */
int convert_alibaba(struct trace *trace, const char *const *paths, size_t path_count,
                    struct trace_conversion *conversion, struct err *err)
{
    struct reader r = {.trace = trace, .conversion = conversion};
    int rc = 0;

    map64_init(&r.job_by_name);
    for (size_t i = 0; rc >= 0 && i < path_count; i++)
        rc = read_file(&r, paths[i], true, err);
    for (size_t i = 0; rc >= 0 && i < path_count; i++)
        rc = read_file(&r, paths[i], false, err);
    map64_done(&r.job_by_name);
    vec_done(&r.jobs);
    return rc < 0 ? rc : 0;
}
