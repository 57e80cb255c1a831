/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"
#include "gpu/mig/records.h"

struct err;

/*
 * Slices of the GPUs of this node: taken for a group, given back, kept for a while for whoever wants one like it, and removed.
 * The driver is asked anew each time, since others make slices as well. All calls block for as long as the driver takes, and
 * are made by one thread at a time.
 */
struct mig;

enum mig_mode {
    MIG_UNSUPPORTED,  // by the GPU or by the driver
    MIG_OFF,
    MIG_ON,
    MIG_UNKNOWN,  // the driver does not answer
    MIG_MODE_COUNT_
};

/* "unsupported", "off", "on", "unknown". */
const char *mig_mode_name(enum mig_mode mode);

/* What a group has got. */
struct mig_slice {
    char uuid[NVML_UUID_SIZE];
    uint64_t bytes;
};

enum mig_use { MIG_USED, MIG_IDLE, MIG_FOREIGN };

/* A GPU at one moment, for those who show it. */
struct mig_view {
    enum mig_mode mode;
    uint32_t profile_count;
    struct {
        char name[MIG_NAME_SIZE];
        uint64_t bytes;
        uint32_t room;  // how many more could be taken
    } profiles[MIG_PROFILES_MAX];
    uint32_t slice_count;
    struct mig_view_slice {
        char profile[MIG_NAME_SIZE];
        struct nvml_mig_place place;
        char uuid[NVML_UUID_SIZE];
        char owner[MIG_OWNER_SIZE];
        enum mig_use use;
    } slices[NVML_MIG_INSTANCES_MAX];
};

/*
 * Opens the driver's library and the file of records, and compares the two: what a daemon before had begun is ours, and what
 * is gone is forgotten. `*ret_is_damaged` says that the file made no sense; it lies beside the new one, with ".damaged", and
 * slices that were in it are foreign from now on. Returns 0, or why there can be no slices.
 */
MUST_CHECK int mig_open(const char *library, const char *path, struct mig **ret_mig, bool *ret_is_damaged,
                        struct err *err);
void mig_close(struct mig *mig);

/* The slices of all groups but those for which `has` is true have no owner any more. */
void mig_keep_groups(struct mig *mig, bool (*has)(void *arg, const char *group), void *arg, nsec_t now);

/*
 * A slice for a group: its own, if it has one like this already; else one that nobody uses; else a new one
 * (mig_layout_place). What nobody uses is removed if it is in the way. Returns 0; -ENOTSUP where there are no slices, with
 * the reason; -EINVAL when there is no such profile; -EBUSY when there is no room.
 */
MUST_CHECK int mig_take(struct mig *mig, const char *gpu, const char *profile, const char *group, nsec_t now,
                        struct mig_slice *ret_slice, struct err *err);

/* The group needs its slice no more. It is kept for others. */
void mig_give(struct mig *mig, const char *group, nsec_t now);

/* Removes slices that nobody has used since `before`. Returns how many unused ones are left. */
uint32_t mig_tidy(struct mig *mig, nsec_t before);

/* MIG_UNSUPPORTED for a GPU that the driver does not know. */
void mig_look(struct mig *mig, const char *gpu, struct mig_view *ret_view);
