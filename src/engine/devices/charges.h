/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct claim;
struct inventory;
struct state;

/*
 * What quotas are charged for claims, in billionths of a GPU: devices by the parts of GPUs that they are. A device that
 * draws on counters is the largest part of a counter that it takes; one with a MIG profile has as many sevenths as the
 * profile says; others are whole GPUs. A share of a device is the largest part that it takes of a capacity.
 */

/* What is known of devices and of asks, until slices or classes change. Zeroed memory is an empty book. */
struct charge_book {
    uint64_t clock;
    VEC(int64_t) parts;   // by device; 0: not known yet
    struct map64 by_ask;  // hash of what an ask says -> what one of its devices costs at least, and one
};

void charge_book_done(struct charge_book *book);
size_t charge_book_bytes(const struct charge_book *book);

/*
 * The charge for the claim: of its devices when it has some, else the least that each request can be met with anywhere.
 * Below 0: nothing is known of devices that would do. The inventory is up to date.
 */
int64_t claim_charge(struct charge_book *book, struct inventory *inventory, const struct state *state,
                     const struct claim *claim);
