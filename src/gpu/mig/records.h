/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"
#include "gpu/mig/layout.h"
#include "gpu/nvml/mig.h"

struct err;

/*
 * The slices that are ours, in a file for the next daemon. Each is written down before the driver is told to make it, and
 * until it is gone:
 *
 *     [{"gpu": "GPU-8a0f...", "profile": 19, "start": 6, "size": 1, "instance": 13, "uuid": "MIG-...", "group": "a"}]
 *
 * Without an instance it is an intent: it was made perhaps. Without a UUID it has no compute instance yet, or had none when
 * this was written. Without a group nobody uses it.
 */
enum { MIG_OWNER_SIZE = 64, MIG_RECORDS_MAX = 1024, MIG_RECORDS_FILE_MAX = 1 << 20 };

enum { MIG_NOT_MADE = -1 };

struct mig_record {
    char gpu[NVML_UUID_SIZE];
    uint32_t profile;
    struct nvml_mig_place place;
    int64_t instance;  // the driver's number on this GPU, or MIG_NOT_MADE
    char uuid[NVML_UUID_SIZE];
    char owner[MIG_OWNER_SIZE];  // the group
    nsec_t idle_since;           // not in the file
};

struct mig_records VEC_OF(struct mig_record);

/* Reads the text over an empty list. Returns 0 or -EINVAL; then the list is empty. */
MUST_CHECK int mig_records_parse(const char *text, size_t len, struct mig_records *records, struct err *err);

/* Reads a file; one that is not there is empty. */
MUST_CHECK int mig_records_read(const char *path, struct mig_records *records, struct err *err);

/* Writes it whole or not at all. */
MUST_CHECK int mig_records_write(const char *path, const struct mig_records *records, struct err *err);
