/* SPDX-License-Identifier: Apache-2.0 */

/*
 * PersistentVolumeClaims: those of a pod must exist and be bound, or wait for it; their volumes, or those that they may
 * get, or that can be made for them, tie it to nodes.
 */
#include "base/strbuf.h"
#include "engine/context.h"
#include "engine/node_reason.h"
#include "engine/nodes/filter.h"
#include "engine/nodes/volumes_internal.h"

const struct volume *volume_find(const struct state *state, name_id namespace, name_id name)
{
    uint64_t index;

    if (!map64_get(&state->volume_by_name, (uint64_t)namespace << 32 | name, &index))
        return NULL;
    const struct volume *volume = &state->volumes.items[index];
    return volume->is_present ? volume : NULL;
}

bool volumes_have_failed(const struct state *state, pod_id pod, node_id node)
{
    const struct constraints *own = state_constraints(state, pod);

    for (uint32_t i = 0; i < own->volume_claim_count; i++) {
        const struct volume *volume = volume_find(state, state->pods.items[pod].namespace, own->volume_claims[i]);

        for (int f = 0; volume && f < VOLUME_FAILED_MAX; f++)
            if (volume->failed_for[f] != 0 && (node == NO_ID || volume->failed_for[f] == state->nodes.items[node].name))
                return true;
    }
    return false;
}

bool volumes_exist(struct engine *engine, pod_id pod)
{
    const struct state *state = engine->state;
    const struct constraints *own = state_constraints(state, pod);

    for (uint32_t i = 0; i < own->volume_claim_count; i++) {
        const struct volume *volume = volume_find(state, state->pods.items[pod].namespace, own->volume_claims[i]);
        if (!volume || volume->is_lost || !(volume->is_bound || volume->waits_for_consumer))
            return false;
    }
    return true;
}

static bool any_matches(const struct state *state, const struct selector *terms, uint32_t count,
                        const struct node *node)
{
    struct labels labels = state_labels(state, node->labels);

    for (uint32_t i = 0; i < count; i++) {
        if (selector_matches(state, terms[i], labels, node->name))
            return true;
    }
    return count == 0;
}

/* The largest volume of the class that its driver says it can make for the node; -1 where it says nothing. */
static int64_t largest_new(const struct state *state, name_id class, const struct node *node)
{
    int64_t most = -1;

    vec_foreach (&state->storages, storage) {
        if (storage->is_present && storage->class == class && storage->bytes > most &&
            any_matches(state, storage->nodes, 1, node))
            most = storage->bytes;
    }
    return most;
}

/* What is wrong between a claim and a node. */
enum volume_problem {
    VOLUME_FINE,
    VOLUME_ELSEWHERE,       // it is not there, nor is one that the claim may get
    VOLUME_MADE_ELSEWHERE,  // it is being made for another node
    VOLUME_NOT_MADE,        // its class makes none for such nodes
    VOLUME_TOO_LARGE,       // its driver has too little room
};

static enum volume_problem problem_of(const struct state *state, const struct volume *volume, const struct node *node)
{
    if (!any_matches(state, volume->node_terms, volume->node_term_count, node))
        return VOLUME_ELSEWHERE;
    if (volume->is_bound || volume->class == 0)
        return VOLUME_FINE;
    if (volume->made_for != 0 && volume->made_for != node->name)
        return VOLUME_MADE_ELSEWHERE;
    if (!any_matches(state, volume->made_terms, volume->made_term_count, node))
        return VOLUME_NOT_MADE;
    if (volume->needs_storage && largest_new(state, volume->class, node) < volume->bytes)
        return VOLUME_TOO_LARGE;
    return VOLUME_FINE;
}

/* The first of the pod's claims that the node is nothing for; VOLUME_FINE when there is none. */
static enum volume_problem first_problem(const struct state *state, pod_id pod, node_id node,
                                         const struct volume **ret_volume)
{
    const struct constraints *own = state_constraints(state, pod);

    for (uint32_t i = 0; i < own->volume_claim_count; i++) {
        *ret_volume = volume_find(state, state->pods.items[pod].namespace, own->volume_claims[i]);
        enum volume_problem problem =
            *ret_volume ? problem_of(state, *ret_volume, &state->nodes.items[node]) : VOLUME_FINE;
        if (problem != VOLUME_FINE)
            return problem;
    }
    return VOLUME_FINE;
}

bool volumes_pass(struct engine *engine, pod_id pod, node_id node)
{
    const struct volume *volume;

    return first_problem(engine->state, pod, node, &volume) == VOLUME_FINE;
}

void name_volume_problem(struct engine *engine, pod_id pod, node_id node, struct strbuf *out)
{
    const struct state *state = engine->state;
    const struct volume *volume;
    enum volume_problem problem = first_problem(state, pod, node, &volume);

    if (problem == VOLUME_FINE)
        return;
    strbuf_addf(out, "claim %s", state_name(state, volume->name));
    if (problem == VOLUME_ELSEWHERE)
        strbuf_addstr(out, volume->is_bound ? ": its volume is elsewhere"
                                            : ": none of the volumes that it can be bound to is there");
    if (problem == VOLUME_MADE_ELSEWHERE)
        strbuf_addf(out, ": its volume is being provisioned for node %s", state_name(state, volume->made_for));
    if (problem == VOLUME_NOT_MADE)
        strbuf_addf(out, ": storage class %s does not provision volumes there", state_name(state, volume->class));
    if (problem != VOLUME_TOO_LARGE)
        return;
    int64_t most = largest_new(state, volume->class, &state->nodes.items[node]);

    strbuf_addstr(out, ": ");
    strbuf_add_binary(out, volume->bytes);
    strbuf_addf(out, " needed, storage class %s has ", state_name(state, volume->class));
    if (most < 0) {
        strbuf_addstr(out, "no room there");
        return;
    }
    strbuf_addstr(out, "room for at most ");
    strbuf_add_binary(out, most);
}

void volumes_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret)
{
    static const char *const texts[] = {
        [VOLUME_ELSEWHERE] = "node(s) didn't match PersistentVolume's node affinity",
        [VOLUME_MADE_ELSEWHERE] = "node(s) didn't find available persistent volumes to bind",
        [VOLUME_NOT_MADE] = "node(s) didn't find available persistent volumes to bind",
        [VOLUME_TOO_LARGE] = "node(s) did not have enough free storage",
    };
    const struct volume *volume;
    enum volume_problem problem = first_problem(engine->state, pod, node, &volume);
    struct strbuf detail;

    if (problem == VOLUME_FINE)
        return;
    if (problem == VOLUME_ELSEWHERE) {
        ret->texts[ret->text_count++] = texts[problem];
        return;
    }
    strbuf_init(&detail, VOLUME_TEXT_MAX);
    strbuf_addf(&detail, "%s: ", texts[problem]);
    name_volume_problem(engine, pod, node, &detail);
    ret->texts[ret->text_count++] = arena_strdup(arena, detail.text);
    strbuf_done(&detail);
}
