/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct console;
struct live;

/*
 * The cluster as it is now, for the pages that show it: its handlers are rows of the table of routes, and docs/design/live-api.md
 * says what they answer. Each answer is cut to what its caller may see.
 */
struct live *live_new(struct console *console);

/* Answers everything that is open: the service stops. */
void live_end(struct live *live);
void live_free(struct live *live);
