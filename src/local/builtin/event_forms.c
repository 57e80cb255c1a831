/* SPDX-License-Identifier: Apache-2.0 */
#include "local/builtin/event_forms.h"

#include <string.h>

#include "base/macros.h"
#include "local/api/kinds.h"
#include "local/builtin/builtin.h"
#include "local/builtin/members.h"

/* Members that differ. No name is in both columns, so a name alone says of which form it is. */
static const struct {
    const char *core;
    const char *other;
} members[] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
};

static const struct {
    const char *other;
    const char *core;
} fields[] = {
    {"regarding.kind", "involvedObject.kind"},
    {"regarding.namespace", "involvedObject.namespace"},
    {"regarding.name", "involvedObject.name"},
    {"regarding.uid", "involvedObject.uid"},
    {"regarding.apiVersion", "involvedObject.apiVersion"},
    {"regarding.resourceVersion", "involvedObject.resourceVersion"},
    {"regarding.fieldPath", "involvedObject.fieldPath"},
    {"reportingController", "reportingComponent"},
};

static bool is_other(const struct api_kind *kind)
{
    return kind->flags & KIND_OTHER_FORM;
}

/* Renames the members of one form to those of the other. Returns whether there were any. */
static bool rename_members(yyjson_mut_doc *doc, yyjson_mut_val *object, bool to_other)
{
    bool is_renamed = false;

    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        const char *from = to_other ? members[i].core : members[i].other;
        const char *to = to_other ? members[i].other : members[i].core;
        if (yyjson_mut_obj_rename_key(doc, object, from, to))
            is_renamed = true;
    }
    return is_renamed;
}

/* Both forms have members that the other one leaves out when they are empty. */
static void convert(const struct api_kind *kind, yyjson_mut_doc *doc)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    char version[API_VERSION_MAX];

    if (!rename_members(doc, root, is_other(kind)))
        return;
    /* Members that have the same meaning have the same type, so what could be read once can be again. */
    BUG_ON(builtin_check_fields(kind, doc, NULL, NULL) < 0);
    member_set_text(doc, root, "apiVersion", api_kind_version(kind, version));
}

void event_form_enter(const struct api_kind *kind, yyjson_mut_doc *doc)
{
    if (is_other(kind))
        convert(kind, doc);
}

void event_form_store(const struct api_kind *kind, yyjson_mut_doc *doc)
{
    if (is_other(kind))
        convert(api_kind_stored(kind), doc);
}

const char *event_form_field(const struct api_kind *kind, const char *field)
{
    for (size_t i = 0; is_other(kind) && i < ARRAY_LEN(fields); i++)
        if (strcmp(fields[i].other, field) == 0)
            return fields[i].core;
    return field;
}
