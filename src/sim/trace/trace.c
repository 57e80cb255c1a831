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

int64_t trace_job_gpus(const struct trace_job *job)
{
    int64_t each = (int64_t)job->gpus * GPU_ONE;

    if (job->kind == REQUEST_FRACTION)
        each = (int64_t)(job->fraction * 1e9 + 0.5) * job->devices;
    else if (job->kind == REQUEST_GPU_MEMORY)
        each = (int64_t)job->devices * GPU_ONE;
    return each * job->pods;
}
