/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/macros.h"
#include "base/vec.h"

struct err;

/* The NUMA node of each CPU of this machine. All zeros knows none. */
struct cpu_zones {
    VEC(int32_t) zone_plus_one;  // by CPU; 0 where there is no such CPU
};

/* More than any kernel is built for. */
enum { CPU_ZONES_CPUS_MAX = 1 << 16, CPU_ZONES_ZONES_MAX = 1 << 12 };

/*
 * Reads the layout below `sysfs_root`, which is "/sys" or where the host's is mounted. Fails with what the system says, with
 * -EBADMSG for a list of CPUs that cannot be read, and with -ENODATA when there are no CPUs; the text names the file.
 */
MUST_CHECK int cpu_zones_load(struct cpu_zones *zones, const char *sysfs_root, struct err *err);
void cpu_zones_done(struct cpu_zones *zones);

/* The zone of a CPU, or -1. */
int32_t cpu_zones_find(const struct cpu_zones *zones, int64_t cpu);
