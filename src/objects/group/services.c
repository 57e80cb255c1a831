/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Grouping by an object beside the owners, which a label of the pod names: Knative's revisions and Grove's pod gangs.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/group/rules.h"

/* Whether a pod of the revision has a group of its own: then the others get theirs as well. */
static int has_single_groups(struct grouping *g, const char *revision, bool *ret_has, struct err *err)
{
    *ret_has = false;
    TRY(group_need_pods(g, arena_printf(g->arena, KEY_KNATIVE_REVISION "=%s", revision), err));
    for (const struct object *pod = object_set_first(g->objects, g->pod->kind); g->live && pod; pod = pod->next) {
        const char *group = object_annotation(pod, KEY_POD_GROUP);

        *ret_has |= group && strcmp(group, group_name_of(g, pod)) == 0;
    }
    return 0;
}

/* Without gangs each pod is a group of its own, of a fixed priority. */
static void group_knative_pod(struct grouping *g)
{
    g->name = group_name_of(g, g->pod);
    g->owner = g->pod;
    g->priority_class = "inference";
    g->min_member = 1;
}

/* A revision's smallest scale is its gang. KAI takes neither preemptibility nor topology from a revision. */
int group_knative(struct grouping *g, struct err *err)
{
    const char *name = object_label(g->pod, KEY_KNATIVE_REVISION);
    const struct object *revision = NULL;
    bool is_single = g->live && !g->live->gangs_knative;
    int64_t scale = 1;

    if (!name)
        return err_set(err, -EINVAL, "Pod %s: expected the label " KEY_KNATIVE_REVISION, g->pod->name);
    TRY(group_look_up(g, g->top->api_version, "Revision", name, &revision, err));
    if (!is_single)
        TRY(has_single_groups(g, name, &is_single, err));
    if (!revision)
        return err_set(err, -EINVAL, "Revision %s of pod %s is not in the input", name, g->pod->name);
    g->top = revision;
    g->owners[0] = revision;
    g->owner_count = 1;
    TRY(group_base(g, false, "inference", err));
    g->preemptibility = NULL;
    g->preemption_delay = NULL;
    g->staleness_grace = NULL;
    g->topology = (struct topology_constraint_spec){0};

    const char *text = object_annotation(revision, KEY_KNATIVE_MIN_SCALE);
    if (text && !int_parse(text, 0, INT32_MAX, &scale))
        scale = 1;
    g->min_member = (int32_t)scale;
    if (is_single)
        group_knative_pod(g);
    return 0;
}

/* The levels that a part of a PodGang asks for; they need the name of a topology, which stands in an annotation. */
static int pack_constraint(const struct json_at *at, const char *topology,
                           struct topology_constraint_spec *ret_topology, struct err *err)
{
    struct json_at constraint = json_member(at, "topologyConstraint");
    struct json_at pack = json_member(&constraint, "packConstraint");
    const char *required = json_peek_str(&pack, "required");
    const char *preferred = json_peek_str(&pack, "preferred");

    *ret_topology = (struct topology_constraint_spec){0};
    if (!required && !preferred)
        return 0;
    if (!topology)
        return json_fail(&pack, err, -EINVAL, "expected the annotation " KEY_GROVE_TOPOLOGY " on the PodGang");
    *ret_topology = (struct topology_constraint_spec){topology, required, preferred};
    return 0;
}

/* Groups of podgroups that stay together. */
static int add_parents(struct grouping *g, const struct json_at *spec, const char *topology, struct err *err)
{
    struct json_at configs = json_member(spec, "topologyConstraintGroupConfigs");

    for (struct json_at item = {0}; json_next(&configs, &item);) {
        struct json_at names = json_member(&item, "podGroupNames");
        struct subgroup_draft draft = {.min_subgroup = (int32_t)json_len(&names)};

        if (draft.min_subgroup == 0)
            continue;
        TRY(json_member_str(&item, "name", JSON_REQUIRED, &draft.name, err));
        TRY(pack_constraint(&item, topology, &draft.topology, err));
        add_subgroup(g, draft);
    }
    return 0;
}

/* The group that lists the podgroup; NULL: none. */
static const char *parent_of(const struct json_at *spec, const char *name)
{
    struct json_at configs = json_member(spec, "topologyConstraintGroupConfigs");

    for (struct json_at item = {0}; json_next(&configs, &item);) {
        struct json_at names = json_member(&item, "podGroupNames");

        for (struct json_at listed = {0}; json_next(&names, &listed);) {
            const char *text = yyjson_get_str(listed.val);
            if (text && strcmp(text, name) == 0)
                return json_peek_str(&item, "name");
        }
    }
    return NULL;
}

/* Whether the podgroup lists the pod. Gangs do not reach over namespaces. */
static int lists_pod(const struct json_at *podgroup, const struct object *pod, bool *ret_lists, struct err *err)
{
    struct json_at references = json_member(podgroup, "podReferences");

    *ret_lists = false;
    for (struct json_at item = {0}; json_next(&references, &item);) {
        const char *name = json_peek_str(&item, "name");
        const char *namespace = json_peek_str(&item, "namespace");

        if (namespace && *namespace && strcmp(namespace, pod->namespace) != 0)
            return json_fail(&item, err, -EINVAL, "expected a pod of namespace %s, found one of %s", pod->namespace,
                             namespace);
        *ret_lists |= name && strcmp(name, pod->name) == 0;
    }
    return 0;
}

static int add_podgroups(struct grouping *g, const struct json_at *spec, const char *topology, struct err *err)
{
    struct json_at podgroups = json_member(spec, "podgroups");
    int64_t total = 0;

    for (struct json_at item = {0}; json_next(&podgroups, &item);) {
        struct subgroup_draft draft = {.min_subgroup = -1};
        int64_t min = 0;
        bool lists = false;

        TRY(json_member_str(&item, "name", JSON_REQUIRED, &draft.name, err));
        TRY(json_member_int64(&item, "minReplicas", JSON_REQUIRED, 1, INT32_MAX, &min, err));
        TRY(pack_constraint(&item, topology, &draft.topology, err));
        draft.min_member = (int32_t)min;
        draft.parent = parent_of(spec, draft.name);
        add_subgroup(g, draft);
        total += min;
        TRY(lists_pod(&item, g->pod, &lists, err));
        if (lists)
            g->pod_subgroup = draft.name;
    }
    g->min_member = (int32_t)MIN(total, (int64_t)INT32_MAX);
    return 0;
}

int group_grove(struct grouping *g, struct err *err)
{
    const char *name = object_label(g->pod, KEY_GROVE_POD_GANG);
    const struct object *gang = NULL;
    struct topology_constraint_spec topology;

    if (!name)
        return err_set(err, -EINVAL, "Pod %s: expected the label " KEY_GROVE_POD_GANG, g->pod->name);
    TRY(group_look_up(g, "scheduler.grove.io/v1alpha1", "PodGang", name, &gang, err));
    if (!gang)
        return err_set(err, -EINVAL, "PodGang %s of pod %s is not in the input", name, g->pod->name);
    g->skipped = g->top;
    g->top = gang;
    g->owners[0] = gang;
    g->owner_count = 1;
    TRY(group_base(g, false, "train", err));

    struct json_at spec = json_member(&gang->root, "spec");
    const char *of_grove = object_annotation(gang, KEY_GROVE_TOPOLOGY);
    const char *topology_name = of_grove ? of_grove : object_annotation(gang, KEY_TOPOLOGY);
    const char *priority_class = json_peek_str(&spec, "priorityClassName");
    TRY(pack_constraint(&spec, topology_name, &topology, err));
    if (topology.topology)
        g->topology = topology;
    if (priority_class && *priority_class && !owner_label(g, gang, KEY_PRIORITY_CLASS))
        g->priority_class = priority_class;
    TRY(add_parents(g, &spec, topology_name, err));
    return add_podgroups(g, &spec, topology_name, err);
}
