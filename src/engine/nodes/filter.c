/* SPDX-License-Identifier: Apache-2.0 */

/* The table of filters, and those that are a few lines each. */
#include "engine/nodes/filter.h"

#include <math.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "engine/context.h"
#include "engine/nodes/fit.h"
#include "engine/nodes/taints_internal.h"
#include "engine/queues/share.h"

static const struct node *node_of(const struct engine *engine, node_id node)
{
    return &engine->state->nodes.items[node];
}

/* The pod's queues may take on what it costs on this very node: a share of GPU memory depends on the GPUs' size. */
static bool capacity_on_node(struct engine *engine, pod_id pod, node_id node)
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
    return capacity_allows(engine, &state->gangs.items[state->pods.items[pod].gang], asked, NULL);
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

static bool no_shares_on_dra(struct engine *engine, pod_id pod, node_id node)
{
    return !(request_is_shared(state_request(engine->state, pod)) && node_of(engine, node)->has_dra_gpus);
}

static bool mig_on_mig_nodes(struct engine *engine, pod_id pod, node_id node)
{
    return state_request(engine->state, pod)->kind != REQUEST_MIG || node_of(engine, node)->is_mig_enabled;
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

static bool mig_without_legacy(struct engine *engine, pod_id pod, node_id node)
{
    return state_request(engine->state, pod)->kind != REQUEST_MIG || node_of(engine, node)->legacy_mig_pods == 0;
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

const struct filter filters[] = {
    {"queue-capacity", PLUGIN_PREDICATES, FILTER_CLUSTER, NULL, capacity_on_node, "node does not have enough capacity",
     NULL, NULL},
    {"legacy-mig", PLUGIN_PREDICATES, FILTER_STATIC, uses_gpus, no_legacy_mig, "Legacy MIG jobs cannot be scheduled",
     "MIG requested by annotation, which is no longer supported", NULL},
    {"no-shares-on-dra", PLUGIN_PREDICATES, FILTER_STATIC, uses_gpus, no_shares_on_dra,
     "fractional/shared GPU pods are not yet supported on DRA-only nodes",
     "GPU fraction requested, but GPUs are dynamic resources", NULL},
    {"mig-node", PLUGIN_PREDICATES, FILTER_STATIC, uses_gpus, mig_on_mig_nodes,
     "MIG job cannot be scheduled on non-MIG node", "MIG slices requested, but MIG is not enabled", NULL},
    {"mig-beside-legacy", PLUGIN_PREDICATES, FILTER_BOOKS, uses_gpus, mig_without_legacy,
     "MIG job cannot be scheduled on node with legacy MIG jobs", "pods run there that requested MIG by annotation",
     NULL},
    {"mig-single", PLUGIN_PREDICATES, FILTER_STATIC, uses_gpus, mig_single,
     "only whole gpu jobs can run on a node with MigStrategy='single'", "MIG strategy single takes whole GPUs only",
     NULL},
    {"mig-mixed", PLUGIN_PREDICATES, FILTER_STATIC, uses_gpus, mig_mixed,
     "non MIG jobs cant run on a node with MigStrategy='mixed'", "MIG strategy mixed takes MIG slices only", NULL},
    {"gpu-memory-known", PLUGIN_PREDICATES, FILTER_STATIC, asks_for_gpu_memory, gpu_memory_known,
     "node is not a gpu node or the gpu memory count on the node was not synced yet", "GPU memory size not known",
     NULL},
    {"pod-slots", PLUGIN_PREDICATES, FILTER_BOOKS, NULL, pod_slots, "node(s) pod number exceeded", "no free pod slot",
     NULL},
    {"node-conditions", PLUGIN_PREDICATES, FILTER_STATIC, NULL, node_is_ready, "node is unschedulable",
     "node not schedulable", name_troubles},
    {"host-ports", PLUGIN_PREDICATES, FILTER_CLUSTER, has_ports, ports_free,
     "node(s) didn't have free ports for the requested pod ports", "host port in use", NULL},
    {"taints", PLUGIN_PREDICATES, FILTER_STATIC, NULL, taints, "node(s) had untolerated taint(s)",
     "taint not tolerated", name_taint},
    {"node-affinity", PLUGIN_PREDICATES, FILTER_STATIC, limits_nodes, node_affinity,
     "node(s) didn't match Pod's node affinity/selector", "node selector or node affinity not met", name_selector},
    {"pod-affinity", PLUGIN_PREDICATES, FILTER_CLUSTER, NULL, affinity_passes,
     "node(s) didn't match pod affinity rules", "pod affinity or anti-affinity not met", NULL},
    {"volumes", PLUGIN_PREDICATES, FILTER_CLUSTER, has_volumes, volumes_pass,
     "node(s) didn't match PersistentVolume's node affinity", "volume not reachable", NULL},
    {"worker-type", PLUGIN_PREDICATES, FILTER_STATIC, restricts_nodes, worker_type,
     "task can't run on a node of the other worker type", "not a worker for such pods", NULL},
    {"topology-spread", PLUGIN_TOPOLOGY_SPREAD, FILTER_CLUSTER, has_spread, spread_passes,
     "node(s) didn't match pod topology spread constraints", "topology spread constraint not met", NULL},
    {"claims", PLUGIN_DYNAMIC_RESOURCES, FILTER_CLUSTER, NULL, claims_pass, "cannot allocate all DRA claims",
     "resource claim cannot be allocated", NULL},
    {"numa", PLUGIN_NUMA, FILTER_CLUSTER, has_numa_nodes, numa_passes,
     "node cannot NUMA-align the pod's resources under its Topology Manager policy", "NUMA alignment not possible",
     NULL},
};
const uint32_t filter_count = ARRAY_LEN(filters);

bool filters_pass(struct engine *engine, pod_id pod, node_id node, enum filter_scope scope)
{
    const struct request *request = state_request(engine->state, pod);
    const struct constraints *constraints = state_constraints(engine->state, pod);

    for (uint32_t i = 0; i < filter_count; i++) {
        const struct filter *filter = &filters[i];
        if (filter->scope != scope || !engine_has(engine, filter->plugin))
            continue;
        if (filter->applies && !filter->applies(engine, request, constraints))
            continue;
        if (!filter->passes(engine, pod, node))
            return false;
    }
    return true;
}
