/* SPDX-License-Identifier: Apache-2.0 */
#include "local/server/object_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/builtin/event_forms.h"
#include "local/custom/definitions.h"
#include "local/custom/schema.h"
#include "store/object.h"

#define RESOURCE_VERSION "\"resourceVersion\":\""

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

yyjson_mut_doc *object_doc_as(const struct api_kind *kind, const struct store_object *object)
{
    yyjson_mut_doc *doc = object_doc(object);

    event_form_enter(kind, doc);
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

/* Whether the object was stored before its definition had the defaults that it has now. */
static bool may_lack_defaults(const struct custom_kind *kind, const char *body)
{
    /* The first one is that of the metadata: a quote inside of a text is escaped. */
    const char *version = strstr(body, RESOURCE_VERSION);

    return schema_has_defaults(kind->schema) && version &&
           strtoull(version + strlen(RESOURCE_VERSION), NULL, 10) < kind->version;
}

/* Adds what follows the kind and the apiVersion, with the defaults of the definition as it is now. */
static void add_with_defaults(struct strbuf *text, const struct custom_kind *kind, const char *body, size_t len)
{
    yyjson_doc *read = yyjson_read(body, len, YYJSON_READ_ALLOW_INVALID_UNICODE);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(read, NULL);
    size_t full_len = 0;

    BUG_ON(!doc);
    schema_default(kind->schema, doc);
    char *full = object_text(doc, &full_len);
    const char *rest = rest_of(full, full_len);

    strbuf_add(text, rest, full_len - (size_t)(rest - full));
    free(full);
    yyjson_mut_doc_free(doc);
    yyjson_doc_free(read);
}

static void add_whole(struct strbuf *text, const struct api_kind *kind, enum accept_form form, const char *body,
                      size_t len)
{
    const struct custom_kind *custom = custom_kind_of(kind);
    const char *rest = rest_of(body, len);

    if (form == ACCEPT_METADATA) {
        add_metadata(text, rest);
        return;
    }
    strbuf_addstr(text, "{\"kind\":\"");
    strbuf_addstr(text, kind->kind);
    strbuf_addstr(text, "\",\"apiVersion\":\"");
    if (*kind->group) {
        strbuf_addstr(text, kind->group);
        strbuf_addch(text, '/');
    }
    strbuf_addstr(text, kind->version);
    strbuf_addstr(text, "\",");
    if (custom && may_lack_defaults(custom, body))
        add_with_defaults(text, custom, body, len);
    else
        strbuf_add(text, rest, len - (size_t)(rest - body));
}

static void add_item(struct strbuf *text, const struct api_kind *kind, enum accept_form form, const char *body,
                     size_t len)
{
    const char *rest = rest_of(body, len);

    if (form == ACCEPT_METADATA || (kind->flags & KIND_IS_CUSTOM)) {
        add_whole(text, kind, form, body, len);
        return;
    }
    strbuf_addch(text, '{');
    strbuf_add(text, rest, len - (size_t)(rest - body));
}

/* The stored text in the form of a kind that has another one, to be freed by the caller. NULL where it can be used as it is. */
static char *other_form(const struct api_kind *kind, enum accept_form form, const char *body, size_t len,
                        size_t *ret_len)
{
    *ret_len = len;
    if (!(kind->flags & KIND_OTHER_FORM) || form == ACCEPT_METADATA)
        return NULL;
    yyjson_doc *read = yyjson_read(body, len, YYJSON_READ_ALLOW_INVALID_UNICODE);
    yyjson_mut_doc *doc = yyjson_doc_mut_copy(read, NULL);

    BUG_ON(!doc);
    event_form_enter(kind, doc);
    char *text = object_text(doc, ret_len);

    yyjson_mut_doc_free(doc);
    yyjson_doc_free(read);
    return text;
}

void object_add(struct strbuf *text, const struct api_kind *kind, enum accept_form form, const char *body, size_t len)
{
    size_t own_len = 0;
    char *own = other_form(kind, form, body, len, &own_len);

    add_whole(text, kind, form, own ? own : body, own_len);
    free(own);
}

void object_add_item(struct strbuf *text, const struct api_kind *kind, enum accept_form form, const char *body,
                     size_t len)
{
    size_t own_len = 0;
    char *own = other_form(kind, form, body, len, &own_len);

    add_item(text, kind, form, own ? own : body, own_len);
    free(own);
}
