/* SPDX-License-Identifier: Apache-2.0 */
#include "local/verbs/selection_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/builtin/event_forms.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"

static bool is_field(const struct request *request, const char *field)
{
    bool has_namespace = (request->kind->flags & KIND_NAMESPACED) || (!request->is_custom && !request->kind->fields);

    return strcmp(field, "metadata.name") == 0 || (strcmp(field, "metadata.namespace") == 0 && has_namespace) ||
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
    if (strcmp(request->kind->plural, "jobs") == 0 && !request->is_custom)
        fail_bad(request, "field label \"%.200s\" not supported for Job", field);
    else if (strcmp(request->kind->plural, "resourceslices") == 0 && !request->is_custom)
        fail_bad(request, "field label not supported for %s/%s, Kind=%s: %.200s", request->kind->group,
                 request->kind->version, request->kind->kind, field);
    else if (request->is_custom || (request->kind->fields && strcmp(request->kind->plural, "replicasets") != 0))
        fail_bad(request, "field label not supported: %.200s", field);
    else
        fail_bad(request, "\"%.200s\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                 field);
}

/* Reads the selectors, whichever fields they name. False after an answer. */
static bool parse(struct request *request, struct selection *selection)
{
    const char *labels = request_query(request, "labelSelector");
    const char *fields = request_query(request, "fieldSelector");
    struct err err = {0};

    *selection = (struct selection){.namespace = request->namespace, .has_selectors = *labels || *fields};
    if (selector_add_labels(&selection->selector, labels, &err) == 0 &&
        selector_add_fields(&selection->selector, fields, &err) == 0)
        return true;
    selection_done(selection);
    fail_bad(request, "%s", err.text);
    return false;
}

bool selection_check(struct request *request)
{
    struct selection selection;

    if (!parse(request, &selection))
        return false;
    selection_done(&selection);
    return true;
}

bool selection_check_fields(struct request *request)
{
    struct selection selection;

    if (!selection_read(request, &selection))
        return false;
    selection_done(&selection);
    return true;
}

/* Objects have the tags of their stored form. */
static void name_as_stored(const struct api_kind *kind, struct selector *selector)
{
    enum { TAG_BYTES_MAX = 512 };

    vec_foreach (&selector->requirements, requirement) {
        if (strncmp(requirement->tag, SELECTOR_FIELD, strlen(SELECTOR_FIELD)) != 0)
            continue;
        const char *field = requirement->tag + strlen(SELECTOR_FIELD);
        const char *stored = event_form_field(kind, field);
        if (stored == field)
            continue;
        struct strbuf tag;
        strbuf_init(&tag, TAG_BYTES_MAX);
        strbuf_addf(&tag, SELECTOR_FIELD "%s", stored);
        free(requirement->tag);
        requirement->tag = strbuf_take(&tag);
    }
}

bool selection_read(struct request *request, struct selection *ret_selection)
{
    const char *unknown;

    if (!parse(request, ret_selection))
        return false;
    unknown = unknown_field(request, &ret_selection->selector);
    if (unknown) {
        fail_field(request, unknown);
        selection_done(ret_selection);
        return false;
    }
    name_as_stored(request->kind, &ret_selection->selector);
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

bool selection_has_others(const struct selection *selection, const struct request *request,
                          const struct page_objects *objects)
{
    const struct store_object *last = objects->items[objects->len - 1];
    bool has_place = *selection->namespace || !(request->kind->flags & KIND_NAMESPACED);
    struct store_cursor cursor;

    /* The API server looks for one object alone where it knows its whole name. */
    if (has_place && selector_only_value(&selection->selector, SELECTOR_FIELD "metadata.name"))
        return false;
    store_cursor_init(&cursor, request->server->store, request->number, last->namespace, last->name);
    const struct store_object *next = store_cursor_next(&cursor);
    bool has = next && (!*selection->namespace || strcmp(next->namespace, selection->namespace) == 0);

    store_cursor_done(&cursor);
    return has;
}
