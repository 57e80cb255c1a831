/* SPDX-License-Identifier: Apache-2.0 */

/* Traces as CSV: each column knows whether a job needs it, so that a trace of plain jobs stays narrow. */
#include <inttypes.h>

#include "sim/trace/trace.h"
#include "text/csv.h"

struct out_column {
    const char *title;
    bool (*needs)(const struct trace_job *job);
    void (*write)(const struct trace *trace, const struct trace_job *job, FILE *out);
};

/* Seconds with as many digits behind the point as it takes. */
static void write_seconds(nsec_t time, FILE *out)
{
    int64_t part = time % NSEC_PER_SEC;
    int digits = 9;

    (void)fprintf(out, "%" PRId64, time / NSEC_PER_SEC);
    if (part == 0)
        return;
    for (; part % 10 == 0; part /= 10)
        digits--;
    (void)fprintf(out, ".%0*" PRId64, digits, part);
}

/* Seconds cannot go back behind where they start, and have a bound; other times are written as dates. */
static void write_time(const struct trace *trace, nsec_t time, FILE *out)
{
    char text[TIME_TEXT_MAX];

    if (trace->has_dates || time < TRACE_ORIGIN || time - TRACE_ORIGIN > TRACE_SECONDS_MAX * NSEC_PER_SEC)
        (void)fputs(time_format(time, text), out);
    else
        write_seconds(time - TRACE_ORIGIN, out);
}

#define NAME_COLUMN(field)                                                                               \
    static bool CONCAT(needs_, field)(const struct trace_job *job)                                       \
    {                                                                                                    \
        return job->field != 0;                                                                          \
    }                                                                                                    \
    static void CONCAT(write_, field)(const struct trace *trace, const struct trace_job *job, FILE *out) \
    {                                                                                                    \
        csv_write(trace_str(trace, job->field), out);                                                    \
    }
NAME_COLUMN(namespace)
NAME_COLUMN(queue)
NAME_COLUMN(topology)
NAME_COLUMN(required)
NAME_COLUMN(preferred)
NAME_COLUMN(node_selector)
NAME_COLUMN(resources)
NAME_COLUMN(anti_affinity)
NAME_COLUMN(user)
NAME_COLUMN(image)

#define NEEDS(field, usual)                                        \
    static bool CONCAT(needs_, field)(const struct trace_job *job) \
    {                                                              \
        return (int64_t)job->field != (int64_t)(usual);            \
    }
NEEDS(pods, 1)
NEEDS(min_available, job->pods)
NEEDS(gpu_memory_mib, 0)
NEEDS(devices, 1)
NEEDS(checkpoint, 0)
NEEDS(limit, 0)
NEEDS(recorded_start, 0)

/* Amounts that parts may have differently: gangs of parts always need their columns. */
#define NEEDS_AMOUNT(field, usual)                                 \
    static bool CONCAT(needs_, field)(const struct trace_job *job) \
    {                                                              \
        return job->part_count > 0 || job->field != (usual);       \
    }
NEEDS_AMOUNT(gpus, 0)
NEEDS_AMOUNT(cpu_milli, 1000)
NEEDS_AMOUNT(memory_bytes, INT64_C(1) << 30)

#define WRITES(field, is_shown)                                                                          \
    static void CONCAT(write_, field)(const struct trace *trace, const struct trace_job *job, FILE *out) \
    {                                                                                                    \
        (void)trace;                                                                                     \
        if (is_shown)                                                                                    \
            (void)fprintf(out, "%" PRId64, (int64_t)job->field);                                         \
    }
WRITES(pods, true)
WRITES(min_available, job->min_available != job->pods)
WRITES(gpu_memory_mib, job->kind == REQUEST_GPU_MEMORY)
WRITES(devices, job->kind != REQUEST_REGULAR)

static bool always(const struct trace_job *job)
{
    (void)job;
    return true;
}

static bool needs_fraction(const struct trace_job *job)
{
    return job->kind == REQUEST_FRACTION;
}

static void write_fraction(const struct trace *trace, const struct trace_job *job, FILE *out)
{
    (void)trace;
    if (job->kind == REQUEST_FRACTION)
        (void)fprintf(out, "%.9g", job->fraction);
}

static int64_t gpus_of(const struct trace_part *part)
{
    return part->gpus;
}

static int64_t cpu_of(const struct trace_part *part)
{
    return part->cpu_milli;
}

static int64_t memory_of(const struct trace_part *part)
{
    return part->memory_bytes;
}

static void write_whole(int64_t amount, FILE *out)
{
    (void)fprintf(out, "%" PRId64, amount);
}

static void write_milli(int64_t amount, FILE *out)
{
    bool is_whole = amount % 1000 == 0;

    (void)fprintf(out, "%" PRId64 "%s", is_whole ? amount / 1000 : amount, is_whole ? "" : "m");
}

static void write_bytes(int64_t amount, FILE *out)
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi"};
    size_t unit = 0;

    for (; amount > 0 && amount % 1024 == 0 && unit + 1 < ARRAY_LEN(units); unit++)
        amount /= 1024;
    (void)fprintf(out, "%" PRId64 "%s", amount, units[unit]);
}

/* One amount when all pods have the same, else a list such as "4x8+3". */
static void write_amounts(const struct trace *trace, const struct trace_job *job,
                          int64_t (*get)(const struct trace_part *), void (*write)(int64_t, FILE *), FILE *out)
{
    uint32_t count = MAX(job->part_count, 1u);
    const char *joint = "";

    for (uint32_t i = 0; i < count;) {
        struct trace_part part = trace_part(trace, job, i);
        int64_t amount = get(&part);
        uint32_t pods = 0;

        for (; i < count && (part = trace_part(trace, job, i), get(&part) == amount); i++)
            pods += part.pods;
        (void)fputs(joint, out);
        if (pods > 1 && pods < job->pods)
            (void)fprintf(out, "%" PRIu32 "x", pods);
        write(amount, out);
        joint = "+";
    }
}

static void write_gpus(const struct trace *trace, const struct trace_job *job, FILE *out)
{
    if (job->kind == REQUEST_REGULAR)
        write_amounts(trace, job, gpus_of, write_whole, out);
}

static void write_cpu(const struct trace *trace, const struct trace_job *job, FILE *out)
{
    write_amounts(trace, job, cpu_of, write_milli, out);
}

static void write_memory(const struct trace *trace, const struct trace_job *job, FILE *out)
{
    write_amounts(trace, job, memory_of, write_bytes, out);
}

static void write_recorded_start(const struct trace *trace, const struct trace_job *job, FILE *out)
{
    if (job->recorded_start != 0)
        write_time(trace, job->recorded_start, out);
}

static void write_run(const struct trace *trace, const struct trace_job *job, FILE *out)
{
    (void)trace;
    if (job->run != TRACE_RUNS_ON)
        write_seconds(job->run, out);
}

static void write_checkpoint(const struct trace *trace, const struct trace_job *job, FILE *out)
{
    (void)trace;
    if (job->checkpoint != 0)
        write_seconds(job->checkpoint, out);
}

static void write_limit(const struct trace *trace, const struct trace_job *job, FILE *out)
{
    (void)trace;
    if (job->limit != 0)
        write_seconds(job->limit, out);
}

static bool needs_priority(const struct trace_job *job)
{
    return job->priority != 50 || job->priority_class != 0;
}

static void write_priority(const struct trace *trace, const struct trace_job *job, FILE *out)
{
    if (job->priority_class != 0)
        csv_write(trace_str(trace, job->priority_class), out);
    else
        (void)fprintf(out, "%" PRId32, job->priority);
}

/* What follows from a number is left out; what follows from a class is not known here. */
static bool needs_preemptible(const struct trace_job *job)
{
    return job->priority_class != 0 ? job->has_preemptible : job->is_preemptible != (job->priority < 100);
}

static void write_preemptible(const struct trace *trace, const struct trace_job *job, FILE *out)
{
    (void)trace;
    if (needs_preemptible(job))
        (void)fputs(job->is_preemptible ? "true" : "false", out);
}

static const struct out_column out_columns[] = {
    {"namespace", needs_namespace, write_namespace},
    {"queue", needs_queue, write_queue},
    {"pods", needs_pods, write_pods},
    {"min_available", needs_min_available, write_min_available},
    {"gpus", needs_gpus, write_gpus},
    {"gpu_fraction", needs_fraction, write_fraction},
    {"gpu_memory_mib", needs_gpu_memory_mib, write_gpu_memory_mib},
    {"gpu_devices", needs_devices, write_devices},
    {"cpu", needs_cpu_milli, write_cpu},
    {"memory", needs_memory_bytes, write_memory},
    {"run_seconds", always, write_run},
    {"checkpoint_seconds", needs_checkpoint, write_checkpoint},
    {"priority", needs_priority, write_priority},
    {"preemptible", needs_preemptible, write_preemptible},
    {"topology", needs_topology, write_topology},
    {"required_level", needs_required, write_required},
    {"preferred_level", needs_preferred, write_preferred},
    {"node_selector", needs_node_selector, write_node_selector},
    {"resources", needs_resources, write_resources},
    {"anti_affinity", needs_anti_affinity, write_anti_affinity},
    {"user", needs_user, write_user},
    {"image", needs_image, write_image},
    {"limit_seconds", needs_limit, write_limit},
    {"recorded_start", needs_recorded_start, write_recorded_start},
};
enum { OUT_COLUMN_COUNT = ARRAY_LEN(out_columns) };

static void write_event(const struct trace *trace, const struct trace_event *event, bool has_events,
                        const bool *is_used, FILE *out)
{
    const struct trace_job *job = event->kind <= TRACE_CANCEL ? &trace->jobs.items[event->job] : NULL;

    write_time(trace, event->time, out);
    if (has_events)
        (void)fprintf(out, ",%s", trace_event_name(event->kind));
    (void)fputc(',', out);
    csv_write(trace_str(trace, job ? job->name : event->node), out);
    for (size_t i = 0; i < OUT_COLUMN_COUNT; i++) {
        bool is_namespace = out_columns[i].write == write_namespace;

        if (!is_used[i])
            continue;
        (void)fputc(',', out);
        if (job && (event->kind == TRACE_SUBMIT || is_namespace))
            out_columns[i].write(trace, job, out);
    }
    (void)fputc('\n', out);
}

void trace_write(const struct trace *trace, FILE *out)
{
    bool is_used[OUT_COLUMN_COUNT] = {0};
    bool has_events = false;

    for (uint32_t i = 0; i < trace->events.len; i++)
        has_events |= trace->events.items[i].kind != TRACE_SUBMIT;
    for (uint32_t i = 0; i < trace->jobs.len; i++)
        for (size_t c = 0; c < OUT_COLUMN_COUNT; c++)
            is_used[c] = is_used[c] || out_columns[c].needs(&trace->jobs.items[i]);

    (void)fputs(has_events ? "time,event,name" : "time,name", out);
    for (size_t i = 0; i < OUT_COLUMN_COUNT; i++)
        if (is_used[i])
            (void)fprintf(out, ",%s", out_columns[i].title);
    (void)fputc('\n', out);
    for (uint32_t i = 0; i < trace->events.len; i++)
        write_event(trace, &trace->events.items[i], has_events, is_used, out);
}
