/* SPDX-License-Identifier: Apache-2.0 */
#include "services/grouper/pod_text.h"

#include <string.h>

#include "base/hash.h"
#include "base/macros.h"
#include "kube/client/meta.h"
#include "objects/keys.h"
#include "text/json.h"

/* Members that are taken over, by the object they are in. */
static const char *const of_metadata[] = {"name", "namespace", "uid", "ownerReferences", "deletionTimestamp"};
static const char *const pairs_of_metadata[] = {"labels", "annotations"};
static const char *const of_spec[] = {"schedulerName", "priorityClassName", "nodeName"};

/* Labels and annotations that others write while the pod is bound. No rule looks at them, and its group is the same
 * whether it is made before or after. */
static bool is_of_binding(const char *key)
{
    static const char *const prefixes[] = {KEY_GPU_GROUP, "received-resource-type", KEY_NUMA_OBSERVED,
                                           KEY_NUMA_PREDICTED};

    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        if (strncmp(key, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return false;
}

static yyjson_mut_val *copy_pairs(yyjson_mut_doc *doc, yyjson_val *pairs)
{
    yyjson_mut_val *copy = yyjson_mut_obj(doc);
    size_t i, max;
    yyjson_val *key, *val;

    yyjson_obj_foreach(pairs, i, max, key, val)
    {
        if (!is_of_binding(yyjson_get_str(key)))
            (void)yyjson_mut_obj_add(copy, yyjson_val_mut_copy(doc, key), yyjson_val_mut_copy(doc, val));
    }
    return copy;
}

static void copy_members(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *from, const char *const *keys,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        yyjson_val *val = yyjson_obj_get(from, keys[i]);

        if (val)
            (void)yyjson_mut_obj_add_val(doc, to, keys[i], yyjson_val_mut_copy(doc, val));
    }
}

static uint64_t hash_text(uint64_t seed, const char *text)
{
    return hash_bytes(text ? text : "", text ? strlen(text) + 1 : 1, seed);
}

static uint64_t hash_pairs(uint64_t seed, yyjson_val *pairs)
{
    size_t i, max;
    yyjson_val *key, *val;

    yyjson_obj_foreach(pairs, i, max, key, val)
    {
        if (is_of_binding(yyjson_get_str(key)))
            continue;
        seed = hash_text(hash_text(seed, yyjson_get_str(key)), yyjson_get_str(val));
    }
    return hash_text(seed, "|");
}

uint64_t pod_digest_of(yyjson_val *pod)
{
    yyjson_val *meta = yyjson_obj_get(pod, "metadata");
    yyjson_val *spec = yyjson_obj_get(pod, "spec");
    yyjson_val *labels = yyjson_obj_get(meta, "labels");
    uint64_t digest = hash_pairs(hash_pairs(0, labels), yyjson_obj_get(meta, "annotations"));
    size_t i, max;
    yyjson_val *owner;

    yyjson_arr_foreach(yyjson_obj_get(meta, "ownerReferences"), i, max, owner)
    {
        digest = hash_text(digest, yyjson_get_str(yyjson_obj_get(owner, "uid")));
    }
    digest = hash_text(digest, yyjson_get_str(yyjson_obj_get(spec, "priorityClassName")));
    /* Only the leader of a LeaderWorkerSet is grouped otherwise once it has a node. */
    if (yyjson_obj_get(labels, KEY_LWS_WORKER_INDEX))
        digest = hash_text(digest, yyjson_get_str(yyjson_obj_get(spec, "nodeName")));
    return digest ? digest : 1;
}

struct pod_text pod_text_of(yyjson_val *pod)
{
    yyjson_val *meta = yyjson_obj_get(pod, "metadata");
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    struct pod_text text = {0};

    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "v1");
    (void)yyjson_mut_obj_add_str(doc, root, "kind", "Pod");
    yyjson_mut_val *to = yyjson_mut_obj_add_obj(doc, root, "metadata");
    copy_members(doc, to, meta, of_metadata, ARRAY_LEN(of_metadata));
    for (size_t i = 0; i < ARRAY_LEN(pairs_of_metadata); i++) {
        yyjson_val *pairs = yyjson_obj_get(meta, pairs_of_metadata[i]);

        if (pairs)
            (void)yyjson_mut_obj_add_val(doc, to, pairs_of_metadata[i], copy_pairs(doc, pairs));
    }
    copy_members(doc, yyjson_mut_obj_add_obj(doc, root, "spec"), yyjson_obj_get(pod, "spec"), of_spec,
                 ARRAY_LEN(of_spec));
    text.text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &text.len);
    BUG_ON(!text.text);
    yyjson_mut_doc_free(doc);
    return text;
}

static bool is_over(yyjson_val *pod)
{
    const char *phase = kube_text(pod, "status", "phase");

    return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

struct pod_stand pod_stand_of(yyjson_val *pod)
{
    yyjson_val *meta = yyjson_obj_get(pod, "metadata");
    struct pod_stand stand = {
        .has_owner = yyjson_arr_size(yyjson_obj_get(meta, "ownerReferences")) > 0,
        .has_group = yyjson_obj_get(yyjson_obj_get(meta, "annotations"), KEY_POD_GROUP),
        .is_bound = *kube_text(pod, "spec", "nodeName") || is_over(pod),
    };
    size_t i, max;
    yyjson_val *condition;

    yyjson_arr_foreach(yyjson_obj_get(yyjson_obj_get(pod, "status"), "conditions"), i, max, condition)
    {
        if (strcmp(kube_text(condition, "type"), "PodScheduled") == 0)
            stand.is_unschedulable = strcmp(kube_text(condition, "status"), "False") == 0;
    }
    return stand;
}
