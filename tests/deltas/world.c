/* SPDX-License-Identifier: Apache-2.0 */

/* Objects said to a state, one by one or all of them. */
#include "world.h"

#include <stdio.h>

#include "base/err.h"
#include "base/macros.h"
#include "model/state.h"
#include "world_internal.h"
#include "world_tables.h"

enum { NAMES_MAX = 96 };

struct kind_row {
    uint32_t count;
    const char *prefix;
    bool is_namespaced;
    void (*tell)(const struct world *world, struct state *state, uint32_t i);
};

static const struct kind_row kinds[] = {
    [KIND_NODE] = {WORLD_NODES, "n", false, tell_node},
    [KIND_QUEUE] = {WORLD_QUEUES, "q", false, tell_queue},
    [KIND_GANG] = {WORLD_GANGS, "g", true, tell_gang},
    [KIND_POD] = {WORLD_PODS, "p", true, tell_pod},
    [KIND_CLAIM] = {WORLD_CLAIMS, "c", true, tell_claim},
    [KIND_SLICE] = {WORLD_SLICES, "s", false, tell_slice},
    [KIND_VOLUME] = {WORLD_VOLUMES, "v", true, tell_volume},
    [KIND_MAP] = {WORLD_MAPS, "m", true, tell_map},
    [KIND_TOPOLOGY] = {WORLD_TOPOLOGIES, "t", false, tell_topology},
    [KIND_CLASS] = {WORLD_CLASSES, "class", false, tell_class},
};
_Static_assert(ARRAY_LEN(kinds) == _WORLD_KIND_MAX, "a row for each kind");

uint32_t world_count(enum world_kind kind)
{
    return kinds[kind].count;
}

const char *world_name(enum world_kind kind, uint32_t i)
{
    static char names[_WORLD_KIND_MAX][NAMES_MAX][16];
    char *name = names[kind][i];

    BUG_ON(i >= kinds[kind].count || kinds[kind].count > NAMES_MAX);
    if (*name)
        return name;
    /* Nodes are not in the order of their names. */
    uint32_t number = kind == KIND_NODE ? i * 5 % WORLD_NODES : kinds[kind].is_namespaced ? i / 2 : i;
    (void)snprintf(name, sizeof *names[kind], "%s%u", kinds[kind].prefix, number);
    return name;
}

const char *world_namespace(enum world_kind kind, uint32_t i)
{
    if (!kinds[kind].is_namespaced)
        return "";
    return i % 2 ? "b" : "a";
}

const char *world_uid(const struct world *world, uint32_t pod)
{
    static char uids[2][WORLD_PODS][24];
    bool has_uid = world->pods[pod].has_uid;
    char *uid = uids[has_uid][pod];

    if (*uid)
        return uid;
    if (has_uid)
        (void)snprintf(uid, sizeof *uids[0], "uid-%02u", WORLD_PODS - pod);
    else
        (void)snprintf(uid, sizeof *uids[0], "%s/%s", world_namespace(KIND_POD, pod), world_name(KIND_POD, pod));
    return uid;
}

void world_tell(const struct world *world, struct state *state, enum world_kind kind, uint32_t i)
{
    kinds[kind].tell(world, state, i);
}

struct state *world_load(const struct world *world, struct chance *chance, uint64_t fresh_groups)
{
    struct state *state = state_new();
    uint32_t first = draw(chance, _WORLD_KIND_MAX);
    uint32_t step = draw(chance, 2) ? 3 : 7;

    state->fresh_groups = fresh_groups;
    for (uint32_t n = 0; n < _WORLD_KIND_MAX; n++) {
        enum world_kind kind = (first + n * step) % _WORLD_KIND_MAX;
        uint32_t start = draw(chance, kinds[kind].count);

        for (uint32_t i = 0; i < kinds[kind].count; i++)
            kinds[kind].tell(world, state, (start + i) % kinds[kind].count);
    }
    return state;
}

/* A spec of ours that is refused is a mistake of ours. */
void told(int r, const struct err *err)
{
    if (r < 0)
        (void)fprintf(stderr, "refused: %s\n", err->text);
    BUG_ON(r < 0);
}

void tell_volume(const struct world *world, struct state *state, uint32_t i)
{
    const struct world_volume *volume = &world->volumes[i];
    const char *zones[] = {zone_text(volume->zone)};
    struct match_spec match = {MATCH_IN, "zone", zones, 1};
    struct selector_spec term = {&match, 1};
    struct volume_spec spec = {
        .namespace = world_namespace(KIND_VOLUME, i),
        .name = world_name(KIND_VOLUME, i),
        .is_bound = volume->is_bound,
        .is_lost = volume->is_lost,
        .waits_for_consumer = volume->waits,
        .node_terms = &term,
        .node_term_count = volume->is_bound && volume->zone ? 1 : 0,
    };
    struct err err = {0};

    if (volume->is_present)
        told(state_put_volume(state, &spec, &err), &err);
    else
        state_drop_volume(state, spec.namespace, spec.name);
}

void tell_map(const struct world *world, struct state *state, uint32_t i)
{
    if (world->has_map[i])
        state_put_config_map(state, world_namespace(KIND_MAP, i), world_name(KIND_MAP, i));
    else
        state_drop_config_map(state, world_namespace(KIND_MAP, i), world_name(KIND_MAP, i));
}

void tell_topology(const struct world *world, struct state *state, uint32_t i)
{
    static const struct str_pair levels[][3] = {{{"zone", "block"}, {"rack", NULL}, {"host", NULL}}, {{"rack", NULL}}};
    static const struct topology_spec specs[] = {{"tree", levels[0], 3}, {"racks", levels[1], 1}};
    struct err err = {0};

    if (world->has_topology[i])
        told(state_put_topology(state, &specs[i], &err), &err);
    else
        state_drop_topology(state, specs[i].name);
}

const char *class_text(uint32_t class)
{
    static const char *const texts[] = {"gpu.example.com", "nic.example.com"};

    return texts[class % ARRAY_LEN(texts)];
}

void tell_class(const struct world *world, struct state *state, uint32_t i)
{
    if (world->has_class[i])
        state_put_device_class(state, &(struct device_class_spec){.name = class_text(i)});
    else
        state_drop_device_class(state, class_text(i));
}

void tell_slice(const struct world *world, struct state *state, uint32_t i)
{
    const struct world_slice *slice = &world->slices[i];
    char pool[16];
    struct slice_spec spec = {
        .name = world_name(KIND_SLICE, i),
        .driver = class_text(slice->class),
        .pool = pool,
        .device_class = slice->is_for_any_class ? NULL : class_text(slice->class),
        .node = slice->node == NOWHERE ? NULL : world_name(KIND_NODE, slice->node),
        .is_for_all_nodes = slice->node == NOWHERE,
        .device_count = slice->count,
    };
    struct err err = {0};

    (void)snprintf(pool, sizeof pool, "pool%u", i);
    if (slice->is_present)
        told(state_put_slice(state, &spec, &err), &err);
    else
        state_drop_slice(state, spec.name);
}

void tell_claim(const struct world *world, struct state *state, uint32_t i)
{
    const struct world_claim *claim = &world->claims[i];
    struct device_spec devices[WORLD_DEVICES];
    const char *reserved[WORLD_PODS];
    struct str_pair label = {"kai.scheduler/queue",
                             claim->queue == NOWHERE ? "" : world_name(KIND_QUEUE, claim->queue)};
    struct claim_spec spec = {
        .namespace = world_namespace(KIND_CLAIM, i),
        .name = world_name(KIND_CLAIM, i),
        .device_class = class_text(claim->class),
        .labels = &label,
        .label_count = claim->queue == NOWHERE ? 0 : 1,
        .count = claim->count,
        .is_synthetic = claim->is_synthetic,
        .is_allocated = claim->is_allocated,
        .devices = devices,
        .device_count = claim->is_allocated ? claim->device_count : 0,
        .reserved_for = reserved,
    };
    struct err err = {0};

    for (uint32_t d = 0; d < claim->device_count; d++)
        devices[d] = (struct device_spec){
            .driver = claim->devices[d].driver, .pool = claim->devices[d].pool, .device = claim->devices[d].name};
    for (uint32_t p = 0; p < WORLD_PODS; p++)
        if (claim->reserved[p / 64] >> p % 64 & 1)
            reserved[spec.reserved_count++] = world_uid(world, p);
    if (claim->is_present)
        told(state_put_claim(state, &spec, &err), &err);
    else
        state_drop_claim(state, spec.namespace, spec.name);
}
