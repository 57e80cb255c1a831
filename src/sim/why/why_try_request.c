/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Smaller requests: of each resource that may matter, the most that still runs. Amounts are tried in steps that a person
 * would write: whole GPUs, hundredths of one, 100 MiB of its memory, a tenth of a core, 128 MiB.
 */
#include <math.h>

#include "model/state.h"
#include "sim/why/why_internal.h"

#define CPU_STEP 100
#define MEMORY_STEP (INT64_C(128) << 20)
#define GPU_MEMORY_STEP 100
#define OTHER_STEP 1000  // thousandths: whole ones

/* A number of a request that can be made smaller, counted in steps. */
struct dial {
    enum why_remedy_kind kind;
    enum request_part part;
    uint32_t dim;
    int64_t step;  // of the unit that the change is in
    int64_t now;   // in that unit
    double unit;   // what a person counts in, of that unit
    double from;   // what is asked for, in that
};

static void turn(struct retell_change *change, int64_t steps, void *context)
{
    const struct dial *dial = context;

    change->value = steps * dial->step;
}

/* Tries the dial from one step upwards to what is asked for now, which does not run. */
static bool try_dial(struct why *why, request_id request, struct dial dial)
{
    struct retell_change change = why_change_new(why);
    int64_t bad = (dial.now + dial.step - 1) / dial.step;

    change.part = dial.part;
    change.request = request;
    change.dim = dial.dim;
    if (bad <= 1)
        return false;
    turn(&change, 1, &dial);
    if (!why_works(why, &change, why->now))
        return false;
    int64_t found = why_edge(why, &change, 1, bad, turn, &dial);
    int64_t less = (found + 1) * dial.step < dial.now ? (found + 1) * dial.step : dial.now;
    why_keep(why, (struct why_remedy){
                      .kind = dial.kind,
                      .change = change,
                      .step = {dial.from, (double)(found * dial.step) / dial.unit, (double)less / dial.unit},
                  });
    return true;
}

static void try_gpus(struct why *why, request_id id, const struct request *request)
{
    int64_t gpus = request->gpus / GPU_ONE;
    int64_t hundredths = (int64_t)llround(request->portion * 100);

    switch (request->kind) {
    case REQUEST_REGULAR:
        if (gpus == 0 || try_dial(why, id, (struct dial){WHY_GPUS, REQUEST_PART_GPUS, 0, 1, gpus, 1, (double)gpus}))
            return;
        (void)try_dial(why, id, (struct dial){WHY_FRACTION, REQUEST_PART_PORTION, 0, 1, 100, 100, (double)gpus});
        break;
    case REQUEST_FRACTION:
        (void)try_dial(why, id,
                       (struct dial){WHY_DEVICES, REQUEST_PART_DEVICES, 0, 1, request->devices, 1, request->devices});
        (void)try_dial(why, id,
                       (struct dial){WHY_FRACTION, REQUEST_PART_PORTION, 0, 1, hundredths, 100, request->portion});
        break;
    case REQUEST_GPU_MEMORY:
        (void)try_dial(why, id,
                       (struct dial){WHY_DEVICES, REQUEST_PART_DEVICES, 0, 1, request->devices, 1, request->devices});
        (void)try_dial(why, id,
                       (struct dial){WHY_GPU_MEMORY, REQUEST_PART_GPU_MEMORY, 0, GPU_MEMORY_STEP, request->memory_mib,
                                     1, (double)request->memory_mib});
        break;
    case REQUEST_MIG:
        break;
    }
}

/* Does something speak of this dimension: nodes lack it, or a queue's bound is about it? */
static bool is_short(const struct why *why, uint32_t dim)
{
    static const uint32_t dims[] = {[SHARE_CPU] = RES_CPU, [SHARE_MEMORY] = RES_MEMORY, [SHARE_GPU] = RES_GPU};
    const struct explanation *e = &why->explanation;
    enum verdict_code code = e->tried.code;

    for (uint32_t i = 0; i < e->lack_count; i++) {
        if (e->lacks[i].dim == dim)
            return true;
    }
    return code == VERDICT_TOO_LARGE || code == VERDICT_TOPOLOGY_FULL || code == VERDICT_TOPOLOGY_TOO_SMALL ||
           ((code == VERDICT_OVER_LIMIT || code == VERDICT_OVER_QUOTA) && dims[e->tried.resource] == dim);
}

static void try_amount(struct why *why, request_id id, const struct request *request, uint32_t dim)
{
    bool is_mig = why->state->res.mig_slices[dim] > 0;
    struct dial dial = {WHY_AMOUNT, REQUEST_PART_AMOUNT, dim, 1, request->v[dim], 1, 0};

    if (dim == RES_CPU)
        dial.step = CPU_STEP;
    else if (dim == RES_MEMORY)
        dial.step = MEMORY_STEP;
    else if (!is_mig)
        dial.step = OTHER_STEP;
    if (dim >= RES_FIXED && !is_mig)
        dial.unit = OTHER_STEP;
    dial.from = (double)dial.now / dial.unit;
    (void)try_dial(why, id, dial);
}

/* The request of the workload's first pod that waits: in the asked state, by the name of the pod in the settled one. */
static request_id request_of(const struct why *why)
{
    const struct pod *settled;
    pod_id pod;

    if (why->explanation.pod == NO_ID)
        return NO_ID;
    settled = &why->settled->pods.items[why->explanation.pod];
    pod = state_find_pod(why->state, state_name(why->settled, settled->namespace),
                         state_name(why->settled, settled->name));
    return pod == NO_ID || why->state->pods.items[pod].status != POD_PENDING ? NO_ID
                                                                             : why->state->pods.items[pod].request;
}

void why_try_requests(struct why *why)
{
    request_id id = request_of(why);

    if (id == NO_ID)
        return;
    const struct request *request = &why->state->requests.items[id];
    try_gpus(why, id, request);
    for (uint32_t dim = 0; dim < request->v_count; dim++) {
        if (dim != RES_GPU && dim != RES_PODS && request->v[dim] > 0 && is_short(why, dim))
            try_amount(why, id, request, dim);
    }
}
