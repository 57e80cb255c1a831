/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "store/store.h"

/*
 * The last changes, oldest first, in a ring. A position counts the changes since the store was opened and stays valid while
 * the ring turns; `begin` and `end` are the positions of the oldest one and behind the newest one.
 */
struct history {
    struct store_change *ring;
    uint32_t max;
    uint64_t begin, end;
    size_t bytes;                // of the bodies in it
    uint64_t floor;              // changes up to this version are no longer known
    VEC(uint64_t) last_of_kind;  // by kind: the position of its newest change, plus one; 0: none
};

void history_init(struct history *history, uint32_t max, uint64_t floor);
void history_done(struct history *history);

/* Adds the newest change and lets the oldest ones go where there are too many. Keeps references to both objects. */
void history_add(struct history *history, struct store_change change);

/* As store_position() and store_next_change(). */
MUST_CHECK int history_position(const struct history *history, uint64_t version, uint64_t *ret_position);
MUST_CHECK int history_next(const struct history *history, uint32_t kind, uint64_t *position,
                            const struct store_change **ret_change);
