/* SPDX-License-Identifier: Apache-2.0 */

/* The world in words, for whoever looks at a case that failed. */
#include <inttypes.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "world.h"
#include "world_make.h"
#include "world_tables.h"

static const char *index_name(enum world_kind kind, uint32_t i)
{
    return i == NOWHERE ? "-" : world_name(kind, i);
}

static const char *text_or_none(const char *text)
{
    return text ? text : "-";
}

static void print_node(const struct world *world, uint32_t i, struct strbuf *out)
{
    const struct world_node *node = &world->nodes[i];

    strbuf_addf(out, "node %s: %s zone=%s rack=%s pool=%s taints=%u numa=%u few=%d troubles=%u\n",
                world_name(KIND_NODE, i), node_shapes[node->shape].name, text_or_none(zone_text(node->zone)),
                text_or_none(rack_text(node->rack)), text_or_none(pool_text(node->pool)), node->taints, node->numa,
                node->has_few_pods, node->troubles);
}

static void print_queue(const struct world *world, uint32_t i, struct strbuf *out)
{
    const struct world_queue *queue = &world->queues[i];

    strbuf_addf(out, "queue %s: parent=%s%s priority=%d created=+%" PRId64 " runtimes=%" PRId64 "/%" PRId64,
                world_name(KIND_QUEUE, i), index_name(KIND_QUEUE, queue->parent), queue->is_parent_lost ? " lost" : "",
                queue->priority, queue->created % NSEC_PER_HOUR / NSEC_PER_SEC, queue->preempt_min_runtime,
                queue->reclaim_min_runtime);
    for (int r = 0; r < SHARE_COUNT; r++)
        strbuf_addf(out, " %s quota=%g limit=%g weight=%g usage=%g",
                    r == SHARE_CPU   ? "cpu"
                    : r == SHARE_GPU ? "gpu"
                                     : "mem",
                    queue->deserved[r], queue->limit[r], queue->weight[r], queue->usage[r]);
    strbuf_addch(out, '\n');
}

static void print_gang(const struct world *world, uint32_t i, struct strbuf *out)
{
    const struct world_gang *gang = &world->gangs[i];

    strbuf_addf(out, "gang %s/%s: queue=%s priority=%d %s tree=%u mins=", world_namespace(KIND_GANG, i),
                world_name(KIND_GANG, i), index_name(KIND_QUEUE, gang->queue), gang->priority,
                gang->is_preemptible ? "preemptible" : "fixed", gang->tree);
    for (uint32_t g = 0; g < tree_shapes[gang->tree].count; g++)
        strbuf_addf(out, "%u,", gang->mins[g]);
    strbuf_addf(out,
                " place=%u delay=%" PRId64 " grace=%d/%" PRId64 " created=%" PRId64 " start=%" PRId64
                " eviction=%" PRId64 " stale=%" PRId64 "\n",
                gang->place, gang->preemption_delay / NSEC_PER_SEC, gang->has_grace, gang->grace / NSEC_PER_SEC,
                (gang->created - world->now) / NSEC_PER_SEC,
                gang->last_start ? (gang->last_start - world->now) / NSEC_PER_SEC : 0,
                gang->last_eviction ? (gang->last_eviction - world->now) / NSEC_PER_SEC : 0,
                gang->stale_since ? (gang->stale_since - world->now) / NSEC_PER_SEC : 0);
}

static void print_pod(const struct world *world, uint32_t i, struct strbuf *out)
{
    const struct world_pod *pod = &world->pods[i];

    strbuf_addf(out,
                "pod %s/%s: gang=%s set=%u %s %s node=%s nominated=%s rules=%u,%u app=%s created=%" PRId64 " uid=%s",
                world_namespace(KIND_POD, i), world_name(KIND_POD, i), index_name(KIND_GANG, pod->gang), pod->set,
                request_shapes[pod->request].name, pod_status_name(pod->status), index_name(KIND_NODE, pod->node),
                index_name(KIND_NODE, pod->nominated), pod->rules[0], pod->rules[1], text_or_none(app_text(pod->app)),
                (pod->created - world->now) / NSEC_PER_SEC, world_uid(world, i));
    if (pod->roles || pod->has_task_priority || pod->is_foreign || pod->is_reservation)
        strbuf_addf(out, " roles=%u task=%d/%d foreign=%d reservation=%d", pod->roles, pod->has_task_priority,
                    pod->task_priority, pod->is_foreign, pod->is_reservation);
    for (uint32_t g = 0; g < pod->group_count; g++)
        strbuf_addf(out, " %s%u", gpu_group_is_fresh(pod->groups[g]) ? "#" : "gpu", (unsigned)pod->groups[g]);
    for (uint32_t d = 0; d < pod->draw_count; d++)
        strbuf_addf(out, " %s:%s:%" PRId64, pod->draws[d].zone, pod->draws[d].resource, pod->draws[d].amount);
    for (uint32_t c = 0; c < pod->claim_count; c++)
        strbuf_addf(out, " claim=%s%s", world_name(KIND_CLAIM, pod->claims[c]), pod->is_claim_shared ? "(shared)" : "");
    strbuf_addch(out, '\n');
}

static void print_claim(const struct world *world, uint32_t i, struct strbuf *out)
{
    const struct world_claim *claim = &world->claims[i];

    strbuf_addf(out, "claim %s/%s: class=%u count=%u queue=%s synthetic=%d allocated=%d",
                world_namespace(KIND_CLAIM, i), world_name(KIND_CLAIM, i), claim->class, claim->count,
                index_name(KIND_QUEUE, claim->queue), claim->is_synthetic, claim->is_allocated);
    for (uint32_t d = 0; claim->is_allocated && d < claim->device_count; d++)
        strbuf_addf(out, " %s/%s", claim->devices[d].pool, claim->devices[d].name);
    for (uint32_t p = 0; p < WORLD_PODS; p++)
        if (claim->reserved[p / 64] >> p % 64 & 1)
            strbuf_addf(out, " for %s", world_uid(world, p));
    strbuf_addch(out, '\n');
}

static void print_few(const struct world *world, struct strbuf *out)
{
    for (uint32_t i = 0; i < WORLD_SLICES; i++)
        if (world->slices[i].is_present)
            strbuf_addf(out, "slice %s: class=%u any=%d node=%s count=%u\n", world_name(KIND_SLICE, i),
                        world->slices[i].class, world->slices[i].is_for_any_class,
                        index_name(KIND_NODE, world->slices[i].node), world->slices[i].count);
    for (uint32_t i = 0; i < WORLD_VOLUMES; i++)
        if (world->volumes[i].is_present)
            strbuf_addf(out, "volume %s/%s: bound=%d lost=%d waits=%d zone=%u\n", world_namespace(KIND_VOLUME, i),
                        world_name(KIND_VOLUME, i), world->volumes[i].is_bound, world->volumes[i].is_lost,
                        world->volumes[i].waits, world->volumes[i].zone);
    strbuf_addf(out, "maps=%d,%d topologies=%d,%d classes=%d,%d theme=%x\n", world->has_map[0], world->has_map[1],
                world->has_topology[0], world->has_topology[1], world->has_class[0], world->has_class[1], world->theme);
}

void world_print(const struct world *world, struct strbuf *out)
{
    static void (*const prints[])(const struct world *, uint32_t, struct strbuf *) = {
        [KIND_NODE] = print_node, [KIND_QUEUE] = print_queue, [KIND_GANG] = print_gang,
        [KIND_POD] = print_pod,   [KIND_CLAIM] = print_claim,
    };

    for (enum world_kind kind = 0; kind < ARRAY_LEN(prints); kind++)
        for (uint32_t i = 0; i < world_count(kind); i++)
            if (world_is_present(world, kind, i))
                prints[kind](world, i, out);
    print_few(world, out);
}
