/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/victims/marks.h"

#include <stdlib.h>

#include "base/mem.h"
#include "engine/context.h"
#include "engine/nodes/gpu_room.h"
#include "engine/victims/search_internal.h"

struct marks *marks_new(const struct search *s)
{
    const struct state *state = s->engine->state;
    struct marks *marks = xcalloc(1, sizeof *marks);

    marks->pods = xcalloc(state->pods.len, sizeof *marks->pods);
    marks->nodes = xcalloc(state->nodes.len, sizeof *marks->nodes);
    marks->gangs = xcalloc(state->gangs.len, sizeof *marks->gangs);
    return marks;
}

void marks_free(struct marks *marks)
{
    if (!marks)
        return;
    free(marks->pods);
    free(marks->nodes);
    free(marks->gangs);
    free(marks);
}

struct node_tally *node_tally(struct search *s, node_id node)
{
    struct node_tally *tally = &s->marks->nodes[node];

    if (tally->probe == s->probe)
        return tally;
    tally->probe = s->probe;
    tally->first_seat = tally->last_seat = tally->appearance = NO_ID;
    tally->capacity = s->engine->room->nodes.items[node].free;
    tally->recorded = tally->potential = 0;
    return tally;
}
