/* SPDX-License-Identifier: Apache-2.0 */

/* Grouping in a running cluster: what is missing is named instead of made up. */
#include "objects/group/live.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/group/rules.h"

const struct object *group_add_owner(struct object_set *set, const char *api_version, const char *kind, yyjson_val *val,
                                     bool is_partial)
{
    const struct object_kind *row = object_kind_find(api_version, kind);
    struct object *object = ARENA_NEW(&set->arena, struct object);
    struct json_at root = {.val = val};
    struct json_at meta = json_member(&root, "metadata");
    const char *name = json_peek_str(&meta, "name");
    const char *namespace = json_peek_str(&meta, "namespace");
    const char *uid = json_peek_str(&meta, "uid");

    if (!row) {
        struct object_kind *unknown = ARENA_NEW(&set->arena, struct object_kind);
        char group[API_GROUP_MAX];

        unknown->group = arena_strdup(&set->arena, api_group(api_version, group));
        unknown->kind = arena_strdup(&set->arena, kind);
        row = unknown;
    }
    *object = (struct object){
        .kind = row,
        .root = root,
        .api_version = arena_strdup(&set->arena, api_version),
        .namespace = namespace ? namespace : "",
        .name = name ? name : "",
        .uid = uid ? uid : "",
        .has_uid = uid && *uid,
        .is_partial = is_partial,
    };
    return object;
}

void group_live_done(struct group_live *live)
{
    vec_done(&live->questions);
    vec_done(&live->senseless);
}

int group_need_whole(struct grouping *g, const struct object *object, struct err *err)
{
    if (!g->live || !object->is_partial)
        return 0;
    g->live->need = GROUP_NEEDS_OWNER;
    g->live->object = object;
    return err_set(err, -EAGAIN, "%s %s has to be read", object->kind->kind, object->name);
}

int group_look_up(struct grouping *g, const char *api_version, const char *kind, const char *name,
                  const struct object **ret_object, struct err *err)
{
    const struct object *found =
        object_set_find(g->objects, object_kind_find(api_version, kind), g->pod->namespace, name);

    *ret_object = found;
    if (found || !g->live)
        return 0;
    g->live->need = GROUP_NEEDS_OBJECT;
    g->live->api_version = arena_strdup(&g->objects->arena, api_version);
    g->live->kind = kind;
    g->live->name = arena_strdup(&g->objects->arena, name);
    return err_set(err, -EAGAIN, "%s %s has to be read", kind, name);
}

int group_need_pods(struct grouping *g, const char *selector, struct err *err)
{
    if (!g->live || g->live->has_pods)
        return 0;
    g->live->need = GROUP_NEEDS_PODS;
    g->live->selector = arena_strdup(&g->objects->arena, selector);
    return err_set(err, -EAGAIN, "pods with %s have to be read", selector);
}

enum group_presence group_presence(const struct grouping *g, const char *name)
{
    return g->live ? g->live->find_group(g->live->arg, g->pod->namespace, group_fitting_name(g->arena, name))
                   : GROUP_ABSENT;
}

int group_pod_live(struct object_set *set, const struct object *pod, const struct object *const *owners,
                   size_t owner_count, const struct object_options *options, struct group_live *live,
                   struct group_outcome *ret_outcome, struct err *err)
{
    const struct object_kind *kind = object_kind_of("scheduling.run.ai", "PodGroup");
    struct arena scratch;
    struct grouping g = {.objects = set, .options = options, .live = live, .arena = &scratch, .pod = pod};

    if (owner_count > OWNERS_MAX)
        return err_set(err, -EINVAL, "metadata.ownerReferences: expected at most %d levels of owners", OWNERS_MAX);
    live->need = GROUP_NEEDS_NOTHING;
    for (size_t i = 0; i < owner_count; i++)
        g.owners[g.owner_count++] = owners[i];
    if (g.owner_count == 0)
        g.owners[g.owner_count++] = pod;
    g.top = g.owners[g.owner_count - 1];

    arena_init(&scratch);
    object_group_fn otherwise = live->uses_kartas ? group_karta : group_default;
    int r = g.top->kind->group_pods ? g.top->kind->group_pods(&g, err) : otherwise(&g, err);
    if (r < 0 && r != -EAGAIN)
        (void)object_wrap(g.top, r, err);
    if (r >= 0) {
        g.name = group_fitting_name(&set->arena, g.name);
        r = group_encode(&g, err);
    }
    if (r >= 0) {
        const struct object *made = object_set_find(set, kind, pod->namespace, g.name);

        *ret_outcome = (struct group_outcome){
            .pod_group = made->root.val,
            .name = made->name,
            .subgroup = g.pod_subgroup ? arena_strdup(&set->arena, g.pod_subgroup) : NULL,
        };
    }
    vec_done(&g.subgroups);
    arena_done(&scratch);
    return r;
}
