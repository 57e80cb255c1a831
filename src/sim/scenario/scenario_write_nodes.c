/* SPDX-License-Identifier: Apache-2.0 */

/* The books of nodes as JSON. */
#include <stdio.h>

#include "model/state.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/scenario_emit.h"
#include "sim/scenario/scenario_write.h"

static const char *dimension_name(const struct state *state, uint32_t dim)
{
    static const char *const names[] = {
        [RES_CPU] = "cpu_milli", [RES_MEMORY] = "memory_bytes", [RES_GPU] = "gpus", [RES_PODS] = "pods"};

    BUG_ON(dim >= RES_MAX);
    if (dim < ARRAY_LEN(names))
        return names[dim];
    return state_name(state, state->res.name[dim]);
}

static void write_amount(struct emit *e, const struct state *state, uint32_t dim, int64_t amount)
{
    const char *name = dimension_name(state, dim);

    if (dim == RES_GPU)
        emit_double(e, name, gpu_to_double(amount));
    else if (dim >= RES_FIXED && state->res.mig_slices[dim] == 0)
        emit_double(e, name, (double)amount / 1000);
    else
        emit_int(e, name, amount);
}

static void write_vector(struct emit *e, const char *key, const struct state *state, const int64_t *v)
{
    emit_open(e, key, '{');
    for (uint32_t dim = 0; dim < state->book_dims; dim++) {
        if (dim < RES_FIXED || v[dim] != 0)
            write_amount(e, state, dim, v[dim]);
    }
    emit_close(e, '}');
}

static void write_shared_gpu(struct emit *e, const struct state *state, const struct shared_gpu *gpu)
{
    char text[32];
    const char *name = text;

    if (gpu_group_is_fresh(gpu->id))
        (void)snprintf(text, sizeof text, "new-%llu", (unsigned long long)(gpu->id & ~GPU_GROUP_FRESH));
    else
        name = state_name(state, (name_id)gpu->id);
    emit_open(e, name, '{');
    emit_int(e, "used_mib", gpu->used);
    emit_int(e, "allocated_mib", gpu->allocated);
    emit_int(e, "releasing_mib", gpu->releasing);
    emit_close(e, '}');
}

static void write_shared_gpus(struct emit *e, const struct state *state, const struct node *node)
{
    bool is_open = false;

    for (uint32_t i = node->first_shared; i != NO_ID; i = state_shared_gpu(state, i)->next) {
        const struct shared_gpu *gpu = state_shared_gpu(state, i);

        if (gpu->used == 0 && gpu->allocated == 0 && gpu->releasing == 0)
            continue;
        if (!is_open)
            emit_open(e, "shared_gpus", '{');
        is_open = true;
        write_shared_gpu(e, state, gpu);
    }
    if (is_open)
        emit_close(e, '}');
}

static void write_zones(struct emit *e, const struct state *state, const struct numa *numa)
{
    emit_open(e, "numa_available", '{');
    for (uint32_t zone = 0; zone < numa->zone_count; zone++) {
        emit_open(e, state_name(state, numa->zones[zone].name), '{');
        for (uint32_t dim = 0; dim < numa->dims; dim++) {
            /* Below zero stands for what the zone does not report. */
            if (numa->zones[zone].allocatable[dim] >= 0)
                write_amount(e, state, dim, numa->zones[zone].available[dim]);
        }
        emit_close(e, '}');
    }
    emit_close(e, '}');
}

void scenario_write_nodes(struct emit *e, const char *key, const struct scenario *s)
{
    const struct state *state = s->state;

    emit_open(e, key, '[');
    for (uint32_t i = 0; i < s->nodes.len; i++) {
        const struct node *node = &state->nodes.items[s->nodes.items[i]];
        struct books books = state_books(state, s->nodes.items[i]);

        emit_open(e, NULL, '{');
        emit_str(e, "name", state_name(state, node->name));
        write_vector(e, "allocatable", state, books.allocatable);
        write_vector(e, "idle", state, books.idle);
        write_vector(e, "used", state, books.used);
        write_vector(e, "releasing", state, books.releasing);
        write_shared_gpus(e, state, node);
        if (node->numa)
            write_zones(e, state, node->numa);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}
