/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What one step of eviction takes from a victim. As little as possible while its groups stay complete: a pod that its
 * set does not need, from the set that is served last; then a whole child that its group does not need. A gang that has
 * nothing to spare goes as one.
 */
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/gangs/view_tree_internal.h"
#include "model/gang.h"
#include "model/state.h"

struct step {
    struct engine *engine;
    struct arena *arena;
    const struct gang *gang;
    const struct gang_view *view;
    const pod_id *active;
    uint32_t active_count;
};

/* What is taken: pods at these places of the list of active pods, which is in the order of the tree. */
struct span {
    uint32_t start;
    uint32_t count;
};

static bool is_over(const struct step *step, uint32_t group)
{
    return view_count(step->gang, step->view, group) > view_min(step->gang, step->view, group);
}

static bool has_surplus(const struct step *step, uint32_t group)
{
    for (uint32_t g = group; g != NO_ID; g = view_next_group(step->gang, g, group)) {
        if (is_over(step, g))
            return true;
    }
    return false;
}

static bool is_below(const struct gang *gang, uint32_t group, uint32_t top)
{
    while (group > top)
        group = gang->groups[group].parent;
    return group == top;
}

/* The active pods of all sets at or below the group: next to each other in the list. */
static struct span pods_below(const struct step *step, uint32_t group)
{
    const struct pod *pods = step->engine->state->pods.items;
    struct span span = {0};

    for (uint32_t i = 0; i < step->active_count; i++) {
        if (!is_below(step->gang, pods[step->active[i]].pod_set, group))
            continue;
        if (span.count++ == 0)
            span.start = i;
    }
    return span;
}

static const uint32_t *children_last_first(const struct step *step, uint32_t group)
{
    uint32_t *children = arena_alloc(step->arena, step->gang->groups[group].child_count * sizeof *children);

    view_children(step->engine, step->view, group, true, children);
    return children;
}

static struct span spare(const struct step *step, uint32_t group)
{
    const struct gang *gang = step->gang;
    const struct group *g = &gang->groups[group];
    bool has_complete_child = false;
    struct span span = {0};

    for (uint32_t child = g->first_child; child != NO_ID; child = gang->groups[child].next_sibling)
        has_complete_child = has_complete_child || view_group_is_satisfied(gang, step->view, child);
    if (!has_complete_child || !has_surplus(step, group))
        return span;

    const uint32_t *children = children_last_first(step, group);
    for (uint32_t i = 0; i < g->child_count && span.count == 0; i++) {
        if (!gang->groups[children[i]].is_pod_set)
            span = spare(step, children[i]);
        else if (is_over(step, children[i])) {
            struct span all = pods_below(step, children[i]);
            span = (struct span){all.start + all.count - 1, 1};
        }
    }
    for (uint32_t i = 0; i < g->child_count && span.count == 0 && is_over(step, group); i++)
        span = pods_below(step, children[i]);
    return span;
}

const pod_id *view_eviction(struct engine *engine, struct arena *arena, const struct gang_view *view,
                            uint32_t *ret_count, bool *ret_more)
{
    struct step step = {
        .engine = engine,
        .arena = arena,
        .gang = &engine->state->gangs.items[view->gang],
        .view = view,
    };
    step.active = view_active(engine, arena, view, &step.active_count);

    /* One pod can be taken in one way alone, and most victims are one pod. */
    struct span span = {0};
    if (step.active_count > 1)
        span = spare(&step, 0);
    if (span.count == 0)
        span = (struct span){0, step.active_count};
    *ret_count = span.count;
    *ret_more = span.count < step.active_count;
    return step.active + span.start;
}
