/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Deltas of pods. Before a pod changes it is taken out of its gang's counts and its queue's sums; what follows from
 * the change for nodes and queues is left to state_settle.
 */
#include <errno.h>

#include "base/err.h"
#include "model/parts.h"

enum { GROUPS_MAX = 1024, CLAIMS_MAX = 256, DRAWS_MAX = NUMA_ZONES_MAX * RES_MAX };

void pod_touch(struct state *state, pod_id id)
{
    struct pod *pod = &state->pods.items[id];

    if (pod->gang != NO_ID)
        gang_touch(state, pod->gang);
    if (pod->is_unsettled)
        return;
    pod->is_unsettled = true;
    vec_push(&state->unsettled_pods, id);
}

static int check(struct state *state, const struct pod_spec *spec, struct err *err)
{
    if ((unsigned)spec->status >= _POD_STATUS_MAX)
        return err_set(err, -EINVAL, "unknown status %d", (int)spec->status);
    if (spec->gpu_group_count > GROUPS_MAX)
        return err_set(err, -EINVAL, "%zu GPU groups; at most %d are supported", spec->gpu_group_count, GROUPS_MAX);
    if (spec->claim_count > CLAIMS_MAX)
        return err_set(err, -EINVAL, "%zu resource claims; at most %d are supported", spec->claim_count, CLAIMS_MAX);
    if (spec->numa_count > DRAWS_MAX)
        return err_set(err, -EINVAL, "%zu NUMA records; at most %d are supported", spec->numa_count, DRAWS_MAX);
    for (size_t i = 0; i < spec->claim_count; i++)
        if (is_empty(spec->claims[i].name))
            return err_set(err, -EINVAL, "a resource claim without a name");
    for (size_t i = 0; i < spec->gpu_group_count; i++)
        if (is_empty(spec->gpu_groups[i]))
            return err_set(err, -EINVAL, "a GPU group without a name");
    for (size_t i = 0; i < spec->numa_count; i++) {
        struct amount_spec amount = {spec->numa[i].resource, spec->numa[i].amount};
        int64_t unused[RES_MAX] = {0};
        int r = amounts_read(state, &amount, 1, unused, err);

        if (r < 0)
            return r;
    }
    return 0;
}

static pod_id pod_slot(struct state *state, name_id namespace, name_id name)
{
    uint64_t key = name_pair(namespace, name);
    pod_id id = map_find(&state->pod_by_name, key);

    if (id != NO_ID)
        return id;
    id = slot_take(&state->pods, &state->unused_pods);
    struct pod *pod = &state->pods.items[id];
    pod->name = name;
    pod->namespace = namespace;
    pod->gang = NO_ID;
    pod->pod_set = NO_ID;
    pod->node = NO_ID;
    pod->nominated_node = NO_ID;
    pod->listed_node = NO_ID;
    pod->listed_place = NO_ID;
    map64_put(&state->pod_by_name, key, id);
    return id;
}

/* Its node's books, and what it counts for in its queue, are to be made anew. */
static void unsettle(struct state *state, pod_id id)
{
    const struct pod *pod = &state->pods.items[id];

    pod_touch(state, id);
    if (pod->listed_node != NO_ID)
        node_mark_stale(state, pod->listed_node);
    if (pod->node != NO_ID && pod->node != pod->listed_node)
        node_mark_stale(state, pod->node);
}

static void set_node(struct state *state, pod_id id, node_id node)
{
    struct pod *pod = &state->pods.items[id];

    pod->node = node;
    /* The list of the node's pods follows when the state is settled; until then the reference keeps the slot. */
    pod_link_node(state, id);
}

static void set_nominated(struct state *state, pod_id id, const char *name)
{
    node_id old = state->pods.items[id].nominated_node;
    node_id new = is_empty(name) ? NO_ID : node_slot(state, name_add(state, name));

    if (new == old)
        return;
    if (new != NO_ID)
        node_reference(state, new);
    state->pods.items[id].nominated_node = new;
    if (old != NO_ID)
        node_unreference(state, old);
}

static void set_groups(struct state *state, pod_id id, const struct pod_spec *spec)
{
    struct pod *pod = &state->pods.items[id];
    struct group_list groups = {.count = (uint32_t)spec->gpu_group_count};
    gpu_group *many = NULL;

    if (groups.count == 1) {
        groups.one = gpu_group_named(name_add(state, spec->gpu_groups[0]));
    } else if (groups.count > 1) {
        many = xcalloc(groups.count, sizeof *many);
        for (uint32_t i = 0; i < groups.count; i++)
            many[i] = gpu_group_named(name_add(state, spec->gpu_groups[i]));
        groups.many = many;
        groups.is_owned = 1;
    }
    state_discard(state, pod->own_groups);
    pod->own_groups = many;
    pod->groups = groups;
}

static void set_numa(struct state *state, pod_id id, const struct pod_spec *spec)
{
    struct pod *pod = &state->pods.items[id];
    struct numa_placement *numa = NULL;

    if (spec->numa_count > 0) {
        numa = xcalloc(1, sizeof *numa + spec->numa_count * sizeof *numa->draws);
        numa->count = (uint32_t)spec->numa_count;
    }
    for (uint32_t i = 0; i < spec->numa_count; i++) {
        numa->draws[i].zone = name_add(state, spec->numa[i].zone);
        numa->draws[i].amount = spec->numa[i].amount;
        BUG_ON(!resources_find(&state->res, &state->names, spec->numa[i].resource, &numa->draws[i].dim));
    }
    state_discard(state, pod->own_numa);
    pod->own_numa = numa;
    pod->numa = numa;
    pod->numa_is_owned = numa != NULL;
}

static void drop_claims(struct state *state, pod_id id)
{
    struct pod *pod = &state->pods.items[id];

    for (uint32_t i = 0; i < pod->claim_count; i++)
        claim_remove_user(state, pod->claims[i].slot, id);
    free((void *)(uintptr_t)pod->claims);
    pod->claims = NULL;
    pod->claim_count = 0;
}

static void link_claim(struct state *state, pod_id id, struct pod_claim *link, uint32_t slot)
{
    link->slot = slot;
    link->claim = state->claims.items[slot].is_present ? slot : NO_ID;
    claim_add_user(state, slot, id);
}

static void set_claims(struct state *state, pod_id id, const struct pod_spec *spec)
{
    struct pod *pod = &state->pods.items[id];
    const char *resource = spec->gpu_resource ? spec->gpu_resource : GPU_RESOURCE;

    pod->gpu_resource = spec->request.gpus > 0 ? name_add(state, resource) : 0;
    uint32_t extended = extended_slot(state, id, spec->extended_claim);
    uint32_t count = (uint32_t)spec->claim_count + (extended != NO_ID);
    struct pod_claim *claims = count ? xcalloc(count, sizeof *claims) : NULL;
    for (uint32_t i = 0; i < spec->claim_count; i++) {
        claims[i].is_from_template = spec->claims[i].is_from_template;
        link_claim(state, id, &claims[i], claim_slot(state, pod->namespace, name_add(state, spec->claims[i].name)));
    }
    if (extended != NO_ID) {
        claims[count - 1].is_from_template = claims[count - 1].is_extended = true;
        link_claim(state, id, &claims[count - 1], extended);
    }
    /* The old ones go last, so that a claim that stays keeps its slot. */
    drop_claims(state, id);
    pod->claims = claims;
    pod->claim_count = count;
    if (is_empty(spec->node) && extended != NO_ID && state->claims.items[extended].is_plan)
        claim_leave(state, extended, pod->uid);
}

/* What decides about a pod's gang, set and place in it. */
static bool is_same_member(const struct pod *a, const struct pod *b)
{
    return a->gang == b->gang && a->pod_set_name == b->pod_set_name && a->roles == b->roles &&
           a->has_task_priority == b->has_task_priority && a->is_task_priority_bad == b->is_task_priority_bad &&
           a->task_priority == b->task_priority && a->created == b->created && a->uid == b->uid;
}

static struct pod read_member(struct state *state, pod_id id, const struct pod_spec *spec)
{
    struct pod pod = state->pods.items[id];

    pod.gang = is_empty(spec->gang) ? NO_ID : gang_slot(state, pod.namespace, name_add(state, spec->gang));
    pod.uid = uid_add(state, spec->uid, spec->namespace, spec->name);
    pod.pod_set_name = name_add(state, is_empty(spec->pod_set) ? "default" : spec->pod_set);
    pod.roles = spec->roles;
    pod.has_task_priority = spec->has_task_priority;
    pod.is_task_priority_bad = spec->is_task_priority_bad;
    pod.task_priority = spec->task_priority;
    pod.created = spec->created;
    return pod;
}

static void set_status(struct state *state, pod_id id, uint32_t status)
{
    struct pod *pod = &state->pods.items[id];
    uint32_t before = pod_counters(pod->status, pod->is_virtual);

    pod->status = status;
    pod->is_virtual = 0;
    pod_count(state, id, before, pod_counters(status, false));
}

/* Moves the pod to where `member` says it belongs. Its status is counted again. */
static void set_member(struct state *state, pod_id id, const struct pod *member, uint32_t status)
{
    struct pod *pod = &state->pods.items[id];
    gang_id old = pod->gang;

    if (pod->is_present && is_same_member(pod, member)) {
        set_status(state, id, status);
        return;
    }
    if (pod->gang != NO_ID)
        gang_remove_pod(state, id);
    *pod = *member;
    pod->pod_set = NO_ID;
    pod->status = status;
    pod->is_virtual = 0;
    if (pod->gang != NO_ID)
        gang_add_pod(state, id);
    if (old != NO_ID && old != pod->gang)
        gang_free_if_unused(state, old);
}

static void set_rest(struct state *state, pod_id id, const struct pod_spec *spec)
{
    labels_id labels = labels_add(state, spec->labels, spec->label_count);
    constraints_id constraints = constraints_add(state, &spec->constraints);
    struct pod *pod = &state->pods.items[id];

    pod->labels = labels;
    pod->constraints = constraints;
    pod->deleted = spec->deleted;
    pod->is_foreign = spec->is_foreign;
    pod->is_reservation = spec->is_reservation;
    pod->is_utility = spec->is_utility;
    set_nominated(state, id, spec->nominated_node);
    set_groups(state, id, spec);
    set_numa(state, id, spec);
    set_claims(state, id, spec);
}

int state_put_pod(struct state *state, const struct pod_spec *spec, struct err *err)
{
    request_id request;
    int r;

    BUG_ON(state->undo.is_recording);
    if (is_empty(spec->name))
        return err_set(err, -EINVAL, "a pod needs a name");
    r = check(state, spec, err);
    if (r >= 0)
        r = request_add(state, &spec->request, &request, err);
    if (r < 0)
        return err_wrap(err, r, "pod '%s'", spec->name);

    pod_id id = pod_slot(state, name_add(state, spec->namespace), name_add(state, spec->name));
    pod_uncharge(state, id);
    struct pod member = read_member(state, id, spec);
    set_member(state, id, &member, spec->status);
    state->pods.items[id].is_present = true;
    state->pods.items[id].request = request;
    set_rest(state, id, spec);
    pod_refresh_request(state, id);
    unsettle(state, id);
    set_node(state, id, is_empty(spec->node) ? NO_ID : node_slot(state, name_add(state, spec->node)));
    unsettle(state, id);
    tap_tell(state, DELTA_PUT_POD, spec);
    return 0;
}

void pod_free_lists(struct state *state, pod_id id)
{
    struct pod *pod = &state->pods.items[id];

    free(pod->own_groups);
    free(pod->own_numa);
    free((void *)(uintptr_t)pod->claims);
}

void state_drop_pod(struct state *state, const char *namespace, const char *name)
{
    static const struct pod_spec nothing = {0};
    pod_id id = state_find_pod(state, namespace, name);

    BUG_ON(state->undo.is_recording);
    if (id == NO_ID)
        return;
    struct pod *pod = &state->pods.items[id];
    gang_id gang = pod->gang;

    pod_uncharge(state, id);
    unsettle(state, id);
    set_node(state, id, NO_ID);
    set_nominated(state, id, NULL);
    set_groups(state, id, &nothing);
    set_numa(state, id, &nothing);
    drop_claims(state, id);
    if (gang != NO_ID) {
        gang_remove_pod(state, id);
        pod->gang = NO_ID;
        gang_free_if_unused(state, gang);
    }
    map64_remove(&state->pod_by_name, name_pair(pod->namespace, pod->name));
    /* The slot is given back by state_settle, which has it in its list. */
    pod->is_present = false;
    tap_name(state, DELTA_DROP_POD, namespace, name);
}

static void copy_groups(struct state *state, pod_id id, struct group_list groups)
{
    struct pod *pod = &state->pods.items[id];

    groups.is_owned = 0;
    if (groups.count != 1)
        groups.one = 0;
    if (groups.count <= 1)
        groups.many = NULL;
    pod->groups = groups;
    pod_own_lists(state, id);
}

void state_move_pod(struct state *state, pod_id id, enum pod_status status, node_id node, struct group_list groups)
{
    BUG_ON(state->undo.is_recording);
    tap_move(state, id, status, node, groups);
    set_status(state, id, status);
    if (node == NO_ID) {
        state->pods.items[id].numa = NULL;
        claims_leave(state, id);
    }
    copy_groups(state, id, groups);
    unsettle(state, id);
    set_node(state, id, node);
    unsettle(state, id);
}
