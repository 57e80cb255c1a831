/* SPDX-License-Identifier: Apache-2.0 */

/* The words for a test that a node fails: what it lacks, or the texts of the filter with the names that they ask for. */
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "engine/engine.h"
#include "model/books/books.h"
#include "model/state.h"
#include "words/verdict_text_internal.h"

static const struct state *state_of(const struct reasons *r)
{
    return engine_state(r->text->engine);
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

/*
 * GPUs that have less memory than was asked for are always named. Memory that is only not free KAI leaves unsaid: it is
 * named where the sentence would say nothing else.
 */
static bool names_gpu_memory(const struct reasons *r)
{
    const struct explanation *explanation = r->text->explanation;
    const struct state *state = state_of(r);

    return r->node->lacks_gpu_memory &&
           (state_request(state, explanation->pod)->memory_mib > state->nodes.items[r->node->node].gpu_memory_mib ||
            explanation->tests[EXPLAINED_NO_ROOM].nodes == explanation->node_count);
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
        if (dim == RES_GPU && names_gpu_memory(r))
            give_text(r, "node(s) didn't have enough resources: GPU memory");
    }
}

/* ---- What texts name. ---- */

static void name_node(const struct reasons *r)
{
    strbuf_addstr(r->reason, reasons_node(r));
}

static void name_pod(const struct reasons *r)
{
    add_pod_name(r->reason, state_of(r), r->text->explanation->pod);
}

static void name_pods(const struct reasons *r)
{
    const struct node_reason *reason = r->node->reason;

    for (uint32_t i = 0; reason && i < reason->pod_count; i++) {
        if (i > 0)
            strbuf_addch(r->reason, ' ');
        add_pod_name(r->reason, state_of(r), reason->pods[i]);
    }
}

static void name_claim(const struct reasons *r)
{
    const struct state *state = state_of(r);
    const struct claim *claim = r->node->reason ? &state->claims.items[r->node->reason->claim] : NULL;

    if (claim)
        strbuf_addf(r->reason, "%s/%s", state_name(state, claim->namespace), state_name(state, claim->name));
}

static void name_over(const struct reasons *r)
{
    if (!r->node->reason)
        return;
    strbuf_addf(r->reason, "Reason: %s, Details: ", over_reason(&r->node->reason->over));
    add_over(r->reason, state_of(r), &r->node->reason->over);
}

/* The names that texts of filters may hold, in braces: see engine/node_reason.h. */
static const struct {
    const char *name;
    void (*add)(const struct reasons *r);
} names[] = {
    {"node", name_node}, {"pod", name_pod}, {"pods", name_pods}, {"claim", name_claim}, {"over", name_over},
};

/* Adds the name in braces that `at` begins with. The length of what was read; 0: there is none. */
static size_t add_name(const struct reasons *r, const char *at)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        size_t len = strlen(names[i].name);
        if (at[0] == '{' && strncmp(at + 1, names[i].name, len) == 0 && at[len + 1] == '}') {
            names[i].add(r);
            return len + 2;
        }
    }
    return 0;
}

static void give_named(struct reasons *r, const char *text)
{
    while (*text) {
        size_t read = add_name(r, text);
        if (read == 0)
            strbuf_addch(r->reason, *text++);
        text += read;
    }
    give(r);
}

void give_reasons(struct reasons *r)
{
    const struct explained_test *test = &r->text->explanation->tests[r->node->test];
    const struct node_reason *reason = r->node->reason;

    if (r->node->test == EXPLAINED_NO_ROOM) {
        give_lacks(r);
        return;
    }
    for (uint32_t i = 0; reason && i < reason->text_count; i++)
        give_named(r, reason->texts[i]);
    if (!reason || reason->text_count == 0)
        give_named(r, test->named_text ? test->named_text : test->text);
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
        if (dim != RES_GPU || !names_gpu_memory(r))
            continue;
        if (reasons_of_many(r))
            strbuf_addstr(r->reason,
                          "Node didn't have enough resources: GPU memory, taking all considerations into account");
        else if (request->memory_mib <= state->nodes.items[r->node->node].gpu_memory_mib)
            strbuf_addf(
                r->reason,
                "Node didn't have enough resources: GPU memory, requested: %u X %lld Mib, which the GPUs of the "
                "node do not have free",
                request->devices, (long long)request->memory_mib);
        else
            strbuf_addf(
                r->reason,
                "Node didn't have enough resources: Each gpu on the node has a gpu memory capacity of %lld Mib. "
                "%lld Mib of gpu memory has been requested.",
                (long long)state->nodes.items[r->node->node].gpu_memory_mib, (long long)request->memory_mib);
        give(r);
    }
}
