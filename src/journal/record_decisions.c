/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/record.h"
#include "model/state.h"

static struct record_decision record_of(const struct state *state, const struct decision *decision)
{
    const struct pod *pod = &state->pods.items[decision->pod];
    struct record_decision record = {
        .action = decision->action,
        .kind = decision->kind,
        .namespace = state_name(state, pod->namespace),
        .pod = state_name(state, pod->name),
    };

    if (decision->node != NO_ID)
        record.node = state_name(state, state->nodes.items[decision->node].name);
    if (decision->on_behalf != NO_ID) {
        record.for_namespace = state_name(state, state->gangs.items[decision->on_behalf].namespace);
        record.for_gang = state_name(state, state->gangs.items[decision->on_behalf].name);
    }
    return record;
}

struct record_decision *record_decisions(const struct engine *engine, const struct state *state, struct arena *arena,
                                         size_t *ret_count)
{
    const struct decision *decisions = engine_decisions(engine, ret_count);
    struct record_decision *records = arena_calloc(arena, *ret_count, sizeof *records);

    for (size_t i = 0; i < *ret_count; i++)
        records[i] = record_of(state, &decisions[i]);
    return records;
}
