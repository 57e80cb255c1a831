/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Operations on pods, each a few changes of books in a fixed order: status, node, then what follows from the place (the
 * queue's charge, claims, NUMA zones). All go through the undo log, so that taking back an operation needs no inverse of
 * its own: books of shared GPUs have none. Whoever keeps something about nodes is told of every change, also of those
 * taken back.
 */
#include "engine/nodes/statement.h"

#include <string.h>

#include "base/macros.h"
#include "engine/context.h"
#include "engine/nodes/candidates.h"
#include "engine/nodes/filter.h"
#include "engine/nodes/gpu_room.h"
#include "engine/queues/order.h"
#include "engine/topology/topology.h"

static struct pod *pod_of(struct engine *engine, pod_id pod)
{
    return &engine->state->pods.items[pod];
}

static void touch(struct engine *engine, node_id node)
{
    candidates_node_touched(engine, node);
    topology_node_touched(engine, node);
    gpu_room_node_touched(engine, node);
}

/* The operation under way is complete. */
static void finish(struct engine *engine, node_id node)
{
    vec_last(&engine->operations).after = undo_here(&engine->state->undo);
    touch(engine, node);
}

static struct operation *append(struct engine *engine, enum operation_kind kind, pod_id pod, node_id node)
{
    vec_push(&engine->operations, (struct operation){
                                      .kind = kind,
                                      .pod = pod,
                                      .node = node,
                                      .is_valid = true,
                                      .evict = NO_ID,
                                  });
    return &vec_last(&engine->operations);
}

void statement_begin(struct engine *engine)
{
    BUG_ON(engine->operations.len > 0);
    engine->state->undo.is_recording = true;
    if (engine->evictions.len < engine->state->pods.len) {
        uint32_t known = engine->evictions.len;
        vec_resize(&engine->evictions, engine->state->pods.len);
        for (uint32_t i = known; i < engine->evictions.len; i++)
            engine->evictions.items[i] = NO_ID;
    }
}

uint32_t statement_checkpoint(const struct engine *engine)
{
    return engine->operations.len;
}

static void end_operation(struct engine *engine, const struct operation *op)
{
    if (op->kind == OP_EVICT)
        engine->evictions.items[op->pod] = NO_ID;
    if (op->kind == OP_UNEVICT) {
        engine->operations.items[op->evict].is_valid = true;
        engine->evictions.items[op->pod] = op->evict;
    }
    touch(engine, op->node);
}

void statement_rollback(struct engine *engine, uint32_t checkpoint)
{
    /* What was changed on the way to an operation, which may not have come about, is taken back as well. */
    undo_back_to(&engine->state->undo, checkpoint > 0 ? engine->operations.items[checkpoint - 1].after : 0);
    while (engine->operations.len > checkpoint) {
        struct operation op = vec_pop(&engine->operations);
        end_operation(engine, &op);
    }
}

void statement_discard(struct engine *engine)
{
    statement_rollback(engine, 0);
    undo_forget(&engine->state->undo);
    engine->state->undo.is_recording = false;
}

/* What a pod's place means beyond its node's books: +1 takes it up, -1 gives it back. */
static void settle_place(struct engine *engine, pod_id pod, int sign)
{
    numa_draw(engine, pod, sign);
    if (pod_of(engine, pod)->claim_count > 0 && engine_has(engine, PLUGIN_DYNAMIC_RESOURCES)) {
        if (sign > 0)
            claims_allocate(engine, pod);
        else
            claims_release(engine, pod);
    }
    queue_charge(engine->state, pod, sign);
}

static void set_numa(struct engine *engine, pod_id pod, const struct numa_placement *numa)
{
    struct pod *p = pod_of(engine, pod);

    if (p->numa == numa)
        return;
    undo_set64(&engine->state->undo, &p->numa, (uint64_t)(uintptr_t)numa);
    undo_set32(&engine->state->undo, &p->numa_is_owned, 0);
    id_set_add(&engine->state->scratch_pods, pod);
}

void statement_evict(struct engine *engine, pod_id pod)
{
    struct pod *p = pod_of(engine, pod);
    struct operation *op = append(engine, OP_EVICT, pod, p->node);

    op->old_status = p->status;
    op->old_virtual = p->is_virtual;
    op->old_groups = p->groups;
    op->old_numa = p->numa;
    engine->evictions.items[pod] = engine->operations.len - 1;

    pod_set_status(engine->state, pod, POD_RELEASING);
    node_release(engine->state, p->node, pod);
    node_hold(engine->state, p->node, pod);
    settle_place(engine, pod, -1);
    pod_set_virtual(engine->state, pod, true);
    finish(engine, p->node);
}

static bool same_numa(const struct numa_placement *a, const struct numa_placement *b)
{
    if (!a || !b)
        return a == b;
    return a->count == b->count && memcmp(a->draws, b->draws, a->count * sizeof *a->draws) == 0;
}

static bool same_groups(const struct held *held, const struct group_list *groups)
{
    if (held->group_count != groups->count)
        return false;
    for (uint32_t i = 0; i < groups->count; i++) {
        gpu_group one = held->group_count == 1 ? held->group : held->groups[i];
        if (one != group_at(groups, i))
            return false;
    }
    return true;
}

/* Back to where it was evicted from, which need not be the node that holds a part of it still. */
static bool unevict(struct engine *engine, pod_id pod)
{
    uint32_t index = engine->evictions.items[pod];

    if (index == NO_ID)
        return false;
    node_id node = engine->operations.items[index].node;
    struct operation *op = append(engine, OP_UNEVICT, pod, node);
    struct operation *evict = &engine->operations.items[index];
    op->evict = index;
    evict->is_valid = false;
    engine->evictions.items[pod] = NO_ID;

    pod_set_status(engine->state, pod, evict->old_status);
    pod_set_virtual(engine->state, pod, evict->old_virtual);
    pod_set_groups(engine->state, pod, evict->old_groups);
    pod_set_node(engine->state, pod, node);
    set_numa(engine, pod, evict->old_numa);
    node_release(engine->state, node, pod);
    node_hold(engine->state, node, pod);
    settle_place(engine, pod, +1);
    finish(engine, node);
    return true;
}

/* Pods with claims that the statement has promised a place on the node, or elsewhere with devices that the pod uses. */
static pod_id *promised_devices(struct engine *engine, pod_id pod, node_id node, uint32_t *ret_count)
{
    pod_id *promised = arena_alloc(&engine->placing, engine->operations.len * sizeof *promised);
    uint32_t count = 0;

    vec_foreach (&engine->operations, op) {
        const struct pod *other = pod_of(engine, op->pod);
        if (op->kind == OP_PIPELINE && op->is_valid && other->status == POD_PIPELINED && other->claim_count > 0 &&
            (op->node == node || claims_took_devices(engine, op->pod, pod)))
            promised[count++] = op->pod;
    }
    *ret_count = count;
    return promised;
}

/*
 * Pods that were promised devices of the pod get others. All of them choose anew, in the order in which they were placed,
 * as they will when the cycle comes in which they start.
 */
static bool make_way(struct engine *engine, pod_id pod, node_id node)
{
    undo_mark before = undo_here(&engine->state->undo);
    uint32_t count;
    const pod_id *promised = promised_devices(engine, pod, node, &count);

    for (uint32_t i = 0; i < count; i++)
        claims_release(engine, promised[i]);
    bool works = claims_return(engine, pod);
    for (uint32_t i = 0; works && i < count; i++)
        works = claims_allocate_anew(engine, promised[i]);
    if (!works)
        undo_back_to(&engine->state->undo, before);
    return works;
}

/*
 * A pod that stays goes on using its devices: they cannot be exchanged while it runs. Without this, a search finds room
 * that will not be there, and finds it again in every cycle. One that was only promised its place may have any devices.
 */
static bool keeps_devices(struct engine *engine, pod_id pod, node_id node)
{
    uint32_t index = engine->evictions.items[pod];

    if (index == NO_ID || engine->operations.items[index].old_status == POD_PIPELINED ||
        pod_of(engine, pod)->claim_count == 0 || !engine_has(engine, PLUGIN_DYNAMIC_RESOURCES))
        return true;
    return claims_return(engine, pod) || make_way(engine, pod, node);
}

bool statement_pipeline(struct engine *engine, pod_id pod, node_id node, bool updates, struct group_list groups,
                        const struct numa_placement *numa)
{
    const struct held *held = node_holds(engine->state, node, pod);
    bool is_shared = request_is_shared(state_request(engine->state, pod));
    bool is_moved = held && is_shared && groups.count > 0 && !same_groups(held, &groups);
    /* An empty new placement is no change. */
    bool is_redrawn = held && numa && !same_numa(numa, pod_of(engine, pod)->numa);

    if (held && !updates && !is_moved && !is_redrawn && keeps_devices(engine, pod, node))
        return unevict(engine, pod);

    append(engine, OP_PIPELINE, pod, node);
    if (is_shared)
        pod_set_groups(engine->state, pod, groups);
    pod_set_status(engine->state, pod, POD_PIPELINED);
    pod_set_node(engine->state, pod, node);
    pod_set_virtual(engine->state, pod, true);
    set_numa(engine, pod, numa);
    /* What a pod holds of another GPU of this node is released when it ends there: its charge stays. */
    if (is_moved)
        node_forget(engine->state, node, pod);
    else if (held)
        node_release(engine->state, node, pod);
    node_hold(engine->state, node, pod);
    settle_place(engine, pod, +1);
    finish(engine, node);
    return true;
}

void statement_allocate(struct engine *engine, pod_id pod, node_id node, struct group_list groups,
                        const struct numa_placement *numa)
{
    append(engine, OP_ALLOCATE, pod, node);
    if (groups.count > 0)
        pod_set_groups(engine->state, pod, groups);
    pod_set_status(engine->state, pod, POD_ALLOCATED);
    pod_set_node(engine->state, pod, node);
    pod_set_virtual(engine->state, pod, true);
    set_numa(engine, pod, numa);
    node_hold(engine->state, node, pod);
    settle_place(engine, pod, +1);
    finish(engine, node);
}

void statement_convert(struct engine *engine, gang_id gang)
{
    uint32_t count = engine->operations.len;

    for (uint32_t i = 0; i < count; i++) {
        struct operation op = engine->operations.items[i];
        if (op.kind != OP_ALLOCATE || !op.is_valid || pod_of(engine, op.pod)->gang != gang)
            continue;
        engine->operations.items[i].is_valid = false;
        struct group_list groups = pod_of(engine, op.pod)->groups;
        const struct numa_placement *numa = pod_of(engine, op.pod)->numa;
        settle_place(engine, op.pod, -1);
        node_release(engine->state, op.node, op.pod);
        pod_set_status(engine->state, op.pod, POD_PENDING);
        (void)statement_pipeline(engine, op.pod, op.node, true, groups, numa);
    }
}

static void carry_out(struct engine *engine, const struct operation *op, enum action action, gang_id on_behalf)
{
    static const enum decision_kind kinds[] = {
        [OP_EVICT] = DECISION_EVICT, [OP_PIPELINE] = DECISION_PIPELINE, [OP_ALLOCATE] = DECISION_BIND};
    struct pod *pod = pod_of(engine, op->pod);

    if (op->kind == OP_UNEVICT)
        return;
    if (op->kind == OP_EVICT) {
        pod_set_virtual(engine->state, op->pod, false);
        vec_push(&engine->moved, (struct moved_pod){
                                     .pod = op->pod,
                                     .was_promised = op->old_status == POD_PIPELINED,
                                     .from = op->node,
                                     .groups = op->old_groups,
                                     .numa = op->old_numa,
                                 });
        if (action != ACTION_STALE_GANG && pod->gang != NO_ID)
            engine->state->gangs.items[pod->gang].last_eviction = engine->now;
    }
    if (op->kind == OP_ALLOCATE) {
        pod_set_status(engine->state, op->pod, POD_BINDING);
        pod_set_virtual(engine->state, op->pod, false);
        if (pod->claim_count > 0)
            claims_keep(engine, op->pod);
    }
    vec_push(&engine->decisions, (struct decision){
                                     .action = action,
                                     .kind = kinds[op->kind],
                                     .pod = op->pod,
                                     .node = pod->node,
                                     .on_behalf = op->kind == OP_EVICT ? on_behalf : NO_ID,
                                 });
}

void statement_commit(struct engine *engine, enum action action, gang_id on_behalf)
{
    engine->state->undo.is_recording = false;
    vec_foreach (&engine->operations, op) {
        if (op->is_valid)
            carry_out(engine, op, action, on_behalf);
        engine->evictions.items[op->pod] = NO_ID;
    }
    /* Orders are kept by gang: each is told once all of its pods are where they stay. */
    vec_foreach (&engine->operations, op) {
        gang_id gang = pod_of(engine, op->pod)->gang;
        if (gang == NO_ID)
            continue;
        kept_orders_gang_changed(engine, gang);
        gpu_room_gang_changed(engine, gang);
    }
    vec_clear(&engine->operations);
    undo_forget(&engine->state->undo);
}
