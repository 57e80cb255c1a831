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
#include "sim/trace/trace_convert_internal.h"
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

enum { COLUMNS_MAX = POD_COLUMNS };

static const struct table_form {
    const char *name;
    size_t columns;
    size_t start;  // a column of seconds, or empty
    const char *titles[COLUMNS_MAX];
} tables[_TABLE_MAX] = {
    [TABLE_JOBS] = {"pai_job_table",
                    JOB_COLUMNS,
                    JOB_START,
                    {"job_name", "inst_id", "user", "status", "start_time", "end_time"}},
    [TABLE_TASKS] = {"pai_task_table",
                     TASK_COLUMNS,
                     TASK_START,
                     {"job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_cpu", "plan_mem",
                      "plan_gpu", "gpu_type"}},
    [TABLE_PODS] = {"openb_pod_list",
                    POD_COLUMNS,
                    POD_CREATED,
                    {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "qos", "pod_phase",
                     "creation_time", "deletion_time", "scheduled_time"}},
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

static size_t missing_titles(const struct csv *csv, const struct table_form *form)
{
    size_t missing = 0;

    for (size_t i = 0; i < form->columns; i++)
        missing += csv_find(csv, form->titles[i]) == CSV_NO_COLUMN;
    return missing;
}

/* A first line without a single number is titles, whoever's they are, unless it is of a job that has not started. */
static bool has_titles(const struct csv *csv)
{
    double ignored;

    if (csv->titles.len == JOB_COLUMNS && !*csv_field(csv, JOB_START))
        return false;

    for (size_t i = 0; i < csv->titles.len; i++)
        if (number(csv, i, &ignored))
            return false;
    return true;
}

/* Titles have to be those of the table that they come closest to, all of them and in its order. */
static int table_by_titles(const struct csv *csv, int *ret_table, struct err *err)
{
    struct csv_column columns[COLUMNS_MAX] = {0};
    const struct table_form *form;
    int best = TABLE_TASKS;
    int rc;

    for (int i = 0; i < _TABLE_MAX; i++)
        if (missing_titles(csv, &tables[i]) < missing_titles(csv, &tables[best]))
            best = i;
    form = &tables[best];
    for (size_t i = 0; i < form->columns; i++)
        columns[i] = (struct csv_column){.title = form->titles[i], .is_required = true};
    rc = csv_find_all(csv, columns, form->columns, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < form->columns; i++)
        if (columns[i].index != i)
            return err_set(err, -EINVAL, "%s:%u: %s: expected column %zu to be %s", csv->name, csv->line, form->name,
                           i + 1, form->titles[i]);
    *ret_table = best;
    return 0;
}

static int table_by_count(const struct csv *csv, int *ret_table, struct err *err)
{
    double ignored;

    for (int i = 0; i < _TABLE_MAX; i++) {
        const char *start = csv_field(csv, tables[i].start);

        if (tables[i].columns != csv->titles.len)
            continue;
        if (*start && !number(csv, tables[i].start, &ignored))
            return err_set(err, -EINVAL, "%s:%u: %s: %s: expected seconds, found '%.100s'", csv->name, csv->line,
                           tables[i].name, tables[i].titles[tables[i].start], start);
        *ret_table = i;
        return 0;
    }
    return err_set(err, -EINVAL,
                   "%s:%u: expected 6 fields (pai_job_table), 10 (pai_task_table) or 11 (openb_pod_list), found %u",
                   csv->name, csv->line, csv->titles.len);
}

/* What the reader takes for titles is the first row, unless it is titles. */
static int read_rows(struct reader *r, bool wants_jobs, struct err *err)
{
    struct csv *csv = &r->csv;
    bool skips_first = has_titles(csv);
    int table = 0;
    int rc = skips_first ? table_by_titles(csv, &table, err) : table_by_count(csv, &table, err);

    if (rc < 0 || wants_jobs != (table == TABLE_JOBS))
        return rc;
    rc = skips_first ? csv_next(csv, err) : 1;
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
