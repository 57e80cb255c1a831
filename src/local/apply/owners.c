/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "local/api/kinds.h"
#include "local/apply/fields.h"
#include "local/apply/owners_internal.h"

void owners_init(struct owners *owners, const struct apply_request *request)
{
    *owners = (struct owners){.request = request, .shape = shape_of(request->kind, request->schema)};
    arena_init(&owners->arena);
}

void owners_done(struct owners *owners)
{
    vec_done(&owners->before);
    vec_done(&owners->managers);
    arena_done(&owners->arena);
}

/* Whether the fields of an entry can be compared with those of the kind, of which another group may have another form. */
static bool is_of_group(const struct manager *manager, const struct api_kind *kind)
{
    const char *slash = strchr(manager->api_version, '/');
    size_t len = slash ? (size_t)(slash - manager->api_version) : 0;

    return strlen(kind->group) == len && strncmp(kind->group, manager->api_version, len) == 0;
}

void owners_read(struct owners *owners, yyjson_mut_val *object)
{
    managers_read(object, &owners->before, &owners->arena);
    vec_foreach (&owners->before, manager)
        if (is_of_group(manager, owners->request->kind))
            vec_push(&owners->managers, *manager);
}

/* --- Fields without an owner --- */

static struct fields *system_fields(struct arena *arena)
{
    static const char *const of_metadata[] = {
        "f:creationTimestamp", "f:generation",      "f:managedFields", "f:name",
        "f:namespace",         "f:resourceVersion", "f:selfLink",      "f:uid",
    };
    struct fields *leaf = NULL, *metadata = NULL, *root = NULL;

    fields_touch(&leaf, arena)->is_member = true;
    fields_touch(&metadata, arena)->is_member = true;
    for (size_t i = 0; i < ARRAY_LEN(of_metadata); i++)
        fields_add(&metadata, of_metadata[i], leaf, arena);
    fields_add(&root, "f:apiVersion", leaf, arena);
    fields_add(&root, "f:kind", leaf, arena);
    fields_add(&root, "f:metadata", metadata, arena);
    return fields_sort(root, arena);
}

struct fields *owners_filter(struct owners *owners, struct fields *fields)
{
    const struct apply_request *request = owners->request;
    struct arena *arena = &owners->arena;

    fields = fields_difference(fields, system_fields(arena), arena);
    if (strcmp(request->subresource, "status") == 0)
        fields = request->kind->flags & (KIND_IS_CUSTOM | KIND_STATUS_ALONE) ? fields_only(fields, "f:status", arena)
                                                                             : fields_without(fields, "f:spec", arena);
    else if (!*request->subresource && (request->kind->flags & KIND_STATUS))
        fields = fields_without(fields, "f:status", arena);
    return fields;
}

struct tree_changes owners_compare(struct owners *owners, yyjson_mut_val *before, yyjson_mut_val *after)
{
    struct tree_changes changes = tree_compare(&owners->shape, before, after, &owners->arena);

    changes.added = owners_filter(owners, changes.added);
    changes.modified = owners_filter(owners, changes.modified);
    changes.removed = owners_filter(owners, changes.removed);
    return changes;
}

/* --- Who owns what --- */

void owners_yield(struct owners *owners, const struct manager *self, const struct tree_changes *changes)
{
    struct arena *arena = &owners->arena;
    struct fields *lost = fields_union(fields_union(changes->added, changes->modified, arena), changes->removed, arena);

    vec_foreach (&owners->managers, manager)
        if (manager != self)
            manager->fields = fields_difference(manager->fields, lost, arena);
}

void owners_give(struct owners *owners, const char *name, const char *subresource, struct fields *fields)
{
    struct arena *arena = &owners->arena;
    char version[API_VERSION_MAX];
    struct manager like = {
        .name = arena_strdup(arena, name),
        .subresource = arena_strdup(arena, subresource),
        .api_version = arena_strdup(arena, api_kind_version(owners->request->kind, version)),
    };

    if (fields_is_empty(fields))
        return;
    struct manager *manager = managers_find(&owners->managers, &like);
    if (!manager) {
        vec_push(&owners->managers, like);
        manager = &vec_last(&owners->managers);
    }
    manager->fields = fields_union(manager->fields, fields, arena);
    manager->time = managers_time(owners->request->now, arena);
}
