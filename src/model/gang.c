/* SPDX-License-Identifier: Apache-2.0 */

/* Deltas of gangs. A gang that pods name has a slot from then on, present or not. */
#include <errno.h>

#include "base/err.h"
#include "model/parts.h"

enum { GROUPS_MAX = 4096, DEPTH_MAX = 64 };

gang_id gang_slot(struct state *state, name_id namespace, name_id name)
{
    uint64_t key = name_pair(namespace, name);
    gang_id id = map_find(&state->gang_by_name, key);

    if (id != NO_ID)
        return id;
    id = slot_take(&state->gangs, &state->unused_gangs);
    struct gang *gang = &state->gangs.items[id];
    gang->name = name;
    gang->namespace = namespace;
    gang->queue = NO_ID;
    map64_put(&state->gang_by_name, key, id);
    return id;
}

static void free_tree(struct gang *gang)
{
    for (uint32_t i = 0; i < gang->group_count; i++)
        vec_done(&gang->groups[i].pods);
    free(gang->groups);
    gang->groups = NULL;
    gang->group_count = 0;
    gang->short_sets = 0;
}

void gang_free_if_unused(struct state *state, gang_id id)
{
    struct gang *gang = &state->gangs.items[id];

    if (gang->is_present || gang->stray_pods.len > 0)
        return;
    map64_remove(&state->gang_by_name, name_pair(gang->namespace, gang->name));
    vec_done(&gang->stray_pods);
    gang->name = 0;
    gang->namespace = 0;
    /* A slot that is still to be settled is handed out after that, when the list no longer has it. */
    if (!gang->is_unsettled)
        vec_push(&state->unused_gangs, id);
}

static int check_group(const struct gang_spec *spec, size_t i, uint32_t *depth, struct err *err)
{
    const struct group_spec *group = &spec->groups[i];

    if (i > 0 && (group->parent < 0 || (size_t)group->parent >= i || spec->groups[group->parent].is_pod_set))
        return err_set(err, -EINVAL, "group %zu: its parent must be a group before it", i);
    if (i == 0 && (group->parent != -1 || group->is_pod_set))
        return err_set(err, -EINVAL, "the first group must be the root");
    if (group->min < (group->is_pod_set ? 0 : -1))
        return err_set(err, -EINVAL, "group %zu: it needs %d; must not be negative", i, group->min);
    depth[i] = i > 0 ? depth[group->parent] + 1 : 0;
    if (depth[i] > DEPTH_MAX)
        return err_set(err, -EINVAL, "groups are nested more than %d levels deep", DEPTH_MAX);
    if (group->is_pod_set && is_empty(group->name))
        return err_set(err, -EINVAL, "a pod set needs a name");
    return 0;
}

static int check_tree(const struct gang_spec *spec, struct err *err)
{
    uint32_t depth[GROUPS_MAX];
    bool has_pod_set = false;

    if (spec->group_count > GROUPS_MAX)
        return err_set(err, -EINVAL, "%zu groups; at most %d are supported", spec->group_count, GROUPS_MAX);
    memset(depth, 0, spec->group_count * sizeof *depth);
    for (size_t i = 0; i < spec->group_count; i++) {
        int r = check_group(spec, i, depth, err);

        if (r < 0)
            return r;
        has_pod_set |= spec->groups[i].is_pod_set;
    }
    if (!has_pod_set)
        return err_set(err, -EINVAL, "it has no pod set");
    return 0;
}

/* Two sets of one name would leave open whose a pod is. */
static int check_names(struct state *state, const struct gang_spec *spec, struct err *err)
{
    struct map64 seen = {0};
    int r = 0;

    for (size_t i = 0; i < spec->group_count && r == 0; i++) {
        uint64_t name = name_add(state, spec->groups[i].name);

        if (!spec->groups[i].is_pod_set)
            continue;
        if (map64_get(&seen, name, NULL))
            r = err_set(err, -EINVAL, "two pod sets have the name '%s'", spec->groups[i].name);
        map64_put(&seen, name, 1);
    }
    map64_done(&seen);
    return r;
}

static void link_child(struct group *groups, uint32_t *last_child, uint32_t i)
{
    uint32_t parent = groups[i].parent;

    if (groups[parent].child_count++ == 0)
        groups[parent].first_child = i;
    else
        groups[last_child[parent]].next_sibling = i;
    last_child[parent] = i;
}

static void build_tree(struct state *state, struct gang *gang, const struct gang_spec *spec)
{
    uint32_t last_child[GROUPS_MAX];

    free_tree(gang);
    gang->groups = xcalloc(spec->group_count, sizeof *gang->groups);
    gang->group_count = (uint32_t)spec->group_count;
    for (uint32_t i = 0; i < gang->group_count; i++) {
        const struct group_spec *from = &spec->groups[i];
        struct group *group = &gang->groups[i];

        *group = (struct group){
            .name = name_add(state, from->name),
            .parent = i > 0 ? (uint32_t)from->parent : NO_ID,
            .first_child = NO_ID,
            .next_sibling = NO_ID,
            .is_pod_set = from->is_pod_set,
            .min = from->min,
        };
        if (!is_empty(from->topology.topology))
            group->topology = (struct topology_constraint){
                .topology = name_add(state, from->topology.topology),
                .required = name_add(state, from->topology.required),
                .preferred = name_add(state, from->topology.preferred),
            };
        if (i > 0)
            link_child(gang->groups, last_child, i);
        gang->short_sets += group->is_pod_set && group->min > 0;
    }
}

static void set_fields(struct state *state, struct gang *gang, const struct gang_spec *spec)
{
    gang->uid = uid_add(state, spec->uid, spec->namespace, spec->name);
    gang->is_present = true;
    gang->is_preemptible = spec->is_preemptible;
    gang->has_tree_error = spec->has_tree_error;
    gang->has_grace = spec->has_grace;
    gang->priority = spec->priority;
    gang->created = spec->created;
    gang->last_start = spec->last_start;
    gang->last_eviction = spec->last_eviction;
    gang->stale_since = spec->stale_since;
    gang->preemption_delay = spec->preemption_delay;
    gang->staleness_grace = spec->staleness_grace;
}

static void set_queue(struct state *state, gang_id id, const char *name, bool is_preemptible)
{
    struct gang *gang = &state->gangs.items[id];

    queue_count_gang(state, id, -1);
    gang->queue_name = name_add(state, name);
    gang->queue = gang->queue_name ? map_find(&state->queue_by_name, gang->queue_name) : NO_ID;
    gang->is_preemptible = is_preemptible;
    queue_count_gang(state, id, 1);
}

int state_put_gang(struct state *state, const struct gang_spec *spec, struct err *err)
{
    struct words pods = {0};
    int r;

    BUG_ON(state->undo.is_recording);
    if (is_empty(spec->name))
        return err_set(err, -EINVAL, "a gang needs a name");
    r = check_tree(spec, err);
    if (r >= 0)
        r = check_names(state, spec, err);
    if (r < 0)
        return err_wrap(err, r, "gang '%s'", spec->name);

    gang_id id = gang_slot(state, name_add(state, spec->namespace), name_add(state, spec->name));
    gang_take_pods(state, id, &pods);
    set_queue(state, id, spec->queue, spec->is_preemptible);
    set_fields(state, &state->gangs.items[id], spec);
    build_tree(state, &state->gangs.items[id], spec);
    gang_give_pods(state, id, &pods);
    vec_done(&pods);
    tap_tell(state, DELTA_PUT_GANG, spec);
    return 0;
}

void state_drop_gang(struct state *state, const char *namespace, const char *name)
{
    gang_id id = state_find_gang(state, namespace, name);
    struct words pods = {0};

    BUG_ON(state->undo.is_recording);
    if (id == NO_ID)
        return;
    struct gang *gang = &state->gangs.items[id];
    gang_take_pods(state, id, &pods);
    set_queue(state, id, NULL, false);
    gang->is_present = false;
    free_tree(gang);
    gang_give_pods(state, id, &pods);
    vec_done(&pods);
    gang_free_if_unused(state, id);
    tap_name(state, DELTA_DROP_GANG, namespace, name);
}

void state_set_gang_times(struct state *state, gang_id id, nsec_t last_start, nsec_t last_eviction, nsec_t stale_since)
{
    struct gang *gang = &state->gangs.items[id];

    gang->last_start = last_start;
    gang->last_eviction = last_eviction;
    gang->stale_since = stale_since;
    gang_touch(state, id);
    tap_times(state, id, last_start, last_eviction, stale_since);
}

static void keep_in(struct id_set *set, gang_id id, bool is_in)
{
    if (is_in)
        id_set_add(set, id);
    else
        id_set_remove(set, id);
}

static bool is_stale(const struct gang *gang)
{
    return gang->stale_since != 0 || (gang->short_sets > 0 && gang->active_used > 0 && gang->succeeded == 0);
}

void gang_settle(struct state *state, gang_id id)
{
    struct gang *gang = &state->gangs.items[id];
    bool is_in = gang->is_present;

    keep_in(&state->pending_gangs, id, is_in && gang->pending > 0);
    keep_in(&state->active_gangs, id, is_in && gang->active_allocated > 0);
    keep_in(&state->stale_gangs, id, is_in && is_stale(gang));
    gang->is_unsettled = false;
    if (!is_in && gang->stray_pods.len == 0) {
        vec_push(&state->unused_gangs, id);
        return;
    }
    if (!gang->places_are_stale)
        return;
    gang->places_are_stale = false;
    for (uint32_t i = 0; i < gang->group_count; i++)
        for (uint32_t place = 0; place < gang->groups[i].pods.len; place++)
            state->pods.items[gang->groups[i].pods.items[place]].place = place;
}
