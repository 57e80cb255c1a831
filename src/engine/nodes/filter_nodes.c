/* SPDX-License-Identifier: Apache-2.0 */

/* Filters about what a node is and has: conditions, host ports, taints, labels, worker types. */
#include "base/macros.h"
#include "base/strbuf.h"
#include "engine/context.h"
#include "engine/node_reason.h"
#include "engine/nodes/filter.h"
#include "engine/nodes/filter_internal.h"
#include "engine/nodes/taints_internal.h"

static const struct node *node_of(const struct engine *engine, node_id node)
{
    return &engine->state->nodes.items[node];
}

bool node_is_ready(struct engine *engine, pod_id pod, node_id node)
{
    (void)pod;
    return node_of(engine, node)->troubles == 0;
}

void name_troubles(struct engine *engine, pod_id pod, node_id node, struct strbuf *out)
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

bool has_no_trouble(const struct node *node)
{
    return node->troubles == 0;
}

void trouble_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret)
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
    _Static_assert(ARRAY_LEN(rows) <= NODE_REASON_TEXTS_MAX, "every node condition has a row");

    (void)pod;
    (void)arena;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (node_of(engine, node)->troubles & rows[i].trouble)
            ret->texts[ret->text_count++] = rows[i].text;
    }
}

bool has_ports(const struct engine *engine, const struct request *request, const struct constraints *constraints)
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

bool ports_free(struct engine *engine, pod_id pod, node_id node)
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

bool taints_pass(struct engine *engine, pod_id pod, node_id node)
{
    const struct constraints *constraints = state_constraints(engine->state, pod);
    const struct node *n = node_of(engine, node);

    return taints_tolerated(n, constraints, TAINT_NO_SCHEDULE) && taints_tolerated(n, constraints, TAINT_NO_EXECUTE);
}

void name_taint(struct engine *engine, pod_id pod, node_id node, struct strbuf *out)
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

bool has_no_taints(const struct node *node)
{
    return node->taint_count == 0;
}

bool has_node_rules(const struct engine *engine, const struct request *request, const struct constraints *constraints)
{
    (void)engine;
    (void)request;
    return constraints_limit_nodes(constraints);
}

bool node_matches(const struct state *state, const struct constraints *c, node_id node)
{
    const struct node *n = &state->nodes.items[node];
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

bool node_affinity_passes(struct engine *engine, pod_id pod, node_id node)
{
    return node_matches(engine->state, state_constraints(engine->state, pod), node);
}

/* The labels of the selector that the node does not have; what its affinity wants is too much for a line. */
void name_selector(struct engine *engine, pod_id pod, node_id node, struct strbuf *out)
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

bool workers_are_apart(const struct engine *engine, const struct request *request,
                       const struct constraints *constraints)
{
    (void)request;
    (void)constraints;
    return engine->config.restricts_nodes;
}

bool worker_type_passes(struct engine *engine, pod_id pod, node_id node)
{
    bool is_cpu_only = state_request(engine->state, pod)->is_cpu_only;

    return (node_of(engine, node)->workers & (is_cpu_only ? WORKER_CPU : WORKER_GPU)) != 0;
}

void worker_type_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret)
{
    (void)node;
    (void)arena;
    ret->texts[ret->text_count++] = state_request(engine->state, pod)->is_cpu_only
                                        ? "cpu task: <{pod}> can't run on non cpu nodes, node: <{node}>"
                                        : "gpu task: <{pod}> can't run on non gpu nodes, node: <{node}>";
}
