/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The tree of a gang, as a view sees it: what is complete, what could be, and which child of a group comes next.
 * Functions recurse over the tree, which the model keeps at most 64 deep. Counts are read from the gang and so are
 * always those of this moment, in a simulation too; only the rest of a victim brings its own.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/gangs/view_tree_internal.h"
#include "model/gang.h"
#include "model/state.h"

int32_t view_min(const struct gang *gang, const struct gang_view *view, uint32_t group)
{
    const struct group *g = &gang->groups[group];
    int32_t min = view && view->mins ? view->mins[group] : g->min;

    return min < 0 && !g->is_pod_set ? (int32_t)g->child_count : min;
}

int32_t view_count(const struct gang *gang, const struct gang_view *view, uint32_t group)
{
    const struct group *g = &gang->groups[group];
    int32_t count = 0;

    if (g->is_pod_set)
        return (int32_t)(view && view->active_in ? view->active_in[group] : g->active_allocated);
    for (uint32_t child = g->first_child; child != NO_ID; child = gang->groups[child].next_sibling)
        count += view_group_is_satisfied(gang, view, child);
    return count;
}

bool view_group_is_satisfied(const struct gang *gang, const struct gang_view *view, uint32_t group)
{
    return view_count(gang, view, group) >= view_min(gang, view, group);
}

static bool group_is_ready(const struct gang *gang, uint32_t group)
{
    const struct group *g = &gang->groups[group];
    int32_t count = 0;

    if (g->is_pod_set)
        return (int64_t)g->alive - g->gated >= g->min;
    for (uint32_t child = g->first_child; child != NO_ID; child = gang->groups[child].next_sibling)
        count += group_is_ready(gang, child);
    return count >= view_min(gang, NULL, group);
}

bool gang_is_ready(const struct gang *gang)
{
    return gang->group_count > 0 && group_is_ready(gang, 0);
}

bool gang_is_elastic(const struct gang *gang)
{
    for (uint32_t i = 0; i < gang->group_count; i++) {
        const struct group *g = &gang->groups[i];
        if (g->is_pod_set && g->min < (int64_t)g->pods.len)
            return true;
    }
    return false;
}

enum elastic_state view_elastic_state(const struct gang *gang, const struct gang_view *view)
{
    enum elastic_state state = ELASTIC_AT_MIN;

    for (uint32_t i = 0; i < gang->group_count; i++) {
        if (!gang->groups[i].is_pod_set)
            continue;
        int32_t count = view_count(gang, view, i);
        int32_t min = view_min(gang, view, i);
        if (count < min)
            return ELASTIC_BELOW;
        if (count > min)
            state = ELASTIC_ABOVE;
    }
    return state;
}

enum elastic_state gang_elastic_state(const struct gang *gang)
{
    return view_elastic_state(gang, NULL);
}

uint32_t view_next_group(const struct gang *gang, uint32_t group, uint32_t top)
{
    const struct group *groups = gang->groups;

    if (groups[group].first_child != NO_ID)
        return groups[group].first_child;
    while (group != top && groups[group].next_sibling == NO_ID)
        group = groups[group].parent;
    return group == top ? NO_ID : groups[group].next_sibling;
}

/* What children are sorted by: incomplete ones first, those that need nothing last, then by how complete they are. */
struct child_key {
    double value;
    const char *name;
    int class;
    uint32_t group;
};

static int compare_children(const void *a, const void *b)
{
    const struct child_key *l = a;
    const struct child_key *r = b;

    if (l->class != r->class)
        return l->class < r->class ? -1 : 1;
    if (l->value != r->value)
        return l->value < r->value ? -1 : 1;
    return strcmp(l->name, r->name);
}

static struct child_key child_key(const struct state *state, const struct gang *gang, const struct gang_view *view,
                                  uint32_t child)
{
    int32_t count = view_count(gang, view, child);
    int32_t min = view_min(gang, view, child);
    struct child_key key = {.name = state_name(state, gang->groups[child].name), .group = child};

    if (count >= min) {
        key.class = min == 0 ? 2 : 1;
        key.value = min == 0 ? (double)count : (double)count / (double)min;
    }
    return key;
}

void view_children(struct engine *engine, const struct gang_view *view, uint32_t group, bool reversed, uint32_t *ret)
{
    enum { FEW = 16 };
    const struct state *state = engine->state;
    const struct gang *gang = &state->gangs.items[view->gang];
    const struct group *g = &gang->groups[group];
    struct child_key few[FEW];
    _cleanup_(freep) void *many = g->child_count > FEW ? xmalloc(g->child_count * sizeof *few) : NULL;
    struct child_key *keys = many ? many : few;
    uint32_t count = 0;

    if (g->child_count == 1) {
        ret[0] = g->first_child;
        return;
    }
    for (uint32_t child = g->first_child; child != NO_ID; child = gang->groups[child].next_sibling)
        keys[count++] = child_key(state, gang, view, child);
    qsort(keys, count, sizeof *keys, compare_children);
    for (uint32_t i = 0; i < count; i++)
        ret[reversed ? count - 1 - i : i] = keys[i].group;
}
