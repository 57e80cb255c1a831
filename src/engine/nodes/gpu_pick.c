/* SPDX-License-Identifier: Apache-2.0 */

/* Which GPUs of a node a fractional pod shares. */
#include <ctype.h>
#include <string.h>

#include "engine/context.h"
#include "engine/nodes/fit.h"
#include "engine/nodes/gpu_order.h"
#include "engine/nodes/place.h"

static double fuller_first(double filled)
{
    return filled;
}

static double emptier_first(double filled)
{
    return 1 - filled;
}

static const struct gpu_order rows[] = {
    {.name = "gpupack", .plugin = PLUGIN_GPU_PACK, .shared = fuller_first, .whole = 0, .is_rehearsed = true},
    {.name = "gpuspread", .plugin = PLUGIN_GPU_SPREAD, .shared = emptier_first, .whole = 1},
};
const struct gpu_order_table standard_gpu_orders = {rows, ARRAY_LEN(rows)};

static double points_of_shared(const struct engine *engine, double filled)
{
    double points = 0;

    for (uint32_t i = 0; i < engine->gpu_orders.count; i++) {
        const struct gpu_order *order = &engine->gpu_orders.rows[i];
        if (engine_has(engine, order->plugin))
            points += order->shared(filled);
    }
    return points;
}

static double points_of_whole(const struct engine *engine)
{
    double points = 0;

    for (uint32_t i = 0; i < engine->gpu_orders.count; i++) {
        if (engine_has(engine, engine->gpu_orders.rows[i].plugin))
            points += engine->gpu_orders.rows[i].whole;
    }
    return points;
}

/* A GPU that could be taken: one shared already, or (NO_ID) one still whole. */
struct entry {
    double score;
    uint32_t shared;
};

enum { ENTRIES_MAX = 512 };  // more GPUs than any node has; what lies beyond is not looked at

static bool is_numbered(const struct state *state, gpu_group group)
{
    if (gpu_group_is_fresh(group))
        return false;
    const char *name = state_name(state, (name_id)group);
    for (const char *at = name; *at; at++) {
        if (!isdigit((unsigned char)*at))
            return false;
    }
    return *name != '\0';
}

bool gpu_group_precedes(const struct state *state, gpu_group a, gpu_group b)
{
    if (gpu_group_is_fresh(a) || gpu_group_is_fresh(b))
        return a < b;
    return strcmp(state_name(state, (name_id)a), state_name(state, (name_id)b)) < 0;
}

static bool precedes_by_id(const struct state *state, uint32_t l, uint32_t r)
{
    return gpu_group_precedes(state, state_shared_gpu(state, l)->id, state_shared_gpu(state, r)->id);
}

static void insert(const struct state *state, struct entry *entries, uint32_t *count, struct entry entry)
{
    uint32_t at = *count;

    while (at > 0) {
        const struct entry *before = &entries[at - 1];
        bool stays = before->score > entry.score ||
                     (before->score == entry.score &&
                      (entry.shared == NO_ID ||
                       (before->shared != NO_ID && precedes_by_id(state, before->shared, entry.shared))));
        if (stays)
            break;
        entries[at] = entries[at - 1];
        at--;
    }
    entries[at] = entry;
    (*count)++;
}

static uint32_t collect(const struct engine *engine, const struct request *request, node_id node, struct entry *entries)
{
    const struct state *state = engine->state;
    const struct node *n = &state->nodes.items[node];
    struct books books = state_books(state, node);
    int64_t memory = request_memory_on(request, n);
    uint32_t count = 0;

    for (uint32_t g = n->first_shared; g != NO_ID && count < ENTRIES_MAX; g = state_shared_gpu(state, g)->next) {
        const struct shared_gpu *gpu = state_shared_gpu(state, g);
        if (!shared_gpu_fits(n, gpu, memory))
            continue;
        double filled = (double)gpu->used / (double)n->gpu_memory_mib;
        insert(state, entries, &count, (struct entry){points_of_shared(engine, filled), g});
    }
    if (books.idle[RES_GPU] <= 0 && books.releasing[RES_GPU] <= 0)
        return count;
    /* Both parts are cut to whole devices towards zero, one by one, as KAI does. */
    int64_t whole = books.idle[RES_GPU] / GPU_ONE + books.releasing[RES_GPU] / GPU_ONE;
    double points = points_of_whole(engine);
    for (int64_t i = 0; i < whole && i < request->devices && count < ENTRIES_MAX; i++)
        insert(state, entries, &count, (struct entry){points, NO_ID});
    return count;
}

static gpu_group open_gpu(struct state *state)
{
    gpu_group group = gpu_group_fresh(state->fresh_groups);

    undo_set64(&state->undo, &state->fresh_groups, state->fresh_groups + 1);
    return group;
}

static void fill_groups(struct engine *engine, pod_id pod, const struct entry *entries, uint32_t devices,
                        struct group_list *ret_groups)
{
    struct state *state = engine->state;
    gpu_group *many = devices == 1 ? &ret_groups->one : arena_alloc(&state->scratch, devices * sizeof *many);

    for (uint32_t i = 0; i < devices; i++)
        many[i] = entries[i].shared == NO_ID ? open_gpu(state) : state_shared_gpu(state, entries[i].shared)->id;
    ret_groups->count = devices;
    ret_groups->is_owned = false;
    ret_groups->many = devices == 1 ? NULL : many;
    if (devices > 1) {
        ret_groups->one = 0;
        id_set_add(&state->scratch_pods, pod);
    }
}

bool gpu_pick(struct engine *engine, pod_id pod, node_id node, bool is_simulation, struct group_list *ret_groups,
              bool *ret_waits, bool *ret_only_numbered)
{
    const struct state *state = engine->state;
    const struct request *request = state_request(state, pod);
    const struct node *n = &state->nodes.items[node];
    struct entry entries[ENTRIES_MAX + 1];
    uint32_t count = collect(engine, request, node, entries);

    *ret_waits = false;
    *ret_only_numbered = true;
    if (count < request->devices)
        return false;

    bool idle = fits_idle(engine, pod, node);
    int64_t memory = request_memory_on(request, n);
    int64_t whole = state_books(state, node).idle[RES_GPU] / GPU_ONE;
    for (uint32_t i = 0; i < request->devices; i++) {
        if (entries[i].shared == NO_ID) {
            /* KAI: idle room on a shared GPU passes for an idle one here, so that it gives away GPUs that are in use. */
            *ret_waits |= is_simulation || !idle || whole-- <= 0;
            *ret_only_numbered = false;
            continue;
        }
        const struct shared_gpu *gpu = state_shared_gpu(state, entries[i].shared);
        *ret_waits |= !idle || !shared_gpu_fits_idle(n, gpu, memory);
        *ret_only_numbered &= is_numbered(state, gpu->id);
    }
    if (ret_groups)
        fill_groups(engine, pod, entries, request->devices, ret_groups);
    return true;
}
