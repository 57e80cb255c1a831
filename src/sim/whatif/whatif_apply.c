/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The changed copy: all of a state is told again as deltas, each edited on its way. The copy is what the same input with
 * the changes in it would have given.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "model/retell/retell.h"
#include "model/state.h"
#include "model/tap.h"
#include "sim/run/run.h"
#include "sim/whatif/whatif_change.h"
#include "text/suggest.h"

struct editing {
    const struct state *from;
    struct state *to;
    const struct whatif_change *changes;
    size_t count;
    int r;
    struct err *err;
};

/* ---- Names. ---- */

/* Is the gang called so, by its own name or by that of the workload that it was made for, with a namespace or without? */
static bool gang_is_called(const struct state *state, gang_id id, const char *name)
{
    const struct gang *gang = &state->gangs.items[id];
    const char *own = state_name(state, gang->name);
    const char *slash = strchr(name, '/');
    struct strbuf label;
    bool is_it;

    strbuf_init(&label, WHATIF_NAME_MAX);
    workload_add_name(&label, state, id);
    const char *label_slash = strchr(label.text, '/');
    is_it = strcmp(label.text, name) == 0 || (!slash && label_slash && strcmp(label_slash + 1, name) == 0) ||
            (!slash && strcmp(own, name) == 0);
    if (slash && strcmp(slash + 1, own) == 0) {
        const char *namespace = state_name(state, gang->namespace);
        is_it |= strlen(namespace) == (size_t)(slash - name) && strncmp(namespace, name, strlen(namespace)) == 0;
    }
    strbuf_done(&label);
    return is_it;
}

static bool has_gang(const struct state *state, const char *name, struct suggestion *suggestion)
{
    for (gang_id id = 0; id < state->gangs.len; id++) {
        if (!state->gangs.items[id].is_present)
            continue;
        suggestion_offer(suggestion, state_name(state, state->gangs.items[id].name));
        if (gang_is_called(state, id, name))
            return true;
    }
    return false;
}

static bool has_queue(const struct state *state, const char *name, struct suggestion *suggestion)
{
    for (queue_id id = 0; id < state->queues.len; id++) {
        if (!state->queues.items[id].is_present)
            continue;
        suggestion_offer(suggestion, state_name(state, state->queues.items[id].name));
        if (strcmp(state_name(state, state->queues.items[id].name), name) == 0)
            return true;
    }
    return false;
}

static bool has_node(const struct state *state, const char *name, struct suggestion *suggestion)
{
    for (node_id id = 0; id < state->nodes.len; id++) {
        if (!state->nodes.items[id].is_present)
            continue;
        suggestion_offer(suggestion, state_name(state, state->nodes.items[id].name));
        if (strcmp(state_name(state, state->nodes.items[id].name), name) == 0)
            return true;
    }
    return false;
}

static int check_name(const struct state *state, const struct whatif_change *change, struct err *err)
{
    struct suggestion suggestion;
    char hint[SUGGESTION_MAX];
    const char *what;
    bool is_there;

    suggestion_init(&suggestion, change->name);
    switch (change->kind) {
    case WHATIF_NEW:
        return 0;
    case WHATIF_WORKLOAD_PRIORITY:
    case WHATIF_WORKLOAD_GONE:
        what = "workload";
        is_there = has_gang(state, change->name, &suggestion);
        break;
    case WHATIF_NODE_LOST:
    case WHATIF_NODE_DRAINED:
    case WHATIF_NODE_ADDED:
        what = "node";
        is_there = has_node(state, change->name, &suggestion);
        break;
    default:
        what = "queue";
        is_there = has_queue(state, change->name, &suggestion);
        break;
    }
    if (is_there)
        return 0;
    return err_set(err, -ENOENT, "%s: there is no %s '%s'%s", change->text, what, change->name,
                   suggestion_text(&suggestion, "", hint));
}

/* ---- Deltas. ---- */

static void tell(struct editing *editing, enum delta_kind kind, const void *spec)
{
    if (editing->r >= 0)
        editing->r = state_apply(editing->to, &(struct delta){kind, spec}, editing->err);
}

static void tell_queue(struct editing *editing, const struct queue_spec *spec)
{
    struct queue_spec own = *spec;

    for (size_t i = 0; i < editing->count; i++) {
        const struct whatif_change *change = &editing->changes[i];
        if (strcmp(change->name, own.name) != 0)
            continue;
        if (change->kind == WHATIF_QUEUE_QUOTA)
            own.deserved[change->resource] = change->value;
        else if (change->kind == WHATIF_QUEUE_LIMIT)
            own.limit[change->resource] = change->value;
        else if (change->kind == WHATIF_QUEUE_WEIGHT)
            own.weight[change->resource] = change->value;
        else if (change->kind == WHATIF_QUEUE_PRIORITY)
            own.priority = (int32_t)change->value;
    }
    tell(editing, DELTA_PUT_QUEUE, &own);
}

static void tell_more_nodes(struct editing *editing, const struct node_spec *spec, uint32_t count)
{
    char name[WHATIF_NAME_MAX + 32];
    struct node_spec own = *spec;

    own.name = name;
    for (uint32_t i = 1; i <= count; i++) {
        (void)snprintf(name, sizeof name, "%s-new-%u", spec->name, i);
        tell(editing, DELTA_PUT_NODE, &own);
    }
}

static void tell_node(struct editing *editing, const struct node_spec *spec)
{
    struct node_spec own = *spec;
    bool is_lost = false;

    for (size_t i = 0; i < editing->count; i++) {
        const struct whatif_change *change = &editing->changes[i];
        if (strcmp(change->name, spec->name) != 0)
            continue;
        if (change->kind == WHATIF_NODE_LOST)
            is_lost = true;
        else if (change->kind == WHATIF_NODE_DRAINED)
            own.troubles |= NODE_UNSCHEDULABLE;
        else if (change->kind == WHATIF_NODE_ADDED)
            tell_more_nodes(editing, spec, (uint32_t)change->value);
    }
    if (!is_lost)
        tell(editing, DELTA_PUT_NODE, &own);
}

/* The change of that kind which means the gang, NULL: none. */
static const struct whatif_change *change_of(const struct editing *editing, const char *namespace, const char *name,
                                             enum whatif_kind kind)
{
    gang_id gang = name ? state_find_gang(editing->from, namespace ? namespace : "", name) : NO_ID;

    for (size_t i = 0; gang != NO_ID && i < editing->count; i++) {
        if (editing->changes[i].kind == kind && gang_is_called(editing->from, gang, editing->changes[i].name))
            return &editing->changes[i];
    }
    return NULL;
}

static void tell_gang(struct editing *editing, const struct gang_spec *spec)
{
    const struct whatif_change *priority = change_of(editing, spec->namespace, spec->name, WHATIF_WORKLOAD_PRIORITY);
    struct gang_spec own = *spec;

    if (change_of(editing, spec->namespace, spec->name, WHATIF_WORKLOAD_GONE))
        return;
    if (priority)
        own.priority = (int32_t)priority->value;
    tell(editing, DELTA_PUT_GANG, &own);
}

static bool leaves_node(const struct editing *editing, const char *node)
{
    for (size_t i = 0; node && i < editing->count; i++) {
        const struct whatif_change *change = &editing->changes[i];
        if ((change->kind == WHATIF_NODE_LOST || change->kind == WHATIF_NODE_DRAINED) &&
            strcmp(change->name, node) == 0)
            return true;
    }
    return false;
}

/* A pod that loses its node is made again by whoever made it, and waits; one that belongs to nobody is gone. */
static void tell_pod(struct editing *editing, const struct pod_spec *spec)
{
    struct pod_spec own = *spec;

    if (change_of(editing, spec->namespace, spec->gang, WHATIF_WORKLOAD_GONE))
        return;
    if (leaves_node(editing, spec->node)) {
        if (!spec->gang || !*spec->gang)
            return;
        own.status = POD_PENDING;
        own.node = NULL;
        own.gpu_group_count = 0;
        own.numa_count = 0;
    }
    tell(editing, DELTA_PUT_POD, &own);
}

/* Later moves say the same of a pod: those that lose their nodes have been told. */
static void tell_move(struct editing *editing, const struct pod_move_spec *spec)
{
    if (!leaves_node(editing, spec->node))
        tell(editing, DELTA_MOVE_POD, spec);
}

static void edit(void *arg, const struct delta *delta)
{
    struct editing *editing = arg;

    switch (delta->kind) {
    case DELTA_PUT_QUEUE:
        tell_queue(editing, delta->spec);
        break;
    case DELTA_PUT_NODE:
        tell_node(editing, delta->spec);
        break;
    case DELTA_PUT_GANG:
        tell_gang(editing, delta->spec);
        break;
    case DELTA_PUT_POD:
        tell_pod(editing, delta->spec);
        break;
    case DELTA_MOVE_POD:
        tell_move(editing, delta->spec);
        break;
    default:
        tell(editing, delta->kind, delta->spec);
        break;
    }
}

int whatif_apply(const struct state *from, const struct whatif_change *changes, size_t count, struct state **ret,
                 struct err *err)
{
    struct editing editing = {.from = from, .changes = changes, .count = count, .err = err};

    for (size_t i = 0; i < count; i++) {
        int r = check_name(from, &changes[i], err);
        if (r < 0)
            return r;
    }
    editing.to = state_new();
    state_as_deltas(from, edit, &editing);
    if (editing.r < 0) {
        state_free(editing.to);
        return editing.r;
    }
    *ret = editing.to;
    return 0;
}
