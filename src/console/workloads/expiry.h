/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

struct console;

/*
 * Workloads that ask to be deleted some time after they have ended. The console that leads remembers those that it has seen
 * to have ended, and deletes each when its time comes; one that begins to lead looks at all of them again.
 */
struct expiry;

struct expiry *expiry_new(struct console *console);
void expiry_free(struct expiry *expiry);

/* Takes note of a workload that has ended, by its item. */
void expiry_note(struct expiry *expiry, yyjson_val *item);
