/* SPDX-License-Identifier: Apache-2.0 */
/* From objects and sets of fields to objects. */
#include <string.h>

#include "base/arena.h"
#include "local/apply/fields.h"
#include "local/apply/tree_internal.h"

/* --- Merging --- */

static yyjson_mut_val *merge_member_of(const struct shape *shape, const char *name, yyjson_mut_val *live,
                                       yyjson_mut_val *config, yyjson_mut_doc *doc, struct arena *arena)
{
    bool is_named;
    struct shape member = shape_member(shape, name, &is_named);

    return tree_merge(&member, live, config, doc, arena);
}

static yyjson_mut_val *merge_object(const struct shape *shape, yyjson_mut_val *live, yyjson_mut_val *config,
                                    yyjson_mut_doc *doc, struct arena *arena)
{
    yyjson_mut_val *merged = yyjson_mut_obj(doc);
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(live);

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(key);
        yyjson_mut_obj_add(merged, yyjson_mut_strcpy(doc, name),
                           merge_member_of(shape, name, yyjson_mut_obj_iter_get_val(key),
                                           yyjson_mut_obj_get(config, name), doc, arena));
    }
    iter = yyjson_mut_obj_iter_with(config);
    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(key);
        if (!yyjson_mut_obj_get(live, name))
            yyjson_mut_obj_add(merged, yyjson_mut_strcpy(doc, name),
                               merge_member_of(shape, name, NULL, yyjson_mut_obj_iter_get_val(key), doc, arena));
    }
    return merged;
}

struct list_merge {
    struct shape items;
    struct tree_elements live, config;
    uint32_t next;  // of the configuration
    yyjson_mut_val *merged;
    yyjson_mut_doc *doc;
    struct arena *arena;
};

/* Takes elements of the configuration, each merged with its live one, up to the one with the step; all for NULL. */
static void take_config(struct list_merge *merge, const char *until)
{
    while (merge->next < merge->config.list.len) {
        struct tree_element *config = merge->config.list.items[merge->next++];
        struct tree_element *live = tree_element_find(&merge->live, config->step);
        yyjson_mut_arr_append(merge->merged, tree_merge(&merge->items, live && !live->is_repeated ? live->value : NULL,
                                                        config->value, merge->doc, merge->arena));
        if (until && strcmp(config->step, until) == 0)
            return;
    }
}

/* The next element of the configuration that is live too. */
static const char *next_shared(const struct list_merge *merge)
{
    for (uint32_t i = merge->next; i < merge->config.list.len; i++)
        if (tree_element_find(&merge->live, merge->config.list.items[i]->step))
            return merge->config.list.items[i]->step;
    return NULL;
}

/*
 * The elements of the configuration come in its order. The others stay where they are among those that both lists have in
 * the same order.
 */
static yyjson_mut_val *merge_list(const struct shape *shape, yyjson_mut_val *live, yyjson_mut_val *config,
                                  yyjson_mut_doc *doc, struct arena *arena)
{
    struct list_merge merge = {.items = shape_items(shape), .merged = yyjson_mut_arr(doc), .doc = doc, .arena = arena};

    tree_index(shape, live, &merge.live, arena);
    tree_index(shape, config, &merge.config, arena);
    const char *shared = next_shared(&merge);
    vec_foreach (&merge.live.list, element) {
        if (!tree_element_find(&merge.config, (*element)->step)) {
            yyjson_mut_arr_append(merge.merged, yyjson_mut_val_mut_copy(doc, (*element)->value));
        } else if (shared && strcmp(shared, (*element)->step) == 0) {
            take_config(&merge, shared);
            shared = next_shared(&merge);
        }
    }
    take_config(&merge, NULL);
    tree_elements_done(&merge.live);
    tree_elements_done(&merge.config);
    return merge.merged;
}

yyjson_mut_val *tree_merge(const struct shape *shape, yyjson_mut_val *live, yyjson_mut_val *config, yyjson_mut_doc *doc,
                           struct arena *arena)
{
    if (!config || (yyjson_mut_is_null(config) && yyjson_mut_is_ctn(live) && !tree_is_empty(live)))
        return yyjson_mut_val_mut_copy(doc, live);
    enum schema_merge merge = shape_merge(shape, config);
    if (!live || shape_merge(shape, live) != merge || (tree_is_empty(live) && tree_is_empty(config)))
        return yyjson_mut_val_mut_copy(doc, config);
    if (tree_is_object(merge))
        return merge_object(shape, live, config, doc, arena);
    return tree_is_list(merge) ? merge_list(shape, live, config, doc, arena) : yyjson_mut_val_mut_copy(doc, config);
}

/* --- Removing --- */

static yyjson_mut_val *remove_elements(const struct shape *shape, yyjson_mut_val *list, const struct fields *fields,
                                       yyjson_mut_doc *doc, struct arena *arena)
{
    struct shape items = shape_items(shape);
    yyjson_mut_val *kept = yyjson_mut_arr(doc);
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);

    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
        const char *step = shape_step(shape, item, arena);
        const struct fields *below = step ? fields_below(fields, step) : NULL;
        if (below && below->is_member)
            continue;
        yyjson_mut_arr_append(kept, tree_without(&items, item, below, doc, arena));
    }
    return kept;
}

static yyjson_mut_val *remove_members(const struct shape *shape, yyjson_mut_val *object, const struct fields *fields,
                                      yyjson_mut_doc *doc, struct arena *arena)
{
    yyjson_mut_val *kept = yyjson_mut_obj(doc);
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(key);
        const struct fields *below = fields_below(fields, tree_member_step(name, arena));
        bool is_named;
        struct shape member = shape_member(shape, name, &is_named);
        if (below && below->is_member)
            continue;
        yyjson_mut_obj_add(kept, yyjson_mut_strcpy(doc, name),
                           tree_without(&member, yyjson_mut_obj_iter_get_val(key), below, doc, arena));
    }
    return kept;
}

yyjson_mut_val *tree_without(const struct shape *shape, yyjson_mut_val *value, const struct fields *fields,
                             yyjson_mut_doc *doc, struct arena *arena)
{
    enum schema_merge merge = shape_merge(shape, value);

    if (fields_is_empty(fields))
        return yyjson_mut_val_mut_copy(doc, value);
    if (tree_is_list(merge))
        return remove_elements(shape, value, fields, doc, arena);
    return tree_is_object(merge) ? remove_members(shape, value, fields, doc, arena)
                                 : yyjson_mut_val_mut_copy(doc, value);
}

/* --- Sets alone --- */

struct fields *tree_with_parents(const struct shape *shape, struct fields *fields, struct arena *arena)
{
    struct fields *result = NULL;

    if (!fields)
        return NULL;
    if (fields->is_member)
        fields_touch(&result, arena)->is_member = true;
    for (uint32_t i = 0; i < fields->count; i++) {
        const struct fields_child *child = &fields->children[i];
        bool is_named = false;
        struct shape below =
            child->step[0] == 'f' ? shape_member(shape, child->step + 2, &is_named) : shape_items(shape);
        struct fields *complete = tree_with_parents(&below, child->below, arena);
        if (is_named && !complete->is_member) {
            struct fields *node = ARENA_NEW(arena, struct fields);
            *node = *complete;
            node->is_member = true;
            complete = node;
        }
        fields_add(&result, child->step, complete, arena);
    }
    return result;
}
