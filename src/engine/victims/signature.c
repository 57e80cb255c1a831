/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A gang's signature: what its pods that do not run yet demand of nodes, set by set, and the topology that binds them.
 * Resources are not part of it; those of the gang that failed are kept, and a gang is easier when it has fewer waiting
 * pods, or asks for less at the first place, both lists sorted, where one is below the other.
 *
 * Sums of mixed hashes stand for sorted lists.
 */
#include "engine/victims/signature.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "engine/context.h"
#include "model/state.h"

struct representative {
    uint32_t count;
    request_id *requests;  // of its pending pods, sorted
};

struct signatures {
    struct engine *engine;
    struct arena *arena;
    struct map64 by_signature;  // index in `failed`
    VEC(struct representative) failed;
    VEC(uint64_t) of_constraints;  // by id; 0: not computed yet
};

struct signatures *signatures_new(struct engine *engine, struct arena *arena)
{
    struct signatures *signatures = xcalloc(1, sizeof *signatures);

    signatures->engine = engine;
    signatures->arena = arena;
    map64_init(&signatures->by_signature);
    vec_resize(&signatures->of_constraints, engine->state->constraints.len);
    return signatures;
}

void signatures_free(struct signatures *signatures)
{
    if (!signatures)
        return;
    map64_done(&signatures->by_signature);
    vec_done(&signatures->failed);
    vec_done(&signatures->of_constraints);
    free(signatures);
}

/* ---- Hashes. ---- */

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t join(uint64_t hash, uint64_t value)
{
    return mix(hash ^ mix(value));
}

static uint64_t hash_selector(uint64_t hash, const struct selector *selector)
{
    hash = join(hash, selector->count);
    for (uint32_t i = 0; i < selector->count; i++) {
        const struct match *match = &selector->all[i];
        hash = join(hash, (uint64_t)match->op << 32 | match->key);
        hash = join(hash, match->value_count);
        for (uint32_t v = 0; v < match->value_count; v++)
            hash = join(hash, match->values[v]);
    }
    return hash;
}

static uint64_t hash_terms(uint64_t hash, const struct pod_term *terms, uint32_t count)
{
    hash = join(hash, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct pod_term *term = &terms[i];
        hash = hash_selector(hash, &term->selector);
        hash = join(hash, (uint64_t)term->topology_key << 32 | (uint32_t)term->weight);
        hash = join(hash, (uint64_t)term->namespace_count << 1 | term->all_namespaces);
        for (uint32_t n = 0; n < term->namespace_count; n++)
            hash = join(hash, term->namespaces[n]);
    }
    return hash;
}

static uint64_t hash_nodes(uint64_t hash, const struct constraints *c)
{
    hash = join(hash, (uint64_t)c->node_selector_count << 1 | c->has_node_selector);
    for (uint32_t i = 0; i < c->node_selector_count; i++)
        hash = join(hash, (uint64_t)c->node_selector[i].key << 32 | c->node_selector[i].value);
    hash = join(hash, c->node_term_count);
    for (uint32_t i = 0; i < c->node_term_count; i++)
        hash = hash_selector(hash, &c->node_terms[i]);
    hash = join(hash, c->preferred_node_count);
    for (uint32_t i = 0; i < c->preferred_node_count; i++)
        hash = join(hash_selector(hash, &c->preferred_nodes[i].selector), (uint32_t)c->preferred_nodes[i].weight);
    hash = join(hash, c->toleration_count);
    for (uint32_t i = 0; i < c->toleration_count; i++) {
        const struct toleration *t = &c->tolerations[i];
        hash = join(hash, (uint64_t)t->key << 32 | t->value);
        hash = join(hash, (uint64_t)t->effect << 2 | (uint64_t)t->exists << 1 | t->any_effect);
    }
    return hash;
}

/* All that constraints hold but config maps, which KAI leaves out. */
static uint64_t hash_constraints(const struct constraints *c)
{
    uint64_t hash = hash_nodes(0, c);

    hash = hash_terms(hash, c->affinity, c->affinity_count);
    hash = hash_terms(hash, c->anti_affinity, c->anti_affinity_count);
    hash = hash_terms(hash, c->preferred_pods, c->preferred_pod_count);
    hash = join(hash, c->spread_count);
    for (uint32_t i = 0; i < c->spread_count; i++) {
        hash = hash_selector(hash, &c->spread[i].selector);
        hash = join(hash, (uint64_t)c->spread[i].topology_key << 32 | (uint32_t)c->spread[i].max_skew);
        hash = join(hash, c->spread[i].is_hard);
    }
    hash = join(hash, c->port_count);
    for (uint32_t i = 0; i < c->port_count; i++)
        hash = join(hash, (uint64_t)c->ports[i].address << 32 | (uint64_t)c->ports[i].port << 8 | c->ports[i].protocol);
    hash = join(hash, c->volume_claim_count);
    for (uint32_t i = 0; i < c->volume_claim_count; i++)
        hash = join(hash, c->volume_claims[i]);
    hash = join(hash, (uint64_t)c->priority_class << 32 | (uint32_t)c->priority);
    return hash != 0 ? hash : 1;
}

static uint64_t signature_of_pod(struct signatures *signatures, const struct pod *pod)
{
    if (pod->constraints >= signatures->of_constraints.len)
        vec_resize(&signatures->of_constraints, signatures->engine->state->constraints.len);
    uint64_t *hash = &signatures->of_constraints.items[pod->constraints];
    if (*hash == 0)
        *hash = hash_constraints(&signatures->engine->state->constraints.items[pod->constraints]);
    return *hash;
}

/* Of a set in which every pod has a place nothing is asked any more. */
static uint64_t signature_of_set(struct signatures *signatures, const struct gang *gang, uint32_t set)
{
    const struct state *state = signatures->engine->state;
    uint64_t pods = 0;
    uint64_t topology = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < gang->groups[set].pods.len; i++) {
        const struct pod *pod = &state->pods.items[gang->groups[set].pods.items[i]];
        if (status_in(pod->status, ACTIVE_ALLOCATED))
            continue;
        pods += mix(signature_of_pod(signatures, pod));
        count++;
    }
    if (count == 0)
        return 0;
    for (uint32_t g = set; g != NO_ID; g = gang->groups[g].parent) {
        const struct topology_constraint *c = &gang->groups[g].topology;
        topology = join(topology, (uint64_t)c->topology << 32 | c->required);
        topology = join(topology, c->preferred);
    }
    return join(join(topology, pods), count);
}

uint64_t signature_of(struct signatures *signatures, gang_id id, queue_id scope)
{
    const struct gang *gang = &signatures->engine->state->gangs.items[id];
    uint64_t sets = 0;

    for (uint32_t g = 0; g < gang->group_count; g++) {
        if (gang->groups[g].is_pod_set)
            sets += mix(signature_of_set(signatures, gang, g));
    }
    return join(sets, scope);
}

/* ---- Representatives. ---- */

static int64_t amount(const struct request *request, uint32_t dimension)
{
    return dimension < request->v_count ? request->v[dimension] : 0;
}

static bool is_within(const struct signatures *signatures, request_id l, request_id r)
{
    const struct request *a = &signatures->engine->state->requests.items[l];
    const struct request *b = &signatures->engine->state->requests.items[r];

    if (l == r)
        return true;
    for (uint32_t d = 0; d < MAX(a->v_count, b->v_count); d++) {
        if (amount(a, d) > amount(b, d))
            return false;
    }
    return true;
}

static bool is_less(const struct signatures *signatures, request_id l, request_id r)
{
    return is_within(signatures, l, r) && !is_within(signatures, r, l);
}

static struct representative pending_requests(struct signatures *signatures, gang_id id)
{
    const struct state *state = signatures->engine->state;
    const struct gang *gang = &state->gangs.items[id];
    struct representative found = {0};

    found.requests = arena_alloc(signatures->arena, gang->pending * sizeof *found.requests);
    for (uint32_t g = 0; g < gang->group_count; g++) {
        for (uint32_t i = 0; i < gang->groups[g].pods.len; i++) {
            const struct pod *pod = &state->pods.items[gang->groups[g].pods.items[i]];
            if (pod->status != POD_PENDING)
                continue;
            uint32_t at = found.count++;
            for (; at > 0 && is_less(signatures, pod->request, found.requests[at - 1]); at--)
                found.requests[at] = found.requests[at - 1];
            found.requests[at] = pod->request;
        }
    }
    return found;
}

bool signatures_may_try(struct signatures *signatures, uint64_t signature, gang_id gang)
{
    uint64_t index;

    if (!map64_get(&signatures->by_signature, signature, &index))
        return true;
    const struct representative *failed = &signatures->failed.items[index];
    uint32_t pending = signatures->engine->state->gangs.items[gang].pending;
    if (pending == 0 || failed->count == 0)
        return false;
    if (pending < failed->count)
        return true;
    struct representative own = pending_requests(signatures, gang);
    for (uint32_t i = 0; i < failed->count; i++) {
        if (is_less(signatures, own.requests[i], failed->requests[i]))
            return true;
    }
    return false;
}

void signatures_failed(struct signatures *signatures, uint64_t signature, gang_id gang)
{
    struct representative own = pending_requests(signatures, gang);
    uint64_t index;

    if (!map64_get(&signatures->by_signature, signature, &index)) {
        map64_put(&signatures->by_signature, signature, signatures->failed.len);
        vec_push(&signatures->failed, own);
        return;
    }
    struct representative *failed = &signatures->failed.items[index];
    if (own.count > failed->count)
        return;
    for (uint32_t i = 0; i < own.count; i++) {
        if (!is_within(signatures, own.requests[i], failed->requests[i]))
            return;
    }
    *failed = own;
}
