/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status of a definition: which of its names no other definition of the group has, and in which versions objects were
 * stored. Of a name that is taken the one that was accepted before remains.
 */
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "local/api/meta.h"
#include "local/custom/definition_fields_internal.h"
#include "local/custom/definitions_internal.h"

static yyjson_mut_val *make_object(yyjson_mut_doc *doc, yyjson_mut_val *in, const char *name)
{
    yyjson_mut_val *object = yyjson_mut_obj_get(in, name);

    if (!yyjson_mut_is_obj(object)) {
        object = yyjson_mut_obj(doc);
        yyjson_mut_obj_put(in, yyjson_mut_strcpy(doc, name), object);
    }
    return object;
}

/* --- Stored versions --- */

static bool has_text(yyjson_mut_val *list, const char *text)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);

    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));)
        if (yyjson_mut_equals_str(item, text))
            return true;
    return false;
}

static void set_stored_versions(yyjson_mut_doc *doc, yyjson_mut_val *status)
{
    yyjson_mut_val *stored = yyjson_mut_obj_get(status, "storedVersions");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(definition_versions(doc));

    if (!yyjson_mut_is_arr(stored)) {
        stored = yyjson_mut_arr(doc);
        yyjson_mut_obj_put(status, yyjson_mut_str(doc, "storedVersions"), stored);
    }
    for (yyjson_mut_val *version; (version = yyjson_mut_arr_iter_next(&iter));)
        if (definition_is_true(version, "storage") && !has_text(stored, definition_text(version, "name")))
            yyjson_mut_arr_add_strcpy(doc, stored, definition_text(version, "name"));
}

/* --- Names --- */

struct conflict {
    char reason[32];
    char message[160];
};

static void accept(yyjson_mut_doc *doc, yyjson_mut_val *accepted, const char *member, yyjson_mut_val *value)
{
    if (value)
        yyjson_mut_obj_put(accepted, yyjson_mut_strcpy(doc, member), yyjson_mut_val_mut_copy(doc, value));
    else
        (void)yyjson_mut_obj_remove_key(accepted, member);
}

static bool note_conflict(struct conflict *conflict, const char *reason, const char *name)
{
    (void)snprintf(conflict->reason, sizeof conflict->reason, "%s", reason);
    (void)snprintf(conflict->message, sizeof conflict->message, "\"%.100s\" is already in use", name);
    return true;
}

/* Accepts one name of a definition unless another definition of its group has it. */
static void judge_name(const struct definitions *definitions, yyjson_mut_doc *doc, yyjson_mut_val *accepted,
                       const char *member, const char *reason, struct conflict *conflict)
{
    yyjson_mut_val *value = yyjson_mut_obj_get(yyjson_mut_obj_get(definition_spec(doc), "names"), member);
    const char *group = definition_text(definition_spec(doc), "group");
    const char *self = meta_text(doc, "name");
    bool is_taken = false;

    if (yyjson_mut_is_arr(value)) {
        yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(value);
        for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));)
            if (definitions_has_name(definitions, self, group, yyjson_mut_get_str(item), false))
                is_taken = note_conflict(conflict, reason, yyjson_mut_get_str(item));
    } else if (yyjson_mut_is_str(value)) {
        bool is_kind = strcmp(member, "kind") == 0 || strcmp(member, "listKind") == 0;
        if (definitions_has_name(definitions, self, group, yyjson_mut_get_str(value), is_kind))
            is_taken = note_conflict(conflict, reason, yyjson_mut_get_str(value));
    }
    if (!is_taken)
        accept(doc, accepted, member, value);
}

/* --- Conditions --- */

static yyjson_mut_val *find_condition(yyjson_mut_val *conditions, const char *type)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(conditions);

    for (yyjson_mut_val *condition; (condition = yyjson_mut_arr_iter_next(&iter));)
        if (strcmp(definition_text(condition, "type"), type) == 0)
            return condition;
    return NULL;
}

static void put_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *member, const char *text)
{
    yyjson_mut_obj_put(object, yyjson_mut_strcpy(doc, member), yyjson_mut_strcpy(doc, text));
}

static void set_condition(yyjson_mut_doc *doc, yyjson_mut_val *conditions, const char *type, bool is_true,
                          const char *reason, const char *message, nsec_t now)
{
    yyjson_mut_val *condition = find_condition(conditions, type);
    const char *status = is_true ? "True" : "False";
    char time[TIME_TEXT_MAX];

    if (!condition) {
        condition = yyjson_mut_arr_add_obj(doc, conditions);
        put_text(doc, condition, "type", type);
    }
    if (strcmp(definition_text(condition, "status"), status) != 0) {
        put_text(doc, condition, "status", status);
        put_text(doc, condition, "lastTransitionTime", time_format(now - now % NSEC_PER_SEC, time));
    }
    put_text(doc, condition, "reason", reason);
    put_text(doc, condition, "message", message);
}

bool definition_is_established(yyjson_mut_doc *doc)
{
    yyjson_mut_val *condition = find_condition(yyjson_mut_obj_get(definition_status(doc), "conditions"), "Established");

    return strcmp(definition_text(condition, "status"), "True") == 0;
}

void definitions_set_status(const struct definitions *definitions, yyjson_mut_doc *doc, nsec_t now)
{
    static const struct {
        const char *member;
        const char *reason;
    } names[] = {
        {"plural", "PluralConflict"}, {"singular", "SingularConflict"}, {"shortNames", "ShortNamesConflict"},
        {"kind", "KindConflict"},     {"listKind", "ListKindConflict"},
    };
    yyjson_mut_val *status = make_object(doc, yyjson_mut_doc_get_root(doc), "status");
    yyjson_mut_val *conditions = yyjson_mut_obj_get(status, "conditions");
    struct conflict conflict = {0};

    if (!yyjson_mut_is_arr(conditions)) {
        conditions = yyjson_mut_arr(doc);
        yyjson_mut_obj_put(status, yyjson_mut_str(doc, "conditions"), conditions);
    }
    yyjson_mut_val *accepted = make_object(doc, status, "acceptedNames");
    if (!yyjson_mut_obj_get(accepted, "plural"))
        put_text(doc, accepted, "plural", "");
    if (!yyjson_mut_obj_get(accepted, "kind"))
        put_text(doc, accepted, "kind", "");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        judge_name(definitions, doc, accepted, names[i].member, names[i].reason, &conflict);
    accept(doc, accepted, "categories",
           yyjson_mut_obj_get(yyjson_mut_obj_get(definition_spec(doc), "names"), "categories"));

    bool is_accepted = !*conflict.reason;
    set_condition(doc, conditions, "NamesAccepted", is_accepted, is_accepted ? "NoConflicts" : conflict.reason,
                  is_accepted ? "no conflicts found" : conflict.message, now);
    /* What is established once stays so: its objects must remain reachable. */
    if (is_accepted || definition_is_established(doc))
        set_condition(doc, conditions, "Established", true, "InitialNamesAccepted",
                      "the initial names have been accepted", now);
    else
        set_condition(doc, conditions, "Established", false, "NotAccepted", "not all names are accepted", now);
    set_stored_versions(doc, status);
}
