/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"

struct caller;
struct err;
struct http_exchange;
struct live;
struct strbuf;

/*
 * The part of the stream that tells rows of the cluster: a listener says which parts it follows and which version it has seen, and
 * is told what has changed since, each row once and as it is now, at most four times a second.
 */
struct live_listener {
    struct live *live;
    uint32_t parts;    // as bits; 0: it follows none
    uint64_t version;  // that it has; 0: it has to read everything
    nsec_t told;       // when it was told something
};

/* The parts of a topic of the stream, as bits; 0: it is none of these topics. */
uint32_t live_topic_parts(const char *topic, size_t len);

/* Begins to follow, from what the exchange says that the client has seen. The rows are kept up to date meanwhile. */
void live_listener_begin(struct live_listener *listener, struct live *live, uint32_t parts,
                         const struct http_exchange *exchange);
void live_listener_end(struct live_listener *listener);

/* Whether there is something to tell; it may be too early: `*ret_wait` is how long to wait. */
bool live_listener_is_behind(const struct live_listener *listener, nsec_t now, nsec_t *ret_wait);

/* Whether only everything can be told: the client has to read again what it shows. */
bool live_listener_is_lost(const struct live_listener *listener);

/* The listener has been told to read everything, or to do so the next time. */
void live_listener_catch_up(struct live_listener *listener);
void live_listener_forget(struct live_listener *listener);

/* Its place, as a part of an event's id and as the version of an answer: ".EPOCH-VERSION" behind a dot. Nothing when it follows
 * none. */
void live_listener_add_id(const struct live_listener *listener, struct strbuf *out);
void live_listener_add_version(const struct live_listener *listener, struct strbuf *out);

/* Writes the members of an event, each behind a comma, and moves on. Returns whether there are any for this caller. */
MUST_CHECK int live_listener_write(struct live_listener *listener, const struct caller *caller, bool *ret_has_rows,
                                   struct strbuf *out, struct err *err);
