/* SPDX-License-Identifier: Apache-2.0 */
#include "local/verbs/selection_internal.h"

#include <string.h>

#include "base/err.h"
#include "local/api/kinds.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"

static bool is_field(const struct request *request, const char *field)
{
    return strcmp(field, "metadata.name") == 0 ||
           (strcmp(field, "metadata.namespace") == 0 && (request->kind->flags & KIND_NAMESPACED)) ||
           kind_list_has(request->kind->fields, field);
}

/* The first field of the selector that objects of the kind cannot be selected by; NULL: none. */
static const char *unknown_field(const struct request *request, const struct selector *selector)
{
    vec_foreach (&selector->requirements, requirement) {
        const char *tag = requirement->tag;
        if (strncmp(tag, SELECTOR_FIELD, strlen(SELECTOR_FIELD)) == 0 &&
            !is_field(request, tag + strlen(SELECTOR_FIELD)))
            return tag + strlen(SELECTOR_FIELD);
    }
    return NULL;
}

static void fail_field(struct request *request, const char *field)
{
    if (request->kind->fields)
        fail_bad(request, "field label not supported: %.200s", field);
    else
        fail_bad(request, "\"%.200s\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                 field);
}

bool selection_read(struct request *request, struct selection *ret_selection)
{
    const char *labels = request_query(request, "labelSelector");
    const char *fields = request_query(request, "fieldSelector");
    struct err err = {0};
    const char *unknown;

    *ret_selection = (struct selection){.namespace = request->namespace, .has_selectors = *labels || *fields};
    if (selector_add_labels(&ret_selection->selector, labels, &err) < 0 ||
        selector_add_fields(&ret_selection->selector, fields, &err) < 0) {
        selection_done(ret_selection);
        fail_bad(request, "%s", err.text);
        return false;
    }
    unknown = unknown_field(request, &ret_selection->selector);
    if (unknown) {
        fail_field(request, unknown);
        selection_done(ret_selection);
        return false;
    }
    return true;
}

void selection_done(struct selection *selection)
{
    selector_done(&selection->selector);
}

bool selection_has(const struct selection *selection, const struct store_object *object)
{
    return (!*selection->namespace || strcmp(selection->namespace, object->namespace) == 0) &&
           (!selection->has_selectors || selector_matches_object(&selection->selector, object));
}

void selection_collect(const struct selection *selection, const struct request *request, const char *after_namespace,
                       const char *after_name, struct page_objects *objects)
{
    bool is_one_namespace = *selection->namespace;
    struct store_cursor cursor;
    const struct store_object *object;

    if (is_one_namespace && strcmp(after_namespace, selection->namespace) < 0) {
        after_namespace = selection->namespace;
        after_name = "";
    }
    store_cursor_init(&cursor, request->server->store, request->number, after_namespace, after_name);
    while ((object = store_cursor_next(&cursor))) {
        if (is_one_namespace && strcmp(object->namespace, selection->namespace) != 0)
            break;
        if (selection_has(selection, object))
            vec_push(objects, store_object_ref(object));
    }
    store_cursor_done(&cursor);
}
