/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"
#include "engine/context.h"
#include "engine/queues/order.h"

const gang_id *engine_waiting(struct engine *engine, struct arena *arena, uint32_t *ret_count)
{
    VEC(gang_id) found = {0};
    struct arena scratch;

    BUG_ON(!engine->is_open);
    arena_init(&scratch);
    struct order *order = order_of_waiting(engine, &scratch, ACTION_ALLOCATE);
    while (!order_is_empty(order))
        vec_push(&found, order_pop(order)->gang);
    gang_id *gangs = arena_alloc(arena, found.len * sizeof *gangs);

    for (uint32_t i = 0; i < found.len; i++)
        gangs[i] = found.items[i];
    *ret_count = found.len;
    vec_done(&found);
    arena_done(&scratch);
    return gangs;
}
