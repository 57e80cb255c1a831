/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/macros.h"

struct cgroup_tree;
struct err;
struct image_map;
struct machine;
struct sources;
struct user_rules;

/* What a container with parts of GPUs is started with. */
struct plan_part {
    const char *container;    // its name
    const char *const *gpus;  // UUIDs, up to a NULL
    const char *socket;       // of the pod's group at the GPU daemon
    const char *library;      // that stands in front of the driver
};

/* The folder of an image that podman has, for one container. */
struct plan_image {
    const char *container;
    char *folder;
};

/* What the process beside a pod has to know (local/shim/shim.h), made from the pod and what it refers to. */
struct plan_request {
    const char *folder;  // of the pod
    yyjson_val *pod;
    const struct sources *sources;
    const struct machine *machine;
    const struct cgroup_tree *tree;
    const char *const *gpus;         // UUIDs of the GPUs that it has as a whole, up to a NULL
    const struct user_rules *rules;  // of a machine that has joined another one; NULL otherwise
    const char *lease_path;          // of its lease; NULL otherwise
    const struct plan_part *part;    // NULL: it has no part of a GPU
    const struct image_map *images;  // NULL: none
    const struct plan_image *stored;
    size_t stored_count;
    int64_t processes_max;  // of a container
};

/* What is wrong, in the words of Kubernetes; of parts of GPUs in ours. */
enum plan_problem { PLAN_FINE, PLAN_CONFIG, PLAN_VOLUMES, PLAN_PART };

/*
 * Makes the folder of the pod with its volumes, and writes the plan as its last file: a folder with a plan is complete.
 * What an attempt that failed has left is replaced. Returns 0, or a negative errno with the reason.
 */
MUST_CHECK int plan_write(const struct plan_request *request, enum plan_problem *ret_problem, struct err *err);
