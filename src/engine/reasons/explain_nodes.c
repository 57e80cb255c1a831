/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Node by node: which test the pod fails first, and what is missing. Room comes first, as in KAI, then the filters in the
 * order of their table; nodes that only lack room are those where somebody holds it.
 */
#include <math.h>

#include "base/macros.h"
#include "engine/context.h"
#include "engine/node_reason.h"
#include "engine/nodes/filter.h"
#include "engine/reasons/explain_internal.h"

struct look {
    struct engine *engine;
    struct explanation *e;
    pod_id pod;
    const struct request *request;
    const struct constraints *constraints;
    struct explained_test *tests;
    struct explained_lack lacks[RES_MAX];  // by dimension
};

static const struct node *node_of(const struct look *look, node_id node)
{
    return &look->engine->state->nodes.items[node];
}

static bool is_asked(const struct look *look, const struct filter *filter)
{
    return engine_has(look->engine, filter->plugin) &&
           (!filter->applies || filter->applies(look->engine, look->request, look->constraints));
}

static int64_t asked_of(const struct request *request, uint32_t dim)
{
    return dim < request->v_count ? request->v[dim] : 0;
}

/* Free devices for a shared request: whole ones, and shared ones with room. */
static int64_t devices_free(const struct state *state, const struct request *request, const struct node *node,
                            const struct books *books)
{
    int64_t memory = request_memory_on(request, node);
    int64_t count = gpu_floor(books->idle[RES_GPU] + books->releasing[RES_GPU]);

    for (uint32_t g = node->first_shared; g != NO_ID; g = state_shared_gpu(state, g)->next)
        count += shared_gpu_fits(node, state_shared_gpu(state, g), memory);
    return count;
}

static int64_t lack_of(const struct look *look, node_id node, const struct books *books, uint32_t dim)
{
    const struct state *state = look->engine->state;
    const struct request *request = look->request;

    if (dim == RES_GPU && request_is_shared(request)) {
        int64_t missing = (int64_t)request->devices - devices_free(state, request, node_of(look, node), books);
        int64_t part =
            request->kind == REQUEST_FRACTION ? (int64_t)llround(request->portion * (double)GPU_ONE) : GPU_ONE;
        return MAX(missing, 0) * part;
    }
    return asked_of(request, dim) - books->idle[dim] - books->releasing[dim];
}

static void note_lacks(struct look *look, node_id node)
{
    const struct state *state = look->engine->state;
    struct books books = state_books(state, node);

    for (uint32_t dim = 0; dim < state->res.count; dim++) {
        struct explained_lack *lack = &look->lacks[dim];
        int64_t missing = lack_of(look, node, &books, dim);

        if (missing <= 0)
            continue;
        if (lack->nodes++ == 0 || missing < lack->least) {
            lack->least = missing;
            lack->best = node;
        }
    }
}

static uint32_t used_shared_gpus(const struct state *state, const struct node *node)
{
    uint32_t count = 0;

    for (uint32_t g = node->first_shared; g != NO_ID; g = state_shared_gpu(state, g)->next)
        count += state_shared_gpu(state, g)->used > 0;
    return count;
}

/* What KAI's texts say is missing: request against allocatable less used, where shared GPUs count as used. */
static void note_kai_lacks(const struct look *look, struct explained_node *found)
{
    const struct state *state = look->engine->state;
    const struct request *request = look->request;
    const struct node *node = node_of(look, found->node);
    struct books books = state_books(state, found->node);

    for (uint32_t dim = 0; dim < request->v_count; dim++) {
        int64_t need = dim == RES_GPU ? request->gpus : request->v[dim];
        int64_t free = books.allocatable[dim] - books.used[dim];

        if (dim == RES_GPU) {
            if (request->kind == REQUEST_MIG)
                continue;
            free -= used_shared_gpus(state, node) * GPU_ONE;
        }
        if (need > free)
            found->lacks |= UINT64_C(1) << dim;
    }
    /* A node without GPUs lacks those. Where its GPUs have the memory, too few of them may have it free. */
    found->lacks_gpu_memory =
        request->kind == REQUEST_GPU_MEMORY &&
        (request->memory_mib > node->gpu_memory_mib ||
         (books.allocatable[RES_GPU] > 0 && devices_free(state, request, node, &books) < (int64_t)request->devices));
}

static void look_at(struct look *look, struct explained_node *found)
{
    struct engine *engine = look->engine;
    bool has_room = fits_sooner_or_later(engine, look->pod, found->node);

    found->test = has_room ? EXPLAINED_PASSES : EXPLAINED_NO_ROOM;
    found->is_allowed = true;
    for (uint32_t i = 0; i < engine->filters.count; i++) {
        const struct filter *filter = &engine->filters.rows[i];
        /* After the first test that fails only what the node is matters any more. */
        if ((found->test != EXPLAINED_PASSES && filter->scope != FILTER_STATIC) || !is_asked(look, filter) ||
            filter->passes(engine, look->pod, found->node))
            continue;
        if (found->test == EXPLAINED_PASSES)
            found->test = (int16_t)(i + 1);
        if (filter->scope != FILTER_STATIC)
            continue;
        found->is_allowed = false;
        break;
    }
    if (!has_room)
        note_kai_lacks(look, found);
    if (!has_room && found->is_allowed)
        note_lacks(look, found->node);
    if (found->test <= EXPLAINED_NO_ROOM)
        return;
    const struct filter *failed = &engine->filters.rows[found->test - 1];
    if (!failed->reason)
        return;
    struct node_reason *reason = ARENA_NEW(&look->e->arena, struct node_reason);
    failed->reason(engine, look->pod, found->node, &look->e->arena, reason);
    found->reason = reason;
}

static void keep_lacks(const struct look *look, struct explanation *e)
{
    uint32_t dims = look->engine->state->res.count;
    struct explained_lack *kept = arena_calloc(&e->arena, dims, sizeof *kept);
    /* GPUs first: what people ask about. */
    static const uint32_t first[] = {RES_GPU, RES_CPU, RES_MEMORY};

    for (uint32_t i = 0; i < dims; i++) {
        uint32_t dim = i < ARRAY_LEN(first) ? first[i] : i;
        if (look->lacks[dim].nodes == 0)
            continue;
        kept[e->lack_count] = look->lacks[dim];
        kept[e->lack_count].dim = dim;
        kept[e->lack_count++].needed = asked_of(look->request, dim);
    }
    e->lacks = kept;
}

static void begin_tests(struct look *look)
{
    const struct filter_table *filters = &look->engine->filters;
    struct explanation *e = look->e;

    look->tests = arena_calloc(&e->arena, filters->count + 1, sizeof *look->tests);
    look->tests[0] = (struct explained_test){.name = "room", .text = "node(s) didn't have enough resources"};
    for (uint32_t i = 0; i < filters->count; i++) {
        look->tests[i + 1] = (struct explained_test){
            .name = filters->rows[i].name,
            .text = filters->rows[i].text,
            .named_text = filters->rows[i].named_text,
        };
    }
    e->tests = look->tests;
    e->test_count = filters->count + 1;
}

void explain_nodes(struct engine *engine, struct node_set nodes, struct explanation *e)
{
    struct look look = {
        .engine = engine,
        .e = e,
        .pod = e->pod,
        .request = state_request(engine->state, e->pod),
        .constraints = state_constraints(engine->state, e->pod),
    };
    struct explained_node *found = arena_calloc(&e->arena, nodes.count, sizeof *found);

    begin_tests(&look);
    for (uint32_t i = 0; i < nodes.count; i++) {
        found[i].node = nodes.ids[i];
        look_at(&look, &found[i]);
        if (found[i].test >= 0)
            look.tests[found[i].test].nodes++;
        e->allowed_count += found[i].is_allowed;
    }
    e->nodes = found;
    e->node_count = nodes.count;
    keep_lacks(&look, e);
}
