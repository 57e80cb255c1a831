/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "gpu/mig/slices.h"

/* What the files of this folder share: a GPU as the driver has it now, and what of it is ours. */

struct mig_gpu {
    uint32_t index;  // the driver's
    char uuid[NVML_UUID_SIZE];
    char name[NVML_NAME_SIZE];
    uint64_t bytes;
    struct mig_layout layout;  // empty until the mode has been seen to be on
};

struct mig {
    struct nvml *nvml;
    char *path;
    struct mig_records records;
    struct mig_gpu gpus[NVML_MIG_INSTANCES_MAX];
    uint32_t gpu_count;
};

/* What is on a GPU. `kept` and `idle` are in slices of memory. */
struct mig_seen {
    uint32_t count;
    struct mig_seen_instance {
        struct nvml_mig_instance at;
        int64_t record;  // in the records; -1: foreign
        bool is_busy;    // processes run in it, or could
    } instances[NVML_MIG_INSTANCES_MAX];
    uint32_t kept, idle;
};

/* NULL for a GPU that the driver does not know. */
struct mig_gpu *mig_find_gpu(struct mig *mig, const char *uuid);

/* Its mode, and its layout if that is on. */
enum mig_mode mig_read_mode(struct mig *mig, struct mig_gpu *gpu);

/*
 * Reads what is on a GPU, and brings the records up to date: what is gone is forgotten, what was made before a crash is
 * found. Returns 0, or what the driver or the disk says.
 */
MUST_CHECK int mig_read(struct mig *mig, struct mig_gpu *gpu, struct mig_seen *ret_seen, struct err *err);

/* How many of a profile stay. Some profiles have engines that there are only once. */
uint32_t mig_count_kept(const struct mig_seen *seen, uint32_t profile);

MUST_CHECK int mig_save(const struct mig *mig, struct err *err);

/* For what the next daemon would find out by itself as well: a UUID, that a group is gone, or that nothing was made. */
void mig_save_if_possible(const struct mig *mig);
