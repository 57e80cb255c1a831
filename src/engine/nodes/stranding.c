/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Pods with the same constraints are bound to the same nodes: their GPUs are added up by constraints, and the nodes of
 * each are looked up once until nodes change.
 */
#include "engine/nodes/stranding.h"

#include <math.h>
#include <stdlib.h>

#include "base/bitset.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/context.h"
#include "engine/nodes/filter.h"

/* Steps of the parts of nodes, and of the mantissa of c. */
enum { STEPS = 32 };

/* Pods with these constraints, bound to some of the nodes. */
struct bound {
    constraints_id constraints;
    int64_t used;           // GPUs of those that run; billionths
    int64_t capacity;       // GPUs of the nodes that they may use; 0: they are not bound to a part of the nodes
    struct bitset by_rank;  // these nodes
};

struct stranding {
    double milli_cpu_per_gpu;  // c, rounded; 0: no pod with GPUs runs
    VEC(int64_t) parts;        // by node id: the part of its GPUs that bound pods use, in STEPS
    VEC(int64_t) sums;         // the same in billionths, while they are added up
    VEC(struct bound) bound;
    struct map64 by_constraints;  // index in `bound`
    bool is_made;
};

struct stranding *stranding_new(void)
{
    struct stranding *stranding = xcalloc(1, sizeof *stranding);

    map64_init(&stranding->by_constraints);
    return stranding;
}

static void forget_nodes(struct stranding *stranding)
{
    vec_foreach (&stranding->bound, bound)
        bitset_done(&bound->by_rank);
    vec_clear(&stranding->bound);
    map64_clear(&stranding->by_constraints);
}

void stranding_free(struct stranding *stranding)
{
    if (!stranding)
        return;
    forget_nodes(stranding);
    vec_done(&stranding->bound);
    vec_done(&stranding->parts);
    vec_done(&stranding->sums);
    map64_done(&stranding->by_constraints);
    free(stranding);
}

size_t stranding_bytes(const struct stranding *stranding)
{
    size_t bytes = sizeof *stranding + vec_bytes(&stranding->parts) + vec_bytes(&stranding->sums) +
                   vec_bytes(&stranding->bound) + map64_bytes(&stranding->by_constraints);

    for (uint32_t i = 0; i < stranding->bound.len; i++)
        bytes += (size_t)bitset_words(&stranding->bound.items[i].by_rank) * sizeof(uint64_t);
    return bytes;
}

/* ---- What is learned. ---- */

/* The nodes that pods with these constraints may use; no part of them where they may use all. */
static void find_nodes(const struct state *state, struct bound *bound)
{
    const struct constraints *c = &state->constraints.items[bound->constraints];
    int64_t all = 0;

    bitset_resize(&bound->by_rank, state->nodes_by_rank.len);
    for (uint32_t rank = 0; rank < state->nodes_by_rank.len; rank++) {
        node_id node = state->nodes_by_rank.items[rank];
        int64_t devices = state->nodes.items[node].device_count;
        all += devices;
        if (devices == 0 || !node_matches(state, c, node))
            continue;
        bound->capacity += devices;
        bitset_set(&bound->by_rank, rank);
    }
    if (bound->capacity == all)
        bound->capacity = 0;
}

static struct bound *bound_of(struct stranding *stranding, const struct state *state, constraints_id constraints)
{
    uint64_t index;

    if (map64_get(&stranding->by_constraints, constraints, &index))
        return &stranding->bound.items[index];
    struct bound bound = {.constraints = constraints};
    find_nodes(state, &bound);
    map64_put(&stranding->by_constraints, constraints, stranding->bound.len);
    vec_push(&stranding->bound, bound);
    return &vec_last(&stranding->bound);
}

/* Keeps the leading bits of c: the same on every machine, unlike logarithms. */
static double round_ratio(int64_t milli_cpu, int64_t gpus)
{
    int exponent;

    if (gpus <= 0 || milli_cpu <= 0)
        return 0;
    double mantissa = frexp((double)milli_cpu / gpu_to_double(gpus), &exponent);
    return ldexp(round(mantissa * STEPS) / STEPS, exponent);
}

/* Adds up the pods that run; returns c. */
static double count_pods(struct stranding *stranding, const struct state *state)
{
    int64_t milli_cpu = 0;
    int64_t gpus = 0;

    vec_foreach (&stranding->bound, bound)
        bound->used = 0;
    for (uint32_t i = 0; i < state->pods.len; i++) {
        const struct pod *pod = &state->pods.items[i];
        if (!pod->is_present || pod->is_reservation || !status_in(pod->status, ACTIVE_ALLOCATED) ||
            pod->accepted_gpu <= 0)
            continue;
        const struct request *request = &state->requests.items[pod->request];
        milli_cpu += RES_CPU < request->v_count ? request->v[RES_CPU] : 0;
        gpus += pod->accepted_gpu;
        if (constraints_limit_nodes(&state->constraints.items[pod->constraints]))
            bound_of(stranding, state, pod->constraints)->used += pod->accepted_gpu;
    }
    return round_ratio(milli_cpu, gpus);
}

static bool find_parts(struct stranding *stranding, const struct state *state)
{
    bool is_changed = stranding->parts.len != state->nodes.len;

    vec_resize(&stranding->parts, state->nodes.len);
    vec_clear(&stranding->sums);
    vec_resize(&stranding->sums, state->nodes.len);
    vec_foreach (&stranding->bound, bound) {
        if (bound->capacity == 0 || bound->used == 0)
            continue;
        int64_t share = bound->used / bound->capacity;
        for (uint32_t rank = bitset_next_set(&bound->by_rank, 0); rank != BITSET_NONE;
             rank = bitset_next_set(&bound->by_rank, rank + 1))
            stranding->sums.items[state->nodes_by_rank.items[rank]] += share;
    }
    for (node_id node = 0; node < state->nodes.len; node++) {
        int64_t part = (stranding->sums.items[node] * STEPS + GPU_ONE / 2) / GPU_ONE;
        is_changed |= part != stranding->parts.items[node];
        stranding->parts.items[node] = part;
    }
    return is_changed;
}

bool stranding_update(struct engine *engine)
{
    struct stranding *stranding = engine->stranding;
    const struct state *state = engine->state;
    const struct changes *changes = &state->changes;

    if (engine->config.gpu_placement != PLACEMENT_LEAST_STRANDED)
        return false;
    if (stranding->is_made && !changes->nodes_static && changes->gangs.ids.len == 0 && changes->nodes.ids.len == 0)
        return false;
    if (changes->nodes_static || !stranding->is_made)
        forget_nodes(stranding);
    double before = stranding->milli_cpu_per_gpu;
    stranding->milli_cpu_per_gpu = count_pods(stranding, state);
    bool is_changed = find_parts(stranding, state) || stranding->milli_cpu_per_gpu != before || !stranding->is_made;
    stranding->is_made = true;
    return is_changed;
}

/* ---- Costs. ---- */

/* Of so many free GPUs those for which there are not enough cores. */
static double stranded(const struct stranding *stranding, double gpus, double milli_cpu)
{
    if (stranding->milli_cpu_per_gpu == 0)
        return 0;
    return MAX(0.0, gpus - MAX(0.0, milli_cpu) / stranding->milli_cpu_per_gpu);
}

static double gpus_on(const struct request *request, const struct node *node)
{
    return request_is_shared(request) ? request_portion_on(request, node) * request->devices
                                      : gpu_to_double(request->quota_gpus);
}

int64_t stranding_cost(const struct engine *engine, pod_id pod, node_id id)
{
    static const int64_t thousandths_end = INT64_C(1) << 24;  // free GPUs; a node has fewer than 16,777
    static const double most = 1 << 28;                       // ten-thousandths of a GPU: both fit into a double
    const struct state *state = engine->state;
    const struct stranding *stranding = engine->stranding;
    const struct request *request = state_request(state, pod);
    double gpus = node_idle_gpus(state, id) + node_releasing_gpus(state, id);
    int64_t free = CLAMP(llround(gpus * 1000), 0, thousandths_end - 1);

    if (request->is_cpu_only)
        return free;
    struct books books = state_books(state, id);
    double asked = gpus_on(request, &state->nodes.items[id]);
    double milli_cpu = (double)(books.idle[RES_CPU] + books.releasing[RES_CPU]);
    double needed = RES_CPU < request->v_count ? (double)request->v[RES_CPU] : 0;
    double added = stranded(stranding, gpus - asked, milli_cpu - needed) - stranded(stranding, gpus, milli_cpu);
    double taken = id < stranding->parts.len ? asked * (double)stranding->parts.items[id] / STEPS : 0;
    double cost = CLAMP((added + taken) * 10000, -most, most);
    return llround(cost) * thousandths_end + free;
}
