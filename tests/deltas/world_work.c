/* SPDX-License-Identifier: Apache-2.0 */

/* Nodes, queues, gangs and pods said to a state. */
#include <stdio.h>

#include "base/err.h"
#include "base/macros.h"
#include "model/parts.h"
#include "world_internal.h"
#include "world_tables.h"

enum { ZONES_MAX = 4, ZONE_AMOUNTS = 2, LABELS_MAX = 4 };

struct numa_parts {
    struct amount_spec amounts[ZONE_AMOUNTS];
    struct numa_zone_spec zones[ZONES_MAX];
    struct numa_spec spec;
};

static int64_t amount_of(const struct node_shape *shape, const char *resource)
{
    for (uint32_t i = 0; i < SHAPE_AMOUNTS && shape->amounts[i].resource; i++)
        if (strcmp(shape->amounts[i].resource, resource) == 0)
            return shape->amounts[i].amount;
    return 0;
}

/* Every zone has the same part of the node's CPUs and GPUs. */
static const struct numa_spec *make_numa(const struct world_node *node, struct numa_parts *parts)
{
    static const char *const names[] = {"node-0", "node-1", "node-2", "node-3"};
    const struct numa_row *row = &numa_rows[node->numa];
    const struct node_shape *shape = &node_shapes[node->shape];
    int64_t zones = row->zones;

    if (zones == 0)
        return NULL;
    parts->amounts[0] = (struct amount_spec){"cpu", amount_of(shape, "cpu") / zones / 1000 * 1000};
    parts->amounts[1] =
        (struct amount_spec){"nvidia.com/gpu", amount_of(shape, "nvidia.com/gpu") / GPU_ONE / zones * GPU_ONE};
    for (uint32_t z = 0; z < row->zones; z++)
        parts->zones[z] = (struct numa_zone_spec){names[z], parts->amounts, 2, parts->amounts, 2};
    parts->spec = (struct numa_spec){
        .policy = row->policy,
        .is_pod_scope = row->is_pod_scope,
        .reconstructs_available = row->reconstructs_available,
        .zones = parts->zones,
        .zone_count = row->zones,
    };
    return &parts->spec;
}

static size_t fill_labels(const struct world *world, uint32_t i, struct str_pair *labels)
{
    const struct world_node *node = &world->nodes[i];
    const struct str_pair all[LABELS_MAX] = {
        {"zone", zone_text(node->zone)},
        {"rack", rack_text(node->rack)},
        {"pool", pool_text(node->pool)},
        {"host", world_name(KIND_NODE, i)},
    };
    size_t count = 0;

    for (uint32_t l = 0; l < LABELS_MAX; l++)
        if (all[l].value)
            labels[count++] = all[l];
    return count;
}

void tell_node(const struct world *world, struct state *state, uint32_t i)
{
    const struct world_node *node = &world->nodes[i];
    const struct node_shape *shape = &node_shapes[node->shape];
    struct amount_spec amounts[SHAPE_AMOUNTS];
    struct str_pair labels[LABELS_MAX];
    struct numa_parts numa;
    struct node_spec spec = {
        .name = world_name(KIND_NODE, i),
        .labels = labels,
        .label_count = fill_labels(world, i, labels),
        .taints = taint_rows[node->taints].taints,
        .taint_count = taint_rows[node->taints].count,
        .troubles = node->troubles,
        .allocatable = amounts,
        .device_count = -1,
        .gpu_memory_mib = shape->gpu_memory_mib,
        .is_gpu_memory_known = shape->gpu_memory_mib > 0,
        .is_mig_enabled = shape->is_mig_enabled,
        .mig_strategy = shape->mig_strategy,
        .numa = make_numa(node, &numa),
    };
    struct err err = {0};

    for (; spec.allocatable_count < SHAPE_AMOUNTS && shape->amounts[spec.allocatable_count].resource;
         spec.allocatable_count++) {
        struct amount_spec amount = shape->amounts[spec.allocatable_count];
        if (node->has_few_pods && strcmp(amount.resource, "pods") == 0)
            amount.amount = 3;
        amounts[spec.allocatable_count] = amount;
    }
    if (node->is_present)
        told(state_put_node(state, &spec, &err), &err);
    else
        state_drop_node(state, spec.name);
}

void tell_queue(const struct world *world, struct state *state, uint32_t i)
{
    const struct world_queue *queue = &world->queues[i];
    struct queue_spec spec = {
        .name = world_name(KIND_QUEUE, i),
        .uid = i % 3 ? NULL : world_name(KIND_GANG, WORLD_QUEUES - i),  // some other order than that of the names
        .parent = queue->is_parent_lost      ? "nobody"
                  : queue->parent == NOWHERE ? NULL
                                             : world_name(KIND_QUEUE, queue->parent),
        .priority = queue->priority,
        .created = queue->created,
        .has_preempt_min_runtime = queue->preempt_min_runtime >= 0,
        .has_reclaim_min_runtime = queue->reclaim_min_runtime >= 0,
        .preempt_min_runtime = queue->preempt_min_runtime,
        .reclaim_min_runtime = queue->reclaim_min_runtime,
    };
    struct err err = {0};

    memcpy(spec.deserved, queue->deserved, sizeof spec.deserved);
    memcpy(spec.limit, queue->limit, sizeof spec.limit);
    memcpy(spec.weight, queue->weight, sizeof spec.weight);
    memcpy(spec.usage, queue->usage, sizeof spec.usage);
    if (queue->is_present)
        told(state_put_queue(state, &spec, &err), &err);
    else
        state_drop_queue(state, spec.name);
}

void tell_gang(const struct world *world, struct state *state, uint32_t i)
{
    const struct world_gang *gang = &world->gangs[i];
    const struct tree_shape *tree = &tree_shapes[gang->tree];
    struct group_spec groups[WORLD_GROUPS];
    struct gang_spec spec = {
        .namespace = world_namespace(KIND_GANG, i),
        .name = world_name(KIND_GANG, i),
        .queue = gang->queue == NOWHERE ? "nowhere" : world_name(KIND_QUEUE, gang->queue),
        .priority = gang->priority,
        .is_preemptible = gang->is_preemptible,
        .created = gang->created,
        .last_start = gang->last_start,
        .last_eviction = gang->last_eviction,
        .stale_since = gang->stale_since,
        .preemption_delay = gang->preemption_delay,
        .has_grace = gang->has_grace,
        .staleness_grace = gang->grace,
        .groups = groups,
        .group_count = tree->count,
    };
    struct err err = {0};

    for (uint32_t g = 0; g < tree->count; g++) {
        groups[g] = tree->groups[g];
        if (groups[g].is_pod_set)
            groups[g].min = gang->mins[g];
    }
    groups[gang_constrained_group(gang)].topology = place_shapes[gang->place].constraint;
    if (gang->is_present)
        told(state_put_gang(state, &spec, &err), &err);
    else
        state_drop_gang(state, spec.namespace, spec.name);
}

static const char *set_name(const struct world *world, const struct world_pod *pod)
{
    if (pod->gang == NOWHERE)
        return NULL;
    uint32_t tree = world->gangs[pod->gang].tree;
    uint32_t group = tree_pod_set(tree, pod->set);

    return group == NOWHERE ? "nowhere" : tree_shapes[tree].groups[group].name;
}

static const char *group_name(gpu_group group, char text[static WORLD_TEXT])
{
    (void)snprintf(text, WORLD_TEXT, "gpu%03u", (unsigned)group);
    return text;
}

static bool has_fresh_groups(const struct world_pod *pod)
{
    for (uint32_t g = 0; g < pod->group_count; g++)
        if (gpu_group_is_fresh(pod->groups[g]))
            return true;
    return false;
}

/* Shared GPUs that have no name yet cannot be said in a spec. */
static void tell_fresh_groups(struct state *state, const struct world_pod *pod, pod_id id)
{
    gpu_group groups[WORLD_DEVICES];
    char text[WORLD_TEXT];

    if (!has_fresh_groups(pod))
        return;
    for (uint32_t g = 0; g < pod->group_count; g++)
        groups[g] = gpu_group_is_fresh(pod->groups[g])
                        ? pod->groups[g]
                        : gpu_group_named(name_add(state, group_name(pod->groups[g], text)));
    struct group_list list = {.count = pod->group_count, .one = groups[0], .many = groups};
    state_move_pod(state, id, pod->status, state->pods.items[id].node, list);
}

static void fill_request(const struct request_shape *shape, struct request_spec *request)
{
    *request = (struct request_spec){
        .kind = shape->kind,
        .qos = shape->qos,
        .is_legacy_mig = shape->is_legacy_mig,
        .gpus = shape->gpus,
        .devices = shape->devices,
        .portion = shape->portion,
        .memory_mib = shape->memory_mib,
        .amounts = shape->amounts,
    };
    while (request->amount_count < REQUEST_AMOUNTS && shape->amounts[request->amount_count].resource)
        request->amount_count++;
}

struct pod_parts {
    char group_texts[WORLD_DEVICES][WORLD_TEXT];
    const char *groups[WORLD_DEVICES];
    struct pod_claim_spec claims[WORLD_POD_CLAIMS];
    struct numa_draw_spec draws[WORLD_DRAWS];
    struct str_pair label;
    struct rule_parts rules[2];
};

static void fill_lists(const struct world_pod *pod, struct pod_parts *parts, struct pod_spec *spec)
{
    for (uint32_t g = 0; g < pod->group_count; g++)
        parts->groups[g] = group_name(pod->groups[g], parts->group_texts[g]);
    for (uint32_t c = 0; c < pod->claim_count; c++)
        parts->claims[c] = (struct pod_claim_spec){world_name(KIND_CLAIM, pod->claims[c]), !pod->is_claim_shared};
    for (uint32_t d = 0; d < pod->draw_count; d++)
        parts->draws[d] = (struct numa_draw_spec){pod->draws[d].zone, pod->draws[d].resource, pod->draws[d].amount};
    parts->label = (struct str_pair){"app", app_text(pod->app)};
    spec->gpu_groups = parts->groups;
    spec->gpu_group_count = has_fresh_groups(pod) ? 0 : pod->group_count;
    spec->claims = parts->claims;
    spec->claim_count = pod->claim_count;
    spec->numa = parts->draws;
    spec->numa_count = pod->draw_count;
    spec->labels = &parts->label;
    spec->label_count = parts->label.value ? 1 : 0;
    for (uint32_t r = 0; r < ARRAY_LEN(pod->rules); r++)
        rule_fill(pod->rules[r], parts->label.value, &parts->rules[r], &spec->constraints);
}

void tell_pod(const struct world *world, struct state *state, uint32_t i)
{
    const struct world_pod *pod = &world->pods[i];
    struct pod_parts parts;
    struct pod_spec spec = {
        .namespace = world_namespace(KIND_POD, i),
        .name = world_name(KIND_POD, i),
        .uid = world_uid(world, i),
        .gang = pod->gang == NOWHERE ? NULL : world_name(KIND_GANG, pod->gang),
        .pod_set = set_name(world, pod),
        .created = pod->created,
        .status = pod->status,
        .node = pod->node == NOWHERE ? NULL : world_name(KIND_NODE, pod->node),
        .nominated_node = pod->nominated == NOWHERE ? NULL : world_name(KIND_NODE, pod->nominated),
        .is_foreign = pod->is_foreign,
        .is_reservation = pod->is_reservation,
        .is_utility = pod->is_reservation,
        .roles = pod->roles,
        .has_task_priority = pod->has_task_priority,
        .task_priority = pod->task_priority,
    };
    struct err err = {0};

    fill_request(&request_shapes[pod->request], &spec.request);
    fill_lists(pod, &parts, &spec);
    if (!pod->is_present) {
        state_drop_pod(state, spec.namespace, spec.name);
        return;
    }
    told(state_put_pod(state, &spec, &err), &err);
    tell_fresh_groups(state, pod, state_find_pod(state, spec.namespace, spec.name));
}
