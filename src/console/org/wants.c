/* SPDX-License-Identifier: Apache-2.0 */
#include "console/org/wants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "console/org/pools.h"
#include "console/rest/context.h"
#include "text/quantity.h"

enum { HASH_TEXT_MAX = 17 };

/* How a value of the cluster may differ from the wanted one. */
enum { MAY_LACK_EMPTY = 1, MAY_BE_THE_SAME_AMOUNT = 2 };

struct want *wants_add(struct wants *wants, enum kube_known resource, enum want_mode mode, const char *namespace,
                       const char *name)
{
    struct want want = {
        .resource = resource,
        .mode = mode,
        .namespace = namespace ? xstrdup(namespace) : NULL,
        .name = xstrdup(name),
    };

    vec_push(&wants->list, want);
    return &vec_last(&wants->list);
}

yyjson_mut_val *want_begin(struct want *want, const struct sync_item *item, const char *label_kind)
{
    const struct kube_resource *resource = kube_known(want->resource);
    yyjson_mut_val *root;
    char version[128];

    want->doc = json_new_object(&root);
    (void)snprintf(version, sizeof version, "%s%s%s", resource->group, *resource->group ? "/" : "", resource->version);
    put_text(want->doc, root, "apiVersion", version);
    put_text(want->doc, root, "kind", resource->kind);
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(want->doc, root, "metadata");
    put_text(want->doc, metadata, "name", want->name);
    if (want->namespace)
        put_text(want->doc, metadata, "namespace", want->namespace);
    yyjson_mut_val *labels = yyjson_mut_obj_add_obj(want->doc, metadata, "labels");
    put_text(want->doc, labels, OBJECT_LABEL_ID, item->id);
    put_text(want->doc, labels, OBJECT_LABEL_KIND, label_kind);
    return root;
}

/* --- what there is --- */

void want_replaces(struct want *want)
{
    yyjson_mut_val *metadata = yyjson_mut_ptr_get(yyjson_mut_doc_get_root(want->doc), "/metadata");
    yyjson_mut_val *annotations = yyjson_mut_obj_get(metadata, "annotations");
    size_t len = 0;
    char *text = yyjson_mut_write(want->doc, 0, &len);
    char hash[HASH_TEXT_MAX];

    BUG_ON(!text);
    (void)snprintf(hash, sizeof hash, "%016llx", (unsigned long long)hash_bytes(text, len, 0));
    free(text);
    if (!annotations)
        annotations = yyjson_mut_obj_add_obj(want->doc, metadata, "annotations");
    put_text(want->doc, annotations, OBJECT_HASH, hash);
    want->is_replaced = true;
}

/* Values that servers leave out of objects of their own kinds. */
static bool is_empty(yyjson_mut_val *value)
{
    return yyjson_mut_is_false(value) || yyjson_mut_equals_str(value, "") ||
           (yyjson_mut_is_num(value) && yyjson_mut_get_num(value) == 0) ||
           (yyjson_mut_is_arr(value) && yyjson_mut_arr_size(value) == 0);
}

/* "1024Mi" is written as "1Gi". */
static bool is_same_amount(yyjson_val *there, const char *wanted)
{
    struct quantity a, b;

    return yyjson_is_str(there) && quantity_parse_exact(yyjson_get_str(there), &a, NULL) == 0 &&
           quantity_parse_exact(wanted, &b, NULL) == 0 && a.nano == b.nano;
}

/* Lists have one value for each place; null stands for what is not there. */
static bool includes(yyjson_val *there, yyjson_mut_val *wanted, unsigned ways)
{
    size_t index, max;
    yyjson_mut_val *key, *value;

    if (!there && (ways & MAY_LACK_EMPTY) && is_empty(wanted))
        return true;
    if (yyjson_mut_is_num(wanted))
        return yyjson_is_num(there) && yyjson_get_num(there) == yyjson_mut_get_num(wanted);
    if (yyjson_mut_is_str(wanted))
        return yyjson_equals_str(there, yyjson_mut_get_str(wanted)) ||
               ((ways & MAY_BE_THE_SAME_AMOUNT) && is_same_amount(there, yyjson_mut_get_str(wanted)));
    if (yyjson_mut_is_bool(wanted))
        return yyjson_is_bool(there) && yyjson_get_bool(there) == yyjson_mut_get_bool(wanted);
    if (yyjson_mut_is_null(wanted))
        return !there || yyjson_is_null(there);
    if (yyjson_mut_is_arr(wanted)) {
        if (!yyjson_is_arr(there) || yyjson_arr_size(there) != yyjson_mut_arr_size(wanted))
            return false;
        yyjson_mut_arr_foreach(wanted, index, max, value)
        {
            if (!includes(yyjson_arr_get(there, index), value, ways))
                return false;
        }
        return true;
    }
    yyjson_mut_obj_foreach(wanted, index, max, key, value)
    {
        const char *name = yyjson_mut_get_str(key);
        bool holds_amounts = strcmp(name, "limits") == 0 || strcmp(name, "requests") == 0;

        if (!includes(yyjson_obj_get(there, name), value, holds_amounts ? ways | MAY_BE_THE_SAME_AMOUNT : ways))
            return false;
    }
    return true;
}

/* Items of lists lack apiVersion and kind. */
bool want_is_met(const struct want *want, yyjson_val *object)
{
    size_t index, max;
    yyjson_mut_val *key, *value;

    if (want->mode == WANT_MADE || want->mode == WANT_THERE)
        return true;
    yyjson_mut_obj_foreach(yyjson_mut_doc_get_root(want->kept ? want->kept : want->doc), index, max, key, value)
    {
        const char *name = yyjson_mut_get_str(key);

        if (strcmp(name, "apiVersion") != 0 && strcmp(name, "kind") != 0 &&
            !includes(yyjson_obj_get(object, name), value, want->is_replaced ? MAY_LACK_EMPTY : 0))
            return false;
    }
    return true;
}

static const char *text_at(yyjson_val *object, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_ptr_get(object, pointer));

    return text ? text : "";
}

/* The node is in no pool of ours any more. */
static void release_node(struct wants *wants, const char *name)
{
    struct want *want = wants_add(wants, KUBE_NODES, WANT_GONE, NULL, name);
    yyjson_mut_val *root;

    want->doc = json_new_object(&root);
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(want->doc, root, "metadata");
    yyjson_mut_val *labels = yyjson_mut_obj_add_obj(want->doc, metadata, "labels");
    (void)yyjson_mut_obj_add_null(want->doc, labels, OBJECT_LABEL_ID);
    (void)yyjson_mut_obj_add_null(want->doc, labels, OBJECT_LABEL_KIND);
    (void)yyjson_mut_obj_add_null(want->doc, labels, POOL_LABEL);
}

void wants_see(struct wants *wants, yyjson_val *object)
{
    const char *namespace = text_at(object, "/metadata/namespace");
    const char *name = text_at(object, "/metadata/name");
    bool is_lost = strcmp(text_at(object, "/status/phase"), "Lost") == 0;

    vec_foreach (&wants->list, want) {
        if (want->resource != wants->resource || strcmp(want->name, name) != 0 ||
            strcmp(want->namespace ? want->namespace : "", namespace) != 0)
            continue;
        want->is_listed = true;
        want->is_done = want_is_met(want, object);
        if (is_lost && wants->resource == KUBE_PERSISTENT_VOLUME_CLAIMS)
            want->issue = xstrdup("the claim has lost its volume");
        return;
    }
    if (wants->resource == KUBE_NODES)
        release_node(wants, name);
    else if (!yyjson_ptr_get(object, "/metadata/deletionTimestamp"))
        (void)wants_add(wants, wants->resource, WANT_GONE, *namespace ? namespace : NULL, name);
}

void wants_done(struct wants *wants)
{
    vec_foreach (&wants->list, want) {
        free(want->namespace);
        free(want->name);
        free(want->project);
        free(want->issue);
        yyjson_mut_doc_free(want->doc);
        yyjson_mut_doc_free(want->kept);
    }
    vec_done(&wants->list);
    *wants = (struct wants){0};
}
