/* SPDX-License-Identifier: Apache-2.0 */

/* Ray: the head and the smallest number of workers of each group are one gang, a subgroup each. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/group/rules.h"

#define HEAD_GROUP "headgroup"

/* The cluster that was made for a RayJob or RayService: as its status says, or in the input as its child. */
static int find_cluster(struct grouping *g, const struct object **ret_cluster, struct err *err)
{
    const struct object_kind *kind = object_kind_of("ray.io", "RayCluster");
    struct json_at status = json_member(&g->top->root, "status");
    struct json_at active = json_member(&status, "activeServiceStatus");
    struct json_at pending = json_member(&status, "pendingServiceStatus");
    const char *names[] = {
        json_peek_str(&status, "rayClusterName"),
        json_peek_str(&active, "rayClusterName"),
        json_peek_str(&pending, "rayClusterName"),
    };

    *ret_cluster = g->top->kind == kind ? g->top : NULL;
    if (*ret_cluster)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (names[i] && *names[i])
            return group_look_up(g, g->top->api_version, kind->kind, names[i], ret_cluster, err);
    }
    for (const struct object *cluster = object_set_first(g->objects, kind); cluster; cluster = cluster->next) {
        if (cluster->maker == g->top)
            *ret_cluster = cluster;
    }
    return 0;
}

/* A level without a topology says nothing that could be followed. */
static int group_topology(const struct json_at *group, struct topology_constraint_spec *ret_topology, struct err *err)
{
    struct json_at template = json_member(group, "template");
    struct topology_constraint_spec topology = topology_of(&template, KEY_TOPOLOGY_REQUIRED, KEY_TOPOLOGY_PREFERRED);

    *ret_topology = (struct topology_constraint_spec){0};
    if (!topology.required && !topology.preferred)
        return 0;
    if (!topology.topology)
        return json_fail(&template, err, -EINVAL, "expected the annotation " KEY_TOPOLOGY " in addition to the level");
    *ret_topology = topology;
    return 0;
}

struct worker_group {
    const char *name;
    bool is_suspended;
    int32_t replicas;
    int32_t min_replicas;
    int32_t hosts;
};

static int worker_group_decode(const struct json_at *at, size_t index, struct grouping *g,
                               struct worker_group *ret_group, struct err *err)
{
    static const struct field fields[] = {
        FIELD(worker_group, name, "groupName", FIELD_STR),
        FIELD(worker_group, is_suspended, "suspend", FIELD_BOOL),
        FIELD(worker_group, is_suspended, "suspended", FIELD_BOOL),
        FIELD(worker_group, replicas, "replicas", FIELD_COUNT),
        FIELD(worker_group, min_replicas, "minReplicas", FIELD_COUNT),
        FIELD(worker_group, hosts, "numOfHosts", FIELD_COUNT),
    };

    *ret_group = (struct worker_group){.name = "", .hosts = 1};
    TRY(FIELDS_DECODE(at, fields, ret_group, err));
    if (ret_group->min_replicas > ret_group->replicas && !ret_group->is_suspended)
        return json_fail(at, err, -EINVAL, "expected replicas >= minReplicas, found %d and %d", ret_group->replicas,
                         ret_group->min_replicas);
    if (!*ret_group->name)
        ret_group->name = arena_printf(&g->objects->arena, "worker-group-%zu", index);
    return 0;
}

static int add_worker_group(struct grouping *g, const struct json_at *at, size_t index, struct err *err)
{
    struct worker_group group;
    struct subgroup_draft draft = {.min_subgroup = -1};

    TRY(worker_group_decode(at, index, g, &group, err));
    if (group.is_suspended || group.replicas == 0)
        return 0;
    TRY(group_topology(at, &draft.topology, err));

    int64_t needed = (int64_t)(group.min_replicas > 0 ? group.min_replicas : group.replicas) * group.hosts;
    if (needed + g->min_member > INT32_MAX)
        return json_fail(at, err, -EINVAL, "expected at most %d pods", INT32_MAX);
    draft.name = group.name;
    draft.min_member = (int32_t)needed;
    g->min_member += (int32_t)needed;
    add_subgroup(g, draft);
    return 0;
}

int group_ray(struct grouping *g, struct err *err)
{
    const char *priority_class = owner_label(g, g->top, KEY_RAY_PRIORITY_CLASS);
    const char *group = object_label(g->pod, KEY_RAY_GROUP);
    const struct object *cluster = NULL;
    struct subgroup_draft head = {.name = HEAD_GROUP, .min_member = 1, .min_subgroup = -1};

    TRY(group_need_whole(g, g->top, err));
    TRY(group_base(g, false, "train", err));
    TRY(find_cluster(g, &cluster, err));
    if (!cluster && g->live)
        return err_set(err, -ENOENT, "status: names no RayCluster yet");
    if (!cluster)
        return err_set(err, -EINVAL, "the RayCluster of %s %s is not in the input", g->top->kind->kind, g->top->name);

    struct json_at spec = json_member(&cluster->root, "spec");
    struct json_at head_group = json_member(&spec, "headGroupSpec");
    struct json_at workers = json_member(&spec, "workerGroupSpecs");
    size_t index = 0;

    TRY(group_topology(&head_group, &head.topology, err));
    add_subgroup(g, head);
    for (struct json_at item = {0}; json_next(&workers, &item); index++)
        TRY(add_worker_group(g, &item, index, err));
    if (priority_class && *priority_class)
        g->priority_class = priority_class;
    vec_foreach (&g->subgroups, subgroup) {
        if (group && strcmp(subgroup->name, group) == 0)
            g->pod_subgroup = group;
    }
    /* Groups of older releases have no subgroups, and their pods would not find theirs. */
    if (group_presence(g, g->name) == GROUP_FLAT) {
        vec_clear(&g->subgroups);
        g->pod_subgroup = NULL;
    }
    return 0;
}
