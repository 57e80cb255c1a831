/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Grove: each replica of a PodCliqueSet is a PodGang of its cliques. Cliques of a scaling group are repeated with it:
 * as many as the group needs at least belong to the replica's gang, each further one is a gang of its own.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/make/maker.h"

/* A PodGang in the making. */
struct gang {
    const char *name;
    yyjson_mut_doc *doc;
    yyjson_mut_val *podgroups;
};

static void gang_init(struct gang *gang, const char *name)
{
    gang->name = name;
    gang->doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(gang->doc);
    yyjson_mut_doc_set_root(gang->doc, root);
    gang->podgroups = yyjson_mut_obj_add_arr(gang->doc, root, "podgroups");
}

/* Adds the PodGang to the set; `spec` is the set's own, of which the gang takes its priority. */
static int gang_finish(struct maker *maker, const struct object *owner, const struct json_at *template,
                       struct gang *gang, struct err *err)
{
    const char *priority_class = json_peek_str(template, "priorityClassName");
    const char *topology = object_annotation(owner, KEY_GROVE_TOPOLOGY);
    struct json_at nothing = {0};

    if (priority_class)
        (void)yyjson_mut_obj_add_strcpy(gang->doc, yyjson_mut_doc_get_root(gang->doc), "priorityClassName",
                                        priority_class);
    _cleanup_(json_doc_freep) yyjson_doc *doc = make_finish(gang->doc);
    struct json_at spec = json_root(doc);
    return make_child(maker, owner,
                      &(struct child){
                          .api_version = "scheduler.grove.io/v1alpha1",
                          .kind = "PodGang",
                          .name = gang->name,
                          .template = &nothing,
                          .spec = &spec,
                          .annotations = {{topology ? KEY_GROVE_TOPOLOGY : NULL, topology}},
                      },
                      err);
}

static const struct json_at *clique_find(const struct json_at *cliques, const char *name, struct json_at *item)
{
    *item = (struct json_at){0};
    while (json_next(cliques, item)) {
        const char *found = json_peek_str(item, "name");
        if (found && strcmp(found, name) == 0)
            return item;
    }
    return NULL;
}

/* The pods of one clique, called <prefix>-<clique>-<index>, and its entry in the gang. */
static int make_clique(struct maker *maker, const struct object *owner, const struct json_at *clique,
                       const char *prefix, struct gang *gang, struct err *err)
{
    struct json_at spec;
    struct json_at pod_spec;
    struct json_at nothing = {0};
    const char *clique_name = NULL;
    int64_t replicas = 1;

    TRY(json_member_str(clique, "name", JSON_REQUIRED, &clique_name, err));
    TRY(json_member_object(clique, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_object(&spec, "podSpec", JSON_REQUIRED, &pod_spec, err));
    TRY(json_member_int64(&spec, "replicas", JSON_OPTIONAL, 1, INT32_MAX, &replicas, err));
    int64_t min = replicas;
    TRY(json_member_int64(&spec, "minAvailable", JSON_OPTIONAL, 1, INT32_MAX, &min, err));

    const char *name = arena_printf(maker->arena, "%s-%s", prefix, clique_name);
    yyjson_mut_val *podgroup = yyjson_mut_arr_add_obj(gang->doc, gang->podgroups);
    (void)yyjson_mut_obj_add_strcpy(gang->doc, podgroup, "name", name);
    (void)yyjson_mut_obj_add_int(gang->doc, podgroup, "minReplicas", min);
    yyjson_mut_val *references = yyjson_mut_obj_add_arr(gang->doc, podgroup, "podReferences");
    for (int64_t i = 0; i < replicas; i++) {
        struct child child = {
            .name = arena_printf(maker->arena, "%s-%lld", name, (long long)i),
            .template = &nothing,
            .metadata = clique,
            .spec = &pod_spec,
            .labels = {{KEY_GROVE_POD_GANG, gang->name}, {"grove.io/podclique", name}},
        };

        int r = make_child(maker, owner, &child, err);
        if (r != 0)
            return r;
        yyjson_mut_val *reference = yyjson_mut_arr_add_obj(gang->doc, references);
        (void)yyjson_mut_obj_add_strcpy(gang->doc, reference, "namespace", owner->namespace);
        (void)yyjson_mut_obj_add_strcpy(gang->doc, reference, "name", child.name);
    }
    return 0;
}

/* The cliques of one repetition of a scaling group. */
static int make_scaled(struct maker *maker, const struct object *owner, const struct json_at *cliques,
                       const struct json_at *names, const char *prefix, struct gang *gang, struct err *err)
{
    for (struct json_at item = {0}; json_next(names, &item);) {
        struct json_at clique;
        const char *name = NULL;

        TRY(json_str(&item, &name, err));
        if (!clique_find(cliques, name, &clique))
            return json_fail(&item, err, -EINVAL, "there is no clique called %s", name);
        int r = make_clique(maker, owner, &clique, prefix, gang, err);
        if (r != 0)
            return r;
    }
    return 0;
}

/* Grove holds back what is beyond the minimum until the replica's own gang has its place. */
static void let_base_go_first(struct maker *maker, const struct object *owner, const char *name)
{
    struct object *gang =
        object_set_find(maker->set, object_kind_of("scheduler.grove.io", "PodGang"), owner->namespace, name);

    if (gang)
        gang->created++;
}

static int make_scaling_group(struct maker *maker, const struct object *owner, const struct json_at *template,
                              const struct json_at *group, struct gang *base, struct err *err)
{
    struct json_at cliques = json_member(template, "cliques");
    struct json_at names = json_member(group, "cliqueNames");
    const char *group_name = NULL;
    int64_t replicas = 1;
    int64_t min = 1;

    TRY(json_member_str(group, "name", JSON_REQUIRED, &group_name, err));
    TRY(json_member_int64(group, "replicas", JSON_OPTIONAL, 0, INT32_MAX, &replicas, err));
    TRY(json_member_int64(group, "minAvailable", JSON_OPTIONAL, 0, INT32_MAX, &min, err));
    for (int64_t i = 0; i < replicas; i++) {
        const char *prefix = arena_printf(maker->arena, "%s-%s-%lld", base->name, group_name, (long long)i);
        struct gang own;
        int r;

        if (i < min) {
            r = make_scaled(maker, owner, &cliques, &names, prefix, base, err);
        } else {
            gang_init(&own, arena_printf(maker->arena, "%s-%s-%lld", base->name, group_name, (long long)(i - min)));
            r = make_scaled(maker, owner, &cliques, &names, prefix, &own, err);
            int finished = gang_finish(maker, owner, template, &own, r < 0 ? NULL : err);
            r = r != 0 ? r : finished;
            if (r == 0)
                let_base_go_first(maker, owner, own.name);
        }
        if (r != 0)
            return r;
    }
    return 0;
}

static bool is_scaled(const struct json_at *groups, const char *clique)
{
    for (struct json_at group = {0}; json_next(groups, &group);) {
        struct json_at names = json_member(&group, "cliqueNames");

        for (struct json_at item = {0}; json_next(&names, &item);) {
            if (yyjson_equals_str(item.val, clique))
                return true;
        }
    }
    return false;
}

/* One replica of the set: cliques that stand alone, then the scaling groups. */
static int make_replica(struct maker *maker, const struct object *owner, const struct json_at *template,
                        struct gang *gang, struct err *err)
{
    struct json_at cliques = json_member(template, "cliques");
    struct json_at groups = json_member(template, "podCliqueScalingGroups");
    int r = 0;

    for (struct json_at item = {0}; r == 0 && json_next(&cliques, &item);) {
        const char *name = json_peek_str(&item, "name");

        if (!name || !is_scaled(&groups, name))
            r = make_clique(maker, owner, &item, gang->name, gang, err);
    }
    for (struct json_at item = {0}; r == 0 && json_next(&groups, &item);)
        r = make_scaling_group(maker, owner, template, &item, gang, err);
    return r;
}

int make_grove(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at spec;
    struct json_at template;
    int64_t replicas = 1;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_object(&spec, "template", JSON_REQUIRED, &template, err));
    TRY(json_member_int64(&spec, "replicas", JSON_OPTIONAL, 0, INT32_MAX, &replicas, err));
    for (int64_t i = 0; i < replicas; i++) {
        struct gang gang;

        gang_init(&gang, arena_printf(maker->arena, "%s-%lld", owner->name, (long long)i));
        int r = make_replica(maker, owner, &template, &gang, err);
        int finished = gang_finish(maker, owner, &template, &gang, r < 0 ? NULL : err);
        if (r != 0 || finished < 0)
            return r != 0 ? r : finished;
    }
    return 0;
}

/* A clique that stands alone, as Grove's controller leaves one for its pods; they carry its labels. */
int make_pod_clique(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at meta = json_member(&owner->root, "metadata");
    struct json_at spec;
    struct json_at pod_spec;
    struct json_at nothing = {0};
    int64_t replicas = 1;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_object(&spec, "podSpec", JSON_REQUIRED, &pod_spec, err));
    TRY(json_member_int64(&spec, "replicas", JSON_OPTIONAL, 0, INT32_MAX, &replicas, err));
    for (int64_t i = 0; i < replicas; i++) {
        struct child child = {
            .name = arena_printf(maker->arena, "%s-%lld", owner->name, (long long)i),
            .template = &nothing,
            .metadata = &meta,
            .spec = &pod_spec,
            .labels = {{"grove.io/podclique", owner->name}},
        };

        int r = make_child(maker, owner, &child, err);
        if (r != 0)
            return r;
    }
    return 0;
}
