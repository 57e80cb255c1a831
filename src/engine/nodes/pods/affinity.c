/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Inter-pod affinity as Kubernetes has it: all pods on the books of nodes count, also those that are leaving and those
 * that a simulation has just put there. [KAI] So does the pod itself where it was evicted from: one that repels its own
 * kind cannot be put back near the place that it is leaving.
 */
#include "engine/nodes/pods/affinity.h"

#include "engine/context.h"
#include "engine/node_reason.h"
#include "engine/nodes/filter.h"

struct affinity_memory *affinity_memory_new(void)
{
    return xcalloc(1, sizeof(struct affinity_memory));
}

void affinity_memory_free(struct affinity_memory *memory)
{
    if (!memory)
        return;
    vec_done(&memory->skipped);
    pair_sums_done(&memory->repelled);
    pair_sums_done(&memory->attracted);
    pair_sums_done(&memory->avoided);
    pair_sums_done(&memory->preferred);
    vec_foreach (&memory->spread, counts)
        pair_sums_done(&counts->pods);
    vec_done(&memory->spread);
    inventory_done(&memory->inventory);
    allocator_done(&memory->allocator);
    bitset_done(&memory->held);
    share_book_done(&memory->shares);
    charge_book_done(&memory->charges);
    vec_done(&memory->holders);
    vec_done(&memory->counted);
    vec_done(&memory->claim_log);
    free(memory);
}

void affinity_memory_open(struct affinity_memory *memory)
{
    memory->cycle++;
    memory->required_for.is_valid = memory->preferred_for.is_valid = memory->spread_for.is_valid = false;
    memory->users.found_for.is_valid = false;
    memory->are_devices_known = memory->is_most_zones_known = false;
    memory->is_in_cycle = true;
    memory->claim_log_len = memory->claim_log_read = 0;
}

size_t affinity_memory_bytes(const struct affinity_memory *memory)
{
    size_t bytes = sizeof *memory + vec_bytes(&memory->skipped) + vec_bytes(&memory->spread);

    bytes += pair_sums_bytes(&memory->repelled) + pair_sums_bytes(&memory->attracted);
    bytes += pair_sums_bytes(&memory->avoided) + pair_sums_bytes(&memory->preferred);
    for (uint32_t i = 0; i < memory->spread.len; i++)
        bytes += pair_sums_bytes(&memory->spread.items[i].pods);
    return bytes + inventory_bytes(&memory->inventory) + bitset_words(&memory->held) * sizeof(uint64_t) +
           share_book_bytes(&memory->shares) + charge_book_bytes(&memory->charges) + vec_bytes(&memory->holders) +
           vec_bytes(&memory->counted) + vec_bytes(&memory->claim_log);
}

static bool term_covers(const struct pod_term *term, name_id owner, name_id namespace)
{
    if (term->all_namespaces)
        return true;
    for (uint32_t i = 0; i < term->namespace_count; i++) {
        if (term->namespaces[i] == namespace)
            return true;
    }
    return term->namespace_count == 0 && owner == namespace;
}

bool pod_term_matches(const struct state *state, const struct pod_term *term, name_id owner, const struct pod *pod)
{
    return term_covers(term, owner, pod->namespace) &&
           selector_matches(state, term->selector, state_labels(state, pod->labels), pod->name);
}

static bool matches_all(const struct state *state, const struct pod_term *terms, uint32_t count,
                        const struct pod *owner, const struct pod *pod)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!pod_term_matches(state, &terms[i], owner->namespace, pod))
            return false;
    }
    return count > 0;
}

/* What one pod on the books of a node with these labels means for `pod`. */
static void weigh_required(struct affinity_memory *memory, const struct state *state, const struct pod *pod,
                           const struct constraints *own, const struct pod *other, struct labels labels)
{
    const struct constraints *theirs = &state->constraints.items[other->constraints];

    for (uint32_t i = 0; i < theirs->anti_affinity_count; i++) {
        const struct pod_term *term = &theirs->anti_affinity[i];
        if (pod_term_matches(state, term, other->namespace, pod))
            (void)pair_sums_add(&memory->repelled, labels, term->topology_key, 1);
    }
    for (uint32_t i = 0; i < own->anti_affinity_count; i++) {
        const struct pod_term *term = &own->anti_affinity[i];
        if (pod_term_matches(state, term, pod->namespace, other))
            (void)pair_sums_add(&memory->avoided, labels, term->topology_key, 1);
    }
    if (!matches_all(state, own->affinity, own->affinity_count, pod, other))
        return;
    for (uint32_t i = 0; i < own->affinity_count; i++)
        (void)pair_sums_add(&memory->attracted, labels, own->affinity[i].topology_key, 1);
}

static void work_out_required(struct engine *engine, pod_id id)
{
    struct affinity_memory *memory = engine->affinity;
    const struct state *state = engine->state;
    const struct pod *pod = &state->pods.items[id];
    const struct constraints *own = state_constraints(state, id);

    if (!worked_out_is_old(&memory->required_for, engine, id))
        return;
    pair_sums_clear(&memory->repelled);
    pair_sums_clear(&memory->attracted);
    pair_sums_clear(&memory->avoided);
    for (uint32_t i = 0; i < state->nodes_by_rank.len; i++) {
        const struct node *node = &state->nodes.items[state->nodes_by_rank.items[i]];
        struct labels labels = state_labels(state, node->labels);
        for (uint32_t h = node->first_held; h != NO_ID; h = state_held(state, h)->next)
            weigh_required(memory, state, pod, own, &state->pods.items[state_held(state, h)->pod], labels);
    }
}

/* The cycle in which the pod was last skipped. */
static uint64_t *skip_of(const struct engine *engine, pod_id pod)
{
    struct affinity_memory *memory = engine->affinity;

    if (memory->skipped.len <= pod)
        vec_resize(&memory->skipped, engine->state->pods.len);
    return &memory->skipped.items[pod];
}

bool affinity_is_relevant(struct engine *engine, pod_id pod)
{
    struct affinity_memory *memory = engine->affinity;
    const struct constraints *own = state_constraints(engine->state, pod);

    if (own->affinity_count > 0 || own->anti_affinity_count > 0)
        return true;
    uint64_t *skip = skip_of(engine, pod);
    if (*skip == memory->cycle)
        return false;
    if (engine->state->affine_pods > 0) {
        work_out_required(engine, pod);
        if (!pair_sums_is_empty(&memory->repelled))
            return true;
    }
    *skip = memory->cycle;
    return false;
}

/*
 * All its terms must be met here, or nowhere at all by anyone: then the first of a group that likes itself may start
 * it.
 */
static bool is_attracted(const struct engine *engine, const struct pod *pod, const struct constraints *own,
                         struct labels labels)
{
    const struct affinity_memory *memory = engine->affinity;
    bool is_met = true;

    for (uint32_t i = 0; i < own->affinity_count; i++) {
        if (labels_get(labels, own->affinity[i].topology_key) == NO_ID)
            return false;
        if (pair_sums_get(&memory->attracted, labels, own->affinity[i].topology_key) == 0)
            is_met = false;
    }
    return is_met || (pair_sums_is_empty(&memory->attracted) &&
                      matches_all(engine->state, own->affinity, own->affinity_count, pod, pod));
}

bool affinity_passes(struct engine *engine, pod_id pod, node_id node)
{
    const struct affinity_memory *memory = engine->affinity;
    const struct state *state = engine->state;
    const struct constraints *own = state_constraints(state, pod);
    struct labels labels = state_labels(state, state->nodes.items[node].labels);

    if (!affinity_is_relevant(engine, pod))
        return true;
    work_out_required(engine, pod);
    return pair_sums_all(&memory->repelled, labels) == 0 && pair_sums_all(&memory->avoided, labels) == 0 &&
           is_attracted(engine, &state->pods.items[pod], own, labels);
}

static void weigh_preferred(struct affinity_memory *memory, const struct state *state, const struct pod *pod,
                            const struct constraints *own, const struct pod *other, struct labels labels)
{
    const struct constraints *theirs = &state->constraints.items[other->constraints];

    for (uint32_t i = 0; i < own->preferred_pod_count; i++) {
        const struct pod_term *term = &own->preferred_pods[i];
        if (pod_term_matches(state, term, pod->namespace, other))
            (void)pair_sums_add(&memory->preferred, labels, term->topology_key, term->weight);
    }
    for (uint32_t i = 0; i < theirs->preferred_pod_count; i++) {
        const struct pod_term *term = &theirs->preferred_pods[i];
        if (pod_term_matches(state, term, other->namespace, pod))
            (void)pair_sums_add(&memory->preferred, labels, term->topology_key, term->weight);
    }
}

int64_t affinity_score(struct engine *engine, pod_id pod, node_id node)
{
    struct affinity_memory *memory = engine->affinity;
    const struct state *state = engine->state;
    const struct constraints *own = state_constraints(state, pod);

    if (state->affine_pods == 0 && own->preferred_pod_count == 0)
        return 0;
    if (worked_out_is_old(&memory->preferred_for, engine, pod)) {
        pair_sums_clear(&memory->preferred);
        for (uint32_t i = 0; i < state->nodes_by_rank.len; i++) {
            const struct node *n = &state->nodes.items[state->nodes_by_rank.items[i]];
            struct labels labels = state_labels(state, n->labels);
            for (uint32_t h = n->first_held; h != NO_ID; h = state_held(state, h)->next)
                weigh_preferred(memory, state, &state->pods.items[pod], own,
                                &state->pods.items[state_held(state, h)->pod], labels);
        }
    }
    return pair_sums_all(&memory->preferred, state_labels(state, state->nodes.items[node].labels));
}

static bool matches_itself(const struct state *state, const struct constraints *own, const struct pod *pod)
{
    for (uint32_t i = 0; i < own->affinity_count; i++) {
        if (!pod_term_matches(state, &own->affinity[i], pod->namespace, pod))
            return false;
    }
    return true;
}

/* Does the node lack what the pod's own affinity wants there? */
static bool lacks_attraction(const struct engine *engine, pod_id pod, struct labels labels)
{
    const struct affinity_memory *memory = engine->affinity;
    const struct constraints *own = state_constraints(engine->state, pod);
    bool starts_group =
        pair_sums_is_empty(&memory->attracted) && matches_itself(engine->state, own, &engine->state->pods.items[pod]);

    for (uint32_t i = 0; i < own->affinity_count; i++) {
        name_id key = own->affinity[i].topology_key;
        if (labels_get(labels, key) == NO_ID)
            return true;
        if (pair_sums_get(&memory->attracted, labels, key) == 0 && !starts_group)
            return true;
    }
    return false;
}

/* Which rule the node breaks, in Kubernetes' order. */
void affinity_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret)
{
    struct labels labels = state_labels(engine->state, engine->state->nodes.items[node].labels);

    (void)arena;
    ret->texts[ret->text_count++] = lacks_attraction(engine, pod, labels) ? "node(s) didn't match pod affinity rules"
                                    : pair_sums_all(&engine->affinity->avoided, labels) > 0
                                        ? "node(s) didn't match pod anti-affinity rules"
                                        : "node(s) didn't satisfy existing pods anti-affinity rules";
}
