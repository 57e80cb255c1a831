/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"
#include "kube/client/client.h"

/* The changes of a kind from a version on, until the stream ends in one way or another. Going on is for follow.h. */
struct kube_watch;

enum kube_change {
    KUBE_ADDED,
    KUBE_MODIFIED,
    KUBE_DELETED,
    KUBE_BOOKMARK,  // nothing but a newer version to go on from
    KUBE_ERROR,     // the server ends the stream and says why
    _KUBE_CHANGE_MAX
};

struct kube_event {
    enum kube_change change;
    yyjson_val *object;            // for KUBE_ERROR a Status; borrowed
    const char *resource_version;  // to go on from; "" if it has none
    bool is_initial_end;           // a bookmark: what was there at the start has all been sent
};

/* Reads one event. Returns 0 or -EINVAL. The document is freed by the caller. */
MUST_CHECK int kube_event_parse(const char *text, size_t len, yyjson_doc **ret_doc, struct kube_event *ret_event,
                                struct err *err);

/* An event, never KUBE_ERROR; all borrowed. `err` says of an event that could not be read and was left out; then
 * `event` is NULL. Returns 0, or a negative errno that ends the watch with it. */
typedef int (*kube_event_fn)(void *arg, const struct kube_event *event, const struct err *err);

/* The stream is over. `status` is that of the answer or of the error that the server sent in the stream; 200 with a
 * code of 0 is the usual end after a while. */
struct kube_watch_end {
    int status;
    struct err err;
    bool is_expired;  // the version is too old to go on from: list again
    bool is_ahead;    // the version is one that the server has not reached: its state is older than what was seen
    bool is_refused;  // the server did not even begin
};
typedef void (*kube_watched_fn)(void *arg, const struct kube_watch_end *end);

struct kube_watch_request {
    const struct kube_resource *resource;
    const char *namespace;  // NULL: all
    const char *label_selector;
    const char *field_selector;
    const char *resource_version;  // to start behind; with `wants_initial_events`, NULL or one that must be reached
    bool wants_initial_events;     // everything that is there comes first, as added, and then a bookmark
    bool is_metadata_only;
    uint32_t timeout_s;           // the server ends it by then; 0: it decides
    nsec_t idle_timeout;          // the longest silence, bookmarks are none
    void (*on_begun)(void *arg);  // the stream has begun: what has happened since the version follows; may be NULL
    kube_event_fn on_event;
    kube_watched_fn on_done;
    void *arg;
};

struct kube_watch *kube_watch_start(struct kube_client *client, const struct kube_watch_request *request);

/* From anywhere but its own `on_done`. */
void kube_watch_cancel(struct kube_watch *watch);
