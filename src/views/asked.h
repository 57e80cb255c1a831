/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

/* What a pod asks for: the sums over its containers, and the part of a GPU that its annotations name. */
struct asked {
    int64_t milli_gpus;      // 500 is half a GPU; several devices are counted
    int64_t gpu_memory_mib;  // of each device, where a size is asked for instead of a part
    int64_t gpu_devices;     // that `gpu_memory_mib` is asked of
    int64_t milli_cpus;
    int64_t memory_bytes;
};

/* Of a Pod, or of a pod template: whatever has `metadata` and `spec`. Amounts that cannot be read count nothing. */
struct asked asked_read(yyjson_val *pod);

/* Adds `count` times `more`. */
void asked_add(struct asked *sum, const struct asked *more, int64_t count);

/* "8", "0.5", "2x20Gi", "-" for none. Returns `text`. */
enum { ASKED_TEXT_MAX = 48 };
const char *asked_gpus_format(const struct asked *asked, char text[static ASKED_TEXT_MAX]);
