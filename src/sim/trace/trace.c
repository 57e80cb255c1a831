/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace/trace.h"

#include <stdlib.h>

#include "model/resources.h"

void trace_init(struct trace *trace)
{
    *trace = (struct trace){0};
    intern_init(&trace->names);
}

void trace_done(struct trace *trace)
{
    intern_done(&trace->names);
    vec_done(&trace->jobs);
    vec_done(&trace->parts);
    vec_done(&trace->events);
}

const char *trace_event_name(enum trace_event_kind kind)
{
    static const char *const names[] = {
        [TRACE_SUBMIT] = "submit",
        [TRACE_CANCEL] = "cancel",
        [TRACE_NODE_DOWN] = "node_down",
        [TRACE_NODE_UP] = "node_up",
    };
    _Static_assert(ARRAY_LEN(names) == _TRACE_EVENT_MAX, "a name for each event");

    return names[kind];
}

void trace_submit(struct trace *trace, nsec_t time, const struct trace_job *job)
{
    vec_push(&trace->jobs, *job);
    vec_push(&trace->events, (struct trace_event){.time = time, .kind = TRACE_SUBMIT, .job = trace->jobs.len - 1});
}

struct placed_event {
    struct trace_event event;
    uint32_t place;
};

static int compare_events(const void *l_, const void *r_)
{
    const struct placed_event *l = l_;
    const struct placed_event *r = r_;

    if (l->event.time != r->event.time)
        return l->event.time < r->event.time ? -1 : 1;
    return l->place < r->place ? -1 : l->place > r->place;
}

/* qsort does not keep the order of equals, so each event carries its place. */
void trace_sort(struct trace *trace)
{
    VEC(struct placed_event) placed = {0};

    if (trace->events.len == 0)
        return;
    vec_reserve(&placed, trace->events.len);
    vec_foreach (&trace->events, event)
        vec_push(&placed, (struct placed_event){*event, placed.len});
    qsort(placed.items, placed.len, sizeof *placed.items, compare_events);
    for (uint32_t i = 0; i < placed.len; i++)
        trace->events.items[i] = placed.items[i].event;
    vec_done(&placed);
}

static bool is_same(const struct trace_part *l, const struct trace_part *r)
{
    return l->gpus == r->gpus && l->cpu_milli == r->cpu_milli && l->memory_bytes == r->memory_bytes;
}

/* Puts a part with the one before it where they ask for the same; order is kept, since it is that of the pods. */
static void add_part(struct trace *trace, struct trace_job *job, const struct trace_part *part)
{
    struct trace_part *last = job->part_count > 0 ? &vec_last(&trace->parts) : NULL;

    job->pods += part->pods;
    if (last && is_same(last, part)) {
        last->pods += part->pods;
        return;
    }
    vec_push(&trace->parts, *part);
    job->part_count++;
}

void trace_set_parts(struct trace *trace, struct trace_job *job, const struct trace_part *parts, uint32_t count)
{
    job->first_part = trace->parts.len;
    job->part_count = 0;
    job->pods = 0;
    for (uint32_t i = 0; i < count; i++)
        add_part(trace, job, &parts[i]);
    if (job->part_count > 1)
        return;
    job->gpus = parts[0].gpus;
    job->cpu_milli = parts[0].cpu_milli;
    job->memory_bytes = parts[0].memory_bytes;
    job->part_count = 0;
    trace->parts.len = job->first_part;
}

struct trace_part trace_part(const struct trace *trace, const struct trace_job *job, uint32_t i)
{
    if (job->part_count > 0)
        return trace->parts.items[job->first_part + i];
    return (struct trace_part){job->pods, job->gpus, job->cpu_milli, job->memory_bytes};
}

int64_t trace_job_gpus(const struct trace *trace, const struct trace_job *job)
{
    int64_t sum = 0;

    if (job->kind == REQUEST_FRACTION)
        return (int64_t)(job->fraction * 1e9 + 0.5) * job->devices * job->pods;
    if (job->kind == REQUEST_GPU_MEMORY)
        return (int64_t)job->devices * GPU_ONE * job->pods;
    for (uint32_t i = 0; i < MAX(job->part_count, 1u); i++) {
        struct trace_part part = trace_part(trace, job, i);

        sum += (int64_t)part.pods * part.gpus * GPU_ONE;
    }
    return sum;
}
