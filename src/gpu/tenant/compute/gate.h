/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The gate that every launch goes through (gpu/protocol/pages.h says what the daemon expects). Where nothing is shaped
 * it costs two loads. Where a GPU is shared by leases, launches wait for their group's turn, a limited amount of work is
 * kept in the driver's queues, and the end of it is reported. */

#include <stdbool.h>
#include <stdint.h>

#include "gpu/tenant/hooks.h"

struct gate_pass {
    int slot;  // -1: nothing has to be noted
    bool begins_lease;
    uint64_t limit_ns;  // of work in the driver's queues
    void *stream;
    const void *what;
};

/* Around a launch of `what` (a function, an executable graph) on a stream; returns when it may begin. */
void gate_enter(struct gate_pass *pass, const void *what, void *stream);
void gate_leave(struct gate_pass *pass, cu_result result);

/* A context exists on this slot: from now on a thread listens to the daemon. */
void gate_watch(int slot);

/* Before a stream begins to capture: nothing of ours goes on it from here on, and nobody looks at a fence any more as if there
 * were no capture, which would spoil it. */
void gate_begin_capture(void *stream);

/* Before a stream is destroyed, or a context goes away: nothing of ours stays behind on it. */
void gate_leave_stream(void *stream);
void gate_leave_context(void *ctx);

/* Around a call that may end a context of the slot, which is then named (NULL: none did). */
void gate_hold(int slot);
void gate_go_on(int slot, const void *gone_ctx);
