/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "local/custom/schema.h"

struct pattern;

enum schema_type {
    TYPE_NONE,  // any
    TYPE_ARRAY,
    TYPE_BOOLEAN,
    TYPE_INTEGER,
    TYPE_NUMBER,
    TYPE_OBJECT,
    TYPE_STRING,
};

enum schema_list { LIST_PLAIN, LIST_ATOMIC, LIST_SET, LIST_MAP };

struct schema_property {
    const char *name;
    struct schema_node *node;
};

/* A count or a length; there is none below 0. */
typedef int64_t schema_limit;

struct schema_number {
    double value;
    bool is_given;
    bool is_exclusive;
};

struct schema_nodes {
    struct schema_node **list;
    size_t count;
};

/* A rule in CEL. */
struct schema_rule {
    const char *text;
    const char *message;  // "" when the definition gives none
    int known;            // its number among those of rules.h; below 0: it cannot be checked
};

struct schema_node {
    enum schema_type type;
    bool is_nullable;
    bool preserves_unknown;
    bool is_embedded;
    bool is_int_or_string;
    bool is_atomic_map;
    bool allows_additional;          // of any type when `additional` is NULL
    struct schema_node *additional;  // additionalProperties

    struct schema_property *properties;  // sorted by name
    size_t property_count;
    struct schema_node *items;
    enum schema_list list;
    const char **keys;  // of the elements of LIST_MAP
    size_t key_count;

    yyjson_mut_val *default_value;
    yyjson_mut_val *choices;  // enum: an array
    const char **required;
    size_t required_count;

    const char *pattern_text;
    struct pattern *pattern;
    const char *format;  // NULL without one
    struct schema_number minimum, maximum;
    struct schema_number multiple_of;
    schema_limit min_length, max_length, min_items, max_items, min_properties, max_properties;

    struct schema_nodes all_of, any_of, one_of;
    struct schema_node *not_of;

    struct schema_rule *rules;
    size_t rule_count;
    bool has_rules_below;  // here or deeper
};

struct schema {
    struct arena arena;
    yyjson_mut_doc *values;  // holds defaults and choices
    struct schema_node *root;
    VEC(struct pattern *) patterns;
    bool has_defaults;
};

/* The property of that name; NULL when the node does not name it. */
const struct schema_node *schema_property_find(const struct schema_node *node, const char *name);

/* The place of a member: a named property, one of the additional ones, or NULL when it is not specified. */
const struct schema_node *schema_member_node(const struct schema_node *node, const char *name);

/* "string", "integer" and so on, as schemas name types; NULL for TYPE_NONE. */
const char *schema_type_name(enum schema_type type);

/* Prune, default and validate a part of an object, which `field` names; defaults of schemas are checked so. */
void schema_prune_value(const struct schema_node *node, yyjson_mut_val *value, bool is_resource,
                        const struct field *field, struct field_faults *faults);
void schema_default_value(const struct schema_node *node, yyjson_mut_val *value, yyjson_mut_doc *doc);
void schema_validate_value(const struct schema_node *node, yyjson_mut_val *value, const struct field *field,
                           struct problems *problems);

/* The parts of schema_validate() that follow: lists whose elements differ, embedded resources, rules. */
void schema_check_lists(const struct schema_node *node, yyjson_mut_val *value, const struct field *field,
                        struct problems *problems);
void schema_check_embedded(const struct schema_node *node, yyjson_mut_val *value, const struct field *field,
                           struct problems *problems);
void schema_check_rules(const struct schema_node *node, yyjson_mut_val *value, yyjson_mut_val *old,
                        const struct field *field, struct problems *problems);
