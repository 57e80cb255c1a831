/* SPDX-License-Identifier: Apache-2.0 */

/* Copies gangs and pods, with the change in those of the workload that it is about. */
#include <math.h>
#include <stdio.h>

#include "base/macros.h"
#include "model/delta.h"
#include "model/retell/retell_internal.h"
#include "model/state.h"

static bool is_gone(const struct copier *c, gang_id gang)
{
    return gang != c->change->gang && (c->change->is_emptied || (gang == c->change->without && gang != NO_ID));
}

static struct group_spec *copy_groups(struct copier *c, gang_id id, const struct gang *gang)
{
    struct group_spec *groups = arena_calloc(&c->scratch, gang->group_count, sizeof *groups);

    for (uint32_t i = 0; i < gang->group_count; i++) {
        const struct group *from = &gang->groups[i];
        groups[i] = (struct group_spec){
            .name = copy_name(c, from->name),
            .parent = from->parent == NO_ID ? -1 : (int32_t)from->parent,
            .is_pod_set = from->is_pod_set,
            .min = from->min,
            .topology = {copy_name(c, from->topology.topology), copy_name(c, from->topology.required),
                         copy_name(c, from->topology.preferred)},
        };
    }
    if (id != c->change->gang)
        return groups;
    if (c->change->min_group != NO_ID)
        groups[c->change->min_group].min = c->change->min;
    if (c->change->level_group != NO_ID && c->change->level)
        groups[c->change->level_group].topology.required = c->change->level;
    else if (c->change->level_group != NO_ID)
        groups[c->change->level_group].topology = (struct topology_constraint_spec){0};
    return groups;
}

static void copy_gang(struct copier *c, gang_id id)
{
    const struct gang *gang = &c->from->gangs.items[id];
    bool is_changed = id == c->change->gang;
    struct gang_spec spec = {
        .namespace = copy_name(c, gang->namespace),
        .name = copy_name(c, gang->name),
        .uid = copy_name(c, gang->uid),
        .queue = is_changed && c->change->queue ? c->change->queue : copy_name(c, gang->queue_name),
        .priority = gang->priority,
        .is_preemptible = gang->is_preemptible || (is_changed && c->change->is_preemptible),
        .created = gang->created,
        .last_start = gang->last_start,
        .last_eviction = gang->last_eviction,
        .stale_since = gang->stale_since,
        .preemption_delay = gang->preemption_delay,
        .has_grace = gang->has_grace,
        .staleness_grace = gang->staleness_grace,
        .has_tree_error = gang->has_tree_error,
        .groups = copy_groups(c, id, gang),
        .group_count = gang->group_count,
    };

    copy_say(c, DELTA_PUT_GANG, &spec);
}

void copy_gangs(struct copier *c)
{
    for (gang_id id = 0; id < c->from->gangs.len; id++) {
        if (c->from->gangs.items[id].is_present && !is_gone(c, id))
            copy_gang(c, id);
        arena_clear(&c->scratch);
    }
}

/* Pods and GPUs stand apart in a spec. */
static void copy_request_amounts(struct copier *c, const struct request *from, bool is_changed, struct request_spec *to)
{
    int64_t v[RES_MAX] = {0};

    for (uint32_t dim = 0; dim < from->v_count; dim++)
        v[dim] = from->v[dim];
    v[RES_GPU] = v[RES_PODS] = 0;
    if (is_changed && c->change->part == REQUEST_PART_AMOUNT)
        v[c->change->dim] = c->change->value;
    to->amounts = copy_amounts(c, v, c->from->res.count, false, &to->amount_count);
}

static void change_request(const struct retell_change *change, struct request_spec *request)
{
    switch (change->part) {
    case REQUEST_PART_GPUS:
        request->gpus = change->value;
        break;
    case REQUEST_PART_PORTION:
        request->kind = REQUEST_FRACTION;
        request->gpus = 0;
        request->devices = request->devices > 0 ? request->devices : 1;
        request->portion = (double)change->value / 100;
        break;
    case REQUEST_PART_GPU_MEMORY:
        request->memory_mib = change->value;
        break;
    case REQUEST_PART_DEVICES:
        request->devices = (uint32_t)change->value;
        break;
    case REQUEST_PART_AMOUNT:
    case REQUEST_PART_NONE:
        break;
    }
}

static void copy_request(struct copier *c, const struct request *from, bool is_changed, struct request_spec *to)
{
    *to = (struct request_spec){
        .kind = from->kind,
        .qos = from->qos,
        .is_legacy_mig = from->is_legacy_mig,
        .gpus = from->kind == REQUEST_REGULAR ? from->gpus / GPU_ONE : 0,
        .devices = from->devices,
        .portion = from->portion,
        .memory_mib = from->memory_mib,
    };
    copy_request_amounts(c, from, is_changed, to);
    if (is_changed)
        change_request(c->change, to);
}

static const char *const *copy_gpu_groups(struct copier *c, const struct pod *pod)
{
    const char **names = arena_alloc(&c->scratch, pod->groups.count * sizeof *names);

    for (uint32_t i = 0; i < pod->groups.count; i++) {
        gpu_group group = group_at(&pod->groups, i);
        char number[32];

        (void)snprintf(number, sizeof number, "fresh-%llu", (unsigned long long)(group & ~GPU_GROUP_FRESH));
        names[i] = gpu_group_is_fresh(group) ? arena_strdup(&c->scratch, number) : copy_name(c, (name_id)group);
    }
    return names;
}

/* A spec says GPUs by name; those that have none are told by moving the pod to where it is. */
static void copy_fresh_groups(struct copier *c, const struct pod *pod, const struct pod_spec *spec)
{
    struct gpu_group_spec *groups = arena_calloc(&c->scratch, pod->groups.count, sizeof *groups);
    bool has_fresh = false;

    for (uint32_t i = 0; i < pod->groups.count; i++) {
        gpu_group group = group_at(&pod->groups, i);

        if (gpu_group_is_fresh(group))
            groups[i].number = group & ~GPU_GROUP_FRESH;
        else
            groups[i].name = copy_name(c, (name_id)group);
        has_fresh |= gpu_group_is_fresh(group);
    }
    if (has_fresh)
        copy_say(
            c, DELTA_MOVE_POD,
            &(struct pod_move_spec){spec->namespace, spec->name, spec->status, spec->node, groups, pod->groups.count});
}

/* A plan for GPUs asked for as a resource is made again where it is copied. */
static void copy_pod_claims(struct copier *c, const struct pod *pod, struct pod_spec *spec)
{
    struct pod_claim_spec *claims = arena_calloc(&c->scratch, pod->claim_count, sizeof *claims);

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        const struct claim *claim = &c->from->claims.items[pod->claims[i].slot];

        if (!pod->claims[i].is_extended)
            claims[spec->claim_count++] =
                (struct pod_claim_spec){copy_name(c, claim->name), pod->claims[i].is_from_template};
        else if (!claim->is_plan)
            spec->extended_claim = copy_name(c, claim->name);
    }
    spec->claims = claims;
    spec->gpu_resource = copy_name(c, pod->gpu_resource);
}

static struct numa_draw_spec *copy_draws(struct copier *c, const struct numa_placement *numa, size_t *ret_count)
{
    struct numa_draw_spec *draws = NULL;

    *ret_count = numa ? numa->count : 0;
    if (*ret_count > 0)
        draws = arena_calloc(&c->scratch, numa->count, sizeof *draws);
    for (uint32_t i = 0; i < *ret_count; i++)
        draws[i] = (struct numa_draw_spec){copy_name(c, numa->draws[i].zone),
                                           copy_name(c, c->from->res.name[numa->draws[i].dim]), numa->draws[i].amount};
    return draws;
}

static void change_constraints(const struct copier *c, struct pod_spec *spec)
{
    static const struct toleration_spec all = {.exists = true, .any_effect = true};

    if (c->change->drops_node_limits) {
        spec->constraints.node_selector_count = spec->constraints.node_term_count = 0;
        spec->constraints.has_node_selector = false;
    }
    if (c->change->tolerates_all) {
        spec->constraints.tolerations = &all;
        spec->constraints.toleration_count = 1;
    }
}

static void copy_pod(struct copier *c, const struct pod *pod)
{
    struct pod_spec spec = {
        .namespace = copy_name(c, pod->namespace),
        .name = copy_name(c, pod->name),
        .uid = copy_name(c, pod->uid),
        .gang = pod->gang == NO_ID ? NULL : copy_name(c, c->from->gangs.items[pod->gang].name),
        .pod_set = copy_name(c, pod->pod_set_name),
        .created = pod->created,
        .deleted = pod->deleted,
        .status = (enum pod_status)pod->status,
        .node = copy_node_name(c, pod->node),
        .nominated_node = copy_node_name(c, pod->nominated_node),
        .gpu_groups = copy_gpu_groups(c, pod),
        .gpu_group_count = pod->groups.count,
        .is_foreign = pod->is_foreign,
        .is_reservation = pod->is_reservation,
        .is_utility = pod->is_utility,
        .roles = pod->roles,
        .has_task_priority = pod->has_task_priority,
        .is_task_priority_bad = pod->is_task_priority_bad,
        .task_priority = pod->task_priority,
    };
    /* A pod that is somewhere stays as it is: what it asked for is what it holds. */
    bool is_changed = pod->gang == c->change->gang && pod->status == POD_PENDING;

    spec.labels = copy_labels(c, pod->labels, &spec.label_count);
    copy_pod_claims(c, pod, &spec);
    spec.numa = copy_draws(c, pod->numa, &spec.numa_count);
    copy_request(c, &c->from->requests.items[pod->request], is_changed && pod->request == c->change->request,
                 &spec.request);
    copy_constraints(c, &c->from->constraints.items[pod->constraints], &spec.constraints);
    if (is_changed)
        change_constraints(c, &spec);
    copy_say(c, DELTA_PUT_POD, &spec);
    if (c->keeps_fresh)
        copy_fresh_groups(c, pod, &spec);
}

void copy_pods(struct copier *c)
{
    for (pod_id id = 0; id < c->from->pods.len; id++) {
        const struct pod *pod = &c->from->pods.items[id];
        if (pod->is_present && !is_gone(c, pod->gang))
            copy_pod(c, pod);
        arena_clear(&c->scratch);
    }
}
