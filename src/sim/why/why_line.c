/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The line in front of a workload for which no remedy was found: when one that runs ends, another that waits takes its room.
 */
#include "model/state.h"
#include "sim/why/why_internal.h"

enum { ENDED_MAX = 3 };

/* The first gang that runs in the copy and waits in the settled state, by the ids of the asked one; NO_ID: none. */
static gang_id first_to_start(const struct why *why, const struct state *copy)
{
    for (gang_id id = 0; id < why->settled->gangs.len; id++) {
        const struct gang *gang = &why->settled->gangs.items[id];
        gang_id there;

        if (!gang->is_present || id == why->settled_gang || why_gang_runs(why->settled, id, 0))
            continue;
        there = state_find_gang(copy, state_name(why->settled, gang->namespace), state_name(why->settled, gang->name));
        if (why_gang_runs(copy, there, 0))
            return why_source_gang(why, id);
    }
    return NO_ID;
}

static gang_id starts_without(struct why *why, gang_id ended)
{
    struct retell_change change = why_change_new(why);
    struct state *copy;
    struct why_run run;
    gang_id first;

    why->tries++;
    change.without = ended;
    copy = state_retell(why->state, &change);
    why_run(&run, copy, why->config, why->now);
    first = first_to_start(why, copy);
    why_run_done(&run);
    state_free(copy);
    return first;
}

void why_find_line(struct why *why)
{
    const struct explanation *e = &why->explanation;
    uint32_t tried = 0;

    for (uint32_t i = 0; i < e->holder_count && tried < ENDED_MAX && why->tries < WHY_TRIES_MAX; i++) {
        gang_id ended = e->holders[i].gang == NO_ID ? NO_ID : why_source_gang(why, e->holders[i].gang);

        if (ended == NO_ID)
            continue;
        tried++;
        why->line.first = starts_without(why, ended);
        if (why->line.first != NO_ID) {
            why->line.ended = ended;
            return;
        }
    }
}
