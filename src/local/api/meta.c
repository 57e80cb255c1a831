/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/meta.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "local/api/kinds.h"
#include "local/api/names.h"

static yyjson_mut_val *meta_of(yyjson_mut_doc *doc)
{
    return yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "metadata");
}

/* The metadata, made where it is missing. */
static yyjson_mut_val *meta_make(yyjson_mut_doc *doc)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *meta = yyjson_mut_obj_get(root, "metadata");

    if (!yyjson_mut_is_obj(meta)) {
        meta = yyjson_mut_obj(doc);
        yyjson_mut_obj_put(root, yyjson_mut_str(doc, "metadata"), meta);
    }
    return meta;
}

const char *meta_text(yyjson_mut_doc *doc, const char *member)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(meta_of(doc), member));

    return text ? text : "";
}

bool meta_has(yyjson_mut_doc *doc, const char *member)
{
    yyjson_mut_val *value = yyjson_mut_obj_get(meta_of(doc), member);

    return value && !yyjson_mut_is_null(value);
}

static void put(yyjson_mut_doc *doc, const char *member, yyjson_mut_val *value)
{
    yyjson_mut_obj_put(meta_make(doc), yyjson_mut_strcpy(doc, member), value);
}

void meta_set_text(yyjson_mut_doc *doc, const char *member, const char *value)
{
    put(doc, member, yyjson_mut_strcpy(doc, value));
}

void meta_set_number(yyjson_mut_doc *doc, const char *member, int64_t value)
{
    put(doc, member, yyjson_mut_sint(doc, value));
}

void meta_remove(yyjson_mut_doc *doc, const char *member)
{
    (void)yyjson_mut_obj_remove_key(meta_of(doc), member);
}

void meta_set_version(yyjson_mut_doc *doc, uint64_t version)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%" PRIu64, version);
    meta_set_text(doc, "resourceVersion", text);
}

void meta_set_time(yyjson_mut_doc *doc, const char *member, nsec_t time)
{
    char text[TIME_TEXT_MAX];

    meta_set_text(doc, member, time_format(time - time % NSEC_PER_SEC, text));
}

bool meta_has_finalizers(yyjson_mut_doc *doc)
{
    return yyjson_mut_arr_size(yyjson_mut_obj_get(meta_of(doc), "finalizers")) > 0;
}

void meta_set_annotation(yyjson_mut_doc *doc, const char *name, const char *value)
{
    yyjson_mut_val *notes = yyjson_mut_obj_get(meta_make(doc), "annotations");

    if (!yyjson_mut_is_obj(notes)) {
        notes = yyjson_mut_obj(doc);
        put(doc, "annotations", notes);
    }
    yyjson_mut_obj_put(notes, yyjson_mut_strcpy(doc, name), yyjson_mut_strcpy(doc, value));
}

void meta_stamp_type(yyjson_mut_doc *doc, const struct api_kind *kind)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    char version[API_VERSION_MAX];

    yyjson_mut_obj_put(root, yyjson_mut_str(doc, "apiVersion"),
                       yyjson_mut_strcpy(doc, api_kind_version(kind, version)));
    yyjson_mut_obj_put(root, yyjson_mut_str(doc, "kind"), yyjson_mut_strcpy(doc, kind->kind));
}

void meta_stamp_new(yyjson_mut_doc *doc, const struct api_kind *kind, nsec_t now)
{
    static const char *const not_for_clients[] = {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"};
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    char uid[UID_TEXT_MAX];

    meta_stamp_type(doc, kind);
    for (size_t i = 0; i < ARRAY_LEN(not_for_clients); i++)
        meta_remove(doc, not_for_clients[i]);
    uid_make(uid);
    meta_set_text(doc, "uid", uid);
    meta_set_time(doc, "creationTimestamp", now);
    /* Kinds that do not count keep whatever the client has given. */
    if (kind->flags & KIND_GENERATION) {
        meta_remove(doc, "generation");
        meta_set_number(doc, "generation", 1);
    }
    if (kind->flags & KIND_STATUS)
        (void)yyjson_mut_obj_remove_key(root, "status");
}

/* Whether any member differs, or only one of the two has it; those named, of which the second may be NULL, do not count. */
static bool has_other_members(yyjson_mut_val *a, yyjson_mut_val *b, const char *but, const char *nor)
{
    yyjson_mut_val *sides[] = {a, b};

    for (int side = 0; side < 2; side++) {
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(sides[side]);
        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
            const char *name = yyjson_mut_get_str(key);
            if (strcmp(name, but) == 0 || (nor && strcmp(name, nor) == 0))
                continue;
            yyjson_mut_val *other = yyjson_mut_obj_get(sides[!side], name);
            if (!other || !yyjson_mut_equals(yyjson_mut_obj_iter_get_val(key), other))
                return true;
        }
    }
    return false;
}

static bool has_other_spec(yyjson_mut_doc *a, yyjson_mut_doc *b, bool counts_status)
{
    return has_other_members(yyjson_mut_doc_get_root(a), yyjson_mut_doc_get_root(b), "metadata",
                             counts_status ? NULL : "status");
}

void meta_keep(yyjson_mut_doc *doc, const char *member, yyjson_mut_doc *old)
{
    yyjson_mut_val *value = yyjson_mut_obj_get(meta_of(old), member);

    if (value)
        put(doc, member, yyjson_mut_val_mut_copy(doc, value));
    else
        meta_remove(doc, member);
}

void meta_stamp_update(yyjson_mut_doc *doc, const struct api_kind *kind, yyjson_mut_doc *old)
{
    static const char *const kept[] = {
        "uid",  "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation",
        "name", "namespace",         "generateName"};

    meta_stamp_type(doc, kind);
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        meta_keep(doc, kept[i], old);
}

/* Annotations of a Deployment are passed on to its ReplicaSets, and those who use EndpointSlices select them by labels: both
 * count as a change of what the object asks for. */
static bool has_other_notes(yyjson_mut_doc *doc, const struct api_kind *kind, yyjson_mut_doc *old)
{
    static const struct {
        const char *plural;
        const char *member;
    } counted[] = {{"deployments", "annotations"}, {"endpointslices", "labels"}};

    for (size_t i = 0; i < ARRAY_LEN(counted); i++) {
        yyjson_mut_val *now = yyjson_mut_obj_get(meta_of(doc), counted[i].member);
        yyjson_mut_val *before = yyjson_mut_obj_get(meta_of(old), counted[i].member);
        if (strcmp(kind->plural, counted[i].plural) == 0 && !(kind->flags & KIND_IS_CUSTOM) && (now || before) &&
            !(now && before && yyjson_mut_equals(now, before)))
            return true;
    }
    return false;
}

void meta_count_change(yyjson_mut_doc *doc, const struct api_kind *kind, yyjson_mut_doc *old)
{
    if ((kind->flags & KIND_GENERATION) &&
        (has_other_notes(doc, kind, old) || has_other_spec(doc, old, !(kind->flags & KIND_STATUS))))
        meta_set_number(doc, "generation", yyjson_mut_get_sint(yyjson_mut_obj_get(meta_of(old), "generation")) + 1);
}

void meta_keep_status(yyjson_mut_doc *doc, yyjson_mut_doc *from)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *status = yyjson_mut_obj_get(yyjson_mut_doc_get_root(from), "status");

    if (status)
        yyjson_mut_obj_put(root, yyjson_mut_str(doc, "status"), yyjson_mut_val_mut_copy(doc, status));
    else
        (void)yyjson_mut_obj_remove_key(root, "status");
}

bool meta_is_same(yyjson_mut_doc *a, yyjson_mut_doc *b)
{
    return !has_other_spec(a, b, true) && !has_other_members(meta_of(a), meta_of(b), "resourceVersion", NULL);
}
