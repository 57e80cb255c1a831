/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the files of this folder share. */

#include "base/err.h"
#include "gpu/daemon/gpud_parts.h"

enum { PARKED_GPU = 0 };  // groups of several GPUs cannot be parked

#define GIB ((double)(1 << 30))

/* park.c: the states. */

/* Whether a process has said HELLO and can be told something. */
bool park_is_there(const struct session *session);
void park_tell(struct session *session, enum gpu_message_type type, uint64_t bytes, const int *file);
void park_set_state(struct group *group, enum park_state state);

/* Looks whether a step is over, after an answer or after somebody has gone who had to give one. */
void park_go_on(struct group *group);

/* Tells all processes of a group that can be parked and is not to stop; the rest goes on by itself. A negative errno when one of them cannot be told
 * now. */
MUST_CHECK int park_begin(struct group *group, struct err *err);

/* The same for the way back, once memory of the GPU has been taken for all. */
MUST_CHECK int park_begin_return(struct group *group, struct err *err);

/* Whether the group comes back by itself; written down for a next daemon. */
void park_set_displaced(struct group *group, bool is_displaced);

/* Takes an order back before anything has moved, and says why. */
void park_give_up(struct group *group, const struct err *why);

/* taking.c: takes host memory for all processes of a group, which have stopped; goes on by itself. Fails where the budget
 * does not allow it. */
MUST_CHECK int park_take_host_memory(struct group *group, struct err *err);

/* The group is gone or goes on: what is being taken for it goes back when it is there. */
void park_drop_taking(struct group *group);

/* answer.c: to whoever has given the order, if anybody waits. */
void park_reply_state(struct group *group);
void park_reply_failure(struct group *group, const struct err *why);
