/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Host memory for what is parked. It is a file without a name, so that the process that gets it can map it, and belongs to
 * whoever has it open. The daemon takes the pages, so that they are charged to its own cgroup. */

#include <stdint.h>

#include "base/macros.h"

/* A file that has no page yet, and cannot become larger: a descriptor or a negative errno. In large pages where the system
 * has them for us, since a million small ones take longer to get and to give back than what they hold takes to be copied. */
MUST_CHECK int host_memory_new(const char *name, uint64_t bytes);

/* Takes all pages of such a file. Returns 0, or a negative errno when the system has not so many. */
MUST_CHECK int host_memory_take(int file, uint64_t bytes);
