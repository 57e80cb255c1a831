/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects are merged member by member, lists by the rules of patch_lists.h. Elements are found by a map from their keys, so
 * that a long list costs no more than it is long.
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "local/api/patch.h"
#include "local/api/patch_lists.h"

#define ORDER_PREFIX "$setElementOrder/"
#define REMOVE_PREFIX "$deleteFromPrimitiveList/"

enum directive { DIRECTIVE_NONE, DIRECTIVE_REPLACE, DIRECTIVE_DELETE, DIRECTIVE_UNKNOWN };

struct merge {
    yyjson_mut_doc *doc;
    struct err *err;
};

struct elements VEC_OF(yyjson_mut_val *);

static enum patch_result merge_object(struct merge *merge, const char *name, yyjson_mut_val *target,
                                      yyjson_mut_val *patch);

/* --- Directives --- */

static bool is_directive(const char *member)
{
    return member[0] == '$' && (strcmp(member, "$patch") == 0 || strcmp(member, "$retainKeys") == 0 ||
                                strncmp(member, ORDER_PREFIX, strlen(ORDER_PREFIX)) == 0 ||
                                strncmp(member, REMOVE_PREFIX, strlen(REMOVE_PREFIX)) == 0);
}

static enum directive directive_of(yyjson_mut_val *patch)
{
    yyjson_mut_val *directive = yyjson_mut_is_obj(patch) ? yyjson_mut_obj_get(patch, "$patch") : NULL;

    if (!directive || yyjson_mut_equals_str(directive, "merge"))
        return DIRECTIVE_NONE;
    if (yyjson_mut_equals_str(directive, "replace"))
        return DIRECTIVE_REPLACE;
    return yyjson_mut_equals_str(directive, "delete") ? DIRECTIVE_DELETE : DIRECTIVE_UNKNOWN;
}

static enum patch_result malformed(struct merge *merge, const char *what, const char *name)
{
    (void)err_set(merge->err, -1, "strategic merge patch: %s in \"%s\"", what, name);
    return PATCH_MALFORMED;
}

/* Takes directives, members that are null, and list elements that only direct out of a value that is new. */
static void strip(yyjson_mut_val *value)
{
    if (yyjson_mut_is_obj(value)) {
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(value);
        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
            yyjson_mut_val *member = yyjson_mut_obj_iter_get_val(key);
            if (is_directive(yyjson_mut_get_str(key)) || yyjson_mut_is_null(member))
                yyjson_mut_obj_iter_remove(&iter);
            else
                strip(member);
        }
    } else if (yyjson_mut_is_arr(value)) {
        yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(value);
        for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));) {
            if (directive_of(item) != DIRECTIVE_NONE)
                yyjson_mut_arr_iter_remove(&iter);
            else
                strip(item);
        }
    }
}

/* The list that belongs to a list by a directive: "$setElementOrder/env" for "env". */
static yyjson_mut_val *list_beside(yyjson_mut_val *patch, const char *prefix, const char *name)
{
    char member[128];
    int len = snprintf(member, sizeof member, "%s%s", prefix, name);

    if (len < 0 || (size_t)len >= sizeof member)
        return NULL;
    yyjson_mut_val *list = yyjson_mut_obj_get(patch, member);
    return yyjson_mut_is_arr(list) ? list : NULL;
}

/* --- Elements and their keys --- */

/* What tells an element apart, as text; NULL without it. Borrowed from the document. */
static const char *key_of(struct merge *merge, const struct patch_list *rule, yyjson_mut_val *element)
{
    yyjson_mut_val *key = rule->key ? yyjson_mut_obj_get(element, rule->key) : element;

    if (yyjson_mut_is_str(key))
        return yyjson_mut_get_str(key);
    if (!yyjson_mut_is_num(key) && !yyjson_mut_is_bool(key))
        return NULL;
    char *text = yyjson_mut_val_write(key, YYJSON_WRITE_NOFLAG, NULL);
    yyjson_mut_val *kept = yyjson_mut_strcpy(merge->doc, text ? text : "");
    free(text);
    return yyjson_mut_get_str(kept);
}

static void add_all(struct elements *elements, yyjson_mut_val *list)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(list);

    for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));)
        vec_push(elements, item);
}

/* Where each key is, counted from 1; the first of several. */
static void index_by_key(struct merge *merge, const struct patch_list *rule, const struct elements *elements,
                         struct strmap *places)
{
    for (uint32_t i = 0; i < elements->len; i++) {
        const char *key = key_of(merge, rule, elements->items[i]);
        if (key && !strmap_get(places, "", key))
            (void)strmap_put(places, "", key, (void *)(uintptr_t)(i + 1));
    }
}

static uintptr_t place_of(struct merge *merge, const struct patch_list *rule, const struct strmap *places,
                          yyjson_mut_val *element)
{
    const char *key = key_of(merge, rule, element);

    return key ? (uintptr_t)strmap_get(places, "", key) : 0;
}

static void fill(yyjson_mut_val *list, const struct elements *elements)
{
    yyjson_mut_arr_clear(list);
    vec_foreach (elements, element)
        if (*element)
            yyjson_mut_arr_append(list, *element);
}

/* --- The order of a list --- */

/* A patch without an order of its own has that of its elements. */
static yyjson_mut_val *order_of(struct merge *merge, const struct patch_list *rule, const struct elements *patch)
{
    yyjson_mut_val *order = yyjson_mut_arr(merge->doc);

    vec_foreach (patch, element) {
        yyjson_mut_val *key = rule->key ? yyjson_mut_obj_get(*element, rule->key) : *element;
        yyjson_mut_val *kept = yyjson_mut_val_mut_copy(merge->doc, key);

        if (kept && rule->key)
            (void)yyjson_mut_obj_add_val(merge->doc, yyjson_mut_arr_add_obj(merge->doc, order), rule->key, kept);
        else if (kept)
            (void)yyjson_mut_arr_append(order, kept);
    }
    return order;
}

/*
 * Elements that the patch orders come in its order, the others in the order that they had; where both lists meet, an
 * element that the patch does not name goes first if it stood before the other one.
 */
static void put_in_order(struct merge *merge, const struct patch_list *rule, struct elements *elements,
                         const struct strmap *places_before, yyjson_mut_val *order)
{
    struct elements wanted = {0}, ordered = {0}, others = {0}, result = {0};
    struct strmap places = {0};

    add_all(&wanted, order);
    index_by_key(merge, rule, elements, &places);
    vec_foreach (&wanted, name) {
        uintptr_t place = place_of(merge, rule, &places, *name);
        if (place && elements->items[place - 1]) {
            vec_push(&ordered, elements->items[place - 1]);
            elements->items[place - 1] = NULL;
        }
    }
    vec_foreach (elements, element)
        if (*element)
            vec_push(&others, *element);

    uint32_t next = 0;
    vec_foreach (&ordered, element) {
        uintptr_t place = place_of(merge, rule, places_before, *element);
        for (; next < others.len; next++) {
            uintptr_t other = place_of(merge, rule, places_before, others.items[next]);
            if (!place || !other || other > place)
                break;
            vec_push(&result, others.items[next]);
        }
        vec_push(&result, *element);
    }
    for (; next < others.len; next++)
        vec_push(&result, others.items[next]);

    vec_done(elements);
    *elements = result;
    vec_done(&wanted);
    vec_done(&ordered);
    vec_done(&others);
    strmap_done(&places);
}

/* --- Lists --- */

/* One element of the patch, in a list of objects. */
static enum patch_result merge_element(struct merge *merge, const struct patch_list *rule, struct elements *elements,
                                       struct strmap *places, yyjson_mut_val *element)
{
    enum directive directive = directive_of(element);

    if (!yyjson_mut_is_obj(element))
        return malformed(merge, "an element that is not an object", rule->name);
    if (directive == DIRECTIVE_UNKNOWN)
        return malformed(merge, "an unknown $patch", rule->name);
    const char *key = key_of(merge, rule, element);
    if (!key)
        return malformed(merge, "an element without its merge key", rule->name);
    uintptr_t place = (uintptr_t)strmap_get(places, "", key);
    yyjson_mut_val *target = place ? elements->items[place - 1] : NULL;
    if (directive == DIRECTIVE_DELETE) {
        if (target)
            elements->items[place - 1] = NULL;
        return PATCH_DONE;
    }
    if (target)
        return merge_object(merge, rule->name, target, element);
    strip(element);
    vec_push(elements, element);
    (void)strmap_put(places, "", key, (void *)(uintptr_t)elements->len);
    return PATCH_DONE;
}

static void add_value(struct merge *merge, const struct patch_list *rule, struct elements *elements,
                      struct strmap *places, yyjson_mut_val *value)
{
    const char *key = key_of(merge, rule, value);

    if (!key || strmap_get(places, "", key))
        return;
    vec_push(elements, value);
    (void)strmap_put(places, "", key, (void *)(uintptr_t)elements->len);
}

/* The patch replaces the whole list when one of its elements says so. */
static bool replaces_list(const struct elements *patch)
{
    vec_foreach (patch, element)
        if (directive_of(*element) == DIRECTIVE_REPLACE)
            return true;
    return false;
}

/* `patch`, `order` and `removed` may be NULL. */
static enum patch_result merge_list(struct merge *merge, const struct patch_list *rule, yyjson_mut_val *target,
                                    yyjson_mut_val *patch, yyjson_mut_val *order, yyjson_mut_val *removed)
{
    struct elements elements = {0}, changes = {0}, gone = {0};
    struct strmap places = {0}, places_before = {0};
    enum patch_result result = PATCH_DONE;

    add_all(&elements, target);
    if (patch)
        add_all(&changes, patch);
    if (removed)
        add_all(&gone, removed);
    if (replaces_list(&changes)) {
        strip(patch);
        vec_clear(&elements);
        add_all(&elements, patch);
        vec_clear(&changes);
    }
    index_by_key(merge, rule, &elements, &places);
    index_by_key(merge, rule, &elements, &places_before);
    if (!order && changes.len > 0)
        order = order_of(merge, rule, &changes);
    vec_foreach (&changes, change) {
        if (rule->key)
            result = merge_element(merge, rule, &elements, &places, *change);
        else
            add_value(merge, rule, &elements, &places, *change);
        if (result != PATCH_DONE)
            break;
    }
    vec_foreach (&gone, value) {
        uintptr_t place = place_of(merge, rule, &places, *value);
        if (place)
            elements.items[place - 1] = NULL;
    }
    if (order)
        put_in_order(merge, rule, &elements, &places_before, order);
    fill(target, &elements);

    vec_done(&elements);
    vec_done(&changes);
    vec_done(&gone);
    strmap_done(&places);
    strmap_done(&places_before);
    return result;
}

/* --- Objects --- */

static void put(struct merge *merge, yyjson_mut_val *target, const char *member, yyjson_mut_val *value)
{
    yyjson_mut_obj_put(target, yyjson_mut_strcpy(merge->doc, member), value);
}

static enum patch_result merge_member(struct merge *merge, const char *name, yyjson_mut_val *target,
                                      yyjson_mut_val *patch, const char *member, yyjson_mut_val *value)
{
    yyjson_mut_val *old = yyjson_mut_obj_get(target, member);
    const struct patch_list *rule = yyjson_mut_is_arr(value) ? patch_list_find(name, member) : NULL;
    enum directive directive = directive_of(value);

    if (directive == DIRECTIVE_UNKNOWN)
        return malformed(merge, "an unknown $patch", member);
    if (yyjson_mut_is_null(value) || directive == DIRECTIVE_DELETE) {
        yyjson_mut_obj_remove_key(target, member);
        return PATCH_DONE;
    }
    if (yyjson_mut_is_obj(value) && yyjson_mut_is_obj(old) && directive == DIRECTIVE_NONE)
        return merge_object(merge, member, old, value);
    if (rule && yyjson_mut_is_arr(old))
        return merge_list(merge, rule, old, value, list_beside(patch, ORDER_PREFIX, member),
                          list_beside(patch, REMOVE_PREFIX, member));
    strip(value);
    put(merge, target, member, value);
    return PATCH_DONE;
}

/* A directive about a list that the patch itself does not have. */
static enum patch_result direct_list(struct merge *merge, const char *name, yyjson_mut_val *target,
                                     yyjson_mut_val *patch, const char *list)
{
    const struct patch_list *rule = patch_list_find(name, list);
    yyjson_mut_val *old = yyjson_mut_obj_get(target, list);

    if (!rule || !yyjson_mut_is_arr(old) || yyjson_mut_obj_get(patch, list))
        return PATCH_DONE;
    return merge_list(merge, rule, old, NULL, list_beside(patch, ORDER_PREFIX, list),
                      list_beside(patch, REMOVE_PREFIX, list));
}

static enum patch_result follow_directive(struct merge *merge, const char *name, yyjson_mut_val *target,
                                          yyjson_mut_val *patch, const char *member)
{
    if (strncmp(member, ORDER_PREFIX, strlen(ORDER_PREFIX)) == 0)
        return direct_list(merge, name, target, patch, member + strlen(ORDER_PREFIX));
    if (strncmp(member, REMOVE_PREFIX, strlen(REMOVE_PREFIX)) == 0)
        return direct_list(merge, name, target, patch, member + strlen(REMOVE_PREFIX));
    return PATCH_DONE;
}

/* Only the members named stay; every member of the patch has to be among them. */
static enum patch_result retain(struct merge *merge, const char *name, yyjson_mut_val *target, yyjson_mut_val *patch)
{
    yyjson_mut_val *keys = yyjson_mut_obj_get(patch, "$retainKeys");
    struct strmap kept = {0};
    yyjson_mut_val *key;

    if (!keys)
        return PATCH_DONE;
    if (!yyjson_mut_is_arr(keys))
        return malformed(merge, "a $retainKeys that is not a list", name);
    yyjson_mut_arr_iter named = yyjson_mut_arr_iter_with(keys);
    while ((key = yyjson_mut_arr_iter_next(&named)))
        if (yyjson_mut_is_str(key))
            (void)strmap_put(&kept, "", yyjson_mut_get_str(key), key);
    yyjson_mut_obj_iter members = yyjson_mut_obj_iter_with(target);
    while ((key = yyjson_mut_obj_iter_next(&members)))
        if (!strmap_get(&kept, "", yyjson_mut_get_str(key)))
            yyjson_mut_obj_iter_remove(&members);
    strmap_done(&kept);
    return PATCH_DONE;
}

static enum patch_result merge_object(struct merge *merge, const char *name, yyjson_mut_val *target,
                                      yyjson_mut_val *patch)
{
    enum patch_result result = PATCH_DONE;
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(patch);

    for (yyjson_mut_val *key; result == PATCH_DONE && (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *member = yyjson_mut_get_str(key);
        /* A copy: what moves into the target would break the walk over the patch. */
        if (is_directive(member))
            result = follow_directive(merge, name, target, patch, member);
        else
            result = merge_member(merge, name, target, patch, member,
                                  yyjson_mut_val_mut_copy(merge->doc, yyjson_mut_obj_iter_get_val(key)));
    }
    return result == PATCH_DONE ? retain(merge, name, target, patch) : result;
}

enum patch_result patch_strategic(yyjson_mut_doc *doc, yyjson_val *patch, struct err *err)
{
    struct merge merge = {.doc = doc, .err = err};
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);

    if (!yyjson_is_obj(patch) || !yyjson_mut_is_obj(root)) {
        (void)err_set(err, -1, "a strategic merge patch must be an object");
        return PATCH_MALFORMED;
    }
    yyjson_mut_val *changes = yyjson_val_mut_copy(doc, patch);
    switch (directive_of(changes)) {
    case DIRECTIVE_UNKNOWN:
        return malformed(&merge, "an unknown $patch", "the object");
    case DIRECTIVE_DELETE:
        yyjson_mut_obj_clear(root);
        return PATCH_DONE;
    case DIRECTIVE_REPLACE:
        strip(changes);
        yyjson_mut_doc_set_root(doc, changes);
        return PATCH_DONE;
    case DIRECTIVE_NONE:
        return merge_object(&merge, "", root, changes);
    }
    return PATCH_DONE;
}
