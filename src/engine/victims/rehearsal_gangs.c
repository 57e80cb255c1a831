/* SPDX-License-Identifier: Apache-2.0 */

/* Gangs that rehearsals can follow. */
#include "base/vec.h"
#include "engine/context.h"
#include "engine/nodes/gpu_room.h"
#include "engine/victims/rehearsal.h"
#include "model/gang.h"

/* Moved in this cycle: it finds back to where its promise is in its own way. */
static bool is_moved(const struct engine *engine, pod_id pod)
{
    if (!engine->room->has_moved_pods || engine->state->pods.items[pod].status != POD_PIPELINED)
        return false;
    vec_foreach (&engine->moved, moved) {
        if (moved->pod == pod)
            return true;
    }
    return false;
}

bool rehearsal_takes_gang(const struct engine *engine, const struct gang *gang)
{
    if (gang->group_count != 2 || !gang->groups[1].is_pod_set || gang->groups[0].topology.topology != 0 ||
        gang->groups[1].topology.topology != 0 || gang->stray_pods.len > 0)
        return false;
    const struct group *set = &gang->groups[1];
    for (uint32_t i = 0; i < set->pods.len; i++) {
        if (!rehearsal_takes(engine->rehearsal, engine, set->pods.items[i]))
            return false;
    }
    return true;
}

/* Pods that wait are like the others: any of them asks for what any of them holds. */
static bool is_uniform(const struct engine *engine, const struct group *set)
{
    const struct pod *pods = engine->state->pods.items;

    for (uint32_t i = 1; i < set->pods.len; i++) {
        if (pods[set->pods.items[i]].request != pods[set->pods.items[0]].request)
            return false;
    }
    return true;
}

bool rehearsal_takes_victim(const struct engine *engine, const struct gang *gang)
{
    if (!rehearsal_takes_gang(engine, gang))
        return false;
    const struct group *set = &gang->groups[1];
    if (set->min < 1 || (int64_t)set->min > (int64_t)set->active_allocated || gang->groups[0].min > 1)
        return false;
    for (uint32_t i = 0; i < set->pods.len; i++) {
        if (is_moved(engine, set->pods.items[i]))
            return false;
    }
    return gang->pending == 0 || is_uniform(engine, set);
}
