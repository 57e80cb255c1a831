/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Views of gangs as they are, kept from one question to the next. Ordering a queue asks for the same views again and
 * again while few gangs change, and most gangs are one pod: asking twice is a look-up, making a view of one pod touches
 * nothing but the pod. A view is found stale by the number that its gang gets whenever one of its pods changes.
 */
#include "engine/gangs/view.h"

#include "base/chunks.h"
#include "base/mem.h"
#include "base/vec.h"
#include "engine/context.h"
#include "engine/gangs/view_tree_internal.h"
#include "model/gang.h"
#include "model/pod.h"
#include "model/state.h"

struct slot {
    struct gang_view view;
    uint32_t changed;  // gang.changed that it was made at
    uint32_t era;      // of the cache
    pod_id one;        // the chunk, when it is one pod
    uint32_t many_cap;
    pod_id *many;  // owned; when it is more
};

struct view_cache {
    VEC(uint32_t) slot_of;       // by gang id: index + 1 in `slots`, 0 where none was asked for
    struct chunks slots;         // struct slot; they do not move
    uint32_t era;                // grows when every view is stale
    int64_t min_gpu_memory_mib;  // that the views were made with
    int64_t max_gpu_memory_mib;
    struct pod_list chunk;  // working memory
    struct group_stack stack;
    size_t chunk_bytes;
};

struct view_cache *view_cache_new(void)
{
    struct view_cache *cache = xcalloc(1, sizeof *cache);

    chunks_init(&cache->slots, sizeof(struct slot));
    cache->era = 1;
    return cache;
}

void view_cache_free(struct view_cache *cache)
{
    if (!cache)
        return;
    for (uint32_t i = 0; i < cache->slots.len; i++)
        free(((struct slot *)chunks_at(&cache->slots, i))->many);
    chunks_done(&cache->slots);
    vec_done(&cache->slot_of);
    vec_done(&cache->chunk);
    vec_done(&cache->stack);
    free(cache);
}

size_t view_cache_bytes(const struct view_cache *cache)
{
    return sizeof *cache + vec_bytes(&cache->slot_of) + chunks_bytes(&cache->slots) + vec_bytes(&cache->chunk) +
           vec_bytes(&cache->stack) + cache->chunk_bytes;
}

void view_cache_forget(struct view_cache *cache)
{
    cache->era++;
}

static struct slot *slot_for(struct view_cache *cache, const struct state *state, gang_id gang)
{
    if (gang >= cache->slot_of.len)
        vec_resize(&cache->slot_of, state->gangs.len);
    uint32_t at = cache->slot_of.items[gang];
    if (at > 0)
        return chunks_at(&cache->slots, at - 1);

    chunks_make_room(&cache->slots);
    struct slot *slot = chunks_at(&cache->slots, cache->slots.len++);
    *slot = (struct slot){0};
    cache->slot_of.items[gang] = cache->slots.len;
    return slot;
}

/* The chunk of a gang that is one set below its root: no tree to walk. */
static void collect_flat(const struct state *state, const struct gang *gang, struct pod_list *ret)
{
    const struct group *set = &gang->groups[1];
    int32_t missing = set->min - (int32_t)set->active_allocated;
    int32_t needed = view_min(gang, NULL, 0);
    int64_t left = MIN((int64_t)set->pending + set->virtual_releasing, (int64_t)MAX(missing, 1));

    /* A group that needs more children than it has never comes to take pods beyond the minimum. */
    if (missing <= 0 && needed > 1)
        return;
    for (uint32_t i = 0; i < set->pods.len && left > 0; i++) {
        const struct pod *pod = &state->pods.items[set->pods.items[i]];
        if (pod->status != POD_PENDING && !(pod->status == POD_RELEASING && pod->is_virtual))
            continue;
        vec_push(ret, set->pods.items[i]);
        left--;
    }
}

static void keep_chunk(struct view_cache *cache, struct slot *slot)
{
    uint32_t count = cache->chunk.len;
    pod_id *to = &slot->one;

    if (count > 1) {
        if (count > slot->many_cap) {
            cache->chunk_bytes += (count - slot->many_cap) * sizeof *slot->many;
            slot->many = xreallocarray(slot->many, count, sizeof *slot->many);
            slot->many_cap = count;
        }
        to = slot->many;
    }
    if (count > 0)
        memcpy(to, cache->chunk.items, count * sizeof *to);
    slot->view.chunk = to;
    slot->view.chunk_count = count;
}

static struct amounts gang_held(const struct state *state, const struct gang *gang)
{
    struct amounts sum = {0};

    for (uint32_t i = 0; i < gang->group_count && gang->allocated > 0; i++) {
        const struct group *g = &gang->groups[i];
        if (!g->is_pod_set || g->active_allocated == 0)
            continue;
        struct amounts held = view_sum_held(state, g->pods.items, g->pods.len);
        for (int r = 0; r < SHARE_COUNT; r++)
            sum.v[r] += held.v[r];
    }
    return sum;
}

static void make(struct engine *engine, struct slot *slot, gang_id id)
{
    const struct state *state = engine->state;
    const struct gang *gang = &state->gangs.items[id];
    struct view_cache *cache = engine->views;
    struct gang_view *view = &slot->view;

    view->gang = id;
    view->elastic = gang_elastic_state(gang);
    vec_clear(&cache->chunk);
    if (gang->group_count == 2 && gang->groups[1].is_pod_set)
        collect_flat(state, gang, &cache->chunk);
    else
        view_collect_chunk(&(struct chunk_source){.engine = engine, .view = view}, &cache->stack, &cache->chunk);
    keep_chunk(cache, slot);
    view_sum_asked(state, view);
    view_set_held(view, gang_held(state, gang));
}

const struct gang_view *view_of(struct engine *engine, gang_id gang)
{
    const struct state *state = engine->state;
    struct view_cache *cache = engine->views;

    if (cache->min_gpu_memory_mib != state->min_gpu_memory_mib ||
        cache->max_gpu_memory_mib != state->max_gpu_memory_mib) {
        cache->min_gpu_memory_mib = state->min_gpu_memory_mib;
        cache->max_gpu_memory_mib = state->max_gpu_memory_mib;
        view_cache_forget(cache);
    }
    struct slot *slot = slot_for(cache, state, gang);
    if (slot->changed != state->gangs.items[gang].changed || slot->era != cache->era) {
        make(engine, slot, gang);
        slot->changed = state->gangs.items[gang].changed;
        slot->era = cache->era;
    }
    return &slot->view;
}
