/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "engine/gangs/view.h"
#include "model/ids.h"
#include "model/resources.h"

struct engine;
struct gang;
struct state;

/* What the files that make views share. Where a view may be NULL, the gang is meant as it is. */

struct pod_list VEC_OF(pod_id);
struct group_stack VEC_OF(uint32_t);

/* Active pods of a set, complete children of a group. */
int32_t view_count(const struct gang *gang, const struct gang_view *view, uint32_t group);

/* Below when some set has fewer active pods than it needs, else above when some set has more. */
enum elastic_state view_elastic_state(const struct gang *gang, const struct gang_view *view);

/* The group after `group` in the tree below `top`, parents before children; NO_ID at the end. Starts with `top`. */
uint32_t view_next_group(const struct gang *gang, uint32_t group, uint32_t top);

/*
 * Appends the next chunk to `ret`. Only pods of `pool` are taken where it is not NULL; it is in task order set by set.
 * `stack` is working memory.
 */
struct chunk_source {
    struct engine *engine;
    const struct gang_view *view;
    const pod_id *pool;
    uint32_t pool_count;
};

void view_collect_chunk(const struct chunk_source *source, struct group_stack *stack, struct pod_list *ret);

/* Fills in what the view's chunk asks for, and what the pods in `pods` that count for their queue hold. */
void view_sum_asked(const struct state *state, struct gang_view *view);
struct amounts view_sum_held(const struct state *state, const pod_id *pods, uint32_t count);
void view_set_held(struct gang_view *view, struct amounts held);
