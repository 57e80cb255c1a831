/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the blocks and their moves share. */

#include "gpu/tenant/memory/movable.h"

struct table *movable_blocks(void);

/* Whether a block has to stay on the GPU. */
bool movable_is_fixed(const struct entry *block);

/* New physical memory at the block's addresses, and none there any more. */
cu_result movable_map(const struct entry *block, cu_device device);
cu_result movable_unmap(const struct entry *block);

void movable_forget_away(void);
