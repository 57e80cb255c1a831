/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The next chunk of a gang: the pods that are tried together. While the gang is incomplete it is all that is missing,
 * and after that one pod at a time. Pods that a simulation evicted count as waiting, outside simulations there are
 * none.
 */
#include "engine/context.h"
#include "engine/gangs/view.h"
#include "engine/gangs/view_tree_internal.h"
#include "model/gang.h"
#include "model/pod.h"
#include "model/state.h"

static bool is_waiting(const struct pod *pod)
{
    return pod->status == POD_PENDING || (pod->status == POD_RELEASING && pod->is_virtual);
}

/* The first `max` pods of the set that wait. */
static void take_from_set(const struct chunk_source *source, const struct gang *gang, uint32_t set, int32_t max,
                          struct pod_list *ret)
{
    const struct pod *pods = source->engine->state->pods.items;
    const struct group *g = &gang->groups[set];
    const pod_id *from = source->pool ? source->pool : g->pods.items;
    uint32_t count = source->pool ? source->pool_count : g->pods.len;
    int64_t left = MIN((int64_t)max, (int64_t)g->pending + g->virtual_releasing);

    for (uint32_t i = 0; i < count && left > 0; i++) {
        if (pods[from[i]].pod_set != set || !is_waiting(&pods[from[i]]))
            continue;
        vec_push(ret, from[i]);
        left--;
    }
}

static void collect(const struct chunk_source *source, struct group_stack *stack, uint32_t group, struct pod_list *ret);

static void collect_child(const struct chunk_source *source, struct group_stack *stack, const struct gang *gang,
                          uint32_t child, struct pod_list *ret)
{
    if (!gang->groups[child].is_pod_set) {
        collect(source, stack, child, ret);
        return;
    }
    int32_t missing = view_min(gang, source->view, child) - view_count(gang, source->view, child);
    take_from_set(source, gang, child, MAX(missing, 1), ret);
}

static void collect(const struct chunk_source *source, struct group_stack *stack, uint32_t group, struct pod_list *ret)
{
    const struct gang *gang = &source->engine->state->gangs.items[source->view->gang];
    uint32_t children = gang->groups[group].child_count;
    uint32_t base = stack->len;
    uint32_t start = ret->len;
    bool is_complete = view_group_is_satisfied(gang, source->view, group);

    if (children == 0)
        return;
    vec_resize(stack, (uint64_t)base + children);
    view_children(source->engine, source->view, group, false, stack->items + base);
    /* Incomplete: all that the children in front lack. Complete: the first child that has any pod. */
    uint32_t count = is_complete ? children : MIN((uint32_t)view_min(gang, source->view, group), children);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t child = stack->items[base + i];

        if (!is_complete && view_group_is_satisfied(gang, source->view, child))
            continue;
        collect_child(source, stack, gang, child, ret);
        if (is_complete && ret->len > start)
            break;
    }
    stack->len = base;
}

void view_collect_chunk(const struct chunk_source *source, struct group_stack *stack, struct pod_list *ret)
{
    const struct gang *gang = &source->engine->state->gangs.items[source->view->gang];

    if (gang->group_count > 0)
        collect(source, stack, 0, ret);
}

void view_sum_asked(const struct state *state, struct gang_view *view)
{
    double cpu = 0;
    double memory = 0;
    double least = 0;
    double most = 0;

    for (uint32_t i = 0; i < view->chunk_count; i++) {
        const struct request *request = state_request(state, view->chunk[i]);
        double gpus = gpu_to_double(request->quota_gpus);

        cpu += (double)request->v[RES_CPU];
        memory += (double)request->v[RES_MEMORY];
        least += gpus;
        most += gpus;
        if (request->kind == REQUEST_GPU_MEMORY) {
            double mib = (double)(request->devices * request->memory_mib);
            least += mib / (double)state->min_gpu_memory_mib;
            most += mib / (double)state->max_gpu_memory_mib;
        }
    }
    view->asked[SHARE_CPU] = view->asked_most[SHARE_CPU] = cpu;
    view->asked[SHARE_MEMORY] = view->asked_most[SHARE_MEMORY] = memory;
    view->asked[SHARE_GPU] = least;
    view->asked_most[SHARE_GPU] = most;
}

struct amounts view_sum_held(const struct state *state, const pod_id *pods, uint32_t count)
{
    struct amounts sum = {0};

    for (uint32_t i = 0; i < count; i++) {
        if (!status_in(state->pods.items[pods[i]].status, ALLOCATED_SET))
            continue;
        const struct request *request = state_request(state, pods[i]);
        sum.v[SHARE_CPU] += request->v[RES_CPU];
        sum.v[SHARE_MEMORY] += request->v[RES_MEMORY];
        sum.v[SHARE_GPU] += request->quota_gpus;
    }
    return sum;
}

void view_set_held(struct gang_view *view, struct amounts held)
{
    for (int r = 0; r < SHARE_COUNT; r++)
        view->held[r] = share_to_double(r, held.v[r]);
}
