/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/selector.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/fields.h"

static const struct match_word {
    const char *word;
    enum match_op op;
    bool is_for_nodes;  // not in label selectors
    bool has_values;
} match_words[] = {
    {"In", MATCH_IN, false, true},          {"NotIn", MATCH_NOT_IN, false, true},
    {"Exists", MATCH_EXISTS, false, false}, {"DoesNotExist", MATCH_NOT_EXISTS, false, false},
    {"Gt", MATCH_GREATER, true, true},      {"Lt", MATCH_LESS, true, true},
};

/* IN of no values: matches nothing. */
static struct selector_spec match_nothing(struct arena *arena)
{
    struct match_spec *match = ARENA_NEW(arena, struct match_spec);

    *match = (struct match_spec){.op = MATCH_IN, .key = ""};
    return (struct selector_spec){match, 1};
}

struct expression {
    const char *key;
    const char *operator;
    struct json_at values;
};

static int expression_decode(struct arena *arena, const struct json_at *at, bool is_for_nodes,
                             struct match_spec *ret_match, struct err *err)
{
    static const struct field fields[] = {
        FIELD_NEEDED(expression, key, "key", FIELD_STR),
        FIELD_NEEDED(expression, operator, "operator", FIELD_STR),
        FIELD(expression, values, "values", FIELD_ARRAY),
    };
    struct expression expression = {0};

    TRY(FIELDS_DECODE(at, fields, &expression, err));
    ret_match->key = expression.key;
    for (size_t i = 0; i < ARRAY_LEN(match_words); i++) {
        const struct match_word *word = &match_words[i];

        if (strcmp(word->word, expression.operator) != 0 || (word->is_for_nodes && !is_for_nodes))
            continue;
        ret_match->op = word->op;
        if (!word->has_values)
            return 0;
        return strings_decode(arena, &expression.values, &ret_match->values, &ret_match->value_count, err);
    }
    struct json_at operator= json_member(at, "operator");
    return json_fail(&operator, err, -EINVAL, "expected In, NotIn, Exists%s or DoesNotExist, found '%s'",
                     is_for_nodes ? ", Gt, Lt" : "", expression.operator);
}

struct selector_json {
    struct json_at labels;
    struct json_at expressions;
    struct json_at fields;
};

int label_selector_decode(struct arena *arena, const struct json_at *at, struct selector_spec *ret_selector,
                          struct err *err)
{
    static const struct field table[] = {
        FIELD(selector_json, labels, "matchLabels", FIELD_OBJECT),
        FIELD(selector_json, expressions, "matchExpressions", FIELD_ARRAY),
    };
    struct selector_json json = {0};
    size_t count = 0;

    if (!at->val) {
        *ret_selector = match_nothing(arena);
        return 0;
    }
    TRY(FIELDS_DECODE(at, table, &json, err));
    struct match_spec *matches =
        arena_calloc(arena, json_len(&json.labels) + json_len(&json.expressions), sizeof *matches);
    for (struct json_at item = {0}; json_next(&json.labels, &item); count++) {
        const char **value = arena_calloc(arena, 1, sizeof *value);

        TRY(json_str(&item, value, err));
        matches[count] = (struct match_spec){MATCH_IN, item.key, value, 1};
    }
    for (struct json_at item = {0}; json_next(&json.expressions, &item); count++)
        TRY(expression_decode(arena, &item, false, &matches[count], err));
    *ret_selector = (struct selector_spec){matches, count};
    return 0;
}

void selector_add(struct arena *arena, struct selector_spec *selector, const char *key, const char *value,
                  bool is_negated)
{
    struct match_spec *matches = arena_calloc(arena, selector->count + 1, sizeof *matches);
    const char **kept = arena_calloc(arena, 1, sizeof *kept);

    if (selector->count)
        memcpy(matches, selector->all, selector->count * sizeof *matches);
    *kept = value;
    matches[selector->count] = (struct match_spec){is_negated ? MATCH_NOT_IN : MATCH_IN, key, kept, 1};
    selector->all = matches;
    selector->count++;
}

/* matchFields: only the node's name can be asked for. */
static int field_match_decode(struct arena *arena, const struct json_at *at, struct match_spec *ret_match,
                              struct err *err)
{
    TRY(expression_decode(arena, at, true, ret_match, err));
    if (strcmp(ret_match->key, "metadata.name") != 0)
        return json_fail(at, err, -EINVAL, "expected the key metadata.name, found '%s'", ret_match->key);
    if (ret_match->op != MATCH_IN && ret_match->op != MATCH_NOT_IN)
        return json_fail(at, err, -EINVAL, "expected the operator In or NotIn");
    ret_match->op = ret_match->op == MATCH_IN ? MATCH_FIELD_NAME_IN : MATCH_FIELD_NAME_NOT_IN;
    return 0;
}

int node_term_decode(struct arena *arena, const struct json_at *term, struct selector_spec *ret_selector,
                     struct err *err)
{
    static const struct field table[] = {
        FIELD(selector_json, expressions, "matchExpressions", FIELD_ARRAY),
        FIELD(selector_json, fields, "matchFields", FIELD_ARRAY),
    };
    struct selector_json json = {0};
    size_t count = 0;

    TRY(json_object(term, err));
    TRY(FIELDS_DECODE(term, table, &json, err));
    size_t len = json_len(&json.expressions) + json_len(&json.fields);
    if (len == 0) {
        *ret_selector = match_nothing(arena);
        return 0;
    }
    struct match_spec *matches = arena_calloc(arena, len, sizeof *matches);
    for (struct json_at item = {0}; json_next(&json.expressions, &item); count++)
        TRY(expression_decode(arena, &item, true, &matches[count], err));
    for (struct json_at item = {0}; json_next(&json.fields, &item); count++)
        TRY(field_match_decode(arena, &item, &matches[count], err));
    *ret_selector = (struct selector_spec){matches, count};
    return 0;
}

int node_terms_decode(struct arena *arena, const struct json_at *terms, const struct selector_spec **ret_terms,
                      size_t *ret_count, struct err *err)
{
    struct selector_spec *selectors = arena_calloc(arena, json_len(terms) + 1, sizeof *selectors);
    size_t count = 0;

    for (struct json_at item = {0}; json_next(terms, &item); count++)
        TRY(node_term_decode(arena, &item, &selectors[count], err));
    if (count == 0)
        selectors[count++] = match_nothing(arena);
    *ret_terms = selectors;
    *ret_count = count;
    return 0;
}

static bool has_value(const struct match_spec *match, const char *value)
{
    for (size_t i = 0; value && i < match->value_count; i++) {
        if (strcmp(match->values[i], value) == 0)
            return true;
    }
    return false;
}

/* The label as a whole number above or below the bound; one of them being none matches nothing. */
static bool compares(const struct match_spec *match, const char *value)
{
    int64_t have = 0;
    int64_t bound = 0;

    if (!value || match->value_count != 1 || !int_parse(value, INT64_MIN, INT64_MAX, &have) ||
        !int_parse(match->values[0], INT64_MIN, INT64_MAX, &bound))
        return false;
    return match->op == MATCH_GREATER ? have > bound : have < bound;
}

static bool holds(const struct match_spec *match, const char *value, const char *name)
{
    switch (match->op) {
    case MATCH_IN:
        return has_value(match, value);
    case MATCH_NOT_IN:
        return !has_value(match, value);
    case MATCH_EXISTS:
        return value != NULL;
    case MATCH_NOT_EXISTS:
        return value == NULL;
    case MATCH_GREATER:
    case MATCH_LESS:
        return compares(match, value);
    case MATCH_FIELD_NAME_IN:
        return has_value(match, name);
    case MATCH_FIELD_NAME_NOT_IN:
        return !has_value(match, name);
    case _MATCH_OP_MAX:
        break;
    }
    return false;
}

bool selector_spec_matches(const struct selector_spec *selector, const struct json_at *labels, const char *name)
{
    for (size_t i = 0; i < selector->count; i++) {
        if (!holds(&selector->all[i], json_peek_str(labels, selector->all[i].key), name))
            return false;
    }
    return true;
}
