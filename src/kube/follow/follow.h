/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/err.h"
#include "kube/client/client.h"

/*
 * Follows all objects of a kind for ever: lists them, watches them, goes on from where a watch broke off, and lists
 * again when that is not possible. Whatever happens in between, whoever follows sees for every object: added, changed
 * any number of times, deleted; then perhaps added again. An object that was replaced by another of its name is first
 * deleted. What did not change in a new list is not told again.
 *
 * Of each object only its name, UID and version are kept, to tell after a new list what has changed and what is gone.
 *
 * Followers of one kind share one list and watch where their client does so (kube_client_options.shares_watches). Selectors
 * are then applied here; whoever follows sees no difference. A follower of one namespace, or with a selector that is not
 * understood here, has a watch of its own. One who wants whole objects does not share with those who want metadata alone.
 */
struct follower;

enum follow_change { FOLLOW_ADDED, FOLLOW_CHANGED, FOLLOW_DELETED };

struct follow_event {
    enum follow_change change;
    const char *namespace;  // "" for kinds that have none
    const char *name;
    const char *uid;
    yyjson_val *object;  // as it is now, or as it was last; NULL when it was found gone after a new list
};

/* All borrowed. May end the follower. */
typedef void (*follow_event_fn)(void *arg, const struct follow_event *event);

/* A list is complete: everything that was there has been told. The first time, and after each new list. */
typedef void (*follow_synced_fn)(void *arg, bool is_first);

/* Something went wrong and will be tried again, after `wait`, or was left out. For logs and metrics. */
typedef void (*follow_problem_fn)(void *arg, const struct err *err, nsec_t wait);

/* How what was told stands to what the server has. */
enum follow_standing {
    FOLLOW_CURRENT,   // the watch is open, or everything has just been listed
    FOLLOW_RENEWING,  // the watch came to its usual end and is opened again
    FOLLOW_CUT,       // it was cut, or refused: what was told may be old, and the more so the longer it lasts
};

/* The standing has changed. At first, before the first list, it is FOLLOW_CUT. May not end the follower. */
typedef void (*follow_standing_fn)(void *arg, enum follow_standing standing);

/*
 * The server shows an older state than it did: its version is lower than one that it has told. Its store was restored from
 * a backup, or a cache is stale. All that it has is told anew; what was written in between may be undone.
 */
typedef void (*follow_older_fn)(void *arg, const char *seen, const char *now);

struct follow_options {
    const struct kube_resource *resource;
    const char *namespace;  // NULL: all
    const char *label_selector;
    const char *field_selector;
    bool is_metadata_only;
    bool is_unshared;      // has a watch of its own: the server lets us see no more than the selectors say
    uint32_t page_size;    // of lists; 0: 500
    bool streams_lists;    // lets the server send what is there as a stream of events, if it can, instead of listing
    uint32_t watch_s;      // a watch is renewed after so long, up to twice that; 0: 300
    nsec_t idle_timeout;   // a watch is given up after such a silence; 0: 10 min
    nsec_t backoff_first;  // 0: 200 ms
    nsec_t backoff_max;    // 0: 30 s
    follow_event_fn on_event;
    follow_synced_fn on_synced;      // may be NULL
    follow_problem_fn on_problem;    // may be NULL
    follow_standing_fn on_standing;  // may be NULL
    follow_older_fn on_older;        // may be NULL
    void *arg;
};

/* Copies the options. Starts from the loop. */
struct follower *follower_new(struct kube_client *client, const struct follow_options *options);

/* Nothing is called back after this. */
void follower_free(struct follower *follower);

/* Everything has been told at least once. */
bool follower_is_synced(const struct follower *follower);

enum follow_standing follower_standing(const struct follower *follower);

/* For metrics: objects that are there, bytes that they cost, lists that were made. */
size_t follower_len(const struct follower *follower);
size_t follower_bytes(const struct follower *follower);
uint64_t follower_lists(const struct follower *follower);

/* The version that was seen last; "" before the first. Borrowed until the next event. */
const char *follower_version(const struct follower *follower);
