/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Dynamic resource allocation. A claim gets its devices when the first pod that names it is placed, and loses them when
 * the last one leaves. A claim that lost its devices in this cycle still points to them: a pod that is put back where
 * it was goes on using the same.
 *
 * What a cycle does with claims for promises' sake ends with it: pods that are leaving hold their devices until they have
 * left, and those that were promised a place hold none. How a claim will be then is noted when it is first changed; only
 * pods that are bound change the note.
 */
#include <string.h>

#include "engine/nodes/claims_internal.h"
#include "engine/nodes/devices.h"
#include "engine/nodes/filter.h"
#include "engine/nodes/pods/affinity.h"

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
                                       .amount_count = claim->amount_count,
                                       .devices = claim->devices,
                                       .reserved_for = claim->reserved_for,
                                       .amounts = claim->amounts,
                                   });
}

static void set_devices(struct engine *engine, struct claim *claim, const struct device *devices, uint32_t count,
                        const struct device_amount *amounts, uint32_t amount_count)
{
    struct undo *undo = &engine->state->undo;

    note(engine, claim);
    undo_set64(undo, &claim->devices, (uint64_t)(uintptr_t)devices);
    undo_set32(undo, &claim->device_count, count);
    undo_set64(undo, &claim->amounts, (uint64_t)(uintptr_t)amounts);
    undo_set32(undo, &claim->amount_count, amount_count);
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
    if (claim_is_reserved_for(claim, uid))
        return;
    name_id *uids = arena_alloc(&engine->state->scratch, (claim->reserved_count + 1) * sizeof *uids);
    for (uint32_t i = 0; i < claim->reserved_count; i++)
        uids[i] = claim->reserved_for[i];
    uids[claim->reserved_count] = uid;
    set_reserved(engine, claim, uids, claim->reserved_count + 1);
}

static void unreserve(struct engine *engine, struct claim *claim, name_id uid)
{
    if (!claim_is_reserved_for(claim, uid))
        return;
    name_id *uids = arena_alloc(&engine->state->scratch, claim->reserved_count * sizeof *uids);
    uint32_t count = 0;
    for (uint32_t i = 0; i < claim->reserved_count; i++) {
        if (claim->reserved_for[i] != uid)
            uids[count++] = claim->reserved_for[i];
    }
    set_reserved(engine, claim, uids, count);
}

/* The devices that the allocator picked for the claim, which is the one at `index` in its list. */
static void take_picks(struct engine *engine, const struct allocator *allocator, uint32_t index, struct claim *claim)
{
    struct state *state = engine->state;
    struct device *devices = arena_alloc(&state->scratch, allocator->picks.len * sizeof *devices);
    uint32_t most_amounts = 0;
    uint32_t amount_count = 0;
    uint32_t count = 0;

    vec_foreach (&allocator->picks, pick)
        most_amounts += pick->is_share && pick->claim == index ? pick->amount_count : 0;
    struct device_amount *amounts =
        most_amounts > 0 ? arena_alloc(&state->scratch, most_amounts * sizeof *amounts) : NULL;
    vec_foreach (&allocator->picks, pick) {
        name_id request = 0;

        if (pick->claim != index)
            continue;
        (void)intern_find(&state->names, pick->ask->full_name, strlen(pick->ask->full_name), &request);
        devices[count++] = (struct device){
            .driver = pick->slice->driver,
            .pool = slice_pool_name(state, pick->slice),
            .name = pick->slice->devices[pick->device],
            .request = request,
            .is_admin = pick->ask->is_admin,
            .is_share = pick->is_share,
            .first_amount = amount_count,
            .amount_count = pick->is_share ? pick->amount_count : 0,
        };
        for (uint32_t i = 0; amounts && pick->is_share && i < pick->amount_count; i++)
            amounts[amount_count++] = pick->amounts[i];
    }
    set_devices(engine, claim, devices, count, amounts, amount_count);
}

static void mark_allocated(struct engine *engine, struct claim *claim)
{
    devices_change(engine, claim);
    undo_set32(&engine->state->undo, &claim->is_allocated, 1);
}

/* Devices for these claims together; false when there are none. */
static bool allocate(struct engine *engine, node_id node, const struct claim *const *claims, uint32_t count)
{
    struct allocator *allocator = devices_allocator(engine);

    if (!allocator_find(allocator, node, claims, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        take_picks(engine, allocator, i, &engine->state->claims.items[claims[i] - engine->state->claims.items]);
    for (uint32_t i = 0; i < count; i++)
        mark_allocated(engine, &engine->state->claims.items[claims[i] - engine->state->claims.items]);
    return true;
}

static void allocate_open(struct engine *engine, const struct pod *pod)
{
    struct arena arena;
    uint32_t count;

    if (pod->node == NO_ID || !engine->state->nodes.items[pod->node].is_present)
        return;
    arena_init(&arena);
    const struct claim **open = claims_open(engine, pod, pod->node, &arena, &count);
    /* A pod that is put somewhere without being asked about may find devices for some of its claims alone. */
    if (count > 0 && !allocate(engine, pod->node, open, count))
        for (uint32_t i = 0; count > 1 && i < count; i++)
            (void)allocate(engine, pod->node, &open[i], 1);
    arena_done(&arena);
}

void claims_allocate(struct engine *engine, pod_id id)
{
    const struct pod *pod = &engine->state->pods.items[id];

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        struct claim *claim = claim_of_pod(engine, pod, i);
        if (!claim || (pod->node != NO_ID && !claim_is_needed_on(engine, pod, i, pod->node)))
            continue;
        reserve(engine, claim, pod->uid);
    }
    allocate_open(engine, pod);
}

void claims_release(struct engine *engine, pod_id id)
{
    const struct pod *pod = &engine->state->pods.items[id];

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        struct claim *claim = claim_of_pod(engine, pod, i);
        if (!claim)
            continue;
        unreserve(engine, claim, pod->uid);
        if (claim->reserved_count > 0 || !claim->is_allocated)
            continue;
        note(engine, claim);
        devices_change(engine, claim);
        undo_set32(&engine->state->undo, &claim->is_allocated, 0);
    }
}

/* The i-th claim of a pod that was evicted, when the pod had devices by it; how it had them goes to `ret`. */
static struct claim *left_claim(struct engine *engine, const struct pod *pod, uint32_t i, const struct claim_note **ret)
{
    struct claim *claim = claim_of_pod(engine, pod, i);

    *ret = claim ? find_note(engine, pod->claims[i].claim) : NULL;
    return *ret && (*ret)->is_allocated && claim_is_needed_on(engine, pod, i, pod->node) ? claim : NULL;
}

bool claims_return(struct engine *engine, pod_id id)
{
    const struct pod *pod = &engine->state->pods.items[id];
    undo_mark before = undo_here(&engine->state->undo);
    const struct claim_note *left;
    bool works = true;

    for (uint32_t i = 0; works && i < pod->claim_count; i++) {
        struct claim *claim = left_claim(engine, pod, i, &left);
        /* Others that share the claim may have been promised a place with other devices, or be back already. */
        if (!claim || (claim->is_allocated && claim->devices == left->devices))
            continue;
        works = !claim->is_allocated;
        if (works && claim->devices != left->devices)
            set_devices(engine, claim, left->devices, left->device_count, left->amounts, left->amount_count);
        works = works && devices_are_free(engine, claim, pod->node);
        if (works)
            mark_allocated(engine, claim);
    }
    if (!works)
        undo_back_to(&engine->state->undo, before);
    return works;
}

static bool have_device_in_common(const struct claim *claim, const struct claim_note *left)
{
    for (uint32_t i = 0; i < claim->device_count; i++)
        for (uint32_t k = 0; k < left->device_count; k++) {
            const struct device *a = &claim->devices[i];
            const struct device *b = &left->devices[k];

            if (a->name == b->name && a->pool == b->pool && a->driver == b->driver)
                return true;
        }
    return false;
}

bool claims_took_devices(struct engine *engine, pod_id id, pod_id from)
{
    const struct pod *pod = &engine->state->pods.items[id];
    const struct pod *owner = &engine->state->pods.items[from];
    const struct claim_note *left;

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        const struct claim *claim = claim_of_pod(engine, pod, i);
        for (uint32_t k = 0; claim && claim->is_allocated && k < owner->claim_count; k++)
            if (left_claim(engine, owner, k, &left) && have_device_in_common(claim, left))
                return true;
    }
    return false;
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
        const struct claim *claim = claim_of_pod(engine, pod, i);
        struct claim_note *known = claim ? find_note(engine, pod->claims[i].claim) : NULL;
        if (!known || !claim_is_needed_on(engine, pod, i, pod->node))
            continue;
        known->reserved_for = with_uid(engine, known, pod->uid);
        known->reserved_count++;
        if (known->is_allocated)
            continue;
        known->is_allocated = claim->is_allocated;
        known->devices = claim->devices;
        known->device_count = claim->device_count;
        known->amounts = claim->amounts;
        known->amount_count = claim->amount_count;
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
        claim->amounts = known->amounts;
        claim->amount_count = known->amount_count;
        claim->reserved_for = known->reserved_for;
        claim->lists_are_owned = 0;
    }
    vec_clear(&engine->claim_notes);
    devices_close(engine);
}
