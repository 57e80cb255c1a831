/* SPDX-License-Identifier: Apache-2.0 */

/* Random nodes, queues, slices and settings; a world of them. */
#include "world_make.h"

#include <string.h>

#include "base/macros.h"
#include "engine/config.h"
#include "model/queue.h"
#include "world_tables.h"

#define START (INT64_C(1700000000) * NSEC_PER_SEC)

bool world_is_present(const struct world *world, enum world_kind kind, uint32_t i)
{
    switch (kind) {
    case KIND_NODE:
        return world->nodes[i].is_present;
    case KIND_QUEUE:
        return world->queues[i].is_present;
    case KIND_GANG:
        return world->gangs[i].is_present;
    case KIND_POD:
        return world->pods[i].is_present;
    case KIND_CLAIM:
        return world->claims[i].is_present;
    case KIND_SLICE:
        return world->slices[i].is_present;
    case KIND_VOLUME:
        return world->volumes[i].is_present;
    case KIND_MAP:
        return world->has_map[i];
    case KIND_TOPOLOGY:
        return world->has_topology[i];
    case KIND_CLASS:
        return world->has_class[i];
    case _WORLD_KIND_MAX:
        break;
    }
    return false;
}

bool world_is_banned(const struct world *world, enum world_kind kind, uint32_t i)
{
    return world->banned[kind][i / 64 % ARRAY_LEN(world->banned[kind])] >> i % 64 & 1;
}

uint32_t world_free_slot(const struct world *world, enum world_kind kind, uint32_t parity)
{
    bool is_namespaced = *world_namespace(kind, 0) != '\0';

    for (uint32_t i = 0; i < world_count(kind); i++)
        if (!world_is_present(world, kind, i) && (!is_namespaced || i % 2 == parity % 2))
            return i;
    return NOWHERE;
}

uint32_t world_pick(const struct world *world, struct chance *chance, enum world_kind kind)
{
    uint32_t count = world_count(kind);
    uint32_t start = draw(chance, count);

    for (uint32_t n = 0; n < count; n++)
        if (world_is_present(world, kind, (start + n) % count))
            return (start + n) % count;
    return NOWHERE;
}

void changes_mark(struct world_changes *changes, enum world_kind kind, uint32_t i)
{
    changes->bits[kind][i / 64] |= UINT64_C(1) << i % 64;
}

bool changes_have(const struct world_changes *changes, enum world_kind kind, uint32_t i)
{
    return changes->bits[kind][i / 64] >> i % 64 & 1;
}

static uint8_t draw_node_shape(const struct world *world, struct chance *chance)
{
    for (;;) {
        uint32_t shape = draw(chance, node_shape_count);
        if ((node_shapes[shape].theme & ~world->theme) == 0)
            return (uint8_t)shape;
        if (chance->bytes && chance->left == 0)
            return 0;
    }
}

void make_node(struct world *world, struct chance *chance, uint32_t i)
{
    struct world_node node = {
        .is_present = !world_is_banned(world, KIND_NODE, i),
        .shape = draw(chance, 4) ? world->usual_shapes[draw(chance, 2)] : draw_node_shape(world, chance),
        .zone = one_in(chance, 8) ? 0 : (uint8_t)draw_from(chance, 1, 3),
        .rack = one_in(chance, 8) ? 0 : (uint8_t)draw_from(chance, 1, 4),
        .pool = (uint8_t)draw(chance, 3),
        .taints = one_in(chance, 5) ? (uint8_t)draw(chance, taint_row_count) : 0,
        .numa = draw(chance, 4) ? (uint8_t)draw(chance, numa_row_count) : 0,
        .has_few_pods = one_in(chance, 10),
        .troubles = one_in(chance, 16) ? 1u << draw(chance, 6) : 0,
    };

    if (!(world->theme & THEME_RULES))
        node.taints = node.pool = 0;
    if (!(world->theme & THEME_NUMA))
        node.numa = 0;
    if (!(world->theme & THEME_TROUBLES))
        node.troubles = node.has_few_pods = 0;
    if (!(world->theme & (THEME_PLACES | THEME_PODS)))
        node.zone = node.rack = 0;
    world->nodes[i] = node;
}

static double pick_amount(struct chance *chance, const double *amounts, uint32_t count)
{
    return amounts[draw(chance, count)];
}

#define PICK(chance, ...) pick_amount(chance, (const double[]){__VA_ARGS__}, ARRAY_LEN(((const double[]){__VA_ARGS__})))

void make_queue_amounts(struct world *world, struct chance *chance, uint32_t i)
{
    struct world_queue *queue = &world->queues[i];
    bool has_limits = world->theme & THEME_LIMITS;
    double cores = PICK(chance, -1, -1, -1, -1, 4000, 16000);
    double bytes = PICK(chance, -1, -1, -1, -1, 1e10, 6e10);

    queue->deserved[SHARE_GPU] = PICK(chance, 0, 0, 1, 2, 3, 4, 8, -1, 1.5);
    queue->deserved[SHARE_CPU] = has_limits ? cores : UNLIMITED;
    queue->deserved[SHARE_MEMORY] = has_limits ? bytes : UNLIMITED;
    for (int r = 0; r < SHARE_COUNT; r++) {
        double limit = r == SHARE_GPU   ? PICK(chance, -1, -1, -1, -1, -1, 2, 4, 6, 0.5)
                       : r == SHARE_CPU ? PICK(chance, -1, -1, -1, -1, 3000, 20000)
                                        : PICK(chance, -1, -1, -1, -1, 5e9, 5e10);
        queue->limit[r] = has_limits ? limit : UNLIMITED;
        queue->weight[r] = PICK(chance, 0, 1, 1, 1, 2, 3);
        queue->usage[r] = world->theme & THEME_SETTINGS ? PICK(chance, 0, 0, 0.1, 0.5) : 0;
    }
    queue->priority = (int32_t)PICK(chance, 100, 100, 100, 50, 200);
}

static nsec_t draw_runtime(const struct world *world, struct chance *chance)
{
    static const nsec_t runtimes[] = {-1, -1, -1, 0, 30 * NSEC_PER_SEC, 5 * NSEC_PER_MIN};
    nsec_t runtime = runtimes[draw(chance, ARRAY_LEN(runtimes))];

    return world->theme & THEME_TIMES ? runtime : -1;
}

void make_queue(struct world *world, struct chance *chance, uint32_t i)
{
    uint32_t parent = draw(chance, i + 1);
    bool is_deep = (world->theme & THEME_QUEUES) && i > 1;
    bool is_lost = one_in(chance, 25);

    world->queues[i] = (struct world_queue){
        .is_present = !world_is_banned(world, KIND_QUEUE, i),
        .parent = is_deep && parent != i ? (uint8_t)parent : NOWHERE,
        .is_parent_lost = is_lost && (world->theme & THEME_TROUBLES),
        .created = START + (nsec_t)draw(chance, 4) * NSEC_PER_SEC,
        .preempt_min_runtime = draw_runtime(world, chance),
        .reclaim_min_runtime = draw_runtime(world, chance),
    };
    make_queue_amounts(world, chance, i);
}

void make_slice(struct world *world, struct chance *chance, uint32_t i)
{
    bool is_nic = one_in(chance, 4);

    world->slices[i] = (struct world_slice){
        .is_present = !world_is_banned(world, KIND_SLICE, i) && (world->theme & THEME_CLAIMS),
        .class = is_nic,
        /* A GPU that serves as something else is on no GPU's books. */
        .is_for_any_class = one_in(chance, 2) && is_nic,
        .node = one_in(chance, 6) ? NOWHERE : (uint8_t)draw(chance, WORLD_NODES),
        .count = (uint8_t)draw(chance, 5),
    };
}

void make_volume(struct world *world, struct chance *chance, uint32_t i)
{
    world->volumes[i] = (struct world_volume){
        .is_present = !world_is_banned(world, KIND_VOLUME, i),
        .is_bound = draw(chance, 3) > 0,
        .is_lost = one_in(chance, 8),
        .waits = draw(chance, 2),
        .zone = (uint8_t)draw(chance, 4),
    };
}

static void make_few(struct world *world, struct chance *chance)
{
    for (uint32_t i = 0; i < WORLD_SLICES; i++)
        if (draw(chance, 4))
            make_slice(world, chance, i);
    for (uint32_t i = 0; i < WORLD_VOLUMES; i++)
        if (draw(chance, 4))
            make_volume(world, chance, i);
    for (uint32_t i = 0; i < WORLD_MAPS; i++)
        world->has_map[i] = draw(chance, 4);
    for (uint32_t i = 0; i < WORLD_TOPOLOGIES; i++)
        world->has_topology[i] = draw(chance, 8);
    for (uint32_t i = 0; i < WORLD_CLASSES; i++)
        world->has_class[i] = draw(chance, 8);
}

void world_make(struct world *world, struct chance *chance)
{
    struct world_changes changes = {0};
    uint32_t theme = draw(chance, UINT32_MAX);
    uint32_t nodes = draw_from(chance, 1, one_in(chance, 4) ? 11 : 5);
    uint32_t queues = draw_from(chance, 1, one_in(chance, 4) ? 12 : 6);
    uint32_t gangs = draw_from(chance, 2, 16);

    world->now = START + NSEC_PER_HOUR;
    world->theme &= theme & THEME_ALL;
    for (uint32_t i = 0; i < ARRAY_LEN(world->usual_shapes); i++)
        world->usual_shapes[i] = draw_node_shape(world, chance);
    for (uint32_t i = 0; i < ARRAY_LEN(world->usual_requests); i++)
        world->usual_requests[i] = draw_request(world, chance);
    for (uint32_t i = 0; i < nodes; i++)
        make_node(world, chance, i);
    for (uint32_t i = 0; i < queues; i++)
        make_queue(world, chance, i);
    make_few(world, chance);
    for (uint32_t i = 0; i < gangs; i++)
        make_gang(world, chance, i, &changes);
}

static void make_other_config(struct chance *chance, struct config *config)
{
    config->uses_signatures = draw(chance, 2);
    config->max_consolidation_preemptees = (int64_t)PICK(chance, -1, -1, 0, 1, 16);
    config->allows_consolidating_reclaim = draw(chance, 4);
    config->saturation_multiplier = PICK(chance, 1, 1, 1.5);
    config->k_value = PICK(chance, 1, 1, 0, 2);
    config->has[PLUGIN_GPU_SPREAD] = one_in(chance, 5);
    config->has[PLUGIN_GPU_PACK] = !config->has[PLUGIN_GPU_SPREAD];
    if (one_in(chance, 4))
        config->gpu_placement = draw(chance, 2) ? PLACEMENT_SPREAD : PLACEMENT_LEAST_STRANDED;
    if (one_in(chance, 4))
        config->cpu_placement = draw(chance, 2) ? PLACEMENT_SPREAD : PLACEMENT_LEAST_STRANDED;
    if (one_in(chance, 5))
        config->queue_depth[draw(chance, ACTION_STALE_GANG)] = draw_from(chance, 1, 3);
    if (one_in(chance, 5))
        config->max_placements = draw_from(chance, 5, 200);
    config->reclaim_runtime_method = draw(chance, 4) ? RECLAIM_RUNTIME_LCA : RECLAIM_RUNTIME_QUEUE;
}

void make_config(const struct world *world, struct chance *chance, struct config *config)
{
    config_init(config);
    config->staleness_grace = NSEC_PER_MIN;
    config->has[PLUGIN_POD_AFFINITY] = world->theme & THEME_PODS;
    config->has[PLUGIN_NUMA] = world->theme & THEME_NUMA;
    if (!(world->theme & THEME_SETTINGS))
        return;
    make_other_config(chance, config);
    config->has[PLUGIN_TOPOLOGY_SPREAD] = draw(chance, 2);
    config->has[PLUGIN_PREFERRED_NODES] = draw(chance, 2);
    config->has[PLUGIN_SOFT_TAINTS] = draw(chance, 2);
}
