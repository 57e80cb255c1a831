/* SPDX-License-Identifier: Apache-2.0 */

/*
 * All causes at once. The attempt ends at the first test that fails; somebody who wants the workload to run has to know
 * about the others too. Every filter is asked about every node, and nodes that fail it for the same named reason are
 * counted together.
 */
#include <string.h>

#include "base/strbuf.h"
#include "engine/context.h"
#include "engine/nodes/filter.h"
#include "engine/reasons/explain_internal.h"

enum { CAUSES_MAX = 64, DETAIL_MAX = 512 };

struct causes {
    struct engine *engine;
    struct explanation *e;
    struct explained_cause *items;
};

static void count_cause(struct causes *causes, const struct filter *filter, const char *detail)
{
    struct explanation *e = causes->e;

    for (uint32_t i = 0; i < e->cause_count; i++) {
        struct explained_cause *cause = &causes->items[i];

        if (cause->test == filter->name && strcmp(cause->detail, detail) == 0) {
            cause->nodes++;
            return;
        }
    }
    if (e->cause_count < CAUSES_MAX)
        causes->items[e->cause_count++] = (struct explained_cause){
            .test = filter->name,
            .text = filter->problem,
            .detail = arena_strdup(&e->arena, detail),
            .is_static = filter->scope == FILTER_STATIC,
            .nodes = 1,
        };
}

/* Static filters are asked of all nodes first, so that their causes come first. Returns whether the node passes. */
static bool ask_filters(struct causes *causes, node_id node, bool is_static)
{
    struct engine *engine = causes->engine;
    pod_id pod = causes->e->pod;
    const struct request *request = state_request(engine->state, pod);
    const struct constraints *constraints = state_constraints(engine->state, pod);
    bool passes = true;
    struct strbuf detail;

    strbuf_init(&detail, DETAIL_MAX);
    for (uint32_t i = 0; i < engine->filters.count; i++) {
        const struct filter *filter = &engine->filters.rows[i];

        if ((filter->scope == FILTER_STATIC) != is_static || !filter->problem || !engine_has(engine, filter->plugin) ||
            (filter->applies && !filter->applies(engine, request, constraints)) || filter->passes(engine, pod, node))
            continue;
        passes = false;
        strbuf_clear(&detail);
        if (filter->detail)
            filter->detail(engine, pod, node, &detail);
        count_cause(causes, filter, detail.text);
    }
    strbuf_done(&detail);
    return passes;
}

/* What rules out most nodes first, static causes before the others; equals in the order in which nodes showed them. */
static void sort_causes(struct causes *causes)
{
    for (uint32_t i = 1; i < causes->e->cause_count; i++) {
        struct explained_cause cause = causes->items[i];
        uint32_t at = i;

        while (at > 0 && causes->items[at - 1].is_static == cause.is_static &&
               causes->items[at - 1].nodes < cause.nodes) {
            causes->items[at] = causes->items[at - 1];
            at--;
        }
        causes->items[at] = cause;
    }
}

void explain_causes(struct engine *engine, struct explanation *e)
{
    struct node_set nodes = node_set_all(engine);
    struct causes causes = {
        .engine = engine, .e = e, .items = arena_calloc(&e->arena, CAUSES_MAX, sizeof *causes.items)};

    e->causes = causes.items;
    e->all_nodes = nodes.count;
    for (uint32_t i = 0; i < nodes.count; i++)
        e->eligible_nodes += ask_filters(&causes, nodes.ids[i], true);
    for (uint32_t i = 0; i < nodes.count; i++)
        (void)ask_filters(&causes, nodes.ids[i], false);
    sort_causes(&causes);
}
