/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Children of workloads as JSON objects. Controllers end most names with five random letters; here the index of the pod
 * stands in their place, so that the same input gives the same pods.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/keys.h"
#include "objects/make/maker.h"
#include "objects/notes.h"
#include "objects/reader.h"

const char *make_number(struct maker *maker, int64_t number)
{
    return arena_printf(maker->arena, "%lld", (long long)number);
}

const char *make_lower(struct maker *maker, const char *text)
{
    char *copy = arena_strdup(maker->arena, text);

    for (char *at = copy; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return copy;
}

yyjson_doc *make_finish(yyjson_mut_doc *doc)
{
    yyjson_doc *made = yyjson_mut_doc_imut_copy(doc, NULL);

    BUG_ON(!made);
    yyjson_mut_doc_free(doc);
    return made;
}

bool workload_is_over(const struct object *workload)
{
    static const char *const ends[] = {"Complete", "Completed", "Succeeded", "Failed"};
    struct json_at status = json_member(&workload->root, "status");
    struct json_at conditions = json_member(&status, "conditions");

    for (struct json_at item = {0}; json_next(&conditions, &item);) {
        const char *type = json_peek_str(&item, "type");
        const char *value = json_peek_str(&item, "status");

        for (size_t i = 0; type && value && strcmp(value, "True") == 0 && i < ARRAY_LEN(ends); i++) {
            if (strcmp(type, ends[i]) == 0)
                return true;
        }
    }
    return false;
}

bool workload_is_suspended(const struct json_at *at)
{
    struct json_at suspend = json_member(at, "suspend");

    return yyjson_get_bool(suspend.val);
}

/* A map of the template with pairs of the controller put over it. */
static yyjson_mut_val *merge_pairs(yyjson_mut_doc *doc, const struct json_at *of_template, const struct str_pair *pairs,
                                   size_t max)
{
    bool has_map = yyjson_is_obj(of_template->val);
    yyjson_mut_val *merged = has_map ? yyjson_val_mut_copy(doc, of_template->val) : yyjson_mut_obj(doc);

    for (size_t i = 0; i < max && pairs[i].key; i++) {
        (void)yyjson_mut_obj_remove_str(merged, pairs[i].key);
        (void)yyjson_mut_obj_add(merged, yyjson_mut_strcpy(doc, pairs[i].key), yyjson_mut_strcpy(doc, pairs[i].value));
    }
    return merged;
}

static yyjson_mut_val *metadata_encode(yyjson_mut_doc *doc, const struct object *owner, const struct child *child)
{
    yyjson_mut_val *meta = yyjson_mut_obj(doc);
    struct json_at of_template = json_member(child->template, "metadata");
    const struct json_at *from = child->metadata ? child->metadata : &of_template;
    struct json_at labels = json_member(from, "labels");
    struct json_at annotations = json_member(from, "annotations");

    (void)yyjson_mut_obj_add_strcpy(doc, meta, "name", child->name);
    (void)yyjson_mut_obj_add_strcpy(doc, meta, "namespace", owner->namespace);
    (void)yyjson_mut_obj_add_val(doc, meta, "labels",
                                 merge_pairs(doc, &labels, child->labels, ARRAY_LEN(child->labels)));
    (void)yyjson_mut_obj_add_val(doc, meta, "annotations",
                                 merge_pairs(doc, &annotations, child->annotations, ARRAY_LEN(child->annotations)));

    yyjson_mut_val *references = yyjson_mut_obj_add_arr(doc, meta, "ownerReferences");
    yyjson_mut_val *reference = yyjson_mut_arr_add_obj(doc, references);
    (void)yyjson_mut_obj_add_strcpy(doc, reference, "apiVersion", owner->api_version);
    (void)yyjson_mut_obj_add_strcpy(doc, reference, "kind", owner->kind->kind);
    (void)yyjson_mut_obj_add_strcpy(doc, reference, "name", owner->name);
    if (owner->has_uid)
        (void)yyjson_mut_obj_add_strcpy(doc, reference, "uid", owner->uid);
    return meta;
}

/* Other schedulers' pods do not wait for us: a workload that leaves the scheduler open is one of theirs. */
static bool is_ours(struct maker *maker, const struct object *owner, const struct json_at *spec)
{
    const char *scheduler = json_peek_str(spec, "schedulerName");

    if (scheduler && strcmp(scheduler, maker->options->scheduler_name) == 0)
        return true;
    struct left_out left_out = {owner->kind->kind, owner->namespace, owner->name,
                                scheduler ? scheduler : KEY_KUBERNETES_SCHEDULER, maker->options->scheduler_name};
    object_notes_leave_out(maker->notes, &left_out);
    object_notes_warn(maker->notes, "%s %s/%s: its pods are left to %s; to schedule them here, set schedulerName: %s",
                      left_out.kind, left_out.namespace, left_out.name, left_out.scheduler, left_out.ours);
    return false;
}

int make_child(struct maker *maker, const struct object *owner, const struct child *child, struct err *err)
{
    struct json_at of_template = json_member(child->template, "spec");
    const struct json_at *spec = child->spec ? child->spec : &of_template;

    if (!yyjson_is_obj(spec->val))
        return json_fail(spec, err, -EINVAL, "is missing");
    if (!child->kind && !is_ours(maker, owner, spec))
        return 1;

    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    (void)yyjson_mut_obj_add_strcpy(doc, root, "apiVersion", child->kind ? child->api_version : "v1");
    (void)yyjson_mut_obj_add_strcpy(doc, root, "kind", child->kind ? child->kind : "Pod");
    (void)yyjson_mut_obj_add_val(doc, root, "metadata", metadata_encode(doc, owner, child));
    (void)yyjson_mut_obj_add_val(doc, root, "spec", yyjson_val_mut_copy(doc, spec->val));

    return object_set_add_made(maker->set, make_finish(doc), owner, err);
}
