/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owners of replicas that are written through /scale. The API server tracks the write on the Scale, which has the version
 * autoscaling/v1, and carries the owners over to the object. On the way an updating manager counts as another one, as its
 * version is part of what it is known by: it owns the replicas in an entry of their own from then on, without a time.
 */
#include <string.h>

#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/apply/fields.h"
#include "local/apply/owners_internal.h"

/* The set of the one field that `place` has. */
static struct fields *fields_of(yyjson_mut_val *place, struct arena *arena)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(place);
    yyjson_mut_val *key = yyjson_mut_obj_iter_next(&iter);
    struct fields *fields = NULL;

    if (!key) {
        fields_touch(&fields, arena)->is_member = true;
        return fields;
    }
    struct strbuf step;

    strbuf_init(&step, 256);
    strbuf_addf(&step, "f:%s", yyjson_mut_get_str(key));
    fields_add(&fields, arena_strdup(arena, step.text), fields_of(yyjson_mut_obj_iter_get_val(key), arena), arena);
    strbuf_done(&step);
    return fields_sort(fields, arena);
}

static int64_t replicas_at(yyjson_mut_val *object, yyjson_mut_val *place)
{
    while (yyjson_mut_is_obj(place)) {
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(place);
        yyjson_mut_val *key = yyjson_mut_obj_iter_next(&iter);
        object = yyjson_mut_obj_get(object, yyjson_mut_get_str(key));
        place = yyjson_mut_obj_iter_get_val(key);
    }
    return yyjson_mut_get_sint(object);
}

static void own(struct managers *managers, struct owners *owners, const struct manager *like, struct fields *replicas)
{
    struct manager entry = *like;
    char version[API_VERSION_MAX];

    entry.api_version = arena_strdup(&owners->arena, api_kind_version(owners->request->kind, version));
    entry.time = "";
    entry.fields = replicas;
    vec_push(managers, entry);
}

/* Replicas that change go to the request's manager. None at all are not in a Scale, and have no owner. */
static void carry_over(struct owners *owners, struct fields *replicas, bool is_changed, bool is_there)
{
    struct arena *arena = &owners->arena;
    struct managers result = {0};
    bool had_owner = false;

    vec_foreach (&owners->managers, manager) {
        bool has = !fields_is_empty(fields_intersection(manager->fields, replicas, arena));
        struct manager rest = *manager;
        had_owner = had_owner || has;
        if (has && (is_changed || !manager->is_applier))
            rest.fields = fields_difference(rest.fields, replicas, arena);
        if (!fields_is_empty(rest.fields))
            vec_push(&result, rest);
        if (has && !is_changed && !manager->is_applier)
            own(&result, owners, manager, replicas);
    }
    if (had_owner && is_changed && is_there)
        own(&result, owners,
            &(struct manager){.name = owners->request->manager, .subresource = owners->request->subresource}, replicas);
    vec_done(&owners->managers);
    owners->managers = result;
}

void apply_track_scale(const struct apply_request *request, yyjson_mut_val *place, yyjson_mut_doc *old,
                       yyjson_mut_doc *doc)
{
    struct owners owners;
    int64_t before = replicas_at(yyjson_mut_doc_get_root(old), place);
    int64_t now = replicas_at(yyjson_mut_doc_get_root(doc), place);

    owners_init(&owners, request);
    owners_read(&owners, yyjson_mut_doc_get_root(old));
    carry_over(&owners, fields_of(place, &owners.arena), before != now, now != 0);
    managers_write(&owners.managers, doc);
    owners_done(&owners);
}
