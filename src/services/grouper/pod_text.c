/* SPDX-License-Identifier: Apache-2.0 */
#include "services/grouper/pod_text.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/macros.h"
#include "objects/keys.h"
#include "text/json.h"

/* Members that are taken over, by the object they are in. */
static const char *const of_metadata[] = {
    "name", "namespace", "uid", "labels", "annotations", "ownerReferences", "deletionTimestamp"};
static const char *const of_spec[] = {"schedulerName", "priorityClassName", "nodeName"};

static void copy_members(yyjson_mut_doc *doc, yyjson_mut_val *to, yyjson_val *from, const char *const *keys,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        yyjson_val *val = yyjson_obj_get(from, keys[i]);

        if (val)
            (void)yyjson_mut_obj_add_val(doc, to, keys[i], yyjson_val_mut_copy(doc, val));
    }
}

/* Labels and annotations that others write while the pod is bound; no rule looks at them. */
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

static void hash_text(XXH3_state_t *state, const char *text)
{
    (void)XXH3_64bits_update(state, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void hash_pairs(XXH3_state_t *state, yyjson_val *pairs, bool has_owner)
{
    size_t i, max;
    yyjson_val *key, *val;

    yyjson_obj_foreach(pairs, i, max, key, val)
    {
        if (has_owner && is_of_binding(yyjson_get_str(key)))
            continue;
        hash_text(state, yyjson_get_str(key));
        hash_text(state, yyjson_get_str(val));
    }
    hash_text(state, "|");
}

static uint64_t digest_of(yyjson_val *pod, bool has_owner)
{
    yyjson_val *meta = yyjson_obj_get(pod, "metadata");
    yyjson_val *spec = yyjson_obj_get(pod, "spec");
    yyjson_val *labels = yyjson_obj_get(meta, "labels");
    XXH3_state_t state;
    uint64_t digest;
    size_t i, max;
    yyjson_val *owner;

    XXH3_INITSTATE(&state);
    (void)XXH3_64bits_reset(&state);
    hash_pairs(&state, labels, has_owner);
    hash_pairs(&state, yyjson_obj_get(meta, "annotations"), has_owner);
    yyjson_arr_foreach(yyjson_obj_get(meta, "ownerReferences"), i, max, owner)
    {
        hash_text(&state, yyjson_get_str(yyjson_obj_get(owner, "uid")));
    }
    hash_text(&state, yyjson_get_str(yyjson_obj_get(spec, "priorityClassName")));
    /* Only the leader of a LeaderWorkerSet is grouped otherwise once it has a node. */
    if (yyjson_obj_get(labels, KEY_LWS_WORKER_INDEX))
        hash_text(&state, yyjson_get_str(yyjson_obj_get(spec, "nodeName")));
    digest = XXH3_64bits_digest(&state);
    return digest ? digest : 1;
}

struct pod_text pod_text_of(yyjson_val *pod)
{
    yyjson_val *meta = yyjson_obj_get(pod, "metadata");
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);
    struct pod_text text = {.has_owner = yyjson_arr_size(yyjson_obj_get(meta, "ownerReferences")) > 0};

    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "v1");
    (void)yyjson_mut_obj_add_str(doc, root, "kind", "Pod");
    copy_members(doc, yyjson_mut_obj_add_obj(doc, root, "metadata"), meta, of_metadata, ARRAY_LEN(of_metadata));
    copy_members(doc, yyjson_mut_obj_add_obj(doc, root, "spec"), yyjson_obj_get(pod, "spec"), of_spec,
                 ARRAY_LEN(of_spec));
    text.text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &text.len);
    BUG_ON(!text.text);
    yyjson_mut_doc_free(doc);
    text.digest = digest_of(pod, text.has_owner);
    return text;
}
