/* SPDX-License-Identifier: Apache-2.0 */

/* One policy from those of all scopes above a place, from the tenant down. */
#include <string.h>

#include "console/policies/policy.h"

static void put(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, yyjson_mut_val *value)
{
    (void)yyjson_mut_obj_remove_key(to, key);
    (void)yyjson_mut_obj_add_val(doc, to, key, value);
}

static yyjson_mut_val *inner(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key)
{
    yyjson_mut_val *there = yyjson_mut_obj_get(to, key);

    return there ? there : yyjson_mut_obj_add_obj(doc, to, key);
}

void policy_add_defaults(const struct field *fields, yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *from)
{
    for (const struct field *field = fields; field->name; field++) {
        yyjson_val *value = yyjson_obj_get(from, field->name);

        if (!value)
            continue;
        if (field->type == FIELD_OBJECT)
            policy_add_defaults(field->fields, doc, inner(doc, to, field->name), value);
        else
            put(doc, to, field->name, yyjson_val_mut_copy(doc, value));
    }
}

static void add_leaf(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, yyjson_val *rule, yyjson_mut_val *source,
                     bool highest_wins)
{
    if (!rule || (highest_wins && yyjson_mut_obj_get(to, key)))
        return;
    yyjson_mut_val *copy = yyjson_val_mut_copy(doc, rule);
    put(doc, copy, "sourceOfRule", yyjson_mut_val_mut_copy(doc, source));
    put(doc, to, key, copy);
}

static void add_rules(const struct field *fields, yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *from,
                      yyjson_mut_val *source, bool highest_wins)
{
    for (const struct field *field = fields; field->name; field++) {
        yyjson_val *rule = yyjson_obj_get(from, field->name);
        bool is_guarded = highest_wins || strcmp(field->name, "compute") == 0 || strcmp(field->name, "security") == 0;

        if (!rule)
            continue;
        if (field->type == FIELD_OBJECT) {
            add_rules(field->fields, doc, inner(doc, to, field->name), rule, source, is_guarded);
        } else if (field->type == FIELD_LIST && field->fields) {
            yyjson_mut_val *list = inner(doc, to, field->name);
            yyjson_val *attributes = yyjson_obj_get(rule, "attributes");

            add_leaf(doc, list, "instances", yyjson_obj_get(rule, "instances"), source, is_guarded);
            if (attributes)
                add_rules(field->fields, doc, inner(doc, list, "attributes"), attributes, source, is_guarded);
        } else {
            add_leaf(doc, to, field->name, rule, source, is_guarded);
        }
    }
}

void policy_add_rules(const struct field *fields, yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *from,
                      yyjson_mut_val *source)
{
    add_rules(fields, doc, to, from, source, false);
}
