/* SPDX-License-Identifier: Apache-2.0 */
#include "local/admission/ownership.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "kube/client/meta.h"
#include "local/admission/templates.h"
#include "local/api/kinds.h"
#include "local/api/owner_keys.h"
#include "local/rights/identity.h"
#include "local/rights/rights.h"
#include "local/rights/users.h"
#include "local/server/request.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"

static const char *const keys[] = {KEY_SUBMITTED_BY, KEY_SUBMITTER_NAME};

static yyjson_mut_val *annotations_of(yyjson_mut_doc *doc)
{
    return yyjson_mut_obj_get(yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "metadata"), "annotations");
}

static void set_note(yyjson_mut_doc *doc, const char *key, const char *value)
{
    yyjson_mut_val *meta = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "metadata");
    yyjson_mut_val *notes = annotations_of(doc);

    if (value && !yyjson_mut_is_obj(notes)) {
        notes = yyjson_mut_obj(doc);
        (void)yyjson_mut_obj_put(meta, yyjson_mut_str(doc, "annotations"), notes);
    }
    if (value)
        (void)yyjson_mut_obj_put(notes, yyjson_mut_strcpy(doc, key), yyjson_mut_strcpy(doc, value));
    else if (yyjson_mut_obj_remove_key(notes, key) && yyjson_mut_obj_size(notes) == 0)
        (void)yyjson_mut_obj_remove_key(meta, "annotations");
}

static void set_owner(struct request *request, yyjson_mut_doc *doc, uint32_t uid)
{
    char text[16];

    /* Objects of the daemon's owner carry no annotation. */
    if (uid == geteuid()) {
        for (size_t i = 0; i < ARRAY_LEN(keys); i++)
            set_note(doc, keys[i], NULL);
        return;
    }
    (void)snprintf(text, sizeof text, "%u", uid);
    set_note(doc, KEY_SUBMITTED_BY, text);
    set_note(doc, KEY_SUBMITTER_NAME, rights_user(request->server->rights, uid)->name);
}

uint32_t ownership_of(yyjson_mut_doc *doc)
{
    yyjson_mut_val *value = yyjson_mut_obj_get(annotations_of(doc), KEY_SUBMITTED_BY);
    uint32_t uid = (uint32_t)geteuid();

    return value && owner_uid_parse(yyjson_mut_get_str(value), &uid, NULL) < 0 ? (uint32_t)UID_NOBODY : uid;
}

/* --- The owner of what a controller creates --- */

static uint32_t owner_of_stored(const struct store_object *object, const char *uid, bool *ret_is_same)
{
    yyjson_doc *doc = yyjson_read(object->body, object->body_len, 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    uint32_t owner = UID_NOBODY;

    *ret_is_same = !uid || strcmp(kube_text(root, "metadata", "uid"), uid) == 0;
    if (owner_uid(root, geteuid(), &owner, NULL) < 0)
        owner = UID_NOBODY;
    yyjson_doc_free(doc);
    return owner;
}

static const struct api_kind *find_kind(const struct server *server, const char *version, const char *name)
{
    const struct api_kind *kind;
    char text[API_VERSION_MAX];

    for (size_t i = 0; (kind = resource_at(server, i)); i++) {
        if (strcmp(kind->kind, name) == 0 && strcmp(api_kind_version(kind, text), version) == 0)
            return kind;
    }
    return NULL;
}

static const char *member(yyjson_mut_val *object, const char *name)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(object, name));

    return text ? text : "";
}

/* The reference to the controller, or else the first one. */
static yyjson_mut_val *reference_of(yyjson_mut_doc *doc)
{
    yyjson_mut_val *list =
        yyjson_mut_obj_get(yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "metadata"), "ownerReferences");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);

    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
        if (yyjson_mut_get_bool(yyjson_mut_obj_get(item, "controller")))
            return item;
    }
    return yyjson_mut_arr_get_first(list);
}

/* Kinds whose objects run something, or may do: all but the built-in ones without pods. */
static bool may_run(const struct api_kind *kind)
{
    return (kind->flags & KIND_IS_CUSTOM) || pod_template_of(kind);
}

/* The user of the object that is referred to. One that is gone leaves no user: its pods must not run as another. */
static uint32_t inherit(struct request *request, yyjson_mut_val *reference)
{
    struct server *server = request->server;
    const struct api_kind *kind = find_kind(server, member(reference, "apiVersion"), member(reference, "kind"));
    const struct store_object *object = NULL;
    bool is_same = false;

    if (kind)
        object = store_latest(server->store, resource_number(server, kind),
                              kind->flags & KIND_NAMESPACED ? request->namespace : "", member(reference, "name"));
    uint32_t owner = object ? owner_of_stored(object, member(reference, "uid"), &is_same) : UID_NOBODY;

    if (is_same)
        return owner;
    return may_run(request->kind) ? (uint32_t)UID_NOBODY : request->identity->owner;
}

static uint32_t owner_of_namespace(struct request *request, uint32_t fallback)
{
    struct server *server = request->server;
    const struct store_object *object =
        *request->namespace
            ? store_latest(server->store, resource_number(server, builtin_kind_find("", "v1", "namespaces")), "",
                           request->namespace)
            : NULL;
    bool is_same = false;
    uint32_t owner = object ? owner_of_stored(object, NULL, &is_same) : fallback;

    return rights_is_admin(owner) ? fallback : owner;
}

static bool is_account_kind(const struct api_kind *kind)
{
    return strcmp(kind->plural, "serviceaccounts") == 0 && !*kind->group;
}

/* Administrators and their accounts create objects for others: as controllers do, or by saying so. */
static uint32_t owner_for_admin(struct request *request, yyjson_mut_doc *doc)
{
    const struct identity *identity = request->identity;
    yyjson_mut_val *reference = reference_of(doc);

    if (reference)
        return inherit(request, reference);
    if (!identity->account && yyjson_mut_obj_get(annotations_of(doc), KEY_SUBMITTED_BY))
        return ownership_of(doc);
    /* Accounts act for the user of their namespace, also the one that every namespace gets. */
    if (identity->account || is_account_kind(request->kind))
        return owner_of_namespace(request, identity->owner);
    return identity->owner;
}

void ownership_set(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old)
{
    if (old) {
        for (size_t i = 0; i < ARRAY_LEN(keys); i++)
            set_note(doc, keys[i], yyjson_mut_get_str(yyjson_mut_obj_get(annotations_of(old), keys[i])));
        return;
    }
    /* A server of one user has nobody else's objects. */
    if (!rights_serve_all(request->server->rights))
        set_owner(request, doc, (uint32_t)geteuid());
    else if (!request->identity->is_owned_by_admin)
        set_owner(request, doc, request->identity->owner);
    else
        set_owner(request, doc, owner_for_admin(request, doc));
}
