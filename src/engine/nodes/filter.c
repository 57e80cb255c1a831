/* SPDX-License-Identifier: Apache-2.0 */

/* The table of filters, and those that are a few lines each. */
#include "engine/nodes/filter.h"

#include <math.h>

#include "base/macros.h"
#include "engine/context.h"
#include "engine/node_reason.h"
#include "engine/nodes/filter_internal.h"
#include "engine/nodes/fit.h"
#include "engine/queues/share.h"

static const struct node *node_of(const struct engine *engine, node_id node)
{
    return &engine->state->nodes.items[node];
}

/* What the pod costs its queues on this very node: a share of GPU memory depends on the GPUs' size. */
static bool ask_queues(struct engine *engine, pod_id pod, node_id node, struct verdict *ret_over)
{
    const struct state *state = engine->state;
    const struct request *request = state_request(state, pod);
    const struct node *n = node_of(engine, node);
    double asked[SHARE_COUNT] = {(double)request->v[RES_CPU], (double)request->v[RES_MEMORY], 0};

    if (request->kind == REQUEST_MIG) {
        asked[SHARE_GPU] = gpu_to_double(request->quota_gpus);
    } else if (request->kind == REQUEST_REGULAR) {
        asked[SHARE_GPU] = gpu_to_double(request->gpus);
    } else {
        double part = (double)request_memory_on(request, n) / (double)n->gpu_memory_mib;
        asked[SHARE_GPU] = request->devices * ceil(part * 100) / 100;
    }
    return capacity_allows(engine, &state->gangs.items[state->pods.items[pod].gang], asked, ret_over);
}

static bool capacity_on_node(struct engine *engine, pod_id pod, node_id node)
{
    return ask_queues(engine, pod, node, NULL);
}

static void capacity_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena,
                            struct node_reason *ret)
{
    (void)arena;
    ret->over = (struct verdict){.pod = pod, .queue = NO_ID};
    (void)ask_queues(engine, pod, node, &ret->over);
}

/* A pod that opens a GPU for sharing brings a reservation pod along, unless all it joins are known by numbers. */
static bool pod_slots(struct engine *engine, pod_id pod, node_id node)
{
    struct books books = state_books(engine->state, node);
    int64_t free = books.idle[RES_PODS] + books.releasing[RES_PODS];

    if (!request_is_shared(state_request(engine->state, pod)))
        return free > 0;
    if (free >= 2)
        return true;
    bool waits;
    bool only_numbered;
    bool found = gpu_pick(engine, pod, node, false, NULL, &waits, &only_numbered);
    if (!found || waits)
        found = gpu_pick(engine, pod, node, true, NULL, &waits, &only_numbered);
    return found && only_numbered;
}

static bool has_spread(const struct engine *engine, const struct request *request,
                       const struct constraints *constraints)
{
    (void)engine;
    (void)request;
    return constraints->spread_count > 0;
}

static bool has_volumes(const struct engine *engine, const struct request *request,
                        const struct constraints *constraints)
{
    (void)engine;
    (void)request;
    return constraints->volume_claim_count > 0;
}

static bool has_numa_nodes(const struct engine *engine, const struct request *request,
                           const struct constraints *constraints)
{
    (void)request;
    (void)constraints;
    return engine->state->has_numa;
}

static bool has_no_affinity(const struct engine *engine, const struct request *request,
                            const struct constraints *constraints)
{
    (void)request;
    return engine->state->affine_pods == 0 && constraints->affinity_count == 0 && constraints->anti_affinity_count == 0;
}

static bool has_no_claims(const struct engine *engine, const struct request *request,
                          const struct constraints *constraints)
{
    (void)engine;
    (void)constraints;
    return request->dra_gpus == 0;
}

/* Asked in this order. Only queues without limits are rehearsed (search_rehearsal.c): capacity then never says no. */
static const struct filter rows[] = {
    {
        .name = "queue-capacity",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_CLUSTER,
        .passes = capacity_on_node,
        .text = "node does not have enough capacity",
        .named_text = "node does not have enough capacity. {over}",
        .reason = capacity_reason,
        .rehearsal = {.is_rehearsed = true},
    },
    {
        .name = "legacy-mig",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_STATIC,
        .applies = uses_gpus,
        .passes = no_legacy_mig,
        .text = "Legacy MIG jobs cannot be scheduled",
        .named_text = "Legacy MIG jobs cannot be scheduled on node {node}",
        .problem = "MIG requested by annotation, which is no longer supported",
        .rehearsal = {.pod = is_not_legacy_mig},
    },
    {
        .name = "no-shares-on-dra",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_STATIC,
        .applies = uses_gpus,
        .passes = no_shares_on_dra,
        .text = "fractional/shared GPU pods are not yet supported on DRA-only nodes",
        .problem = "GPU fraction requested, but GPUs are dynamic resources",
        .rehearsal = {.node = has_no_dra_gpus},
    },
    {
        .name = "mig-node",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_STATIC,
        .applies = uses_gpus,
        .passes = mig_on_mig_nodes,
        .text = "MIG job cannot be scheduled on non-MIG node",
        .problem = "MIG slices requested, but MIG is not enabled",
        .rehearsal = {.pod = asks_for_no_mig},
    },
    {
        .name = "mig-beside-legacy",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_BOOKS,
        .applies = uses_gpus,
        .passes = mig_without_legacy,
        .text = "MIG job cannot be scheduled on node with legacy MIG jobs",
        .named_text = "MIG job cannot be scheduled on node with legacy MIG jobs: <[{pods}]>",
        .reason = legacy_mig_reason,
        .problem = "pods run there that requested MIG by annotation",
        .rehearsal = {.node = has_no_legacy_mig},
    },
    {
        .name = "mig-single",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_STATIC,
        .applies = uses_gpus,
        .passes = mig_single_passes,
        .text = "only whole gpu jobs can run on a node with MigStrategy='single'",
        .problem = "MIG strategy single takes whole GPUs only",
        .rehearsal = {.node = has_no_mig},
    },
    {
        .name = "mig-mixed",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_STATIC,
        .applies = uses_gpus,
        .passes = mig_mixed_passes,
        .text = "non MIG jobs cant run on a node with MigStrategy='mixed'",
        .problem = "MIG strategy mixed takes MIG slices only",
        .rehearsal = {.node = has_no_mig},
    },
    {
        .name = "gpu-memory-known",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_STATIC,
        .applies = asks_for_gpu_memory,
        .passes = gpu_memory_known,
        .text = "node is not a gpu node or the gpu memory count on the node was not synced yet",
        .named_text = "node is not a gpu node or the gpu memory count on the node was not synced yet, task: <{pod}>, "
                      "node: <{node}>",
        .problem = "GPU memory size not known",
    },
    {
        .name = "pod-slots",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_BOOKS,
        .passes = pod_slots,
        .text = "node(s) pod number exceeded",
        .problem = "no free pod slot",
        .rehearsal = {.is_rehearsed = true},
    },
    {
        .name = "node-conditions",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_STATIC,
        .passes = node_is_ready,
        .text = "node is unschedulable",
        .reason = trouble_reason,
        .problem = "node not schedulable",
        .detail = name_troubles,
        .rehearsal = {.node = has_no_trouble},
    },
    {
        .name = "host-ports",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_CLUSTER,
        .applies = has_ports,
        .passes = ports_free,
        .text = "node(s) didn't have free ports for the requested pod ports",
        .problem = "host port in use",
    },
    {
        .name = "taints",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_STATIC,
        .passes = taints_pass,
        .text = "node(s) had untolerated taint(s)",
        .problem = "taint not tolerated",
        .detail = name_taint,
        .rehearsal = {.node = has_no_taints},
    },
    {
        .name = "node-affinity",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_STATIC,
        .applies = has_node_rules,
        .passes = node_affinity_passes,
        .text = "node(s) didn't match Pod's node affinity/selector",
        .problem = "node selector or node affinity not met",
        .detail = name_selector,
    },
    {
        .name = "pod-affinity",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_CLUSTER,
        .passes = affinity_passes,
        .text = "node(s) didn't match pod affinity rules",
        .reason = affinity_reason,
        .problem = "pod affinity or anti-affinity not met",
        .rehearsal = {.pod = has_no_affinity},
    },
    {
        .name = "volumes",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_CLUSTER,
        .applies = has_volumes,
        .passes = volumes_pass,
        .text = "node(s) didn't match PersistentVolume's node affinity",
        .reason = volumes_reason,
        .problem = "volume not reachable",
        .detail = name_volume_problem,
    },
    {
        .name = "volume-use",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_CLUSTER,
        .applies = has_volumes,
        .passes = volumes_unused,
        .text = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
        .reason = volume_use_reason,
        .problem = "volume for one pod alone (ReadWriteOncePod) in use",
        .detail = name_volume_user,
    },
    {
        .name = "volume-limits",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_CLUSTER,
        .applies = has_volumes,
        .passes = volumes_within_limits,
        .text = "node(s) exceed max volume count",
        .reason = attach_limit_reason,
        .problem = "no more volumes can be attached",
        .detail = name_attach_limit,
    },
    {
        .name = "worker-type",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_STATIC,
        .applies = workers_are_apart,
        .passes = worker_type_passes,
        .text = "task can't run on a node of the other worker type",
        .reason = worker_type_reason,
        .problem = "not a worker node for this kind of pod",
    },
    {
        .name = "topology-spread",
        .plugin = PLUGIN_TOPOLOGY_SPREAD,
        .scope = FILTER_CLUSTER,
        .applies = has_spread,
        .passes = spread_passes,
        .text = "node(s) didn't match pod topology spread constraints",
        .problem = "topology spread constraint not met",
    },
    {
        .name = "claims",
        .plugin = PLUGIN_DYNAMIC_RESOURCES,
        .scope = FILTER_CLUSTER,
        .passes = claims_pass,
        .text = "cannot allocate all DRA claims",
        .named_text = "cannot allocate all DRA claims on node {node}",
        .reason = claims_reason,
        .problem = "resource claim cannot be allocated",
        .detail = name_claim_problem,
        .rehearsal = {.pod = has_no_claims},
    },
    {
        .name = "numa",
        .plugin = PLUGIN_NUMA,
        .scope = FILTER_CLUSTER,
        .applies = has_numa_nodes,
        .passes = numa_passes,
        .text = "node cannot NUMA-align the pod's resources under its Topology Manager policy",
        .problem = "NUMA alignment not possible",
    },
};
const struct filter_table standard_filters = {rows, ARRAY_LEN(rows)};

bool filters_pass(struct engine *engine, pod_id pod, node_id node, enum filter_scope scope)
{
    const struct request *request = state_request(engine->state, pod);
    const struct constraints *constraints = state_constraints(engine->state, pod);
    const struct filter *end = engine->filters.rows + engine->filters.count;

    for (const struct filter *filter = engine->filters.rows; filter < end; filter++) {
        if (filter->scope != scope || !engine_has(engine, filter->plugin))
            continue;
        if (filter->applies && !filter->applies(engine, request, constraints))
            continue;
        if (!filter->passes(engine, pod, node))
            return false;
    }
    return true;
}
