/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Bytes decide what a cluster is like, what happens to it and when a cycle runs; what must hold is what tests/deltas
 * checks. A failure aborts.
 */
#include "fuzz.h"
#include "play.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    play_bytes(data, size);
    return 0;
}
