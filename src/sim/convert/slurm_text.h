/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"

/* How Slurm writes durations, resources, arrays of jobs and states. */

/* "1-02:03:04", "02:03:04", "03:04", with or without a fraction of a second; false for "UNLIMITED" and the like. */
MUST_CHECK bool slurm_duration(const char *text, nsec_t *ret);

/* "64G", "500M", "1.5T", "4096" (MiB), with Slurm's old suffix for "per CPU" or "per node". */
MUST_CHECK bool slurm_memory(const char *text, int64_t *ret_bytes, char *ret_per);

/* Trackable resources: "billing=8,cpu=16,gres/gpu:a100=8,gres/gpu=8,mem=64G,node=2". */
enum { SLURM_TYPE_MAX = 64 };

struct slurm_tres {
    uint64_t cpus;
    uint64_t nodes;
    uint64_t gpus;
    int64_t memory_bytes;
    char gpu_type[SLURM_TYPE_MAX];  // "": none is named, or several are
};

/* What cannot be read counts as not there. */
void slurm_tres_parse(const char *text, struct slurm_tres *ret);

/* GPUs of a node: "gpu:a100:8(S:0-1),gpu:t4:2" or "gpu:4". */
void slurm_gres_parse(const char *text, struct slurm_tres *ret);

/*
 * The tasks of an array that still waits as one row, "123_[1-3,7,10-20:5%2]": calls `each` with the number of each task.
 * Returns how many there were, 0 when it is no such list, and ends after `max`.
 */
typedef int (*slurm_task_fn)(void *context, uint32_t task);
MUST_CHECK int slurm_tasks(const char *text, uint32_t max, slurm_task_fn each, void *context);
