/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Deltas of nodes. A node that pods or slices name has a slot from then on, present or not; a slot is given back when
 * nothing names it any more.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "model/parts.h"

node_id node_slot(struct state *state, name_id name)
{
    node_id id = map_find(&state->node_by_name, name);

    if (id != NO_ID)
        return id;
    id = slot_take(&state->nodes, &state->unused_nodes);
    if (state->book_rows.len < state->nodes.len * 4 * state->book_dims)
        vec_resize(&state->book_rows, (uint64_t)state->nodes.len * 4 * state->book_dims);
    memset(state_books(state, id).allocatable, 0, (size_t)4 * state->book_dims * sizeof(int64_t));

    struct node *node = &state->nodes.items[id];
    node->name = name;
    node->gpu_memory_mib = 100;
    node->rank = NO_ID;
    node->first_shared = NO_ID;
    node->first_held = NO_ID;
    node->first_released = NO_ID;
    map64_put(&state->node_by_name, name, id);
    return id;
}

static void free_if_unused(struct state *state, node_id id)
{
    struct node *node = &state->nodes.items[id];

    if (node->is_present || node->references > 0)
        return;
    node_drop_books(state, id);
    id_set_remove(&state->unsettled_nodes, id);
    vec_done(&node->pods);
    map64_remove(&state->node_by_name, node->name);
    node->name = 0;
    vec_push(&state->unused_nodes, id);
}

void node_reference(struct state *state, node_id id)
{
    state->nodes.items[id].references++;
}

void node_unreference(struct state *state, node_id id)
{
    state->nodes.items[id].references--;
    free_if_unused(state, id);
}

void node_mark_stale(struct state *state, node_id id)
{
    state->nodes.items[id].books_are_stale = true;
    id_set_add(&state->unsettled_nodes, id);
    id_set_add(&state->changes.nodes, id);
}

static bool has_gpu_dimension(const struct state *state, const int64_t *allocatable)
{
    for (uint32_t d = RES_FIXED; d < state->res.count; d++)
        if (state->res.mig_slices[d] && allocatable[d] > 0)
            return true;
    return allocatable[RES_GPU] > 0;
}

void node_refresh_capacity(struct state *state, node_id id)
{
    struct node *node = &state->nodes.items[id];
    int64_t *allocatable = state_books(state, id).allocatable;

    if (!node->is_present)
        return;
    allocatable[RES_GPU] = MIN(node->plugin_gpus + node->dra_gpus * GPU_ONE, AMOUNT_MAX);
    node->has_dra_gpus = node->dra_gpus > 0;
    if (node->has_derived_devices)
        node->device_count = allocatable[RES_GPU] / GPU_ONE;
    node->is_cpu_only = !node->is_mig_enabled && !node->has_dra_gpus && !has_gpu_dimension(state, allocatable);
    node_mark_stale(state, id);
    state->changes.nodes_static = true;
    state->totals_are_stale = true;
}

static bool set_labels(struct state *state, node_id id, const struct node_spec *spec)
{
    labels_id labels = labels_add(state, spec->labels, spec->label_count);
    struct node *node = &state->nodes.items[id];
    bool is_changed = node->labels != labels;

    node->labels = labels;
    return is_changed;
}

static bool set_taints(struct state *state, node_id id, const struct node_spec *spec)
{
    struct taint *taints = spec->taint_count ? xcalloc(spec->taint_count, sizeof *taints) : NULL;
    struct node *node = &state->nodes.items[id];
    bool is_changed = node->taint_count != spec->taint_count;

    for (uint32_t i = 0; i < spec->taint_count; i++) {
        const struct taint_spec *from = &spec->taints[i];

        taints[i] = (struct taint){name_add(state, from->key), name_add(state, from->value), from->effect};
        is_changed = is_changed || taints[i].key != node->taints[i].key || taints[i].value != node->taints[i].value ||
                     taints[i].effect != node->taints[i].effect;
    }
    free((void *)(uintptr_t)node->taints);
    node->taints = taints;
    node->taint_count = (uint32_t)spec->taint_count;
    return is_changed;
}

static bool set_attach_limits(struct state *state, node_id id, const struct node_spec *spec)
{
    size_t count = spec->attach_limit_count;
    struct attach_limit *limits = count ? xcalloc(count, sizeof *limits) : NULL;
    struct node *node = &state->nodes.items[id];
    bool is_changed = node->attach_limit_count != count;

    for (size_t i = 0; i < count; i++) {
        limits[i] = (struct attach_limit){name_add(state, spec->attach_limits[i].driver), spec->attach_limits[i].count};
        is_changed = is_changed || limits[i].driver != node->attach_limits[i].driver ||
                     limits[i].count != node->attach_limits[i].count;
    }
    free(node->attach_limits);
    node->attach_limits = limits;
    node->attach_limit_count = (uint32_t)count;
    return is_changed;
}

/* Everything else but the capacity and the NUMA zones. */
static bool set_fields(struct node *node, const struct node_spec *spec)
{
    struct node old = *node;
    int64_t memory = spec->gpu_memory_mib / 100 * 100;

    node->is_present = true;
    node->troubles = spec->troubles;
    node->workers = spec->workers;
    node->hides_gpus = spec->hides_gpus;
    node->gpu_memory_mib = memory > 0 ? memory : 100;
    node->is_gpu_memory_known = spec->is_gpu_memory_known;
    node->is_mig_enabled = spec->is_mig_enabled;
    node->mig_strategy = spec->mig_strategy;
    node->clamps_idle_pods = spec->clamps_idle_pods;
    node->has_derived_devices = spec->device_count < 0;
    if (spec->device_count >= 0)
        node->device_count = spec->device_count;
    return !old.is_present || old.troubles != node->troubles || old.workers != node->workers ||
           old.hides_gpus != node->hides_gpus || old.gpu_memory_mib != node->gpu_memory_mib ||
           old.is_gpu_memory_known != node->is_gpu_memory_known || old.is_mig_enabled != node->is_mig_enabled ||
           old.mig_strategy != node->mig_strategy || old.clamps_idle_pods != node->clamps_idle_pods ||
           old.has_derived_devices != node->has_derived_devices || old.device_count != node->device_count;
}

static bool set_capacity(struct state *state, node_id id, const int64_t *allocatable)
{
    struct node *node = &state->nodes.items[id];
    int64_t *row = state_books(state, id).allocatable;
    bool is_changed = node->plugin_gpus != allocatable[RES_GPU];

    node->plugin_gpus = allocatable[RES_GPU];
    for (uint32_t d = 0; d < state->book_dims; d++) {
        if (d == RES_GPU || row[d] == allocatable[d])
            continue;
        row[d] = allocatable[d];
        is_changed = true;
    }
    return is_changed;
}

static bool set_numa(struct node *node, struct numa *numa)
{
    if (numa_equal(node->numa, numa)) {
        free(numa);
        return false;
    }
    free(node->numa);
    node->numa = numa;
    return true;
}

int state_put_node(struct state *state, const struct node_spec *spec, struct err *err)
{
    int64_t allocatable[RES_MAX] = {0};
    struct numa *numa = NULL;
    int r;

    BUG_ON(state->undo.is_recording);
    if (is_empty(spec->name))
        return err_set(err, -EINVAL, "a node needs a name");
    if (spec->gpu_memory_mib < 0)
        return err_set(err, -EINVAL, "node '%s': its GPUs have %lld MiB of memory; must not be negative", spec->name,
                       (long long)spec->gpu_memory_mib);
    r = amounts_read(state, spec->allocatable, spec->allocatable_count, allocatable, err);
    if (r >= 0)
        r = numa_new(state, spec->numa, &numa, err);
    if (r < 0)
        return err_wrap(err, r, "node '%s'", spec->name);

    node_id id = node_slot(state, name_add(state, spec->name));
    bool is_new = !state->nodes.items[id].is_present;
    bool is_changed = set_labels(state, id, spec);
    is_changed |= set_taints(state, id, spec);
    is_changed |= set_attach_limits(state, id, spec);
    is_changed |= set_fields(&state->nodes.items[id], spec);
    is_changed |= set_capacity(state, id, allocatable);
    is_changed |= set_numa(&state->nodes.items[id], numa);
    state->ranks_are_stale |= is_new;
    if (is_changed)
        node_refresh_capacity(state, id);
    tap_tell(state, DELTA_PUT_NODE, spec);
    return 0;
}

/* Pods that a cycle put on the node count as naming it from the next state_settle on, which would be too late. */
static void link_unsettled(struct state *state, node_id id)
{
    vec_foreach (&state->unsettled_pods, pod)
        if (state->pods.items[*pod].is_present && state->pods.items[*pod].node == id)
            pod_link_node(state, *pod);
}

void state_drop_node(struct state *state, const char *name)
{
    node_id id = state_find_node(state, name);

    BUG_ON(state->undo.is_recording);
    if (id == NO_ID)
        return;
    struct node *node = &state->nodes.items[id];
    node->is_present = false;
    node->is_cpu_only = false;
    node->has_dra_gpus = false;
    node->troubles = 0;
    node->labels = 0;
    node->device_count = 0;
    node->plugin_gpus = 0;
    node->gpu_memory_mib = 100;
    free((void *)(uintptr_t)node->taints);
    node->taints = NULL;
    node->taint_count = 0;
    free(node->attach_limits);
    node->attach_limits = NULL;
    node->attach_limit_count = 0;
    free(node->numa);
    node->numa = NULL;
    memset(state_books(state, id).allocatable, 0, (size_t)4 * state->book_dims * sizeof(int64_t));
    node_mark_stale(state, id);
    state->ranks_are_stale = true;
    state->totals_are_stale = true;
    state->changes.nodes_static = true;
    link_unsettled(state, id);
    free_if_unused(state, id);
    tap_name(state, DELTA_DROP_NODE, NULL, name);
}

static int by_name(const void *a, const void *b, void *state)
{
    const struct node *nodes = ((const struct state *)state)->nodes.items;
    const char *left = state_name(state, nodes[*(const node_id *)a].name);

    return strcmp(left, state_name(state, nodes[*(const node_id *)b].name));
}

void nodes_rank(struct state *state)
{
    vec_clear(&state->nodes_by_rank);
    for (node_id id = 0; id < state->nodes.len; id++) {
        state->nodes.items[id].rank = NO_ID;
        if (state->nodes.items[id].is_present)
            vec_push(&state->nodes_by_rank, id);
    }
    if (state->nodes_by_rank.len > 0)
        qsort_r(state->nodes_by_rank.items, state->nodes_by_rank.len, sizeof(node_id), by_name, state);
    for (uint32_t rank = 0; rank < state->nodes_by_rank.len; rank++)
        state->nodes.items[state->nodes_by_rank.items[rank]].rank = rank;
    state->ranks_are_stale = false;
}

void nodes_total(struct state *state)
{
    struct amounts total = {0};
    int64_t least = INT64_MAX;
    int64_t most = 0;

    state->has_numa = false;
    for (node_id id = 0; id < state->nodes.len; id++) {
        const struct node *node = &state->nodes.items[id];
        const int64_t *allocatable = state_books(state, id).allocatable;

        if (!node->is_present)
            continue;
        state->has_numa |= node->numa != NULL;
        if (node->gpu_memory_mib > 100) {
            least = MIN(least, node->gpu_memory_mib);
            most = MAX(most, node->gpu_memory_mib);
        }
        if (node->troubles)
            continue;
        total.v[SHARE_CPU] += allocatable[RES_CPU];
        total.v[SHARE_MEMORY] += allocatable[RES_MEMORY];
        if (!node->hides_gpus)
            total.v[SHARE_GPU] += resources_total_gpu(&state->res, allocatable);
        amounts_add(&total, &node->foreign, -1);
    }
    state->total = total;
    state->min_gpu_memory_mib = most ? least : 100;
    state->max_gpu_memory_mib = most ? most : 100;
    state->totals_are_stale = false;
}
