/* SPDX-License-Identifier: Apache-2.0 */

/* A node's NUMA zones. A struct numa, its zones and their vectors are one piece of heap memory. */
#include "model/devices/numa.h"

#include <errno.h>

#include "base/err.h"
#include "model/parts.h"

enum { VECTORS = 3 };  // allocatable, available, reported

static struct numa *numa_alloc(uint32_t zone_count, uint32_t dims)
{
    size_t vectors = (size_t)zone_count * VECTORS * dims;
    struct numa *numa = xcalloc(1, sizeof *numa + zone_count * sizeof *numa->zones + vectors * sizeof(int64_t));
    int64_t *at;

    numa->zone_count = zone_count;
    numa->dims = dims;
    numa->zones = (struct numa_zone *)(numa + 1);
    at = (int64_t *)(numa->zones + zone_count);
    memset(at, 0xff, vectors * sizeof *at);
    for (uint32_t z = 0; z < zone_count; z++) {
        numa->zones[z].allocatable = at;
        numa->zones[z].available = at + dims;
        numa->zones[z].reported = at + 2 * (size_t)dims;
        at += (size_t)VECTORS * dims;
    }
    return numa;
}

void numa_fit_dimensions(struct numa **numa, uint32_t dims)
{
    struct numa *old = *numa;

    if (!old || old->dims == dims)
        return;
    struct numa *wider = numa_alloc(old->zone_count, dims);
    size_t bytes = old->dims * sizeof(int64_t);
    wider->policy = old->policy;
    wider->is_pod_scope = old->is_pod_scope;
    wider->reconstructs_available = old->reconstructs_available;
    for (uint32_t z = 0; z < old->zone_count; z++) {
        wider->zones[z].name = old->zones[z].name;
        memcpy(wider->zones[z].allocatable, old->zones[z].allocatable, bytes);
        memcpy(wider->zones[z].available, old->zones[z].available, bytes);
        memcpy(wider->zones[z].reported, old->zones[z].reported, bytes);
    }
    free(old);
    *numa = wider;
}

/* Dimensions that the zones name are added first, so that vectors are laid out once. */
static int add_dimensions(struct state *state, const struct numa_spec *spec, struct err *err)
{
    int64_t unused[RES_MAX];

    for (size_t z = 0; z < spec->zone_count; z++) {
        const struct numa_zone_spec *zone = &spec->zones[z];
        int r = amounts_replace(state, zone->allocatable, zone->allocatable_count, unused, err);

        if (r >= 0)
            r = amounts_replace(state, zone->available, zone->available_count, unused, err);
        if (r < 0)
            return err_wrap(err, r, "NUMA zone '%s'", zone->name);
    }
    return 0;
}

static int fill_zone(struct state *state, const struct numa_spec *spec, struct numa *numa, uint32_t z, struct err *err)
{
    const struct numa_zone_spec *from = &spec->zones[z];
    struct numa_zone *zone = &numa->zones[z];
    int r;

    zone->name = name_add(state, from->name);
    r = amounts_replace(state, from->allocatable, from->allocatable_count, zone->allocatable, err);
    if (r < 0)
        return r;
    if (spec->reconstructs_available)
        memcpy(zone->reported, zone->allocatable, numa->dims * sizeof *zone->reported);
    else
        r = amounts_replace(state, from->available, from->available_count, zone->reported, err);
    memcpy(zone->available, zone->reported, numa->dims * sizeof *zone->available);
    return r;
}

int numa_new(struct state *state, const struct numa_spec *spec, struct numa **ret_numa, struct err *err)
{
    int r;

    *ret_numa = NULL;
    if (!spec)
        return 0;
    if (spec->zone_count > NUMA_ZONES_MAX)
        return err_set(err, -EINVAL, "%zu NUMA zones; at most %d are supported", spec->zone_count, NUMA_ZONES_MAX);
    for (size_t z = 0; z < spec->zone_count; z++)
        if (is_empty(spec->zones[z].name))
            return err_set(err, -EINVAL, "a NUMA zone needs a name");
    r = add_dimensions(state, spec, err);
    if (r < 0)
        return r;

    struct numa *numa = numa_alloc((uint32_t)spec->zone_count, state->res.count);
    numa->policy = spec->policy;
    numa->is_pod_scope = spec->is_pod_scope;
    numa->reconstructs_available = spec->reconstructs_available;
    for (uint32_t z = 0; z < numa->zone_count; z++) {
        r = fill_zone(state, spec, numa, z, err);
        if (r < 0) {
            free(numa);
            return r;
        }
    }
    *ret_numa = numa;
    return 0;
}

bool numa_equal(const struct numa *a, const struct numa *b)
{
    if (!a || !b)
        return a == b;
    if (a->policy != b->policy || a->is_pod_scope != b->is_pod_scope || a->zone_count != b->zone_count ||
        a->dims != b->dims || a->reconstructs_available != b->reconstructs_available)
        return false;
    for (uint32_t z = 0; z < a->zone_count; z++) {
        size_t bytes = a->dims * sizeof(int64_t);

        if (a->zones[z].name != b->zones[z].name ||
            memcmp(a->zones[z].allocatable, b->zones[z].allocatable, bytes) != 0 ||
            memcmp(a->zones[z].reported, b->zones[z].reported, bytes) != 0)
            return false;
    }
    return true;
}

static struct numa_zone *find_zone(const struct numa *numa, name_id name)
{
    for (uint32_t z = 0; z < numa->zone_count; z++)
        if (numa->zones[z].name == name)
            return &numa->zones[z];
    return NULL;
}

/* KAI: a record that names an unknown zone is ignored as a whole. */
static void draw(const struct numa *numa, const struct numa_placement *placement)
{
    for (uint32_t i = 0; i < placement->count; i++)
        if (!find_zone(numa, placement->draws[i].zone))
            return;
    for (uint32_t i = 0; i < placement->count; i++) {
        const struct numa_draw *one = &placement->draws[i];
        struct numa_zone *zone = find_zone(numa, one->zone);

        if (one->dim < numa->dims && zone->allocatable[one->dim] >= 0)
            zone->available[one->dim] -= one->amount;
    }
}

void numa_reset(struct state *state, node_id id)
{
    const struct node *node = &state->nodes.items[id];
    struct numa *numa = node->numa;

    if (!numa)
        return;
    for (uint32_t z = 0; z < numa->zone_count; z++)
        memcpy(numa->zones[z].available, numa->zones[z].reported, numa->dims * sizeof(int64_t));
    if (!numa->reconstructs_available)
        return;
    vec_foreach (&node->pods, at) {
        const struct pod *pod = &state->pods.items[*at];

        if (pod->numa && status_in(pod->status, ACTIVE_ALLOCATED))
            draw(numa, pod->numa);
    }
}
