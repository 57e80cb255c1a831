/* SPDX-License-Identifier: Apache-2.0 */

/* What is news, by comparing with what was seen. */
#include <errno.h>
#include <string.h>

#include "kube/client/meta.h"
#include "kube/follow/feed_internal.h"

static struct follow_event event_of(enum follow_change change, const struct kube_meta *meta, yyjson_val *object)
{
    return (struct follow_event){
        .change = change,
        .namespace = meta->namespace,
        .name = meta->name,
        .uid = meta->uid,
        .object = object,
    };
}

/* Deletes the entry and tells of it; the object as it was last, or NULL. */
static void drop(struct feed *feed, struct seen_entry *entry, yyjson_val *object)
{
    char namespace[256];
    struct kube_meta meta = {
        .name = seen_names(entry, namespace, sizeof namespace),
        .namespace = namespace,
        .uid = entry->uid,
    };

    struct follow_event event = event_of(FOLLOW_DELETED, &meta, object);

    feed_tell(feed, entry, &event);
    seen_remove(&feed->seen, entry);
}

static bool read_meta(struct feed *feed, yyjson_val *object, struct kube_meta *ret_meta)
{
    struct err err;

    if (kube_meta_read(object, ret_meta))
        return true;
    (void)err_set(&err, -EINVAL, "%s: skipped an object without a name", feed->options.resource->plural);
    feed_report(feed, &err, 0);
    return false;
}

void feed_note(struct feed *feed, yyjson_val *object)
{
    struct kube_meta meta;

    if (!read_meta(feed, object, &meta))
        return;
    struct seen_entry *entry = seen_find(&feed->seen, meta.namespace, meta.name);
    uint64_t version = seen_version(meta.resource_version);

    if (entry && strcmp(entry->uid, meta.uid) != 0) {
        drop(feed, entry, NULL);
        entry = NULL;
        if (feed->is_freed)
            return;
    }
    bool is_new = !entry;

    if (is_new)
        entry = seen_add(&feed->seen, meta.namespace, meta.name, meta.uid);
    bool is_same = !is_new && entry->version == version;

    entry->version = version;
    entry->round = feed->round;
    struct follow_event event = event_of(FOLLOW_CHANGED, &meta, object);
    if (is_same)
        feed_tell_newcomers(feed, entry, &event);
    else
        feed_tell(feed, entry, &event);
}

void feed_note_gone(struct feed *feed, yyjson_val *object)
{
    struct kube_meta meta;

    if (!read_meta(feed, object, &meta))
        return;
    struct seen_entry *entry = seen_find(&feed->seen, meta.namespace, meta.name);

    /* The end of one that has been replaced already was told then. */
    if (entry && strcmp(entry->uid, meta.uid) == 0)
        drop(feed, entry, object);
}

void feed_sweep(struct feed *feed)
{
    uint32_t cursor = 0;

    for (struct seen_entry *entry; !feed->is_freed && (entry = seen_next_missed(&feed->seen, feed->round, &cursor));)
        drop(feed, entry, NULL);
}
