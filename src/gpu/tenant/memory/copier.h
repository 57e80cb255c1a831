/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Copies between memory of the GPU and pages of the host that are not pinned, at the speed of pinned ones. Pinning many
 * gibibytes takes longer than copying them; so a few small buffers are pinned, and several threads move the bytes between
 * these and the pages while the device copies to and from the others. The threads live as long as one call of
 * copier_run(), and block every signal. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/tenant/tenant.h"

/* Some memory of a context, and where it lies on the host. */
struct copier_span {
    uint64_t ctx;
    uint64_t device;
    uint8_t *host;
    uint64_t bytes;
};

/* The spans of a job, by their number. Called by several threads at once. */
typedef struct copier_span copier_span_fn(size_t number);

/* Takes buffers for jobs of `bytes`, with `ctx`. Where the driver pins none they are plain memory: the copies work all
 * the same, only slower. False when there is not even that. */
bool copier_open(uint64_t ctx, uint64_t bytes);
void copier_close(uint64_t ctx);

/* Copies `count` spans, to the host with `is_out`, else to the GPU. Returns when all copies have ended, also after an
 * error, which is then that of one of them. */
cu_result copier_run(copier_span_fn *span_of, size_t count, bool is_out);

/* In a forked child there are neither buffers nor threads. */
void copier_forget(void);
