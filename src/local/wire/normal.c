/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values are changed in place and members keep their order, so that an object that is in its form already costs a walk
 * over it. Members that Kubernetes always writes are added, so that their number is bounded: an element of two bytes can
 * bring a dozen along.
 */
#include "local/wire/normal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "local/api/duplicates.h"
#include "local/wire/normal_internal.h"
#include "local/wire/types.h"
#include "text/json.h"

enum { ADDED_MAX = 1 << 18, PATH_BYTES_MAX = 1024 };

/* --- What is wrong --- */

void field_faults_done(struct field_faults *faults)
{
    vec_foreach (&faults->texts, text)
        free(*text);
    vec_done(&faults->texts);
}

void field_faults_format(const struct field_faults *faults, struct strbuf *text)
{
    strbuf_addstr(text, "strict decoding error: ");
    vec_foreach (&faults->texts, fault)
        strbuf_addf(text, "%s%s", fault == faults->texts.items ? "" : ", ", *fault);
}

/* Steps from the object down, joined by dots; indexes are not shown to Go's decoder, nor are keys of maps. */
static void format_way(const struct field *field, bool has_all, struct strbuf *text)
{
    if (!field)
        return;
    format_way(field->parent, has_all, text);
    if (field->step == FIELD_ITEM && has_all)
        strbuf_addf(text, "[%zu]", field->index);
    else if (field->step == FIELD_MEMBER || (field->step == FIELD_KEY && has_all))
        strbuf_addf(text, "%s%s", text->len ? "." : "", field->name);
}

static void add_fault(struct normal *normal, const char *what, const struct field *parent, const char *member)
{
    const struct field field = field_member(parent, member);
    struct strbuf text;

    if (!normal->faults || normal->faults->texts.len >= FIELD_FAULTS_MAX)
        return;
    strbuf_init(&text, PATH_BYTES_MAX);
    format_way(&field, true, &text);
    struct strbuf fault;
    strbuf_init(&fault, PATH_BYTES_MAX + 32);
    strbuf_addf(&fault, "%s \"%s\"", what, text.text);
    strbuf_done(&text);
    bool is_known = false;
    vec_foreach (&normal->faults->texts, other)
        is_known = is_known || strcmp(*other, fault.text) == 0;
    if (!is_known)
        vec_push(&normal->faults->texts, strbuf_take(&fault));
    strbuf_done(&fault);
}

static const char *found_name(yyjson_mut_val *value)
{
    if (yyjson_mut_is_obj(value))
        return "object";
    if (yyjson_mut_is_arr(value))
        return "array";
    if (yyjson_mut_is_str(value))
        return "string";
    return yyjson_mut_is_bool(value) ? "bool" : "number";
}

int normal_fail_type(const struct normal *normal, const struct normal_at *at, yyjson_mut_val *value)
{
    bool wants_number = !(at->row->flags & (ROW_LIST | ROW_MAP)) || at->is_element;
    char type[TYPE_GO_NAME_MAX];
    struct strbuf way, found;

    wants_number = wants_number && (at->row->type == TYPE_INT32 || at->row->type == TYPE_INT64);
    strbuf_init(&way, PATH_BYTES_MAX);
    format_way(at->field, false, &way);
    strbuf_init(&found, PATH_BYTES_MAX);
    strbuf_addstr(&found, found_name(value));
    if (wants_number && yyjson_mut_is_num(value)) {
        strbuf_addch(&found, ' ');
        problem_show_value(value, &found);
    }
    int code = err_set(normal->err, -EINVAL, "json: cannot unmarshal %s into Go struct field %s.%s of type %s",
                       found.text, type_name(at->owner), way.text, row_go_type(at->row, at->is_element, type));
    strbuf_done(&way);
    strbuf_done(&found);
    return code;
}

/* --- Members that come several times --- */

static void on_repeated(void *arg, const char *name)
{
    struct strmap *names = arg;

    (void)strmap_put(names, "", name, names);
}

/* Leaves the last member of each name. Returns the names that came again: they are reported when their member is settled, so
 * that faults are in the order of the document. */
static struct strmap drop_repeated(yyjson_mut_val *object)
{
    struct strmap names = {0};

    duplicates_drop_members(object, on_repeated, &names);
    return names;
}

static void report_repeated(struct normal *normal, const struct strmap *names, const struct field *field,
                            const char *name)
{
    if (names->len > 0 && strmap_get(names, "", name))
        add_fault(normal, "duplicate field", field, name);
}

/* --- Absent members --- */

static int add_missing(struct normal *normal, const struct type *type, yyjson_mut_val *object,
                       const struct field *field);

/* The value of a member or element that Go would have made without any input. */
static void set_zero(yyjson_mut_val *value, uint16_t type)
{
    switch (type) {
    case TYPE_STRING:
    case TYPE_BYTES:
        yyjson_mut_set_str(value, "");
        break;
    case TYPE_BOOL:
        yyjson_mut_set_bool(value, false);
        break;
    case TYPE_INT32:
    case TYPE_INT64:
    case TYPE_DOUBLE:
    case TYPE_INT_OR_STRING:
        yyjson_mut_set_uint(value, 0);
        break;
    case TYPE_QUANTITY:
        yyjson_mut_set_str(value, "0");
        break;
    case TYPE_DURATION:
        yyjson_mut_set_str(value, "0s");
        break;
    default:
        if (type >= TYPE_MESSAGE)
            yyjson_mut_set_obj(value);
        else
            yyjson_mut_set_null(value);
    }
}

static bool is_plural(const struct type_row *row)
{
    return row->flags & (ROW_LIST | ROW_MAP);
}

/* Whether Go writes the member although nothing was given for it. */
static bool is_always_written(const struct type_row *row)
{
    if (row->flags & ROW_OMIT_ZERO)
        return false;
    if (!(row->flags & ROW_OMIT_EMPTY))
        return true;
    bool is_struct = row->type >= TYPE_QUANTITY && row->type != TYPE_STRINGS;
    return is_struct && !(row->flags & ROW_POINTER) && !is_plural(row);
}

static int add_zero(struct normal *normal, const struct type_row *row, yyjson_mut_val *object,
                    const struct field *parent)
{
    const struct field field = field_member(parent, row_name(row));
    yyjson_mut_val *value = yyjson_mut_null(normal->doc);

    if (++normal->added > ADDED_MAX)
        return err_set(normal->err, -EINVAL, "too many values");
    if (!(row->flags & ROW_POINTER) && !is_plural(row))
        set_zero(value, row->type);
    yyjson_mut_obj_add(object, yyjson_mut_str(normal->doc, row_name(row)), value);
    return yyjson_mut_is_obj(value) ? add_missing(normal, row_struct(row), value, &field) : 0;
}

static int add_missing(struct normal *normal, const struct type *type, yyjson_mut_val *object,
                       const struct field *field)
{
    const struct type_row *rows = type_rows(type);
    int code = 0;

    for (size_t i = 0; code == 0 && i < type->count; i++) {
        if (rows[i].flags & ROW_INLINE)
            code = add_missing(normal, row_struct(&rows[i]), object, field);
        else if (is_always_written(&rows[i]) && !yyjson_mut_obj_get(object, row_name(&rows[i])))
            code = add_zero(normal, &rows[i], object, field);
    }
    return code;
}

/* --- Members that are there --- */

static int settle_element(struct normal *normal, const struct normal_at *at, yyjson_mut_val *value)
{
    const struct type *type = row_struct(at->row);

    if (yyjson_mut_is_null(value)) {
        set_zero(value, at->row->type);
        return type ? add_missing(normal, type, value, at->field) : 0;
    }
    if (!type)
        return normal_plain(normal, at, value);
    if (!yyjson_mut_is_obj(value))
        return normal_fail_type(normal, at, value);
    return normal_struct(normal, type, value, at->field);
}

static int settle_list(struct normal *normal, const struct normal_at *at, yyjson_mut_val *list)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);
    int code = 0;

    if (!yyjson_mut_is_arr(list))
        return normal_fail_type(normal, at, list);
    for (yyjson_mut_val *item; code == 0 && (item = yyjson_mut_arr_iter_next(&iter));) {
        const struct field field = field_item(at->field, iter.idx - 1);
        const struct normal_at element = {at->owner, at->row, &field, true};
        code = settle_element(normal, &element, item);
    }
    return code;
}

static int settle_map(struct normal *normal, const struct normal_at *at, yyjson_mut_val *map)
{
    int code = 0;

    if (!yyjson_mut_is_obj(map))
        return normal_fail_type(normal, at, map);
    struct strmap repeated = drop_repeated(map);
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(map);
    for (yyjson_mut_val *key; code == 0 && (key = yyjson_mut_obj_iter_next(&iter));) {
        report_repeated(normal, &repeated, at->field, yyjson_mut_get_str(key));
        const struct field field = field_key(at->field, yyjson_mut_get_str(key));
        const struct normal_at element = {at->owner, at->row, &field, true};
        code = settle_element(normal, &element, yyjson_mut_obj_iter_get_val(key));
    }
    strmap_done(&repeated);
    return code;
}

/* Whether Go leaves the value out. What is a pointer there is not empty once it points to something. */
static bool is_omitted(const struct type_row *row, yyjson_mut_val *value)
{
    if (yyjson_mut_is_null(value))
        return !is_always_written(row);
    if (!(row->flags & ROW_OMIT_EMPTY))
        return false;
    if (is_plural(row))
        return yyjson_mut_arr_size(value) == 0 && yyjson_mut_obj_size(value) == 0;
    if (row->flags & ROW_POINTER)
        return false;
    if (row->type == TYPE_STRING || row->type == TYPE_BYTES)
        return yyjson_mut_get_len(value) == 0;
    if (row->type == TYPE_BOOL)
        return !yyjson_mut_get_bool(value);
    return row->type <= TYPE_DOUBLE && yyjson_mut_get_num(value) == 0;
}

static bool is_empty_plural(const struct type_row *row, yyjson_mut_val *value)
{
    return is_plural(row) && yyjson_mut_is_ctn(value) && yyjson_mut_arr_size(value) == 0 &&
           yyjson_mut_obj_size(value) == 0;
}

/* A list or map without elements is stored as none; its member stays where Go writes null for it. */
static void clear_empty(struct normal *normal, const struct type_row *row, yyjson_mut_val *value)
{
    if (!is_empty_plural(row, value))
        return;
    if (normal->faults && is_always_written(row))
        normal->faults->has_empty = true;
    else
        yyjson_mut_set_null(value);
}

static int settle_member(struct normal *normal, const struct type *type, const struct type_row *row,
                         yyjson_mut_val *value, const struct field *parent)
{
    const struct field field = field_member(parent, row_name(row));
    const struct normal_at at = {type, row, &field, false};
    int code;

    if (row->flags & ROW_LIST)
        code = settle_list(normal, &at, value);
    else if (row->flags & ROW_MAP)
        code = settle_map(normal, &at, value);
    else
        code = settle_element(normal, &at, value);
    if (code == 0)
        clear_empty(normal, row, value);
    return code;
}

static bool is_type_meta(const struct type *type, const char *name)
{
    return (type->flags & TYPE_IS_KIND) && (strcmp(name, "apiVersion") == 0 || strcmp(name, "kind") == 0);
}

int normal_struct(struct normal *normal, const struct type *type, yyjson_mut_val *object, const struct field *field)
{
    struct strmap repeated = drop_repeated(object);
    int code = 0;

    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    for (yyjson_mut_val *key; code == 0 && (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(key);
        const struct type_row *row = type_member(type, name);
        yyjson_mut_val *value = yyjson_mut_obj_iter_get_val(key);

        report_repeated(normal, &repeated, field, name);
        if (!row && is_type_meta(type, name))
            continue;
        if (!row)
            add_fault(normal, "unknown field", field, name);
        else if (!yyjson_mut_is_null(value))
            code = settle_member(normal, type, row, value, field);
        if (code == 0 && (!row || is_omitted(row, value) || yyjson_mut_is_null(value)))
            yyjson_mut_obj_iter_remove(&iter);
    }
    strmap_done(&repeated);
    return code < 0 ? code : add_missing(normal, type, object, field);
}

int normal_form(const struct type *type, yyjson_mut_doc *doc, struct field_faults *faults, struct err *err)
{
    struct normal normal = {.doc = doc, .faults = faults, .err = err};
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);

    if (!yyjson_mut_is_obj(root))
        return err_set(err, -EINVAL, "json: cannot unmarshal %s into Go value of type %s.%s", found_name(root),
                       type_version(type), type_name(type));
    return normal_struct(&normal, type, root, NULL);
}

static void clear_struct(const struct type *type, yyjson_mut_val *object);

static void clear_member(const struct type_row *row, yyjson_mut_val *value)
{
    const struct type *type = row_struct(row);
    yyjson_mut_arr_iter items = yyjson_mut_arr_iter_with(value);
    yyjson_mut_obj_iter members = yyjson_mut_obj_iter_with(value);

    if (is_empty_plural(row, value))
        yyjson_mut_set_null(value);
    else if (type && (row->flags & ROW_LIST))
        for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&items));)
            clear_struct(type, item);
    else if (type && (row->flags & ROW_MAP))
        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&members));)
            clear_struct(type, yyjson_mut_obj_iter_get_val(key));
    else if (type)
        clear_struct(type, value);
}

static void clear_struct(const struct type *type, yyjson_mut_val *object)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const struct type_row *row = type_member(type, yyjson_mut_get_str(key));
        if (row)
            clear_member(row, yyjson_mut_obj_iter_get_val(key));
    }
}

void normal_clear_empty(const struct type *type, yyjson_mut_doc *doc)
{
    clear_struct(type, yyjson_mut_doc_get_root(doc));
}

int normal_metadata(yyjson_mut_doc *doc, struct field_faults *faults, struct err *err)
{
    const struct type_row *row = type_member(type_find("", "v1", "ConfigMap"), "metadata");
    struct normal normal = {.doc = doc, .faults = faults, .err = err};
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *metadata = yyjson_mut_obj_get(root, "metadata");
    const struct field field = field_member(NULL, "metadata");

    if (!metadata || yyjson_mut_is_null(metadata))
        return 0;
    if (!yyjson_mut_is_obj(metadata))
        return err_set(err, -EINVAL, "json: cannot unmarshal %s into Go value of type v1.ObjectMeta",
                       found_name(metadata));
    int code = normal_struct(&normal, row_struct(row), metadata, &field);

    /* The API server decodes the metadata by itself, so that the way to a wrong value begins there. */
    char *way = code < 0 && err ? strstr(err->text, "ObjectMeta.metadata.") : NULL;
    if (way) {
        way += strlen("ObjectMeta.");
        memmove(way, way + strlen("metadata."), strlen(way + strlen("metadata.")) + 1);
    }
    return code;
}
