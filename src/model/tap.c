/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tap.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/parts.h"

void state_set_tap(struct state *state, delta_fn fn, void *arg)
{
    state->tap = (struct delta_tap){fn, arg};
}

void tap_tell(struct state *state, enum delta_kind kind, const void *spec)
{
    if (state->tap.fn)
        state->tap.fn(state->tap.arg, &(struct delta){kind, spec});
}

void tap_name(struct state *state, enum delta_kind kind, const char *namespace, const char *name)
{
    tap_tell(state, kind, &(struct name_spec){namespace, name});
}

void tap_move(struct state *state, pod_id id, enum pod_status status, node_id node, struct group_list groups)
{
    const struct pod *pod = &state->pods.items[id];
    _cleanup_(freep) struct gpu_group_spec *specs = NULL;

    if (!state->tap.fn)
        return;
    specs = xcalloc(groups.count + 1, sizeof *specs);
    for (uint32_t i = 0; i < groups.count; i++) {
        gpu_group group = group_at(&groups, i);

        if (gpu_group_is_fresh(group))
            specs[i].number = group & ~GPU_GROUP_FRESH;
        else
            specs[i].name = state_name(state, (name_id)group);
    }
    tap_tell(state, DELTA_MOVE_POD,
             &(struct pod_move_spec){
                 .namespace = state_name(state, pod->namespace),
                 .name = state_name(state, pod->name),
                 .status = status,
                 .node = node == NO_ID ? NULL : state_name(state, state->nodes.items[node].name),
                 .groups = specs,
                 .group_count = groups.count,
             });
}

void tap_times(struct state *state, gang_id id, nsec_t last_start, nsec_t last_eviction, nsec_t stale_since)
{
    const struct gang *gang = &state->gangs.items[id];

    tap_tell(state, DELTA_SET_GANG_TIMES,
             &(struct gang_times_spec){state_name(state, gang->namespace), state_name(state, gang->name), last_start,
                                       last_eviction, stale_since});
}

/* Numbers that are given out later must not meet those that were told. */
static gpu_group group_of(struct state *state, const struct gpu_group_spec *spec)
{
    if (!is_empty(spec->name))
        return gpu_group_named(name_add(state, spec->name));
    state->fresh_groups = MAX(state->fresh_groups, spec->number + 1);
    return gpu_group_fresh(spec->number);
}

static int apply_move(struct state *state, const struct pod_move_spec *spec, struct err *err)
{
    pod_id pod = state_find_pod(state, spec->namespace, spec->name);
    struct group_list groups = {.count = (uint32_t)spec->group_count};
    _cleanup_(freep) gpu_group *many = xcalloc(spec->group_count + 1, sizeof *many);

    if (pod == NO_ID || !state->pods.items[pod].is_present)
        return 0;
    for (size_t i = 0; i < spec->group_count; i++) {
        if (is_empty(spec->groups[i].name) && spec->groups[i].number >= GPU_GROUP_FRESH - 1)
            return err_set(err, -EINVAL, "pod '%s' shares a GPU with an invalid number", spec->name);
        many[i] = group_of(state, &spec->groups[i]);
    }
    node_id node = is_empty(spec->node) ? NO_ID : node_slot(state, name_add(state, spec->node));

    groups.one = many[0];
    groups.many = many;
    state_move_pod(state, pod, spec->status, node, groups);
    return 0;
}

static void apply_times(struct state *state, const struct gang_times_spec *spec)
{
    gang_id gang = state_find_gang(state, spec->namespace, spec->name);

    if (gang != NO_ID && state->gangs.items[gang].is_present)
        state_set_gang_times(state, gang, spec->last_start, spec->last_eviction, spec->stale_since);
}

static int apply_put(struct state *state, enum delta_kind kind, const void *spec, struct err *err)
{
    const struct priority_class_spec *class = spec;

    switch (kind) {
    case DELTA_PUT_NODE:
        return state_put_node(state, spec, err);
    case DELTA_PUT_QUEUE:
        return state_put_queue(state, spec, err);
    case DELTA_PUT_GANG:
        return state_put_gang(state, spec, err);
    case DELTA_PUT_POD:
        return state_put_pod(state, spec, err);
    case DELTA_PUT_TOPOLOGY:
        return state_put_topology(state, spec, err);
    case DELTA_PUT_PRIORITY_CLASS:
        return state_put_priority_class(state, class->name, class->value, class->is_default, err);
    case DELTA_PUT_DEVICE_CLASS:
        state_put_device_class(state, spec);
        return 0;
    case DELTA_PUT_SLICE:
        return state_put_slice(state, spec, err);
    case DELTA_PUT_CLAIM:
        return state_put_claim(state, spec, err);
    case DELTA_PUT_VOLUME:
        return state_put_volume(state, spec, err);
    case DELTA_PUT_STORAGE:
        return state_put_storage(state, spec, err);
    default:
        return apply_move(state, spec, err);
    }
}

/* What the name alone says. */
static void apply_name(struct state *state, enum delta_kind kind, const struct name_spec *spec)
{
    static void (*const by_name[_DELTA_KIND_MAX])(struct state *, const char *) = {
        [DELTA_DROP_NODE] = state_drop_node,
        [DELTA_DROP_QUEUE] = state_drop_queue,
        [DELTA_DROP_TOPOLOGY] = state_drop_topology,
        [DELTA_DROP_PRIORITY_CLASS] = state_drop_priority_class,
        [DELTA_DROP_DEVICE_CLASS] = state_drop_device_class,
        [DELTA_DROP_SLICE] = state_drop_slice,
    };
    static void (*const by_both[_DELTA_KIND_MAX])(struct state *, const char *, const char *) = {
        [DELTA_PUT_CONFIG_MAP] = state_put_config_map,
        [DELTA_DROP_GANG] = state_drop_gang,
        [DELTA_DROP_POD] = state_drop_pod,
        [DELTA_DROP_CLAIM] = state_drop_claim,
        [DELTA_DROP_VOLUME] = state_drop_volume,
        [DELTA_DROP_STORAGE] = state_drop_storage,
        [DELTA_DROP_CONFIG_MAP] = state_drop_config_map,
    };

    if (by_name[kind])
        by_name[kind](state, spec->name ? spec->name : "");
    else
        by_both[kind](state, spec->namespace ? spec->namespace : "", spec->name ? spec->name : "");
}

int state_apply(struct state *state, const struct delta *delta, struct err *err)
{
    const struct usage_spec *usage = delta->spec;

    switch (delta->kind) {
    case DELTA_PUT_NODE:
    case DELTA_PUT_QUEUE:
    case DELTA_PUT_GANG:
    case DELTA_PUT_POD:
    case DELTA_PUT_TOPOLOGY:
    case DELTA_PUT_PRIORITY_CLASS:
    case DELTA_PUT_DEVICE_CLASS:
    case DELTA_PUT_SLICE:
    case DELTA_PUT_CLAIM:
    case DELTA_PUT_VOLUME:
    case DELTA_PUT_STORAGE:
    case DELTA_MOVE_POD:
        return apply_put(state, delta->kind, delta->spec, err);
    case DELTA_SET_USAGE:
        state_set_usage(state, usage->queue ? usage->queue : "", usage->usage);
        return 0;
    case DELTA_SET_GANG_TIMES:
        apply_times(state, delta->spec);
        return 0;
    default:
        apply_name(state, delta->kind, delta->spec);
        return 0;
    }
}
