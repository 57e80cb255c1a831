/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

struct console;

/*
 * The stream of changes: who listens, and what each may see. An event names what has changed, and its listener reads it again.
 * "reset" says that there may be more changes than those that are told: at the beginning, after a long absence.
 */

/* A change has come that may change what listeners may see. */
void change_streams_note(struct console *console, yyjson_val *change);

/* There are new changes; and all listeners have to begin anew. */
void change_streams_wake(struct console *console);
void change_streams_reset(struct console *console);

/* Timers. Listeners end with the server. */
struct streams;
struct streams *change_streams_new(struct console *console);
void change_streams_free(struct streams *streams);
