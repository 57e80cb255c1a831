/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/context.h"
#include "engine/node_set.h"

struct verdict *engine_verdict_slot(struct engine *engine, gang_id gang)
{
    uint32_t *at = &engine->verdict_of.items[gang];

    if (*at == 0) {
        vec_push(&engine->verdicts, (struct verdict){.pod = NO_ID, .queue = NO_ID});
        *at = engine->verdicts.len;
    }
    return &engine->verdicts.items[*at - 1];
}

const struct state *engine_state(const struct engine *engine)
{
    return engine->state;
}

const struct config *engine_config(const struct engine *engine)
{
    return &engine->config;
}

int64_t engine_largest(const struct engine *engine, uint32_t dim)
{
    return dim < engine->largest.len ? engine->largest.items[dim] : 0;
}

struct node_set node_set_all(const struct engine *engine)
{
    const struct state *state = engine->state;

    return (struct node_set){true, state->nodes_by_rank.items, state->nodes_by_rank.len};
}
