/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/strbuf.h"
#include "kube/client/backoff.h"
#include "kube/client/prober.h"
#include "kube/follow/follow.h"
#include "kube/follow/list.h"
#include "kube/follow/seen_internal.h"
#include "kube/follow/watch.h"
#include "net/loop.h"

struct follower {
    struct kube_client *client;
    struct follow_options options;
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
    bool is_synced;
    enum follow_standing standing;
    uint32_t busy;  // nesting of calls back, which may free it
    bool is_freed;
};

/* The object is there, or is gone: tells of it if that is news. */
void follower_note(struct follower *follower, yyjson_val *object);
void follower_note_gone(struct follower *follower, yyjson_val *object);

/* The list is complete: what it did not show is gone. */
void follower_sweep(struct follower *follower);

/* Calls `on_problem`, where there is one. */
void follower_report(struct follower *follower, const struct err *err, nsec_t wait);
