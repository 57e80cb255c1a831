/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/client/meta.h"

#include <string.h>

#include "base/macros.h"

/* A string without a NUL in it: with one, what C sees of it would be something else than what the server means. */
static const char *text_of(yyjson_val *value)
{
    const char *text = yyjson_get_str(value);

    return text && strlen(text) == yyjson_get_len(value) ? text : "";
}

bool kube_meta_read(yyjson_val *object, struct kube_meta *ret_meta)
{
    yyjson_val *meta = yyjson_obj_get(object, "metadata");

    *ret_meta = (struct kube_meta){
        .namespace = text_of(yyjson_obj_get(meta, "namespace")),
        .name = text_of(yyjson_obj_get(meta, "name")),
        .uid = text_of(yyjson_obj_get(meta, "uid")),
        .resource_version = text_of(yyjson_obj_get(meta, "resourceVersion")),
    };
    return ret_meta->name[0] != '\0';
}

const char *kube_text_at(yyjson_val *object, const char *const *keys)
{
    for (; *keys; keys++)
        object = yyjson_obj_get(object, *keys);
    return text_of(object);
}

yyjson_mut_doc *kube_copy(yyjson_val *object)
{
    if (!object)
        return NULL;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    BUG_ON(!doc);
    yyjson_mut_val *root = yyjson_val_mut_copy(doc, object);
    BUG_ON(!root);
    yyjson_mut_doc_set_root(doc, root);
    return doc;
}
