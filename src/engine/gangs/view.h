/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/ids.h"
#include "model/resources.h"

struct engine;
struct gang;

/*
 * A gang as an attempt sees it: which pods are to be placed next, and what they ask for. A search also looks at gangs
 * in part: with only some of the waiting pods (a probe), or without pods that it has taken already (the rest of a
 * victim).
 */
enum elastic_state { ELASTIC_BELOW, ELASTIC_AT_MIN, ELASTIC_ABOVE };

struct gang_view {
    gang_id gang;
    bool is_part;                // a probe or a rest, not the gang itself
    enum elastic_state elastic;  // of active_allocated pods against the minimum of each set
    const int32_t *mins;         // by group index; NULL: as the gang has them
    const pod_id *chunk;         // to be placed next, together or not at all
    uint32_t chunk_count;
    double asked[SHARE_COUNT];       // by the chunk; GPU memory counted against the smallest GPUs: orders and shares
    double asked_most[SHARE_COUNT];  // the same against the largest GPUs: limits and quotas
    const pod_id *active;            // ACTIVE_ALLOCATED pods that it has, set by set in task order; only in rests of
    uint32_t active_count;           //   victims (see view_active)
    const uint32_t *active_in;       // how many of them are in each set, by group index; NULL: as the gang has them
    double held[SHARE_COUNT];        // by request, of its pods in ALLOCATED_SET: what a victim would give back
};

struct view_cache *view_cache_new(void);
void view_cache_free(struct view_cache *cache);
size_t view_cache_bytes(const struct view_cache *cache);

/* Every view is stale: what requests mean has changed. */
void view_cache_forget(struct view_cache *cache);

/*
 * The gang as it is now, pods evicted by a simulation counted as waiting. Kept until one of its pods changes; the
 * pointer is good until this is called for the same gang after such a change.
 */
const struct gang_view *view_of(struct engine *engine, gang_id gang);

/* A probe: its active pods and the first `count` of `chunk`, with every minimum cut to what is there. In `arena`. */
const struct gang_view *view_probe(struct engine *engine, struct arena *arena, gang_id gang, const pod_id *chunk,
                                   uint32_t count);

/* The rest of a victim without `count` pods in `without` (in any order). In `arena`. */
const struct gang_view *view_rest(struct engine *engine, struct arena *arena, const struct gang_view *victim,
                                  const pod_id *without, uint32_t count);

/* Its ACTIVE_ALLOCATED pods, set by set in task order, in `arena`. */
const pod_id *view_active(struct engine *engine, struct arena *arena, const struct gang_view *view,
                          uint32_t *ret_count);

/*
 * What one step of eviction takes from a victim: one pod beyond the minimum, a whole group that is not needed, or all
 * that is left. In `arena`. `ret_more`: something is left after it.
 */
const pod_id *view_eviction(struct engine *engine, struct arena *arena, const struct gang_view *view,
                            uint32_t *ret_count, bool *ret_more);

/*
 * Minimum of a group as the view sees it: pods of a set, children of a group (a number, also where all are needed).
 * Here and below a NULL view is the gang as it is.
 */
int32_t view_min(const struct gang *gang, const struct gang_view *view, uint32_t group);

/* Is the group complete, counting ACTIVE_ALLOCATED pods? */
bool view_group_is_satisfied(const struct gang *gang, const struct gang_view *view, uint32_t group);

/* Could the gang be complete with the pods that exist? */
bool gang_is_ready(const struct gang *gang);

/* Some set has more pods than it needs. */
bool gang_is_elastic(const struct gang *gang);

/* What view_of would say, without making a view. */
enum elastic_state gang_elastic_state(const struct gang *gang);

/* The children of a group in the order in which they are served (reversed: for victims). `ret` is child_count long. */
void view_children(struct engine *engine, const struct gang_view *view, uint32_t group, bool reversed, uint32_t *ret);
