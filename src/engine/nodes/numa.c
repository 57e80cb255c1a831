/* SPDX-License-Identifier: Apache-2.0 */

/*
 * NUMA alignment, as the kubelet's topology manager will do it: which zones of a node a pod would draw from under the
 * node's policy, and whether it could be admitted at all. What pods draw is booked on the zones as they are placed.
 */
#include <string.h>

#include "engine/context.h"
#include "engine/nodes/filter.h"
#include "engine/nodes/pods/affinity.h"

/* Subsets of zones that are looked at before a node counts as one that cannot align the pod. */
enum { SUBSETS_MAX = 1 << 16 };

struct numa_need {
    uint32_t count;
    uint32_t dim[RES_MAX];
    int64_t amount[RES_MAX];
};

enum numa_answer { NUMA_DOES_NOT_APPLY, NUMA_CANNOT_ALIGN, NUMA_ALIGNED };

/* Zones in the order in which they are drawn from. */
struct numa_mask {
    uint32_t count;
    uint32_t zone[NUMA_ZONES_MAX];
};

static bool is_active(const struct engine *engine)
{
    return engine_has(engine, PLUGIN_NUMA) && engine->state->has_numa;
}

static bool is_reported(const struct numa *numa, uint32_t dim)
{
    for (uint32_t z = 0; z < numa->zone_count; z++) {
        if (numa->zones[z].allocatable[dim] >= 0)
            return true;
    }
    return false;
}

static int64_t available(const struct numa *numa, uint32_t zone, uint32_t dim)
{
    return numa->zones[zone].allocatable[dim] < 0 ? 0 : numa->zones[zone].available[dim];
}

/* Devices are what is left when CPU, memory, pod slots and huge pages are set aside. */
static bool is_device(const struct state *state, uint32_t dim)
{
    static const char huge_pages[] = "hugepages-";

    return dim != RES_CPU && dim != RES_MEMORY && dim != RES_PODS &&
           strncmp(state_name(state, state->res.name[dim]), huge_pages, sizeof huge_pages - 1) != 0;
}

/* What of the request has to be aligned. False when the policy does not look at such a pod. */
static bool need_of(const struct state *state, const struct numa *numa, const struct request *request,
                    struct numa_need *ret)
{
    bool is_guaranteed = request->qos == QOS_GUARANTEED;
    bool has_device = false;

    ret->count = 0;
    for (uint32_t dim = 0; dim < MIN(request->v_count, numa->dims); dim++) {
        bool counts_device = is_device(state, dim);

        if (request->v[dim] <= 0 || dim == RES_PODS || !is_reported(numa, dim))
            continue;
        has_device |= counts_device;
        if (!is_guaranteed && !counts_device)
            continue;
        /* Only whole CPUs are given to a pod alone. */
        if (dim == RES_CPU && request->v[dim] % 1000 != 0)
            continue;
        ret->dim[ret->count] = dim;
        ret->amount[ret->count++] = request->v[dim];
    }
    return is_guaranteed || has_device;
}

/* Amounts as KAI adds them up over resources: devices and things in ones, CPU in thousandths, memory in bytes. */
static double plain(const struct resources *res, uint32_t dim, int64_t amount)
{
    if (dim == RES_GPU)
        return gpu_to_double(amount);
    if (dim < RES_FIXED || res->mig_slices[dim] > 0)
        return (double)amount;
    return (double)amount / 1000;
}

/* Takes the zone that covers most of what is missing, until nothing is. */
static void align_best_effort(const struct state *state, const struct numa *numa, const struct numa_need *need,
                              struct numa_mask *mask)
{
    struct numa_need left = *need;
    uint64_t taken = 0;

    mask->count = 0;
    while (mask->count < numa->zone_count) {
        uint32_t best = NO_ID;
        double best_sum = 0;
        bool is_missing = false;

        for (uint32_t i = 0; i < left.count; i++)
            is_missing |= left.amount[i] > 0;
        if (!is_missing)
            return;
        for (uint32_t z = 0; z < numa->zone_count; z++) {
            double sum = 0;
            if (taken >> z & 1)
                continue;
            for (uint32_t i = 0; i < left.count; i++)
                sum += plain(&state->res, left.dim[i], MIN(left.amount[i], available(numa, z, left.dim[i])));
            if (best == NO_ID || sum > best_sum) {
                best = z;
                best_sum = sum;
            }
        }
        taken |= UINT64_C(1) << best;
        mask->zone[mask->count++] = best;
        for (uint32_t i = 0; i < left.count; i++)
            left.amount[i] -= MIN(left.amount[i], available(numa, best, left.dim[i]));
    }
}

/* The fewest zones that could ever hold so much, 0 when all together could not. */
static uint32_t width_of(const struct numa *numa, uint32_t dim, int64_t amount)
{
    uint64_t taken = 0;
    int64_t sum = 0;
    uint32_t width = 0;

    while (sum < amount) {
        int64_t most = -1;
        uint32_t zone = 0;
        for (uint32_t z = 0; z < numa->zone_count; z++) {
            if (!(taken >> z & 1) && numa->zones[z].allocatable[dim] > most) {
                most = numa->zones[z].allocatable[dim];
                zone = z;
            }
        }
        if (most <= 0)
            return 0;
        taken |= UINT64_C(1) << zone;
        sum += most;
        width++;
    }
    return MAX(width, 1u);
}

/* All resources must need equally many zones; that many are returned, else 0. */
static uint32_t common_width(const struct numa *numa, const struct numa_need *need)
{
    uint32_t width = 0;

    for (uint32_t i = 0; i < need->count; i++) {
        uint32_t one = width_of(numa, need->dim[i], need->amount[i]);
        if (one == 0 || (width != 0 && one != width))
            return 0;
        width = one;
    }
    return width;
}

static bool mask_covers(const struct numa *numa, const struct numa_need *need, const struct numa_mask *mask)
{
    for (uint32_t i = 0; i < need->count; i++) {
        int64_t sum = 0;
        for (uint32_t m = 0; m < mask->count; m++)
            sum += available(numa, mask->zone[m], need->dim[i]);
        if (sum < need->amount[i])
            return false;
    }
    return true;
}

/* The next subset of the same size in lexicographic order. */
static bool next_subset(struct numa_mask *mask, uint32_t zone_count)
{
    uint32_t at = mask->count;

    while (at > 0 && mask->zone[at - 1] == zone_count - mask->count + at - 1)
        at--;
    if (at == 0)
        return false;
    mask->zone[at - 1]++;
    for (; at < mask->count; at++)
        mask->zone[at] = mask->zone[at - 1] + 1;
    return true;
}

static bool align_exactly(const struct numa *numa, const struct numa_need *need, uint32_t width, struct numa_mask *mask)
{
    if (width == 0 || width > numa->zone_count)
        return false;
    mask->count = width;
    for (uint32_t i = 0; i < width; i++)
        mask->zone[i] = i;
    for (uint32_t tries = 0; tries < SUBSETS_MAX; tries++) {
        if (mask_covers(numa, need, mask))
            return true;
        if (!next_subset(mask, numa->zone_count))
            return false;
    }
    return false;
}

static enum numa_answer align(const struct engine *engine, pod_id pod, node_id node, struct numa_need *ret_need,
                              struct numa_mask *ret_mask)
{
    const struct state *state = engine->state;
    const struct numa *numa = state->nodes.items[node].numa;
    bool is_aligned;

    ret_mask->count = 0;
    if (!numa || numa->policy == NUMA_NONE || !need_of(state, numa, state_request(state, pod), ret_need))
        return NUMA_DOES_NOT_APPLY;
    if (ret_need->count == 0)
        return NUMA_ALIGNED;
    if (numa->policy == NUMA_BEST_EFFORT) {
        align_best_effort(state, numa, ret_need, ret_mask);
        return NUMA_ALIGNED;
    }
    uint32_t width = numa->policy == NUMA_SINGLE_NODE ? 1 : common_width(numa, ret_need);
    is_aligned = align_exactly(numa, ret_need, width, ret_mask);
    return is_aligned ? NUMA_ALIGNED : NUMA_CANNOT_ALIGN;
}

bool numa_passes(struct engine *engine, pod_id pod, node_id node)
{
    struct numa_need need;
    struct numa_mask mask;

    return !is_active(engine) || align(engine, pod, node, &need, &mask) != NUMA_CANNOT_ALIGN;
}

static int compare_draws(const void *a, const void *b)
{
    const struct numa_draw *l = a;
    const struct numa_draw *r = b;

    /* `zone` is an index until all draws are in order. */
    if (l->zone != r->zone)
        return l->zone < r->zone ? -1 : 1;
    return l->dim < r->dim ? -1 : 1;
}

/*
 * Draws each resource from the mask's zones in turn; says from how many zones. The draws go into `draws`, unless it is
 * NULL, in the order of zones (by index) and resources.
 */
static uint32_t draw(const struct numa *numa, const struct numa_need *need, const struct numa_mask *mask,
                     struct numa_draw *draws, uint32_t *ret_count)
{
    uint64_t zones = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < need->count; i++) {
        int64_t left = need->amount[i];
        for (uint32_t m = 0; m < mask->count; m++) {
            int64_t amount = MIN(left, available(numa, mask->zone[m], need->dim[i]));
            if (amount <= 0)
                continue;
            if (draws)
                draws[count] = (struct numa_draw){.zone = mask->zone[m], .dim = need->dim[i], .amount = amount};
            count++;
            zones |= UINT64_C(1) << mask->zone[m];
            left -= amount;
        }
    }
    if (draws)
        qsort(draws, count, sizeof *draws, compare_draws);
    *ret_count = count;
    return (uint32_t)__builtin_popcountll(zones);
}

const struct numa_placement *numa_place(struct engine *engine, pod_id pod, node_id node)
{
    const struct numa *numa = engine->state->nodes.items[node].numa;
    struct numa_placement *placement;
    struct numa_need need;
    struct numa_mask mask;

    if (!is_active(engine) || align(engine, pod, node, &need, &mask) != NUMA_ALIGNED || need.count == 0)
        return NULL;
    size_t most = (size_t)need.count * mask.count;
    placement = arena_alloc(&engine->state->scratch, sizeof *placement + most * sizeof *placement->draws);
    (void)draw(numa, &need, &mask, placement->draws, &placement->count);
    for (uint32_t i = 0; i < placement->count; i++)
        placement->draws[i].zone = numa->zones[placement->draws[i].zone].name;
    return placement->count > 0 ? placement : NULL;
}

static uint32_t most_zones(struct engine *engine)
{
    struct affinity_memory *memory = engine->affinity;

    if (memory->is_most_zones_known)
        return memory->most_zones;
    memory->is_most_zones_known = true;
    memory->most_zones = 0;
    for (uint32_t i = 0; i < engine->state->nodes_by_rank.len; i++) {
        const struct numa *numa = engine->state->nodes.items[engine->state->nodes_by_rank.items[i]].numa;
        if (numa)
            memory->most_zones = MAX(memory->most_zones, numa->zone_count);
    }
    return memory->most_zones;
}

double numa_score(struct engine *engine, pod_id pod, node_id node)
{
    const struct numa *numa = engine->state->nodes.items[node].numa;
    struct numa_need need;
    struct numa_mask mask;
    uint32_t draws;
    uint32_t span;

    if (!is_active(engine))
        return 0;
    if (!numa) {
        span = most_zones(engine);
    } else {
        enum numa_answer answer = align(engine, pod, node, &need, &mask);
        if (answer == NUMA_CANNOT_ALIGN)
            return 0;
        span = answer == NUMA_DOES_NOT_APPLY ? numa->zone_count : MAX(draw(numa, &need, &mask, NULL, &draws), 1u);
    }
    return span > 0 ? 100.0 / span : 0;
}

static struct numa_zone *find_zone(const struct numa *numa, name_id name)
{
    for (uint32_t z = 0; z < numa->zone_count; z++) {
        if (numa->zones[z].name == name)
            return &numa->zones[z];
    }
    return NULL;
}

void numa_draw(struct engine *engine, pod_id id, int sign)
{
    const struct pod *pod = &engine->state->pods.items[id];

    if (!is_active(engine) || !pod->numa || pod->node == NO_ID)
        return;
    const struct numa *numa = engine->state->nodes.items[pod->node].numa;
    if (!numa)
        return;
    /* KAI: a record that names an unknown zone is ignored as a whole. */
    for (uint32_t i = 0; i < pod->numa->count; i++) {
        if (!find_zone(numa, pod->numa->draws[i].zone))
            return;
    }
    for (uint32_t i = 0; i < pod->numa->count; i++) {
        const struct numa_draw *one = &pod->numa->draws[i];
        struct numa_zone *zone = find_zone(numa, one->zone);
        if (one->dim < numa->dims && zone->allocatable[one->dim] >= 0)
            undo_add64(&engine->state->undo, &zone->available[one->dim], -sign * one->amount);
    }
}
