/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;

/* What services have to agree on about pods that share GPUs. */

/* The container of a pod that uses its part of a GPU. */
struct sharing_container {
    yyjson_val *container;
    size_t index;  // among its like
    bool is_init;
};

/* The one that the pod names, or the first. Returns 0, or -ENOENT when there is none of that name. */
MUST_CHECK int sharing_container(yyjson_val *pod, struct sharing_container *ret_container, struct err *err);

/* Whether a label of that key puts a pod into a GPU group, which is its value. */
bool sharing_is_group_label(const char *key);

/*
 * The fence of a pod is a group of the GPU daemon and a device that container runtimes find by its name (CDI), both
 * called "pod-" and the UID of the pod: whoever knows the pod knows its fence, before there is one.
 */
#define FENCE_KIND "muster.scheduler/gpu"
#define FENCE_ANNOTATION "cdi.k8s.io/muster"
enum { FENCE_NAME_MAX = 41 };

/* False when the UID is none: it becomes part of file names. */
MUST_CHECK bool fence_name(const char *uid, char name[static FENCE_NAME_MAX]);

/* Whether it is the name of a pod's fence. */
bool fence_name_is_good(const char *name);
