/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Names of statuses, and what gangs count of their pods. Which counter takes in which statuses is one table: a change
 * of status touches only those counters that the old and the new one do not share.
 */
#include <stddef.h>

#include "model/books/books.h"
#include "model/parts.h"

static const char *const status_names[_POD_STATUS_MAX] = {
    [POD_PENDING] = "pending",     [POD_GATED] = "gated",         [POD_ALLOCATED] = "allocated",
    [POD_PIPELINED] = "pipelined", [POD_BINDING] = "binding",     [POD_BOUND] = "bound",
    [POD_RUNNING] = "running",     [POD_RELEASING] = "releasing", [POD_STUCK] = "stuck_in_releasing",
    [POD_SUCCEEDED] = "succeeded", [POD_FAILED] = "failed",       [POD_UNKNOWN] = "unknown",
    [POD_DELETED] = "deleted",
};
_Static_assert(ARRAY_LEN(status_names) == _POD_STATUS_MAX, "a name for each status");

const char *pod_status_name(enum pod_status status)
{
    return (unsigned)status < _POD_STATUS_MAX ? status_names[status] : "unknown";
}

bool pod_status_find(const char *name, enum pod_status *ret_status)
{
    for (int status = 0; status < _POD_STATUS_MAX; status++)
        if (strcmp(name, status_names[status]) == 0) {
            *ret_status = (enum pod_status)status;
            return true;
        }
    return false;
}

/* Where a counter is; 0, where the name is, stands for not being there. */
struct counter {
    uint32_t statuses;
    uint32_t in_group;
    uint32_t in_gang;
};

static const struct counter counters[] = {
    {1 << POD_PENDING, offsetof(struct group, pending), offsetof(struct gang, pending)},
    {ACTIVE_ALLOCATED, offsetof(struct group, active_allocated), offsetof(struct gang, active_allocated)},
    {ACTIVE_USED, offsetof(struct group, active_used), offsetof(struct gang, active_used)},
    {ALIVE, offsetof(struct group, alive), 0},
    {1 << POD_GATED, offsetof(struct group, gated), offsetof(struct gang, gated)},
    {1 << POD_PIPELINED, offsetof(struct group, pipelined), 0},
    {1 << POD_SUCCEEDED, 0, offsetof(struct gang, succeeded)},
    {ALLOCATED_SET, 0, offsetof(struct gang, allocated)},
    {0, offsetof(struct group, virtual_releasing), 0},  // also depends on is_virtual
};
enum { VIRTUAL_RELEASING = ARRAY_LEN(counters) - 1 };

uint32_t pod_counters(uint32_t status, bool is_virtual)
{
    uint32_t mask = 0;

    for (uint32_t i = 0; i < ARRAY_LEN(counters); i++)
        if (status_in(status, counters[i].statuses))
            mask |= 1u << i;
    if (status == POD_RELEASING && is_virtual)
        mask |= 1u << VIRTUAL_RELEASING;
    return mask;
}

static void count(struct undo *undo, void *base, uint32_t offset, uint32_t change)
{
    if (offset == 0)
        return;
    char *at = (char *)base + offset;
    uint32_t old;

    memcpy(&old, at, sizeof old);
    undo_set32(undo, at, old + change);
}

static bool is_short(const struct group *set)
{
    return (int64_t)set->active_used < set->min;
}

void pod_count(struct state *state, pod_id id, uint32_t before, uint32_t after)
{
    const struct pod *pod = &state->pods.items[id];

    if (pod->gang == NO_ID || pod->pod_set == NO_ID)
        return;
    struct gang *gang = &state->gangs.items[pod->gang];
    struct group *set = &gang->groups[pod->pod_set];
    bool was_short = is_short(set);

    for (uint32_t left = before ^ after; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        uint32_t change = after & 1u << i ? 1 : UINT32_MAX;

        count(&state->undo, set, counters[i].in_group, change);
        count(&state->undo, gang, counters[i].in_gang, change);
    }
    if (is_short(set) != was_short)
        undo_set32(&state->undo, &gang->short_sets, gang->short_sets + (was_short ? UINT32_MAX : 1));
}

void pod_set_status(struct state *state, pod_id id, enum pod_status status)
{
    struct pod *pod = &state->pods.items[id];
    uint32_t before = pod_counters(pod->status, pod->is_virtual);

    if (pod->status == status)
        return;
    undo_set32(&state->undo, &pod->status, status);
    pod_count(state, id, before, pod_counters(status, pod->is_virtual));
    pod_touch(state, id);
}

void pod_set_virtual(struct state *state, pod_id id, bool is_virtual)
{
    struct pod *pod = &state->pods.items[id];
    uint32_t before = pod_counters(pod->status, pod->is_virtual);

    if (pod->is_virtual == is_virtual)
        return;
    undo_set32(&state->undo, &pod->is_virtual, is_virtual);
    pod_count(state, id, before, pod_counters(pod->status, is_virtual));
    pod_touch(state, id);
}

void pod_set_node(struct state *state, pod_id id, node_id node)
{
    undo_set32(&state->undo, &state->pods.items[id].node, node);
    pod_touch(state, id);
}

void pod_set_groups(struct state *state, pod_id id, struct group_list groups)
{
    struct group_list *list = &state->pods.items[id].groups;
    uint32_t is_owned = groups.count > 1 && groups.many == state->pods.items[id].own_groups;

    undo_set32(&state->undo, &list->count, groups.count);
    undo_set32(&state->undo, &list->is_owned, is_owned);
    undo_set64(&state->undo, &list->one, groups.count == 1 ? groups.one : 0);
    undo_set64(&state->undo, &list->many, groups.count > 1 ? (uintptr_t)groups.many : 0);
    pod_touch(state, id);
}
