/* SPDX-License-Identifier: Apache-2.0 */
#include "local/apply/fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"

enum { PATH_BYTES_MAX = 64 << 10 };

/* --- The order of steps --- */

/* Members, then elements by keys, by value and by place. */
static int rank_of(const char *step)
{
    static const char order[] = "fkvi";
    const char *at = strchr(order, step[0]);

    return at && step[0] ? (int)(at - order) : (int)sizeof order;
}

static int step_compare(const char *a, const char *b)
{
    int ranks = rank_of(a) - rank_of(b);

    if (ranks)
        return ranks;
    if (a[0] == 'i' && strlen(a) != strlen(b))
        return strlen(a) < strlen(b) ? -1 : 1;
    return strcmp(a, b);
}

static int child_compare(const void *a, const void *b)
{
    return step_compare(((const struct fields_child *)a)->step, ((const struct fields_child *)b)->step);
}

/* --- Making a set --- */

struct fields *fields_touch(struct fields **at, struct arena *arena)
{
    if (!*at)
        *at = ARENA_NEW(arena, struct fields);
    return *at;
}

static void append(struct fields *fields, const char *step, struct fields *below, struct arena *arena)
{
    if (fields->count == fields->cap) {
        uint32_t cap = fields->cap ? fields->cap * 2 : 4;
        struct fields_child *children = arena_calloc(arena, cap, sizeof *children);
        if (fields->count)
            memcpy(children, fields->children, fields->count * sizeof *children);
        fields->children = children;
        fields->cap = cap;
    }
    fields->children[fields->count++] = (struct fields_child){.step = step, .below = below};
}

void fields_add(struct fields **at, const char *step, struct fields *below, struct arena *arena)
{
    if (!fields_is_empty(below))
        append(fields_touch(at, arena), step, below, arena);
}

struct fields *fields_sort(struct fields *fields, struct arena *arena)
{
    uint32_t kept = 0;

    if (!fields || !fields->count)
        return fields;
    for (uint32_t i = 0; i < fields->count; i++)
        fields->children[i].below = fields_sort(fields->children[i].below, arena);
    qsort(fields->children, fields->count, sizeof *fields->children, child_compare);
    for (uint32_t i = 1; i < fields->count; i++) {
        struct fields_child *last = &fields->children[kept];
        if (child_compare(last, &fields->children[i]) == 0)
            last->below = fields_union(last->below, fields->children[i].below, arena);
        else
            fields->children[++kept] = fields->children[i];
    }
    fields->count = kept + 1;
    return fields;
}

/* --- FieldsV1 --- */

static struct fields *read_node(yyjson_mut_val *json, struct arena *arena)
{
    struct fields *fields = NULL;
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(json);

    if (yyjson_mut_obj_size(json) == 0)
        fields_touch(&fields, arena)->is_member = true;
    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *step = yyjson_mut_get_str(key);
        if (strcmp(step, ".") == 0)
            fields_touch(&fields, arena)->is_member = true;
        else if (step[0] && strchr("fkvi", step[0]) && step[1] == ':' &&
                 yyjson_mut_is_obj(yyjson_mut_obj_iter_get_val(key)))
            fields_add(&fields, arena_strdup(arena, step), read_node(yyjson_mut_obj_iter_get_val(key), arena), arena);
    }
    return fields;
}

struct fields *fields_read(yyjson_mut_val *json, struct arena *arena)
{
    return yyjson_mut_obj_size(json) ? fields_sort(read_node(json, arena), arena) : NULL;
}

yyjson_mut_val *fields_write(const struct fields *fields, yyjson_mut_doc *doc)
{
    yyjson_mut_val *json = yyjson_mut_obj(doc);

    if (!fields)
        return json;
    if (fields->is_member && fields->count)
        yyjson_mut_obj_add_val(doc, json, ".", yyjson_mut_obj(doc));
    for (uint32_t i = 0; i < fields->count; i++)
        yyjson_mut_obj_add(json, yyjson_mut_strcpy(doc, fields->children[i].step),
                           fields_write(fields->children[i].below, doc));
    return json;
}

/* --- Sets of sets --- */

enum operation { UNION, INTERSECTION, DIFFERENCE };

static struct fields *combine(struct fields *a, struct fields *b, enum operation operation, struct arena *arena)
{
    static const struct fields nothing;
    const struct fields *left = a ? a : &nothing, *right = b ? b : &nothing;
    struct fields *result = NULL;
    uint32_t i = 0, j = 0;

    if (operation == UNION && (!a || !b))
        return a ? a : b;
    if (!a || !b)
        return operation == DIFFERENCE ? a : NULL;
    if (operation == UNION        ? left->is_member || right->is_member
        : operation == DIFFERENCE ? left->is_member && !right->is_member
                                  : left->is_member && right->is_member)
        fields_touch(&result, arena)->is_member = true;
    while (i < left->count || j < right->count) {
        int order = i >= left->count    ? 1
                    : j >= right->count ? -1
                                        : child_compare(&left->children[i], &right->children[j]);
        struct fields *below = combine(order <= 0 ? left->children[i].below : NULL,
                                       order >= 0 ? right->children[j].below : NULL, operation, arena);
        fields_add(&result, order <= 0 ? left->children[i].step : right->children[j].step, below, arena);
        i += order <= 0;
        j += order >= 0;
    }
    return result;
}

struct fields *fields_union(struct fields *a, struct fields *b, struct arena *arena)
{
    return combine(a, b, UNION, arena);
}

struct fields *fields_intersection(struct fields *a, struct fields *b, struct arena *arena)
{
    return combine(a, b, INTERSECTION, arena);
}

struct fields *fields_difference(struct fields *a, struct fields *b, struct arena *arena)
{
    return combine(a, b, DIFFERENCE, arena);
}

static struct fields *filter(struct fields *a, const char *step, bool keeps, struct arena *arena)
{
    struct fields *result = NULL;

    if (!a)
        return NULL;
    if (a->is_member)
        fields_touch(&result, arena)->is_member = true;
    for (uint32_t i = 0; i < a->count; i++)
        if ((strcmp(a->children[i].step, step) == 0) == keeps)
            fields_add(&result, a->children[i].step, a->children[i].below, arena);
    return result;
}

struct fields *fields_without(struct fields *a, const char *step, struct arena *arena)
{
    return filter(a, step, false, arena);
}

struct fields *fields_only(struct fields *a, const char *step, struct arena *arena)
{
    return filter(a, step, true, arena);
}

bool fields_is_empty(const struct fields *fields)
{
    return !fields || (!fields->is_member && fields->count == 0);
}

bool fields_is_equal(const struct fields *a, const struct fields *b)
{
    if (fields_is_empty(a) || fields_is_empty(b))
        return fields_is_empty(a) && fields_is_empty(b);
    if (a->is_member != b->is_member || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (strcmp(a->children[i].step, b->children[i].step) != 0 ||
            !fields_is_equal(a->children[i].below, b->children[i].below))
            return false;
    return true;
}

struct fields *fields_below(const struct fields *fields, const char *step)
{
    if (!fields || !fields->count)
        return NULL;
    const struct fields_child wanted = {.step = step};
    const struct fields_child *found =
        bsearch(&wanted, fields->children, fields->count, sizeof *fields->children, child_compare);
    return found ? found->below : NULL;
}

/* --- Paths --- */

/* {"name":"app","port":80} as [name="app",port=80] */
static void show_keys(const char *json, struct strbuf *path)
{
    yyjson_doc *doc = yyjson_read(json, strlen(json), 0);
    yyjson_val *root = doc ? yyjson_doc_get_root(doc) : NULL;
    yyjson_obj_iter iter = {0};
    bool is_first = true;

    if (root)
        (void)yyjson_obj_iter_init(root, &iter);
    strbuf_addch(path, '[');
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter)); is_first = false) {
        char *value = yyjson_val_write(yyjson_obj_iter_get_val(key), 0, NULL);
        strbuf_addf(path, "%s%s=%s", is_first ? "" : ",", yyjson_get_str(key), value ? value : "");
        free(value);
    }
    strbuf_addch(path, ']');
    yyjson_doc_free(doc);
}

static void show_step(const char *step, struct strbuf *path)
{
    if (step[0] == 'f')
        strbuf_addf(path, ".%s", step + 2);
    else if (step[0] == 'k')
        show_keys(step + 2, path);
    else
        strbuf_addf(path, step[0] == 'v' ? "[=%s]" : "[%s]", step + 2);
}

/* The members of one level come before all that is below them. */
static void visit_each(const struct fields *fields, struct strbuf *path, fields_visit_fn visit, void *context)
{
    size_t len = path->len;

    for (int deep = 0; fields && deep < 2; deep++)
        for (uint32_t i = 0; i < fields->count; i++) {
            const struct fields *below = fields->children[i].below;
            show_step(fields->children[i].step, path);
            if (deep)
                visit_each(below, path, visit, context);
            else if (below->is_member)
                visit(context, path->text);
            path->len = len;
            path->text[len] = '\0';
        }
}

void fields_each(const struct fields *fields, fields_visit_fn visit, void *context)
{
    struct strbuf path;

    strbuf_init(&path, PATH_BYTES_MAX);
    visit_each(fields, &path, visit, context);
    strbuf_done(&path);
}
