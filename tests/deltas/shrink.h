/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct play_mask;

/* Leaves out whatever the failure of this seed does not need. The mask is what is left; false when nothing fails. */
int shrink_seed(uint64_t seed, struct play_mask *mask);
