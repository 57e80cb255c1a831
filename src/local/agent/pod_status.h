/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "local/runtimes/runtime.h"

/* The names and images of the containers of a pod, in one block. */
struct pod_containers {
    char *text;  // name, image, name, image ..., each with a NUL
    uint32_t count;
};

void pod_containers_read(struct pod_containers *containers, yyjson_val *pod);
void pod_containers_done(struct pod_containers *containers);

struct pod_status {
    const struct pod_containers *containers;
    const char *uid;
    const char *host_address;
    const char *address;
    int64_t generation;
    struct runtime_status status;
};

/* A strategic merge patch of the status, as a kubelet would write it; to be freed with yyjson_mut_doc_free(). */
yyjson_mut_doc *pod_status_patch(const struct pod_status *pod);
