/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/play/play_events.h"

void play_events_done(struct play_events *events)
{
    vec_done(&events->heap);
}

static bool precedes(const struct play_event *l, const struct play_event *r)
{
    return l->time != r->time ? l->time < r->time : l->order < r->order;
}

void play_events_add(struct play_events *events, nsec_t time, enum play_event_kind kind, uint32_t job,
                     uint32_t generation)
{
    struct play_event event = {time, events->planned++, kind, job, generation};
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

nsec_t play_events_next(const struct play_events *events)
{
    return events->heap.len > 0 ? events->heap.items[0].time : NSEC_MAX;
}

struct play_event play_events_take(struct play_events *events)
{
    struct play_event first = events->heap.items[0];
    struct play_event last = vec_pop(&events->heap);
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
