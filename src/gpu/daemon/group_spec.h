/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "gpu/protocol/pages.h"
#include "gpu/request/request.h"

struct err;
struct json_at;
struct strbuf;

/*
 * What a group of tenants (a container, or one `muster gpu run`) may use: which GPUs, how much memory of each, what share
 * of their time, and who belongs to it. Read from the configuration file and from the API:
 *
 *     {"name": "team-a-0", "gpus": ["GPU-8a0f..."], "memory": {"request": "20Gi", "limit": "40Gi"},
 *      "compute": {"share": 0.25, "limit": 0.5, "mode": "fair", "priority": "latency"}, "uid": 1000, "cgroup": "/kubepods/pod1234",
 *      "labels": {"namespace": "team-a", "pod": "train-0", "container": "main"}}
 *
 * With `"parkable": true` the memory of its processes can be moved to the host and back (park/).
 *
 * A group with an `owner`, the number of a process, ends with that process.
 *
 * Instead of `memory` and `compute`, a container's own words, as its pod has them (gpu/request):
 *
 *     {"name": "team-a-1", "gpus": [0], "pod": {"annotations": {"gpu-fraction": "0.5"},
 *      "resources": {"nvidia.com/gpucores": 30}, "variables": {}}}
 *
 * Or a slice of a GPU to itself, by MIG, which needs no other amounts:
 *
 *     {"name": "team-a-2", "gpus": [0], "mig": "1g.18gb"}
 */
enum {
    GROUP_NAME_SIZE = 64,
    GROUP_GPU_SIZE = 48,
    GROUP_CGROUP_SIZE = 256,
    GROUP_LABEL_SIZE = 254,
    GROUP_MIG_SIZE = 32,
    GROUP_WORDS_MAX = 256,  // annotations and so on, of which most are about other things
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
    bool is_urgent;                   // its turn comes at once, within its share
    bool is_parkable;                 // its memory can be moved to the host and back; needs one GPU
    char mig[GROUP_MIG_SIZE];         // the profile of the slice that it has to itself; "": it shares
    bool is_asked;                    // in words: the amounts above follow from these two and the GPU
    struct gpu_request asked;         // its alias is not set; it is
    char asked_by[GROUP_LABEL_SIZE];  // this one
    int64_t uid;                      // of its processes; -1: any, who can reach the socket belongs to it
    int64_t owner;                    // a process; the group ends with it; 0: it stays until it is removed
    uint64_t owner_started;           // see process_started(); 0: not known yet
    char cgroup[GROUP_CGROUP_SIZE];   // that its processes are in, or below; "": any
    char namespace_[GROUP_LABEL_SIZE];
    char pod[GROUP_LABEL_SIZE];
    char container[GROUP_LABEL_SIZE];
};

/* Reads and checks one; the message says which member is wrong. Returns 0, -EINVAL, or -ENOTSUP for what cannot be
 * enforced. */
MUST_CHECK int group_spec_decode(const struct json_at *at, struct group_spec *ret_spec, struct err *err);

/* The same in numbers, where it is in words: on a GPU that has so many bytes to give. */
MUST_CHECK int group_spec_reckon(const struct group_spec *spec, uint64_t gpu_bytes, struct group_spec *ret_spec,
                                 struct err *err);

/* Appends it as JSON, as it would be read again. */
void group_spec_encode(const struct group_spec *spec, struct strbuf *text);

/* "fair", "strict", "time". */
const char *gpu_mode_name(enum gpu_mode mode);
MUST_CHECK int gpu_mode_parse(const char *text, enum gpu_mode *ret_mode, struct err *err);

/* "latency" or "normal", and whether it is the former. */
const char *gpu_priority_name(bool is_urgent);
MUST_CHECK int gpu_priority_parse(const char *text, bool *ret_is_urgent, struct err *err);

/* Whether it can be a name of a folder and of a label: letters, digits, '-', '_' and '.', not in front. */
bool group_name_is_good(const char *name);
