/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"

struct err;

/*
 * What the driver says about the GPUs of this node, through NVML, which is loaded when it is first wanted: a node without
 * a driver has none. May be used from one thread at a time.
 */
enum { NVML_UUID_SIZE = 48, NVML_NAME_SIZE = 96, NVML_PROCESSES_MAX = 1024 };

struct nvml;

struct nvml_gpu {
    char uuid[NVML_UUID_SIZE];  // "GPU-8a0f..."
    char name[NVML_NAME_SIZE];
    uint64_t total_bytes;
    uint64_t used_bytes;  // of all processes and the driver itself
    int32_t minor;        // N of its /dev/nvidiaN; -1: the driver does not say
};

struct nvml_use {
    uint32_t pid;
    uint32_t instance;  // the GPU instance that it runs in; UINT32_MAX: the GPU is not cut
    uint64_t bytes;     // UINT64_MAX: the driver does not say
};

/* The name under which the driver installs it. */
#define NVML_LIBRARY "libnvidia-ml.so.1"

/* Opens the library of that name. Returns 0; -ENODEV when there is no such library, -EIO when the driver refuses. */
MUST_CHECK int nvml_open(const char *library, struct nvml **ret_nvml, struct err *err);
void nvml_close(struct nvml *nvml);

uint32_t nvml_gpu_count(const struct nvml *nvml);

/* Whether the driver's NVML has a function of that name. */
bool nvml_has(const struct nvml *nvml, const char *function);

/* The UUID alone: one question, which every driver answers. */
MUST_CHECK int nvml_uuid(struct nvml *nvml, uint32_t index, char uuid[static NVML_UUID_SIZE], struct err *err);

MUST_CHECK int nvml_gpu(struct nvml *nvml, uint32_t index, struct nvml_gpu *ret_gpu, struct err *err);

/* What all processes and the driver itself have of the GPU's memory: one question, where nvml_gpu() asks several. */
MUST_CHECK int nvml_used(struct nvml *nvml, uint32_t index, uint64_t *ret_bytes, struct err *err);

/* The processes that have a context on the GPU; at most NVML_PROCESSES_MAX. Their numbers are what the
 * driver says, and not checked. Returns how many, or -EIO. */
int nvml_processes(struct nvml *nvml, uint32_t index, struct nvml_use uses[static NVML_PROCESSES_MAX]);

/* "580.159.04"; "" when it is not known. */
const char *nvml_driver_version(const struct nvml *nvml);
