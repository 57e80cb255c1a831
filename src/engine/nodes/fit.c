/* SPDX-License-Identifier: Apache-2.0 */

/* Room for a pod on a node: request against what is idle, or idle and being released. */
#include "engine/nodes/fit.h"
#include "engine/context.h"
#include "engine/nodes/place.h"

/* DRA GPUs of the pod that others on the node hold as well: they cost nothing more. */
static int64_t devices_already_held(const struct state *state, const struct pod *pod, const struct node *node)
{
    int64_t shared = 0;

    for (uint32_t c = 0; c < pod->claim_count; c++) {
        if (pod->claims[c].claim == NO_ID)
            continue;
        const struct claim *claim = &state->claims.items[pod->claims[c].claim];
        for (uint32_t d = 0; claim->is_gpu && claim->is_allocated && d < claim->device_count; d++) {
            for (uint32_t h = node->first_held; h != NO_ID; h = state_held(state, h)->next) {
                const struct held *held = state_held(state, h);
                bool found = false;
                for (uint32_t i = 0; i < held->device_count && !found; i++) {
                    found = held->devices[i].driver == claim->devices[d].driver &&
                            held->devices[i].pool == claim->devices[d].pool &&
                            held->devices[i].name == claim->devices[d].name;
                }
                if (found) {
                    shared += GPU_ONE;
                    break;
                }
            }
        }
    }
    return shared;
}

static bool vector_fits(const struct state *state, const struct request *request, struct books books,
                        bool with_releasing, int64_t extra_gpu, bool skip_gpu)
{
    for (uint32_t i = 0; i < state->res.count; i++) {
        int64_t need = i < request->v_count ? request->v[i] : 0;
        int64_t free = books.idle[i] + (with_releasing ? books.releasing[i] : 0);
        if (i == RES_GPU) {
            if (skip_gpu)
                continue;
            free += extra_gpu;
        }
        if (need > free)
            return false;
    }
    return true;
}

static bool shared_fits(const struct state *state, const struct request *request, const struct node *node,
                        struct books books, bool with_releasing)
{
    double portion = request_portion_on(request, node);

    if (portion > 1 && portion != (double)(int64_t)portion)
        return false;
    int64_t memory = request_memory_on(request, node);
    int64_t whole = gpu_floor(books.idle[RES_GPU] + (with_releasing ? books.releasing[RES_GPU] : 0));
    int64_t groups = 0;
    for (uint32_t g = node->first_shared; g != NO_ID && groups < request->devices; g = state_shared_gpu(state, g)->next)
        groups += shared_gpu_fits(node, state_shared_gpu(state, g), memory);
    return whole + groups >= request->devices;
}

static bool fits(const struct engine *engine, pod_id pod, node_id node, bool with_releasing)
{
    const struct state *state = engine->state;
    const struct request *request = state_request(state, pod);
    struct books books = state_books(state, node);
    const struct node *n = &state->nodes.items[node];

    if (request_is_shared(request))
        return vector_fits(state, request, books, with_releasing, 0, true) &&
               shared_fits(state, request, n, books, with_releasing);

    int64_t extra = request->dra_gpus > 0 ? devices_already_held(state, &state->pods.items[pod], n) : 0;
    return vector_fits(state, request, books, with_releasing, extra, false);
}

bool fits_idle(const struct engine *engine, pod_id pod, node_id node)
{
    return fits(engine, pod, node, false);
}

bool fits_sooner_or_later(const struct engine *engine, pod_id pod, node_id node)
{
    return fits(engine, pod, node, true);
}

bool fits_some_shared_gpu(const struct engine *engine, pod_id pod, node_id node)
{
    const struct state *state = engine->state;
    const struct node *n = &state->nodes.items[node];
    const struct request *request = state_request(state, pod);
    int64_t memory = request_memory_on(request, n);

    for (uint32_t g = n->first_shared; g != NO_ID; g = state_shared_gpu(state, g)->next) {
        if (shared_gpu_fits(n, state_shared_gpu(state, g), memory))
            return true;
    }
    return false;
}
