/* SPDX-License-Identifier: Apache-2.0 */
/* From objects to sets of fields. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "local/apply/fields.h"
#include "local/apply/tree_internal.h"

bool tree_is_empty(yyjson_mut_val *value)
{
    return !value || yyjson_mut_is_null(value) || (yyjson_mut_is_ctn(value) && yyjson_mut_get_len(value) == 0);
}

const char *tree_member_step(const char *name, struct arena *arena)
{
    size_t size = strlen(name) + sizeof "f:";
    char *step = arena_alloc(arena, size);

    (void)snprintf(step, size, "f:%s", name);
    return step;
}

bool tree_is_list(enum schema_merge merge)
{
    return merge == SCHEMA_LIST_KEYED || merge == SCHEMA_LIST_SET;
}

bool tree_is_object(enum schema_merge merge)
{
    return merge == SCHEMA_STRUCT || merge == SCHEMA_MAP;
}

/* --- Elements --- */

void tree_index(const struct shape *shape, yyjson_mut_val *list, struct tree_elements *elements, struct arena *arena)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);

    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
        const char *step = shape_step(shape, item, arena);
        if (!step)
            continue;
        struct tree_element *first = strmap_get(&elements->by_step, "", step);
        struct tree_element *element = ARENA_NEW(arena, struct tree_element);
        *element = (struct tree_element){.step = step, .value = item};
        vec_push(&elements->list, element);
        if (first)
            first->is_repeated = element->is_repeated = true;
        else
            (void)strmap_put(&elements->by_step, "", step, element);
    }
}

struct tree_element *tree_element_find(const struct tree_elements *elements, const char *step)
{
    return strmap_get(&elements->by_step, "", step);
}

void tree_elements_done(struct tree_elements *elements)
{
    vec_done(&elements->list);
    strmap_done(&elements->by_step);
}

/* --- The fields of an object --- */

static struct fields *member_only(struct arena *arena)
{
    struct fields *fields = NULL;

    fields_touch(&fields, arena)->is_member = true;
    return fields;
}

static struct fields *collect(const struct shape *shape, yyjson_mut_val *value, struct arena *arena);

static struct fields *collect_list(const struct shape *shape, yyjson_mut_val *list, struct arena *arena)
{
    struct shape items = shape_items(shape);
    struct tree_elements elements = {0};
    struct fields *fields = NULL;

    tree_index(shape, list, &elements, arena);
    vec_foreach (&elements.list, element) {
        struct fields *below = (*element)->is_repeated ? NULL : collect(&items, (*element)->value, arena);
        fields_touch(&below, arena)->is_member = true;
        fields_add(&fields, (*element)->step, below, arena);
    }
    tree_elements_done(&elements);
    return fields;
}

static struct fields *collect_object(const struct shape *shape, yyjson_mut_val *object, struct arena *arena)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    struct fields *fields = NULL;

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        yyjson_mut_val *value = yyjson_mut_obj_iter_get_val(key);
        bool is_named;
        struct shape member = shape_member(shape, yyjson_mut_get_str(key), &is_named);
        struct fields *below = collect(&member, value, arena);
        /* An empty object has no fields below that would tell that it is there. */
        if (!is_named || yyjson_mut_is_null(value) || (yyjson_mut_is_obj(value) && tree_is_empty(value)))
            fields_touch(&below, arena)->is_member = true;
        fields_add(&fields, tree_member_step(yyjson_mut_get_str(key), arena), below, arena);
    }
    return fields;
}

static struct fields *collect(const struct shape *shape, yyjson_mut_val *value, struct arena *arena)
{
    enum schema_merge merge = shape_merge(shape, value);

    if (tree_is_list(merge))
        return collect_list(shape, value, arena);
    return tree_is_object(merge) ? collect_object(shape, value, arena) : member_only(arena);
}

struct fields *tree_fields(const struct shape *shape, yyjson_mut_val *value, struct arena *arena)
{
    return fields_sort(collect(shape, value, arena), arena);
}

/* --- Two objects --- */

static struct tree_changes compare(const struct shape *shape, yyjson_mut_val *before, yyjson_mut_val *after,
                                   struct arena *arena);

static void note(struct tree_changes *changes, yyjson_mut_val *before, yyjson_mut_val *after, struct arena *arena)
{
    struct fields **at = !before ? &changes->added : !after ? &changes->removed : &changes->modified;

    fields_touch(at, arena)->is_member = true;
}

static void add_changes(struct tree_changes *changes, const char *step, struct tree_changes below, struct arena *arena)
{
    fields_add(&changes->added, step, below.added, arena);
    fields_add(&changes->modified, step, below.modified, arena);
    fields_add(&changes->removed, step, below.removed, arena);
}

static void compare_members(const struct shape *shape, yyjson_mut_val *before, yyjson_mut_val *after,
                            struct tree_changes *changes, struct arena *arena)
{
    yyjson_mut_val *sides[] = {before, after};
    bool is_named;

    for (int side = 0; side < 2; side++) {
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(sides[side]);
        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
            const char *name = yyjson_mut_get_str(key);
            yyjson_mut_val *other = yyjson_mut_obj_get(sides[!side], name);
            struct shape member = shape_member(shape, name, &is_named);
            if (side == 0)
                add_changes(changes, tree_member_step(name, arena),
                            compare(&member, yyjson_mut_obj_iter_get_val(key), other, arena), arena);
            else if (!other)
                add_changes(changes, tree_member_step(name, arena),
                            compare(&member, NULL, yyjson_mut_obj_iter_get_val(key), arena), arena);
        }
    }
}

static void compare_element(const struct shape *items, const struct tree_element *before,
                            const struct tree_element *after, struct tree_changes *changes, struct arena *arena)
{
    struct tree_changes below = {0};

    /* Elements that cannot be told apart are one field. */
    if ((before && before->is_repeated) || (after && after->is_repeated))
        note(&below, before ? before->value : NULL, after ? after->value : NULL, arena);
    else
        below = compare(items, before ? before->value : NULL, after ? after->value : NULL, arena);
    add_changes(changes, before ? before->step : after->step, below, arena);
}

static void compare_elements(const struct shape *shape, yyjson_mut_val *before, yyjson_mut_val *after,
                             struct tree_changes *changes, struct arena *arena)
{
    struct shape items = shape_items(shape);
    struct tree_elements old = {0}, new = {0};

    tree_index(shape, before, &old, arena);
    tree_index(shape, after, &new, arena);
    vec_foreach (&old.list, element)
        compare_element(&items, *element, tree_element_find(&new, (*element)->step), changes, arena);
    vec_foreach (&new.list, element)
        if (!tree_element_find(&old, (*element)->step))
            compare_element(&items, NULL, *element, changes, arena);
    tree_elements_done(&old);
    tree_elements_done(&new);
}

static struct tree_changes compare(const struct shape *shape, yyjson_mut_val *before, yyjson_mut_val *after,
                                   struct arena *arena)
{
    struct tree_changes changes = {0};
    enum schema_merge merge = shape_merge(shape, after && !yyjson_mut_is_null(after) ? after : before);
    bool is_leaf = tree_is_empty(before) && tree_is_empty(after);

    if (before && after && yyjson_mut_equals(before, after))
        return changes;
    is_leaf |= !tree_is_list(merge) && !tree_is_object(merge);
    /* Of two types, one value replaces the other. */
    is_leaf |= before && after && !yyjson_mut_is_null(before) && !yyjson_mut_is_null(after) &&
               shape_merge(shape, before) != merge;
    if (is_leaf) {
        note(&changes, before, after, arena);
        return changes;
    }
    if (tree_is_list(merge))
        compare_elements(shape, before, after, &changes, arena);
    else
        compare_members(shape, before, after, &changes, arena);
    if (!before || !after)
        note(&changes, before, after, arena);
    return changes;
}

struct tree_changes tree_compare(const struct shape *shape, yyjson_mut_val *before, yyjson_mut_val *after,
                                 struct arena *arena)
{
    struct tree_changes changes = {0};

    compare_members(shape, before, after, &changes, arena);
    changes.added = fields_sort(changes.added, arena);
    changes.modified = fields_sort(changes.modified, arena);
    changes.removed = fields_sort(changes.removed, arena);
    return changes;
}
