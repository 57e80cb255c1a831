/* SPDX-License-Identifier: Apache-2.0 */

/* Which nodes a pod's claims can have devices on, and why others are none. */
#include <string.h>

#include "base/strbuf.h"
#include "engine/node_reason.h"
#include "engine/nodes/claims_internal.h"
#include "engine/nodes/devices.h"
#include "engine/nodes/filter.h"
#include "engine/nodes/pods/affinity.h"

/* Kubernetes' limit on the pods that share one claim. */
enum { CLAIM_USERS_MAX = 256 };

struct claim *claim_of_pod(const struct engine *engine, const struct pod *pod, uint32_t i)
{
    if (pod->claims[i].claim == NO_ID)
        return NULL;
    struct claim *claim = &engine->state->claims.items[pod->claims[i].claim];
    return claim->is_present ? claim : NULL;
}

bool claim_is_reserved_for(const struct claim *claim, name_id uid)
{
    for (uint32_t i = 0; i < claim->reserved_count; i++) {
        if (claim->reserved_for[i] == uid)
            return true;
    }
    return false;
}

bool claim_is_needed_on(const struct engine *engine, const struct pod *pod, uint32_t i, node_id node)
{
    return !pod->claims[i].is_extended ||
           pod_needs_devices_on(engine->state, (pod_id)(pod - engine->state->pods.items), node);
}

/* Those that can take any device come last and leave the others theirs. */
static bool takes_any(const struct engine *engine, const struct claim *claim)
{
    const struct device_class *class = state_find_device_class(engine->state, claim->device_class);

    return claim->ask.request_count == 0 && !(class && (class->driver != 0 || class->selector_count > 0));
}

const struct claim **claims_open(const struct engine *engine, const struct pod *pod, node_id node, struct arena *arena,
                                 uint32_t *ret_count)
{
    const struct claim **open = arena_calloc(arena, pod->claim_count, sizeof *open);
    uint32_t count = 0;

    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < pod->claim_count; i++) {
            const struct claim *claim = claim_of_pod(engine, pod, i);
            bool is_named_before = false;

            if (!claim || claim->is_allocated || !claim_is_needed_on(engine, pod, i, node) ||
                takes_any(engine, claim) != (round == 1))
                continue;
            for (uint32_t k = 0; k < count; k++)
                is_named_before |= open[k] == claim;
            if (!is_named_before)
                open[count++] = claim;
        }
    *ret_count = count;
    return open;
}

/* GPUs that pods share by name are charged to the queue that the claim is labelled with. */
static bool is_of_queue(const struct state *state, const struct claim *claim, const struct pod *pod)
{
    static const char label[] = "kai.scheduler/queue";
    name_id key;

    if (pod->gang == NO_ID || !intern_find(&state->names, label, sizeof label - 1, &key))
        return false;
    return labels_get(state_labels(state, claim->labels), key) == state->gangs.items[pod->gang].queue_name;
}

/* Are all classes there that devices of an open claim may be of? */
static bool classes_exist(const struct state *state, const struct claim *claim)
{
    name_id name;

    if (claim->ask.request_count == 0)
        return state_find_device_class(state, claim->device_class) != NULL;
    for (size_t r = 0; r < claim->ask.request_count; r++)
        for (size_t o = 0; o < claim->ask.requests[r].ask_count; o++) {
            const char *class = claim->ask.requests[r].asks[o].device_class;

            if (!intern_find(&state->names, class, strlen(class), &name) || !state_find_device_class(state, name))
                return false;
        }
    return true;
}

bool claims_exist(struct engine *engine, pod_id id)
{
    const struct state *state = engine->state;
    const struct pod *pod = &state->pods.items[id];

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        const struct claim *claim = claim_of_pod(engine, pod, i);
        if (!claim || (claim->reserved_count >= CLAIM_USERS_MAX && !claim_is_reserved_for(claim, pod->uid)))
            return false;
        if (!pod->claims[i].is_from_template && claim->is_gpu && !is_of_queue(state, claim, pod))
            return false;
        if (!claim->is_allocated && !classes_exist(state, claim))
            return false;
    }
    return true;
}

/*
 * Pods that share the claim are being evicted: one more would only follow them. When all have left, the claim gets other
 * devices. A claim that nobody uses is left as it was given out.
 */
static bool evicts(struct engine *engine, const struct claim *claim)
{
    return claim->is_allocated && claim->reserved_count > 0 && devices_evict(engine, claim);
}

bool claims_pass(struct engine *engine, pod_id id, node_id node)
{
    const struct pod *pod = &engine->state->pods.items[id];
    struct arena arena;
    uint32_t count;

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        const struct claim *claim = claim_of_pod(engine, pod, i);
        if (!claim_is_needed_on(engine, pod, i, node))
            continue;
        if (!claim || (claim->is_allocated && !devices_reach(engine, claim, node)) || evicts(engine, claim))
            return false;
    }
    if (pod->claim_count == 0)
        return true;
    arena_init(&arena);
    const struct claim **open = claims_open(engine, pod, node, &arena, &count);
    bool result = count == 0 || allocator_find(devices_allocator(engine), node, open, count);
    arena_done(&arena);
    return result;
}

bool claims_allocate_anew(struct engine *engine, pod_id id)
{
    if (!claims_pass(engine, id, engine->state->pods.items[id].node))
        return false;
    claims_allocate(engine, id);
    return true;
}

void claims_reason(struct engine *engine, pod_id id, node_id node, struct arena *arena, struct node_reason *ret)
{
    const struct state *state = engine->state;
    const struct pod *pod = &state->pods.items[id];

    (void)arena;
    for (uint32_t i = 0; i < pod->claim_count; i++) {
        if (pod->claims[i].claim == NO_ID)
            continue;
        const struct claim *claim = &state->claims.items[pod->claims[i].claim];
        if (claim->is_allocated && !devices_reach(engine, claim, node)) {
            ret->claim = pod->claims[i].claim;
            ret->texts[ret->text_count++] = "claim {claim} node selector does not match node {node}";
            return;
        }
        if (evicts(engine, claim)) {
            ret->claim = pod->claims[i].claim;
            ret->texts[ret->text_count++] =
                "claim {claim} has a device with a NoExecute taint that it does not tolerate";
            return;
        }
    }
}

/* What is wrong with devices that the claim has already. False when nothing is. */
static bool name_devices_elsewhere(struct engine *engine, const struct claim *claim, node_id node, struct strbuf *out)
{
    const char *name = state_name(engine->state, claim->name);

    if (!devices_reach(engine, claim, node))
        strbuf_addf(out, "claim %s: its devices cannot be used from this node", name);
    else if (evicts(engine, claim))
        strbuf_addf(out, "claim %s: a device has a NoExecute taint that it does not tolerate", name);
    else
        return false;
    return true;
}

static bool name_missing_devices(struct engine *engine, const struct claim *claim, node_id node, struct strbuf *out)
{
    struct claim_problem problem;

    allocator_explain(devices_allocator(engine), node, claim, &problem);
    if (!problem.is_known)
        return false;
    if (!claim->is_plan)
        strbuf_addf(out, "claim %s%s", state_name(engine->state, claim->name), problem.request ? ", request " : "");
    else if (!problem.request)
        strbuf_addstr(out, "resources");
    if (problem.request)
        strbuf_addf(out, "%s%s", claim->is_plan ? "resource " : "", problem.request);
    claim_problem_write(&problem, out);
    return true;
}

void name_claim_problem(struct engine *engine, pod_id id, node_id node, struct strbuf *out)
{
    const struct pod *pod = &engine->state->pods.items[id];
    uint32_t open = 0;

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        const struct claim *claim = claim_of_pod(engine, pod, i);

        if (!claim || !claim_is_needed_on(engine, pod, i, node))
            continue;
        if (claim->is_allocated ? name_devices_elsewhere(engine, claim, node, out)
                                : name_missing_devices(engine, claim, node, out))
            return;
        open += !claim->is_allocated;
    }
    if (open > 1)
        strbuf_addf(out, "each of its %u claims can be allocated, but not all of them at once", open);
}
