/* SPDX-License-Identifier: Apache-2.0 */
#include "services/grouper/merge.h"

#include <string.h>

#include "base/macros.h"

/* What is not written is the same as what is written as nothing. */
static bool is_nothing(yyjson_mut_val *val)
{
    return !val || yyjson_mut_is_null(val) || (yyjson_mut_is_ctn(val) && unsafe_yyjson_get_len(val) == 0) ||
           (yyjson_mut_is_str(val) && !*yyjson_mut_get_str(val));
}

static bool is_same(yyjson_mut_val *a, yyjson_mut_val *b);

static bool holds_all_of(yyjson_mut_val *a, yyjson_mut_val *b)
{
    size_t i, max;
    yyjson_mut_val *key, *val;

    yyjson_mut_obj_foreach(a, i, max, key, val)
    {
        if (!is_same(val, yyjson_mut_obj_get(b, yyjson_mut_get_str(key))))
            return false;
    }
    return true;
}

/* Recursion is as deep as a pod group, which a schema bounds. */
static bool is_same(yyjson_mut_val *a, yyjson_mut_val *b)
{
    if (is_nothing(a) || is_nothing(b))
        return is_nothing(a) && is_nothing(b);
    if (yyjson_mut_is_obj(a) && yyjson_mut_is_obj(b))
        return holds_all_of(a, b) && holds_all_of(b, a);
    if (!yyjson_mut_is_arr(a) || !yyjson_mut_is_arr(b))
        return yyjson_mut_equals(a, b);
    if (yyjson_mut_arr_size(a) != yyjson_mut_arr_size(b))
        return false;
    for (size_t i = 0; i < yyjson_mut_arr_size(a); i++) {
        if (!is_same(yyjson_mut_arr_get(a, i), yyjson_mut_arr_get(b, i)))
            return false;
    }
    return true;
}

static void put(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, yyjson_mut_val *val)
{
    (void)yyjson_mut_obj_put(object, yyjson_mut_strcpy(doc, key), val);
}

/* `from`'s member takes the place of that in `spec`; nothing there means nothing here. */
static void keep(yyjson_mut_doc *doc, yyjson_mut_val *spec, yyjson_mut_val *from, const char *key)
{
    yyjson_mut_val *kept = yyjson_mut_obj_get(from, key);

    (void)yyjson_mut_obj_remove_key(spec, key);
    if (kept)
        put(doc, spec, key, yyjson_mut_val_mut_copy(doc, kept));
}

static bool merge_spec(yyjson_mut_doc *doc, yyjson_mut_val *group, yyjson_val *wanted)
{
    static const char *const of_others[] = {"queue", "markUnschedulable", "schedulingBackoff"};
    yyjson_mut_val *old = yyjson_mut_obj_get(group, "spec");
    yyjson_mut_val *spec = yyjson_val_mut_copy(doc, yyjson_obj_get(wanted, "spec"));
    yyjson_mut_val *topology = yyjson_mut_obj_get(spec, "topologyConstraint");

    for (size_t i = 0; i < ARRAY_LEN(of_others); i++)
        keep(doc, spec, old, of_others[i]);
    if (is_nothing(yyjson_mut_obj_get(topology, "topology")))
        keep(doc, spec, old, "topologyConstraint");
    if (is_same(old, spec))
        return false;
    put(doc, group, "spec", spec);
    return true;
}

/* The pairs that we want, beside those of others. */
static bool merge_pairs(yyjson_mut_doc *doc, yyjson_mut_val *meta, yyjson_val *wanted, const char *member,
                        const struct merge_keys *keys)
{
    yyjson_mut_val *pairs = yyjson_mut_obj_get(meta, member);
    bool is_changed = false;
    size_t i, max;
    yyjson_val *key, *val;

    if (!yyjson_mut_is_obj(pairs)) {
        pairs = yyjson_mut_obj(doc);
        put(doc, meta, member, pairs);
    }
    yyjson_obj_foreach(yyjson_obj_get(yyjson_obj_get(wanted, "metadata"), member), i, max, key, val)
    {
        const char *name = yyjson_get_str(key);
        yyjson_mut_val *found = yyjson_mut_obj_get(pairs, name);

        if (keys && (strcmp(name, keys->node_pool_label) == 0 || (strcmp(name, keys->queue_label) == 0 && found)))
            continue;
        if (found && yyjson_mut_equals_str(found, yyjson_get_str(val)))
            continue;
        put(doc, pairs, name, yyjson_val_mut_copy(doc, val));
        is_changed = true;
    }
    return is_changed;
}

static bool merge_owners(yyjson_mut_doc *doc, yyjson_mut_val *meta, yyjson_val *wanted)
{
    yyjson_val *of_wanted = yyjson_obj_get(yyjson_obj_get(wanted, "metadata"), "ownerReferences");
    yyjson_mut_val *owners = yyjson_val_mut_copy(doc, of_wanted);

    if (is_same(yyjson_mut_obj_get(meta, "ownerReferences"), owners))
        return false;
    put(doc, meta, "ownerReferences", owners);
    return true;
}

bool merge_group(yyjson_mut_doc *doc, yyjson_mut_val *group, yyjson_val *wanted, const struct merge_keys *keys)
{
    yyjson_mut_val *meta = yyjson_mut_obj_get(group, "metadata");
    bool is_changed = merge_spec(doc, group, wanted);

    is_changed |= merge_pairs(doc, meta, wanted, "labels", keys);
    is_changed |= merge_pairs(doc, meta, wanted, "annotations", NULL);
    is_changed |= merge_owners(doc, meta, wanted);
    return is_changed;
}
