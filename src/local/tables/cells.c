/* SPDX-License-Identifier: Apache-2.0 */

/* What the cells of several kinds are made of. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "local/tables/tables.h"
#include "local/tables/tables_internal.h"

enum { CELL_MAX = 64 << 10 };

yyjson_val *cell_at(yyjson_val *object, const char *path)
{
    while (object && *path) {
        size_t len = strcspn(path, ".");
        object = yyjson_obj_getn(object, path, len);
        path += len + (path[len] == '.');
    }
    return object;
}

const char *cell_text(yyjson_val *object, const char *path, const char *fallback)
{
    const char *text = yyjson_get_str(cell_at(object, path));

    return text ? text : fallback;
}

int64_t cell_number(yyjson_val *object, const char *path)
{
    return yyjson_get_sint(cell_at(object, path));
}

yyjson_mut_val *cell_copy(yyjson_val *object, const char *path, const char *fallback, yyjson_mut_doc *out)
{
    yyjson_val *value = cell_at(object, path);

    return value ? yyjson_val_mut_copy(out, value) : yyjson_mut_str(out, fallback);
}

yyjson_mut_val *cell_since(yyjson_val *object, const char *path, nsec_t now, yyjson_mut_doc *out)
{
    char text[AGE_TEXT_MAX];
    nsec_t time = 0;

    if (time_parse(cell_text(object, path, ""), &time, NULL) < 0)
        return yyjson_mut_str(out, "<unknown>");
    return yyjson_mut_strcpy(out, table_age(now - time, text));
}

yyjson_mut_val *cell_age(yyjson_val *object, nsec_t now, yyjson_mut_doc *out)
{
    return cell_since(object, "metadata.creationTimestamp", now, out);
}

static yyjson_mut_val *take(struct strbuf *text, yyjson_mut_doc *out)
{
    yyjson_mut_val *value = yyjson_mut_strncpy(out, text->text, text->len);

    strbuf_done(text);
    return value;
}

yyjson_mut_val *cell_containers(yyjson_val *list, const char *member, yyjson_mut_doc *out)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    struct strbuf text;

    strbuf_init(&text, CELL_MAX);
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&iter));)
        strbuf_addf(&text, "%s%s", text.len ? "," : "", cell_text(item, member, ""));
    return take(&text, out);
}

static void add_expression(struct strbuf *text, yyjson_val *expression)
{
    const char *key = cell_text(expression, "key", "");
    const char *operator= cell_text(expression, "operator", "");
    yyjson_arr_iter iter = yyjson_arr_iter_with(yyjson_obj_get(expression, "values"));
    bool is_first = true;

    if (strcmp(operator, "Exists") == 0 || strcmp(operator, "DoesNotExist") == 0) {
        strbuf_addf(text, "%s%s", *operator== 'D' ? "!" : "", key);
        return;
    }
    strbuf_addf(text, "%s %s (", key, strcmp(operator, "In") == 0 ? "in" : "notin");
    for (yyjson_val *value; (value = yyjson_arr_iter_next(&iter)); is_first = false)
        strbuf_addf(text, "%s%s", is_first ? "" : ",", yyjson_get_str(value));
    strbuf_addch(text, ')');
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(yyjson_get_str(*(yyjson_val *const *)a), yyjson_get_str(*(yyjson_val *const *)b));
}

/* By name. */
static void add_labels(struct strbuf *text, yyjson_val *labels)
{
    yyjson_obj_iter iter = yyjson_obj_iter_with(labels);
    size_t count = yyjson_obj_size(labels);
    yyjson_val **keys = xcalloc(count + 1, sizeof *keys);

    for (size_t i = 0; i < count; i++)
        keys[i] = yyjson_obj_iter_next(&iter);
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < count; i++)
        strbuf_addf(text, "%s%s=%s", i ? "," : "", yyjson_get_str(keys[i]),
                    yyjson_get_str(yyjson_obj_iter_get_val(keys[i])));
    free(keys);
}

yyjson_mut_val *cell_selector(yyjson_val *selector, yyjson_mut_doc *out)
{
    yyjson_arr_iter expressions = yyjson_arr_iter_with(yyjson_obj_get(selector, "matchExpressions"));
    struct strbuf text;

    strbuf_init(&text, CELL_MAX);
    add_labels(&text, yyjson_obj_get(selector, "matchLabels"));
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&expressions));) {
        if (text.len)
            strbuf_addch(&text, ',');
        add_expression(&text, item);
    }
    if (text.len == 0)
        strbuf_addstr(&text, "<none>");
    return take(&text, out);
}

yyjson_mut_val *cell_labels(yyjson_val *labels, yyjson_mut_doc *out)
{
    struct strbuf text;

    strbuf_init(&text, CELL_MAX);
    add_labels(&text, labels);
    strbuf_addstr(&text, text.len ? "" : "<none>");
    return take(&text, out);
}
