/* SPDX-License-Identifier: Apache-2.0 */
#include "services/operator/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/macros.h"

static void set(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, yyjson_mut_val *value)
{
    (void)yyjson_mut_obj_remove_key(object, key);
    (void)yyjson_mut_obj_add(object, yyjson_mut_strcpy(doc, key), value);
}

static yyjson_mut_val *member(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key)
{
    yyjson_mut_val *found = yyjson_mut_obj_get(object, key);

    if (!yyjson_mut_is_obj(found)) {
        found = yyjson_mut_obj(doc);
        set(doc, object, key, found);
    }
    return found;
}

/* Adds what `from` has, in place of what `to` has; `to` keeps the rest. */
static void lay_over(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_mut_val *from)
{
    size_t i, max;
    yyjson_mut_val *key, *value;

    yyjson_mut_obj_foreach(from, i, max, key, value)
    {
        set(doc, to, yyjson_mut_get_str(key), yyjson_mut_val_mut_copy(doc, value));
    }
}

/* Adds to `to` the members of `from` that it lacks. */
static void fill_in(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_mut_val *from)
{
    size_t i, max;
    yyjson_mut_val *key, *value;

    yyjson_mut_obj_foreach(from, i, max, key, value)
    {
        if (!yyjson_mut_obj_get(to, yyjson_mut_get_str(key)))
            set(doc, to, yyjson_mut_get_str(key), yyjson_mut_val_mut_copy(doc, value));
    }
}

/* Owners that do not control it stay. */
static void set_owner(yyjson_mut_doc *doc, yyjson_mut_val *meta, const struct merge_owner *owner)
{
    yyjson_mut_val *owners = yyjson_mut_arr(doc);
    yyjson_mut_val *ours = yyjson_mut_arr_add_obj(doc, owners);
    size_t i, max;
    yyjson_mut_val *other;

    (void)yyjson_mut_obj_add_strcpy(doc, ours, "apiVersion", owner->api_version);
    (void)yyjson_mut_obj_add_strcpy(doc, ours, "kind", owner->kind);
    (void)yyjson_mut_obj_add_strcpy(doc, ours, "name", owner->name);
    (void)yyjson_mut_obj_add_strcpy(doc, ours, "uid", owner->uid);
    (void)yyjson_mut_obj_add_bool(doc, ours, "controller", true);
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(meta, "ownerReferences"), i, max, other)
    {
        bool is_ours = yyjson_mut_equals_str(yyjson_mut_obj_get(other, "uid"), owner->uid);

        if (!is_ours && !yyjson_mut_get_bool(yyjson_mut_obj_get(other, "controller")))
            (void)yyjson_mut_arr_append(owners, yyjson_mut_val_mut_copy(doc, other));
    }
    set(doc, meta, "ownerReferences", owners);
}

static void merge_meta(yyjson_mut_doc *doc, yyjson_mut_val *live, yyjson_mut_val *wanted)
{
    static const char *const keys[] = {"labels", "annotations"};

    /* This one is nobody else's: it is there when it is wanted. */
    (void)yyjson_mut_obj_remove_key(yyjson_mut_obj_get(live, "annotations"), KEY_SWITCHED_OFF);

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        yyjson_mut_val *from = yyjson_mut_obj_get(wanted, keys[i]);

        if (from)
            lay_over(doc, member(doc, live, keys[i]), from);
    }
}

static yyjson_mut_val *find_named(yyjson_mut_val *list, const char *name)
{
    size_t i, max;
    yyjson_mut_val *item;

    yyjson_mut_arr_foreach(list, i, max,
                           item) if (name && yyjson_mut_equals_str(yyjson_mut_obj_get(item, "name"), name)) return item;
    return NULL;
}

/* Expressions of others, which clouds add to keep webhooks away from their own namespaces. */
static void keep_expressions(yyjson_mut_doc *doc, yyjson_mut_val *wanted, yyjson_mut_val *live)
{
    yyjson_mut_val *selector = yyjson_mut_obj_get(wanted, "namespaceSelector");
    yyjson_mut_val *to = yyjson_mut_obj_get(selector, "matchExpressions");
    yyjson_mut_val *from = yyjson_mut_obj_get(yyjson_mut_obj_get(live, "namespaceSelector"), "matchExpressions");
    size_t i, max, j, to_max;
    yyjson_mut_val *item, *own;

    yyjson_mut_arr_foreach(from, i, max, item)
    {
        bool is_own = false;

        yyjson_mut_arr_foreach(to, j, to_max, own) is_own =
            is_own || yyjson_mut_equals(yyjson_mut_obj_get(own, "key"), yyjson_mut_obj_get(item, "key"));
        if (to && !is_own)
            (void)yyjson_mut_arr_append(to, yyjson_mut_val_mut_copy(doc, item));
    }
}

/* `webhooks` is the desired list, of the document already. */
static void keep_of_webhooks(yyjson_mut_doc *doc, yyjson_mut_val *webhooks, yyjson_mut_val *live_webhooks)
{
    static const char *const keys[] = {"timeoutSeconds", "matchPolicy"};
    size_t i, max;
    yyjson_mut_val *webhook;

    yyjson_mut_arr_foreach(webhooks, i, max, webhook)
    {
        const char *name = yyjson_mut_get_str(yyjson_mut_obj_get(webhook, "name"));
        yyjson_mut_val *live = find_named(live_webhooks, name);
        yyjson_mut_val *bundle = yyjson_mut_obj_get(yyjson_mut_obj_get(live, "clientConfig"), "caBundle");

        if (!live)
            continue;
        if (bundle)
            set(doc, yyjson_mut_obj_get(webhook, "clientConfig"), "caBundle", yyjson_mut_val_mut_copy(doc, bundle));
        for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
            yyjson_mut_val *kept = yyjson_mut_obj_get(live, keys[k]);

            if (kept && !yyjson_mut_obj_get(webhook, keys[k]))
                set(doc, webhook, keys[k], yyjson_mut_val_mut_copy(doc, kept));
        }
        keep_expressions(doc, webhook, live);
    }
}

static void keep_of_service(yyjson_mut_doc *doc, yyjson_mut_val *spec, yyjson_mut_val *live)
{
    static const char *const keys[] = {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy",
                                       "healthCheckNodePort"};
    bool is_headless = yyjson_mut_equals_str(yyjson_mut_obj_get(spec, "clusterIP"), "None");

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        yyjson_mut_val *kept = yyjson_mut_obj_get(live, keys[i]);

        if (kept && !yyjson_mut_obj_get(spec, keys[i]) && !(is_headless && i < 2))
            set(doc, spec, keys[i], yyjson_mut_val_mut_copy(doc, kept));
    }
}

static void keep_of_template(yyjson_mut_doc *doc, yyjson_mut_val *spec, yyjson_mut_val *live)
{
    yyjson_mut_val *to = yyjson_mut_obj_get(yyjson_mut_obj_get(spec, "template"), "metadata");
    yyjson_mut_val *from = yyjson_mut_obj_get(yyjson_mut_obj_get(live, "template"), "metadata");
    yyjson_mut_val *annotations = yyjson_mut_obj_get(from, "annotations");

    if (to && annotations)
        fill_in(doc, member(doc, to, "annotations"), annotations);
}

/* Pull secrets that others gave to an account. */
static void keep_of_account(yyjson_mut_doc *doc, yyjson_mut_val *wanted_list, yyjson_mut_val *live_list)
{
    size_t i, max;
    yyjson_mut_val *item;

    yyjson_mut_arr_foreach(
        live_list, i, max,
        item) if (!find_named(wanted_list, yyjson_mut_get_str(yyjson_mut_obj_get(item, "name"))))(void)
        yyjson_mut_arr_append(wanted_list, yyjson_mut_val_mut_copy(doc, item));
}

static void keep_others(yyjson_mut_doc *doc, enum owned_kind kind, yyjson_mut_val *value, yyjson_mut_val *live)
{
    switch (kind) {
    case OWNED_MUTATING_WEBHOOK:
    case OWNED_VALIDATING_WEBHOOK:
        keep_of_webhooks(doc, value, live);
        break;
    case OWNED_SERVICE:
        keep_of_service(doc, value, live);
        break;
    case OWNED_DEPLOYMENT:
    case OWNED_DAEMON_SET:
        keep_of_template(doc, value, live);
        break;
    case OWNED_SERVICE_ACCOUNT:
        keep_of_account(doc, value, live);
        break;
    default:
        break;
    }
}

void merge_into(yyjson_mut_doc *doc, yyjson_mut_val *live, enum owned_kind kind, yyjson_mut_val *wanted,
                const struct merge_owner *owner)
{
    size_t i, max;
    yyjson_mut_val *key, *value;

    yyjson_mut_obj_foreach(wanted, i, max, key, value)
    {
        const char *name = yyjson_mut_get_str(key);

        if (strcmp(name, "metadata") == 0) {
            merge_meta(doc, member(doc, live, name), value);
            continue;
        }
        yyjson_mut_val *copy = yyjson_mut_val_mut_copy(doc, value);

        if (yyjson_mut_is_ctn(copy))
            keep_others(doc, kind, copy, yyjson_mut_obj_get(live, name));
        set(doc, live, name, copy);
    }
    if (owner)
        set_owner(doc, member(doc, live, "metadata"), owner);
}

yyjson_mut_doc *merge_new(yyjson_mut_val *wanted, const struct merge_owner *owner)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_val_mut_copy(doc, wanted);

    yyjson_mut_doc_set_root(doc, root);
    if (owner)
        set_owner(doc, member(doc, root, "metadata"), owner);
    return doc;
}

static uint64_t digest_text(char *text, size_t len)
{
    uint64_t digest = hash_bytes(text ? text : "", text ? len : 0, 0);

    free(text);
    return digest ? digest : 1;
}

uint64_t digest_wanted(yyjson_mut_val *object)
{
    size_t len = 0;
    char *text = yyjson_mut_val_write(object, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

    return digest_text(text, len);
}

uint64_t digest_live(yyjson_val *object)
{
    static const char *const notes[] = {"managedFields", "resourceVersion", "generation", "selfLink"};
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_val_mut_copy(doc, object);
    yyjson_mut_val *meta = yyjson_mut_obj_get(root, "metadata");

    (void)yyjson_mut_obj_remove_key(root, "status");
    for (size_t i = 0; meta && i < ARRAY_LEN(notes); i++)
        (void)yyjson_mut_obj_remove_key(meta, notes[i]);
    uint64_t digest = digest_wanted(root);

    yyjson_mut_doc_free(doc);
    return digest;
}
