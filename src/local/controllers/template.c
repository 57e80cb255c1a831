/* SPDX-License-Identifier: Apache-2.0 */
#include "local/controllers/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/macros.h"
#include "base/mem.h"
#include "local/controllers/values.h"
#include "text/json.h"

enum { GENERATED_CHARACTERS = 5, PREFIX_MAX = 58, VERSION_MAX = 320, REFUSALS_MAX = 3 };

const char *hash_text(uint64_t hash, char text[static HASH_TEXT_MAX], uint32_t len)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";

    BUG_ON(len >= HASH_TEXT_MAX);
    for (uint32_t i = 0; i < len; i++, hash /= sizeof letters - 1)
        text[i] = letters[hash % (sizeof letters - 1)];
    text[len] = '\0';
    return text;
}

void child_names_init(struct child_names *names, const struct owner *owner)
{
    *names = (struct child_names){.owner = owner};
    owner_foreach(owner, child) map64_put(&names->taken, hash_str(child->name, 0), 0);
}

void child_names_done(struct child_names *names)
{
    map64_done(&names->taken);
    free(names->prefix);
}

/* An object of somebody else may have the name: whoever is refused again and again tries others. */
static uint64_t sequence_of(const struct child_names *names)
{
    uint64_t failures = names->owner->work.backoff.failures;

    return hash_str(names->prefix, hash_str(names->owner->uid, failures < REFUSALS_MAX ? 0 : failures));
}

const char *child_names_next(struct child_names *names, const char *prefix, char name[static CHILD_NAME_MAX])
{
    char text[HASH_TEXT_MAX];

    if (!names->prefix || strcmp(names->prefix, prefix) != 0) {
        free(names->prefix);
        names->prefix = xstrdup(prefix);
        names->next = 0;
    }
    do {
        uint64_t hash = hash_bytes(&names->next, sizeof names->next, sequence_of(names));

        names->next++;
        (void)snprintf(name, CHILD_NAME_MAX, "%.*s%s", PREFIX_MAX, prefix, hash_text(hash, text, GENERATED_CHARACTERS));
    } while (map64_get(&names->taken, hash_str(name, 0), NULL));
    map64_put(&names->taken, hash_str(name, 0), 0);
    return name;
}

static void add_reference(const struct owner *owner, yyjson_mut_doc *doc, yyjson_mut_val *metadata)
{
    const struct kube_resource *resource = kube_known(owner->controller->kind->owner);
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
}

static void copy_member(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, yyjson_val *value)
{
    if (value)
        (void)yyjson_mut_obj_add_val(doc, to, key, yyjson_val_mut_copy(doc, value));
}

yyjson_mut_doc *template_child(const struct owner *owner, uint32_t kind, yyjson_val *template, const char *name,
                               const char *prefix, yyjson_mut_val **ret_object)
{
    const struct kube_resource *resource = kube_known(owner->controller->kind->children[kind]);
    yyjson_mut_doc *doc = json_new_object(ret_object);
    char version[VERSION_MAX];

    (void)snprintf(version, sizeof version, "%s%s%s", resource->group, resource->group[0] ? "/" : "",
                   resource->version);
    (void)yyjson_mut_obj_add_strcpy(doc, *ret_object, "apiVersion", version);
    (void)yyjson_mut_obj_add_str(doc, *ret_object, "kind", resource->kind);
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, *ret_object, "metadata");
    (void)yyjson_mut_obj_add_strcpy(doc, metadata, "name", name);
    if (prefix)
        (void)yyjson_mut_obj_add_strcpy(doc, metadata, "generateName", prefix);
    (void)yyjson_mut_obj_add_strcpy(doc, metadata, "namespace", owner->namespace);
    copy_member(doc, metadata, "labels", value_at(template, "metadata", "labels"));
    copy_member(doc, metadata, "annotations", value_at(template, "metadata", "annotations"));
    add_reference(owner, doc, metadata);
    return doc;
}

yyjson_mut_doc *template_pod(const struct owner *owner, yyjson_val *template, const char *name, const char *prefix,
                             yyjson_mut_val **ret_pod)
{
    yyjson_mut_doc *doc = template_child(owner, 0, template, name, prefix, ret_pod);

    copy_member(doc, yyjson_mut_obj_get(*ret_pod, "metadata"), "finalizers",
                value_at(template, "metadata", "finalizers"));
    copy_member(doc, *ret_pod, "spec", yyjson_obj_get(template, "spec"));
    return doc;
}

yyjson_mut_val *object_member(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key)
{
    yyjson_mut_val *member = yyjson_mut_obj_get(object, key);

    if (yyjson_mut_is_obj(member))
        return member;
    (void)yyjson_mut_obj_remove_str(object, key);
    return yyjson_mut_obj_add_obj(doc, object, key);
}

void template_mark(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *where, const char *key, const char *value)
{
    yyjson_mut_val *to = object_member(doc, object_member(doc, object, "metadata"), where);

    (void)yyjson_mut_obj_put(to, yyjson_mut_strcpy(doc, key), yyjson_mut_strcpy(doc, value));
}
