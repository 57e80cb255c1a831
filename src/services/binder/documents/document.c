/* SPDX-License-Identifier: Apache-2.0 */
#include "services/binder/documents/document.h"

#include "base/macros.h"
#include "text/json.h"

yyjson_mut_doc *document_object(const char *api_version, const char *kind, const char *namespace, const char *name)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    document_set(doc, root, "apiVersion", api_version);
    document_set(doc, root, "kind", kind);
    yyjson_mut_val *meta = document_member(doc, root, "metadata");

    document_set(doc, meta, "name", name);
    if (namespace)
        document_set(doc, meta, "namespace", namespace);
    return doc;
}

void document_set_value(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, yyjson_mut_val *value)
{
    if (value)
        (void)yyjson_mut_obj_put(object, yyjson_mut_strcpy(doc, key), value);
}

yyjson_mut_val *document_member(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key)
{
    yyjson_mut_val *member = yyjson_mut_obj_get(object, key);

    if (yyjson_mut_is_obj(member))
        return member;
    member = yyjson_mut_obj(doc);
    document_set_value(doc, object, key, member);
    return member;
}

yyjson_mut_val *document_list(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key)
{
    yyjson_mut_val *member = yyjson_mut_obj_get(object, key);

    if (yyjson_mut_is_arr(member))
        return member;
    member = yyjson_mut_arr(doc);
    document_set_value(doc, object, key, member);
    return member;
}

void document_set(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, const char *text)
{
    document_set_value(doc, object, key, text ? yyjson_mut_strcpy(doc, text) : yyjson_mut_null(doc));
}

void document_set_int(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, int64_t number)
{
    document_set_value(doc, object, key, yyjson_mut_sint(doc, number));
}

void document_set_bool(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, bool is_true)
{
    document_set_value(doc, object, key, yyjson_mut_bool(doc, is_true));
}

const char *document_text(yyjson_mut_val *object, const char *key)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(object, key));

    return text ? text : "";
}

void document_own(yyjson_mut_doc *doc, const char *pod, const char *uid, bool is_controller)
{
    yyjson_mut_val *meta = document_member(doc, yyjson_mut_doc_get_root(doc), "metadata");
    yyjson_mut_val *owner = yyjson_mut_arr_add_obj(doc, document_list(doc, meta, "ownerReferences"));

    document_set(doc, owner, "apiVersion", "v1");
    document_set(doc, owner, "kind", "Pod");
    document_set(doc, owner, "name", pod);
    document_set(doc, owner, "uid", uid);
    if (is_controller) {
        document_set_bool(doc, owner, "controller", true);
        document_set_bool(doc, owner, "blockOwnerDeletion", true);
    }
}
