/* SPDX-License-Identifier: Apache-2.0 */

/* Filters about kinds of GPUs: MIG, dynamic resources, GPUs whose memory is not known. */
#include "base/arena.h"
#include "engine/context.h"
#include "engine/node_reason.h"
#include "engine/nodes/filter_internal.h"

static const struct node *node_of(const struct engine *engine, node_id node)
{
    return &engine->state->nodes.items[node];
}

bool uses_gpus(const struct engine *engine, const struct request *request, const struct constraints *constraints)
{
    (void)engine;
    (void)constraints;
    return !request->is_cpu_only || request->is_legacy_mig;
}

bool no_legacy_mig(struct engine *engine, pod_id pod, node_id node)
{
    (void)node;
    return !state_request(engine->state, pod)->is_legacy_mig;
}

bool is_not_legacy_mig(const struct engine *engine, const struct request *request,
                       const struct constraints *constraints)
{
    (void)engine;
    (void)constraints;
    return !request->is_legacy_mig;
}

bool no_shares_on_dra(struct engine *engine, pod_id pod, node_id node)
{
    return !(request_is_shared(state_request(engine->state, pod)) && node_of(engine, node)->has_dra_gpus);
}

bool has_no_dra_gpus(const struct node *node)
{
    return !node->has_dra_gpus;
}

bool mig_on_mig_nodes(struct engine *engine, pod_id pod, node_id node)
{
    return state_request(engine->state, pod)->kind != REQUEST_MIG || node_of(engine, node)->is_mig_enabled;
}

bool asks_for_no_mig(const struct engine *engine, const struct request *request, const struct constraints *constraints)
{
    (void)engine;
    (void)constraints;
    return request->kind != REQUEST_MIG;
}

bool mig_single_passes(struct engine *engine, pod_id pod, node_id node)
{
    const struct node *n = node_of(engine, node);
    const struct request *request = state_request(engine->state, pod);

    return request->is_cpu_only || !n->is_mig_enabled || n->mig_strategy != MIG_SINGLE ||
           request->kind == REQUEST_REGULAR;
}

bool mig_mixed_passes(struct engine *engine, pod_id pod, node_id node)
{
    const struct node *n = node_of(engine, node);
    const struct request *request = state_request(engine->state, pod);

    return request->is_cpu_only || !n->is_mig_enabled || n->mig_strategy != MIG_MIXED || request->kind == REQUEST_MIG;
}

bool has_no_mig(const struct node *node)
{
    return !node->is_mig_enabled;
}

bool mig_without_legacy(struct engine *engine, pod_id pod, node_id node)
{
    return state_request(engine->state, pod)->kind != REQUEST_MIG || node_of(engine, node)->legacy_mig_pods == 0;
}

bool has_no_legacy_mig(const struct node *node)
{
    return node->legacy_mig_pods == 0;
}

void legacy_mig_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret)
{
    const struct state *state = engine->state;
    const struct node *n = node_of(engine, node);
    uint32_t held = 0;

    (void)pod;
    for (uint32_t h = n->first_held; h != NO_ID; h = state_held(state, h)->next)
        held++;
    pod_id *pods = arena_alloc(arena, (size_t)held * sizeof *pods);
    for (uint32_t h = n->first_held; h != NO_ID; h = state_held(state, h)->next) {
        if (state_request(state, state_held(state, h)->pod)->is_legacy_mig)
            pods[ret->pod_count++] = state_held(state, h)->pod;
    }
    ret->pods = pods;
}

bool asks_for_gpu_memory(const struct engine *engine, const struct request *request,
                         const struct constraints *constraints)
{
    (void)engine;
    (void)constraints;
    return request->kind == REQUEST_GPU_MEMORY;
}

bool gpu_memory_known(struct engine *engine, pod_id pod, node_id node)
{
    (void)pod;
    return node_of(engine, node)->is_gpu_memory_known;
}
