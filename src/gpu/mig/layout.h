/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"

/*
 * What slices a GPU can be cut into, and where. The GPU's memory is a row of slices of the same size; an instance covers
 * some that follow each other, and begins at one of the places of its profile. Places of the GPUs there are never ask for
 * more processors than there are (gpu/test/mig_layout.c counts), so that memory alone says what fits.
 */
enum {
    MIG_ROW_MAX = 32,  // slices of memory, of which a mask has a bit for each
    MIG_NAME_SIZE = 32,
    MIG_PROFILES_MAX = 32,
};

struct mig_profile {
    uint32_t id;      // the driver's
    uint32_t slices;  // of the processors
    uint32_t size;    // in slices of memory
    uint32_t starts;  // a bit for each slice that an instance can begin at
    uint32_t most;    // instances of it at a time
    uint64_t bytes;   // of memory; 0: not known
    char name[MIG_NAME_SIZE];
};

struct mig_layout {
    uint32_t count;
    struct mig_profile profiles[MIG_PROFILES_MAX];  // the largest first
};

/* The bits of an instance. `start` and `size` are within the row. */
uint32_t mig_mask(uint32_t start, uint32_t size);

/* Adds a profile in its order; one that makes no sense is left out. */
void mig_layout_add(struct mig_layout *layout, const struct mig_profile *profile);

/* NULL when there is none. */
const struct mig_profile *mig_layout_find(const struct mig_layout *layout, uint32_t id);
const struct mig_profile *mig_layout_find_name(const struct mig_layout *layout, const char *name);

/* How many more instances of a profile fit beside what is taken. */
uint32_t mig_layout_room(const struct mig_profile *profile, uint32_t taken);

/* Which of two ways to use the row leaves more room: positive when the first does, 0 when both leave the same. The one that
 * leaves room for more instances of the largest profile does; if they are equal, of the next one, and so on. */
int mig_layout_compare(const struct mig_layout *layout, uint32_t taken, uint32_t other);

/*
 * Where to put an instance. `kept` is in use and stays; `idle` can be removed. Instances are put where they leave most room
 * beside what is kept (see above) without removing anything; only when there is no such place, where something idle is. Of
 * equal places the first. Returns the start, or -1 when there is no place.
 */
int mig_layout_place(const struct mig_layout *layout, const struct mig_profile *profile, uint32_t kept, uint32_t idle);
