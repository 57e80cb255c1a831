/* SPDX-License-Identifier: Apache-2.0 */

/* Resource slices, which add GPUs to nodes. */
#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "model/devices/keep_internal.h"
#include "model/parts.h"

/* Parts of a GPU, which drivers list beside it, are no GPUs: what a device is, is its attribute `type`. */
static bool is_part(const struct device_offer *offer)
{
    for (size_t i = 0; i < offer->attribute_count; i++) {
        const struct device_attribute *attribute = &offer->attributes[i];
        const char *slash = strrchr(attribute->name, '/');

        if (attribute->kind == ATTRIBUTE_STRING && strcmp(slash ? slash + 1 : attribute->name, "type") == 0)
            return strcmp(attribute->text, "gpu") != 0;
    }
    return false;
}

static uint32_t whole_devices(const struct slice *slice)
{
    uint32_t parts = 0;

    for (uint32_t i = 0; slice->offers && i < slice->device_count; i++)
        parts += is_part(&slice->offers[i]);
    return slice->offered - parts;
}

/* Adds the slice's GPUs to its node's, or takes them away. */
static void count_gpus(struct state *state, const struct slice *slice, int sign)
{
    if (!slice->is_present || slice->node == NO_ID || !slice->is_gpu)
        return;
    state->nodes.items[slice->node].dra_gpus += (int64_t)sign * whole_devices(slice);
    node_refresh_capacity(state, slice->node);
}

static void clear_slice(struct state *state, struct slice *slice)
{
    node_id node = slice->is_present ? slice->node : NO_ID;

    count_gpus(state, slice, -1);  // while its devices are described
    free(slice->devices);
    free(slice->kept);
    *slice = (struct slice){.name = slice->name, .node = NO_ID};
    if (node != NO_ID)
        node_unreference(state, node);
}

static int check(const struct slice_spec *spec, struct err *err)
{
    if (is_empty(spec->name))
        return err_set(err, -EINVAL, "a resource slice needs a name");
    if (is_empty(spec->driver))
        return err_set(err, -EINVAL, "resource slice '%s' needs a driver", spec->name);
    if (spec->device_count > (spec->devices ? SLICE_DEVICES_MAX : (size_t)(AMOUNT_MAX / GPU_ONE)))
        return err_set(err, -EINVAL, "resource slice '%s': %zu devices are too many", spec->name, spec->device_count);
    if (spec->offer_count != 0 && spec->offer_count != spec->device_count)
        return err_set(err, -EINVAL, "resource slice '%s': %zu devices, of which %zu are described", spec->name,
                       spec->device_count, spec->offer_count);
    return 0;
}

static void set_devices(struct state *state, struct slice *slice, const struct slice_spec *spec)
{
    char number[16];

    slice->offered = (uint32_t)spec->device_count;
    slice->device_count = (uint32_t)MIN(spec->device_count, (size_t)SLICE_DEVICES_MAX);
    slice->devices = xcalloc(slice->device_count, sizeof *slice->devices);
    for (uint32_t i = 0; i < slice->device_count; i++) {
        (void)snprintf(number, sizeof number, "%u", i);
        slice->devices[i] = name_add(state, spec->devices ? spec->devices[i] : number);
    }
}

int state_put_slice(struct state *state, const struct slice_spec *spec, struct err *err)
{
    int r = check(spec, err);

    BUG_ON(state->undo.is_recording);
    if (r < 0)
        return r;
    name_id name = name_add(state, spec->name);
    uint32_t id = map_find(&state->slice_by_name, name);
    if (id == NO_ID) {
        id = slot_take(&state->slices, &state->unused_slices);
        map64_put(&state->slice_by_name, name, id);
    }
    struct slice *slice = &state->slices.items[id];
    /* The new node is taken before the old one is given back: it may be the same, named by nothing else. */
    node_id node = NO_ID;
    if (!spec->is_for_all_nodes && !is_empty(spec->node)) {
        node = node_slot(state, name_add(state, spec->node));
        node_reference(state, node);
    }
    clear_slice(state, slice);
    slice->name = name;
    slice->is_present = true;
    slice->driver = name_add(state, spec->driver);
    slice->pool = name_add(state, spec->pool);
    slice->device_class = name_add(state, spec->device_class);
    slice->is_for_all_nodes = spec->is_for_all_nodes;
    slice->is_gpu = name_says_gpu(spec->driver);
    slice->node = node;
    slice->generation = spec->generation;
    slice->slice_count = spec->slice_count;
    slice->has_device_nodes = spec->has_device_nodes;
    slice->counter_count = (uint32_t)spec->counter_count;
    slice->kept = offers_keep(state, spec, &slice->offers, &slice->counters, &slice->reach);
    set_devices(state, slice, spec);
    state->device_clock++;
    count_gpus(state, slice, 1);
    state->changes.nodes_static = true;
    tap_tell(state, DELTA_PUT_SLICE, spec);
    return 0;
}

void state_drop_slice(struct state *state, const char *name)
{
    name_id name_of;

    BUG_ON(state->undo.is_recording);
    if (!name_find(state, name, &name_of))
        return;
    uint32_t id = map_find(&state->slice_by_name, name_of);
    if (id == NO_ID)
        return;
    clear_slice(state, &state->slices.items[id]);
    state->device_clock++;
    map64_remove(&state->slice_by_name, name_of);
    vec_push(&state->unused_slices, id);
    state->changes.nodes_static = true;
    tap_name(state, DELTA_DROP_SLICE, NULL, name);
}
