/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/label_selector.h"

#include <string.h>

#include "base/strbuf.h"

static const char *text_of(yyjson_val *object, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, key));

    return text ? text : "";
}

static bool holds(yyjson_val *expression, yyjson_val *labels)
{
    const char *operator= text_of(expression, "operator");
    yyjson_val *own = yyjson_obj_get(labels, text_of(expression, "key"));
    yyjson_val *value;
    size_t i, max;
    bool is_in = false;

    if (strcmp(operator, "Exists") == 0)
        return own;
    if (strcmp(operator, "DoesNotExist") == 0)
        return !own;
    yyjson_arr_foreach(yyjson_obj_get(expression, "values"), i, max, value) is_in =
        is_in || (own && yyjson_equals(value, own));
    return strcmp(operator, "In") == 0 ? is_in : strcmp(operator, "NotIn") == 0 && !is_in;
}

bool label_map_matches(yyjson_val *map, yyjson_val *labels)
{
    yyjson_val *key, *value;
    size_t i, max;

    yyjson_obj_foreach(map, i, max, key, value)
    {
        yyjson_val *own = yyjson_obj_get(labels, yyjson_get_str(key));
        if (!own || !yyjson_equals(own, value))
            return false;
    }
    return true;
}

bool label_selector_matches(yyjson_val *selector, yyjson_val *labels)
{
    yyjson_val *expression;
    size_t i, max;

    if (!label_map_matches(yyjson_obj_get(selector, "matchLabels"), labels))
        return false;
    yyjson_arr_foreach(yyjson_obj_get(selector, "matchExpressions"), i, max, expression)
    {
        if (!holds(expression, labels))
            return false;
    }
    return true;
}

static void begin_term(struct strbuf *to, size_t start)
{
    if (to->len > start)
        strbuf_addch(to, ',');
}

static void format_map(yyjson_val *map, struct strbuf *to, size_t start)
{
    yyjson_val *key, *value;
    size_t i, max;

    yyjson_obj_foreach(map, i, max, key, value)
    {
        begin_term(to, start);
        strbuf_addf(to, "%s=%s", yyjson_get_str(key), yyjson_is_str(value) ? yyjson_get_str(value) : "");
    }
}

static void format_expression(yyjson_val *expression, struct strbuf *to)
{
    const char *operator= text_of(expression, "operator"), *key = text_of(expression, "key");
    yyjson_val *value;
    size_t i, max;

    if (strcmp(operator, "Exists") == 0 || strcmp(operator, "DoesNotExist") == 0) {
        strbuf_addf(to, "%s%s", *operator== 'D' ? "!" : "", key);
        return;
    }
    strbuf_addf(to, "%s %s (", key, strcmp(operator, "In") == 0 ? "in" : "notin");
    yyjson_arr_foreach(yyjson_obj_get(expression, "values"), i, max, value)
    {
        strbuf_addf(to, "%s%s", i > 0 ? "," : "", yyjson_is_str(value) ? yyjson_get_str(value) : "");
    }
    strbuf_addch(to, ')');
}

void label_map_format(yyjson_val *map, struct strbuf *to)
{
    format_map(map, to, to->len);
}

void label_selector_format(yyjson_val *selector, struct strbuf *to)
{
    size_t start = to->len, i, max;
    yyjson_val *expression;

    format_map(yyjson_obj_get(selector, "matchLabels"), to, start);
    yyjson_arr_foreach(yyjson_obj_get(selector, "matchExpressions"), i, max, expression)
    {
        begin_term(to, start);
        format_expression(expression, to);
    }
}
