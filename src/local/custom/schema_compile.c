/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the JSON of a schema to nodes. A node is read twice over: first the parts that any schema has, then those that only
 * a structural place has (types, defaults, how lists merge). Below allOf, anyOf, oneOf and not, a schema only restricts
 * values, so that structural parts are refused there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "cel/pattern.h"
#include "local/api/problems.h"
#include "local/custom/rules.h"
#include "local/custom/schema_internal.h"

/* Where a node stands, which decides what it may and has to say. */
enum place { PLACE_ROOT, PLACE_PROPERTY, PLACE_ADDITIONAL, PLACE_ITEMS, PLACE_RESTRICTION };

struct compiler {
    struct schema *schema;
    struct problems *problems;
    size_t node_count;
    size_t depth;
    bool may_say_types;  // in the restrictions of a place that takes integers and strings
};

static struct schema_node *compile(struct compiler *compiler, yyjson_mut_val *from, const struct field *field,
                                   enum place place);

/* --- Members of the JSON --- */

static const char *text_of(yyjson_mut_val *from, const char *member)
{
    return yyjson_mut_get_str(yyjson_mut_obj_get(from, member));
}

static bool is_true(yyjson_mut_val *from, const char *member)
{
    return yyjson_mut_is_true(yyjson_mut_obj_get(from, member));
}

static const char *keep_text(struct compiler *compiler, const char *text)
{
    return text ? arena_strdup(&compiler->schema->arena, text) : NULL;
}

static yyjson_mut_val *keep_value(struct compiler *compiler, yyjson_mut_val *value)
{
    return value ? yyjson_mut_val_mut_copy(compiler->schema->values, value) : NULL;
}

static const char **keep_texts(struct compiler *compiler, yyjson_mut_val *list, size_t *ret_count)
{
    size_t count = 0;
    const char **texts = arena_calloc(&compiler->schema->arena, yyjson_mut_arr_size(list) + 1, sizeof *texts);
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);

    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));)
        if (yyjson_mut_is_str(item))
            texts[count++] = keep_text(compiler, yyjson_mut_get_str(item));
    *ret_count = count;
    return texts;
}

static schema_limit limit_of(yyjson_mut_val *from, const char *member)
{
    yyjson_mut_val *value = yyjson_mut_obj_get(from, member);

    return yyjson_mut_is_int(value) ? yyjson_mut_get_sint(value) : -1;
}

static struct schema_number number_of(yyjson_mut_val *from, const char *member, const char *exclusive)
{
    yyjson_mut_val *value = yyjson_mut_obj_get(from, member);

    return (struct schema_number){
        .value = yyjson_mut_get_num(value),
        .is_given = yyjson_mut_is_num(value),
        .is_exclusive = exclusive && is_true(from, exclusive),
    };
}

/* --- Restrictions of values --- */

static void compile_pattern(struct compiler *compiler, struct schema_node *node, yyjson_mut_val *from,
                            const struct field *field)
{
    const char *text = text_of(from, "pattern");
    struct err err = {0};
    char reason[sizeof err.text + 100];

    if (!text || !*text)
        return;
    if (pattern_new(text, &node->pattern, &err) < 0) {
        (void)snprintf(reason, sizeof reason, "must be a valid regular expression, but isn't: error parsing regexp: %s",
                       err.text);
        problem_invalid_text(compiler->problems, FIELD(field, "pattern"), text, reason);
        return;
    }
    node->pattern_text = keep_text(compiler, text);
    vec_push(&compiler->schema->patterns, node->pattern);
}

static struct schema_nodes compile_each(struct compiler *compiler, yyjson_mut_val *from, const char *member,
                                        const struct field *field)
{
    yyjson_mut_val *list = yyjson_mut_obj_get(from, member);
    struct schema_nodes nodes = {
        .list = arena_calloc(&compiler->schema->arena, yyjson_mut_arr_size(list) + 1, sizeof *nodes.list)};
    const struct field list_field = field_member(field, member);
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);

    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
        const struct field item_field = field_item(&list_field, nodes.count);
        nodes.list[nodes.count] = compile(compiler, item, &item_field, PLACE_RESTRICTION);
        nodes.count++;
    }
    return nodes;
}

static void compile_restrictions(struct compiler *compiler, struct schema_node *node, yyjson_mut_val *from,
                                 const struct field *field)
{
    yyjson_mut_val *choices = yyjson_mut_obj_get(from, "enum");
    yyjson_mut_val *not_of = yyjson_mut_obj_get(from, "not");

    compile_pattern(compiler, node, from, field);
    node->choices = yyjson_mut_arr_size(choices) ? keep_value(compiler, choices) : NULL;
    node->format = keep_text(compiler, text_of(from, "format"));
    node->required = keep_texts(compiler, yyjson_mut_obj_get(from, "required"), &node->required_count);
    node->minimum = number_of(from, "minimum", "exclusiveMinimum");
    node->maximum = number_of(from, "maximum", "exclusiveMaximum");
    node->multiple_of = number_of(from, "multipleOf", NULL);
    node->min_length = limit_of(from, "minLength");
    node->max_length = limit_of(from, "maxLength");
    node->min_items = limit_of(from, "minItems");
    node->max_items = limit_of(from, "maxItems");
    node->min_properties = limit_of(from, "minProperties");
    node->max_properties = limit_of(from, "maxProperties");
    if (is_true(from, "uniqueItems"))
        problem_forbidden(compiler->problems, FIELD(field, "uniqueItems"),
                          "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    if (yyjson_mut_obj_get(from, "$ref"))
        problem_forbidden(compiler->problems, FIELD(field, "$ref"), "$ref is not supported");
    node->all_of = compile_each(compiler, from, "allOf", field);
    node->any_of = compile_each(compiler, from, "anyOf", field);
    node->one_of = compile_each(compiler, from, "oneOf", field);
    if (yyjson_mut_is_obj(not_of))
        node->not_of = compile(compiler, not_of, FIELD(field, "not"), PLACE_RESTRICTION);
}

/* --- Members and elements --- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct schema_property *)a)->name, ((const struct schema_property *)b)->name);
}

static void compile_properties(struct compiler *compiler, struct schema_node *node, yyjson_mut_val *from,
                               const struct field *field, enum place place)
{
    yyjson_mut_val *properties = yyjson_mut_obj_get(from, "properties");
    const struct field properties_field = field_member(field, "properties");
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(properties);

    node->properties =
        arena_calloc(&compiler->schema->arena, yyjson_mut_obj_size(properties) + 1, sizeof *node->properties);
    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(key);
        const struct field member = field_key(&properties_field, name);
        struct schema_node *child = compile(compiler, yyjson_mut_obj_iter_get_val(key), &member,
                                            place == PLACE_RESTRICTION ? place : PLACE_PROPERTY);
        if (!child)
            continue;
        node->properties[node->property_count++] =
            (struct schema_property){.name = keep_text(compiler, name), .node = child};
        node->has_rules_below |= child->has_rules_below;
    }
    qsort(node->properties, node->property_count, sizeof *node->properties, compare_names);
}

static void compile_additional(struct compiler *compiler, struct schema_node *node, yyjson_mut_val *from,
                               const struct field *field, enum place place)
{
    yyjson_mut_val *additional = yyjson_mut_obj_get(from, "additionalProperties");

    if (!additional || yyjson_mut_is_null(additional))
        return;
    const struct field here = field_member(field, "additionalProperties");
    if (yyjson_mut_obj_size(yyjson_mut_obj_get(from, "properties")) > 0) {
        problem_forbidden(compiler->problems, &here, "additionalProperties and properties are mutual exclusive");
    } else if (place == PLACE_RESTRICTION) {
        problem_forbidden(compiler->problems, &here, "must be undefined to be structural");
    } else if (!yyjson_mut_is_false(additional)) {
        node->allows_additional = true;
        if (yyjson_mut_is_obj(additional))
            node->additional = compile(compiler, additional, &here, PLACE_ADDITIONAL);
        node->has_rules_below |= node->additional && node->additional->has_rules_below;
    }
}

static void compile_items(struct compiler *compiler, struct schema_node *node, yyjson_mut_val *from,
                          const struct field *field, enum place place)
{
    yyjson_mut_val *items = yyjson_mut_obj_get(from, "items");
    const struct field here = field_member(field, "items");

    if (yyjson_mut_is_arr(items))
        problem_forbidden(compiler->problems, &here, "items must be a schema object and not an array");
    else if (yyjson_mut_is_obj(items))
        node->items = compile(compiler, items, &here, place == PLACE_RESTRICTION ? place : PLACE_ITEMS);
    else if (node->type == TYPE_ARRAY)
        problem_required(compiler->problems, &here, "must be specified");
    node->has_rules_below |= node->items && node->items->has_rules_below;
}

/* --- The structure --- */

static void compile_type(struct compiler *compiler, struct schema_node *node, yyjson_mut_val *from,
                         const struct field *field, enum place place)
{
    static const char *const missing[] = {
        [PLACE_ROOT] = "must not be empty at the root",
        [PLACE_PROPERTY] = "must not be empty for specified object fields",
        [PLACE_ADDITIONAL] = "must not be empty for specified object fields",
        [PLACE_ITEMS] = "must not be empty for specified array items",
    };
    const char *text = text_of(from, "type");
    const struct field here = field_member(field, "type");

    for (enum schema_type type = TYPE_ARRAY; text && type <= TYPE_STRING; type++)
        if (strcmp(text, schema_type_name(type)) == 0)
            node->type = type;
    if (text && *text && !node->type) {
        problem_not_supported(compiler->problems, &here, yyjson_mut_obj_get(from, "type"),
                              "array boolean integer number object string");
        return;
    }
    if (node->type == TYPE_NONE && place != PLACE_RESTRICTION && !yyjson_mut_obj_get(from, "$ref") &&
        (place == PLACE_ROOT || (!node->preserves_unknown && !node->is_int_or_string)))
        problem_required(compiler->problems, &here, missing[place]);
    if (place == PLACE_ROOT && node->type && node->type != TYPE_OBJECT)
        problem_invalid_text(compiler->problems, &here, text, "must be object at the root");
}

/* The keys of a list of type map have to be plain members that every element has. */
static void check_keys(struct compiler *compiler, struct schema_node *node, yyjson_mut_val *from,
                       const struct field *field)
{
    const struct field keys = field_member(field, "x-kubernetes-list-map-keys");
    const struct field items = field_member(field, "items");
    const struct field properties = field_member(&items, "properties");
    bool is_known = true;

    if (!node->key_count) {
        problem_required(compiler->problems, &keys, "must not be empty if x-kubernetes-list-type is map");
        return;
    }
    if (!node->items)
        return;
    if (node->items->type != TYPE_OBJECT) {
        problem_invalid_text(compiler->problems, FIELD(&items, "type"),
                             node->items->type ? schema_type_name(node->items->type) : "",
                             "must be object if parent array's x-kubernetes-list-type is map");
        return;
    }
    for (size_t i = 0; i < node->key_count; i++) {
        const struct schema_node *key = schema_property_find(node->items, node->keys[i]);
        const struct field member = field_key(&properties, node->keys[i]);
        bool is_required = false;
        is_known &= key != NULL;
        for (size_t j = 0; j < node->items->required_count; j++)
            is_required |= strcmp(node->items->required[j], node->keys[i]) == 0;
        if (key && (key->type == TYPE_OBJECT || key->type == TYPE_ARRAY))
            problem_invalid_text(compiler->problems, FIELD(&member, "type"), schema_type_name(key->type),
                                 "must be a scalar type if parent array's x-kubernetes-list-type is map");
        else if (key && !is_required && !key->default_value)
            problem_required(compiler->problems, FIELD(&member, "default"),
                             "this property is in x-kubernetes-list-map-keys, so it must have a default or be a "
                             "required property");
    }
    if (!is_known)
        problem_invalid(compiler->problems, &keys, yyjson_mut_obj_get(from, "x-kubernetes-list-map-keys"),
                        "entries must all be names of item properties");
}

static void compile_list(struct compiler *compiler, struct schema_node *node, yyjson_mut_val *from,
                         const struct field *field)
{
    static const char *const names[] = {
        [LIST_PLAIN] = "", [LIST_ATOMIC] = "atomic", [LIST_SET] = "set", [LIST_MAP] = "map"};
    yyjson_mut_val *type = yyjson_mut_obj_get(from, "x-kubernetes-list-type");
    const struct field here = field_member(field, "x-kubernetes-list-type");
    const struct field items = field_member(field, "items");

    node->keys = keep_texts(compiler, yyjson_mut_obj_get(from, "x-kubernetes-list-map-keys"), &node->key_count);
    if (!yyjson_mut_is_str(type)) {
        if (node->key_count)
            problem_required(compiler->problems, &here, "must be map if x-kubernetes-list-map-keys is non-empty");
        return;
    }
    if (node->type != TYPE_ARRAY)
        problem_invalid_text(compiler->problems, FIELD(field, "type"), node->type ? schema_type_name(node->type) : "",
                             "must be array if x-kubernetes-list-type is specified");
    for (enum schema_list list = LIST_ATOMIC; list <= LIST_MAP; list++)
        if (yyjson_mut_equals_str(type, names[list]))
            node->list = list;
    if (node->list == LIST_PLAIN)
        problem_not_supported(compiler->problems, &here, type, "atomic set map");
    if (node->list == LIST_MAP)
        check_keys(compiler, node, from, field);
    else if (node->key_count)
        problem_invalid(compiler->problems, &here, type, "must be map if x-kubernetes-list-map-keys is non-empty");
    if (node->list == LIST_SET && node->items && node->items->type == TYPE_OBJECT && !node->items->is_atomic_map)
        problem_invalid(compiler->problems, FIELD(&items, "x-kubernetes-map-type"),
                        yyjson_mut_null(compiler->schema->values),
                        "must be atomic as item of a list with x-kubernetes-list-type=set");
}

static void compile_map(struct compiler *compiler, struct schema_node *node, yyjson_mut_val *from,
                        const struct field *field)
{
    yyjson_mut_val *type = yyjson_mut_obj_get(from, "x-kubernetes-map-type");

    if (!yyjson_mut_is_str(type))
        return;
    if (node->type != TYPE_OBJECT)
        problem_invalid_text(compiler->problems, FIELD(field, "type"), node->type ? schema_type_name(node->type) : "",
                             "must be object if x-kubernetes-map-type is specified");
    node->is_atomic_map = yyjson_mut_equals_str(type, "atomic");
    if (!node->is_atomic_map && !yyjson_mut_equals_str(type, "granular"))
        problem_not_supported(compiler->problems, FIELD(field, "x-kubernetes-map-type"), type, "atomic granular");
}

static void compile_embedded(struct compiler *compiler, struct schema_node *node, const struct field *field)
{
    if (!node->is_embedded)
        return;
    if (!node->preserves_unknown && !node->property_count)
        problem_required(compiler->problems, FIELD(field, "properties"),
                         "must not be empty if x-kubernetes-embedded-resource is true without "
                         "x-kubernetes-preserve-unknown-fields");
    if (node->type != TYPE_OBJECT)
        problem_invalid_text(compiler->problems, FIELD(field, "type"), node->type ? schema_type_name(node->type) : "",
                             "must be object if x-kubernetes-embedded-resource is true");
}

static void compile_rules(struct compiler *compiler, struct schema_node *node, yyjson_mut_val *from)
{
    yyjson_mut_val *list = yyjson_mut_obj_get(from, "x-kubernetes-validations");
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);

    node->rules = arena_calloc(&compiler->schema->arena, yyjson_mut_arr_size(list) + 1, sizeof *node->rules);
    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
        const char *text = text_of(item, "rule");
        const char *message = text_of(item, "message");
        if (text)
            node->rules[node->rule_count++] =
                (struct schema_rule){.text = keep_text(compiler, text),
                                     .message = keep_text(compiler, message ? message : ""),
                                     .known = rule_find(text)};
    }
    node->has_rules_below |= node->rule_count > 0;
}

/* A default has to be what the schema would store. */
static void check_default(struct compiler *compiler, struct schema_node *node, const struct field *field)
{
    const struct field here = field_member(field, "default");
    yyjson_mut_doc *copy = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *pruned = yyjson_mut_val_mut_copy(copy, node->default_value);
    struct problems found = {0};

    schema_prune_value(node, pruned, node->is_embedded, NULL, NULL);
    if (!yyjson_mut_equals(pruned, node->default_value)) {
        problem_invalid(compiler->problems, &here, node->default_value, "must not have unknown fields");
    } else {
        schema_default_value(node, pruned, copy);
        schema_validate_value(node, pruned, NULL, &found);
        vec_foreach (&found.list, problem)
            problem_add(compiler->problems, problem->reason,
                        *problem->field ? &(const struct field){.parent = &here, .name = problem->field} : &here,
                        problem->message);
    }
    problems_done(&found);
    yyjson_mut_doc_free(copy);
}

/* What only a structural place may say, refused where values are restricted. */
static void refuse_structure(struct compiler *compiler, struct schema_node *node, yyjson_mut_val *from,
                             const struct field *field)
{
    static const struct {
        const char *member;
        const char *wanted;
    } structural[] = {
        {"type", "must be empty to be structural"},
        {"description", "must be empty to be structural"},
        {"title", "must be empty to be structural"},
        {"default", "must be undefined to be structural"},
        {"nullable", "must be false to be structural"},
        {"x-kubernetes-embedded-resource", "must be false to be structural"},
        {"x-kubernetes-int-or-string", "must be false to be structural"},
        {"x-kubernetes-list-map-keys", "must be empty to be structural"},
        {"x-kubernetes-list-type", "must be undefined to be structural"},
        {"x-kubernetes-map-type", "must be undefined to be structural"},
        {"x-kubernetes-preserve-unknown-fields", "must be false to be structural"},
    };

    for (size_t i = 0; i < ARRAY_LEN(structural); i++) {
        yyjson_mut_val *value = yyjson_mut_obj_get(from, structural[i].member);
        if (!value || yyjson_mut_is_null(value) || yyjson_mut_is_false(value) || yyjson_mut_equals_str(value, ""))
            continue;
        problem_forbidden(compiler->problems, FIELD(field, structural[i].member), structural[i].wanted);
    }
    node->type = TYPE_NONE;
}

/* anyOf: [{type: integer}, {type: string}] at a place that takes both is only a comment, and may say types. */
static bool says_types_of_int_or_string(yyjson_mut_val *from)
{
    return yyjson_mut_obj_size(from) == 1 && (yyjson_mut_equals_str(yyjson_mut_obj_get(from, "type"), "integer") ||
                                              yyjson_mut_equals_str(yyjson_mut_obj_get(from, "type"), "string"));
}

static void compile_structure(struct compiler *compiler, struct schema_node *node, yyjson_mut_val *from,
                              const struct field *field)
{
    yyjson_mut_val *preserve = yyjson_mut_obj_get(from, "x-kubernetes-preserve-unknown-fields");

    if (yyjson_mut_is_false(preserve))
        problem_invalid(compiler->problems, FIELD(field, "x-kubernetes-preserve-unknown-fields"), preserve,
                        "must be true or undefined");
    compile_embedded(compiler, node, field);
    compile_map(compiler, node, from, field);
    compile_list(compiler, node, from, field);
    compile_rules(compiler, node, from);
    node->default_value = keep_value(compiler, yyjson_mut_obj_get(from, "default"));
    compiler->schema->has_defaults |= node->default_value != NULL;
    if (node->default_value)
        check_default(compiler, node, field);
}

/* The metadata of an object is not the schema's to specify, but for restrictions of its name. */
static void check_metadata(struct compiler *compiler, yyjson_mut_val *from, const struct field *field)
{
    yyjson_mut_val *metadata = yyjson_mut_obj_get(yyjson_mut_obj_get(from, "properties"), "metadata");
    const struct field properties = field_member(field, "properties");
    const struct field here = field_key(&properties, "metadata");
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(yyjson_mut_obj_get(metadata, "properties"));

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        if (yyjson_mut_equals_str(key, "name") || yyjson_mut_equals_str(key, "generateName"))
            continue;
        problem_forbidden(
            compiler->problems, &here,
            "must not specify anything other than name and generateName, but metadata is implicitly specified");
        return;
    }
}

static struct schema_node *compile(struct compiler *compiler, yyjson_mut_val *from, const struct field *field,
                                   enum place place)
{
    if (compiler->depth >= SCHEMA_DEPTH_MAX || compiler->node_count >= SCHEMA_NODES_MAX) {
        if (compiler->node_count++ <= SCHEMA_NODES_MAX)
            problem_forbidden(compiler->problems, field, "the schema is nested too deeply or is too large");
        return NULL;
    }
    if (!yyjson_mut_is_obj(from))
        return NULL;
    compiler->node_count++;
    compiler->depth++;

    struct schema_node *node = ARENA_NEW(&compiler->schema->arena, struct schema_node);
    node->is_nullable = is_true(from, "nullable");
    node->preserves_unknown = is_true(from, "x-kubernetes-preserve-unknown-fields");
    node->is_embedded = is_true(from, "x-kubernetes-embedded-resource");
    node->is_int_or_string = is_true(from, "x-kubernetes-int-or-string");
    compile_type(compiler, node, from, field, place);
    if (place == PLACE_RESTRICTION && !(compiler->may_say_types && says_types_of_int_or_string(from)))
        refuse_structure(compiler, node, from, field);
    if (place == PLACE_ROOT)
        check_metadata(compiler, from, field);
    compile_properties(compiler, node, from, field, place);
    compile_additional(compiler, node, from, field, place);
    compile_items(compiler, node, from, field, place);
    if (place != PLACE_RESTRICTION)
        compiler->may_say_types = node->is_int_or_string;
    compile_restrictions(compiler, node, from, field);
    if (place != PLACE_RESTRICTION)
        compile_structure(compiler, node, from, field);
    compiler->depth--;
    return node;
}

struct schema *schema_compile(yyjson_mut_val *openapi, const struct field *field, struct problems *problems)
{
    struct schema *schema = xcalloc(1, sizeof *schema);
    struct compiler compiler = {.schema = schema, .problems = problems};
    uint32_t found_before = problems->list.len;

    arena_init(&schema->arena);
    schema->values = yyjson_mut_doc_new(NULL);
    BUG_ON(!schema->values);
    schema->root = compile(&compiler, openapi, field, PLACE_ROOT);
    if (!schema->root && problems->list.len == found_before)
        problem_required(problems, field, "");
    if (problems->list.len > found_before) {
        schema_free(schema);
        return NULL;
    }
    return schema;
}
