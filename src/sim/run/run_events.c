/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run/run_events.h"

void sim_run_events_done(struct sim_run_events *events)
{
    vec_done(&events->heap);
}

static bool precedes(const struct sim_run_event *l, const struct sim_run_event *r)
{
    return l->time != r->time ? l->time < r->time : l->order < r->order;
}

void sim_run_events_add(struct sim_run_events *events, nsec_t time, enum sim_run_event_kind kind, uint32_t job,
                        uint32_t generation)
{
    struct sim_run_event event = {time, events->planned++, kind, job, generation};
    uint32_t at = events->heap.len;

    vec_push(&events->heap, event);
    while (at > 0) {
        uint32_t parent = (at - 1) / 2;

        if (!precedes(&event, &events->heap.items[parent]))
            break;
        events->heap.items[at] = events->heap.items[parent];
        at = parent;
    }
    events->heap.items[at] = event;
}

nsec_t sim_run_events_next(const struct sim_run_events *events)
{
    return events->heap.len > 0 ? events->heap.items[0].time : NSEC_MAX;
}

struct sim_run_event sim_run_events_take(struct sim_run_events *events)
{
    struct sim_run_event first = events->heap.items[0];
    struct sim_run_event last = vec_pop(&events->heap);
    uint32_t len = events->heap.len;
    uint32_t at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= len)
            break;
        if (child + 1 < len && precedes(&events->heap.items[child + 1], &events->heap.items[child]))
            child++;
        if (!precedes(&events->heap.items[child], &last))
            break;
        events->heap.items[at] = events->heap.items[child];
        at = child;
    }
    if (len > 0)
        events->heap.items[at] = last;
    return first;
}
