/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"

struct console;
struct err;
struct change_feed;

/*
 * Follows the changes that all consoles of the database have committed: the cluster follows where this one leads, listeners of
 * the stream hear of them, and the head of the audit log is written for those of others. Keeps the newest in memory.
 */
MUST_CHECK int change_feed_new(struct console *console, struct change_feed **ret_feed, struct err *err);
void change_feed_free(struct change_feed *feed);

/* This process has committed changes. */
void change_feed_wake(struct change_feed *feed);

/* The newest number, and the oldest after which all are known. */
int64_t change_feed_last(const struct change_feed *feed);
int64_t change_feed_first(const struct change_feed *feed);

/* The change of a number above the oldest and up to the newest, as changes.h says. */
yyjson_val *change_feed_at(const struct change_feed *feed, int64_t seq);
