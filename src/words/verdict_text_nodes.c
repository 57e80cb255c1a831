/* SPDX-License-Identifier: Apache-2.0 */

/* The words for each test that a node can fail. */
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "engine/context.h"
#include "words/verdict_text_internal.h"

static const struct state *state_of(const struct reasons *r)
{
    return r->text->engine->state;
}

const char *reasons_node(const struct reasons *r)
{
    return state_name(state_of(r), state_of(r)->nodes.items[r->node->node].name);
}

static void give(struct reasons *r)
{
    r->add(r->context, r->reason->text);
    strbuf_clear(r->reason);
}

static void give_text(struct reasons *r, const char *text)
{
    strbuf_addstr(r->reason, text);
    give(r);
}

/* Resources as KAI calls them; others and MIG profiles by their own names. */
static const char *resource_text(const struct state *state, uint32_t dim)
{
    static const char *const names[] = {[RES_CPU] = "CPU cores", [RES_MEMORY] = "memory", [RES_GPU] = "GPUs"};

    return dim < ARRAY_LEN(names) ? names[dim] : state_name(state, state->res.name[dim]);
}

uint32_t text_nth_dim(uint32_t i)
{
    static const uint32_t first[] = {RES_GPU, RES_CPU, RES_MEMORY};

    return i < ARRAY_LEN(first) ? first[i] : i;
}

static void give_lacks(struct reasons *r)
{
    const struct state *state = state_of(r);

    for (uint32_t i = 0; i < state->res.count; i++) {
        uint32_t dim = text_nth_dim(i);
        bool is_mig = state->res.mig_slices[dim] > 0;

        if (r->node->lacks & UINT64_C(1) << dim) {
            strbuf_addf(r->reason, "node(s) didn't have enough %s: %s", is_mig ? "of mig profile" : "resources",
                        resource_text(state, dim));
            give(r);
        }
        if (dim == RES_GPU && r->node->lacks_gpu_memory)
            give_text(r, "node(s) didn't have enough resources: GPU memory");
    }
}

static void give_over(struct reasons *r)
{
    const struct verdict *over = &r->text->explanation->over[r->node->over];

    strbuf_addf(r->reason, "node does not have enough capacity. Reason: %s, Details: ", over_reason(over));
    add_over(r->reason, state_of(r), over);
    give(r);
}

static void give_legacy_mig(struct reasons *r)
{
    strbuf_addf(r->reason, "Legacy MIG jobs cannot be scheduled on node %s", reasons_node(r));
    give(r);
}

static void give_beside_legacy(struct reasons *r)
{
    const struct state *state = state_of(r);
    bool is_first = true;

    strbuf_addstr(r->reason, "MIG job cannot be scheduled on node with legacy MIG jobs: <[");
    for (uint32_t h = state->nodes.items[r->node->node].first_held; h != NO_ID; h = state_held(state, h)->next) {
        if (!state_request(state, state_held(state, h)->pod)->is_legacy_mig)
            continue;
        if (!is_first)
            strbuf_addch(r->reason, ' ');
        add_pod_name(r->reason, state, state_held(state, h)->pod);
        is_first = false;
    }
    strbuf_addstr(r->reason, "]>");
    give(r);
}

static void give_memory_unknown(struct reasons *r)
{
    strbuf_addstr(r->reason, "node is not a gpu node or the gpu memory count on the node was not synced yet, task: <");
    add_pod_name(r->reason, state_of(r), r->text->explanation->pod);
    strbuf_addf(r->reason, ">, node: <%s>", reasons_node(r));
    give(r);
}

static void give_conditions(struct reasons *r)
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

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (state_of(r)->nodes.items[r->node->node].troubles & rows[i].trouble)
            give_text(r, rows[i].text);
    }
}

static void give_affinity(struct reasons *r)
{
    static const char *const texts[] = {
        [RULE_NONE] = "node(s) didn't match pod affinity rules",
        [RULE_AFFINITY] = "node(s) didn't match pod affinity rules",
        [RULE_ANTI_AFFINITY] = "node(s) didn't match pod anti-affinity rules",
        [RULE_OTHERS_ANTI_AFFINITY] = "node(s) didn't satisfy existing pods anti-affinity rules",
    };

    give_text(r, texts[r->node->rule]);
}

static void give_worker_type(struct reasons *r)
{
    const char *kind = state_request(state_of(r), r->text->explanation->pod)->is_cpu_only ? "cpu" : "gpu";

    strbuf_addf(r->reason, "%s task: <", kind);
    add_pod_name(r->reason, state_of(r), r->text->explanation->pod);
    strbuf_addf(r->reason, "> can't run on non %s nodes, node: <%s>", kind, reasons_node(r));
    give(r);
}

static void give_claims(struct reasons *r)
{
    const struct state *state = state_of(r);
    const struct pod *pod = &state->pods.items[r->text->explanation->pod];

    if (r->node->claim == NO_ID) {
        strbuf_addf(r->reason, "cannot allocate all DRA claims on node %s", reasons_node(r));
    } else {
        const struct claim *claim = &state->claims.items[pod->claims[r->node->claim].claim];
        strbuf_addf(r->reason, "claim %s/%s node selector does not match node %s", state_name(state, claim->namespace),
                    state_name(state, claim->name), reasons_node(r));
    }
    give(r);
}

/* Tests whose words depend on the pod or the node; the words of all others stand in the table of filters. */
static const struct {
    const char *test;
    void (*give)(struct reasons *r);
} rows[] = {
    {"room", give_lacks},
    {"queue-capacity", give_over},
    {"legacy-mig", give_legacy_mig},
    {"mig-beside-legacy", give_beside_legacy},
    {"gpu-memory-known", give_memory_unknown},
    {"node-conditions", give_conditions},
    {"pod-affinity", give_affinity},
    {"worker-type", give_worker_type},
    {"claims", give_claims},
};

void give_reasons(struct reasons *r)
{
    const struct explained_test *test = &r->text->explanation->tests[r->node->test];

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].test, test->name) == 0) {
            rows[i].give(r);
            return;
        }
    }
    give_text(r, test->text);
}

/* Of several pods only that they do not fit together is said: numbers of one node would mislead. */
static bool reasons_of_many(const struct reasons *r)
{
    const struct gang *gang = &state_of(r)->gangs.items[r->text->explanation->gang];
    uint32_t pods = 0;

    for (uint32_t g = 0; g < gang->group_count; g++)
        pods += gang->groups[g].pods.len;
    return pods > 1;
}

static double unit_of(const struct state *state, uint32_t dim)
{
    return dim == RES_PODS || state->res.mig_slices[dim] > 0 ? 1 : 1000;
}

static void add_gpus_asked(struct strbuf *out, const struct request *request)
{
    if (request_is_shared(request) && request->devices > 1) {
        strbuf_addf(out, "%u X ", request->devices);
        add_short(out, request->portion);
    } else if (request->dra_gpus > 0) {
        add_short(out, gpu_to_double(request->dra_gpus));
        strbuf_addstr(out, " as DRA gpu claims ");
    } else {
        add_short(out, gpu_to_double(request->gpus));
    }
}

/* requested, used and capacity of one resource that is counted in parts. */
static void add_parts(struct reasons *r, const struct request *request, struct books books, uint32_t dim)
{
    const struct state *state = state_of(r);
    double unit = dim == RES_CPU ? CORES : GIGABYTES;

    strbuf_addstr(r->reason, ", requested: ");
    if (dim == RES_GPU) {
        uint32_t shared = 0;
        const struct node *node = &state->nodes.items[r->node->node];

        for (uint32_t g = node->first_shared; g != NO_ID; g = state_shared_gpu(state, g)->next)
            shared += state_shared_gpu(state, g)->used > 0;
        add_gpus_asked(r->reason, request);
        strbuf_addstr(r->reason, ", used: ");
        add_short(r->reason, gpu_to_double(books.used[dim]) + shared);
        strbuf_addstr(r->reason, ", capacity: ");
        add_short(r->reason, gpu_to_double(books.allocatable[dim]));
        return;
    }
    add_decimals(r->reason, (double)request->v[dim] / unit);
    strbuf_addstr(r->reason, ", used: ");
    add_decimals(r->reason, (double)books.used[dim] / unit);
    strbuf_addstr(r->reason, ", capacity: ");
    add_decimals(r->reason, (double)books.allocatable[dim] / unit);
}

static void give_lack_detail(struct reasons *r, const struct request *request, uint32_t dim)
{
    const struct state *state = state_of(r);
    struct books books = state_books(state, r->node->node);

    if (reasons_of_many(r)) {
        strbuf_addf(r->reason, "Node didn't have enough resources: %s, taking all considerations into account",
                    resource_text(state, dim));
    } else if (dim <= RES_GPU) {
        strbuf_addf(r->reason, "Node didn't have enough resources: %s", resource_text(state, dim));
        add_parts(r, request, books, dim);
    } else {
        double unit = unit_of(state, dim);
        strbuf_addf(r->reason, "Node didn't have enough resource: %s, requested: %.0f, used: %.0f, capacity: %.0f",
                    resource_text(state, dim), (double)request->v[dim] / unit, (double)books.used[dim] / unit,
                    (double)books.allocatable[dim] / unit);
    }
    give(r);
}

void give_lack_details(struct reasons *r)
{
    const struct state *state = state_of(r);
    const struct request *request = state_request(state, r->text->explanation->pod);

    for (uint32_t i = 0; i < state->res.count; i++) {
        uint32_t dim = text_nth_dim(i);

        if (r->node->lacks & UINT64_C(1) << dim)
            give_lack_detail(r, request, dim);
        if (dim != RES_GPU || !r->node->lacks_gpu_memory)
            continue;
        if (reasons_of_many(r))
            strbuf_addstr(r->reason,
                          "Node didn't have enough resources: GPU memory, taking all considerations into account");
        else
            strbuf_addf(
                r->reason,
                "Node didn't have enough resources: Each gpu on the node has a gpu memory capacity of %lld Mib. "
                "%lld Mib of gpu memory has been requested.",
                (long long)state->nodes.items[r->node->node].gpu_memory_mib, (long long)request->memory_mib);
        give(r);
    }
}
