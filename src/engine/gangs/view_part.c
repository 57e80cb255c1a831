/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Gangs in part. A search tries some of the waiting pods first (a probe), and takes a victim piece by piece (its
 * rests). Both live in the search's arena and are not kept.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/gangs/view_tree_internal.h"
#include "model/gang.h"
#include "model/pod.h"
#include "model/state.h"

static const pod_id *keep_pods(struct arena *arena, const pod_id *pods, uint32_t count)
{
    pod_id *kept = arena_alloc(arena, count * sizeof *kept);

    if (count > 0)
        memcpy(kept, pods, count * sizeof *kept);
    return kept;
}

static bool has_pods(const struct gang *gang, const int32_t *pods_in, uint32_t group)
{
    for (uint32_t g = group; g != NO_ID; g = view_next_group(gang, g, group)) {
        if (pods_in[g] > 0)
            return true;
    }
    return false;
}

/* Minimums cut to what the probe has: pods of a set, children with any pod of a group that says how many it needs. */
static const int32_t *cut_mins(const struct state *state, struct arena *arena, const struct gang *gang,
                               const pod_id *chunk, uint32_t count)
{
    int32_t *pods_in = arena_calloc(arena, gang->group_count, sizeof *pods_in);
    int32_t *mins = arena_alloc(arena, gang->group_count * sizeof *mins);

    for (uint32_t i = 0; i < count; i++)
        pods_in[state->pods.items[chunk[i]].pod_set]++;
    for (uint32_t g = 0; g < gang->group_count; g++) {
        if (gang->groups[g].is_pod_set)
            pods_in[g] += (int32_t)gang->groups[g].active_allocated;
    }
    for (uint32_t g = 0; g < gang->group_count; g++) {
        const struct group *group = &gang->groups[g];
        mins[g] = group->min;
        if (group->is_pod_set) {
            if (pods_in[g] > 0)
                mins[g] = MIN(group->min, pods_in[g]);
        } else if (group->min >= 0) {
            int32_t children = 0;
            for (uint32_t child = group->first_child; child != NO_ID; child = gang->groups[child].next_sibling)
                children += has_pods(gang, pods_in, child);
            mins[g] = MIN(group->min, children);
        }
    }
    return mins;
}

const struct gang_view *view_probe(struct engine *engine, struct arena *arena, gang_id gang, const pod_id *chunk,
                                   uint32_t count)
{
    const struct state *state = engine->state;
    const struct gang *g = &state->gangs.items[gang];
    struct gang_view *view = arena_alloc(arena, sizeof *view);
    struct group_stack stack = {0};
    struct pod_list pods = {0};

    *view = (struct gang_view){.gang = gang, .is_part = true, .mins = cut_mins(state, arena, g, chunk, count)};
    view->elastic = view_elastic_state(g, view);
    view_collect_chunk(&(struct chunk_source){engine, view, chunk, count}, &stack, &pods);
    view->chunk = keep_pods(arena, pods.items, pods.len);
    view->chunk_count = pods.len;
    view_sum_asked(state, view);
    vec_done(&stack);
    vec_done(&pods);
    return view;
}

static int compare_ids(const void *a, const void *b)
{
    const pod_id l = *(const pod_id *)a;
    const pod_id r = *(const pod_id *)b;

    return l < r ? -1 : l > r;
}

const struct gang_view *view_rest(struct engine *engine, struct arena *arena, const struct gang_view *victim,
                                  const pod_id *without, uint32_t count)
{
    const struct state *state = engine->state;
    const struct gang *gang = &state->gangs.items[victim->gang];
    struct gang_view *view = arena_alloc(arena, sizeof *view);
    uint32_t *active_in = arena_calloc(arena, gang->group_count, sizeof *active_in);
    pod_id *taken = arena_alloc(arena, count * sizeof *taken);
    uint32_t old_count;
    const pod_id *old = view_active(engine, arena, victim, &old_count);
    pod_id *active = arena_alloc(arena, old_count * sizeof *active);
    uint32_t left = 0;

    memcpy(taken, without, count * sizeof *taken);
    qsort(taken, count, sizeof *taken, compare_ids);
    for (uint32_t i = 0; i < old_count; i++) {
        if (bsearch(&old[i], taken, count, sizeof *taken, compare_ids))
            continue;
        active[left++] = old[i];
        active_in[state->pods.items[old[i]].pod_set]++;
    }
    *view = (struct gang_view){
        .gang = victim->gang,
        .is_part = true,
        .mins = victim->mins,
        .active = active,
        .active_count = left,
        .active_in = active_in,
    };
    view->elastic = view_elastic_state(gang, view);
    view_set_held(view, view_sum_held(state, active, left));
    return view;
}

const pod_id *view_active(struct engine *engine, struct arena *arena, const struct gang_view *view, uint32_t *ret_count)
{
    const struct state *state = engine->state;
    const struct gang *gang = &state->gangs.items[view->gang];
    uint32_t count = 0;

    if (view->active_in) {
        *ret_count = view->active_count;
        return view->active;
    }
    pod_id *active = arena_alloc(arena, gang->active_allocated * sizeof *active);
    for (uint32_t g = 0; g != NO_ID; g = view_next_group(gang, g, 0)) {
        const struct group *set = &gang->groups[g];
        if (!set->is_pod_set || set->active_allocated == 0)
            continue;
        for (uint32_t i = 0; i < set->pods.len; i++) {
            if (status_in(state->pods.items[set->pods.items[i]].status, ACTIVE_ALLOCATED))
                active[count++] = set->pods.items[i];
        }
    }
    *ret_count = count;
    return active;
}
