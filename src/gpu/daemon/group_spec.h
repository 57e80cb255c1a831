/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "gpu/protocol/pages.h"

struct err;
struct json_at;
struct strbuf;

/*
 * What a group of tenants (a container, or one `muster gpu run`) may use: which GPUs, how much memory of each, what share
 * of their time, and who belongs to it. Read from the configuration file and from the API:
 *
 *     {"name": "team-a-0", "gpus": ["GPU-8a0f..."], "memory": {"request": "20Gi", "limit": "40Gi"},
 *      "compute": {"share": 0.25, "limit": 0.5, "mode": "fair"}, "uid": 1000, "cgroup": "/kubepods/pod1234",
 *      "labels": {"namespace": "team-a", "pod": "train-0", "container": "main"}}
 */
enum {
    GROUP_NAME_SIZE = 64,
    GROUP_GPU_SIZE = 48,
    GROUP_CGROUP_SIZE = 256,
    GROUP_LABEL_SIZE = 254,
};

struct group_spec {
    char name[GROUP_NAME_SIZE];
    uint32_t gpu_count;
    char gpus[GPU_MAX][GROUP_GPU_SIZE];  // UUIDs, or numbers as text
    uint64_t request_bytes;              // of each GPU
    uint64_t limit_bytes;
    uint32_t share;  // in millionths of each GPU
    uint32_t cap;    // likewise; what it gets at most
    enum gpu_mode mode;
    int64_t uid;                     // of its processes; -1: any, who can reach the socket belongs to it
    char cgroup[GROUP_CGROUP_SIZE];  // that its processes are in, or below; "": any
    char namespace_[GROUP_LABEL_SIZE];
    char pod[GROUP_LABEL_SIZE];
    char container[GROUP_LABEL_SIZE];
};

/* Reads and checks one; the message says which member is wrong. Returns 0 or -EINVAL. */
MUST_CHECK int group_spec_decode(const struct json_at *at, struct group_spec *ret_spec, struct err *err);

/* Appends it as JSON, as it would be read again. */
void group_spec_encode(const struct group_spec *spec, struct strbuf *text);

/* "fair", "strict", "time". */
const char *gpu_mode_name(enum gpu_mode mode);
MUST_CHECK int gpu_mode_parse(const char *text, enum gpu_mode *ret_mode, struct err *err);

/* Whether it can be a name of a folder and of a label: letters, digits, '-', '_' and '.', not in front. */
bool group_name_is_good(const char *name);
