/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

struct err;
struct scheduler;

/*
 * Past use of queues, for time-based fair share: asked for at Prometheus every fetch interval, in the background, and put
 * into the state, where it counts from the next cycle on. What is known stays while nothing better comes.
 */

/* Begins to ask, if the settings say whom. Returns 0, or -EINVAL with what is wrong with them. */
MUST_CHECK int usage_open(struct scheduler *s, struct err *err);
void usage_close(struct scheduler *s);

/* Nothing is decided while this is true: the first answer has not come, and the time to wait for it is not over. */
bool usage_is_awaited(const struct scheduler *s);

/* The queue was put into the state: what is known of its past goes there, too. */
void usage_tell_queue(struct scheduler *s, const char *queue);
