/* SPDX-License-Identifier: Apache-2.0 */

/* What a part of a gang asks for, as domains are measured by it. */
#include "engine/topology/topology_tree.h"

#include "model/state.h"

struct demand_sums {
    int64_t all[RES_MAX];
    uint32_t askers[RES_MAX];
    uint32_t gpu_askers;
    double gpus;  // one by one, as KAI adds them up: parts of GPUs are no exact doubles
};

static void add_request(struct topology_demand *demand, struct demand_sums *sums, const struct request *request,
                        uint32_t times)
{
    for (uint32_t dim = 0; dim < request->v_count; dim++) {
        if (request->v[dim] <= 0)
            continue;
        sums->all[dim] += times * request->v[dim];
        sums->askers[dim] += times;
        demand->biggest[dim] = MAX(demand->biggest[dim], request->v[dim]);
    }
    if (request->gpus > 0)
        sums->gpu_askers += times;
    for (uint32_t i = 0; i < times && request->v[RES_GPU] > 0; i++)
        sums->gpus += gpu_to_double(request->v[RES_GPU]);
}

void topology_demand_of(const struct state *state, const pod_id *pods, uint32_t count, struct topology_demand *ret)
{
    struct demand_sums sums = {0};

    *ret = (struct topology_demand){.pod_count = count, .is_uniform = true};
    for (uint32_t i = 0, next; i < count; i = next) {
        request_id request = state->pods.items[pods[i]].request;
        for (next = i + 1; next < count && state->pods.items[pods[next]].request == request; next++)
            ;
        add_request(ret, &sums, &state->requests.items[request], next - i);
    }
    for (uint32_t dim = 0; dim < state->res.count; dim++) {
        if (dim >= RES_PODS && sums.askers[dim] != 0 && sums.askers[dim] != count)
            ret->is_uniform = false;
        if (dim == RES_PODS || sums.all[dim] <= 0)
            continue;
        ret->need_dim[ret->need_count] = dim;
        ret->need[ret->need_count++] = dim == RES_GPU ? sums.gpus : (double)sums.all[dim];
    }
    if (sums.gpu_askers != 0 && sums.gpu_askers != count)
        ret->is_uniform = false;
}

double topology_demand_ratio(const struct topology_demand *demand, const int64_t *free)
{
    double most = 0;

    for (uint32_t i = 0; i < demand->need_count; i++) {
        uint32_t dim = demand->need_dim[i];
        double has = dim == RES_GPU ? gpu_to_double(free[dim]) : (double)free[dim];
        double ratio = has <= 0 ? 1000 : demand->need[i] / has;
        most = MAX(most, ratio);
    }
    return most;
}
