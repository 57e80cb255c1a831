/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/list.h"
#include "base/strbuf.h"
#include "kube/client/backoff.h"
#include "kube/client/prober.h"
#include "kube/follow/follow.h"
#include "kube/follow/list.h"
#include "kube/follow/seen_internal.h"
#include "kube/follow/watch.h"
#include "net/loop.h"

/* More than a process has services. */
enum { FEED_TAKERS_MAX = 32 };

/* What is asked for; all is copied. */
struct feed_options {
    const struct kube_resource *resource;
    const char *namespace;  // NULL: all
    const char *label_selector;
    const char *field_selector;
    bool is_metadata_only;
    uint32_t page_size;
    bool streams_lists;
    uint32_t watch_s;
    nsec_t idle_timeout;
    nsec_t backoff_first;
    nsec_t backoff_max;
};

/*
 * The list and watch of a kind, for one follower or for several that share it. Each of these takers sees what its own
 * filter lets through, as if it had a watch of its own.
 */
struct feed {
    struct kube_client *client;
    struct feed_options options;
    struct follower *takers[FEED_TAKERS_MAX];  // NULL where there is none
    struct list_link in_client;                // of the feeds that others may join
    bool is_shared;
    char *namespace;
    char *label_selector;
    char *field_selector;
    struct seen seen;
    struct strbuf version;  // to go on from
    uint32_t round;         // of listing
    struct kube_list *list;
    struct kube_watch *watch;
    struct loop_timer timer;  // to the next attempt
    struct backoff backoff;
    struct kube_wait back;  // the server may come back before the backoff is over
    uint32_t quick_left;    // attempts that may be made as soon as it is
    nsec_t watch_started;
    uint64_t lists;
    bool needs_list;   // `version` is of no use
    bool is_listing;   // what comes now belongs to a new list
    bool can_stream;   // the server has not refused to list by streaming
    bool was_expired;  // and nothing has come since
    bool has_news;     // the watch has brought something
    enum follow_standing standing;
    uint32_t busy;  // nesting of calls back, which may free it
    bool is_freed;
};

struct feed *feed_new(struct kube_client *client, const struct feed_options *options);

/* Nothing is called back after this. */
void feed_free(struct feed *feed);

/* A taker has joined: everything has to be listed again, unless the first list has yet to begin. */
void feed_list_again(struct feed *feed);

/* The object is there, or is gone: tells of it if that is news. */
void feed_note(struct feed *feed, yyjson_val *object);
void feed_note_gone(struct feed *feed, yyjson_val *object);

/* The list is complete: what it did not show is gone. */
void feed_sweep(struct feed *feed);

/* What all takers are told. */
void feed_report(struct feed *feed, const struct err *err, nsec_t wait);
void feed_tell(struct feed *feed, struct seen_entry *entry, const struct follow_event *event);
void feed_tell_newcomers(struct feed *feed, struct seen_entry *entry, const struct follow_event *event);
void feed_tell_synced(struct feed *feed);
void feed_tell_standing(struct feed *feed);
void feed_tell_older(struct feed *feed, const char *seen, const char *now);

/* Whether somebody waits for a list that has yet to begin. */
bool feed_has_newcomers(const struct feed *feed);
