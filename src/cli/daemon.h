/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"
#include "base/time.h"

/* What commands that start or stop a daemon share. They have no loop. */

/* In a child that becomes a daemon: a session of its own, no input, all output to the file `log`, and no other file of the
 * parent. `how` is O_APPEND or O_TRUNC, for what the log holds already. Returns 0 or a negative errno. */
MUST_CHECK int daemon_detach(const char *log, int how);

/* Calls `is_over` at once and then every 50 ms, until it returns true or `limit` has passed. Returns whether it did. */
bool daemon_await(bool (*is_over)(void *arg), void *arg, nsec_t limit);
