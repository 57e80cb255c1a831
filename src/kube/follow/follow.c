/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Followers, and how several of them share one feed. A feed remembers of each object who has been told of it, so that a
 * follower that joins later, or whose filter lets an object through only now, is told that it was added. Who joins after
 * the first list makes the feed list again, which the others do not notice.
 */
#include "kube/follow/follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/follow/feed_internal.h"
#include "kube/follow/filter.h"

struct follower {
    struct feed *feed;
    uint32_t slot;
    struct follow_options options;
    struct filter filter;  // of a feed that others use, too
    uint32_t since;        // the first list that tells it everything
    bool is_synced;
};

/* What takers are told. A taker may end itself, and with it the feed, which is then freed by whoever called us. */

#define each_taker(feed, at)                                                                       \
    for (struct follower *const *at = (feed)->takers; at < (feed)->takers + FEED_TAKERS_MAX; at++) \
        if (*at)

static uint32_t bit_of(const struct follower *taker)
{
    return (uint32_t)1 << taker->slot;
}

static void tell(const struct follower *taker, struct seen_entry *entry, const struct follow_event *event)
{
    struct follow_event own = *event;
    bool was_told = entry->takers & bit_of(taker);
    bool is_there = event->change != FOLLOW_DELETED && filter_matches(&taker->filter, event->object);

    if (!was_told && !is_there)
        return;
    own.change = !is_there ? FOLLOW_DELETED : was_told ? FOLLOW_CHANGED : FOLLOW_ADDED;
    if (is_there)
        entry->takers |= bit_of(taker);
    else
        entry->takers &= ~bit_of(taker);
    taker->options.on_event(taker->options.arg, &own);
}

void feed_tell(struct feed *feed, struct seen_entry *entry, const struct follow_event *event)
{
    each_taker(feed, taker) tell(*taker, entry, event);
}

void feed_tell_newcomers(struct feed *feed, struct seen_entry *entry, const struct follow_event *event)
{
    each_taker(feed, taker)
    {
        if (!(entry->takers & bit_of(*taker)) && !(*taker)->is_synced)
            tell(*taker, entry, event);
    }
}

void feed_report(struct feed *feed, const struct err *err, nsec_t wait)
{
    each_taker(feed, taker)
    {
        if ((*taker)->options.on_problem)
            (*taker)->options.on_problem((*taker)->options.arg, err, wait);
    }
}

void feed_tell_synced(struct feed *feed)
{
    each_taker(feed, at)
    {
        struct follower *taker = *at;
        bool is_first = !taker->is_synced;

        if (is_first && taker->since > feed->round)
            continue;
        taker->is_synced = true;
        if (taker->options.on_synced)
            taker->options.on_synced(taker->options.arg, is_first);
    }
}

bool feed_has_newcomers(const struct feed *feed)
{
    each_taker(feed, taker)
    {
        if ((*taker)->since > feed->round)
            return true;
    }
    return false;
}

void feed_tell_standing(struct feed *feed)
{
    each_taker(feed, taker)
    {
        if ((*taker)->options.on_standing)
            (*taker)->options.on_standing((*taker)->options.arg, follower_standing(*taker));
    }
}

void feed_tell_older(struct feed *feed, const char *seen, const char *now)
{
    each_taker(feed, taker)
    {
        if ((*taker)->options.on_older && (*taker)->is_synced)
            (*taker)->options.on_older((*taker)->options.arg, seen, now);
    }
}

/* Joining and leaving. */

static bool is_same_kind(const struct kube_resource *one, const struct kube_resource *other)
{
    return strcmp(one->group, other->group) == 0 && strcmp(one->version, other->version) == 0 &&
           strcmp(one->plural, other->plural) == 0;
}

static bool has_room(const struct feed *feed)
{
    for (uint32_t i = 0; i < FEED_TAKERS_MAX; i++) {
        if (!feed->takers[i])
            return true;
    }
    return false;
}

/* Whole objects serve those who want metadata alone as well, and not the other way round. */
static struct feed *find_feed(const struct list *feeds, const struct kube_resource *resource, bool is_metadata_only)
{
    for (struct list_link *link = feeds->first; link; link = link->next) {
        struct feed *feed = list_item(link, struct feed, in_client);

        if (is_same_kind(feed->options.resource, resource) && has_room(feed) &&
            (is_metadata_only || !feed->options.is_metadata_only))
            return feed;
    }
    return NULL;
}

static void join(struct feed *feed, struct follower *taker)
{
    bool has_begun = feed->round > 0;

    while (feed->takers[taker->slot])
        taker->slot++;
    /* Somebody else may have had the place. */
    vec_foreach (&feed->seen.entries, entry)
        entry->takers &= ~bit_of(taker);
    feed->takers[taker->slot] = taker;
    taker->feed = feed;
    taker->since = feed->round + 1;
    if (has_begun)
        feed_list_again(feed);
}

struct follower *follower_new(struct kube_client *client, const struct follow_options *options)
{
    struct follower *taker = xcalloc(1, sizeof *taker);
    struct list *feeds = kube_client_feeds(client);
    bool is_shared = feeds && !options->namespace && !options->is_unshared &&
                     filter_parse(&taker->filter, options->label_selector, options->field_selector);
    struct feed *feed = is_shared ? find_feed(feeds, options->resource, options->is_metadata_only) : NULL;

    taker->options = *options;
    if (!is_shared)
        filter_done(&taker->filter);
    if (!feed) {
        feed = feed_new(client, &(struct feed_options){
                                    .resource = options->resource,
                                    .namespace = options->namespace,
                                    .label_selector = is_shared ? NULL : options->label_selector,
                                    .field_selector = is_shared ? NULL : options->field_selector,
                                    .is_metadata_only = options->is_metadata_only,
                                    .page_size = options->page_size,
                                    .streams_lists = options->streams_lists,
                                    .watch_s = options->watch_s,
                                    .idle_timeout = options->idle_timeout,
                                    .backoff_first = options->backoff_first,
                                    .backoff_max = options->backoff_max,
                                });
        feed->is_shared = is_shared;
        if (is_shared)
            list_push(feeds, &feed->in_client);
    }
    join(feed, taker);
    return taker;
}

void follower_free(struct follower *taker)
{
    if (!taker)
        return;
    struct feed *feed = taker->feed;
    bool is_last = true;

    feed->takers[taker->slot] = NULL;
    filter_done(&taker->filter);
    free(taker);
    each_taker(feed, other) is_last = false;
    if (!is_last)
        return;
    if (feed->is_shared)
        list_remove(kube_client_feeds(feed->client), &feed->in_client);
    feed_free(feed);
}

/* Asking. */

enum follow_standing follower_standing(const struct follower *follower)
{
    return follower->is_synced ? follower->feed->standing : FOLLOW_CUT;
}

bool follower_is_synced(const struct follower *follower)
{
    return follower->is_synced;
}

size_t follower_len(const struct follower *follower)
{
    size_t len = 0;

    vec_foreach (&follower->feed->seen.entries, entry)
        len += entry->key && (entry->takers & bit_of(follower));
    return len;
}

size_t follower_bytes(const struct follower *follower)
{
    return sizeof *follower + sizeof *follower->feed + seen_bytes(&follower->feed->seen) + follower->feed->version.cap;
}

uint64_t follower_lists(const struct follower *follower)
{
    return follower->feed->lists;
}

const char *follower_version(const struct follower *follower)
{
    return follower->feed->version.text;
}
