/* SPDX-License-Identifier: Apache-2.0 */

/* What all readers do with the fields of a row: numbers, times, names, and workloads and nodes made of them. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "sim/convert/convert_internal.h"

enum { NAME_BYTES = 200, TEXT_BYTES = 254, LABELS_BYTES = 8192 };

const char *convert_field(const struct converter *c, size_t column)
{
    return csv_field(&c->input->csv, c->input->columns[column]);
}

bool convert_parse_number(const char *text, double *ret)
{
    char *end;

    *ret = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*ret) && *ret >= 0 && *ret < 1e12;
}

bool convert_number(const struct converter *c, size_t column, double *ret)
{
    return convert_parse_number(convert_field(c, column), ret);
}

double convert_number_or(const struct converter *c, size_t column, double other)
{
    double value;

    return convert_number(c, column, &value) ? value : other;
}

bool convert_moment(const char *text, nsec_t *ret)
{
    char form[32];
    double seconds;

    if (isdigit((unsigned char)*text) && convert_parse_number(text, &seconds)) {
        /* More is a slip; the bound also keeps sums of nanoseconds within their type. */
        *ret = (nsec_t)MIN(seconds, 4.0 * TRACE_SECONDS_MAX) * NSEC_PER_SEC;
        return true;
    }
    if (strlen(text) != 19 || (text[10] != ' ' && text[10] != 'T'))
        return false;
    (void)snprintf(form, sizeof form, "%.10sT%sZ", text, text + 11);
    return time_parse(form, ret, NULL) == 0 && *ret > 0;
}

static void make_plain(char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text >= 127)
            *text = '-';
}

trace_name convert_name(struct trace *trace, const char *text)
{
    char name[NAME_BYTES + 1];

    (void)snprintf(name, sizeof name, "%s", text);
    make_plain(name);
    return trace_intern(trace, name);
}

/* FNV-1a: which queue a user falls to must not depend on who else is there. */
static uint32_t hash(const char *text)
{
    uint32_t h = 2166136261u;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

trace_name convert_queue(struct converter *c, const char *owner)
{
    char name[32];

    if (c->conversion->queues == 0)
        return convert_name(c->trace, *owner ? owner : "unknown");
    (void)snprintf(name, sizeof name, "queue-%02u", hash(owner) % c->conversion->queues + 1);
    return trace_intern(c->trace, name);
}

/* "a=b" after "c=d"; nothing when that would be longer than `max` or could not be read back. */
static trace_name add_pair(struct trace *trace, trace_name pairs, const char *key, const char *value, size_t max)
{
    char text[LABELS_BYTES];
    int len = snprintf(text, sizeof text, "%s%s%s=%s", trace_str(trace, pairs), pairs ? ";" : "", key, value);

    if (len < 0 || (size_t)len >= max || !*value || strpbrk(value, "=;") || strpbrk(key, "=;"))
        return pairs;
    make_plain(text);
    return trace_intern(trace, text);
}

void convert_select(struct converter *c, struct trace_job *job, const char *key, const char *value)
{
    job->node_selector = add_pair(c->trace, job->node_selector, key, value, TEXT_BYTES);
}

void convert_label(struct converter *c, struct trace_node *node, const char *key, const char *value)
{
    node->labels = add_pair(c->trace, node->labels, key, value, LABELS_BYTES);
}

void convert_spread(struct trace *trace, struct trace_job *job, uint32_t pods, uint64_t gpus, int64_t cpu_milli,
                    int64_t memory_bytes)
{
    uint32_t count = CLAMP(pods, 1u, (uint32_t)TRACE_PODS_MAX);
    uint32_t each = (uint32_t)MIN(gpus / count, (uint64_t)TRACE_GPUS_MAX - 1);
    uint32_t more = (uint32_t)(gpus % count);
    struct trace_part parts[] = {
        {more, each + 1, cpu_milli / count, memory_bytes / count},
        {count - more, each, cpu_milli / count, memory_bytes / count},
    };

    trace_set_parts(trace, job, more > 0 ? parts : parts + 1, more > 0 ? 2 : 1);
}

void convert_skip(struct converter *c)
{
    c->conversion->skipped++;
}

/* A name that no other workload of the namespace has: the second "a" is "a-2". */
static void make_unique(struct converter *c, struct trace_job *job)
{
    uint64_t times = 0;
    char text[TEXT_BYTES];

    while (map64_get(&c->names, (uint64_t)job->namespace << 32 | job->name, &times)) {
        map64_put(&c->names, (uint64_t)job->namespace << 32 | job->name, ++times);
        (void)snprintf(text, sizeof text, "%.*s-%llu", NAME_BYTES, trace_str(c->trace, job->name),
                       (unsigned long long)times);
        job->name = trace_intern(c->trace, text);
    }
    map64_put(&c->names, (uint64_t)job->namespace << 32 | job->name, 1);
}

/* Times that a trace can be written with and read again: after 1970 and before 2200, and run times of up to 30 years. */
#define RUN_MAX (TRACE_SECONDS_MAX * NSEC_PER_SEC)

static bool is_moment(nsec_t time)
{
    return time > 0 && time < INT64_C(7258118400) * NSEC_PER_SEC;
}

/* Adds the workload: returns 1, or 0 when its times cannot be meant. */
static int submit(struct converter *c, nsec_t submitted, struct trace_job *job, struct err *err)
{
    if (c->trace->jobs.len >= CONVERT_JOBS_MAX)
        return err_set(err, -EFBIG, "%s: more than %d workloads; convert fewer days at a time", c->input->name,
                       CONVERT_JOBS_MAX);
    if (!is_moment(submitted) || (job->recorded_start != 0 && !is_moment(job->recorded_start)) ||
        (job->run != TRACE_RUNS_ON && (job->run < 0 || job->run > RUN_MAX))) {
        convert_skip(c);
        return 0;
    }
    /* Records are in whole seconds: a run that took none of them took less than one. */
    if (job->run == 0)
        job->run = NSEC_PER_SEC;
    if (job->name == 0)
        job->name = trace_intern(c->trace, "unnamed");
    make_unique(c, job);
    job->min_available = job->pods;
    job->is_preemptible = true;
    trace_submit(c->trace, submitted, job);
    return 1;
}

int convert_ran(struct converter *c, nsec_t submitted, nsec_t started, nsec_t run, struct trace_job *job,
                struct err *err)
{
    job->recorded_start = started;
    job->run = run;
    return MIN(submit(c, submitted, job, err), 0);
}

int convert_waited(struct converter *c, nsec_t submitted, nsec_t ended, struct trace_job *job, struct err *err)
{
    int r;

    if (!c->conversion->keeps_pending) {
        convert_skip(c);
        return 0;
    }
    r = submit(c, submitted, job, err);
    if (r <= 0)
        return r;
    c->conversion->pending++;
    if (ended > submitted && is_moment(ended))
        vec_push(&c->trace->events,
                 (struct trace_event){.time = ended, .kind = TRACE_CANCEL, .job = c->trace->jobs.len - 1});
    return 0;
}

struct trace_node *convert_node(struct converter *c, const char *name, const char *labels)
{
    struct trace_cluster *cluster = &c->conversion->cluster;
    trace_name id = convert_name(c->trace, *name ? name : "unknown");
    uint64_t known;

    if (!map64_get(&c->nodes, id, &known)) {
        known = cluster->nodes.len;
        map64_put(&c->nodes, id, known);
        vec_push(&cluster->nodes, (struct trace_node){.name = id, .labels = trace_intern(c->trace, labels)});
    }
    return &cluster->nodes.items[known];
}
