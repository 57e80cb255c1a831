/* SPDX-License-Identifier: Apache-2.0 */
#include "local/subresources/budgets_internal.h"

#include <string.h>
#include <yyjson.h>

#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/api/selector.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"

enum { SELECTOR_MAX = 64 << 10 };

/* The operators of a label selector as the query would have them. */
static void add_expression(struct strbuf *text, yyjson_val *expression)
{
    const char *key = yyjson_get_str(yyjson_obj_get(expression, "key"));
    const char *operator= yyjson_get_str(yyjson_obj_get(expression, "operator"));
    yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(expression, "values"));
    bool is_first = true;

    if (!key || !operator)
        return;
    if (strcmp(operator, "Exists") == 0 || strcmp(operator, "DoesNotExist") == 0) {
        strbuf_addf(text, "%s%s", *operator== 'D' ? "!" : "", key);
        return;
    }
    strbuf_addf(text, "%s %s (", key, strcmp(operator, "In") == 0 ? "in" : "notin");
    for (yyjson_val *value; (value = yyjson_arr_iter_next(&iter)); is_first = false) {
        const char *word = yyjson_get_str(value);
        strbuf_addf(text, "%s%s", is_first ? "" : ",", word ? word : "");
    }
    strbuf_addch(text, ')');
}

static bool selects(yyjson_val *selector, const struct store_object *pod)
{
    yyjson_obj_iter labels = yyjson_obj_iter_with(yyjson_obj_get(selector, "matchLabels"));
    yyjson_arr_iter expressions = yyjson_arr_iter_with(yyjson_obj_get(selector, "matchExpressions"));
    struct selector wanted = {0};
    struct strbuf text;

    strbuf_init(&text, SELECTOR_MAX);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&labels));) {
        const char *value = yyjson_get_str(yyjson_obj_iter_get_val(key));
        strbuf_addf(&text, "%s%s=%s", text.len ? "," : "", yyjson_get_str(key), value ? value : "");
    }
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&expressions));) {
        if (text.len)
            strbuf_addch(&text, ',');
        add_expression(&text, item);
    }
    bool is_selected =
        selector && selector_add_labels(&wanted, text.text, NULL) == 0 && selector_matches_object(&wanted, pod);
    selector_done(&wanted);
    strbuf_done(&text);
    return is_selected;
}

const char *budget_that_refuses(const struct server *server, const struct store_object *pod)
{
    const struct api_kind *kind = builtin_kind_find("policy", "v1", "poddisruptionbudgets");
    const struct store_object *budget;
    const char *found = NULL;
    struct store_cursor cursor;

    store_cursor_init(&cursor, server->store, resource_number((struct server *)(uintptr_t)server, kind), pod->namespace,
                      "");
    while (!found && (budget = store_cursor_next(&cursor)) && strcmp(budget->namespace, pod->namespace) == 0) {
        yyjson_doc *doc = yyjson_read(budget->body, budget->body_len, 0);
        yyjson_val *root = yyjson_doc_get_root(doc);
        yyjson_val *allowed = yyjson_obj_get(yyjson_obj_get(root, "status"), "disruptionsAllowed");
        if (selects(yyjson_obj_get(yyjson_obj_get(root, "spec"), "selector"), pod) && yyjson_get_sint(allowed) <= 0)
            found = budget->name;
        yyjson_doc_free(doc);
    }
    store_cursor_done(&cursor);
    return found;
}
