/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A process that leaves its GPU and comes back (gpu/protocol/message.h, Parking). Every call that could touch the device
 * goes through a gate of its own, which is open unless the process is parked; where the group cannot be parked it costs one
 * load. A thread of its own waits for the device and moves the memory, so that the one that listens to the daemon can go on
 * listening. */

#include <stdbool.h>
#include <stdint.h>

#include "gpu/protocol/message.h"

/* Whether the group is one that can be parked. */
bool park_is_possible(void);

/* Around each such call: waits while the process is parked. park_leave() only where park_enter() was true. */
bool park_enter(void);
void park_leave(void);

/* Waits in the same way in the first call of a process, which did not know yet that the group is parked. */
void park_wait(void);

/* What the daemon has said in WELCOME; `is_new` when this process was never welcomed before. */
void park_welcomed(uint32_t flags, bool is_new);

/* PARK, MOVE and RESUME; `file` came with it or is -1, and is this function's. */
void park_hear(const struct gpu_message *message, int file);

/* After a new connection: tells the daemon what it may not know. */
void park_report(void);
