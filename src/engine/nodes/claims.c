/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Dynamic resource allocation. A claim gets its devices when the first pod that names it is placed, and loses them when
 * the last one leaves. A claim that lost its devices in this cycle still points to them: a pod that is put back where
 * it was gets the same.
 *
 * What a cycle does with claims for promises' sake ends with it: pods that are leaving hold their devices until they have
 * left, and those that were promised a place hold none. How a claim will be then is noted when it is first changed; only
 * pods that are bound change the note.
 */
#include "engine/context.h"
#include "engine/node_reason.h"
#include "engine/nodes/affinity.h"
#include "engine/nodes/devices.h"
#include "engine/nodes/filter.h"

/* Kubernetes' limit on the pods that share one claim. */
enum { CLAIM_USERS_MAX = 256 };

static struct claim *claim_of(const struct engine *engine, const struct pod *pod, uint32_t i)
{
    if (pod->claims[i].claim == NO_ID)
        return NULL;
    struct claim *claim = &engine->state->claims.items[pod->claims[i].claim];
    return claim->is_present ? claim : NULL;
}

static bool is_reserved_for(const struct claim *claim, name_id uid)
{
    for (uint32_t i = 0; i < claim->reserved_count; i++) {
        if (claim->reserved_for[i] == uid)
            return true;
    }
    return false;
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

bool claims_exist(struct engine *engine, pod_id id)
{
    const struct state *state = engine->state;
    const struct pod *pod = &state->pods.items[id];

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        const struct claim *claim = claim_of(engine, pod, i);
        if (!claim || (claim->reserved_count >= CLAIM_USERS_MAX && !is_reserved_for(claim, pod->uid)))
            return false;
        if (!pod->claims[i].is_from_template && claim->is_gpu && !is_of_queue(state, claim, pod))
            return false;
        if (!claim->is_allocated && !state_find_device_class(state, claim->device_class))
            return false;
    }
    return true;
}

/* Devices that serve any class, as far as they can be of the claim's. */
static struct device_kind any_for(const struct engine *engine, const struct claim *claim)
{
    const struct device_class *class = state_find_device_class(engine->state, claim->device_class);

    return (struct device_kind){.driver = class ? class->driver : 0};
}

static struct device_kind own_of(const struct claim *claim)
{
    return (struct device_kind){.device_class = claim->device_class};
}

/* GPUs asked for as a resource need no devices where a plugin hands the resource out. */
static bool is_needed_on(const struct engine *engine, const struct pod *pod, uint32_t i, node_id node)
{
    return !pod->claims[i].is_extended || engine->state->nodes.items[node].plugin_gpus == 0;
}

/* A claim of the pod that has no devices yet and needs some on the node; else NULL. */
static const struct claim *open_claim(const struct engine *engine, const struct pod *pod, uint32_t i, node_id node)
{
    const struct claim *claim = claim_of(engine, pod, i);

    return claim && !claim->is_allocated && is_needed_on(engine, pod, i, node) ? claim : NULL;
}

/*
 * How many devices the pod's open claims miss when all that serve only their classes are given out: of the class of its
 * claim `first`, 0 when one before it said so.
 */
static int64_t short_of_class(struct engine *engine, const struct pod *pod, uint32_t first, node_id node)
{
    const struct claim *of = open_claim(engine, pod, first, node);
    int64_t need = 0;

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        const struct claim *claim = open_claim(engine, pod, i, node);
        if (!claim || claim->device_class != of->device_class)
            continue;
        if (i < first)
            return 0;
        if (__builtin_add_overflow(need, claim->count, &need))
            return INT64_MAX;
    }
    return need - devices_count_free(engine, node, own_of(of), need);
}

/* The same for all classes whose devices come from one driver; 0: for all. */
static bool can_serve(struct engine *engine, const struct pod *pod, node_id node, name_id driver)
{
    int64_t short_of = 0;

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        const struct claim *claim = open_claim(engine, pod, i, node);
        if (!claim || (driver != 0 && any_for(engine, claim).driver != driver))
            continue;
        if (__builtin_add_overflow(short_of, short_of_class(engine, pod, i, node), &short_of))
            return false;
    }
    struct device_kind kind = {.driver = driver};
    return short_of == 0 || devices_count_free(engine, node, kind, short_of) >= short_of;
}

bool claims_pass(struct engine *engine, pod_id id, node_id node)
{
    const struct pod *pod = &engine->state->pods.items[id];

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        const struct claim *claim = claim_of(engine, pod, i);
        if (!is_needed_on(engine, pod, i, node))
            continue;
        if (!claim || (claim->is_allocated && !devices_reach(engine, claim, node)))
            return false;
        name_id driver = any_for(engine, claim).driver;
        if (driver != 0 && !claim->is_allocated && !can_serve(engine, pod, node, driver))
            return false;
    }
    /* Devices of no class serve whichever class runs short. */
    return can_serve(engine, pod, node, 0);
}

/* Claims are noted in the order in which they are first changed, as they are listed in the state. */
static struct claim_note *find_note(struct engine *engine, uint32_t claim)
{
    const struct id_set *changed = &engine->state->scratch_claims;

    return id_set_has(changed, claim) ? &engine->claim_notes.items[changed->place.items[claim]] : NULL;
}

/* The claim is about to change. */
static void note(struct engine *engine, const struct claim *claim)
{
    uint32_t id = (uint32_t)(claim - engine->state->claims.items);

    if (id_set_has(&engine->state->scratch_claims, id))
        return;
    BUG_ON(engine->state->scratch_claims.ids.len != engine->claim_notes.len);
    id_set_add(&engine->state->scratch_claims, id);
    vec_push(&engine->claim_notes, (struct claim_note){
                                       .claim = id,
                                       .is_allocated = claim->is_allocated,
                                       .device_count = claim->device_count,
                                       .reserved_count = claim->reserved_count,
                                       .devices = claim->devices,
                                       .reserved_for = claim->reserved_for,
                                   });
}

static void set_devices(struct engine *engine, struct claim *claim, const struct device *devices, uint32_t count)
{
    struct undo *undo = &engine->state->undo;

    note(engine, claim);
    undo_set64(undo, &claim->devices, (uint64_t)(uintptr_t)devices);
    undo_set32(undo, &claim->device_count, count);
    undo_set32(undo, &claim->lists_are_owned, 0);
}

static void set_reserved(struct engine *engine, struct claim *claim, const name_id *uids, uint32_t count)
{
    struct undo *undo = &engine->state->undo;

    note(engine, claim);
    undo_set64(undo, &claim->reserved_for, (uint64_t)(uintptr_t)uids);
    undo_set32(undo, &claim->reserved_count, count);
    undo_set32(undo, &claim->lists_are_owned, 0);
}

static void reserve(struct engine *engine, struct claim *claim, name_id uid)
{
    if (is_reserved_for(claim, uid))
        return;
    name_id *uids = arena_alloc(&engine->state->scratch, (claim->reserved_count + 1) * sizeof *uids);
    for (uint32_t i = 0; i < claim->reserved_count; i++)
        uids[i] = claim->reserved_for[i];
    uids[claim->reserved_count] = uid;
    set_reserved(engine, claim, uids, claim->reserved_count + 1);
}

static void unreserve(struct engine *engine, struct claim *claim, name_id uid)
{
    if (!is_reserved_for(claim, uid))
        return;
    name_id *uids = arena_alloc(&engine->state->scratch, claim->reserved_count * sizeof *uids);
    uint32_t count = 0;
    for (uint32_t i = 0; i < claim->reserved_count; i++) {
        if (claim->reserved_for[i] != uid)
            uids[count++] = claim->reserved_for[i];
    }
    set_reserved(engine, claim, uids, count);
}

/* A pod that is put back, rather than promised a place, finds what it left, unless others have it now. */
static bool can_have_back(struct engine *engine, const struct pod *pod, const struct claim *claim)
{
    static const uint32_t put_back = 1 << POD_BINDING | 1 << POD_BOUND | 1 << POD_RUNNING;

    if (!status_in(pod->status, put_back) || claim->device_count == 0 || !devices_reach(engine, claim, pod->node))
        return false;
    return devices_are_free(engine, claim);
}

/* Devices of the claim's own class first; those of no class may have to serve others. */
static uint32_t pick(struct engine *engine, node_id node, const struct claim *claim, struct device *ret)
{
    struct device_kind kinds[] = {own_of(claim), any_for(engine, claim)};
    uint32_t count = 0;

    for (uint32_t k = 0; k < ARRAY_LEN(kinds) && count < claim->count; k++) {
        struct device_walk walk;
        if (k == 0 && kinds[k].device_class == 0)
            continue;
        device_walk_begin(&walk, engine, node, kinds[k]);
        while (count < claim->count && device_walk_next(&walk, &ret[count]))
            count++;
    }
    return count;
}

static void allocate(struct engine *engine, const struct pod *pod, struct claim *claim)
{
    struct state *state = engine->state;

    if (!can_have_back(engine, pod, claim)) {
        if (pod->node == NO_ID || !state->nodes.items[pod->node].is_present)
            return;
        /* Counted first: a claim may ask for any number. */
        int64_t own = devices_count_free(engine, pod->node, own_of(claim), claim->count);
        int64_t rest = claim->count - own;
        if (rest > 0 && devices_count_free(engine, pod->node, any_for(engine, claim), rest) < rest)
            return;
        struct device *devices = arena_alloc(&state->scratch, (size_t)claim->count * sizeof *devices);
        set_devices(engine, claim, devices, pick(engine, pod->node, claim, devices));
    }
    undo_set32(&state->undo, &claim->is_allocated, 1);
    if (engine->affinity->are_devices_known)
        devices_note_used(engine->affinity, claim);
}

static void allocate_all(struct engine *engine, const struct pod *pod, bool are_of_one_driver)
{
    for (uint32_t i = 0; i < pod->claim_count; i++) {
        struct claim *claim = claim_of(engine, pod, i);
        if (!claim || (pod->node != NO_ID && !is_needed_on(engine, pod, i, pod->node)) ||
            (any_for(engine, claim).driver != 0) != are_of_one_driver)
            continue;
        reserve(engine, claim, pod->uid);
        if (!claim->is_allocated)
            allocate(engine, pod, claim);
    }
}

void claims_allocate(struct engine *engine, pod_id id)
{
    const struct pod *pod = &engine->state->pods.items[id];

    /* Those that can take any device leave the others theirs. */
    allocate_all(engine, pod, true);
    allocate_all(engine, pod, false);
}

void claims_release(struct engine *engine, pod_id id)
{
    const struct pod *pod = &engine->state->pods.items[id];

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        struct claim *claim = claim_of(engine, pod, i);
        if (!claim)
            continue;
        unreserve(engine, claim, pod->uid);
        if (claim->reserved_count > 0 || !claim->is_allocated)
            continue;
        note(engine, claim);
        undo_set32(&engine->state->undo, &claim->is_allocated, 0);
        engine->affinity->are_devices_known = false;
    }
}

static const name_id *with_uid(struct engine *engine, const struct claim_note *note, name_id uid)
{
    name_id *uids = arena_alloc(&engine->state->scratch, (note->reserved_count + 1) * sizeof *uids);

    for (uint32_t i = 0; i < note->reserved_count; i++)
        uids[i] = note->reserved_for[i];
    uids[note->reserved_count] = uid;
    return uids;
}

void claims_keep(struct engine *engine, pod_id id)
{
    const struct pod *pod = &engine->state->pods.items[id];

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        const struct claim *claim = claim_of(engine, pod, i);
        struct claim_note *known = claim ? find_note(engine, pod->claims[i].claim) : NULL;
        if (!known || !is_needed_on(engine, pod, i, pod->node))
            continue;
        known->reserved_for = with_uid(engine, known, pod->uid);
        known->reserved_count++;
        if (known->is_allocated)
            continue;
        known->is_allocated = claim->is_allocated;
        known->devices = claim->devices;
        known->device_count = claim->device_count;
    }
}

void claims_close(struct engine *engine)
{
    vec_foreach (&engine->claim_notes, known) {
        struct claim *claim = &engine->state->claims.items[known->claim];

        claim->is_allocated = known->is_allocated;
        claim->device_count = known->device_count;
        claim->reserved_count = known->reserved_count;
        claim->devices = known->devices;
        claim->reserved_for = known->reserved_for;
        claim->lists_are_owned = 0;
    }
    vec_clear(&engine->claim_notes);
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
    }
}
