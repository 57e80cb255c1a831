/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the launching threads and the control thread share about a GPU. */

#include <stdatomic.h>
#include <stdint.h>

#include "gpu/protocol/pages.h"

struct gate {
    _Atomic uint32_t allowed;       // the word under which launches pass
    _Atomic uint32_t inside;        // launches between the gate and the driver
    _Atomic uint32_t waiting;       // threads at the closed gate
    _Atomic uint32_t active_word;   // the lease in use
    _Atomic uint32_t yielded_word;  // a lease that was given back
    _Atomic uint32_t asked_word;
    _Atomic uint32_t unbounded_word;  // a lease in which work is queued without bound
    _Atomic uint32_t epoch;           // of the connection to which these words belong
    _Atomic uint64_t launches;        // under this lease
    _Atomic int64_t first_ns;         // when its first launch had reached the driver
    _Atomic int64_t last_ns;          // the latest one
    _Atomic int64_t drain_ns;         // since when the lease is being given back; 0 when it is not
    _Atomic uint32_t drain_word;
    _Atomic uint32_t drains_for_daemon;
};

extern struct gate gates[GPU_MAX];

int64_t gate_now_ns(void);
