/* SPDX-License-Identifier: Apache-2.0 */
#include "local/server/object_text.h"

#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "store/object.h"

char *object_text(yyjson_mut_doc *doc, size_t *ret_len)
{
    static const char *const order[] = {"kind", "apiVersion", "metadata"};
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);

    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        yyjson_mut_val *value = yyjson_mut_obj_remove_key(root, order[i]);
        if (value)
            (void)yyjson_mut_obj_insert(root, yyjson_mut_str(doc, order[i]), value, i);
    }
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, ret_len);

    BUG_ON(!text);
    return text;
}

yyjson_mut_doc *object_doc(const struct store_object *object)
{
    yyjson_doc *read = yyjson_read(object->body, object->body_len, YYJSON_READ_ALLOW_INVALID_UNICODE);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(read, NULL);

    BUG_ON(!doc);
    yyjson_doc_free(read);
    return doc;
}

/* What follows the kind and the apiVersion, neither of which has an escaped character. */
static const char *rest_of(const char *body, size_t len)
{
    const char *at = strstr(body, "\"metadata\":");

    BUG_ON(!at || (size_t)(at - body) >= len);
    return at;
}

/* The end of the object that begins at `at`. */
static const char *end_of_object(const char *at)
{
    int depth = 0;
    bool is_text = false;

    for (;; at++) {
        if (is_text) {
            if (*at == '\\')
                at++;
            else if (*at == '"')
                is_text = false;
        } else if (*at == '"') {
            is_text = true;
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if ((*at == '}' || *at == ']') && --depth == 0) {
            return at + 1;
        }
    }
}

static void add_metadata(struct strbuf *text, const char *rest)
{
    strbuf_addstr(text, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",");
    strbuf_add(text, rest, (size_t)(end_of_object(rest + strlen("\"metadata\":")) - rest));
    strbuf_addch(text, '}');
}

void object_add(struct strbuf *text, const struct api_kind *kind, enum accept_form form, const char *body, size_t len)
{
    const char *rest = rest_of(body, len);
    char version[API_VERSION_MAX];

    if (form == ACCEPT_METADATA) {
        add_metadata(text, rest);
        return;
    }
    strbuf_addf(text, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",", kind->kind, api_kind_version(kind, version));
    strbuf_add(text, rest, len - (size_t)(rest - body));
}

void object_add_item(struct strbuf *text, const struct api_kind *kind, enum accept_form form, const char *body,
                     size_t len)
{
    const char *rest = rest_of(body, len);

    if (form == ACCEPT_METADATA || (kind->flags & KIND_IS_CUSTOM)) {
        object_add(text, kind, form, body, len);
        return;
    }
    strbuf_addch(text, '{');
    strbuf_add(text, rest, len - (size_t)(rest - body));
}
