/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a configuration has the form of its kind; problems in the words of the API server, which shows values as Go does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "local/apply/fields.h"
#include "local/apply/tree_internal.h"

enum { SHOWN_BYTES_MAX = 1024 };

/* --- Values as Go shows them --- */

static void show_value(yyjson_mut_val *value, bool is_source, struct strbuf *text);

static void show_list(yyjson_mut_val *list, bool is_source, struct strbuf *text)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);
    bool is_first = true;

    strbuf_addstr(text, is_source ? "[]interface {}{" : "[");
    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter)); is_first = false) {
        strbuf_addstr(text, is_first ? "" : is_source ? ", " : " ");
        show_value(item, is_source, text);
    }
    strbuf_addch(text, is_source ? '}' : ']');
}

static void show_object(yyjson_mut_val *object, bool is_source, struct strbuf *text)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    bool is_first = true;

    strbuf_addstr(text, is_source ? "map[string]interface {}{" : "map[");
    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter)); is_first = false) {
        strbuf_addstr(text, is_first ? "" : is_source ? ", " : " ");
        strbuf_addf(text, is_source ? "\"%s\":" : "%s:", yyjson_mut_get_str(key));
        show_value(yyjson_mut_obj_iter_get_val(key), is_source, text);
    }
    strbuf_addch(text, is_source ? '}' : ']');
}

static void show_value(yyjson_mut_val *value, bool is_source, struct strbuf *text)
{
    if (yyjson_mut_is_arr(value)) {
        show_list(value, is_source, text);
    } else if (yyjson_mut_is_obj(value)) {
        show_object(value, is_source, text);
    } else if (yyjson_mut_is_str(value)) {
        strbuf_addf(text, is_source ? "\"%s\"" : "%s", yyjson_mut_get_str(value));
    } else if (yyjson_mut_is_null(value)) {
        strbuf_addstr(text, is_source ? "interface {}(nil)" : "<nil>");
    } else {
        char *json = yyjson_mut_val_write(value, YYJSON_WRITE_NOFLAG, NULL);
        strbuf_addstr(text, json ? json : "");
        free(json);
    }
}

static const char *go_type(yyjson_mut_val *value)
{
    if (yyjson_mut_is_arr(value))
        return "[]interface {}";
    if (yyjson_mut_is_obj(value))
        return "map[string]interface {}";
    if (yyjson_mut_is_bool(value))
        return "bool";
    return yyjson_mut_is_str(value) ? "string" : yyjson_mut_is_real(value) ? "float64" : "int64";
}

/* --- Types --- */

static bool has_type(enum shape_type type, yyjson_mut_val *value)
{
    switch (type) {
    case SHAPE_NUMBER:
        return yyjson_mut_is_num(value);
    case SHAPE_TEXT:
        return yyjson_mut_is_str(value);
    case SHAPE_BOOL:
        return yyjson_mut_is_bool(value);
    case SHAPE_LIST:
        return yyjson_mut_is_arr(value);
    case SHAPE_OBJECT:
        return yyjson_mut_is_obj(value);
    case SHAPE_ANY:
        break;
    }
    return true;
}

static int check_type(const struct shape *shape, yyjson_mut_val *value, const struct strbuf *path, struct err *err)
{
    static const char *const names[] = {[SHAPE_TEXT] = "string",
                                        [SHAPE_BOOL] = "boolean",
                                        [SHAPE_LIST] = "list",
                                        [SHAPE_OBJECT] = "map",
                                        [SHAPE_NUMBER] = "numeric (int or float)"};
    enum shape_type type = shape_type_of(shape);
    struct strbuf shown;

    if (yyjson_mut_is_null(value) || has_type(type, value))
        return 0;
    if (type == SHAPE_NUMBER)
        return err_set(err, -EINVAL, "%s: expected %s, got %s", path->text, names[type], go_type(value));
    strbuf_init(&shown, SHOWN_BYTES_MAX);
    strbuf_addstr(&shown, type == SHAPE_TEXT ? "&value.valueUnstructured{Value:" : "&{");
    show_value(value, type == SHAPE_TEXT, &shown);
    int r = err_set(err, -EINVAL, "%s: expected %s, got %s}", path->text, names[type], shown.text);
    strbuf_done(&shown);
    return r;
}

/* --- The walk --- */

enum { CHECK_BYTES_MAX = 4096 };

/* A walk over a document: where it is, and what is wrong so far. */
struct checking {
    bool allows_repeated;
    struct strbuf path;
    struct strbuf problems;
    size_t count;
};

static void check(struct checking *checking, const struct shape *shape, yyjson_mut_val *value);

/* An element that stands twice is found twice. */
static void add_problem(struct checking *checking, const char *text)
{
    if (checking->count > 0 && strstr(checking->problems.text, text))
        return;
    strbuf_addf(&checking->problems, "%s%s", checking->count > 0 ? ", " : "", text);
    checking->count++;
}

static void step_back(struct checking *checking, size_t len)
{
    checking->path.len = len;
    checking->path.text[len] = '\0';
}

static void add_step(void *context, const char *step)
{
    struct strbuf *path = context;

    strbuf_addstr(path, step);
}

/* Elements without keys, by their place. */
static void check_plain_list(struct checking *checking, const struct shape *shape, yyjson_mut_val *list)
{
    struct shape items = shape_items(shape);
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);
    size_t len = checking->path.len;
    size_t index = 0;

    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
        strbuf_addf(&checking->path, "[%zu]", index++);
        check(checking, &items, item);
        step_back(checking, len);
    }
}

static void check_list(struct checking *checking, const struct shape *shape, yyjson_mut_val *list)
{
    struct shape items = shape_items(shape);
    struct tree_elements elements = {0};
    struct arena arena;
    struct err err;
    size_t len = checking->path.len;

    arena_init(&arena);
    tree_index(shape, list, &elements, &arena);
    if (elements.list.len < yyjson_mut_arr_size(list)) {
        yyjson_mut_val *wrong = yyjson_mut_arr_get(list, elements.list.len);

        (void)err_set(
            &err, -EINVAL, "%s: element %u: associative list with keys %s", checking->path.text, elements.list.len,
            yyjson_mut_is_obj(wrong) ? "has an element that omits key field" : "may not have non-map elements");
        add_problem(checking, err.text);
    }
    vec_foreach (&elements.list, element) {
        struct fields *fields = NULL;
        struct fields *member = NULL;

        fields_touch(&member, &arena)->is_member = true;
        fields_add(&fields, (*element)->step, member, &arena);
        if ((*element)->is_repeated && !checking->allows_repeated) {
            (void)tree_fail_repeated(fields, checking->path.text, &err);
            add_problem(checking, err.text);
        } else {
            fields_each(fields, add_step, &checking->path);
            check(checking, &items, (*element)->value);
        }
        step_back(checking, len);
    }
    tree_elements_done(&elements);
    arena_done(&arena);
}

/* Whether a type that lists its members does not list this one. All objects have apiVersion, kind and metadata. */
static bool is_undeclared(const struct shape *shape, yyjson_mut_val *value, const char *name)
{
    bool is_named = false;

    if (shape->is_root &&
        (strcmp(name, "apiVersion") == 0 || strcmp(name, "kind") == 0 || strcmp(name, "metadata") == 0))
        return false;
    if (shape->is_custom)
        return schema_is_struct(shape->node) && !schema_member(shape->node, name, &is_named) && !is_named;
    struct shape member = shape_member(shape, name, &is_named);
    enum schema_merge merge = shape_merge(shape, value);

    return (merge == SCHEMA_STRUCT || merge == SCHEMA_ATOMIC) && !shape_declares(shape, &member, is_named);
}

static void check(struct checking *checking, const struct shape *shape, yyjson_mut_val *value)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(value);
    size_t len = checking->path.len;
    struct err wrong;

    if (check_type(shape, value, &checking->path, &wrong) < 0) {
        add_problem(checking, wrong.text);
        return;
    }
    if (tree_is_list(shape_merge(shape, value))) {
        check_list(checking, shape, value);
        return;
    }
    if (yyjson_mut_is_arr(value) && shape_type_of(shape) == SHAPE_LIST) {
        check_plain_list(checking, shape, value);
        return;
    }
    for (yyjson_mut_val *key; yyjson_mut_is_obj(value) && (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(key);
        bool is_named;
        struct shape member = shape_member(shape, name, &is_named);
        struct err err;

        strbuf_addf(&checking->path, ".%s", name);
        if (is_undeclared(shape, value, name)) {
            (void)err_set(&err, -EINVAL, "%s: field not declared in schema", checking->path.text);
            add_problem(checking, err.text);
        } else {
            check(checking, &member, yyjson_mut_obj_iter_get_val(key));
        }
        step_back(checking, len);
    }
}

int tree_check(const struct shape *shape, yyjson_mut_val *value, bool allows_repeated, struct err *err)
{
    struct checking checking = {.allows_repeated = allows_repeated};
    int r = 0;

    strbuf_init(&checking.path, CHECK_BYTES_MAX);
    strbuf_init(&checking.problems, CHECK_BYTES_MAX);
    check(&checking, shape, value);
    if (checking.count == 1)
        r = err_set(err, -EINVAL, "%s", checking.problems.text);
    else if (checking.count > 1)
        r = err_set(err, -EINVAL, "errors: %s", checking.problems.text);
    strbuf_done(&checking.path);
    strbuf_done(&checking.problems);
    return r;
}

static void report_repeated(void *context, const char *path)
{
    struct strbuf *text = context;

    strbuf_addstr(text, path);
}

int tree_fail_repeated(const struct fields *fields, const char *path, struct err *err)
{
    struct strbuf text;

    strbuf_init(&text, 1024);
    fields_each(fields, report_repeated, &text);
    int r = err_set(err, -EINVAL, "%s: duplicate entries for key %s", path, text.text);
    strbuf_done(&text);
    return r;
}
