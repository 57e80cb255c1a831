/* SPDX-License-Identifier: Apache-2.0 */

/* The table of filters, and those that are a few lines each. */
#include "engine/nodes/filter.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/strbuf.h"
#include "engine/context.h"
#include "engine/node_reason.h"
#include "engine/nodes/fit.h"
#include "engine/nodes/taints_internal.h"
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

static bool uses_gpus(const struct engine *engine, const struct request *request, const struct constraints *constraints)
{
    (void)engine;
    (void)constraints;
    return !request->is_cpu_only || request->is_legacy_mig;
}

static bool no_legacy_mig(struct engine *engine, pod_id pod, node_id node)
{
    (void)node;
    return !state_request(engine->state, pod)->is_legacy_mig;
}

static bool is_not_legacy_mig(const struct engine *engine, const struct request *request,
                              const struct constraints *constraints)
{
    (void)engine;
    (void)constraints;
    return !request->is_legacy_mig;
}

static bool no_shares_on_dra(struct engine *engine, pod_id pod, node_id node)
{
    return !(request_is_shared(state_request(engine->state, pod)) && node_of(engine, node)->has_dra_gpus);
}

static bool has_no_dra_gpus(const struct node *node)
{
    return !node->has_dra_gpus;
}

static bool mig_on_mig_nodes(struct engine *engine, pod_id pod, node_id node)
{
    return state_request(engine->state, pod)->kind != REQUEST_MIG || node_of(engine, node)->is_mig_enabled;
}

static bool asks_for_no_mig(const struct engine *engine, const struct request *request,
                            const struct constraints *constraints)
{
    (void)engine;
    (void)constraints;
    return request->kind != REQUEST_MIG;
}

static bool mig_single(struct engine *engine, pod_id pod, node_id node)
{
    const struct node *n = node_of(engine, node);
    const struct request *request = state_request(engine->state, pod);

    return request->is_cpu_only || !n->is_mig_enabled || n->mig_strategy != MIG_SINGLE ||
           request->kind == REQUEST_REGULAR;
}

static bool mig_mixed(struct engine *engine, pod_id pod, node_id node)
{
    const struct node *n = node_of(engine, node);
    const struct request *request = state_request(engine->state, pod);

    return request->is_cpu_only || !n->is_mig_enabled || n->mig_strategy != MIG_MIXED || request->kind == REQUEST_MIG;
}

static bool has_no_mig(const struct node *node)
{
    return !node->is_mig_enabled;
}

static bool mig_without_legacy(struct engine *engine, pod_id pod, node_id node)
{
    return state_request(engine->state, pod)->kind != REQUEST_MIG || node_of(engine, node)->legacy_mig_pods == 0;
}

static bool has_no_legacy_mig(const struct node *node)
{
    return node->legacy_mig_pods == 0;
}

static void legacy_mig_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena,
                              struct node_reason *ret)
{
    const struct state *state = engine->state;
    const struct node *n = node_of(engine, node);
    uint32_t held = 0;

    (void)pod;
    for (uint32_t h = n->first_held; h != NO_ID; h = state_held(state, h)->next)
        held++;
    pod_id *pods = arena_alloc(arena, (size_t)held * sizeof *pods);
    for (uint32_t h = n->first_held; h != NO_ID; h = state_held(state, h)->next) {
        if (state_request(state, state_held(state, h)->pod)->is_legacy_mig)
            pods[ret->pod_count++] = state_held(state, h)->pod;
    }
    ret->pods = pods;
}

static bool asks_for_gpu_memory(const struct engine *engine, const struct request *request,
                                const struct constraints *constraints)
{
    (void)engine;
    (void)constraints;
    return request->kind == REQUEST_GPU_MEMORY;
}

static bool gpu_memory_known(struct engine *engine, pod_id pod, node_id node)
{
    (void)pod;
    return node_of(engine, node)->is_gpu_memory_known;
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

static bool node_is_ready(struct engine *engine, pod_id pod, node_id node)
{
    (void)pod;
    return node_of(engine, node)->troubles == 0;
}

static void name_troubles(struct engine *engine, pod_id pod, node_id node, struct strbuf *out)
{
    static const struct {
        uint32_t trouble;
        const char *word;
    } words[] = {
        {NODE_UNSCHEDULABLE, "cordoned"},          {NODE_NOT_READY, "not ready"},
        {NODE_MEMORY_PRESSURE, "memory pressure"}, {NODE_DISK_PRESSURE, "disk pressure"},
        {NODE_PID_PRESSURE, "PID pressure"},       {NODE_NETWORK_UNAVAILABLE, "network not available"},
    };

    (void)pod;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (node_of(engine, node)->troubles & words[i].trouble)
            strbuf_addf(out, "%s%s", *out->text ? ", " : "", words[i].word);
    }
}

static bool has_no_trouble(const struct node *node)
{
    return node->troubles == 0;
}

static void trouble_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena,
                           struct node_reason *ret)
{
    static const struct {
        enum node_trouble trouble;
        const char *text;
    } rows[] = {
        {NODE_UNSCHEDULABLE, "node is unschedulable"},
        {NODE_NOT_READY, "node has NotReady condition"},
        {NODE_MEMORY_PRESSURE, "node has MemoryPressure condition"},
        {NODE_DISK_PRESSURE, "node has DiskPressure condition"},
        {NODE_PID_PRESSURE, "node has PIDPressure condition"},
        {NODE_NETWORK_UNAVAILABLE, "node has NetworkUnavailable condition"},
    };
    _Static_assert(ARRAY_LEN(rows) <= NODE_REASON_TEXTS_MAX, "a node may have every trouble");

    (void)pod;
    (void)arena;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (node_of(engine, node)->troubles & rows[i].trouble)
            ret->texts[ret->text_count++] = rows[i].text;
    }
}

static bool has_ports(const struct engine *engine, const struct request *request, const struct constraints *constraints)
{
    (void)engine;
    (void)request;
    return constraints->port_count > 0;
}

static bool ports_collide(const struct host_port *a, const struct host_port *b)
{
    return a->port == b->port && a->protocol == b->protocol &&
           (a->address == b->address || a->address == 0 || b->address == 0);
}

static bool ports_free(struct engine *engine, pod_id pod, node_id node)
{
    const struct state *state = engine->state;
    const struct constraints *mine = state_constraints(state, pod);

    for (uint32_t h = node_of(engine, node)->first_held; h != NO_ID; h = state_held(state, h)->next) {
        const struct constraints *other = state_constraints(state, state_held(state, h)->pod);
        if (state_held(state, h)->pod == pod)
            continue;
        for (uint32_t i = 0; i < mine->port_count; i++) {
            for (uint32_t k = 0; k < other->port_count; k++) {
                if (ports_collide(&mine->ports[i], &other->ports[k]))
                    return false;
            }
        }
    }
    return true;
}

static bool taints(struct engine *engine, pod_id pod, node_id node)
{
    const struct constraints *constraints = state_constraints(engine->state, pod);
    const struct node *n = node_of(engine, node);

    return taints_tolerated(n, constraints, TAINT_NO_SCHEDULE) && taints_tolerated(n, constraints, TAINT_NO_EXECUTE);
}

static void name_taint(struct engine *engine, pod_id pod, node_id node, struct strbuf *out)
{
    const struct state *state = engine->state;
    const struct taint *taint = taints_first_untolerated(node_of(engine, node), state_constraints(state, pod));

    if (!taint)
        return;
    strbuf_addstr(out, state_name(state, taint->key));
    if (taint->value != 0)
        strbuf_addf(out, "=%s", state_name(state, taint->value));
    strbuf_addstr(out, taint->effect == TAINT_NO_EXECUTE ? ":NoExecute" : ":NoSchedule");
}

static bool has_no_taints(const struct node *node)
{
    return node->taint_count == 0;
}

static bool limits_nodes(const struct engine *engine, const struct request *request,
                         const struct constraints *constraints)
{
    (void)engine;
    (void)request;
    return constraints_limit_nodes(constraints);
}

static bool node_affinity(struct engine *engine, pod_id pod, node_id node)
{
    const struct state *state = engine->state;
    const struct constraints *c = state_constraints(state, pod);
    const struct node *n = node_of(engine, node);
    struct labels labels = state_labels(state, n->labels);

    for (uint32_t i = 0; i < c->node_selector_count; i++) {
        if (labels_get(labels, c->node_selector[i].key) != c->node_selector[i].value)
            return false;
    }
    bool matches = c->node_term_count == 0;
    for (uint32_t i = 0; i < c->node_term_count && !matches; i++)
        matches = selector_matches(state, c->node_terms[i], labels, n->name);
    return matches;
}

/* The labels of the selector that the node does not have; what its affinity wants is too much for a line. */
static void name_selector(struct engine *engine, pod_id pod, node_id node, struct strbuf *out)
{
    const struct state *state = engine->state;
    const struct constraints *c = state_constraints(state, pod);
    struct labels labels = state_labels(state, node_of(engine, node)->labels);

    for (uint32_t i = 0; i < c->node_selector_count; i++) {
        if (labels_get(labels, c->node_selector[i].key) != c->node_selector[i].value)
            strbuf_addf(out, "%s%s=%s", *out->text ? ", " : "", state_name(state, c->node_selector[i].key),
                        state_name(state, c->node_selector[i].value));
    }
    if (!*out->text)
        strbuf_addstr(out, "required node affinity");
}

static bool restricts_nodes(const struct engine *engine, const struct request *request,
                            const struct constraints *constraints)
{
    (void)request;
    (void)constraints;
    return engine->config.restricts_nodes;
}

static bool worker_type(struct engine *engine, pod_id pod, node_id node)
{
    bool is_cpu_only = state_request(engine->state, pod)->is_cpu_only;

    return (node_of(engine, node)->workers & (is_cpu_only ? WORKER_CPU : WORKER_GPU)) != 0;
}

static void worker_type_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena,
                               struct node_reason *ret)
{
    (void)node;
    (void)arena;
    ret->texts[ret->text_count++] = state_request(engine->state, pod)->is_cpu_only
                                        ? "cpu task: <{pod}> can't run on non cpu nodes, node: <{node}>"
                                        : "gpu task: <{pod}> can't run on non gpu nodes, node: <{node}>";
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
        .passes = mig_single,
        .text = "only whole gpu jobs can run on a node with MigStrategy='single'",
        .problem = "MIG strategy single takes whole GPUs only",
        .rehearsal = {.node = has_no_mig},
    },
    {
        .name = "mig-mixed",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_STATIC,
        .applies = uses_gpus,
        .passes = mig_mixed,
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
        .passes = taints,
        .text = "node(s) had untolerated taint(s)",
        .problem = "taint not tolerated",
        .detail = name_taint,
        .rehearsal = {.node = has_no_taints},
    },
    {
        .name = "node-affinity",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_STATIC,
        .applies = limits_nodes,
        .passes = node_affinity,
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
        .problem = "volume not reachable",
    },
    {
        .name = "worker-type",
        .plugin = PLUGIN_PREDICATES,
        .scope = FILTER_STATIC,
        .applies = restricts_nodes,
        .passes = worker_type,
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
