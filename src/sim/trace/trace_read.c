/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Traces from CSV. A column is a row of the table below: how its text is read, where it goes and what is said when it
 * cannot be read. A field that is empty or whose column is not there leaves the default.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "sim/trace/trace.h"
#include "text/csv.h"
#include "text/file.h"
#include "text/quantity.h"

enum { TRACE_BYTES_MAX = 1 << 30, NAME_BYTES_MAX = 253, SECONDS_MAX = 1000000000 };

struct row {
    struct trace *trace;
    nsec_t time;
    enum trace_event_kind kind;
    struct trace_job job;
};

struct column {
    const char *title;
    const char *expected;
    bool (*read)(const struct column *column, struct row *row, const char *text);
    size_t offset;  // in struct row, of what `read` fills
    int64_t min;
    int64_t max;
};

/* "12", "0.25": digits with at most one point, as billionths, no more than `max` whole ones. */
static bool parse_decimal(const char *text, int64_t max, int64_t *ret)
{
    int64_t whole = 0;
    int64_t part = 0;
    int64_t unit = NSEC_PER_SEC;
    const char *at = text;

    if (!isdigit((unsigned char)*at))
        return false;
    for (; isdigit((unsigned char)*at); at++) {
        whole = whole * 10 + (*at - '0');
        if (whole > max)
            return false;
    }
    if (*at == '.') {
        for (at++; isdigit((unsigned char)*at); at++) {
            unit /= 10;
            part += unit * (*at - '0');
        }
    }
    *ret = whole * NSEC_PER_SEC + part;
    return *at == '\0';
}

static bool parse_whole(const char *text, int64_t min, int64_t max, int64_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoll(text, &end, 10);
    return !errno && end != text && !*end && !isspace((unsigned char)*text) && *ret >= min && *ret <= max;
}

static void put(struct row *row, const struct column *column, const void *value, size_t size)
{
    memcpy((char *)row + column->offset, value, size);
}

static bool read_name(const struct column *column, struct row *row, const char *text)
{
    trace_name name;

    if (strlen(text) > NAME_BYTES_MAX || !utf8_is_valid(text))
        return false;
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at <= ' ')
            return false;
    name = trace_intern(row->trace, text);
    put(row, column, &name, sizeof name);
    return true;
}

static bool read_whole(const struct column *column, struct row *row, const char *text)
{
    int64_t number;
    uint32_t small;

    if (!parse_whole(text, column->min, column->max, &number))
        return false;
    small = (uint32_t)number;
    put(row, column, &small, sizeof small);
    return true;
}

static bool read_seconds(const struct column *column, struct row *row, const char *text)
{
    nsec_t seconds;

    if (!parse_decimal(text, column->max, &seconds) || seconds <= 0)
        return false;
    put(row, column, &seconds, sizeof seconds);
    return true;
}

static bool read_time(const struct column *column, struct row *row, const char *text)
{
    if (parse_decimal(text, column->max, &row->time)) {
        row->time += TRACE_ORIGIN;
        return true;
    }
    return time_parse(text, &row->time, NULL) == 0 && row->time > 0;
}

static bool read_event(const struct column *column, struct row *row, const char *text)
{
    (void)column;
    for (int kind = 0; kind < _TRACE_EVENT_MAX; kind++)
        if (strcmp(text, trace_event_name((enum trace_event_kind)kind)) == 0) {
            row->kind = (enum trace_event_kind)kind;
            return true;
        }
    return false;
}

static bool read_fraction(const struct column *column, struct row *row, const char *text)
{
    int64_t billionths;

    (void)column;
    if (!parse_decimal(text, 1, &billionths) || billionths <= 0 || billionths > NSEC_PER_SEC)
        return false;
    row->job.fraction = (double)billionths / 1e9;
    row->job.kind = REQUEST_FRACTION;
    return true;
}

static bool read_gpu_memory(const struct column *column, struct row *row, const char *text)
{
    row->job.kind = REQUEST_GPU_MEMORY;
    return parse_whole(text, column->min, column->max, &row->job.gpu_memory_mib);
}

static bool read_cpu(const struct column *column, struct row *row, const char *text)
{
    (void)column;
    return quantity_parse(text, QUANTITY_MILLI, &row->job.cpu_milli, NULL) == 0 && row->job.cpu_milli < INT64_C(1)
                                                                                                            << 50;
}

static bool read_memory(const struct column *column, struct row *row, const char *text)
{
    (void)column;
    return quantity_parse(text, QUANTITY_ONE, &row->job.memory_bytes, NULL) == 0 && row->job.memory_bytes < INT64_C(1)
                                                                                                                << 60;
}

/* A number, or the name of a class whose value the cluster knows. */
static bool read_priority(const struct column *column, struct row *row, const char *text)
{
    int64_t number;

    if (parse_whole(text, column->min, column->max, &number)) {
        row->job.priority = (int32_t)number;
        return true;
    }
    return isalpha((unsigned char)*text) && read_name(column, row, text);
}

static bool read_preemptible(const struct column *column, struct row *row, const char *text)
{
    (void)column;
    row->job.is_preemptible = strcmp(text, "true") == 0;
    row->job.has_preemptible = true;
    return row->job.is_preemptible || strcmp(text, "false") == 0;
}

static bool read_selector(const struct column *column, struct row *row, const char *text)
{
    const char *at = text;

    while (*at) {
        size_t key = strcspn(at, "=;");
        size_t value = at[key] == '=' ? strcspn(at + key + 1, "=;") : 0;

        if (key == 0 || value == 0)
            return false;
        at += key + 1 + value;
        if (*at == ';' && at[1])
            at++;
        else if (*at)
            return false;
    }
    return read_name(column, row, text);
}

#define AT(field) offsetof(struct row, job.field)

static const struct column columns[] = {
    {"time", "seconds from the start, or a time such as 2026-03-01T12:00:00Z", read_time, 0, 0, SECONDS_MAX},
    {"event", "one of submit, cancel, node_down, node_up", read_event, 0, 0, 0},
    {"name", "a name of at most 253 bytes of UTF-8 without spaces", read_name, AT(name), 0, 0},
    {"namespace", "a name of at most 253 bytes of UTF-8 without spaces", read_name, AT(namespace), 0, 0},
    {"queue", "the name of a queue", read_name, AT(queue), 0, 0},
    {"pods", "a whole number from 1 to 16384", read_whole, AT(pods), 1, TRACE_PODS_MAX},
    {"min_available", "a whole number from 1 to the number of pods", read_whole, AT(min_available), 1, TRACE_PODS_MAX},
    {"gpus", "a whole number from 0 to 1024", read_whole, AT(gpus), 0, TRACE_GPUS_MAX},
    {"gpu_fraction", "a number above 0, at most 1", read_fraction, 0, 0, 0},
    {"gpu_memory_mib", "a whole number of MiB above 0", read_gpu_memory, 0, 1, INT64_C(1) << 40},
    {"gpu_devices", "a whole number from 1 to 1024", read_whole, AT(devices), 1, TRACE_GPUS_MAX},
    {"cpu", "an amount of cores such as 4 or 500m", read_cpu, 0, 0, 0},
    {"memory", "an amount of memory such as 64Gi", read_memory, 0, 0, 0},
    {"run_seconds", "seconds above 0, or nothing", read_seconds, AT(run), 0, SECONDS_MAX},
    {"checkpoint_seconds", "seconds above 0, or nothing", read_seconds, AT(checkpoint), 0, SECONDS_MAX},
    {"priority", "a whole number, or the name of a priority class", read_priority, AT(priority_class), -2000000000,
     2000000000},
    {"preemptible", "true or false", read_preemptible, 0, 0, 0},
    {"topology", "the name of a topology", read_name, AT(topology), 0, 0},
    {"required_level", "a level of the topology", read_name, AT(required), 0, 0},
    {"preferred_level", "a level of the topology", read_name, AT(preferred), 0, 0},
    {"node_selector", "label=value, several joined by ';', other values by '|'", read_selector, AT(node_selector), 0,
     0},
};
enum { COLUMN_COUNT = ARRAY_LEN(columns) };

struct reader {
    struct csv csv;
    VEC(const struct column *) by_field;  // NULL: passed over
    struct map64 jobs;                    // namespace << 32 | name -> index of the job
};

static const struct column *find_column(const char *title)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (strcasecmp(columns[i].title, title) == 0)
            return &columns[i];
    return NULL;
}

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
        const struct column *column = find_column(title);

        if (strpbrk(title, ";\t"))
            return csv_fail(csv, i, err, "expected commas between the columns");
        if (!column && strncmp(title, "x-", 2) != 0)
            return csv_fail(csv, i, err, "there is no such column; docs/traces.md lists all of them");
        if (csv_find(csv, title) != i)
            return csv_fail(csv, i, err, "the column is there twice");
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

static int read_fields(const struct reader *r, struct row *row, struct err *err)
{
    for (uint32_t i = 0; i < r->by_field.len; i++) {
        const struct column *column = r->by_field.items[i];
        const char *text = csv_field(&r->csv, i);

        if (column && *text && !column->read(column, row, text))
            return fail(r, column->title, err, "expected %s, found '%.100s'", column->expected, text);
    }
    return 0;
}

static int check_job(const struct reader *r, struct trace_job *job, struct err *err)
{
    if (job->queue == 0)
        return fail(r, "queue", err, "expected the name of a queue, found ''");
    if (job->gpus > 0 && job->kind != REQUEST_REGULAR)
        return fail(r, "gpus", err, "whole GPUs and a part of one cannot be asked for at once");
    if (job->fraction > 0 && job->gpu_memory_mib > 0)
        return fail(r, "gpu_fraction", err, "a fraction and an amount of memory cannot be asked for at once");
    if (job->min_available > job->pods)
        return fail(r, "min_available", err, "expected at most %u, the number of pods, found '%u'", job->pods,
                    job->min_available);
    if (job->min_available == 0)
        job->min_available = job->pods;
    if (!job->has_preemptible)
        job->is_preemptible = job->priority < 100;
    return 0;
}

static int add_job(struct reader *r, struct row *row, struct err *err)
{
    struct trace *trace = row->trace;
    struct trace_job *job = &row->job;
    uint64_t key = (uint64_t)job->namespace << 32 | job->name;
    uint64_t other;
    int rc = check_job(r, job, err);

    if (rc < 0)
        return rc;
    if (map64_get(&r->jobs, key, &other))
        return fail(r, "name", err, "expected one that is not taken, found '%s', which stands in line %u",
                    trace_str(trace, job->name), trace->jobs.items[other].line);
    map64_put(&r->jobs, key, trace->jobs.len);
    trace_submit(trace, row->time, job);
    return 0;
}

static int add_cancel(struct reader *r, const struct row *row, struct err *err)
{
    uint64_t job;

    if (!map64_get(&r->jobs, (uint64_t)row->job.namespace << 32 | row->job.name, &job))
        return fail(r, "name", err, "expected a workload of a line above, found '%s'",
                    trace_str(row->trace, row->job.name));
    vec_push(&row->trace->events, (struct trace_event){.time = row->time, .kind = TRACE_CANCEL, .job = (uint32_t)job});
    return 0;
}

static int read_row(struct reader *r, struct trace *trace, struct err *err)
{
    struct row row = {.trace = trace, .job = TRACE_JOB_INIT};
    int rc;

    row.job.line = r->csv.line;
    rc = read_fields(r, &row, err);
    if (rc < 0)
        return rc;
    if (row.time == 0)
        return fail(r, "time", err, "expected %s, found ''", columns[0].expected);
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
