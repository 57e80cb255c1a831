/* SPDX-License-Identifier: Apache-2.0 */
#include "local/controllers/adoption.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "local/api/label_selector.h"
#include "local/controllers/actions.h"
#include "local/controllers/families.h"
#include "local/controllers/values.h"
#include "text/json.h"

#define UNFINISHED "status.phase!=Succeeded,status.phase!=Failed"

enum { SELECTOR_TEXT_MAX = 64 << 10, ORPHANS_MAX = 500, VERSION_MAX = 320 };

/* The selector of a ReplicationController, and that of a Job before the server has written one, have no level of their own. */
static bool is_map(yyjson_val *selector)
{
    return !yyjson_obj_get(selector, "matchLabels") && !yyjson_obj_get(selector, "matchExpressions");
}

static bool selects(const struct owner *owner, yyjson_val *object)
{
    yyjson_val *selector = value_at(owner->object, "spec", "selector");
    yyjson_val *labels = value_at(object, "metadata", "labels");

    if (yyjson_obj_size(selector) == 0)
        return false;
    return is_map(selector) ? label_map_matches(selector, labels) : label_selector_matches(selector, labels);
}

static enum adoption adoption_of(const struct owner *owner)
{
    return owner->controller->kind->adoption;
}

static void need_review(struct owner *owner)
{
    owner->needs_review = true;
    work_add(owner->controller->work, &owner->work);
}

/* A new owner whose selector nobody else can know has nothing to adopt. Any other may match what somebody else has made. */
static bool may_have_orphans(const struct owner *owner)
{
    return adoption_of(owner) != ADOPTION_LABELED || bool_at(owner->object, "spec", "manualSelector");
}

void adoption_put_owner(struct owner *owner, yyjson_val *before)
{
    yyjson_val *selector = value_at(owner->object, "spec", "selector");

    if (adoption_of(owner) == ADOPTION_NONE || !selector)
        return;
    if (before && yyjson_equals(value_at(before, "spec", "selector"), selector))
        return;
    if (!owner->is_selecting && may_have_orphans(owner)) {
        owner->is_selecting = true;
        list_push(&owner->controller->selecting, &owner->in_selecting);
    }
    /* One that was worked on before this process began may have lost or gained children meanwhile. */
    if (owner->is_selecting || before || value_at(owner->object, "status", "startTime"))
        owner->needs_review = true;
}

void adoption_put_orphan(struct controller *controller, yyjson_val *object)
{
    const char *label = controller->kind->uid_label;
    const char *maker = label ? kube_text(object, "metadata", "labels", label) : "";
    const char *namespace = kube_text(object, "metadata", "namespace");

    /* Whatever is there at the beginning is found by the reviews of all owners. */
    if (controller->kind->adoption == ADOPTION_NONE || !controller->is_synced ||
        value_at(object, "metadata", "deletionTimestamp"))
        return;
    struct family *known = *maker ? families_find(controller->families, maker) : NULL;
    if (known && known->owner) {
        if (selects(known->owner, object))
            need_review(known->owner);
        return;
    }
    for (struct owner *owner = list_first(&controller->selecting, struct owner, in_selecting); owner;
         owner = list_item(owner->in_selecting.next, struct owner, in_selecting)) {
        if (strcmp(owner->namespace, namespace) == 0 && selects(owner, object))
            need_review(owner);
    }
}

void adoption_put_child(struct child *child, yyjson_val *object)
{
    struct owner *owner = child->family->owner;

    if (owner && owner->doc && adoption_of(owner) != ADOPTION_NONE && owner->controller->is_synced &&
        !child->is_ending && !selects(owner, object))
        need_review(owner);
}

static void drop_orphans(struct owner *owner)
{
    vec_foreach (&owner->orphans, orphan) {
        free(orphan->name);
        free(orphan->uid);
    }
    vec_done(&owner->orphans);
}

void adoption_drop_owner(struct owner *owner)
{
    drop_orphans(owner);
    if (owner->is_selecting)
        list_remove(&owner->controller->selecting, &owner->in_selecting);
}

/* The patches. */

static yyjson_mut_doc *patch_new(const char *uid, yyjson_mut_val **ret_metadata)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);

    *ret_metadata = yyjson_mut_obj_add_obj(doc, root, "metadata");
    /* Another object of this name is left alone. */
    (void)yyjson_mut_obj_add_strcpy(doc, *ret_metadata, "uid", uid);
    return doc;
}

static void add_finalizer(struct owner *owner, yyjson_mut_doc *doc, yyjson_mut_val *metadata, const char *key)
{
    if (owner->controller->kind->finalizer)
        (void)yyjson_mut_arr_add_str(doc, yyjson_mut_obj_add_arr(doc, metadata, key),
                                     owner->controller->kind->finalizer);
}

static void adopt(struct owner *owner, const struct orphan *orphan)
{
    const struct kube_resource *resource = kube_known(owner->controller->kind->owner);
    const struct child child = {.kind = orphan->kind, .name = orphan->name, .uid = orphan->uid};
    yyjson_mut_val *metadata = NULL;
    yyjson_mut_doc *doc = patch_new(orphan->uid, &metadata);
    yyjson_mut_val *reference = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, metadata, "ownerReferences"));
    char version[VERSION_MAX];

    (void)snprintf(version, sizeof version, "%s%s%s", resource->group, resource->group[0] ? "/" : "",
                   resource->version);
    (void)yyjson_mut_obj_add_strcpy(doc, reference, "apiVersion", version);
    (void)yyjson_mut_obj_add_str(doc, reference, "kind", resource->kind);
    (void)yyjson_mut_obj_add_strcpy(doc, reference, "name", owner->name);
    (void)yyjson_mut_obj_add_strcpy(doc, reference, "uid", owner->uid);
    (void)yyjson_mut_obj_add_bool(doc, reference, "controller", true);
    (void)yyjson_mut_obj_add_bool(doc, reference, "blockOwnerDeletion", true);
    add_finalizer(owner, doc, metadata, "finalizers");
    owner_patch_child(owner, &child, KUBE_PATCH_STRATEGIC, doc, NULL);
}

static void release(struct owner *owner, const struct child *child)
{
    yyjson_mut_val *metadata = NULL;
    yyjson_mut_doc *doc = patch_new(child->uid, &metadata);
    yyjson_mut_val *reference = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, metadata, "ownerReferences"));

    (void)yyjson_mut_obj_add_str(doc, reference, "$patch", "delete");
    (void)yyjson_mut_obj_add_strcpy(doc, reference, "uid", owner->uid);
    add_finalizer(owner, doc, metadata, "$deleteFromPrimitiveList/finalizers");
    owner_patch_child(owner, child, KUBE_PATCH_STRATEGIC, doc, NULL);
}

/* The review. */

/* The owner as the server has it now: one that is going away must not adopt what it has just given up. */
static void on_owner_read(struct owner *owner, const struct kube_answer *answer)
{
    yyjson_val *object = NULL;

    if (answer->err.code == 0 && kube_answer_object(answer, &object, NULL) == 0 &&
        strcmp(kube_text(object, "metadata", "uid"), owner->uid) == 0 &&
        !value_at(object, "metadata", "deletionTimestamp")) {
        vec_foreach (&owner->orphans, orphan)
            adopt(owner, orphan);
    } else if (answer->err.code < 0 && answer->status != 404) {
        owner->needs_review = true;
    }
    drop_orphans(owner);
}

/* Children that the list does not have, although it is not older than what is known of them. */
static void release_others(struct owner *owner, uint64_t version)
{
    owner_foreach(owner, child)
    {
        bool counts = adoption_of(owner) != ADOPTION_UNFINISHED || !pod_is_finished(&child->pod);

        if (child->kind == 0 && child->seen != owner->review && child->version <= version && !child->is_ending &&
            counts)
            release(owner, child);
    }
}

static void list_selected(struct owner *owner);

static void on_listed(struct owner *owner, const struct kube_answer *answer)
{
    yyjson_val *list = NULL;

    if (answer->err.code < 0 || kube_answer_object(answer, &list, NULL) < 0) {
        owner->needs_review = true;
        drop_orphans(owner);
        return;
    }
    if (owner->review_kind == 0)
        release_others(owner, strtoull(kube_text(list, "metadata", "resourceVersion"), NULL, 10));
    if (++owner->review_kind < owner->controller->kind->child_kinds)
        list_selected(owner);
    else if (owner->orphans.len > 0)
        owner_ask(owner,
                  &(struct kube_request){.verb = KUBE_GET,
                                         .resource = kube_known(owner->controller->kind->owner),
                                         .namespace = owner->namespace,
                                         .name = owner->name},
                  NULL, on_owner_read);
}

static bool is_orphan(yyjson_val *object)
{
    size_t i, max;
    yyjson_val *reference;

    yyjson_arr_foreach(value_at(object, "metadata", "ownerReferences"), i, max, reference)
    {
        if (bool_at(reference, "controller"))
            return false;
    }
    return !value_at(object, "metadata", "deletionTimestamp");
}

static int on_selected(struct owner *owner, const char *text, size_t len)
{
    yyjson_doc *doc = text ? yyjson_read(text, len, 0) : NULL;
    yyjson_val *object = yyjson_doc_get_root(doc);
    const char *name = kube_text(object, "metadata", "name"), *uid = kube_text(object, "metadata", "uid");
    struct child *child = owner_child(owner, uid);

    if (child)
        child->seen = owner->review;
    if (uid[0] && is_orphan(object) && owner->orphans.len < ORPHANS_MAX &&
        (owner->review_kind > 0 || !owner->controller->kind->may_adopt ||
         owner->controller->kind->may_adopt(owner, name)))
        vec_push(&owner->orphans, ((struct orphan){owner->review_kind, xstrdup(name), xstrdup(uid)}));
    yyjson_doc_free(doc);
    return 0;
}

static void list_selected(struct owner *owner)
{
    yyjson_val *selector = value_at(owner->object, "spec", "selector");
    bool is_of_pods = owner->review_kind == 0 && adoption_of(owner) == ADOPTION_UNFINISHED;
    struct strbuf query;

    strbuf_init(&query, SELECTOR_TEXT_MAX);
    if (is_map(selector))
        label_map_format(selector, &query);
    else
        label_selector_format(selector, &query);
    /* One that selects everything would take over whatever is in the namespace. */
    if (query.len > 0 && !query.is_cut)
        owner_ask(owner,
                  &(struct kube_request){.verb = KUBE_LIST,
                                         .resource = kube_known(owner->controller->kind->children[owner->review_kind]),
                                         .namespace = owner->namespace,
                                         .label_selector = query.text,
                                         .field_selector = is_of_pods ? UNFINISHED : NULL,
                                         .is_metadata_only = true},
                  on_selected, on_listed);
    strbuf_done(&query);
}

bool adoption_start(struct owner *owner)
{
    if (!owner->needs_review || value_at(owner->object, "metadata", "deletionTimestamp"))
        return false;
    owner->needs_review = false;
    owner->review++;
    owner->review_kind = 0;
    list_selected(owner);
    return owner_has_acted(owner);
}
