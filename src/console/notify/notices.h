/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/macros.h"
#include "console/org/place.h"

struct console;
struct err;

/*
 * What people are told outside of the console. A notice is written in the transaction of what it tells of, as a row for each
 * channel that wants it; the console that leads sends the rows (deliver.h). So nothing that was acknowledged goes untold, and a
 * crash between a delivery and its end tells it twice, under the same id.
 */
struct notice {
    const char *event;   // "workload": it has another phase; "change": somebody has changed something; "test"
    const char *detail;  // the phase, or the type of what was changed
    const char *action;  // of a change: "create", ...; NULL: none
    const char *id;      // of the workload or thing
    const char *name;
    const char *subject;  // who has done it; NULL: nobody
    const char *message;  // why; NULL or "": it goes without saying
    struct place place;   // that the thing belongs to
};

/* The rows of a notice, in the transaction that is under way. When too many wait already, it is not kept. */
MUST_CHECK int notify_add(struct console *console, const struct notice *notice, struct err *err);

/* The row of a notice for one channel, whether it wants it or not. */
MUST_CHECK int notify_add_to(struct console *console, const char *channel, const struct notice *notice,
                             struct err *err);

/* Removes what waits for a channel. */
MUST_CHECK int notify_drop(struct console *console, const char *channel, struct err *err);

/* A notice in words, in one line: "Workload 'train' in 'robotics': Failed". To be freed. */
char *notify_words(yyjson_val *notice);
