/* SPDX-License-Identifier: Apache-2.0 */
#include "local/apply/apply.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "local/api/duplicates.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/apply/fields.h"
#include "local/apply/owners_internal.h"

enum { MANAGER_BYTES_MAX = 128 };

static void forget_managers(yyjson_mut_doc *doc)
{
    if (meta_has(doc, "managedFields"))
        meta_remove(doc, "managedFields");
}

/* --- The configuration --- */

static enum apply_result check_body(const struct apply_request *request, yyjson_mut_doc *config, struct err *err)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(config);
    char version[API_VERSION_MAX];

    if (!yyjson_mut_is_obj(root)) {
        (void)err_set(err, -EINVAL, "an apply configuration must be an object");
        return APPLY_MALFORMED;
    }
    yyjson_mut_val *metadata = yyjson_mut_obj_get(root, "metadata");
    if (metadata && !yyjson_mut_is_obj(metadata)) {
        (void)err_set(err, -EINVAL, "metadata is not an object");
        return APPLY_MALFORMED;
    }
    if (meta_has(config, "managedFields")) {
        (void)err_set(err, -EINVAL, "metadata.managedFields must be nil");
        return APPLY_MALFORMED;
    }
    const char *kind = yyjson_mut_get_str(yyjson_mut_obj_get(root, "kind"));
    const char *api_version = yyjson_mut_get_str(yyjson_mut_obj_get(root, "apiVersion"));
    if (!kind || !api_version) {
        (void)err_set(err, -EINVAL, "invalid object type: %s%s, Kind=%s",
                      api_version && strchr(api_version, '/') ? "" : "/", api_version ? api_version : "",
                      kind ? kind : "");
        return APPLY_MALFORMED;
    }
    if (strcmp(api_version, api_kind_version(request->kind, version)) != 0 || strcmp(kind, request->kind->kind) != 0) {
        (void)err_set(
            err, -EINVAL,
            "The version in the specified object (%s, kind %s) does not match the one of the request (%s, %s)",
            api_version, kind, version, request->kind->kind);
        return APPLY_MALFORMED;
    }
    return APPLY_DONE;
}

/* --- Merging --- */

/*
 * Takes out what the manager applied last time and has left out now, unless another manager owns it. The three steps are
 * needed because a member may go only when nothing in it is left that somebody wants.
 */
static yyjson_mut_val *drop_left_out(struct owners *owners, yyjson_mut_val *merged, yyjson_mut_val *config,
                                     struct fields *last, yyjson_mut_doc *doc)
{
    struct arena *arena = &owners->arena;
    const struct shape *shape = &owners->shape;
    /* All that is applied stays, the name too, which nobody owns: without it the metadata would go as a whole. */
    struct fields *owned = tree_fields(shape, config, arena);

    if (fields_is_empty(last))
        return merged;
    last = tree_with_parents(shape, last, arena);
    struct fields *all = tree_with_parents(shape, tree_fields(shape, merged, arena), arena);
    yyjson_mut_val *pruned = tree_without(shape, merged, last, doc, arena);
    vec_foreach (&owners->managers, manager)
        owned = fields_union(owned, manager->fields, arena);

    struct fields *kept = tree_with_parents(shape, tree_fields(shape, pruned, arena), arena);
    kept = fields_union(kept, tree_with_parents(shape, owned, arena), arena);
    pruned = tree_without(shape, merged, fields_difference(all, kept, arena), doc, arena);

    kept = tree_with_parents(shape, tree_fields(shape, pruned, arena), arena);
    struct fields *gone = fields_intersection(fields_difference(all, kept, arena), last, arena);
    return tree_without(shape, merged, gone, doc, arena);
}

/* The applying manager's entry, with the fields of the configuration; those of last time are in `ret_last`. */
static struct manager *enter_manager(struct owners *owners, yyjson_mut_val *config, struct fields **ret_last)
{
    struct arena *arena = &owners->arena;
    char version[API_VERSION_MAX];
    struct manager like = {
        .name = arena_strdup(arena, owners->request->manager),
        .subresource = arena_strdup(arena, owners->request->subresource),
        .api_version = arena_strdup(arena, api_kind_version(owners->request->kind, version)),
        .is_applier = true,
        .time = "",
    };
    struct manager *manager = managers_find(&owners->managers, &like);

    *ret_last = manager ? manager->fields : NULL;
    if (manager) {
        manager->api_version = like.api_version;
    } else {
        vec_push(&owners->managers, like);
        manager = &vec_last(&owners->managers);
    }
    manager->fields = owners_filter(owners, tree_fields(&owners->shape, config, arena));
    return manager;
}

/* Whether the conflicts stand: kubectl may take over what it applied before from the client's side. */
static bool has_conflicts(struct owners *owners, const struct manager *self, const struct tree_changes *changes,
                          yyjson_mut_val *live, struct apply_conflicts *conflicts)
{
    struct fields *allowed = NULL;

    if (owners->request->force)
        return false;
    if (live && strcmp(owners->request->manager, "kubectl") == 0)
        allowed = owners_last_applied(owners, live);
    return owners_conflict(owners, self, changes, allowed, conflicts);
}

static enum apply_result apply_config(struct owners *owners, yyjson_mut_doc *live, yyjson_mut_doc *config,
                                      yyjson_mut_doc *result, struct apply_conflicts *conflicts)
{
    yyjson_mut_val *live_root = live ? yyjson_mut_doc_get_root(live) : NULL;
    yyjson_mut_val *config_root = yyjson_mut_doc_get_root(config);
    struct fields *last;

    /* What was there before anybody applied belongs to somebody, so that it is not overwritten without notice. */
    if (live && !owners->before.len) {
        yyjson_mut_doc *empty = owners->request->empty;
        struct tree_changes all = owners_compare(owners, empty ? yyjson_mut_doc_get_root(empty) : NULL, live_root);
        owners_give(owners, "before-first-apply", "", fields_union(all.added, all.modified, &owners->arena));
    }
    struct manager *self = enter_manager(owners, config_root, &last);
    yyjson_mut_val *merged = tree_merge(&owners->shape, live_root, config_root, result, &owners->arena);
    merged = drop_left_out(owners, merged, config_root, last, result);
    struct tree_changes changes = owners_compare(owners, live_root, merged);
    if (has_conflicts(owners, self, &changes, live_root, conflicts))
        return APPLY_CONFLICT;

    yyjson_mut_doc_set_root(result, merged);
    bool is_unchanged = live && yyjson_mut_equals(live_root, merged);
    owners_yield(owners, self, &changes);
    if (is_unchanged && managers_is_equal(&owners->before, &owners->managers))
        return APPLY_UNCHANGED;
    /* The time is that of the last change of a value. */
    if (!is_unchanged)
        self->time = managers_time(owners->request->now, &owners->arena);
    if (strcmp(owners->request->manager, "kubectl") == 0)
        owners_set_last_applied(result, config_root);
    return APPLY_DONE;
}

static yyjson_mut_doc *doc_from(yyjson_val *value)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);

    BUG_ON(!doc);
    yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, value));
    return doc;
}

enum apply_result apply_patch(const struct apply_request *request, yyjson_mut_doc *live, yyjson_val *body,
                              yyjson_mut_doc **ret_doc, struct apply_conflicts *conflicts, struct err *err)
{
    yyjson_mut_doc *config = doc_from(body);
    struct owners owners;

    duplicates_drop(yyjson_mut_doc_get_root(config));
    enum apply_result outcome = check_body(request, config, err);

    owners_init(&owners, request);
    if (outcome == APPLY_DONE && tree_check(&owners.shape, yyjson_mut_doc_get_root(config), false, err) < 0) {
        char version[API_VERSION_MAX];
        outcome = APPLY_INVALID;
        (void)err_wrap(err, -EINVAL, "failed to create typed patch object (%s/%s; %s%s, Kind=%s)",
                       meta_text(config, "namespace"), meta_text(config, "name"), *request->kind->group ? "" : "/",
                       api_kind_version(request->kind, version), request->kind->kind);
    }
    if (outcome == APPLY_DONE) {
        yyjson_mut_doc *bare = live ? yyjson_mut_doc_mut_copy(live, NULL) : NULL;
        yyjson_mut_doc *result = yyjson_mut_doc_new(NULL);
        BUG_ON(!result || (live && !bare));
        if (bare) {
            duplicates_drop(yyjson_mut_doc_get_root(bare));
            owners_read(&owners, yyjson_mut_doc_get_root(bare));
            forget_managers(bare);
        }
        outcome = apply_config(&owners, bare, config, result, conflicts);
        yyjson_mut_doc_free(bare);
        if (outcome == APPLY_UNCHANGED) {
            yyjson_mut_doc_free(result);
            result = yyjson_mut_doc_mut_copy(live, NULL);
        } else if (outcome == APPLY_DONE) {
            managers_cap(&owners.managers, &owners.arena);
            managers_write(&owners.managers, result);
        }
        if (outcome == APPLY_CONFLICT)
            yyjson_mut_doc_free(result);
        else
            *ret_doc = result;
    }
    owners_done(&owners);
    yyjson_mut_doc_free(config);
    return outcome;
}

/* --- Other writes --- */

/* [{}] is how a client says that nobody owns anything. */
static bool is_reset(yyjson_mut_doc *doc)
{
    yyjson_mut_val *list =
        yyjson_mut_obj_get(yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "metadata"), "managedFields");

    return yyjson_mut_arr_size(list) == 1 && yyjson_mut_obj_size(yyjson_mut_arr_get_first(list)) == 0;
}

static void keep_list(yyjson_mut_doc *from, yyjson_mut_doc *doc)
{
    yyjson_mut_val *list =
        yyjson_mut_obj_get(yyjson_mut_obj_get(yyjson_mut_doc_get_root(from), "metadata"), "managedFields");
    yyjson_mut_val *metadata = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "metadata");

    if (list && metadata)
        yyjson_mut_obj_put(metadata, yyjson_mut_str(doc, "managedFields"), yyjson_mut_val_mut_copy(doc, list));
}

static void track(struct owners *owners, yyjson_mut_doc *old, yyjson_mut_doc *doc)
{
    const struct apply_request *request = owners->request;
    yyjson_mut_doc *bare = old ? yyjson_mut_doc_mut_copy(old, NULL) : NULL;

    if (bare)
        forget_managers(bare);
    forget_managers(doc);
    struct tree_changes changes =
        owners_compare(owners, bare ? yyjson_mut_doc_get_root(bare) : NULL, yyjson_mut_doc_get_root(doc));
    owners_yield(owners, NULL, &changes);
    owners_give(owners, request->manager, request->subresource,
                fields_union(changes.added, changes.modified, &owners->arena));
    managers_cap(&owners->managers, &owners->arena);
    yyjson_mut_doc_free(bare);
}

void apply_track(const struct apply_request *request, yyjson_mut_doc *old, yyjson_mut_doc *doc)
{
    struct owners owners;
    bool is_from_client = !*request->subresource && meta_has(doc, "managedFields");

    if (is_from_client && is_reset(doc)) {
        forget_managers(doc);
        return;
    }
    owners_init(&owners, request);
    if (is_from_client)
        owners_read(&owners, yyjson_mut_doc_get_root(doc));
    /* Clients that do not know managedFields leave them out, and do not mean to remove them. */
    if (!owners.before.len && old)
        owners_read(&owners, yyjson_mut_doc_get_root(old));
    if (!owners.before.len && old && !request->is_new) {
        forget_managers(doc);
    } else {
        struct managers stored = {0};
        track(&owners, old, doc);
        if (old)
            managers_read(yyjson_mut_doc_get_root(old), &stored, &owners.arena);
        if (old && managers_is_equal(&stored, &owners.managers))
            keep_list(old, doc);
        else
            managers_write(&owners.managers, doc);
        vec_done(&stored);
    }
    owners_done(&owners);
}

bool apply_has_types(const struct api_kind *kind, const struct schema *schema, yyjson_mut_doc *doc)
{
    struct shape shape = shape_of(kind, schema);
    struct err err;

    return tree_check(&shape, yyjson_mut_doc_get_root(doc), true, &err) == 0;
}

void apply_default_manager(const char *user_agent, struct strbuf *ret_manager)
{
    size_t len = user_agent ? strcspn(user_agent, "/") : 0;

    if (len)
        strbuf_add(ret_manager, user_agent, MIN(len, (size_t)MANAGER_BYTES_MAX));
    else
        strbuf_addstr(ret_manager, "unknown");
}
