/* SPDX-License-Identifier: Apache-2.0 */

/* Traces from CSV. A field that is empty or whose column is not there leaves the default. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "sim/trace/trace_row_internal.h"
#include "text/csv.h"
#include "text/file.h"

enum { TRACE_BYTES_MAX = 1 << 30 };

struct reader {
    struct csv csv;
    VEC(const struct trace_column *) by_field;    // NULL: passed over
    struct map64 jobs;                            // namespace << 32 | name -> index of the job
    VEC(nsec_t) submitted;                        // by index of the job
    struct trace_amounts amounts[TRACE_AMOUNTS];  // of the row that is being read
};

/* Which columns must be there: less when rows may be about nodes alone. */
static int check_titles(const struct csv *csv, struct err *err)
{
    struct csv_column needed[] = {{"time", true, 0}, {"name", true, 0}, {"queue", true, 0}, {"run_seconds", true, 0}};

    return csv_find_all(csv, needed, csv_find(csv, "event") == CSV_NO_COLUMN ? ARRAY_LEN(needed) : 2, err);
}

/* Titles that start with "x-" are somebody's own. */
static int read_titles(struct reader *r, struct err *err)
{
    const struct csv *csv = &r->csv;

    for (uint32_t i = 0; i < csv->titles.len; i++) {
        const char *title = csv->titles.items[i];
        const struct trace_column *column = trace_column_find(title);

        if (strpbrk(title, ";\t"))
            return csv_fail(csv, i, err, "expected commas between the columns");
        if (!column && strncmp(title, "x-", 2) != 0)
            return csv_fail(csv, i, err, "there is no such column; docs/traces.md lists all of them");
        if (csv_find(csv, title) != i)
            return csv_fail(csv, i, err, "the column is listed twice");
        vec_push(&r->by_field, column);
    }
    return check_titles(csv, err);
}

static int fail(const struct reader *r, const char *title, struct err *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* About a field of the row by its column, which need not be there. */
static int fail(const struct reader *r, const char *title, struct err *err, const char *format, ...)
{
    char what[300];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return err_set(err, -EINVAL, "%s:%u: %s: %s", r->csv.name, r->csv.line, title, what);
}

static int read_fields(const struct reader *r, struct trace_row *row, struct err *err)
{
    for (uint32_t i = 0; i < r->by_field.len; i++) {
        const struct trace_column *column = r->by_field.items[i];
        const char *text = csv_field(&r->csv, i);

        if (column && *text && !column->read(column, row, text))
            return fail(r, column->title, err, "expected %s, found '%.100s'", column->expected, text);
    }
    return 0;
}

static int check_job(const struct reader *r, struct trace_row *row, struct err *err)
{
    struct trace_job *job = &row->job;
    uint32_t pods = 0;
    uint32_t found = 0;

    if (job->queue == 0)
        return fail(r, "queue", err, "expected the name of a queue, found ''");
    if (!trace_amounts_apply(row, &pods, &found))
        return fail(r, "pods", err, "expected amounts for %u pods, found a list for %u", pods, found);
    if (job->kind != REQUEST_REGULAR && (job->gpus > 0 || job->part_count > 0))
        return fail(r, "gpus", err, "whole GPUs and a fraction cannot be requested together");
    if (job->fraction > 0 && job->gpu_memory_mib > 0)
        return fail(r, "gpu_fraction", err, "a fraction and an amount of memory cannot be requested together");
    if (job->min_available > job->pods)
        return fail(r, "min_available", err, "expected at most %u, the number of pods, found '%u'", job->pods,
                    job->min_available);
    if (job->min_available == 0)
        job->min_available = job->pods;
    if (!job->has_preemptible)
        job->is_preemptible = job->priority < 100;
    return 0;
}

static int add_job(struct reader *r, struct trace_row *row, struct err *err)
{
    struct trace *trace = row->trace;
    struct trace_job *job = &row->job;
    uint64_t key = (uint64_t)job->namespace << 32 | job->name;
    uint64_t other;
    int rc = check_job(r, row, err);

    if (rc < 0)
        return rc;
    if (map64_get(&r->jobs, key, &other))
        return fail(r, "name", err, "'%s' is already used in line %u; expected a name that is not used yet",
                    trace_str(trace, job->name), trace->jobs.items[other].line);
    map64_put(&r->jobs, key, trace->jobs.len);
    trace_submit(trace, row->time, job);
    vec_push(&r->submitted, row->time);
    return 0;
}

static int add_cancel(struct reader *r, const struct trace_row *row, struct err *err)
{
    uint64_t job;

    if (!map64_get(&r->jobs, (uint64_t)row->job.namespace << 32 | row->job.name, &job))
        return fail(r, "name", err, "expected a workload that an earlier line submits, found '%s'",
                    trace_str(row->trace, row->job.name));
    if (row->time < r->submitted.items[job])
        return fail(r, "time", err, "expected a time after the submission of '%s'",
                    trace_str(row->trace, row->job.name));
    vec_push(&row->trace->events, (struct trace_event){.time = row->time, .kind = TRACE_CANCEL, .job = (uint32_t)job});
    return 0;
}

static int read_row(struct reader *r, struct trace *trace, struct err *err)
{
    struct trace_row row = {.trace = trace, .amounts = r->amounts, .job = TRACE_JOB_INIT};
    int rc;

    for (int i = 0; i < TRACE_AMOUNTS; i++)
        r->amounts[i].is_given = r->amounts[i].is_list = false;
    row.job.line = r->csv.line;
    rc = read_fields(r, &row, err);
    if (rc < 0)
        return rc;
    if (row.time == 0)
        return fail(r, "time", err, "expected %s, found ''", trace_column_find("time")->expected);
    if (row.job.name == 0)
        return fail(r, "name", err, "expected a name, found ''");
    if (row.kind == TRACE_SUBMIT)
        return add_job(r, &row, err);
    if (row.kind == TRACE_CANCEL)
        return add_cancel(r, &row, err);
    vec_push(&trace->events,
             (struct trace_event){.time = row.time, .kind = row.kind, .node = row.job.name, .line = r->csv.line});
    return 0;
}

int trace_parse(struct trace *trace, const char *name, char *text, size_t len, struct err *err)
{
    struct reader r = {0};
    int rc = csv_init(&r.csv, text, len, name, err);

    if (rc < 0)
        return rc;
    map64_init(&r.jobs);
    rc = read_titles(&r, err);
    while (rc >= 0 && (rc = csv_next(&r.csv, err)) > 0)
        rc = read_row(&r, trace, err);
    map64_done(&r.jobs);
    vec_done(&r.submitted);
    vec_done(&r.by_field);
    csv_done(&r.csv);
    if (rc == 0)
        trace_sort(trace);
    return rc;
}

int trace_read(struct trace *trace, const char *path, struct err *err)
{
    _cleanup_(freep) char *text = NULL;
    size_t len;
    int rc = file_read(path, TRACE_BYTES_MAX, &text, &len, err);

    return rc < 0 ? rc : trace_parse(trace, file_name(path), text, len, err);
}
