/* SPDX-License-Identifier: Apache-2.0 */
/* What holds between the parts of an object, and is checked once each part is as the schema says. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "local/api/problems.h"
#include "local/custom/rules.h"
#include "local/custom/schema_internal.h"

typedef void (*visit_fn)(const struct schema_node *node, yyjson_mut_val *value, const struct field *field,
                         struct problems *problems);

/* Goes on with the members and elements that the schema specifies. */
static void visit_below(visit_fn visit, const struct schema_node *node, yyjson_mut_val *value,
                        const struct field *field, struct problems *problems)
{
    if (yyjson_mut_is_obj(value)) {
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(value);
        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
            const char *name = yyjson_mut_get_str(key);
            const struct schema_node *named = schema_property_find(node, name);
            const struct field member = named ? field_member(field, name) : field_key(field, name);
            const struct schema_node *child = named ? named : node->additional;
            if (child)
                visit(child, yyjson_mut_obj_iter_get_val(key), &member, problems);
        }
    } else if (yyjson_mut_is_arr(value) && node->items) {
        yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(value);
        yyjson_mut_val *item;
        for (size_t i = 0; (item = yyjson_mut_arr_iter_next(&iter)); i++) {
            const struct field at = field_item(field, i);
            visit(node->items, item, &at, problems);
        }
    }
}

/* --- Sets and maps --- */

/* What tells an element apart: itself, or an object of its keys, sorted; made in `doc`. */
static yyjson_mut_val *identity_of(const struct schema_node *node, yyjson_mut_val *item, yyjson_mut_doc *doc)
{
    if (node->list == LIST_SET || !yyjson_mut_is_obj(item))
        return yyjson_mut_val_mut_copy(doc, item);
    yyjson_mut_val *keys = yyjson_mut_obj(doc);
    for (size_t i = 0; i < node->key_count; i++) {
        yyjson_mut_val *value = yyjson_mut_obj_get(item, node->keys[i]);
        if (value)
            yyjson_mut_obj_add(keys, yyjson_mut_str(doc, node->keys[i]), yyjson_mut_val_mut_copy(doc, value));
    }
    return keys;
}

static void check_duplicates(const struct schema_node *node, yyjson_mut_val *list, const struct field *field,
                             struct problems *problems)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    struct strmap seen = {0};
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);
    yyjson_mut_val *item;

    for (size_t i = 0; (item = yyjson_mut_arr_iter_next(&iter)); i++) {
        yyjson_mut_val *identity = identity_of(node, item, doc);
        char *text = yyjson_mut_val_write(identity, YYJSON_WRITE_NOFLAG, NULL);
        const char *kept = yyjson_mut_get_str(yyjson_mut_strcpy(doc, text ? text : ""));
        free(text);
        /* Each value that occurs more than once is reported where it occurs for the second time. */
        size_t times = (size_t)(uintptr_t)strmap_get(&seen, "", kept) + 1;
        (void)strmap_put(&seen, "", kept, (void *)(uintptr_t)times);
        const struct field at = field_item(field, i);
        if (times == 2)
            problem_duplicate(problems, &at, identity);
    }
    strmap_done(&seen);
    yyjson_mut_doc_free(doc);
}

void schema_check_lists(const struct schema_node *node, yyjson_mut_val *value, const struct field *field,
                        struct problems *problems)
{
    if (yyjson_mut_is_arr(value) && (node->list == LIST_SET || node->list == LIST_MAP))
        check_duplicates(node, value, field, problems);
    visit_below(schema_check_lists, node, value, field, problems);
}

/* --- Embedded resources --- */

static void check_resource(yyjson_mut_val *object, const struct field *field, struct problems *problems)
{
    const char *version = yyjson_mut_get_str(yyjson_mut_obj_get(object, "apiVersion"));
    const char *kind = yyjson_mut_get_str(yyjson_mut_obj_get(object, "kind"));
    const char *slash = version ? strchr(version, '/') : NULL;

    if (!version || !*version) {
        problem_required(problems, FIELD(field, "apiVersion"), "");
    } else if (slash && strchr(slash + 1, '/')) {
        struct strbuf text;
        strbuf_init(&text, PROBLEM_BYTES_MAX);
        strbuf_addf(&text, "unexpected GroupVersion string: %s", version);
        problem_invalid_text(problems, FIELD(field, "apiVersion"), version, text.text);
        strbuf_done(&text);
    }
    if (!kind || !*kind)
        problem_required(problems, FIELD(field, "kind"), "");
}

void schema_check_embedded(const struct schema_node *node, yyjson_mut_val *value, const struct field *field,
                           struct problems *problems)
{
    if (node->is_embedded && yyjson_mut_is_obj(value))
        check_resource(value, field, problems);
    visit_below(schema_check_embedded, node, value, field, problems);
}

/* --- Rules --- */

static void check_rule(const struct schema_rule *rule, yyjson_mut_val *value, yyjson_mut_val *old,
                       const struct field *field, struct problems *problems)
{
    struct strbuf text;

    if (rule->known >= 0 && ((rule_is_transition(rule->known) && !old) || rule_holds(rule->known, value, old)))
        return;
    strbuf_init(&text, PROBLEM_BYTES_MAX);
    if (rule->known < 0)
        strbuf_addf(
            &text,
            "a validation rule of the CustomResourceDefinition cannot be evaluated, so the object is refused: %s",
            rule->text);
    else if (*rule->message)
        strbuf_addstr(&text, rule->message);
    else
        strbuf_addf(&text, "failed rule: %s", rule->text);
    problem_invalid(problems, field, NULL, text.text);
    strbuf_done(&text);
}

void schema_check_rules(const struct schema_node *node, yyjson_mut_val *value, yyjson_mut_val *old,
                        const struct field *field, struct problems *problems)
{
    if (!node->has_rules_below)
        return;
    for (size_t i = 0; i < node->rule_count; i++)
        check_rule(&node->rules[i], value, old, field, problems);
    if (yyjson_mut_is_obj(value)) {
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(value);
        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
            const char *name = yyjson_mut_get_str(key);
            const struct schema_node *child = schema_member_node(node, name);
            const struct field member = field_member(field, name);
            if (child)
                schema_check_rules(child, yyjson_mut_obj_iter_get_val(key), yyjson_mut_obj_get(old, name), &member,
                                   problems);
        }
    } else if (yyjson_mut_is_arr(value) && node->items) {
        /* Which element was which before cannot be told, so that transition rules do not reach them. */
        yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(value);
        yyjson_mut_val *item;
        for (size_t i = 0; (item = yyjson_mut_arr_iter_next(&iter)); i++) {
            const struct field at = field_item(field, i);
            schema_check_rules(node->items, item, NULL, &at, problems);
        }
    }
}

/* --- All of it --- */

/* A rule may rely on types and sizes, so that it is not checked where one of them is wrong. */
static bool forbids_rules(const struct problem *problem)
{
    return problem->reason == PROBLEM_REQUIRED || problem->reason == PROBLEM_TOO_LONG ||
           problem->reason == PROBLEM_TOO_MANY || problem->reason == PROBLEM_TYPE_INVALID;
}

/* What is checked last, and of the whole object. Problems from `found_before` on are about it. */
static void check_rest(const struct schema *schema, yyjson_mut_val *root, yyjson_mut_doc *old,
                       struct problems *problems, uint32_t found_before)
{
    schema_check_lists(schema->root, root, NULL, problems);
    bool can_check = true;
    for (uint32_t i = found_before; i < problems->list.len; i++)
        can_check &= !forbids_rules(&problems->list.items[i]);
    if (can_check)
        schema_check_rules(schema->root, root, old ? yyjson_mut_doc_get_root(old) : NULL, NULL, problems);
    else if (schema->root->has_rules_below)
        problem_add(problems, PROBLEM_INVALID, FIELD(NULL, "<nil>"),
                    "Invalid value: null: some validation rules were not checked because the object was invalid; "
                    "correct the existing errors to complete validation");
}

void schema_validate(const struct schema *schema, yyjson_mut_doc *doc, yyjson_mut_doc *old, struct problems *problems)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    uint32_t found_before = problems->list.len;

    schema_validate_value(schema->root, root, NULL, problems);
    schema_check_embedded(schema->root, root, NULL, problems);
    check_rest(schema, root, old, problems, found_before);
}

void schema_validate_status(const struct schema *schema, yyjson_mut_doc *doc, yyjson_mut_doc *old,
                            struct problems *problems)
{
    const struct schema_node *node = schema_member_node(schema->root, "status");
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *status = yyjson_mut_obj_get(root, "status");
    struct field field = field_member(NULL, "status");
    uint32_t found_before = problems->list.len;

    field.is_body = true;
    if (node && status)
        schema_validate_value(node, status, &field, problems);
    check_rest(schema, root, old, problems, found_before);
}

enum schema_form schema_type_of(const struct schema_node *node)
{
    static const enum schema_form forms[] = {
        [TYPE_NONE] = SCHEMA_IS_ANY,       [TYPE_ARRAY] = SCHEMA_IS_LIST,    [TYPE_BOOLEAN] = SCHEMA_IS_BOOL,
        [TYPE_INTEGER] = SCHEMA_IS_NUMBER, [TYPE_NUMBER] = SCHEMA_IS_NUMBER, [TYPE_OBJECT] = SCHEMA_IS_OBJECT,
        [TYPE_STRING] = SCHEMA_IS_TEXT,
    };

    return !node || node->is_int_or_string ? SCHEMA_IS_ANY : forms[node->type];
}
