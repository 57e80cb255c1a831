/* SPDX-License-Identifier: Apache-2.0 */

/* One policy from those of all scopes above a place, from the tenant down; and its defaults in a workload. */
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

/* Instances go by their name; resources of the cluster by that of the resource. */
static const char *name_of(yyjson_mut_val *instance)
{
    yyjson_mut_val *name = yyjson_mut_obj_get(instance, "name");

    return yyjson_mut_get_str(name ? name : yyjson_mut_obj_get(instance, "resource"));
}

static bool has_named(yyjson_mut_val *list, const char *name)
{
    yyjson_mut_val *one;
    yyjson_mut_arr_iter iter;

    yyjson_mut_arr_iter_init(list, &iter);
    while (name && (one = yyjson_mut_arr_iter_next(&iter))) {
        const char *other = name_of(one);

        if (other && strcmp(other, name) == 0)
            return true;
    }
    return false;
}

static void fill_list(const struct field *field, yyjson_mut_doc *doc, yyjson_mut_val *defaults, yyjson_mut_val *to)
{
    yyjson_mut_val *list = yyjson_mut_obj_get(to, field->name);
    yyjson_mut_val *instances = yyjson_mut_obj_get(defaults, "instances");
    yyjson_mut_val *one;
    yyjson_mut_arr_iter iter;

    if (!list && !instances)
        return;
    if (!list)
        list = yyjson_mut_obj_add_arr(doc, to, field->name);
    yyjson_mut_arr_iter_init(instances, &iter);
    while ((one = yyjson_mut_arr_iter_next(&iter))) {
        if (!has_named(list, name_of(one)))
            (void)yyjson_mut_arr_append(list, yyjson_mut_val_mut_copy(doc, one));
    }
    yyjson_mut_arr_iter_init(list, &iter);
    while ((one = yyjson_mut_arr_iter_next(&iter)))
        policy_fill(field->fields, doc, yyjson_mut_obj_get(defaults, "attributes"), one);
}

void policy_fill(const struct field *fields, yyjson_mut_doc *doc, yyjson_mut_val *defaults, yyjson_mut_val *workload)
{
    for (const struct field *field = fields; field->name; field++) {
        yyjson_mut_val *preset = yyjson_mut_obj_get(defaults, field->name);

        if (!preset)
            continue;
        if (field->type == FIELD_OBJECT)
            policy_fill(field->fields, doc, preset, inner(doc, workload, field->name));
        else if (field->type == FIELD_LIST && field->fields)
            fill_list(field, doc, preset, workload);
        else if (!yyjson_mut_obj_get(workload, field->name))
            (void)yyjson_mut_obj_add_val(doc, workload, field->name, yyjson_mut_val_mut_copy(doc, preset));
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
