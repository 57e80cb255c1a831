/* SPDX-License-Identifier: Apache-2.0 */

/* What is news, by comparing with what was seen. */
#include <errno.h>
#include <string.h>

#include "kube/client/meta.h"
#include "kube/follow/follow_internal.h"

static void tell(struct follower *follower, enum follow_change change, const struct kube_meta *meta, yyjson_val *object)
{
    struct follow_event event = {
        .change = change,
        .namespace = meta->namespace,
        .name = meta->name,
        .uid = meta->uid,
        .object = object,
    };

    follower->options.on_event(follower->options.arg, &event);
}

/* Deletes the entry and tells of it; the object as it was last, or NULL. */
static void drop(struct follower *follower, struct seen_entry *entry, yyjson_val *object)
{
    char namespace[256];
    struct kube_meta meta = {
        .name = seen_names(entry, namespace, sizeof namespace),
        .namespace = namespace,
        .uid = entry->uid,
    };

    tell(follower, FOLLOW_DELETED, &meta, object);
    seen_remove(&follower->seen, entry);
}

void follower_report(struct follower *follower, const struct err *err, nsec_t wait)
{
    if (follower->options.on_problem)
        follower->options.on_problem(follower->options.arg, err, wait);
}

static bool read_meta(struct follower *follower, yyjson_val *object, struct kube_meta *ret_meta)
{
    struct err err;

    if (kube_meta_read(object, ret_meta))
        return true;
    (void)err_set(&err, -EINVAL, "%s: skipped an object without a name", follower->options.resource->plural);
    follower_report(follower, &err, 0);
    return false;
}

void follower_note(struct follower *follower, yyjson_val *object)
{
    struct kube_meta meta;

    if (!read_meta(follower, object, &meta))
        return;
    struct seen_entry *entry = seen_find(&follower->seen, meta.namespace, meta.name);
    uint64_t version = seen_version(meta.resource_version);

    if (entry && strcmp(entry->uid, meta.uid) != 0) {
        drop(follower, entry, NULL);
        entry = NULL;
        if (follower->is_freed)
            return;
    }
    bool is_new = !entry;

    if (is_new)
        entry = seen_add(&follower->seen, meta.namespace, meta.name, meta.uid);
    bool is_same = !is_new && entry->version == version;

    entry->version = version;
    entry->round = follower->round;
    if (!is_same)
        tell(follower, is_new ? FOLLOW_ADDED : FOLLOW_CHANGED, &meta, object);
}

void follower_note_gone(struct follower *follower, yyjson_val *object)
{
    struct kube_meta meta;

    if (!read_meta(follower, object, &meta))
        return;
    struct seen_entry *entry = seen_find(&follower->seen, meta.namespace, meta.name);

    /* The end of one that has been replaced already was told then. */
    if (entry && strcmp(entry->uid, meta.uid) == 0)
        drop(follower, entry, object);
}

void follower_sweep(struct follower *follower)
{
    uint32_t cursor = 0;

    for (struct seen_entry *entry;
         !follower->is_freed && (entry = seen_next_missed(&follower->seen, follower->round, &cursor));)
        drop(follower, entry, NULL);
}
